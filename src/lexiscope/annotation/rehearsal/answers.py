"""Simulated participants: their properties, how long they take, whether they stay, and their answers.

An item has a true value in the middle of the scale, moved by half the planned effect up or down, by its word and by
itself. A participant perceives it with some skill, answers with noise, and rounds to a point of the scale.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lexiscope.analysis.exclusion import SelfReport
from lexiscope.annotation.study_file.assignment import plan_trials
from lexiscope.annotation.study_file.definition import KnownQuestion, StudyDefinition
from lexiscope.annotation.study_file.design import DividedLists, effect_codes
from lexiscope.annotation.study_file.exclusions import declared_rules
from lexiscope.annotation.study_file.items import is_right
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.settings import option
from lexiscope.core.simulated import SIMULATED, SIMULATED_ID

RATING = "rating"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A study whose items have true values, so that simulated participants can answer them."""

    definition: StudyDefinition
    design: DividedLists
    population: Population
    truth: dict[str, float]
    seed: int

    @property
    def scale(self) -> Scale:
        """The scale of the answers."""
        return self.definition.scale.scale()

    def answers(self, person: SimulatedPerson, *, list_number: int, number: int) -> ResponseTable:
        """Return everything that is stored of a person who finished: ratings, checks, time, answers about them."""
        trials = plan_trials(self.definition, self.design, list_number=list_number, number=number)
        values = [simulated_rating(self, person, trial.item.item_id, caught=trial.kind != "item") for trial in trials]
        passed = [float(self._is_right(person, question)) for question in self.definition.attention]
        rows: list[tuple[str, str, float | None, str | None, int | None]] = [
            (trial.item.item_id, RATING, value, None, trial.position)
            for trial, value in zip(trials, values, strict=True)
            if trial.kind != "attention"
        ]
        rows += [
            (question.id, "attention_check", value, None, None)
            for question, value in zip(self.definition.attention, passed, strict=True)
        ]
        rows += [("about_you", measure, None, answer, None) for measure, answer in self_reports(self, person)]
        rows.append(("study", "completion_time", person.minutes * 60_000, None, None))
        if self.definition.qualification:
            rows.append(("study", "qualification", 1.0, None, None))
        columns = dict(
            zip(("item_id", "measure", "value", "option", "position"), map(list, zip(*rows, strict=True)), strict=True)
        )
        return ResponseTable.from_columns(
            columns
            | {
                "subject_id": person.person_id,
                "subject_kind": SIMULATED,
                "task": self.definition.task,
                "list_id": str(list_number + 1),
                "rt_ms": person.minutes * 60_000 / len(trials),
            }
        )

    def passes(self, person: SimulatedPerson) -> bool:
        """Return whether a person passes the qualification; careless ones guess every answer."""
        return all(self._is_right(person, question) for question in self.definition.qualification)

    def _is_right(self, person: SimulatedPerson, question: KnownQuestion) -> bool:
        offered = [f"{point:g}" for point in self.scale.points or (self.scale.low, self.scale.high)]
        return is_right(question, known_answer(person, question, offered))


def rehearse(definition: StudyDefinition, design: DividedLists, population: Population, *, seed: int) -> Rehearsal:
    """Return a study with true values for its items, drawn by the seed.

    Errors: :class:`InputError` if the planned effect is not a condition of the items with two levels, or if the scale
    of the study is not that of a rating.
    """
    rng = random.Random(f"{seed}/truth")
    middle = (definition.scale.low + definition.scale.high) / 2
    coded = effect_codes(design.items, definition.planned.effect)
    words = {word: rng.gauss(0, population.word) for word in sorted({item.word for item in design.items})}
    truth = {
        item.item_id: middle
        + definition.planned.size * (coded[item.item_id] - 0.5 if coded else 0.0)
        + words[item.word]
        + rng.gauss(0, population.item)
        for item in sorted(design.items, key=lambda item: item.item_id)
    }
    return Rehearsal(definition, design, population, truth, seed)


def is_careful(person: SimulatedPerson) -> bool:
    """Return whether a person reads the questions."""
    return person.character != "careless"


def simulated_rating(rehearsal: Rehearsal, person: SimulatedPerson, item_id: str, *, caught: bool) -> float:
    """Return the rating of a person for an item; *caught*: it is a catch trial.

    The answer depends on the rehearsal's seed, the person and the item only: in memory and through a server, and for
    any order of the items, it is the same.
    """
    scale, population = rehearsal.scale, rehearsal.population
    always = random.Random(f"{rehearsal.seed}/{person.seed}")
    rng = random.Random(f"{rehearsal.seed}/{person.seed}/{item_id}")
    if not is_careful(person):
        same = always.random() < 0.5
        return _nearest_point((always if same else rng).uniform(scale.low, scale.high), scale)
    # two identical sentences need no judgment: a careful participant gives the correct answer
    if caught:
        return _nearest_point(rehearsal.definition.catch.answer, scale)
    middle, level = (scale.low + scale.high) / 2, always.gauss(0, population.level)
    seen = middle + population.skill * (rehearsal.truth[item_id] - middle)
    return _nearest_point(seen + level + rng.gauss(0, population.noise), scale)


