"""XL-WiC: does a word have the same meaning in two contexts, in German or one of eleven other languages?

``xl_wic`` is German; ``xl_wic?language=fr`` is French, and so on. The published package is read if it is in the
data folder, otherwise a quarter of its validation sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SetAside
from lexiscope.core.errors import InputError, SpanError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.arrange.pairs import (
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

# -- card -----------------------------------------------------------------------------------------------------------
# The card of XL-WiC: where it comes from, which languages it has, and what one must know before using it.


DEFAULT = "de"
"""The language where none is named."""


@dataclass(frozen=True, slots=True)
class LanguageSample:
    """The sample of one language: its folder, its sha256, its rows, and the number of those that are not items."""

    folder: str
    sha256: str
    rows: int
    set_aside: int = 0


SAMPLES: dict[str, LanguageSample] = {
    "bg": LanguageSample(
        "xlwic_wn/bulgarian_bg", "e9d789e1614f96355357522506cbb265e7ef5300697f9e66fd3bb1260048949c", 250, 0
    ),
    "da": LanguageSample(
        "xlwic_wn/danish_da", "b56ad51c161550863fd89f047c064fb0bd845b34135eca88156a2b93ceee7e1b", 213, 0
    ),
    "de": LanguageSample(
        "xlwic_wikt/german_de", "6e81f327b46d5937d8332c4e6b201e15140efce5ea1033542a57f9a770a389ec", 2_218, 0
    ),
    "et": LanguageSample(
        "xlwic_wn/estonian_et", "efb2cde81915dc82583c6d0c8a98ef1fd244c1543e81149907283a672d29f5b0", 25, 0
    ),
    "fa": LanguageSample(
        "xlwic_wn/farsi_fa", "eca5ec19d7f651774b75e0780e16837ea658a5d2e5ffb6e10cd785dc1ccf55f7", 50, 46
    ),
    "fr": LanguageSample(
        "xlwic_wikt/french_fr", "68d8f606487058a3089ba548d333065a0c128f59799468f9dcde02e5b115dd8c", 2_147, 2
    ),
    "hr": LanguageSample(
        "xlwic_wn/croatian_hr", "587d865261779847ef8beeaa84106ea557eb985e3ad8a18873794effee1145a5", 26, 0
    ),
    "it": LanguageSample(
        "xlwic_wikt/italian_it", "df8fed771747e1d9e99534ffc2832c86670ebd4d7631fc8259f93f401c6434ef", 50, 0
    ),
    "ja": LanguageSample(
        "xlwic_wn/japanese_ja", "fa1a63e057c36ae475a01aead0b79abefee6ee83b6bafc3262a408656aef01c8", 52, 0
    ),
    "ko": LanguageSample(
        "xlwic_wn/korean_ko", "a6b9f8d468078b62f4b4f8ce3a4eba71e94f05b2a621bc80011edc545efc2a6b", 101, 0
    ),
    "nl": LanguageSample(
        "xlwic_wn/dutch_nl", "5718698574532190a04b23424b615eb06db29f756f7b3878fc0ef832009266c8", 63, 0
    ),
    "zh": LanguageSample(
        "xlwic_wn/chinese_zh", "86601f0668463e05df5e0860347f76208aa60db737d757fa4da79f795f2a7c3b", 762, 0
    ),
}
"""Each language's quarter of the validation set."""
COUNTS_OF_PACKAGE: dict[str, dict[str, int]] = {"de": {"train": 48_042, "dev": 8_888, "test": 24_268}}
"""How many rows the published package has in each split, where we know it."""
PACKAGE: dict[str, dict[str, str]] = {
    "train": {"data": "train"},
    "dev": {"data": "valid"},
    "test": {"data": "test_data", "gold": "test_gold"},
}
"""The files of the published package by split: what follows the language in their names."""


def sample_file(language: str) -> DataFile:
    """Return the file of a language's sample."""
    sample = SAMPLES[language]
    return DataFile(f"xlwic/{sample.folder}/{language}_valid_sample.txt", sha256=sample.sha256)


def package_file(language: str, name: str) -> DataFile:
    """Return a file of the published package; we never saw it, so that it has no checksum."""
    return DataFile(f"xlwic/{SAMPLES[language].folder}/{language}_{name}.txt", optional=True)


def package_files(language: str) -> tuple[DataFile, ...]:
    """Return the files of the published package; only the languages of Wiktionary have a training set."""
    trained = SAMPLES[language].folder.startswith("xlwic_wikt")
    splits = [split for split in PACKAGE if trained or split != "train"]
    return tuple(package_file(language, name) for split in splits for name in PACKAGE[split].values())


