"""People's tests of induced senses in a report: accuracies, agreement, duplicates (GASI, Tables 1 to 3, Figures 6, 7).

Models that sat the same tests have a table of their own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.by_word import agreement_by_word
from lexiscope.analysis.agreement.votes import vote_share
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.senses.duplicates import DuplicateAnalysis, Pairs, duplicate_analysis
from lexiscope.analysis.senses.selection import SenseSelection
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Record, Result, Undefined, statistic_name
from lexiscope.core.showing import counted
from lexiscope.core.subject import Subject
from lexiscope.report.figures import Figure, Heading, apa
from lexiscope.report.part import Omission, Part, part_of, record_cell
from lexiscope.report.parts.sense_tests import SenseTest, simulated_notice
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of
from lexiscope.report.plots.senses import LikenessDot, agreement_and_consistency, likeness_dots
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Table
from lexiscope.senses.examples import ReadsSenses
from lexiscope.tasks.sense_choice import NAME as SELECTION
from lexiscope.tasks.word_intrusion import NAME as INTRUSION

SENSES = statistic_name("intrusion_accuracy", of="senses")
QUESTIONS = statistic_name("selection_accuracy", of="questions")
JUDGMENTS = {
    INTRUSION: statistic_name("intrusion_accuracy", of="judgments"),
    SELECTION: statistic_name("selection_accuracy", of="judgments"),
}
"""The share of right single answers, by test."""
MEASURES = {"overlap": "Neighbours shared", "cosine": "Mean cosine of reference vectors"}
"""How likeness is called in tables and figures."""

_ONE, _TWO, _THREE = Format("number", 1), Format("number", 2), Format("p", 3, leading_zero=False)
_MOST = "More than half of a page's judgments (2 of 3)"
_ALPHA = statistic_name("krippendorff_alpha", level="nominal")
_FOUND = statistic_name("krippendorff_alpha", level="nominal", of="found")


@dataclass(frozen=True, slots=True)
class Reference:
    """Vectors that are not the senses' own (word → vector), and ``title``, what they are; ``None``: there are none."""

    vectors: Mapping[str, ArrayLike] | None = None
    title: str = ""


# -- accuracies -----------------------------------------------------------------------------------------------------


def accuracy_part(tests: Sequence[SenseTest], titles: Mapping[str, str]) -> Part:
    """Return how often people find intruders and choose the model's sense; tests without a number are left out.

    *titles* are short names of models, by their ids.
    """
    results: list[Result | Record] = []
    figures: list[Figure] = []
    omitted, counted = [], []
    for test in tests:
        try:
            results += _accuracies(test)
        except StatisticError as error:
            title = titles.get(test.model, test.model)
            omitted.append(Omission(test.task.replace("_", " "), f"{error.what}.", title))
            continue
        counted.append(test)
        if test.task == SELECTION:
            rho, drawn = _word_agreement(test, titles.get(test.model, test.model), number=len(figures) + 1)
            results.append(rho)
            figures += drawn
    tables = [table for task in _HEADED if (table := _accuracy_table(task, results, counted, titles))]
    return part_of(results, tables, figures, omitted)


def _accuracies(test: SenseTest) -> list[Result | Record]:
    where = {"subject": test.model, "dataset": test.task}
    results: list[Result | Record] = []
    for share, chance in test.result.accuracies:
        results.append(share.times(100, "percent").about(**where))
        name = _chance(share.name)
        results.append(Record(name, 100 * chance, subject=test.model, dataset=test.task, unit="percent"))
    agreement = replace(test.result.agreement, name=statistic_name("agreement", of=test.task)).about(**where)
    if not isinstance(test.result, SenseSelection):
        return [*results, agreement]
    single = statistic_name("model_probability", of="judgments")
    unknown = "the items hold no probabilities"
    probability = test.result.probability or Undefined("model_probability", unknown)
    of_judgments = test.result.judgment_probability or Undefined(single, unknown)
    probabilities = (replace(probability, name="model_probability").about(**where), of_judgments.about(**where))
    return [*results, probabilities[0], agreement, probabilities[1]]


def _chance(name: str) -> str:
    return statistic_name("chance", of=name.replace("(", "_").replace(")", "").replace("=", "_"))


