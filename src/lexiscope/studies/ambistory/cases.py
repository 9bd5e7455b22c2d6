"""Single samples: a qualitative table, and a sheet on which people tag the errors of models (§5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexiscope.analysis.example_rows import choose_examples, example_rows
from lexiscope.analysis.predictions import Predictions
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record
from lexiscope.items.error_tags import TAGS, ErrorCase, write_tag_sheet
from lexiscope.report.part import Part
from lexiscope.report.tables import Cell as TableCell
from lexiscope.report.tables import Column, Table
from lexiscope.studies.ambistory.data import AmbistoryData, Predictor
from lexiscope.studies.ambistory.numbers import TWO, record

EXAMPLES = 5
SHEET = "error_coding.csv"
MOST_ERRORS = 30

PAPERS_EXAMPLES = (159, 533, 180)
"""Rows of the test file (from 0) that the paper's Table 4 shows."""


def cases(run: AmbistoryData) -> Part:
    """Return the samples that the paper shows, and those on which the subjects of this run err most (Table 4)."""
    ratings = run.judged
    if ratings is None:
        return Part()
    # a subject of which nothing could be read would leave no sample that all have answered
    readable = [each for each in run.predictors if any(value is not None for value in each.predictions.values())]
    subjects = {each.title: each.predictions for each in readable}
    printed = _printed(run, ratings)
    tables = [_table("table_4_examples", "4", "The samples of the paper's Table 4", run, ratings, printed, subjects)]
    rule = "largest_error" if subjects else "people_disagree"
    title = "The samples with the largest errors" if subjects else "The samples that people disagree most about"
    try:
        chosen = choose_examples(ratings, subjects, rule=rule, count=EXAMPLES)  # type: ignore[arg-type]
        tables.append(_table("examples", "", title, run, ratings, chosen, subjects))
    except StatisticError as error:
        return Part(_means(run, ratings, printed), tuple(_filled(tables)), remarks=(f"No examples: {error.what}.",))
    return Part(_means(run, ratings, printed), tuple(_filled(tables)), paragraphs=(_CHOSEN, *_sheet_words(run)))


_CHOSEN = (
    "Examples are chosen by a rule (the mean absolute error of the subjects of this run; where there are none, the SD "
    "of the ratings), and prove nothing by themselves. The target word stands between low lines; a prediction outside "
    "the standard deviation of people's ratings (at least 1) is marked ×."
)


def _sheet_words(run: AmbistoryData) -> tuple[str, ...]:
    if not run.predictors:
        return ()
    tags = "; ".join(f"{tag.replace('_', ' ')}: {meaning}" for tag, meaning in TAGS.items())
    return (
        f"{SHEET} lists the {MOST_ERRORS} largest errors of every subject, without its name, for coders to tag "
        f"as Gehring & Roth (2025) do ({tags}). What coders sent back is counted where the study is run once "
        "more with --coding FILE for each of them and the collected answers as recorded: subject.",
    )


def _printed(run: AmbistoryData, ratings: Ratings) -> tuple[str, ...]:
    """The samples of Table 4, where this is AmbiStory's test split."""
    if run.name != "ambistory":
        return ()
    test = run.in_split("test")
    rated = set(ratings.item_ids)
    return tuple(test[row] for row in PAPERS_EXAMPLES if test[row] in rated)


def _means(run: AmbistoryData, ratings: Ratings, items: Sequence[str]) -> tuple[Record, ...]:
    rows = example_rows(items, ratings, {})
    return tuple(record(run, "item_mean", row.mean, condition=row.item_id, n=len(row.ratings)) for row in rows)


def _filled(tables: Sequence[Table]) -> list[Table]:
    return [table for table in tables if table.rows]


def _table(
    name: str,
    number: str,
    title: str,
    run: AmbistoryData,
    ratings: Ratings,
    items: Sequence[str],
    subjects: dict[str, Predictions],
) -> Table:
    columns = (
        Column("Story"),
        Column("Meaning judged"),
        Column("People, mean", TWO),
        Column("Ratings"),
        *(Column(subject) for subject in subjects),
    )
    rows: list[tuple[TableCell, ...]] = []
    for row in example_rows(items, ratings, subjects):
        item = run.by_id[row.item_id]
        answers = [
            "not read" if one.predicted is None else f"{one.predicted:.3g}{'' if one.within_sd else ' ×'}"
            for one in row.answers
        ]
        said = "\u00a0".join(f"{value:g}" for value in row.ratings)
        rows.append((_story(run, row.item_id), str(item.condition("sense")), row.mean, said, *answers))
    return Table(name, number, title, columns, tuple(rows))


def _story(run: AmbistoryData, item_id: str) -> str:
    """The story with its word marked."""
    item = run.by_id[item_id]
    usage = item.usages[0]
    sentence = f"{usage.text[: usage.start]}_{usage.target}_{usage.text[usage.end :]}"
    parts = (str(item.condition("precontext")), sentence, str(item.condition("ending")))
    return " ".join(part for part in parts if part)


# -- the sheet ------------------------------------------------------------------------------------------------


def write_sheet(run: AmbistoryData, folder: Path, _records: tuple[Record, ...] = ()) -> tuple[str, ...]:
    """Write the largest errors of every subject for a person to tag; return the name of the file.

    A prediction within the standard deviation of people's ratings is no error.
    """
    ratings = run.judged
    if ratings is None or not run.predictors:
        return ()
    write_tag_sheet(folder / SHEET, error_cases(run))
    return (SHEET,)


def error_cases(run: AmbistoryData) -> tuple[ErrorCase, ...]:
    """Return the largest errors of every subject, in the order of the sheet."""
    ratings = run.judged
    if ratings is None:
        return ()
    return tuple(case for each in run.predictors for case in _errors(run, ratings, each))


def _errors(run: AmbistoryData, ratings: Ratings, each: Predictor) -> list[ErrorCase]:
    rated = set(ratings.item_ids)
    given = {item: value for item, value in each.predictions.items() if item in rated and value is not None}
    rows = example_rows(list(given), ratings, {each.title: given})
    wrong = [row for row in rows if not row.answers[0].within_sd]
    wrong.sort(key=lambda row: (-abs(given[row.item_id] - row.mean), row.item_id))
    return [
        ErrorCase(run.by_id[row.item_id], each.subject, given[row.item_id], row.mean, row.sd)
        for row in wrong[:MOST_ERRORS]
    ]
