"""Agreement of choices: Cohen's kappa, percent agreement, two coders, the vote of the majority, results by word."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.agreement.left_out import Resampled, crossed_interval
from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    GroupLabels,
    IntArray,
    cluster_labels,
    group_codes,
    group_sums,
    resampled_units,
)
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.jackknife import LeftOut, jackknife_interval, left_out_groups, no_jackknife
from lexiscope.analysis.ratings import PEOPLE, Ratings, Repeats
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, statistic_name

Weights = Literal["none", "linear", "quadratic"]
_ONE_VALUE = 1e-12
"""What rounding leaves of 1 minus the agreement by chance where all ratings have one value."""


@dataclass(frozen=True, slots=True, eq=False)
class Majority:
    """Each item's most frequent value: *Shape:* value, votes, n, tied, absolute (items,).

    ``value`` is NaN where ``tied`` (two values share the most votes, or there is no rating); ``absolute`` says that
    more than half of the raters chose it.
    """

    item_ids: tuple[str, ...]
    value: FloatArray
    votes: IntArray
    n: IntArray
    tied: BoolArray
    absolute: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class TrustWeighted:
    """Confidence in each value of each item. *Shape:* options (values,), confidence (items, values), value (items,).

    ``value`` is the one of highest confidence, NaN where ``tied``; an item that no one rated is tied at 0.
    """

    item_ids: tuple[str, ...]
    options: tuple[float, ...]
    confidence: FloatArray
    value: FloatArray
    tied: BoolArray


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weights: Weights = "none",
    categories: Sequence[Any] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return Cohen's kappa of two raters' answers to the same items.

    The interval is of these two raters on other items: a jackknife over items on Fisher's z. ``resamples`` is the most
    items that are excluded one by one, 0 for no interval; more are excluded in groups, which ``seed`` deals.

    Weights count a disagreement by the distance (``linear``) or squared distance (``quadratic``) of the categories'
    positions; ``categories`` gives their order and may hold some that do not occur (default: sorted). Answers are
    numbers or text; NaN and ``None`` are missing. ``n`` counts the items that both answered. *Higher means:* they agree
    more; 1 is perfect agreement, 0 agreement as by chance. *Source:* Cohen 1960, 1968.

    Errors: :class:`StatisticError` with fewer than 2 items, or where both always chose one same category.

    >>> a, b = ["yes"] * 25 + ["no"] * 25, ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    >>> round(cohen_kappa(a, b).value, 9)  # (.7 - .5) / (1 - .5)
    0.4
    """
    a, b = _complete(first, second)
    order = list(categories) if categories is not None else sorted(set(a) | set(b))
    place = {category: position for position, category in enumerate(order)}
    unknown = [answer for answer in [*a, *b] if answer not in place]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not among the categories {order}")
    if len(a) < 2:
        raise StatisticError(f"kappa needs at least 2 items that both answered, not {len(a)}")
    rows, columns = (np.array([place[answer] for answer in side], dtype=np.int64) for side in (a, b))
    distances = _distances(len(order), weights)
    table = np.zeros((len(order), len(order)))
    np.add.at(table, (rows, columns), 1.0)
    value = float(_kappas(table[None], distances)[0])
    if np.isnan(value):
        raise StatisticError(f"kappa is undefined: both raters chose {a[0]!r} throughout")
    name = statistic_name("cohen_kappa", weights=weights)
    if not resamples:
        interval = no_jackknife("no resamples were asked for", resampled="items", scale="fisher_z", level=level)
        return Estimate(name, value, interval, len(rows))
    group, n_groups = left_out_groups(len(rows), resamples=resamples, seed=seed)
    left = np.repeat(table[None], n_groups, axis=0)
    np.add.at(left, (group, rows, columns), -1.0)
    parts = LeftOut(_kappas(left, distances), np.bincount(group, minlength=n_groups).astype(np.float64))
    return Estimate(
        name, value, jackknife_interval(value, parts, resampled="items", scale="fisher_z", level=level), len(rows)
    )


