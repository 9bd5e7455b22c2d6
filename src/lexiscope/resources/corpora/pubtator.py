"""Medical corpora in the PubTator format (NCBI Disease, MedMentions, BC5CDR): abstracts with concept ids.

A document is ``pmid|t|title``, ``pmid|a|abstract``, and a line for each mention: pmid, start, end, mention, class and
concept, divided by tabs. Offsets count characters of title, one separator and abstract.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lexiscope.resources.corpora.linked_text import LinkedText, Mention, Misplaced
from lexiscope.resources.tables.plain_lines import PlainLines, read_lines

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
            lines.refuse(row, "a passage of another document stands here, or one comes twice")
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
