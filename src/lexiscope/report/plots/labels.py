"""Names beside points, placed so that they cover neither each other nor points nor lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.report.plots.style import INK, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]
Box = tuple[float, float, float, float]

#: Directions tried in order (right of the point first, as a reader expects), at growing distances in points.
_DIRECTIONS: tuple[Point, ...] = (
    *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)),
    *((0.4, 1), (-0.4, 1), (0.4, -1), (-0.4, -1), (1, 0.5), (-1, 0.5), (1, -0.5), (-1, -0.5)),
)
_DISTANCES = (6.0, 9.0, 14.0, 20.0, 30.0, 42.0, 56.0)


@dataclass(frozen=True, slots=True)
class _Room:
    frame: Box
    blocked: list[Box]
    taken: list[Box]


def place_labels(
    axes: Axes,
    points: Sequence[Point],
    texts: Sequence[str],
    *,
    obstacles: Sequence[tuple[Point, Point]] = (),
    size: float = 7.0,
) -> None:
    """Write *texts* beside *points* (data coordinates), each where it costs least; far ones get a leader line.

    *obstacles* are line segments that should not be written over. Deterministic: crowded points are placed first,
    ties by order. Where nothing is free, the least bad place is taken; no label is ever left out.
    """
    scale = 72.0 / axes.figure.dpi
    centres = [_in_points(axes, point, scale) for point in points]
    left, bottom, right, top = (float(edge) * scale for edge in axes.get_window_extent().extents)
    blocked = [_box(centre, 7.0, 7.0) for centre in centres]
    blocked += [box for start, end in obstacles for box in _along(axes, start, end, scale)]
    room = _Room((left, bottom, right, top), blocked, [])
    for index in _crowded_first(centres):
        width, height = _extent(axes, texts[index], size, scale)
        places = list(_candidates(centres[index], width, height))
        costs = [_cost(place, index, centres, room) for place in places]
        best = places[int(np.argmin(costs))]
        room.taken.append(best)
        _write(axes, texts[index], points[index], centres[index], best, size)


def _in_points(axes: Axes, point: Point, scale: float) -> Point:
    x, y = axes.transData.transform(point)
    return float(x) * scale, float(y) * scale


def _extent(axes: Axes, text: str, size: float, scale: float) -> Point:
    ghost = axes.text(0, 0, text, fontsize=size)
    box = ghost.get_window_extent()
    ghost.remove()
    return float(box.width) * scale + 2, float(box.height) * scale


def _along(axes: Axes, start: Point, end: Point, scale: float) -> list[Box]:
    (x0, y0), (x1, y1) = _in_points(axes, start, scale), _in_points(axes, end, scale)
    steps = np.linspace(0, 1, max(2, int(np.hypot(x1 - x0, y1 - y0) // 4)))
    return [_box((x0 + t * (x1 - x0), y0 + t * (y1 - y0)), 1.5, 1.5) for t in steps.tolist()]


def _crowded_first(centres: Sequence[Point]) -> list[int]:
    places = np.array(centres)
    near = [int((np.hypot(*(places - place).T) < 60).sum()) for place in places]
    return sorted(range(len(centres)), key=lambda index: (-near[index], index))


def _candidates(centre: Point, width: float, height: float) -> Iterator[Box]:
    for distance in _DISTANCES:
        for dx, dy in _DIRECTIONS:
            x = centre[0] + dx * (distance + width / 2)
            y = centre[1] + dy * (distance + height / 2 - (distance / 2 if dx else 0))
            yield _box((x, y), width, height)


def _box(centre: Point, width: float, height: float) -> Box:
    return centre[0] - width / 2, centre[1] - height / 2, centre[0] + width / 2, centre[1] + height / 2


def _overlap(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _cost(box: Box, index: int, centres: Sequence[Point], room: _Room) -> float:
    outside = (box[2] - box[0]) * (box[3] - box[1]) - _overlap(box, room.frame)
    cost = 20.0 * outside + 10.0 * sum(_overlap(box, other) for other in room.taken)
    cost += 3.0 * sum(_overlap(box, other) for other in room.blocked)
    own = _gap(box, centres[index])
    # a name nearer to a neighbour than to its own point would be read as the neighbour's
    nearer = sum(_gap(box, other) < own + 4 for place, other in enumerate(centres) if place != index)
    return cost + own + 120.0 * nearer


def _gap(box: Box, centre: Point) -> float:
    wide = max(box[0] - centre[0], centre[0] - box[2], 0.0)
    high = max(box[1] - centre[1], centre[1] - box[3], 0.0)
    return float(np.hypot(wide, high))


def _write(axes: Axes, text: str, point: Point, centre: Point, box: Box, size: float) -> None:
    offset = ((box[0] + box[2]) / 2 - centre[0], (box[1] + box[3]) / 2 - centre[1])
    far = _gap(box, centre) > 8
    line = {"arrowstyle": "-", "color": SOFT, "lw": 0.5, "shrinkA": 0, "shrinkB": 3} if far else None
    axes.annotate(text, point, xytext=offset, textcoords="offset points", ha="center", va="center", fontsize=size,
                  color=INK, arrowprops=line, annotation_clip=False, zorder=6)  # fmt: skip
