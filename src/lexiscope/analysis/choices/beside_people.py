"""People and models on the same items: accuracy, agreement of people, models compared with them.

Every number is over single answers of people, so that an item that many answered counts more; a model has one answer to
each item. Intervals resample groups of items (sentences).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.agreement.choices import share
from lexiscope.analysis.bootstrap import FloatArray, GroupLabels, group_codes, percentile_interval, ratio_draws
from lexiscope.analysis.comparison import bootstrap_p
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined

Results = list[Estimate | Undefined]
_PERCENT = "percent"


@dataclass(frozen=True, slots=True, eq=False)
class PeopleAnswers:
    """People's answers to some items: how many, and how many are right. *Shape:* n, right (items,).

    ``groups`` are what intervals resample; ``n_people`` counts those who answered, ``n_empty`` answers without a choice
    or a text, which are in neither number.
    """

    item_ids: tuple[str, ...]
    n: FloatArray
    right: FloatArray
    groups: GroupLabels
    n_people: int
    n_empty: int

    @classmethod
    def of(
        cls, table: ResponseColumns, is_right: Callable[[str, str], bool], groups: Mapping[str, str], *, column: str
    ) -> PeopleAnswers:
        """Return the answers of a table with a row per person and item.

        *column* holds the answer (``option``, ``raw``), *is_right* judges the answer to an item; *groups* name the
        group of each item.
        Errors: :class:`StatisticError` for a table without an answer.

        >>> from lexiscope.core.response import Response, ResponseTable
        >>> given = (("a", "x"), ("b", "y"))
        >>> rows = [Response(who, "participant", "i", "t", "choice", option=word) for who, word in given]
        >>> table = ResponseTable.from_rows(rows)
        >>> own = PeopleAnswers.of(table, lambda item, word: word == "x", {"i": "s"}, column="option")
        >>> own.n.tolist(), own.right.tolist(), own.n_people
        ([2.0], [1.0], 2)
        """
        counts: dict[str, list[int]] = {}
        n_empty, people = 0, set[str]()
        columns = (table.column(name).tolist() for name in ("subject_id", "item_id", column))
        for person, item, answer in zip(*columns, strict=True):
            if answer is None:
                n_empty += 1
                continue
            people.add(person)
            own = counts.setdefault(item, [0, 0])
            own[0] += 1
            own[1] += is_right(item, answer)
        if not counts:
            raise StatisticError("no person gave an answer")
        numbers = np.array([*counts.values()], dtype=np.float64)
        labels = GroupLabels((groups[item] for item in counts), "sentences")
        return cls(tuple(counts), numbers[:, 0], numbers[:, 1], labels, len(people), n_empty)


def people_results(people: PeopleAnswers, *, agree: bool, resamples: int = 2000, seed: int = 0) -> Results:
    """Return how often people are right, and, if *agree*, how often two of them give the same answer.

    ``people_right(of=answers)`` counts single answers, ``people_right(of=items)`` items that more than half of those
    who answered have right. *Unit:* percent. *Higher means:* more is right.

    >>> people = PeopleAnswers(("i", "j"), np.array([2.0, 2]), np.array([2.0, 1]), GroupLabels("ij", "sentences"), 2, 0)
    >>> [(r.name, r.value) for r in people_results(people, agree=True, resamples=0)]
    [('people_right(of=answers)', 75.0), ('people_right(of=items)', 50.0), ('people_same', 50.0)]
    """
    wrong = people.n - people.right
    same = (people.right * (people.right - 1) + wrong * (wrong - 1)) / 2
    majority = (people.right > people.n / 2).astype(np.float64)
    made = [
        _share("people_right(of=answers)", people.right, people.n, people, resamples, seed),
        _share("people_right(of=items)", majority, np.ones_like(majority), people, resamples, seed),
    ]
    pairs = people.n * (people.n - 1) / 2
    if not agree:
        return made
    if not pairs.any():
        return [*made, Undefined("people_same", "no item has answers of two people", 0)]
    return [*made, _share("people_same", same, pairs, people, resamples, seed)]


def model_results(
    people: PeopleAnswers, right: Mapping[str, bool], *, agree: bool, resamples: int = 2000, seed: int = 0
) -> Results:
    """Return how often a model is right on the items that people answered, and what that is compared with people.

    *right* says of each item whether the model has it right; items that it did not answer are excluded.
    ``right_on_same`` weighs the items by people's answers, so that ``above_people`` is the paired difference (p: two
    sided, bootstrap over sentences). If *agree*, ``same_as_people`` is the share of people's answers that the model
    gave, too: the share for two people (``people_same``) is what it can be compared with. *Unit:* percent, points.
    *Higher means:* the model is right more often; it agrees more with people.

    >>> people = PeopleAnswers(("i", "j"), np.array([2.0, 2]), np.array([2.0, 1]), GroupLabels("ij", "sentences"), 2, 0)
    >>> [(r.name, r.value) for r in model_results(people, {"i": True, "j": False}, agree=True, resamples=0)]
    [('right_on_same', 50.0), ('above_people', -25.0), ('same_as_people', 75.0)]
    """
    rows = [row for row, item in enumerate(people.item_ids) if item in right]
    if not rows:
        return [Undefined("right_on_same", "the model and people have no item in common")]
    kept = PeopleAnswers(
        tuple(people.item_ids[row] for row in rows), people.n[rows], people.right[rows],
        GroupLabels((people.groups[row] for row in rows), "sentences"), people.n_people, people.n_empty,
    )  # fmt: skip
    own = np.array([right[item] for item in kept.item_ids], dtype=np.float64)
    made = [
        _share("right_on_same", own * kept.n, kept.n, kept, resamples, seed),
        _difference(kept, own, resamples, seed),
    ]
    if agree:
        same = np.where(own == 1, kept.right, kept.n - kept.right)
        made.append(_share("same_as_people", same, kept.n, kept, resamples, seed))
    return made


def first_position(
    first: Mapping[str, bool], groups: Mapping[str, str], *, resamples: int = 2000, seed: int = 0
) -> Estimate | Undefined:
    """Return how often the first of two words was chosen, if the right word is first in half of the items.

    *Unit:* percent; without a preference for a place it is 50. Intervals resample *groups*.

    >>> first_position({"i": True, "j": False}, {"i": "s", "j": "t"}, resamples=0).value
    50.0
    """
    labels = GroupLabels((groups[item] for item in first), "sentences")
    hits, n = np.array([*first.values()], dtype=np.float64), np.ones(len(first))
    try:
        return share("first_chosen", hits, n, groups=labels, resamples=resamples, seed=seed).times(100, _PERCENT)
    except StatisticError as error:
        return Undefined("first_chosen", error.what, len(first))


def _share(
    name: str, hits: FloatArray, sizes: FloatArray, people: PeopleAnswers, resamples: int, seed: int
) -> Estimate | Undefined:
    try:
        made = share(name, hits, sizes, groups=people.groups, resamples=resamples, seed=seed)
    except StatisticError as error:
        return Undefined(name, error.what, round(float(sizes.sum())))
    return made.times(100, _PERCENT)


def _difference(people: PeopleAnswers, own: FloatArray, resamples: int, seed: int) -> Estimate | Undefined:
    name, top = "above_people", own * people.n - people.right
    value = 100 * float(top.sum() / people.n.sum())
    codes, count = group_codes(people.groups, len(top))
    if count < 2:
        return Undefined(name, "all items are of one sentence", round(float(people.n.sum())))
    if not resamples:
        return Estimate(name, value, n=round(float(people.n.sum())), unit="points")
    draws = 100 * ratio_draws(top, people.n, codes, count, resamples=resamples, seed=seed)
    interval = percentile_interval(draws, resampled="sentences", n_groups=count)
    n = round(float(people.n.sum()))
    return Estimate(name, value, interval, n, count, p=bootstrap_p(draws, n_groups=count), unit="points")
