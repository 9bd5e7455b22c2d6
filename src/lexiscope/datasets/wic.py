"""WiC: does an English noun or verb have the same meaning in two contexts? With the labels of the test set.

A position in the files counts tokens at single spaces; it is turned into characters when the files are read.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import SPLITS, TRUTHS, checksums, expect_counts, pair_item
from lexiscope.items.read.target_forms import token_span, verified_usage
from lexiscope.resources.fetch import locate
from lexiscope.resources.tables.plain_lines import PlainLines, expect_parallel, read_lines

__all__ = ["CARD", "COUNTS", "load", "read_split"]

VERSION = "17fb8ca981698024599b423ad140f1ac36608529"
_RAW = f"https://raw.githubusercontent.com/Wenxin-Jiang/CS577-NLP/{VERSION}/HW2"
_SHA256 = {
    "train.data": "3a56ff8285ca9703d6c91dfb7cc79760171899c560bb6a8698fa4559a71b160d",
    "train.gold": "3f614ca12c03a90fecc34471d8ae666f924a3c657b5620fcfb46d9b2b50bb7b2",
    "dev.data": "1c360246ffa3904fc1d8f6f16bb7ae0d7980a1a27e9200e9b43c32fd35af11e7",
    "dev.gold": "665ee959c2cf7db2a4255b7a049bdfa165b970482145cfd2ac456007d4dcf1d6",
    "test.data": "28befe601f5bdbc8e452e9538f6d3582a164647ad5949a9808a74908e70031f7",
    "test.gold": "a69386c579762d9ddf988a61896a2e912f402410185f5e8316007093799b341f",
}
COUNTS = {"train": 5_428, "dev": 638, "test": 1_400}
"""How many pairs each split has; half of each have the same meaning."""

_COLUMNS = ("word", "part of speech", "positions", "context 1", "context 2")
_POS = {"N": "NOUN", "V": "VERB"}
_ODD = {("round", "call")}


def _file(name: str) -> DataFile:
    place = f"WiC_dataset/{name.split('.')[0]}/{name}.txt"
    return DataFile(f"wic/{place}", f"{_RAW}/{place}", _SHA256[name])


FILES = {name: _file(name) for name in _SHA256}
"""The six files by split and kind."""

CARD = DatasetCard(
    name="wic",
    title="WiC: the Word-in-Context dataset",
    task="same_sense",
    language="en",
    licence="CC BY-NC 4.0",
    citation=(
        "M. T. Pilehvar, J. Camacho-Collados (2019). WiC: the Word-in-Context Dataset for Evaluating "
        "Context-Sensitive Meaning Representations. NAACL-HLT 2019, 1267-1273, doi:10.18653/v1/N19-1128."
    ),
    source="https://pilehvar.github.io/wic/",
    version=VERSION,
    availability="download",
    summary="Pairs of contexts of an English noun or verb, with the same or different meanings, all with labels.",
    files=tuple(FILES.values()),
    counts=(("items", 7_466), ("words", 2_345)),
    first_item="wic/train/00001",
    last_item="wic/test/01400",
    remarks=(
        "Condition split is train (5,428), dev (638) or test (1,400); half of each split have the same meaning.",
        "The files come from a public copy at a pinned version that holds the test labels too.",
        "Contexts are tokenised at single spaces; two of train hold a no-break space, which separates nothing.",
        "One target has other letters than its word, as published: 'round' for 'call' (train).",
        "40 % of the dev rows and 41 % of the test rows use a word that also occurs in train.",
        "98 dev pairs and 222 test pairs have one context, with the same target, in common with a pair of train; no "
        "whole pair is in two splits.",
        "The view context hides the target alone: in 76 items the same word occurs elsewhere in a text, in any case of "
        "letters, and stays visible.",
    ),
)


def load(folder: Path | None = None) -> Dataset:
    """Load the pairs of all splits; gold is ``t`` (the same meaning) or ``f``.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    line for a row that breaks a rule.
    """
    located = {file: locate(file, dataset=CARD.name, folder=folder) for file in FILES.values()}
    items: list[Item] = []
    for split in SPLITS:
        items += read_split(*(located[FILES[f"{split}.{kind}"]].path for kind in ("data", "gold")), split=split)
    expect_counts(CARD.name, items, COUNTS)
    return Dataset(CARD, tuple(items), ResponseTable.empty(), checksums(located))


def read_split(data: Path, gold: Path, *, split: str) -> list[Item]:
    """Read the pairs of one split and their labels, which go together line by line.

    Errors: :class:`InputError` with file and line: a wrong number of cells, a position without a token, letters that
    are no form of the word, another label than T or F, files of unequal length.
    """
    rows, labels = read_lines(data), read_lines(gold)
    expect_parallel(rows, labels)
    items = []
    for row in range(len(rows)):
        word, pos, positions, *contexts = rows.cells(row, _COLUMNS)
        parts = positions.split("-")
        if len(parts) != len(contexts) or pos not in _POS:
            rows.refuse(row, f"N or V and two positions i-j are needed; there are {pos!r} and {positions!r}", cell=1)
        usages = [
            _usage(rows, row, cell, int(part) if part.isdigit() else -1, (word, _POS[pos]))
            for cell, part in enumerate(parts, start=3)
        ]
        answer = labels.one_of(row, labels.lines[row], TRUTHS)
        item_id = f"wic/{split}/{row + 1:05d}"
        items.append(pair_item(item_id, usages, gold=answer, split=split, conditions={"pos": _POS[pos]}))
    return items


def _usage(rows: PlainLines, row: int, cell: int, index: int, word: tuple[str, str]) -> Usage:
    text = rows.split(row)[cell]
    if not 0 <= index < len(text.split(" ")):
        rows.refuse(row, f"context {cell - 2} has {len(text.split(' '))} tokens and none at {index}", cell=2)
    place, (lemma, pos) = rows.place(row, cell), word
    return verified_usage(text, token_span(text, index), place=place, lemma=lemma, pos=pos, language="en", odd=_ODD)
