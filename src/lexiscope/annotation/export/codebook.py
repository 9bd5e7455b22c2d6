"""The codebook: every column of every table of an export, with its meaning, type, unit, range and levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.response import COLUMNS, SCHEMA, ResponseTable
from lexiscope.items.sheets.sheet import Sheet, SheetColumn, sheet_of
from lexiscope.items.tables.neutral import Cell

MOST_LEVELS = 40
"""A category with more levels than this is described by how many it has."""

_COLUMNS = (
    SheetColumn("file", "the file, beside which the same rows lie as JSON lines (.jsonl) or Parquet", "id"),
    SheetColumn("row_is", "what one row of the file is", "text"),
    SheetColumn("column", "the column", "id"),
    SheetColumn("meaning", "what its cells say", "text"),
    SheetColumn("type", "text, category (few levels), id, integer, number, truth (True or False), time", "category"),
    SheetColumn("unit", "unit of the cells", "text"),
    SheetColumn("low", "lowest value: by definition, else the lowest that occurs", "number"),
    SheetColumn("high", "highest value: by definition, else the highest that occurs", "number"),
    SheetColumn("levels", "the values that occur, joined by ' | '", "text"),
    SheetColumn("n", "cells that are not missing", "integer", low=0),
    SheetColumn("missing", "cells that are missing", "integer", low=0),
)

_RESPONSE_COLUMNS = (
    SheetColumn("subject_id", "random id of the participant", "id"),
    SheetColumn("subject_kind", "whose answer: participant, or simulated for a simulated participant", "category"),
    SheetColumn("item_id", "the item; completion_time for the time from the first trial to the last answer", "id"),
    SheetColumn("task", "the task", "category"),
    SheetColumn("measure", "what the value is; attention_check and qualification: 1 = right", "category"),
    SheetColumn("value", "the answer as a number, in the measure's own unit; ms for completion_time", "number"),
    SheetColumn("option", "the option chosen", "text"),
    SheetColumn("layer", "empty: layers are those of models", "integer"),
    SheetColumn("view", "empty where nothing but the full text was shown", "category"),
    SheetColumn("list_id", "the list", "category"),
    SheetColumn("position", "position of the trial within its phase, from 0", "integer", low=0),
    SheetColumn("repeat", "empty: no question is repeated", "integer"),
    SheetColumn("rt_ms", "response time", "number", "ms", 0),
    SheetColumn("answered_at", "when the answer was stored", "time", "UTC"),
    SheetColumn("raw", "the answer as it was given, where it was text", "text"),
    SheetColumn("scale", "of a rating: lowest and highest point of its scale, and its steps", "category"),
)


def responses_sheet(
    table: ResponseTable, file: str = "responses.csv", row_is: str = "one response as the statistics read it"
) -> Sheet:
    """Return a response table as a sheet, for the codebook alone: the table writes itself."""
    described = {column.name: column for column in _RESPONSE_COLUMNS}
    columns = tuple(described[name] for name in COLUMNS)
    times = SCHEMA.get_field_index("answered_at")
    cells = [table.arrow.column(column.name).to_pylist() for column in columns]
    cells[times] = [None if at is None else at.isoformat() for at in cells[times]]
    return Sheet(file, row_is, columns, tuple(zip(*cells, strict=True)))


def codebook(sheets: Sequence[Sheet]) -> Sheet:
    """Return the codebook of several tables; it describes itself last."""
    rows = [_codebook_row(sheet, column) for sheet in sheets for column in sheet.columns]
    own = sheet_of("codebook.csv", "one column of one file", _COLUMNS, rows)
    return replace(
        own, rows=(*own.rows, *sheet_of("", "", _COLUMNS, [_description_cells(own, c) for c in _COLUMNS]).rows)
    )


def range_of(sheet: Sheet, column: SheetColumn) -> tuple[Cell, Cell]:
    """Return the lowest and highest value of a column: by definition, else as they occur."""
    numbers = [cell for cell in sheet.column(column.name) if isinstance(cell, int | float) and cell == cell]
    if column.kind not in ("integer", "number") or not numbers:
        return column.low, column.high
    low = min(numbers) if column.low is None else column.low
    return low, max(numbers) if column.high is None else column.high


def levels_of(sheet: Sheet, column: SheetColumn) -> tuple[str, ...]:
    """Return the levels of a category or truth value, in order; free texts and ids have none."""
    if column.levels:
        return column.levels
    if column.kind not in ("category", "truth"):
        return ()
    texts = {str(cell) for cell in sheet.column(column.name) if cell is not None}
    # 2 before 10
    return tuple(sorted(texts, key=lambda text: (len(text), text) if text.isdecimal() else (0, text)))


def _codebook_row(sheet: Sheet, column: SheetColumn) -> dict[str, Cell]:
    cells = sheet.column(column.name)
    levels, (low, high) = levels_of(sheet, column), range_of(sheet, column)
    n = sum(cell is not None and cell == cell for cell in cells)
    listed = " | ".join(levels) if len(levels) <= MOST_LEVELS else f"{len(levels)} levels"
    values = {"low": low, "high": high, "levels": listed or None, "n": n, "missing": len(cells) - n}
    return _description_cells(sheet, column) | values


def _description_cells(sheet: Sheet, column: SheetColumn) -> dict[str, Cell]:
    return {
        "file": sheet.file,
        "row_is": sheet.row_is,
        "column": column.name,
        "meaning": column.meaning,
        "type": column.kind,
        "unit": column.unit or None,
    }
