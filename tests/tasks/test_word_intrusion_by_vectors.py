"""Word intrusion by vectors: the word farthest from the centroid, layer by layer or with senses chosen beside it."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.core.errors import SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.senses.word_groups import distances_from_centroid, usage_among
from lexiscope.tasks.word_intrusion import TASK

from .toy_vectors import Encoder, OnlyChooses, Senses


def item(name: str, *words: str, gold: str | None = None) -> Item:
    return Item(name, "d", (Usage("bank", 0, 4, language="en"),), words, gold)


def choices(table: ResponseTable) -> list[tuple[str, int | None, str | None]]:
    return [(row.item_id, row.layer, row.option) for row in table.rows() if row.measure == "choice"]


def test_an_encoder_reads_each_word_alone() -> None:
    """Every distinct word is read once, as a text of its own; the farthest from the centroid is chosen, layer by
    layer."""
    encoder = Encoder()
    items = [item("a", "river", "loan", "shore", "stream"), item("b", "loan", "cash", "shore", "debt")]
    answer = TASK.answer_function(encoder)  # type: ignore[arg-type]
    table = answer(items, encoder, view="full")  # type: ignore[arg-type]
    assert choices(table) == [("a", 0, "loan"), ("a", 1, "loan"), ("b", 0, "shore"), ("b", 1, "shore")]
    assert sorted(encoder.asked) == ["cash", "debt", "loan", "river", "shore", "stream"]
    distances = {row.option: row.value for row in table.where(item_id="a", layer=1, measure="cosine_distance").rows()}
    # the centroid of three (1, 0) and one (0, 1) is (3, 1) / 4: cosines 3/√10 and 1/√10
    assert distances["loan"] == pytest.approx(1 - 1 / np.sqrt(10))
    assert distances["river"] == pytest.approx(1 - 3 / np.sqrt(10))


def test_the_farthest_from_all_is_the_farthest_from_the_others() -> None:
    """Leaving each word out of its centroid gives the same order of distances."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        words = rng.normal(size=(10, 1, 6))
        words /= np.linalg.norm(words, axis=2, keepdims=True)
        others = (words.sum(axis=0) - words)[:, 0]
        left_out = 1 - np.einsum("wd,wd->w", words[:, 0], others) / np.linalg.norm(others, axis=1)
        if np.linalg.norm(words.sum(axis=0)) > 1:
            assert np.argsort(distances_from_centroid(words)[:, 0]).tolist() == np.argsort(left_out).tolist()


def test_senses_are_chosen_beside_the_other_words() -> None:
    """*bank* beside words of money is money: the one word of rivers is the intruder, and not *bank*."""
    subject = Senses()
    table = TASK.answer_function(subject)([item("a", "loan", "bank", "river", "cash")], subject, view="full")  # type: ignore[arg-type]
    assert choices(table) == [("a", None, "river")]
    assert usage_among("bank", ["cash", "loan", "river"], "en").text == "cash loan bank river"


def test_the_order_of_the_words_changes_nothing() -> None:
    """Words are read and compared in alphabetical order, so that the file's order is no hint; ties go by it too."""
    for words in (("shore", "loan", "cash", "river"), ("river", "cash", "loan", "shore")):
        for subject in (Encoder(), Senses()):
            answer = TASK.answer_function(subject)  # type: ignore[arg-type]
            found = choices(answer([item("a", *words)], subject, view="full"))  # type: ignore[arg-type]
            assert {option for _, _, option in found} == {"cash"}


def test_an_unknown_word_is_no_answer() -> None:
    """A row without option that says which words are unknown; the other items are answered."""
    subject = Senses()
    items = [item("a", "loan", "toad", "newt", "cash"), item("b", "loan", "cash", "tide")]
    table = TASK.answer_function(subject)(items, subject, view="full")  # type: ignore[arg-type]
    assert choices(table) == [("a", None, None), ("b", None, "tide")]
    assert table.where(item_id="a").column("raw").tolist() == ["out of vocabulary: newt, toad"]


def test_a_word_without_a_vector_is_refused() -> None:
    """A vector of zeros has no direction: the word and the layer are named."""
    encoder = Encoder()
    with pytest.raises(SubjectError, match="'nothing' at layer 0 is zero"):
        TASK.answer_function(encoder)([item("a", "loan", "nothing", "cash")], encoder, view="full")  # type: ignore[arg-type]


def test_who_gives_no_vectors_is_told_so() -> None:
    """A subject that only chooses senses cannot compare words."""
    subject = OnlyChooses()
    answer = TASK.answer_function(subject)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="gives no vectors"):
        answer([item("a", "loan", "river", "cash")], subject, view="full")  # type: ignore[arg-type]
