"""Biases and scores by view: the bias plane (Figures 1, 4 of the study), bars by view (2), minimum gaps (3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Figure, Heading, apa, columns_of, first_names, gaps_remark, levels
from lexiscope.report.plots.accuracy import NAME_LENGTH, Dot, draw_dots, rows_height
from lexiscope.report.plots.labels import Segment, label_points
from lexiscope.report.plots.style import (
    INK,
    SOFT,
    WIDTH,
    MarkStyle,
    add_legend,
    drawing,
    drawn_figure,
    mark,
    panels,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Beyond this many points, names at the points would cover each other: numbers are there instead.
NAMED = 18
_SHADE = "#ececec"
_MARGIN = 0.12
_NAN = float("nan")
_VIEWS = ("full", "context", "word", "label")
_UNIT = "Accuracy, %"


# -- the plane ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """The two biases of one subject on one dataset, with their intervals (not-a-number where there is none).

    ``people``: the subject is people, not a model. *Higher means:* this part alone gives more.
    """

    dataset: str
    subject: str
    context: float
    word: float
    people: bool = False
    context_low: float = _NAN
    context_high: float = _NAN
    word_low: float = _NAN
    word_high: float = _NAN

    @property
    def is_defined(self) -> bool:
        """Return whether both biases have a value: only then is there a place in the plane."""
        return bool(np.isfinite(self.context) and np.isfinite(self.word))

    @property
    def bars(self) -> list[Segment]:
        """The intervals that are defined, as lines in the plane."""
        lines = [
            ((self.context_low, self.word), (self.context_high, self.word)),
            ((self.context, self.word_low), (self.context, self.word_high)),
        ]
        return [line for line in lines if np.isfinite(line).all()]


def bias_plane(
    points: Sequence[PlanePoint], heading: Heading, *, high: float = 0.8, order: Sequence[str] = ()
) -> Figure:
    """Draw context bias against word bias: models filled, people hollow, the points of one dataset linked to people's.

    Lines are drawn at 1: there, a part gives as much as the whole input; shaded is what exceeds *high*. Near 0 on both
    axes, bottom left, word and context are needed. Thin bars are intervals; one that leaves the frame is cut there, and
    the caption says so. Undefined biases are listed, not drawn. *order* names all subjects of a report, so that one has
    the same mark in all its figures.
    Errors: :class:`InputError` where no point is defined.
    """
    drawn = [point for point in points if point.is_defined]
    if not drawn:
        raise InputError("the bias plane needs a point with both biases")
    # all points, the origin and the lines at 1 are shown; intervals do not widen the frame
    (left, right), (bottom, top) = (
        (min(-0.05, min(values) - _MARGIN), max(1.08, high + _MARGIN, max(values) + _MARGIN))
        for values in ([p.context for p in drawn], [p.word for p in drawn])
    )
    people = {point.dataset: (point.context, point.word) for point in drawn if point.people}
    links = [((p.context, p.word), people[p.dataset]) for p in drawn if not p.people and p.dataset in people]
    subjects = levels([point.subject for point in drawn])
    marked = list(dict.fromkeys((*order, *subjects)))
    with drawing(WIDTH * 0.86, 5.6) as sheet:
        axes = sheet.subplots()
        axes.set(xlim=(left, right), ylim=(bottom, top), xlabel="Context bias", ylabel="Word bias")
        axes.axvspan(high, right, color=_SHADE, lw=0, zorder=0, label=f"bias above {high:.2f}")
        axes.fill_between((left, high), high, top, color=_SHADE, lw=0, zorder=0)
        # the grid would be lost on the shading: only the two lines that mean something are drawn
        axes.grid(visible=False)
        for line in (axes.axvline, axes.axhline):
            line(1, color=INK, lw=0.9, ls=(0, (4, 2)), zorder=1, label="as much as the whole input")
            line(0, color=SOFT, lw=0.6, zorder=1)
        for link in links:
            axes.plot(*zip(*link, strict=True), color=SOFT, lw=0.9, alpha=0.8, zorder=2, label="same dataset")
        for subject, name in zip(subjects, short_names(subjects, NAME_LENGTH), strict=True):
            look, own = mark(marked.index(subject)), [point for point in drawn if point.subject == subject]
            for bar in (bar for point in own for bar in point.bars):
                axes.plot(*zip(*bar, strict=True), color=look.colour, lw=0.8, alpha=0.6, zorder=3)
            axes.plot([p.context for p in own], [p.word for p in own], ls="", marker=look.marker, ms=6,
                      mfc="white" if own[0].people else look.colour, mec=look.colour, mew=1.3, label=name,
                      zorder=4)  # fmt: skip
        add_legend(sheet)
        # a name should not be written over links, intervals, and the lines at 0 and 1
        lines = [*links, *(bar for point in drawn for bar in point.bars)]
        for edge in (0.0, 1.0):
            lines += [((edge, bottom), (edge, top)), ((left, edge), (right, edge))]
        places, datasets = [(p.context, p.word) for p in drawn], [p.dataset for p in drawn]
        label_points(sheet, axes, places, datasets, length=18, most=NAMED, per_line=5, obstacles=lines)
        cut = [
            point
            for point in drawn
            if point.context_low < left
            or point.word_low < bottom
            or point.context_high > right
            or point.word_high > top
        ]
        cut_names = [f"{point.subject} on {point.dataset}" for point in cut]
        undefined = [f"{point.subject} on {point.dataset}" for point in points if not point.is_defined]
        of_cut = f"Intervals that leave the frame and are cut there: {first_names(cut_names)}." if cut else ""
        remark = " ".join(filter(None, (of_cut, gaps_remark(undefined))))
        ends = ("context", "context_low", "context_high", "word", "word_low", "word_high")
        data = columns_of(points, "dataset", "subject", "people", *ends)
        return drawn_figure(sheet, heading, _plane_text(points, high), data, remark)


def _plane_text(points: Sequence[PlanePoint], high: float) -> str:
    parts = [f"Context bias (across) against word bias (up), lines at 1, shading above {apa(high)}."]
    for point in points:
        place = f"context {apa(point.context)}, word {apa(point.word)}"
        parts.append(f"{point.dataset}, {point.subject}{' (people)' if point.people else ''}: {place}.")
    return " ".join(parts)


# -- scores by view -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ViewBar:
    """The score of one subject in one view of one dataset. *Unit:* percent.

    Not-a-number where there is no score or no interval. ``fixed`` is the reason why it was not measured (printed,
    assumed).
    """

    dataset: str
    view: str
    subject: str
    value: float
    low: float = _NAN
    high: float = _NAN
    fixed: str = ""


def view_bars(
    bars: Sequence[ViewBar], heading: Heading, *, random: Sequence[tuple[str, float]] = (), order: Sequence[str] = ()
) -> Figure:
    """Draw scores as bars: a panel for each dataset, a group for each view, a bar for each subject (Figure 2).

    Bars differ in colour and hatching; thin lines are intervals; ``×`` marks a score that was not measured; the broken
    line is a random answer, from *random*: (dataset, score). *order* names all subjects of a report.
    Errors: :class:`InputError` without a bar, or for a view that this figure does not show.
    """
    if not bars:
        raise InputError("a figure of views needs at least one score")
    shown, datasets = levels([bar.view for bar in bars], _VIEWS), levels([bar.dataset for bar in bars])
    subjects = levels([bar.subject for bar in bars])
    names = short_names(subjects, NAME_LENGTH)
    marked = list(dict.fromkeys((*order, *subjects)))
    columns = min(len(datasets), 2 if len(shown) * len(subjects) > 12 else 3)
    chance = {dataset: score for dataset, score in random if np.isfinite(score)}
    with drawing(WIDTH, 0.6 + 1.9 * -(-len(datasets) // columns) + 0.17 * -(-(len(subjects) + 2) // 3)) as sheet:
        for axes, dataset in zip(panels(sheet, len(datasets), columns=columns), datasets, strict=True):
            for place, (subject, name) in enumerate(zip(subjects, names, strict=True)):
                look, x = mark(marked.index(subject)), (place - (len(subjects) - 1) / 2) * 0.8 / len(subjects)
                for bar in bars:
                    if bar.dataset == dataset and bar.subject == subject and np.isfinite(bar.value):
                        _draw_bar(axes, bar, shown.index(bar.view) + x, 0.8 / len(subjects), look, name)
            if dataset in chance:
                axes.axhline(chance[dataset], color=INK, lw=1, ls=(0, (3, 2)), zorder=5, label="random answer")
            axes.set(ylim=(0, 100), xlim=(-0.5, len(shown) - 0.5))
            axes.set_xticks(range(len(shown)), [view.replace("_", " ").upper() for view in shown], fontsize=6.5)
            axes.tick_params(axis="x", length=0)
            axes.grid(visible=False, axis="x")
            axes.set_title(short_names([dataset], {1: 70, 2: 44}.get(columns, 30))[0])
        sheet.supylabel(_UNIT, fontsize=8.5)
        # a subject may be missing in some panels
        add_legend(sheet, first=names)
        data = columns_of(bars, "dataset", "view", "subject", "value", "low", "high", "fixed")
        gaps = [f"{bar.subject}, {bar.dataset}, {bar.view}" for bar in bars if not np.isfinite(bar.value)]
        return drawn_figure(sheet, heading, _bars_text(bars, datasets, chance), data, gaps_remark(gaps))


def _draw_bar(axes: Axes, bar: ViewBar, x: float, width: float, look: MarkStyle, name: str) -> None:
    axes.bar(x, bar.value, width * 0.92, color=look.colour, hatch=look.hatch, edgecolor="white", lw=0.4, label=name)
    if np.isfinite([bar.low, bar.high]).all():
        # a white seam keeps the line apart from a dark bar
        axes.vlines(x, bar.low, bar.high, color="white", lw=2.4, zorder=3)
        axes.vlines(x, bar.low, bar.high, color=INK, lw=1, zorder=4)
    if bar.fixed:
        axes.plot(x, bar.value, ls="", marker="x", ms=4, mew=1, color=INK, label="not measured here", zorder=4)


def _bars_text(bars: Sequence[ViewBar], datasets: Sequence[str], chance: dict[str, float]) -> str:
    parts = [f"{_UNIT}, by view."]
    for dataset in datasets:
        own = [bar for bar in bars if bar.dataset == dataset]
        texts = []
        for subject in levels([bar.subject for bar in own]):
            values = [f"{bar.view} {bar.value:.1f}" for bar in own if bar.subject == subject]
            texts.append(f"{subject} {', '.join(values)}")
        lead = f"{dataset} (random {chance[dataset]:.1f})" if dataset in chance else dataset
        parts.append(f"{lead}: {'; '.join(texts)}.")
    return " ".join(parts)


def minimum_gaps(dots: Sequence[Dot], heading: Heading, *, order: Sequence[str] = ()) -> Figure:
    """Draw min(FULL − CONTEXT, FULL − WORD) of models and people, a row for each dataset (Figure 3).

    Right of 0, word and context together give more than the better of the two alone. People are hollow marks; lines are
    intervals. *order* names all subjects of a report.
    Errors: :class:`InputError` where no gap has a value.
    """
    drawn = [dot for dot in dots if np.isfinite(dot.value)]
    if not drawn:
        raise InputError("a figure of gaps needs at least one gap")
    rows, alt = levels([dot.row for dot in drawn]), "Minimum gap in points."
    for row in rows:
        alt += f" {row}: {', '.join(f'{dot.subject} {dot.value:.1f}' for dot in drawn if dot.row == row)}."
    with drawing(WIDTH, rows_height(drawn)) as sheet:
        axes = sheet.subplots()
        draw_dots(axes, drawn, rows, order=order)
        axes.set_yticks(range(len(rows)), short_names(rows, 26))
        axes.axvline(0, color=INK, lw=0.9, zorder=1)
        axes.set(xlabel="min(FULL − CONTEXT, FULL − WORD), points")
        add_legend(sheet)
        data = {"dataset": np.array([dot.row for dot in dots])}
        data |= columns_of(dots, "subject", "people", "value", "low", "high")
        undefined = [f"{dot.subject} on {dot.row}" for dot in dots if not np.isfinite(dot.value)]
        return drawn_figure(sheet, heading, alt, data, gaps_remark(undefined))
