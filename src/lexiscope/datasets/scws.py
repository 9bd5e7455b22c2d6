"""SCWS: how similar are the meanings of two words, each in a context? Rated by ten people.

A context marks its word as ``<b> word </b>``: the marks and the spaces inside them are taken out, and the span is where
the word is then. The ten ratings of a pair are ten columns; who gave them is not published.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import checksums
from lexiscope.items.read.target_forms import verified_usage
from lexiscope.resources.fetch import locate
from lexiscope.resources.tables.plain_lines import PlainLines, read_lines

__all__ = ["CARD", "load", "read_pairs"]

VERSION = "56bda7d964b2eede9b0280e7b9a3b9cdbb06fa38"
FILE = DataFile(
    "scws/ratings.txt",
    f"https://raw.githubusercontent.com/benathi/word2gm/{VERSION}/evaluation_data/ehuang_sim_wcontext/SCWS/ratings.txt",
    "b371cee6142e6be9fad9129a2b6cc7e3b945b7bc931b355051043fb438c16000",
)
SCALE = Scale(0, 10, step=0.0)

CARD = DatasetCard(
    name="scws",
    title="SCWS: Stanford's Contextual Word Similarities",
    task="relatedness",
    language="en",
    licence="none stated by the publisher, who asks for citation; contexts from Wikipedia; not redistributed here",
    citation=(
        "E. H. Huang, R. Socher, C. D. Manning, A. Y. Ng (2012). Improving Word Representations via Global Context and "
        "Multiple Word Prototypes. ACL 2012, 873-882."
    ),
    source="https://github.com/benathi/word2gm",
    version=VERSION,
    availability="download",
    summary="Pairs of English words, each in a context, with ten ratings of the similarity of their meanings.",
    files=(FILE,),
    counts=(("items", 2_003), ("words", 824), ("participants", 10), ("trials", 20_030)),
    first_item="scws/0001",
    last_item="scws/2003",
    remarks=(
        "The scale is 0 to 10; 432 of 20,030 ratings are not whole numbers.",
        "rater_1 to rater_10 are the columns of the file: which of them are one person is not published.",
        "241 pairs compare a word with itself in two contexts (condition same_word; capitals are ignored).",
        "The mean of the means is 3.852; the standard deviation of the ten ratings of a pair is 2.788 on average where "
        "the ten are all there is (divided by n), 2.939 where they are a sample (divided by n - 1).",
        "The published mean of each pair is the mean of its ten ratings; this is checked when the file is read.",
        "The words are compared in the form that they have in their contexts; it serves as the lemma.",
    ),
    scale=SCALE,
    raters="columns",
)

N_RATERS = 10
_COLUMNS = (
    *("id", "word 1", "part of speech 1", "word 2", "part of speech 2", "context 1", "context 2", "mean"),
    *(f"rating {number}" for number in range(1, N_RATERS + 1)),
)
_POS = {"n": "NOUN", "v": "VERB", "a": "ADJ"}
_MARKED = re.compile("<b> (.*?) </b>")


def load(folder: Path | None = None) -> Dataset:
    """Load the pairs and all ratings.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    line for a row that breaks a rule.
    """
    located = {FILE: locate(FILE, dataset=CARD.name, folder=folder)}
    items, ratings = read_pairs(located[FILE].path)
    if len(items) != CARD.count("items"):
        raise InputError(
            f"scws has {CARD.count('items'):,} pairs; this file holds {len(items):,}", place=Place(FILE.path)
        )
    return Dataset(CARD, items, ratings, checksums(located))


def read_pairs(path: Path) -> tuple[tuple[Item, ...], ResponseTable]:
    """Read the pairs and their ratings, in the order of the file, then of the raters.

    Errors: :class:`InputError` with file and line: a wrong number of cells, a context without exactly one marked word,
    another word than the pair's, an unknown part of speech, a rating off the scale, a mean that is not the ratings'.
    """
    rows = read_lines(path)
    items, ratings = [], []
    for row in range(len(rows)):
        cells = rows.cells(row, _COLUMNS)
        usages = [_read_usage(rows, row, side, cells) for side in (0, 1)]
        number = rows.number(row, 0, cells[0])
        conditions = {"same_word": cells[1].casefold() == cells[3].casefold()}
        items.append(Item(f"scws/{number:04d}", "scws", tuple(usages), conditions=conditions))
        ratings.append(_read_ratings(rows, row, cells))
    return tuple(items), _rating_rows(items, ratings)


def _read_usage(rows: PlainLines, row: int, side: int, cells: Sequence[str]) -> Usage:
    word, pos, context = cells[1 + 2 * side], cells[2 + 2 * side], cells[5 + side]
    marks = list(_MARKED.finditer(context))
    if len(marks) != 1:
        rows.refuse(row, f"the word must be once between <b> and </b>, not {len(marks)} times", cell=5 + side)
    (match,) = marks
    if match[1].casefold() != word.casefold():
        rows.refuse(row, f"the marked word is {match[1]!r}, the word of the pair {word!r}", cell=5 + side)
    text = context[: match.start()] + match[1] + context[match.end() :]
    here = rows.place(row, 5 + side)
    place = replace(here, column=(here.column or 1) + len("<b> "))
    pos = rows.one_of(row, pos, _POS, cell=2 + 2 * side)
    span = (match.start(), match.start() + len(match[1]))
    return verified_usage(text, span, place=place, lemma=word, pos=pos, language="en")


def _read_ratings(rows: PlainLines, row: int, cells: Sequence[str]) -> list[float]:
    values = [_parse_number(rows, row, cell, cells[cell]) for cell in range(7, len(_COLUMNS))]
    for cell, value in enumerate(values[1:], start=8):
        SCALE.check(value, place=rows.place(row, cell))
    if not math.isclose(values[0], sum(values[1:]) / N_RATERS, abs_tol=0.005):
        rows.refuse(row, f"the mean of the ratings is {sum(values[1:]) / N_RATERS:g}, not {cells[7]}", cell=7)
    return values[1:]


def _parse_number(rows: PlainLines, row: int, cell: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        rows.refuse(row, f"a number is needed here; there is {text!r}", cell=cell)


def _rating_rows(items: Sequence[Item], ratings: Sequence[Sequence[float]]) -> ResponseTable:
    raters = [f"rater_{number}" for number in range(1, N_RATERS + 1)]
    columns = {
        "subject_id": raters * len(items),
        "subject_kind": "participant",
        "item_id": np.repeat(np.array([item.item_id for item in items], dtype=object), N_RATERS),
        "task": CARD.task,
        "measure": "rating",
        "value": np.asarray(ratings, np.float64).reshape(-1),
        "view": "full",
    }
    return ResponseTable.from_columns(columns)
