"""Recruitment in simulated time: people arrive, take places, leave, come back, finish; the allocator is the real one.

What an answer is plays no part here. A judge says after the fact who is excluded, as exclusion rules do.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lexiscope.annotation.rehearsal.leases import Allocator, Place
from lexiscope.annotation.rehearsal.population import Person, Population, draw_person
from lexiscope.annotation.study_file.assignment import Quota

Judge = Callable[[Sequence[tuple[Person, Place]]], Mapping[str, str]]
"""Says which of the people who finished are excluded, and by what."""
Admit = Callable[[Person], bool]

_ARRIVALS_PER_PLACE = 1000


@dataclass(frozen=True, slots=True)
class Recruited:
    """How a simulated recruitment went.

    ``complete``: every list has its valid participants. ``paid`` counts everybody who finished, excluded and surplus
    people too. ``hours`` until the last one finished. ``places`` has every place that was given.
    """

    complete: bool
    paid: int
    excluded: int
    left: int
    returned: int
    surplus: int
    screened_out: int
    turned_away: int
    hours: float
    valid_per_list: tuple[int, ...]
    places: tuple[Place, ...]
    people: tuple[Person, ...]


def recruit(
    n_lists: int,
    quota: Quota,
    population: Population,
    judge: Judge,
    *,
    minutes: float,
    lease_minutes: float,
    seed: int,
    admit: Admit = lambda person: True,
) -> Recruited:
    """Simulate the recruitment of a study until every list has its valid participants.

    *admit* says who passes the qualification. The judge is asked whenever the answer matters: no place is free, or the
    study seems complete. The same arguments give the same run.
    """
    return _Run(n_lists, quota, population, judge, admit, minutes, lease_minutes, seed).outcome()


def exclude_by_character(finished: Sequence[tuple[Person, Place]]) -> dict[str, str]:
    """Exclude everybody who is not attentive: a judge that makes no mistake, for studies of the allocation alone."""
    return {person.person_id: person.character for person, _ in finished if person.character != "attentive"}


class _Run:
    """The events of one run, in order of time."""

    def __init__(
        self,
        n_lists: int,
        quota: Quota,
        population: Population,
        judge: Judge,
        admit: Admit,
        minutes: float,
        lease_minutes: float,
        seed: int,
    ) -> None:
        self.population, self.judge, self.admit = population, judge, admit
        self.minutes, self.lease_seconds, self.seed = minutes, 60 * lease_minutes, seed
        self.now, self.order = 0.0, 0
        self.allocator = Allocator(n_lists, quota, lease_seconds=self.lease_seconds, seed=seed, clock=lambda: self.now)
        self.most = _ARRIVALS_PER_PLACE * n_lists * quota.need
        self.events: list[tuple[float, int, str, Person | None]] = []
        self.rng = random.Random(f"{seed}/arrivals")
        self.people: dict[str, Person] = {}
        self.counts: Counter[str] = Counter()
        self.arrived, self.unjudged, self.last_finish = 0, 0, 0.0

    def outcome(self) -> Recruited:
        """Run to the end; where the last to finish leave a list short of valid answers, the study opens again."""
        while not self._is_complete() and self.arrived < self.most:
            self._while_open()
        return self._result()

    def _while_open(self) -> None:
        self._next_arrival()
        open_ = True
        while self.events:
            self.now, _, kind, person = heapq.heappop(self.events)
            if person is not None:
                self._step(kind, person)
            elif open_:
                self._arrival()
            # who is at it when the study closes may still finish, is recorded and paid
            if open_ and (kind == "finish" or self.arrived >= self.most):
                open_ = not self._is_complete() and self.arrived < self.most

    def _at(self, time: float, kind: str, person: Person | None) -> None:
        self.order += 1
        heapq.heappush(self.events, (time, self.order, kind, person))

    def _next_arrival(self) -> None:
        self._at(self.now + self.rng.expovariate(self.population.arrivals_per_hour) * 3600, "arrival", None)

    def _arrival(self) -> None:
        self.arrived += 1
        person = draw_person(self.population, number=self.arrived, minutes=self.minutes, seed=self.seed)
        self._next_arrival()
        if not self.admit(person):
            self.counts["screened_out"] += 1
            return
        place = self.allocator.arrive(person.person_id)
        if place is None and self._judge():
            place = self.allocator.arrive(person.person_id)
        if place is None:
            self.counts["turned_away"] += 1
            return
        self.people[person.person_id] = person
        self._schedule(person)

    def _schedule(self, person: Person) -> None:
        seconds = 60 * person.minutes * (1.0 if person.leaves_at is None else person.leaves_at)
        # every answer renews the lease; it is enough to note it before the lease would run out
        step = 0.5 * self.lease_seconds
        for number in range(1, int(seconds / step) + 1):
            self._at(self.now + number * step, "renew", person)
        last = "finish" if person.leaves_at is None else person.after
        self._at(self.now + seconds, last, person)

    def _step(self, kind: str, person: Person) -> None:
        if kind == "renew":
            self.allocator.renew(person.person_id)
        elif kind == "returned":
            self.allocator.release(person.person_id, reason="returned")
            self.counts["returned"] += 1
        elif kind == "finish":
            self.allocator.finish(person.person_id)
            self.unjudged += 1
            self.last_finish = self.now
        elif kind == "late":
            rest = 60 * person.minutes * (1 - (person.leaves_at or 0.0))
            self._at(self.now + 1.5 * self.lease_seconds + rest, "finish", person)
        else:
            self.counts["gone"] += 1

    def _is_complete(self) -> bool:
        if not self.allocator.is_complete():
            return False
        return not self._judge() or self.allocator.is_complete()

    def _judge(self) -> bool:
        """Judge everybody who finished anew, if somebody did since the last time."""
        if not self.unjudged:
            return False
        self.unjudged = 0
        self.allocator.judge(self.judge(self._finished()))
        return True

    def _finished(self) -> list[tuple[Person, Place]]:
        return [(self.people[p.participant], p) for p in self.allocator.places if p.finished is not None]

    def _result(self) -> Recruited:
        places = self.allocator.places
        finished = [place for place in places if place.finished is not None]
        return Recruited(
            complete=self.allocator.is_complete(),
            paid=len(finished),
            excluded=sum(place.state == "excluded" for place in places),
            left=self.counts["gone"],
            returned=self.counts["returned"],
            surplus=sum(place.surplus for place in finished),
            screened_out=self.counts["screened_out"],
            turned_away=self.counts["turned_away"],
            hours=self.last_finish / 3600,
            valid_per_list=tuple(load.valid for load in self.allocator.loads()),
            places=places,
            people=tuple(self.people.values()),
        )
