"""Curves over layers: distances by condition (SAW-C, Figure 3), trajectories of a statistic (Figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexiscope.analysis.layers.trajectory import FamilyCurve
from lexiscope.report.figures import Figure, Heading, build, gaps_remark, levels
from lexiscope.report.plots.curves import (
    DrawnCurve,
    LayerMeans,
    all_gaps,
    check_curves,
    check_trajectories,
    distance_data,
    distance_words,
    gaps_of,
    trajectory_data,
    trajectory_words,
)
from lexiscope.report.plots.panels import (
    columns_for,
    distinct_legend,
    draw_curve,
    layer_ticks,
    sheet_size,
    start_at_zero,
    title_length,
)
from lexiscope.report.plots.style import WIDTH, as_svg, drawing, mark, panels, short_names


def distance_by_layer(
    curves: Sequence[LayerMeans],
    heading: Heading,
    *,
    interval: str = "95 % CI",
    order: Sequence[str] | None = None,
) -> Figure:
    """Draw mean cosine distance by layer and condition, one panel per subject (SAW-C, Figure 3).

    *interval* names what the bands are.
    """
    check_curves([(f"{c.subject}, {c.condition}", c.layer, c.mean, c.low, c.high) for c in curves])
    names = levels([curve.condition for curve in curves], order)
    subjects = levels([curve.subject for curve in curves])
    alt = f"Mean cosine distance by layer and condition, with {interval}. " + " ".join(map(distance_words, curves))
    columns = columns_for(len(subjects))
    with drawing(*sheet_size(len(subjects), columns, tall=0.45)) as sheet:
        titles = short_names(subjects, title_length(columns))
        grid = panels(sheet, len(subjects), columns=columns)
        for axes, subject, title in zip(grid, subjects, titles, strict=True):
            for curve in (curve for curve in curves if curve.subject == subject):
                look = mark(names.index(curve.condition))
                draw_curve(axes, curve.layer, curve.mean, curve.low, curve.high, look, curve.condition)
            axes.set_title(title)
            layer_ticks(axes, max(float(max(curve.layer)) for curve in curves if curve.subject == subject))
        handles, labels = distinct_legend(sheet.axes)
        sheet.legend(handles, labels, loc="outside upper center", ncols=len(names))
        sheet.supxlabel("Layer (0 = input embeddings)", fontsize=8.5)
        sheet.supylabel(f"Mean cosine distance ({interval})", fontsize=8.5)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    gaps = [gap for curve in curves for gap in gaps_of(f"{curve.subject}, {curve.condition}", curve.layer, curve.mean)]
    return build(heading, svg, alt, distance_data(curves), gaps_remark(gaps))


def trajectories(
    curves: Sequence[DrawnCurve],
    heading: Heading,
    *,
    statistic: str,
    horizontal: str = "Layer (0 = input embeddings)",
    interval: str = "",
    place: str = "layer",
    bounded: bool = True,
) -> Figure:
    """Draw several subjects in one panel per group, with a band where an interval is known (SAW-C, Figure 7).

    *statistic* names the vertical axis; *interval* what the bands are; *place* what the curves go over, in words and
    data; *bounded* keeps the axis from leaving 0 at the bottom.
    """
    check_trajectories(curves)
    groups = levels([curve.group for curve in curves])
    alt = trajectory_words(statistic, curves, place)
    columns = min(len(groups), 2)
    legend_rows = -(-len(curves) // 3)
    rows = -(-len(groups) // columns)
    with drawing(WIDTH, 0.5 + 2.5 * rows + 0.2 * legend_rows) as sheet:
        grid = panels(sheet, len(groups), columns=columns)
        for axes, group in zip(grid, groups, strict=True):
            for index, curve in ((i, curve) for i, curve in enumerate(curves) if curve.group == group):
                draw_curve(axes, curve.layer, curve.value, curve.low, curve.high, mark(index), curve.subject)
            axes.set_title(group)
            if "ratio" not in horizontal.lower() and "decile" not in horizontal.lower():
                layer_ticks(axes, max(float(np.max(c.layer)) for c in curves if c.group == group))
        if bounded:
            start_at_zero(grid, curves)
        handles, labels = distinct_legend(sheet.axes)
        sheet.legend(handles, short_names(labels, 34), loc="outside upper center", ncols=min(3, len(labels)))
        sheet.supxlabel(horizontal, fontsize=8.5)
        sheet.supylabel(statistic + (f" ({interval})" if interval else ""), fontsize=8.5)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    return build(heading, svg, alt, trajectory_data(curves, place), gaps_remark(all_gaps(curves)))


def by_depth(
    families: Sequence[FamilyCurve], heading: Heading, *, statistic: str, horizontal: str = "Layer depth ratio"
) -> Figure:
    """Draw one curve per family over depth, all in one panel (SAW-C, Figure 8).

    *horizontal* must say which depth is meant: ``Layer depth ratio`` (layer / L), or the paper's own variant,
    deciles of layers within each model, which is something else.
    """
    together = [DrawnCurve(one.family, one.positions, one.values) for one in families]
    return trajectories(together, heading, statistic=statistic, horizontal=horizontal)
