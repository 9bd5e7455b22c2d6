"""Answers by vectors: pairs, definitions, glosses, labelled usages and substitutes, on a plane that can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError, Place, SpecError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.subject import Floats, Progress
from lexiscope.core.usage import Usage
from lexiscope.tasks.kit.distances import cosine_distances
from lexiscope.tasks.sense_disambiguation import CHOICE, DISTANCE, MOST, NONE, LabelledUsages

from .toy_vectors import OnlyChooses, Senses

RIVER, MONEY = {"river", "shore", "slope", "water"}, {"loan", "cash", "lender", "money"}


class Plane:
    """Gives a usage its place by the words of its text: right = river, up = money; layer 0 has all at one place."""

    kind, subject_id, layers = "encoder", "encoder:plane", (0, 1)
    facts = SubjectFacts("encoder:plane", revision="1")

    def __init__(self) -> None:
        self.asked: list[Usage] = []

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        self.asked += usages
        rows = []
        for usage in usages:
            words = usage.text.replace(".", " ").split()
            place = [1 + 4 * len(RIVER & set(words)), 1 + 4 * len(MONEY & set(words))]
            rows.append([[1, 1], place])
        return np.array(rows, np.float32)


def usage(text: str, word: str = "bank", *, last: bool = False, **more: str) -> Usage:
    start = text.rindex(word) if last else text.index(word)
    return Usage(text, start, start + len(word), lemma=word, language="en", **more)


def item(text: str, *, item_id: str = "i", gold: str | None = None, **conditions: str) -> Item:
    return Item(item_id, "d", (usage(text),), gold=gold, conditions=conditions)


GLOSSES = {"glosses": "a house of money|the slope of water", "senses": "house|slope"}


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return float(np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b))


def test_a_pair_is_answered_with_its_distance() -> None:
    """1 − cosine of both usages at each layer, and no decision: a threshold is learnt on other words."""
    pair = Item("p", "d", (usage("the bank by the river"), usage("the bank gave a loan")))
    table = collect([pair], [Plane()], "same_sense")
    assert table.unique("measure") == ("cosine_distance",)
    found = dict(zip(table.column("layer"), table.column("value"), strict=True))
    assert found == pytest.approx({0: 0.0, 1: 1 - cosine([5, 1], [1, 5])})


def test_a_definition_is_read_with_its_broader_terms() -> None:
    """The distance of the target in its text from ``definition ; hypernyms``, read as one text."""
    plane = Plane()
    given = item("the bank by the river", definition=" a house of money ", hypernyms="lender")
    table = collect([given], [plane], "sense_verification")
    assert table.unique("measure") == ("cosine_distance(gloss=mean_of_tokens)",)
    assert table.column("value")[1] == pytest.approx(1 - cosine([5, 1], [1, 9]))
    assert [asked.text for asked in plane.asked] == ["the bank by the river", "a house of money  ; lender"]


def test_the_nearest_gloss_is_chosen_at_each_layer() -> None:
    """A choice and a distance per gloss at each layer; where all are alike the first gloss in the alphabet is taken."""
    table = collect([item("the bank by the river", **GLOSSES)], [Plane()], "sense_disambiguation")
    choices = table.where(measure="choice")
    assert dict(zip(choices.column("layer"), choices.column("option"), strict=True)) == {0: "house", 1: "slope"}
    rows = table.where(measure="cosine_distance(gloss=mean_of_tokens)", layer=1)
    found = dict(zip(rows.column("option"), rows.column("value"), strict=True))
    assert found == pytest.approx({"house": 1 - cosine([5, 1], [1, 5]), "slope": 1 - cosine([5, 1], [9, 1])})


def test_substitutes_stand_in_the_targets_place() -> None:
    """Each candidate is read where the target is, articles and punctuation as the page shows them, by its span."""
    plane = Plane()
    given = Item("w", "d", (usage("a bank , near a bank .", last=True),), ("shore", "lender"))
    table = collect([given], [plane], "substitution")
    assert [(asked.text, asked.start, asked.end) for asked in plane.asked] == [
        ("a bank, near a bank.", 15, 19),
        ("a bank, near a lender.", 15, 21),
        ("a bank, near a shore.", 15, 20),
    ]
    assert set(table.where(measure="choice").column("option")) <= {"shore", "lender"}
    with pytest.raises(SpecError, match="use the view full"):
        collect([given], [plane], "substitution", views=["context"])


def test_a_sense_is_chosen_for_target_and_substitute() -> None:
    """By senses: no layers; a word out of the vocabulary leaves the item without an answer and names it."""
    items = [
        Item("a", "d", (usage("the bank of the river tide"),), ("shore", "cash")),
        Item("b", "d", (usage("the bank of the river tide"),), ("xyz", "cash")),
    ]
    table = catalog.task("substitution").answer(items, Senses(), view="full")  # type: ignore[arg-type]
    rows = {row.item_id: row for row in table.where(measure="choice").rows()}
    assert (rows["a"].option, rows["a"].layer) == ("shore", None)
    assert (rows["b"].option, rows["b"].raw) == (None, "out of vocabulary: xyz")
    with pytest.raises(CapabilityError, match="gives no vectors"):
        catalog.task("substitution").answer(items[:1], OnlyChooses(), view="full")  # type: ignore[arg-type]


# -- labelled usages --------------------------------------------------------------------------------------------------


def labelled(n: int, text: str, gold: str, word: str = "bank") -> Item:
    return Item(f"l{n}", "train", (usage(text, word),), gold=gold, conditions=GLOSSES)


TRAINING = [
    labelled(1, "a bank of the shore", "slope"),
    labelled(2, "a bank that gives cash and a loan", "house"),
    labelled(3, "a bank of no kind", "house"),
]


def answered(items: Sequence[Item], training: Sequence[Item] = TRAINING, view: str = "full") -> dict[str, object]:
    asked = catalog.task("sense_disambiguation").labelled
    assert asked is not None
    table = collect(items, [Plane()], asked(training), views=[view])
    rows = [*table.where(measure=CHOICE, layer=1).rows(), *table.where(measure=CHOICE, layer=None).rows()]
    return {row.item_id: row.option or row.raw for row in rows}


def test_the_nearest_labelled_usage_decides() -> None:
    """Behind the rows by gloss: the sense of the nearest usage, and the distance of each sense's nearest one."""
    asked = catalog.task("sense_disambiguation").labelled
    assert asked is not None
    task = asked(TRAINING)
    assert task.given
    table = collect([item("the bank by the river", **GLOSSES)], [Plane()], task)
    assert table.unique("measure") == ("choice", "cosine_distance(gloss=mean_of_tokens)", CHOICE, DISTANCE)
    rows = table.where(measure=DISTANCE, layer=1)
    # of the two usages of *house* the nearer one counts: [1, 1] against [1, 9]
    assert dict(zip(rows.column("option"), rows.column("value"), strict=True)) == pytest.approx(
        {"house": 1 - cosine([5, 1], [1, 1]), "slope": 0.0}
    )
    assert answered([item("the bank by the river", **GLOSSES), item("a bank , cash", item_id="j", **GLOSSES)]) == {
        "i": "slope", "j": "house"
    }  # fmt: skip


