"""AM²iCo: does a word in one of 14 languages mean in its context what an English word means in another?

``am2ico`` is Finnish and English; ``am2ico?language=zh`` is Chinese and English, and so on.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import SPLITS, TRUTHS, card_of, checksums, expect_counts, pair_item
from lexiscope.items.read.target_forms import verified_usage
from lexiscope.resources.fetch import FetchedFile, locate, locate_optional
from lexiscope.resources.tables.plain_lines import PlainLines, read_lines

# -- card -----------------------------------------------------------------------------------------------------------
# The card of AM²iCo: where it comes from, which languages it has, and what one must know before using it.


VERSION = "2003865050bc9a9e84f2bcb4979f03734bddab28"
_RAW = f"https://raw.githubusercontent.com/cambridgeltl/AM2iCo/{VERSION}"
DEFAULT = "fi"
"""The language that is paired with English where none is named."""
COUNTS: dict[str, tuple[int, int, int]] = {
    "ar": (0, 500, 1_000),
    "bn": (0, 332, 700),
    "de": (0, 500, 1_000),
    "eu": (978, 500, 1_000),
    "fi": (6_322, 500, 1_000),
    "id": (1_598, 500, 1_000),
    "ja": (0, 500, 1_000),
    "ka": (242, 500, 1_000),
    "kk": (0, 276, 400),
    "ko": (0, 500, 1_000),
    "ru": (0, 500, 1_000),
    "tr": (3_904, 500, 1_000),
    "ur": (0, 108, 400),
    "zh": (0, 500, 1_000),
}
"""How many pairs of train, dev and test each language has; half of each have the same meaning."""
_SHA256 = {
    "ar/dev": "820809a5807c46f38a85e43a87c3200689eca178607057c88d798c331570925d",
    "ar/test": "521934fd4426d1eafba6a5e9beeb9ab42d44c1ac9fb59823e1e61886fe267e6c",
    "bn/dev": "c479dffa2d06eb993084502d2be4cc74720cd98caf3bb54769b01a3f1c689b3c",
    "bn/test": "83b3e4c0ee4b7dc987fc2210ae70739aa4eb3d2077384a720a790ecaa40c48be",
    "de/dev": "96bba3bbede13e84fe7126af71d62529806c20d8c758077b11ffbc5e77f1e22d",
    "de/test": "0a0b118a31d4e1a0582a1b360644f8f8c35abc10ebaa7d405c3074e931660b9b",
    "eu/dev": "a411a3fd34c4edc9c7ce1e58e3642e266a5a458220705f9464c07e3af890ed62",
    "eu/test": "57ce2ab19c7426d26540698a938a6a62140012190d6c27f9353fa3ae41a21cba",
    "eu/train": "0e9cfbb218cc81e78fb4a71fad99d22b544cf6b4b1552f597321f83bc61eb533",
    "fi/dev": "e04ed7055bead8e0e359d53c547bba8df58d4ecdc1ada1b5843ccf08cbd984af",
    "fi/test": "8037eb0c73a59808f590f71f9ac2a0b3bfcd90602e748992b5ba200a5316c080",
    "fi/train": "552cd9e7752638eed28623effeef8656fbc884b1fec54e4ff666e95ec2a08134",
    "id/dev": "fd44492fc4d295035260b58c05971ca5052b47ec550e326072371bb7a7cb84a0",
    "id/test": "10e28c0f1f0404cd31121914961668bb8da709e568ea3094e70bf41c6734bc32",
    "id/train": "1b194b4b823c91c0c8410417aa1e8d8624914dffd1b38309a1535221e964894b",
    "ja/dev": "c11278aba027caf511ebd6ec620f342d1a014ddb100a3c94becbbb85f930f547",
    "ja/test": "38f14baa73c7b9f7862c40d823eadaa5f15ad6276502e6435beb68588da5d99a",
    "ka/dev": "b32da4fa1a18c6db696d1006c27d6fd88cb97907df6c668268e5b3f7f1ccc1aa",
    "ka/test": "d8d5018dc325757428367bd5b43d0224e234c497b88ea50d407ab821f5948bed",
    "ka/train": "50130978ad8e09601e69860da6766150b801ec87181d40f4220d34bd0793fcf1",
    "kk/dev": "70c75ca42599468ad04783c255ca99cfa84bd8f949ecc13ef30c7c21366608eb",
    "kk/test": "3b555f058ae73cc49235471dadddc12dd6978349e175adcb1a369d02b8193c01",
    "ko/dev": "98c58d6bab42f0eca6b2e8d2cf0d179f61c39f25067912ca5b27441d84d2cead",
    "ko/test": "000cf1073260a0af6227bb51b1c910cc3b6a77a95b57d932481a4a033299301a",
    "ru/dev": "667a791f49a5f874b3d46d7a2291637dce915a301b1c2ad67aa6594f4d71bd61",
    "ru/test": "02036c93e34c2b1a0444292bf7f23756dfe90aa48259612f335690989eec48f9",
    "tr/dev": "d16066fbfa43d170e7d118302fa698481ec29b40054c1ef4add53475bdd4e08c",
    "tr/test": "55f139097f07fe9af042f8975bf001050e940a859fa86985cc628154c6a1849e",
    "tr/train": "89c9baa07c162c482a96da8bde01cc4d2280a1a941f7799983e6e72e2c077908",
    "ur/dev": "a68a1d7d5750ae327b878e9e71e12201b6831efb018f5712f7def1b9cc3ea1c1",
    "ur/test": "69c3687774ab532baf1c39d058cbb793229955356812e08dd79248abb9f4bea7",
    "zh/dev": "53497106b86103734b29058495b37057de95054b8e4fa3c668d03ed9fc12ed2d",
    "zh/test": "8aebb538e0a6d3ee2e3fdb7b879b1e58484083291bdd6b88c0e16fac92bd0e19",
}
#: training sets that were published and that we never saw: read where they are put, with no checksum
_UNSEEN_TRAIN = ("ar", "de", "ja", "ko", "ru", "zh")


def _file(name: str) -> DataFile:
    path = f"data/{name}.tsv"
    return DataFile(f"am2ico/{path}", f"{_RAW}/{path}", _SHA256.get(name), optional=name not in _SHA256)


FILES: dict[str, dict[str, DataFile]] = {
    language: {
        split: _file(f"{language}/{split}")
        for split in SPLITS
        if f"{language}/{split}" in _SHA256 or (split == "train" and language in _UNSEEN_TRAIN)
    }
    for language in COUNTS
}
"""The files of each language by split."""
CARD = DatasetCard(
    name="am2ico",
    title="AM²iCo: adversarial and multilingual meaning in context",
    task="same_sense",
    language=f"{DEFAULT}, en",
    licence="CC BY 4.0",
    citation=(
        "Q. Liu, E. M. Ponti, D. McCarthy, I. Vulić, A. Korhonen (2021). AM²iCo: Evaluating Word Meaning in Context "
        "across Low-Resource Languages with Adversarial Examples. EMNLP 2021, 7151-7162, "
        "doi:10.18653/v1/2021.emnlp-main.571."
    ),
    source="https://github.com/cambridgeltl/AM2iCo",
    version=VERSION,
    availability="download",
    summary="Pairs of a word in one of 14 languages and an English word, in contexts: the same meaning or not.",
    files=tuple(file for files in FILES.values() for file in files.values()),
    counts=(("items", sum(COUNTS[DEFAULT])), ("words", 3_993)),
    first_item=f"am2ico/{DEFAULT}/train/00001",
    last_item=f"am2ico/{DEFAULT}/test/01000",
    remarks=(
        "am2ico is Finnish and English, am2ico?language=zh another pair: ar bn de eu fi id ja ka kk ko ru tr ur zh.",
        "The paper's pair is English and Chinese, whose training set (about 13,000 pairs) is not available here, so "
        "that the default is the language with the largest available training set. The published training sets of ar, "
        "de, ja, ko, ru and zh are read where their files are put; bn, kk and ur have none.",
        "Condition split is train, dev or test; the first usage is in the other language, the second in English; half "
        "of each split have the same meaning, and adversarial pairs are kept, as published.",
        "The files name no lemma: the word of an item is the wordform of the first usage. Some targets are "
        "signs (£, °, †).",
        "The files have no quoting: a reader of CSV merges ten rows of the Turkish training set.",
    ),
)


# ---------------------------------------------------------------------------------------------------------------------


__all__ = ["CARD", "COUNTS", "DEFAULT", "OPTIONS", "load", "read_split"]

OPTIONS = ("language",)
"""What may be asked for behind a question mark: ``am2ico?language=zh``."""

_COLUMNS = ("context1", "context2", "label")
_TAGGED = re.compile("<word>(.*)</word>")


def load(folder: Path | None = None, *, language: str = DEFAULT) -> Dataset:
    """Load the pairs of one language and English; gold is ``t`` (the same meaning) or ``f``.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache. A training set that is not
    available and has no published checksum is skipped (the card names these).
    Errors: :class:`SpecError` for another language; :class:`DataError` for a file that is missing or not the published
    one; :class:`InputError` with file and line for a row that breaks a rule.
    """
    if language not in FILES:
        raise SpecError(f"am2ico has no language {language!r}", hint=f"use one of {', '.join(FILES)}")
    located: dict[DataFile, FetchedFile] = {}
    items: list[Item] = []
    for split, file in FILES[language].items():
        place = locate_optional(file, dataset=CARD.name, folder=folder) if file.optional else None
        if file.optional and place is None:
            continue
        located[file] = place or locate(file, dataset=CARD.name, folder=folder)
        items += read_split(located[file].path, language=language, split=split)
    expected = dict(zip(SPLITS, COUNTS[language], strict=True))
    if any(file.optional for file in located):
        # a set that we never saw: its own count is all that can be expected
        expected["train"] = sum(item.conditions["split"] == "train" for item in items)
    expect_counts(f"am2ico, {language}", items, expected)
    card = card_of(CARD, items, language=f"{language}, en")
    return Dataset(card, tuple(items), ResponseTable.empty(), checksums(located))


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
        rows.refuse(row, "the target must be once between <word> and </word>", cell=cell)
    text = context[: match.start()] + match[1] + context[match.end() :]
    here = rows.place(row, cell)
    # in the line the target follows its tag
    place = replace(here, column=(here.column or 1) + len("<word>"))
    return verified_usage(text, (match.start(), match.start() + len(match[1])), place=place, language=language)
