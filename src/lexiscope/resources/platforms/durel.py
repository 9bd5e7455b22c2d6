"""DURel and WUG: usages (``uses.csv``) and judgments of pairs of usages (``judgments.csv``), one row for each rater.

Both files are text with tabs and without quotation: a quotation mark is a letter. Targets are character offsets
(``17:25``), ratings go from 1 (unrelated) to 4 (identical); 0 or a hyphen is "cannot decide".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.dataset import SetAside
from lexiscope.core.errors import InputError, Place
from lexiscope.core.showing import counted
from lexiscope.resources.platforms.layout import ProgramExport, is_number
from lexiscope.resources.tables.cells import CellTable
from lexiscope.resources.tables.plain_lines import PlainLines, plain_lines, read_lines
from lexiscope.resources.tables.rows import Row
from lexiscope.resources.tables.spelling import Spelling

PROGRAM = "DURel"
USES, JUDGMENTS, INSTANCES = "uses.csv", "judgments.csv", "instances.csv"
USE_COLUMNS = (
    *("lemma", "pos", "date", "grouping", "identifier", "description", "context"),
    *("indexes_target_token", "indexes_target_sentence"),
)
JUDGMENT_COLUMNS = ("identifier1", "identifier2", "annotator", "judgment", "comment", "lemma")
LOWEST, HIGHEST = 1, 4
ABOUT = ("identifier", "date", "grouping", "description", "target_sentence")
"""What a pair has of each usage in addition to its text, as columns ``identifier_1``, ``identifier_2`` and so on."""
_UNDECIDED = ("", "0", "0.0", "-")
_NEEDED = frozenset(JUDGMENT_COLUMNS[:4])
_NEEDED_USES = ("identifier", "context", "indexes_target_token")
_SPAN = re.compile(r"(\d+):(\d+)")
_OF_PAIR = ("sentence", "start", "end", "pos", *ABOUT)
_OF_BOTH = tuple(f"{part}_{side}" for side in (1, 2) for part in _OF_PAIR)
_HEADER = ("item_id", "lemma", *_OF_BOTH, "annotator", "judgment", "comment", "side")
SWAPPED = "swapped"
"""The side of a judgment whose row names the usages in the opposite order of the first row of its pair."""


@dataclass(frozen=True, slots=True)
class Use:
    """A usage as ``uses.csv`` has it. *Unit of start and end:* characters of the context, end excluded."""

    lemma: str
    pos: str
    date: str
    grouping: str
    identifier: str
    description: str
    context: str
    start: int
    end: int
    target_sentence: str
    line: int

    def cells(self) -> tuple[str, ...]:
        """Return what a pair has of it, in the order of the columns of a pair."""
        rest = (self.identifier, self.date, self.grouping, self.description, self.target_sentence)
        return (self.context, str(self.start), str(self.end), self.pos, *rest)


def is_judgments(text: str) -> bool:
    """Whether a text begins with the header of ``judgments.csv``."""
    return set(_names(plain_lines("", text[:_START]))) >= _NEEDED


def is_uses(text: str) -> bool:
    """Whether a text begins with the header of ``uses.csv``."""
    return set(_names(plain_lines("", text[:_START]))) >= set(_NEEDED_USES)


_START = 2000


def layout_of(path: Path | str, spelling: Spelling, text: str) -> ProgramExport:
    """Return the layout of ``judgments.csv``: each row with the texts and targets of its two usages.

    The usages are those of ``uses.csv`` in the same folder. Two usages are one item in whichever order a row names
    them; its first row gives the order of the item, and ``side`` is ``swapped`` in rows of the other order. A judgment
    of 0 is a row without a rating. An annotator may judge a pair
    repeatedly: the rows are in the order of judging.
    Errors: :class:`InputError` with file and line for a usage that ``uses.csv`` does not have (E210), a target that is
    not in its context (E103), a judgment that is not on the scale (E301), and a folder without ``uses.csv`` (E001).
    """
    lines = plain_lines(str(path), text)
    uses = read_uses(Path(path).parent / USES)
    names = _names(lines)
    columns: list[list[str]] = [[] for _ in _HEADER]
    rows: list[Row] = []
    first_order: dict[frozenset[str], tuple[str, str]] = {}
    n_undecided = 0
    for row, cells in lines.named_cells():
        sides = cells["identifier1"], cells["identifier2"]
        for name, identifier in zip(("identifier1", "identifier2"), sides, strict=True):
            if identifier not in uses:
                what = f"{USES} has no usage {identifier!r}"
                raise InputError(what, code="E210", place=lines.place(row, names.index(name)), hint=f"add it to {USES}")
        pair = first_order.setdefault(frozenset(sides), sides)
        judgment = _rating(cells["judgment"], lines.place(row, names.index("judgment")))
        n_undecided += not judgment
        both = [uses[identifier] for identifier in pair]
        lemma = both[0].lemma or cells.get("lemma", "")
        given = cells["annotator"], judgment, cells.get("comment", ""), SWAPPED if pair != sides else ""
        made = ("::".join(pair), lemma, *both[0].cells(), *both[1].cells(), *given)
        for column, cell in zip(columns, made, strict=True):
            column.append(cell)
        rows.append(_literal_row(lines, row))
    base = CellTable(
        str(path), spelling, tuple(names), tuple(zip(*(row.fields for row in rows), strict=True)) or ((),) * len(names),
        [row.line for row in rows], text, _rows=rows,
    )  # fmt: skip
    at = [names.index(_source(name)) if _source(name) in names else None for name in _HEADER]
    table = base.moved(_HEADER, columns, range(len(rows)), at)
    notes = [f"Texts and targets are those of {USES}. Scale: {LOWEST} (unrelated) to {HIGHEST} (identical)."]
    notes += [f"Without a rating: {counted(n_undecided, 'judgment')} of 0 (cannot decide)."] if n_undecided else []
    judged = {identifier for pair in first_order for identifier in pair}
    n_unjudged = len(uses.keys() - judged)
    if n_unjudged:
        where = f"{n_unjudged} of {counted(len(uses), 'usage')} in {USES}"
        notes.append(f"Without a judgment: {where}; items are the pairs that were judged.")
    fields = {"rater": ("annotator",), "item": ("item_id",), "rating": ("judgment",)}
    fields |= {"comment": ("comment",), "side": ("side",)}
    own = frozenset(f"{part}_{side}" for side in (1, 2) for part in _OF_PAIR if part != "grouping")
    return ProgramExport(table, PROGRAM, fields, tuple(notes), own)


def read_uses(path: Path) -> dict[str, Use]:
    """Return the usages of ``uses.csv`` by their identifier.

    Errors: :class:`InputError` with file and line for an identifier that is there twice (E211), offsets that are not of
    the form START:END or not in the context (E103); for a missing file or column (E001, E006).
    """
    if not path.is_file():
        what, hint = f"there is no {USES} next to {JUDGMENTS}", f"put {USES} of the same word into the folder"
        raise InputError(what, code="E001", place=Place(str(path)), hint=hint)
    lines = read_lines(path)
    names = _names(lines)
    absent = [name for name in _NEEDED_USES if name not in names]
    if absent:
        hint = f"columns of the file: {', '.join(names)}"
        raise InputError(f"no column {absent[0]!r}", code="E006", place=lines.place(0), hint=hint)
    uses: dict[str, Use] = {}
    context_at, span_at = names.index("context"), names.index("indexes_target_token")
    for row, cells in lines.named_cells():
        # offsets count from the first character of the cell, white space included
        context = lines.split(row)[context_at]
        start, end = _span(cells["indexes_target_token"], context, lines.place(row, span_at))
        identifier = cells["identifier"]
        if identifier in uses:
            what = f"two usages have the identifier {identifier!r}"
            place = lines.place(row, names.index("identifier"))
            raise InputError(what, code="E211", place=place, hint="give each usage a unique identifier")
        uses[identifier] = Use(
            lemma=cells.get("lemma", ""),
            pos=cells.get("pos", ""),
            date=cells.get("date", ""),
            grouping=cells.get("grouping", ""),
            identifier=identifier,
            description=cells.get("description", ""),
            context=context,
            start=start,
            end=end,
            target_sentence=cells.get("indexes_target_sentence", ""),
            line=row + 1,
        )
    return uses


def unjudged_uses(path: Path, judged: Collection[str]) -> Iterator[SetAside]:
    """Yield the rows of ``uses.csv`` whose identifier is not among those of *judged* usages.

    Errors: those of :func:`read_uses`.
    """
    for use in read_uses(path).values():
        if use.identifier not in judged:
            span = {"indexes_target_token": f"{use.start}:{use.end}", "indexes_target_sentence": use.target_sentence}
            cells = {**{name: getattr(use, name) for name in USE_COLUMNS[:7]}, **span}
            yield SetAside(str(path), use.line, "no judgment has this usage", tuple(cells.items()))


def word_folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders that hold ``judgments.csv``: the folder itself, or those of its words, sorted.

    Published WUGs have one folder for each word, in ``data``.
    """
    if (folder / JUDGMENTS).is_file():
        return (folder,)
    return tuple(sorted(path.parent for path in (*folder.glob(f"*/{JUDGMENTS}"), *folder.glob(f"data/*/{JUDGMENTS}"))))


