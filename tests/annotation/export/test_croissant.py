"""Croissant: every table of an export with its checksum, every column with its type; valid by MLCommons' own reader."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest

from lexiscope.annotation.export.croissant import FILE
from lexiscope.annotation.export.package import write_export

from .test_package import made


def test_every_table_is_described_as_it_is(tmp_path: Path) -> None:
    """Each CSV file of the folder is a file object with its SHA-256 and size, and a record set with all its columns."""
    write_export(made(), tmp_path / "e")
    described = json.loads((tmp_path / "e" / FILE).read_text(encoding="utf-8"))
    assert described["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    files = {entry["@id"]: entry for entry in described["distribution"]}
    assert set(files) == {path.name for path in (tmp_path / "e").glob("*.csv")}
    columns = {}
    for record_set in described["recordSet"]:
        (source,) = {field["source"]["fileObject"]["@id"] for field in record_set["field"]}
        columns[source] = [field["source"]["extract"]["column"] for field in record_set["field"]]
        assert all(field["description"] for field in record_set["field"])
    for name, entry in files.items():
        path = tmp_path / "e" / name
        assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert entry["contentSize"] == f"{path.stat().st_size} B"
        with path.open(encoding="utf-8", newline="") as stream:
            # a column without a name (a row number of a published layout) cannot be described
            assert [column for column in next(csv.reader(stream)) if column] == columns[name]
    types = {field["@id"]: field["dataType"] for record_set in described["recordSet"] for field in record_set["field"]}
    assert (types["judgments/rt_ms"], types["ratings/value"]) == ("sc:Float", "sc:Float")


def test_the_reader_of_mlcommons_accepts_it(tmp_path: Path) -> None:
    """``mlcroissant`` finds no error in the description, and reads the records of a table."""
    croissant = pytest.importorskip("mlcroissant")
    write_export(made(), tmp_path / "e")
    dataset = croissant.Dataset(jsonld=str(tmp_path / "e" / FILE))
    assert not dataset.metadata.ctx.issues.errors
    records = list(dataset.records("exclusions"))
    assert [record["exclusions/removed"] for record in records] == [1, 0]
