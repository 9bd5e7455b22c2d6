"""Several models on one line: paired differences that hold for all pairs together, and sets that cannot be
distinguished.

Every model is resampled on the same words. The intervals of all differences are of one width in standard errors, the
95 % quantile of the largest deviation of any pair (single-step max-T), so that with equal models in all but 5 % of
studies no pair differs. *Source:* Westfall & Young 1993; Mogstad, Romano, Shaikh & Wilhelm 2024.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.attainable.reached import Reached
from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.ranks import RankSet, rank_sets_of_differences, simultaneous_differences
from lexiscope.core.errors import StatisticError


@dataclass(frozen=True, slots=True)
class PairedModels:
    """The difference of two models, first minus second, with its interval; ``differs`` where it excludes 0."""

    first: str
    second: str
    difference: float
    low: float
    high: float

    @property
    def differs(self) -> bool:
        """Whether the interval excludes 0."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class ModelPairs:
    """All pairs of models of a line, the models from the highest value to the lowest.

    ``critical`` is the width of the intervals in standard errors, ``ranks`` the ranks of each model that they leave
    open.
    """

    models: tuple[str, ...]
    pairs: tuple[PairedModels, ...]
    critical: float
    ranks: tuple[RankSet, ...] = ()

    def between(self, first: str, second: str) -> PairedModels:
        """Return the pair of two models in this direction. Errors: :class:`StatisticError` for another model."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.first, pair.second) == (second, first):
                return PairedModels(first, second, -pair.difference, -pair.high, -pair.low)
        raise StatisticError(f"there is no pair of {first} and {second}")

    def sets(self) -> tuple[tuple[str, ...], ...]:
        """Return the largest sets in which no pair differs, the one with the best model first.

        They are not sets of ranks: two sets may share models, and a model between two others of a set may be missing in
        it.

        >>> pairs = [PairedModels("a", "b", 0.1, -0.1, 0.3), PairedModels("a", "c", 0.5, 0.3, 0.7)]
        >>> ModelPairs(("a", "b", "c"), (*pairs, PairedModels("b", "c", 0.4, -0.1, 0.9)), 2.4).sets()
        (('a', 'b'), ('b', 'c'))
        """
        near: dict[str, set[str]] = {model: set() for model in self.models}
        for pair in self.pairs:
            if not pair.differs:
                near[pair.first].add(pair.second)
                near[pair.second].add(pair.first)
        place = {model: number for number, model in enumerate(self.models)}
        cliques = (tuple(sorted(clique, key=place.__getitem__)) for clique in _cliques(set(), set(near), set(), near))
        return tuple(sorted(cliques, key=lambda clique: [place[model] for model in clique]))


def _cliques(chosen: set[str], open_: set[str], done: set[str], near: Mapping[str, set[str]]) -> list[set[str]]:
    """The maximal cliques of a graph (Bron & Kerbosch 1973, with a pivot)."""
    if not open_ and not done:
        return [chosen]
    pivot = max(sorted(open_ | done), key=lambda model: len(near[model] & open_))
    cliques: list[set[str]] = []
    for model in sorted(open_ - near[pivot]):
        cliques += _cliques(chosen | {model}, open_ & near[model], done & near[model], near)
        open_, done = open_ - {model}, done | {model}
    return cliques


def model_pairs(reached: Mapping[str, Reached], *, level: float = 0.95) -> ModelPairs:
    """Return all pairs of models that have a value, on the resamples that all of them have.

    Errors: :class:`StatisticError` for fewer than 2 models, or draws without a value.

    >>> draws = np.random.default_rng(1).normal(0.5, 0.02, 200)
    >>> one, other = Reached(0.5, draws, 90, 60), Reached(0.3, draws - 0.2, 90, 60)
    >>> pairs = model_pairs({"low": other, "high": one})
    >>> pairs.models, pairs.pairs[0].differs, pairs.sets()
    (('high', 'low'), True, (('high',), ('low',)))
    >>> [str(ranks) for ranks in pairs.ranks]
    ['1', '2']
    """
    if len(reached) < 2:
        raise StatisticError("a comparison needs at least two models")
    models = tuple(sorted(reached, key=lambda model: (-reached[model].value, model)))
    n = min(len(reached[model].draws) for model in models)
    draws: FloatArray = np.column_stack([reached[model].draws[:n] for model in models])
    values = np.array([reached[model].value for model in models])
    words = min(reached[model].n_words for model in models)
    first, second, differences, reach = simultaneous_differences(values, draws, level, words)
    pairs = tuple(
        PairedModels(models[i], models[j], float(d), float(d - r), float(d + r))
        for i, j, d, r in zip(first.tolist(), second.tolist(), differences, reach, strict=True)
    )
    ranks = rank_sets_of_differences(first, second, differences, reach)
    return ModelPairs(models, pairs, _critical(draws, reach), ranks)


def _critical(draws: FloatArray, reach: FloatArray) -> float:
    """How many standard errors the intervals reach: the same number for every pair that varies."""
    first, second = np.triu_indices(draws.shape[1], 1)
    defined = draws[~np.isnan(draws).any(axis=1)]
    errors = (defined[:, first] - defined[:, second]).std(axis=0, ddof=1)
    sound = errors > 0
    return float((reach[sound] / errors[sound]).max()) if sound.any() else 0.0
