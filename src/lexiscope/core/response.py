"""Responses: one tidy table for people and models, a row per answer.

A rating of a person is a row (``rating``, 4). A cosine distance at layer 7 is a row. A refusal or an unreadable
reply is a row whose ``value`` is missing and whose ``raw`` text is kept: never a missing row, never an imputed one.
Text that UTF-8 cannot hold is kept in letters; :func:`lexiscope.core.foreign.original_text` gives it back.
The table is columnar (Arrow), so that millions of rows need no Python loop (design/0003-response-table.md).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.foreign import storable_text
from lexiscope.core.run import write_atomically
from lexiscope.core.sealed import check_file
from lexiscope.core.showing import call_presenter, counted
from lexiscope.core.simulated import COLLECTED as COLLECTED
from lexiscope.core.simulated import PARTICIPANT, SIMULATED_ID, refuse_mixture
from lexiscope.core.simulated import SIMULATED as SIMULATED

SCHEMA = pa.schema(
    [
        pa.field("subject_id", pa.string(), nullable=False),
        pa.field("subject_kind", pa.string(), nullable=False),
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("measure", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("option", pa.string()),
        pa.field("layer", pa.int32()),
        pa.field("view", pa.string()),
        pa.field("list_id", pa.string()),
        pa.field("position", pa.int32()),
        pa.field("repeat", pa.int32()),
        pa.field("rt_ms", pa.float64()),
        pa.field("answered_at", pa.timestamp("us", tz="UTC")),
        pa.field("raw", pa.string()),
        pa.field("scale", pa.string()),
    ]
)
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)
ADDED: tuple[str, ...] = ("scale",)
"""Columns that tables of earlier versions lack: their cells are missing then."""
_NAMES_OF_PEOPLE = {PARTICIPANT: "participant", SIMULATED: "simulated participant"}
REQUIRED: tuple[str, ...] = ("subject_id", "subject_kind", "item_id", "task", "measure")


@dataclass(frozen=True, slots=True)
class Response:
    """One answer: its subject, item, measure and value.

    ``value`` is a number on the measure's own unit, or ``None`` where there was no readable answer. ``layer``: 0 =
    embeddings, 1..L. ``view``: which part of the input was shown (``full``, ``full+final_stop`` …). ``position``:
    place in the subject's order, from 0. ``repeat``: which repetition of the same question, from 0. ``rt_ms``:
    response time in milliseconds. ``answered_at``: UTC. ``scale``: of a rating, the scale on which it was asked, as
    :class:`~lexiscope.core.scale.Scale` prints it; empty where that was not stated.
    """

    subject_id: str
    subject_kind: str
    item_id: str
    task: str
    measure: str
    value: float | None = None
    option: str | None = None
    layer: int | None = None
    view: str | None = None
    list_id: str | None = None
    position: int | None = None
    repeat: int | None = None
    rt_ms: float | None = None
    answered_at: datetime | None = None
    raw: str | None = None
    scale: str | None = None


class ResponseTable:
    """An immutable table of responses with explicit columns.

    >>> table = ResponseTable.from_rows([Response("p1", "participant", "i1", "relatedness", "rating", 4.0)])
    >>> len(table), table.column("value").tolist(), table.where(subject_id="p2").column("value").tolist()
    (1, [4.0], [])
    """

    __slots__ = ("_table",)

    def __init__(self, table: pa.Table) -> None:
        self._table: pa.Table = _conform(table)

    # -- making -----------------------------------------------------------------------------------------------

    @classmethod
    def empty(cls) -> ResponseTable:
        """Return a table without rows."""
        return cls(SCHEMA.empty_table())

    @classmethod
    def from_rows(cls, rows: Iterable[Response]) -> ResponseTable:
        """Build a table from single responses (for small numbers; use :meth:`from_columns` for many)."""
        listed = list(rows)
        return cls.from_columns({name: [getattr(row, name) for row in listed] for name in COLUMNS})

    @classmethod
    def from_columns(cls, columns: Mapping[str, object]) -> ResponseTable:
        """Build a table from columns: arrays or lists of equal length, or one scalar for all rows.

        A missing value is ``None`` (NaN counts as missing in the numeric columns). Columns that are not given are
        empty. At least one column must be an array or a list: it sets the number of rows.
        Errors: :class:`InputError` for an unknown column, for lengths that differ, and for a cell of another type: the
        text ``"3"`` and ``True`` are no numbers.
        """
        unknown = set(columns) - set(COLUMNS)
        if unknown:
            raise InputError(f"unknown response columns: {', '.join(sorted(unknown))}", hint=f"use {COLUMNS}")
        lengths = {len(cast(Sized, value)) for value in columns.values() if _is_array(value)}
        if len(lengths) != 1:
            raise InputError(f"response columns need one common length, not {sorted(lengths)}")
        n_rows = lengths.pop()
        arrays = [_typed_column(columns.get(field.name), field, n_rows) for field in SCHEMA]
        return cls(_mark_simulated(pa.table(arrays, names=list(COLUMNS))))

    @classmethod
    def concat(cls, tables: Sequence[ResponseTable]) -> ResponseTable:
        """Return the rows of all tables, in order."""
        if not tables:
            return cls.empty()
        return cls(pa.concat_tables([table._table for table in tables]).combine_chunks())

    # -- looking ----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResponseTable) and bool(self._table.equals(other._table))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        subjects, items = len(self.unique("subject_id")), len(self.unique("item_id"))
        return f"ResponseTable({counted(len(self), 'row')}, {counted(subjects, 'subject')}, {counted(items, 'item')})"

    def frame(self) -> Any:
        """Return the responses as a pandas table, one response a row."""
        return call_presenter("frame_of", {name: self.column(name) for name in COLUMNS})

    def plot(self, measure: str = "", title: str = "") -> Any:
        """Return the distribution of the values of one measure as a figure: of people together, of each model.

        Without *measure* it is the rating, or the only measure there is.
        Errors: :class:`InputError` for several measures, and for one that the table does not have.
        """
        known = self.unique("measure")
        chosen = measure or ("rating" if "rating" in known else known[0] if len(known) == 1 else "")
        if chosen not in known:
            what = f"this table has no {chosen}" if chosen else f"this table has {counted(len(known), 'measure')}"
            raise InputError(what, hint=f"name one of them: {', '.join(known) or 'there are none'}")
        table, groups = self.where(measure=chosen), dict[str, Any]()
        for kind in table.unique("subject_kind"):
            own = table.where(subject_kind=kind)
            if kind in COLLECTED:
                people = counted(len(own.unique("subject_id")), _NAMES_OF_PEOPLE[kind])
                groups[people] = own.column("value")
            else:
                groups |= {name: own.where(subject_id=name).column("value") for name in own.unique("subject_id")}
        return call_presenter("plot_values", groups, chosen.replace("_", " "), title)

    def _repr_html_(self) -> str:
        # a notebook shows the first rows: only these are made into Python values
        columns = self._table.slice(0, 10).to_pydict()
        return cast(str, call_presenter("html_of", repr(self), columns, ""))

    @property
    def arrow(self) -> pa.Table:
        """The table as Arrow (no copy)."""
        return self._table

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column as a numpy array.

        Text is an object array with ``None`` for missing; every number is float64 with NaN for missing;
        ``answered_at`` is datetime64[us] with NaT.
        """
        column = self._table.column(_check_column(name))
        if pa.types.is_integer(column.type):
            column = column.cast(pa.float64())
        return np.asarray(column.to_numpy())

    def codes(self, name: str) -> tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[str, ...]]:
        """Return a text column as integer codes and its categories in order of first appearance (-1 = missing)."""
        encoded = pc.dictionary_encode(self._table.column(_check_column(name)).combine_chunks())
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        codes = pc.fill_null(encoded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
        return codes, tuple(encoded.dictionary.to_pylist())

    def unique(self, name: str) -> tuple[Any, ...]:
        """Return the distinct values of a column in order of first appearance."""
        return tuple(pc.unique(self._table.column(_check_column(name))).to_pylist())

    def by_item(self, name: str = "value") -> dict[str, Any]:
        """Return a column by item: of an item with several rows, what the last one holds."""
        return dict(zip(self.column("item_id").tolist(), self.column(name).tolist(), strict=True))

    def rows(self) -> Iterator[Response]:
        """Iterate over single responses (slow: for small tables and tests)."""
        for row in self._table.to_pylist():
            yield Response(**row)

    def unanswered(self, *, written: bool = False) -> ResponseTable:
        """Return the rows of one measure that hold no answer: no value; of choices, which have no values, no option.

        *written*: the measure's answers are texts; a row whose ``raw`` is empty has no answer.
        """
        if written:
            return self.where(raw=None)
        without = self.where(value=None)
        return without if len(without) < len(self) else without.where(option=None)

    # -- choosing ---------------------------------------------------------------------------------------------

    def where(self, **equal: object) -> ResponseTable:
        """Return the rows whose columns equal these values; a tuple or list means any of them, ``None`` missing."""
        mask: pa.ChunkedArray | None = None
        for name, wanted in equal.items():
            test = _equals(self._table.column(_check_column(name)), wanted)
            mask = test if mask is None else pc.and_(mask, test)
        return self if mask is None else ResponseTable(self._table.filter(mask))

    def filter(self, mask: np.ndarray[Any, Any]) -> ResponseTable:
        """Return the rows where the boolean *mask* (one entry a row) is true."""
        return ResponseTable(self._table.filter(pa.array(mask, type=pa.bool_())))

    def take(self, rows: np.ndarray[Any, Any]) -> ResponseTable:
        """Return the rows with these numbers, in this order."""
        return ResponseTable(self._table.take(pa.array(rows, type=pa.int64())))

    def sorted_by(self, *names: str) -> ResponseTable:
        """Return the rows in a stable order of these columns, missing values last."""
        return ResponseTable(self._table.sort_by([(_check_column(name), "ascending") for name in names]))

    def with_column(self, name: str, values: object) -> ResponseTable:
        """Return a table in which one column is replaced."""
        index = COLUMNS.index(_check_column(name))
        column = _typed_column(values, SCHEMA.field(index), len(self))
        return ResponseTable(self._table.set_column(index, SCHEMA.field(index), column))

    # -- files ------------------------------------------------------------------------------------------------

    def write_parquet(self, path: Path | str) -> None:
        """Write the table; the file appears whole or not at all. The same rows give the same bytes."""
        write_atomically(Path(path), self.parquet_bytes())

    def parquet_bytes(self) -> bytes:
        """Return the table as a Parquet file. The same rows give the same bytes."""
        sink = io.BytesIO()
        parquet.write_table(self._table, sink, compression="zstd", store_schema=True)
        return sink.getvalue()

    def write_csv(self, path: Path | str) -> None:
        """Write the table as UTF-8 CSV. Text is quoted, a missing value is bare: the round trip is exact."""
        sink = io.BytesIO()
        arrow_csv.write_csv(self._table, sink)
        write_atomically(Path(path), sink.getvalue())

    @classmethod
    def read_parquet(cls, path: Path | str) -> ResponseTable:
        """Read a table that :meth:`write_parquet` wrote; in the folder of a run it is checked first.

        Errors: :class:`RunError` if the file is damaged, :class:`InputError` if it is another table.
        """
        check_file(Path(path))
        try:
            table = parquet.read_table(Path(path))
            absent = [name for name in COLUMNS if name not in (*table.column_names, *ADDED)]
            if absent:
                hint = "of a Parquet file only a response table is read: save another table as CSV in UTF-8"
                raise InputError(f"not a response table: no column {absent[0]!r}", place=Place(str(path)), hint=hint)
            # text that is no UTF-8 would be found out much later, and nowhere near its file
            table.validate(full=True)
            return cls(_mark_simulated(table))
        except (pa.ArrowException, OSError, KeyError) as error:
            raise _damage_error(path, error) from error

    @classmethod
    def read_csv(cls, path: Path | str) -> ResponseTable:
        """Read a table that :meth:`write_csv` wrote.

        Errors: :class:`RunError` where the file is damaged, :class:`InputError` where columns are missing.
        """
        check_file(Path(path))
        options = arrow_csv.ConvertOptions(
            column_types=SCHEMA, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
        )
        try:
            # a row lies in one block: a reply may be longer than Arrow's block of 1 MiB
            block = max(2**20, Path(path).stat().st_size)
            table = arrow_csv.read_csv(
                Path(path),
                read_options=arrow_csv.ReadOptions(block_size=min(block, 2**31 - 1)),
                parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
                convert_options=options,
            )
        except (pa.ArrowException, OSError) as error:
            raise _damage_error(path, error) from error
        missing = [name for name in COLUMNS if name not in (*table.column_names, *ADDED)]
        extra = [name for name in table.column_names if name not in COLUMNS]
        if missing or extra:
            raise InputError(f"not a response table: missing {missing}, unknown {extra}", place=Place(str(path), 1))
        return cls(_mark_simulated(table))


def holds_simulated(table: ResponseTable, *, place: Place | None = None) -> bool:
    """Say whether the answers of a table are those of simulated participants instead of people.

    Errors: those of :func:`refuse_mixture`.
    """
    kinds = table.unique("subject_kind")
    refuse_mixture(kinds, place=place)
    return SIMULATED in kinds


def _mark_simulated(table: pa.Table) -> pa.Table:
    """Give the kind ``simulated`` to every row whose subject is a simulated participant by its id.

    Tables are marked where they are made or read, whatever file they came from: no reader can forget it.
    """
    if not {"subject_id", "subject_kind"} <= set(table.column_names) or not table.num_rows:
        return table
    ids, kinds = table.column("subject_id").cast(pa.string()), table.column("subject_kind")
    by_id = pc.fill_null(pc.starts_with(ids, SIMULATED_ID), False)
    if not pc.any(by_id).as_py():
        return table
    place = table.schema.get_field_index("subject_kind")
    return table.set_column(place, table.schema.field(place), pc.if_else(by_id, SIMULATED, kinds))


def has_columns(names: Sequence[str]) -> bool:
    """Say whether a header is that of a response table, of this version or of an earlier one."""
    return list(names) in (list(COLUMNS), [name for name in COLUMNS if name not in ADDED])


def _conform(table: pa.Table) -> pa.Table:
    for name in ADDED:
        if name not in table.column_names:
            table = table.append_column(SCHEMA.field(name), pa.nulls(table.num_rows, SCHEMA.field(name).type))
    for name in REQUIRED:
        if table.column(name).null_count:
            raise InputError(f"{table.column(name).null_count} responses lack {name!r}, which every answer has")
    return table.select(list(COLUMNS)).cast(SCHEMA) if table.schema != SCHEMA else table


def _check_column(name: str) -> str:
    if name not in COLUMNS:
        raise InputError(f"no response column {name!r}", hint=f"use one of {', '.join(COLUMNS)}")
    return name


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray | list | tuple | pa.Array | pa.ChunkedArray)


