"""What every drawing is: a title, the numbers that it shows, a sentence on what to see, and how it is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.report.marks.canvas import LINE, Canvas, in_lines, nice_ticks, text_width

WIDE, NARROW = 704.0, 350.0
"""The two widths of a drawing in the page: of a screen and of a phone. *Unit:* pixels."""
_WIDE_FROM = 500.0


def is_wide(width: float) -> bool:
    """Return whether a drawing of this width has room for names and values in full."""
    return width > _WIDE_FROM


@dataclass(frozen=True, kw_only=True)
class Drawing(ABC):
    """A drawing: its name (a file name), what is drawn, one sentence on what to see, a short note.

    The same object draws itself at any width; it holds all numbers that it shows, and can be stored as JSON. ``mark``
    is written below the drawing: what must be known of it wherever it is shown (that judgments are simulated).
    """

    name: str
    title: str
    see: str = ""
    note: str = ""
    mark: str = ""

    def draw(self, width: float) -> Canvas:
        """Return the drawing at a width in pixels."""
        canvas = self._drawn(width)
        if self.mark:
            canvas.height += 18
            canvas.alt = f"{canvas.alt} {self.mark}"
            canvas.words(0, canvas.height - 4, self.mark, "tick")
        return canvas

    @abstractmethod
    def _drawn(self, width: float) -> Canvas:
        """Return what is drawn at a width in pixels, without the mark."""

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[object]]:
        """Return the numbers that are drawn, by column."""


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, and its lowest and highest value."""

    label: str
    low: float
    high: float
    leading_zero: bool = False

    def ticks(self, most: int = 6) -> tuple[float, ...]:
        """Return the values that are labelled: round numbers inside the axis."""
        inside = (tick for tick in nice_ticks(self.low, self.high, most) if self.low - 1e-9 <= tick <= self.high + 1e-9)
        return tuple(inside)

    def text(self, value: float) -> str:
        """Return a tick's label: ``.5``, ``0``, ``−1.5``."""
        if abs(value) < 1e-9:
            return "0"
        text = f"{abs(value):,.3f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        if not self.leading_zero and text.startswith("0."):
            text = text[1:]
        return f"−{text}" if value < 0 else text

    @classmethod
    def around(
        cls, values: Sequence[float], label: str, *, bounds: tuple[float, float] | None = None, zero: bool = True
    ) -> Axis:
        """Return an axis for values: the whole range of a bounded statistic, else round numbers around the values.

        *bounds* are the lowest and highest value that the statistic can have: the axis starts at 0 if no value is
        below it, and ends at the upper bound. Without bounds it holds 0 if *zero*.

        >>> Axis.around([0.4, 0.6], "ρ", bounds=(-1, 1)), Axis.around([-0.3, 1.2], "points").low
        (Axis(label='ρ', low=0.0, high=1, leading_zero=False), -0.5)
        """
        shown = [value for value in values if value == value] or [0.0, 1.0]
        if bounds is not None:
            low = 0.0 if min(shown) >= 0 and bounds[0] <= 0 else bounds[0]
            if bounds[0] < min(shown) < 0:
                # below 0, in steps of a fifth of the upper part: never the spread of the data alone
                step = bounds[1] / 5
                low = max(bounds[0], -step * (int(-min(shown) / step) + 1))
            return cls(label, low, bounds[1])
        ends = (min(*shown, 0.0) if zero else min(shown), max(*shown, 0.0) if zero else max(shown))
        if ends[0] == ends[1]:
            # values that are all alike, as 0 everywhere: an axis needs a length
            ends = (ends[0], ends[0] + (abs(ends[0]) or 1.0))
        ticks = nice_ticks(*ends)
        return cls(label, ticks[0], ticks[-1], leading_zero=ticks[-1] > 1 or ticks[0] < -1)


@dataclass(frozen=True)
class Pixels:
    """Where the values of an axis are: from pixel *first* to pixel *last*; values outside the axis stay at its ends."""

    axis: Axis
    first: float
    last: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        share = (value - self.axis.low) / (self.axis.high - self.axis.low)
        return self.first + min(max(share, 0.0), 1.0) * (self.last - self.first)


@dataclass(frozen=True)
class ReferenceLine:
    """A line across all marks: a ceiling of people, a baseline, or chance, with its interval where it has one.

    ``kind``: ``people`` (a line and a band), ``further`` (another ceiling, dotted), ``chance`` (grey, dashed).
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    kind: str = "people"
    tip: str = ""


LINES: Mapping[str, tuple[str, str]] = {
    "people": ("ceiling", "people-text-b"),
    "further": ("ceiling-2", "people-text"),
    "chance": ("chance", "tick"),
}
"""The looks of a reference's line and of its label, by kind."""


def write_axis_label(canvas: Canvas, text: str, middle: float, y: float) -> None:
    """Write the label of a horizontal axis, the last thing of a drawing, in its middle or as near as there is room.

    A label that is wider than the drawing is written in lines: the drawing becomes higher.
    """
    lines = in_lines(text, canvas.width, 12.5)
    for number, line in enumerate(lines):
        half = text_width(line, 12.5) / 2
        canvas.words(min(max(middle, half), canvas.width - half), y + LINE * number, line, "axis", "middle")
    canvas.height += LINE * (len(lines) - 1)


def levels_of_labels(labels: Sequence[tuple[float, str]], size: float, right: float) -> list[tuple[float, int]]:
    """Return where labels above an axis are written without overlap: the middle of each, and its line (0 is lowest).

    *labels* are (x, text); *right* is the width that they must stay in. *Unit:* pixels.
    """
    placed: list[tuple[float, float, int]] = []
    out: list[tuple[float, int]] = []
    for x, text in labels:
        half = text_width(text, size) / 2 + 3
        middle = min(max(x, half), right - half)
        level = 0
        while any(own == level and abs(middle - other) < half + other_half for other, other_half, own in placed):
            level += 1
        placed.append((middle, half, level))
        out.append((middle, level))
    return out


def draw_references(
    canvas: Canvas, references: Sequence[ReferenceLine], at: Pixels, *, top: float, bottom: float
) -> None:
    """Draw references as vertical lines from *top* to *bottom*, each named above its upper end."""
    for reference in references:
        if reference.low is not None and reference.high is not None and reference.kind == "people":
            low, high = at(reference.low), at(reference.high)
            canvas.rectangle(low, top, high - low, bottom - top, "band")
    spots = levels_of_labels([(at(r.value), r.label) for r in references], 12.5, canvas.width)
    for reference, (_, level) in zip(references, spots, strict=True):
        x = at(reference.value)
        line = LINES[reference.kind][0]
        with canvas.marked(reference.tip or reference.label):
            canvas.rectangle(x - 5, top, 10, bottom - top, "hit")
            canvas.line(x, top - 14 * level, x, bottom, line)
    # no line crosses a name
    for reference, (middle, level) in zip(references, spots, strict=True):
        canvas.words(middle, top - 6 - 14 * level, reference.label, LINES[reference.kind][1], "middle")


def height_of_labels(references: Sequence[ReferenceLine], at: Pixels, width: float) -> float:
    """Return the height that the labels of references need above an axis. *Unit:* pixels."""
    spots = levels_of_labels([(at(r.value), r.label) for r in references], 12.5, width)
    return 14.0 * (1 + max((level for _, level in spots), default=-1))
