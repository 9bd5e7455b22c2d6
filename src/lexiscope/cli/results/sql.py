"""``lexiscope sql``: a question to the responses and results of a run, in SQL."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as parquet

from lexiscope.cli import options
from lexiscope.cli.output import print_table, remark, say
from lexiscope.cli.verb import Verb
from lexiscope.core.columnar.scan import check_columns, damaged_table
from lexiscope.core.errors import InputError, Place, RunError, require
from lexiscope.core.response import COLUMNS, SCHEMA, SIMULATED, ResponseTable
from lexiscope.core.result import Record, read_records
from lexiscope.core.run import csv_lines
from lexiscope.core.sealed import QUESTION, RUN, check_file, check_run
from lexiscope.core.showing import counted
from lexiscope.core.simulated import SIMULATED_ID
from lexiscope.report.page.stored import SECTIONS

_RESULTS = "results.json"
_SHOWN_ROWS = 100
_FETCHED_ROWS = 10_000
Rows = Iterator[list[tuple[Any, ...]]]
_TYPES = {pa.string(): "VARCHAR", pa.float64(): "DOUBLE", pa.int32(): "INTEGER"}


@click.command(cls=Verb)
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.argument("query", metavar="QUERY")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of a table.")
@options.as_json
@options.threads
@options.quiet
def sql(*, run: Path, query: str, as_csv: bool, as_json: bool, threads: int, quiet: bool) -> None:
    """Query the responses and results of a run in SQL.

    RUN is the folder of a run, a folder of parts, or a Parquet file of responses. QUERY is one SELECT of DuckDB's SQL.
    It can read the views responses and results (of results.json), and your files by their names: join items.csv
    to have the conditions of items. Files of a run are checked first. Nothing is changed: other statements than SELECT
    are rejected.
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json are two forms of one output: choose one")
    duckdb = require("duckdb", "sql")
    files, left_out = _checked_files(run, quiet=quiet)
    for name in left_out:
        remark(f"excluded, not in {RUN}: {name}", quiet=quiet)
    results = run / _RESULTS
    about_results = f"there are no results: {run} has no {_RESULTS}"
    if results.is_file():
        about_results = f"columns of results: {', '.join(Record.__dataclass_fields__)}"
    with _connected(duckdb, files, results, threads) as connection:
        columns, rows = _answers(duckdb, connection, query, about_results=about_results)
        if as_json:
            _print_json(columns, rows)
        elif as_csv:
            header = csv_lines(columns, [])
            click.echo(header, nl=False)
            for some in rows:
                click.echo(csv_lines(columns, [[*map(_plain, row)] for row in some])[len(header) :], nl=False)
        else:
            _print_rows(columns, rows)


def _checked_files(run: Path, *, quiet: bool) -> tuple[Sequence[Path], Sequence[str]]:
    """Return the files of responses, after a check of the whole run, and the names of those that are excluded."""
    scan = ResponseTable.scan(run)
    if run.is_file():
        check_file(run)
    elif (run / RUN).is_file():
        check_run(run)
    elif any((run / name).is_file() for name in (SECTIONS, QUESTION)):
        what, why = "this run is not finished, or has lost its record", f"there is no {RUN}"
        raise RunError(what, place=Place(str(run)), why=why, hint="give the command again that made this folder")
    else:
        remark(f"not checked: there is no {RUN} in {run}", quiet=quiet)
    return scan.files, scan.left_out


@contextmanager
def _connected(duckdb: Any, files: Sequence[Path], results: Path, threads: int) -> Iterator[Any]:
    """Give a connection to a database in memory with the two views; what does not fit goes to a separate folder."""
    known = [_columns_of(path) for path in files]
    with tempfile.TemporaryDirectory(prefix="lexiscope-sql-") as folder:
        config = {
            "threads": threads,
            "temp_directory": folder,
            # a question never loads code from a network, and never sees the variables of this program
            "autoinstall_known_extensions": "false",
            "python_enable_replacements": "false",
        }
        with duckdb.connect(":memory:", config=config) as connection:
            listed = ", ".join(_quoted(str(path.resolve())) for path in files)
            source = f"read_parquet([{listed}], union_by_name = true, hive_partitioning = false)"
            cells = ", ".join(_cell_of(name, {name for names in known for name in names}) for name in COLUMNS)
            connection.execute(f"CREATE VIEW responses AS SELECT {cells} FROM {source}")
            if results.is_file():
                connection.register("results", _results_table(results))
            # times of responses are in UTC, regardless of the zone of this machine
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET lock_configuration = true")
            yield connection


def _columns_of(path: Path) -> Sequence[str]:
    try:
        names: list[str] = parquet.read_schema(path.absolute()).names
    except (pa.ArrowException, OSError) as error:
        raise damaged_table(path, error) from error
    check_columns(names, path)
    return names


