"""What the study works on: datasets divided into train, dev and test, and the answers of models and people to test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lexiscope.core.dataset import DatasetCard
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.items.search_space import MEASURE_RETRIEVED, SearchSpace
from lexiscope.items.views import CONTEXT_SPAN, shows_word

VIEWS = ("full", "context", "word", "label")
"""The views on which a model is trained and tested, a separate model on each."""

FOLDS = 5
"""Of a file without splits: every item is tested once, by a learner that learnt from the other folds."""

PEOPLE, PRINTED = "people", "people (printed)"
"""The subjects that are people: those whose answers were given, and those whose scores the paper prints."""

NOT_ASKED = "Not asked for: "
"""Begins the reason why a dataset of the paper is not in a run that was not asked for it."""

PAIR_TASKS = ("same_sense", "sense_verification")
RETRIEVAL_TASKS = ("sense_retrieval", "entity_link")


@dataclass(frozen=True, eq=False)
class AuditSet:
    """A dataset that is audited: what is learnt from, chosen by and tested on, and how it came to be divided so.

    ``arranged`` says in words what was done to its splits; ``space`` is what retrieval searches; ``tested`` names the
    published split that is tested. ``folds``: the fold of each item of ``test``, if every item is tested and learnt
    from in turn; there is then no train or dev.
    """

    name: str
    title: str
    task: str
    train: tuple[Item, ...]
    dev: tuple[Item, ...]
    test: tuple[Item, ...]
    tested: str = "test"
    arranged: tuple[str, ...] = ()
    card: DatasetCard | None = None
    space: SearchSpace | None = None
    checksums: tuple[tuple[str, str], ...] = ()
    folds: tuple[int, ...] = ()
    caught: tuple[str, ...] = ()
    """How many items of the file are catch trials, which are not used."""

    @property
    def views(self) -> tuple[str, ...]:
        """The views that are asked; with the published CONTEXT beside ours if an item shows its word a second time."""
        return (*VIEWS, CONTEXT_SPAN) if self.n_shown else VIEWS

    @cached_property
    def n_shown(self) -> int:
        """The tested items whose texts show the word outside its span too."""
        return sum(map(shows_word, self.test))

    @property
    def measure(self) -> str:
        """The measure of the rows that answer its items."""
        return MEASURE_RETRIEVED if self.task in RETRIEVAL_TASKS else "choice"

    @property
    def labelled(self) -> tuple[Item, ...]:
        """All items that have a right answer, in the order train, dev, test."""
        return self.train + self.dev + self.test

    def gold_of(self, item_ids: Iterable[str]) -> dict[str, str]:
        """Return the right answers of these tested items, in the order of the ids."""
        gold = {item.item_id: str(item.gold) for item in self.test}
        return {item_id: gold[item_id] for item_id in item_ids}

    @property
    def words(self) -> dict[str, str]:
        """The word of every tested item: what is resampled."""
        return {item.item_id: item.word for item in self.test}


@dataclass(frozen=True, slots=True)
class NotUsed:
    """A dataset that was asked for and is not in the run, and why."""

    name: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Trained:
    """The training on one view: figures on dev at the rate that was best, one for each seed, and what was chosen."""

    view: str
    method: str
    monitor: str
    dev: tuple[float, ...]
    chosen: str
    n_train: int
    cut: Mapping[str, int] = field(default_factory=dict)
    """The items of which something was cut, being longer than what the model reads, by split."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What one model answered to the tested items of one dataset, in all views, and how it had learnt them."""

    dataset: str
    subject: str
    responses: ResponseTable
    trained: tuple[Trained, ...] = ()
    plan: str = ""
    left_out: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """The ids of the tested items that were asked."""
    blind: Mapping[str, str] = field(default_factory=dict)
    """The views that the model cannot see, each with the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Everything that the analyses read. ``guesses`` are items with a guessed word, and how they were made, in words.

    ``own``: the items are the user's, not the paper's.
    """

    sets: tuple[AuditSet, ...]
    not_used: tuple[NotUsed, ...]
    answers: tuple[Answers, ...]
    people: Mapping[str, ResponseTable] = field(default_factory=dict)
    guesses: Mapping[str, tuple[tuple[Item, ...], str]] = field(default_factory=dict)
    own: bool = False
    not_run: tuple[str, ...] = ()
    """The default models that could not be run here, each with the reason."""

    @property
    def simulated(self) -> bool:
        """Whether the answers of people are those of simulated participants."""
        return any(holds_simulated(table) for table in self.people.values())

    @property
    def responses(self) -> ResponseTable:
        """All answers of the run, each to an item that can be told from those of the other datasets.

        Two variants of one dataset (``planted_bias`` with other dials) number their items alike: where sets of one task
        share ids, the name of the dataset stands before each of their ids, ``DATASET:ITEM_ID``.
        """
        alike = self._alike()
        answered = [*((each.dataset, each.responses) for each in self.answers), *self.people.items()]
        return ResponseTable.concat([_under(name, table) if name in alike else table for name, table in answered])

    def _alike(self) -> set[str]:
        """The datasets whose item ids another one has too; of different tasks, the task tells them apart."""
        owners: dict[tuple[str, str], list[str]] = {}
        for audit in self.sets:
            for item in audit.labelled:
                owners.setdefault((audit.task, item.item_id), []).append(audit.name)
        return {name for names in owners.values() if len(names) > 1 for name in names}

    @property
    def checksums(self) -> dict[str, str]:
        """The checksums of all files that were read, by name."""
        return {path: digest for each in self.sets for path, digest in each.checksums}

    def of(self, dataset: str) -> tuple[Answers, ...]:
        """Return the answers of all models to one dataset."""
        return tuple(each for each in self.answers if each.dataset == dataset)


def _under(dataset: str, table: ResponseTable) -> ResponseTable:
    return table.with_column("item_id", [f"{dataset}:{item_id}" for item_id in table.column("item_id")])
