"""A figure of people's choice of senses: how alike the senses are about which people and a model disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Figure, Heading, apa, build, levels
from lexiscope.report.plots.style import WIDTH, as_svg, drawing, mark, short_names

SIDES = ("agree", "disagree")
"""Questions in which a majority of people chose the model's sense, and those in which it chose another one."""


@dataclass(frozen=True, slots=True)
class LikenessDot:
    """How alike senses are on one side: a mean with its interval (not-a-number where there is none) and its n.

    ``measure`` is what is printed on the axis. *Unit:* that of the measure.
    """

    subject: str
    measure: str
    side: str
    value: float
    low: float
    high: float
    n: int


def likeness_dots(dots: Sequence[LikenessDot], heading: Heading) -> Figure:
    """Draw how alike senses are where people and model agree and disagree: a panel for each measure (GASI, Figure 6).

    Errors: :class:`InputError` without a dot, or for a side that is none of :data:`SIDES`.
    """
    if not dots or {dot.side for dot in dots} - set(SIDES):
        raise InputError(f"a figure of likeness needs dots of the sides {', '.join(SIDES)}")
    subjects, measures = levels([dot.subject for dot in dots]), levels([dot.measure for dot in dots])
    names = short_names(subjects, 30)
    alt = " ".join(f"{d.measure} of {d.subject}, {d.side}: {apa(d.value)} (n = {d.n})." for d in dots)
    with drawing(WIDTH, 1.2 + 0.42 * len(subjects)) as sheet:
        row_of_axes = sheet.subplots(1, len(measures), sharey=True, squeeze=False)[0]
        for axes, measure in zip(row_of_axes, measures, strict=True):
            for index, side in enumerate(SIDES):
                look, own = mark(index), [dot for dot in dots if dot.measure == measure and dot.side == side]
                places = [subjects.index(dot.subject) + 0.16 * (2 * index - 1) for dot in own]
                axes.hlines(places, [dot.low for dot in own], [dot.high for dot in own], color=look.colour, lw=1.2)
                axes.plot([dot.value for dot in own], places, look.marker, color=look.colour, label=f"people {side}")
            axes.set(xlabel=measure, yticks=range(len(subjects)), ylim=(len(subjects) - 0.5, -0.5))
            axes.set_yticklabels(names)
        sheet.legend(*row_of_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    names_of = ("subject", "measure", "side", "value", "low", "high", "n")
    return build(heading, svg, alt, {name: np.array([getattr(dot, name) for dot in dots]) for name in names_of})
