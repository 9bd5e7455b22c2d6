"""Distributions of values: a histogram for each group, on one axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Array, Figure, Floats, Heading, build
from lexiscope.report.plots.style import WIDTH, as_svg, drawing, mark, panels, short_names

_BINS = 20
_MOST_WHOLE = 21
"""The largest number of whole values that get a bar each."""


def histograms(groups: Mapping[str, Floats], heading: Heading, *, axis: str) -> Figure:
    """Draw how the values of each group are distributed, one panel a group, with the same bars in all of them.

    Whole numbers (ratings) get a bar each. Missing values are counted in the caption, not drawn. *axis* says what the
    values are. Errors: :class:`InputError` where no group has a value.
    """
    known = {name: values[np.isfinite(values)] for name, values in groups.items()}
    every = np.concatenate([np.empty(0), *known.values()])
    if not len(every):
        raise InputError("there is no value to draw")
    edges, told = _edges(every), [_summary(name, values) for name, values in known.items()]
    alt = f"Distribution of {axis.lower()}. {' '.join(told)}"
    with drawing(WIDTH, 0.8 + 1.15 * len(known)) as sheet:
        names = short_names(list(known), 60)
        grid = panels(sheet, len(known), columns=1, share_y=False)
        for index, (axes, values) in enumerate(zip(grid, known.values(), strict=True)):
            axes.hist(values, bins=edges.tolist(), color=mark(index).colour, edgecolor="white", lw=0.8)
            axes.set(xlim=(edges[0], edges[-1]), ylabel="n")
            axes.set_title(f"{names[index]} (n = {len(values):,})", fontsize=7.5)
            axes.grid(axis="x", visible=False)
        sheet.supxlabel(axis, fontsize=8.5)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    missing = sum(len(values) for values in groups.values()) - len(every)
    data: dict[str, Array] = {
        "group": np.array([name for name, values in known.items() for _ in values]),
        "value": every,
    }
    return build(heading, svg, alt, data, f"Missing values: {missing:,}." if missing else "")


def _edges(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    if (values == np.round(values)).all() and high - low < _MOST_WHOLE:
        return np.arange(low - 0.5, high + 1.0)
    return np.linspace(low, high if high > low else low + 1.0, _BINS + 1)


def _summary(name: str, values: Floats) -> str:
    if not len(values):
        return f"{name}: none."
    return f"{name}: n = {len(values):,}, mean {values.mean():.2f}, from {values.min():g} to {values.max():g}."
