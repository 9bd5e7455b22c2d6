"""Texts with mentions linked to pages or concepts: the form that all readers return, and the PubTator format.

Further readers are in ``linked_json`` and next to the datasets AIDA and COMETA; every span is checked against the
letters of its mention where the format gives them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.resources.tables.plain_lines import PlainLines, read_lines


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention at half-open character offsets, and the ids of what it is linked to.

    ``ids`` is empty where the knowledge base has nothing for it (NIL). Several ids: the annotators gave several.
    ``kind`` is the class of the mention where the format has one, ``name`` the name of what it is linked to, or
    the concept as the format writes it.
    """

    start: int
    end: int
    ids: tuple[str, ...] = ()
    kind: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A mention as published whose letters are not those at its offsets: it is set aside, not repaired."""

    path: str
    line: int
    document_id: str
    start: int
    end: int
    written: str
    at_offsets: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkedText:
    """A text with its mentions, in their order. ``split`` is the part of the corpus where the format names one."""

    document_id: str
    text: str
    mentions: tuple[Mention, ...]
    title: str = ""
    split: str = ""
    misplaced: tuple[Misplaced, ...] = ()


class Line:
    """An object of a file of JSON lines, whose fields are asked for by name and kind."""

    def __init__(self, path: Path, number: int, content: Mapping[str, Any]) -> None:
        self.path, self.number = path, number
        self._content = content

    def has(self, name: str) -> bool:
        """Return whether a field is there and not null."""
        return self._content.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field as text (a whole number is an id: its digits).

        Errors: :class:`InputError` with file and line where it is missing or something else.
        """
        value = self._content.get(name, default)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise self.error(f"the field {name!r} must be text, not {value!r}")
        return str(value)

    def values(self, name: str) -> list[Any]:
        """Return a field that is a list. Errors: as of :meth:`text`."""
        value = self._content.get(name)
        if not isinstance(value, list):
            raise self.error(f"the field {name!r} must be a list, not {value!r}")
        return value

    def objects(self, name: str) -> list[Line]:
        """Return a field that is a list of objects. Errors: as of :meth:`text`."""
        values = self.values(name)
        if not all(isinstance(value, dict) for value in values):
            raise self.error(f"the field {name!r} must be a list of objects")
        return [Line(self.path, self.number, value) for value in values]

    def integer(self, name: str) -> int:
        """Return a field that is a whole number. Errors: as of :meth:`text`."""
        value = self._content.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"the field {name!r} must be a whole number, not {value!r}")
        return value

    def span(self, span: object, text: str, written: str | None = None) -> tuple[int, int]:
        """Return a pair of offsets after checking them against the text (and the letters of the mention).

        Errors: :class:`InputError` with file and line: no pair, outside the text, other letters.
        """
        pair = span if isinstance(span, list | tuple) else ()
        if (
            len(pair) != 2
            or not all(isinstance(offset, int) for offset in pair)
            or not 0 <= pair[0] < pair[1] <= len(text)
        ):
            raise self.error(f"{span!r} is not a span of a text of {len(text)} characters")
        start, end = pair
        if written is not None and text[start:end] != written:
            raise self.error(f"the text at {start}:{end} is {text[start:end]!r}, not the mention {written!r}")
        return start, end

    def error(self, what: str) -> InputError:
        """Return an error about this line."""
        hint = "get the file again, or correct the line"
        return InputError(what, code="E101", place=Place(str(self.path), self.number), hint=hint)


def json_lines(path: Path, opened: Callable[[Path], bytes] = Path.read_bytes) -> Iterator[Line]:
    """Iterate over the objects of a file with one JSON object in every line; empty lines are passed over.

    Errors: :class:`InputError` with file and line: not UTF-8, not JSON, no object, no line at all.
    """
    raws = opened(path).split(b"\n")
    if not any(raw.strip() for raw in raws):
        raise InputError("this file is empty", place=Place(str(path), 1), hint="get it again")
    for number, raw in enumerate(raws, start=1):
        if not raw.strip():
            continue
        try:
            content = parse_json(raw)
        except ValueError as error:
            place = Place(str(path), number)
            raise InputError("this line is not JSON in UTF-8", place=place, why=str(error)) from error
        if not isinstance(content, dict):
            raise InputError("this line is not a JSON object", place=Place(str(path), number))
        yield Line(path, number, cast("Mapping[str, Any]", content))


