"""What the study works on: datasets divided into train, dev and test, and the answers of models and people to test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lexiscope.core.dataset import DatasetCard
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.search_space import MEASURE_RETRIEVED, SearchSpace
from lexiscope.items.views import CONTEXT_SPAN, shows_word

VIEWS = ("full", "context", "word", "label")
"""The views on which a model is trained and tested, a separate model on each."""

FOLDS = 5
"""Of a file without splits: every item is tested once, by a learner that learnt from the other folds."""

FOLDED = "folds"
"""The condition of the number of items that were tested in folds."""

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
    def sizes(self) -> dict[str, int]:
        """How many items there are by split; in folds every item is tested once."""
        if self.folds:
            return {FOLDED: len(self.test)}
        return {"train": len(self.train), "dev": len(self.dev), "test": len(self.test)}

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
