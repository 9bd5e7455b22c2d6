"""Duplicate senses: are the groups of words alike between which people and a model disagree?

Where two senses of a word have nearly the same neighbours, no one can say which of them a sentence has: disagreement is
then no fault of the model's choice but of its senses. *Source:* GASI §4.2, Table 3 and Figure 6. What we have of the
paper does not say which pairs of senses are compared where people and model agree; two readings are computed, each
under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    GroupLabels,
    group_codes,
    percentile_interval,
    ratio_draws,
)
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.significance import TestResult, wilcoxon_rank_sum
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name

Pairs = Literal["rivals", "all"]
"""Which pairs of senses are compared.

``rivals``: where people and model disagree, the sense that people chose with the model's; if they agree, the sense
that both chose with each other sense of the word, averaged. ``all``: all pairs of the word's senses, averaged, with any
choices.
"""
Measure = Literal["overlap", "cosine"]
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class SenseQuestion:
    """One question: its word, the words of each sense (dummies excluded), what a majority and what the model chose.

    ``human`` is ``None`` where no sense has a majority; it may be a dummy, which is then none of ``groups``.
    """

    item_id: str
    word: str
    groups: Mapping[str, Sequence[str]]
    human: str | None
    model: str


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike the senses of one question are: shared neighbours (share of the shorter list) and mean cosine.

    ``cosine`` is ``None`` where the reference vectors know no word of a group. *Higher means:* more alike.
    """

    item_id: str
    word: str
    agree: bool
    overlap: float
    cosine: float | None


@dataclass(frozen=True, slots=True)
class DuplicateComparison:
    """How alike senses are where people and model agree, and where they disagree.

    ``difference`` is disagree − agree; its interval, and those of both means, resample words. ``test`` is the rank-sum
    test over questions, which takes them for independent; ``None`` where it is undefined, with ``why``. *Higher means:*
    more alike.
    """

    measure: Measure
    agree: Estimate | Undefined
    disagree: Estimate | Undefined
    difference: Estimate | Undefined
    test: TestResult | None
    why: str = ""

    @property
    def sides(self) -> tuple[Estimate | Undefined, ...]:
        """Both means and the difference, which has the p of the test."""
        return self.agree, self.disagree, self.difference


@dataclass(frozen=True, slots=True)
class DuplicateAnalysis:
    """The likeness of each question and both comparisons; ``cosine`` is ``None`` without reference vectors.

    ``n_undecided`` questions have no majority, in ``n_dummy`` people chose a dummy, ``n_alone`` are of words with one
    sense: none of them is compared. ``n_words_unknown`` of the ``n_words`` of all groups have no reference vector.
    """

    pairs: Pairs
    likeness: tuple[Likeness, ...]
    overlap: DuplicateComparison
    cosine: DuplicateComparison | None
    n_undecided: int
    n_dummy: int
    n_alone: int
    n_words: int
    n_words_unknown: int


