"""Choice sets in a design: the cell (suite, expression, condition) of each, and what a subject decided in every cell.

The place of a choice set is what its conditions say: those that :func:`lexiscope.items.minimal_pairs.choice_sets` gives
its items, and :func:`lexiscope.items.choice_set_file.read_designed` the items of a file. Each cell has one choice set
for each item of the collection (the condition ``item``), so cells are compared item by item; intervals resample the
sentences (``sentence``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.accuracy import Accuracy, Contrast, accuracy, chance_level, contrast
from lexiscope.analysis.choice_sets import Decisions, decisions_of
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scoring import Per

CONTROLLED, RANDOM, BOTH = "controlled", "random", "controlled_and_random"
CORRECT, INCORRECT, BOTH_ALONE = "correct_vs_random", "incorrect_vs_random", "both_vs_random"
JOINT: Mapping[str, tuple[str, str]] = {BOTH: (CONTROLLED, RANDOM), BOTH_ALONE: (CORRECT, INCORRECT)}
"""Conditions that are right where both of their parts are."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a design; its ``name`` is the ``condition`` of its records."""

    suite: str
    expression: str
    condition: str

    @property
    def name(self) -> str:
        """Suite, expression where there is one, condition.

        >>> Cell("relation", "means", "random").name
        'relation/means/random'
        """
        return "/".join(part for part in (self.suite, self.expression, self.condition) if part)

    @property
    def is_joint(self) -> bool:
        """Whether it is right where two conditions are."""
        return self.condition in JOINT

    @property
    def is_alone(self) -> bool:
        """Whether the two words have no context: each against random words, for nothing tells them apart."""
        return self.condition in (CORRECT, INCORRECT, BOTH_ALONE)

    def chance(self, n_options: int) -> float:
        """Return the chance level; *n_options* is the largest number of options in it.

        Both words best of twelve is 1/66; better than the distractor and all random nouns is best of twelve.

        >>> Cell("suite", "", BOTH_ALONE).chance(11) == 1 / 66, Cell("suite", "", BOTH).chance(11) == 1 / 12
        (True, True)
        """
        return chance_level(n_options + self.is_joint, n_winners=2 if self.condition == BOTH_ALONE else 1)


def cell_of(item: Item) -> Cell:
    """Return the cell that a choice set belongs to. Errors: :class:`InputError` E402 for an item without a place."""
    expression = str(item.conditions.get("expression", ""))
    return Cell(str(item.condition("suite")), expression, str(item.condition("condition")))


def cell_named(name: str) -> Cell:
    """Return the cell of a record's condition.

    >>> cell_named("relation/means/random"), cell_named("reference/controlled").expression
    (Cell(suite='relation', expression='means', condition='random'), '')
    """
    suite, _, rest = name.partition("/")
    expression, _, condition = rest.rpartition("/")
    return Cell(suite, expression, condition)


class ChoiceDesign:
    """The choice sets of a design by cell. Arrays over items are in the order of ``numbers``.

    >>> from lexiscope.datasets import mini_synonymy
    >>> design = ChoiceDesign(mini_synonymy.load().items)
    >>> len(design.numbers), design.n_options(cell_named("substitution/random"))
    (40, 11)
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)

    @cached_property
    def sets(self) -> Mapping[Cell, list[Item]]:
        """The choice sets of each cell, in the order of the items."""
        found: dict[Cell, list[Item]] = {}
        for item in self.items:
            found.setdefault(cell_of(item), []).append(item)
        return found

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The items of the collection, by number."""
        return tuple(sorted({int(item.condition("item")) for item in self.items}))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentence of each item."""
        sentence = {int(item.condition("item")): str(item.condition("sentence")) for item in self.items}
        return tuple(sentence[number] for number in self.numbers)

    @cached_property
    def clusters(self) -> NDArray[np.str_] | None:
        """The sentences, where there are several: one alone cannot be resampled, its items can."""
        return np.array(self.sentences) if len(set(self.sentences)) > 1 else None

    def n_options(self, cell: Cell) -> int:
        """Return the largest number of options of a choice set in a cell."""
        parts = [replace(cell, condition=part) for part in JOINT.get(cell.condition, (cell.condition,))]
        return max(len(item.options) for part in parts for item in self.sets[part])

    def decisions(self, table: ResponseTable, *, subject: str, per: Per = "token") -> dict[str, dict[Cell, Decisions]]:
        """Return what a subject decided, by measure (:func:`~lexiscope.analysis.choice_sets.decisions_of`) and cell.

        Cells without an answer are left out; joint conditions come after those that they are made of.
        Errors: :class:`InputError` for a cell that lacks an item of the collection, or an answer to one.
        """
        found = decisions_of(table, subject=subject, per=per)
        return {measure: self._by_cell(decisions) for measure, decisions in found.items()}

    def accuracy(self, cell: Cell, decisions: Decisions, *, resamples: int = 2000, seed: int = 0) -> Accuracy:
        """Return the accuracy of decisions in a cell, with its chance; the interval resamples sentences."""
        right, tied, chance = decisions.correct, decisions.tied, cell.chance(self.n_options(cell))
        return accuracy(right, clusters=self.clusters, tied=tied, chance=chance, resamples=resamples, seed=seed)

    def contrast(self, first: Decisions, second: Decisions, *, resamples: int = 2000, seed: int = 0) -> Contrast:
        """Return the contrast of two sets of decisions, item by item; the interval resamples sentences."""
        return contrast(first.correct, second.correct, clusters=self.clusters, resamples=resamples, seed=seed)

    def _by_cell(self, decisions: Decisions) -> dict[Cell, Decisions]:
        answered, found = set(decisions.item_ids), {}
        for cell, items in self.sets.items():
            ids = {int(item.condition("item")): item.item_id for item in items}
            lacking = [number for number in self.numbers if number not in ids]
            if lacking:
                raise InputError(f"{cell.name} has no choice set for {len(lacking)} items, the first is {lacking[0]}")
            if answered & set(ids.values()):
                found[cell] = decisions.aligned([ids[number] for number in self.numbers])
        for joint, parts in JOINT.items():
            for cell in [cell for cell in found if cell.condition == parts[0]]:
                other = replace(cell, condition=parts[1])
                if other in found:
                    found[replace(cell, condition=joint)] = found[cell].both(found[other])
        return found
