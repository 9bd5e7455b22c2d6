"""Recovery of planted senses: do induced senses tell apart what was planted?

Rows are usages: the pseudo-word, the sense that was chosen, the sense that was planted. All figures are means over
words, so that each word counts the same, with an interval that resamples words.

What an induced sense stands for is said in two ways. :func:`sense_recovery` maps it to planted senses by the usages
themselves, the best for the induced senses, as purity does: near duplicates of one sense do well there, if only the
slightest difference between them goes with the planted one. :func:`planted_selection` takes what each sense *looks
like*, its neighbours, and asks whether the sense that was chosen is one that looks right: the people's test of the
paper, with the planted word for the person. Duplicates fail there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from lexiscope.analysis.bootstrap import mean_interval
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Interval


@dataclass(frozen=True, slots=True)
class WordRecovery:
    """What became of the planted senses of one word.

    ``accuracy``: the share of its usages that are right when each induced sense may stand for one planted sense and
    each planted sense for one induced one, at best. ``purity``: when each induced sense stands for the planted sense
    that is most frequent in it; never lower. ``majority``: the share of the most frequent planted sense, what one sense
    for all reaches in both. ``n_recovered``: planted senses that an induced one stands for under purity; ``n_used``:
    induced senses that were chosen at all.
    """

    word: str
    n: int
    accuracy: float
    purity: float
    majority: float
    n_planted: int
    n_recovered: int
    n_used: int


@dataclass(frozen=True, slots=True)
class SenseRecovery:
    """Means over words, with intervals: *higher means:* the induced senses are the planted ones.

    ``majority`` is what choosing one sense for all usages reaches. ``n`` usages of the words in ``each``.
    """

    accuracy: float
    accuracy_interval: Interval
    purity: float
    purity_interval: Interval
    majority: float
    recovered: float
    n: int
    words: tuple[WordRecovery, ...]

    def results(self) -> tuple[Estimate, ...]:
        """Return the four means as results."""
        return (
            Estimate("planted_accuracy", self.accuracy, self.accuracy_interval, self.n),
            Estimate("planted_purity", self.purity, self.purity_interval, self.n),
            Estimate("planted_majority", self.majority, n=self.n),
            Estimate("planted_recovered", self.recovered, n=self.n),
        )


def sense_recovery(
    words: Sequence[str],
    induced: Sequence[int] | NDArray[np.int64],
    planted: Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> SenseRecovery:
    """Compare induced with planted senses, usage by usage.

    Errors: :class:`InputError` for columns of unequal length; :class:`StatisticError` for fewer than two words.

    >>> found = sense_recovery(["ab"] * 4 + ["cd"] * 4, [0, 0, 1, 2, 0, 0, 0, 0], list("aabb") + list("ccdd"))
    >>> found.accuracy, found.purity, found.majority  # (3/4 + 2/4)/2, (4/4 + 2/4)/2, 2/4
    (0.625, 0.75, 0.5)
    >>> found.words[0].n_recovered, found.words[1].n_recovered
    (2, 1)
    """
    if not len(words) == len(induced) == len(planted):
        raise InputError(f"{len(words)} words, {len(induced)} induced and {len(planted)} planted senses")
    names = sorted(set(words))
    if len(names) < 2:
        raise StatisticError(f"recovery is a mean over words, and there are {len(names)}", hint="plant more words")
    place = np.array(words)
    chosen, gold = np.asarray(induced), np.array(planted)
    recoveries = tuple(word_recovery(name, chosen[place == name], gold[place == name].tolist()) for name in names)
    accuracy, purity = ([getattr(word, name) for word in recoveries] for name in ("accuracy", "purity"))
    return SenseRecovery(
        accuracy=float(np.mean(accuracy)),
        accuracy_interval=mean_interval(accuracy, level=level, resamples=resamples, seed=seed),
        purity=float(np.mean(purity)),
        purity_interval=mean_interval(purity, level=level, resamples=resamples, seed=seed),
        majority=float(np.mean([word.majority for word in recoveries])),
        recovered=float(np.mean([word.n_recovered for word in recoveries])),
        n=len(words),
        words=recoveries,
    )


def word_recovery(word: str, induced: Sequence[int] | NDArray[np.int64], planted: Sequence[str]) -> WordRecovery:
    """Compare the induced with the planted senses of one word.

    Errors: :class:`InputError` for columns of unequal length; :class:`StatisticError` without a usage.
    """
    if len(induced) != len(planted):
        raise InputError(f"{len(induced)} induced and {len(planted)} planted senses of {word!r}")
    if not len(planted):
        raise StatisticError(f"there is no usage of {word!r}")
    kinds, row = np.unique(np.asarray(planted), return_inverse=True)
    used, column = np.unique(np.asarray(induced), return_inverse=True)
    table = np.zeros((len(kinds), len(used)), np.int64)
    np.add.at(table, (row, column), 1)
    best = linear_sum_assignment(table, maximize=True)
    return WordRecovery(
        word=word,
        n=len(planted),
        accuracy=float(table[best].sum() / len(planted)),
        purity=float(table.max(axis=0).sum() / len(planted)),
        majority=float(table.sum(axis=1).max() / len(planted)),
        n_planted=len(kinds),
        n_recovered=len(set(table.argmax(axis=0).tolist())),
        n_used=len(used),
    )


@dataclass(frozen=True, slots=True)
class WordSelection:
    """How the usages of one pseudo-word were told apart, by what its senses look like.

    ``accuracy``: the share of its usages for which the sense that was chosen stands for the word that stood there.
    ``probability``: what all senses that stand for that word got together, in the mean. ``n_recovered``: planted senses
    that any induced sense stands for.
    """

    word: str
    n: int
    accuracy: float
    probability: float
    n_recovered: int


@dataclass(frozen=True, slots=True)
class PlantedSelection:
    """Means over pseudo-words, with intervals that resample them. *Higher means:* the right sense is chosen.

    Nothing is fitted to the usages, so chance is one over the number of planted senses.
    """

    accuracy: float
    accuracy_interval: Interval
    probability: float
    probability_interval: Interval
    recovered: float
    n: int
    words: tuple[WordSelection, ...]

    def results(self) -> tuple[Estimate, ...]:
        """Return the three means as results."""
        return (
            Estimate("planted_selection", self.accuracy, self.accuracy_interval, self.n),
            Estimate("planted_probability", self.probability, self.probability_interval, self.n),
            Estimate("planted_seen", self.recovered, n=self.n),
        )


def labels_by_neighbours(neighbours: ArrayLike, planted: ArrayLike) -> NDArray[np.int64]:
    """Return for each induced sense the planted word that its neighbours are nearest to: by the cosine of their mean.

    The vectors are others than those that are judged: of a training on the same text before planting, for instance, in
    which both words of a pseudo-word have vectors of their own. It is what a person does who sees the neighbours of a
    sense and says what it means. *Shape:* neighbours (senses, n, width), planted (words, width) → (senses,).
    Errors: :class:`StatisticError` for other shapes, or neighbours without a direction.

    >>> labels_by_neighbours([[[1, 0], [1, 1]], [[0, 2], [1, 1]]], [[5, 0], [0, 1]]).tolist()
    [0, 1]
    """
    near, words = np.asarray(neighbours, np.float64), np.asarray(planted, np.float64)
    if near.ndim != 3 or words.ndim != 2 or near.shape[2] != words.shape[1]:
        raise StatisticError(f"neighbours {near.shape} and planted words {words.shape} have no width in common")
    means = near.mean(axis=1)
    lengths = np.linalg.norm(means, axis=1)[:, None] * np.linalg.norm(words, axis=1)
    if not (lengths > 0).all():
        raise StatisticError("neighbours or planted words without a direction have no cosine")
    return np.asarray((means @ words.T / lengths).argmax(axis=1), np.int64)


def planted_selection(
    words: Sequence[str],
    probabilities: ArrayLike,
    right: ArrayLike,
    *,
    recovered: Mapping[str, int],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> PlantedSelection:
    """Say how often the chosen sense is one that stands for what was planted.

    *Shape:* words (usages,); probabilities (usages, K), of each induced sense; right (usages, K), true where a sense
    stands for the word that stood there. *recovered* has, for each word, the planted senses that its senses stand for.
    Of equally probable senses the first is chosen.
    Errors: :class:`InputError` for columns of unequal length; :class:`StatisticError` for fewer than two words.

    >>> p, right = [[0.9, 0.1], [0.4, 0.6]] * 2, [[True, False], [True, False]] * 2
    >>> found = planted_selection(["ab", "ab", "cd", "cd"], p, right, recovered={"ab": 2, "cd": 1})
    >>> found.accuracy, round(found.probability, 6), found.recovered  # 1/2, (.9 + .4) / 2, (2 + 1) / 2
    (0.5, 0.65, 1.5)
    """
    p, fits = np.asarray(probabilities, np.float64), np.asarray(right, np.bool_)
    if p.ndim != 2 or p.shape != fits.shape or len(words) != len(p):
        raise InputError(f"{len(words)} words, probabilities {p.shape}, what is right {fits.shape}")
    names = sorted(set(words))
    if len(names) < 2:
        raise StatisticError(f"selection is a mean over words, and there are {len(names)}", hint="plant more words")
    place = np.array(words)
    hits, mass = fits[np.arange(len(p)), p.argmax(axis=1)], (p * fits).sum(axis=1)
    rows = [(name, place == name) for name in names]
    selections = tuple(
        WordSelection(name, int(row.sum()), float(hits[row].mean()), float(mass[row].mean()), recovered[name])
        for name, row in rows
    )
    interval = partial(mean_interval, level=level, resamples=resamples, seed=seed)
    accuracy, probability = [word.accuracy for word in selections], [word.probability for word in selections]
    return PlantedSelection(
        accuracy=float(np.mean(accuracy)),
        accuracy_interval=interval(accuracy),
        probability=float(np.mean(probability)),
        probability_interval=interval(probability),
        recovered=float(np.mean([word.n_recovered for word in selections])),
        n=len(words),
        words=selections,
    )
