"""Every contrast of the paper: paired t-tests on the 0/1 vectors, the exact McNemar test beside each (Tables 6-13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from lexiscope.core.result import Record
from lexiscope.core.study import StudySettings
from lexiscope.report.part import Part
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Table
from lexiscope.studies.synonymy.cells import (
    ALONE,
    ALONE_BOTH,
    ALONE_WRONG,
    CONTROLLED,
    CORRECT_VS_RANDOM,
    INCORRECT_VS_RANDOM,
    RANDOM,
    REFERENCE,
    REFERENCE_RANDOM,
    RELATION,
    RELATION_RANDOM,
    SUBSTITUTION,
    SUBSTITUTION_RANDOM,
    Cell,
)
from lexiscope.studies.synonymy.material import Answers, Material
from lexiscope.studies.synonymy.numbers import PERCENT, TWO, compared_outcomes, contrast_records, pick, shown
from lexiscope.studies.synonymy.published import versus

ALPHA = 0.05
_BETWEEN = (SUBSTITUTION, REFERENCE, RELATION, SUBSTITUTION_RANDOM, RELATION_RANDOM, ALONE, ALONE_WRONG, ALONE_BOTH)


@dataclass(frozen=True, slots=True)
class Family:
    """Contrasts that answer one question; ``pairs`` are the cells that are set against each other."""

    name: str
    title: str
    place: str
    pairs: tuple[tuple[Cell, Cell], ...]


FAMILIES: tuple[Family, ...] = (
    Family(
        "contrasts_suites",
        "Substitution against the other suites",
        "Table 6",
        (
            (SUBSTITUTION, RELATION),
            (SUBSTITUTION_RANDOM, RELATION_RANDOM),
            (SUBSTITUTION, REFERENCE),
            (SUBSTITUTION_RANDOM, REFERENCE_RANDOM),
        ),
    ),
    Family(
        "contrasts_conditions",
        "Controlled against random, and the two words without context",
        "App. E, Tables 8-13",
        ((SUBSTITUTION, SUBSTITUTION_RANDOM), (RELATION, RELATION_RANDOM), (ALONE, ALONE_WRONG)),
    ),
    Family(
        "contrasts_context",
        "With context against without",
        "App. E, Tables 8-13",
        ((RELATION_RANDOM, ALONE),),
    ),
)


def contrasts(material: Material, settings: StudySettings) -> Part:
    """Return all contrasts within a subject, and those between subjects."""
    tables: list[Table] = []
    records: list[Record] = []
    for family in (*FAMILIES, _expressions(material)):
        own = [record for pair in family.pairs for record in _within(material, pair, settings)]
        records += own
        tables += _table(material, family.name, f"{family.title} ({family.place})", own)
    between = [record for cell in _BETWEEN for record in _between(material, cell, settings)]
    tables += _table(material, "contrasts_subjects", "Between subjects (Table 7; App. E, Tables 8-13)", between)
    return Part((*records, *between), tuple(tables), paragraphs=(_reading(material, [*records, *between]),))


def _expressions(material: Material) -> Family:
    """Each two expressions of the relation, with and without context."""
    cells = material.cells
    pairs: list[tuple[Cell, Cell]] = []
    for suite, conditions in (
        ("relation", (CONTROLLED, RANDOM)),
        ("relation_no_context", (CORRECT_VS_RANDOM, INCORRECT_VS_RANDOM)),
    ):
        for condition in conditions:
            named = [cell for cell in cells if (cell.suite, cell.condition) == (suite, condition)]
            pairs += combinations(named, 2)
    return Family("contrasts_expressions", "Between expressions of the relation", "App. E, Tables 8-13", tuple(pairs))


def _within(material: Material, pair: tuple[Cell, Cell], settings: StudySettings) -> Iterator[Record]:
    first, second = pair
    for answers in material.of_kind("recorded", "live"):
        if first in answers.outcomes and second in answers.outcomes:
            found = compared_outcomes(material, answers.outcomes[first], answers.outcomes[second], settings)
            yield from contrast_records(material, found, subject=answers.subject, condition=versus(first, second))


def _between(material: Material, cell: Cell, settings: StudySettings) -> Iterator[Record]:
    for one, other in _pairs_of(material):
        if cell in one.outcomes and cell in other.outcomes:
            found = compared_outcomes(material, one.outcomes[cell], other.outcomes[cell], settings)
            subject = f"{one.subject} vs {other.subject}"
            yield from contrast_records(material, found, subject=subject, condition=cell.name)


def _pairs_of(material: Material) -> Iterator[tuple[Answers, Answers]]:
    """Every two recorded subjects and every two live ones; a live one on published texts also with recorded ones.

    On repaired texts a live subject has read other texts than the recorded ones: that is no paired contrast.
    """
    recorded, live = material.of_kind("recorded"), material.of_kind("live")
    together = (*recorded, *live) if material.mode == "published" else ()
    yield from combinations(together, 2) if together else (*combinations(recorded, 2), *combinations(live, 2))


def _table(material: Material, name: str, title: str, records: Sequence[Record]) -> tuple[Table, ...]:
    if not records:
        return ()
    columns = (
        Column("Subject"),
        Column("Contrast"),
        Column("Difference", PERCENT, note="First minus second, in points; in brackets the 95 % interval, sentences "
               "resampled."),
        Column("t", TWO, note="Paired, two-sided, as in the paper."),
        Column("p", P_VALUE),
        Column("Only first", INTEGER),
        Column("Only second", INTEGER),
        Column("p, exact", P_VALUE, note="McNemar's test on the items that differ."),
    )  # fmt: skip
    keys = dict.fromkeys((record.subject, record.condition) for record in records)
    rows = []
    for subject, condition in keys:
        names = ("difference", "paired_t", "paired_t_p", "discordant(only=first)", "discordant(only=second)")
        found = [pick(records, each, subject=subject, condition=condition) for each in (*names, "mcnemar_p")]
        rows.append((_titles(material, subject), _in_words(condition), *map(shown, found)))
    note = "Both tests take items as independent; items that share a sentence are not (the intervals respect it)."
    return (Table(name, "", title, columns, tuple(rows), (note,)),)


def _titles(material: Material, subject: str) -> str:
    titles = {answers.subject: answers.title for answers in material.answers}
    return " vs. ".join(titles.get(each, each) for each in subject.split(" vs "))


def _in_words(condition: str) -> str:
    labels = []
    for name in condition.split(" vs "):
        parts = name.split("/")
        labels.append(Cell(parts[0], parts[1] if len(parts) > 2 else "", parts[-1]).label)
    return " vs. ".join(labels)


def _reading(material: Material, records: Sequence[Record]) -> str:
    tested = [record for record in records if record.statistic == "paired_t_p" and record.value is not None]
    exact = {(r.subject, r.condition): r.value for r in records if r.statistic == "mcnemar_p"}
    apart = [
        record
        for record in tested
        if (p := exact.get((record.subject, record.condition))) is not None
        and ((record.value or 0) < ALPHA) != (p < ALPHA)
    ]
    text = f"{len(tested)} contrasts, none corrected for their number."
    if apart:
        where = "; ".join(f"{_titles(material, r.subject)}, {_in_words(r.condition)}" for r in apart[:6])
        more = f"; and {len(apart) - 6} more" if len(apart) > 6 else ""
        text += f" In {len(apart)} of them t and the exact test fall on different sides of p = .05: {where}{more}."
    return text
