"""The relatedness task: distances from vectors, judgments in order, and the words that people read."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError, Place, SpecError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import AnswerInvalid, Shown, emphasised_line
from lexiscope.core.usage import Usage
from lexiscope.tasks.kit.distances import cosine_distances
from lexiscope.tasks.relatedness import (
    ANCHORS,
    FOLDER,
    SCREEN,
    TASK,
    by_embedding,
    by_judgment,
    stimulus,
)

BANKS = "The bank of the river is far from the bank in town"
FIRST, SECOND = Usage(BANKS, 4, 8), Usage(BANKS, 38, 42)
OTHER = Usage("A bank lends money", 2, 6)
ITEMS = (
    Item("two-banks", "test", (FIRST, SECOND)),
    Item("identical", "test", (OTHER, OTHER)),
    Item("third", "test", (SECOND, OTHER)),
)


class FakeEncoder:
    """Two layers of width 2; the angle of a vector grows with the span's place and with the layer."""

    subject_id, kind, layers = "encoder:fake", "encoder", (0, 1)
    facts = SubjectFacts("encoder:fake")

    def __init__(self) -> None:
        self.asked: list[Usage] = []

    def embed(self, usages: Sequence[Usage], *, work: object = None, progress: object = None) -> np.ndarray:
        self.asked += usages
        angles = np.array([[usage.start * (layer + 1) / 50 for layer in self.layers] for usage in usages])
        return np.stack([np.cos(angles), np.sin(angles)], axis=2).astype(np.float32) * 3


class FakeJudge:
    subject_id, kind = "recorded:fake", "recorded"
    facts = SubjectFacts("recorded:fake")

    def __init__(self, rows: Sequence[Response]) -> None:
        self.rows = rows

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        return ResponseTable.from_rows(self.rows)


def rating(item_id: str, value: float | None, *, view: str | None = None, who: str = "p1") -> Response:
    return Response(who, "participant", item_id, "relatedness", "rating", value, view=view)


def test_distances_by_item_and_layer() -> None:
    """Rows are in the order of items, then layers; each distance is 1 − cosine of the angle between the vectors."""
    table = by_embedding(ITEMS, FakeEncoder(), view="full")
    assert table.column("item_id").tolist() == ["two-banks"] * 2 + ["identical"] * 2 + ["third"] * 2
    assert table.column("layer").tolist() == [0, 1] * 3
    expected = [1 - np.cos(34 / 50), 1 - np.cos(68 / 50), 0, 0, 1 - np.cos(36 / 50), 1 - np.cos(72 / 50)]
    np.testing.assert_allclose(table.column("value"), expected, atol=1e-7)
    assert table.unique("measure") == ("cosine_distance",)
    assert table.unique("view") == ("full",)


def test_each_distinct_usage_is_embedded_once() -> None:
    """Six places in three items hold three usages; three are embedded."""
    encoder = FakeEncoder()
    by_embedding(ITEMS, encoder, view="full")
    assert encoder.asked == [FIRST, SECOND, OTHER]


def test_final_stop_view_is_what_is_embedded() -> None:
    """In the view full+final_stop the model reads the sentence with its stop, the span unmoved."""
    encoder = FakeEncoder()
    table = by_embedding(ITEMS, encoder, view="full+final_stop")
    assert encoder.asked[0] == Usage(BANKS + ".", 4, 8)
    assert table.unique("view") == ("full+final_stop",)
    with pytest.raises(SpecError, match="no view"):
        by_embedding(ITEMS, encoder, view="half")


@given(st.integers(0, 2**32 - 1))
def test_distance_is_one_minus_cosine(seed: int) -> None:
    """The distance equals 1 − cosine in double precision, is 0 for equal vectors, and lies in 0..2."""
    vectors = np.random.default_rng(seed).normal(size=(6, 3, 5)).astype(np.float32)
    left, right = np.array([0, 1, 2, 3]), np.array([1, 5, 2, 0])
    ours = cosine_distances(vectors, left, right)
    double = vectors.astype(np.float64)
    dots = (double[left] * double[right]).sum(axis=2)
    norms = np.linalg.norm(double[left], axis=2) * np.linalg.norm(double[right], axis=2)
    np.testing.assert_allclose(ours, 1 - dots / norms, atol=1e-12)
    assert (ours[2] == 0).all()
    assert ((ours >= 0) & (ours <= 2 + 1e-12)).all()


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_unusable_vectors_name_the_item(bad: float) -> None:
    """A zero vector or one that is not finite has no cosine: the error names item and layer."""

    class Broken(FakeEncoder):
        def embed(self, usages: Sequence[Usage], *, work: object = None, progress: object = None) -> np.ndarray:
            vectors = super().embed(usages)
            vectors[2, 1] = bad
            return vectors

    with pytest.raises(SubjectError, match=r"item 'identical'[\s\S]*at layer 1"):
        by_embedding(ITEMS, Broken(), view="full")


