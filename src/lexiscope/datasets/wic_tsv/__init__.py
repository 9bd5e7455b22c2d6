"""WiC-TSV: is a word used in its context in the sense of a definition and its hypernyms?

``wic_tsv`` is English, ``wic_tsv?language=de`` German. The labels of the test sets are hidden by the publisher.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.datasets.wic_tsv.card import CARD, COUNTS, DEFAULT, FOLDERS, KINDS, file_of
from lexiscope.items.arrange.published_pairs import TRUTHS, card_of, checksums, expect_counts, pair_item
from lexiscope.items.read.target_forms import token_span, verified_usage
from lexiscope.resources.fetch import FetchedFile, locate
from lexiscope.resources.tables.plain_lines import PlainLines, expect_parallel, read_lines

__all__ = ["CARD", "COUNTS", "DEFAULT", "OPTIONS", "load", "read_split"]

OPTIONS = ("language",)
"""What may be asked for behind a question mark: ``wic_tsv?language=de``."""

_COLUMNS = ("word", "position", "context")
# German targets that are another word than the row's, as published
_ODD = {
    ("südhessisch", "Tulpe"),
    ("schwere", "Schürze"),
    ("Oma", "Opa"),
    ("Sturmes", "Tulpe"),
    ("Bedeutung", "Bohne"),
    ("steht", "Spitze"),
}


def load(folder: Path | None = None, *, language: str = DEFAULT) -> Dataset:
    """Load the items of one language; gold is ``t`` (in that sense), ``f``, or missing for the test set.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`SpecError` for another language; :class:`DataError` for a file that is missing or not the published
    one; :class:`InputError` with file and line for a row that breaks a rule.
    """
    if language not in COUNTS:
        raise SpecError(f"wic_tsv has no language {language!r}", hint=f"use one of {', '.join(COUNTS)}")
    found: dict[DataFile, FetchedFile] = {}
    items: list[Item] = []
    for split in FOLDERS:
        files = {kind: file for kind in KINDS if (file := file_of(language, split, kind)) is not None}
        found |= {file: locate(file, dataset=CARD.name, folder=folder) for file in files.values()}
        paths = {kind: found[file].path for kind, file in files.items()}
        items += read_split(paths, language=language, split=split)
    expect_counts(f"wic_tsv, {language}", items, COUNTS[language])
    card = card_of(CARD, items, language=language)
    return Dataset(card, tuple(items), ResponseTable.empty(), checksums(found))


def read_split(paths: Mapping[str, Path], *, language: str, split: str) -> list[Item]:
    """Read the files of one split, which go together line by line; *paths* are by what they hold (see the card).

    Without ``labels`` the items have no gold, without ``domains`` their domain is 0.
    Errors: :class:`InputError` with file and line: a wrong number of cells, a position without a token, letters that
    are no form of the word, an empty definition, another label than T or F, files of unequal length.
    """
    files = {kind: read_lines(path) for kind, path in paths.items()}
    rows = files["examples"]
    expect_parallel(rows, *files.values())
    seen: Counter[tuple[str, str]] = Counter()
    items = []
    for row in range(len(rows)):
        usage = _usage(rows, row, language)
        context = (usage.lemma or "", usage.text)
        seen[context] += 1
        conditions = _conditions(files, row) | {"context_row": seen[context]}
        labels = files.get("labels")
        gold = labels.one_of(row, labels.lines[row], TRUTHS) if labels is not None else None
        item_id = f"wic_tsv/{language}/{split}/{row + 1:05d}"
        items.append(pair_item(item_id, (usage,), gold=gold, split=split, conditions=conditions))
    return items


def _usage(rows: PlainLines, row: int, language: str) -> Usage:
    word, position, context = rows.cells(row, _COLUMNS)
    index = rows.number(row, 1, position)
    if index >= len(context.split(" ")):
        rows.refuse(row, f"the context has {len(context.split(' '))} tokens and none at {index}", cell=1)
    place = rows.place(row, 2)
    return verified_usage(context, token_span(context, index), place=place, lemma=word, language=language, odd=_ODD)


def _conditions(files: Mapping[str, PlainLines], row: int) -> dict[str, Condition]:
    definition = files["definitions"].lines[row].strip()
    if not definition:
        files["definitions"].refuse(row, "the definition is empty")
    hypernyms = [name.replace("_", " ").strip() for name in files["hypernyms"].split(row)]
    domains = files.get("domains")
    domain = domains.lines[row].strip() if domains is not None else "0"
    return {"definition": definition, "hypernyms": ", ".join(filter(None, hypernyms)), "domain": domain}
