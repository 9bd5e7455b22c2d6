"""Drift of senses between two corpora: which senses of a word appear, vanish, rise or fall.

Each usage counts for the sense that is the most probable in it: a distribution that is never certain would give a share
to a sense that no one uses. Two corpora are compared by the Jensen–Shannon divergence of their shares of senses, with a
permutation test: usages change their corpus at random, each corpus keeping its number of usages. Single senses are
reported only for words whose test is significant after Holm's adjustment over all words.

Words whose senses did not change still differ in any two samples; the divergence that chance alone makes is reported.
*Source:* Lin (1991), for the divergence; Gulordava & Baroni (2011) and Frermann & Lapata (2016), for the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.bootstrap import percentile_interval
from lexiscope.analysis.families import adjusted_family
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import AtMost, Estimate, Record, statistic_name
from lexiscope.core.settings import Option

Verdict = Literal["appears", "vanishes", "rises", "falls", "steady"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
FAMILY = "drift"
_PER_TEST = 100


@dataclass(frozen=True, slots=True)
class SenseShift:
    """One sense of a word: its number from 1, its share of the usages of each corpus, and the difference.

    ``difference`` is the second share less the first, with an interval that resamples the usages of each corpus.
    """

    number: int
    first: float
    second: float
    difference: Estimate
    verdict: Verdict = "steady"


@dataclass(frozen=True, slots=True)
class WordDrift:
    """A word: its usages in each corpus, the divergence of its senses with the test, and each sense.

    ``by_chance`` is the mean divergence of the permutations: the expected value for samples of these sizes without
    drift.
    *Unit of the divergence:* bits, 0 to 1. *Higher means:* the senses are used more differently.
    """

    word: str
    n_first: int
    n_second: int
    divergence: Estimate
    by_chance: float
    senses: tuple[SenseShift, ...]

    @property
    def drifts(self) -> bool:
        """Whether its test is significant at .05 after the adjustment."""
        p = self.divergence.p if self.divergence.p_adjusted is None else self.divergence.p_adjusted
        return p is not None and p < 0.05

    def records(self) -> tuple[Record, ...]:
        """Return the numbers of the word, as condition."""
        results = [self.divergence.about(condition=self.word)]
        results += [sense.difference.about(condition=self.word, note=sense.verdict) for sense in self.senses]
        shares = [
            Record(statistic_name("sense_share", sense=sense.number, corpus=corpus), share, condition=self.word, n=n)
            for sense in self.senses
            for corpus, share, n in (("first", sense.first, self.n_first), ("second", sense.second, self.n_second))
        ]
        return (*(record for result in results for record in result.records()), *shares)


def divergence(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Return the Jensen–Shannon divergence of distributions in bits, along the last axis. *Range:* 0 to 1.

    >>> float(divergence([1, 0], [0, 1])), float(divergence([0.5, 0.5], [0.5, 0.5]))
    (1.0, 0.0)
    """
    p, q = np.asarray(first, np.float64), np.asarray(second, np.float64)
    middle = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(side > 0, side * np.log2(side / middle), 0.0).sum(axis=-1) for side in (p, q)]
    return np.asarray(np.maximum((parts[0] + parts[1]) / 2, 0.0))


