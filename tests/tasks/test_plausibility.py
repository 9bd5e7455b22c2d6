"""The plausibility task: the story and its one meaning, the rating that is always required, and the words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jinja2
import numpy as np
import pytest

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.tasks.plausibility import (
    ANCHORS,
    FOLDER,
    SCALE,
    SCREEN,
    TASK,
    asks,
    by_embedding,
    by_judgment,
    example_items,
    stimulus,
    story,
)

SENTENCE = Usage("He looked at the jam.", 17, 20, lemma="jam", language="en")
PARTS = {"precontext": "\nIt was early. ", "ending": "Then he honked.", "sense": "cars", "example": "A jam on the A5."}


def item(item_id: str = "i", **changed: str | int) -> Item:
    return Item(item_id, "test", (SENTENCE,), conditions=PARTS | changed)


def test_the_story_is_one_text() -> None:
    """The precontext is stripped, an empty ending is left out, single spaces join (ambistory.md §1)."""
    assert story(item()) == "It was early. He looked at the jam. Then he honked."
    assert story(item(ending="")) == "It was early. He looked at the jam."


def test_the_page_holds_one_meaning_only() -> None:
    """The parts of the story, the word marked in its sentence, one meaning: no other condition reaches the page."""
    shown = stimulus(item(other_sense="a spread", average=1), Shown())
    assert shown == {
        "precontext": "It was early.",
        "sentence": (("He looked at the ", False), ("jam", True), (".", False)),
        "ending": "Then he honked.",
        "target": "jam",
        "sense": "cars",
        "example": "A jam on the A5.",
    }


def drawn(shown: Item) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True)
    environment.globals["line"] = lambda pieces: "".join(f"*{text}*" if bold else text for text, bold in pieces)
    template = environment.from_string((FOLDER / "screen.html").read_text(encoding="utf-8"))
    given = {"words": SCREEN.words("en"), "shown": Shown(), "language": "en"}
    return template.render({**stimulus(shown, Shown()), **given})


def test_the_page_from_top_to_bottom() -> None:
    """A10: story, ambiguous sentence emphasised, focus word, question, meaning, example: in the order of Figure 4."""
    page = drawn(item())
    parts = [
        "Read the following story",
        "It was early. <em>He looked at the *jam*.</em> Then he honked.</p>",
        "Focus on the word:",
        ">jam</strong>",
        "How plausible is this meaning of the word in the story?",
        ">cars</p>",
        "(as in: “A jam on the A5.”)",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert drawn(item(ending="", example="")).count("<p") == page.count("<p") - 1
    assert "*jam*.</em></p>" in drawn(item(ending=""))


def test_a_number_stands_as_text() -> None:
    """A meaning that the item file gives as a number is shown as it is written."""
    assert stimulus(item(sense=12), Shown())["sense"] == "12"


def test_a_rating_is_required_even_of_nonsense() -> None:
    """collection.md §2.4: the box is no answer; ticked or not, a point of the scale is chosen."""
    reading = SCREEN.read({"value": "2", "flag_nonsensical": "on", "comment": " odd "}, item())
    assert (reading.value, reading.flags, reading.comment) == (2, ("nonsensical",), "odd")
    assert SCREEN.read({"value": "2"}, item()).flags == ()
    with pytest.raises(AnswerInvalid, match="value"):
        SCREEN.read({"flag_nonsensical": "on"}, item())


def test_all_five_points_have_words() -> None:
    """A10: each point of the scale says what it means, in English and in Spanish."""
    for language in ("en", "es"):
        scale = SCREEN.scale_in(language)
        assert scale is not None
        assert [point for point, _ in scale.anchors] == [1, 2, 3, 4, 5]
        assert len({text for _, text in ANCHORS[language]}) == 5
    assert SCALE.points == (1, 2, 3, 4, 5)
    with pytest.raises(InputError, match="no words in 'fr'"):
        SCREEN.question(item(), "fr")


def test_a_story_lacks_nothing() -> None:
    """An open story has the empty ending; a story without the column is refused by name before anything is asked."""
    SCREEN.check(item(ending=""))
    broken = Item("broken", "test", (SENTENCE,), conditions={"precontext": "", "sense": "", "example": ""})
    with pytest.raises(InputError, match=r"'broken'[\s\S]*needs ending"):
        by_judgment([broken], Recorded(), view="full")


def test_a_meaning_without_an_example_can_be_asked() -> None:
    """The column may be missing: page and prompt then have no line for an example."""
    conditions = {name: text for name, text in PARTS.items() if name != "example"}
    bare = Item("bare", "test", (SENTENCE,), conditions=conditions)
    SCREEN.check(bare)
    assert stimulus(bare, Shown())["example"] == ""
    said = asks(bare, language="en").messages[-1].content
    assert "Meaning: cars\n\nPlausibility" in said
    assert "As in:" in asks(item(), language="en").messages[-1].content


class Recorded:
    subject_id, kind, facts = "recorded:x", "recorded", SubjectFacts("recorded:x")

    def judge(self, items: object, task: str) -> ResponseTable:
        rows = [Response("p", "participant", name, task, "rating", value) for name, value in (("b", 4), ("a", 2))]
        return ResponseTable.from_rows(rows)


def test_judgments_follow_the_items() -> None:
    """Recorded ratings come back in the order of the items, under the task's name and the view that was asked."""
    assert TASK.answer_function(Recorded()) is by_judgment
    table = by_judgment([item("a"), item("b")], Recorded(), view="full")
    assert [(row.item_id, row.task, row.view, row.value) for row in table.rows()] == [
        ("a", "plausibility", "full", 2),
        ("b", "plausibility", "full", 4),
    ]


