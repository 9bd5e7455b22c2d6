"""Accuracies with their intervals and chance: dots by condition, lines over training, stacked shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.analysis.accuracy import Accuracy
from lexiscope.core.errors import InputError
from lexiscope.core.result import Record
from lexiscope.report.figures import Figure, Heading, columns_of, levels
from lexiscope.report.plots.curves import DrawnCurve, curve_data, draw_panels
from lexiscope.report.plots.style import (
    COLOURS,
    GRID,
    HATCHES,
    INK,
    SOFT,
    WIDTH,
    add_legend,
    drawing,
    drawn_figure,
    mark,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME_LENGTH = 34
"""The longest name of a subject at an axis or in a legend, in characters."""
_LINE = 0.13
"""Height of one subject's line within a row. *Unit:* inches."""
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Dot:
    """A number in a row (a condition): the subject, the value with its interval, and what chance is there.

    *Unit:* that of the figure; not-a-number where there is no interval, or where chance is not known. ``people``: the
    subject is people, not a model.
    """

    row: str
    subject: str
    value: float
    low: float = _NAN
    high: float = _NAN
    chance: float = _NAN
    people: bool = False

    @classmethod
    def of(cls, record: Record, row: str, subject: str, *, times: float = 1.0, chance: float = _NAN) -> Dot:
        """Return the dot of a record; *times* is 100 where it holds a share.

        >>> Dot.of(Record("accuracy", 0.5, low=0.25, high=0.75), "all", "a model", times=100)
        Dot(row='all', subject='a model', value=50.0, low=25.0, high=75.0, chance=nan, people=False)
        """
        numbers = (record.value, record.low, record.high)
        value, low, high = (_NAN if number is None else times * number for number in numbers)
        return cls(row, subject, value, low, high, chance)

    @classmethod
    def of_accuracy(cls, accuracy: Accuracy, row: str, subject: str) -> Dot:
        """Return the dot of an accuracy, with its interval and its chance. *Unit:* percent."""
        ends = accuracy.clustered
        return cls(row, subject, 100 * accuracy.value, 100 * ends.low, 100 * ends.high, 100 * accuracy.chance)


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
    rows, alt = levels([dot.row for dot in dots]), f"{unit}."
    for row in rows:
        own = [dot for dot in dots if dot.row == row]
        chance = f" (chance {own[0].chance:.1f})" if np.isfinite(own[0].chance) else ""
        alt += f" {' '.join(row.split())}{chance}: {', '.join(f'{dot.subject} {dot.value:.1f}' for dot in own)}."
    with drawing(WIDTH, rows_height(dots)) as sheet:
        axes = sheet.subplots()
        for place, row in enumerate(rows):
            for level in sorted({dot.chance for dot in dots if dot.row == row and np.isfinite(dot.chance)}):
                axes.vlines(level, place - 0.46, place + 0.46, color=INK, lw=1.1, ls=(0, (3, 2)), label="chance",
                            zorder=1)  # fmt: skip
        draw_dots(axes, dots, rows, order=order)
        if percent:
            ends = [end for dot in dots for end in (dot.value, dot.low) if np.isfinite(end)]
            axes.set(xlim=(min(0.0, 10 * np.floor(min(ends, default=0.0) / 10)), 100))
        axes.set(xlabel=unit)
        add_legend(sheet)
        texts = {name: np.array([" ".join(getattr(dot, name).split()) for dot in dots]) for name in ("row", "subject")}
        return drawn_figure(sheet, heading, alt, texts | columns_of(dots, "value", "low", "high", "chance"))


