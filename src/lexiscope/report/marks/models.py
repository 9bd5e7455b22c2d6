"""Models on one axis: their shares of the attainable, and the sets in which they cannot be distinguished.

Shares: 0 is chance, 1 is the ceiling; people as diamonds, a model as a dot. Sets: models on one line with their
intervals, and a bracket for each set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.report.marks.canvas import Canvas, shortened, text_width
from lexiscope.report.marks.drawing import (
    Axis,
    Drawing,
    Pixels,
    ReferenceLine,
    draw_references,
    height_of_labels,
    is_wide,
    write_axis_label,
)
from lexiscope.report.marks.forest import ForestRow

_LABEL = 236.0
_LOW, _HIGH = -0.06, 1.06
_FLOOR, _TOP = -1.0, 1.6


@dataclass(frozen=True)
class SharePart:
    """A line of a family: its name and its share."""

    name: str
    value: float


@dataclass(frozen=True)
class ShareRow:
    """A row: its label and a small text, the share with its interval, and what it is compared with.

    ``parts`` are the lines of a family that has several; ``person`` and ``mean`` people's shares; ``figures`` printed
    figures that are not a ceiling. Without a share, ``reason`` is the reason. ``shown`` is the share as printed.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    shown: str = ""
    sub: str = ""
    parts: tuple[SharePart, ...] = ()
    person: float | None = None
    mean: float | None = None
    figures: tuple[SharePart, ...] = ()
    reason: str = ""
    tip: str = ""


def share_axis(rows: Sequence[ShareRow]) -> Axis:
    """Return the axis of shares: from chance to the ceiling, and as far beyond as an interval reaches.

    >>> share_axis([ShareRow("a", 0.4, -0.3, 1.1)]).low
    -0.33
    """
    ends = [
        value for row in rows for value in (row.low, row.high, row.value, row.person, row.mean) if value is not None
    ]
    low, high = min([_LOW, *(end - 0.03 for end in ends)]), max([_HIGH, *(end + 0.03 for end in ends)])
    return Axis("share of the attainable", round(max(low, _FLOOR), 6), round(min(high, _TOP), 6))


@dataclass(frozen=True, kw_only=True)
class ShareRows(Drawing):
    """Rows on one axis. ``ends`` names what 0 and 1 are.

    *bare*: one row without labels, ticks and names of parts; *axis* is then that of all such rows of a page.
    """

    rows: tuple[ShareRow, ...]
    ends: tuple[str, str] = ("chance", "people")
    bare: bool = False
    axis: Axis | None = None

    def _drawn(self, width: float) -> Canvas:
        axis = self.axis or share_axis(self.rows)
        if self.bare:
            canvas = Canvas(width, 30, self._alt())
            x = Pixels(axis, 4, width - 4)
            _grid(canvas, x, 2, 28, (0.0, 0.25, 0.5, 0.75, 1.0))
            _marks(canvas, self.rows[0], x, 15, small=True)
            return canvas
        wide = is_wide(width)
        left = _LABEL if wide else 0.0
        x = Pixels(axis, left + 14, width - 16)
        head, rows = 40.0, [62.0 if wide else 84.0 if row.value is not None else 74.0 for row in self.rows]
        canvas = Canvas(width, round(head + sum(rows) + 4), self._alt())
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
            canvas.words(x(tick), 14, axis.text(tick) if tick < 1 else "1", "tick", "middle")
        for end, name in zip((0.0, 1.0), self.ends, strict=True):
            half = text_width(name, 12) / 2
            canvas.words(min(max(x(end), half), width - half), 29, name, "tick", "middle")
        y = head
        for row, height in zip(self.rows, rows, strict=True):
            self._draw_row(canvas, row, x, y, height, left, wide)
            y += height
            canvas.line(0, y, width, y, "grid")
        return canvas

    def _draw_row(
        self, canvas: Canvas, row: ShareRow, x: Pixels, y: float, height: float, left: float, wide: bool
    ) -> None:
        if wide:
            canvas.words(0, y + height / 2 - 2, shortened(row.label, left - 8, 13), "label-b")
            canvas.words(0, y + height / 2 + 14, shortened(row.sub, left - 8, 12), "tick")
        else:
            canvas.words(0, y + 18, row.label, "label-b")
            place = 1.12 * text_width(row.label, 13) + 14
            canvas.words(place, y + 18, shortened(row.sub, canvas.width - place, 12), "tick")
        top = y + (8 if wide else 28)
        bottom, start = y + height - 6, left if wide else 0.0
        if row.value is None:
            _hatch(canvas, start, top, canvas.width - start, bottom - top)
            for number, text in enumerate(_lines(row.reason, canvas.width - start - 28)):
                middle = (top + bottom) / 2 + 4 - 8 * (len(_lines(row.reason, canvas.width - start - 28)) - 1)
                canvas.words(start + 14, middle + 16 * number, text, "label-soft")
            return
        _grid(canvas, x, top, bottom, (0.0, 0.25, 0.5, 0.75, 1.0))
        middle = y + (height / 2 if wide else 28 + (height - 34) / 2 + 2)
        _marks(canvas, row, x, middle, small=False)

    def columns(self) -> Mapping[str, Sequence[object]]:
        """Return the rows as columns, each line of a family as a separate row."""
        table = [(r.label, "", r.value, r.low, r.high, r.person, r.mean, r.reason) for r in self.rows]
        table += [(r.label, p.name, p.value, None, None, None, None, "") for r in self.rows for p in r.parts]
        names = ("label", "line", "share", "low", "high", "one_person", "mean_of_people", "reason")
        return {name: [entry[index] for entry in table] for index, name in enumerate(names)}

    def _alt(self) -> str:
        said = [
            f"{row.label} {row.shown}" if row.value is not None else f"{row.label}: {row.reason}" for row in self.rows
        ]
        return f"{self.title}. Share of the attainable, 0 is {self.ends[0]}, 1 is {self.ends[1]}: {'; '.join(said)}."


