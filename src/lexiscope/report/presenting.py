"""How results are shown, by their type: a sentence, a figure, a frame, a piece of HTML.

``core`` knows what a result is and asks this module, by its name, to show one. A type of result that is
not registered here is an error, never shown in a wrong form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from lexiscope.analysis.layers.layers import separated_layers
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import (
    Contrast,
    Counts,
    Curve,
    Curves,
    Estimate,
    Fit,
    Record,
    Result,
    parse_statistic,
)
from lexiscope.report.answers.sentences import sentence as sentence
from lexiscope.report.answers.sentences import words_of
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.page.html import table_html as table_html
from lexiscope.report.part import record_cell
from lexiscope.report.plots.accuracy import Dot, accuracy_dots
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.distributions import histograms
from lexiscope.report.plots.layers import trajectories
from lexiscope.report.plots.style import clean_svg
from lexiscope.report.tables import (
    BOUNDED,
    INTEGER,
    P_VALUE,
    TEXT,
    Cell,
    Column,
    Format,
    Head,
    IntervalCell,
    Missing,
    Noted,
    Table,
    drop_empty,
    table_of,
    wide_rows,
)

_FREE = Format("number", 2)
_ROWS_SHOWN = 10


# -- figures --------------------------------------------------------------------------------------------------------


@singledispatch
def plot(result: Result, title: str = "") -> Figure:
    """Return a result as a figure."""
    raise StatisticError(f"{type(result).__name__} has no figure", hint="plot a curve, or use its table")


@plot.register
def _plot_of_curve(result: Curve, title: str = "") -> Figure:
    return plot(Curves((result,)), title)


@plot.register
def _plot_of_number(result: Estimate | Contrast, title: str = "") -> Figure:
    return _dots_figure([result], title)


@plot.register
def _plot_of_counts(result: Counts, title: str = "") -> Figure:
    return _dots_figure([result], title)


@plot.register
def _plot_of_fit(result: Fit, title: str = "") -> Figure:
    """The coefficients of the larger model, a row each."""
    if not result.terms:
        what = f"the model {result.formula} was kept without its coefficients"
        raise StatisticError(what, hint="print it: it has the test of the two models")
    return _dots_figure(result.terms, title or result.formula)


def _dots_figure(results: Sequence[Result], title: str) -> Figure:
    """Results that are one number each, as dots with their intervals: a row for each condition."""
    records = [record for result in results for record in result.records() if record.value is not None]
    if not records:
        raise StatisticError("none of these results has a value: there is nothing to draw")
    name = records[0].statistic
    heading = Heading(file_name(f"{parse_statistic(name)[0]}_by_subject"), "", title or words_of(name).capitalize())
    dots = [
        Dot.of(r, r.condition or "all", (r.subject or "all") + ("" if r.layer is None else f", layer {r.layer}"))
        for r in records
    ]
    return accuracy_dots(dots, heading, unit=words_of(name).capitalize(), percent=False)


@plot.register
def _plot_of_curves(result: Curves, title: str = "") -> Figure:
    curves = [entry for entry in result.entries if isinstance(entry, Curve)]
    if not curves:
        return _dots_figure(result.entries, title)
    name = curves[0].statistic
    drawn = [trajectory_of(curve) for curve in curves]
    level = next((f"{100 * p.interval.level:g} % interval" for c in curves for p in c.values if p.interval), "")
    condition = next((entry.condition for entry in result.entries if entry.condition), "")
    file = file_name(f"{parse_statistic(name)[0]}_by_layer_{condition}")
    heading = Heading(file, "", title or f"{words_of(name).capitalize()} by layer")
    lowest = [p.interval.low if p.interval else p.value for c in curves for p in c.values if p.value is not None]
    bounded = min(lowest, default=0.0) >= 0
    return trajectories(drawn, heading, statistic=words_of(name).capitalize(), interval=level, bounded=bounded)


def trajectory_of(curve: Curve) -> DrawnCurve:
    """Return a curve as figures over layers draw it: its points, with the bounds of their intervals if it has any.

    The value of the model without distance, the layers that separate the outcomes without error, and the value that
    allows for the choice of the best layer come along.
    """
    layers = np.array([point.layer for point in curve.values])
    ends = [(p.interval.low, p.interval.high) if p.interval else (np.nan, np.nan) for p in curve.values]
    low, high = np.array(ends, dtype=np.float64).T
    label = f"{curve.subject}, {curve.condition}" if curve.condition else curve.subject
    known = not np.isnan(low).all()
    return DrawnCurve(
        label,
        layers,
        curve.array(),
        low if known else None,
        high if known else None,
        baseline=curve.baseline,
        separated=separated_layers(curve),
        chosen=curve.chosen.value if isinstance(curve.chosen, Estimate) else None,
    )


def plot_table(table: Table, column: str = "", title: str = "") -> Figure:
    """Return a column of a table as dots, with intervals if it has any; without *column*, the first with intervals.

    A row is named by its texts. Errors: :class:`StatisticError` for a column without numbers, naming those with some.
    """
    headers = [column.header for column in table.columns]
    numbers = [name for index, name in enumerate(headers) if any(_number(row[index]) for row in table.rows)]
    wide = [name for name in numbers if any(isinstance(row[headers.index(name)], IntervalCell) for row in table.rows)]
    chosen = column or next(iter([*wide, *numbers]), "")
    if chosen not in numbers:
        what = f"the column {chosen!r} of this table has no numbers" if chosen else "this table has no numbers"
        raise StatisticError(what, hint=f"columns with numbers: {', '.join(numbers) or 'none'}")
    at, texts = headers.index(chosen), [index for index, name in enumerate(headers) if name not in numbers]
    dots = dict[str, Dot]()
    for place, row in enumerate(table.rows, start=1):
        drawn, label = _number(row[at]), ", ".join(filter(None, (_cell_text(row[index]) for index in texts)))
        if drawn:
            # two rows of the same words are two rows
            label = label if label and label not in dots else f"{label} ({place})".strip()
            dots[label] = Dot(label, chosen, *drawn)
    heading = Heading(file_name(f"{table.name}_{chosen}"), "", title or table.title)
    return accuracy_dots(tuple(dots.values()), heading, unit=chosen, percent=False)


def _cell_text(cell: Cell) -> str:
    return "" if cell is None or isinstance(cell, Missing) else cell.text if isinstance(cell, Noted) else str(cell)


def _number(cell: Cell) -> tuple[float, float, float] | None:
    """The value of a cell and the ends of its interval, NaN where it has none; ``None`` for a cell of words."""
    if isinstance(cell, IntervalCell):
        value = cell.value if cell.value is not None else (cell.low + cell.high) / 2
        return (value, cell.low, cell.high)
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return (float(cell), np.nan, np.nan) if is_number else None  # type: ignore[arg-type]


def plot_values(groups: Mapping[str, Any], axis: str, title: str = "") -> Figure:
    """Return how the values of each group are distributed."""
    return histograms(
        groups, Heading(file_name(f"{axis}_values"), "", title or f"{axis.capitalize()}: distribution"), axis=axis
    )


def file_name(name: str) -> str:
    """Return a text as the name of a table, a figure or a file: other signs than letters and digits become _.

    >>> file_name("full+final_stop")
    'full_final_stop'
    """
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name).strip("_")


# -- tables, frames, HTML -------------------------------------------------------------------------------------------


def results_table(name: str, title: str, results: Iterable[Result]) -> Table:
    """Return results as a table, one number per row; a curve has its best and its last layer. Empty columns go.

    A comparison at layers that were chosen has a column with the difference that allows for their choice.
    """
    shown = list(results)
    listed = [record for result in shown for record in _records_in_table(result)]
    contrasts = (result for result in shown if isinstance(result, Contrast) and result.chosen is not None)
    allowing = {contrast.records()[0]: contrast.records()[-1] for contrast in contrasts}
    # one column has one format: without the leading zero only where every value is a correlation or a share
    form = BOUNDED if all(record.unit in ("correlation", "share", "layer") for record in listed) else _FREE

    def layer_of(record: Record) -> int | None:
        """The layer that a record gives, if this is what it gives."""
        return int(record.value) if record.unit == "layer" and record.value is not None else None

    cells: Mapping[Head, Callable[[Record], Cell]] = {
        "Statistic": lambda record: words_of(record.statistic),
        "Subject": lambda record: record.subject,
        "Condition": lambda record: record.condition,
        ("Layer", INTEGER): lambda record: record.layer if (layer := layer_of(record)) is None else layer,
        ("Value [95 % interval]", form): lambda r: record_cell(r) if layer_of(r) is None else None,
        ("p", P_VALUE): lambda record: record.p,
        ("With layers chosen on other words", form): lambda r: record_cell(allowing[r]) if r in allowing else None,
        ("n", INTEGER): lambda record: record.n,
        "Unit": lambda record: record.unit,
    }
    return drop_empty(table_of(name, title, listed, cells))


def _records_in_table(result: Result) -> Sequence[Record]:
    if isinstance(result, Curves):
        return [record for entry in result.entries for record in _records_in_table(entry)]
    if isinstance(result, Contrast) and result.chosen is not None:
        return result.records()[:-1]
    if not isinstance(result, Curve) or result.best is None:
        return result.records()
    layers = dict.fromkeys((result.best, result.values[-1].layer))
    ends = [record for layer in layers for record in result.estimate(layer).records()]
    # then the number of the best layer, and the value that allows for its choice
    return (*ends, *result.records()[len(result.values) :])


def frame(records: Sequence[Record]) -> Any:
    """Return records as a pandas table, one record a row."""
    # pandas takes half a second to import: only a frame needs it
    import pandas

    return pandas.DataFrame([asdict(record) for record in records])


def frame_of(columns: Mapping[str, Any]) -> Any:
    """Return columns of equal length as a pandas table."""
    import pandas

    return pandas.DataFrame(dict(columns))


def frame_of_table(table: Table) -> Any:
    """Return a table as a pandas table at full precision, its columns those of its CSV."""
    import pandas

    header, rows = wide_rows(table)
    return pandas.DataFrame(rows, columns=header)


def html_of(title: str, columns: Mapping[str, Sequence[Any]], note: str) -> str:
    """Return the first rows of columns as HTML for a notebook, without columns that are empty there."""
    first = zip(*(values[:_ROWS_SHOWN] for values in columns.values()), strict=True)
    rows = tuple(
        tuple(cell if cell is None or isinstance(cell, str | bool | int | float) else str(cell) for cell in row)
        for row in first
    )
    heads = tuple(Column(name, _format_of(row[at] for row in rows)) for at, name in enumerate(columns))
    return table_html(drop_empty(Table("rows", "", title, heads, rows, (note,) if note else ())))


def _format_of(cells: Iterable[Cell]) -> Format:
    """How a column of first rows is shown: numbers with few digits, the file behind them has all."""
    numbers = [cell for cell in cells if isinstance(cell, float)]
    return Format("number", 0 if all(map(float.is_integer, numbers)) else 4) if numbers else TEXT


def figure_html(figure: Figure) -> str:
    """Return a figure as HTML for a notebook: the drawing, its title and its caption."""
    words = " ".join(filter(None, (figure.title, figure.caption)))
    return f"<figure>{clean_svg(figure.svg)}<figcaption>{escape(words)}</figcaption></figure>"


def html(result: Result) -> str:
    """Return a result as HTML for a notebook: its sentence, then its numbers."""
    return f"<p>{escape(sentence(result))}</p>{table_html(results_table('results', '', [result]))}"