def _cell_of(name: str, known: set[str]) -> str:
    """The SQL of a column of the view, with the type and the meaning that it has in a response table."""
    kind = _TYPES.get(SCHEMA.field(name).type, "TIMESTAMP")
    if name not in known:
        return f"CAST(NULL AS {kind}) AS {name}"
    if name == "subject_kind":
        mark = f"starts_with(CAST(subject_id AS VARCHAR), {_quoted(SIMULATED_ID)})"
        return f"CASE WHEN {mark} THEN {_quoted(SIMULATED)} ELSE CAST({name} AS {kind}) END AS {name}"
    return f"CAST({name} AS {kind}) AS {name}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _results_table(path: Path) -> pa.Table:
    records = read_records(path)
    kinds = {"float": pa.float64(), "int": pa.int64()}
    fields = [
        pa.field(name, kinds.get(str(field.type).partition(" ")[0], pa.string()))
        for name, field in Record.__dataclass_fields__.items()
    ]
    rows = [{field.name: getattr(record, field.name) for field in fields} for record in records]
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


def _answers(duckdb: Any, connection: Any, query: str, *, about_results: str) -> tuple[list[str], Rows]:
    """Run the one SELECT of a query; return its columns and its rows, some thousands at a time.

    Errors: :class:`InputError` for other statements, for several, and for what the database says is wrong.
    """
    try:
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise _not_a_question(f"statements: {', '.join(statement.type.name for statement in statements) or 'none'}")
        connection.execute(f"EXPLAIN\n{query}")
        _refuse_writing(duckdb, connection, statements[0].query)
        connection.execute(query)
    except duckdb.Error as error:
        why, hint = str(error).strip(), f"columns of responses: {', '.join(COLUMNS)}"
        raise InputError("this query cannot be answered", why=why, hint=f"{hint}; {about_results}") from error
    return [column[0] for column in connection.description], _fetched(duckdb, connection)


def _refuse_writing(duckdb: Any, connection: Any, query: str) -> None:
    """Refuse a SELECT whose WITH clause writes: ``WITH a AS (COPY … TO …) SELECT …``.

    The database allows no such clause in a view; a SELECT that only reads can be one.
    """
    try:
        connection.execute(f"CREATE TEMP VIEW asked AS\n{query}")
        connection.execute("DROP VIEW temp.asked")
    except duckdb.Error as error:
        raise _not_a_question(str(error).strip().splitlines()[0]) from error


def _not_a_question(why: str) -> InputError:
    hint = "to keep the answer, write it with --csv > FILE.csv"
    return InputError("a run is only read: give one SELECT statement", why=why, hint=hint)


def _fetched(duckdb: Any, connection: Any) -> Iterator[list[tuple[Any, ...]]]:
    try:
        while rows := connection.fetchmany(_FETCHED_ROWS):
            yield rows
    except duckdb.Error as error:
        raise InputError("this query ended with an error", why=str(error).strip()) from error


# -- what is printed ------------------------------------------------------------------------------------------------


def _print_rows(columns: Sequence[str], rows: Rows) -> None:
    some = next(rows, [])
    shown = some[:_SHOWN_ROWS]
    numbers = [
        name
        for place, name in enumerate(columns)
        if all(row[place] is None or isinstance(row[place], int | float | Decimal) for row in shown)
    ]
    print_table(
        columns,
        [[f"{value:.6g}" if isinstance(value, float) else _plain(value) for value in row] for row in shown],
        right=numbers,
    )
    rest = len(some) - len(shown) + sum(map(len, rows))
    say(counted(len(shown) + rest, "row") + (f", {len(shown)} of them shown: --csv prints all" if rest else ""))


def _print_json(columns: Sequence[str], rows: Rows) -> None:
    twice = next((name for name in columns if columns.count(name) > 1), "")
    if twice:
        hint = f"give one of them another: {twice} AS other_name"
        raise InputError(f"two columns have the name {twice!r}", hint=hint)
    before = "[\n"
    for some in rows:
        lines = (json.dumps(dict(zip(columns, map(_for_json, row), strict=True)), ensure_ascii=False) for row in some)
        click.echo(before + ",\n".join(lines), nl=False)
        before = ",\n"
    say("\n]" if before == ",\n" else "[]")


def _plain(value: Any) -> Any:
    """A value as text of a cell; ``None`` stays."""
    if value is None or isinstance(value, str | int | float | Decimal):
        return value
    if isinstance(value, date | datetime):
        return value.isoformat()
    content = _for_json(value)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _for_json(value: Any) -> Any:
    """A value as JSON has it: numbers that JSON does not have as words, other types as text."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): _for_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(inner) for inner in value]
    if value is None or isinstance(value, str | int | float):
        return value
    return value.isoformat() if isinstance(value, date | datetime) else str(value)
