"""Figures of the researchers' pages as inline SVG: text is text, colours are classes of the style sheet.

Each figure is drawn twice by the same function, for a wide and for a narrow screen (:data:`WIDTHS`), and is never
scaled: its letters keep their size. A mark has its values as title and as label; the keyboard moves from mark to mark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTHS = {"wide": 704, "narrow": 320}
"""The widths in which a figure is drawn. *Unit:* CSS pixels."""
_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM, _ROW = 230, 44, 12, 24, 40, 30
_LETTER = 7.2
"""The width of an average letter of a label. *Unit:* CSS pixels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart: what is written below it, its count, and its values as a sentence for hover and assistive
    technology."""

    label: str
    count: int
    told: str


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A statistic with its interval, the single values behind it, and all of it as a sentence."""

    label: str
    value: float
    low: float | None
    high: float | None
    dots: tuple[float, ...]
    told: str


@dataclass(frozen=True, slots=True)
class ProgressRow:
    """A list: its name, its valid and active participants, how many it needs, and all of it as a sentence."""

    label: str
    valid: int
    active: int
    need: int
    told: str


def drawn_twice(draw: Callable[[int], Markup]) -> Markup:
    """Return a drawing for wide and for narrow screens; the style sheet shows one of them."""
    return Markup("").join(
        Markup('<div class="drawing {}">{}</div>').format(name, draw(width)) for name, width in WIDTHS.items()
    )


def bounded(value: float, digits: int = 2) -> str:
    """Return a value between −1 and 1 as APA style prints it.

    >>> bounded(0.5), bounded(-0.25), bounded(1.0)
    ('.50', '−.25', '1.00')
    """
    text = f"{value:.{digits}f}"
    sign, text = ("−", text[1:]) if text.startswith("-") else ("", text)
    return sign + text.removeprefix("0")


def bar_chart(bars: Sequence[Bar], *, label: str, axis: str, css: str = "") -> Markup:
    """Return a chart of counts; *label* says what is drawn, *axis* what the counts count."""

    def draw(width: int) -> Markup:
        most = max(bar.count for bar in bars)
        ticks = _ticks(most)
        inner, height = width - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        step = inner / len(bars)
        top = ticks[-1]
        parts = [_text(_LEFT - 36, 12, axis, "tick")]
        for tick in ticks:
            y = _TOP + height * (1 - tick / top)
            parts += [_line(_LEFT, y, width - _RIGHT, y, "grid"), _text(_LEFT - 6, y + 4, f"{tick:,}", "tick end")]
        shown = _fitting([bar.label for bar in bars], step)
        for k, bar in enumerate(bars):
            x, size = _LEFT + k * step, height * bar.count / top
            y = _TOP + height - size
            # the whole column takes the pointer: a bar of zero has a title too
            column = Markup('<rect class="hit" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>').format(
                x, _TOP, step, height
            )
            gap = min(6.0, step * 0.15)
            body = Markup('<rect class="bar-mark" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
                x + gap, y, max(1.0, step - 2 * gap), size
            )
            count = _text(x + step / 2, y - 5, f"{bar.count:,}", "value" if step >= 26 else "value on-focus")
            parts.append(_mark(k, bar.told, column + body + (count if bar.count else "")))
            if k in shown:
                parts.append(_text(x + step / 2, _TOP + height + 18, bar.label, "tick middle"))
        parts.append(_line(_LEFT, _TOP + height, width - _RIGHT, _TOP + height, "axis"))
        return _svg(width, _HEIGHT - 14, label, parts, css)

    return drawn_twice(draw)


def forest(rows: Sequence[AgreementRow], *, label: str) -> Markup:
    """Return statistics between −1 and 1 on one axis: estimate, interval, and a dot for each single value above it."""

    def draw(width: int) -> Markup:
        every = [value for row in rows for value in (row.value, row.low, row.high, *row.dots) if value is not None]
        lowest = -1.0 if min(every) < -0.5 else -0.5 if min(every) < 0 else 0.0
        inner, block = width - 24, 78
        height = block * len(rows) + 30

        def at(value: float) -> float:
            return 12 + inner * (min(max(value, lowest), 1.0) - lowest) / (1.0 - lowest)

        parts: list[Markup] = []
        for k in range(5):
            tick = lowest + (1.0 - lowest) * k / 4
            parts.append(_line(at(tick), 8, at(tick), height - 24, "grid"))
            anchor = "start" if k == 0 else "end" if k == 4 else "middle"
            parts.append(_text(at(tick), height - 8, bounded(tick) if tick else "0", f"tick {anchor}"))
        if lowest < 0:
            parts.append(_line(at(0), 8, at(0), height - 24, "axis"))
        for k, row in enumerate(rows):
            y = block * k + 58
            body = [
                Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="3.5"/>').format(at(value), y - 16 - lift)
                for value, lift in _stacked(row.dots, at)
            ]
            if row.low is not None and row.high is not None:
                body.append(_line(at(row.low), y, at(row.high), y, "interval"))
            body.append(Markup('<circle class="estimate" cx="{:.1f}" cy="{:.1f}" r="5"/>').format(at(row.value), y))
            place, anchor = (at(row.high or row.value) + 10, "start")
            if place > width - 110:
                place, anchor = (at(row.low if row.low is not None else row.value) - 10, "end")
            body.append(_text(place, y + 4.5, row.label, f"value {anchor}"))
            parts.append(_mark(k, row.told, Markup("").join(body)))
        return _svg(width, height, label, parts)

    return drawn_twice(draw)


