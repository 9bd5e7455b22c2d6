"""Forced choice between two options by people: accuracy, agreement of two people, and items marked as weird.

The table has a row ``choice`` per person and item (``option``: the word chosen, missing where none was) and a row
``flag_weird`` (1 or 0). *Source:* Ivan et al. 2025, §3.4 and Table 3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.agreement.choices import CoderAgreement, coder_agreement
from lexiscope.analysis.bootstrap import cluster_labels
from lexiscope.analysis.ratings import PEOPLE
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Undefined

CHOICE, WEIRD = "choice", "flag_weird"


@dataclass(frozen=True, slots=True)
class Chooser:
    """One person: accuracy over the items that were answered, and over all, an empty answer counted as wrong."""

    participant: str
    over_answered: Accuracy | Undefined
    over_all: Accuracy
    n_unanswered: int
    n_weird: int


@dataclass(frozen=True, slots=True)
class PairOfChoosers:
    """Two people on the items that both answered, by right and wrong, and by the side chosen (A or B).

    The share of equal choices is the same in both; kappa is not: on the side chosen, chance alone makes two answers as
    often equal as unequal. ``weird_shared`` items were marked by both, ``weird_either`` by one at least.
    """

    on_right: CoderAgreement
    on_side: CoderAgreement
    weird_shared: int
    weird_either: int


def forced_choice(
    table: ResponseColumns,
    *,
    right: Mapping[str, str],
    sides: Mapping[str, tuple[str, ...]],
    clusters: Mapping[str, str] | None = None,
    kinds: Collection[str] = PEOPLE,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[tuple[Chooser, ...], tuple[PairOfChoosers, ...]]:
    """Return the accuracy of people who chose between two options, one by one, and the agreement of each two of them.

    *right* (item id → right option) names all items that were asked; *sides* the options of each in the order shown.
    *clusters* (item id → sentence) are resampled whole for the intervals of accuracy. *kinds* names each
    ``subject_kind`` that is a person: no one else in the table is counted.
    Errors: :class:`InputError` E504 without a choice, E502 where a person chose twice, or for an item or option that
    was not asked; E506 for an item without a cluster.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response(who, "participant", item, "substitution", "choice", option=word)
    ...         for who, words in (("ana", "flat oak"), ("eva", "flat elm"))
    ...         for item, word in zip(("i", "j"), words.split())]
    >>> asked = {"i": ("flat", "level"), "j": ("elm", "oak")}
    >>> right = {"i": "flat", "j": "oak"}
    >>> choosers, pairs = forced_choice(ResponseTable.from_rows(rows), right=right, sides=asked, resamples=0)
    >>> [who.over_all.value for who in choosers], pairs[0].on_right.same.value
    ([1.0, 0.5], 0.5)
    """
    rows = table.where(measure=CHOICE, subject_kind=tuple(kinds))
    if not len(rows):
        raise InputError("the table holds no choice", code="E504", hint="read the answered sheets first")
    chosen = _by_person(rows, right, sides)
    weird = _marks(table.where(measure=WEIRD, subject_kind=tuple(kinds)), right)
    settings = {"level": level, "resamples": resamples, "seed": seed}
    choosers = tuple(
        _chooser(who, options, weird.get(who, set()), right, clusters, **settings)  # type: ignore[arg-type]
        for who, options in chosen.items()
    )
    pairs = tuple(
        _pair({who: chosen[who] for who in pair}, weird, right, sides, **settings)  # type: ignore[arg-type]
        for pair in combinations(chosen, 2)
    )
    return choosers, pairs


def kappa_from_margins(agreement: float, first: float, second: float) -> float:
    """Return Cohen's kappa of two people and two answers, of what papers print: shares instead of counts.

    *agreement* is the share of equal answers, *first* and *second* the shares of one answer (right, A) of each person.
    *Unit:* shares, 0 to 1. For margins that were counted on other items than the agreement this is an approximation.
    Errors: :class:`StatisticError` for a share outside 0 to 1, or where no disagreement could be expected.

    >>> round(kappa_from_margins(0.7, 0.5, 0.6), 9)  # (.7 - .5) / (1 - .5)
    0.4
    """
    if not all(0 <= share <= 1 for share in (agreement, first, second)):
        raise StatisticError(f"shares are between 0 and 1, not {agreement:g}, {first:g} and {second:g}")
    expected = first * second + (1 - first) * (1 - second)
    if expected == 1:
        raise StatisticError("kappa is undefined: both participants always gave the same answer")
    return (agreement - expected) / (1 - expected)


def _by_person(
    rows: ResponseColumns, right: Mapping[str, str], sides: Mapping[str, tuple[str, ...]]
) -> dict[str, dict[str, str | None]]:
    """The option that each person chose of each item, people in order of first appearance."""
    chosen: dict[str, dict[str, str | None]] = {}
    for who, item, option in zip(*(rows.column(name) for name in ("subject_id", "item_id", "option")), strict=True):
        if item not in right or item not in sides:
            raise InputError("an answer belongs to none of the items that were asked", place=Place(item_id=item))
        if option is not None and option not in sides[item]:
            raise InputError(f"{option!r} is not one of the options {sides[item]!r}", place=Place(item_id=item))
        own = chosen.setdefault(who, {})
        if item in own:
            raise InputError(f"{who} chose twice", code="E502", place=Place(item_id=item), hint="keep one row")
        own[item] = option
    return chosen


def _marks(rows: ResponseColumns, right: Mapping[str, str]) -> dict[str, set[str]]:
    marks: dict[str, set[str]] = {}
    for who, item, value in zip(*(rows.column(name) for name in ("subject_id", "item_id", "value")), strict=True):
        if value == 1 and item in right:
            marks.setdefault(who, set()).add(item)
    return marks


def _chooser(
    who: str,
    options: Mapping[str, str | None],
    weird: set[str],
    right: Mapping[str, str],
    clusters: Mapping[str, str] | None,
    *,
    level: float,
    resamples: int,
    seed: int,
) -> Chooser:
    def of(items: list[str]) -> Accuracy:
        correct = [options.get(item) == right[item] for item in items]
        labels = cluster_labels(items, clusters)
        return accuracy(correct, clusters=labels, chance=0.5, level=level, resamples=resamples, seed=seed)

    answered = [item for item in right if options.get(item) is not None]
    nothing = Undefined("accuracy", "fewer than two items were answered", len(answered))
    return Chooser(
        participant=who,
        over_answered=of(answered) if len(answered) > 1 else nothing,
        over_all=of(list(right)),
        n_unanswered=len(right) - len(answered),
        n_weird=len(weird),
    )


def _pair(
    chosen: Mapping[str, Mapping[str, str | None]],
    weird: Mapping[str, set[str]],
    right: Mapping[str, str],
    sides: Mapping[str, tuple[str, ...]],
    *,
    level: float,
    resamples: int,
    seed: int,
) -> PairOfChoosers:
    first, second = chosen
    answered = {
        who: {item: options[item] for item in right if options.get(item) is not None} for who, options in chosen.items()
    }
    by_right: dict[str, dict[str, str | None]] = {
        who: {item: str(option == right[item]) for item, option in options.items()} for who, options in answered.items()
    }
    by_side: dict[str, dict[str, str | None]] = {
        who: {item: "AB"[sides[item].index(str(option))] for item, option in options.items()}
        for who, options in answered.items()
    }
    on_right, on_side = (
        coder_agreement(codes, level=level, resamples=resamples, seed=seed) for codes in (by_right, by_side)
    )
    if not on_right.n:
        raise StatisticError(f"{first} and {second} answered no item in common")
    marks = [weird.get(who, set()) for who in chosen]
    return PairOfChoosers(on_right, on_side, len(marks[0] & marks[1]), len(marks[0] | marks[1]))