def rows_height(dots: Sequence[Dot]) -> float:
    """Return the height of a drawing with these dots in rows, in inches: a line per subject in each, and the legend."""
    n_subjects, n_rows = len({dot.subject for dot in dots}), len({dot.row for dot in dots})
    return 0.75 + max(_LINE * n_subjects + 0.12, 0.36) * n_rows + 0.17 * -(-n_subjects // 3)


def draw_dots(axes: Axes, dots: Sequence[Dot], rows: Sequence[str], *, order: Sequence[str] = ()) -> None:
    """Draw dots with their intervals in *rows*, from the top: a mark for each subject, hollow for people.

    *order* are subjects in the order of their marks; others follow.
    """
    subjects = levels([dot.subject for dot in dots])
    marked = list(dict.fromkeys((*order, *subjects)))
    for place, (subject, name) in enumerate(zip(subjects, short_names(subjects, NAME_LENGTH), strict=True)):
        own, look = [dot for dot in dots if dot.subject == subject], mark(marked.index(subject))
        # the marks of a row are side by side, so that intervals do not cover each other
        y = [rows.index(dot.row) + 0.8 * (place - (len(subjects) - 1) / 2) / len(subjects) for dot in own]
        for height, dot in zip(y, own, strict=True):
            if np.isfinite([dot.low, dot.high]).all():
                axes.hlines(height, dot.low, dot.high, color=look.colour, lw=1.2, zorder=2)
        axes.plot([dot.value for dot in own], y, ls="", marker=look.marker, ms=4.8, mec=look.colour, mew=1.2,
                  mfc="white" if own[0].people else look.colour, label=name, zorder=3)  # fmt: skip
    axes.set_yticks(range(len(rows)), rows)
    axes.set(ylim=(len(rows) - 0.5, -0.5))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    for edge in range(1, len(rows)):
        axes.axhline(edge - 0.5, color=GRID, lw=0.6, zorder=0)


def training_curve(label: str, states: Sequence[tuple[float, Accuracy]]) -> DrawnCurve:
    """Return the accuracies of one condition over training, each with how much was seen. *Unit:* percent."""
    dots = [Dot.of_accuracy(accuracy, label, "") for _, accuracy in states]
    value, low, high = columns_of(dots, "value", "low", "high").values()
    return DrawnCurve(label, np.array([seen for seen, _ in states]), value, low, high, baseline=dots[0].chance)


def accuracy_over_training(
    curves: Sequence[DrawnCurve],
    heading: Heading,
    *,
    place: str = "seen",
    vertical: str = "Items right, %",
    horizontal: str = "Tokens seen in training",
) -> Figure:
    """Draw accuracy over training, or another quantity, a panel for each condition, with bands and the chance level.

    *curves* are those of :func:`training_curve`; *place* is what the column of the horizontal axis is called. That axis
    is logarithmic where all numbers are above 0 and span a factor of 20 or more.
    Errors: :class:`InputError` without curves, or where one has no points.
    """
    if not curves or not all(len(curve.layer) for curve in curves):
        raise InputError("a series needs at least one state of training")
    columns = min(len(curves), 3)
    data = curve_data(curves, place=place)
    points = [zip(curve.layer, curve.value, strict=True) for curve in curves]
    alt = " ".join(
        f"{curve.subject}: {', '.join(f'{value:.1f} % at {seen:g}' for seen, value in states)}."
        for curve, states in zip(curves, points, strict=True)
    )
    with drawing(WIDTH, 0.6 + 1.9 * -(-len(curves) // columns)) as sheet:
        panels = [(curve.subject, [(curve, 0, "")]) for curve in curves]
        grid = draw_panels(sheet, panels, columns=columns, vertical=vertical, horizontal=horizontal)
        for axes, curve in zip(grid, curves, strict=True):
            if curve.baseline is not None:
                axes.axhline(curve.baseline, color=INK, lw=1.0, ls=(0, (3, 2)), zorder=1)
            axes.set(ylim=(0, 100))
            if data[place].min() > 0 and data[place].max() / data[place].min() >= 20:
                axes.set_xscale("log")
        columns_by_name = {"condition": data["subject"]}
        columns_by_name |= {"chance": data["baseline"]} if "baseline" in data else {}
        columns_by_name |= {name: data[name] for name in (place, "value", "low", "high")}
        return drawn_figure(sheet, heading, alt, columns_by_name)


def stacked_shares(
    shares: Sequence[tuple[str, str, float]], heading: Heading, *, order: Sequence[str], unit: str = "Predictions, %"
) -> Figure:
    """Draw shares that add up to 100 as one bar for each subject, whose parts differ in colour and hatching.

    *shares* are (subject, category, percent). Errors: :class:`InputError` without shares or for an unknown category.
    """
    if not shares:
        raise InputError("a figure of shares needs at least one share")
    subjects = levels([subject for subject, _, _ in shares])
    categories = levels([category for _, category, _ in shares], order)
    given = {(subject, category): value for subject, category, value in shares}
    widths = {
        category: np.array([given.get((subject, category), 0.0) for subject in subjects]) for category in categories
    }
    alt = f"{unit}, by category."
    for place, subject in enumerate(subjects):
        parts = (f"{category.replace('_', ' ')} {values[place]:.1f} %" for category, values in widths.items())
        alt += f" {subject}: {', '.join(parts)}."
    with drawing(WIDTH, 1.15 + 0.36 * len(subjects)) as sheet:
        axes = sheet.subplots()
        left = np.zeros(len(subjects))
        for index, (category, values) in enumerate(widths.items()):
            axes.barh(
                range(len(subjects)),
                values,
                left=left,
                height=0.66,
                color=COLOURS[index] if index < len(COLOURS) else SOFT,
                hatch=HATCHES[index % len(HATCHES)],
                edgecolor="white",
                linewidth=0.6,
                label=category.replace("_", " "),
            )
            left += values
        axes.set(xlim=(0, 100), xlabel=unit, ylim=(len(subjects) - 0.5, -0.5))
        axes.set_yticks(range(len(subjects)), short_names(subjects, NAME_LENGTH))
        axes.grid(visible=False, axis="y")
        add_legend(sheet, columns=4)
        names = ("subject", "category", "percent")
        data = {name: np.array(values) for name, values in zip(names, zip(*shares, strict=True), strict=True)}
        return drawn_figure(sheet, heading, alt, data)
