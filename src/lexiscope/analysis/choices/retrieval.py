"""Answers of which several may be right: chosen options, accuracy at rank k of a search, and their chance levels.

An answer is right when it is any of the right ones. *Source:* the context–word bias study, §2.1 (accuracy at rank 1
of retrieval).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.bootstrap import cluster_labels
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import ResponseColumns

Gold = Mapping[str, Collection[str]]
"""The correct answers of every item by its id."""


def chosen(responses: ResponseColumns, measure: str) -> dict[str, str | None]:
    """Return the option of every item in the rows of a measure, ``None`` where there was no answer.

    Errors: :class:`StatisticError` for an item with several such rows: say of which subject, view or repeat first.
    """
    rows = responses.where(measure=measure)
    items, options = rows.column("item_id").tolist(), rows.column("option").tolist()
    by_item = dict(zip(items, options, strict=True))
    if len(by_item) < len(items):
        what = f"{len(items) - len(by_item)} items have several rows of {measure!r}"
        raise StatisticError(what, hint="choose the rows of one subject, one view and one repeat")
    return by_item


def ranked(
    responses: ResponseColumns, first: str = "retrieved", further: str = "retrieved_next"
) -> dict[str, list[str]]:
    """Return the options of every item in the order of their ranks; none where there was no answer."""
    by_item: dict[str, list[str]] = {}
    for measure in (first, further):
        rows = responses.where(measure=measure)
        for item, option in zip(rows.column("item_id").tolist(), rows.column("option").tolist(), strict=True):
            by_item.setdefault(item, []).extend([] if option is None else [option])
    return by_item


def accuracy_at(
    answers: Mapping[str, Sequence[str]],
    gold: Gold,
    k: int = 1,
    *,
    clusters: Mapping[str, str] | None = None,
    n_entries: int | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> Accuracy:
    """Return the share of items with a correct answer among the first *k*; an item without answers is wrong.

    *answers* are ranked, best first; *clusters* say for every item what is resampled (its word). *n_entries* is the
    size of the search space: chance is then what k entries drawn from it reach.

    >>> gold = {"a": {"x"}, "b": {"y"}, "c": {"z"}}
    >>> ranks = {"a": ["x", "y"], "b": ["x", "y"]}
    >>> [round(accuracy_at(ranks, gold, k, resamples=0).value, 4) for k in (1, 2)]
    [0.3333, 0.6667]

    Errors: :class:`StatisticError` without items, for one of which no correct answer is known, for *k* below 1, or
    where no item has as many as *k* answers: ranks were then cut off.
    """
    _check(gold)
    longest = max((len(answers.get(item, ())) for item in gold), default=0)
    if k < 1 or 0 < longest < k:
        raise StatisticError(f"accuracy at rank {k} needs {k} answers per item, and at most {longest} are there")
    right = [not set(answers.get(item, ())[:k]).isdisjoint(accepted) for item, accepted in gold.items()]
    chance = float("nan") if n_entries is None else random_retrieval(gold, n_entries, k)
    groups = cluster_labels(list(gold), clusters)
    return accuracy(right, clusters=groups, chance=chance, resamples=resamples, seed=seed)


def random_choice(options: Mapping[str, Collection[str]], gold: Gold) -> float:
    """Return the accuracy expected of one option drawn at random for every item, all equally likely.

    >>> random_choice({"a": ["x", "y"], "b": ["x", "y", "z"]}, {"a": {"x"}, "b": {"x", "z"}})  # (1/2 + 2/3) / 2
    0.5833333333333333

    Errors: :class:`StatisticError` without items, for one without options or of which no correct answer is known.
    """
    _check(gold)
    empty = [item for item in gold if not options.get(item)]
    if empty:
        raise StatisticError(f"item {empty[0]!r} has no options")
    shares = [len(set(right) & set(options[item])) / len(options[item]) for item, right in gold.items()]
    return float(np.mean(shares))


def random_retrieval(gold: Gold, n_entries: int, k: int = 1) -> float:
    """Return the accuracy at rank k expected of k different entries drawn at random from a search space.

    >>> random_retrieval({"a": {"x"}}, 4, 1), random_retrieval({"a": {"x"}}, 4, 4)
    (0.25, 1.0)

    Errors: as of :func:`accuracy_at`, and for a search space smaller than k or than the correct answers per item.
    """
    _check(gold)
    if not 1 <= k <= n_entries or max(map(len, gold.values())) > n_entries:
        raise StatisticError(f"{n_entries} entries are too few for {k} answers")
    return float(np.mean([1 - _all_wrong(len(set(accepted)), n_entries, k) for accepted in gold.values()]))


def _all_wrong(n_right: int, n_entries: int, k: int) -> float:
    """The probability that none of k entries, drawn without return, is right."""
    drawn = np.arange(min(k, n_entries))
    return float(np.prod(np.maximum(n_entries - n_right - drawn, 0) / (n_entries - drawn)))


def _check(gold: Gold) -> None:
    if not gold:
        raise StatisticError("there are no items to score")
    unknown = [item for item, accepted in gold.items() if not accepted]
    if unknown:
        raise StatisticError(f"no correct answer of item {unknown[0]!r} is known", hint="leave out items without gold")
