"""Figures of induced senses: a map of neighbours, noise in training, the scale of the noise, people's choices.

The map of a word's senses and their neighbours is also drawn as plain SVG: hundreds of words on one page need hundreds
of maps, and each of these takes some milliseconds and some kilobytes. Its colours are those of the house style, unless
the page sets ``--sense-1`` and so on; text and lines take the page's colour of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Figure, Floats, Heading, apa, build_figure, columns_of, levels
from lexiscope.report.plots.accuracy import Dot, draw_dots, stacked_shares
from lexiscope.report.plots.curves import DrawnCurve, draw_curve, draw_panels, sheet_size
from lexiscope.report.plots.labels import label_boxes, place_labels
from lexiscope.report.plots.layers import trajectories
from lexiscope.report.plots.style import (
    COLOURS,
    GRID,
    INK,
    WIDTH,
    add_legend,
    drawing,
    drawn_figure,
    fix_layout,
    mark,
    short_names,
)
from lexiscope.resources.vectors.sense_vectors import LogRow
from lexiscope.senses.induced_senses import SensesByFrequency

# so far apart, in shares of the map, two points of one word have one label
_ONE_PLACE = 0.03
_NAMED = 20
# the columns of a log that are drawn
_COURSE = ("tokens", "signal_mean", "signal_sd", "noise_sd")


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A neighbour on a map: its word, the sense whose neighbour it is, and its place (no unit)."""

    word: str
    sense: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class GridPoint:
    """A training and what it reached: ``beta`` is not-a-number where its variant has none; then it is a level line."""

    label: str
    beta: float
    value: float
    low: float
    high: float


def neighbour_map(points: Sequence[MapPoint], heading: Heading) -> Figure:
    """Draw neighbours as named points, one colour and marker for each sense (GASI, Figure 2).

    Only nearness has a meaning: the axes have no unit and are not drawn.
    Errors: :class:`InputError` without points.
    """
    if not points:
        raise InputError("a map of neighbours needs at least one neighbour")
    senses = levels([point.sense for point in points])
    alt = "Neighbours by sense. " + " ".join(
        f"{sense}: {', '.join(point.word for point in points if point.sense == sense)}." for sense in senses
    )
    with drawing(WIDTH, 4.6) as sheet:
        axes = sheet.subplots()
        for number, sense in enumerate(senses):
            own = [point for point in points if point.sense == sense]
            look = mark(number)
            axes.plot([p.x for p in own], [p.y for p in own], ls="", marker=look.marker, ms=5, color=look.colour,
                      label=sense, zorder=3)  # fmt: skip
        axes.set(xticks=[], yticks=[])
        for spine in axes.spines.values():
            spine.set_color(GRID)
            spine.set_visible(True)
        axes.margins(0.1)
        add_legend(sheet, columns=4)
        fix_layout(sheet)
        named = _points_with_label(points)
        place_labels(axes, [(point.x, point.y) for point in named], [point.word for point in named])
        return drawn_figure(sheet, heading, alt, columns_of(points, "word", "sense", "x", "y"))


def _points_with_label(points: Sequence[MapPoint]) -> list[MapPoint]:
    """The points that get a label: of a word that several senses have at one place, the first."""
    size = max(np.ptp([point.x for point in points]), np.ptp([point.y for point in points]))
    named: list[MapPoint] = []
    for point in points:
        near = (other for other in named if other.word == point.word)
        if not any(np.hypot(other.x - point.x, other.y - point.y) <= _ONE_PLACE * size for other in near):
            named.append(point)
    return named


def noise_against_signal(logs: Mapping[str, Sequence[LogRow]], heading: Heading) -> Figure:
    """Draw mean ± SD of c̄·s_k over the training, and ± SD of the noise, a panel for each subject (GASI, Figure 3).

    *logs* are the logs of trainings by the names of their subjects. Errors: :class:`InputError` without a log.
    """
    if not logs:
        raise InputError("a figure of noise and signal needs at least one training")
    alt, curves, noises = "Signal and noise over training.", [], []
    for name, log in logs.items():
        tokens, mean, sd, noise = columns_of(log, *_COURSE).values()
        curves.append(DrawnCurve(name, tokens / 1e6, mean, mean - sd, mean + sd))
        noises.append(noise)
        alt += f" {name}: SD of the signal from {sd[0]:.2f} to {sd[-1]:.2f}, of the noise {noise[-1]:.2f}."
    columns = min(len(logs), 3)
    with drawing(*sheet_size(len(logs), columns, legend=0.55)) as sheet:
        horizontal, vertical = "Tokens read, all epochs, millions", "c̄·s and noise, mean ± SD"
        panels = [(curve.subject, [(curve, 0, "c̄·s, mean ± SD")]) for curve in curves]
        grid = draw_panels(sheet, panels, columns=columns, horizontal=horizontal, vertical=vertical)
        for axes, curve, noise in zip(grid, curves, noises, strict=True):
            # a constant added to all senses changes no choice, so the noise is drawn around 0
            for end in (noise, -noise):
                axes.plot(curve.layer, end, color=INK, lw=1.0, ls=(0, (3, 2)), label="noise, ± SD around 0", zorder=2)
        add_legend(sheet, columns=2)
        rows = [row for log in logs.values() for row in log]
        numbers = {name: values.astype(float) for name, values in columns_of(rows, *_COURSE).items()}
        subjects = np.repeat(list(logs), [len(log) for log in logs.values()])
        return drawn_figure(sheet, heading, alt, {"subject": subjects} | numbers)


