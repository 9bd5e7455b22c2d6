"""Every contrast of the paper: paired t-tests on the 0/1 vectors, the exact McNemar test beside each (Tables 6-13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from lexiscope.core.result import Record
from lexiscope.report.part import Part, pick, shown
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Table
from lexiscope.studies.synonymy.cells import Cell, cell_named
from lexiscope.studies.synonymy.material import Answers, Material
from lexiscope.studies.synonymy.numbers import PERCENT, TWO, compared_outcomes, contrast_records
from lexiscope.studies.synonymy.published import versus
from lexiscope.studies.synonymy.settings import SynonymySettings

ALPHA = 0.05


def contrasts(material: Material, settings: SynonymySettings) -> Part:
    """Return all contrasts within a subject, and those between subjects."""
    tables: list[Table] = []
    records: list[Record] = []
    design = material.design
    for family in design.families:
        own = [record for pair in family.pairs for record in _within(material, pair, settings)]
        records += own
        tables += _table(material, family.name, _placed(family.title, "" if material.own else family.place), own)
    between = [record for cell in design.main for record in _between(material, cell, settings)]
    place = "Tables 7, 8" if design.is_papers and not material.own else ""
    tables += _table(material, "contrasts_subjects", _placed("Between subjects", place), between)
    return Part((*records, *between), tuple(tables), paragraphs=(_reading(material, [*records, *between]),))


def _placed(title: str, place: str) -> str:
    return f"{title} ({place})" if place else title


def _within(material: Material, pair: tuple[Cell, Cell], settings: SynonymySettings) -> Iterator[Record]:
    first, second = pair
    for answers in material.of_kind("recorded", "live"):
        if first in answers.outcomes and second in answers.outcomes:
            found = compared_outcomes(material, answers.outcomes[first], answers.outcomes[second], settings)
            yield from contrast_records(material, found, subject=answers.subject, condition=versus(first, second))


def _between(material: Material, cell: Cell, settings: SynonymySettings) -> Iterator[Record]:
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
        Column("t", TWO, note="Paired, two-sided, as in Ivan et al. (2025)."),
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
    return " vs. ".join(cell_named(name).label for name in condition.split(" vs "))


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
