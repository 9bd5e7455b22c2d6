"""People's tests of induced senses: answers read and checked, accuracies, agreement, duplicates (GASI, Tables 1–3).

Models that were given the same tests have a separate table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, get_args

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.choices import agreement_by_word, majority, option_table, trust_of_checks, vote_share
from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.ratings import Ratings, choices_from_table
from lexiscope.analysis.senses.duplicates import (
    DuplicateAnalysis,
    Pairs,
    SenseQuestion,
    agreement_by_overlap,
    duplicate_analysis,
)
from lexiscope.analysis.senses.sense_tests import (
    ModelAnswers,
    SenseSelection,
    WordIntrusion,
    log_odds,
    log_odds_name,
    model_hits,
    sense_selection,
    word_intrusion,
)
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Estimate, Record, Result, Undefined, statistic_name
from lexiscope.core.settings import Option
from lexiscope.core.showing import counted
from lexiscope.core.simulated import COLLECTED, TOLD_SIMULATED, kind_of_person, refuse_mixture
from lexiscope.core.subject import Subject
from lexiscope.items.read.item_source import load_items
from lexiscope.items.sheets.given_answer import COMPLETE, is_complete_export
from lexiscope.items.tables.tabular import is_item_table, read_items
from lexiscope.report.figures import Figure, Heading, apa
from lexiscope.report.part import Omission, Part, part_of, record_cell
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of
from lexiscope.report.plots.senses import LikenessDot, agreement_and_consistency, likeness_dots
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Table
from lexiscope.resources.tables.delimited import read_csv, read_header
from lexiscope.senses.examples import ReadsSenses
from lexiscope.tasks.sense_choice import GROUP, groups_of, is_dummy
from lexiscope.tasks.sense_choice import NAME as SELECTION
from lexiscope.tasks.word_intrusion import NAME as INTRUSION
from lexiscope.tasks.word_intrusion import intruder, words_of

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
_CHANCE_ODDS = statistic_name("chance", of="log_odds")
_FOUND = statistic_name("krippendorff_alpha", level="nominal", of="found")


@dataclass(frozen=True, slots=True)
class Reference:
    """Vectors that are not the senses' own (word → vector), and ``title``, what they are; ``None``: there are none."""

    vectors: Mapping[str, ArrayLike] | None = None
    title: str = ""


# -- accuracies -----------------------------------------------------------------------------------------------------


def accuracy_part(tests: Sequence[SenseTest], titles: Mapping[str, str]) -> Part:
    """Return how often people find intruders and choose the model's sense; tests without a number are omitted.

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
    ratings, options = test.choices
    odds = log_odds(ratings, options, model=ModelAnswers.of(test.items), groups=test.words, **test.bootstrap)
    if isinstance(odds, Undefined):
        return [*results, probabilities[0], agreement, probabilities[1], odds.about(**where)]
    least = f"{odds.n_least} of {odds.odds.n} judgments chose a sense below {odds.least:g}" if odds.n_least else ""
    blind = Record(_CHANCE_ODDS, odds.chance, subject=test.model, dataset=test.task, unit="nats")
    graded = replace(odds.odds, note=least).about(**where)
    return [*results, probabilities[0], agreement, probabilities[1], graded, blind]


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
        Col("Log odds", log_odds_name(), _TWO, absent=None,
            note="Of people's choice against the model's own, in nats, mean over judgments: 0 where all are its own."),
        Col("Chance", _CHANCE_ODDS, _TWO, absent=None),
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


def judgment_columns() -> tuple[Col, ...]:
    """Return the columns of single judgments in both tests; a subject without them has an empty cell."""
    note = "Single judgments: of people on the senses of these vectors, or of a chat model in its first such test."
    headers = {INTRUSION: "Intruders found, %", SELECTION: "Model’s sense chosen, %"}
    return tuple(Col(header, JUDGMENTS[task], _ONE, note=note, absent=None) for task, header in headers.items())


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
    """Return how well people agree in each test: plain, by trust (rater → weight), and nominal alpha.

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
        "people_agreement", "Agreement of people", [*plain, *others], columns, _rows(tests, titles, named=True),
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
        alpha = krippendorff_alpha(
            ratings, level="nominal", groups=test.words, resamples=test.resamples, seed=test.seed
        )
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
    results: list[Result] = [
        agreement_by_overlap(test.questions(), test.agreement_of_items(), **test.bootstrap).about(
            subject=test.model, dataset=SELECTION
        )
        for test in tests
        if test.task == SELECTION
    ]
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
        texts = [f"excluded: questions {counted}"] if counted else []
        texts += [known] if analysis.cosine is not None else []
        notes += [f"{title}: {'; '.join(texts)}."] if texts else []
    named = f"Reference vectors: {reference.title}."
    return (*notes, named if reference.title else "Without reference vectors there is no cosine.")