def _typed_column(values: object, field: pa.Field, n_rows: int) -> pa.Array:
    """Return a column of a table. Errors: :class:`InputError` naming the column whose cells have another type."""
    if pa.types.is_floating(field.type) and _holds_booleans(values):
        raise _type_error(field, "it holds True or False, which Python would read as 1 and 0")
    try:
        return _arrow_column(values, field.type, n_rows)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _type_error(field, str(error).splitlines()[0]) from error


def _holds_booleans(values: object) -> bool:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return bool(pa.types.is_boolean(values.type))
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return bool(values.dtype.kind == "b")
    cells = cast(Iterable[object], values) if _is_array(values) else (values,)
    return any(isinstance(cell, bool | np.bool_) for cell in cells)


def _type_error(field: pa.Field, why: str) -> InputError:
    kind = {pa.float64(): "numbers", pa.int32(): "whole numbers", pa.string(): "texts"}.get(field.type, "times (UTC)")
    hint = f"give {kind}, and None where there is no answer"
    return InputError(f"the response column {field.name!r} needs {kind}", why=why, hint=hint)


def _arrow_column(values: object, kind: pa.DataType, n_rows: int) -> pa.Array:
    if not _is_array(values):
        scalar = storable_text(values) if isinstance(values, str) else values
        return pa.repeat(pa.scalar(scalar, type=kind), n_rows)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.cast(kind)
    if isinstance(values, np.ndarray) and pa.types.is_integer(kind) and values.dtype.kind == "f":
        return pa.array(values, type=pa.float64(), from_pandas=True).cast(kind)
    # from_pandas: NaN and NaT mean "missing", which is what a response table knows
    try:
        return pa.array(values, type=kind, from_pandas=True)
    except UnicodeEncodeError:
        # UTF-8 has no lone surrogates, replies have: kept in letters (lexiscope.core.foreign)
        texts = [storable_text(cell) if isinstance(cell, str) else cell for cell in cast(Sequence[object], values)]
        return pa.array(texts, type=kind, from_pandas=True)


def _equals(column: pa.ChunkedArray, wanted: object) -> pa.ChunkedArray:
    if wanted is None:
        return pc.is_null(column)
    if isinstance(wanted, list | tuple | set | frozenset):
        return pc.is_in(column, value_set=_arrow_column(list(wanted), column.type, len(wanted)))
    return pc.fill_null(pc.equal(column, _arrow_column([wanted], column.type, 1)[0]), False)


def _damage_error(path: Path | str, error: Exception) -> RunError:
    return RunError(
        "this response table cannot be read", place=Place(str(path)), why=str(error), hint="run the command again"
    )


assert tuple(field.name for field in fields(Response)) == COLUMNS
