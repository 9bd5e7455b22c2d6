"""Tables and figures of gap filling: how often an accepted answer was given, and what the others were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.choices.gap_answers import GapHits
from lexiscope.core.result import Estimate, Record, Result, parse_statistic, statistic_name
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.parts.accuracy_tables import PERCENT
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of
from lexiscope.report.plots.accuracy import Dot, accuracy_dots, stacked_shares
from lexiscope.report.tables import INTEGER, Column, Table, columns

_MISSING = "A prediction was not given."


def criterion_in_words(statistic: str) -> tuple[str, str]:
    """Return which answers a ``gap_accuracy`` accepts, and of how many predictions one has to be right.

    >>> criterion_in_words("gap_accuracy(answers=synset,n=10)")
    ('synset', 'any of 10 predictions')
    """
    given = parse_statistic(statistic)[1]
    return given["answers"], "one prediction" if given["n"] == "1" else f"any of {given['n']} predictions"


def gap_accuracy_table(
    hits: Sequence[GapHits],
    results: Sequence[Record | Result],
    *,
    names: Mapping[str, str],
    name: str = "gap_accuracy",
) -> Table:
    """Return a row for each subject and decoding of *hits*, with the accuracy under each criterion.

    *results* are those of :meth:`~lexiscope.analysis.choices.gap_answers.GapAccuracy.result`; *names* are what subjects
    are called.
    """
    labels = columns("Subject", "Decoding", ("Predictions", INTEGER), Column("Items left out", INTEGER, note=_MISSING))
    criteria = list(dict.fromkeys(each.criterion for each in hits))
    rows = [
        PivotRow(
            (names[each.subject], each.decoding, each.n_predictions, each.n_missing),
            {"subject": each.subject, "condition": each.decoding},
            {"n": each.n_predictions},
        )
        for each in hits
        if each.criterion == criteria[0]
    ]
    cols = [Col(f"{each.capitalize()}, %", f"gap_accuracy(answers={each},n={{n}})", PERCENT) for each in criteria]
    title = "Gap filling: percent of items with an accepted answer"
    return pivot(name, title, results, cols, rows, labels=labels)


def gap_accuracy_figure(
    results: Sequence[Estimate], heading: Heading, *, names: Mapping[str, str], order: Sequence[str] = ()
) -> Figure:
    """Draw accuracies of gap filling, a row for each criterion; *order* as in :func:`accuracy_dots`."""
    dots = [
        Dot.of(record, ", ".join(criterion_in_words(record.statistic)[::-1]), names[record.subject])
        for record in records_of(results)
    ]
    return accuracy_dots(dots, heading, unit="Items with an accepted answer, %", order=order)


def gap_categories(
    results: Sequence[Result],
    categories: Sequence[str],
    heading: Heading,
    *,
    names: Mapping[str, str],
    name: str = "gap_categories",
) -> tuple[Table, Figure]:
    """Return the shares of proposed error categories as a table and a figure.

    *results* are those of :class:`~lexiscope.analysis.choices.gap_codes.CategoryShares`.
    The caption of the figure is a note of the table.
    """
    records = records_of(results)
    wanted = {statistic_name("gap_category", category=category): category for category in categories}
    cols = [Col(category.replace("_", " "), statistic, PERCENT, "value") for statistic, category in wanted.items()]
    n = {record.subject: record.n for record in records}
    rows = [PivotRow((names[subject], total), {"subject": subject}) for subject, total in n.items()]
    labels = columns("Subject", ("Predictions", INTEGER))
    title = "Error categories as proposed, percent"
    table = pivot(name, title, records, cols, rows, labels=labels, notes=(heading.caption,))
    shares = [
        (names[record.subject], wanted[record.statistic], record.value)
        for record in records
        if record.value is not None
    ]
    return table, stacked_shares(shares, heading, order=categories)
