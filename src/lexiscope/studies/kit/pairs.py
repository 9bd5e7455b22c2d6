"""A set of pairs that every subject of a run answers: rated by people, or with a correct answer to *same sense?*"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.bootstrap import GroupLabels
from lexiscope.analysis.comparison import compare_sides, side_of_columns
from lexiscope.analysis.correlation import settle_ties
from lexiscope.analysis.norms.norms import mean_ratings
from lexiscope.analysis.ranks import rank_results
from lexiscope.analysis.senses.similarity import similarity_name, similarity_results
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard
from lexiscope.core.errors import DataError, SpecError, StatisticError, results_and_errors
from lexiscope.core.item import SAME_SENSE, Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Contrast, Estimate, Record, Undefined, statistic_name
from lexiscope.core.settings import RatedItemSettings
from lexiscope.items.answers.sense_options import with_correct_answers
from lexiscope.report.part import Omission
from lexiscope.report.pivot import records_of
from lexiscope.studies.kit.data import own_dataset
from lexiscope.tasks import DEFAULT


@dataclass(frozen=True, slots=True, eq=False)
class PairSet:
    """The pairs of a dataset, and the ``task`` that they are asked in.

    ``ratings`` are people's means of the items, in their order (empty if there is a correct answer instead);
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
        """Return the pairs of a dataset, called *name*: rated ones, or those with a correct answer and not of training.

        The correct answer of pairs without ratings is the condition ``same_sense``.
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
                # the task that asks of two usages whether they mean the same, as true or false
                screens = catalog.screens().items()
                task = next(asked for asked, screen in screens if screen.n_usages == 2 and catalog.task(asked).truth)
                return pairs(name, title, task, with_correct_answers(items, SAME_SENSE))
        known = f"one of {', '.join(others)}, or another" if others else "a"
        hint = f"use {known} set of rated pairs"
        raise SpecError(f"{name} has no pairs that people rated, and no correct answers to 'same sense?'", hint=hint)

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
        """Return the agreement of the similarities of each subject with the ratings, and the number of pairs.

        See :func:`~lexiscope.analysis.senses.similarity.similarity_results`.
        """
        ids = [item.item_id for item in self.items]
        results = similarity_results(
            answers, list(zip(ids, self.ratings.tolist(), strict=True)),
            subjects=subjects, measures=measures, words=self.words, resamples=resamples, seed=seed,
        )  # fmt: skip
        n_pairs = Record("n_pairs", float(len(self.items)))
        return [replace(record, dataset=self.name) for record in records_of((n_pairs, *results))]

    def ranks(
        self, answers: ResponseTable, subjects: Sequence[str], measure: str, *, resamples: int, seed: int
    ) -> list[Record]:
        """Return the rank of each subject by its agreement with the ratings, with the set of ranks that is left open.

        Only pairs that all subjects cover are compared (:func:`~lexiscope.analysis.ranks.rank_results`); a single
        subject has no rank. Intervals of all differences hold together, words are resampled.
        """
        columns: dict[str, NDArray[np.float64]] = {}
        for subject in subjects:
            given = answers.where(subject_id=subject, measure=measure).by_item()
            column = np.array([given.get(item.item_id, np.nan) for item in self.items], np.float64)
            known = np.isfinite(column)
            if known.any():
                column[known] = settle_ties(column[known])
                columns[subject] = column
        words = GroupLabels(self.words, "words")
        ranks = rank_results("spearman", columns, self.ratings, groups=words, resamples=resamples, seed=seed)
        return records_of([result.about(name=rank_name(measure), dataset=self.name) for result in ranks])

    def difference(
        self, answers: ResponseTable, first: tuple[str, str], second: tuple[str, str], *, resamples: int, seed: int
    ) -> Contrast | Undefined:
        """Return the difference of two correlations with the ratings, over the pairs that both sides cover.

        A side is a subject and a measure of its similarities. Each resample of words is the same for both. *Unit:* 100
        × rho. Undefined where a side is constant there, or covers fewer than 3 pairs with the other.
        """
        given = [answers.where(subject_id=subject, measure=measure).by_item() for subject, measure in (first, second)]
        x = np.array([[own.get(item.item_id, np.nan) for item in self.items] for own in given], np.float64)
        both = np.flatnonzero(np.isfinite(x).all(axis=0))
        words, n = np.array(self.words, str)[both].tolist(), len(both)
        ratings, same = settle_ties(self.ratings[both]), first[1] == second[1]
        name = statistic_name("similarity_difference", **({"similarity": first[1]} if same else {}))
        try:
            sides = [side_of_columns("spearman", [settle_ties(own[both]), ratings], words) for own in x]
            apart = compare_sides(*sides, resamples=resamples, seed=seed, resampled="words")
        except StatisticError as error:
            return Undefined(name, error.what, n, dataset=self.name)
        here, there = (
            Estimate(similarity_name(measure), 100 * side.value, n=n, subject=subject)
            for (subject, measure), side in zip((first, second), sides, strict=True)
        )
        return Contrast(
            name, here, there, apart.interval.times(100), n, apart.n_groups,
            p=apart.p, dataset=self.name, unit="100 × rho",
        )  # fmt: skip


def rank_name(measure: str) -> str:
    """Return the name of the rank of a subject by a measure of its similarities.

    >>> rank_name("max_sim")
    'rank(of=spearman,among=subjects,similarity=max_sim)'
    """
    return statistic_name("rank", of="spearman", among="subjects", similarity=measure)


def open_pair_sets(
    named: Sequence[str], default: Sequence[str], *, titles: Mapping[str, str], languages: Mapping[str, str]
) -> tuple[tuple[PairSet, ...], tuple[Omission, ...]]:
    """Load sets of pairs by their names in the catalog; return them, and those that are not available.

    *named* are those that a user named, *default* those of a study if a user named none. *titles* are what sets are
    called in place of the titles of their data, *languages* the language of the pairs that are taken of a set.
    Errors: :class:`SpecError` for a set with neither ratings nor correct answers; :class:`DataError` if sets were
    named and none of them is available; those of a set that is available and damaged.
    """

    def load(name: str) -> PairSet:
        data, language = catalog.dataset(name), languages.get(name, "")
        own = tuple(item for item in data.items if language in ("", item.usages[0].language))
        return PairSet.of(replace(data, items=own), name, title=titles.get(name, ""), others=default)

    sets, missing = results_and_errors({name: partial(load, name) for name in named or default}, DataError)
    if named and not sets:
        raise next(iter(missing.values()))
    return tuple(sets.values()), tuple(Omission(name, f"Not available: {e.sentences}") for name, e in missing.items())


def own_pairs(settings: RatedItemSettings) -> PairSet:
    """Return the pairs of an item file with people's ratings, on any scale; pairs without a rating are excluded.

    Pairs without any rating need the column ``same_sense``. Errors: those of
    :func:`~lexiscope.studies.kit.data.own_dataset`; :class:`SpecError` for a file with neither.
    """
    path = Path(settings.items)
    data = own_dataset(
        path,
        task=DEFAULT,
        language=settings.language,
        ratings=settings.ratings,
        options=settings,
        any_scale=True,
    )
    rated = set(data.responses.where(measure=("rating", "norm")).unique("item_id"))
    items = tuple(item for item in data.items if not rated or item.item_id in rated)
    return PairSet.of(replace(data, items=items), data.card.name, title=path.stem)