def test_an_error_about_a_usage_names_its_item() -> None:
    """What the subject says of a usage is told with the id of the item that holds it."""

    class Refusing(FakeEncoder):
        def embed(self, usages: Sequence[Usage], *, work: object = None, progress: object = None) -> np.ndarray:
            raise refusal(OTHER)

    with pytest.raises(SubjectError, match="item 'identical': too long") as caught:
        by_embedding(ITEMS, Refusing(), view="full")
    assert caught.value.hint == "shorten it"


def refusal(usage: Usage) -> SubjectError:
    place = Place(text=usage.text, column=usage.start + 1, width=usage.end - usage.start)
    return SubjectError("too long", place=place, hint="shorten it")


def test_an_item_needs_two_usages() -> None:
    """One usage cannot be related to itself: the item is named."""
    with pytest.raises(InputError, match="item 'one'"):
        by_embedding([Item("one", "test", (FIRST,))], FakeEncoder(), view="full")


def test_token_counts_are_kept() -> None:
    """A subject that counts its tokens adds the counts of both sentences and of the first target."""

    class Counting(FakeEncoder):
        def token_counts(self, usages: Sequence[Usage], *, work: object = None) -> np.ndarray:
            return np.array([[len(usage.text), usage.end - usage.start] for usage in usages])

    table = by_embedding(ITEMS, Counting(), view="full")
    values = {m: table.where(measure=m).column("value").tolist() for m in table.unique("measure")}
    assert values["n_tokens_1"] == [len(BANKS), len(OTHER.text), len(BANKS)]
    assert values["n_tokens_2"] == [len(BANKS), len(OTHER.text), len(OTHER.text)]
    assert values["target_tokens"] == [4, 4, 4]


def test_judgments_come_in_the_order_of_the_items() -> None:
    """Rows follow the items; rows of one item keep their order; a row of another item is refused."""
    rows = [rating("third", 2), rating("identical", 5), rating("third", 3, who="p2"), rating("two-banks", None)]
    with pytest.raises(SubjectError, match="answered 1 item that it was not asked"):
        by_judgment(ITEMS, FakeJudge([*rows, rating("elsewhere", 1)]), view="full")
    table = by_judgment(ITEMS, FakeJudge(rows), view="full")
    assert table.column("item_id").tolist() == ["two-banks", "identical", "third", "third"]
    assert table.column("subject_id").tolist() == ["p1", "p1", "p1", "p2"]
    np.testing.assert_array_equal(table.column("value"), [np.nan, 5, 2, 3])
    assert table.unique("view") == ("full",)


def test_judgments_of_another_view_do_not_count() -> None:
    """An answer to another view is left out, and its item has a row without value under the subject's own id."""
    rows = [rating("two-banks", 1, view="full"), rating("identical", 5, view="full+final_stop"), rating("third", 2)]
    table = by_judgment(ITEMS, FakeJudge(rows), view="full")
    assert table.column("item_id").tolist() == ["two-banks", "identical", "third"]
    np.testing.assert_array_equal(table.column("value"), [1, np.nan, 2])
    assert table.column("subject_id").tolist() == ["p1", "recorded:fake", "p1"]
    with pytest.raises(SubjectError, match=r"no answer in the view 'full'[\s\S]*views with answers: word"):
        by_judgment(ITEMS[:1], FakeJudge([rating("two-banks", 1, view="word")]), view="full")


def test_a_silent_judge_is_refused() -> None:
    """A subject that says nothing at all of an item breaks its promise; the item is named."""
    with pytest.raises(SubjectError, match=r"item 'identical': .* no row for 2 of 3 items"):
        by_judgment(ITEMS, FakeJudge([rating("two-banks", 1)]), view="full")


def test_who_cannot_answer_is_refused_by_name() -> None:
    """A subject without vectors and judgments is refused, and the message says what could answer."""

    class Mute:
        subject_id, kind, facts = "mute:x", "mute", SubjectFacts("mute:x")

    with pytest.raises(CapabilityError, match=r"mute:x cannot answer[\s\S]*Judges or ChoosesSense or Embeds"):
        TASK.answer_function(Mute())


# -- the words ------------------------------------------------------------------------------------------------


