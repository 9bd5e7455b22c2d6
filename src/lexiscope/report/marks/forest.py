"""A forest: one row per subject with its interval, people's ceiling on the same axis, single raters above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.core.showing import counted
from lexiscope.report.marks.canvas import LINE, Canvas, in_lines, shortened, text_width
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

_DOTS_HEIGHT = 130.0
"""The greatest height of the dots of raters. *Unit:* pixels."""


@dataclass(frozen=True)
class ForestRow:
    """A row: its label, its value with the ends of its interval, and how both are printed.

    ``side`` is a small text before the axis (the layer), ``pale`` a second value that is drawn pale (that of the layer
    chosen on the same items), ``hollow`` marks another kind of subject, ``strong`` the rows that the text is about.
    Without a value, ``reason`` is the reason. ``group`` is the heading above the first row that has it. ``people``
    draws it in people's colour.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    shown: str = ""
    tip: str = ""
    side: str = ""
    pale: float | None = None
    hollow: bool = False
    strong: bool = False
    people: bool = False
    reason: str = ""
    group: str = ""


@dataclass(frozen=True, kw_only=True)
class Forest(Drawing):
    """Estimates of subjects on one axis, in the order given, with references; above them one dot for each rater.

    ``rows_name`` says what the rows are (``13 models``), ``people_name`` whose the dots are, ``value_head`` and
    ``side_head`` what is printed after and before the marks.
    """

    rows: tuple[ForestRow, ...]
    axis: Axis
    references: tuple[ReferenceLine, ...] = ()
    raters: tuple[float, ...] = ()
    rows_name: str = ""
    people_name: str = ""
    value_head: str = ""
    side_head: str = ""

    def _drawn(self, width: float) -> Canvas:
        """Return what is drawn at a width in pixels."""
        wide = is_wide(width)
        labels = [row.label for row in self.rows] + [self.people_name if self.raters else ""]
        widest = max((text_width(label, 13) for label in labels), default=0) + 8
        left = min(widest, width * (0.34 if wide else 0.42))
        side = 44.0 if wide and any(row.side for row in self.rows) else 0.0
        shown = [row.shown if wide else row.shown.partition(" [")[0] for row in self.rows]
        right = max([text_width(text, 12.5) for text in shown] + [text_width(self._head(wide), 12)], default=0) + 12
        first, last = left + side + 6, width - right
        x = Pixels(self.axis, first, last)
        references = [r for r in self.references if self.axis.low <= r.value <= self.axis.high]
        head = 8 + height_of_labels(references, x, width) if references else 4.0
        counts, step = _binned(self.raters, self.axis, 50 if wide else 20)
        unit = min(6.2 if wide else 4.4, _DOTS_HEIGHT / max(max(counts, default=1), 1))
        # the two lines at the left have their room also where few dots are
        base = head + (max(max(counts) * unit + 6, 40) if self.raters else 0)
        row_height = 24.0 if len(self.rows) <= 24 else 18.0
        if any(len(in_lines(row.label, left - 6, 13)) > 1 for row in self.rows):
            row_height = 2 * LINE + 8
        # bold text is a little wider
        headings = {row.group: in_lines(row.group, width / 1.1, 12.5) for row in self.rows if row.group}
        y0 = base + (42 if self.raters else 26)
        bottom = y0 + row_height * len(self.rows) + sum(7 + LINE * len(lines) for lines in headings.values())
        canvas = Canvas(width, round(bottom + 42), self._alt())
        for tick in self.axis.ticks(6 if wide else 5):
            canvas.line(x(tick), head, x(tick), bottom, "grid")
            canvas.words(x(tick), bottom + 17, self.axis.text(tick), "tick", "middle")
        if self.axis.low < 0 < self.axis.high:
            canvas.line(x(0), head, x(0), bottom, "base")
        write_axis_label(canvas, self.axis.label, (first + last) / 2, bottom + 36)
        draw_references(canvas, references, x, top=head, bottom=bottom)
        if self.raters:
            self._draw_raters(canvas, counts, step, unit, base, x)
            canvas.words(0, base - 26, self.people_name, "people-text-b")
            canvas.words(0, base - 11, "one dot per person" if wide else "dot = person", "people-text")
            canvas.line(first, base + 0.5, last, base + 0.5, "base")
        heading = y0 - 14
        canvas.words(0, heading, self.rows_name, "model-text-b")
        canvas.words(left + side, heading, self.side_head if side else "", "tick", "end")
        canvas.words(width, heading, self._head(wide), "tick", "end")
        y, group = y0, ""
        for row, text in zip(self.rows, shown, strict=True):
            if row.group and row.group != group:
                canvas.lines(0, y + LINE, headings[row.group], "group")
                y, group = y + LINE * len(headings[row.group]) + 7, row.group
            self._draw_row(canvas, row, text, y + row_height / 2, row_height, left, side, first, x)
            y += row_height
        return canvas

    def columns(self) -> Mapping[str, Sequence[object]]:
        """Return the rows as columns."""
        names = ("label", "value", "low", "high")
        data: dict[str, list[object]] = {name: [getattr(row, name) for row in self.rows] for name in names}
        for name in ("group", "side", "pale"):
            if any(getattr(row, name) for row in self.rows):
                data[name] = [getattr(row, name) for row in self.rows]
        return data

    def _head(self, wide: bool) -> str:
        return self.value_head if wide else self.value_head.partition(" [")[0]

    def _alt(self) -> str:
        known = [row for row in self.rows if row.value is not None]
        what = f"{self.title}. {self.axis.label}: {counted(len(self.rows), 'row')}"
        if known:
            low, high = (pick(known, key=lambda row: row.value or 0.0) for pick in (min, max))
            what += f", from {low.label} ({low.shown}) to {high.label} ({high.shown})"
        return what + "".join(f"; {reference.label}" for reference in self.references) + "."

    def _draw_raters(
        self, canvas: Canvas, counts: Sequence[int], step: float, unit: float, base: float, x: Pixels
    ) -> None:
        for index, count in enumerate(counts):
            if not count:
                continue
            low = self.axis.low + index * step
            middle = x(low + step / 2)
            ends = f"{self.axis.text(round(low, 3))} to {self.axis.text(round(low + step, 3))}"
            with canvas.marked(f"{count} of {self.people_name}: {ends}"):
                if unit < 2.4:
                    canvas.rectangle(
                        x(low) + 0.5, base - count * unit, x(low + step) - x(low) - 1, count * unit, "area"
                    )
                    continue
                for number in range(count):
                    canvas.disc(middle, base - (number + 0.5) * unit, unit * 0.44, "person")

    def _draw_row(
        self,
        canvas: Canvas,
        row: ForestRow,
        shown: str,
        y: float,
        height: float,
        left: float,
        side: float,
        first: float,
        x: Pixels,
    ) -> None:
        bold = "-b" if row.strong else ""
        lines = in_lines(row.label, left - 6, 13)
        label = lines if len(lines) <= 2 else [lines[0], shortened(" ".join(lines[1:]), left - 6, 13)]
        label_y = y + 4 - LINE * (len(label) - 1) / 2
        if row.value is None:
            canvas.lines(0, label_y, label, f"label{bold}")
            canvas.words(first + 4, y + 4, shortened(row.reason, canvas.width - first - 8, 12), "tick")
            return
        kind = "-people" if row.people else ""
        with canvas.marked(row.tip or f"{row.label}: {row.shown}"):
            canvas.rectangle(0, y - height / 2, canvas.width, height, "hit")
            canvas.lines(0, label_y, label, f"label{bold}")
            canvas.words(left + side, y + 4, row.side if side else "", "tick", "end")
            if row.low is not None and row.high is not None:
                canvas.line(x(row.low), y, x(row.high), y, f"bar{kind}")
            if row.pale is not None:
                canvas.disc(x(row.pale), y, 4, "dot-pale")
            if row.pale is not None:
                canvas.diamond(x(row.value), y, 5.6, "dot-open" if row.hollow else f"dot{kind}")
            else:
                canvas.disc(x(row.value), y, 5, "dot-open" if row.hollow else f"dot{kind}")
            canvas.words(canvas.width, y + 4, shown, f"value{bold}", "end")


def _binned(values: Sequence[float], axis: Axis, bins: int) -> tuple[list[int], float]:
    """How many values are in each of *bins* equal parts of an axis, and the width of one."""
    step = (axis.high - axis.low) / bins
    counts = [0] * bins
    for value in values:
        counts[min(max(int((value - axis.low) / step + 1e-9), 0), bins - 1)] += 1
    return (counts if values else []), step
