"""Planted senses: what each subject makes of usages of pseudo-words whose senses are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexiscope.analysis.planted_senses import SenseRecovery, sense_recovery
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.study import StudySettings
from lexiscope.report.part import Part, shown, with_interval
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, Column, Format, Table
from lexiscope.studies.sense_induction.material import HasSenses, LeftOut, Material, Planted

TASK, MEASURE = "planted_senses", "induced_sense"
_BY_RULE = (
    "The text was made by rule in this run: invented words, each line about one of a few topics. It shows that the "
    "measurement works, and which variant tells planted senses apart where that is easy; of real text it says nothing."
)


def recovery_part(material: Material, settings: StudySettings) -> tuple[Part, ResponseTable, tuple[LeftOut, ...]]:
    """Return how far planted senses are recovered, the answers behind it, and the subjects that know none of them."""
    planted = material.planted
    if planted is None:
        reason = "No usages of pseudo-words were given: --planted FILE, or --planted made_up."
        return Part(), ResponseTable.empty(), (LeftOut("Planted senses", "", reason),)
    records: list[Record] = []
    rows: list[tuple[Cell, ...]] = []
    answers: list[ResponseTable] = []
    left_out: list[LeftOut] = []
    for subject in planted.subjects:
        known = [item for item in planted.items if subject.knows(item.usages[0])]
        words = [str(item.usages[0].lemma) for item in known]
        if len(set(words)) < 2:
            why = "It knows fewer than two of the pseudo-words: train it on the planted text."
            left_out.append(LeftOut("Planted senses", material.title_of(subject.subject_id), why))
            continue
        chosen = subject.sense_distribution([item.usages[0] for item in known]).argmax(axis=1)
        answers.append(_rows(subject, [item.item_id for item in known], chosen.tolist()))
        found = sense_recovery(
            words, chosen, [str(item.usages[0].sense) for item in known],
            resamples=settings.n_bootstrap, seed=settings.seed,
        )  # fmt: skip
        own = _records(found, subject, planted)
        records += own
        rows.append((material.title_of(subject.subject_id), *[shown(each) for each in own[:4]],
                     len(found.each), found.n, len(planted.items) - found.n))  # fmt: skip
    return _part(planted, records, rows), ResponseTable.concat(answers), tuple(left_out)


def result_words(material: Material, records: Sequence[Record]) -> str:
    """Say in words what share of usages each subject has right."""
    found = [record for record in records if record.statistic == "planted_accuracy" and record.value is not None]
    texts = [f"{material.title_of(record.subject)} {100 * (record.value or 0):.1f} %" for record in found]
    majority = next((r.value for r in records if r.statistic == "planted_majority"), None)
    return "; ".join(texts) + (f"; one sense for all {100 * majority:.1f} %" if texts and majority is not None else "")


def _part(planted: Planted, records: Sequence[Record], rows: Sequence[tuple[Cell, ...]]) -> Part:
    if not rows:
        return Part()
    columns = (
        Column("Vectors"),
        Column("Accuracy", BOUNDED, note="Each induced sense may stand for one planted sense, at best."),
        Column("Purity", BOUNDED, note="Each induced sense stands for what is most frequent in it."),
        Column("One sense for all", BOUNDED, note="What no distinction at all reaches."),
        Column("Recovered", Format("number", 2), note="Planted senses of a word that an induced one stands for."),
        Column("Pseudo-words", INTEGER), Column("Usages", INTEGER), Column("Unknown", INTEGER),
    )  # fmt: skip
    title = f"Recovery of planted senses: {planted.title}"
    notes = ("Means over pseudo-words; intervals resample them. Two senses were planted in each.",)
    table = Table("planted_senses", "", title, columns, tuple(rows), notes)
    return Part(tuple(records), (table,), paragraphs=(_BY_RULE,) if planted.by_rule else ())


def _records(found: SenseRecovery, subject: HasSenses, planted: Planted) -> list[Record]:
    where = {"subject": subject.subject_id, "dataset": planted.title}

    def record(name: str, value: float) -> Record:
        return Record(name, value, n=found.n, **where)  # type: ignore[arg-type]

    return [
        with_interval(record("planted_accuracy", found.accuracy), found.accuracy_interval),
        with_interval(record("planted_purity", found.purity), found.purity_interval),
        record("planted_majority", found.majority),
        record("planted_recovered", found.recovered),
        record("n_unknown", float(len(planted.items) - found.n)),
    ]


def _rows(subject: HasSenses, item_ids: Sequence[str], chosen: Sequence[int]) -> ResponseTable:
    columns = {
        "subject_id": subject.subject_id,
        "subject_kind": subject.kind,
        "item_id": np.array(item_ids, dtype=object),
        "task": TASK,
        "measure": MEASURE,
        "option": [str(number + 1) for number in chosen],
    }
    return ResponseTable.from_columns(columns)