# -- models ---------------------------------------------------------------------------------------------------------


ModelShare = tuple[str, str, Estimate | Undefined, int]
"""A test, the model whose senses its pages show, the accuracy of a subject, and how many items it left unanswered."""


def model_shares(tests: Iterable[SenseTest]) -> list[ModelShare]:
    """Return how often models give the correct answer: *tests* are those with their answers (:func:`sense_tests`).

    Errors: those of :func:`right_answers`.
    """
    shares: list[ModelShare] = []
    for test in tests:
        name, own = JUDGMENTS[test.task], test.answers
        hits = model_hits(own, test.right, name=name, words=test.words, resamples=test.resamples, seed=test.seed)
        shares += [(test.task, test.model, *share) for share in hits]
    return shares


def models_part(
    shares: Sequence[ModelShare],
    titles: Mapping[str, str] | None = None,
    *,
    people: Sequence[SenseTest] = (),
) -> Part:
    """Return how often models give the correct answer to the tests, task by task; compare people's single judgments.

    The model whose senses are tested is the ``condition`` of the records. *titles* are short names by id. With the
    answers of *people* to the same tests, the table has their share. For a subject with several layers the table shows
    the best one, with a note; the records hold all.
    """
    if not shares:
        return Part()
    judged = {(test.task, test.model): share for test in people for share in _judgments(test)}
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
        names = ((titles or {}).get(name, name) for name in (senses_of, subject))
        by_people = (record_cell(judged[task, senses_of]),) if (task, senses_of) in judged else (None,)
        rows.append((task.replace("_", " "), *names, layers, cell, own[best][1], *(by_people if judged else ())))
    columns = (
        Column("Test"),
        Column("Senses of"),
        Column("Subject"),
        Column("Layer", note="With several layers, the best: chosen after looking."),
        Column("Right, %", _ONE, note="The intruder; the group that the vectors themselves choose. Chance: one in the "
               "words, or groups, of a page."),
        Column("Unanswered", INTEGER, note="Counted as wrong: a word out of the vocabulary, an unreadable reply."),
        *([Column("People, %", _ONE, note="Single judgments of people on the same pages.")] if judged else ()),
    )  # fmt: skip
    simulated = dict.fromkeys(text for test in people for text in simulated_notice(test.answers))
    notes = (*simulated, "Intervals resample words.")
    return part_of(results, Table("models_tests", "", "Models that sat the same tests", columns, tuple(rows), notes))


def _judgments(test: SenseTest) -> list[Record]:
    """The share of people's single judgments that are right; none where it is undefined."""
    try:
        accuracies = [share for share, _ in test.result.accuracies if share.name == JUDGMENTS[test.task]]
    except StatisticError:
        return []
    return [record for share in accuracies for record in share.times(100, "percent").records()]


# -- sense tests ----------------------------------------------------------------------------------------------------
# People's tests of induced senses: their answers as files, read and checked, and what each test of a model contains.
#
# The tests are word intrusion and the choice of a sense. *Source:* GASI §4.


MEASURE = "choice"
TASKS = (INTRUSION, SELECTION)
PEOPLE_KINDS = (*COLLECTED, "recorded")
"""Each ``subject_kind`` whose answers to tests of senses are people's."""
_FORMS = (
    "give choices.csv of an export, another table of responses, or a table with the columns participant, item_id and "
    "choice; and the files of items that were asked"
)
_BY_HAND = {"participant": ("participant", "rater"), "item_id": ("item_id", "item"), "choice": ("choice", "answer")}
"""The columns of a table of choices that was written by hand, and the names that each may have."""
_EXPORTED = {"item_id", "kind", "lists"}
"""The columns by which the items of an export are known."""
_SHORT = 8


