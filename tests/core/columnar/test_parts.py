"""A folder of parts: whole or absent, sealed, the same bytes however rows arrive, few files open at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.columnar import parquet_file, parts
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.response import ResponseTable, parts_writer
from lexiscope.core.sealed import RUN, check_run


def answers(n: int = 600, subjects: int = 4) -> ResponseTable:
    number = np.arange(n)
    return ResponseTable.from_columns(
        {
            "subject_id": [f"encoder:org/m{k}" for k in number % subjects],
            "subject_kind": "encoder",
            "item_id": [f"i{k}" for k in number // subjects],
            "task": ["relatedness" if k < n // 2 else "sense_choice" for k in number],
            "measure": "cosine_distance",
            "value": number / 8,
            # only the last rows have an option
            "option": [None] * (n - 9) + ["a", "b", "c"] * 3,
        }
    )


def written(folder: Path, tables: list[ResponseTable]) -> dict[str, bytes]:
    with parts_writer(folder) as write:
        for table in tables:
            write(table)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.parquet")}


def sorted_rows(table: ResponseTable) -> ResponseTable:
    return table.sorted_by("task", "subject_id", "item_id")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices and row groups so small that some hundred rows have several."""
    monkeypatch.setattr(parts, "_SLICE", 64)
    monkeypatch.setattr(parquet_file, "ROWS_OF_GROUP", 50)


@pytest.mark.usefixtures("small")
def test_parts_hold_the_rows_that_were_written(tmp_path: Path) -> None:
    """A file for each task and subject, in the order of the rows; the same bytes in whatever pieces rows arrive."""
    table = answers()
    whole = written(tmp_path / "whole", [table])
    pieces = [table.take(np.arange(start, min(start + 7, 600))) for start in range(0, 600, 7)]
    assert written(tmp_path / "pieces", pieces) == whole
    assert len(whole) == 8
    first = next(iter(sorted(whole)))
    assert first == "task=relatedness/subject=encoder%3Aorg%2Fm0/part-00001.parquet"
    assert ResponseTable.read_parquet(tmp_path / "whole" / first) == table.where(
        task="relatedness", subject_id="encoder:org/m0"
    )
    scan = ResponseTable.scan(tmp_path / "whole")
    assert (len(scan), len(scan.files), scan.left_out) == (600, 8, ())
    assert sorted_rows(scan.table()) == sorted_rows(table)
    record = check_run(tmp_path / "whole")
    assert record["rows"] == 600
    assert record["parts"][first] == {"task": "relatedness", "subject_id": "encoder:org/m0", "rows": 75}


@pytest.mark.usefixtures("small")
def test_more_subjects_than_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a file had to be closed, further rows of its subject are in another part; no row is lost."""
    monkeypatch.setattr(parts, "_MOST_OPEN", 2)
    monkeypatch.setattr(parts, "_MOST_WAITING", 1)
    table = answers()
    assert len(written(tmp_path / "a", [table])) > 8
    assert sorted_rows(ResponseTable.scan(tmp_path / "a").table()) == sorted_rows(table)


def test_a_folder_is_whole_or_absent(tmp_path: Path) -> None:
    """An error between two tables leaves nothing; an existing folder is refused and stays as it is."""

    def fail_after_rows() -> None:
        with parts_writer(tmp_path / "a") as write:
            write(answers())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_rows()
    assert list(tmp_path.iterdir()) == []
    before = written(tmp_path / "a", [answers()])
    with pytest.raises(RunError, match="exists already"):
        written(tmp_path / "a", [answers(16)])
    assert {path.relative_to(tmp_path / "a").as_posix() for path in (tmp_path / "a").rglob("*.parquet")} == {*before}


def test_a_killed_writer_leaves_no_folder(tmp_path: Path) -> None:
    """A process that ends between two tables leaves a hidden folder alone, which no reader takes for responses."""
    code = (
        "import os\nfrom lexiscope.core.response import ResponseTable, parts_writer\n"
        "columns = dict(subject_id='s', subject_kind='encoder', item_id=['i'] * 70000, task='t', measure='m')\n"
        f"with parts_writer({str(tmp_path / 'a')!r}) as write:\n"
        "    write(ResponseTable.from_columns(columns))\n    os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert not (tmp_path / "a").exists()
    assert len(list(tmp_path.rglob("*.parquet"))) == 1
    with pytest.raises(InputError, match="holds no responses"):
        ResponseTable.scan(tmp_path)
    assert written(tmp_path / "a", [answers()])
    assert len(ResponseTable.scan(tmp_path)) == 600


def test_damage_is_found_and_named(tmp_path: Path) -> None:
    """A changed byte, a lost part, a record that was changed, and a file that the record does not name."""
    names = sorted(written(tmp_path / "a", [answers()]))
    part = tmp_path / "a" / names[2]
    content = part.read_bytes()
    (tmp_path / "a" / "task=extra").mkdir()
    (tmp_path / "a" / "task=extra" / "more.parquet").write_bytes(content)
    scan = ResponseTable.scan(tmp_path / "a")
    assert len(scan) == 600
    assert [Path(name).name for name in scan.left_out] == ["more.parquet"]
    part.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    with pytest.raises(RunError, match="not as it was written"):
        ResponseTable.scan(tmp_path / "a").column("value")
    with pytest.raises(RunError, match="changed or removed"):
        scan.column("value")
    part.unlink()
    with pytest.raises(RunError, match="no such file"):
        ResponseTable.scan(tmp_path / "a")
    part.write_bytes(content)
    record = (tmp_path / "a" / RUN).read_text(encoding="utf-8")
    (tmp_path / "a" / RUN).write_text(record.replace('"rows": 600', '"rows": 601'), encoding="utf-8")
    with pytest.raises(RunError, match="damaged"):
        ResponseTable.scan(tmp_path / "a")


@pytest.mark.skipif(os.name != "posix", reason="names of any letters")
def test_names_of_subjects_are_no_paths(tmp_path: Path) -> None:
    """A subject with slashes, dots and more letters than a name of a file has stays inside the folder."""
    names = ["../../up", "..", "x" * 500, "x" * 499 + "y", "a=b", ""]
    columns = {"subject_kind": "chat", "item_id": "i", "task": "t", "measure": "m"}
    table = ResponseTable.from_columns(columns | {"subject_id": names})
    written(tmp_path / "a", [table])
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    scan = ResponseTable.scan(tmp_path / "a")
    assert sorted(scan.unique("subject_id")) == sorted(names)
    assert all(len(scan.where(subject_id=name)) == 1 for name in names)
