"""Simulated participants: what they are like, how long they take, whether they stay.

No number here describes anybody who exists; a researcher sets them to what their own participants are like.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from lexiscope.core.errors import InputError
from lexiscope.core.settings import option
from lexiscope.core.simulated import SIMULATED_ID

Character = Literal["attentive", "careless", "slow", "non_native"]


@dataclass(frozen=True, slots=True)
class Population:
    """What participants are like. *Unit:* shares from 0 to 1, deviations in points of the scale.

    Half of the ``careless`` people always answer the same. Of the ``dropout``, ``announced`` give their place back at
    once and ``late`` come back when their lease has run out; the others are never seen again. ``skill`` is the share of
    an item's deviation from the middle that a participant perceives, ``level`` the deviation of participants.
    """

    dropout: float = option(0.12, "share who leave", least=0, most=0.99)
    announced: float = 0.5
    late: float = 0.05
    careless: float = option(0.04, "share who answer without looking", least=0, most=1)
    slow: float = option(0.01, "share who take ten times as long", least=0, most=1)
    non_native: float = option(0.01, "share who say that they are no native speakers", least=0, most=1)
    skill: float = 1.0
    noise: float = option(0.8, "SD of an answer, in points", least=0)
    level: float = 0.3
    word: float = 0.4
    item: float = 0.6
    arrivals_per_hour: float = option(30.0, "people who come per hour", flag="--arrivals", least=0.1)

    def __post_init__(self) -> None:
        shares = ("dropout", "announced", "late", "careless", "slow", "non_native")
        for name in self.__slots__:
            value = getattr(self, name)
            if not (0 <= value <= 1 if name in shares else value >= 0):
                raise InputError(f"{name} of simulated participants cannot be {value:g}")
        if self.announced + self.late > 1 or self.careless + self.slow + self.non_native > 1:
            raise InputError("the shares of simulated participants add up to more than 1")
        if not self.arrivals_per_hour or self.dropout == 1:
            raise InputError("nobody would ever finish: set arrivals_per_hour above 0 and dropout below 1")


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