def text_of(cells: Iterator[Mapping[str, str]], columns: tuple[str, ...]) -> str:
    """Return rows as the text of a file: tabs between cells, no quotation, a space for an empty cell.

    Tabs and line ends inside a cell become spaces, one for one, so that offsets stay those of the text.
    """
    rows = [columns, *(tuple(row[name] for name in columns) for row in cells)]
    return "".join("\t".join(_ENDS.sub(" ", cell) or " " for cell in row) + "\n" for row in rows)


_ENDS = re.compile(r"[\t\n\r]")


def _names(lines: PlainLines) -> list[str]:
    return [name.strip() for name in lines.split(0)] if len(lines) else []


def _source(name: str) -> str:
    """The column of ``judgments.csv`` that a cell of the table comes from."""
    return {"item_id": "identifier1"}.get(name, f"identifier{name[-1]}" if name[-2:] in ("_1", "_2") else name)


def _literal_row(lines: PlainLines, row: int) -> Row:
    fields = lines.split(row)
    begins, at = [], 0
    for cell in fields:
        begins.append(at)
        at += len(cell) + 1
    return Row(lines.path, row + 1, fields, lines.lines[row], "\t", tuple(begins))


def _rating(text: str, place: Place) -> str:
    """Return a judgment as a rating, empty if it is none."""
    if text in _UNDECIDED:
        return ""
    if not is_number(text) or not LOWEST <= float(text) <= HIGHEST:
        what = f"the judgment {text!r} is not on the scale {LOWEST} to {HIGHEST}"
        raise InputError(what, code="E301", place=place, hint="write 0 if the rater could not decide")
    # 3 and 3.0 are one rating, however a program wrote it
    return f"{float(text):g}"


def _span(text: str, context: str, place: Place) -> tuple[int, int]:
    match = _SPAN.fullmatch(text)
    if match is None:
        hint = "write START:END in characters of the context, such as 17:25; several parts are not read"
        raise InputError(f"{text!r} is not one span of characters", code="E103", place=place, hint=hint)
    start, end = int(match[1]), int(match[2])
    if not start < end <= len(context):
        what = f"the span {text} is not in the context, which has {len(context)} characters"
        raise InputError(what, code="E103", place=place, hint="count characters from 0, without the end")
    return start, end
