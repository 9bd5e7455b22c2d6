"""Any file of answers as one table of cells: in which spelling it is written, and which program wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.settings import ReadingOptions
from lexiscope.resources.platforms import annotation_tools, durel, experiments, lexiscope, qualtrics
from lexiscope.resources.platforms.layout import ProgramExport
from lexiscope.resources.tables.cells import CellTable, Report, cells_of_objects, cells_of_rows, json_objects
from lexiscope.resources.tables.parquet import cells_of_parquet, is_parquet
from lexiscope.resources.tables.spelling import Spelling, read_spelled

_OF_ROWS: tuple[Callable[[CellTable], ProgramExport | None], ...] = (
    qualtrics.layout_of,
    experiments.gorilla_layout,
    experiments.jspsych_layout,
    annotation_tools.potato_layout,
    annotation_tools.label_studio_layout,
    lexiscope.layout_of,
)


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file of answers: its table, and what its program says of the columns.

    ``program`` is the program whose export it is, empty for a plain table. ``fields`` are the columns by field (rater,
    item, rating …), as the program lays them out. ``notes`` are what a reader must know of how they were taken, ``own``
    the columns that the program adds to those of the study. ``doubt`` is an error unless the user names the columns.
    """

    table: CellTable
    program: str = ""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    doubt: InputError | None = None

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.table.header


def open_file(path: Path | str, options: ReadingOptions | None = None, report: Report | None = None) -> OpenedFile:
    """Return a file as a table, regardless of its encoding, its separator and the program that wrote it.

    Errors: those of :func:`~lexiscope.resources.tables.spelling.read_spelled` and of the reader of rows (given to
    *report*, if there is one); :class:`InputError` E006 for a condition on rows (``where``) of a column that is not
    there or that no row fulfils.
    """
    options = options or ReadingOptions()
    if is_parquet(path):
        opened = _of_program(_layout_of_rows(cells_of_parquet(path)))
        return replace(opened, table=_rows_where(opened.table, options.where))
    try:
        spelling, text = read_spelled(path, encoding=options.encoding, separator=options.separator)
        opened = _opened(path, spelling, text, report)
    except InputError as error:
        if report is None:
            raise
        report(error)
        return OpenedFile(CellTable(str(path), Spelling(), (), (), ()))
    return replace(opened, table=_rows_where(opened.table, options.where))


def plain_table(path: Path | str) -> CellTable:
    """Return a text table with its columns as they are, regardless of the program that wrote it.

    Errors: those of :func:`~lexiscope.resources.tables.spelling.read_spelled` and of the reader of rows.
    """
    return cells_of_rows(path, *read_spelled(path), None)


def _opened(path: Path | str, spelling: Spelling, text: str, report: Report | None) -> OpenedFile:
    if spelling.form == "comments":
        layout = experiments.pcibex_layout(path, spelling, text)
    elif spelling.separator == "\t" and durel.is_judgments(text):
        layout = durel.layout_of(path, spelling, text)
    elif spelling.form in ("json", "json_lines"):
        objects = json_objects(path, spelling, text)
        known = (
            annotation_tools.label_studio_layout_of_objects,
            annotation_tools.potato_layout_of_objects,
            experiments.jspsych_layout_of_objects,
        )
        layouts = (make(path, spelling, text, objects) for make in known)
        table = next((own for own in layouts if own is not None), None)
        layout = table or _layout_of_rows(cells_of_objects(path, spelling, text, objects))
    else:
        layout = _layout_of_rows(cells_of_rows(path, spelling, text, report))
    return _of_program(layout)


def _of_program(layout: ProgramExport) -> OpenedFile:
    return OpenedFile(layout.table, layout.program, layout.fields, layout.notes, layout.own, layout.doubt)


def _layout_of_rows(table: CellTable) -> ProgramExport:
    layouts = (make(table) for make in _OF_ROWS)
    return next((own for own in layouts if own is not None), ProgramExport(table))


def _rows_where(table: CellTable, pairs: Sequence[str]) -> CellTable:
    """The rows that have these values in these columns."""
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise InputError(f"{pair!r} is not of the form COLUMN=VALUE", hint="write --where phase=test")
        if name not in table.header:
            hint = f"Columns in the file: {', '.join(table.header)}"
            raise InputError(f"--where: no column is called {name!r}", code="E006", place=Place(table.path), hint=hint)
        kept = [number for number, cell in enumerate(table[name]) if cell.strip() == value]
        if not kept:
            there = ", ".join(list(dict.fromkeys(cell.strip() for cell in table[name]))[:10])
            what = f"--where: no row has {value!r} in the column {name}"
            raise InputError(what, code="E006", place=Place(table.path), hint=f"values of this column: {there}")
        table = table.kept(kept)
    return table
