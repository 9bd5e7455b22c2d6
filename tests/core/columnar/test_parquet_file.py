"""A file of responses: its bytes depend on its rows alone, files of earlier versions are read, text has no limit."""

from __future__ import annotations

import io
import random
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
import pytest

from lexiscope.core.columnar import memory, parquet_file
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.response import SCHEMA, ResponseTable, file_writer


def made(n: int, *, raw: object = None) -> ResponseTable:
    dice = np.random.default_rng(n)
    return ResponseTable.from_columns(
        {
            "subject_id": [f"encoder:m{number % 3}" for number in range(n)],
            "subject_kind": "encoder",
            "item_id": [f"i{number % 7}" for number in range(n)],
            "task": "relatedness",
            "measure": "cosine_distance",
            "value": np.where(dice.random(n) < 0.1, np.nan, dice.random(n)),
            "layer": np.arange(n) % 4,
            "raw": raw,
        }
    )


def plain_bytes(table: ResponseTable) -> bytes:
    """The file that pyarrow alone writes of the rows with the types of files, as earlier versions did."""
    columns = [pa.array(table.arrow.column(field.name).to_pylist(), field.type) for field in SCHEMA]
    sink = io.BytesIO()
    whole = pa.Table.from_arrays(columns, schema=SCHEMA)
    parquet.write_table(whole, sink, compression="zstd", store_schema=True, row_group_size=parquet_file.ROWS_OF_GROUP)
    return sink.getvalue()


@pytest.mark.parametrize("n", [0, 1, 250, 1000])
def test_bytes_depend_on_the_rows_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """However the rows came about and in whatever pieces they are written: what pyarrow writes of plain texts."""
    monkeypatch.setattr(parquet_file, "ROWS_OF_GROUP", 250)
    table, dice = made(n, raw=[f"reply {number}" for number in range(n)]), random.Random(n)
    mixed = ResponseTable.concat([table.take(np.arange(n)[::-1]), table])
    for number, same in enumerate((table, mixed.take(np.arange(n, 2 * n)), table.take(np.arange(n)))):
        path = tmp_path / f"{number}.parquet"
        cuts = sorted(dice.randrange(n + 1) for _ in range(number * 5))
        with file_writer(path) as write:
            for start, end in zip([0, *cuts], [*cuts, n], strict=True):
                write(same.take(np.arange(start, end)))
        assert path.read_bytes() == plain_bytes(table)
        assert ResponseTable.read_parquet(path) == table
    assert parquet.ParquetFile(path).num_row_groups == max(1, n // 250)


def test_a_group_without_a_value_in_a_column_that_has_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options, replies and views of the last rows alone: the groups before hold none, and the bytes are pyarrow's."""
    monkeypatch.setattr(parquet_file, "ROWS_OF_GROUP", 250)
    table = made(600, raw=[None] * 500 + ["reply"] * 100)
    for name in ("option", "view"):
        table = table.with_column(name, [None] * 500 + ["x"] * 100)
    table.write_parquet(tmp_path / "t")
    assert (tmp_path / "t").read_bytes() == plain_bytes(table)
    assert ResponseTable.read_parquet(tmp_path / "t") == table


def test_a_group_ends_before_its_texts_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer holds so many bytes of text; a longer text has its own group; the bytes still depend on the rows."""
    monkeypatch.setattr(parquet_file, "TEXT_OF_GROUP", 100)
    table = made(7, raw=["x" * 60, None, "y" * 40, "z", "x" * 500, "", "y" * 100])
    table.write_parquet(tmp_path / "whole")
    with file_writer(tmp_path / "single") as write:
        for row in range(7):
            write(table.take(np.array([row])))
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "single").read_bytes()
    file = parquet.ParquetFile(tmp_path / "whole")
    assert [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] == [3, 1, 1, 2]
    assert ResponseTable.read_parquet(tmp_path / "whole") == table


def test_names_of_any_length_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If names written out in their rows exceed what a column of a file takes, the group is divided."""
    monkeypatch.setattr(parquet_file, "_MOST_BYTES", 40)
    table = made(64)
    table.write_parquet(tmp_path / "t")
    # 11 letters of relatedness in each row are at most 40 in 3 rows; measures have 15 letters: 2 rows
    file = parquet.ParquetFile(tmp_path / "t")
    assert {file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)} == {2}
    assert ResponseTable.read_parquet(tmp_path / "t") == table


