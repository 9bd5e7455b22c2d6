"""Similarity against interpretability (§5.1): do ratings of similarity and people's reading of senses agree?

Whatever of the figures is at hand is used. Planted senses stand beside people's judgments, and are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.disagreeing_orders import Measured, Orders, compare_orders
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import Part, pick, shown
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import BOUNDED, Cell, Column, Format, Table
from lexiscope.studies.sense_induction.judged import QUESTIONS, SENSES
from lexiscope.studies.sense_induction.material import LeftOut, Material
from lexiscope.studies.sense_induction.similarity import rho_name
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM, MAX_SIM_C

_ONE = Format("number", 1)
_SIMILARITY = ("AvgSimC", "MaxSimC", "MaxSim, mean of sets")
_READING = ("Intruders found", "Senses chosen", "Planted, by neighbours", "Planted, by usages")
_NAME = "Similarity against interpretability"
_CAUTION = (
    "Orders compare values. A pair that stands in another order is clear where the two intervals overlap by neither "
    "figure; the others may change places in another sample."
)


def contrast_part(material: Material, records: Sequence[Record]) -> tuple[Part, tuple[LeftOut, ...]]:
    """Return both kinds of figures of every subject in one table, and where they order subjects differently."""
    subjects = _subjects(material, records)
    values = {subject: _values(material, records, subject) for subject in subjects}
    pairs = [(one, other) for one in _SIMILARITY for other in _READING]
    found = {pair: orders for pair in pairs if (orders := _orders(values, *pair)) is not None}
    if not found:
        why = "It needs two vectors with a similarity and with people's judgments, or with planted senses, each."
        return Part(), (LeftOut(_NAME, "", why),)
    columns = (Column("Vectors"), *(Column(f"{name}, ρ", _ONE) for name in _SIMILARITY),
               *(Column(f"{name}, %", _ONE) for name in _READING[:2]),
               *(Column(name, BOUNDED, note="No judgment of people.") for name in _READING[2:]))  # fmt: skip
    rows = tuple((material.title_of(subject), *map(_cell, values[subject].values())) for subject in subjects)
    table = drop_empty(Table("contrast", "", "Similarity and interpretability of the same vectors", columns, rows))
    counted = [record for pair, orders in found.items() for record in _counted(*pair, orders)]
    told = (_summary(found), _CAUTION)
    return Part(tuple(counted), (table, _orders_table(material, found)), paragraphs=told), ()


def result_words(part: Part) -> str:
    """Return the first sentence on the orders; empty where nothing could be compared."""
    return part.paragraphs[0] if part.paragraphs else ""


def _subjects(material: Material, records: Sequence[Record]) -> list[str]:
    known = [subject.subject_id for subject in material.subjects]
    judged = [record.subject for record in records if record.statistic in (SENSES, QUESTIONS) and record.status == ""]
    return list(dict.fromkeys([*known, *judged]))


def _values(material: Material, records: Sequence[Record], subject: str) -> dict[str, Record | None]:
    in_context = [each.name for each in material.sets if each.kind == "similarity" and each.in_context][:1]
    where = {"subject": subject, "dataset": in_context[0] if in_context else ""}
    return {
        "AvgSimC": pick(records, rho_name(AVG_SIM_C), **where),
        "MaxSimC": pick(records, rho_name(MAX_SIM_C), **where),
        "MaxSim, mean of sets": _mean(material, records, subject),
        "Intruders found": pick(records, SENSES, subject=subject),
        "Senses chosen": pick(records, QUESTIONS, subject=subject),
        "Planted, by neighbours": pick(records, "planted_selection", subject=subject),
        "Planted, by usages": pick(records, "planted_accuracy", subject=subject),
    }


def _mean(material: Material, records: Sequence[Record], subject: str) -> Record | None:
    """The mean MaxSim correlation over the sets of word pairs; ``None`` where a set has none."""
    sets = [each.name for each in material.of_kind("similarity") if not each.in_context]
    found = [pick(records, rho_name(MAX_SIM), subject=subject, dataset=name) for name in sets]
    values = [record.value for record in found if record is not None and record.value is not None]
    if not sets or len(values) < len(sets):
        return None
    name = statistic_name("spearman_x100", similarity=MAX_SIM, mean="sets")
    return Record(name, sum(values) / len(values), subject=subject, n=len(values))


def _cell(record: Record | None) -> Cell:
    return None if record is None else shown(record)


def _orders(values: Mapping[str, Mapping[str, Record | None]], first: str, second: str) -> Orders | None:
    columns = []
    for name in (first, second):
        there = {subject: own[name] for subject, own in values.items() if own[name] is not None}
        known = {s: r.value for s, r in there.items() if r is not None and r.value is not None}
        bounded = {s: r for s, r in there.items() if r is not None and r.low is not None}
        ends = {s: (float(r.low or 0.0), float(r.high or 0.0)) for s, r in bounded.items()}
        columns.append(Measured(known, ends))
    try:
        return compare_orders(*columns)
    except StatisticError:
        # fewer than two subjects have both: this pair of measures compares nothing
        return None


def _summary(found: Mapping[tuple[str, str], Orders]) -> str:
    apart = [f"{one} and {other.lower()}" for (one, other), orders in found.items() if not orders.same_best]
    if not apart:
        return f"All {len(found)} comparisons of a similarity with the reading of senses have the same best vectors."
    clear = sum(bool(orders.clear) for orders in found.values())
    return (
        f"In {len(apart)} of {len(found)} comparisons the two have other best vectors ({'; '.join(apart)}); in {clear} "
        "a pair stands clearly in another order."
    )


def _counted(first: str, second: str, orders: Orders) -> list[Record]:
    names = {"similarity": _key(first), "reading": _key(second)}
    return [
        Record(statistic_name("n_disagreements", **names), float(len(orders.disagreeing)), n=orders.n_pairs),
        Record(statistic_name("n_clear_disagreements", **names), float(len(orders.clear)), n=orders.n_pairs),
        Record(statistic_name("n_orders", **names), float(orders.n_pairs)),
    ]


def _key(name: str) -> str:
    return name.lower().replace(", mean of sets", "").replace(",", "").replace(" ", "_")


def _orders_table(material: Material, found: Mapping[tuple[str, str], Orders]) -> Table:
    columns = (Column("Similarity"), Column("Beside"), Column("Best by similarity"), Column("Best by the other"),
               Column("Same best"), Column("In another order"), Column("Clearly"))  # fmt: skip
    rows = tuple(
        (one, other, material.title_of(orders.best_first), material.title_of(orders.best_second),
         "yes" if orders.same_best else "no",
         f"{len(orders.disagreeing)} of {orders.n_pairs}",
         "; ".join(f"{material.title_of(a)} / {material.title_of(b)}" for a, b in orders.clear[:6]) or "none")
        for (one, other), orders in found.items()
    )  # fmt: skip
    return Table("orders", "", "Where the two disagree", columns, rows)
