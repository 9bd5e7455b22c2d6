"""Are the same items right in two tests? P(second | first) for the paper's four pairs (Tables 14-17), or a user's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lexiscope.analysis.consistency_table import ConsistencyTable, consistency_table
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import Part, pick, shown
from lexiscope.report.tables import BOUNDED, INTEGER, Column, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.synonymy.cells import Cell
from lexiscope.studies.synonymy.material import Answers, Material
from lexiscope.studies.synonymy.published import versus

_FOUR = ((0, 0), (0, 1), (1, 0), (1, 1))


def consistency(material: Material) -> Part:
    """Return a table of every pair of tests, for every subject: counts, and P(second = b | first = a)."""
    records: list[Record] = []
    tables: list[Table] = []
    for number, first, second in material.design.consistency:
        own: list[Record] = []
        for answers in material.of_kind("recorded", "live"):
            if first in answers.outcomes and second in answers.outcomes:
                own += _records(material, answers, first, second)
        records += own
        tables += _table(material, number, first, second, own)
    return Part(tuple(records), tuple(tables))


def _records(material: Material, answers: Answers, first: Cell, second: Cell) -> list[Record]:
    found = consistency_table(answers.outcomes[first].correct, answers.outcomes[second].correct)
    about = {"subject": answers.subject, "dataset": material.name, "condition": versus(first, second)}
    records = []
    for a, b in _FOUR:
        share = found.p(b, given=a)
        note = "no item has this outcome in the first test" if math.isnan(share) else ""
        value = None if note else share
        count = float(found.counts[a, b])
        records.append(Record(statistic_name("n_consistent", a=a, b=b), count, n=found.n, **about))  # type: ignore[arg-type]
        records.append(_given(found, a, b, value, note, about))
    return records


def _given(found: ConsistencyTable, a: int, b: int, value: float | None, note: str, about: dict[str, str]) -> Record:
    return Record(statistic_name("given", a=a, b=b), value, n=int(found.counts[a].sum()), note=note, **about)  # type: ignore[arg-type]


def _table(material: Material, number: str, first: Cell, second: Cell, records: Sequence[Record]) -> tuple[Table, ...]:
    if not records:
        return ()
    columns = (
        Column("Subject"),
        Column("First test"),
        Column("Second wrong, n", INTEGER),
        Column("Second right, n", INTEGER),
        Column("P(wrong)", BOUNDED),
        Column("P(right)", BOUNDED),
    )
    rows: list[tuple[TableCell, ...]] = []
    for answers in material.answers:
        for a, word in ((0, "wrong"), (1, "right")):
            names = [statistic_name("n_consistent", a=a, b=b) for b in (0, 1)]
            names += [statistic_name("given", a=a, b=b) for b in (0, 1)]
            found = [pick(records, name, subject=answers.subject) for name in names]
            if found[0] is not None:
                rows.append((answers.title, word, *map(shown, found)))
    title = f"Second test, {second.label}, given the first, {first.label}"
    shown_number = number if material.design.is_papers else ""
    return (Table(f"table_{number}_consistency", shown_number, title, columns, tuple(rows)),)
