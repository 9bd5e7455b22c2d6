"""Text files with a row per line and tabs between cells, read literally: no quoting, every line placed.

Quotation marks are letters like any other (a CSV reader would join lines at them), a line ends at LF or CR LF only
(other characters that Unicode counts as line ends stay in the text), and the last line need not have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.tables.delimited import read_text


@dataclass(frozen=True, slots=True)
class PlainLines:
    """The lines of a file, without their ends; rows count from 0, lines from 1."""

    path: str
    lines: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lines)

    def place(self, row: int, cell: int | None = None) -> Place:
        """Return where a row is, and with *cell* (from 0) where that cell begins in it."""
        line = self.lines[row]
        if cell is None:
            return Place(self.path, row + 1, text=line)
        *before, text = self.split(row)[: cell + 1]
        return Place(self.path, row + 1, sum(map(len, before)) + len(before) + 1, text=line, width=max(1, len(text)))

    def refuse(self, row: int, what: str, *, cell: int | None = None, hint: str = "") -> NoReturn:
        """Raise :class:`InputError` about a row or one of its cells."""
        raise InputError(what, place=self.place(row, cell), hint=hint or "correct the line, or fetch the file again")

    def split(self, row: int) -> list[str]:
        """Return the cells of a row, however many there are."""
        return self.lines[row].split("\t")

    def named_cells(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield each row after the first with its cells by the names in the first; blank lines are skipped.

        White space around a cell or name is removed.
        Errors: :class:`InputError` with the line where there are more or fewer cells than names.
        """
        names = [name.strip() for name in self.split(0)]
        for row in range(1, len(self)):
            if self.lines[row].strip():
                values = [cell.strip() for cell in self.split(row)]
                if len(values) != len(names):
                    what = f"this row has {len(values)} cells, the header has {len(names)}"
                    self.refuse(row, what, hint="divide cells by one tab each")
                yield row, dict(zip(names, values, strict=True))

    def cells(self, row: int, names: tuple[str, ...]) -> list[str]:
        """Return the cells of a row, as many as there are *names*.

        Errors: :class:`InputError` with the line where there are more or fewer.
        """
        cells = self.split(row)
        if len(cells) != len(names):
            wanted = f"{', '.join(names)} are needed, with a tab between them"
            self.refuse(row, f"this line has {len(cells)} cells, not {len(names)}: {wanted}")
        return cells

    def number(self, row: int, cell: int, text: str) -> int:
        """Return a cell's whole number.

        Errors: :class:`InputError` with line and column where it is none.
        """
        if not (text.isascii() and text.isdigit()):
            self.refuse(row, f"a whole number is needed here; there is {text!r}", cell=cell)
        return int(text)

    def one_of(self, row: int, text: str, meanings: Mapping[str, str], *, cell: int = 0) -> str:
        """Return what a cell's text means.

        Errors: :class:`InputError` with line and column where *meanings* does not have it.
        """
        if text not in meanings:
            self.refuse(row, f"one of {', '.join(meanings)} is needed here; there is {text!r}", cell=cell)
        return meanings[text]


def read_lines(path: Path) -> PlainLines:
    """Read a file whole.

    Errors: :class:`InputError` for one that cannot be read, is not UTF-8, or is empty.
    """
    text = read_text(path)
    if not text.strip():
        raise InputError("this file is empty", place=Place(str(path), 1), hint="fetch it again")
    return plain_lines(str(path), text)


def plain_lines(path: str, text: str) -> PlainLines:
    """Return the lines of a text that was read from *path*.

    >>> len(plain_lines("a.tsv", 'a\\tb\\r\\n"c\\td\\n'))
    2
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    return PlainLines(path, tuple(lines))


def expect_parallel(first: PlainLines, *others: PlainLines) -> None:
    """Check that files that go together line by line have the same number of lines.

    Errors: :class:`InputError` naming the file that is shorter or longer, and both numbers.
    """
    for other in others:
        if len(other) != len(first):
            raise InputError(
                f"this file has {len(other)} lines, {first.path} has {len(first)}",
                place=Place(other.path, min(len(other), len(first)) + 1),
                why="line n of one belongs to line n of the other",
                hint="a line is missing, or a file is cut off: fetch both again",
            )
