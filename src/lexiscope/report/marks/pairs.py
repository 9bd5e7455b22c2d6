"""Two estimates per row, a circle and a diamond, on an axis with a zero line and the directions of its sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.core.showing import counted
from lexiscope.report.marks.canvas import LINE, Anchor, Canvas, in_lines, shortened, text_width
from lexiscope.report.marks.drawing import Axis, Drawing, Pixels, is_wide, write_axis_label


@dataclass(frozen=True)
class PairRow:
    """A row: two values with the ends of their intervals; one of them may be missing."""

    label: str
    first: tuple[float, float | None, float | None] | None
    second: tuple[float, float | None, float | None] | None
    tip: str = ""
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class PairedDots(Drawing):
    """Two conditions per subject on one axis: ``first_name`` (green circle) and ``second_name`` (purple diamond).

    ``below`` and ``above`` say what values on the two sides of zero mean.
    """

    rows: tuple[PairRow, ...]
    axis: Axis
    first_name: str
    second_name: str
    below: str = ""
    above: str = ""

    def _drawn(self, width: float) -> Canvas:
        """Return what is drawn at a width in pixels."""
        wide = is_wide(width)
        widest = max((text_width(row.label, 13) for row in self.rows), default=0) + 10
        left = min(widest, width * (0.34 if wide else 0.42))
        x = Pixels(self.axis, left, width - 14)
        sides = (in_lines(self.below, x(0) - 12, 12), in_lines(self.above, width - x(0) - 10, 12))
        further = LINE * (max(map(len, sides)) - 1) if self.axis.low < 0 < self.axis.high else 0.0
        row_height, top = (22.0 if len(self.rows) <= 24 else 17.0), 50.0 + further
        bottom = top + row_height * len(self.rows)
        canvas = Canvas(width, round(bottom + 42), self._alt())
        for tick in self.axis.ticks(6 if wide else 5):
            canvas.line(x(tick), top - 6, x(tick), bottom, "base" if abs(tick) < 1e-9 else "grid")
            canvas.words(x(tick), bottom + 17, self.axis.text(tick), "tick", "middle")
        write_axis_label(canvas, self.axis.label, (left + width) / 2, bottom + 36)
        if self.axis.low < 0 < self.axis.high:
            ends: tuple[tuple[float, Anchor], ...] = ((x(0) - 8, "end"), (x(0) + 8, "start"))
            for (place, anchor), lines in zip(ends, sides, strict=True):
                canvas.lines(place, 14, lines, "tick", anchor)
        self._draw_names(canvas, x, 34 + further)
        for index, row in enumerate(self.rows):
            self._draw_row(canvas, row, top + row_height * (index + 0.5), row_height, left, x)
        return canvas

    def columns(self) -> Mapping[str, Sequence[object]]:
        """Return one row per subject, both conditions with their intervals."""
        data: dict[str, list[object]] = {"label": [row.label for row in self.rows]}
        for name in ("first", "second"):
            for index, part in enumerate(("", "_low", "_high")):
                own = [getattr(row, name) for row in self.rows]
                data[f"{name}{part}"] = [None if value is None else value[index] for value in own]
        return data

    def _alt(self) -> str:
        return (
            f"{self.title}. {self.axis.label}, {counted(len(self.rows), 'row')}: {self.first_name}, {self.second_name}."
        )

    def _draw_names(self, canvas: Canvas, x: Pixels, y: float) -> None:
        """Name the two marks above the first row, over their means; the names never overlap."""
        spots = []
        for name, look in (("first", "first-text-b"), ("second", "second-text-b")):
            values = [value[0] for row in self.rows if (value := getattr(row, name)) is not None]
            if values:
                spots.append((sum(values) / len(values), getattr(self, f"{name}_name"), look))
        if len(spots) == 2 and spots[0][0] > spots[1][0]:
            spots.reverse()
        previous = 0.0
        for index, (value, text, look) in enumerate(spots):
            half = text_width(text, 12.5) / 2
            middle = min(max(x(value), half), canvas.width - half)
            if index == 0 and len(spots) == 2:
                middle = min(middle, canvas.width - half - text_width(spots[1][1], 12.5) - 12)
            elif index == 1:
                middle = max(middle, previous + half + 12)
            canvas.words(middle, y, text, look, "middle")
            previous = middle + half

    def _draw_row(self, canvas: Canvas, row: PairRow, y: float, height: float, left: float, x: Pixels) -> None:
        with canvas.marked(row.tip or row.label):
            canvas.rectangle(0, y - height / 2, canvas.width, height, "hit")
            canvas.words(0, y + 4, shortened(row.label, left - 8, 13), "label-b" if row.strong else "label")
            for value, look in ((row.first, "first"), (row.second, "second")):
                if value is not None and value[1] is not None and value[2] is not None:
                    canvas.line(x(value[1]), y, x(value[2]), y, f"{look}-line")
            if row.first is not None:
                canvas.disc(x(row.first[0]), y, 5, "first")
            if row.second is not None:
                canvas.diamond(x(row.second[0]), y, 5.4, "second")