def test_files_of_earlier_versions_and_other_programs_are_read(tmp_path: Path) -> None:
    """Files without the column scale; wider numbers; texts of other types; times in other units; further columns."""
    table = made(20).with_column("answered_at", [None] * 19 + [datetime(2024, 5, 1, 10, tzinfo=UTC)])
    (tmp_path / "old.parquet").write_bytes(plain_bytes(table))
    old = parquet.read_table(tmp_path / "old.parquet").drop_columns(["scale"])
    parquet.write_table(old, tmp_path / "old.parquet")
    plain = {name: table.arrow.column(name).cast(memory.TEXT_TYPE) for name in ("task", "measure")}
    other = pa.table(
        {
            **{name: column.dictionary_encode() for name, column in plain.items()},
            **{name: table.column(name).tolist() for name in ("subject_id", "subject_kind", "item_id")},
            "value": table.arrow.column("value"),
            "layer": pa.array(table.column("layer").astype(int)),
            "answered_at": table.arrow.column("answered_at").cast(pa.timestamp("ms", "UTC")),
            **{name: pa.nulls(20) for name in ("option", "view", "list_id", "position", "repeat", "rt_ms", "raw")},
            "note": ["mine"] * 20,
        }
    )
    parquet.write_table(other, tmp_path / "other.parquet", compression="snappy", row_group_size=6)
    for path in (tmp_path / "old.parquet", tmp_path / "other.parquet"):
        assert ResponseTable.read_parquet(path) == table
        assert ResponseTable.scan(path).table() == table
    numbered = other.set_column(other.schema.get_field_index("item_id"), "item_id", pa.array(range(20)))
    parquet.write_table(numbered, tmp_path / "numbered.parquet")
    assert ResponseTable.read_parquet(tmp_path / "numbered.parquet").unique("item_id")[:3] == ("0", "1", "2")
    # a folder's name is no column
    inside = tmp_path / "task=other" / "x=1" / "t.parquet"
    table.write_parquet(inside)
    assert ResponseTable.read_parquet(inside) == table


def test_a_file_that_fails_leaves_the_earlier_one(tmp_path: Path) -> None:
    """An error between two batches: the file is as it was, and nothing else is left."""
    path = tmp_path / "responses.parquet"
    made(5).write_parquet(path)
    before = path.read_bytes()

    def fail_after_rows() -> None:
        with file_writer(path) as write:
            write(made(50))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_rows()
    assert [file.name for file in tmp_path.iterdir()] == ["responses.parquet"]
    assert path.read_bytes() == before


def test_a_file_without_the_columns_is_refused_by_its_name(tmp_path: Path) -> None:
    """Missing columns, missing ids, and a file that ends early."""
    table = made(3)
    table.write_parquet(tmp_path / "t.parquet")
    arrow = parquet.read_table(tmp_path / "t.parquet")
    parquet.write_table(arrow.drop_columns(["measure"]), tmp_path / "short.parquet")
    parquet.write_table(arrow.set_column(2, "item_id", pa.nulls(3, pa.string())), tmp_path / "none.parquet")
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-20])
    for name, error, what in (
        ("short", InputError, "measure"),
        ("none", InputError, "3 responses are without 'item_id'"),
        ("torn", RunError, r"torn\.parquet"),
    ):
        with pytest.raises(error, match=what):
            ResponseTable.read_parquet(tmp_path / f"{name}.parquet")
        with pytest.raises(error, match=what):
            ResponseTable.scan(tmp_path / f"{name}.parquet").table()


@pytest.mark.soak
def test_a_table_with_more_text_than_two_gibibytes(tmp_path: Path) -> None:
    """283,000 replies of 8 kB, 2.1 GiB: each operation that needs all text in one array, a round trip, and a scan.

    About 10 GiB of memory and a minute.
    """
    n, letters = 283_000, 8_000
    numbers = pa.array(np.arange(n)).cast(pa.large_string())
    padding, joint = (pa.scalar(text, pa.large_string()) for text in ("x" * (letters - 8), ""))
    raw = pc.binary_join_element_wise(pc.utf8_lpad(numbers, 8, "0"), padding, joint)
    table = made(n, raw=raw)
    assert memory.text_bytes(table.arrow.column("raw")).sum() == n * letters > 2.1 * 2**30
    backwards = table.take(np.arange(n)[::-1])
    assert backwards.arrow.column("raw")[0].as_py()[:8] == f"{n - 1:08d}"
    assert backwards.sorted_by("raw") == table
    del backwards
    assert table.codes("raw")[0].tolist() == list(range(n))
    assert table.where(raw=raw[7].as_py()).column("item_id").tolist() == ["i0"]
    assert ResponseTable.concat([table, table.take(np.arange(9))]).take(np.arange(n, n + 9)) == table.take(np.arange(9))
    table.write_parquet(tmp_path / "big.parquet")
    assert ResponseTable.read_parquet(tmp_path / "big.parquet") == table
    scan = ResponseTable.scan(tmp_path / "big.parquet")
    assert scan.where(raw=raw[n - 1].as_py()).column("item_id").tolist() == [f"i{(n - 1) % 7}"]
    table.write_csv(tmp_path / "big.csv")
    assert ResponseTable.read_csv(tmp_path / "big.csv") == table