def kappa_or_reason(
    first: Sequence[str], second: Sequence[str], *, level: float, resamples: int, seed: int
) -> Estimate | Undefined:
    """Return Cohen's kappa, or why there is none.

    >>> kappa_or_reason(["a", "a"], ["a", "a"], level=0.95, resamples=0, seed=0).reason
    "kappa is undefined: both raters chose 'a' throughout"
    """
    try:
        return cohen_kappa(first, second, level=level, resamples=resamples, seed=seed)
    except StatisticError as error:
        return Undefined(statistic_name("cohen_kappa", weights="none"), error.what, len(first))


def percent_agreement(
    ratings: Ratings,
    *,
    resampled: Resampled = "raters_and_items",
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the mean over items of the share of rater pairs with the same value; for two raters, plain agreement.

    *Unit:* share, 0 to 1. ``n`` counts the items with two ratings or more. The interval is a jackknife by Wilson's
    formula; *resampled* says whether raters, items or both are a sample, ``groups`` (item id → word) are excluded
    whole, ``resamples`` is the most units that are excluded one by one, as in
    :func:`lexiscope.analysis.agreement.alpha.krippendorff_alpha`. Two raters have none over raters.

    Errors: :class:`StatisticError` where no item has two ratings.

    >>> ratings = Ratings.from_arrays(list("abcabc"), list("iiijjj"), [1, 1, 1, 1, 1, 2])
    >>> round(percent_agreement(ratings, resamples=200).value, 9)  # (3/3 + 1/3) / 2
    0.666666667
    """
    _, table = option_table(ratings)
    n = ratings.counts()
    kept = np.flatnonzero(n > 1)
    if not len(kept):
        raise StatisticError("percent agreement is undefined: no item has two ratings")
    shares = ((table * (table - 1)).sum(axis=1)[kept]) / (n * (n - 1))[kept]
    paired = (n > 1)[ratings.item]
    value = float(shares.mean())
    interval = crossed_interval(
        value,
        ratings.select(paired),
        lambda codes, n_groups: _shares_without(ratings.select(paired), codes, n_groups),
        resampled=resampled,
        groups=groups,
        scale="wilson",
        level=level,
        resamples=resamples,
        seed=seed,
    )
    return Estimate(statistic_name("percent_agreement", over="items"), value, interval, len(kept))


def _shares_without(ratings: Ratings, codes: IntArray, n_groups: int) -> FloatArray:
    """Percent agreement without each group of ratings. *Shape:* codes (ratings,) → (groups,)."""
    options, table = option_table(ratings)
    code = np.searchsorted(options, ratings.value)
    # an entry for each group and item it rated, and how many of each of its values it takes away
    pairs, entry = np.unique(codes * ratings.n_items + ratings.item, return_inverse=True)
    group, item = np.divmod(pairs, ratings.n_items)
    answers, taken = np.unique(entry.reshape(-1) * len(options) + code, return_counts=True)
    of_entry, option = np.divmod(answers, len(options))
    n, equal = ratings.counts(), (table * (table - 1)).sum(axis=1)
    there = table[item[of_entry], option]
    # t (t - 1) ordered pairs of equal values become (t - k) (t - k - 1)
    lost = there * (there - 1) - (there - taken) * (there - taken - 1)
    left_equal = equal[item] - np.bincount(of_entry, weights=lost, minlength=len(pairs))
    left = n[item] - np.bincount(of_entry, weights=taken, minlength=len(pairs))
    share = np.divide(equal, n * (n - 1), out=np.zeros(len(n)), where=n > 1)
    rest = np.divide(left_equal, left * (left - 1), out=np.zeros(len(pairs)), where=left > 1)
    change = np.bincount(group, weights=share[item] - rest, minlength=n_groups)
    gone = np.bincount(group, weights=((left < 2) & (n[item] > 1)).astype(np.float64), minlength=n_groups)
    items = np.sum(n > 1) - gone
    return np.asarray(np.divide(share.sum() - change, items, out=np.full(n_groups, np.nan), where=items > 0))


def fleiss_kappa(
    ratings: Ratings,
    *,
    resampled: Resampled = "raters_and_items",
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return Fleiss' kappa of choices by any number of raters, who may be others for each item.

    Agreement is the mean over items of the share of rater pairs with the same value; by chance it is the sum of squared
    shares of the values. Each item counts the same, also where it has fewer ratings than others (Fleiss has as many for
    each). ``n`` counts the items with two ratings or more; others do not enter. The interval is a jackknife on Fisher's
    z; *resampled*, ``groups`` (item id → word) and ``resamples`` are as in :func:`percent_agreement`. *Higher means:*
    raters agree more; 1 is perfect agreement, 0 agreement as by chance.
    *Source:* Fleiss 1971.

    Errors: :class:`StatisticError` with fewer than 2 items of two ratings or more, or where all ratings have one value.

    >>> ratings = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 1, 2, 2, 1, 2])
    >>> round(fleiss_kappa(ratings, resamples=200).value, 9)  # (2/3 - 1/2) / (1 - 1/2)
    0.333333333
    """
    _, table = option_table(ratings)
    paired = ratings.counts() > 1
    if paired.sum() < 2:
        raise StatisticError(f"Fleiss' kappa needs at least 2 items with two ratings or more, not {paired.sum()}")
    value = float(_fleiss(_sums_by_item(table).sum(axis=0, keepdims=True))[0])
    if np.isnan(value):
        raise StatisticError("Fleiss' kappa is undefined: all ratings have one value")
    used = ratings.select(paired[ratings.item])
    interval = crossed_interval(
        value,
        used,
        lambda codes, n_groups: _fleiss_without(used, codes, n_groups),
        resampled=resampled,
        groups=groups,
        scale="fisher_z",
        level=level,
        resamples=resamples,
        seed=seed,
    )
    return Estimate("fleiss_kappa", value, interval, int(paired.sum()))


def _sums_by_item(table: ArrayLike) -> FloatArray:
    """Agreement, the share of each value, and 1 of each item with two ratings or more; zeros of other items.

    *Shape:* table (items, values), counts → (items, 2 + values).
    """
    counts = np.asarray(table, dtype=np.float64)
    n = counts.sum(axis=1)
    paired = n > 1
    known = np.where(paired, n, 2.0)
    agreement = (counts * (counts - 1)).sum(axis=1) / (known * (known - 1))
    rows = np.column_stack([agreement, counts / known[:, None], np.ones(len(counts))])
    return np.where(paired[:, None], rows, 0.0)


def _fleiss_without(ratings: Ratings, codes: IntArray, n_groups: int) -> FloatArray:
    """Kappa without each group of ratings. *Shape:* codes (ratings,) → (groups,)."""
    options, table = option_table(ratings)
    # an entry for each group and item it rated, and how often it gave each value
    pairs, entry = np.unique(codes * ratings.n_items + ratings.item, return_inverse=True)
    group, item = np.divmod(pairs, ratings.n_items)
    taken = np.zeros((len(pairs), len(options)))
    np.add.at(taken, (entry.reshape(-1), np.searchsorted(options, ratings.value)), 1.0)
    whole = _sums_by_item(table)
    lost = group_sums(whole[item] - _sums_by_item(table[item] - taken), group, n_groups)
    return _fleiss(whole.sum(axis=0) - lost)


def _fleiss(sums: FloatArray) -> FloatArray:
    """Kappa of sums over items: agreement, the share of each value, the number. *Shape:* (groups, 2 + values)."""
    means = np.divide(sums[:, :-1], sums[:, -1:], out=np.full((len(sums), sums.shape[1] - 1), np.nan),
                      where=sums[:, -1:] > 0.5)  # fmt: skip
    observed, expected = means[:, 0], (means[:, 1:] ** 2).sum(axis=1)
    # of one value alone, rounding leaves the sum of squares at 1
    sound = 1 - expected > _ONE_VALUE
    top = np.divide(observed - expected, 1 - expected, out=np.full(len(sums), np.nan), where=sound)
    return np.asarray(top)


def majority(ratings: Ratings) -> Majority:
    """Return each item's most frequent value. *Source:* BIAS (majority of three).

    >>> found = majority(Ratings.from_arrays(list("abcab"), list("iiijj"), [1, 1, 0, 1, 0]))
    >>> found.value.tolist(), found.tied.tolist()
    ([1.0, nan], [False, True])
    """
    options, table = option_table(ratings)
    n, votes = ratings.counts(), table.max(axis=1, initial=0)
    value, tied = _top(options, table.astype(np.float64), tolerance=0.0)
    return Majority(ratings.item_ids, value, votes.astype(np.int64), n, tied, ~tied & (2 * votes > n))


def trust_weighted(ratings: Ratings, trust: Mapping[str, float]) -> TrustWeighted:
    """Return the confidence in each value: the trust of those who chose it over the trust of all who rated the item.

    *trust* maps rater ids to numbers that are not negative (for instance their share of right test questions).
    *Unit:* share, 0 to 1. *Source:* GASI §4 (the crowd platform's confidence score).

    Errors: :class:`InputError` for a rater without a trust or with a negative one; :class:`StatisticError` where no one
    who rated an item is trusted at all.

    >>> ratings = Ratings.from_arrays(["ana", "eva", "leo"], ["i", "i", "i"], [1, 1, 0])
    >>> trust_weighted(ratings, {"ana": 0.6, "eva": 0.6, "leo": 0.8}).confidence.tolist()  # .8 / 2 and 1.2 / 2
    [[0.4, 0.6]]
    """
    weights = np.array([trust.get(rater, np.nan) for rater in ratings.rater_ids], dtype=np.float64)
    if not (weights >= 0).all():
        worst = ratings.rater_ids[int(np.flatnonzero(~(weights >= 0))[0])]
        raise InputError(f"rater {worst!r} has no trust, or a negative one")
    options, code = np.unique(ratings.value, return_inverse=True)
    # item and option in one number: a weighted two-way table in one pass
    flat = np.bincount(
        ratings.item * len(options) + code.reshape(-1),
        weights=weights[ratings.rater],
        minlength=ratings.n_items * len(options),
    ).reshape(ratings.n_items, len(options))
    total = flat.sum(axis=1, keepdims=True)
    if ((total[:, 0] == 0) & (ratings.counts() > 0)).any():
        raise StatisticError("an item was rated by raters of trust 0 only, so no value has a confidence")
    confidence = np.divide(flat, total, out=np.zeros(flat.shape), where=total > 0)
    # trusts are sums of floats: equal ones may differ in the last bit
    value, tied = _top(options, confidence, tolerance=1e-12)
    return TrustWeighted(ratings.item_ids, tuple(options.tolist()), confidence, value, tied)


def option_table(ratings: Ratings) -> tuple[FloatArray, IntArray]:
    """Return the distinct values and how many raters gave each to each item. *Shape:* (values,), (items, values)."""
    options, code = np.unique(ratings.value, return_inverse=True)
    flat = np.bincount(ratings.item * len(options) + code.reshape(-1), minlength=ratings.n_items * len(options))
    return options, flat.reshape(ratings.n_items, len(options)).astype(np.int64)


def _top(options: FloatArray, table: FloatArray, *, tolerance: float) -> tuple[FloatArray, BoolArray]:
    """The value of each row's largest entry, NaN where two entries share it or all are zero."""
    if not table.shape[1]:
        return np.full(len(table), np.nan), np.ones(len(table), dtype=bool)
    best = table.max(axis=1, keepdims=True)
    tied = ((table >= best - tolerance).sum(axis=1) > 1) | (best[:, 0] == 0)
    return np.where(tied, np.nan, options[table.argmax(axis=1)]), tied


def _complete(first: ArrayLike, second: ArrayLike) -> tuple[list[Any], list[Any]]:
    """The answers to the items that both answered."""
    a, b = np.asarray(first, dtype=object), np.asarray(second, dtype=object)
    if a.shape != b.shape or a.ndim != 1:
        raise StatisticError(f"kappa needs two columns of one length, not shapes {a.shape} and {b.shape}")
    # NaN is the one value that differs from itself
    missing: NDArray[Any] = np.array([x is None or y is None or x != x or y != y for x, y in zip(a, b, strict=True)])
    kept = ~missing.astype(bool)
    return a[kept].tolist(), b[kept].tolist()


def _distances(size: int, weights: str) -> FloatArray:
    """How much a disagreement of two categories counts. *Shape:* (categories, categories)."""
    steps = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :]).astype(np.float64)
    if weights == "none":
        return np.asarray(steps > 0, dtype=np.float64)
    if weights not in ("linear", "quadratic"):
        raise StatisticError(f"no weights {weights!r} for kappa; valid names: none, linear, quadratic")
    return steps if weights == "linear" else np.asarray(steps**2)