# -- pubtator -------------------------------------------------------------------------------------------------------
# Medical corpora in the PubTator format (NCBI Disease, MedMentions, BC5CDR): abstracts with concept ids.
#
# A document is ``pmid|t|title``, ``pmid|a|abstract``, and a line for each mention: pmid, start, end, mention, class and
# concept, divided by tabs. Offsets count characters of title, one separator and abstract.


_PASSAGE = re.compile(r"([^|\t]+)\|([ta])\|(.*)\Z", re.DOTALL)
_DIVIDERS = re.compile(r"[|+,;]")
_NONE = frozenset({"", "-1", "-"})
_CELLS = 6


def read_pubtator(path: Path) -> Iterator[LinkedText]:
    """Iterate over the documents, in the order of the file; one that comes twice is given twice.

    A concept of several ids (``D003110|D009369``) gives them all; as it is written it is the ``name``. A mention whose
    letters are not those at its offsets is kept in ``misplaced``.
    Errors: :class:`InputError` with file and line: a line that is neither passage nor mention, a mention without its
    document, offsets that are no numbers.
    """
    lines = read_lines(path)
    block: list[int] = []
    for row, line in enumerate(lines.lines):
        if line.strip():
            block.append(row)
        elif block:
            yield _parse_document(lines, block)
            block = []
    if block:
        yield _parse_document(lines, block)


def concept_ids(cell: str) -> tuple[str, ...]:
    """Return the ids of a concept, in their order, each once.

    >>> concept_ids(" D001943|D010051"), concept_ids("OMIM:101400+OMIM:123500"), concept_ids("-1")
    (('D001943', 'D010051'), ('OMIM:101400', 'OMIM:123500'), ())
    """
    ids = (part.strip() for part in _DIVIDERS.split(cell))
    return tuple(dict.fromkeys(concept for concept in ids if concept not in _NONE))


def _parse_document(lines: PlainLines, block: list[int]) -> LinkedText:
    passages: dict[str, str] = {}
    document = ""
    rows = []
    for row in block:
        passage = _PASSAGE.match(lines.lines[row])
        if passage is None:
            rows.append(row)
            continue
        if (passages and passage[1] != document) or passage[2] in passages or rows:
            lines.refuse(row, "a passage of another document is here, or one occurs twice")
        document, passages[passage[2]] = passage[1], passage[3]
    if "t" not in passages:
        lines.refuse(block[0], "this document has no title line (pmid|t|title)")
    text = f"{passages['t']} {passages.get('a', '')}"
    mentions: list[Mention] = []
    misplaced: list[Misplaced] = []
    for row in rows:
        mention = _mention(lines, row, document, text)
        (mentions if isinstance(mention, Mention) else misplaced).append(mention)  # type: ignore[arg-type]
    return LinkedText(document, text, tuple(mentions), passages["t"], misplaced=tuple(misplaced))


def _mention(lines: PlainLines, row: int, document: str, text: str) -> Mention | Misplaced:
    cells = lines.split(row)
    if len(cells) != _CELLS or cells[0] != document or not cells[1].isdecimal() or not cells[2].isdecimal():
        lines.refuse(row, f"no mention of {document}: pmid, start, end, mention, class, concept")
    start, end, ids = int(cells[1]), int(cells[2]), concept_ids(cells[5])
    if text[start:end] != cells[3] or start >= end:
        return Misplaced(lines.path, row + 1, document, start, end, cells[3], text[start:end], ids)
    return Mention(start, end, ids, cells[4], cells[5].strip())