def test_a_usage_is_no_neighbour_of_itself() -> None:
    """The text that is asked about is left out, even where it is labelled; without others there is no answer."""
    itself = labelled(9, "the bank by the river", "house")
    given = item("the bank by the river", **GLOSSES)
    assert answered([given], [itself, TRAINING[0]]) == {"i": "slope"}
    assert answered([given], [itself]) == {"i": NONE}


def test_other_words_give_no_neighbours() -> None:
    """The id of a sense may be that of another word's: usages count for their own word, case ignored."""
    other = labelled(5, "the trunk by the river", "slope", "trunk")
    given = item("the bank by the river", **GLOSSES)
    assert answered([given], [other, TRAINING[1]]) == {"i": "house"}


def test_labelled_usages_are_capped_whatever_their_order() -> None:
    """At most ten of a sense, drawn by their texts: the order of a corpus decides nothing; several golds count each."""
    many = [labelled(n, f"a bank number {n}", "slope|house") for n in range(30)]
    first, second = LabelledUsages.of(many).by_sense, LabelledUsages.of(many[::-1]).by_sense
    assert set(first) == {("bank", "slope"), ("bank", "house")}
    for key, kept in first.items():
        assert len(kept) == MOST
        assert [one.item_id for one in kept] == [one.item_id for one in second[key]]


