"""Ending a story: the page of Figure 3, the word that must not recur, and the texts as rows."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
import numpy as np
import pytest
from markupsafe import Markup

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.items.text_rules import word_recurs
from lexiscope.tasks.story_ending import FAULTS, FOLDER, SCREEN, by_judgment, example_items, faults

SENTENCE = "There was strong resistance."
PARTS = {
    "precontext": " Ann ran the test twice. It took an hour. She wrote it all down.\n",
    "sense": "opposition to a plan",
    "example": "The plan met with resistance.",
    "other_sense": "opposition to the flow of current",
    "other_example": "Copper has a low resistance.",
}
STORY = Item("story-1", "d", (Usage(SENTENCE, 17, 27, language="en"),), conditions=PARTS)


class FakeWriter:
    subject_id, kind, facts = "recorded:fake", "recorded", SubjectFacts("recorded:fake")

    def judge(self, items: object, task: str) -> ResponseTable:
        rows = [Response("p1", "participant", "story-1", task, "text", raw="Nobody signed.")]
        return ResponseTable.from_rows(rows)


def page() -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True)
    template = environment.from_string((FOLDER / "screen.html").read_text(encoding="utf-8"))
    return template.render(**SCREEN.stimulus(STORY, Shown()), words=SCREEN.words("en"), language="en")


def test_the_page_has_the_texts_of_the_figure() -> None:
    """A08: word, story, intended meaning with its example, as in AmbiStory's Figure 3, in words of our own."""
    assert " ".join(Markup(page()).striptags().split()) == (
        "The ambiguous word is resistance Read the beginning of this story. "
        "Ann ran the test twice. It took an hour. She wrote it all down. There was strong resistance. "
        "The ending should bring out this meaning of resistance: “opposition to a plan”. "
        "(as in: “The plan met with resistance.”)"
    )
    assert f"She wrote it all down. <em>{SENTENCE}</em>" in page()
    words = SCREEN.words("en")
    assert words["fold_definitions"] == "Show word definitions"
    assert words["placeholder"] == "Write your ending sentence here."
    assert words["counter"].format(done=1, total=21) == "Finished samples: 1/21"
    assert SCREEN.question(STORY, "en") == (
        "Write one sentence that ends the story, without the word “resistance”. Readers should find the intended "
        "meaning the most plausible one."
    )


def test_both_meanings_fold_out_and_only_there() -> None:
    """The other meaning stands behind the toggle, the page itself shows the intended one only."""
    assert SCREEN.stimulus(STORY, Shown())["fold_definitions"] == (
        ((PARTS["sense"], True), (f" ({PARTS['example']})", False)),
        ((PARTS["other_sense"], True), (f" ({PARTS['other_example']})", False)),
    )
    assert PARTS["other_sense"] not in page()
    assert SCREEN.comment


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Nobody signed the paper.", ()),
        ("“Nobody signs this!” he said.", ()),
        ("A resistancelike mood was in the air.", ()),
        ("Resistance was strong.", ("word_recurs",)),
        ("The RESISTANCE, again.", ("word_recurs",)),
        ("Nobody signed. They all left.", ("not_one_sentence",)),
        ("It was resistance. They left.", ("word_recurs", "not_one_sentence")),
    ],
)
def test_what_is_refused(text: str, found: tuple[str, ...]) -> None:
    """A08: the form must not recur, in any case of its letters; one sentence; the words say why."""
    assert faults(text, STORY) == found
    assert set(found) <= set(FAULTS) <= set(SCREEN.words("es"))
    if found:
        with pytest.raises(AnswerInvalid) as caught:
            SCREEN.read({"text": text}, STORY)
        assert (caught.value.field, caught.value.key) == ("text", found[0])
    else:
        reading = SCREEN.read({"text": text, "comment": "hard"}, STORY)
        assert (reading.text, reading.comment) == (text, "hard")


def test_an_item_needs_every_part() -> None:
    """An item without a precontext is refused by name."""
    parts = {name: text for name, text in PARTS.items() if name != "precontext"}
    with pytest.raises(InputError, match=r"item 'story-2'[\s\S]*precontext"):
        by_judgment([Item("story-2", "d", STORY.usages, conditions=parts)], FakeWriter(), view="full")


def test_a_text_is_a_row_without_value() -> None:
    """The ending stands in ``raw``, ``value`` is missing."""
    table = by_judgment([STORY], FakeWriter(), view="full")
    assert table.column("raw").tolist() == ["Nobody signed."]
    assert np.isnan(table.column("value")).all()
    assert table.unique("measure") == ("text",)


@pytest.mark.parametrize("language", ["en", "es"])
def test_guidelines_hold_the_examples(language: str) -> None:
    """One story with an ending for each of its meanings: the endings obey the rules and stand in the guidelines."""
    text = " ".join(SCREEN.guidelines(language).replace("*", "").split())
    items, rows = example_items(language), SCREEN.examples(language)
    first, second = items
    assert first.usages == second.usages
    assert first.condition("sense") == second.condition("other_sense") != first.condition("other_sense")
    for item, row in zip(items, rows, strict=True):
        assert item.usages[0].target == row["word"]
        assert faults(row["ending"], item) == ()
        for part in ("precontext", "sentence", "sense", "ending"):
            assert row[part] in text


@pytest.mark.published
def test_the_rule_finds_the_released_endings_that_use_the_word(published: Path) -> None:
    """collection.md §2.3: 21 of AmbiStory's 1,266 released endings contain the form."""
    endings = set()
    for path in sorted((published / "ambistory").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        rows = [row for row in (found.values() if isinstance(found, dict) else found) if isinstance(row, dict)]
        endings |= {(row["homonym"], row["ending"]) for row in rows if row.get("ending")}
    assert len(endings) == 1266
    assert sum(word_recurs(text, form) is not None for form, text in endings) == 21
