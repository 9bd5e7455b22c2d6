"""The same-meaning task: what each view shows, who may be undecided, the revealed word, and the words."""

from __future__ import annotations

import csv
from pathlib import Path

import jinja2
import pytest

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.tasks.same_sense import FOLDER, SCREEN, TASK, by_judgment, example_items, stimulus

FIRST = Usage("A crane lifts", 2, 7, lemma="crane", language="en")
SECOND = Usage("La grulla vuela", 3, 9, lemma="grulla", language="es")
ITEM = Item("i", "test", (FIRST, SECOND), gold="f")
REVEALED = Shown("context", revealed=True)


def texts(shown: Shown) -> list[str]:
    return ["".join(text for text, _ in each["line"]) for each in stimulus(ITEM, shown)["texts"]]


def test_what_each_view_shows() -> None:
    """Full: the target in brackets; context: [X] in its place; word: the target alone; revealed: as in full."""
    assert texts(Shown()) == ["A [crane] lifts", "La [grulla] vuela"]
    assert texts(Shown("context")) == ["A [X] lifts", "La [X] vuela"]
    assert texts(Shown("word")) == ["crane", "grulla"]
    assert texts(REVEALED) == texts(Shown())


def test_the_emphasised_piece_is_the_target() -> None:
    """What stands out is the target, its brackets included, or what stands in its place."""
    found = {
        view: [text for text, bold in stimulus(ITEM, Shown(view))["texts"][1]["line"] if bold] for view in SCREEN.views
    }
    assert found == {"full": ["[grulla]"], "context": ["[X]"], "word": ["grulla"]}


def drawn(item: Item, shown: Shown) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True)
    environment.globals["line"] = lambda pieces: "".join(text for text, _ in pieces)
    template = environment.from_string((FOLDER / "screen.html").read_text(encoding="utf-8"))
    return template.render({**stimulus(item, shown), "words": SCREEN.words("en"), "shown": shown, "language": "en"})


def test_each_text_has_its_language() -> None:
    """In a cross-lingual pair each text is read out in its own language; an unstated one is the page's."""
    page = drawn(ITEM, Shown())
    assert 'lang="en">A [crane] lifts</p>' in page
    assert 'lang="es">La [grulla] vuela</p>' in page
    assert page.count("<p") == 2
    unstated = Item("i", "test", (Usage("A crane", 2, 7), SECOND))
    assert 'lang="en">A [crane]</p>' in drawn(unstated, Shown())


def test_the_second_phase_says_what_it_is() -> None:
    """Where the word is revealed the page says that the question comes again."""
    assert SCREEN.words("en")["revealed"] in drawn(ITEM, REVEALED)
    assert SCREEN.words("en")["revealed"] not in drawn(ITEM, Shown("context"))


def test_only_a_hidden_word_leaves_undecided() -> None:
    """collection.md §4: *cannot decide* is a button of its own that stores t and says so; elsewhere it is refused."""
    reading = SCREEN.read({"option": "undecided", "guessed_word": " crane "}, ITEM, view="context")
    assert (reading.option, reading.flags, reading.guessed_word) == ("t", ("undecided",), "crane")
    assert SCREEN.read({"option": "t"}, ITEM, view="context").flags == ()
    for view in ("full", "word", REVEALED.appears_as):
        with pytest.raises(AnswerInvalid, match="option"):
            SCREEN.read({"option": "undecided"}, ITEM, view=view)
    keys = [[choice.key for choice in SCREEN.choices(ITEM, shown)] for shown in (Shown("context"), REVEALED)]
    assert keys == [["t", "f", "undecided"], ["t", "f"]]


def test_a_guess_is_optional_and_asked_only_of_a_hidden_word() -> None:
    """The guess goes with the answer where the word is hidden, and nowhere else; there a press stores nothing."""
    assert SCREEN.read({"option": "f"}, ITEM, view="context").guessed_word is None
    assert SCREEN.read({"option": "f", "guessed_word": "crane"}, ITEM, view="full").guessed_word is None
    assert [SCREEN.advance_in(view) for view in SCREEN.views] == ["press", "next", "press"]


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_view_asks_its_own_question(language: str) -> None:
    """The question never names the word; without the word it asks for [X], without texts for the usual meaning."""
    asked = {view: SCREEN.question(ITEM, language, view=view) for view in SCREEN.views}
    assert len(set(asked.values())) == 3
    assert "[X]" in asked["context"]
    assert not [text for text in asked.values() if "crane" in text or "grulla" in text]


class Recorded:
    subject_id, kind, facts = "recorded:x", "recorded", SubjectFacts("recorded:x")

    def judge(self, items: object, task: str) -> ResponseTable:
        rows = [("b", "t", "context"), ("a", "f", "context"), ("a", "t", "full")]
        return ResponseTable.from_rows(
            Response("p", "participant", name, task, "choice", option=option, view=view) for name, option, view in rows
        )


def test_judgments_follow_items_and_view() -> None:
    """Recorded choices come back in the order of the items; those of another view are left out."""
    assert TASK.answer_function(Recorded()) is by_judgment
    items = [Item(name, "test", (FIRST, SECOND)) for name in ("a", "b")]
    table = by_judgment(items, Recorded(), view="context")
    assert [(row.item_id, row.task, row.measure, row.option) for row in table.rows()] == [
        ("a", "same_sense", "choice", "f"),
        ("b", "same_sense", "choice", "t"),
    ]
    assert [row.option for row in by_judgment(items, Recorded(), view="full").rows()] == ["t", None]
    with pytest.raises(SubjectError, match="no answer in the view 'word'"):
        by_judgment(items, Recorded(), view="word")
    with pytest.raises(InputError, match=r"'one'[\s\S]*two usages"):
        by_judgment([Item("one", "test", (FIRST,))], Recorded(), view="full")


# -- the words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "es"])
def test_guidelines_hold_the_examples(language: str) -> None:
    """B18: every example stands in the guidelines with its word in brackets and its answer, one also with [X]."""
    guidelines = " ".join(SCREEN.guidelines(language).replace("*", "").split())
    words = SCREEN.words(language)
    for item in example_items(language):
        assert all(text in guidelines for text in shown_texts(item, "full"))
        assert f"→ {words[f'option_{item.gold}']}." in guidelines
    assert all(text in guidelines for text in shown_texts(example_items(language)[0], "context"))
    assert words["option_undecided"] in guidelines


def shown_texts(item: Item, view: str) -> list[str]:
    return ["".join(text for text, _ in each["line"]) for each in stimulus(item, Shown(view))["texts"]]


def test_examples_have_true_spans() -> None:
    """Each example's spans cover its word; each language has an example of either answer."""
    for language in ("en", "es"):
        items = example_items(language)
        assert {usage.target == item.word for item in items for usage in item.usages} == {True}
        assert {item.gold for item in items} == {"t", "f"}


@pytest.mark.published
def test_example_words_are_no_published_items(published: Path) -> None:
    """S09: the example words are no targets of WiC."""
    used = {item.word for item in example_items("en")}
    for split in ("train", "dev", "test"):
        file = published / "wic" / "WiC_dataset" / split / f"{split}.data.txt"
        rows = list(csv.reader(file.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE))
        assert rows
        assert not used & {row[0] for row in rows}
