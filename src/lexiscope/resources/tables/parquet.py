"""A Parquet file as a table of texts."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.tables.cells import CellTable
from lexiscope.resources.tables.spelling import PARQUET, Spelling


def is_parquet(path: Path | str) -> bool:
    """Whether a file is Parquet by its name in any case, or by its first bytes."""
    path = Path(path)
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return path.suffix.casefold() == ".parquet" or stream.read(len(PARQUET)) == PARQUET


def cells_of_parquet(path: Path | str) -> CellTable:
    """Return a Parquet file as a table of texts; a row has its number in place of a line.

    Errors: :class:`InputError` E003 for a file that is damaged.
    """
    # Arrow takes long to import, and few files need it
    import pyarrow as pa
    import pyarrow.parquet as arrow_parquet

    try:
        table = arrow_parquet.read_table(Path(path))
    except (pa.ArrowException, OSError) as error:
        place = Place(str(path))
        raise InputError("this Parquet file cannot be read", code="E003", place=place, why=str(error)) from error
    columns = tuple([_parquet_text(value) for value in table.column(name).to_pylist()] for name in table.column_names)
    lines = range(1, table.num_rows + 1)
    return CellTable(str(path), Spelling(form="json", separator=""), tuple(table.column_names), columns, lines)


def _parquet_text(value: object) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)
