"""Votes of several people on one question: the majority's rule, the share of the winning answer, and what chance gives.

A question with a majority has an answer that more than half of its judgments share: 2 of 3, 3 of 4, 3 of 5. Three
different answers of three have none. *Source:* GASI §4 (three judgments per question, majority of two).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from math import comb, factorial

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.agreement.choices import option_table, trust_weighted
from lexiscope.analysis.bootstrap import IntArray, group_codes, percentile_interval, ratio_draws
from lexiscope.analysis.ratings import PEOPLE, Ratings, Repeats, ResponseColumns
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name


def majority_of(n: int) -> int:
    """Return how many of *n* judgments make a majority: more than half.

    >>> [majority_of(n) for n in (1, 2, 3, 4, 5)]
    [1, 2, 2, 3, 3]
    """
    return n // 2 + 1


def chance_of_majority(n: int, n_options: int) -> float:
    """Return how probable it is that a majority of *n* blind choices falls on one given option of *n_options*.

    *Unit:* probability.

    >>> chance_of_majority(3, 3) == 7 / 27  # three ways to hit twice and miss once, one to hit three times: 3 * 2 + 1
    True
    >>> round(chance_of_majority(3, 10), 9)  # 3 * .1 * .1 * .9 + .1 ** 3
    0.028
    """
    _check_counts(n, n_options)
    hits = sum(comb(n, k) * (n_options - 1) ** (n - k) for k in range(majority_of(n), n + 1))
    return float(Fraction(hits, n_options**n))


def chance_of_vote_share(n: int, n_options: int) -> float:
    """Return the share of the winning answer that *n* blind choices have on average. *Unit:* share, 1/n to 1.

    The winning answer of few judgments has a large share even by chance, so agreement is to be read beside it.

    >>> round(chance_of_vote_share(3, 10) * 300, 9)  # all 3 agree in 1 of 100, 2 in 27, none in 72: 3 + 2 * 27 + 72
    129.0
    """
    _check_counts(n, n_options)
    at_most = [_ways(n, n_options, most) for most in range(n + 1)]
    mean = sum(most * (at_most[most] - at_most[most - 1]) for most in range(1, n + 1))
    return float(mean / (n * n_options**n))


def mean_chance(chance: Callable[[int, int], float], n: IntArray, n_options: int) -> float:
    """Return the mean of a chance level over items with *n* judgments each; NaN where there is no item.

    >>> round(mean_chance(chance_of_majority, np.array([3, 1]), 10), 9)  # (.028 + .1) / 2
    0.064
    """
    if not len(n):
        return float("nan")
    # few sizes occur: each level is computed once
    sizes, items = np.unique(n, return_counts=True)
    levels = [chance(size, n_options) for size in sizes.tolist()]
    return float(np.average(levels, weights=items))


def choices_from_arrays(
    raters: Sequence[str], items: Sequence[str], choices: Sequence[str | None], *, repeats: Repeats = "error"
) -> tuple[Ratings, tuple[str, ...]]:
    """Build ratings whose value is the code of the option chosen, and the options in the order of the codes.

    ``None`` is a missing choice. The same for a response table: :func:`lexiscope.analysis.ratings.choices_from_table`.
    Errors: those of :meth:`lexiscope.analysis.ratings.Ratings.from_arrays`.

    >>> ratings, options = choices_from_arrays(["ana", "eva"], ["i", "i"], ["shore", "coin"])
    >>> options, ratings.value.tolist()
    (('coin', 'shore'), [1.0, 0.0])
    """
    options = tuple(sorted({str(choice) for choice in choices if choice is not None}))
    code = {option: float(number) for number, option in enumerate(options)}
    values = [np.nan if choice is None else code[str(choice)] for choice in choices]
    return Ratings.from_arrays(raters, items, values, repeats=repeats), options


def rater_trust(raters: Sequence[str], right: Sequence[bool]) -> dict[str, float]:
    """Return each rater's share of right answers to test questions: the weight that a crowd platform calls trust.

    *Shape:* raters, right (answers to test questions,). *Unit:* share, 0 to 1. *Source:* GASI §4.1.
    Errors: :class:`InputError` where the lengths differ.

    >>> rater_trust(["ana", "ana", "eva", "eva"], [True, True, True, False])
    {'ana': 1.0, 'eva': 0.5}
    """
    if len(raters) != len(right):
        raise InputError(f"{len(raters)} raters for {len(right)} answers to test questions")
    answers: dict[str, list[bool]] = {}
    for rater, hit in zip(raters, right, strict=True):
        answers.setdefault(rater, []).append(bool(hit))
    return {rater: sum(hits) / len(hits) for rater, hits in answers.items()}


def trust_of_checks(
    table: ResponseColumns, *, measure: str = "attention_check", kinds: Collection[str] = PEOPLE
) -> dict[str, float]:
    """Return each rater's share of right answers to test questions, from their rows in a table of responses.

    A row has the value 1 (right) or 0; one without a value counts as wrong: who leaves a test question out is not known
    to read. Raters without such a row are left out. *kinds* names each ``subject_kind`` that is a rater.

    *Unit:* share. Errors: :class:`InputError` E504 where the table has
    no such row, and for a value that is neither 0 nor 1.
    """
    rows = table.where(measure=measure, subject_kind=tuple(kinds))
    codes, raters = rows.codes("subject_id")
    values = np.asarray(rows.column("value"), np.float64)
    if not len(values):
        what, hint = f"no answer to a test question: no row has the measure {measure!r}", "give the table with all rows"
        raise InputError(what, code="E504", hint=hint)
    hits = np.where(np.isnan(values), 0.0, values)
    if not np.isin(hits, (0.0, 1.0)).all():
        raise InputError(f"an answer to a test question is right (1) or wrong (0): {measure!r} has other values")
    return rater_trust([raters[code] for code in codes.tolist()], (hits == 1).tolist())


def vote_share(
    ratings: Ratings,
    *,
    trust: Mapping[str, float] | None = None,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | Undefined:
    """Return the share of the winning answer, averaged over the items with two judgments or more.

    With *trust* (rater → weight, see :func:`rater_trust`) a vote counts as much as its rater is trusted: the crowd
    platform's confidence. *groups* (item id → word) are resampled whole. *Unit:* share. *Higher means:* people agree
    more. *Source:* GASI §4.1.
    Errors: :class:`InputError` for a rater without trust; :class:`StatisticError` for one group only, or an item that
    only raters of trust 0 judged.

    Two of three choose *coin*. By trust, the two carry 0.5 + 0.5 of 2.0, and the third one's *shore* as much:

    >>> ratings, _ = choices_from_arrays(list("abcabc"), list("iiijjj"), ["coin", "coin", "shore"] + ["coin"] * 3)
    >>> round(vote_share(ratings, resamples=200).value, 9)  # (2/3 + 3/3) / 2
    0.833333333
    >>> vote_share(ratings, trust={"a": 0.5, "b": 0.5, "c": 1.0}, resamples=200).value  # (1/2 + 1) / 2
    0.75
    """
    # a single judgment always agrees with itself: such items would raise the mean
    name = statistic_name("vote_share", weights="none" if trust is None else "trust")
    n = ratings.counts()
    kept = n > 1
    if not kept.any():
        return Undefined(name, "no item has two judgments", 0)
    if trust is None:
        shares = option_table(ratings)[1].max(axis=1, initial=0)[kept] / n[kept]
    else:
        shares = trust_weighted(ratings, trust).confidence.max(axis=1, initial=0.0)[kept]
    labels = None if groups is None else ratings.item_labels(groups)[kept]
    return share(name, shares, np.ones(len(shares)), groups=labels, level=level, resamples=resamples, seed=seed)


def share(
    name: str,
    hits: ArrayLike,
    sizes: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return sum of *hits* over sum of *sizes*, its interval made by resampling whole groups of rows.

    *Shape:* hits, sizes, groups (items,). ``n`` of the result is the sum of *sizes*: what was counted.
    Errors: :class:`StatisticError` with fewer than two groups, or where the sizes sum to 0.

    >>> share("hits", [3, 1], [3, 3], resamples=200).value == 4 / 6
    True
    """
    top, bottom = np.asarray(hits, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if not bottom.sum():
        raise StatisticError(f"{name} is undefined: there is nothing to count")
    codes, count = group_codes(groups, len(top))
    draws = ratio_draws(top, bottom, codes, count, resamples=resamples, seed=seed)
    value = float(top.sum() / bottom.sum())
    return Estimate(name, value, percentile_interval(draws, level=level), round(bottom.sum()), count)


def hits_per_item(ratings: Ratings, options: Sequence[str], right: Mapping[str, str]) -> IntArray:
    """Return how many judgments of each item chose the option that *right* names for it. *Shape:* (items,).

    Errors: :class:`InputError` E506 for an item that *right* does not name.

    >>> ratings, options = choices_from_arrays(list("abab"), list("iijj"), ["x", "y", "x", "x"])
    >>> hits_per_item(ratings, options, {"i": "x", "j": "y"}).tolist()
    [1, 0]
    """
    code = {option: number for number, option in enumerate(options)}
    # an option that nobody chose has no code: -1 equals no value
    wanted = np.array([code.get(label, -1) for label in ratings.item_labels(right).tolist()], dtype=np.float64)
    hit = ratings.value == wanted[ratings.item]
    return np.bincount(ratings.item[hit], minlength=ratings.n_items).astype(np.int64)


def _ways(n: int, n_options: int, most: int) -> Fraction:
    """In how many of all sequences of *n* choices no option is chosen more than *most* times."""
    # n! times the coefficient of x**n in (sum of x**j / j! for j <= most) ** options
    once = [Fraction(1, factorial(j)) for j in range(most + 1)]
    power = [Fraction(1)] + [Fraction(0)] * n
    for _ in range(n_options):
        power = [sum((power[i - j] * c for j, c in enumerate(once[: i + 1])), Fraction(0)) for i in range(n + 1)]
    return power[n] * factorial(n)


def _check_counts(n: int, n_options: int) -> None:
    if n < 1 or n_options < 1:
        raise StatisticError(f"chance needs at least 1 judgment and 1 option, not {n} and {n_options}")
