"""Curves over layers, or over what else is ordered: as data and as text, and drawn in the panels of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.analysis.layers.trajectory import ConditionLayers
from lexiscope.core.errors import InputError
from lexiscope.report.figures import Array, floats, same_length
from lexiscope.report.plots.style import WIDTH, MarkStyle, mark, panels, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

LAYERS = "Layer (0 = input embeddings)"
"""The name of the horizontal axis of layers: on it only whole layers are marked."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnCurve:
    """A statistic of one subject over layers, or over layer depth ratios (0 … 1), with its interval where known.

    *Shape:* (layers,) each. ``group`` is the family, or another grouping of the panels, ``condition`` the condition of
    the ``n`` items behind the curve. ``expected_layer`` and ``baseline``, the statistic of a model without distance (or
    what chance gives), are drawn if the figure shows them. ``separated``: the layers without a value because the
    outcomes are separated without error, which is better than any value. ``chosen``: the statistic at the best layer,
    allowing for its having been chosen on the same items.
    """

    subject: str
    layer: Array
    value: Array
    low: Array | None = None
    high: Array | None = None
    group: str = ""
    condition: str = ""
    n: int | None = None
    expected_layer: float | None = None
    baseline: float | None = None
    separated: tuple[float, ...] = ()
    chosen: float | None = None

    @classmethod
    def of_condition(cls, subject: str, layers: Sequence[int], means: ConditionLayers) -> DrawnCurve:
        """Return the mean distances of one subject in one condition at these layers."""
        low, high = (np.array([getattr(interval, end) for interval in means.intervals]) for end in ("low", "high"))
        return cls(subject, np.array(layers), means.mean, low, high, condition=means.condition, n=means.n)

    @property
    def name(self) -> str:
        """The subject, and the condition if there is one."""
        return ", ".join(filter(None, (self.subject, self.condition)))


# -- as data and as text --------------------------------------------------------------------------------------------


def check_curves(curves: Sequence[DrawnCurve]) -> None:
    """Check that every curve has numbers, as many values as layers, and both ends of its interval or none.

    Errors: :class:`InputError` naming the curve.
    """
    if not curves:
        raise InputError("a figure over layers needs at least one curve")
    for curve in curves:
        if (curve.low is None) != (curve.high is None):
            raise InputError(f"{curve.name}: an interval needs both of its ends")
        parts = [part for part in (curve.layer, curve.value, curve.low, curve.high) if part is not None]
        same_length(curve.name, *[floats(part, curve.name) for part in parts])


def undefined_points(curves: Sequence[DrawnCurve]) -> list[str]:
    """Return the names of the points of all curves that have no value."""
    return [
        f"{curve.name}, layer {layer:g}"
        for curve in curves
        for layer, value in zip(curve.layer, curve.value, strict=True)
        if not np.isfinite(value)
    ]


def first_and_last(curve: DrawnCurve, place: str = "layer") -> str:
    """Return the first and the last value of a curve as text; *place* is what the curve goes over."""
    known = [float(number) for number in curve.value if np.isfinite(number)]
    if not known:
        return f"undefined at every {place}"
    return f"from {known[0]:.3g} at the first to {known[-1]:.3g} at the last {place}"


def curves_text(statistic: str, curves: Sequence[DrawnCurve], place: str = "layer") -> str:
    """Return curves as text: the first and last value of each, and the highest; *place* is what it goes over."""
    parts = [f"{statistic}, {len(curves)} curve{'s' if len(curves) > 1 else ''}."]
    for curve in curves:
        value, highest = np.asarray(curve.value, dtype=float), ""
        if np.isfinite(value).any():
            highest = f"; highest {np.nanmax(value):.3g} at {curve.layer[int(np.nanargmax(value))]:g}"
        allowing = "" if curve.chosen is None else f"; best {place}, its choice allowed for: {curve.chosen:.3g}"
        parts.append(f"{curve.subject}: {first_and_last(curve, place)}{highest}{allowing}.")
    return " ".join(parts)