@dataclass(frozen=True, slots=True, eq=False)
class SenseTestAnswers:
    """Answers to tests of senses, and the items that were asked, by id; ``trust`` by rater, if it is known."""

    responses: ResponseTable = field(default_factory=ResponseTable.empty)
    items: Mapping[str, Item] = field(default_factory=dict)
    trust: Mapping[str, float] = field(default_factory=dict)

    def items_by_task(self) -> dict[str, tuple[Item, ...]]:
        """Return the items of each test as a dataset named after it, with the correct answers as ``gold``.

        Errors: those of :func:`right_answers`.
        """
        right = right_answers(self.items.values())
        by_task: dict[str, tuple[Item, ...]] = {}
        for item_id, item in self.items.items():
            task = task_of(item)
            by_task[task] = (*by_task.get(task, ()), replace(item, dataset=task, gold=right[item_id]))
        return by_task


def read_answers_and_items(paths: Sequence[str], *, embedded: str = "") -> SenseTestAnswers:
    """Read people's answers and the items of their tests, from several files of either kind.

    Without items in them they are those of the dataset *embedded*, if one is named: what its items give as correct is
    then what is right. A complete table of an export (``responses.csv``) next to the answers is not read as answers:
    its attention checks give the trust in each rater.
    Errors: those of :func:`items_by_id` and :func:`read_answers`, and of
    :func:`~lexiscope.analysis.agreement.choices.trust_of_checks`; :class:`InputError` E471 for another file.
    """
    tables = [path for path in paths if is_item_table(Path(path)) or {*read_header(Path(path))} >= _EXPORTED]
    items = items_by_id([(path, items_of_tests(Path(path))) for path in tables])
    if embedded and not items:
        every = [item for task in TASKS for item in catalog.dataset(f"{embedded}?task={task}").items]
        known = {item.item_id: {"model": embedded, "model_choice": str(item.gold)} for item in every}
        items = {item.item_id: replace(item, conditions={**item.conditions, **known[item.item_id]}) for item in every}
    answered = [path for path in paths if path not in tables]
    complete = {path: table for path in answered if (table := _complete_table(Path(path))) is not None}
    # by itself it is no table of answers, which the reader says
    complete = complete if len(complete) < len(answered) else {}
    read = read_answers([path for path in answered if path not in complete], items)
    trust = trust_of_checks(ResponseTable.concat([*complete.values()])) if complete else {}
    return replace(read, trust=trust)


def items_of_tests(path: Path) -> tuple[Item, ...]:
    """Return the items of a file: of Lexiscope, of an export, or a table of the user's own.

    Errors: those of :func:`~lexiscope.items.read.item_source.load_items`.
    """
    if is_item_table(path):
        return read_items(path)
    selection = any(name.startswith(GROUP) for name in read_header(path))
    return load_items(str(path.absolute()), task=SELECTION if selection else INTRUSION).items


def _complete_table(path: Path) -> ResponseTable | None:
    """The table of an export with all of its responses, excluded participants and checks among them; or none."""
    if "subject_id" not in read_header(path):
        return None
    table = ResponseTable.read_csv(path)
    return table if is_complete_export(table) else None


def items_by_id(files: Sequence[tuple[str, Sequence[Item]]]) -> dict[str, Item]:
    """Return the items of several files, each with its name, by their ids; a file may be given twice.

    Errors: :class:`InputError` E471 where two files have different items of one id: an answer could be to either.
    """
    items_of_id: dict[str, Item] = {}
    for path, items in files:
        for item in items:
            if items_of_id.setdefault(item.item_id, item) != item:
                what = "another item with this id was given before"
                hint = "give the test of each model a separate name: lexiscope senses … --name NAME"
                raise InputError(what, code="E471", place=Place(path, item_id=item.item_id), hint=hint)
    return items_of_id


