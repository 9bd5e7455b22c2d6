"""XL-WiC: does a word have the same meaning in two contexts, in German or one of eleven other languages?

``xl_wic`` is German; ``xl_wic?language=fr`` is French, and so on. The published package is read where it lies in the
data folder, else a quarter of its validation sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, SetAside
from lexiscope.core.errors import InputError, SpanError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.datasets.xl_wic.card import (
    CARD,
    COUNTS_OF_PACKAGE,
    DEFAULT,
    PACKAGE,
    SAMPLES,
    package_file,
    package_files,
    sample_file,
)
from lexiscope.items.arrange.published_pairs import (
    SPLITS,
    card_of,
    checksums,
    expect_counts,
    expect_set_aside,
    pair_item,
)
from lexiscope.items.read.target_forms import verified_usage
from lexiscope.resources.fetch import FetchedFile, locate, locate_optional
from lexiscope.resources.tables.plain_lines import PlainLines, expect_parallel, read_lines

__all__ = ["CARD", "DEFAULT", "OPTIONS", "SAMPLES", "load", "read_split"]

OPTIONS = ("language",)
"""What may be asked for behind a question mark: ``xl_wic?language=fr``."""

_COLUMNS = ("word", "part of speech", "start 1", "end 1", "start 2", "end 2", "context 1", "context 2", "label")
_TRUTHS = {"1": "t", "0": "f"}
Rows = tuple[list[Item], list[SetAside]]


def load(folder: Path | None = None, *, language: str = DEFAULT) -> Dataset:
    """Load the pairs of one language; gold is ``t`` (the same meaning), ``f``, or missing where labels are hidden.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`SpecError` for another language; :class:`DataError` where neither the package nor the sample is at
    hand, or the sample is not the pinned one; :class:`InputError` with file and line for a row that breaks a rule.
    """
    if language not in SAMPLES:
        raise SpecError(f"xl_wic has no language {language!r}", hint=f"use one of {', '.join(SAMPLES)}")
    found = _package(language, folder)
    whole = package_file(language, "valid") in found
    if not whole:
        file = sample_file(language)
        found = {file: locate(file, dataset=CARD.name, folder=folder, how_to_obtain=CARD.how_to_obtain)}
    items: list[Item] = []
    aside: list[SetAside] = []
    for split, (data, gold) in _splits(language, found).items():
        several = read_split(data, gold, language=language, split=split)
        items += several[0]
        aside += several[1]
    _check(language, items, aside, whole=whole)
    return _dataset(language, items, aside, found)


def read_split(data: Path, gold: Path | None = None, *, language: str, split: str) -> Rows:
    """Read one file, literally: word, part of speech, two spans, two contexts, and the label.

    Without a label in the ninth column it is taken from *gold*, line by line; without both there is none. Rows whose
    span is not on their word are set aside.
    Errors: :class:`InputError` with file and line: a wrong number of cells, an offset that is no whole number, another
    label than 1 or 0, files of unequal length.
    """
    rows = read_lines(data)
    labels = read_lines(gold) if gold is not None else None
    if labels is not None:
        expect_parallel(rows, labels)
    items: list[Item] = []
    aside: list[SetAside] = []
    for row in range(len(rows)):
        names = _COLUMNS if split != "test" else _COLUMNS[:-1]
        cells = rows.cells(row, names)
        answer = _answer(rows, labels, row, cells, split)
        try:
            items.append(_item(rows, row, cells, answer, f"xl_wic/{language}/{split}/{row + 1:05d}"))
        except SpanError as error:
            aside.append(SetAside(rows.path, row + 1, error.what, tuple(zip(names, cells, strict=True))))
    return items, aside


def _answer(rows: PlainLines, labels: PlainLines | None, row: int, cells: list[str], split: str) -> str | None:
    if split != "test":
        return rows.one_of(row, cells[-1], _TRUTHS, cell=len(_COLUMNS) - 1)
    return labels.one_of(row, labels.lines[row], _TRUTHS) if labels is not None else None


def _item(rows: PlainLines, row: int, cells: list[str], answer: str | None, item_id: str) -> Item:
    word, pos, *ends = cells[:6]
    _, language, split, _ = item_id.split("/")
    usages = []
    for side in (0, 1):
        first = 2 + 2 * side
        span = rows.number(row, first, ends[2 * side]), rows.number(row, first + 1, ends[2 * side + 1])
        place = rows.place(row, 6 + side)
        usages.append(verified_usage(cells[6 + side], span, place=place, lemma=word, pos=pos, language=language))
    return pair_item(item_id, usages, gold=answer, split=split, conditions={"pos": pos, "row": row + 1})


def _package(language: str, folder: Path | None) -> dict[DataFile, FetchedFile]:
    looked = {file: locate_optional(file, dataset=CARD.name, folder=folder) for file in package_files(language)}
    return {file: place for file, place in looked.items() if place is not None}


def _splits(language: str, found: Mapping[DataFile, FetchedFile]) -> dict[str, tuple[Path, Path | None]]:
    """The files of each split that is at hand, data and labels."""
    sample = found.get(sample_file(language))
    if sample is not None:
        return {"dev": (sample.path, None)}
    splits = {}
    for split in SPLITS:
        files = {kind: found.get(package_file(language, name)) for kind, name in PACKAGE[split].items()}
        data, gold = files["data"], files.get("gold")
        if data is not None:
            splits[split] = (data.path, gold.path if gold is not None else None)
    return splits


def _check(language: str, items: list[Item], aside: list[SetAside], *, whole: bool) -> None:
    """Check how many rows there are: of the sample always, of the package where its counts are known."""
    if not whole:
        sample = SAMPLES[language]
        expect_set_aside(CARD.name, aside, sample.set_aside)
        expect_counts(f"xl_wic, {language}", items, {"dev": sample.rows - sample.set_aside})
        return
    known = COUNTS_OF_PACKAGE.get(language, {})
    there = Counter(str(item.conditions["split"]) for item in items)
    there.update(Path(row.path).stem.split("_")[1].replace("valid", "dev") for row in aside)
    for split, number in there.items():
        if split in known and number != known[split]:
            what = f"xl_wic, {language} has {known[split]:,} rows in {split}; this file holds {number:,}"
            raise InputError(what, hint="the file is cut off: unpack the package again")


def _dataset(language: str, items: list[Item], aside: list[SetAside], found: Mapping[DataFile, FetchedFile]) -> Dataset:
    card = card_of(CARD, items, language=language, more=(("set_aside", len(aside)),))
    return Dataset(card, tuple(items), ResponseTable.empty(), checksums(found), set_aside=tuple(aside))