def _grid(canvas: Canvas, x: Pixels, top: float, bottom: float, ticks: Sequence[float]) -> None:
    for tick in ticks:
        canvas.line(x(tick), top, x(tick), bottom, "base" if tick in (0.0, 1.0) else "grid")


def _marks(canvas: Canvas, row: ShareRow, x: Pixels, y: float, *, small: bool) -> None:
    assert row.value is not None
    size = 5.0 if small else 6.5
    for figure in row.figures:
        with canvas.marked(f"{figure.name}: {figure.value:.2f} of the attainable; no ceiling"):
            canvas.disc(x(figure.value), y, size, "dot-figure")
    for value, look, name in (
        (row.person, "dot-people-open", "one person"),
        (row.mean, "dot-people", "mean of people"),
    ):
        if value is not None:
            with canvas.marked(f"{name}: {value:.2f} of the attainable"):
                canvas.diamond(x(value), y, size + 0.5, look)
    for part in row.parts:
        with canvas.marked(f"{part.name}: {part.value:.2f}"):
            canvas.disc(x(part.value), y, 3.6, "dot-open")
    with canvas.marked(row.tip or f"{row.label}: {row.shown}"):
        if row.low is not None and row.high is not None:
            canvas.line(x(row.low), y, x(row.high), y, "bar-wide" if not small else "bar-share")
        canvas.disc(x(row.value), y, size, "dot")
    if not small:
        canvas.words(x(row.value), y - 12, row.shown.partition(" ")[0], "model-text-b", "middle")
        _part_names(canvas, row.parts, x, y + 20)


def _part_names(canvas: Canvas, parts: Sequence[SharePart], x: Pixels, y: float) -> None:
    """Names below their rings, from left to right; one that would cover another is left to its tip."""
    free = -1.0
    for part in sorted(parts, key=lambda part: part.value):
        half = text_width(part.name, 12) / 2
        middle = min(max(x(part.value), half), canvas.width - half)
        if middle - half > free:
            canvas.words(middle, y, part.name, "tick", "middle")
            free = middle + half + 8


