"""Accuracies with their intervals beside chance: dots by condition, lines over training, stacked shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.analysis.accuracy import Accuracy
from lexiscope.core.errors import InputError
from lexiscope.core.result import Record
from lexiscope.report.figures import Array, Figure, Heading, build, levels
from lexiscope.report.plots.style import (
    COLOURS,
    HATCHES,
    INK,
    SOFT,
    WIDTH,
    MarkStyle,
    as_svg,
    drawing,
    mark,
    panels,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Height of one subject's line within a condition, in inches.
_LINE = 0.13
_NAME = 34


@dataclass(frozen=True, slots=True)
class Dot:
    """One accuracy: its row (a condition), whose it is, its value with interval, and what chance is there.

    *Unit:* percent; not-a-number where there is no interval, or where chance is not known.
    """

    row: str
    subject: str
    value: float
    low: float
    high: float
    chance: float

    @classmethod
    def of(cls, record: Record, row: str, subject: str, *, times: float = 1.0, chance: float = float("nan")) -> Dot:
        """Return the dot of a record; *times* is 100 where it holds a share.

        >>> Dot.of(Record("accuracy", 0.5, low=0.25, high=0.75), "all", "a model", times=100)
        Dot(row='all', subject='a model', value=50.0, low=25.0, high=75.0, chance=nan)
        """
        fields = (record.value, record.low, record.high)
        value, low, high = (float("nan") if one is None else times * one for one in fields)
        return cls(row, subject, value, low, high, chance)

    @classmethod
    def of_accuracy(cls, found: Accuracy, row: str, subject: str) -> Dot:
        """Return the dot of an accuracy, with its interval and its chance."""
        value, low, high = (100 * one for one in (found.value, found.clustered.low, found.clustered.high))
        return cls(row, subject, value, low, high, 100 * found.chance)


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One state of training: how far it was, and its accuracy with interval. *Unit:* percent."""

    seen: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    """The accuracies of one condition over training, and its chance level. *Unit:* percent."""

    label: str
    chance: float
    points: tuple[SeriesPoint, ...]

    @classmethod
    def of(cls, label: str, states: Sequence[tuple[float, Accuracy]]) -> Series:
        """Return the accuracies of one condition, each with how far training was."""
        dots = [(seen, Dot.of_accuracy(found, label, "")) for seen, found in states]
        return cls(
            label, dots[0][1].chance, tuple(SeriesPoint(seen, one.value, one.low, one.high) for seen, one in dots)
        )


