"""Relatedness by induced senses: similarities are their formulas; a pair that is not covered says why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Floats
from lexiscope.core.usage import Usage
from lexiscope.tasks.kit.distances import MEASURE_DISTANCE
from lexiscope.tasks.relatedness import TASK, by_embedding, by_sense
from lexiscope.tasks.relatedness.by_sense import AVG_SIM, AVG_SIM_C, AVG_SIM_C_UPPER, IN_CONTEXT, MAX_SIM, MAX_SIM_C

# two senses of each word, at angles whose cosines are easy: right angles, and 3-4-5
SENSES = {"bank": [[1, 0], [0, 1]], "shore": [[3, 4], [-1, 0]], "blank": [[0, 0], [1, 0]]}
CHOICE = {"wet": (0.9, 0.1), "rich": (0.2, 0.8)}


class Toy:
    """Knows three words; the last word of a text says how probable its senses are."""

    kind, subject_id, layers = "toy", "toy:senses", (0,)
    facts = SubjectFacts("toy:senses")

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        return np.array([CHOICE.get(usage.text.split()[-1], (0.5, 0.5)) for usage in usages], np.float32)

    def senses_of(self, usages: Sequence[Usage]) -> tuple[Floats, np.ndarray]:
        vectors = np.array([SENSES.get(usage.target, [[0, 0], [0, 0]]) for usage in usages], np.float32)
        there = np.array([[usage.target in SENSES] * 2 for usage in usages])
        return vectors, there


def usage(word: str, last: str) -> Usage:
    return Usage(f"a {word} so {last}", 2, 2 + len(word), language="en")


def alone(word: str) -> Usage:
    return Usage(word, 0, len(word), language="en")


def values(table: ResponseTable, measure: str) -> list[float]:
    return table.where(measure=measure).column("value").tolist()


def test_every_measure_is_its_formula() -> None:
    """Cosines of bank's senses with shore's: .6 −1; .8 0. Probabilities .9 .1 and .2 .8."""
    table = by_sense([Item("i", "d", (usage("bank", "wet"), usage("shore", "rich")))], Toy(), view="full")
    assert values(table, MAX_SIM) == pytest.approx([0.8])
    assert values(table, AVG_SIM) == pytest.approx([(0.6 - 1 + 0.8 + 0) / 4])
    assert values(table, MAX_SIM_C) == pytest.approx([-1.0])
    assert values(table, AVG_SIM_C) == pytest.approx([0.9 * 0.2 * 0.6 - 0.9 * 0.8 + 0.1 * 0.2 * 0.8])
    assert values(table, AVG_SIM_C_UPPER) == pytest.approx([0.9 * 0.2 * 0.6 - 0.9 * 0.8])
    distance = table.where(measure=MEASURE_DISTANCE, layer=0)
    assert distance.column("value").tolist() == pytest.approx([2.0])
    assert set(table.unique("task")) == {TASK.name}
    assert set(table.unique("measure")) <= {name for name, _ in TASK.measures}


def test_one_sense_in_two_contexts_has_distance_0() -> None:
    """The same sense chosen twice: the distance is exactly 0, not a rounding error."""
    table = by_sense([Item("i", "d", (usage("shore", "wet"), usage("shore", "wet")))], Toy(), view="full")
    assert values(table, MEASURE_DISTANCE) == [0.0]


def test_words_without_a_context_have_no_similarity_in_context() -> None:
    """Two words alone: MaxSim and AvgSim, and nothing that a context would have to weigh."""
    items = [Item("alone", "d", (alone("bank"), alone("shore"))), Item("in", "d", (usage("bank", "wet"),) * 2)]
    table = by_sense(items, Toy(), view="full")
    assert table.where(item_id="alone").unique("measure") == (MAX_SIM, AVG_SIM)
    assert set(IN_CONTEXT) <= set(table.where(item_id="in").unique("measure"))


def test_a_pair_that_is_not_covered_says_why() -> None:
    """An unknown word, or a sense of length zero: rows without value, the reason in raw; the others have none."""
    items = [
        Item("a", "d", (alone("bank"), alone("quay"))),
        Item("b", "d", (alone("blank"), alone("bank"))),
        Item("c", "d", (alone("bank"), alone("bank"))),
    ]
    rows = by_sense(items, Toy(), view="full").where(measure=MAX_SIM)
    assert np.isnan(rows.column("value")).tolist() == [True, True, False]
    assert rows.column("raw").tolist() == ["out of vocabulary: quay", "a sense of length zero", None]


def test_company_and_order_change_nothing() -> None:
    """A pair's similarities are the same beside other pairs, over the edge of a block too."""
    pair = Item("x", "d", (usage("bank", "wet"), usage("shore", "rich")))
    other = [Item(f"o{n}", "d", (usage("bank", "rich"), usage("bank", "wet"))) for n in range(600)]
    seen: list[tuple[int, int]] = []
    table = by_sense([*other, pair], Toy(), view="full", progress=lambda done, total: seen.append((done, total)))
    assert table.where(item_id="x").column("value").tolist() == pytest.approx(
        by_sense([pair], Toy(), view="full").column("value").tolist()
    )
    assert seen == [(512, 601), (601, 601)]


def test_a_hidden_word_and_a_subject_without_vectors_are_refused() -> None:
    """Who has senses of words must see the word; who gives no vectors is left to its embeddings, or refused."""
    item = Item("i", "d", (usage("bank", "wet"), usage("bank", "rich")))
    with pytest.raises(CapabilityError, match="without seeing the word"):
        by_sense([item], Toy(), view="context")

    class Chooser:
        kind, subject_id, layers = "toy", "toy:chooser", (0,)
        facts = SubjectFacts("toy:chooser")

        def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
            return np.ones((len(usages), 1), np.float32)

        def embed(self, usages: Sequence[Usage], *, work: object = None, progress: object = None) -> Floats:
            return np.ones((len(usages), 1, 2), np.float32)

    assert by_sense([item], Chooser(), view="full") == by_embedding([item], Chooser(), view="full")
