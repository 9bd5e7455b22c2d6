"""COMETA in its tab-separated format: terms of social media posts, linked to concepts of SNOMED CT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lexiscope.resources.tables.plain_lines import PlainLines, read_lines

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
