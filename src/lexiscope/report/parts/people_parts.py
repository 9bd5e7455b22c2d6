"""What people did in each view, as records: measured numbers, and assumed ones that say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lexiscope.analysis.agreement.coders import CoderAgreement
from lexiscope.analysis.bias.people_by_view import AnnotatorInView, PeopleInView
from lexiscope.analysis.bias.view_scores import FixedScore
from lexiscope.core.result import Record, Undefined, statistic_name
from lexiscope.report.part import with_interval
from lexiscope.report.pivot import Col, pivot, rows_of
from lexiscope.report.tables import Format, Table

PEOPLE = "people"
"""The subject of a score of several people."""

_NOT_COUNTED = "nothing was counted"


def people_records(
    views: Sequence[PeopleInView], assumed: Mapping[str, FixedScore] | None = None, *, dataset: str = ""
) -> tuple[Record, ...]:
    """Return every number of people as a record; what is *assumed* says so in ``source``, for no view that was asked.

    *Unit:* share for accuracy and agreement, items for counts.
    """
    records: list[Record] = []
    for people in views:
        empty = Record("accuracy", None, dataset=dataset, view=people.view, note=_NOT_COUNTED)
        for annotator in people.annotators:
            records.extend(_annotator_records(annotator, empty))
        for pair in people.shared:
            records.extend(_pair_records(pair, empty))
    asked = {people.view for people in views}
    for view, score in (assumed or {}).items():
        if view not in asked:
            records.append(
                Record("accuracy", score.value, PEOPLE, dataset, view=view, source="assumed", note=score.why)
            )
    return tuple(records)


def agreement_of_people(
    views: Sequence[PeopleInView], dataset: str, *, name: str = "agreement", number: str = ""
) -> tuple[tuple[Record, ...], Table]:
    """Return the records and the table of what each two people agree on in each view (Table 10)."""
    same = statistic_name("percent_agreement", over="items")
    records = tuple(record for record in people_records(views, dataset=dataset) if record.statistic == same)
    columns = (Col("Items of both", same, show="n"), Col("Same answer, %", same, Format("number", 1), times=100))
    rows = rows_of(records, "view", "subject", names={view.view: view.view.upper() for view in views})
    title = f"Agreement of people: {dataset}"
    return records, pivot(name, title, records, columns, rows, labels=("View", "People"), number=number)


def _annotator_records(annotator: AnnotatorInView, empty: Record) -> Iterator[Record]:
    own, accuracy = replace(empty, subject=annotator.participant), annotator.accuracy
    if isinstance(accuracy, Undefined):
        yield replace(own, n=accuracy.n, note=accuracy.reason)
    else:
        yield with_interval(replace(own, value=accuracy.value, n=accuracy.n, note=""), accuracy.clustered)
    yield replace(own, statistic="undecided", value=annotator.n_undecided, unit="items", note="")
    yield replace(own, statistic="unanswered", value=annotator.n_unanswered, unit="items", note="")


def _pair_records(pair: CoderAgreement, empty: Record) -> Iterator[Record]:
    both, kappa = replace(empty, subject=f"{pair.first} and {pair.second}", n=pair.n), pair.kappa
    same = replace(both, statistic=statistic_name("percent_agreement", over="items"), note="no item in common")
    if not isinstance(pair.same, Undefined):
        same = with_interval(replace(same, value=pair.same.value, note=""), pair.same.wilson)
    yield same
    if isinstance(kappa, Undefined):
        yield replace(both, statistic=kappa.name, note=kappa.reason)
    else:
        yield with_interval(replace(both, statistic=kappa.name, value=kappa.value, note=""), kappa.interval)
