"""Tables in a temporary file: what was written is read, nothing of it stays on disk or in memory, a full disk is an
error."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lexiscope.core.columnar import lean, on_disk
from lexiscope.core.columnar.on_disk import TablesOnDisk, columns_on_disk, joined_on_disk
from lexiscope.core.errors import RunError
from lexiscope.core.response import ResponseTable

COLUMNS = {
    "word": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "value": pa.array([0.5, None, -0.0, float("inf")]),
    "at": pa.array([None, "z", "", "é"]),
    "flag": pa.array([True, False, None, True]),
    "nothing": pa.nulls(4),
}


def test_tables_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, with their types, those without rows or columns too; the file has no name that could stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept, written = TablesOnDisk(), pa.table(COLUMNS)
    tables = [written, written.slice(1, 2), written.schema.empty_table(), pa.table({})]
    for table in tables:
        kept.append(table)
    read = list(kept)
    assert [table.schema for table in read] == [table.schema for table in tables]
    assert [table.to_pylist() for table in read] == [table.to_pylist() for table in tables]
    assert all(column.num_chunks == 1 for table in read for column in table.columns)
    assert list(TablesOnDisk()) == []
    del kept
    assert read[0].equals(written), "the tables outlive what they were read from"
    assert list(tmp_path.iterdir()) == []


def test_columns_are_joined_one_at_a_time() -> None:
    """Texts of several dictionaries as by pyarrow alone; of columns that were made, one is there at a time."""
    kept, parts = TablesOnDisk(), [pa.table(COLUMNS).slice(start, 2) for start in (0, 2)]
    for part in parts:
        kept.append(part)
    joined = joined_on_disk(kept, lambda columns, _: pa.chunked_array([c for column in columns for c in column.chunks]))
    assert joined.to_pylist() == pa.concat_tables(parts).to_pylist()
    made = columns_on_disk(["a", "b"], lambda name: pa.chunked_array([[name, name]]))
    assert made.to_pylist() == [{"a": "a", "b": "b"}] * 2


def test_responses_on_disk_are_those_in_memory() -> None:
    """Tables with and without values in a column, none at all, and what is done with the rows afterwards."""
    columns = {"subject_id": ["p1", "p2"], "subject_kind": "participant", "item_id": "i", "task": "t", "measure": "m"}
    rated = ResponseTable.from_columns(columns | {"value": [1.0, None], "scale": "1..5"})
    chosen = ResponseTable.from_columns(columns | {"option": ["x", "=y"], "raw": ["so", None], "rt_ms": 3.5})
    for tables in ([], [rated], [rated, chosen, rated], [ResponseTable.empty(), chosen]):
        stored, plain = ResponseTable.on_disk(iter(tables)), ResponseTable.concat(tables)
        assert stored == plain
        assert stored.where(subject_id="p2") == plain.where(subject_id="p2")
        assert stored.sorted_by("measure", "value") == plain.sorted_by("measure", "value")


def test_a_full_disk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the folder; so does a folder in which nothing can be written."""
    kept = TablesOnDisk()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(RunError, match="temporary file") as full:
            kept.append(pa.table({"value": np.arange(100_000.0)}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert tempfile.gettempdir() in str(full.value)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(RunError, match="/nowhere"):
        TablesOnDisk()


def test_what_cannot_be_mapped_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address space is limited, or no folder can be found. Where no thread can start, the tables are there."""
    kept = TablesOnDisk()
    kept.append(pa.table({"value": np.arange(3_000_000.0)}))

    def refused(*_: object, **__: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(on_disk.mmap, "mmap", refused)
        with pytest.raises(RunError, match="Cannot allocate memory"):
            list(kept)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread)
        (table,) = kept
    assert len(table) == 3_000_000
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", None)
        patch.setattr(on_disk.tempfile, "TemporaryFile", refused)
        with pytest.raises(RunError, match="a temporary file cannot be written"):
            TablesOnDisk()


def resident() -> int:
    """The pages of files in this process, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[2]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from Linux")
def test_pages_that_were_read_are_given_back() -> None:
    """The whole file is read, and soon no page of it is in this process; the cells are still right. With the last table
    the thread ends."""
    threads, values = set(threading.enumerate()), np.arange(4_000_000.0)
    kept = TablesOnDisk()
    kept.append(pa.table({"value": values}))
    before = resident()
    (table,) = kept
    (giving_back,) = set(threading.enumerate()) - threads
    assert table.column("value").combine_chunks().sum().as_py() == values.sum()
    until = time.monotonic() + 30
    while resident() - before > values.nbytes / 4 and time.monotonic() < until:
        time.sleep(0.01)
    assert resident() - before <= values.nbytes / 4
    assert np.array_equal(table.column("value").to_numpy(), values)
    del table, kept
    gc.collect()
    giving_back.join(30)
    assert not giving_back.is_alive()
    assert values.nbytes > on_disk._LARGE


PROGRAM = """
import sys
from lexiscope.core.columnar.lean import save_memory
save_memory()
save_memory()
import pyarrow as pa, pyarrow.compute as pc
made = pa.array(["a", None]), pa.array([1.5, 2]), pa.scalar(3), pc.fill_null(pa.array([1, None]), 0)
assert "pandas" not in sys.modules
assert list(pa.table({"a": made[1]}).to_pandas()["a"]) == [1.5, 2]
import pandas
assert pandas.DataFrame({"a": [1]}).a.tolist() == [1]
"""


def test_a_process_that_saves_memory_does_without_pandas() -> None:
    """Arrow makes columns of Python's values without it; it is there for who asks."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
    lean.release_columns()
