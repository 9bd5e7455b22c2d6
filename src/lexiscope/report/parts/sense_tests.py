"""People's tests of induced senses: their answers as files, read and checked, and what each test of a model contains.

The tests are word intrusion and the choice of a sense. *Source:* GASI §4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated

from lexiscope.analysis.agreement.choices import majority
from lexiscope.analysis.ratings import Ratings, choices_from_table
from lexiscope.analysis.senses.duplicates import SenseQuestion
from lexiscope.analysis.senses.intrusion import WordIntrusion, word_intrusion
from lexiscope.analysis.senses.selection import ModelAnswers, SenseSelection, sense_selection
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.settings import Option
from lexiscope.core.showing import counted
from lexiscope.core.simulated import COLLECTED, TOLD_SIMULATED, refuse_mixture
from lexiscope.items.tables.tabular import is_item_table, read_items
from lexiscope.resources.tables.delimited import read_header
from lexiscope.tasks.sense_choice import GROUP, groups_of, is_dummy
from lexiscope.tasks.sense_choice import NAME as SELECTION
from lexiscope.tasks.word_intrusion import NAME as INTRUSION
from lexiscope.tasks.word_intrusion import intruder, words_of

MEASURE = "choice"
TASKS = (INTRUSION, SELECTION)
PEOPLE_KINDS = (*COLLECTED, "recorded")
"""Each ``subject_kind`` whose answers to tests of senses are people's."""
_FORMS = "give choices.csv of an export (or another table of responses), and the files of items that were asked"
_SHORT = 8


# -- reading --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class SenseTestAnswers:
    """Answers to tests of senses, and the items that were asked, by id."""

    responses: ResponseTable = field(default_factory=ResponseTable.empty)
    items: Mapping[str, Item] = field(default_factory=dict)


def read_answers_and_items(paths: Sequence[str]) -> SenseTestAnswers:
    """Read people's answers and the items of their tests, from several files of either kind.

    Errors: those of :func:`items_by_id` and :func:`read_answers`; :class:`InputError` E471 for another file.
    """
    tables = [path for path in paths if is_item_table(Path(path))]
    items = items_by_id([(path, read_items(path)) for path in tables])
    return read_answers([path for path in paths if path not in tables], items)


def items_by_id(files: Sequence[tuple[str, Sequence[Item]]]) -> dict[str, Item]:
    """Return the items of several files, each with its name, by their ids; a file may be given twice.

    Errors: :class:`InputError` E471 where two files have different items of one id: an answer could be to either.
    """
    items_of_id: dict[str, Item] = {}
    for path, items in files:
        for item in items:
            if items_of_id.setdefault(item.item_id, item) != item:
                what = "another item with this id was given before"
                hint = "make the test of each model under a name of its own: lexiscope senses … --name NAME"
                raise InputError(what, code="E471", place=Place(path, item_id=item.item_id), hint=hint)
    return items_of_id


def read_answers(paths: Sequence[str], items: Mapping[str, Item]) -> SenseTestAnswers:
    """Read people's answers to *items*.

    Errors: :class:`InputError` E471 for another file, ``responses.csv`` of an export, an answer to none of the items
    or that is none of an item's options, of a model, or to a task that is no test of senses; E508 for answers of people
    and of simulated participants together.
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
    if "subject_id" not in header:
        what = f"this is no table of responses: its columns are {', '.join(header[:6]) or 'none'}"
        raise InputError(what, code="E471", place=Place(str(path), 1), hint=_FORMS)
    whole = ResponseTable.read_csv(path)
    # the one measure that an export's complete table always has: in it excluded people's answers are not marked
    if "completion_time" in whole.unique("measure"):
        what = "this is the complete table of an export: who is excluded is not marked in it"
        raise InputError(what, code="E471", place=Place(str(path)), hint="give choices.csv of the same export")
    table = whole.where(measure=MEASURE)
    for task in table.unique("task"):
        if task not in TASKS:
            what = f"it answers the task {task!r}, which is no test of senses"
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


def _check_options(path: Path, answers: ResponseTable, items: Mapping[str, Item]) -> None:
    """Check that every choice is on its page: another spelling would be counted as a wrong answer."""
    offered = {name: options_of(items[name]) for name in answers.unique("item_id")}
    for name, option in zip(answers.column("item_id").tolist(), answers.column("option").tolist(), strict=True):
        if option is not None and option not in offered[name]:
            what = f"the answer {option!r} is none of its options: {', '.join(offered[name])}"
            hint = "give the items that were asked, and answers as the app writes them"
            raise InputError(what, code="E471", place=Place(str(path), item_id=name), hint=hint)


# -- the items of a test --------------------------------------------------------------------------------------------


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


# -- the test of one model's senses ---------------------------------------------------------------------------------


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
        return {item.item_id: tested_word(item) for item in self.items}

    @cached_property
    def choices(self) -> tuple[Ratings, tuple[str, ...]]:
        """What was chosen, and the names of the options."""
        return choices_from_table(self.answers, measure=MEASURE, kinds=PEOPLE_KINDS)

    @cached_property
    def right(self) -> dict[str, str]:
        """The right answer to each item. Errors: those of :func:`right_answers`."""
        return right_answers(self.items)

    @property
    def bootstrap(self) -> dict[str, int]:
        """How intervals are made, as arguments of the analyses."""
        return {"resamples": self.resamples, "seed": self.seed}

    @cached_property
    def result(self) -> WordIntrusion | SenseSelection:
        """How often the right answer is given.

        Errors: those of :func:`~lexiscope.analysis.senses.intrusion.word_intrusion`,
        :func:`~lexiscope.analysis.senses.selection.sense_selection` and :func:`right_answers`.
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
        """Whether there is a judgment, and a second word: without it nothing can be resampled."""
        return len(set(self.words.values())) > 1 and bool(self.choices[0].counts().any())

    def hits(self) -> Ratings:
        """Return the same judgments as 1 where the answer is right, else 0."""
        ratings, options = self.choices
        raters = [ratings.rater_ids[code] for code in ratings.rater.tolist()]
        items = [ratings.item_ids[code] for code in ratings.item.tolist()]
        chosen = [options[int(value)] for value in ratings.value]
        right = [float(option == self.right[name]) for option, name in zip(chosen, items, strict=True)]
        return Ratings.from_arrays(raters, items, right)

    def questions(self) -> tuple[SenseQuestion, ...]:
        """Return the questions of sense selection that somebody answered, their dummies left out."""
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
        """Return how much was answered, in words: what the shares of a table do not show."""
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
    resamples: Annotated[int, Option("of words, for intervals", least=0)] = 2000,
    seed: Annotated[int, Option("of the intervals", least=0)] = 0,
) -> list[SenseTest]:
    """Return the answers to each test of each model's senses, in the order in which they come.

    *known* are the ids of subjects by their revision, id and title: items of such vectors are a test of that subject;
    others have the name that their items give. Where vectors of two revisions have one name, each is named with the
    beginning of its own.
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
