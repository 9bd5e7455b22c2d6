"""Texts in which mentions are linked to what they mention: pages, concepts. What all readers of such files return.

The readers are in ``aida_tsv``, ``cometa``, ``pubtator`` and ``linked_json``; every span is checked against the letters
of its mention where the format gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json


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
        """Say whether a field is there and not null."""
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
            raise self.error(f"{span!r} is no span of a text of {len(text)} characters")
        start, end = pair
        if written is not None and text[start:end] != written:
            raise self.error(f"at {start}:{end} stands {text[start:end]!r}, not the mention {written!r}")
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
            raise InputError("this line is no JSON object", place=Place(str(path), number))
        yield Line(path, number, cast("Mapping[str, Any]", content))