def curve_data(
    curves: Sequence[DrawnCurve], *, part: str = "group", place: str = "layer", value: str = "value"
) -> dict[str, Array]:
    """Return the columns of a figure's data: one row per curve and layer.

    *part* is the field that a subject's curves differ in, *place* and *value* are the names of the columns of the
    layers and of the statistic.
    """
    sizes = [len(curve.layer) for curve in curves]

    def points(name: str) -> Array:
        """The values of a field with one value per layer; not-a-number if a curve has none."""
        given = [getattr(curve, name) for curve in curves]
        return np.concatenate([np.full(n, np.nan) if v is None else v for v, n in zip(given, sizes, strict=True)])

    data = {name: np.repeat([getattr(curve, name) for curve in curves], sizes) for name in ("subject", part)}
    data |= {place: points("layer"), value: points("value"), "low": points("low"), "high": points("high")}
    for name in ("n", "expected_layer", "baseline", "chosen"):
        given = [getattr(curve, name) for curve in curves]
        if any(number is not None for number in given):
            data[name] = np.repeat([np.nan if number is None else number for number in given], sizes)
    if any(curve.separated for curve in curves):
        data["separated"] = np.concatenate([np.isin(curve.layer, curve.separated) for curve in curves]).astype(float)
    return data


# -- in panels ------------------------------------------------------------------------------------------------------


def draw_curve(axes: Axes, curve: DrawnCurve, look: MarkStyle, label: str) -> None:
    """Draw one curve with its band; a lone point gets a bar for its interval."""
    x, low, high = curve.layer, curve.low, curve.high
    # markers on every layer crowd a 24-layer curve; a lone point needs one to be seen at all
    axes.plot(x, curve.value, color=look.colour, ls=look.line, marker=look.marker, ms=3.2,
              markevery=max(1, len(x) // 13), label=label, zorder=3)  # fmt: skip
    if low is not None and high is not None:
        axes.fill_between(x, low, high, color=look.colour, alpha=0.15, lw=0, zorder=2)
        if len(x) == 1:
            axes.vlines(x, low, high, color=look.colour, lw=1.2, zorder=2)


def draw_panels(
    sheet: Drawing,
    curves_by_title: Sequence[tuple[str, Sequence[tuple[DrawnCurve, int, str]]]],
    *,
    columns: int,
    vertical: str,
    horizontal: str = LAYERS,
) -> list[Axes]:
    """Draw curves in panels that share their axes, which *vertical* and *horizontal* name; return the panels.

    A panel is a title and its curves, each with the number of its mark (:func:`mark`) and its label in the legend.
    """
    grid = panels(sheet, len(curves_by_title), columns=columns)
    titles = short_names([title for title, _ in curves_by_title], {1: 70, 2: 44}.get(columns, 31))
    for axes, title, (_, curves) in zip(grid, titles, curves_by_title, strict=True):
        for curve, number, label in curves:
            draw_curve(axes, curve, mark(number), label)
        axes.set_title(title)
        if horizontal == LAYERS:
            layer_ticks(axes, max(float(np.max(curve.layer)) for curve, _, _ in curves))
    sheet.supxlabel(horizontal, fontsize=8.5)
    sheet.supylabel(vertical, fontsize=8.5)
    return grid


def sheet_size(count: int, columns: int, *, legend: float) -> tuple[float, float]:
    """Return width and height of a sheet of panels, in inches; *legend* is the height of legend and axis titles."""
    rows = -(-count // columns)
    width = WIDTH * 0.72 if count == 1 else WIDTH
    height = 2.6 if count == 1 else 1.9 if count <= 18 else 1.6
    return width, legend + 0.3 + height * rows


def layer_ticks(axes: Axes, last: float) -> None:
    """Mark whole layers only, from the embeddings to the *last* layer, in quarters where they come out even."""
    step = max(1, int(last) // 4 if int(last) % 4 == 0 else -(-int(last) // 5))
    axes.set_xticks(range(0, int(last) + 1, step))
    margin = 0.04 * last or 0.5
    axes.set_xlim(-margin, last + margin)


def start_at_zero(grid: Sequence[Axes], curves: Sequence[DrawnCurve]) -> None:
    """Start the shared vertical axis at 0 and end it above every curve and band; where values are negative, leave it.

    Call it when all curves are drawn: a limit set earlier would cut the later ones.
    """
    parts = [part for c in curves for part in (c.value, c.low, c.high) if part is not None]
    known = np.concatenate([np.asarray(part, dtype=float) for part in parts])
    known = known[np.isfinite(known)]
    values = np.concatenate([np.asarray(c.value, dtype=float) for c in curves])
    if len(known) and known.max() > 0 and not (values < 0).any():
        grid[0].set_ylim(0, 1.05 * float(known.max()))
