"""What a rehearsal through the server found: people, cost, time, ratings, whom the rules caught, power's one draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Protocol

from lexiscope.annotation.export.collected import Collected
from lexiscope.annotation.rehearsal.population import Character, SimulatedPerson
from lexiscope.annotation.rehearsal.simulate import CHARACTERS, Recovered, RuleFound, recover
from lexiscope.annotation.store.overview import ListedParticipant as Participant
from lexiscope.annotation.store.record import State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.web.admin.summary import read_collected

_DONE = (State.FINISHED, State.ACCEPTED, State.EXCLUDED)


@dataclass(frozen=True, slots=True)
class ServerRun:
    """One rehearsal through the server.

    ``ends`` counts how people left (finished, gone, returned, late, screened_out, turned_away); ``ratings`` are
    (fewest, mean, most) valid answers of an item; ``missed`` counts faulty people whom no rule caught. *Unit:* ``cost``
    in the study's currency, ``hours`` of simulated time, ``cpu_ms`` milliseconds of processor time for an answer and
    the page after it.
    """

    seed: int
    complete: bool
    paid: int
    valid: int
    excluded: int
    ends: Mapping[str, int]
    cost: float
    hours: float
    ratings: tuple[int, float, int]
    rules: tuple[RuleFound, ...]
    missed: tuple[tuple[str, int], ...]
    recovered: Recovered | None
    n_answers: int
    n_requests: int
    cpu_ms: float
    collected: Collected


class HowItWent(Protocol):
    """What a run knows of its people and its requests."""

    @property
    def people(self) -> Mapping[str, SimulatedPerson]:
        """The simulated people by platform id."""

    @property
    def ends(self) -> Mapping[str, int]:
        """How people left."""

    @property
    def complete(self) -> bool:
        """Whether every list has its valid people."""

    @property
    def hours(self) -> float:
        """Simulated time until the last answer."""

    @property
    def n_requests(self) -> int:
        """All requests."""

    @property
    def trial_seconds(self) -> float:
        """Processor time of requests from trials."""


def report(study: FrozenStudy, store: Store, walked: HowItWent, *, seed: int) -> ServerRun:
    """Summarise a run from what the store has.

    Errors: those of the planned model.
    """
    collected = read_collected(study, store, judgments=store.long_export())
    known = {store.find(platform_id): person for platform_id, person in walked.people.items()}
    characters = {who: person.character for who, person in known.items() if who is not None}
    finished = [one for one in store.people() if one.state in _DONE]
    excluded = [one for one in finished if one.state is State.EXCLUDED]
    kept = collected.item_answers
    n_answers = sum(row["phase"] == "trials" for row in collected.rows)
    return ServerRun(
        seed=seed,
        complete=walked.complete,
        paid=len(finished),
        valid=len(finished) - len(excluded),
        excluded=len(excluded),
        ends=walked.ends,
        cost=len(finished) * study.definition.payment.amount,
        hours=walked.hours,
        ratings=_ratings(study, kept.column("item_id").tolist()),
        rules=tuple(_found(rule, excluded, characters) for rule in study.definition.exclusions),
        missed=_missed(finished, characters),
        recovered=recover(study.definition, study.design, kept) if study.definition.planned.model else None,
        n_answers=n_answers,
        n_requests=walked.n_requests,
        cpu_ms=1000 * walked.trial_seconds / max(1, n_answers),
        collected=collected,
    )


def _ratings(study: FrozenStudy, answered: Sequence[str]) -> tuple[int, float, int]:
    n = Counter(answered)
    each = [n[item.item_id] for item in study.design.items]
    return min(each), float(mean(each)), max(each)


def _found(rule: str, excluded: Sequence[Participant], characters: Mapping[str, Character]) -> RuleFound:
    n = Counter(characters.get(one.participant_id, "attentive") for one in excluded if one.reason == rule)
    return RuleFound(rule, n["careless"], n["slow"], n["non_native"], n["attentive"])


def _missed(finished: Sequence[Participant], characters: Mapping[str, Character]) -> tuple[tuple[str, int], ...]:
    kept = Counter(
        characters.get(one.participant_id, "attentive") for one in finished if one.state is not State.EXCLUDED
    )
    return tuple((character, kept[character]) for character in CHARACTERS[:-1])