_FILES = [sample_file(language) for language in SAMPLES] + [
    file for language in SAMPLES for file in package_files(language)
]
CARD = DatasetCard(
    name="xl_wic",
    title="XL-WiC: word in context in twelve languages other than English",
    task="same_sense",
    language=DEFAULT,
    licence="CC BY-NC 4.0",
    citation=(
        "A. Raganato, T. Pasini, J. Camacho-Collados, M. T. Pilehvar (2020). XL-WiC: A Multilingual Benchmark for "
        "Evaluating Semantic Contextualization. EMNLP 2020, 7193-7206, doi:10.18653/v1/2020.emnlp-main.584."
    ),
    source="https://pilehvar.github.io/xlwic/",
    version="a quarter of each validation set, from pierluigic/xl-lexeme 0f6748df5c3c444dde8e98313b15775b1b22c50c",
    availability="obtain",
    summary="Pairs of contexts of a word in German or one of eleven other languages: the same meaning or not.",
    files=tuple(_FILES),
    counts=(("items", 2_218), ("words", 1_804), ("set_aside", 0)),
    how_to_obtain=(
        "unpack https://pilehvar.github.io/xlwic/data/xlwic_datasets.zip and put its folders xlwic_wikt and xlwic_wn "
        "into a folder xlwic; set LEXISCOPE_DATA to the folder that holds it. The sample <language>_valid_sample.txt "
        "was made of dev.zip of https://github.com/pierluigic/xl-lexeme: a random quarter of each validation set, "
        "written in the nine columns of the package"
    ),
    first_item="xl_wic/de/dev/00001",
    last_item="xl_wic/de/dev/02218",
    remarks=(
        "xl_wic is German; xl_wic?language=fr another language: bg da de et fa fr hr it ja ko nl zh.",
        "If <language>_valid.txt of the package is next to a sample, the package is read: train (German, French "
        "and Italian), dev and test. Its files have no checksum here; the German ones must have 48,042, 8,888 and "
        "24,268 rows. Otherwise the sample is read, as dev.",
        "Condition split is train, dev or test; gold is missing where a test set has no file of labels.",
        "A row whose span is not on its word is set aside with the reason: in the sample most of Farsi, whose offsets "
        "are wrong as published, and a few of French.",
        "Condition row is the number of the row in its file.",
    ),
)


# ---------------------------------------------------------------------------------------------------------------------


__all__ = ["CARD", "DEFAULT", "OPTIONS", "SAMPLES", "load", "read_split"]

OPTIONS = ("language",)
"""What may be asked for behind a question mark: ``xl_wic?language=fr``."""

_COLUMNS = ("word", "part of speech", "start 1", "end 1", "start 2", "end 2", "context 1", "context 2", "label")
_TRUTHS = {"1": "t", "0": "f"}
Rows = tuple[list[Item], list[SetAside]]


def load(folder: Path | None = None, *, language: str = DEFAULT) -> Dataset:
    """Load the pairs of one language; gold is ``t`` (the same meaning), ``f``, or missing where labels are hidden.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`SpecError` for another language; :class:`DataError` if neither the package nor the sample is
    available, or the sample is not the pinned one; :class:`InputError` with file and line for a row that breaks a rule.
    """
    if language not in SAMPLES:
        raise SpecError(f"xl_wic has no language {language!r}", hint=f"use one of {', '.join(SAMPLES)}")
    looked = {file: locate_optional(file, dataset=CARD.name, folder=folder) for file in package_files(language)}
    located = {file: place for file, place in looked.items() if place is not None}
    whole = package_file(language, "valid") in located
    if not whole:
        file = sample_file(language)
        located = {file: locate(file, dataset=CARD.name, folder=folder, how_to_obtain=CARD.how_to_obtain)}
    items: list[Item] = []
    aside: list[SetAside] = []
    for split, (data, gold) in _split_files(language, located).items():
        several = read_split(data, gold, language=language, split=split)
        items += several[0]
        aside += several[1]
    _check_row_counts(language, items, aside, whole=whole)
    card = card_of(CARD, items, language=language, more=(("set_aside", len(aside)),))
    return Dataset(card, tuple(items), ResponseTable.empty(), checksums(located), set_aside=tuple(aside))


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
        answer: str | None = None
        if split != "test":
            answer = rows.one_of(row, cells[-1], _TRUTHS, cell=len(_COLUMNS) - 1)
        elif labels is not None:
            answer = labels.one_of(row, labels.lines[row], _TRUTHS)
        try:
            items.append(_read_item(rows, row, cells, answer, f"xl_wic/{language}/{split}/{row + 1:05d}"))
        except SpanError as error:
            aside.append(SetAside(rows.path, row + 1, error.what, tuple(zip(names, cells, strict=True))))
    return items, aside


def _read_item(rows: PlainLines, row: int, cells: list[str], answer: str | None, item_id: str) -> Item:
    word, pos, *ends = cells[:6]
    _, language, split, _ = item_id.split("/")
    usages = []
    for side in (0, 1):
        first = 2 + 2 * side
        span = rows.number(row, first, ends[2 * side]), rows.number(row, first + 1, ends[2 * side + 1])
        place = rows.place(row, 6 + side)
        usages.append(verified_usage(cells[6 + side], span, place=place, lemma=word, pos=pos, language=language))
    return pair_item(item_id, usages, gold=answer, split=split, conditions={"pos": pos, "row": row + 1})


def _split_files(language: str, located: Mapping[DataFile, FetchedFile]) -> dict[str, tuple[Path, Path | None]]:
    """Return the files of each split that is present, data and labels."""
    sample = located.get(sample_file(language))
    if sample is not None:
        return {"dev": (sample.path, None)}
    splits = {}
    for split in SPLITS:
        files = {kind: located.get(package_file(language, name)) for kind, name in PACKAGE[split].items()}
        data, gold = files["data"], files.get("gold")
        if data is not None:
            splits[split] = (data.path, gold.path if gold is not None else None)
    return splits


def _check_row_counts(language: str, items: list[Item], aside: list[SetAside], *, whole: bool) -> None:
    """Check the number of rows: of the sample always, of the package if its counts are known."""
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
