"""Places: who holds one in which list, until when, and what becomes of it.

A place is leased; every saved answer renews it, and a lease that ran out frees the place for somebody else without
taking anything from its holder: who comes back late goes on, is recorded and paid, and is marked as surplus where the
list was filled meanwhile. One participant holds one place per study, ever. Time comes from a clock that is given, so
that the same code runs in a server and in a simulation; the places are plain records that a store can keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from lexiscope.annotation.study_file.assignment import Load, Quota, choose_list, has_place
from lexiscope.core.errors import InputError

State = Literal["active", "finished", "excluded", "released"]


@dataclass(frozen=True, slots=True)
class HeldPlace:
    """One participant's place.

    ``number`` counts the participants from 1 and seeds their trials; ``list_number`` counts from 0. ``until`` is when
    the lease ends. ``reason`` says why a place was released (returned, timed out, screened out) or its answers are
    excluded. ``surplus``: the list had enough without it. *Unit:* seconds of the clock.
    """

    number: int
    participant: str
    list_number: int
    state: State
    since: float
    until: float
    finished: float | None = None
    reason: str = ""
    surplus: bool = False


class Allocator:
    """Gives out places under a quota. Not safe for several threads: call it inside the one writer's transaction."""

    def __init__(
        self,
        n_lists: int,
        quota: Quota,
        *,
        lease_seconds: float,
        seed: int,
        clock: Callable[[], float],
        places: Iterable[HeldPlace] = (),
    ) -> None:
        self._n_lists, self._quota, self._lease = n_lists, quota, lease_seconds
        self._seed, self._clock = seed, clock
        self._places: dict[str, HeldPlace] = {place.participant: place for place in places}

    @property
    def places(self) -> tuple[HeldPlace, ...]:
        """Every place that was ever given, in the order of the numbers."""
        return tuple(self._places.values())

    def place_of(self, participant: str) -> HeldPlace:
        """Return a participant's place.

        Errors: :class:`InputError` E631 where the participant never had one.
        """
        if participant not in self._places:
            raise InputError(f"{participant!r} has no place in this study", code="E631")
        return self._places[participant]

    def loads(self, *, without: str | None = None) -> tuple[Load, ...]:
        """Return how full each list is now; a lease that ran out takes no place. *without* leaves a person out."""
        now = self._clock()
        counts = [[0, 0, 0] for _ in range(self._n_lists)]
        for place in self._places.values():
            kind = {"finished": 0, "active": 1, "excluded": 2}.get(place.state)
            expired = place.state == "active" and place.until <= now
            if kind is not None and not expired and place.participant != without:
                counts[place.list_number][kind] += 1
        return tuple(Load(*each) for each in counts)

    def is_complete(self) -> bool:
        """Say whether every list has its valid answers, whoever is still at it."""
        return all(load.valid >= self._quota.need for load in self.loads())

    def arrive(self, participant: str) -> HeldPlace | None:
        """Return the participant's place: the one they have, or a new one; ``None`` where no list has a free place."""
        if participant in self._places:
            known = self._places[participant]
            return self.renew(participant) if known.state == "active" else known
        number = len(self._places) + 1
        chosen = choose_list(self.loads(), self._quota, seed=self._seed, number=number)
        if chosen is None:
            return None
        now = self._clock()
        return self._keep(HeldPlace(number, participant, chosen, "active", now, now + self._lease))

    def renew(self, participant: str) -> HeldPlace:
        """Lengthen the lease of who just came back or saved an answer; after it ran out, see whether it is surplus."""
        place = self._active(participant)
        return self._keep(
            replace(place, until=self._clock() + self._lease, surplus=place.surplus or self._too_late(place))
        )

    def finish(self, participant: str) -> HeldPlace:
        """Note that every answer of a participant is stored: they count as valid until an exclusion says otherwise."""
        if self.place_of(participant).state in ("finished", "excluded"):
            return self.place_of(participant)
        place = self._active(participant)
        surplus = place.surplus or self._too_late(place)
        return self._keep(replace(place, state="finished", finished=self._clock(), surplus=surplus))

    def release(self, participant: str, *, reason: str) -> HeldPlace:
        """Free the place of who returned it, was timed out by the platform, or was screened out."""
        return self._keep(replace(self._active(participant), state="released", reason=reason))

    def judge(self, excluded: Mapping[str, str]) -> None:
        """Set who is excluded now, with the rule that caught them; everybody else who finished counts as valid.

        Rules compare people with each other, so that a later answer can bring somebody back.
        Errors: :class:`InputError` E631 for a participant without place, E632 for one who has not finished.
        """
        for participant in excluded:
            if self.place_of(participant).state not in ("finished", "excluded"):
                raise InputError(f"{participant!r} has not finished and cannot be excluded", code="E632")
        for place in self.places:
            if place.state in ("finished", "excluded"):
                reason = excluded.get(place.participant, "")
                self._keep(replace(place, state="excluded" if reason else "finished", reason=reason))

    def _active(self, participant: str) -> HeldPlace:
        place = self.place_of(participant)
        if place.state != "active":
            raise InputError(f"the place of {participant!r} is {place.state}", code="E632", why=place.reason)
        return place

    def _too_late(self, place: HeldPlace) -> bool:
        if place.until > self._clock():
            return False
        return not has_place(self.loads(without=place.participant), place.list_number, self._quota)

    def _keep(self, place: HeldPlace) -> HeldPlace:
        self._places[place.participant] = place
        return place
