"""People's tests of induced senses in a report: how far people agree, and duplicates (GASI, Table 3 and Figure 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.analysis.alpha import Alpha
from lexiscope.analysis.model_hits import ModelHits
from lexiscope.analysis.sense_duplicates import Compared, DuplicateAnalysis
from lexiscope.core.result import Estimate, Record, Undefined, statistic_name
from lexiscope.report.figure_sense_tests import LikenessDot, likeness_dots
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part, shown, with_interval
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Table

_TWO, _THREE = Format("number", 2), Format("p", 3, leading_zero=False)
MEASURES = {"overlap": "Neighbours shared", "cosine": "Mean cosine of reference vectors"}
"""How likeness is called in tables and figures."""


@dataclass(frozen=True, slots=True)
class AgreementOfTest:
    """How far people agree in the test of one model's senses: ``test`` is the task's name, ``subject`` the model.

    ``alpha`` is nominal alpha of what was chosen; ``alpha_found``, of word intrusion, of whether the intruder was
    found.
    """

    test: str
    subject: str
    plain: Estimate | Undefined
    chance: float
    weighted: Estimate | Undefined | None
    alpha: Alpha | Undefined
    alpha_found: Alpha | Undefined | None = None


def agreement_part(found: Sequence[AgreementOfTest], titles: Mapping[str, str] | None = None) -> Part:
    """Return agreement of each test: plain, by trust, and nominal alpha; records and one table.

    *titles* are short names of models for the table. The record of plain agreement is not returned: it belongs to the
    tables of accuracies.
    """
    if not found:
        return Part()
    records: list[Record] = []
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        own = _agreement_records(each)
        records += own[1:]
        cells = {record.statistic: record for record in own}
        weighted = cells.get(statistic_name("agreement", of=each.test, weighted="trust"))
        of_found = cells.get(statistic_name("krippendorff_alpha", level="nominal", of="found"))
        row = (own[0], own[1].value, weighted, cells[_ALPHA], of_found)
        rows.append((each.test.replace("_", " "), _title(each.subject, titles), *(_cell(value) for value in row)))
    columns = (
        Column("Test"),
        Column("Senses of"),
        Column("Agreement", _TWO, note="Mean share of the winning answer."),
        Column("Chance", _TWO, note="What blind answers would give: few answers agree by chance."),
        Column("By trust", _TWO, note="Each vote counts as much as its rater's share of right test questions."),
        Column("α, choices", _TWO, note="Krippendorff's nominal alpha of what was chosen."),
        Column("α, found", _TWO, note="The same of whether the intruder was found: pages share no words."),
    )
    notes = ("Intervals resample words.",)
    return Part(tuple(records), (Table("people_agreement", "", "How far people agree", columns, tuple(rows), notes),))


def duplicates_part(
    found: Sequence[tuple[str, DuplicateAnalysis]], titles: Mapping[str, str] | None = None, *, reference: str = ""
) -> Part:
    """Return how alike senses are where people and model agree and disagree: GASI's Table 3 and Figure 6.

    *found* has an analysis for each model and kind of pairs, *titles* models' short names; *reference* says what the
    vectors of the cosine are.
    """
    if not found:
        return Part()
    records: list[Record] = []
    rows: list[tuple[Cell, ...]] = []
    dots: list[LikenessDot] = []
    for subject, analysis in found:
        title = _title(subject, titles)
        for compared in filter(None, (analysis.overlap, analysis.cosine)):
            own = _likeness_records(subject, compared)
            records += own
            p = own[2].p
            test: Cell = p if p is not None else compared.why or None
            rows.append((title, analysis.pairs, MEASURES[compared.measure], *map(shown, own), test))
            if analysis.pairs == "rivals":
                dots += _dots(title, compared)
    columns = (
        Column("Senses of"),
        Column("Pairs", note="rivals: people's choice and the model's, or the choice of both and each other sense. "
               "all: every pair of the word's senses."),
        Column("Measure"),
        Column("Agree", _TWO), Column("Disagree", _TWO), Column("Difference", _TWO),
        Column("p", _THREE, note="Rank-sum test over questions; the intervals resample words and go first."),
    )  # fmt: skip
    notes = tuple(_notes([(_title(subject, titles), each) for subject, each in found], reference))
    table = Table("people_duplicates", "3", "Are senses that people confuse alike?", columns, tuple(rows), notes)
    figures: tuple[Figure, ...] = ()
    if dots:
        caption = "Means over questions with 95 % intervals over words. Higher: the two groups are more alike."
        heading = Heading("people_duplicates", "6", "Likeness of senses where people and model agree or not", caption)
        figures = (likeness_dots(dots, heading),)
    return Part(tuple(records), (table,), figures)


def models_part(found: Sequence[tuple[str, str, ModelHits]]) -> Part:
    """Return how often models give the right answer to the tests, task by task: beside people's single judgments.

    *found* are the task, whose senses its pages show (``condition`` of the records), and the right answers. Of a
    subject with several layers the table shows the best one and says so; the records hold all.
    """
    if not found:
        return Part()
    records, rows = [], []
    for task, senses_of, subject in dict.fromkeys((task, senses_of, each.subject) for task, senses_of, each in found):
        own = [each for *test, each in found if (*test, each.subject) == (task, senses_of, subject)]
        numbers = [_record(_blank_of(task, senses_of, each), each.accuracy) for each in own]
        records += numbers
        best = max(range(len(own)), key=lambda place: numbers[place].value or 0.0)
        layers = f"{own[best].layer} of {len(own)}" if len(own) > 1 else ""
        told = shown(numbers[best])
        rows.append((task.replace("_", " "), senses_of, subject, layers, told, own[best].n_unanswered))
    columns = (
        Column("Test"),
        Column("Senses of"),
        Column("Subject"),
        Column("Layer", note="Where there are several, the best: chosen after looking."),
        Column("Right, %", Format("number", 1), note=_RIGHT),
        Column("Unanswered", INTEGER, note="Counted as wrong: a word out of the vocabulary, an unreadable reply."),
    )
    notes = ("Intervals resample words.",)
    table = Table("models_tests", "", "Models that sat the same tests", columns, tuple(rows), notes)
    return Part(tuple(records), (table,))


def _blank_of(task: str, senses_of: str, each: ModelHits) -> Record:
    where = {"subject": each.subject, "dataset": task, "layer": each.layer, "condition": senses_of}
    return Record(each.accuracy.name, None, unit="percent", note="-", **where)  # type: ignore[arg-type]


_RIGHT = "The intruder; the group that the vectors themselves choose. Chance: one in the words, or groups, of a page."
_ALPHA = statistic_name("krippendorff_alpha", level="nominal")


def _agreement_records(each: AgreementOfTest) -> list[Record]:
    blank = Record("agreement", None, subject=each.subject, dataset=each.test, note="-")
    found = [
        _record(replace(blank, statistic=statistic_name("agreement", of=each.test)), each.plain),
        _chance(blank, each.chance),
    ]
    if each.weighted is not None:
        name = statistic_name("agreement", of=each.test, weighted="trust")
        found.append(_record(replace(blank, statistic=name), each.weighted))
    found.append(_record(replace(blank, statistic=_ALPHA), each.alpha))
    if each.alpha_found is not None:
        name = statistic_name("krippendorff_alpha", level="nominal", of="found")
        found.append(_record(replace(blank, statistic=name), each.alpha_found))
    return found


def _chance(blank: Record, chance: float) -> Record:
    name = statistic_name("chance", of="agreement")
    if math.isnan(chance):
        return replace(blank, statistic=name, note="no item has two judgments")
    return replace(blank, statistic=name, value=chance, note="")


def _record(blank: Record, found: Estimate | Alpha | Undefined) -> Record:
    if isinstance(found, Undefined):
        return replace(blank, n=found.n, note=f"undefined: {found.reason}")
    n, times = found.n_items if isinstance(found, Alpha) else found.n, 100 if blank.unit == "percent" else 1
    return with_interval(replace(blank, value=times * found.value, n=n, note=""), found.interval, times=times)


def _likeness_records(subject: str, compared: Compared) -> list[Record]:
    blank = Record("sense_likeness", None, subject=subject, dataset="sense_choice", note="-")
    sides = (compared.agree, compared.disagree, compared.difference)
    records = [_record(replace(blank, statistic=each.name), each) for each in sides]
    if compared.test is not None:
        records[2] = replace(records[2], p=compared.test.p)
    return records


def _dots(title: str, compared: Compared) -> list[LikenessDot]:
    found = []
    for side, each in (("agree", compared.agree), ("disagree", compared.disagree)):
        if isinstance(each, Estimate):
            low, high = each.interval.low, each.interval.high
            found.append(LikenessDot(title, MEASURES[compared.measure], side, each.value, low, high, each.n))
    return found


def _notes(found: Sequence[tuple[str, DuplicateAnalysis]], reference: str) -> list[str]:
    notes = []
    for title, each in dict(found).items():
        left = {
            "without a majority": each.n_undecided,
            "with a dummy chosen": each.n_dummy,
            "of one sense": each.n_alone,
        }
        counted = ", ".join(f"{n} {why}" for why, n in left.items() if n)
        known = f"{each.n_words - each.n_words_unknown} of {each.n_words} words have a reference vector"
        told = [f"left out: questions {counted}"] if counted else []
        told += [known] if each.cosine is not None else []
        notes += [f"{title}: {'; '.join(told)}."] if told else []
    notes += [f"Reference vectors: {reference}."] if reference else ["Without reference vectors there is no cosine."]
    return notes


def _title(subject: str, titles: Mapping[str, str] | None) -> str:
    return (titles or {}).get(subject, subject)


def _cell(value: Record | float | None) -> Cell:
    return shown(value) if isinstance(value, Record) else value
