"""What a simulated participant fills in: on a scale, among options, in words, by a search.

Nothing that they write is anybody's judgment. Who reads the pages finds the right option with a share of
``1 - noise / 4`` (never below chance); who does not look takes any, or always the first.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from lexiscope.annotation.rehearsal.answers import Rehearsal, careful, known_answer, rating
from lexiscope.annotation.rehearsal.page import PageForm
from lexiscope.annotation.rehearsal.population import SimulatedPerson
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.core.item import Item

SKIPS = 0.1
"""Share of drawn items for which somebody asks for another one."""
_PLACES = ("in the garden", "at the station", "behind the old school", "near the harbour", "after the long meeting")
_PEOPLE = ("Nobody", "Everybody", "My neighbour", "Her brother", "The new teacher")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the people of a rehearsal answer the items of a frozen study."""

    study: FrozenStudy
    rehearsal: Rehearsal

    def choose(self, person: SimulatedPerson, item: Item, offered: Sequence[str]) -> str:
        """Return which of the values that a page offers a person takes."""
        if item.item_id in self.study.known:
            given = known_answer(person, self.study.known[item.item_id], offered)
            return self._key(item, given) if careful(person) else given
        if self.study.screen.widget == "scale":
            caught = item.item_id in self.study.design.catch_ids
            return f"{rating(self.rehearsal, person, item.item_id, caught=caught):g}"
        rng = self._rng(person, item)
        if not careful(person):
            always_first = random.Random(f"{person.seed}/options").random() < 0.5
            return offered[0] if always_first else rng.choice(list(offered))
        share = max(1 / len(offered), 1 - self.rehearsal.population.noise / 4)
        right = self._right(item)
        if right is None or right not in offered:
            right = random.Random(item.item_id).choice(sorted(offered))
        others = [each for each in offered if each != right]
        return right if rng.random() < share or not others else rng.choice(others)

    def write(self, person: SimulatedPerson, item: Item) -> str:
        """Return a text that the task's rules of form let pass: one sentence, the word once or never as it wants."""
        rng = self._rng(person, item)
        opening = f"{rng.choice(_PEOPLE)} {rng.choice(_PLACES)}"
        # numbers in words would do as well: two texts of two people must never be the same
        mark = f"number {rng.randrange(10**6)}"
        word = item.usages[0].target
        texts = (f"{opening} spoke of the {word} of {mark}.", f"{opening} was never seen again by {mark}.")
        faulty = [text for text in texts if self.study.screen_of(item.item_id).faults(text, item)]
        return next((text for text in texts if text not in faulty), texts[0])

    def wants_another(self, person: SimulatedPerson, item: Item) -> bool:
        """Say whether a person asks for another item than the one that was drawn."""
        return random.Random(f"{person.seed}/{item.item_id}/another").random() < SKIPS

    def sees_flaw(self, person: SimulatedPerson, item: Item, form: PageForm) -> str:
        """Return the name of a flag that a person sets (one of a hundred items), else an empty name."""
        if not form.boxes or not careful(person):
            return ""
        rng = random.Random(f"{person.seed}/{item.item_id}/flag")
        return rng.choice(form.boxes) if rng.random() < 0.01 else ""

    def _right(self, item: Item) -> str | None:
        return None if item.gold is None else self._key(item, item.gold)

    def _key(self, item: Item, value: str) -> str:
        """What the page sends for an answer: the key of an option, whose value it is."""
        screen = self.study.screen_of(item.item_id)
        keys = {choice.value: choice.key for view in screen.views for choice in screen.options_of(item, view)}
        return keys.get(value, value)

    def _rng(self, person: SimulatedPerson, item: Item) -> random.Random:
        return random.Random(f"{self.rehearsal.seed}/{person.seed}/{item.item_id}")
