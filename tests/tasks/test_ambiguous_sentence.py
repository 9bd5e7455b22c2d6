"""Writing an ambiguous sentence: the page of Figure 2, what is refused, and the texts as rows."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
import numpy as np
import pytest
from markupsafe import Markup

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.items.text_rules import count_sentences, word_not_once
from lexiscope.tasks.ambiguous_sentence import FAULTS, FOLDER, SCREEN, TASK, by_judgment, example_items, faults

MEANINGS = {
    "sense_1": "what somebody wants to reach",
    "example_1": "What is the point?",
    "sense_2": "thin, hard end",
    "example_2": "It has a point.",
}
POINT = Item("point-1", "pool", (Usage("point", 0, 5, language="en"),), conditions=MEANINGS)


class FakeWriter:
    subject_id, kind, facts = "recorded:fake", "recorded", SubjectFacts("recorded:fake")

    def judge(self, items: object, task: str) -> ResponseTable:
        rows = [Response("p1", "participant", "point-1", task, "text", raw="He saw the point.")]
        return ResponseTable.from_rows(rows)


def page(language: str) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True)
    template = environment.from_string((FOLDER / "screen.html").read_text(encoding="utf-8"))
    html = template.render(**SCREEN.stimulus(POINT, Shown()), words=SCREEN.words(language), language=language)
    return " ".join(Markup(html).striptags().split())


def test_the_page_has_the_texts_of_the_figure() -> None:
    """A03: hint, word, both meanings with their examples, in the order of AmbiStory's Figure 2, in words of our own."""
    assert page("en") == (
        "No idea for this word? The button below gives you another word, as often as you like. "
        "The word point has two meanings: "
        "Meaning 1: what somebody wants to reach (as in: “What is the point?”) "
        "Meaning 2: thin, hard end (as in: “It has a point.”)"
    )
    words = SCREEN.words("en")
    assert words["another"] == "A different word, please!"
    assert words["counter"].format(done=0, total=5) == "Completed 0 out of 5 sentences"
    assert words["placeholder"] == "Write your sentence here."
    assert SCREEN.question(POINT, "en") == "Please write a sentence with the word “point” in which both meanings fit."
    assert SCREEN.drawn


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He saw the point.", ()),
        ("The POINT was lost on her!", ()),
        ("He saw the pointer.", ("word_not_once",)),
        ("He saw the points.", ("word_not_once",)),
        ("The point of the point was lost.", ("word_not_once",)),
        ("Point taken, the point was lost.", ("word_not_once",)),
        ("Mrs. Hall saw the point.", ()),
        ("He saw the point. Then he left.", ("not_one_sentence",)),
        ("He left. Then she left.", ("word_not_once", "not_one_sentence")),
    ],
)
def test_what_is_refused(text: str, found: tuple[str, ...]) -> None:
    """A03: no or two occurrences of the form and a second sentence are refused, with words that say why."""
    assert faults(text, POINT) == found
    assert set(found) <= set(FAULTS) <= set(SCREEN.words("es"))
    if found:
        with pytest.raises(AnswerInvalid) as caught:
            SCREEN.read({"text": text}, POINT)
        assert (caught.value.field, caught.value.key) == ("text", found[0])
    else:
        assert SCREEN.read({"text": f"  {text} "}, POINT).text == text


def test_an_item_needs_both_meanings() -> None:
    """An item without an example of its second meaning is refused by name before anybody sees it."""
    parts = {name: text for name, text in MEANINGS.items() if name != "example_2"}
    lacking = Item("bank-1", "pool", POINT.usages, conditions=parts)
    with pytest.raises(InputError, match=r"item 'bank-1'[\s\S]*example_2"):
        SCREEN.check(lacking)
    with pytest.raises(InputError, match="example_2"):
        by_judgment([lacking], FakeWriter(), view="full")


def test_a_text_is_a_row_without_value() -> None:
    """What was written stands in ``raw``, ``value`` is missing: as the store exports it; other subjects are refused."""
    table = by_judgment([POINT], FakeWriter(), view="full")
    assert table.column("raw").tolist() == ["He saw the point."]
    assert np.isnan(table.column("value")).all()
    assert table.unique("measure") == ("text",)

    class Mute:
        subject_id, kind, facts = "mute:x", "mute", SubjectFacts("mute:x")

    with pytest.raises(CapabilityError, match="Judges"):
        TASK.answer_function(Mute())


@pytest.mark.parametrize("language", ["en", "es"])
def test_guidelines_hold_the_examples(language: str) -> None:
    """Every worked example obeys the rules and stands in the guidelines, with both meanings."""
    text = " ".join(SCREEN.guidelines(language).replace("*", "").split())
    assert len(example_items(language)) == len(SCREEN.examples(language)) >= 2
    for item, row in zip(example_items(language), SCREEN.examples(language), strict=True):
        assert faults(row["sentence"], item) == ()
        for part in ("word", "sense_1", "sense_2", "sentence"):
            assert row[part] in text


def released(folder: Path) -> list[dict]:
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder / "ambistory").glob("*.json"))]
    rows = [row for rows in found for row in (rows.values() if isinstance(rows, dict) else rows)]
    return [row for row in rows if isinstance(row, dict) and "homonym" in row]


@pytest.mark.published
def test_the_rules_fit_the_released_sentences(published: Path) -> None:
    """Of AmbiStory's 633 sentences 632 hold their form once (ambistory.md §5); 6 are two sentences each."""
    pairs = {(row["homonym"], row["sentence"]) for row in released(published)}
    assert len(pairs) == 633
    assert [form for form, text in pairs if word_not_once(text, form)] == ["denominations"]
    long = [text for _, text in pairs if count_sentences(text, "en") != 1]
    assert len(long) == 6
    assert all(sum(text.count(stop) for stop in ".?!") == 2 for text in long)


@pytest.mark.published
def test_example_words_are_no_published_items(published: Path) -> None:
    """S09: the example words are no forms of AmbiStory."""
    forms = {row["homonym"].casefold() for row in released(published)}
    assert not forms & {row["word"] for row in [*SCREEN.examples("en"), *SCREEN.examples("es")]}
