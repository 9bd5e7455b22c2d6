"""Small multiples over layers: one panel per subject, with what matters of it in its title (SAW-C, Figures 9, 11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.report.figures import Figure, Floats, Heading, apa, build, gaps_remark, levels
from lexiscope.report.plots.curves import DrawnCurve, all_gaps, check_trajectories, trajectory_data, trajectory_words
from lexiscope.report.plots.panels import (
    columns_for,
    distinct_legend,
    draw_curve,
    layer_ticks,
    sheet_size,
    start_at_zero,
    title_length,
)
from lexiscope.report.plots.style import INK, SOFT, as_svg, drawing, mark, panels, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def peak_panels(curves: Sequence[DrawnCurve], heading: Heading, *, statistic: str = "R²", interval: str = "") -> Figure:
    """Draw one panel per subject: its peak is marked and the drop from there to the last layer printed (Figure 9).

    *Higher means:* closer to people. The drop is 1 − last / peak, in per cent of the peak.
    """
    legend = f"Ring: the peak; last: what is lost of it at the last layer.{f' Bands: {interval}.' if interval else ''}"
    return _small_multiples(curves, heading, statistic, legend, _peak, bounded=True)


def aic_panels(curves: Sequence[DrawnCurve], heading: Heading, *, statistic: str = "AIC") -> Figure:
    """Draw one panel per subject: the layer of lowest AIC is marked, the expected layer as a line (Figure 11).

    *Lower means:* the sense boundary is easier to read off the distances of that layer.
    """
    legend = "Ring: the layer of the lowest value."
    legend += " Dashed upright line: the expected layer." if any(_within(curve) for curve in curves) else ""
    if any(curve.baseline is not None for curve in curves):
        legend += " Dotted level line: the model without distance; a curve above it separates nothing."
    if any(curve.separated for curve in curves):
        legend += " Triangle: a layer that separates the senses without error; no finite value expresses that, and no "
        legend += "other layer of that panel has a ring."
    return _small_multiples(curves, heading, statistic, legend, _lowest, bounded=False)


def _drop(value: Floats) -> float:
    # 1 - last / peak (SAW-C §5.3); a curve without a positive peak has none to fall from
    known = value[np.isfinite(value)]
    if len(known) == 0 or not np.isfinite(value[-1]) or known.max() <= 0:
        return float("nan")
    return float(1 - value[-1] / known.max())


def _small_multiples(
    curves: Sequence[DrawnCurve],
    heading: Heading,
    statistic: str,
    legend: str,
    annotate: Callable[[Axes, DrawnCurve], str],
    *,
    bounded: bool,
) -> Figure:
    check_trajectories(curves)
    alt, columns = trajectory_words(statistic, curves), columns_for(len(curves))
    families = levels([curve.group for curve in curves])
    with drawing(*sheet_size(len(curves), columns, tall=0.5)) as sheet:
        grid = panels(sheet, len(curves), columns=columns)
        names = short_names([curve.subject for curve in curves], title_length(columns))
        for axes, curve, name in zip(grid, curves, names, strict=True):
            look = mark(families.index(curve.group))
            draw_curve(axes, curve.layer, curve.value, curve.low, curve.high, look, curve.group)
            found = annotate(axes, curve)
            axes.set_title(f"{name}\n{found}", fontsize=7.5, linespacing=1.35)
            layer_ticks(axes, float(np.max(curve.layer)))
        if bounded:
            start_at_zero(grid, curves)
        if any(families):
            handles, labels = distinct_legend(sheet.axes)
            sheet.legend(handles, labels, loc="outside upper center", ncols=min(6, len(labels)))
        sheet.supxlabel("Layer (0 = input embeddings)", fontsize=8.5)
        sheet.supylabel(statistic, fontsize=8.5)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    remark = " ".join(part for part in (legend, gaps_remark(all_gaps(curves))) if part)
    return build(heading, svg, alt, trajectory_data(curves), remark)


def _peak(axes: Axes, curve: DrawnCurve) -> str:
    value = np.asarray(curve.value, dtype=float)
    if not np.isfinite(value).any():
        return "undefined at every layer"
    best = int(np.nanargmax(value))
    axes.plot(curve.layer[best], value[best], marker="o", ms=8, mfc="none", mec=INK, mew=1, zorder=5)
    drop = _drop(value)
    fall = "last —" if np.isnan(drop) else "no drop" if drop == 0 else f"last −{100 * drop:.0f} %"
    return f"peak {apa(float(value[best]))} at {curve.layer[best]:g} · {fall}"


def _lowest(axes: Axes, curve: DrawnCurve) -> str:
    value = np.asarray(curve.value, dtype=float)
    if curve.separated:
        at = axes.get_xaxis_transform()
        axes.plot(curve.separated, [0.04] * len(curve.separated), marker="v", ls="", ms=6, color=INK, transform=at)
        if curve.baseline is not None:
            axes.axhline(curve.baseline, color=SOFT, lw=1, ls=":", zorder=1)
        found = f"without error at {', '.join(f'{layer:g}' for layer in curve.separated)}"
        return found if curve.baseline is None else f"{found}\nwithout distance {curve.baseline:.1f}"
    if not np.isfinite(value).any():
        return "undefined at every layer"
    best = int(np.nanargmin(value))
    axes.plot(curve.layer[best], value[best], marker="o", ms=8, mfc="none", mec=INK, mew=1, zorder=5)
    found = f"lowest {value[best]:.1f} at {curve.layer[best]:g}"
    if curve.baseline is not None:
        axes.axhline(curve.baseline, color=SOFT, lw=1, ls=":", zorder=1)
    if curve.expected_layer is not None:
        if _within(curve):
            axes.axvline(curve.expected_layer, color=SOFT, lw=1, ls=(0, (3, 2)), zorder=1)
        found += f" · expected layer {curve.expected_layer:.2f}{'' if _within(curve) else ' (outside)'}"
    return found if curve.baseline is None else f"{found}\nwithout distance {curve.baseline:.1f}"


def _within(curve: DrawnCurve) -> bool:
    # negative weights may push the mean beyond the layers; an axis stretched to it would show layers that do not exist
    expected = curve.expected_layer
    return expected is not None and float(np.min(curve.layer)) <= expected <= float(np.max(curve.layer))