def beta_grid(points: Sequence[GridPoint], heading: Heading, *, statistic: str) -> Figure:
    """Draw what trainings with several β reached, with intervals; variants without β as level lines.

    Errors: :class:`InputError` where no point has a β.
    """
    grid = sorted((point for point in points if np.isfinite(point.beta)), key=lambda point: point.beta)
    if not grid:
        raise InputError("a grid of beta needs at least one training with beta")
    level = [point for point in points if not np.isfinite(point.beta)]
    alt = f"{statistic} by β. " + " ".join(f"{p.label}: {p.value:.1f}." for p in (*grid, *level))
    with drawing(WIDTH * 0.8, 3.2) as sheet:
        axes = sheet.subplots()
        x, y, low, high = columns_of(grid, "beta", "value", "low", "high").values()
        if np.isfinite(low).all() and np.isfinite(high).all():
            axes.vlines(x, low, high, color=mark(0).colour, lw=1.1, zorder=2)
        draw_curve(axes, DrawnCurve("", x, y), mark(0), "GASI-β")
        for number, point in enumerate(level, start=1):
            look = mark(number)
            axes.axhline(point.value, color=look.colour, ls=look.line, lw=1.2, label=short_names([point.label], 34)[0])
        axes.set(xlabel="β, scale of the noise", ylabel=statistic)
        add_legend(sheet)
        return drawn_figure(sheet, heading, alt, columns_of(points, "label", "beta", "value", "low", "high"))


def senses_by_frequency(rows: Mapping[str, Sequence[SensesByFrequency]]) -> tuple[Figure, ...]:
    """Draw how many senses frequent and rare words have: the means of all subjects, then each one's words as shares.

    *rows* are, for each title of a subject, its words in bins of falling frequency (GASI, Figure 4).
    """
    bins = np.arange(1, max(map(len, rows.values())) + 1)
    curves = [DrawnCurve(title, bins, np.array([row.mean for row in own])) for title, own in rows.items()]
    caption = "Words by falling frequency, a tenth of them each."
    mean = trajectories(
        curves,
        Heading("senses_by_frequency", "4", "Senses of a word by frequency", caption),
        statistic="Senses of a word, mean",
        horizontal="Decile of words, most frequent first",
        place="decile",
    )
    shares = []
    for number, (title, own) in enumerate(rows.items(), start=1):
        names = ["1 sense", *(f"{k} senses" for k in range(2, len(own[0].n_words) + 1))]
        parts = [
            (f"{row.first_rank:,}–{row.last_rank:,}", name, 100 * count / sum(row.n_words))
            for row in own
            for name, count in zip(names, row.n_words, strict=True)
        ]
        named = f"Words by number of senses: {title}"
        heading = Heading(f"senses_by_frequency_{number}", "4", named, "By rank of frequency.")
        shares.append(stacked_shares(parts, heading, order=names, unit="Words, %"))
    return mean, *shares


