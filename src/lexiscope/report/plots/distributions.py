"""Distributions: item means by condition (SAW-C, Figure 2), raters' agreement (4), residuals (5, 12), any values.

And item by item: the norms against the distances of a subject.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.core.showing import counted
from lexiscope.report.figures import Array, Figure, Floats, Heading, apa, floats, gaps_remark, levels, same_length
from lexiscope.report.plots.curves import DrawnCurve, curve_data
from lexiscope.report.plots.style import (
    INK,
    WIDTH,
    add_legend,
    drawing,
    drawn_figure,
    mark,
    panels,
    short_names,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Points at which a density curve is evaluated.
GRID_POINTS = 200
_BINS = 20
_MOST_WHOLE = 21
"""The largest number of whole values that get a bar each."""


# -- densities --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """Residuals of one subject and the condition of each. *Shape:* (points,), (points,)."""

    subject: str
    residual: Array
    condition: Array


def bandwidth(values: Floats) -> float:
    """Return Silverman's bandwidth, 0.9 · min(sd, IQR / 1.34) · n^(−1/5); 0 where the values do not vary.

    *Shape:* (n,) → number. *Unit:* that of the values. *Source:* Silverman (1986), equation 3.31.
    """
    if len(values) < 2:
        return 0.0
    spread = float(np.std(values, ddof=1))
    quartiles = np.quantile(values, [0.25, 0.75])
    between = float(quartiles[1] - quartiles[0]) / 1.34
    narrower = min(spread, between) if between > 0 else spread
    return float(0.9 * narrower * len(values) ** -0.2)


def gaussian_density(
    values: Floats, grid: Floats, *, width: float, limits: tuple[float, float] | None = None
) -> Floats:
    """Return a Gaussian kernel density of *values* at *grid*; at *limits* of the scale the tails are folded back.

    *Shape:* (n,), (points,) → (points,). *Unit:* per unit of the values. *Higher means:* more values nearby.
    Errors: :class:`InputError` where *width* is not positive.

    >>> round(float(gaussian_density(np.array([0.0]), np.array([0.0]), width=1.0)[0]), 4)  # 1 / sqrt(2 pi)
    0.3989
    """
    if not width > 0:
        raise InputError(f"a kernel needs a positive width, got {width}")
    centres = values if limits is None else np.concatenate([values, *(2 * edge - values for edge in limits)])
    kernel = np.exp(-0.5 * ((grid[:, None] - centres[None, :]) / width) ** 2)
    return np.asarray(kernel.sum(axis=1) / (len(values) * width * np.sqrt(2 * np.pi)))


def density_by_condition(
    values: Array,
    condition: Array,
    heading: Heading,
    *,
    scale: tuple[float, float] | None = None,
    order: Sequence[str] | None = None,
) -> Figure:
    """Draw the distribution of item values in each condition, every item as a tick below (SAW-C, Figure 2).

    *Shape:* (items,), (items,). *scale* gives the ends of the answer scale. Undefined values are excluded and counted.
    """
    numbers, labels = floats(values, "density_by_condition"), np.asarray(condition)
    same_length("density_by_condition", numbers, labels)
    names = levels(labels, order)
    defined = np.isfinite(numbers)
    groups = {name: numbers[(labels == name) & defined] for name in names}
    grid = _density_grid(numbers[defined], scale)
    alt = "Density of mean relatedness by condition. " + _summary_text(groups)
    with drawing(WIDTH, 3.1) as sheet:
        axes = sheet.subplots()
        for index, (name, group) in enumerate(groups.items()):
            # a group without spread has no density; its items are ticks all the same, and the legend counts them
            look, density = mark(index), _density(group, grid, scale)
            axes.plot(grid, density, color=look.colour, ls=look.line, label=f"{name} (n = {len(group)})")
            axes.fill_between(grid, 0, density, color=look.colour, alpha=0.16, lw=0)
            if len(group):
                axes.axvline(float(group.mean()), color=look.colour, ls=look.line, lw=0.8, ymax=0.97)
            axes.vlines(group, -0.03 * (2 * index + 1.9), -0.03 * (2 * index + 0.4), color=look.colour, lw=0.5,
                        alpha=0.6, transform=axes.get_xaxis_transform(), clip_on=False)  # fmt: skip
        axes.tick_params(axis="x", pad=4 + 10 * len(groups), length=0)
        axes.set(xlabel="Mean relatedness", ylabel="Density", xlim=(grid[0], grid[-1]), ylim=(0, None))
        axes.legend(loc="best")
        remark = "Ticks below the axis: single items." + _count_remark(int((~defined).sum()))
        return drawn_figure(sheet, heading, alt, {"condition": labels, "value": numbers}, remark)


def residual_ridge(subjects: Sequence[Residuals], heading: Heading, *, order: Sequence[str] | None = None) -> Figure:
    """Draw one row of residual densities per subject, a tick at each condition's mean (SAW-C, Figures 5 and 12).

    The data are the drawn curves: subject, condition, residual, density, and the condition's mean and n.
    """
    if not subjects:
        raise InputError("residual_ridge: no subject to draw")
    for rows in subjects:
        same_length(f"residuals of {rows.subject!r}", rows.residual, rows.condition)
    names = levels([str(label) for rows in subjects for label in rows.condition], order)
    pooled = np.concatenate([floats(rows.residual, f"residuals of {rows.subject!r}") for rows in subjects])
    grid = _density_grid(pooled[np.isfinite(pooled)], None)
    curves = [[_density_curve(rows, name, grid) for name in names] for rows in subjects]
    alt = "Residual densities by subject and condition."
    for row in curves:
        means = (f"{curve.condition} mean {_signed(curve.baseline)} (n = {curve.n})" for curve in row)
        alt += f" {row[0].subject}: {', '.join(means)}."
    with drawing(WIDTH, 1.1 + 0.46 * len(subjects)) as sheet:
        axes = sheet.subplots()
        _draw_ridge(axes, curves, grid)
        axes.set(xlabel="Residual (observed − fitted mean relatedness)", xlim=(grid[0], grid[-1]))
        add_legend(sheet, columns=len(names))
        remark = "Markers on the base lines: means of the condition." + _count_remark(int((~np.isfinite(pooled)).sum()))
        flat = [curve for row in curves for curve in row]
        data = curve_data(flat, part="condition", place="residual", value="density")
        data = {name: data[name] for name in ("subject", "condition", "residual", "density", "baseline", "n")}
        data = {"mean" if name == "baseline" else name: values for name, values in data.items()}
        return drawn_figure(sheet, heading, alt, data, remark)


def _density_curve(rows: Residuals, condition: str, grid: Floats) -> DrawnCurve:
    """The density of a subject's residuals in a condition over *grid*; ``baseline`` is their mean."""
    numbers, labels = np.asarray(rows.residual, dtype=float), np.asarray(rows.condition).astype(str)
    group = numbers[(labels == condition) & np.isfinite(numbers)]
    mean = float(group.mean()) if len(group) else np.nan
    return DrawnCurve(rows.subject, grid, _density(group, grid), condition=condition, n=len(group), baseline=mean)


