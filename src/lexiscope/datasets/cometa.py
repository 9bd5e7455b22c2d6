"""COMETA: health terms of social media posts, linked to concepts of SNOMED CT; to be obtained by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SetAside
from lexiscope.core.errors import SpanError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage, locate, occurrences
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.items.answers.sense_options import join_ids
from lexiscope.resources import fetch
from lexiscope.resources.tables.plain_lines import PlainLines, read_lines

Level = Literal["general", "specific"]
OPTIONS = ("level",)
"""What may follow the name: ``cometa?level=specific``."""
LEVELS: tuple[Level, ...] = ("general", "specific")
PARTS = ("train", "dev", "test")
FOLDER = "el/cometa/splits/stratified_general"
_FILES = tuple(DataFile(f"{FOLDER}/{part}.csv") for part in PARTS)

CARD = DatasetCard(
    name="cometa",
    title="COMETA: health terms in social media and their SNOMED CT concepts",
    task="entity_link",
    language="en",
    licence="by request for research; SNOMED CT has a separate licence",
    citation=(
        "M. Basaldella, F. Liu, E. Shareghi, N. Collier (2020). COMETA: A Corpus for Medical Entity Linking in the "
        "Social Media. EMNLP 2020, 3122-3137"
    ),
    source="https://github.com/cambridgeltl/cometa",
    version="the user's own",
    availability="obtain",
    summary="A health term in its post and its SNOMED CT concept; parts as in the folder of the split.",
    files=_FILES,
    how_to_obtain=(
        "ask for the corpus with the form of https://github.com/cambridgeltl/cometa (SNOMED CT needs a licence), put "
        f"the folder of a split (train.csv, dev.csv, test.csv) at {FOLDER} in a folder and set LEXISCOPE_DATA to it, "
        "or call cometa.load(FOLDER). A stand-in in the public domain is ncbi_disease"
    ),
    remarks=(
        "A row whose term is not exactly once in its example is set aside: no span gives the intended one.",
        "SNOMED CT describes concepts by their names alone: the search space has no descriptions.",
    ),
)


def load(folder: Path | None = None, *, level: Level = "general") -> Dataset:
    """Return the terms of the three files of a split; *level* says which concept is right.

    Errors: :class:`~lexiscope.core.errors.DataError` if the files are missing (how to obtain them);
    :class:`SpecError` for another level; :class:`~lexiscope.core.errors.InputError` with file and line for what is not
    in their format.
    """
    if level not in LEVELS:
        raise SpecError(f"cometa has no concepts of level {level!r}", hint=f"use {' or '.join(LEVELS)}")
    items: list[Item] = []
    aside: list[SetAside] = []
    files = _files(folder)
    for part, file in zip(PARTS, files, strict=True):
        for term in read_cometa(file.path):
            linked = _item(term, part, level)
            if isinstance(linked, Item):
                items.append(linked)
            else:
                aside.append(linked)
    checksums = tuple((pinned.path, file.sha256) for pinned, file in zip(_FILES, files, strict=True))
    return Dataset(CARD, tuple(items), ResponseTable.empty(), checksums, set_aside=tuple(aside))


def search_space(folder: Path | None = None, *, level: Level = "general") -> SearchSpace:
    """Return the concepts that any row of the files has, of one level: id and SNOMED CT's name, no description.

    Errors: those of :func:`load`.
    """
    concepts = dict(_concept_of(term, level) for file in _files(folder) for term in read_cometa(file.path))
    entries = (Entry(concept, name or concept) for concept, name in sorted(concepts.items()))
    return SearchSpace(f"{level} concepts of cometa", tuple(entries))


def _files(folder: Path | None) -> tuple[fetch.FetchedFile, ...]:
    if folder is not None:
        return tuple(fetch.own_file(folder / f"{part}.csv") for part in PARTS)
    return fetch.locate_all(CARD)


def _concept_of(term: LinkedTerm, level: Level) -> tuple[str, str]:
    return term.general if level == "general" else term.specific


def _item(term: LinkedTerm, part: str, level: Level) -> Item | SetAside:
    try:
        start, end = locate(term.example, term.term)
    except SpanError:
        why = (
            "the term is in its example more than once"
            if occurrences(term.example, term.term)
            else ("the term is not in its example")
        )
        cells = (("ID", term.term_id), ("Term", term.term), ("Example", term.example))
        return SetAside(f"{FOLDER}/{part}.csv", term.line, why, cells)
    conditions = {"split": part, "sentence": f"{part}:{term.line}", "level": level}
    usage = Usage(term.example, start, end, language="en")
    item_id = f"{CARD.name}/{part}/{term.line}"
    return Item(item_id, CARD.name, (usage,), gold=join_ids([_concept_of(term, level)[0]]), conditions=conditions)


COLUMNS = (
    "ID",
    "Term",
    "General SNOMED ID",
    "General SNOMED Label",
    "Specific SNOMED ID",
    "Specific SNOMED Label",
    "Example",
)
"""The columns of a file, in any order."""


@dataclass(frozen=True, slots=True)
class LinkedTerm:
    """A term in an example post, and the concepts that it is linked to: the general one, and that of its context."""

    term_id: str
    term: str
    general: tuple[str, str]
    specific: tuple[str, str]
    example: str
    line: int


def read_cometa(path: Path) -> Iterator[LinkedTerm]:
    """Iterate over the rows of a file; nothing is quoted, so that a quotation mark is a part of the post.

    Errors: :class:`InputError` with file and line: a column that is missing, a row with too few or too many cells, an
    empty id, term or concept.
    """
    lines = read_lines(path)
    header = [name.strip() for name in lines.split(0)]
    missing = [name for name in COLUMNS if header.count(name) != 1]
    if missing:
        what = f"the columns {', '.join(missing)} are not there once each"
        lines.refuse(0, what, hint=f"the header is {', '.join(COLUMNS)}")
    for row, cells in lines.named_cells():
        yield _term(lines, row, cells)


def _term(lines: PlainLines, row: int, cells: dict[str, str]) -> LinkedTerm:
    empty = [name for name in COLUMNS if not cells[name] and not name.endswith("Label")]
    if empty:
        lines.refuse(row, f"the cell {empty[0]!r} is empty")
    general, specific = (
        (cells[f"{kind} SNOMED ID"], cells[f"{kind} SNOMED Label"]) for kind in ("General", "Specific")
    )
    return LinkedTerm(cells["ID"], cells["Term"], general, specific, cells["Example"], row + 1)
