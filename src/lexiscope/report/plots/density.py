"""Densities: item means by condition (SAW-C, Figure 2), residuals by subject and condition (Figures 5 and 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import (
    Array,
    Figure,
    Floats,
    Heading,
    apa,
    build,
    floats,
    gaps_remark,
    levels,
    same_length,
)
from lexiscope.report.plots.style import INK, WIDTH, MarkStyle, as_svg, drawing, mark, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Points at which a density curve is evaluated.
GRID_POINTS = 200


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
    axis: str = "Mean relatedness",
    scale: tuple[float, float] | None = None,
    order: Sequence[str] | None = None,
) -> Figure:
    """Draw the distribution of item values in each condition, every item as a tick below (SAW-C, Figure 2).

    *Shape:* (items,), (items,). *scale* gives the ends of the answer scale. Undefined values are left out and counted.
    """
    numbers, labels = floats(values, "density_by_condition"), np.asarray(condition)
    same_length("density_by_condition", numbers, labels)
    names = levels(labels, order)
    defined = np.isfinite(numbers)
    groups = {name: numbers[(labels == name) & defined] for name in names}
    grid = _grid(numbers[defined], scale)
    alt = f"Density of {axis.lower()} by condition. " + _summary(groups)
    with drawing(WIDTH, 3.1) as sheet:
        axes = sheet.subplots()
        for index, (name, group) in enumerate(groups.items()):
            _curve(axes, group, grid, scale, mark(index), f"{name} (n = {len(group)})")
            axes.vlines(group, -0.03 * (2 * index + 1.9), -0.03 * (2 * index + 0.4), color=mark(index).colour, lw=0.5,
                        alpha=0.6, transform=axes.get_xaxis_transform(), clip_on=False)  # fmt: skip
        axes.tick_params(axis="x", pad=4 + 10 * len(groups), length=0)
        axes.set(xlabel=axis, ylabel="Density", xlim=(grid[0], grid[-1]), ylim=(0, None))
        axes.legend(loc="best")
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    remark = "Ticks below the axis: single items." + _left_out(int((~defined).sum()))
    return build(heading, svg, alt, {"condition": labels, "value": numbers}, remark)


def residual_ridge(
    subjects: Sequence[Residuals],
    heading: Heading,
    *,
    axis: str = "Residual (observed − fitted mean relatedness)",
    order: Sequence[str] | None = None,
) -> Figure:
    """Draw one row of residual densities per subject, a tick at each condition's mean (SAW-C, Figures 5 and 12).

    The data beside are the drawn curves: subject, condition, residual, density, and the condition's mean and n.
    """
    if not subjects:
        raise InputError("residual_ridge: no subject to draw")
    for rows in subjects:
        same_length(f"residuals of {rows.subject!r}", rows.residual, rows.condition)
    names = levels([str(label) for rows in subjects for label in rows.condition], order)
    pooled = np.concatenate([floats(rows.residual, f"residuals of {rows.subject!r}") for rows in subjects])
    grid = _grid(pooled[np.isfinite(pooled)], None)
    curves = [_ridge_row(rows, names, grid) for rows in subjects]
    words = [_ridge_words(rows, row) for rows, row in zip(subjects, curves, strict=True)]
    alt = "Residual densities by subject and condition. " + " ".join(words)
    with drawing(WIDTH, 1.1 + 0.46 * len(subjects)) as sheet:
        axes = sheet.subplots()
        _draw_ridge(axes, subjects, curves, grid)
        axes.set(xlabel=axis, xlim=(grid[0], grid[-1]))
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(names))
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    gone = int((~np.isfinite(pooled)).sum())
    return build(
        heading,
        svg,
        alt,
        _ridge_data(subjects, curves, grid),
        "Markers on the base lines: means of the condition." + _left_out(gone),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _DensityCurve:
    condition: str
    density: Floats
    mean: float
    n: int


def _ridge_row(rows: Residuals, names: Sequence[str], grid: Floats) -> list[_DensityCurve]:
    numbers, labels = np.asarray(rows.residual, dtype=float), np.asarray(rows.condition).astype(str)
    curves = []
    for name in names:
        group = numbers[(labels == name) & np.isfinite(numbers)]
        width = bandwidth(group)
        shape = gaussian_density(group, grid, width=width) if width > 0 else np.full(len(grid), np.nan)
        curves.append(_DensityCurve(name, shape, float(group.mean()) if len(group) else np.nan, len(group)))
    return curves


def _draw_ridge(axes: Axes, subjects: Sequence[Residuals], curves: Sequence[list[_DensityCurve]], grid: Floats) -> None:
    shapes = [curve.density for row in curves for curve in row if np.isfinite(curve.density).all()]
    tallest = max((float(shape.max()) for shape in shapes), default=1.0)
    for place, row in enumerate(curves):
        base = -float(place)
        for index, curve in enumerate(row):
            look, top = mark(index), base + 1.15 * curve.density / tallest
            axes.fill_between(grid, base, top, color=look.colour, alpha=0.22, lw=0, zorder=place + 2)
            axes.plot(grid, top, color=look.colour, ls=look.line, lw=1.1, zorder=place + 2,
                      label=curve.condition if place == 0 else None)  # fmt: skip
            axes.plot(
                [curve.mean], [base], marker=look.marker, color=look.colour, ms=4, zorder=place + 40, clip_on=False
            )
    axes.axvline(0, color=INK, lw=0.8, zorder=1)
    axes.set_yticks([-place for place in range(len(subjects))], short_names([rows.subject for rows in subjects], 34))
    axes.set_ylim(-len(subjects) + 0.75, 1.3)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _ridge_data(subjects: Sequence[Residuals], curves: Sequence[list[_DensityCurve]], grid: Floats) -> dict[str, Array]:
    flat = [(rows.subject, curve) for rows, row in zip(subjects, curves, strict=True) for curve in row]
    count = len(grid)
    return {
        "subject": np.repeat([subject for subject, _ in flat], count),
        "condition": np.repeat([curve.condition for _, curve in flat], count),
        "residual": np.tile(grid, len(flat)),
        "density": np.concatenate([curve.density for _, curve in flat]),
        "mean": np.repeat([curve.mean for _, curve in flat], count),
        "n": np.repeat([curve.n for _, curve in flat], count),
    }


def _ridge_words(rows: Residuals, curves: Sequence[_DensityCurve]) -> str:
    means = ", ".join(f"{curve.condition} mean {_signed(curve.mean)} (n = {curve.n})" for curve in curves)
    return f"{rows.subject}: {means}."


def _signed(value: float) -> str:
    return "undefined" if not np.isfinite(value) else f"{value:+.2f}".replace("-", "−")


def _curve(
    axes: Axes, group: Floats, grid: Floats, scale: tuple[float, float] | None, look: MarkStyle, label: str
) -> None:
    width = bandwidth(group)
    # a group without spread has no density; its items still show as ticks, and the legend still counts them
    shape = gaussian_density(group, grid, width=width, limits=scale) if width > 0 else np.full(len(grid), np.nan)
    axes.plot(grid, shape, color=look.colour, ls=look.line, label=label)
    axes.fill_between(grid, 0, shape, color=look.colour, alpha=0.16, lw=0)
    if len(group):
        axes.axvline(float(group.mean()), color=look.colour, ls=look.line, lw=0.8, ymax=0.97)


def _grid(values: Floats, scale: tuple[float, float] | None) -> Floats:
    if len(values) == 0:
        raise InputError("no defined value to draw")
    if scale is not None:
        return np.linspace(scale[0], scale[1], GRID_POINTS)
    margin = 0.1 * float(np.ptp(values)) or 0.5
    return np.linspace(float(values.min()) - margin, float(values.max()) + margin, GRID_POINTS)


def _summary(groups: dict[str, Floats]) -> str:
    parts = []
    for name, group in groups.items():
        spread = apa(float(np.std(group, ddof=1))) if len(group) > 1 else "—"
        parts.append(f"{name}: n {len(group)}, mean {apa(float(group.mean())) if len(group) else '—'}, sd {spread}.")
    return " ".join(parts)


def _left_out(count: int) -> str:
    return f" {gaps_remark([f'{count} values'])}" if count else ""