# -- the words ------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    return " ".join(text.replace("*", "").replace("\n> ", "\n").split())


@pytest.mark.parametrize("language", ["en", "es"])
def test_guidelines_hold_the_scale_and_the_examples(language: str) -> None:
    """A15: the guidelines quote every point of the scale and every worked example with its rating, 1, 3, 2 and 5."""
    guidelines = plain(SCREEN.guidelines(language))
    for point, anchor in ANCHORS[language]:
        assert f"{point:g} – {anchor}" in guidelines
    examples = example_items(language)
    assert [example.gold for example in examples] == ["1", "3", "2", "5"]
    for example in examples:
        assert f"{example.usages[0].target}: {example.conditions['sense']}. → {example.gold}." in guidelines
        assert story(example) in guidelines


def test_examples_have_true_spans() -> None:
    """Each example's span covers its word, and one example in each language is an open story."""
    for language in ("en", "es"):
        examples = example_items(language)
        assert [example.usages[0].target for example in examples] == [example.word for example in examples]
        assert {example.conditions["ending"] == "" for example in examples} == {True, False}


@pytest.mark.published
def test_example_words_are_no_published_items(published: Path) -> None:
    """S09: an example must not tell how to answer an item: its word is no homonym of AmbiStory."""
    used = {example.word for language in ("en", "es") for example in example_items(language)}
    for split in ("train", "dev", "test"):
        samples = json.loads((published / "ambistory" / f"{split}.json").read_text(encoding="utf-8"))
        assert samples
        assert not used & {sample["homonym"].casefold() for sample in samples.values()}


class Reader:
    """Two layers: at layer 1 a text points at an angle that was planted for it, at layer 0 all point alike."""

    subject_id, kind, layers, facts = "encoder:x", "encoder", (0, 1), SubjectFacts("encoder:x")

    def __init__(self, angles: dict[str, float]) -> None:
        self.angles, self.asked = angles, list[Usage]()

    def embed(self, usages: Sequence[Usage], *, work: object = None, progress: object = None) -> np.ndarray:
        self.asked += usages
        angles = np.array([[0.0, self.angles[usage.target]] for usage in usages])
        return np.stack([np.cos(angles), np.sin(angles)], axis=2).astype(np.float32)


def test_an_encoder_answers_with_the_distance_of_story_and_meaning() -> None:
    """1 − cosine of the angle between the whole story and the meaning, at every layer; each text is read once."""
    both = [item("near"), item("far", sense="fruit")]
    reader = Reader({story(both[0]): 0.0, "cars": np.pi / 3, "fruit": np.pi / 2})
    table = by_embedding(both, reader, view="full")
    assert table.column("item_id").tolist() == ["near", "near", "far", "far"]
    assert table.column("layer").tolist() == [0, 1, 0, 1]
    assert table.column("value").tolist() == pytest.approx([0, 1 - 0.5, 0, 1], abs=1e-6)
    assert set(table.unique("measure")) == {"cosine_distance"}
    assert len(reader.asked) == 3
    assert all((usage.start, usage.end) == (0, len(usage.text)) for usage in reader.asked)
    with pytest.raises(InputError, match="no view 'word'"):
        by_embedding(both, reader, view="word")
