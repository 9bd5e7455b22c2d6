"""Models on one line with their intervals, and brackets: the sets in which no two models can be distinguished."""

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
