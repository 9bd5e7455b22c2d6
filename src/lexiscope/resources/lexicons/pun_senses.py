"""Puns with both their meanings, in the layout of SemEval-2017 task 7, subtask 3 (homographic puns).

A line of the gold file is ``hom_1_10<TAB>key;key<TAB>key``: the word that is punned on, and the WordNet sense keys of
its two meanings, several where annotators found them equally good. The words themselves are in the XML file of the set
(``<word id="hom_1_10">``); without it, the form is the lemma of the first key. The data have a separate licence (CC
BY-NC): they are read from the user's copy and never shipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.tables.plain_lines import read_lines

_KEY = re.compile(r"\S+%[1-5]:\d\d:\d\d:\S*:\S*")
_CELLS = 3
_GOLD_HINT = "a line is: id of the word, tab, sense keys of one meaning, tab, sense keys of the other"


@dataclass(frozen=True, slots=True)
class PunSenses:
    """A word that is punned on, as it is in its text, and the sense keys of its two meanings, the best first."""

    word_id: str
    form: str
    meanings: tuple[tuple[str, ...], tuple[str, ...]]


def lemma_of_key(sense_key: str) -> str:
    """Return the lemma of a sense key, words apart.

    >>> lemma_of_key("draw_up%2:36:00::")
    'draw up'
    """
    return sense_key.partition("%")[0].replace("_", " ")


def read_pun_senses(gold: Path | str, texts: Path | str | None = None) -> tuple[PunSenses, ...]:
    """Return the puns of a gold file in its order, with the words of the XML file *texts*.

    Errors: :class:`InputError` with file and line for a line that is none, a word that occurs twice, a word that the
    XML file does not have, and an XML file that is none.
    """
    forms = None if texts is None else _forms(Path(texts))
    puns: dict[str, PunSenses] = {}
    lines = read_lines(Path(gold))
    for row, line in enumerate(lines.lines):
        if line.strip():
            pun = _pun(lines.split(row), forms, lines.place(row))
            if pun.word_id in puns:
                lines.refuse(row, f"the word {pun.word_id!r} occurs twice")
            puns[pun.word_id] = pun
    return tuple(puns.values())


def _pun(cells: list[str], forms: Mapping[str, str] | None, place: Place) -> PunSenses:
    if len(cells) != _CELLS or not cells[0].strip():
        raise InputError("this line has not three cells", place=place, hint=_GOLD_HINT)
    first, second = (tuple(key.strip() for key in cell.split(";") if key.strip()) for cell in cells[1:])
    for key in (*first, *second):
        if not _KEY.fullmatch(key):
            raise InputError(f"{key!r} is not a sense key", place=place, hint=_GOLD_HINT)
    if not first or not second:
        raise InputError("this word has only one meaning", place=place, hint=_GOLD_HINT)
    word_id = cells[0].strip()
    if forms is not None and word_id not in forms:
        raise InputError(f"the texts have no word {word_id!r}", place=place, hint="name the XML file of the same set")
    return PunSenses(word_id, lemma_of_key(first[0]) if forms is None else forms[word_id], (first, second))


def _forms(path: Path) -> dict[str, str]:
    """Return the words of the XML file by their ids."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError("this file cannot be read", place=Place(str(path)), why=str(error)) from error
    reader = _Words(path)
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        place = Place(str(path), error.lineno, error.offset + 1)
        raise InputError("this is not XML", place=place, why=expat.errors.messages[error.code]) from error
    return reader.forms


class _Words:
    """What an XML parser has read: the text of every element *word*, by its id."""

    def __init__(self, path: Path) -> None:
        self.forms: dict[str, str] = {}
        self._path, self._id = path, ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.CharacterDataHandler = self._text
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._refuse_entity

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._id = attributes.get("id", "") if name == "word" else ""
        if self._id:
            self.forms[self._id] = ""

    def _text(self, text: str) -> None:
        if self._id:
            self.forms[self._id] += text

    def _end(self, _name: str) -> None:
        self._id = ""

    def _refuse_entity(self, name: str, *_: object) -> None:
        # entities that are made of entities can fill any memory
        place = Place(str(self._path), self.parser.CurrentLineNumber)
        raise InputError(f"the entity &{name}; is declared", place=place, hint="write the text in its place")
