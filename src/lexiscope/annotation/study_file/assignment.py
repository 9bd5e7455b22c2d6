"""Assign lists and trials: the list of the next participant; the order, sides and checks of a participant's trials.

Both follow from stored numbers. The list depends on how full the lists are; the trials depend on the design's seed, the
list and the participant's number alone, so that they can be made again from the export.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.design import DividedLists
from lexiscope.annotation.study_file.items import question_item
from lexiscope.core.item import Item
from lexiscope.items.arrange.lists import trial_order

if TYPE_CHECKING:
    # a type only: a study is checked before a database library is needed
    from lexiscope.annotation.store.places import ListLoad

TrialKind = Literal["item", "catch", "attention"]
Side = Literal["as_given", "swapped"]


@dataclass(frozen=True, slots=True)
class AssignedTrial:
    """One page of one participant: its position from 0, the item, its kind, and which sentence is on the left."""

    position: int
    item: Item
    kind: TrialKind
    side: Side


@dataclass(frozen=True, slots=True)
class Load:
    """How many places of a list are taken: by valid, active and excluded participants."""

    valid: int = 0
    active: int = 0
    excluded: int = 0


@dataclass(frozen=True, slots=True)
class Quota:
    """The valid participants that a list needs (``need``), and the first wave and the maximum over all lists."""

    need: int
    first_wave: int = 0
    people_at_most: int = 0

    @classmethod
    def of(cls, definition: StudyDefinition) -> Quota:
        """Return the quota that a definition declares."""
        ratings = definition.ratings
        return cls(ratings.per_item, ratings.first_wave, ratings.people_at_most)


def choose_list(loads: Sequence[Load | ListLoad], quota: Quota, *, seed: int, number: int) -> int | None:
    """Return the number (from 0) of the list that the participant *number* gets; ``None`` where no place is free.

    It is the list with the least *valid + active* among those with a free place; ties are broken by the seed and the
    number. Participants count as valid until a rule was applied to them. During the first wave an exclusion does not
    free a place.

    >>> choose_list([Load(valid=2), Load(valid=1, active=1), Load(active=1)], Quota(need=2), seed=1, number=7)
    2
    >>> choose_list([Load(valid=2)], Quota(need=2), seed=1, number=8) is None
    True
    """
    taken = sum(load.valid + load.active + load.excluded for load in loads)
    if quota.people_at_most and taken >= quota.people_at_most:
        return None
    free = [n for n in range(len(loads)) if has_place(loads, n, quota)]
    if not free:
        return None
    least = min(loads[n].valid + loads[n].active for n in free)
    return random.Random(f"{seed}/{number}/list").choice([n for n in free if loads[n].valid + loads[n].active == least])


def has_place(loads: Sequence[Load | ListLoad], number: int, quota: Quota) -> bool:
    """Return whether a list has a free place: valid participants are missing, or its part of the first wave is free."""
    load = loads[number]
    if load.valid + load.active < quota.need:
        return True
    return load.valid + load.active + load.excluded < _wave_share(quota, len(loads), number)


def _wave_share(quota: Quota, n_lists: int, number: int) -> int:
    # divided evenly, the remainder to the first lists
    share, rest = divmod(quota.first_wave, n_lists)
    return share + (number < rest)


def list_chooser(quota: Quota, *, seed: int) -> Callable[[Mapping[str, ListLoad], int], str | None]:
    """Return the choice as a store asks for it: the load of each list id and the new participant's number → a list id.

    The ids are those of the design, ``1`` to the number of lists. A store needs as many places per list as
    :func:`places_per_list` says, or it would reject what is chosen here.
    """

    def choose(loads: Mapping[str, ListLoad], number: int) -> str | None:
        names = _in_design_order(loads)
        chosen = choose_list([loads[name] for name in names], quota, seed=seed, number=number)
        return None if chosen is None else names[chosen]

    return choose


def place_finder(quota: Quota) -> Callable[[Mapping[str, ListLoad], str], bool]:
    """Return :func:`has_place` as a store asks for it: the load of each list id and one of them."""

    def is_free(loads: Mapping[str, ListLoad], list_id: str) -> bool:
        names = _in_design_order(loads)
        return has_place([loads[name] for name in names], names.index(list_id), quota)

    return is_free


def _in_design_order(list_ids: Iterable[str]) -> list[str]:
    # "10" comes after "9": the order of the design, not of the text
    return sorted(list_ids, key=lambda list_id: (len(list_id), list_id))


def places_per_list(quota: Quota, n_lists: int) -> tuple[int, ...]:
    """Return how many people who are not excluded a list may hold at once: its need, or its part of the first wave.

    >>> places_per_list(Quota(need=10, first_wave=121), 10)
    (13, 12, 12, 12, 12, 12, 12, 12, 12, 12)
    """
    return tuple(max(quota.need, _wave_share(quota, n_lists, number)) for number in range(n_lists))


def plan_trials(
    definition: StudyDefinition, design: DividedLists, *, list_number: int, number: int
) -> tuple[AssignedTrial, ...]:
    """Return the trials of participant *number* in a list (from 0): order, sides, places of catch and attention.

    Catch trials and attention checks are never first or last; whether the sides are swapped is drawn again in every
    trial (SAW-C §3.3). The same seed, list and number always give the same trials.
    Errors: :class:`InputError` E408 where a list has too few items around a check.
    """
    attention = {
        question.id: question_item(question, definition.name, definition.language) for question in definition.attention
    }
    catch = {item.item_id for item in design.catch[list_number]}
    checks = [*design.catch[list_number], *attention.values()]
    order = trial_order(design.lists[list_number], checks, seed=f"{design.seed}/{number}/order")
    sides = random.Random(f"{design.seed}/{number}/sides")
    trials = []
    for position, item in enumerate(order):
        kind: TrialKind = "catch" if item.item_id in catch else "attention" if item.item_id in attention else "item"
        swapped = definition.side == "random" and len(item.usages) > 1 and sides.random() < 0.5
        trials.append(AssignedTrial(position, item, kind, "swapped" if swapped else "as_given"))
    return tuple(trials)
