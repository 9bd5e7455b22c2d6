"""Responses: one tidy table for people and models, a row per answer.

A rating of a person is a row (``rating``, 4). A cosine distance at layer 7 is a row. A refusal or an unreadable
reply is a row whose ``value`` is missing and whose ``raw`` text is kept: never a missing row, never an imputed one.
Text that UTF-8 cannot hold is kept in letters; :func:`lexiscope.core.foreign.original_text` gives it back.
The table is columnar (Arrow), so that millions of rows need no Python loop (design/0003-response-table.md). A table
that is larger than memory stays in its files: :class:`ResponseScan` reads the columns that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from lexiscope.core.columnar import memory, parquet_file, parts, scan
from lexiscope.core.columnar.cells import array_of, cell_of, numbers_of
from lexiscope.core.columnar.memory import ADDED as ADDED
from lexiscope.core.columnar.memory import COLUMNS as COLUMNS
from lexiscope.core.columnar.memory import REQUIRED as REQUIRED
from lexiscope.core.columnar.memory import SCHEMA as SCHEMA
from lexiscope.core.columnar.on_disk import TablesOnDisk, joined_on_disk
from lexiscope.core.columnar.scan import GroupMeans
from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import storable_text
from lexiscope.core.run import atomic_file
from lexiscope.core.sealed import check_file
from lexiscope.core.showing import call_presenter, counted
from lexiscope.core.simulated import COLLECTED as COLLECTED
from lexiscope.core.simulated import PARTICIPANT, refuse_mixture
from lexiscope.core.simulated import SIMULATED as SIMULATED

_NAMES_OF_PEOPLE = {PARTICIPANT: "participant", SIMULATED: "simulated participant"}


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


class ResponseColumns(Protocol):
    """The columns of responses, wherever they are: what statistics read of a table in memory, or of files.

    :class:`ResponseTable` and :class:`ResponseScan` are such. Each call of a scan reads its column from the files.
    """

    def __len__(self) -> int: ...

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column; numbers are float64 with NaN for missing."""
        ...

    def codes(self, name: str) -> tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[str, ...]]:
        """Return a text column as codes (−1 = missing) and its categories."""
        ...

    def unique(self, name: str) -> tuple[Any, ...]:
        """Return the distinct values of a column in order of first appearance."""
        ...

    def by_item(self, name: str = "value") -> dict[str, Any]:
        """Return a column by item: of an item with several rows, what the last one holds."""
        ...

    def where(self, **equal: object) -> ResponseColumns:
        """Return the rows whose columns equal these values."""
        ...


