"""A study rehearsed with simulated participants: what it costs, how long it takes, what its rules and tests find.

Everything but the people is real: the design, the allocator under a simulated clock, each participant's trials, the
exclusion rules as declared, and the planned mixed model on the answers that are kept.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from typing import Literal

import numpy as np

from lexiscope.analysis.exclusion import apply
from lexiscope.analysis.mixed.data import Column
from lexiscope.analysis.mixed.models import likelihood_ratio
from lexiscope.annotation.export.r_script import analysis_formulas
from lexiscope.annotation.rehearsal.answers import RATING, Character, Population, SimulatedPerson, draw_person, rehearse
from lexiscope.annotation.study_file.assignment import Load, Quota, choose_list, has_place
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.design import DividedLists, effect_codes
from lexiscope.annotation.study_file.exclusions import current_exclusions, declared_rules
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable

# -- places: the participant, the list, the end of the lease, the outcome ---------------------------------------------
# A place is leased. Every saved answer renews it, and a lease that ran out frees the place without taking anything from
# its holder: a participant who comes back late continues, is recorded and paid, and is marked as surplus if the list
# was filled meanwhile. A participant holds at most one place per study. The clock is an argument: simulated time.


PlaceState = Literal["active", "finished", "excluded", "released"]


@dataclass(frozen=True, slots=True)
class HeldPlace:
    """One participant's place.

    ``number`` counts the participants from 1 and seeds their trials; ``list_number`` counts from 0. ``until`` is when
    the lease ends. ``reason`` is why a place was released (returned, timed out, screened out) or its answers are
    excluded. ``surplus``: the list had enough without it. *Unit:* seconds of the clock.
    """

    number: int
    participant: str
    list_number: int
    state: PlaceState
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
    ) -> None:
        self._n_lists, self._quota, self._lease = n_lists, quota, lease_seconds
        self._seed, self._clock = seed, clock
        self._places: dict[str, HeldPlace] = {}

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
            column = {"finished": 0, "active": 1, "excluded": 2}.get(place.state)
            expired = place.state == "active" and place.until <= now
            if column is not None and not expired and place.participant != without:
                counts[place.list_number][column] += 1
        return tuple(Load(*numbers) for numbers in counts)

    def is_complete(self) -> bool:
        """Return whether every list has its valid answers; active participants do not matter."""
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
        return self._store(HeldPlace(number, participant, chosen, "active", self._clock() + self._lease))

    def renew(self, participant: str) -> HeldPlace:
        """Extend the lease after a return or a saved answer; check whether a lease that ran out is surplus."""
        place = self._active_place(participant)
        until, surplus = self._clock() + self._lease, place.surplus or self._is_too_late(place)
        return self._store(replace(place, until=until, surplus=surplus))

    def finish(self, participant: str) -> HeldPlace:
        """Note that every answer of a participant is stored: they count as valid until an exclusion says otherwise."""
        if self.place_of(participant).state in ("finished", "excluded"):
            return self.place_of(participant)
        place = self._active_place(participant)
        surplus = place.surplus or self._is_too_late(place)
        return self._store(replace(place, state="finished", finished=self._clock(), surplus=surplus))

    def release(self, participant: str, *, reason: str) -> HeldPlace:
        """Free the place of a participant who returned it, was timed out by the platform, or was screened out."""
        return self._store(replace(self._active_place(participant), state="released", reason=reason))

    def set_exclusions(self, excluded: Mapping[str, str]) -> None:
        """Set the excluded participants, each with its rule; all others who finished count as valid.

        Rules compare people with each other, so that a later answer can end an exclusion.
        Errors: :class:`InputError` E631 for a participant without place, E632 for one who has not finished.
        """
        for participant in excluded:
            if self.place_of(participant).state not in ("finished", "excluded"):
                raise InputError(f"{participant!r} has not finished and cannot be excluded", code="E632")
        for place in self.places:
            if place.state in ("finished", "excluded"):
                reason = excluded.get(place.participant, "")
                self._store(replace(place, state="excluded" if reason else "finished", reason=reason))

    def _active_place(self, participant: str) -> HeldPlace:
        place = self.place_of(participant)
        if place.state != "active":
            raise InputError(f"the place of {participant!r} is {place.state}", code="E632", why=place.reason)
        return place

    def _is_too_late(self, place: HeldPlace) -> bool:
        if place.until > self._clock():
            return False
        return not has_place(self.loads(without=place.participant), place.list_number, self._quota)

    def _store(self, place: HeldPlace) -> HeldPlace:
        self._places[place.participant] = place
        return place


# ---------------------------------------------------------------------------------------------------------------------


CHARACTERS: tuple[Character, ...] = ("careless", "slow", "non_native", "attentive")
_FEWEST_TO_COMPARE = 5
_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class RuleCatches:
    """The participants that one rule excluded, by their simulated character; attentive ones are false alarms."""

    rule: str
    careless: int
    slow: int
    non_native: int
    attentive: int


@dataclass(frozen=True, slots=True)
class RecoveredEffect:
    """The planned effect as the planned model estimates it in one run; ``reason`` if it cannot be estimated.

    *Unit:* points of the scale for ``estimate`` and ``se``.
    """

    estimate: float | None
    se: float | None
    chi2: float | None
    p: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RehearsalResult:
    """One rehearsal; ``cost`` is in the study's currency.

    ``ratings`` are (fewest, mean, most) valid ratings per item; ``missed`` counts the faulty participants that no rule
    excluded, by character.
    """

    seed: int
    recruited: Recruited
    cost: float
    ratings: tuple[int, float, int]
    rules: tuple[RuleCatches, ...]
    missed: tuple[tuple[str, int], ...]
    recovered: RecoveredEffect | None
    kept: ResponseTable


@dataclass(frozen=True, slots=True)
class SimulationSummary:
    """Several rehearsals of one study. *Unit:* ``cost`` in the currency of the study, ``hours`` of simulated time.

    Pairs are (median, 95th percentile) over the runs. ``power`` is the share of runs in which the planned effect is
    significant at .05 (``None`` where none is planned or no run could be tested), with its standard error.
    """

    runs: tuple[RehearsalResult, ...]
    n_complete: int
    paid: tuple[float, float]
    cost: tuple[float, float]
    hours: tuple[float, float]
    fewest_ratings: int
    mean_ratings: float
    most_ratings: int
    rules: tuple[RuleCatches, ...]
    missed: tuple[tuple[str, int], ...]
    power: float | None
    power_se: float | None
    estimate: float | None
    n_tested: int


def simulate(
    definition: StudyDefinition,
    design: DividedLists,
    *,
    population: Population | None = None,
    seeds: Sequence[int] = range(20),
    progress: Callable[[str, int, int], None] | None = None,
) -> SimulationSummary:
    """Rehearse a study once per seed and summarise.

    Errors: :class:`InputError` where there is no seed, the planned effect has not two levels, or a rule cannot be
    applied to what the study collects.
    """
    if not seeds:
        raise InputError("a simulation needs at least one seed")
    runs = []
    for done, seed in enumerate(seeds, 1):
        runs.append(simulate_once(definition, design, population=population or Population(), seed=seed))
        if progress is not None:
            progress("studies", done, len(seeds))
    return _summary(runs)


def simulate_once(
    definition: StudyDefinition, design: DividedLists, *, population: Population, seed: int
) -> RehearsalResult:
    """Rehearse a study once (errors as in :func:`simulate`)."""
    rehearsal = rehearse(definition, design, population, seed=seed)
    rules = declared_rules(definition, design)
    answers: dict[str, ResponseTable] = {}
    # a minimum below the usual one would make rules wait for people who never come
    fewest = max(2, min(_FEWEST_TO_COMPARE, definition.ratings.per_item))

    def exclude(finished: Sequence[tuple[SimulatedPerson, HeldPlace]]) -> Mapping[str, str]:
        for person, place in finished:
            if person.person_id not in answers:
                answers[person.person_id] = rehearsal.answers(
                    person, list_number=place.list_number, number=place.number
                )
        return current_exclusions(rules, ResponseTable.concat(list(answers.values())), fewest=fewest).excluded

    recruited = Recruitment(
        len(design.lists),
        Quota.of(definition),
        population,
        exclude,
        minutes=definition.payment.minutes,
        lease_minutes=definition.lease.minutes,
        seed=seed,
        admit=rehearsal.passes,
    ).run()
    # the analysis of the finished study applies the rules once, strictly: a rule without a result stops here
    result = apply(rules, ResponseTable.concat(list(answers.values())))
    characters = {person.person_id: person.character for person in recruited.people}
    finished = {place.participant for place in recruited.places if place.finished is not None}
    kept = result.kept.where(measure=RATING)
    return RehearsalResult(
        seed=seed,
        recruited=recruited,
        cost=recruited.paid * definition.payment.amount,
        ratings=ratings_per_item(design, kept),
        rules=tuple(
            count_catches(rule, entry.excluded, characters)
            for rule, entry in zip(definition.exclusions, result.log, strict=True)
        ),
        missed=count_missed(finished - set(result.attribution), characters),
        recovered=fit_planned_model(definition, design, kept) if definition.planned.model else None,
        kept=kept,
    )


def fit_planned_model(definition: StudyDefinition, design: DividedLists, kept: ResponseTable) -> RecoveredEffect:
    """Fit the planned model to the ratings that are kept and test the planned effect.

    Errors: :class:`InputError` for a formula that does not parse, names an unknown column, or does not have the effect.
    """
    (full, reduced), effect = analysis_formulas(definition), definition.planned.effect
    if not reduced:
        raise InputError(f"the planned model {full} has no effect {effect!r}", code="E627")
    data = model_columns(design, kept, effect)
    try:
        test = likelihood_ratio(full, reduced, data, starts=1, satterthwaite=False)
    except StatisticError as error:
        return RecoveredEffect(None, None, None, None, error.what)
    term = next(term for term in test.full.fixed if term.name == effect)
    return RecoveredEffect(term.estimate, term.se, test.chi2, test.p)


def model_columns(design: DividedLists, kept: ResponseTable, effect: str) -> dict[str, Column]:
    """Return the columns of the planned model, one row per rating, without catch trials.

    ``rating``, ``participant``, ``item``, ``word``, ``list`` and the conditions of the items; the effect is 0 or 1.
    """
    by_id = {item.item_id: item for item in design.items}
    rows = [row for row in kept.rows() if row.item_id in by_id and row.value is not None]
    codes = effect_codes(design.items, effect)
    shared = set.intersection(*(set(item.conditions) for item in design.items))
    columns: dict[str, Sequence[object]] = {
        name: [str(by_id[row.item_id].conditions[name]) for row in rows] for name in sorted(shared)
    }
    columns |= {
        "rating": [float(row.value) for row in rows if row.value is not None],
        "participant": [row.subject_id for row in rows],
        "item": [row.item_id for row in rows],
        "word": [by_id[row.item_id].word for row in rows],
        "list": [str(row.list_id) for row in rows],
        effect: [codes[row.item_id] for row in rows],
    }
    return {name: np.array(values) for name, values in columns.items()}


def count_catches(rule: str, excluded: Iterable[str], characters: Mapping[str, Character]) -> RuleCatches:
    """Return the characters of the participants that a rule excluded."""
    n = Counter(characters.get(participant_id, "attentive") for participant_id in excluded)
    return RuleCatches(rule, n["careless"], n["slow"], n["non_native"], n["attentive"])


def count_missed(kept: Iterable[str], characters: Mapping[str, Character]) -> tuple[tuple[str, int], ...]:
    """Return the number of participants of each faulty character that no rule excluded."""
    n = Counter(characters.get(participant_id, "attentive") for participant_id in kept)
    return tuple((character, n[character]) for character in CHARACTERS[:-1])


def ratings_per_item(design: DividedLists, kept: ResponseTable) -> tuple[int, float, int]:
    """Return the fewest, the mean and the most answers per item of the design."""
    n = Counter(kept.column("item_id").tolist())
    counts = [n[item.item_id] for item in design.items]
    return min(counts), float(mean(counts)), max(counts)


def _summary(runs: Sequence[RehearsalResult]) -> SimulationSummary:
    tested = [run.recovered for run in runs if run.recovered is not None and run.recovered.p is not None]
    power = mean(float((effect.p or 0.0) < _ALPHA) for effect in tested) if tested else None
    estimates = [effect.estimate for effect in tested if effect.estimate is not None]
    return SimulationSummary(
        runs=tuple(runs),
        n_complete=sum(run.recruited.complete for run in runs),
        paid=_middle_and_high([run.recruited.paid for run in runs]),
        cost=_middle_and_high([run.cost for run in runs]),
        hours=_middle_and_high([run.recruited.hours for run in runs]),
        fewest_ratings=min(run.ratings[0] for run in runs),
        mean_ratings=mean(run.ratings[1] for run in runs),
        most_ratings=max(run.ratings[2] for run in runs),
        rules=tuple(_sum_catches(catches) for catches in zip(*(run.rules for run in runs), strict=True)),
        missed=tuple((name, sum(dict(run.missed)[name] for run in runs)) for name, _ in runs[0].missed),
        power=power,
        power_se=None if power is None else math.sqrt(power * (1 - power) / len(tested)),
        estimate=mean(estimates) if estimates else None,
        n_tested=len(tested),
    )


def _middle_and_high(values: Sequence[float]) -> tuple[float, float]:
    # the 95th percentile as the smallest value that at least 95 % of the runs do not exceed
    return float(median(values)), float(sorted(values)[math.ceil(0.95 * len(values)) - 1])


def _sum_catches(catches: Sequence[RuleCatches]) -> RuleCatches:
    sums = {name: sum(getattr(run, name) for run in catches) for name in CHARACTERS}
    return RuleCatches(catches[0].rule, **sums)


# -- recruitment in simulated time ----------------------------------------------------------------------------------
# People arrive, take places, leave, come back and finish; the allocator is the real one. Answers do not matter here: a
# function says who is excluded, as exclusion rules do.


Exclude = Callable[[Sequence[tuple[SimulatedPerson, HeldPlace]]], Mapping[str, str]]
"""Returns the people who are excluded among those who finished, each with the reason."""
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
    places: tuple[HeldPlace, ...]
    people: tuple[SimulatedPerson, ...]


class Recruitment:
    """The recruitment of a study until every list has its valid participants: events in order of simulated time.

    *admit* says who passes the qualification. *exclude* is called when the answer matters: no place is free, or the
    study seems complete. The same arguments give the same run.
    """

    def __init__(
        self,
        n_lists: int,
        quota: Quota,
        population: Population,
        exclude: Exclude,
        *,
        minutes: float,
        lease_minutes: float,
        seed: int,
        admit: Callable[[SimulatedPerson], bool] = lambda person: True,
    ) -> None:
        self.population, self.exclude, self.admit = population, exclude, admit
        self.minutes, self.lease_seconds, self.seed = minutes, 60 * lease_minutes, seed
        self.now, self.order = 0.0, 0
        self.allocator = Allocator(n_lists, quota, lease_seconds=self.lease_seconds, seed=seed, clock=lambda: self.now)
        self.most = _ARRIVALS_PER_PLACE * n_lists * quota.need
        self.events: list[tuple[float, int, str, SimulatedPerson | None]] = []
        self.rng = random.Random(f"{seed}/arrivals")
        self.people: dict[str, SimulatedPerson] = {}
        self.counts: Counter[str] = Counter()
        self.arrived, self.unchecked, self.last_finish = 0, 0, 0.0

    def run(self) -> Recruited:
        """Run to the end; if the last to finish leave a list short of valid answers, the study opens again."""
        while not self._is_complete() and self.arrived < self.most:
            self._run_while_open()
        return self._result()

    def _run_while_open(self) -> None:
        self._schedule_arrival()
        open_ = True
        while self.events:
            self.now, _, kind, person = heapq.heappop(self.events)
            if person is not None:
                self._handle_event(kind, person)
            elif open_:
                self._handle_arrival()
            # participants who are active when the study closes may still finish, are recorded and paid
            if open_ and (kind == "finish" or self.arrived >= self.most):
                open_ = not self._is_complete() and self.arrived < self.most

    def _add_event(self, time: float, kind: str, person: SimulatedPerson | None) -> None:
        self.order += 1
        heapq.heappush(self.events, (time, self.order, kind, person))

    def _schedule_arrival(self) -> None:
        self._add_event(self.now + self.rng.expovariate(self.population.arrivals_per_hour) * 3600, "arrival", None)

    def _handle_arrival(self) -> None:
        self.arrived += 1
        person = draw_person(self.population, number=self.arrived, minutes=self.minutes, seed=self.seed)
        self._schedule_arrival()
        if not self.admit(person):
            self.counts["screened_out"] += 1
            return
        place = self.allocator.arrive(person.person_id)
        if place is None and self._update_exclusions():
            place = self.allocator.arrive(person.person_id)
        if place is None:
            self.counts["turned_away"] += 1
            return
        self.people[person.person_id] = person
        seconds = 60 * person.minutes * (1.0 if person.leaves_at is None else person.leaves_at)
        # every answer renews the lease; it is enough to note it before the lease would run out
        step = 0.5 * self.lease_seconds
        for number in range(1, int(seconds / step) + 1):
            self._add_event(self.now + number * step, "renew", person)
        last = "finish" if person.leaves_at is None else person.after
        self._add_event(self.now + seconds, last, person)

    def _handle_event(self, kind: str, person: SimulatedPerson) -> None:
        if kind == "renew":
            self.allocator.renew(person.person_id)
        elif kind == "returned":
            self.allocator.release(person.person_id, reason="returned")
            self.counts["returned"] += 1
        elif kind == "finish":
            self.allocator.finish(person.person_id)
            self.unchecked += 1
            self.last_finish = self.now
        elif kind == "late":
            rest = 60 * person.minutes * (1 - (person.leaves_at or 0.0))
            self._add_event(self.now + 1.5 * self.lease_seconds + rest, "finish", person)
        else:
            self.counts["gone"] += 1

    def _is_complete(self) -> bool:
        if not self.allocator.is_complete():
            return False
        return not self._update_exclusions() or self.allocator.is_complete()

    def _update_exclusions(self) -> bool:
        """Apply the exclusions if a participant finished since the last time; return whether they were applied."""
        if not self.unchecked:
            return False
        self.unchecked = 0
        places = [place for place in self.allocator.places if place.finished is not None]
        self.allocator.set_exclusions(self.exclude([(self.people[place.participant], place) for place in places]))
        return True

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
