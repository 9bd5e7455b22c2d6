"""AM²iCo: does a word in one of 14 languages mean in its context what an English word means in another?

``am2ico`` is Finnish and English; ``am2ico?language=zh`` is Chinese and English, and so on.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.datasets.am2ico.card import CARD, COUNTS, DEFAULT, FILES
from lexiscope.items.arrange.published_pairs import SPLITS, TRUTHS, card_of, checksums, expect_counts, pair_item
from lexiscope.items.read.target_forms import verified_usage
from lexiscope.resources.fetch import FetchedFile, locate, locate_optional
from lexiscope.resources.tables.plain_lines import PlainLines, read_lines

__all__ = ["CARD", "COUNTS", "DEFAULT", "OPTIONS", "load", "read_split"]

OPTIONS = ("language",)
"""What may be asked for behind a question mark: ``am2ico?language=zh``."""

_COLUMNS = ("context1", "context2", "label")
_TAGGED = re.compile("<word>(.*)</word>")


def load(folder: Path | None = None, *, language: str = DEFAULT) -> Dataset:
    """Load the pairs of one language and English; gold is ``t`` (the same meaning) or ``f``.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache. A training set that is not at
    hand and was never seen by us is left out (the card names these).
    Errors: :class:`SpecError` for another language; :class:`DataError` for a file that is missing or not the published
    one; :class:`InputError` with file and line for a row that breaks a rule.
    """
    if language not in FILES:
        raise SpecError(f"am2ico has no language {language!r}", hint=f"use one of {', '.join(FILES)}")
    found: dict[DataFile, FetchedFile] = {}
    items: list[Item] = []
    for split, file in FILES[language].items():
        place = locate_optional(file, dataset=CARD.name, folder=folder) if file.optional else None
        if file.optional and place is None:
            continue
        found[file] = place or locate(file, dataset=CARD.name, folder=folder)
        items += read_split(found[file].path, language=language, split=split)
    expected = dict(zip(SPLITS, COUNTS[language], strict=True))
    if any(file.optional for file in found):
        # a set that we never saw: its own count is all that can be expected
        expected["train"] = sum(item.conditions["split"] == "train" for item in items)
    expect_counts(f"am2ico, {language}", items, expected)
    card = card_of(CARD, items, language=f"{language}, en")
    return Dataset(card, tuple(items), ResponseTable.empty(), checksums(found))


def read_split(path: Path, *, language: str, split: str) -> list[Item]:
    """Read one file: a header, then two contexts with the target between ``<word>`` and ``</word>``, and T or F.

    Errors: :class:`InputError` with file and line: another header, a wrong number of cells, a context without exactly
    one target or with a target cut out of a word, another label.
    """
    rows = read_lines(path)
    if rows.lines[0] != "\t".join(_COLUMNS):
        rows.refuse(0, f"the header must be {', '.join(_COLUMNS)}, with tabs between", hint="is it a file of AM²iCo?")
    items = []
    for row in range(1, len(rows)):
        first, second, label = rows.cells(row, _COLUMNS)
        usages = [_usage(rows, row, 0, first, language), _usage(rows, row, 1, second, "en")]
        gold = rows.one_of(row, label, TRUTHS, cell=2)
        items.append(pair_item(f"am2ico/{language}/{split}/{row:05d}", usages, gold=gold, split=split))
    return items


def _usage(rows: PlainLines, row: int, cell: int, context: str, language: str) -> Usage:
    match = _TAGGED.search(context)
    if match is None or context.count("<word>") != 1 or context.count("</word>") != 1:
        rows.refuse(row, "the target must stand once between <word> and </word>", cell=cell)
    text = context[: match.start()] + match[1] + context[match.end() :]
    here = rows.place(row, cell)
    # in the line the target stands behind its tag
    place = replace(here, column=(here.column or 1) + len("<word>"))
    return verified_usage(text, (match.start(), match.start() + len(match[1])), place=place, language=language)