class ResponseTable:
    """An immutable table of responses with explicit columns.

    >>> table = ResponseTable.from_rows([Response("p1", "participant", "i1", "relatedness", "rating", 4.0)])
    >>> len(table), table.column("value").tolist(), table.where(subject_id="p2").column("value").tolist()
    (1, [4.0], [])
    """

    __slots__ = ("_table",)

    def __init__(self, table: pa.Table) -> None:
        self._table: pa.Table = _conform(table)

    @classmethod
    def _of(cls, table: pa.Table) -> ResponseTable:
        """Wrap a table whose columns are in the form of memory."""
        made = cls.__new__(cls)
        made._table = table
        return made

    # -- making -----------------------------------------------------------------------------------------------

    @classmethod
    def empty(cls) -> ResponseTable:
        """Return a table without rows."""
        return cls._of(pa.table({name: memory.nothing(0) for name in COLUMNS}))

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
        text ``"3"`` and ``True`` are not numbers.
        """
        unknown = set(columns) - set(COLUMNS)
        if unknown:
            raise InputError(f"unknown response columns: {', '.join(sorted(unknown))}", hint=f"use {COLUMNS}")
        lengths = {len(cast(Sized, value)) for value in columns.values() if _is_array(value)}
        if len(lengths) != 1:
            raise InputError(f"response columns need one common length, not {sorted(lengths)}")
        n_rows = lengths.pop()
        made = {field.name: _typed_column(columns.get(field.name), field, n_rows) for field in SCHEMA}
        return cls._of(scan.mark_simulated(_whole_rows(pa.table(made))))

    @classmethod
    def concat(cls, tables: Sequence[ResponseTable]) -> ResponseTable:
        """Return the rows of all tables, in order."""
        return cls._of(parquet_file.join_tables([table._table for table in tables])) if tables else cls.empty()

    @classmethod
    def on_disk(cls, tables: Iterable[ResponseTable]) -> ResponseTable:
        """Return the rows of all tables, in order, in a temporary file; each is written before the next is asked for.

        Errors: :class:`RunError` where they cannot be written.
        """
        kept = TablesOnDisk()
        for table in chain([cls.empty()], tables):
            kept.append(table._table)
        return cls._of(joined_on_disk(kept, memory.joined))

    # -- looking ----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResponseTable) and all(map(memory.same, self._table.columns, other._table.columns))

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
        """The table as Arrow (no copy): names as dictionaries, and the type ``null`` for a column without a value."""
        return self._table

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column as a numpy array.

        Text is an object array with ``None`` for missing; every number is float64 with NaN for missing;
        ``answered_at`` is datetime64[us] with NaT.
        """
        return memory.values(self._table.column(_check_column(name)), name)

    def codes(self, name: str) -> tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[str, ...]]:
        """Return a text column as integer codes and its categories in order of first appearance (-1 = missing)."""
        codes, categories = memory.encoded(self._table.column(_check_column(name)))
        return numbers_of(codes).astype(np.int64), tuple(categories.to_pylist())

    def unique(self, name: str) -> tuple[Any, ...]:
        """Return the distinct values of a column in order of first appearance."""
        return tuple(memory.distinct(self._table.column(_check_column(name))))

    def group_means(self, *by: str, of: str = "value") -> GroupMeans:
        """Return rows, values and their mean by the columns *by*.

        >>> columns = {"subject_kind": "encoder", "item_id": ["i", "j", "j"], "task": "t", "measure": "m"}
        >>> table = ResponseTable.from_columns(columns | {"subject_id": ["e", "e", "f"], "value": [1, 2, None]})
        >>> groups = table.group_means("subject_id")
        >>> groups.keys["subject_id"].tolist(), groups.rows.tolist(), groups.n.tolist(), groups.mean.tolist()
        (['e', 'f'], [2, 1], [2, 0], [1.5, nan])
        """
        return scan.group_means([self._table], tuple(map(_check_column, by)), _check_numeric(of))

    def answered(self) -> ResponseTable:
        """Return the table without the subjects that have neither a value nor a text in any row."""
        if not len(self):
            return self
        given = pc.or_(self._table.column("value").is_valid(), self._table.column("raw").is_valid())
        kept = parquet_file.chosen_rows(self._table, given)
        return self.where(subject_id=ResponseTable._of(kept).unique("subject_id"))

    def by_item(self, name: str = "value") -> dict[str, Any]:
        """Return a column by item: of an item with several rows, what the last one holds."""
        return _last_by_item([self._table], _check_column(name))

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
        """Return the rows whose columns equal these values; a tuple or list means any of them, ``None`` missing.

        Errors: :class:`InputError` for a value that the column cannot hold, such as ``layer=3.5`` or ``layer="3"``.
        """
        return ResponseTable._of(scan.filtered(self._table, _conditions(equal))) if equal else self

    def filter(self, mask: np.ndarray[Any, Any]) -> ResponseTable:
        """Return the rows where the boolean *mask* (one entry a row) is true."""
        return ResponseTable._of(parquet_file.chosen_rows(self._table, array_of(mask, pa.bool_())))

    def take(self, rows: np.ndarray[Any, Any]) -> ResponseTable:
        """Return the rows with these numbers, in this order."""
        return ResponseTable._of(parquet_file.chosen_rows(self._table, array_of(rows, pa.int64())))

    def pieces(self) -> Iterator[ResponseTable]:
        """Yield the rows in order, some at a time, for what makes a copy of its rows."""
        for start in range(0, len(self), parquet_file.ROWS_OF_BATCH):
            yield ResponseTable._of(self._table.slice(start, parquet_file.ROWS_OF_BATCH))

    def sorted_by(self, *names: str) -> ResponseTable:
        """Return the rows in a stable order of these columns, missing values last."""
        columns = {name: self._table.column(_check_column(name)) for name in names}
        return self.take(memory.order_of(columns, len(self)))

    def with_column(self, name: str, values: object) -> ResponseTable:
        """Return a table in which one column is replaced."""
        index = COLUMNS.index(_check_column(name))
        column = _typed_column(values, SCHEMA.field(index), len(self))
        return ResponseTable._of(_whole_rows(self._table.set_column(index, name, column)))

    # -- files ------------------------------------------------------------------------------------------------

    def write_parquet(self, path: Path | str) -> None:
        """Write the table; the file appears whole or not at all. The same rows give an identical file."""
        with file_writer(path) as write:
            write(self)

    def write_csv(self, path: Path | str) -> None:
        """Write the table as UTF-8 CSV. Text is quoted, a missing value is bare: the round trip is exact."""
        with csv_writer(path) as write:
            for piece in self.pieces():
                write(piece)

    @classmethod
    def read_parquet(cls, path: Path | str) -> ResponseTable:
        """Read a table that :meth:`write_parquet` wrote; in the folder of a run it is checked first.

        Errors: :class:`RunError` if the file is damaged, :class:`InputError` if it is another table.
        """
        check_file(Path(path))
        try:
            with parquet_file.open_file(Path(path)) as file:
                scan.check_columns(file.schema_arrow.names, Path(path))
                table = parquet_file.read_table(file)
            return cls._of(scan.mark_simulated(_whole_rows(table)))
        except (pa.ArrowException, OSError, KeyError) as error:
            raise scan.damaged_table(path, error) from error

    @staticmethod
    def scan(*places: Path | str) -> ResponseScan:
        """Return the responses of files and folders, read when they are asked for: see :class:`ResponseScan`.

        A place is a Parquet file, a run, a folder of parts (:func:`parts_writer`), or any folder with Parquet files of
        responses in it or below it; the rows of several places follow each other.
        Errors: :class:`InputError` for a place without responses; :class:`RunError` for a run that is not finished, and
        for a record that is damaged.
        """
        if not places:
            raise InputError("no place to read responses from", hint="name a run, a folder of parts or a Parquet file")
        listed = [parts.find_parts(Path(place)) for place in places]
        left_out = tuple(
            str(Path(place) / name) for place, (_, names) in zip(places, listed, strict=True) for name in names
        )
        return ResponseScan(scan.StoredRows(tuple(part for stored, _ in listed for part in stored)), left_out=left_out)

    @classmethod
    def read_csv(cls, path: Path | str) -> ResponseTable:
        """Read a table that :meth:`write_csv` wrote.

        Errors: :class:`RunError` where the file is damaged, :class:`InputError` where columns are missing.
        """
        check_file(Path(path))
        options = arrow_csv.ConvertOptions(
            column_types=_CSV_SCHEMA, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
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
            raise scan.damaged_table(path, error) from error
        missing = [name for name in COLUMNS if name not in (*table.column_names, *ADDED)]
        extra = [name for name in table.column_names if name not in COLUMNS]
        if missing or extra:
            raise InputError(f"not a response table: missing {missing}, unknown {extra}", place=Place(str(path), 1))
        return cls._of(scan.mark_simulated(_conform(table)))


class ResponseScan:
    """Responses in files that are not loaded: each call reads the columns that it needs, batch by batch.

    ``where`` chooses rows and ``select`` columns; both only note it. Whole files, row groups and columns that are not
    needed are not read. The rows are in the order of the files' names, and of the rows in each. A file that a
    ``run.json`` names is compared with its checksum before it is read for the first time, and a file that is changed
    while it is being read is an error.

    >>> with parts_writer(getfixture("tmp_path") / "answers") as write:
    ...     for subject in ("encoder:a", "encoder:b"):
    ...         columns = {"subject_kind": "encoder", "item_id": ["i", "j"], "task": "t", "measure": "m"}
    ...         write(ResponseTable.from_columns(columns | {"subject_id": subject, "layer": 0, "value": [0.25, 0.75]}))
    >>> answers = ResponseTable.scan(getfixture("tmp_path") / "answers")
    >>> answers.where(subject_id="encoder:b").column("value").tolist()
    [0.25, 0.75]
    >>> answers.group_means("subject_id", "layer").mean.tolist()
    [0.5, 0.5]
    """

    __slots__ = ("_names", "_rows", "left_out")

    def __init__(self, rows: scan.StoredRows, names: Sequence[str] = COLUMNS, *, left_out: Sequence[str] = ()) -> None:
        self._rows, self._names = rows, tuple(names)
        self.left_out = tuple(left_out)
        """Parquet files in folders of parts that their ``run.json`` does not name: the table excludes them."""

    def __repr__(self) -> str:
        chosen = "".join(f", {name} chosen" for name in dict.fromkeys(name for name, _ in self._rows.conditions))
        left_out = f", {counted(len(self.left_out), 'file')} excluded" if self.left_out else ""
        return f"ResponseScan({counted(len(self._rows.parts), 'file')}{chosen}{left_out})"

    def __len__(self) -> int:
        return self._rows.count()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files, in the order of the rows."""
        return tuple(part.path for part in self._rows.parts)

    def where(self, **equal: object) -> ResponseScan:
        """Return the rows whose columns equal these values, as :meth:`ResponseTable.where` does; nothing is read."""
        return ResponseScan(self._rows.where(_conditions(equal)), self._names, left_out=self.left_out)

    def select(self, *names: str) -> ResponseScan:
        """Return the same rows with these columns alone; nothing is read."""
        return ResponseScan(self._rows, tuple(map(_check_column, names)), left_out=self.left_out)

    def batches(self) -> Iterator[pa.Table]:
        """Yield the rows as tables of Arrow with the columns that were selected, in the form of memory."""
        return self._rows.tables(self._names)

    def tables(self) -> Iterator[ResponseTable]:
        """Yield the rows as response tables; columns that were not selected have no value.

        Errors: :class:`InputError` where a column was not selected that every answer has.
        """
        lacking = [name for name in REQUIRED if name not in self._names]
        if lacking:
            hint = f"select {', '.join(REQUIRED)} too, or take the columns: column, codes, batches"
            raise InputError(f"a response table needs the column {lacking[0]!r}", hint=hint)
        for table in self.batches():
            absent = memory.nothing(table.num_rows)
            forms = {name: table.column(name) if name in self._names else absent for name in COLUMNS}
            yield ResponseTable._of(pa.table(forms))

    def table(self) -> ResponseTable:
        """Load the rows as one table in memory. Errors: those of :meth:`tables`."""
        return ResponseTable.concat(list(self.tables()))

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column as :meth:`ResponseTable.column` does."""
        return memory.values(self._column(name), name)

    def codes(self, name: str) -> tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[str, ...]]:
        """Return a column as codes as :meth:`ResponseTable.codes` does."""
        codes, categories = memory.encoded(self._column(name))
        return numbers_of(codes).astype(np.int64), tuple(categories.to_pylist())

    def unique(self, name: str) -> tuple[Any, ...]:
        """Return the distinct values of a column in order of first appearance; no column is held whole."""
        name = _check_column(name)
        return tuple(dict.fromkeys(v for t in self._rows.tables((name,)) for v in memory.distinct(t.column(name))))

    def by_item(self, name: str = "value") -> dict[str, Any]:
        """Return a column by item: of an item with several rows, what the last one holds."""
        return _last_by_item(self.select("item_id", name).batches(), name)

    def group_means(self, *by: str, of: str = "value") -> GroupMeans:
        """Return rows, values and their mean by the columns *by*; memory grows with the groups, not the rows."""
        names = tuple(map(_check_column, by))
        return scan.group_means(self._rows.tables(tuple(dict.fromkeys((*names, _check_numeric(of))))), names, of)

    def _column(self, name: str) -> memory.Column:
        pieces = [table.column(name) for table in self._rows.tables((_check_column(name),))]
        return memory.joined(pieces, name)


