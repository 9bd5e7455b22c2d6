"""The card of XL-WiC: where it comes from, which languages it has, and what one must know before using it."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.dataset import DataFile, DatasetCard

DEFAULT = "de"
"""The language where none is named."""


@dataclass(frozen=True, slots=True)
class LanguageSample:
    """The sample of one language: its folder, its sha256, its rows, and how many of these are no items."""

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
"""The files of the published package by split: what stands behind the language in their names."""


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
        "Where <language>_valid.txt of the package lies beside a sample, the package is read: train (German, French "
        "and Italian), dev and test. Its files have no checksum here; the German ones must have 48,042, 8,888 and "
        "24,268 rows. Else the sample is read, as dev.",
        "Condition split is train, dev or test; gold is missing where a test set has no file of labels.",
        "A row whose span is not on its word is set aside with the reason: in the sample most of Farsi, whose offsets "
        "are wrong as published, and a few of French.",
        "Condition row is the number of the row in its file.",
    ),
)