def agreement_and_consistency(words: Sequence[tuple[str, float, float]], heading: Heading) -> Figure:
    """Draw words by how well people agree and how often they choose the model's sense (GASI, Figure 7).

    *words* are (word, agreement, consistency), shares from 0 to 1. Up to 20 words are named.
    Errors: :class:`InputError` without words.
    """
    if not words:
        raise InputError("a figure of agreement and consistency needs at least one word")
    alt = "Agreement and consistency. " + " ".join(f"{word}: {a:.2f}, {c:.2f}." for word, a, c in words)
    with drawing(WIDTH * 0.75, 4.2) as sheet:
        axes = sheet.subplots()
        look = mark(0)
        x, y = [a for _, a, _ in words], [c for _, _, c in words]
        axes.plot(x, y, ls="", marker=look.marker, ms=4.6, color=look.colour, alpha=0.75, zorder=3)
        axes.set(
            xlabel="Agreement among people, mean share of the winning group",
            ylabel="Share that chooses the model's sense",
        )
        axes.set(xlim=(min([*x, 0.3]) - 0.05, 1.05), ylim=(-0.05, 1.05))
        if len(words) <= _NAMED:
            fix_layout(sheet)
            place_labels(axes, list(zip(x, y, strict=True)), [word for word, _, _ in words])
        data = {"word": np.array([word for word, _, _ in words]), "agreement": np.array(x), "consistency": np.array(y)}
        return drawn_figure(sheet, heading, alt, data)


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

    Errors: :class:`InputError` without a dot, or for a side that is not one of :data:`SIDES`.
    """
    if not dots or {dot.side for dot in dots} - set(SIDES):
        raise InputError(f"a figure of likeness needs dots of the sides {', '.join(SIDES)}")
    subjects, measures = levels([dot.subject for dot in dots]), levels([dot.measure for dot in dots])
    alt = " ".join(f"{d.measure} of {d.subject}, {d.side}: {apa(d.value)} (n = {d.n})." for d in dots)
    with drawing(WIDTH, 1.2 + 0.42 * len(subjects)) as sheet:
        grid = sheet.subplots(1, len(measures), sharey=True, squeeze=False)[0]
        for axes, measure in zip(grid, measures, strict=True):
            own = [Dot(d.subject, f"people {d.side}", d.value, d.low, d.high) for d in dots if d.measure == measure]
            draw_dots(axes, own, subjects, order=[f"people {side}" for side in SIDES])
            axes.set(xlabel=measure)
            axes.set_yticks(range(len(subjects)), short_names(subjects, 30))
        add_legend(sheet, columns=2, below=True)
        names = ("subject", "measure", "side", "value", "low", "high", "n")
        return drawn_figure(sheet, heading, alt, columns_of(dots, *names))


WIDE, HIGH = 440, 400
_MARGIN_X, _MARGIN_Y, _SIZE = 46, 20, 11.5
# of the size of letters; names seldom have wide ones
_LETTER = 0.56
# letters of a name; what is longer is cut
_LONGEST = 24
_WIDEST_GAP = 0.12
_CIRCLES, _ROUNDS = 19.5, 20
#: marker -> its outline around the origin, about 8 wide
SHAPES = {
    "o": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "^": "M0-4.8L4.6 3.6H-4.6z",
    "s": "M-3.6-3.6H3.6V3.6H-3.6z",
    "D": "M0-5L5 0L0 5L-5 0z",
    "v": "M0 4.8L4.6-3.6H-4.6z",
    "P": "M-1.6-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6z",
    "X": "M-4.2-2.2L-2.2-4.2L0-2L2.2-4.2L4.2-2.2L2 0L4.2 2.2L2.2 4.2L0 2L-2.2 4.2L-4.2 2.2L-2 0z",
}


REMARK = (
    "Points that are close together are similar. Caution: distances between clusters cannot be interpreted; empty "
    "space between them is cut."
)
"""What a reader must know of every such map; it is added to the caption."""


@dataclass(frozen=True, slots=True)
class SensePoint:
    """A point of a map: a neighbour of a sense (``sense`` counts from 1), or the sense itself, and its place."""

    name: str
    sense: int
    x: float
    y: float
    itself: bool = False


def sense_map(points: Sequence[SensePoint], heading: Heading) -> Figure:
    """Draw senses as numbered circles and their neighbours as named marks, a colour and a mark for each sense.

    Only nearness has a meaning: the axes have no unit and are not drawn. *Source:* GASI, Figure 2.
    Errors: :class:`InputError` without points.
    """
    if not points:
        raise InputError("a map of senses needs at least one neighbour")
    places = _places_in_frame(np.array([(point.x, point.y) for point in points], float))
    _separate_circles(places, [number for number, point in enumerate(points) if point.itself])
    senses = sorted({point.sense for point in points})
    names = {sense: ", ".join(p.name for p in points if p.sense == sense and not p.itself) for sense in senses}
    alt = "Map of neighbours. " + " ".join(f"Sense {sense}: {names[sense]}." for sense in senses)
    # circles have their numbers inside, and no label
    extents = [(0.0 if p.itself else len(_short_name(p.name)) * _SIZE * _LETTER + 2, _SIZE) for p in points]
    sizes = np.array([[9.0] if point.itself else [5.0] for point in points])
    blocked = np.concatenate([places - sizes, places + sizes], axis=1)
    boxes = label_boxes(places, np.array(extents), blocked=blocked, frame=(2.0, 2.0, WIDE - 2.0, HIGH - 2.0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" height="{HIGH}" role="img"'
        f' aria-label="{escape(heading.title)}" font-family="system-ui, sans-serif" font-size="{_SIZE}">',
        *_leaders(boxes, places),
        *_marks(points, places, senses),
        '<g fill="currentColor">',
        *(
            f'<text x="{left:.0f}" y="{top + _SIZE - 1.5:.0f}">{escape(_short_name(point.name))}</text>'
            for point, (left, top, _, _) in zip(points, boxes, strict=True)
            if not point.itself
        ),
        "</g></svg>",
    ]
    return build_figure(heading, "".join(parts), alt, columns_of(points, "name", "sense", "itself", "x", "y"), REMARK)


def key(sense: int) -> str:
    """Return the mark of a sense (from 1) as a small drawing, for legends and headings; readers by ear pass it over."""
    return (
        '<svg class="key" viewBox="-6 -6 12 12" width="12" height="12" aria-hidden="true">'
        f'<path style="fill:{colour(sense)}" d="{SHAPES[mark(sense - 1).marker]}"/></svg>'
    )


def colour(sense: int) -> str:
    """Return the colour of a sense (from 1) for a style: that of the page, else that of the house.

    >>> colour(1), colour(9)
    ('var(--sense-1,#0072B2)', 'var(--sense-2,#D55E00)')
    """
    number = (sense - 1) % len(COLOURS)
    return f"var(--sense-{number + 1},{COLOURS[number]})"


def _places_in_frame(places: Floats) -> Floats:
    """Return places inside the frame; empty stretches between groups are cut short in both directions."""
    close = np.stack([_without_gaps(column) for column in places.T], axis=1)
    low, high = close.min(axis=0), close.max(axis=0)
    room = np.array([WIDE - 2 * _MARGIN_X, HIGH - 2 * _MARGIN_Y])
    scale = room / np.where(high > low, high - low, 1.0)
    # one direction is widened to twice the other at most, so that nearness in both stays comparable
    scale = np.minimum(scale, 2 * scale.min())
    return np.asarray((close - (low + high) / 2) * scale + np.array([WIDE / 2, HIGH / 2]))


def _without_gaps(values: Floats) -> Floats:
    """Return numbers in their order with no gap wider than a part of what the other gaps take together."""
    order = np.argsort(values, kind="stable")
    gaps = np.diff(values[order], prepend=values[order[:1]])
    closed = np.empty_like(values)
    closed[order] = np.minimum(gaps, _WIDEST_GAP * gaps.sum()).cumsum()
    return closed


def _separate_circles(places: Floats, circles: Sequence[int]) -> None:
    """Move numbered circles that cover each other just so far that both can be read."""
    for _ in range(_ROUNDS):
        for first, second in combinations(circles, 2):
            apart = places[second] - places[first]
            gap = float(np.hypot(*apart))
            if gap < _CIRCLES:
                push = apart / gap if gap else np.array([1.0, 0.0])
                places[first] -= push * (_CIRCLES - gap) / 2
                places[second] += push * (_CIRCLES - gap) / 2


def _marks(points: Sequence[SensePoint], places: Floats, senses: Sequence[int]) -> Iterator[str]:
    for sense in senses:
        yield f'<g style="fill:{colour(sense)}">'
        shape = SHAPES[mark(sense - 1).marker]
        for point, (x, y) in zip(points, places.tolist(), strict=True):
            if point.sense == sense and point.itself:
                yield f'<circle cx="{x:.0f}" cy="{y:.0f}" r="9"/>'
            elif point.sense == sense:
                yield f'<path transform="translate({x:.0f} {y:.0f})" d="{shape}"/>'
        yield "</g>"
    yield '<g style="fill:var(--paper,#fff)" text-anchor="middle" font-weight="700">'
    for point, (x, y) in zip(points, places.tolist(), strict=True):
        if point.itself:
            yield f'<text x="{x:.0f}" y="{y + 4:.0f}">{point.sense}</text>'
    yield "</g>"


def _leaders(boxes: Floats, places: Floats) -> Iterator[str]:
    """Yield a line from a point to its name where the name is not next to it."""
    yield '<g stroke="currentColor" stroke-width=".6" opacity=".55">'
    for (left, top, right, bottom), (x, y) in zip(boxes.tolist(), places.tolist(), strict=True):
        near_x, near_y = min(max(x, left), right), min(max(y, top), bottom)
        if np.hypot(near_x - x, near_y - y) > 11:
            yield f'<path d="M{x:.0f} {y:.0f}L{near_x:.0f} {near_y:.0f}"/>'
    yield "</g>"


def _short_name(name: str) -> str:
    """Return a name as the map shows it: an address or a line without spaces would cover everything."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