@contextmanager
def file_writer(path: Path | str) -> Iterator[Callable[[ResponseTable], None]]:
    """Give a function that takes tables and writes them to one Parquet file, which appears whole or not at all.

    Tables that were written are not kept. The same rows give an identical file, however they are divided.
    """
    with atomic_file(Path(path)) as stream, parquet_file.row_groups(stream) as groups:
        yield lambda table: groups.add(table.arrow)


@contextmanager
def csv_writer(path: Path | str) -> Iterator[Callable[[ResponseTable], None]]:
    """Give a function that writes tables to one CSV file as :meth:`ResponseTable.write_csv`; it appears as a whole."""
    with atomic_file(Path(path)) as stream, arrow_csv.CSVWriter(stream, _CSV_SCHEMA) as file:
        yield lambda table: file.write_table(
            pa.table({name: _csv_form(table.arrow.column(name), name) for name in COLUMNS})
        )


@contextmanager
def parts_writer(folder: Path | str) -> Iterator[Callable[[ResponseTable], None]]:
    """Give a function that takes tables and writes them to a new folder, a file for each task and subject.

    The folder appears whole or not at all, with a ``run.json`` that names each file and its checksum. Tables that were
    written are not kept. :meth:`ResponseTable.scan` reads it; each file is a response table by itself.
    Errors: :class:`RunError` for a folder that exists.
    """
    with parts.parts_writer(Path(folder)) as write:
        yield lambda table: write(table.arrow)


