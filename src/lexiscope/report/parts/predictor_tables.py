"""Tables of people and of subjects that predict ratings: labels, single items, replies that could not be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lexiscope.analysis.norms.example_rows import RatedExample
from lexiscope.analysis.norms.label_distribution import LabelShares
from lexiscope.analysis.norms.predictions import RHO, Predictor
from lexiscope.analysis.norms.within_sd import accuracy_name
from lexiscope.core.result import Record, Result, statistic_name
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import value_of
from lexiscope.report.pivot import Col, pivot, rank_columns, records_of, rows_of
from lexiscope.report.plots.accuracy import Dot, accuracy_dots, stacked_shares
from lexiscope.report.tables import INTEGER, TEXT, Cell, Column, Format, Head, Missing, Table, columns, table_of

LabelTables = Mapping[str, Mapping[str, LabelShares]]
"""The label shares of each subject, by part: ``all`` items, then each condition."""


def examples_table(
    name: str,
    title: str,
    rows: Sequence[RatedExample],
    texts: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    *,
    subjects: Sequence[str] = (),
    number: str = "",
) -> Table:
    """Return items as the rows of a table: *texts* of each, by its id, headed by *labels*, ratings, answers.

    People's mean and their single ratings follow; then the answers of *subjects*: one outside the standard deviation of
    the ratings (at least 1) is marked ×.

    >>> from lexiscope.analysis.norms.example_rows import SubjectAnswer
    >>> row = RatedExample("i", 2.0, 1.0, (1.0, 3.0), (SubjectAnswer("m", 5.0, within_sd=False),))
    >>> examples_table("t", "One item", [row], {"i": ["It shuts."]}, ["Sentence"], subjects=["m"]).rows
    (('It shuts.', 2.0, '1\xa03', '5 ×'),)
    """
    heads = [*map(Column, labels), Column("People, mean", Format("number", 2)), Column("Ratings")]
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        answers = [
            "not read" if answer.predicted is None else f"{answer.predicted:.3g}{'' if answer.within_sd else ' ×'}"
            for answer in row.answers
        ]
        ratings = "\u00a0".join(f"{value:g}" for value in row.ratings)
        cells.append((*texts[row.item_id], row.mean, ratings, *answers))
    return Table(name, number, title, (*heads, *map(Column, subjects)), tuple(cells))


def replies_table(predictors: Sequence[Predictor]) -> Table:
    """Return how many answers each subject was asked for, how many could not be read, and what these were.

    >>> replies_table([Predictor("m", "m", {"i": 4.0}, "integer", 2, {"not_a_number": 1}, 2)]).rows
    (('m', 2, 2, 1, 50.0, 'not a number 1'),)
    """
    cells: Mapping[Head, Callable[[Predictor], Cell]] = {
        "Subject": lambda predictor: predictor.title,
        Column("Asked", INTEGER, note="Questions, repetitions included."): lambda predictor: predictor.n_asked,
        ("Repetitions", INTEGER): lambda predictor: predictor.repeats,
        ("Not read", INTEGER): lambda predictor: predictor.n_unreadable,
        ("Not read, %", Format("number", 1)): lambda predictor: 100 * predictor.n_unreadable / predictor.n_asked,
        "What they were": lambda predictor: predictor.unread_in_words,
    }
    note = "A reply that could not be read has no value and is not imputed; repetitions are averaged over those read."
    return table_of("replies", "Replies, and those that could not be read", predictors, cells, notes=(note,))


WHOLE = (accuracy_name("integer"), accuracy_name("rounded"))
"""The accuracy within SD of whole predictions: as given, or rounded."""
UNREAD_WRONG = (accuracy_name("integer", unread="wrong"), accuracy_name("rounded", unread="wrong"))
"""The same where a sample without a readable reply counts as wrong."""
_RAW = accuracy_name("raw")
_RANK = statistic_name("rank", of="spearman", among="subjects")
_OTHERS = Missing("Whole predictions.")
_EXPECTED = "expected_accuracy_within_sd(sd=sample,edge=strict,guesses=uniform)"
_THREE = Format("number", 3, leading_zero=False)


def scores_table(
    results: Sequence[Record | Result],
    predictors: Sequence[Predictor],
    *,
    name: str = "scores",
    number: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """Return how close predictions are to mean ratings: correlation and accuracy within SD, with how many were read.

    *results* are those of :func:`lexiscope.analysis.norms.within_sd.scores` and of the *predictors* themselves, and of
    baselines that are asked nothing (guessing, one label for all).
    """
    read = {predictor.subject: predictor.read_of_asked for predictor in predictors}
    listed = records_of(results)
    heads = (
        Col("ρ with the mean", RHO, _THREE, absent=Missing("An expectation has no correlation.")),
        *rank_columns(listed, _RANK, "by ρ, on the samples that all subjects predicted"),
        Col("Accuracy, whole predictions", (WHOLE[0], _EXPECTED), _THREE, absent=Missing("Not whole.")),
        Col("Accuracy, rounded", WHOLE[1], _THREE, absent=_OTHERS,
            note="Predictions that were not whole, rounded, halves up."),
        Col("Accuracy, as given", _RAW, _THREE, absent=_OTHERS,
            note="The same predictions, not rounded; not comparable with whole ones."),
        Col("Accuracy, unread as wrong", UNREAD_WRONG, _THREE, absent=Missing("One prediction for every sample."),
            note="Whole or rounded; samples without a readable reply are wrong."),
        Col("Read / asked", (*WHOLE, _EXPECTED), TEXT,
            cell=lambda record: read.get(record.subject, f"{record.n} / {record.n}"),
            note="Samples with a readable reply, of those asked: ρ and accuracy are over the former."),
        Col("Replies not read", "n_unreadable", INTEGER, "value", absent=0),
    )  # fmt: skip
    scored = [record for record in listed if not record.statistic.startswith("n_")]
    rows = rows_of(scored, "subject", names={predictor.subject: predictor.title for predictor in predictors})
    return pivot(name, "Predictions beside people's mean ratings", listed, heads, rows, number=number, notes=notes)


def scores_figure(results: Sequence[Record | Result], titles: Mapping[str, str], heading: Heading) -> Figure | None:
    """Return the accuracies within SD as dots, with what guessing is expected to reach; ``None`` where there are none.

    *titles* are what subjects are called.
    """
    records = records_of(results)
    chance = 100 * (value_of(records, _EXPECTED) or 0.0)
    dots = [
        Dot.of(record, "Accuracy\nwithin SD", titles.get(record.subject, record.subject), times=100, chance=chance)
        for record in records
        if record.value is not None and record.statistic in WHOLE
    ]
    return accuracy_dots(dots, heading, unit="Samples within SD, %") if dots else None


def labels_table(
    name: str,
    title: str,
    tables: LabelTables,
    titles: Mapping[str, str],
    *,
    conditions: str,
    number: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """Return how often each subject gave each point of the scale, on all items and in each condition. *Unit:* percent.

    *titles* are what subjects are called, *conditions* is the heading of
    the conditions.

    >>> from lexiscope.analysis.norms.label_distribution import label_table
    >>> parts = label_table({"i": 1.0, "j": None}, {"i": "open", "j": "open"}, points=(1, 2), resamples=0)
    >>> labels_table("t", "Labels", {"m": parts}, {"m": "A model"}, conditions="Stories").rows[0]
    ('A model', 'all', 100.0, 0.0, '1 / 2')
    """
    points = next(iter(tables.values()))["all"].points if tables else ()
    heads = columns(
        *("Who", conditions),
        *((f"{point:g}, %", Format("number", 1)) for point in points),
        Column("Read / asked", note="Samples with a label, of those asked: the shares are of the former."),
    )
    rows: list[tuple[Cell, ...]] = []
    for subject, parts in tables.items():
        for condition, shares in parts.items():
            read = f"{shares.n} / {shares.n + shares.n_missing}"
            rows.append((titles[subject], condition, *(100 * share for share in shares.shares), read))
    return Table(name, number, title, heads, tuple(rows), tuple(notes))


def labels_figure(heading: Heading, tables: LabelTables, titles: Mapping[str, str]) -> Figure:
    """Return the labels of each subject on all items as bars that add up to 100 %."""
    points = [f"{point:g}" for point in next(iter(tables.values()))["all"].points]
    bars = [
        (titles[subject], point, 100 * share)
        for subject, parts in tables.items()
        for point, share in zip(points, parts["all"].shares, strict=True)
    ]
    return stacked_shares(bars, heading, order=points, unit="Labels, %")
