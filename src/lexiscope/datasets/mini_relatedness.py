"""Mini relatedness items: 30 English and 30 Spanish ambiguous nouns, 4 sentences each, written for Lexiscope (CC0).

Each noun has two senses and two cues per sense; the four sentences of a noun differ in one word, as in SAW-C. The items
are embedded, so that every verb works without a network. They have not been rated: there are no human answers.
"""

from __future__ import annotations

from typing import Literal

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import DataError
from lexiscope.core.item import Condition
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage, check_span
from lexiscope.items.arrange.pairs import Stimulus, enumerate_pairs
from lexiscope.resources import fetch
from lexiscope.resources.tables.rows import Row, RowReader

Language = Literal["en", "es"]
LANGUAGES: tuple[Language, ...] = ("en", "es")

CARD = DatasetCard(
    name="mini_relatedness",
    title="Mini relatedness items (English and Spanish)",
    task="relatedness",
    language="en, es",
    licence="CC0-1.0",
    citation="Lexiscope contributors. Mini relatedness items, version 1.",
    source="written for Lexiscope, after the design of SAW-C §3.1",
    version="1",
    availability="embedded",
    summary="30 English and 30 Spanish nouns × 2 senses × 2 cues; one modifier changes; no ratings.",
    files=(
        DataFile("mini/relatedness_en.csv", sha256="ca08b6b675650bd7c1b1df4e39f4617b30f4478bd8394641aad6a360cdaa8e2b"),
        DataFile("mini/relatedness_es.csv", sha256="7ac7aaa12648800df8c1473655230bfb5882d2925d48c6e5a8288a1b0d81bba4"),
    ),
    counts=(("items", 360), ("words", 60), ("sentences", 240)),
    first_item="en-bark-1a-1b",
    last_item="es-raíz-2a-2b",
    remarks=(
        "No one has rated these items: they show how the tools work and are not norms.",
        "Homonymy and polysemy follow the separate or common entries of general dictionaries.",
    ),
)


def load(language: Language | None = None) -> Dataset:
    """Return the pairs of one language, or of both: 6 per noun, 2 of the same sense and 4 of different senses.

    Errors: :class:`DataError` where there is no such language, or an embedded file was changed.
    """
    wanted = LANGUAGES if language is None else (language,)
    items = tuple(item for tag in wanted for item in enumerate_pairs(stimuli(tag), dataset=CARD.name))
    checksums = tuple((_file(tag).path, _file(tag).sha256 or "") for tag in wanted)
    return Dataset(CARD, items, ResponseTable.empty(), checksums)


def stimuli(language: Language) -> tuple[Stimulus, ...]:
    """Return the sentences of one language with their senses, cues and glosses, in the order of the file.

    Errors: :class:`DataError` where there is no such language, or the embedded file was changed.
    """
    rows = RowReader(fetch.locate_embedded(_file(language), "items")).rows()
    header = next(rows).fields
    return tuple(_stimulus(dict(zip(header, row.fields, strict=True)), language, row) for row in rows)


def _stimulus(values: dict[str, str], language: Language, row: Row) -> Stimulus:
    start, end = int(values["start"]), int(values["end"])
    check_span(values["sentence"], start, end, values["word"], place=row.place())
    usage = Usage(
        values["sentence"], start, end, lemma=values["word"], pos="NOUN", language=language, sense=values["sense"]
    )
    about_sentence: dict[str, Condition] = {name: values[name] for name in ("cue", "cue_pos", "gloss")}
    about_word: dict[str, Condition] = {name: values[name] for name in ("ambiguity", "cue_side", "gender")}
    about_word = {name: value for name, value in about_word.items() if value}
    return Stimulus(f"{language}-{values['stimulus_id']}", usage, about_sentence, about_word | {"language": language})


def _file(language: Language) -> DataFile:
    if language not in LANGUAGES:
        raise DataError(f"there are no mini items in {language!r}", hint=f"use one of {', '.join(LANGUAGES)}")
    return CARD.files[LANGUAGES.index(language)]
