"""A scatter: an estimate of each subject against a number, such as its size, with a regression line if there is one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.core.showing import counted
from lexiscope.report.marks.canvas import Canvas, text_width
from lexiscope.report.marks.drawing import Axis, Drawing, Pixels, is_wide, write_axis_label


@dataclass(frozen=True)
class ScatterPoint:
    """A point: the number, the estimate with the ends of its interval; ``hollow`` marks another kind of subject."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    tip: str = ""
    hollow: bool = False
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class Scatter(Drawing):
    """Estimates against a number. ``log`` draws the number on a log axis; ``line`` is (intercept, slope) of the figure.

    With *log*, the line is over the logarithm to base 10 of the number.
    """

    points: tuple[ScatterPoint, ...]
    axis: Axis
    x_label: str
    log: bool = False
    line: tuple[float, float] | None = None

    def _drawn(self, width: float) -> Canvas:
        """Return what is drawn at a width in pixels."""
        left, right, top = 36.0, width - 12, 22.0
        bottom = top + (240.0 if is_wide(width) else 210.0)
        numbers = [self._transformed(point.x) for point in self.points]
        pad = 0.06 * ((max(numbers) - min(numbers)) or 1.0)
        x = Pixels(Axis("", min(numbers) - pad, max(numbers) + pad), left, right)
        y = Pixels(self.axis, bottom, top)
        canvas = Canvas(width, bottom + 46, self._alt())
        for tick in self.axis.ticks(6):
            canvas.line(left, y(tick), right, y(tick), "base" if abs(tick) < 1e-9 else "grid")
            canvas.words(left - 6, y(tick) + 4, self.axis.text(tick), "tick", "end")
        canvas.words(0, 11, self.axis.label, "axis")
        for value, text in self._x_ticks(x):
            canvas.line(x(value), bottom, x(value), bottom + 4, "base")
            canvas.words(x(value), bottom + 19, text, "tick", "middle")
        write_axis_label(canvas, self.x_label, (left + right) / 2, bottom + 38)
        if self.line is not None:
            intercept, slope = self.line
            ends = (min(numbers), max(numbers))
            canvas.path([(x(end), y(intercept + slope * end)) for end in ends], "fit")
        self._draw_points(canvas, x, y, numbers, left)
        return canvas

    def columns(self) -> Mapping[str, Sequence[object]]:
        """Return one row per point."""
        return {name: [getattr(point, name) for point in self.points] for name in ("label", "x", "y", "low", "high")}

    def _alt(self) -> str:
        return f"{self.title}. {self.axis.label} against {self.x_label}, {counted(len(self.points), 'point')}."

    def _transformed(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def _x_ticks(self, x: Pixels) -> list[tuple[float, str]]:
        if not self.log:
            return [(tick, x.axis.text(tick)) for tick in Axis("", x.axis.low, x.axis.high, leading_zero=True).ticks()]
        powers = range(math.floor(x.axis.low), math.ceil(x.axis.high) + 1)
        steps = (1, 3) if x.axis.high - x.axis.low > 1.2 else (1, 2, 5)
        values = [step * 10.0**power for power in powers for step in steps]
        return [(math.log10(v), _plain(v)) for v in values if x.axis.low <= math.log10(v) <= x.axis.high]

    def _draw_points(self, canvas: Canvas, x: Pixels, y: Pixels, numbers: Sequence[float], left: float) -> None:
        taken: list[tuple[float, float, float, float]] = []
        for number, point in zip(numbers, self.points, strict=True):
            taken.append((x(number) - 7, y(point.y) - 7, x(number) + 7, y(point.y) + 7))
        for number, point in zip(numbers, self.points, strict=True):
            px, py = x(number), y(point.y)
            with canvas.marked(point.tip or point.label):
                canvas.rectangle(px - 9, py - 9, 18, 18, "hit")
                if point.low is not None and point.high is not None:
                    canvas.line(px, y(point.low), px, y(point.high), "bar-thin")
                canvas.disc(px, py, 4.6, "dot-open" if point.hollow else "dot")
        for number, point in zip(numbers, self.points, strict=True):
            self._draw_label(canvas, point, x(number), y(point.y), taken, left)

    def _draw_label(
        self,
        canvas: Canvas,
        point: ScatterPoint,
        px: float,
        py: float,
        taken: list[tuple[float, float, float, float]],
        left: float,
    ) -> None:
        """Write a name where it covers nothing: right, left, above or below its point; otherwise hover shows it."""
        wide = text_width(point.label, 12.5)
        places = ((px + 9, py + 4), (px - 9 - wide, py + 4), (px - wide / 2, py - 11), (px - wide / 2, py + 20))
        for at, base in places:
            box = (at, base - 11, at + wide, base + 3)
            fits = box[0] >= left and box[2] <= canvas.width and box[1] >= 12 and box[3] <= canvas.height - 44
            own = (px - 7, py - 7, px + 7, py + 7)
            if fits and not any(_overlap(box, other) for other in taken if other != own):
                canvas.words(at, base, point.label, "label-b" if point.strong else "label")
                taken.append(box)
                return


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _plain(value: float) -> str:
    """Return a large number in short: 300M, 1B, 20k.

    >>> _plain(3e8), _plain(1e9), _plain(20000), _plain(0.5)
    ('300M', '1B', '20k', '0.5')
    """
    for factor, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:g}{letter}"
    return f"{value:g}"
