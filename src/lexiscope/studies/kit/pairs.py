"""A set of pairs that every subject of a run answers: rated by people, or with a right answer to *same sense?*"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.norms.norms import mean_ratings
from lexiscope.analysis.senses.similarity import similarity_results
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard
from lexiscope.core.errors import SpecError
from lexiscope.core.item import SAME_SENSE, Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Record
from lexiscope.items.answers.sense_options import with_correct_answers
from lexiscope.report.pivot import records_of


@dataclass(frozen=True, slots=True, eq=False)
class PairSet:
    """The pairs of a dataset, and the ``task`` that they are asked in.

    ``ratings`` are people's means of the items, in their order (empty where there is a right answer instead);
    ``in_context``: a pair is two usages in their contexts, not two words.
    """

    name: str
    title: str
    task: str
    items: tuple[Item, ...]
    ratings: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    in_context: bool = True
    card: DatasetCard | None = None
    responses: ResponseTable = field(default_factory=ResponseTable.empty)
    checksums: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, data: Dataset, name: str, *, title: str = "", others: Sequence[str] = ()) -> PairSet:
        """Return the pairs of a dataset, called *name*: rated ones, or those with a right answer and not of training.

        Of pairs without ratings the condition ``same_sense`` is the right answer.
        Errors: :class:`SpecError` for a dataset with neither, naming *others* that have.
        """
        card, items = data.card, data.items
        title, pairs = title or card.title.partition(":")[0], partial(cls, card=card, checksums=data.checksums)
        asked, screen = catalog.task(card.task), catalog.screens().get(card.task)
        of_two = screen is not None and screen.n_usages == 2
        if asked.truth and of_two:
            # nothing is trained here, but the training pairs of a set are its largest part by far, and not reported
            tested = (item for item in items if item.conditions.get("split") != "train")
            return pairs(name, title, card.task, tuple(item for item in tested if item.gold is not None))
        if asked.scale is not None and of_two and items:
            ratings = mean_ratings(data.responses, [item.item_id for item in items])
            if not np.isnan(ratings).any():
                in_context = any(usage.text != usage.target for usage in items[0].usages)
                return pairs(name, title, card.task, items, ratings, in_context, responses=data.responses)
            if all(SAME_SENSE in item.conditions for item in items):
                return pairs(name, title, _truth_task(), with_correct_answers(items, SAME_SENSE))
        known = f"one of {', '.join(others)}, or another" if others else "a"
        hint = f"use {known} set of rated pairs"
        raise SpecError(f"{name} has no pairs that people rated, and no right answers to 'same sense?'", hint=hint)

    @property
    def simulated(self) -> bool:
        """Whether the ratings are those of simulated participants."""
        return holds_simulated(self.responses)

    @property
    def words(self) -> list[str]:
        """The word of each pair, of two words the first: what is resampled."""
        return [item.word.casefold() for item in self.items]

    @property
    def splits(self) -> dict[str, PairSet]:
        """The pairs of each split, by its name; all of them under an empty name if they are not divided."""
        of = [str(item.conditions.get("split", "")) for item in self.items]
        return {
            split: replace(self, items=tuple(item for item, own in zip(self.items, of, strict=True) if own == split))
            for split in dict.fromkeys(of)
        }

    def correlations(
        self, answers: ResponseTable, subjects: Sequence[str], measures: Sequence[str], *, resamples: int, seed: int
    ) -> list[Record]:
        """Return how near the similarities of each subject come to the ratings, and how many pairs there are.

        See :func:`~lexiscope.analysis.senses.similarity.similarity_results`.
        """
        ids = [item.item_id for item in self.items]
        results = similarity_results(
            answers, list(zip(ids, self.ratings.tolist(), strict=True)),
            subjects=subjects, measures=measures, words=self.words, resamples=resamples, seed=seed,
        )  # fmt: skip
        n_pairs = Record("n_pairs", float(len(self.items)))
        return [replace(record, dataset=self.name) for record in records_of((n_pairs, *results))]


def _truth_task() -> str:
    """Return the task that asks of two usages whether they mean the same, as true or false."""
    return next(name for name, screen in catalog.screens().items() if screen.n_usages == 2 and catalog.task(name).truth)