def _kappas(tables: FloatArray, distances: FloatArray) -> FloatArray:
    """1 − observed / expected disagreement of tables of two raters' answers, NaN where none is expected.

    *Shape:* tables (draws, categories, categories) → (draws,).
    """
    n = tables.sum(axis=(1, 2))
    observed = (tables * distances).sum(axis=(1, 2))
    expected = ((tables.sum(axis=2) @ distances) * tables.sum(axis=1)).sum(axis=1) / n
    return np.asarray(1 - np.divide(observed, expected, out=np.full(len(n), np.nan), where=expected > 0))


# -- coders ---------------------------------------------------------------------------------------------------------
# Two raters who gave each item one of some options or categories: how often the same one, and Cohen's kappa.


@dataclass(frozen=True, slots=True)
class CoderAgreement:
    """Two raters on the ``n`` items that both answered: the share of equal answers, undefined without such an item.

    The interval ``same.clustered`` resamples clusters of items, ``same.wilson`` takes items as independent.
    """

    first: str
    second: str
    n: int
    same: Accuracy | Undefined
    kappa: Estimate | Undefined


def coder_agreement(
    codes: Mapping[str, Mapping[str, str | None]],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> CoderAgreement:
    """Compare the answers of two raters: rater → item → option, or ``None`` for an item without an answer.

    *clusters* (item → group) are resampled whole for the interval of the share; that of kappa resamples items.
    *Higher means:* they agree more. Errors: :class:`InputError` E506 for an item without a cluster.

    >>> pair = coder_agreement({"a": {"x": "yes", "y": "no"}, "b": {"x": "yes", "y": "yes"}})
    >>> pair.same.value, pair.n
    (0.5, 2)
    """
    (first, given), (second, other) = codes.items()
    both = {
        item: (code, again)
        for item, code in given.items()
        if code is not None and (again := other.get(item)) is not None
    }
    same: Accuracy | Undefined = Undefined("percent_agreement(over=items)", "no item in common")
    if both:
        same = accuracy(
            [a == b for a, b in both.values()],
            clusters=cluster_labels(list(both), clusters),
            level=level,
            resamples=resamples,
            seed=seed,
        )
    columns = [a for a, _ in both.values()], [b for _, b in both.values()]
    kappa = kappa_or_reason(*columns, level=level, resamples=resamples, seed=seed)
    return CoderAgreement(first, second, len(both), same, kappa)


def agreement_of_codes(
    codes: Mapping[str, Mapping[str, str | None]],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Accuracy, Estimate | Undefined]:
    """Return the share of equal codes and Cohen's kappa of two coders, as :func:`coder_agreement`.

    Errors: :class:`StatisticError` with fewer than two items that both coded.
    """
    pair = coder_agreement(codes, clusters=clusters, level=level, resamples=resamples, seed=seed)
    if pair.n < 2 or isinstance(pair.same, Undefined):
        raise StatisticError(f"{pair.first} and {pair.second} coded {pair.n} answers in common; two are needed")
    return pair.same, pair.kappa


# -- agreement among people and their consistency with a model, word by word ----------------------------------------
# *Source:* GASI Figure 7. The two are not independent: where everybody chooses the model's sense, everybody agrees.
# What the figure shows is whether words on which people agree are those on which they agree with the model, rather than
# with each other against it.


def agreement_by_word(
    ratings: Ratings,
    options: Sequence[str],
    *,
    right: Mapping[str, str],
    words: Mapping[str, str],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[dict[str, tuple[float, float]], Estimate | Undefined]:
    """Return agreement and consistency of each word, in alphabetical order, and Spearman's rho of the two over words.

    Agreement is the mean over the word's questions of the share of the winning answer, consistency the share of its
    judgments that choose the model's. *Unit:* shares, 0 to 1. *Higher means:* more agreement. *Source:* GASI Figure 7.

    *ratings* and *options* are choices; *right* names the option of each item that the model chose, *words* its word.
    Questions with one judgment are excluded: it always agrees with itself.
    Errors: :class:`InputError` for an item without a word or a model's choice.

    >>> from lexiscope.analysis.agreement.choices import choices_from_arrays
    >>> ratings, options = choices_from_arrays(list("abcabc"), list("iiijjj"), ["1", "1", "2", "2", "2", "2"])
    >>> words, rho = agreement_by_word(ratings, options, right={"i": "1", "j": "1"}, words={"i": "bank", "j": "bolt"})
    >>> {word: (round(agreement, 3), round(consistency, 3)) for word, (agreement, consistency) in words.items()}
    {'bank': (0.667, 0.667), 'bolt': (1.0, 0.0)}
    >>> rho.reason
    'a correlation needs three words with two judgments of a question, not 2'
    """
    n, labels = ratings.counts(), ratings.item_labels(words)
    votes = option_table(ratings)[1].max(axis=1, initial=0)
    hits = hits_per_item(ratings, options, right)
    by_word = {}
    for word in sorted(set(labels[n > 1].tolist())):
        rows = np.flatnonzero((labels == word) & (n > 1))
        by_word[word] = float(np.mean(votes[rows] / n[rows])), float(hits[rows].sum() / n[rows].sum())
    name = statistic_name("spearman", of="agreement", **{"with": "consistency"})
    if len(by_word) < 3:
        reason = f"a correlation needs three words with two judgments of a question, not {len(by_word)}"
        return by_word, Undefined(name, reason, len(by_word))
    x, y = zip(*by_word.values(), strict=True)
    try:
        rho = spearman(x, y, level=level, resamples=resamples, seed=seed, decimals=10)
    except StatisticError as error:
        return by_word, Undefined(name, error.what, len(by_word))
    return by_word, rho.about(name=name)


# -- votes ----------------------------------------------------------------------------------------------------------
# Votes of several people on one question: the majority's rule, the share of the winning answer, and what chance gives.
#
# A question with a majority has an answer that more than half of its judgments share: 2 of 3, 3 of 4, 3 of 5. Three
# different answers of three have none. *Source:* GASI §4 (three judgments per question, majority of two).


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

    The winning answer of few judgments has a large share even by chance, so read it with the agreement.

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
    """Return each rater's share of correct answers to test questions: the weight that a crowd platform calls trust.

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
    """Return each rater's share of correct answers to test questions, from their rows in a table of responses.

    A row has the value 1 (right) or 0; one without a value counts as wrong: who leaves a test question out is not known
    to read. Raters without such a row are excluded. *kinds* names each ``subject_kind`` that is a rater.

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
    of_item = None if groups is None else ratings.item_labels(groups)[kept].tolist()
    labels = None if of_item is None else GroupLabels(of_item, resampled_units(groups))
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
    """Return sum of *hits* over sum of *sizes*; its interval is a jackknife over groups of rows by Wilson's formula.

    *Shape:* hits, sizes, groups (items,); no row has more hits than its size. ``n`` of the result is the sum of
    *sizes*: what was counted. ``resamples`` is the most groups that are excluded one by one, 0 for no interval.
    Errors: :class:`StatisticError` with fewer than two groups, or where the sizes sum to 0.

    >>> share("hits", [3, 1], [3, 3], resamples=200).value == 4 / 6
    True
    """
    top, bottom = np.asarray(hits, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if not bottom.sum():
        raise StatisticError(f"{name} is undefined: there are no counts")
    codes, count = group_codes(groups, len(top))
    value, units = float(top.sum() / bottom.sum()), resampled_units(groups)
    if resamples:
        group, n_groups = left_out_groups(count, resamples=resamples, seed=seed)
        above, below = (data.sum() - group_sums(data, group[codes], n_groups) for data in (top, bottom))
        left = np.divide(above, below, out=np.full(n_groups, np.nan), where=below > 0)
        parts = LeftOut(left, np.bincount(group, minlength=n_groups).astype(np.float64))
        interval = jackknife_interval(value, parts, resampled=units, scale="wilson", level=level)
    else:
        interval = no_jackknife("no resamples were asked for", resampled=units, scale="wilson", level=level)
    return Estimate(name, value, interval, round(bottom.sum()), count)


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
