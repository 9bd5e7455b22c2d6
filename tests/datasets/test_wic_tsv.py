"""WiC-TSV as published: parallel files, hidden test labels, the empty line of hypernyms, and broken files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.datasets import wic_tsv


@pytest.mark.published
def test_english(published: Path) -> None:
    """2,828, 389 and 1,306 items (balance of the README); test has domains and no labels."""
    dataset = wic_tsv.load()
    assert Counter((item.conditions["split"], item.gold) for item in dataset.items) == {
        ("train", "t"): 1_414,
        ("train", "f"): 1_414,
        ("dev", "t"): 198,
        ("dev", "f"): 191,
        ("test", None): 1_306,
    }
    domains = Counter(item.conditions["domain"] for item in dataset.items if item.conditions["split"] == "test")
    assert domains == {"0": 717, "1": 205, "2": 216, "3": 168}


@pytest.mark.published
def test_contexts_and_words(published: Path) -> None:
    """The 2,828 rows of train are 2,137 distinct (word, context); context_row counts the rows of each."""
    train = [item for item in wic_tsv.load().items if item.conditions["split"] == "train"]
    assert sum(item.conditions["context_row"] == 1 for item in train) == 2_137
    assert len({(item.word, item.usages[0].text) for item in train}) == 2_137
    assert len({item.word for item in train}) == 864


@pytest.mark.published
def test_the_empty_line_of_hypernyms(published: Path) -> None:
    """One item of train has no hypernyms; all have a definition; no hypernym keeps its underscores."""
    items = wic_tsv.load().items
    assert [item.item_id for item in items if not item.conditions["hypernyms"]] == ["wic_tsv/en/train/00058"]
    assert all(item.conditions["definition"] for item in items)
    assert not [item for item in items if "_" in str(item.conditions["hypernyms"])]


@pytest.mark.published
def test_definitions_that_hold_the_word(published: Path) -> None:
    """As many as the card says have the word or its form, whole and in any case, in the definition or the hypernyms."""
    found: Counter[str] = Counter()
    for item in wic_tsv.load().items:
        meaning = f"{item.conditions['definition']} ; {item.conditions['hypernyms']}".casefold()
        forms = {item.word.casefold(), item.usages[0].target.casefold()}
        found[str(item.conditions["split"])] += any(
            re.search(rf"(?<!\w){re.escape(form)}(?!\w)", meaning) is not None for form in forms
        )
    assert found == {"train": 153, "dev": 15, "test": 544}
    assert any("153 items of train, 15 of dev, 544 of test" in remark for remark in wic_tsv.CARD.remarks)


@pytest.mark.published
def test_german(published: Path) -> None:
    """2,532, 425 and 1,160 items; targets are in German."""
    dataset = wic_tsv.load(language="de")
    assert Counter(item.conditions["split"] for item in dataset.items) == wic_tsv.COUNTS["de"]
    assert Counter(item.gold for item in dataset.items) == {"t": 1_280 + 209, "f": 1_252 + 216, None: 1_160}
    assert {usage.language for item in dataset.items for usage in item.usages} == {"de"}


FILES = {
    "examples": "bank\t2\tWater over banks .\nbank\t1\tThe bank lends",
    "definitions": "land beside a river\na house for money",
    "hypernyms": "slope\tincline_of_land\nfinancial_institution",
    "labels": "T\nF",
}


def _write(folder: Path, files: Mapping[str, str]) -> dict[str, Path]:
    for kind, text in files.items():
        (folder / f"dev_{kind}.txt").write_text(text, encoding="utf-8")
    return {kind: folder / f"dev_{kind}.txt" for kind in files}


def test_rows_go_together_by_line(tmp_path: Path) -> None:
    """Line n of every file makes item n; the last line needs no end."""
    first, second = wic_tsv.read_split(_write(tmp_path, FILES), language="en", split="dev")
    assert (first.usages[0].target, first.usages[0].start, first.gold) == ("banks", 11, "t")
    assert first.conditions == {
        "split": "dev",
        "definition": "land beside a river",
        "hypernyms": "slope, incline of land",
        "domain": "0",
        "context_row": 1,
    }
    assert (second.item_id, second.gold) == ("wic_tsv/en/dev/00002", "f")


def test_without_labels_there_is_no_gold(tmp_path: Path) -> None:
    """A split whose labels are hidden has items without gold."""
    hidden = {kind: text for kind, text in FILES.items() if kind != "labels"}
    assert [item.gold for item in wic_tsv.read_split(_write(tmp_path, hidden), language="en", split="dev")] == [
        None
    ] * 2


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("labels", "T", r"dev_labels\.txt:2: this file has 1 lines, .*dev_examples\.txt has 2"),
        ("labels", "T\nX", r"dev_labels\.txt:2:1: one of T, F is needed"),
        ("definitions", "land\n ", r"dev_definitions\.txt:2: the definition is empty"),
        ("examples", "bank\t2\tWater over banks .\nbank\t3\tThe bank lends", r"txt:2:6: the context has 3 tokens"),
        ("examples", "bank\t2\tWater over banks .\nbank\t0\tThe bank lends", r"txt:2:8: \[E101\].*'The'"),
        ("examples", "bank\t2\tWater over banks .\nbank\t-1\tThe bank lends", r"txt:2:6: a whole number"),
        ("examples", "bank\t2\tWater over banks .\nThe bank lends", r"txt:2: this line has 1 cells, not 3"),
    ],
)
def test_broken_files(tmp_path: Path, kind: str, text: str, message: str) -> None:
    """Each fault is named with file, line and column."""
    with pytest.raises(InputError, match=message):
        wic_tsv.read_split(_write(tmp_path, {**FILES, kind: text}), language="en", split="dev")
