"""Sense-tagged words in their sentences: what candidates are found among, from a corpus or from a user's own table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.errors import InputError
from lexiscope.core.usage import check_span, locate
from lexiscope.items.tables.spreadsheet import SheetRow, read_sheet
from lexiscope.resources.corpora.semcor import is_name
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG, Sentence, UnifiedCorpus
from lexiscope.resources.lexicons.lexicon import Pos

COLUMNS = ("sentence", "lemma", "sense")
"""The columns that a table of tagged sentences must have."""


@dataclass(frozen=True, slots=True)
class TaggedOccurrence:
    """A word of a corpus that is tagged with senses, in its sentence.

    ``start`` and ``end`` are half-open character offsets into ``text``; in a *tokenised* text single spaces divide the
    tokens. ``n_tokens`` counts the corpus' own tokens (in SemCor a tagged expression of several words is one).
    ``is_name`` marks a name that is tagged as a person, a group or a place.
    """

    occurrence_id: str
    sentence_id: str
    text: str
    start: int
    end: int
    lemma: str
    pos: str
    senses: tuple[str, ...]
    n_tokens: int
    tokenised: bool = True
    is_name: bool = False

    @property
    def form(self) -> str:
        """The word as it is in the text."""
        return self.text[self.start : self.end]


def corpus_occurrences(corpus: UnifiedCorpus, pos: Pos | None = None) -> Iterator[TaggedOccurrence]:
    """Iterate over the tagged words of a corpus; with *pos* only over those of a part of speech.

    Errors: as of :meth:`~lexiscope.resources.corpora.unified_wsd.UnifiedCorpus.documents`.
    """
    for sentence in corpus.sentences():
        wanted = [n for n in sentence.instances if pos in (None, POS_OF_TAG.get(sentence.tokens[n].pos))]
        if wanted:
            yield from _in_sentence(sentence, wanted)


def read_occurrences(path: Path | str, pos: Pos = "n") -> tuple[TaggedOccurrence, ...]:
    """Read a table of sentences with a tagged word each (commas, semicolons or tabs; UTF-8).

    Columns: ``sentence``, ``lemma``, ``sense`` (keys of the lexicon, divided by blanks); ``start`` and ``end``
    (half-open character offsets) or ``target`` (the word as it is there, once; default: the lemma); ``pos`` (n, v,
    a, r, or a universal tag; default: *pos*); ``sentence_id`` (default: one per distinct text); ``n_tokens`` (default:
    the parts between blanks).

    Errors: :class:`InputError` with file and line: those of :func:`~lexiscope.items.tables.spreadsheet.read_sheet`,
    E101 and E102 where the target is not in its sentence or not only once, E103 and E104 for a bad span, E105 for an
    empty cell, E106 for a number that is none, E461 for a part of speech that is none.
    """
    seen: dict[str, str] = {}
    rows = read_sheet(path, COLUMNS, what="a table of tagged sentences", ours=False)
    return tuple(_from_row(row, number, pos, seen) for number, row in enumerate(rows, start=1))


def _in_sentence(sentence: Sentence, places: list[int]) -> Iterator[TaggedOccurrence]:
    text, spans = sentence.text, sentence.spans
    for place in places:
        token, (start, end) = sentence.tokens[place], spans[place]
        yield TaggedOccurrence(
            occurrence_id=token.instance_id or f"{sentence.sentence_id}.{place}",
            sentence_id=sentence.sentence_id,
            text=text,
            start=start,
            end=end,
            lemma=token.lemma,
            pos=POS_OF_TAG.get(token.pos, ""),
            senses=token.sense_keys,
            n_tokens=len(sentence.tokens),
            is_name=is_name(token),
        )


def _from_row(row: SheetRow, number: int, pos: Pos, seen: dict[str, str]) -> TaggedOccurrence:
    empty = [name for name in COLUMNS if not row.cells[name]]
    if empty:
        hint = "fill the cell or remove the row"
        raise InputError(f"the cell of {empty[0]!r} is empty", code="E105", place=row.place(empty[0]), hint=hint)
    text = row.cells["sentence"]
    start, end = _span(row, text)
    sentence_id = row.cells.get("sentence_id") or seen.setdefault(text, f"s{len(seen) + 1}")
    return TaggedOccurrence(
        occurrence_id=row.cells.get("occurrence_id") or f"r{number}",
        sentence_id=sentence_id,
        text=text,
        start=start,
        end=end,
        lemma=row.cells["lemma"],
        pos=_pos(row, pos),
        senses=tuple(row.cells["sense"].split()),
        n_tokens=_number(row, "n_tokens") if row.cells.get("n_tokens") else len(text.split()),
        tokenised=False,
    )


def _span(row: SheetRow, text: str) -> tuple[int, int]:
    target = row.cells.get("target") or row.cells["lemma"]
    if not row.cells.get("start") and not row.cells.get("end"):
        return locate(text, target, place=row.place("sentence"))
    span = _number(row, "start"), _number(row, "end")
    if not 0 <= span[0] < span[1] <= len(text):
        what = f"the span {span[0]}:{span[1]} does not lie inside a sentence of {len(text)} characters"
        raise InputError(what, code="E103", place=row.place("start"), hint="count characters from 0, end excluded")
    if row.cells.get("target"):
        check_span(text, *span, target, place=row.place("target"))
    return span


def _number(row: SheetRow, column: str) -> int:
    cell = row.cells.get(column, "")
    if not cell.isdecimal():
        what = f"{cell!r} in the column {column!r} is no whole number"
        raise InputError(what, code="E106", place=row.place(column), hint="give start and end, or neither")
    return int(cell)


def _pos(row: SheetRow, default: Pos) -> str:
    cell = row.cells.get("pos") or default
    pos = POS_OF_TAG.get(cell.upper(), cell)
    if pos not in POS_OF_TAG.values():
        hint = f"use {', '.join(POS_OF_TAG.values())} or {', '.join(POS_OF_TAG)}"
        raise InputError(f"{cell!r} is no part of speech", code="E461", place=row.place("pos"), hint=hint)
    return pos