def _density(group: Floats, grid: Floats, limits: tuple[float, float] | None = None) -> Floats:
    """The density of values at *grid*; not-a-number for values without spread, which have none."""
    width = bandwidth(group)
    return gaussian_density(group, grid, width=width, limits=limits) if width > 0 else np.full(len(grid), np.nan)


def _draw_ridge(axes: Axes, curves: Sequence[Sequence[DrawnCurve]], grid: Floats) -> None:
    shapes = [curve.value for row in curves for curve in row if np.isfinite(curve.value).all()]
    tallest = max((float(shape.max()) for shape in shapes), default=1.0)
    for place, row in enumerate(curves):
        base = -float(place)
        for index, curve in enumerate(row):
            look, top = mark(index), base + 1.15 * curve.value / tallest
            axes.fill_between(grid, base, top, color=look.colour, alpha=0.22, lw=0, zorder=place + 2)
            axes.plot(grid, top, color=look.colour, ls=look.line, lw=1.1, zorder=place + 2, label=curve.condition)
            mean = np.array([curve.baseline], dtype=float)
            axes.plot(mean, [base], marker=look.marker, color=look.colour, ms=4, zorder=place + 40, clip_on=False)
    axes.axvline(0, color=INK, lw=0.8, zorder=1)
    axes.set_yticks([-place for place in range(len(curves))], short_names([row[0].subject for row in curves], 34))
    axes.set_ylim(-len(curves) + 0.75, 1.3)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _signed(value: float | None) -> str:
    return "undefined" if value is None or not np.isfinite(value) else f"{value:+.2f}".replace("-", "−")


