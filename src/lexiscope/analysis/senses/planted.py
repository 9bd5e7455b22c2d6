"""Recovery of planted senses: do induced senses distinguish what was planted?

Rows are usages: the pseudo-word, the sense that was chosen, the sense that was planted. All figures are means over
words, so that each word counts the same, with an interval that resamples words.

There are two ways to decide what an induced sense stands for. :func:`sense_recovery` maps it to planted senses by the
usages themselves, the best for the induced senses, as purity does: near duplicates of one sense do well there, if the
slightest difference between them is associated with the planted one. :func:`planted_selection` takes what each sense
*looks like*, its neighbours, and asks whether the sense that was chosen is one that looks right: the people's test of
the paper, with the planted word for the person. Duplicates fail there.

Either way each sense of a pseudo-word stands for one of its planted words, or for none.
:func:`planted_calibration` then asks for the paper's measure P, the probability of what is right, and whether
probabilities mean what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from lexiscope.analysis.bootstrap import mean_interval, no_interval, percentile_interval, ratio_draws
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, Interval, statistic_name

ONE_TO_ONE, NEIGHBOURS = "one_to_one", "neighbours"
"""How it is decided what an induced sense stands for: by the usages, one to one at best, or by its neighbours."""


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
    interval = _word_interval(level=level, resamples=resamples, seed=seed)
    return SenseRecovery(
        accuracy=float(np.mean(accuracy)),
        accuracy_interval=interval(accuracy),
        purity=float(np.mean(purity)),
        purity_interval=interval(purity),
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
    kinds, used, table, best = _one_to_one(induced, planted)
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


def _one_to_one(
    induced: Sequence[int] | NDArray[np.int64], planted: Sequence[str]
) -> tuple[NDArray[np.str_], NDArray[np.int64], NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return planted senses, induced senses that were chosen, the table of counts, and the best cells, one a row."""
    kinds, row = np.unique(np.asarray(planted), return_inverse=True)
    used, column = np.unique(np.asarray(induced), return_inverse=True)
    table = np.zeros((len(kinds), len(used)), np.int64)
    np.add.at(table, (row, column), 1)
    return kinds, used, table, linear_sum_assignment(table, maximize=True)