def _accuracy_columns(whole: str, header: str, note: str, task: str) -> list[Col]:
    return [
        Col(header, whole, _ONE, note=note),
        Col("Chance", _chance(whole), _ONE),
        Col("Judgments, %", JUDGMENTS[task], _ONE),
        Col("Chance", _chance(JUDGMENTS[task]), _ONE),
    ]


_HEADED = {
    INTRUSION: ("1", "Word intrusion: people find the word that does not belong", [
        *_accuracy_columns(SENSES, "Senses, %", f"{_MOST} find the intruder.", INTRUSION),
        Col("Agreement", f"agreement(of={INTRUSION})", _TWO, note="Mean share of the winning word.")]),
    SELECTION: ("2", "Sense selection: people choose the group of words that the model chooses", [
        *_accuracy_columns(QUESTIONS, "Questions, %", f"{_MOST} choose the model's.", SELECTION),
        Col("P", "model_probability", _TWO, note="The model's mean probability of the sense that a majority chose."),
        Col("Agreement", f"agreement(of={SELECTION})", _TWO, note="Mean share of the winning group.")]),
}  # fmt: skip


def _accuracy_table(
    task: str, results: Sequence[Result | Record], counted: Sequence[SenseTest], titles: Mapping[str, str]
) -> Table | None:
    number, title, columns = _HEADED[task]
    own = [test for test in counted if test.task == task]
    if not own:
        return None
    rows = _rows(own, titles)
    notes = [f"{row.labels[0]}: {test.counts_text()}." for row, test in zip(rows, own, strict=True)]
    notes += ["Intervals resample words: judgments of one word are not independent."]
    simulated = dict.fromkeys(text for test in own for text in simulated_notice(test.answers))
    return pivot(
        f"people_{task}", title, results, columns, rows,
        labels=("Senses of",), number=number, notes=(*simulated, *notes),
    )  # fmt: skip


def _rows(tests: Sequence[SenseTest], titles: Mapping[str, str], *, named: bool = False) -> list[PivotRow]:
    return [
        PivotRow(
            (*((test.task.replace("_", " "),) if named else ()), titles.get(test.model, test.model)),
            {"subject": test.model, "dataset": test.task},
        )
        for test in tests
    ]


def _word_agreement(test: SenseTest, title: str, *, number: int) -> tuple[Result, tuple[Figure, ...]]:
    """Agreement among people and consistency with the model, word by word (Figure 7), and their correlation."""
    ratings, options = test.choices
    by_word, over_words = agreement_by_word(ratings, options, right=test.right, words=test.words, **test.bootstrap)
    rho = over_words.about(subject=test.model, dataset=SELECTION)
    if not by_word:
        return rho, ()
    points = [(word, *shares) for word, shares in by_word.items()]
    value = apa(rho.value) if isinstance(rho, Estimate) else "undefined"
    bounded = isinstance(rho, Estimate) and rho.interval.is_defined
    bounds = f" [{apa(rho.interval.low)}, {apa(rho.interval.high)}]" if isinstance(rho, Estimate) and bounded else ""
    whole = f"Spearman's ρ = {value}{bounds} over {counted(len(points), 'word')}"
    caption = f"{whole}. Where everybody chooses the model's sense, everybody agrees: the two are not independent."
    heading = Heading(f"agreement_{number}", "7", f"Agreement and consistency: {title}", caption)
    return rho, (agreement_and_consistency(points, heading),)


def single_sense_reference(subjects: Iterable[Subject], words: Collection[str], titles: Mapping[str, str]) -> Reference:
    """Return the vectors of some words by the first subject with one sense for every word; none without such a one."""
    for subject in subjects:
        induced = subject.induced if isinstance(subject, ReadsSenses) and words else None
        if induced is not None and int(induced.n_senses.max(initial=0)) == 1:
            known = {word: induced.vectors(induced.of(word))[0] for word in words if word in induced.index}
            return Reference(known, titles.get(subject.subject_id, subject.subject_id))
    return Reference()


# -- agreement ------------------------------------------------------------------------------------------------------