def _density_grid(values: Floats, scale: tuple[float, float] | None) -> Floats:
    if len(values) == 0:
        raise InputError("no defined value to draw")
    if scale is not None:
        return np.linspace(scale[0], scale[1], GRID_POINTS)
    margin = 0.1 * float(np.ptp(values)) or 0.5
    return np.linspace(float(values.min()) - margin, float(values.max()) + margin, GRID_POINTS)


def _summary_text(groups: dict[str, Floats]) -> str:
    parts = []
    for name, group in groups.items():
        spread = apa(float(np.std(group, ddof=1))) if len(group) > 1 else "—"
        parts.append(f"{name}: n {len(group)}, mean {apa(float(group.mean())) if len(group) else '—'}, sd {spread}.")
    return " ".join(parts)


def _count_remark(count: int) -> str:
    return f" {gaps_remark([f'{count} values'])}" if count else ""


# -- raters, and norms item by item -----------------------------------------------------------------------------------


def agreement_histogram(
    agreement: Array, subjects: Mapping[str, float], heading: Heading, *, definition: str
) -> Figure:
    """Draw how well single raters agree with the norms, and where subjects are among them (SAW-C, Figure 4).

    *Shape:* (raters,). *Higher means:* agrees more. *subjects* is the agreement of each subject by its name.
    *definition* names the statistic in full, for example ``true leave-one-out`` or ``own rating included``; it is
    printed on the axis, because the two differ.
    """
    if not definition:
        raise InputError("agreement_histogram: name the definition of agreement (true leave-one-out, own included …)")
    numbers = floats(agreement, "agreement_histogram")
    defined = numbers[np.isfinite(numbers)]
    if len(defined) == 0:
        raise InputError("agreement_histogram: no rater has a defined agreement")
    mean = apa(float(defined.mean()))
    alt = (
        f"Histogram of the agreement of {len(defined)} raters with the norms ({definition}): "
        f"mean {mean}, from {apa(float(defined.min()))} to {apa(float(defined.max()))}."
    )
    with drawing(WIDTH, 2.9 + 0.16 * (len(subjects) // 2)) as sheet:
        axes = sheet.subplots()
        axes.hist(defined, bins=20, color="#b9c6cf", edgecolor="white", lw=0.8, label=f"raters (n = {len(defined)})")
        axes.axvline(float(defined.mean()), color=INK, lw=1, label=f"raters' mean {mean}")
        for index, (subject, value) in enumerate(subjects.items()):
            below = int((defined < value).sum())
            share = f"above {below} of {len(defined)} raters ({100 * below / len(defined):.1f} %)"
            alt += f" {subject} at {apa(value)}, {share}."
            axes.axvline(value, color=mark(index).colour, ls=mark(index + 1).line, lw=1.6,
                         label=f"{shorten(subject, 40)} {apa(value)}: {share}")  # fmt: skip
        axes.set(xlabel=f"Agreement of a rater with the norms (Spearman's ρ, {definition})", ylabel="Raters")
        axes.grid(axis="x", visible=False)
        add_legend(sheet, columns=2, below=True)
        data = {
            "kind": np.array(["rater"] * len(numbers) + ["subject"] * len(subjects)),
            "name": np.array([*map(str, range(1, len(numbers) + 1)), *subjects]),
            "agreement": np.array([*numbers, *subjects.values()]),
        }
        gone = len(numbers) - len(defined)
        remark = f"{gone} raters have no defined agreement (constant answers) and are not drawn." if gone else ""
        return drawn_figure(sheet, heading, alt, data, remark)


def norms_by_distance(
    norm: Array,
    distance: Array,
    condition: Array,
    heading: Heading,
    *,
    subject: str,
    layer: str,
    r: float,
    rho: float,
    order: Sequence[str] | None = None,
) -> Figure:
    """Draw people's item means against a subject's cosine distances, by condition, with r and ρ.

    *Shape:* (items,) three times. *Unit:* scale points against cosine distance. Undefined pairs are counted, not drawn.
    *r* and *rho* are those of the analysis (not-a-number where undefined); they are printed, not computed, here.
    """
    people, model, labels = floats(norm, "norm"), floats(distance, "distance"), np.asarray(condition)
    same_length("norms_by_distance", people, model, labels)
    both = np.isfinite(people) & np.isfinite(model)
    names = levels(labels, order)
    summary = f"n = {int(both.sum())}, r = {apa(r)}, ρ = {apa(rho)}"
    where = f", {layer}" if layer else ""
    alt = f"Scatter of people's mean ratings against cosine distance of {subject}{where}; {summary}."
    with drawing(WIDTH * 0.72, 3.6) as sheet:
        axes = sheet.subplots()
        for index, name in enumerate(names):
            look, here = mark(index), both & (labels == name)
            fill, label = "none" if index else look.colour, f"{name} (n = {int(here.sum())})"
            axes.scatter(model[here], people[here], s=11, marker=look.marker, facecolors=fill, edgecolors=look.colour,
                         lw=0.6, alpha=0.75, label=label)  # fmt: skip
        axes.set(
            xlabel=", ".join(part for part in ("Cosine distance", shorten(subject, 36), layer) if part),
            ylabel="Mean rating of people",
        )
        axes.set_title(summary)
        add_legend(sheet, columns=len(names), below=True)
        gone = int((~both).sum())
        data = {"condition": labels, "norm": people, "distance": model}
        return drawn_figure(sheet, heading, alt, data, gaps_remark([counted(gone, "item")] if gone else []))


# -- any values -------------------------------------------------------------------------------------------------------


def histograms(groups: Mapping[str, Floats], heading: Heading, *, axis: str) -> Figure:
    """Draw how the values of each group are distributed, one panel a group, with the same bars in all of them.

    Whole numbers (ratings) get a bar each. Missing values are counted in the caption, not drawn. *axis* says what the
    values are. Errors: :class:`InputError` where no group has a value.
    """
    known = {name: values[np.isfinite(values)] for name, values in groups.items()}
    every = np.concatenate([np.empty(0), *known.values()])
    if not len(every):
        raise InputError("there is no value to draw")
    edges, alt = _bar_edges(every), f"Distribution of {axis.lower()}."
    for name, values in known.items():
        text = "none"
        if len(values):
            text = f"n = {len(values):,}, mean {values.mean():.2f}, from {values.min():g} to {values.max():g}"
        alt += f" {name}: {text}."
    with drawing(WIDTH, 0.8 + 1.15 * len(known)) as sheet:
        names = short_names(list(known), 60)
        grid = panels(sheet, len(known), columns=1, share_y=False)
        for index, (axes, values) in enumerate(zip(grid, known.values(), strict=True)):
            axes.hist(values, bins=edges.tolist(), color=mark(index).colour, edgecolor="white", lw=0.8)
            axes.set(xlim=(edges[0], edges[-1]), ylabel="n")
            axes.set_title(f"{names[index]} (n = {len(values):,})", fontsize=7.5)
            axes.grid(axis="x", visible=False)
        sheet.supxlabel(axis, fontsize=8.5)
        missing = sum(len(values) for values in groups.values()) - len(every)
        group = np.repeat(list(known), [len(values) for values in known.values()])
        remark = f"Missing values: {missing:,}." if missing else ""
        return drawn_figure(sheet, heading, alt, {"group": group, "value": every}, remark)


def _bar_edges(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    if (values == np.round(values)).all() and high - low < _MOST_WHOLE:
        return np.arange(low - 0.5, high + 1.0)
    return np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
