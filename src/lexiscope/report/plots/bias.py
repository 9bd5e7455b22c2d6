"""The bias plane: context bias against word bias of models and people on each dataset (the study's Figures 1, 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Array, Figure, Heading, apa, build, gaps_remark, levels
from lexiscope.report.plots.labels import Point, place_labels
from lexiscope.report.plots.style import INK, SOFT, WIDTH, as_svg, drawing, mark, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Beyond this many points, names beside them would cover each other: numbers stand there instead.
NAMED = 18
_SHADE = "#ececec"
_MARGIN = 0.12


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """The two biases of one subject on one dataset, with their intervals (not-a-number where there is none).

    ``people``: the subject is people, not a model. *Higher means:* more can be had from this part alone.
    """

    dataset: str
    subject: str
    context: float
    word: float
    people: bool = False
    context_low: float = float("nan")
    context_high: float = float("nan")
    word_low: float = float("nan")
    word_high: float = float("nan")

    @property
    def is_defined(self) -> bool:
        """Say whether both biases have a value: only then is there a place in the plane."""
        return bool(np.isfinite(self.context) and np.isfinite(self.word))


def bias_plane(
    points: Sequence[PlanePoint], heading: Heading, *, high: float = 0.8, order: Sequence[str] = ()
) -> Figure:
    """Draw context bias against word bias: models filled, people hollow, the points of one dataset linked to people's.

    Lines stand at 1, where a part gives as much as the whole input; shaded is what exceeds *high*. Near 0 on both axes,
    bottom left, word and context are needed. Thin bars are intervals; one that leaves the frame is cut there, and the
    caption says so. Undefined biases are listed, not drawn. *order* names all subjects of a report, so that one has
    the same mark in all its figures.
    Errors: :class:`InputError` where no point is defined.
    """
    drawn = [point for point in points if point.is_defined]
    if not drawn:
        raise InputError("the bias plane needs a point with both biases")
    alt = _words(points, high)
    frame = _frame(drawn, high)
    with drawing(WIDTH * 0.86, 5.6) as sheet:
        axes = sheet.subplots()
        axes.set(xlim=frame[0], ylim=frame[1], xlabel="Context bias", ylabel="Word bias")
        _ground(axes, frame, high)
        _links(axes, drawn)
        _points(axes, drawn, list(dict.fromkeys((*order, *levels([point.subject for point in drawn])))))
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        numbered = len(drawn) > NAMED
        datasets = levels([point.dataset for point in drawn])
        if numbered:
            sheet.supxlabel(_key(datasets), fontsize=6.5, ha="center", linespacing=1.5)
        # labels are placed against the final layout, so it is fixed first
        sheet.draw_without_rendering()
        sheet.set_layout_engine("none")
        names = dict(zip(datasets, short_names(datasets, 18), strict=True))
        texts = [str(datasets.index(p.dataset) + 1) if numbered else names[p.dataset] for p in drawn]
        place_labels(axes, [(p.context, p.word) for p in drawn], texts, obstacles=_segments(drawn, frame))
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    return build(heading, svg, alt, _data(points), _remark(points, frame))


Frame = tuple[tuple[float, float], tuple[float, float]]


def _frame(drawn: Sequence[PlanePoint], high: float) -> Frame:
    """What is shown of the plane: all points, the origin, the lines at 1; intervals do not widen it."""
    ends = []
    for values in ([p.context for p in drawn], [p.word for p in drawn]):
        ends.append((min(-0.05, min(values) - _MARGIN), max(1.08, high + _MARGIN, max(values) + _MARGIN)))
    return ends[0], ends[1]


def _ground(axes: Axes, frame: Frame, high: float) -> None:
    label = f"bias above {high:.2f}"
    axes.axvspan(high, frame[0][1], color=_SHADE, lw=0, zorder=0, label=label)
    axes.fill_between((frame[0][0], high), high, frame[1][1], color=_SHADE, lw=0, zorder=0)
    # the grid would be lost on the shading: only the two lines that mean something are drawn
    axes.grid(visible=False)
    axes.axvline(1, color=INK, lw=0.9, ls=(0, (4, 2)), zorder=1, label="as much as the whole input")
    axes.axhline(1, color=INK, lw=0.9, ls=(0, (4, 2)), zorder=1)
    for draw in (axes.axvline, axes.axhline):
        draw(0, color=SOFT, lw=0.6, zorder=1)


def _links(axes: Axes, drawn: Sequence[PlanePoint]) -> None:
    label = "same dataset"
    for start, end in _linked(drawn):
        axes.plot(*zip(start, end, strict=True), color=SOFT, lw=0.9, alpha=0.8, zorder=2, label=label)
        label = "_same dataset"  # once in the legend


def _linked(drawn: Sequence[PlanePoint]) -> list[tuple[Point, Point]]:
    """Each model's point with that of the people on the same dataset."""
    people = {point.dataset: (point.context, point.word) for point in drawn if point.people}
    return [((p.context, p.word), people[p.dataset]) for p in drawn if not p.people and p.dataset in people]