def agreement_part(
    tests: Sequence[SenseTest], titles: Mapping[str, str], trust: Mapping[str, float] | None = None
) -> Part:
    """Return how far people agree in each test: plain, by trust (rater → weight), and nominal alpha.

    Plain agreement is in the table; its number is that of :func:`accuracy_part`.
    """
    if not tests:
        return Part()
    plain: list[Result] = []
    others: list[Result | Record] = []
    for test in tests:
        where = {"subject": test.model, "dataset": test.task}
        plain.append(replace(test.result.agreement, name="agreement").about(**where))
        others.append(_chance_of_agreement(test))
        ratings, _ = test.choices
        if trust:
            others.append(_trusted_agreement(test, trust).about(**where))
        others.append(_alpha(test, ratings, _ALPHA).about(**where))
        if test.task == INTRUSION:
            others.append(_alpha(test, test.hits(), _FOUND).about(**where))
    weighted = tuple(statistic_name("agreement", of=test.task, weighted="trust") for test in tests)
    columns = (
        Col("Agreement", "agreement", _TWO, note="Mean share of the winning answer."),
        Col("Chance", "chance(of=agreement)", _TWO, show="value",
            note="What blind answers would give: few answers agree by chance."),
        Col("By trust", weighted, _TWO, absent=None,
            note="Each vote counts as much as its rater's share of right test questions."),
        Col("α, choices", _ALPHA, _TWO, note="Krippendorff's nominal alpha of what was chosen."),
        Col("α, found", _FOUND, _TWO, absent=None,
            note="The same of whether the intruder was found: pages share no words."),
    )  # fmt: skip
    table = pivot(
        "people_agreement", "How far people agree", [*plain, *others], columns, _rows(tests, titles, named=True),
        labels=("Test", "Senses of"), notes=("Intervals resample words.",),
    )  # fmt: skip
    return part_of(others, table)


def _chance_of_agreement(test: SenseTest) -> Record:
    chance = test.result.chance_of_agreement
    known = not math.isnan(chance)
    return Record(
        "chance(of=agreement)",
        chance if known else None,
        subject=test.model,
        dataset=test.task,
        note="" if known else "no item has two judgments",
    )


def _trusted_agreement(test: SenseTest, trust: Mapping[str, float]) -> Estimate | Undefined:
    """Agreement weighted by trust; undefined where that of a rater is not known."""
    name = statistic_name("agreement", of=test.task, weighted="trust")
    ratings, _ = test.choices
    unknown = [rater for rater in ratings.rater_ids if rater not in trust]
    if unknown:
        why = f"no attention check is known of {len(unknown)} of {len(ratings.rater_ids)} people: {unknown[0]}"
        return Undefined(name, f"{why}{' …' if len(unknown) > 1 else ''}")
    try:
        return replace(vote_share(ratings, trust=trust, groups=test.words, **test.bootstrap), name=name)
    except StatisticError as error:
        return Undefined(name, error.what)


def _alpha(test: SenseTest, ratings: Ratings, name: str) -> Estimate | Undefined:
    try:
        alpha = krippendorff_alpha(ratings, level="nominal", groups=test.words, **test.bootstrap)
    except StatisticError as error:
        return Undefined(name, error.what, len(np.unique(ratings.item)))
    return alpha.about(name=name)


# -- duplicates -----------------------------------------------------------------------------------------------------