def _last_by_item(tables: Iterable[pa.Table], name: str) -> dict[str, Any]:
    last: dict[str, Any] = {}
    for table in tables:
        items, cells = (memory.values(table.column(column), column).tolist() for column in ("item_id", name))
        last |= dict(zip(items, cells, strict=True))
    return last


def holds_simulated(table: ResponseTable, *, place: Place | None = None) -> bool:
    """Whether the answers of a table are those of simulated participants instead of people.

    Errors: those of :func:`refuse_mixture`.
    """
    kinds = table.unique("subject_kind")
    refuse_mixture(kinds, place=place)
    return SIMULATED in kinds


def has_columns(names: Sequence[str]) -> bool:
    """Whether a header is that of a response table, of this version or of an earlier one."""
    return list(names) in (list(COLUMNS), [name for name in COLUMNS if name not in ADDED])


def _conform(table: pa.Table) -> pa.Table:
    """Return a table of Arrow with its columns in the form of memory; those of :data:`ADDED` may be absent."""
    columns = {
        name: memory.memory_form(table.column(name), name) if name in table.column_names else memory.nothing(len(table))
        for name in COLUMNS
        if name in table.column_names or name in ADDED
    }
    return _whole_rows(pa.table(columns).select(list(COLUMNS)))


def _whole_rows(table: pa.Table) -> pa.Table:
    for name in REQUIRED:
        if table.column(name).null_count:
            raise InputError(f"{table.column(name).null_count} responses are without {name!r}, which every answer has")
    return table