def accuracy_dots(
    dots: Sequence[Dot],
    heading: Heading,
    *,
    unit: str = "Items right, %",
    order: Sequence[str] = (),
    percent: bool = True,
) -> Figure:
    """Draw accuracies as dots with intervals, a row for each condition, a mark for each subject, chance as a line.

    *order* names all subjects of a report, so that one has the same mark in all its figures. The axis goes from
    0, or the multiple of 10 below the lowest value or end of an interval, to 100; of values that are no *percent*, it
    goes as far as they do.
    Errors: :class:`InputError` without a dot.
    """
    if not dots:
        raise InputError("a figure of accuracies needs at least one accuracy")
    rows, subjects = levels([dot.row for dot in dots]), levels([dot.subject for dot in dots])
    step = max(_LINE * len(subjects) + 0.12, 0.36)
    alt = _words(dots, unit)
    with drawing(WIDTH, 0.75 + step * len(rows) + 0.17 * -(-len(subjects) // 3)) as sheet:
        axes = sheet.subplots()
        _chance_lines(axes, dots, rows)
        names = short_names(subjects, _NAME)
        marked = list(dict.fromkeys((*order, *subjects)))
        for place, subject in enumerate(subjects):
            own = [dot for dot in dots if dot.subject == subject]
            look = mark(marked.index(subject))
            _subject(axes, own, rows, place=place, count=len(subjects), name=names[place], look=look)
        if percent:
            ends = [end for dot in dots for end in (dot.value, dot.low) if np.isfinite(end)]
            axes.set(xlim=(min(0.0, 10 * np.floor(min(ends, default=0.0) / 10)), 100))
        axes.set(xlabel=unit, ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        for edge in range(1, len(rows)):
            axes.axhline(edge - 0.5, color="#e4e4e4", lw=0.6, zorder=0)
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    return build(heading, svg, alt, _data(dots))


def series(lines: Sequence[Series], heading: Heading, *, horizontal: str = "Tokens seen in training") -> Figure:
    """Draw accuracy over training, a panel for each condition, with bands and the chance level.

    The horizontal axis is logarithmic where all numbers are above 0 and span a factor of 20 or more.
    Errors: :class:`InputError` without lines, or where one has no points.
    """
    if not lines or not all(line.points for line in lines):
        raise InputError("a series needs at least one state of training")
    columns = min(len(lines), 3)
    rows = -(-len(lines) // columns)
    seen = np.array([point.seen for line in lines for point in line.points])
    alt = " ".join(
        f"{line.label}: " + ", ".join(f"{point.value:.1f} % at {point.seen:g}" for point in line.points) + "."
        for line in lines
    )
    with drawing(WIDTH, 0.6 + 1.9 * rows) as sheet:
        for axes, line in zip(panels(sheet, len(lines), columns=columns), lines, strict=True):
            _panel(axes, line)
            if seen.min() > 0 and seen.max() / seen.min() >= 20:
                axes.set_xscale("log")
        sheet.supxlabel(horizontal, fontsize=8.5)
        sheet.supylabel("Items right, %", fontsize=8.5)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    return build(heading, svg, alt, _series_data(lines))


def stacked_shares(
    shares: Sequence[tuple[str, str, float]], heading: Heading, *, order: Sequence[str], unit: str = "Predictions, %"
) -> Figure:
    """Draw shares that add up to 100 as one bar for each subject, told apart by colour and hatching.

    *shares* are (subject, category, percent). Errors: :class:`InputError` without shares or for an unknown category.
    """
    if not shares:
        raise InputError("a figure of shares needs at least one share")
    subjects = levels([subject for subject, _, _ in shares])
    present = levels([category for _, category, _ in shares], order)
    given = {(subject, category): value for subject, category, value in shares}
    alt = f"{unit}, by category. " + " ".join(
        f"{subject}: " + ", ".join(f"{c.replace('_', ' ')} {given.get((subject, c), 0.0):.1f} %" for c in present) + "."
        for subject in subjects
    )
    with drawing(WIDTH, 1.15 + 0.36 * len(subjects)) as sheet:
        axes = sheet.subplots()
        left = np.zeros(len(subjects))
        for index, category in enumerate(present):
            values = np.array([given.get((subject, category), 0.0) for subject in subjects])
            axes.barh(
                range(len(subjects)),
                values,
                left=left,
                height=0.66,
                color=COLOURS[index % len(COLOURS)] if index < len(COLOURS) else SOFT,
                hatch=HATCHES[index % len(HATCHES)],
                edgecolor="white",
                linewidth=0.6,
                label=category.replace("_", " "),
            )
            left += values
        axes.set(xlim=(0, 100), xlabel=unit, ylim=(len(subjects) - 0.5, -0.5))
        axes.set_yticks(range(len(subjects)), short_names(subjects, _NAME))
        axes.grid(visible=False, axis="y")
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=4)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    data = {
        "subject": np.array([subject for subject, _, _ in shares]),
        "category": np.array([category for _, category, _ in shares]),
        "percent": np.array([value for _, _, value in shares]),
    }
    return build(heading, svg, alt, data)


def _subject(
    axes: Axes, dots: Sequence[Dot], rows: Sequence[str], *, place: int, count: int, name: str, look: MarkStyle
) -> None:
    # the marks of a row stand side by side, so that intervals do not cover each other
    offset = 0.8 * (place - (count - 1) / 2) / count
    y = np.array([rows.index(dot.row) + offset for dot in dots])
    x = np.array([dot.value for dot in dots])
    known = np.array([np.isfinite(dot.low) and np.isfinite(dot.high) for dot in dots])
    if known.any():
        low, high = np.array([dot.low for dot in dots]), np.array([dot.high for dot in dots])
        axes.hlines(y[known], low[known], high[known], color=look.colour, lw=1.2, zorder=2)
    axes.plot(x, y, ls="", marker=look.marker, ms=4.6, color=look.colour, label=name, zorder=3)


def _chance_lines(axes: Axes, dots: Sequence[Dot], rows: Sequence[str]) -> None:
    label = "chance"
    for place, row in enumerate(rows):
        for level in sorted({dot.chance for dot in dots if dot.row == row and np.isfinite(dot.chance)}):
            axes.vlines(level, place - 0.46, place + 0.46, color=INK, lw=1.1, ls=(0, (3, 2)), label=label, zorder=1)
            label = "_chance"  # drawn once in the legend


def _panel(axes: Axes, line: Series) -> None:
    look = mark(0)
    x = np.array([point.seen for point in line.points])
    low, high = np.array([point.low for point in line.points]), np.array([point.high for point in line.points])
    axes.axhline(line.chance, color=INK, lw=1.0, ls=(0, (3, 2)), zorder=1)
    if np.isfinite(low).all() and np.isfinite(high).all():
        axes.fill_between(x, low, high, color=look.colour, alpha=0.15, lw=0, zorder=2)
    axes.plot(x, [point.value for point in line.points], color=look.colour, marker=look.marker, ms=3.6, zorder=3)
    axes.set(ylim=(0, 100))
    axes.set_title(short_names([line.label], 36)[0], fontsize=7.5)


def _words(dots: Sequence[Dot], unit: str) -> str:
    parts = [f"{unit}."]
    for row in levels([dot.row for dot in dots]):
        own = [dot for dot in dots if dot.row == row]
        chance = f" (chance {own[0].chance:.1f})" if np.isfinite(own[0].chance) else ""
        parts.append(
            f"{' '.join(row.split())}{chance}: " + ", ".join(f"{dot.subject} {dot.value:.1f}" for dot in own) + "."
        )
    return " ".join(parts)


def _data(dots: Sequence[Dot]) -> dict[str, Array]:
    texts: dict[str, Array] = {
        name: np.array([" ".join(getattr(dot, name).split()) for dot in dots]) for name in ("row", "subject")
    }
    return texts | {name: np.array([getattr(dot, name) for dot in dots]) for name in ("value", "low", "high", "chance")}


def _series_data(lines: Sequence[Series]) -> dict[str, Array]:
    flat = [(line, point) for line in lines for point in line.points]
    columns: dict[str, Array] = {
        "condition": np.array([line.label for line, _ in flat]),
        "chance": np.array([line.chance for line, _ in flat]),
    }
    return columns | {
        name: np.array([getattr(point, name) for _, point in flat]) for name in ("seen", "value", "low", "high")
    }
