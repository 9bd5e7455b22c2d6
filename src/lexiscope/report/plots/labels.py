"""Names next to points, placed so that they cover neither each other nor points nor lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.report.figures import Floats, levels
from lexiscope.report.plots.style import INK, SOFT, fix_layout, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

Point = tuple[float, float]
Segment = tuple[Point, Point]

#: Directions tried in order (right of the point first, as a reader expects), at growing distances.
_DIRECTIONS = np.array(
    [
        *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)),
        *((0.4, 1), (-0.4, 1), (0.4, -1), (-0.4, -1), (1, 0.5), (-1, 0.5), (1, -0.5), (-1, -0.5)),
    ]
)
_DISTANCES = (6.0, 9.0, 14.0, 20.0, 30.0, 42.0, 56.0)
_CROWD = 60.0
"""Points nearer than this to one another compete for room."""
_KEY_LENGTH = 30
_SIZE = 7.0
"""Height of the letters of a label. *Unit:* points."""


def label_points(
    sheet: Drawing,
    axes: Axes,
    points: Sequence[Point],
    labels: Sequence[str],
    *,
    length: int,
    most: int,
    per_line: int,
    obstacles: Sequence[Segment] = (),
) -> None:
    """Write the label of each point next to it; of more than *most* points the number in a key below the drawing.

    Points of one label have one number. *length* is that of the longest label, *per_line* the number of labels in a
    line of the key, *obstacles* as in :func:`place_labels`.
    """
    distinct = levels(labels)
    texts = short_names(distinct, length)
    if len(points) > most:
        key = [f"{number} {name}" for number, name in enumerate(short_names(distinct, _KEY_LENGTH), start=1)]
        lines = [" · ".join(key[start : start + per_line]) for start in range(0, len(key), per_line)]
        sheet.supxlabel("\n".join(lines), fontsize=6.5, ha="center", linespacing=1.5)
        texts = [str(number) for number in range(1, len(distinct) + 1)]
    fix_layout(sheet)
    place_labels(axes, points, [texts[distinct.index(label)] for label in labels], obstacles=obstacles)


def place_labels(
    axes: Axes, points: Sequence[Point], texts: Sequence[str], *, obstacles: Sequence[Segment] = ()
) -> None:
    """Write *texts* next to *points* (data coordinates), each where it costs least; far ones get a leader line.

    *obstacles* are line segments that should not be written over. The layout of the drawing must be fixed.
    """
    scale = 72.0 / axes.figure.dpi
    centres = axes.transData.transform(points) * scale
    left, bottom, right, top = (float(edge) * scale for edge in axes.get_window_extent().extents)
    extents = [_text_extent(axes, text, scale) for text in texts]
    marks = np.concatenate([centres - 3.5, centres + 3.5], axis=1)
    segments = [_boxes_along(axes.transData.transform(segment) * scale) for segment in obstacles]
    boxes = label_boxes(
        centres, np.array(extents), blocked=np.concatenate([marks, *segments]), frame=(left, bottom, right, top)
    )
    for text, point, centre, box in zip(texts, points, centres, boxes, strict=True):
        far = _gaps(box[None], centre[None])[0, 0] > 8
        line = {"arrowstyle": "-", "color": SOFT, "lw": 0.5, "shrinkA": 0, "shrinkB": 3} if far else None
        offset = ((box[0] + box[2]) / 2 - centre[0], (box[1] + box[3]) / 2 - centre[1])
        axes.annotate(text, point, xytext=offset, textcoords="offset points", ha="center", va="center", fontsize=_SIZE,
                      color=INK, arrowprops=line, annotation_clip=False, zorder=6)  # fmt: skip


def label_boxes(
    points: Floats, extents: Floats, *, blocked: Floats, frame: tuple[float, float, float, float]
) -> Floats:
    """Return the boxes of the labels of points, each where it costs least: left, low, right and high edge.

    A label costs what it covers of other labels, of *blocked* boxes and of what is outside the *frame*, and its
    distance. *extents* are widths and heights of labels; a point with a label of no width has none. Deterministic:
    crowded points are placed first, ties by order. If no place is free, the least bad place is taken; every label is
    drawn. *Shape:* (points, 2), (points, 2), (boxes, 4) → (points, 4).
    """
    boxes = np.concatenate([points, points], axis=1).astype(float)
    taken = np.empty((0, 4))
    crowd = (np.hypot(*(points[:, None] - points).T) < _CROWD).sum(axis=0)
    for index in np.lexsort((np.arange(len(points)), -crowd)).tolist():
        if not extents[index, 0]:
            continue
        tries = _candidate_boxes(points[index], extents[index])
        outside = np.prod(extents[index]) - _overlaps(tries, np.array([frame]))[:, 0]
        cost = 20.0 * outside + 10.0 * _overlaps(tries, taken).sum(axis=1) + 3.0 * _overlaps(tries, blocked).sum(axis=1)
        gaps = _gaps(tries, points)
        # a name nearer to a neighbour than to its own point would be read as the neighbour's
        nearer = (np.delete(gaps, index, axis=1) < gaps[:, [index]] + 4).sum(axis=1)
        boxes[index] = tries[int(np.argmin(cost + gaps[:, index] + 120.0 * nearer))]
        taken = np.concatenate([taken, boxes[index][None]])
    return boxes


def _text_extent(axes: Axes, text: str, scale: float) -> Point:
    ghost = axes.text(0, 0, text, fontsize=_SIZE)
    box = ghost.get_window_extent()
    ghost.remove()
    return float(box.width) * scale + 2, float(box.height) * scale


def _boxes_along(segment: Floats) -> Floats:
    """Return small boxes that cover a line from one point to another."""
    start, end = segment
    steps = np.linspace(0, 1, max(2, int(np.hypot(*(end - start)) // 4)))[:, None]
    points = start + steps * (end - start)
    return np.concatenate([points - 0.75, points + 0.75], axis=1)


def _candidate_boxes(point: Floats, extent: Floats) -> Floats:
    distance = np.repeat(_DISTANCES, len(_DIRECTIONS))
    direction = np.tile(_DIRECTIONS, (len(_DISTANCES), 1))
    # a label to the side of its point needs less height between them than one above or below it
    up = distance + extent[1] / 2 - np.where(direction[:, 0] == 0, 0, distance / 2)
    centres = point + direction * np.stack([distance + extent[0] / 2, up], axis=1)
    return np.concatenate([centres - extent / 2, centres + extent / 2], axis=1)


def _overlaps(boxes: Floats, others: Floats) -> Floats:
    """Return the area that each box shares with each other one. *Shape:* (n, 4), (m, 4) → (n, m)."""
    wide = np.minimum(boxes[:, None, 2], others[:, 2]) - np.maximum(boxes[:, None, 0], others[:, 0])
    high = np.minimum(boxes[:, None, 3], others[:, 3]) - np.maximum(boxes[:, None, 1], others[:, 1])
    return np.asarray(np.maximum(wide, 0) * np.maximum(high, 0))


def _gaps(boxes: Floats, points: Floats) -> Floats:
    """Return the distance of each box from each point, 0 inside. *Shape:* (n, 4), (m, 2) → (n, m)."""
    nearest = np.clip(points, boxes[:, None, :2], boxes[:, None, 2:])
    return np.asarray(np.hypot(*np.moveaxis(nearest - points, 2, 0)))