def read_answers(paths: Sequence[str], items: Mapping[str, Item]) -> SenseTestAnswers:
    """Read people's answers to *items*.

    Errors: :class:`InputError` E471 for another file, ``responses.csv`` of an export, an answer to none of the items
    or that is not one of an item's options, of a model, or to a task that is no test of senses; E508 for answers of
    people and of simulated participants together.
    """
    answers = ResponseTable.concat([_answers_in_file(Path(path), items) for path in paths])
    refuse_mixture(answers.unique("subject_kind"), place=Place(", ".join(map(str, paths))))
    return SenseTestAnswers(answers, items)


def check_known(path: Path, answers: ResponseTable, items: Mapping[str, Item]) -> None:
    """Check that all answers of a file are to *items*. Errors: :class:`InputError` E471 naming one that is not."""
    unknown = [name for name in answers.unique("item_id") if name not in items]
    if unknown:
        what = f"it answers {counted(len(unknown), 'item')} of no file of items"
        raise InputError(what, code="E471", place=Place(str(path), item_id=unknown[0]), hint=_FORMS)


def _answers_in_file(path: Path, items: Mapping[str, Item]) -> ResponseTable:
    header = read_header(path)
    by_hand = {part: name for part, names in _BY_HAND.items() for name in header if name in names}
    if "subject_id" not in header and len(by_hand) == len(_BY_HAND):
        table = _choices_by_hand(path, by_hand, items)
        _check_options(path, table, items)
        return table
    if "subject_id" not in header:
        what = f"this is not a table of responses: its columns are {', '.join(header[:6]) or 'none'}"
        raise InputError(what, code="E471", place=Place(str(path), 1), hint=_FORMS)
    if _complete_table(path) is not None:
        raise InputError(COMPLETE, code="E471", place=Place(str(path)), hint="give choices.csv of the same export")
    table = ResponseTable.read_csv(path).where(measure=MEASURE)
    for task in table.unique("task"):
        if task not in TASKS:
            what = f"it answers the task {task!r}, which is not a test of senses"
            raise InputError(what, code="E471", place=Place(str(path)), hint=f"use {' or '.join(TASKS)}")
    # a model's answer in a majority of three would be a judgment that no person made
    models = [kind for kind in table.unique("subject_kind") if kind not in PEOPLE_KINDS]
    if models:
        what = f"it holds answers of the kind {models[0]!r}, which no person gave"
        hint = "name the run of the models with --models instead"
        raise InputError(what, code="E471", place=Place(str(path)), hint=hint)
    check_known(path, table, items)
    _check_options(path, table, items)
    return table


def _choices_by_hand(path: Path, columns: Mapping[str, str], items: Mapping[str, Item]) -> ResponseTable:
    """Return choices that were written by hand, a row each; an empty choice is a page without an answer.

    Errors: :class:`InputError` E471 for an item of no file of items, E502 for two choices of a participant on a page.
    """
    cells: dict[tuple[str, str], str | None] = {}
    for place, row in read_csv(path).rows():
        person, item_id, choice = (row[columns[part]].strip() for part in _BY_HAND)
        if item_id not in items:
            what = f"it answers the item {item_id!r} of no file of items"
            raise InputError(what, code="E471", place=place, hint=_FORMS)
        if (person, item_id) in cells:
            what = f"{person!r} answered the item {item_id!r} before"
            raise InputError(what, code="E502", place=place, hint="keep one of the two rows")
        cells[person, item_id] = choice or None
    people, asked = [person for person, _ in cells], [item_id for _, item_id in cells]
    about = {"subject_id": people, "subject_kind": [kind_of_person(person) for person in people], "item_id": asked}
    tasks = [task_of(items[item_id]) for item_id in asked]
    return ResponseTable.from_columns(about | {"task": tasks, "measure": MEASURE, "option": [*cells.values()]})


def _check_options(path: Path, answers: ResponseTable, items: Mapping[str, Item]) -> None:
    """Check that every choice is on its page: another spelling would be counted as a wrong answer."""
    offered = {name: options_of(items[name]) for name in answers.unique("item_id")}
    for name, option in zip(answers.column("item_id").tolist(), answers.column("option").tolist(), strict=True):
        if option is not None and option not in offered[name]:
            what = f"the answer {option!r} is not one of its options: {', '.join(offered[name])}"
            hint = "give the items that were asked, and answers as the app writes them"
            raise InputError(what, code="E471", place=Place(str(path), item_id=name), hint=hint)


