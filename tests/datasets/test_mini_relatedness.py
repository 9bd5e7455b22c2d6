"""The embedded items: complete, in SAW-C's design, without a fault, and our own."""

from __future__ import annotations

import csv
import re
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import DataError
from lexiscope.datasets import mini_relatedness
from lexiscope.datasets.mini_relatedness import CARD, LANGUAGES, Language, load, stimuli
from lexiscope.items.check.item_file import check_file
from lexiscope.items.check.rows import word_changes

FOLDER = Path(mini_relatedness.__file__).parent


@pytest.mark.parametrize("file", CARD.files, ids=lambda file: file.path)
def test_our_own_check_finds_nothing(file: object) -> None:
    """0 errors and 0 warnings on the embedded files."""
    report = check_file(FOLDER / str(getattr(file, "path")))  # noqa: B009
    assert report.findings == ()
    assert (report.n_items, report.n_words) == (120, 30)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_design(language: Language) -> None:
    """30 nouns × 2 senses × 2 cues: 180 pairs, 60 same and 120 different; one word changes in each."""
    items = load(language).items
    assert Counter(item.condition("same_sense") for item in items) == {True: 60, False: 120}
    assert set(Counter(item.word for item in items).values()) == {6}
    for item in items:
        first, second = item.usages
        (change,) = word_changes(first.text, second.text)
        assert (len(change.before), len(change.after)) == (1, 1), item.item_id
        assert first.target == second.target == item.word
        assert not first.text.endswith(".")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_cue_stands_on_one_side_and_has_a_gloss(language: Language) -> None:
    """Within a noun the cue stands always before or always after the target; cues are not used twice for a noun."""
    for one in stimuli(language):
        cue = str(one.about_sentence["cue"])
        side = "before" if one.usage.text.index(f" {cue}") < one.usage.start else "after"
        assert side == one.about_word["cue_side"]
        assert one.about_sentence["gloss"]
    assert max(Counter((one.word, str(one.about_sentence["cue"])) for one in stimuli(language)).values()) == 1


def test_no_answers_were_invented() -> None:
    """The embedded items carry no human ratings."""
    assert len(load().responses) == 0


def test_the_card_and_the_catalog() -> None:
    """The card's counts and first and last item hold, and the catalog finds the dataset."""
    dataset = catalog.dataset("mini_relatedness")
    assert len(dataset.items) == CARD.count("items")
    assert (dataset.items[0].item_id, dataset.items[-1].item_id) == (CARD.first_item, CARD.last_item)
    assert len({(i.conditions["language"], i.word) for i in dataset.items}) == CARD.count("words")
    assert dict(dataset.checksums) == {file.path: file.sha256 for file in CARD.files}


def test_an_unknown_language() -> None:
    """A language without items is an error that names the others."""
    with pytest.raises(DataError, match="en, es"):
        load("de")  # type: ignore[arg-type]


def plain_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


@pytest.mark.published
def test_no_sentence_is_taken_from_the_published_sets(published: Path) -> None:
    """No embedded sentence is one of SAW-C or RAW-C, or the same frame with another cue."""
    files = {"sawc/sawc_stimlist.csv": ["Sentence"], "rawc/rawc_stimuli.csv": ["sentence1", "sentence2"]}
    theirs = set()
    for name, columns in files.items():
        with (published / name).open(encoding="utf-8-sig", newline="") as stream:
            theirs |= {tuple(plain_words(row[column])) for row in csv.DictReader(stream) for column in columns}
    for one in (*stimuli("en"), *stimuli("es")):
        mine = plain_words(one.usage.text)
        close = [t for t in theirs if one.word in t and SequenceMatcher(None, t, mine).ratio() > 0.6]
        assert close == [], one.stimulus_id
