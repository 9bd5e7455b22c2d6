"""WiC-TSV: is a word used in its context in the sense of a definition and its hypernyms?

``wic_tsv`` is English, ``wic_tsv?language=de`` German. The labels of the test sets are hidden by the publisher.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import TRUTHS, card_of, checksums, expect_counts, pair_item
from lexiscope.items.read.target_forms import token_span, verified_usage
from lexiscope.resources.fetch import FetchedFile, locate
from lexiscope.resources.tables.plain_lines import PlainLines, expect_parallel, read_lines

# -- the card of WiC-TSV: where it comes from, and what one must know before using it -------------------------------


VERSION = "7bddf326add99eb40a2b85a331deffafead2a73f"
_RAW = f"https://raw.githubusercontent.com/semantic-web-company/wic-tsv/{VERSION}"
DEFAULT = "en"
"""The language where none is named."""
COUNTS: dict[str, dict[str, int]] = {
    "en": {"train": 2_828, "dev": 389, "test": 1_306},
    "de": {"train": 2_532, "dev": 425, "test": 1_160},
}
"""How many items each split has."""
FOLDERS = {"train": "Training", "dev": "Development", "test": "Test"}
_SHA256 = {
    "de/Development/dev_definitions": "e5ac51fa21ca988b1d3662de84c6e7ee8c72876477b2128ed4a74e21d66c0cbc",
    "de/Development/dev_examples": "4ee69c8e9d34215379b9f9506cd1baab1303c48ebc7ca592305f4bb6eb719003",
    "de/Development/dev_hypernyms": "7fea31e0fea27e49c191d1bd1e2378bb3b0afa75795f28dc703bc0ec8732aa98",
    "de/Development/dev_labels": "0c4077f95a091727f95dfe790bed7a3a2e0c3f0f4e2634f0a28c41e864d809b3",
    "de/Test/test_definitions": "75b0b5e75874c94358d6fc01d9a2907ceb1be5a5f88dbb7691c6516551f3f856",
    "de/Test/test_domains": "f5c2cbee4ddf0054a622927d966e0d6723768a42a8f4760e6cef7bc43afd9185",
    "de/Test/test_examples": "a547cf2a193c644278aa7fa31c929ef842e8c550d4139441cf7d350d28bf2fff",
    "de/Test/test_hypernyms": "033002b11e6b414b52f357c4136132f95c9a2a34d9c4c359dff94f3d15911402",
    "de/Training/train_definitions": "034d0146c1b86b688ffa7f9cb814dd017ccfa2df53207c4809a86965795a0825",
    "de/Training/train_examples": "1334d7bee00221c7cd976213e814a36ed40bf185188bdf1d58f154d611634a5e",
    "de/Training/train_hypernyms": "e446bfef7f0d0f3398d2b5eefea59ee6a4c450cf19b8830a89835a891d1356de",
    "de/Training/train_labels": "82e5829f3803a04a958e7e949bdcbfb3cbaffec88c63fc95f88d5da55a606535",
    "en/Development/dev_definitions": "04f104b3e6de6fa1348d6024983f91e34c75ccf38a84457b2a3e98245824a10e",
    "en/Development/dev_examples": "b8798c78eb2f76ee04cb5d7ac8b96c63dcfdfbb251b1c70372ce90f021245453",
    "en/Development/dev_hypernyms": "7f9ae6b8c722dbc34cd858972f1b83d10c923faa163178c37c337d4a665109bb",
    "en/Development/dev_labels": "3531353642e78a960e0f00ef8eca7f7503a02d1e7008ab22520687f7349bbb80",
    "en/Test/test_definitions": "295e0fa3566e4170939b0bcfcb3f3c1b185dbf68cbb3437b3ca6e6d6113776e7",
    "en/Test/test_domains": "a0d4dad4dcc01796fe824708959f7814dc81c4a4a4b4266eab6be2227beb2988",
    "en/Test/test_examples": "8ed7e341919988a3bd1bcb8e25508f39fb452ec60a367c7fe2a8cc1026cfbc8f",
    "en/Test/test_hypernyms": "3129e432b2626e069bede0656a9c6a9419acc81e514296d263c2650baf5c3493",
    "en/Training/train_definitions": "8ee934dd6c88c87e9172cb9cfdec3a4da7e10597b950e0cfd9ff1f7ecee8db5d",
    "en/Training/train_examples": "d6d5aa00493d87430aa54d0de6153c853496e38ff06a151e1ccbb6601cf9db4d",
    "en/Training/train_hypernyms": "4b55990f5c9b38b0343025372beb9981553770d03eee4c6e30d7a8025c3d4669",
    "en/Training/train_labels": "fa13e01d2e156a8880069c3f4933d65cbffa562bf3898c26d7bdbce016089a76",
}


def file_of(language: str, split: str, kind: str) -> DataFile | None:
    """Return the file of a split (``examples``, ``definitions``, ``hypernyms``, ``labels`` or ``domains``), if any."""
    name = f"{language}/{FOLDERS[split]}/{split}_{kind}"
    if name not in _SHA256:
        return None
    return DataFile(f"wictsv/data/{name}.txt", f"{_RAW}/data/{name}.txt", _SHA256[name])


KINDS = ("examples", "definitions", "hypernyms", "labels", "domains")
"""What the files of a split hold, line by line; the test sets have domains and no labels, the others the reverse."""
_ALL = [file_of(language, split, kind) for language in COUNTS for split in FOLDERS for kind in KINDS]
CARD = DatasetCard(
    name="wic_tsv",
    title="WiC-TSV: target sense verification of words in context",
    task="sense_verification",
    language=DEFAULT,
    licence="CC BY 4.0 (data)",
    citation=(
        "A. Breit, A. Revenko, K. Rezaee, M. T. Pilehvar, J. Camacho-Collados (2021). WiC-TSV: An Evaluation Benchmark "
        "for Target Sense Verification of Words in Context. EACL 2021, 1635-1645, doi:10.18653/v1/2021.eacl-main.140."
    ),
    source="https://github.com/semantic-web-company/wic-tsv",
    version=VERSION,
    availability="download",
    summary="A word in a context, a definition and hypernyms: is it used in that sense? English; German by option.",
    files=tuple(file for file in _ALL if file is not None),
    counts=(("items", 4_523), ("words", 1_588)),
    first_item="wic_tsv/en/train/00001",
    last_item="wic_tsv/en/test/01306",
    remarks=(
        "wic_tsv is English (2,828, 389 and 1,306 items), wic_tsv?language=de German (2,532, 425 and 1,160).",
        "Condition split is train, dev or test. The labels of test are hidden by the publisher: its gold is missing, "
        "and accuracy is that on dev.",
        "Conditions definition and hypernyms hold the sense; hypernyms are joined by commas, and one item of train has "
        "none. domain is the publisher's number of a test item's domain, 0 the general one of train and dev.",
        "The 2,828 English rows of train are 2,137 distinct contexts, some with several senses; condition context_row "
        "counts the rows of a context, so that 1 is the first of each.",
        "Contexts are tokenised at single spaces.",
        "A definition or its hypernyms may hold the word itself (English: 153 items of train, 15 of dev, 544 of test); "
        "the view context hides the target in its sentence, not there.",
        "The view context hides the target alone: in 128 English items the same word occurs elsewhere in a text, "
        "in any case of letters, and stays visible.",
        "In German, some targets are not the word of the row, as published (a quotation in dialect, a wrong position).",
    ),
)


# ---------------------------------------------------------------------------------------------------------------------


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
    located: dict[DataFile, FetchedFile] = {}
    items: list[Item] = []
    for split in FOLDERS:
        files = {kind: file for kind in KINDS if (file := file_of(language, split, kind)) is not None}
        located |= {file: locate(file, dataset=CARD.name, folder=folder) for file in files.values()}
        paths = {kind: located[file].path for kind, file in files.items()}
        items += read_split(paths, language=language, split=split)
    expect_counts(f"wic_tsv, {language}", items, COUNTS[language])
    card = card_of(CARD, items, language=language)
    return Dataset(card, tuple(items), ResponseTable.empty(), checksums(located))


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
