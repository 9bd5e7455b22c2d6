"""The same sense or not: pairs of usages answered by the identity of the sense that is most probable (Table 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.accuracy import accuracy
from lexiscope.analysis.votes import share
from lexiscope.core.result import Record, statistic_name
from lexiscope.items.truth_choice import SAME
from lexiscope.report.part import Part, pick, shown, with_interval
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Missing, Table
from lexiscope.studies.sense_induction.material import HasSenses, Material, PairSet
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.tasks.same_sense import MEASURE_CHOICE
from lexiscope.tasks.same_sense.by_sense import FLAG, REASONS

ALL, DECIDED = statistic_name("accuracy", of="all"), statistic_name("accuracy", of="decided")
UNDECIDED = "identity decides no pair: every answer is random"
"""The note of a share that says nothing of the subject."""
_PERCENT = Format("number", 1)
_NOTES = (
    "A pair that identity cannot decide (two words, a word out of vocabulary or with one sense, no sense preferred) is "
    "answered at random, drawn by its id and the seed, and counted in the last columns.",
    "Expected: every random answer counted as half right; no seed changes it. Intervals resample words.",
)


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """What one subject answered to the pairs of a split. *Shape:* (pairs,) each."""

    right: NDArray[np.bool_]
    reasons: tuple[str | None, ...]
    words: NDArray[np.str_]

    @property
    def random(self) -> NDArray[np.bool_]:
        return np.array([bool(reason) for reason in self.reasons])


def same_sense_part(material: Material, settings: SenseInductionSettings) -> Part:
    """Return the share of pairs that are right, with what is random in it, for each split of each set."""
    records: list[Record] = []
    rows: list[tuple[Cell, ...]] = []
    for pairs in material.of_kind("same_sense"):
        for split, places in _splits(pairs).items():
            where = {"dataset": pairs.name, "condition": split}
            same = 100 * float(np.mean([pairs.items[place].gold == SAME for place in places]))
            records.append(Record("share_same", same, n=len(places), unit="percent", **where))  # type: ignore[arg-type]
            for subject in material.subjects:
                found = _answered(material, pairs, places, subject)
                own = _records(found, {**where, "subject": subject.subject_id}, settings)
                records += own
                name = f"{pairs.title}, {split}" if split else pairs.title
                rows.append((name, material.title_of(subject.subject_id), *_cells(own, found), len(places), same))
    columns = (
        Column("Pairs"), Column("Vectors"), Column("Right, %", _PERCENT), Column("Expected, %", _PERCENT),
        Column("Decided right, %", _PERCENT, note="Of the pairs that identity decides."), Column("Decided", INTEGER),
        *(Column(reason.capitalize(), INTEGER) for reason in REASONS), Column("n", INTEGER),
        Column("Same, %", _PERCENT, note="What always answering 'the same' reaches."),
    )  # fmt: skip
    if not rows:
        return Part()
    table = Table(
        "same_sense", "8", "The same sense, by the identity of the chosen sense", columns, tuple(rows), _NOTES
    )
    return Part(tuple(records), (table,))


def result_words(material: Material, records: Sequence[Record]) -> str:
    """Say the expected accuracies in words: of each subject on each split."""
    found: dict[str, list[str]] = {}
    for record in records:
        if record.statistic == "expected_accuracy" and record.value is not None:
            title = next(each.title for each in material.sets if each.name == record.dataset)
            name = f"{title}, {record.condition}" if record.condition else title
            found.setdefault(name, []).append(f"{material.title_of(record.subject)} {record.value:.1f}")
    texts = [f"{name}: {', '.join(values)}" for name, values in found.items()]
    return f"% right, random answers counted as half right. {'; '.join(texts)}" if texts else ""


def _splits(pairs: PairSet) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, item in enumerate(pairs.items):
        found.setdefault(str(item.conditions.get("split", "")), []).append(place)
    return found


def _answered(material: Material, pairs: PairSet, places: Sequence[int], subject: HasSenses) -> _Answers:
    rows = material.responses.where(subject_id=subject.subject_id, task="same_sense")
    chosen, flags = rows.where(measure=MEASURE_CHOICE), rows.where(measure=FLAG)
    option = dict(zip(chosen.column("item_id").tolist(), chosen.column("option").tolist(), strict=True))
    reason = dict(zip(flags.column("item_id").tolist(), flags.column("raw").tolist(), strict=True))
    items = [pairs.items[place] for place in places]
    return _Answers(
        np.array([option[item.item_id] == item.gold for item in items]),
        tuple(reason[item.item_id] for item in items),
        pairs.words[list(places)],
    )


def _records(found: _Answers, where: dict[str, str], settings: SenseInductionSettings) -> list[Record]:
    decided = ~found.random
    records = [_share(ALL, found.right, found.words, where, settings)]
    if decided.any():
        records.append(_share(DECIDED, found.right[decided], found.words[decided], where, settings))
    else:
        records.append(Record(DECIDED, None, note="identity decides no pair", **where))  # type: ignore[arg-type]
    records.append(_expected(found, where, settings))
    for reason in REASONS:
        name = statistic_name("n_random", reason=reason.replace(" ", "_"))
        records.append(Record(name, float(found.reasons.count(reason)), n=len(decided), **where))  # type: ignore[arg-type]
    return records


def _expected(found: _Answers, where: dict[str, str], settings: SenseInductionSettings) -> Record:
    """The share that is right, each random answer counted as half right."""
    values = np.where(found.random, 0.5, found.right.astype(np.float64))
    record = Record("expected_accuracy", 100 * float(values.mean()), n=len(values), unit="percent", **where)  # type: ignore[arg-type]
    if found.random.all():
        return replace(record, note=UNDECIDED)
    if len(set(found.words.tolist())) < 2:
        return record
    drawn = share(
        "expected_accuracy", values, np.ones(len(values)), groups=found.words,
        resamples=settings.n_bootstrap, seed=settings.seed,
    )  # fmt: skip
    return with_interval(record, drawn.interval, times=100)


def _share(
    name: str,
    right: NDArray[np.bool_],
    words: NDArray[np.str_],
    where: dict[str, str],
    settings: SenseInductionSettings,
) -> Record:
    several = len(set(words.tolist())) > 1
    clusters = words if several else None
    drawn = settings.n_bootstrap if len(right) > 1 else 0
    if len(right) < 2:
        return Record(name, 100 * float(right.mean()), n=len(right), unit="percent", **where)  # type: ignore[arg-type]
    found = accuracy(right, clusters=clusters, resamples=drawn, seed=settings.seed)
    record = Record(name, 100 * found.value, n=found.n, unit="percent", **where)  # type: ignore[arg-type]
    return with_interval(record, found.clustered, times=100)


def _cells(records: Sequence[Record], found: _Answers) -> list[Cell]:
    decided = pick(records, DECIDED)
    right = Missing("identity decides no pair") if decided is None or decided.value is None else shown(decided)
    counts = [found.reasons.count(reason) for reason in REASONS]
    every, expected = pick(records, ALL), pick(records, "expected_accuracy")
    return [shown(every), shown(expected), right, len(found.right) - sum(counts), *counts]
