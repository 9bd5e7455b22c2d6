"""A scan gives what the loaded table gives, and reads only what it is asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from lexiscope.core.columnar import parquet_file
from lexiscope.core.columnar import scan as scan_module
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.response import COLUMNS, ResponseTable, parts_writer
from lexiscope.core.simulated import SIMULATED_ID

N = 400


@pytest.fixture(scope="module")
def table() -> ResponseTable:
    dice = np.random.default_rng(0)
    number = np.arange(N)
    return ResponseTable.from_columns(
        {
            "subject_id": [f"encoder:{'ab'[k]}" if k < 2 else f"{SIMULATED_ID}{k}" for k in number % 4],
            "subject_kind": ["encoder" if k < 2 else "participant" for k in number % 4],
            "item_id": [f"i{k}" for k in number // 8],
            "task": "relatedness",
            "measure": "rating",
            "value": np.where(dice.random(N) < 0.1, np.nan, np.round(dice.normal(size=N), 2)),
            "layer": np.where(number % 4 < 2, number // 100, np.nan),
            "raw": [None if k % 3 else f"reply {k}" for k in number],
        }
    )


@pytest.fixture(scope="module")
def folder(table: ResponseTable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_file, "ROWS_OF_GROUP", 40)
        with parts_writer(tmp_path_factory.mktemp("scan") / "parts") as write:
            write(table)
        table.sorted_by("layer").write_parquet(tmp_path_factory.getbasetemp() / "by_layer.parquet")
    return next(tmp_path_factory.getbasetemp().glob("scan*")) / "parts"


CONDITIONS = [
    {},
    {"subject_id": "encoder:b"},
    {"subject_kind": "simulated"},
    {"subject_kind": "participant"},
    {"layer": 3},
    {"layer": (0, None)},
    {"value": None, "raw": None},
    {"item_id": ("i3", "i17", "none")},
    {"subject_id": "none"},
    {"subject_id": ()},
]


@pytest.mark.parametrize("equal", CONDITIONS)
def test_a_scan_gives_what_a_table_gives(table: ResponseTable, folder: Path, equal: dict[str, object]) -> None:
    """Columns, codes, categories, counts, means by group and rows by item, with each kind of condition."""
    scan = ResponseTable.scan(folder).where(**equal)
    loaded = ResponseTable.scan(folder).table()
    assert loaded.sorted_by("item_id", "subject_id", "layer", "raw") == table.sorted_by(
        "item_id", "subject_id", "layer", "raw"
    )
    chosen = loaded.where(**equal)
    assert scan.table() == chosen
    assert len(scan) == len(chosen)
    for name in COLUMNS:
        np.testing.assert_array_equal(scan.column(name), chosen.column(name))
        assert scan.unique(name) == chosen.unique(name)
    for one, other in zip(scan.codes("item_id"), chosen.codes("item_id"), strict=True):
        assert list(one) == list(other)
    assert scan.by_item("raw") == chosen.by_item("raw")
    means = scan.group_means("subject_id", "layer")
    np.testing.assert_array_equal(means.rows, chosen.group_means("subject_id", "layer").rows)
    np.testing.assert_allclose(means.mean, chosen.group_means("subject_id", "layer").mean)


def test_only_what_is_asked_for_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of other subjects are not opened; row groups of other layers, and other columns, are not read."""
    opened: list[Path] = []
    read: list[tuple[int, tuple[str, ...]]] = []
    open_file, batches = scan_module.open_file, scan_module._batches

    def noting_open(path: Path) -> parquet.ParquetFile:
        opened.append(path)
        return open_file(path)

    def noting_batches(file: parquet.ParquetFile, groups: list[int], names: list[str]) -> object:
        read.append((len(groups), tuple(names)))
        return batches(file, groups, names)

    monkeypatch.setattr(scan_module, "open_file", noting_open)
    monkeypatch.setattr(scan_module, "_batches", noting_batches)
    scan = ResponseTable.scan(folder).where(subject_id="encoder:b")
    assert opened == []
    assert len(scan.column("value")) == 100
    assert [path.parent.name for path in opened] == ["subject=encoder%3Ab"]
    read.clear()
    by_layer = ResponseTable.scan(folder.parent.parent / "by_layer.parquet").where(layer=2)
    assert len(by_layer.column("value")) == 50
    # rows 100 to 149 of the file, in groups of 40: the third and the fourth
    assert read == [(2, ("value", "layer"))]


def test_a_selection_has_its_columns_alone(folder: Path) -> None:
    """Batches have the selected columns; a table needs the columns that every answer has."""
    scan = ResponseTable.scan(folder).select("item_id", "value")
    assert {tuple(batch.column_names) for batch in scan.batches()} == {("item_id", "value")}
    with pytest.raises(InputError, match="needs the column 'subject_id'"):
        scan.table()
    with pytest.raises(InputError, match="no response column 'valeu'"):
        scan.select("valeu")
    with pytest.raises(InputError, match="has no mean"):
        scan.group_means("item_id", of="raw")


def test_several_places_follow_each_other(folder: Path, table: ResponseTable, tmp_path: Path) -> None:
    """Rows of several places come in their order; no place, an absent one and an empty folder are errors."""
    table.take(np.arange(3)).write_parquet(tmp_path / "few.parquet")
    both = ResponseTable.scan(tmp_path / "few.parquet", folder)
    assert len(both) == N + 3
    assert both.table().take(np.arange(3)) == table.take(np.arange(3))
    (tmp_path / "empty").mkdir()
    for places, what in (
        ((), "no place"),
        (("absent",), "no such file"),
        ((tmp_path / "empty",), "holds no responses"),
    ):
        with pytest.raises(InputError, match=what):
            ResponseTable.scan(*places)
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "few.parquet").read_bytes()[:-9])
    with pytest.raises(RunError, match=r"torn\.parquet"):
        ResponseTable.scan(tmp_path / "torn.parquet").column("value")


def test_folders_of_other_programs_name_columns(table: ResponseTable, tmp_path: Path) -> None:
    """A column that the files lack and that their folder names has that name in all rows."""
    arrow = table.take(np.arange(8)).arrow
    plain = pa.table({name: pa.array(arrow.column(name).to_pylist()) for name in COLUMNS if name != "task"})
    (tmp_path / "task=same%20sense").mkdir()
    parquet.write_table(plain, tmp_path / "task=same%20sense" / "x.parquet")
    assert ResponseTable.scan(tmp_path).unique("task") == ("same sense",)
