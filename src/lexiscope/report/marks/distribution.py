"""Distributions of values by condition: single dots where they are few, else histograms in shares, with their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.core.showing import counted
from lexiscope.report.marks.canvas import Canvas, text_width
from lexiscope.report.marks.drawing import Axis, Drawing, Pixels, is_wide, write_axis_label

_FEW = 150
"""Up to this many values of a condition each is a separate dot."""
_BINS = 16


@dataclass(frozen=True)
class ValueGroup:
    """The values of one condition, with the mean that the text prints (that of results, which need not be theirs)."""

    name: str
    values: tuple[float, ...]
    mean: float
    mean_shown: str


@dataclass(frozen=True, kw_only=True)
class Distributions(Drawing):
    """Values of one, two or more conditions on one axis; two are mirrored at a line. ``unit`` is what is counted."""

    groups: tuple[ValueGroup, ...]
    axis: Axis
    unit: str = "items"

    def _drawn(self, width: float) -> Canvas:
        """Return what is drawn at a width in pixels."""
        mirrored = len(self.groups) == 2
        height = (
            (112.0 if mirrored else 86.0) if self._is_dense() else max(52.0, 34.0 + 6.0 * self._highest_stack(width))
        )
        x = Pixels(self.axis, 8, width - 8)
        n_rows = 1 if mirrored else len(self.groups)
        inner = 2 * height if mirrored else n_rows * (height + 24)
        top = 30.0
        canvas = Canvas(width, round(top + inner + 58), self._alt())
        bottom = top + inner
        for tick in self.axis.ticks(6 if is_wide(width) else 5):
            canvas.line(x(tick), top - 8, x(tick), bottom, "grid")
            canvas.words(x(tick), bottom + 18, self.axis.text(tick), "tick", "middle")
        write_axis_label(canvas, self.axis.label, width / 2, bottom + 38)
        highest = max((max(_shares(group.values, self.axis), default=0.0) for group in self.groups), default=1.0) or 1.0
        for index, group in enumerate(self.groups):
            look = ("first" if index == 0 else "second") if mirrored else "first"
            line = top + height if mirrored else top + (index + 1) * (height + 24) - 8
            self._draw_group(canvas, group, look, line, height - 14, x, highest, up=not (mirrored and index == 1))
        return canvas

    def _is_dense(self) -> bool:
        return any(len(group.values) > _FEW for group in self.groups)

    def _highest_stack(self, width: float) -> int:
        """How many dots are above each other in the fullest bin."""
        per_row = max(1, int(((width - 16) / _BINS - 2) // 6))
        counts = (share * len(group.values) for group in self.groups for share in _shares(group.values, self.axis))
        return max((-(-round(count) // per_row) for count in counts), default=1)

    def columns(self) -> Mapping[str, Sequence[object]]:
        """Return one row per value with its condition."""
        rows = [(group.name, value) for group in self.groups for value in group.values]
        return {"condition": [row[0] for row in rows], "value": [row[1] for row in rows]}

    def _alt(self) -> str:
        parts = (f"{g.name}: {counted(len(g.values), 'value')}, mean {g.mean_shown}" for g in self.groups)
        return f"{self.title}. {self.axis.label}. {'; '.join(parts)}."

    def _draw_group(
        self,
        canvas: Canvas,
        group: ValueGroup,
        look: str,
        line: float,
        height: float,
        x: Pixels,
        highest: float,
        *,
        up: bool,
    ) -> None:
        sign, n = (-1.0 if up else 1.0), len(group.values)
        step = (self.axis.high - self.axis.low) / _BINS
        for index, share in enumerate(_shares(group.values, self.axis)):
            if not share:
                continue
            low = self.axis.low + index * step
            count, left = round(share * n), x(low)
            tall = share / highest * height
            size = f"{count} of {n} {self.unit} ({100 * share:.0f}%)"
            with canvas.marked(f"{group.name}: {size}, {self.axis.text(low)} to {self.axis.text(low + step)}"):
                width = x(low + step) - left
                if n <= _FEW:
                    per_row = max(1, int((width - 2) // 6))
                    for number in range(count):
                        row, column = divmod(number, per_row)
                        canvas.disc(left + 4 + 6 * column, line + sign * (4 + 6 * row), 2.6, f"{look}-dot")
                else:
                    canvas.rectangle(left + 1, line - tall if up else line, width - 2, tall, f"{look}-area")
        canvas.line(8, line, canvas.width - 8, line, "base")
        end = line + sign * (height + 4)
        canvas.line(x(group.mean), line, x(group.mean), end, f"{look}-line")
        text = f"{group.name}, mean {group.mean_shown}"
        right = x(group.mean) + 8 + text_width(text, 12.5) <= canvas.width
        anchor, shift = ("start", 8) if right else ("end", -8)
        y = end + 8 if up else end - 12
        for row, (words, style) in enumerate(((text, f"{look}-text-b"), (f"{n:,} {self.unit}", f"{look}-text"))):
            canvas.words(x(group.mean) + shift, y + 15 * row, words, style, "start" if anchor == "start" else "end")


def _shares(values: Sequence[float], axis: Axis) -> list[float]:
    """Return the share of the values in each of the bins of an axis."""
    step, counts = (axis.high - axis.low) / _BINS, [0] * _BINS
    for value in values:
        counts[min(max(int((value - axis.low) / step + 1e-9), 0), _BINS - 1)] += 1
    return [count / len(values) for count in counts] if values else []