def simulated_notice(answers: ResponseTable) -> tuple[str, ...]:
    """Return what must be said where some of the people are simulated, else nothing."""
    return (f"Simulated participants: {TOLD_SIMULATED}.",) if holds_simulated(answers) else ()


def task_of(item: Item) -> str:
    """Return which test an item belongs to: sense selection where it has groups of words, else word intrusion."""
    return SELECTION if any(name.startswith(GROUP) for name in item.conditions) else INTRUSION


def options_of(item: Item) -> tuple[str, ...]:
    """Return what can be answered to an item: its words, or the numbers of its senses."""
    return tuple(groups_of(item)) if task_of(item) == SELECTION else words_of(item)


def tested_word(item: Item) -> str:
    """Return the word whose senses an item of a test is about."""
    return str(item.conditions.get("word", item.word))


def words_in_groups(items: Iterable[Item]) -> set[str]:
    """Return all words of the groups that sense selection shows: those that need a reference vector."""
    asked = [item for item in items if task_of(item) == SELECTION]
    return {word for item in asked for group in groups_of(item).values() for word in group}


def right_answers(items: Iterable[Item]) -> dict[str, str]:
    """Return what is right in the sense of the tests: the intruder, or the sense that the vectors themselves choose.

    Errors: :class:`InputError` naming an item that does not say.
    """
    answers = {}
    for item in items:
        right = intruder(item) if task_of(item) == INTRUSION else str(item.condition("model_choice"))
        if right is None:
            what = "the item does not say which word is its intruder"
            hint = "give it as gold, or in the column intruder"
            raise InputError(what, place=Place(item_id=item.item_id), hint=hint)
        answers[item.item_id] = right
    return answers