def _nearest_point(value: float, scale: Scale) -> float:
    inside = min(max(value, scale.low), scale.high)
    if not scale.step:
        return inside
    return min(scale.low + round((inside - scale.low) / scale.step) * scale.step, scale.points[-1])


def known_answer(person: SimulatedPerson, question: KnownQuestion, offered: Sequence[str]) -> str:
    """Return what a person answers to a question with a known answer: who does not look picks something *offered*."""
    if is_careful(person):
        right = question.accept[0] if question.accept else offered[0]
        return right if isinstance(right, str) else f"{right:g}"
    return random.Random(f"{person.seed}/{question.id}").choice(list(offered))


def self_reports(rehearsal: Rehearsal, person: SimulatedPerson) -> list[tuple[str, str]]:
    """Return the answers about a participant: one who will be excluded gives the answer that the rule names."""
    excluding = {
        rule.measure: str(rule.value)
        for rule in declared_rules(rehearsal.definition, rehearsal.design)
        if isinstance(rule, SelfReport)
    }
    reports = []
    for question in rehearsal.definition.about_you:
        values = [option.value for option in question.options]
        harmless = [value for value in values if value != excluding.get(question.measure)]
        if person.character == "non_native" and question.measure in excluding:
            reports.append((question.measure, excluding[question.measure]))
        elif harmless:
            reports.append((question.measure, harmless[0]))
    return reports


# -- simulated participants: what they are like, how long they take, whether they stay ------------------------------
# No number here describes real participants; a researcher sets them to the ones that they expect.


Character = Literal["attentive", "careless", "slow", "non_native"]


@dataclass(frozen=True, slots=True)
class Population:
    """What participants are like. *Unit:* shares from 0 to 1, deviations in points of the scale.

    Half of the ``careless`` people always answer the same. Of the ``dropout``, ``announced`` give their place back at
    once and ``late`` come back when their lease has run out; the others are never seen again. ``skill`` is the share of
    an item's deviation from the middle that a participant perceives, ``level`` the deviation of participants.
    """

    dropout: float = option(0.12, "share of participants who leave before the end", least=0, most=0.99)
    announced: float = 0.5
    late: float = 0.05
    careless: float = option(0.04, "share of participants who answer without looking", least=0, most=1)
    slow: float = option(0.01, "share of participants who take ten times as long", least=0, most=1)
    non_native: float = option(
        0.01, "share of participants who report that they are not native speakers", least=0, most=1
    )
    skill: float = 1.0
    noise: float = option(0.8, "SD of an answer, in points", least=0)
    level: float = 0.3
    word: float = 0.4
    item: float = 0.6
    arrivals_per_hour: float = option(30.0, "participants per hour", flag="--arrivals", least=0.1)

    def __post_init__(self) -> None:
        shares = ("dropout", "announced", "late", "careless", "slow", "non_native")
        for name in self.__slots__:
            value = getattr(self, name)
            if not (0 <= value <= 1 if name in shares else value >= 0):
                raise InputError(f"{name} of simulated participants cannot be {value:g}")
        if self.announced + self.late > 1 or self.careless + self.slow + self.non_native > 1:
            raise InputError("The shares of simulated participants add up to more than 1.")
        if not self.arrivals_per_hour or self.dropout == 1:
            raise InputError("No participant would finish. Set arrivals_per_hour above 0 and dropout below 1.")


@dataclass(frozen=True, slots=True)
class SimulatedPerson:
    """One simulated participant.

    ``minutes`` is the time for the whole list; ``leaves_at`` the share of it after which the person leaves (``None``:
    stays); ``after`` what follows: the place is returned, the person comes back late, or nothing.
    """

    person_id: str
    seed: str
    character: Character
    minutes: float
    leaves_at: float | None
    after: Literal["returned", "late", "gone"]


def draw_person(population: Population, *, number: int, minutes: float, seed: int) -> SimulatedPerson:
    """Return the simulated participant *number* of a run; *minutes* is the median time for a list."""
    own_seed = f"{seed}/person/{number}"
    rng = random.Random(own_seed)
    character = _character(population, rng.random())
    time = minutes * rng.lognormvariate(0, 0.3) * (10 if character == "slow" else 1)
    leaves = rng.random() < population.dropout
    share, fate = rng.random(), rng.random()
    after: Literal["returned", "late", "gone"] = "gone"
    if fate < population.announced:
        after = "returned"
    elif fate < population.announced + population.late:
        after = "late"
    return SimulatedPerson(f"{SIMULATED_ID}{number:05d}", own_seed, character, time, share if leaves else None, after)


def _character(population: Population, drawn: float) -> Character:
    if drawn < population.careless:
        return "careless"
    if drawn < population.careless + population.slow:
        return "slow"
    return "non_native" if drawn < population.careless + population.slow + population.non_native else "attentive"
