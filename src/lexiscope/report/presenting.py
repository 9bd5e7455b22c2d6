"""How results are shown, by their type: a sentence, a figure, a frame, a piece of HTML.

``core`` knows what a result is and asks this module, by its name, to show one. A type of result that is
not registered here is an error, never shown in a wrong form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import singledispatch
from html import escape
from typing import Any, cast

import numpy as np

from lexiscope.analysis.families import TITLES, Method
from lexiscope.analysis.layers.layers import separated_layers
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import (
    Contrast,
    Counts,
    Curve,
    Curves,
    Estimate,
    Fit,
    Interval,
    Record,
    Result,
    Undefined,
    parse_statistic,
)
from lexiscope.core.showing import counted
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
    Cell,
    Column,
    Format,
    Head,
    IntervalCell,
    Missing,
    Noted,
    Table,
    drop_empty,
    format_number,
    table_of,
    wide_rows,
)

_FREE = Format("number", 2)
_ROWS_SHOWN = 10


# -- sentences ------------------------------------------------------------------------------------------------------


@singledispatch
def sentence(result: Result) -> str:
    """Return one sentence with direction, size, interval and n."""
    raise StatisticError(f"{type(result).__name__} cannot be put into words", hint="register it in report.presenting")


@sentence.register
def _sentence_of_estimate(result: Estimate) -> str:
    meaning = f" (higher means {result.higher})" if result.higher else ""
    size = f"{_value_text(result)}{_interval_text(result.interval, result)}{_n_text(result)}{_test_text(result)}"
    return f"{_name_text(result.name, result)} is {size}{meaning}.{_caution_text(result)}"


@sentence.register
def _sentence_of_undefined(result: Undefined) -> str:
    return f"{_name_text(result.name, result)} is undefined: {result.reason}."


@sentence.register
def _sentence_of_contrast(result: Contrast) -> str:
    first, second = _sides_text(result)
    name, value, interval = _of_both_text(result), _value_text(result), result.interval
    if not interval.is_defined:
        return f"{name} of {first} minus that of {second} is {value}; {interval.note}.{_caution_text(result)}"
    if interval.low <= 0 <= interval.high:
        lead = f"{name} of {first} and that of {second} do not differ reliably: the difference is {value}"
    else:
        word, by = "higher" if result.value > 0 else "lower", format_number(abs(result.value), _form(result))
        lead = f"{name} of {first} is {by} {word} than that of {second}"
    size = f"{_interval_text(interval, result)}{_n_text(result)}{_test_text(result)}"
    return f"{lead}{size}.{_caution_text(result)}"


@sentence.register
def _sentence_of_curve(result: Curve) -> str:
    if result.best is None:
        return f"{_name_text(result.statistic, result)} is undefined at every layer: {result.values[0].remark}."
    best, last = result.estimate(result.best), result.values[-1]
    assert isinstance(best, Estimate)
    word = "highest" if result.better == "higher" else "lowest"
    end = ""
    if last.layer != result.best and last.value is not None:
        end = f"; at the last layer, {last.layer}, it is {format_number(last.value, _form(result))}"
    where = f"at layer {result.best} ({_value_text(best)}{_interval_text(best.interval, best)})"
    lead = f"{_name_text(result.statistic, result)} is {word} {where}{end}{_n_text(result)}."
    return f"{lead}{_caution_text(result)}{_chosen_text(result.chosen)}"


@sentence.register
def _sentence_of_curves(result: Curves) -> str:
    return " ".join(sentence(entry) for entry in result.entries)


@sentence.register
def _sentence_of_counts(result: Counts) -> str:
    listed = ", ".join(f"{label} {count:,}" for label, count in result.counts)
    return f"{_name_text(result.name, result)}: {listed} (of {result.total:,})."


@sentence.register
def _sentence_of_fit(result: Fit) -> str:
    deciding = result.p if result.p_adjusted is None else result.p_adjusted
    word = "improves" if deciding < 0.05 else "does not reliably improve"
    test = f"χ²({result.df}) = {result.chi2:.2f}, {_p_with_family(result)}, n = {result.n:,}"
    return f"The {result.name} {word} the model ({test}; {result.formula} compared with {result.reduced})."


def best_of_records(records: Iterable[Record], statistic: str) -> Record | None:
    """Return the record with the best value of a statistic: the lowest of ``min_…``, else the highest."""
    known = [record for record in records if record.statistic == statistic and record.value is not None]
    choose = min if statistic.startswith("min_") else max
    return choose(known, key=lambda record: record.value or 0.0, default=None)


def best_in_words(records: Sequence[Record], statistic: str, words: str, *, chosen: str = "") -> str:
    """Return the subject with the best value of a statistic in one line, with layer, interval and a wrong direction.

    *words* are what the value is called; without a value there is no line. *chosen* is the statistic that allows for
    the layer having been chosen on the same items: it is said beside the value.

    >>> records = [Record("max_r_squared_over_layers", r, subject=s, layer=7) for s, r in (("m", 0.35), ("n", 0.2))]
    >>> best_in_words(records, "max_r_squared_over_layers", "highest R²")
    'highest R² of all subjects: m at layer 7, 0.35'
    >>> records.append(Record("r_squared(layer=chosen)", 0.31, subject="m", low=0.2, high=0.4))
    >>> best_in_words(records, "max_r_squared_over_layers", "highest R²", chosen="r_squared(layer=chosen)")
    'highest R² of all subjects: m at layer 7, 0.35; allowing for the choice of the layer 0.31 [0.20, 0.40]'
    """
    best = best_of_records(records, statistic)
    if best is None:
        return ""
    known = [record for record in records if record.statistic == statistic and record.value is not None]
    at = "" if best.layer is None else f" at layer {best.layer}"
    at += f", view {best.view}" if len({record.view for record in known}) > 1 else ""
    place = (best.subject, best.view, best.condition)
    allowing = next(
        (
            f"; allowing for the choice of the layer {record.value:.2f}{_bounds_text(record)}"
            for record in records
            if record.statistic == chosen
            and (record.subject, record.view, record.condition) == place
            and record.value is not None
        ),
        "",
    )
    among = " of all subjects" if len({record.subject for record in known}) > 1 else ""
    caution = f" ({best.note})" if "wrong direction" in best.note else ""
    return f"{words}{among}: {best.subject}{at}, {best.value:.2f}{_bounds_text(best)}{allowing}{caution}"


def _bounds_text(record: Record) -> str:
    return f" [{record.low:.2f}, {record.high:.2f}]" if record.low is not None and record.high is not None else ""


def _caution_text(result: Estimate | Contrast | Curve) -> str:
    return f" Caution: {result.caution}." if result.caution else ""


def _chosen_text(result: Estimate | Undefined | None) -> str:
    """What a curve adds on its best layer: the value that allows for the layer having been chosen."""
    lead = " Allowing for the choice of the layer on the same items, it is"
    if isinstance(result, Undefined):
        return f"{lead} undefined: {result.reason}."
    return f"{lead} {_value_text(result)}{_interval_text(result.interval, result)}." if result else ""


def words_of(name: str) -> str:
    """Return the printed name of a statistic as words.

    >>> words_of("spearman(with=norms)"), words_of("leave_one_out_agreement(method=spearman)")
    ('spearman (with norms)', 'leave one out agreement (method spearman)')
    """
    plain, options = parse_statistic(name)
    inner = ", ".join(f"{key} {value}" for key, value in options.items())
    return plain.replace("_", " ") + (f" ({inner})" if inner else "")


def _name_text(name: str, result: Result) -> str:
    words = words_of(name)
    of = f" of {_subject_text(result)}" if result.subject else ""
    within = f" for {result.condition}" if result.condition else ""
    return f"The {words}{of}{within}"


def _subject_text(result: Result) -> str:
    layer = f", layer {result.layer}," if result.layer is not None else ""
    return f"{result.subject or 'all'}{layer}"


def _of_both_text(contrast: Contrast) -> str:
    """The statistic of a comparison, after the condition and the view that both sides share."""
    here, there = contrast.pair
    shared = [here.condition if here.condition == there.condition else ""]
    shared += [f"view {here.view}" if here.view and here.view == there.view else ""]
    of_both, name = ", ".join(filter(None, shared)), words_of(here.name)
    return f"For {of_both}, the {name}" if of_both else f"The {name}"


def _sides_text(contrast: Contrast) -> tuple[str, ...]:
    """What each side of a comparison is: its subject and layer, and the view and the condition if these differ."""
    here, there = contrast.pair
    texts = []
    for side in contrast.pair:
        text = _subject_text(side)
        if side.view and here.view != there.view:
            text = f"{text.rstrip(',')}, view {side.view},"
        if here.condition != there.condition:
            text = f"{text.rstrip(',')} for {side.condition or 'all items'}"
        texts.append(text)
    return tuple(texts)


def _form(result: Result) -> Format:
    return BOUNDED if result.unit in ("", "correlation", "share") else _FREE


def _value_text(result: Estimate | Contrast) -> str:
    unit = f" {result.unit}" if result.unit not in ("", "correlation", "share") else ""
    return format_number(result.value, _form(result)) + unit


def _interval_text(interval: Interval, result: Result) -> str:
    if not interval.is_defined:
        return ""
    low, high = (format_number(end, _form(result)) for end in (interval.low, interval.high))
    return f" ({100 * interval.level:g} % interval {low} to {high})"


def _n_text(result: Estimate | Contrast | Curve) -> str:
    groups = f" in {counted(result.n_groups, 'group')}" if 0 < result.n_groups < result.n else ""
    return f", n = {result.n:,}{groups}" if result.n else ""


def _p_text(value: float) -> str:
    printed = format_number(value, P_VALUE)
    return printed if printed.startswith("<") else f"= {printed}"


def _p_with_family(result: Estimate | Contrast | Fit) -> str:
    raw = f"p {_p_text(result.p)}" if result.p is not None else ""
    adjusted = adjusted_in_words(result.p_adjusted, result.family)
    return ", ".join(filter(None, (raw, adjusted)))


def _test_text(result: Estimate | Contrast) -> str:
    return f"; {_p_with_family(result)}" if result.p is not None else ""


def adjusted_in_words(p: float | None, family: str) -> str:
    """Return an adjusted p with its family's method and number of tests as words; nothing if there is none.

    >>> adjusted_in_words(0.03, "contrasts(method=holm,tests=84)")
    'p = .030 adjusted for 84 tests (Holm)'
    """
    if p is None:
        return ""
    _, given = parse_statistic(family)
    return f"p {_p_text(p)} adjusted for {given['tests']} tests ({TITLES[cast(Method, given['method'])]})"


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
    """Return results as a table, one number per row; a curve has its best and its last layer. Empty columns go."""
    listed = [record for result in results for record in _records_in_table(result)]
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
        ("n", INTEGER): lambda record: record.n,
        "Unit": lambda record: record.unit,
    }
    return drop_empty(table_of(name, title, listed, cells))


def _records_in_table(result: Result) -> Sequence[Record]:
    if isinstance(result, Curves):
        return [record for entry in result.entries for record in _records_in_table(entry)]
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
    table = Table("rows", "", title, tuple(map(Column, columns)), rows, (note,) if note else ())
    return table_html(drop_empty(table))


def figure_html(figure: Figure) -> str:
    """Return a figure as HTML for a notebook: the drawing, its title and its caption."""
    words = " ".join(filter(None, (figure.title, figure.caption)))
    return f"<figure>{clean_svg(figure.svg)}<figcaption>{escape(words)}</figcaption></figure>"


def html(result: Result) -> str:
    """Return a result as HTML for a notebook: its sentence, then its numbers."""
    return f"<p>{escape(sentence(result))}</p>{table_html(results_table('results', '', [result]))}"