def _points(axes: Axes, drawn: Sequence[PlanePoint], order: Sequence[str]) -> None:
    subjects = levels([point.subject for point in drawn])
    for subject, name in zip(subjects, short_names(subjects, 34), strict=True):
        look, own = mark(order.index(subject)), [point for point in drawn if point.subject == subject]
        _bars(axes, own, look.colour)
        face = "white" if own[0].people else look.colour
        x, y = [point.context for point in own], [point.word for point in own]
        axes.plot(x, y, ls="", marker=look.marker, ms=6, mfc=face, mec=look.colour, mew=1.3, label=name, zorder=4)


def _bars(axes: Axes, own: Sequence[PlanePoint], colour: str) -> None:
    for point in own:
        if np.isfinite([point.context_low, point.context_high]).all():
            axes.hlines(point.word, point.context_low, point.context_high, color=colour, lw=0.8, alpha=0.6, zorder=3)
        if np.isfinite([point.word_low, point.word_high]).all():
            axes.vlines(point.context, point.word_low, point.word_high, color=colour, lw=0.8, alpha=0.6, zorder=3)


def _segments(drawn: Sequence[PlanePoint], frame: Frame) -> list[tuple[Point, Point]]:
    """What a name should not be written over: links, intervals, and the lines at 0 and 1."""
    (left, right), (bottom, top) = frame
    found = _linked(drawn)
    for edge in (0.0, 1.0):
        found += [((edge, bottom), (edge, top)), ((left, edge), (right, edge))]
    for p in drawn:
        if np.isfinite([p.context_low, p.context_high]).all():
            found.append(((p.context_low, p.word), (p.context_high, p.word)))
        if np.isfinite([p.word_low, p.word_high]).all():
            found.append(((p.context, p.word_low), (p.context, p.word_high)))
    return found


def _key(datasets: Sequence[str]) -> str:
    entries = [f"{index} {name}" for index, name in enumerate(short_names(datasets, 30), start=1)]
    return "\n".join(" · ".join(entries[start : start + 5]) for start in range(0, len(entries), 5))


def _remark(points: Sequence[PlanePoint], frame: Frame) -> str:
    cut = [f"{p.subject} on {p.dataset}" for p in points if p.is_defined and _leaves(p, frame)]
    told = f"Intervals that leave the frame and are cut there: {'; '.join(cut[:5])}" if cut else ""
    told = f"{told}{f'; and {len(cut) - 5} more' if len(cut) > 5 else ''}." if told else ""
    undefined = gaps_remark([f"{p.subject} on {p.dataset}" for p in points if not p.is_defined])
    return " ".join(part for part in (told, undefined) if part)


def _leaves(point: PlanePoint, frame: Frame) -> bool:
    (left, right), (bottom, top) = frame
    low = point.context_low < left or point.word_low < bottom
    return bool(low or point.context_high > right or point.word_high > top)


def _words(points: Sequence[PlanePoint], high: float) -> str:
    parts = [f"Context bias (across) against word bias (up), lines at 1, shading above {apa(high)}."]
    for point in points:
        place = f"context {apa(point.context)}, word {apa(point.word)}"
        parts.append(f"{point.dataset}, {point.subject}{' (people)' if point.people else ''}: {place}.")
    return " ".join(parts)


def _data(points: Sequence[PlanePoint]) -> dict[str, Array]:
    names = ("dataset", "subject", "people", "context", "context_low", "context_high", "word", "word_low", "word_high")
    return {name: np.array([getattr(point, name) for point in points]) for name in names}
