"""Recovery of planted senses: do induced senses tell apart what was planted?

Rows are usages: the pseudo-word, the sense that was chosen, the sense that was planted. All figures are means over
words, so that each word counts the same, with an interval that resamples words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from lexiscope.analysis.bootstrap import Interval, mean_interval
from lexiscope.core.errors import InputError, StatisticError


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
    each: tuple[WordRecovery, ...]


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
    >>> found.each[0].n_recovered, found.each[1].n_recovered
    (2, 1)
    """
    if not len(words) == len(induced) == len(planted):
        raise InputError(f"{len(words)} words, {len(induced)} induced and {len(planted)} planted senses")
    names = sorted(set(words))
    if len(names) < 2:
        raise StatisticError(f"recovery is a mean over words, and there are {len(names)}", hint="plant more words")
    place = np.array(words)
    chosen, gold = np.asarray(induced), np.array(planted)
    each = tuple(word_recovery(name, chosen[place == name], gold[place == name].tolist()) for name in names)
    accuracy, purity = ([getattr(word, name) for word in each] for name in ("accuracy", "purity"))
    return SenseRecovery(
        accuracy=float(np.mean(accuracy)),
        accuracy_interval=mean_interval(accuracy, level=level, resamples=resamples, seed=seed),
        purity=float(np.mean(purity)),
        purity_interval=mean_interval(purity, level=level, resamples=resamples, seed=seed),
        majority=float(np.mean([word.majority for word in each])),
        recovered=float(np.mean([word.n_recovered for word in each])),
        n=len(words),
        each=each,
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
