"""Curves over layers: distances by condition (SAW-C, Figure 3), trajectories (Figures 7, 8, 11), one panel per subject.

Panels of one subject say in their title what matters of its curve (Figure 9).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.analysis.layers.trajectory import FamilyCurve
from lexiscope.report.figures import Figure, Heading, apa, gaps_remark, levels
from lexiscope.report.plots.curves import (
    LAYERS,
    DrawnCurve,
    check_curves,
    curve_data,
    curves_text,
    draw_panels,
    first_and_last,
    sheet_size,
    start_at_zero,
    undefined_points,
)
from lexiscope.report.plots.style import INK, SOFT, WIDTH, add_legend, drawing, drawn_figure, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def distance_by_layer(
    curves: Sequence[DrawnCurve], heading: Heading, *, interval: str = "95 % CI", order: Sequence[str] | None = None
) -> Figure:
    """Draw mean cosine distance by layer and condition, one panel per subject (SAW-C, Figure 3).

    *interval* names what the bands are.
    """
    check_curves(curves)
    names, subjects = levels([curve.condition for curve in curves], order), levels([curve.subject for curve in curves])
    alt = f"Mean cosine distance by layer and condition, with {interval}."
    for curve in curves:
        alt += f" {curve.name}{f' (n = {curve.n})' if curve.n is not None else ''}: {first_and_last(curve)}."
    columns = min(len(subjects), 3)
    by_subject = [
        (subject, [(c, names.index(c.condition), c.condition) for c in curves if c.subject == subject])
        for subject in subjects
    ]
    with drawing(*sheet_size(len(subjects), columns, legend=0.45)) as sheet:
        draw_panels(sheet, by_subject, columns=columns, vertical=f"Mean cosine distance ({interval})")
        add_legend(sheet, columns=len(names))
        data = curve_data(curves, part="condition", value="mean")
        return drawn_figure(sheet, heading, alt, data, gaps_remark(undefined_points(curves)))


def trajectories(
    curves: Sequence[DrawnCurve],
    heading: Heading,
    *,
    statistic: str,
    horizontal: str = LAYERS,
    interval: str = "",
    place: str = "layer",
    bounded: bool = True,
) -> Figure:
    """Draw several subjects in one panel per group, with a band where an interval is known (SAW-C, Figure 7).

    *statistic* names the vertical axis; *interval* what the bands are; *place* what the curves go over, in text and
    data; *bounded* keeps the axis from leaving 0 at the bottom.
    """
    check_curves(curves)
    groups = levels([curve.group for curve in curves])
    columns = min(len(groups), 2)
    labels = short_names([curve.subject for curve in curves], 34)
    drawn = [(curve, number, label) for number, (curve, label) in enumerate(zip(curves, labels, strict=True))]
    with drawing(WIDTH, 0.5 + 2.5 * -(-len(groups) // columns) + 0.2 * -(-len(curves) // 3)) as sheet:
        by_group = [(group, [entry for entry in drawn if entry[0].group == group]) for group in groups]
        vertical = statistic + (f" ({interval})" if interval else "")
        grid = draw_panels(sheet, by_group, columns=columns, vertical=vertical, horizontal=horizontal)
        if bounded:
            start_at_zero(grid, curves)
        add_legend(sheet)
        alt, data = curves_text(statistic, curves, place), curve_data(curves, place=place)
        remarks = [gaps_remark(undefined_points(curves))]
        if any(curve.chosen is not None for curve in curves):
            allowing = "the column chosen of the figure's data allows for it"
            remarks.insert(0, f"The best {place} of a curve is chosen on the same items; {allowing}.")
        return drawn_figure(sheet, heading, alt, data, " ".join(filter(None, remarks)))


def families_by_depth(
    families: Sequence[FamilyCurve], heading: Heading, *, statistic: str, horizontal: str = "Layer depth ratio"
) -> Figure:
    """Draw one curve per family over depth, all in one panel (SAW-C, Figures 8 and 11).

    *horizontal* must name the depth: ``Layer depth ratio`` (layer / L), or the paper's own variant, deciles of layers
    within each model, which is something else.
    """
    together = [DrawnCurve(family.family, family.positions, family.values) for family in families]
    return trajectories(together, heading, statistic=statistic, horizontal=horizontal)


# -- one panel per subject ------------------------------------------------------------------------------------------


def peak_panels(curves: Sequence[DrawnCurve], heading: Heading, *, interval: str = "") -> Figure:
    """Draw one panel per subject: its peak is marked and the drop from there to the last layer printed (Figure 9).

    *Higher means:* closer to people. The drop is 1 − last / peak, in per cent of the peak. The layer of the peak is
    chosen on the same items: what is left of it when that is allowed for is printed too, if a curve has it.
    """
    legend = "Ring: the peak, its layer chosen on the same items; last: what is lost of it at the last layer."
    legend += f" Bands: {interval}." if interval else ""
    if any(curve.chosen is not None for curve in curves):
        legend += " Choice allowed for: the value of the other words at the layer chosen on the words drawn."
    return _subject_panels(curves, heading, "R²", legend, _mark_peak, bounded=True)


def aic_panels(curves: Sequence[DrawnCurve], heading: Heading) -> Figure:
    """Draw one panel per subject: the layer of lowest AIC is marked, the expected layer as a line.

    *Lower means:* the sense boundary is easier to read off the distances of that layer. A curve's ``chosen`` is the
    deviance of items held out, the layer chosen on the others.
    """
    legend = "Ring: the layer of the lowest value, chosen on the same items."
    if any(curve.chosen is not None for curve in curves):
        legend += " Held out: the deviance of items that had no part in the choice of the layer."
    legend += " Dashed upright line: the expected layer." if any(_is_within(curve) for curve in curves) else ""
    if any(curve.baseline is not None for curve in curves):
        legend += " Dotted level line: the model without distance; a curve above it separates nothing."
    if any(curve.separated for curve in curves):
        legend += " Triangle: a layer that separates the senses without error; no finite value expresses that, and no "
        legend += "other layer of that panel has a ring."
    return _subject_panels(curves, heading, "AIC", legend, _mark_lowest, bounded=False)


def _subject_panels(
    curves: Sequence[DrawnCurve],
    heading: Heading,
    statistic: str,
    legend: str,
    annotate: Callable[[Axes, DrawnCurve], str],
    *,
    bounded: bool,
) -> Figure:
    check_curves(curves)
    families, columns = levels([curve.group for curve in curves]), min(len(curves), 3)
    with drawing(*sheet_size(len(curves), columns, legend=0.5)) as sheet:
        by_subject = [(curve.subject, [(curve, families.index(curve.group), curve.group)]) for curve in curves]
        grid = draw_panels(sheet, by_subject, columns=columns, vertical=statistic)
        for axes, curve in zip(grid, curves, strict=True):
            axes.set_title(f"{axes.get_title(loc='left')}\n{annotate(axes, curve)}", fontsize=7.5, linespacing=1.35)
        if bounded:
            start_at_zero(grid, curves)
        add_legend(sheet, columns=6)
        remark = " ".join(filter(None, (legend, gaps_remark(undefined_points(curves)))))
        return drawn_figure(sheet, heading, curves_text(statistic, curves), curve_data(curves), remark)


def _mark_peak(axes: Axes, curve: DrawnCurve) -> str:
    value = np.asarray(curve.value, dtype=float)
    if not np.isfinite(value).any():
        return "undefined at every layer"
    best = _mark_layer(axes, curve, int(np.nanargmax(value)))
    # 1 - last / peak (SAW-C §5.3); a curve without a positive peak has none to fall from
    drop = 1 - value[-1] / value[best] if value[best] > 0 else np.nan
    fall = "last —" if np.isnan(drop) else "no drop" if drop == 0 else f"last −{100 * drop:.0f} %"
    allowing = "" if curve.chosen is None else f"\nchoice allowed for: {apa(curve.chosen)}"
    return f"peak {apa(float(value[best]))} at {curve.layer[best]:g} · {fall}{allowing}"


def _mark_lowest(axes: Axes, curve: DrawnCurve) -> str:
    value = np.asarray(curve.value, dtype=float)
    if curve.separated:
        axes.plot(curve.separated, [0.04] * len(curve.separated), marker="v", ls="", ms=6, color=INK,
                  transform=axes.get_xaxis_transform())  # fmt: skip
        text = f"without error at {', '.join(f'{layer:g}' for layer in curve.separated)}"
    elif not np.isfinite(value).any():
        return "undefined at every layer"
    else:
        best = _mark_layer(axes, curve, int(np.nanargmin(value)))
        text = f"lowest {value[best]:.1f} at {curve.layer[best]:g}"
        if curve.expected_layer is not None:
            if _is_within(curve):
                axes.axvline(curve.expected_layer, color=SOFT, lw=1, ls=(0, (3, 2)), zorder=1)
            text += f" · expected layer {curve.expected_layer:.2f}{'' if _is_within(curve) else ' (outside)'}"
    below = [] if curve.chosen is None else [f"held out {curve.chosen:.1f}"]
    if curve.baseline is not None:
        axes.axhline(curve.baseline, color=SOFT, lw=1, ls=":", zorder=1)
        below.append(f"without distance {curve.baseline:.1f}")
    return "\n".join(filter(None, (text, " · ".join(below))))


def _mark_layer(axes: Axes, curve: DrawnCurve, place: int) -> int:
    """Draw a ring around the point at *place* of a curve; return the place."""
    axes.plot(curve.layer[place], curve.value[place], marker="o", ms=8, mfc="none", mec=INK, mew=1, zorder=5)
    return place


def _is_within(curve: DrawnCurve) -> bool:
    # negative weights may push the mean beyond the layers; an axis stretched to it would show layers that do not exist
    expected = curve.expected_layer
    return expected is not None and float(np.min(curve.layer)) <= expected <= float(np.max(curve.layer))
