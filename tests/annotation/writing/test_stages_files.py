"""The files between two stages: items that the next study reads back, texts raw and clean, precontexts."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.annotation.store.record import Review
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.items import study_items
from lexiscope.annotation.writing.review import AcceptedText, WrittenText, accepted_texts
from lexiscope.annotation.writing.stages import (
    ENDING_COLUMNS,
    SENTENCE_COLUMNS,
    ending_items,
    ending_table,
    item_file,
    rating_items,
    read_precontexts,
    sentence_table,
    setups,
)
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage

PARTS = ("precontext", "sense", "example", "other_sense", "other_example")
SENSES = {"sense_1": "where money is kept", "example_1": "Pay at the bank.", "sense_2": "side of a river"}
SENSES |= {"example_2": "The bank, muddy; steep."}
POOL = {"bank": Item("bank", "pool", (Usage("bank", 0, 4, lemma="bank", language="en"),), conditions=SENSES)}
ANSWERS = (
    WrittenText(1, "p1", "bank", "we met at the bank", skips=2),
    WrittenText(2, "p1", "bank", "The bank, the bank!"),
    WrittenText(3, "p2", "bank", "=A1 was the bank."),
)
REVIEWS = (
    Review(1, "accepted", "spelling", "They met at the bank.", "editor", "t"),
    Review(2, "rejected", "twice", None, "editor", "t"),
)


def study(task: str, path: Path) -> StudyDefinition:
    return StudyDefinition(name=f"{task}s", task=task, language="en", items=str(path))


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def item(conditions: dict[str, object], *, name: str = "i", text: str = "The bank shut.") -> Item:
    return Item(name, "d", (Usage(text, 4, 8, language="en"),), conditions=conditions)  # type: ignore[arg-type]


def test_the_stages_read_each_other_s_files(tmp_path: Path) -> None:
    """From accepted sentences to the rating study: each study that names the file gets the very items."""
    made = setups(accepted_texts(ANSWERS, REVIEWS), POOL)
    endings = ending_items(made, {"bank_1": 'It rained.\nHe said "no".\r\nThey left.'}, dataset="story_endings")
    (tmp_path / "endings.csv").write_text(item_file(endings), encoding="utf-8", newline="")
    asked = study_items(study("story_ending", tmp_path / "endings.csv"))
    assert asked == endings
    written = [
        AcceptedText(WrittenText(k, f"w{k}", one.item_id, f"Ending {k}."), Review(k, "accepted", "", None, "e", "t"))
        for k, one in enumerate(asked)
    ]
    samples = rating_items(written, {one.item_id: one for one in asked}, dataset="plausibilitys")
    (tmp_path / "samples.csv").write_text(item_file(samples), encoding="utf-8", newline="")
    rated = study_items(study("plausibility", tmp_path / "samples.csv"))
    # the study gives them its scale
    assert {one.scale for one in rated} == {Scale(1, 5)}
    assert tuple(replace(one, scale=None) for one in rated) == tuple(samples)
    assert len(samples) == 6


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20), min_size=5, max_size=5))
def test_any_text_is_read_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    """Quotes, delimiters, line ends of any kind, formulas and the empty text come back as they were."""
    path = tmp_path_factory.mktemp("files") / "items.csv"
    one = item({"setup": "s", **dict(zip(PARTS, texts, strict=True))})
    path.write_text(item_file([one]), encoding="utf-8", newline="")
    (read,) = study_items(study("story_ending", path))
    assert read == replace(one, dataset="story_endings")


def test_what_a_file_would_not_give_back_is_refused(tmp_path: Path) -> None:
    """Numbers, senses, two usages, other conditions, names of columns, ids twice: refused, nothing is written."""
    path = tmp_path / "items.csv"
    good = item({"setup": "s"})
    two = replace(good, usages=good.usages * 2)
    sense = replace(good, usages=(replace(good.usages[0], sense="1"),))
    other = item({"story": "s"}, name="j")
    for wrong in ([], [item({"meaning": 1})], [two], [sense], [good, other], [item({"word": "w"})], [good, good]):
        with pytest.raises(InputError) as caught:
            path.write_text(item_file(wrong), encoding="utf-8", newline="")
        assert caught.value.code in ("E650", "E403")
    assert not path.exists()


def test_the_table_of_sentences_has_raw_and_clean_texts() -> None:
    """Every sentence is a row; only an accepted one has a clean text; a formula is made harmless."""
    rows = table(sentence_table(ANSWERS, REVIEWS, POOL))
    assert tuple(rows[0]) == SENTENCE_COLUMNS
    seen = [(row["setup_id"], row["skips"], row["sentence_raw"], row["sentence_clean"], row["status"]) for row in rows]
    assert seen == [
        ("bank_1", "2", "we met at the bank", "They met at the bank.", "accepted"),
        ("bank_2", "0", "The bank, the bank!", "", "rejected"),
        ("bank_3", "0", "'=A1 was the bank.", "", "not reviewed"),
    ]
    assert {(row["form"], row["sense1"], row["sense2"]) for row in rows} == {
        ("bank", SENSES["sense_1"], SENSES["sense_2"])
    }
    assert [row["reason"] for row in rows] == ["spelling", "twice", ""]


def test_the_table_of_endings_names_the_intended_sense() -> None:
    """An ending is a row with its setup and the sense that it was to bring across."""
    made = setups(accepted_texts(ANSWERS, REVIEWS), POOL)
    asked = {one.item_id: one for one in ending_items(made, {"bank_1": "One. Two. Three."}, dataset="d")}
    answers = [WrittenText(8, "p1", "bank_1_B", "It was steep."), WrittenText(9, "p2", "bank_1_A", "It was robbed.")]
    rows = table(ending_table(answers, [Review(8, "accepted", "", "It was steep!", "editor", "t")], asked))
    assert tuple(rows[0]) == ENDING_COLUMNS
    assert [tuple(row.values()) for row in rows] == [
        ("bank_1", SENSES["sense_2"], "It was steep.", "It was steep!", "accepted", ""),
        ("bank_1", SENSES["sense_1"], "It was robbed.", "", "not reviewed", ""),
    ]


def test_precontexts_are_filled_into_the_table_of_sentences(tmp_path: Path) -> None:
    """The table goes to whoever writes precontexts and comes back, from a spreadsheet with semicolons too."""
    rows = table(sentence_table(ANSWERS, REVIEWS, POOL))
    rows[0]["precontext"] = "It rained; it was late. They\nwere tired. They left."
    path = tmp_path / "filled.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, SENTENCE_COLUMNS, delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    assert read_precontexts(path) == {"bank_1": rows[0]["precontext"]}


@pytest.mark.parametrize(
    ("text", "line"), [("setup_id,text\na,b\n", 1), ("setup_id,precontext\na,One.\nb,\na,Two.\n", 4)]
)
def test_a_table_of_precontexts_that_is_none(tmp_path: Path, text: str, line: int) -> None:
    """A missing column and a setup that stands twice are named with file and line."""
    path = tmp_path / "precontexts.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_precontexts(path)
    assert caught.value.code == "E651"
    assert caught.value.place is not None
    assert caught.value.place.line == line


def test_an_id_keeps_what_a_spreadsheet_would_run(tmp_path: Path) -> None:
    """The apostrophe before an id that begins like a formula is taken off again."""
    path = tmp_path / "precontexts.csv"
    path.write_text("setup_id,precontext\n'-bank_1,One.\n'bank_2,Two.\n", encoding="utf-8")
    assert read_precontexts(path) == {"-bank_1": "One.", "'bank_2": "Two."}
