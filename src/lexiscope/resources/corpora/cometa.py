"""COMETA in its tab-separated format: terms of social media posts, linked to concepts of SNOMED CT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.corpora.linked_text import text_lines

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
class Term:
    """A term in an example post, and the concepts that it is linked to: the general one, and that of its context."""

    term_id: str
    term: str
    general: tuple[str, str]
    specific: tuple[str, str]
    example: str
    line: int


def read_cometa(path: Path) -> Iterator[Term]:
    """Iterate over the rows of a file; nothing is quoted, so that a quotation mark is a part of the post.

    Errors: :class:`InputError` with file and line: a column that is missing, a row with too few or too many cells, an
    empty id, term or concept.
    """
    lines = text_lines(path)
    header = lines[0].split("\t")
    missing = [name for name in COLUMNS if header.count(name) != 1]
    if missing:
        what = f"the columns {', '.join(missing)} are not there once each"
        raise InputError(what, place=Place(str(path), 1, text=lines[0]), hint=f"the header is {', '.join(COLUMNS)}")
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            yield _term(path, number, line, header)


def _term(path: Path, number: int, line: str, header: list[str]) -> Term:
    values = [cell.strip() for cell in line.split("\t")]
    if len(values) != len(header):
        what = f"this row has {len(values)} cells, the header has {len(header)}"
        raise InputError(what, place=Place(str(path), number, text=line), hint="divide cells by one tab each")
    cells = dict(zip(header, values, strict=True))
    empty = [name for name in COLUMNS if not cells[name] and not name.endswith("Label")]
    if empty:
        raise InputError(f"the cell {empty[0]!r} is empty", place=Place(str(path), number, text=line))
    general, specific = (
        (cells[f"{kind} SNOMED ID"], cells[f"{kind} SNOMED Label"]) for kind in ("General", "Specific")
    )
    return Term(cells["ID"], cells["Term"], general, specific, cells["Example"], number)
