"""MCL-WiC, English: does a word of any of four parts of speech have the same meaning in two sentences?

SemEval-2021 Task 2. The two archives are read as they were published; labels are joined by id, not by order.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import TRUTHS, checksums, expect_counts, pair_item
from lexiscope.items.read.target_forms import verified_usage
from lexiscope.resources.fetch import locate

__all__ = ["CARD", "COUNTS", "load", "read_split"]

VERSION = "30d05d85a9902081bec8ca2eb2ba552e7570b1e7"
_RAW = f"https://raw.githubusercontent.com/SapienzaNLP/mcl-wic/{VERSION}"
_SETS, _TEST_GOLD = "SemEval-2021_MCL-WiC_all-datasets.zip", "SemEval-2021_MCL-WiC_test-gold-data.zip"

ALL_SETS = DataFile(
    f"mclwic/{_SETS}", f"{_RAW}/{_SETS}", "595008e12a88c701850ddd0ca1e42d2a3385d51a6bac451f358f2d770b0ce6e0"
)
TEST_GOLD = DataFile(
    f"mclwic/{_TEST_GOLD}", f"{_RAW}/{_TEST_GOLD}", "e94a0acbf035610c86efa327dcf156159159e2c37627e78b64098a7242f11e62"
)
COUNTS = {"train": 8_000, "dev": 1_000, "test": 1_000}
"""How many pairs each split has; half of each have the same meaning."""

#: split -> the files of the pairs and of their labels, each as (file, name in the archive)
_MEMBERS = {
    "train": ((ALL_SETS, "MCL-WiC/training/training.en-en.data"), (ALL_SETS, "MCL-WiC/training/training.en-en.gold")),
    "dev": (
        (ALL_SETS, "MCL-WiC/dev/multilingual/dev.en-en.data"),
        (ALL_SETS, "MCL-WiC/dev/multilingual/dev.en-en.gold"),
    ),
    "test": ((ALL_SETS, "MCL-WiC/test/multilingual/test.en-en.data"), (TEST_GOLD, "test.en-en.gold")),
}

CARD = DatasetCard(
    name="mcl_wic",
    title="MCL-WiC: multilingual and cross-lingual word in context, English",
    task="same_sense",
    language="en",
    licence="CC BY-NC 4.0",
    citation=(
        "F. Martelli, N. Kalach, G. Tola, R. Navigli (2021). SemEval-2021 Task 2: Multilingual and Cross-lingual "
        "Word-in-Context Disambiguation (MCL-WiC). SemEval-2021, 24-36, doi:10.18653/v1/2021.semeval-1.3."
    ),
    source="https://github.com/SapienzaNLP/mcl-wic",
    version=VERSION,
    availability="download",
    summary="Pairs of English sentences that share a noun, verb, adjective or adverb; all splits have labels.",
    files=(ALL_SETS, TEST_GOLD),
    counts=(("items", 10_000), ("words", 4_534)),
    first_item="mcl_wic/train/00001",
    last_item="mcl_wic/test/01000",
    remarks=(
        "Condition split is train (8,000), dev (1,000) or test (1,000); half of each split have the same meaning.",
        "Each (lemma, part of speech) of train occurs in exactly two rows.",
        "Offsets count characters and are written as text; source_id is the id in the published files.",
        "The archives hold other languages too, and pairs across languages: they are not read here.",
        "Two targets are another word than their lemma, as published: 'the' for 'tread' (train).",
        "The view context hides the target alone: in 552 items the same word occurs elsewhere in a text, "
        "in any case of letters, and stays visible.",
    ),
)


def load(folder: Path | None = None) -> Dataset:
    """Load the English pairs of all splits; gold is ``t`` (the same meaning) or ``f``.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    id for a pair that breaks a rule.
    """
    located = {file: locate(file, dataset=CARD.name, folder=folder) for file in CARD.files}
    items: list[Item] = []
    for split, members in _MEMBERS.items():
        data, gold = (_read(located[file].path, name) for file, name in members)
        items += read_split(data, gold, split=split, path=members[0][1])
    expect_counts(CARD.name, items, COUNTS)
    return Dataset(CARD, tuple(items), ResponseTable.empty(), checksums(located))


def read_split(data: Any, gold: Any, *, split: str, path: str) -> list[Item]:
    """Make the pairs of one split from the content of its two JSON files; *path* names the first in errors.

    Errors: :class:`InputError` with *path* and id: a field that is missing, an offset that is no whole number, letters
    that are no form of the lemma, a pair without a label, a label without a pair.
    """
    labels = _labels(gold, path)
    items = [_item(row, labels, split, number, path) for number, row in enumerate(_rows(data, path), start=1)]
    known = {str(item.conditions["source_id"]) for item in items}
    left = next((source for source in labels if source not in known), None)
    if left is not None:
        raise InputError("a label without a pair", place=Place(path, item_id=left), hint="fetch both files again")
    return items


def _item(row: Mapping[str, Any], labels: Mapping[str, str], split: str, number: int, path: str) -> Item:
    source = str(row.get("id", ""))
    place = Place(path, item_id=source)
    wanted = ("id", "lemma", "pos", *(f"{part}{side}" for part in ("sentence", "start", "end") for side in "12"))
    missing = [name for name in wanted if not str(row.get(name, "")).strip()]
    if missing:
        raise InputError(
            f"the pair has no {missing[0]!r}", place=place, hint="correct the pair, or fetch the file again"
        )
    if source not in labels:
        raise InputError("the pair has no label", place=place, hint="labels are joined by id: fetch both files again")
    usages = [_usage(row, side, place) for side in "12"]
    conditions = {"pos": str(row["pos"]), "source_id": source}
    item_id = f"mcl_wic/{split}/{number:05d}"
    return pair_item(item_id, usages, gold=labels[source], split=split, conditions=conditions)


def _usage(row: Mapping[str, Any], side: str, place: Place) -> Usage:
    ends = [str(row[f"{part}{side}"]) for part in ("start", "end")]
    if not all(end.isascii() and end.isdigit() for end in ends):
        what = f"start{side} and end{side} are whole numbers; there are {ends[0]!r} and {ends[1]!r}"
        raise InputError(what, place=place, hint="count characters from 0, end excluded")
    span, lemma, pos = (int(ends[0]), int(ends[1])), str(row["lemma"]), str(row["pos"])
    return verified_usage(str(row[f"sentence{side}"]), span, place=place, lemma=lemma, pos=pos, language="en")


def _labels(gold: Any, path: str) -> dict[str, str]:
    labels = {}
    for row in _rows(gold, path):
        source, tag = str(row.get("id", "")), str(row.get("tag", ""))
        if tag not in TRUTHS or source in labels:
            what = f"an id occurs twice among the labels, or a tag is not T or F ({tag!r})"
            raise InputError(what, place=Place(path, item_id=source), hint="fetch the labels again")
        labels[source] = TRUTHS[tag]
    return labels


def _rows(content: Any, path: str) -> list[Mapping[str, Any]]:
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise InputError("this file is not a JSON list of objects", place=Place(path), hint="fetch it again")
    return content


def _read(archive: Path, name: str) -> Any:
    try:
        with zipfile.ZipFile(archive) as files:
            return json.loads(files.read(name))
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        what = f"{name} cannot be read from this archive"
        raise InputError(what, place=Place(str(archive)), why=str(error), hint="fetch it again") from error