def _hatch(canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
    """Slanted lines inside a rectangle."""
    step, start = 9.0, -height
    while start < width:
        first, last = max(start, 0.0), min(start + height, width)
        canvas.line(x + first, y + height - (first - start), x + last, y + height - (last - start), "hatch")
        start += step


def _lines(text: str, width: float) -> list[str]:
    """A text in lines that are no wider than *width* pixels."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, 13) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


_ROW = 26.0
_SET = 13.0


@dataclass(frozen=True, kw_only=True)
class ModelSets(Drawing):
    """Rows from the highest value to the lowest; ``sets`` are rows by number, one bracket each.

    A bracket has a dot for each of its models and a line from the first to the last; it passes a model without a dot
    that differs from one of them. A model in no set with another is a lone ring.
    """

    rows: tuple[ForestRow, ...]
    sets: tuple[tuple[int, ...], ...]
    axis: Axis
    references: tuple[ReferenceLine, ...] = ()
    value_head: str = ""
    side_head: str = ""

    def _drawn(self, width: float) -> Canvas:
        wide = is_wide(width)
        left = min(
            max((text_width(row.label, 13) for row in self.rows), default=0) + 10, width * (0.34 if wide else 0.4)
        )
        shown = [row.shown if wide else row.shown.partition(" [")[0] for row in self.rows]
        right = (
            max([text_width(text, 12.5) for text in shown] + [text_width(self.value_head.partition(" [")[0], 12)]) + 12
        )
        brackets = _SET * len(self.sets) + 10
        x = Pixels(self.axis, left + 6, width - right - brackets)
        references = [r for r in self.references if self.axis.low <= r.value <= self.axis.high]
        head = 10 + height_of_labels(references, x, width) if references else 6.0
        y0 = head + 24
        bottom = y0 + _ROW * len(self.rows)
        canvas = Canvas(width, round(bottom + 42), self._alt())
        for tick in self.axis.ticks(6 if wide else 4):
            canvas.line(x(tick), head, x(tick), bottom, "grid")
            canvas.words(x(tick), bottom + 17, self.axis.text(tick), "tick", "middle")
        write_axis_label(canvas, self.axis.label, (left + width - right - brackets) / 2, bottom + 36)
        draw_references(canvas, references, x, top=head, bottom=bottom)
        canvas.words(width, y0 - 10, self.value_head if wide else self.value_head.partition(" [")[0], "tick", "end")
        for number, (row, text) in enumerate(zip(self.rows, shown, strict=True)):
            y = y0 + _ROW * (number + 0.5)
            assert row.value is not None
            with canvas.marked(row.tip or f"{row.label}: {row.shown}"):
                canvas.rectangle(0, y - _ROW / 2, width, _ROW, "hit")
                canvas.words(0, y + 4, shortened(row.label, left - 6, 13), "label-b" if row.strong else "label")
                if row.low is not None and row.high is not None:
                    canvas.line(x(row.low), y, x(row.high), y, "bar")
                canvas.disc(x(row.value), y, 5, "dot")
                canvas.words(width, y + 4, text, "value-b" if row.strong else "value", "end")
        self._draw_sets(canvas, width - right - brackets + 12, y0)
        return canvas

    def _draw_sets(self, canvas: Canvas, left: float, y0: float) -> None:
        for column, members in enumerate(self.sets):
            x, ys = left + _SET * column, [y0 + _ROW * (row + 0.5) for row in members]
            names = ", ".join(self.rows[row].label for row in members)
            said = f"cannot be distinguished: {names}" if len(members) > 1 else f"differs from all others: {names}"
            with canvas.marked(said):
                canvas.line(x, ys[0], x, ys[-1], "bar")
                for y in ys:
                    canvas.disc(x, y, 3.4, "dot" if len(ys) > 1 else "dot-open")

    def columns(self) -> Mapping[str, Sequence[object]]:
        """Return the rows as columns; ``sets`` numbers the brackets of a model from the left."""
        of = [
            " ".join(str(n) for n, members in enumerate(self.sets, 1) if row in members)
            for row in range(len(self.rows))
        ]
        return {name: [getattr(row, name) for row in self.rows] for name in ("label", "value", "low", "high")} | {
            "sets": of
        }

    def _alt(self) -> str:
        values = "; ".join(f"{row.label} {row.shown}" for row in self.rows)
        lines = "".join(f"; {reference.label}" for reference in self.references)
        return f"{self.title}. {self.axis.label}: {values}{lines}."
