"""Same meaning by sense identity: decided pairs, random answers with their reasons, and what they depend on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.item import Item
from lexiscope.core.subject import Floats
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import UNKNOWN
from lexiscope.items.answers.sense_options import DIFFERENT, SAME
from lexiscope.tasks.same_sense import NAME, TASK, by_sense
from lexiscope.tasks.same_sense.by_sense import (
    FLAG,
    ONE_SENSE,
    TIE,
    TWO_WORDS,
    random_answer_counts,
    sense_identity_function,
)


class Chooser:
    """Chooses the sense that the last word of the text names: ``s0`` and ``s1``; ``even`` prefers none."""

    kind, subject_id = "toy", "toy:chooser"
    facts = SubjectFacts("toy:chooser")

    def __init__(self) -> None:
        self.seen: list[str] = []

    def knows(self, usage: Usage) -> bool:
        return usage.target in ("bank", "pin", "go")

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        self.seen += [usage.target for usage in usages]
        rows = {"s0": (0.9, 0.1), "s1": (0.2, 0.8), "even": (0.5, 0.5), "only": (1.0, 0.0)}
        return np.array([rows[usage.text.split()[-1]] for usage in usages], np.float32)


class Counter(Chooser):
    """Knows that its words have two senses, even where one has probability 0."""

    def sense_count(self, usage: Usage) -> int:
        return 2


def usage(word: str, sense: str, lemma: str | None = None) -> Usage:
    text = f"the {word} {sense}"
    return Usage(text, 4, 4 + len(word), lemma=lemma, language="en")


def pair(name: str, first: Usage, second: Usage) -> Item:
    return Item(name, "test", (first, second), gold="t")


DECIDED = (pair("a", usage("bank", "s0"), usage("bank", "s0")), pair("b", usage("bank", "s0"), usage("bank", "s1")))
RANDOM = (
    pair("c", usage("bank", "s0"), usage("crane", "s0")),
    pair("d", usage("crane", "s0"), usage("crane", "s0")),
    pair("e", usage("pin", "only"), usage("pin", "only")),
    pair("f", usage("pin", "s0"), usage("pin", "even")),
)


def test_one_sense_twice_is_the_same_meaning() -> None:
    """The most probable sense of both usages decides, and no decided answer is flagged."""
    table = by_sense(DECIDED, Chooser(), view="full")
    assert table.where(measure="choice").column("option").tolist() == [SAME, DIFFERENT]
    assert table.where(measure=FLAG).column("value").tolist() == [0.0, 0.0]
    assert set(table.unique("task")) == {NAME}


def test_what_identity_cannot_decide_is_random_with_its_reason() -> None:
    """Two words, an unknown word, one sense and a tie: each is flagged, counted, and answered all the same."""
    table = by_sense(DECIDED + RANDOM, Chooser(), view="full")
    flags = table.where(measure=FLAG)
    assert flags.column("raw").tolist() == [None, None, TWO_WORDS, UNKNOWN, ONE_SENSE, TIE]
    assert random_answer_counts(table) == {TWO_WORDS: 1, UNKNOWN: 1, ONE_SENSE: 1, TIE: 1}
    assert set(table.where(measure="choice").column("option")) <= {SAME, DIFFERENT}
    assert random_answer_counts(by_sense(DECIDED, Chooser(), view="full")) == dict.fromkeys(
        (TWO_WORDS, UNKNOWN, ONE_SENSE, TIE), 0
    )


def test_random_answers_follow_the_seed_and_the_item_alone() -> None:
    """The same seed gives the same answers in any order and number of items; half of many are of either kind."""
    many = [pair(f"i{n}", usage("crane", "s0"), usage("crane", "s0")) for n in range(400)]
    options = by_sense(many, Chooser(), view="full").where(measure="choice").column("option").tolist()
    turned = by_sense(many[::-2], Chooser(), view="full").where(measure="choice").column("option").tolist()
    assert turned == options[::-2]
    # 200 expected, standard deviation 10
    assert 160 < options.count(SAME) < 240
    other = sense_identity_function(
        "same_sense", "choice", same=SAME, different=DIFFERENT, check=lambda _: None, seed=1
    )
    assert other(many, Chooser(), view="full").where(measure="choice").column("option").tolist() != options


def test_the_seed_of_a_subject_counts() -> None:
    """A subject with a seed draws by its own."""
    many = [pair(f"i{n}", usage("crane", "s0"), usage("crane", "s0")) for n in range(60)]
    seeded = Chooser()
    seeded.seed = 1  # type: ignore[attr-defined]
    found = [
        by_sense(many, each, view="full").where(measure="choice").column("option").tolist()
        for each in (seeded, Chooser())
    ]
    assert found[0] != found[1]


def test_forms_of_one_lemma_are_looked_up_as_the_lemma() -> None:
    """Senses of two forms are two lists: where the forms differ, the lemma stands in the place of both."""
    chooser = Chooser()
    forms = pair("g", usage("goes", "s1", "go"), usage("went", "s1", "go"))
    assert by_sense((forms,), chooser, view="full").column("option").tolist()[0] == SAME
    assert chooser.seen == ["go", "go"]


def test_who_counts_senses_is_asked() -> None:
    """A sense with probability 0 in both contexts is still a sense where the subject says so: the pair is decided."""
    item = pair("h", usage("pin", "only"), usage("pin", "only"))
    assert random_answer_counts(by_sense((item,), Counter(), view="full"))[ONE_SENSE] == 0
    assert random_answer_counts(by_sense((item,), Chooser(), view="full"))[ONE_SENSE] == 1


def test_a_hidden_word_has_no_senses() -> None:
    """A view that hides the word is refused, and an item with another number of usages."""
    with pytest.raises(CapabilityError, match="without seeing the word"):
        by_sense(DECIDED, Chooser(), view="context")
    with pytest.raises(InputError, match="has two usages"):
        by_sense((Item("x", "test", (usage("bank", "s0"),)),), Chooser(), view="full")


def test_the_task_names_the_capability() -> None:
    """A subject that chooses senses answers the task by sense identity."""
    assert TASK.answer_function(Chooser()) is by_sense