def example_rows() -> list[dict]:
    return [json.loads(line) for line in (FOLDER / "examples.jsonl").read_text(encoding="utf-8").splitlines()]


def test_scale_words() -> None:
    """The scale runs from 1 to 5 with words at its ends in English and Spanish (SAW-C §3.3)."""
    spanish, english = SCREEN.scale_in("es"), SCREEN.scale_in("en")
    assert spanish is not None
    assert spanish.anchors == ((1, "totalmente sin relación"), (5, "mismo significado"))
    assert english is not None
    assert english.points == (1, 2, 3, 4, 5)
    with pytest.raises(InputError, match="no words in 'fr'"):
        SCREEN.question(Item("i", "d", (FIRST, OTHER)), "fr")


@pytest.mark.parametrize("language", ["en", "es"])
def test_guidelines_hold_the_scale_and_the_examples(language: str) -> None:
    """The guidelines name both ends of the scale in its own words, and every worked example stands in them."""
    text = SCREEN.guidelines(language)
    plain = " ".join(text.replace("*", "").split())
    for _, anchor in ANCHORS[language]:
        assert anchor in plain
    rows = [row for row in example_rows() if row["language"] == language]
    assert sorted(row["rating"] for row in rows) == [1, 5]
    for row in rows:
        assert row["sentence_1"] in plain
        assert row["sentence_2"] in plain
    with pytest.raises(InputError, match="not written in 'fr'"):
        SCREEN.guidelines("fr")


def test_examples_have_true_spans() -> None:
    """Each example's spans cover its word."""
    for row in example_rows():
        for n in (1, 2):
            assert Usage(row[f"sentence_{n}"], row[f"start_{n}"], row[f"end_{n}"]).target == row["word"]


def test_example_words_are_no_mini_items() -> None:
    """An example must not tell how to answer an item: its word is not among the targets of the mini sets."""
    mini = Path(FOLDER).parents[1] / "datasets" / "mini"
    files = sorted(mini.glob("relatedness_*.csv"))
    assert files
    targets = {row["word"] for file in files for row in csv.DictReader(file.open(encoding="utf-8"))}
    assert not targets & {row["word"] for row in example_rows()}


@pytest.mark.published
def test_example_words_are_no_published_items(published: Path) -> None:
    """S09: the example words are no targets of SAW-C and RAW-C."""
    used = {row["word"] for row in example_rows()}
    for name, column in (("sawc/sawc_avg_relatedness.csv", "Word"), ("rawc/raw-c.csv", "word")):
        rows = csv.DictReader((published / name).open(encoding="utf-8"))
        assert not used & {row[column] for row in rows}


def test_two_words_are_both_shown() -> None:
    """An item about two words names both, each on the side of its sentence, and asks about both; one lemma is one."""
    shore = Usage("They walked along the shore", 22, 27)
    item = Item("two-words", "test", (OTHER, shore))
    as_given, swapped = (stimulus(item, Shown(side=side)) for side in ("as_given", "swapped"))
    assert (as_given["target"], swapped["target"]) == ("bank · shore", "shore · bank")
    assert as_given["sentences"] == [emphasised_line("A bank lends money", 2, 6), emphasised_line(shore.text, 22, 27)]
    assert SCREEN.question(item, "en") == "How related are the meanings of “bank” and “shore”, each in its sentence?"
    inflected = Usage("Banks lend money", 0, 5, lemma="bank")
    one = Item("one-word", "test", (Usage("A bank lends", 2, 6, lemma="bank"), inflected))
    assert stimulus(one, Shown())["target"] == "bank"
    assert SCREEN.question(one, "en") == "How related are the meanings of “bank” in the two sentences?"


def test_the_stimulus_follows_the_side() -> None:
    """The page shows the target and both sentences with their targets marked; a swapped trial turns them round."""
    item = Item("i", "d", (FIRST, OTHER))
    as_given, swapped = (stimulus(item, Shown(side=side)) for side in ("as_given", "swapped"))
    assert as_given["target"] == FIRST.target
    assert as_given["sentences"] == [emphasised_line(u.text, u.start, u.end) for u in (FIRST, OTHER)]
    assert swapped["sentences"] == as_given["sentences"][::-1]


def test_an_answer_is_a_point_of_the_scale() -> None:
    """What is not on the study's scale is refused by field; what is becomes the value."""
    item = Item("i", "d", (FIRST, OTHER))
    assert SCREEN.read({"value": "4"}, item).value == 4
    for wrong in ("6", "1.5", "nan", "", "four"):
        with pytest.raises(AnswerInvalid, match="value"):
            SCREEN.read({"value": wrong}, item)