def duplicates_part(tests: Sequence[SenseTest], titles: Mapping[str, str], reference: Reference) -> Part:
    """Return how alike senses are where people and model agree and disagree: GASI's Table 3 and Figure 6."""
    analysed = [
        (titles.get(test.model, test.model), test.model,
         duplicate_analysis(test.questions(), reference.vectors, pairs=pairs, **test.bootstrap))
        for test in tests
        if test.task == SELECTION
        for pairs in get_args(Pairs)
    ]  # fmt: skip
    if not analysed:
        return Part()
    results: list[Result] = []
    rows: list[tuple[Cell, ...]] = []
    dots: list[LikenessDot] = []
    for title, model, analysis in analysed:
        for compared in filter(None, (analysis.overlap, analysis.cosine)):
            sides = [side.about(subject=model, dataset=SELECTION) for side in compared.sides]
            results += sides
            measure = MEASURES[compared.measure]
            test_cell: Cell = compared.why or None if compared.test is None else compared.test.p
            rows.append((title, analysis.pairs, measure, *map(record_cell, records_of(sides)), test_cell))
            dots += [
                LikenessDot(
                    title, measure, side, estimate.value, estimate.interval.low, estimate.interval.high, estimate.n
                )
                for side, estimate in zip(("agree", "disagree"), sides, strict=False)
                if analysis.pairs == "rivals" and isinstance(estimate, Estimate)
            ]
    columns = (
        Column("Senses of"),
        Column("Pairs", note="rivals: people's choice and the model's, or the choice of both and each other sense. "
               "all: every pair of the word's senses."),
        Column("Measure"),
        Column("Agree", _TWO), Column("Disagree", _TWO), Column("Difference", _TWO),
        Column("p", _THREE, note="Rank-sum test over questions; the intervals resample words and go first."),
    )  # fmt: skip
    notes = _duplicate_notes({title: analysis for title, _, analysis in analysed}, reference)
    table = Table("people_duplicates", "3", "Are senses that people confuse alike?", columns, tuple(rows), notes)
    caption = "Means over questions with 95 % intervals over words. Higher: the two groups are more alike."
    heading = Heading("people_duplicates", "6", "Likeness of senses where people and model agree or not", caption)
    return part_of(results, table, likeness_dots(dots, heading) if dots else None)


def _duplicate_notes(by_title: Mapping[str, DuplicateAnalysis], reference: Reference) -> tuple[str, ...]:
    notes = []
    for title, analysis in by_title.items():
        left = {
            "without a majority": analysis.n_undecided,
            "with a dummy chosen": analysis.n_dummy,
            "of one sense": analysis.n_alone,
        }
        counted = ", ".join(f"{n} {why}" for why, n in left.items() if n)
        known = f"{analysis.n_words - analysis.n_words_unknown} of {analysis.n_words} words have a reference vector"
        texts = [f"left out: questions {counted}"] if counted else []
        texts += [known] if analysis.cosine is not None else []
        notes += [f"{title}: {'; '.join(texts)}."] if texts else []
    named = f"Reference vectors: {reference.title}."
    return (*notes, named if reference.title else "Without reference vectors there is no cosine.")


# -- models ---------------------------------------------------------------------------------------------------------


def models_part(shares: Sequence[tuple[str, str, Estimate | Undefined, int]]) -> Part:
    """Return how often models give the right answer to the tests, task by task; compare people's single judgments.

    *shares* are the task, the model whose senses its pages show (``condition`` of the records), the share of right
    answers, and how many items were unanswered. Of a subject with several layers the table shows the best one and says
    so; the records hold all.
    """
    if not shares:
        return Part()
    results, rows = [], []
    for task, senses_of, subject in dict.fromkeys(
        (task, senses_of, share.subject) for task, senses_of, share, _ in shares
    ):
        own = [(share, n) for *test, share, n in shares if (*test, share.subject) == (task, senses_of, subject)]
        where = {"subject": subject, "dataset": task, "condition": senses_of, "unit": "percent"}
        percents = [
            (share.times(100, "percent") if isinstance(share, Estimate) else share).about(**where) for share, _ in own
        ]
        results += percents
        values = [result.value if isinstance(result, Estimate) else 0.0 for result in percents]
        best = values.index(max(values))
        layers = f"{percents[best].layer} of {len(own)}" if len(own) > 1 else ""
        cell = record_cell(*percents[best].records())
        rows.append((task.replace("_", " "), senses_of, subject, layers, cell, own[best][1]))
    columns = (
        Column("Test"),
        Column("Senses of"),
        Column("Subject"),
        Column("Layer", note="Where there are several, the best: chosen after looking."),
        Column("Right, %", _ONE, note="The intruder; the group that the vectors themselves choose. Chance: one in the "
               "words, or groups, of a page."),
        Column("Unanswered", INTEGER, note="Counted as wrong: a word out of the vocabulary, an unreadable reply."),
    )  # fmt: skip
    notes = ("Intervals resample words.",)
    return part_of(results, Table("models_tests", "", "Models that sat the same tests", columns, tuple(rows), notes))
