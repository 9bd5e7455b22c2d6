"""What was understood of a file: its spelling, which column is what, and what its texts for no answer are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.core.showing import counted, listed
from lexiscope.resources.platforms.opened import OpenedFile
from lexiscope.resources.tables.cells import CellTable

_MOST_COLUMNS, _IN_LINE = 6, 3
_LONGEST = 24


@dataclass(frozen=True, slots=True)
class TakenField:
    """A field, the columns that it was taken from, and what is in two rows of the file."""

    field: str
    columns: tuple[str, ...]
    examples: tuple[str, ...] = ()

    @classmethod
    def of(cls, field: str, table: CellTable, *columns: str, rows: Sequence[int] = (0, 1)) -> TakenField:
        """Return a field with its examples in these rows of a table."""
        cells = [[table[name][row] for name in columns] for row in rows if row < len(table)]
        return cls(field, columns, tuple(" | ".join(row) for row in cells))

    def __str__(self) -> str:
        shown = ", ".join(self.columns[:_MOST_COLUMNS])
        more = len(self.columns) - _MOST_COLUMNS
        if more > 0:
            shown = f"{', '.join(self.columns[: _MOST_COLUMNS - 1])} … {self.columns[-1]} ({len(self.columns)} columns)"
        examples = "; ".join(_short(text) for text in self.examples)
        return ": ".join(filter(None, (shown, examples)))


@dataclass(frozen=True, slots=True)
class Understanding:
    """What was understood of a file, for people to read before it is used.

    ``program`` is the program that wrote it, ``layout`` what a row is, ``missing`` the texts that mean no answer with
    their counts, ``scale`` the range of the ratings, ``unused`` the columns without a part in the analysis, ``notes``
    what was excluded and why, ``warnings`` what may be wrong with the data.
    """

    path: str
    encoding: str = ""
    separator: str = ""
    decimal: str = ""
    layout: str = ""
    program: str = ""
    taken: tuple[TakenField, ...] = ()
    missing: tuple[tuple[str, int], ...] = ()
    scale: str = ""
    sizes: str = ""
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of a screen, each as a head and a text; heads without a text are excluded."""
        of = f" ({self.program} export)" if self.program else ""
        missing = ", ".join(f"{text or 'empty'} {n:,}" for text, n in self.missing)
        n_missing = sum(n for _, n in self.missing)
        rows = [
            ("File", f"{self.path}{of}"),
            ("Encoding", self.encoding),
            ("Separator", self.separator),
            ("Decimal sign", self.decimal),
            ("Layout", self.layout),
            *((taken.field, str(taken)) for taken in self.taken),
            ("No answer", f"{n_missing:,} ({missing})" if missing else "none"),
            ("Scale", self.scale),
            ("Size", self.sizes),
            ("Unused columns", ", ".join(self.unused)),
        ]
        return [(head, text) for head, text in rows if text]

    def summary(self) -> str:
        """Return one line: the columns, and anything else of the file that is not the most usual."""
        fields: dict[str, list[str]] = {}
        for taken in self.taken:
            if taken.columns:
                more = f" … ({len(taken.columns)} columns)" if len(taken.columns) > _IN_LINE else ""
                fields.setdefault(taken.field.lower(), []).append(" + ".join(taken.columns[:_IN_LINE]) + more)
        columns = ", ".join(
            f"{name}{'s' if len(texts) > 1 else ''} = {listed(texts, _IN_LINE)}" for name, texts in fields.items()
        )
        usual = {"UTF-8", "UTF-8, with byte-order mark", "comma", "one row per rating"}
        read = [text for text in (self.encoding, self.separator, self.layout) if text and text not in usual]
        read += ["decimal comma"] if self.decimal == "comma" else []
        read.insert(0, f"{self.program} export") if self.program else None
        return f"Columns: {columns}." + (f" Read as: {'; '.join(read)}." if read else "")


def understood(opened: OpenedFile, *, decimal: str = "", layout: str = "") -> Understanding:
    """Return what is known of a file once it is opened; what its columns are is added by its reader."""
    spelling = opened.table.spelling
    return Understanding(
        opened.table.path,
        encoding=spelling.encoding_name,
        separator=spelling.form_name,
        decimal=decimal,
        layout=layout,
        program=opened.program,
        notes=opened.notes,
    )


def reading_remark(opened: OpenedFile | None) -> tuple[str, ...]:
    """Return one sentence on a file that is not plain UTF-8 of the user's own making; none for one that is."""
    if opened is None:
        return ()
    spelling = opened.table.spelling
    read = [f"{opened.program} export"] if opened.program else []
    read += [spelling.encoding_name] if spelling.encoding != "utf-8" else []
    return (*((f"{opened.table.path} was read as: {', '.join(read)}.",) if read else ()), *opened.notes)


def missing_texts(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the texts for no answer with their counts, the most frequent first.

    >>> missing_texts({"": 3, "-": 40})
    (('-', 40), ('', 3))
    """
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def sizes_of(n_ratings: int, n_items: int, n_raters: int, *, choices: bool = False) -> str:
    """Return how many ratings, items and raters there are, as text.

    >>> sizes_of(10639, 812, 131)
    '10,639 ratings of 812 items by 131 raters'
    """
    if not n_raters:
        return f"{counted(n_ratings, 'mean rating')} of {counted(n_items, 'item')}"
    what = counted(n_ratings, "choice" if choices else "rating")
    return f"{what} of {counted(n_items, 'item')} by {counted(n_raters, 'rater')}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
