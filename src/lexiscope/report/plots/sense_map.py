"""A map of a word's senses and their neighbours, drawn as plain SVG: small, quick, and in the colours of its page.

Hundreds of words on one page need hundreds of maps; each takes some milliseconds and some kilobytes. Colours are those
of the house style, unless the page sets ``--sense-1`` and so on; text and lines take the page's colour of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Figure, Floats, Heading, build_figure, columns_of
from lexiscope.report.plots.labels import label_boxes
from lexiscope.report.plots.style import COLOURS, mark

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
