"""Word similarity: thirteen English sets of word pairs without a context, each with the mean of people's ratings.

``wordsim`` is SimLex-999; ``wordsim?set=men3k`` is MEN, and so on. A pair is two usages, each the word alone. Its
mean is recorded as its norm (measure ``norm``); only ranks can be compared between sets, as their scales differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import checksums
from lexiscope.resources.fetch import locate
from lexiscope.resources.tables.plain_lines import PlainLines, read_lines

__all__ = ["CARD", "DEFAULT", "NINE", "OPTIONS", "SETS", "WordSet", "load", "read_pairs"]

VERSION = "94b3dd9fdbac7ed08dbee7179cd5ee464acf0594"
_RAW = f"https://raw.githubusercontent.com/mfaruqui/eval-word-vectors/{VERSION}/data/word-sim"

OPTIONS = ("set",)
"""What may be asked for behind a question mark: ``wordsim?set=ws353``."""

DEFAULT = "simlex999"


@dataclass(frozen=True, slots=True)
class WordSet:
    """One set: its name in the literature, its file, how many pairs and words it has, and its scale."""

    title: str
    file: DataFile
    pairs: int
    words: int
    low: float
    high: float


def _word_set(title: str, name: str, sha256: str, counts: tuple[int, int], scale: tuple[float, float]) -> WordSet:
    file = DataFile(f"wordsim/EN-{name}.txt", f"{_RAW}/EN-{name}.txt", sha256)
    return WordSet(title, file, *counts, *scale)


SETS: dict[str, WordSet] = {
    "simlex999": _word_set(
        "SimLex-999",
        "SIMLEX-999",
        "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685",
        (999, 616),
        (0, 10),
    ),
    "ws353": _word_set(
        "WS-353",
        "WS-353-ALL",
        "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c",
        (353, 206),
        (0, 10),
    ),
    "men3k": _word_set(
        "MEN-3k",
        "MEN-TR-3k",
        "888b13580faa362c7b11da0a670258cf1b1eb4bf0ecbcd418918729a3bd3f43a",
        (3000, 631),
        (0, 50),
    ),
    "mc30": _word_set(
        "MC-30", "MC-30", "33ee05911496ff83d95cac351d0746c6f63b9181b605cb7d307f4daa8864511b", (30, 23), (0, 4)
    ),
    "rg65": _word_set(
        "RG-65", "RG-65", "c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f", (65, 36), (0, 4)
    ),
    "yp130": _word_set(
        "YP-130", "YP-130", "7643fdbc6158c3424061e2cba450c71285767266ff9f3db947bfc1f1f5ce67ab", (130, 97), (0, 4)
    ),
    "mt287": _word_set(
        "MT-287", "MTurk-287", "a9ae3a9decb75a9700fe0cf18b048c1344774d9f40e0196baf8e34d4cd9d1ce5", (287, 254), (1, 5)
    ),
    "mt771": _word_set(
        "MT-771", "MTurk-771", "04dc297c9e86b6fa7cf8ef0e4ba2e2c8d3399ec68d92fb7a53c0b4aae27198b5", (771, 620), (1, 5)
    ),
    "rw2k": _word_set(
        "RW-2k",
        "RW-STANFORD",
        "5108d54dfc746f44f9c3d7e31d2857c37cf71430bc1594175a61a3b89bb0ae1f",
        (2034, 1471),
        (0, 10),
    ),
    "ws353_sim": _word_set(
        "WS-353, similarity",
        "WS-353-SIM",
        "f1da938998863c94e53f72f984a5c6e215f0b46c323aae8f0f4930703a339107",
        (203, 130),
        (0, 10),
    ),
    "ws353_rel": _word_set(
        "WS-353, relatedness",
        "WS-353-REL",
        "66a7c88100624d0a391605ff61ce84e11d11ee620d51ec0298da49592838f8fa",
        (252, 168),
        (0, 10),
    ),
    "verb143": _word_set(
        "VERB-143", "VERB-143", "7259e19961c81912aa4c72de0102e480b2ad2bb9f4ce97d036fbde8e1a403001", (144, 87), (0, 1)
    ),
    "simverb3500": _word_set(
        "SimVerb-3500",
        "SimVerb-3500",
        "9d84274e7ad029fd3cf69dd0516e9ade624bbef9bd4e2050f6cc1fa01471e0f5",
        (3500, 778),
        (0, 10),
    ),
}
"""The sets by the names that ``set`` takes."""

NINE = tuple(SETS)[:9]
"""The nine sets on which the literature on sense vectors reports MaxSim, in its order."""

CARD = DatasetCard(
    name="wordsim",
    title="Word similarity and relatedness: thirteen English sets",
    task="relatedness",
    language="en",
    licence="MIT (the collection); the sets are their authors', who ask for citation",
    citation=(
        "M. Faruqui, C. Dyer (2014). Community Evaluation and Exchange of Word Vectors at wordvectors.org. ACL 2014, "
        "system demonstrations, 19-24; and the paper of the set that is used."
    ),
    source="https://github.com/mfaruqui/eval-word-vectors",
    version=VERSION,
    availability="download",
    summary="Pairs of English words without a context, with people's mean rating: SimLex-999 and twelve others.",
    files=tuple(word_set.file for word_set in SETS.values()),
    counts=(("items", 999), ("words", 616)),
    first_item="wordsim/simlex999/0001",
    last_item="wordsim/simlex999/0999",
    remarks=(
        f"wordsim is SimLex-999; wordsim?set=NAME is another: {', '.join(tuple(SETS)[1:])}.",
        "counts, first and last item are those of SimLex-999; words counts the first words of the pairs.",
        "Only the means are published in this form: they are the rows of the subject norm, and there are no ratings.",
        "The scales are 0 to 10 (SimLex-999, WS-353, RW-2k, SimVerb-3500), 0 to 50 (MEN-3k), 0 to 4 (MC-30, RG-65, "
        "YP-130), 1 to 5 (MT-287, MT-771), 0 to 1 (VERB-143).",
        "Words keep their capitals: 24 of WS-353, 11 and 16 of its two parts.",
        "A pair that occurs before, in either order, has the condition given_before: bank and money, money and "
        "cash in WS-353 (the latter with two means); one pair each in WS-353's relatedness part, SimLex-999, MT-287, "
        "RW-2k and SimVerb-3500.",
        "WS-353 and its similarity part hold one word paired with itself (condition same_word): tiger.",
        "VERB-143 holds 144 pairs, of inflected forms.",
        "MT-771, SimVerb-3500, VERB-143 and WS-353 end their lines with CR LF; MT-287 and "
        "SimVerb-3500 have no newline at their end.",
    ),
)

_COLUMNS = ("word 1", "word 2", "mean rating")


def load(folder: Path | None = None, *, set: str = DEFAULT) -> Dataset:
    """Load the pairs of one set with their norms.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`SpecError` for another set; :class:`DataError` for a file that is missing or not the published one;
    :class:`InputError` with file and line for a row that breaks a rule.
    """
    if set not in SETS:
        raise SpecError(f"wordsim has no set {set!r}", hint=f"use one of {', '.join(SETS)}")
    chosen = SETS[set]
    located = {chosen.file: locate(chosen.file, dataset=CARD.name, folder=folder)}
    items, norms = read_pairs(located[chosen.file].path, name=set)
    if len(items) != chosen.pairs:
        what = f"{chosen.title} has {chosen.pairs:,} pairs; this file holds {len(items):,}"
        raise InputError(what, place=Place(chosen.file.path))
    facts = SubjectFacts("norm", f"mean rating, {chosen.title}", kind="norm", languages=("en",))
    return Dataset(_card_of_set(set), items, norms, checksums(located), (facts,))


def read_pairs(path: Path, *, name: str) -> tuple[tuple[Item, ...], ResponseTable]:
    """Read the pairs of the set of that *name*, one in a line: two words and the mean rating, tabs between them.

    Errors: :class:`InputError` with file and line: a wrong number of cells, a word that is empty or has white space, a
    mean that is no number or is off the scale of the set.
    """
    rows = read_lines(path)
    items: list[Item] = []
    norms: list[float] = []
    seen: set[tuple[str, ...]] = set()
    for row in range(len(rows)):
        *words, mean = rows.cells(row, _COLUMNS)
        usages = tuple(_read_usage(rows, row, cell, word) for cell, word in enumerate(words))
        pair = tuple(sorted(word.casefold() for word in words))
        conditions = {"same_word": pair[0] == pair[1], "given_before": pair in seen}
        seen.add(pair)
        items.append(Item(f"wordsim/{name}/{row + 1:04d}", "wordsim", usages, conditions=conditions))
        norms.append(_parse_mean(rows, row, mean, SETS[name]))
    return tuple(items), _norm_rows(items, norms)


def _read_usage(rows: PlainLines, row: int, cell: int, word: str) -> Usage:
    if not word or word.split() != [word]:
        rows.refuse(row, f"one word is needed here; there is {word!r}", cell=cell)
    return Usage(word, 0, len(word), language="en")


def _parse_mean(rows: PlainLines, row: int, text: str, chosen: WordSet) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not chosen.low <= value <= chosen.high:
        rows.refuse(row, f"a number from {chosen.low:g} to {chosen.high:g} is needed here; there is {text!r}", cell=2)
    return value


def _norm_rows(items: Sequence[Item], norms: Sequence[float]) -> ResponseTable:
    columns = {
        "subject_id": "norm",
        "subject_kind": "norm",
        "item_id": [item.item_id for item in items],
        "task": CARD.task,
        "measure": "norm",
        "value": list(norms),
    }
    return ResponseTable.from_columns(columns)


def _card_of_set(name: str) -> DatasetCard:
    chosen = SETS[name]
    # means lie between the points that people could choose, which the sets do not state
    scale = Scale(chosen.low, chosen.high, step=0.0)
    if name == DEFAULT:
        return replace(CARD, scale=scale)
    counts = (("items", chosen.pairs), ("words", chosen.words))
    ends = (f"wordsim/{name}/0001", f"wordsim/{name}/{chosen.pairs:04d}")
    title = f"{chosen.title} (of {CARD.title})"
    return replace(CARD, title=title, counts=counts, first_item=ends[0], last_item=ends[1], scale=scale)