def _check_numeric(name: str) -> str:
    if not pa.types.is_floating(SCHEMA.field(_check_column(name)).type):
        raise InputError(f"the response column {name!r} has no mean", hint="use value or rt_ms")
    return name


def _check_column(name: str) -> str:
    if name not in COLUMNS:
        raise InputError(f"no response column {name!r}", hint=f"use one of {', '.join(COLUMNS)}")
    return name


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray | list | tuple | pa.Array | pa.ChunkedArray)


def _typed_column(values: object, field: pa.Field, n_rows: int) -> memory.Column:
    """Return a column of a table. Errors: :class:`InputError` naming the column whose cells have another type."""
    with _type_errors(values, field):
        return _memory_column(values, field.name, n_rows)


@contextmanager
def _type_errors(values: object, field: pa.Field) -> Iterator[None]:
    """Have values that a column cannot hold named as such, whether they are stored or searched."""
    if pa.types.is_floating(field.type) and _holds_booleans(values):
        raise _type_error(field, "it holds True or False, which Python would read as 1 and 0")
    try:
        yield
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


def _memory_column(values: object, name: str, n_rows: int) -> memory.Column:
    if values is None:
        return memory.nothing(n_rows)
    if isinstance(values, str) and name in memory.NAMES:
        return memory.constant(storable_text(values), n_rows)
    if not _is_array(values):
        scalar = storable_text(values) if isinstance(values, str) else values
        return memory.memory_form(pa.repeat(cell_of(scalar, _cell_type(name)), n_rows), name)
    return memory.memory_form(values if isinstance(values, pa.Array | pa.ChunkedArray) else _array(values, name), name)


def _array(values: object, name: str) -> pa.Array:
    """Python's or numpy's values as an array of Arrow."""
    kind = _cell_type(name)
    if isinstance(values, np.ndarray) and pa.types.is_integer(kind) and values.dtype.kind == "f":
        return array_of(values, pa.float64()).cast(kind)
    try:
        return array_of(values, kind)
    except UnicodeEncodeError:
        # UTF-8 has no lone surrogates, replies have: kept in letters (lexiscope.core.foreign)
        texts = [storable_text(cell) if isinstance(cell, str) else cell for cell in cast(Sequence[object], values)]
        return array_of(texts, kind)


def _cell_type(name: str) -> pa.DataType:
    """The type of single cells of a column."""
    return memory.TEXT_TYPE if name in memory.NAMES else memory.memory_type(name)


def _conditions(equal: Mapping[str, object]) -> list[scan.Condition]:
    """What :meth:`ResponseTable.where` is asked for, as arrays of the values that rows may have."""
    several = (list, tuple, set, frozenset)
    listed = {name: list(wanted) if isinstance(wanted, several) else [wanted] for name, wanted in equal.items()}
    conditions: list[scan.Condition] = []
    for name, wanted in listed.items():
        with _type_errors(wanted, SCHEMA.field(_check_column(name))):
            conditions.append((name, _array(wanted, name)))
    return conditions


_CSV_SCHEMA = pa.schema([pa.field(name, _cell_type(name)) for name in COLUMNS])


def _csv_form(column: memory.Column, name: str) -> Any:
    kind = _cell_type(name)
    return pa.nulls(len(column), kind) if memory.absent(column) else column.cast(kind)


assert tuple(field.name for field in fields(Response)) == COLUMNS