def progress_chart(rows: Sequence[ProgressRow], *, label: str) -> Markup:
    """Return the progress of lists: a line from 0 to what a list needs, valid participants filled, active ones open."""

    def draw(width: int) -> Markup:
        longest = max(len(row.label) for row in rows)
        left = min(width // 3, int(longest * _LETTER) + 14)
        right = 66
        most = max(1, *(max(row.need, row.valid + row.active) for row in rows))
        inner = width - left - right
        parts: list[Markup] = []
        for k, row in enumerate(rows):
            y = _ROW * k + 20

            def at(n: int) -> float:
                return left + inner * n / most

            body = [
                _line(at(0), y, at(row.need), y, "track"),
                _line(at(0), y, at(row.valid), y, "done") if row.valid else Markup(""),
                _line(at(row.need), y - 7, at(row.need), y + 7, "goal"),
            ]
            if row.active:
                body.append(_line(at(row.valid), y, at(row.valid + row.active), y, "under-way"))
            body.append(_text(0, y + 4.5, row.label, "name"))
            body.append(_text(width - right + 8, y + 4.5, f"{row.valid} / {row.need}", "value start"))
            parts.append(_mark(k, row.told, Markup("").join(body)))
        return _svg(width, _ROW * len(rows) + 12, label, parts)

    return drawn_twice(draw)


# -- pieces ---------------------------------------------------------------------------------------------------------


def _svg(width: int, height: float, label: str, parts: Iterable[Markup], css: str = "") -> Markup:
    # a group, not an image: the marks in it are reached one by one
    frame = Markup('<svg class="plot-svg {}" width="{}" height="{:.0f}" viewBox="0 0 {} {:.0f}"').format(
        css, width, height, width, height
    )
    return frame + Markup(' role="group" aria-label="{}">{}</svg>').format(label, Markup("").join(parts))


def _mark(number: int, told: str, body: Markup) -> Markup:
    """Return a mark that takes the pointer and the keyboard; one of a figure is in the order of Tab."""
    return Markup('<g class="mark" role="img" tabindex="{}" aria-label="{}"><title>{}</title>{}</g>').format(
        0 if number == 0 else -1, told, told, body
    )


def _text(x: float, y: float, text: str, css: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(css, x, y, escape(text))


def _line(x1: float, y1: float, x2: float, y2: float, css: str) -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(css, x1, y1, x2, y2)


def _ticks(most: int) -> list[int]:
    """Return up to five round numbers from 0 to the first that is not below *most*.

    >>> _ticks(37), _ticks(3), _ticks(0)
    ([0, 10, 20, 30, 40], [0, 1, 2, 3], [0, 1])
    """
    size = 10 ** max(0, len(str(max(1, most // 4))) - 1)
    step = next(size * k for k in (1, 2, 5, 10, 20) if size * k * 4 >= most)
    return [step * k for k in range(max(1, -(-most // step)) + 1)]


def _fitting(labels: Sequence[str], step: float) -> set[int]:
    """Return which labels have room below bars of a width: every one, or every second, third …"""
    widest = max(len(label) for label in labels) * _LETTER + 8
    every = max(1, math.ceil(widest / step))
    return set(range(0, len(labels), every))


def _stacked(values: Sequence[float], at: Callable[[float], float]) -> list[tuple[float, float]]:
    """Return values with the lift of each, so that dots in one place are above each other. *Unit:* pixels."""
    heights: dict[int, int] = {}
    lifted = []
    for value in sorted(values):
        column = round(at(value) / 7)
        heights[column] = heights.get(column, 0) + 1
        lifted.append((value, min(3.0, heights[column] - 1) * 8))
    return lifted
