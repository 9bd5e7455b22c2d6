"""AIDA-YAGO2-dataset.tsv: news texts with names linked to YAGO2 and Wikipedia, and their candidate pages.

One token per line; ``-DOCSTART- (1 EU)`` begins a document, an empty line ends a sentence. The line of a token in a
mention has further columns: B or I, the whole mention, the YAGO2 entity or ``--NME--``, and, if it is linked, the
Wikipedia URL, the Wikipedia id, and perhaps the Freebase id.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.corpora.linked_text import Line, LinkedText, Mention, json_lines
from lexiscope.resources.tables.plain_lines import read_lines

NOT_IN_KB = "--NME--"
_START = re.compile(r"-DOCSTART- \((\d+)(testa|testb)? ?(.*)\)\Z")
_PAGE = re.compile(r"https?://en\.wikipedia\.org/wiki/(\S+)\Z")
_LONGEST = 7


@dataclass(slots=True)
class _OpenDocument:
    """The document that is being read: its text so far, and its mentions with their letters."""

    document_id: str
    split: str
    title: str
    text: str = ""
    ends_sentence: bool = False
    mentions: list[tuple[Mention, str]] = field(default_factory=list)

    def add(self, cells: list[str]) -> str | None:
        """Add a token; return what is wrong with its line, or ``None``."""
        joint = "" if not self.text else "\n" if self.ends_sentence else " "
        start = len(self.text) + len(joint)
        continues = cells[1:2] == ["I"] and not self.ends_sentence and bool(self.mentions)
        if continues and self.mentions[-1][0].end != len(self.text):
            continues = False
        self.text, self.ends_sentence = f"{self.text}{joint}{cells[0]}", False
        if len(cells) == 1:
            return None
        if not 4 <= len(cells) <= _LONGEST or cells[1] not in ("B", "I"):
            return "a token in a mention has 4 to 7 columns: token, B or I, mention, entity, URL, id, Freebase id"
        if cells[1] == "I" and not continues:
            return "I continues a mention, and none ends before this token"
        if continues:
            before, letters = self.mentions.pop()
            self.mentions.append((replace(before, end=len(self.text)), letters))
        else:
            self.mentions.append((Mention(start, len(self.text), *_linked(cells)), cells[2]))
        return None

    def linked_text(self) -> LinkedText:
        """Return the text with its mentions."""
        return LinkedText(
            self.document_id, self.text, tuple(mention for mention, _ in self.mentions), self.title, self.split
        )

    def wrong_letters(self) -> str | None:
        """Return what is wrong with the first mention whose tokens are not its letters, or ``None``."""
        for mention, letters in self.mentions:
            tokens = self.text[mention.start : mention.end]
            if "".join(tokens.split()) != "".join(letters.split()):
                return f"the tokens {tokens!r} are not the mention {letters!r}"
        return None


def read_aida_tsv(path: Path) -> Iterator[LinkedText]:
    """Iterate over the documents; ``split`` is train, testa or testb, a line of the text is a sentence.

    Tokens are joined by single spaces. A mention is linked to the title of its Wikipedia page (with underscores), else
    to its YAGO2 entity; ``--NME--`` gives a mention without ids.
    Errors: :class:`InputError` with file and line: no DOCSTART before the first token, another number of columns, I
    without B, letters of the tokens that are not those of the mention.
    """
    document: _OpenDocument | None = None
    lines = read_lines(path)
    for row, line in enumerate(lines.lines):
        start = _START.match(line.strip())
        if start is not None:
            if document is not None:
                yield _finished_document(path, row + 1, document)
            document = _OpenDocument(start[1], start[2] or "train", start[3])
        elif not line.strip():
            if document is not None:
                document.ends_sentence = True
        else:
            wrong = "no document begins before this line: -DOCSTART- (1 NAME)"
            fault = wrong if document is None or line.startswith("-DOCSTART-") else document.add(lines.split(row))
            if fault is not None:
                lines.refuse(row, fault, hint="get the file again")
    if document is not None:
        yield _finished_document(path, len(lines), document)


def _finished_document(path: Path, number: int, document: _OpenDocument) -> LinkedText:
    wrong = document.wrong_letters()
    if wrong is not None:
        what = f"document {document.document_id}, which ends before this line: {wrong}"
        raise InputError(what, place=Place(str(path), number), hint="get the file again")
    return document.linked_text()


def _linked(cells: list[str]) -> tuple[tuple[str, ...], str]:
    """Return the page of a mention, and the YAGO2 entity as its kind."""
    if cells[3] == NOT_IN_KB:
        return (), NOT_IN_KB
    page = _PAGE.match(cells[4]) if len(cells) > 4 else None
    return (unquote(page[1]) if page else cells[3],), cells[3]


# -- the mentions of AIDA with their candidate pages (PPRforNED), without the news text they belong to --------------


@dataclass(frozen=True, slots=True)
class CandidateMention:
    """A mention: its place, its page (``None`` = not in the knowledge base), and the pages that it may mean.

    ``candidates`` are titles with the number of links that lead to them, by descending number and then by title: the
    order does not show which one is right. ``printed`` is the mention as the news text has it. ``number`` counts the
    mentions of a document from 1.
    """

    document: int
    split: str
    number: int
    text: str
    printed: str
    page: str | None
    candidates: tuple[tuple[str, int], ...]


def read_candidates(path: Path) -> Iterator[CandidateMention]:
    """Iterate over the mentions of a file of JSON lines, compressed with gzip or not, in the order of the documents.

    Errors: :class:`InputError` with file and line: a field that is missing, a candidate that is no title with a count.
    """
    number, document = 0, -1
    for line in json_lines(path, _read_bytes):
        number, document = (number + 1 if line.integer("doc") == document else 1), line.integer("doc")
        page = line.text("gold") if line.has("gold") else None
        yield CandidateMention(
            document=document,
            split=line.text("split"),
            number=number,
            text=line.text("text"),
            printed=line.text("origText"),
            page=page,
            candidates=_candidates(line),
        )


def _candidates(line: Line) -> tuple[tuple[str, int], ...]:
    candidates: list[tuple[str, int]] = []
    for candidate in line.values("candidates"):
        if not (
            isinstance(candidate, list)
            and len(candidate) == 2
            and isinstance(candidate[0], str)
            and isinstance(candidate[1], int)
        ):
            raise line.error(f"{candidate!r} is not a candidate: a title and a number of links")
        candidates.append((candidate[0], candidate[1]))
    return tuple(sorted(candidates, key=lambda candidate: (-candidate[1], candidate[0])))


def _read_bytes(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        hint = "get the file again"
        raise InputError("this file cannot be unpacked", place=Place(str(path)), why=str(error), hint=hint) from error
