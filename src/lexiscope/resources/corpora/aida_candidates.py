"""The mentions of AIDA with their candidate pages (PPRforNED), without the news text they belong to."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.corpora.linked_text import Line, json_lines


@dataclass(frozen=True, slots=True)
class CandidateMention:
    """A mention: its place, its page (``None`` = not in the knowledge base), and the pages that it may mean.

    ``candidates`` are titles with the number of links that lead to them, by falling number and then by title: the order
    says nothing of which one is right. ``printed`` is the mention as the news text has it. ``number`` counts the
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
            raise line.error(f"{candidate!r} is no candidate: a title and a number of links")
        candidates.append((candidate[0], candidate[1]))
    return tuple(sorted(candidates, key=lambda candidate: (-candidate[1], candidate[0])))


def _read_bytes(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        hint = "get the file again"
        raise InputError("this file cannot be unpacked", place=Place(str(path)), why=str(error), hint=hint) from error