def test_labelled_usages_are_seen_in_the_view_of_the_item() -> None:
    """In ``context`` the word is hidden in both; the choice is named after what it was made by."""
    assert answered([item("the bank by the river", **GLOSSES)], view="context") == {"i": "slope"}


def test_items_without_a_right_sense_are_refused() -> None:
    """Labelled items need a right sense; another task takes none."""
    asked = catalog.task("sense_disambiguation").labelled
    assert asked is not None
    with pytest.raises(InputError, match="none of the labelled items has a right sense"):
        asked([item("a bank", **GLOSSES)])
    assert [name for name in catalog.names("tasks") if catalog.task(name).labelled] == ["sense_disambiguation"]


def test_other_labelled_usages_are_another_question(tmp_path: Path) -> None:
    """A run folder belongs to what was given: other labelled usages are not answered with the stored parts."""
    asked = catalog.task("sense_disambiguation").labelled
    assert asked is not None
    given = [item("the bank by the river", **GLOSSES)]
    collect(given, [Plane()], asked(TRAINING), out=tmp_path)
    with pytest.raises(Exception, match="another question"):
        collect(given, [Plane()], asked(TRAINING[:2]), out=tmp_path)


# -- errors -----------------------------------------------------------------------------------------------------------


class Refusing(Plane):
    """Has no vector of a text with *loan*."""

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        for one in usages:
            if "loan" in one.text:
                place = Place(text=one.text, column=one.start + 1, width=1)
                raise SubjectError("the sentence has 900 tokens, the model reads at most 512", place=place)
        return super().embed(usages)


@pytest.mark.parametrize(
    ("task", "given"),
    [
        ("same_sense", Item("x", "d", (usage("a bank"), usage("a bank, a loan")))),
        ("sense_verification", replace(item("a bank", definition="a loan"), item_id="x")),
        ("sense_disambiguation", replace(item("a bank", glosses="a loan|a slope"), item_id="x")),
        ("substitution", Item("x", "d", (usage("a bank"),), ("loan", "shore"))),
    ],
)
def test_a_text_without_a_vector_names_its_item(task: str, given: Item) -> None:
    """Nothing is cut off: what the model says of a text names the item that has it, be it a sentence or a gloss."""
    with pytest.raises(SubjectError, match="900 tokens") as caught:
        collect([given], [Refusing()], task)
    assert caught.value.place is not None
    assert caught.value.place.item_id == "x"


@pytest.mark.parametrize("definition", ["", "  "])
def test_an_empty_definition_or_gloss_is_refused(definition: str) -> None:
    """Before any work, by the item's id."""
    for task, given in (
        ("sense_verification", item("a bank", definition=definition)),
        ("sense_disambiguation", item("a bank", glosses=f"a slope|{definition}")),
    ):
        with pytest.raises(InputError, match=r"\bi\b"):
            collect([given], [Plane()], task)


def test_distances_do_not_depend_on_the_blocks_they_are_taken_in() -> None:
    """Pairs are compared in blocks: many pairs of few wide vectors have the numbers of one pair at a time."""
    vectors = np.random.default_rng(0).normal(size=(7, 2, 1 << 20)).astype(np.float32)
    left, right = np.array([0, 1, 2, 3, 4, 5, 6]), np.array([6, 5, 4, 3, 2, 1, 0])
    found = cosine_distances(vectors, left, right)
    alone = [cosine_distances(vectors, left[n : n + 1], right[n : n + 1])[0] for n in range(7)]
    np.testing.assert_allclose(found, np.array(alone), atol=1e-12, rtol=0)
    assert found[3].tolist() == [0.0, 0.0]
