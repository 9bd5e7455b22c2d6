"""Data collections whose task no study analyses: agreement and accuracy of choices, and the written texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

import numpy as np

from lexiscope.analysis.agreement.summary import summarise_choices
from lexiscope.analysis.bias.people_by_view import people_by_view
from lexiscope.analysis.ratings import choices_from_table
from lexiscope.core.errors import StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.showing import counted
from lexiscope.report.figures import apa
from lexiscope.report.part import Part
from lexiscope.report.parts.people_tables import people_records
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, Column, Format, IntervalCell, Missing, Table, columns

FULL = "full"
"""The view of answers whose table names none."""
_NAMES: Mapping[str, str] = {
    "percent_agreement(over=items)": "Percent agreement",
    "fleiss_kappa": "Fleiss' κ",
    "cohen_kappa(weights=none)": "Cohen's κ",
    "krippendorff_alpha(level=nominal)": "Krippendorff's α (nominal)",
}
"""The names of the statistics of choices for readers."""
_ALPHA = "krippendorff_alpha(level=nominal)"
_NOT_REVIEWED = "not reviewed"


@dataclass(frozen=True, slots=True)
class CollectedText:
    """A text that a participant wrote for an item: as written, the final text, and the decision of the review.

    ``status`` is ``accepted``, ``rejected`` or ``not reviewed``.
    """

    item_id: str
    word: str
    participant: str
    text: str
    final: str
    status: str = _NOT_REVIEWED


# -- choices --------------------------------------------------------------------------------------------------------


def choices_part(
    table: ResponseTable, items: Sequence[Item], *, measure: str, resamples: int = 2000, seed: int = 0
) -> Part:
    """Return agreement, accuracy (of items with a known answer) and votes of the participants' choices, view by view.

    *table* has the valid answers to real items, the chosen option in ``option``. An interval of agreement resamples
    participants and items, one of accuracy words.
    Errors: those of the statistics, for choices of which they are not defined.
    """
    rows = table.where(measure=measure)
    views = rows.column("view").tolist()
    by_view = {
        view: rows.filter(np.array([(name or FULL) == view for name in views], dtype=bool))
        for view in dict.fromkeys(name or FULL for name in views)
    }
    parts = [_view_part(own, view, items, measure, resamples, seed) for view, own in by_view.items()]
    agreement, answers = [record for own, _ in parts for record in own], [row for _, own in parts for row in own]
    accuracy = _accuracy_records(table, items, measure, resamples, seed)
    sentences = [_agreement_sentence(record) for record in agreement if record.statistic == _ALPHA]
    heads = columns("Item", "Word", "View", ("n", INTEGER), "Most frequent answer", ("Share", BOUNDED))
    votes = Table("votes", "", "Answers to the items", heads, tuple(answers))
    tables = [_agreement_table(agreement), *([_accuracy_table(accuracy)] if accuracy else []), votes]
    return Part(records=(*agreement, *accuracy), tables=tuple(tables), paragraphs=tuple(sentences))


def _view_part(
    rows: ResponseTable, view: str, items: Sequence[Item], measure: str, resamples: int, seed: int
) -> tuple[list[Record], list[tuple[Cell, ...]]]:
    """Return the records of agreement of one view, and a row of votes for each item."""
    ratings, options = choices_from_table(rows, measure=measure)
    try:
        records = list(summarise_choices(ratings, resamples=resamples, seed=seed).records)
    except StatisticError as error:
        records = [Record(_ALPHA, None, note=error.what, status="undefined")]
    votes: dict[str, Counter[str]] = {}
    for rated, value in zip(ratings.item.tolist(), ratings.value.tolist(), strict=True):
        votes.setdefault(ratings.item_ids[rated], Counter())[options[int(value)]] += 1
    listed = [
        (item.item_id, item.word, view, *_vote_cells(votes[item.item_id])) for item in items if item.item_id in votes
    ]
    return [replace(record, view=view) for record in records], listed


def _vote_cells(votes: Counter[str]) -> tuple[Cell, ...]:
    n, top = votes.total(), max(votes.values())
    most = " / ".join(sorted(option for option, count in votes.items() if count == top))
    return n, most, top / n


def _accuracy_records(
    table: ResponseTable, items: Sequence[Item], measure: str, resamples: int, seed: int
) -> tuple[Record, ...]:
    gold = {item.item_id: item.gold for item in items if item.gold is not None}
    if not gold:
        return ()
    words = {item.item_id: item.word for item in items}
    try:
        views = people_by_view(table, right=gold, words=words, measure=measure, resamples=resamples, seed=seed)
    except StatisticError:
        return ()
    # agreement of all is above; that of each two participants is one of many numbers
    return tuple(record for record in people_records(views) if record.statistic == "accuracy")


def _agreement_sentence(record: Record) -> str:
    name = f"{_NAMES[record.statistic]} in the view {record.view}"
    if record.value is None:
        return f"{name} is not defined: {record.note}."
    interval = ""
    if record.low is not None and record.high is not None:
        interval = f", 95% CI [{apa(record.low)}, {apa(record.high)}]"
    of_items = f", {counted(record.n, 'item')}" if record.n is not None else ""
    return f"{name}: {apa(record.value)}{interval}{of_items}."


def _agreement_table(records: Sequence[Record]) -> Table:
    rows = tuple(
        (_NAMES.get(record.statistic, record.statistic), record.view, _cell(record), record.n) for record in records
    )
    heads = columns("Statistic", "View", ("Value [95% CI]", BOUNDED), ("n", INTEGER))
    return Table("agreement", "1", "Agreement of participants", heads, rows)


def _accuracy_table(records: Sequence[Record]) -> Table:
    rows = tuple((record.subject, record.view, _cell(record), record.n) for record in records)
    heads = columns("Participant", "View", ("Accuracy [95% CI]", BOUNDED), ("Answered items", INTEGER))
    notes = ("Accuracy over the answered items with a known answer. Intervals resample words.",)
    return Table("accuracy", "2", "Accuracy of participants", heads, rows, notes)


def _cell(record: Record) -> Cell:
    if record.value is None:
        return Missing(record.note or "not defined")
    if record.low is None or record.high is None:
        return record.value
    return IntervalCell(record.low, record.high, record.value)


# -- texts ----------------------------------------------------------------------------------------------------------


def texts_part(texts: Sequence[CollectedText], items: Sequence[Item]) -> Part:
    """Return how many texts there are, how many the review accepted, how long they are, and the texts themselves.

    *Unit:* words for lengths, as separated by white space.
    """
    status = Counter(text.status for text in texts)
    lengths = [len(text.final.split()) for text in texts]
    written = Counter(text.item_id for text in texts)
    accepted = {text.item_id for text in texts if text.status == "accepted"}
    counts: list[tuple[str, str, float]] = [
        ("n_texts", "Texts", len(texts)),
        ("n_texts(status=accepted)", "Accepted", status["accepted"]),
        ("n_texts(status=rejected)", "Rejected", status["rejected"]),
        ("n_texts(status=not_reviewed)", "Not reviewed", status[_NOT_REVIEWED]),
        ("n_writers", "Participants with a text", len({text.participant for text in texts})),
        ("n_items", "Items", len(items)),
        ("n_items(with=text)", "Items with a text", len(written)),
        ("n_items(with=accepted_text)", "Items with an accepted text", len(accepted)),
    ]
    if lengths:
        counts += [
            ("text_length(summary=mean)", "Mean length of a text (words)", fmean(lengths)),
            ("text_length(summary=median)", "Median length of a text (words)", median(lengths)),
            ("text_length(summary=min)", "Shortest text (words)", min(lengths)),
            ("text_length(summary=max)", "Longest text (words)", max(lengths)),
        ]
    number = Column("Value", Format("number", 1))
    rows = tuple((name, int(value) if float(value).is_integer() else value) for _, name, value in counts)
    summary = Table("texts_summary", "1", "Texts and their review", (Column("Quantity"), number), rows)
    heads = columns("Item", "Word", "Participant", "Text", "Decision")
    listed = tuple((text.item_id, text.word, text.participant, text.final, text.status) for text in texts)
    return Part(
        records=tuple(Record(statistic, float(value)) for statistic, _, value in counts),
        tables=(summary, Table("texts", "", "The texts", heads, listed)),
        paragraphs=(_texts_sentence(len(texts), status),),
    )


def _texts_sentence(n: int, status: Counter[str]) -> str:
    if not n:
        return "No participant has written a text yet."
    reviewed = status["accepted"] + status["rejected"]
    if not reviewed:
        return f"Participants wrote {counted(n, 'text')}; none is reviewed yet."
    return (
        f"Participants wrote {counted(n, 'text')}. The review accepted {status['accepted']} of the {reviewed} reviewed "
        "so far."
    )