def labels_by_usages(
    words: Sequence[str], probabilities: ArrayLike, planted: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return for each word what each of its induced senses stands for: the mapping of ``accuracy``, one to one at best.

    Empty for a sense that stands for no planted one. The mapping is fitted to the usages themselves, so that what is
    measured by it is at least as high as in new text. *Shape:* probabilities (usages, K).
    Errors: :class:`InputError` for columns of unequal length.

    >>> labels_by_usages(["ab"] * 3, [[0.1, 0.2, 0.7], [0.2, 0.7, 0.1], [0.1, 0.8, 0.1]], ["a", "b", "b"])
    {'ab': ('', 'b', 'a')}
    """
    p, place, gold = _checked(words, probabilities, planted)
    chosen = p.argmax(axis=1)
    labels = {}
    for word in dict.fromkeys(words):
        kinds, used, _, (rows, columns) = _one_to_one(chosen[place == word], gold[place == word].tolist())
        own = dict(zip(used[columns].tolist(), kinds[rows].tolist(), strict=True))
        labels[word] = tuple(own.get(number, "") for number in range(p.shape[1]))
    return labels


@dataclass(frozen=True, slots=True)
class WordSelection:
    """How the usages of one pseudo-word were distinguished, by what its senses look like.

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
    which both words of a pseudo-word have separate vectors. It is what a person does who sees the neighbours of a sense
    and says what it means. *Shape:* neighbours (senses, n, width), planted (words, width) → (senses,).
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


def _word_interval(**how: Any) -> Callable[[Sequence[float]], Interval]:
    """The interval of a mean over words of a share."""
    return partial(mean_interval, resampled="words", within=(0.0, 1.0), **how)


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
    """Return how often the chosen sense is one that stands for what was planted.

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
    interval = _word_interval(level=level, resamples=resamples, seed=seed)
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


# -- the probability of what is right, and calibration ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The usages whose confidence is above ``low`` and at most ``high``: how many, how confident, how many right.

    ``n`` usages; ``confidence`` and ``right`` are means in which each word counts the same, with the ``interval`` of
    ``right``; none of them is a number in an empty bin.
    """

    low: float
    high: float
    n: int
    confidence: float
    right: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class PlantedCalibration:
    """What the probabilities of induced senses are worth as probabilities of planted words; intervals resample words.

    ``probability`` is the paper's P: the mean probability of what is right. ``overconfidence`` is the mean confidence
    less the share that is right: above 0 where probabilities promise too much. ``error`` is the expected calibration
    error over the ``bins``, ``brier`` the Brier score (0 to 2). *mapping* says how senses got their planted words.
    ``n`` usages of ``n_words`` words.
    """

    mapping: str
    probability: float
    probability_interval: Interval
    confidence: float
    accuracy: float
    overconfidence: float
    overconfidence_interval: Interval
    error: float
    error_interval: Interval
    brier: float
    brier_interval: Interval
    bins: tuple[ReliabilityBin, ...]
    n: int
    n_words: int

    def results(self) -> tuple[Estimate, ...]:
        """Return the means as results, and the share that is right in each bin that holds usages."""
        own = {"senses": self.mapping}
        # of the mapping by neighbours P has a name of its own since it was first computed
        p = () if self.mapping == NEIGHBOURS else (
            Estimate(probability_name(self.mapping), self.probability, self.probability_interval, self.n),
        )  # fmt: skip
        return (
            *p,
            Estimate(statistic_name("planted_overconfidence", **own), self.overconfidence,
                     self.overconfidence_interval, self.n),
            Estimate(error_name(self.mapping, bins=len(self.bins)), self.error, self.error_interval, self.n),
            Estimate(statistic_name("planted_brier", **own), self.brier, self.brier_interval, self.n),
            *(
                Estimate(reliability_name(self.mapping, bins=len(self.bins)), own_bin.right, own_bin.interval,
                         own_bin.n, note=f"mean confidence {own_bin.confidence:.3f}")
                .about(condition=f"{own_bin.low:.2f}-{own_bin.high:.2f}")
                for own_bin in self.bins
                if own_bin.n
            ),
        )  # fmt: skip


def probability_name(mapping: str) -> str:
    """Return the name of P, the mean probability of what is right, under a mapping of senses to planted words.

    >>> probability_name("one_to_one"), probability_name("neighbours")
    ('planted_probability(senses=one_to_one)', 'planted_probability')
    """
    return "planted_probability" if mapping == NEIGHBOURS else statistic_name("planted_probability", senses=mapping)


def error_name(mapping: str, *, bins: int = 10) -> str:
    """Return the name of the expected calibration error over a number of bins."""
    return statistic_name("planted_calibration_error", senses=mapping, bins=bins)


def reliability_name(mapping: str, *, bins: int = 10) -> str:
    """Return the name of the share that is right in one of several bins of confidence."""
    return statistic_name("planted_reliability", senses=mapping, bins=bins)


def planted_calibration(
    words: Sequence[str],
    probabilities: ArrayLike,
    labels: Mapping[str, Sequence[str]],
    planted: Sequence[str],
    *,
    mapping: str,
    bins: int = 10,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> PlantedCalibration:
    """Return P, the probability of the right sense, and how well probabilities are calibrated; each word counts once.

    *labels* say of each sense of a word what it stands for (empty: nothing), by :func:`labels_by_usages` or by
    neighbours: *mapping* is ``one_to_one`` or ``neighbours``. The probability of a planted word is that of all senses
    that stand for it, together; what stands for nothing is one outcome more, which is never right. The answer is what
    the most probable sense stands for, the *confidence* the probability of that answer.

    *Expected calibration error:* usages fall into *bins* of equal width by their confidence; the absolute differences
    between mean confidence and share right, weighted with the bins' shares of usages. It is never below 0 and errs
    upwards where bins hold few usages, its interval too: read ``overconfidence``, which has a sign, too.
    *Brier:* the squared differences between the probabilities of all outcomes and 0 or 1, summed; lower is better.
    *Shape:* words, planted (usages,); probabilities (usages, K). *Unit:* probability. *Source:* GASI Table 2 for P;
    Guo et al. 2017 (arXiv:1706.04599) for the error; Brier 1950.
    Errors: :class:`InputError` for columns of unequal length, or a word without labels; :class:`StatisticError` for
    fewer than two words.

    >>> p, labels = [[0.9, 0.1], [0.4, 0.6]] * 2, {"ab": ("a", "b"), "cd": ("c", "d")}
    >>> found = planted_calibration(["ab", "ab", "cd", "cd"], p, labels, ["a", "a", "c", "d"], mapping="one_to_one")
    >>> round(found.probability, 3)  # ((.9 + .4) / 2 + (.9 + .6) / 2) / 2
    0.7
    >>> round(found.overconfidence, 3)  # (.9 + .6) / 2 - (1/2 + 1) / 2
    0.0
    >>> round(found.error, 3)  # half of the usages in .8-.9: |.9 - 1|; half in .5-.6: |.6 - 1/2|
    0.1
    >>> round(found.brier, 3)  # (2 (.1² + .1²) + (.6² + .6²) + (.4² + .4²)) / 4
    0.27
    """
    p, place, gold = _checked(words, probabilities, planted)
    names = sorted(set(words))
    if len(names) < 2:
        raise StatisticError(f"calibration is a mean over words, and there are {len(names)}", hint="plant more words")
    unknown = next((name for name in names if len(labels.get(name, ())) != p.shape[1]), None)
    if bins < 1 or unknown is not None:
        what = f"{bins} bins" if bins < 1 else f"{unknown!r} needs a label for each of its {p.shape[1]} senses"
        raise InputError(what, hint="give 1 bin or more, and what each sense stands for, empty for nothing")
    stands_for = np.array([tuple(labels[word]) for word in words], dtype=str)
    right = stands_for == gold[:, None]
    chosen = stands_for[np.arange(len(p)), p.argmax(axis=1)]
    mass, confidence = (p * right).sum(axis=1), (p * (stands_for == chosen[:, None])).sum(axis=1)
    # what stands for nothing is no planted word's name
    hit = (chosen == gold) & (chosen != "")
    brier = (1.0 - mass) ** 2
    for label in dict.fromkeys([*stands_for.reshape(-1).tolist()]):
        other = (p * (stands_for == label)).sum(axis=1)
        brier += np.where(gold == label, 0.0, other**2)
    # a usage weighs so much that its word weighs as much as any other
    of_word = np.searchsorted(names, place)
    weight = 1.0 / np.bincount(of_word, minlength=len(names))[of_word]
    number = np.clip(np.ceil(confidence * bins - 1e-9).astype(np.int64) - 1, 0, bins - 1)
    inside = np.zeros((len(p), bins))
    inside[np.arange(len(p)), number] = weight
    hits, trust = inside * hit[:, None], inside * confidence[:, None]
    how = {"resamples": resamples, "seed": seed}

    def interval(draws: NDArray[np.float64]) -> Interval:
        # a mean of two words has no interval either
        if len(names) == 2:
            return no_interval("it needs at least 3 values", level=level, resamples=resamples, resampled="words")
        return percentile_interval(draws, level=level, resampled="words", n_groups=len(names))

    def mean_of(values: NDArray[np.float64], least: float, most: float) -> tuple[float, Interval]:
        of_words = np.bincount(of_word, values * weight, minlength=len(names))
        return float(of_words.mean()), mean_interval(
            of_words, level=level, **how, resampled="words", within=(least, most)
        )

    # each bin's sum for each word, over the words: what the bin adds to the error
    apart = ratio_draws(trust - hits, weight, of_word, len(names), **how)
    shares = [ratio_draws(hits[:, b], inside[:, b], of_word, len(names), **how) for b in range(bins)]
    filled = inside.sum(axis=0)
    bounds = np.linspace(0.0, 1.0, bins + 1)
    reliability = []
    for b in range(bins):
        n = int((number == b).sum())
        means = (float(trust[:, b].sum() / filled[b]), float(hits[:, b].sum() / filled[b])) if n else (np.nan, np.nan)
        own = interval(shares[b]) if n else NO_INTERVAL
        reliability.append(ReliabilityBin(float(bounds[b]), float(bounds[b + 1]), n, *means, own))
    probability, score = mean_of(mass, 0.0, 1.0), mean_of(brier, 0.0, 2.0)
    overconfidence = mean_of(confidence - hit, -1.0, 1.0)
    return PlantedCalibration(
        mapping,
        *probability,
        mean_of(confidence, 0.0, 1.0)[0],
        mean_of(hit.astype(np.float64), 0.0, 1.0)[0],
        *overconfidence,
        float(np.abs((trust - hits).sum(axis=0)).sum() / len(names)),
        interval(np.abs(apart).sum(axis=1)),
        *score,
        tuple(reliability),
        len(p),
        len(names),
    )


def _checked(
    words: Sequence[str], probabilities: ArrayLike, planted: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.str_], NDArray[np.str_]]:
    p = np.asarray(probabilities, np.float64)
    if p.ndim != 2 or not len(words) == len(p) == len(planted):
        raise InputError(f"{len(words)} words, probabilities {p.shape}, {len(planted)} planted senses")
    return p, np.array(words, dtype=str), np.array(planted, dtype=str)