def shared_neighbours(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the share of words that two groups have in common, of the shorter one. *Unit:* share, 0 to 1.

    >>> shared_neighbours(["loan", "cash", "debt", "coin"], ["Cash", "river", "shore", "coin"])  # 2 of 4
    0.5
    """
    a, b = ({word.casefold() for word in group} for group in (first, second))
    return len(a & b) / min(len(a), len(b))


def mean_cosine(first: Sequence[str], second: Sequence[str], vectors: Mapping[str, ArrayLike]) -> float | None:
    """Return the mean cosine of all pairs of a word of one group with one of the other, in vectors of words.

    Words without a vector are excluded; ``None`` where a group has none left. A word that both groups have makes a pair
    with itself. *Unit:* −1 to 1.

    >>> plane = {"loan": [1.0, 0.0], "river": [0.0, 2.0], "bank": [3.0, 4.0]}
    >>> mean_cosine(["loan", "river"], ["bank", "toad"], plane)  # (3/5 + 4/5) / 2
    0.7
    >>> mean_cosine(["loan"], ["toad"], plane) is None
    True
    """
    units = []
    for group in (first, second):
        known = np.array([vectors[word] for word in group if word in vectors], dtype=np.float64)
        lengths = np.linalg.norm(known, axis=1, keepdims=True) if len(known) else np.empty((0, 1))
        units.append(known[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0] if len(known) else known)
    if not len(units[0]) or not len(units[1]):
        return None
    return float(np.mean(units[0] @ units[1].T))


def duplicate_analysis(
    questions: Sequence[SenseQuestion],
    vectors: Mapping[str, ArrayLike] | None = None,
    *,
    pairs: Pairs = "rivals",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> DuplicateAnalysis:
    """Compare how alike senses are where people and model agree and where they do not. *Source:* GASI Table 3, Fig 6.

    *vectors* (word → vector) come from elsewhere than the senses, or they would say what the model believes.
    Errors: :class:`InputError` for a question whose model's choice is not one of its senses, and for unknown *pairs*.

    Two words: where people chose against the model, the two groups share 2 of 4 words; if they agreed, 0 of 4.

    >>> bank = {"1": ["loan", "cash", "debt", "coin"], "2": ["cash", "coin", "rate", "fund"]}
    >>> bolt = {"1": ["latch", "lock", "key", "door"], "2": ["storm", "rain", "hail", "gale"]}
    >>> asked = [SenseQuestion("a", "bank", bank, "2", "1"), SenseQuestion("b", "bolt", bolt, "1", "1")]
    >>> found = duplicate_analysis(asked, resamples=200)
    >>> found.overlap.disagree.value, found.overlap.agree.value, found.overlap.difference.value
    (0.5, 0.0, 0.5)
    """
    if pairs not in get_args(Pairs):
        raise InputError(f"no pairs of senses are called {pairs!r}", hint=f"use one of {', '.join(get_args(Pairs))}")
    for question in questions:
        if question.model not in question.groups:
            what = f"the model's choice {question.model!r} is not one of the senses {', '.join(question.groups)}"
            raise InputError(what, place=Place(item_id=question.item_id))
    decided = [question for question in questions if question.human is not None]
    real = [question for question in decided if question.human in question.groups]
    several = [question for question in real if len(question.groups) >= _FEWEST]
    likeness = tuple(_likeness(question, vectors, pairs) for question in several)
    words = {word for question in questions for group in question.groups.values() for word in group}
    compare = partial(_compare_sides, pairs=pairs, likeness=likeness, level=level, resamples=resamples, seed=seed)
    return DuplicateAnalysis(
        pairs=pairs,
        likeness=likeness,
        overlap=compare("overlap"),
        cosine=None if vectors is None else compare("cosine"),
        n_undecided=len(questions) - len(decided),
        n_dummy=len(decided) - len(real),
        n_alone=len(real) - len(several),
        n_words=len(words),
        n_words_unknown=0 if vectors is None else sum(word not in vectors for word in words),
    )


def _likeness(question: SenseQuestion, vectors: Mapping[str, ArrayLike] | None, pairs: Pairs) -> Likeness:
    groups, agree = question.groups, question.human == question.model
    if pairs == "all":
        chosen = list(combinations(groups, 2))
    elif agree:
        chosen = [(question.model, other) for other in groups if other != question.model]
    else:
        chosen = [(question.model, str(question.human))]
    overlaps = [shared_neighbours(groups[a], groups[b]) for a, b in chosen]
    cosines = [mean_cosine(groups[a], groups[b], vectors) for a, b in chosen] if vectors is not None else []
    known = [cosine for cosine in cosines if cosine is not None]
    return Likeness(
        question.item_id, question.word, agree, float(np.mean(overlaps)), float(np.mean(known)) if known else None
    )


def agreement_by_overlap(
    questions: Sequence[SenseQuestion],
    agreement: Mapping[str, float],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | Undefined:
    """Return Spearman's rho, over questions, of people's agreement with the neighbours that the senses share.

    *agreement* is the share of the winning answer, by question. The overlap of a question is the mean over all pairs
    of its word's senses. Words are resampled. *Lower means:* people agree more where senses differ.
    *Source:* GASI Figure 6.
    """
    name = statistic_name("spearman", of="agreement", **{"with": "sense_overlap"})
    known = [question for question in questions if len(question.groups) >= _FEWEST and question.item_id in agreement]
    overlap = [
        float(np.mean([shared_neighbours(a, b) for a, b in combinations(question.groups.values(), 2)]))
        for question in known
    ]
    words = GroupLabels((question.word for question in known), "words")
    try:
        rho = spearman(
            [agreement[question.item_id] for question in known], overlap,
            groups=words, level=level, resamples=resamples, seed=seed, decimals=10,
        )  # fmt: skip
    except StatisticError as error:
        return Undefined(name, error.what, len(known))
    return rho.about(name=name)


def _compare_sides(
    measure: Measure, *, pairs: Pairs, likeness: Sequence[Likeness], level: float, resamples: int, seed: int
) -> DuplicateComparison:
    known = [(entry.word, entry.agree, value) for entry in likeness if (value := getattr(entry, measure)) is not None]
    values = np.array([value for _, _, value in known], dtype=np.float64)
    agree = np.array([same for _, same, _ in known], dtype=bool)
    words = [word for word, _, _ in known]
    names = [statistic_name(f"sense_{measure}", pairs=pairs, of=of) for of in ("agree", "disagree", "difference")]
    n_words = len(set(words))
    reason = _why_not(agree, n_words)
    if reason:
        agreed, disagreed, gap = (Undefined(name, reason, len(known)) for name in names)
        return DuplicateComparison(measure, agreed, disagreed, gap, None, reason)
    codes, _ = group_codes(words, len(words))
    # NaN where no question of a side was drawn
    ours, theirs = (
        ratio_draws(values * side, side, codes, n_words, resamples=resamples, seed=seed) for side in (agree, ~agree)
    )
    means = float(values[agree].mean()), float(values[~agree].mean())

    def estimate(name: str, value: float, draws: FloatArray, n: int) -> Estimate:
        interval = percentile_interval(draws, level=level, resampled="words", n_groups=n_words)
        return Estimate(name, value, interval, n, n_words)

    test: TestResult | None = None
    why = ""
    try:
        test = wilcoxon_rank_sum(values[~agree], values[agree])
    except StatisticError as error:
        why = error.what
    return DuplicateComparison(
        measure,
        estimate(names[0], means[0], ours, int(agree.sum())),
        estimate(names[1], means[1], theirs, int((~agree).sum())),
        replace(estimate(names[2], means[1] - means[0], theirs - ours, len(known)), p=test.p if test else None),
        test,
        why,
    )


def _why_not(agree: BoolArray, n_words: int) -> str:
    """Why two sides cannot be compared; empty where they can."""
    if not agree.any() or agree.all():
        return f"no question in which people and model {'disagree' if agree.any() else 'agree'}"
    return "the questions are of one word" if n_words < _FEWEST else ""
