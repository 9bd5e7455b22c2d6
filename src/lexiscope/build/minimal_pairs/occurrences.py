"""Sense-tagged words in their sentences, from a corpus or the user's own table; and the sources of a build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.code_file import existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import sha256_of
from lexiscope.core.usage import check_span, locate
from lexiscope.items.tables.spreadsheet import SheetRow, read_sheet
from lexiscope.resources import fetch
from lexiscope.resources.cards import SEMCOR, WORDNET
from lexiscope.resources.corpora import semcor
from lexiscope.resources.corpora.semcor import is_name
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG, Sentence, UnifiedCorpus
from lexiscope.resources.lexicons.lexicon import Lexicon, Pos
from lexiscope.resources.lexicons.wn_lexicon import open_lexicon

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
        what = f"the span {span[0]}:{span[1]} is not inside a sentence of {len(text)} characters"
        raise InputError(what, code="E103", place=row.place("start"), hint="count characters from 0, end excluded")
    if row.cells.get("target"):
        check_span(text, *span, target, place=row.place("target"))
    return span


def _number(row: SheetRow, column: str) -> int:
    cell = row.cells.get(column, "")
    if not cell.isdecimal():
        what = f"{cell!r} in the column {column!r} is not a whole number"
        raise InputError(what, code="E106", place=row.place(column), hint="give start and end, or neither")
    return int(cell)


def _pos(row: SheetRow, default: Pos) -> str:
    cell = row.cells.get("pos") or default
    pos = POS_OF_TAG.get(cell.upper(), cell)
    if pos not in POS_OF_TAG.values():
        hint = f"use {', '.join(POS_OF_TAG.values())} or {', '.join(POS_OF_TAG)}"
        raise InputError(f"{cell!r} is not a part of speech", code="E461", place=row.place("pos"), hint=hint)
    return pos


# -- what ``lexiscope build`` works on: a corpus, a lexicon, a list of nouns, each with its checksum ----------------


_TABLES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """Tagged words, the sha256 of the files from which they come, and their licence where it is known."""

    name: str
    occurrences: Iterator[TaggedOccurrence]
    checksums: Mapping[str, str]
    licence: str = ""


def open_corpus(name: str, pos: Pos = "n") -> CorpusSource:
    """Return the corpus that ``--corpus`` names: ``semcor``, a folder in the unified layout, or a table.

    *pos* is the part of speech of a table's words where it does not say.

    Errors: those of :func:`~lexiscope.resources.corpora.semcor.load` and
    :func:`~lexiscope.build.minimal_pairs.occurrences.read_occurrences`; :class:`InputError` for a folder without a
    corpus.
    """
    path = Path(name)
    if name != "semcor" and not path.is_dir():
        table = existing_file(path)
        if path.suffix.lower() not in _TABLES:
            hint = f"give semcor, a folder in the unified layout, or a table ({', '.join(_TABLES)})"
            raise InputError("this corpus cannot be read", place=Place(str(path)), hint=hint)
        return CorpusSource(path.name, iter(read_occurrences(table, pos)), {path.name: sha256_of(table)})
    corpus = semcor.load() if name == "semcor" else _in_folder(path)
    checksums = {file.name: sha256_of(file) for file in (corpus.data, corpus.keys)}
    licence = SEMCOR.licence if name == "semcor" else ""
    return CorpusSource(corpus.data.name.partition(".")[0], corpus_occurrences(corpus), checksums, licence)


def open_named_lexicon(spec: str) -> tuple[Lexicon, Mapping[str, str]]:
    """Return the lexicon that ``--lexicon`` names, and the sha256 of its files where these are known by name.

    Errors: those of :func:`~lexiscope.resources.lexicons.wn_lexicon.open_lexicon`.
    """
    path = Path(spec)
    if path.exists():
        spec = f"wordnet:{spec}"
    lexicon = open_lexicon(spec)
    if spec == "wordnet":
        return lexicon, {file.path.name: file.sha256 for file in fetch.locate_all(WORDNET)}
    return lexicon, {path.name: sha256_of(path)} if path.is_file() else {}


def read_nouns(path: Path) -> tuple[str, ...]:
    """Return a list of nouns, one per line, in its order.

    Errors: :class:`InputError` E001, E002 or E003 with the file.
    """
    try:
        lines = existing_file(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("this list is not UTF-8", code="E003", place=Place(str(path)), hint="save it so") from error
    return tuple(line.strip() for line in lines if line.strip())


def _in_folder(folder: Path) -> UnifiedCorpus:
    """The one corpus of a folder: ``*.data.xml`` and ``*.gold.key.txt``, as they are or compressed."""
    data = sorted({*folder.glob("*.data.xml"), *folder.glob("*.data.xml.gz")})
    keys = sorted({*folder.glob("*.gold.key.txt"), *folder.glob("*.gold.key.txt.gz")})
    if len(data) != 1 or len(keys) != 1:
        what = f"this folder holds {len(data)} files *.data.xml and {len(keys)} files *.gold.key.txt, not one of each"
        raise InputError(what, place=Place(str(folder)), hint="name a folder with one corpus in the unified layout")
    return UnifiedCorpus(data[0], keys[0])