def word_drift(
    word: str,
    first: ArrayLike,
    second: ArrayLike,
    *,
    senses: Sequence[int],
    resamples: int = 2000,
    permutations: int = 2000,
    seed: int = 0,
) -> WordDrift:
    """Return how the senses of a word changed from one corpus to another, with no verdicts yet (:func:`drifts`).

    *first* and *second* are the sense of each usage: its place, from 0, among *senses*, the numbers that the senses of
    the word have. *Shape:* (usages,) each.
    Errors: :class:`StatisticError` for fewer than two usages in a corpus, or a sense that is not there.
    """
    n_senses, chosen = len(senses), [np.asarray(side, np.int64) for side in (first, second)]
    if min(map(len, chosen)) < 2 or any(((side < 0) | (side >= n_senses)).any() for side in chosen):
        sizes = " and ".join(str(len(side)) for side in chosen)
        raise StatisticError(
            f"{word}: drift needs two usages in each corpus with one of {n_senses} senses, not {sizes}"
        )
    counts = np.array([np.bincount(side, minlength=n_senses) for side in chosen])
    n_first, n_second = (int(n) for n in counts.sum(axis=1))
    shares = counts / counts.sum(axis=1, keepdims=True)
    value = float(divergence(*shares))
    generator = np.random.default_rng(seed)
    permuted = generator.multivariate_hypergeometric(counts.sum(axis=0), n_first, size=max(permutations, 1))
    null = divergence(permuted / n_first, (counts.sum(axis=0) - permuted) / n_second)
    # equal tables may differ in the last bits
    as_far = int((null >= value - 1e-12).sum())
    p = None if not permutations else (1 + as_far) / (1 + len(null)) if as_far else AtMost(1 / (1 + len(null)))
    draws = [generator.multinomial(int(own.sum()), own / own.sum(), size=resamples) / own.sum() for own in counts]
    n = n_first + n_second
    shifts = []
    for k, number in enumerate(senses):
        name = statistic_name("sense_share_difference", sense=number)
        difference = Estimate(name, float(shares[1, k] - shares[0, k]), n=n)
        if resamples:
            interval = percentile_interval(draws[1][:, k] - draws[0][:, k], resampled="usages")
            difference = replace(difference, interval=interval)
        shifts.append(SenseShift(number, float(shares[0, k]), float(shares[1, k]), difference))
    return WordDrift(
        word,
        n_first,
        n_second,
        Estimate("sense_divergence", value, n=n, unit="bits", p=p),
        float(null.mean()),
        tuple(shifts),
    )


def drifts(
    chosen: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    senses: Mapping[str, Sequence[int]],
    absent: Annotated[float, Option("a sense with a smaller share of the usages is not there")] = 0.05,
    resamples: Annotated[
        int, Option("number of bootstrap samples, and of permutations at least", flag="--bootstrap", least=100)
    ] = 2000,
    seed: Annotated[int, Option("seed of all draws", least=0)] = 0,
) -> tuple[WordDrift, ...]:
    """Return the drift of each word, most significant first; of equals the one that diverges most.

    p is adjusted over all words by Holm's method. In a word that is significant at .05, a sense whose difference has an
    interval without 0 *rises* or *falls*; it *appears* or *vanishes* where its share in the one corpus is below
    *absent* and in the other is not. All other senses are steady. Errors: those of :func:`word_drift`.
    """
    # the smallest p that permutations can give must survive the adjustment
    permutations = max(resamples, _PER_TEST * len(chosen)) if resamples else 0
    words = [
        word_drift(word, *sides, senses=senses[word], resamples=resamples, permutations=permutations, seed=seed)
        for word, sides in chosen.items()
    ]
    family = adjusted_family(FAMILY, [word.divergence.p for word in words if word.divergence.p is not None])
    decided = []
    for word in words:
        p = word.divergence.p
        if p is not None:
            adjusted = AtMost(family.of[p]) if isinstance(p, AtMost) else family.of[p]
            tested = replace(word.divergence, p_adjusted=adjusted, family=family.label)
            word = replace(word, divergence=tested)
        if word.drifts:
            word = replace(word, senses=tuple(replace(own, verdict=_verdict(own, absent)) for own in word.senses))
        decided.append(word)
    return tuple(
        sorted(
            decided, key=lambda word: (1.0 if word.divergence.p is None else word.divergence.p, -word.divergence.value)
        )
    )


def _verdict(sense: SenseShift, absent: float) -> Verdict:
    interval = sense.difference.interval
    if not interval.is_defined or interval.low <= 0 <= interval.high:
        return "steady"
    grows = sense.difference.value > 0
    less, more = (sense.first, sense.second) if grows else (sense.second, sense.first)
    if less < absent <= more:
        return "appears" if grows else "vanishes"
    return "rises" if grows else "falls"


def named(words: Sequence[WordDrift], verdict: Verdict) -> tuple[str, ...]:
    """Return the words of which a sense has this verdict, in their order."""
    return tuple(word.word for word in words if any(sense.verdict == verdict for sense in word.senses))