@dataclass(frozen=True, eq=False)
class SenseTest:
    """The answers to a test (``task``) of one model's senses, and the items that were answered, of ``n_pages``.

    ``resamples`` and ``seed`` are those of the intervals, which resample words.
    """

    task: str
    model: str
    answers: ResponseTable
    items: tuple[Item, ...]
    n_pages: int
    resamples: int = 2000
    seed: int = 0

    @cached_property
    def words(self) -> dict[str, str]:
        """The word whose senses an item is about, by the item's id."""
        return GroupOf({item.item_id: tested_word(item) for item in self.items}, "words")

    @cached_property
    def choices(self) -> tuple[Ratings, tuple[str, ...]]:
        """What was chosen, and the names of the options."""
        return choices_from_table(self.answers, measure=MEASURE, kinds=PEOPLE_KINDS)

    @cached_property
    def right(self) -> dict[str, str]:
        """The correct answer to each item. Errors: those of :func:`right_answers`."""
        return right_answers(self.items)

    @property
    def bootstrap(self) -> dict[str, int]:
        """How intervals are made, as arguments of the analyses."""
        return {"resamples": self.resamples, "seed": self.seed}

    @cached_property
    def result(self) -> WordIntrusion | SenseSelection:
        """How often the correct answer is given.

        Errors: those of :func:`~lexiscope.analysis.senses.sense_tests.word_intrusion`,
        :func:`~lexiscope.analysis.senses.sense_tests.sense_selection` and :func:`right_answers`.
        """
        ratings, options = self.choices
        # of pages of several sizes the most
        n_options = max(len(options_of(item)) for item in self.items)
        how = {"n_options": n_options, **self.bootstrap}
        if self.task == INTRUSION:
            return word_intrusion(ratings, options, intruders=self.right, groups=self.words, trust=None, **how)
        model = ModelAnswers.of(self.items)
        return sense_selection(ratings, options, model=model, groups=self.words, trust=None, **how)

    @property
    def can_resample(self) -> bool:
        """Whether there is a judgment, and a second word: without it resampling is impossible."""
        return len(set(self.words.values())) > 1 and bool(self.choices[0].counts().any())

    def hits(self) -> Ratings:
        """Return the same judgments as 1 where the answer is right, else 0."""
        ratings, options = self.choices
        raters = [ratings.rater_ids[code] for code in ratings.rater.tolist()]
        items = [ratings.item_ids[code] for code in ratings.item.tolist()]
        chosen = [options[int(value)] for value in ratings.value]
        right = [float(option == self.right[name]) for option, name in zip(chosen, items, strict=True)]
        return Ratings.from_arrays(raters, items, right)

    def agreement_of_items(self) -> dict[str, float]:
        """Return the share of the winning answer of each item with two judgments or more."""
        ratings, _ = self.choices
        n, votes = ratings.counts(), option_table(ratings)[1].max(axis=1, initial=0)
        return {ratings.item_ids[row]: float(votes[row] / n[row]) for row in np.flatnonzero(n > 1).tolist()}

    def questions(self) -> tuple[SenseQuestion, ...]:
        """Return the questions of sense selection that have an answer, without their dummies."""
        if not isinstance(self.result, SenseSelection):
            return ()
        majorities, questions = self.result.human_choice, []
        for item in self.items:
            if item.item_id in majorities:
                groups = {sense: words for sense, words in groups_of(item).items() if not is_dummy(item, sense)}
                human, model = majorities[item.item_id], self.right[item.item_id]
                questions.append(SenseQuestion(item.item_id, tested_word(item), groups, human, model))
        return tuple(questions)

    def counts_text(self) -> str:
        """Return how much was answered, as text: what the shares of a table do not show."""
        ratings, _ = self.choices
        n, voted = ratings.counts(), majority(ratings)
        sizes = n[n > 0]
        per_page = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
        gaps = {
            "pages without a majority": int((~voted.absolute & (n > 0)).sum()),
            "pages without an answer": self.n_pages - len(sizes),
            "judgments without a choice": ratings.n_missing,
        }
        people, pages = counted(len(ratings.rater_ids), "person", "people"), counted(len(sizes), "page")
        whole = f"{counted(int(n.sum()), 'judgment')} of {people} on {pages}, {per_page} each"
        return "; ".join([whole, *(f"{what}: {count}" for what, count in gaps.items() if count)])


def sense_tests(
    judgments: SenseTestAnswers,
    known: Mapping[str, str] | None = None,
    *,
    resamples: Annotated[int, Option("number of resamples of words, for intervals", least=0)] = 2000,
    seed: Annotated[int, Option("random seed of the intervals", least=0)] = 0,
) -> list[SenseTest]:
    """Return the answers to each test of each model's senses, in the order in which they come.

    *known* are the ids of subjects by their revision, id and title: items of such vectors are a test of that subject;
    others have the name that their items give. If vectors of two revisions have one name, the beginning of its revision
    is added to each.
    """
    models = _models(judgments.items, known or {})
    item_ids: dict[tuple[str, str], list[str]] = {}
    pages = Counter((task_of(item), models[item_id]) for item_id, item in judgments.items.items())
    for task in TASKS:
        for item_id in judgments.responses.where(task=task).unique("item_id"):
            item_ids.setdefault((task, models[item_id]), []).append(item_id)
    return [
        SenseTest(
            task,
            model,
            judgments.responses.where(task=task, item_id=tuple(ids)),
            tuple(judgments.items[item_id] for item_id in ids),
            pages[task, model],
            resamples,
            seed,
        )
        for (task, model), ids in item_ids.items()
    ]


def _models(items: Mapping[str, Item], known: Mapping[str, str]) -> dict[str, str]:
    """The model whose senses each item shows, by the item's id."""
    kinds = {
        item_id: (str(item.conditions.get("model", "")), str(item.conditions.get("revision", "")))
        for item_id, item in items.items()
    }
    revisions = Counter(named for named, _ in set(kinds.values()))
    names = {}
    for named, revision in set(kinds.values()):
        own = f" ({revision[:_SHORT]})" if revisions[named] > 1 else ""
        names[named, revision] = known.get(revision) or known.get(named) or f"{named or '(model not named)'}{own}"
    return {item_id: names[kind] for item_id, kind in kinds.items()}
