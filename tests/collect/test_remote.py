"""Run folders at an address: the same files as in a folder, also after it broke off; what is there is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import platformdirs
import pytest
from click.testing import CliRunner

from lexiscope.cli.main import cli
from lexiscope.collect import collect_run
from lexiscope.collect.remote import working_copy
from lexiscope.collect.sweep import read_sweep, run_sweep
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import folder_of, is_address
from lexiscope.core.sealed import MACHINE, RUN
from lexiscope.studies.kit.verify import verify_run

ITEMS = tuple(item for item in catalog.dataset("mini_relatedness").items if item.usages[0].language == "en")[:20]
SUBJECTS = ("baseline:random", "baseline:constant")
ADDRESS = "memory://bucket/run"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Working copies are on a machine of this name; the store is empty."""
    fsspec.filesystem("memory").store.clear()

    def change(name: str) -> None:
        monkeypatch.setattr(platformdirs, "user_data_path", lambda _: tmp_path / name)

    change("here")
    return change


def collect_to(address: str, subjects: tuple[str, ...] = SUBJECTS) -> Path:
    """Collect to an address; return the working copy."""
    with working_copy(address) as copy:
        collect_run(ITEMS, subjects, "relatedness", out=copy.folder, finished=copy.send_parts)
    return copy.folder


def stored(address: str = ADDRESS) -> dict[str, bytes]:
    """The files at an address, without the one that says on which machine the run took place."""
    files, root = fsspec.core.url_to_fs(address)
    names = {path: path[len(root) + 1 :] for path in files.find(root)}
    return {name: files.cat_file(path) for path, name in names.items() if not name.endswith(MACHINE)}


def in_folder(tmp_path: Path, subjects: tuple[str, ...] = SUBJECTS) -> dict[str, bytes]:
    """The files of the same run in a folder."""
    folder = tmp_path / f"folder of {len(subjects)}"
    collect_run(ITEMS, subjects, "relatedness", out=folder)
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name not in (".lock", MACHINE)]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


class Writes:
    """What is written and removed at an address in order; the write of number *failing* is refused."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failing: int | None = None) -> None:
        self.names: list[str] = []
        files = fsspec.filesystem("memory")
        write, remove = files.open, files.rm_file

        def open_file(path: str, mode: str = "rb", **options: Any) -> Any:
            if "w" in mode:
                if len(self.names) == failing:
                    raise OSError("the store is away")
                self.names.append(path.rpartition("/run/")[2])
            return write(path, mode, **options)

        def remove_file(path: str) -> None:
            self.names.append(f"removed {path.rpartition('/run/')[2]}")
            remove(path)

        monkeypatch.setattr(files, "open", open_file)
        monkeypatch.setattr(files, "rm_file", remove_file)


@pytest.mark.parametrize("protocol", ["memory", "file"])
def test_the_files_are_those_of_a_folder(protocol: str, tmp_path: Path) -> None:
    """The address and the working copy have the same bytes as a run in a folder, and pass its check."""
    address = ADDRESS if protocol == "memory" else f"file://{tmp_path}/store/run"
    folder = collect_to(address)
    assert stored(address) == in_folder(tmp_path)
    assert folder == folder_of(address)
    assert folder.is_relative_to(tmp_path / "here")
    assert "whole" in verify_run(folder)[0]
    if protocol == "file":
        assert "whole" in verify_run(tmp_path / "store" / "run")[0]


def test_a_seal_follows_its_answers_and_the_record_is_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finished run is sent once; of one that is extended the record goes before anything is replaced."""
    first = Writes(monkeypatch)
    collect_to(ADDRESS, SUBJECTS[:1])
    kinds = [name.replace(Path(name).stem, "*") if name.startswith("parts/") else name for name in first.names]
    assert kinds == ["question.json", "parts/*.parquet", "parts/*.json", "responses.parquet", MACHINE, RUN]
    first.names.clear()
    collect_to(ADDRESS, SUBJECTS[:1])
    assert first.names == [MACHINE]
    first.names.clear()
    collect_to(ADDRESS)
    assert first.names[:2] == [f"removed {RUN}", "question.json"]
    assert first.names[-3:] == ["responses.parquet", MACHINE, RUN]
    assert len([name for name in first.names if name.startswith("parts/")]) == 2


def test_wherever_it_breaks_off_it_ends_the_same(
    machine: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each write that can fail, on this machine or another one: the record is there only if all files are."""
    whole = in_folder(tmp_path)
    # question, two parts of two files, responses, machine, record
    for failing in range(8):
        fsspec.filesystem("memory").store.clear()
        machine(f"machine {failing}")
        with monkeypatch.context() as patched:
            Writes(patched, failing)
            with pytest.raises(RunError, match="the store is away"):
                collect_to(ADDRESS)
        assert RUN not in stored()
        assert stored().items() <= whole.items()
        if failing % 2:
            machine("another machine")
        collect_to(ADDRESS)
        assert stored() == whole
    fsspec.filesystem("memory").store.clear()
    machine("machine 8")
    with monkeypatch.context() as patched:
        writes = Writes(patched, 8)
        collect_to(ADDRESS)
        assert len(writes.names) == 8


def test_what_is_at_the_address_is_not_asked_again(
    machine: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine fetches the parts; a part that was damaged there is asked and sent again."""
    collect_to(ADDRESS)
    before, files = stored(), fsspec.filesystem("memory")
    asked: list[str] = []
    task = catalog.task("relatedness")
    answer = type(task).answer

    def counted(self: Any, items: Any, subject: Any, **options: Any) -> Any:
        asked.append(subject.subject_id)
        return answer(self, items, subject, **options)

    monkeypatch.setattr(type(task), "answer", counted)
    machine("second")
    collect_to(ADDRESS)
    assert (asked, stored()) == ([], before)
    seal = next(name for name in before if name.startswith("parts/") and name.endswith(".json"))
    table = seal.replace(".json", ".parquet")
    files.pipe_file(f"/bucket/run/{table}", before[table][:-1])
    machine("third")
    collect_to(ADDRESS)
    assert asked == [json.loads(before[seal])["key"]["subject"]]
    assert stored() == before
    files.pipe_file(f"/bucket/run/{seal}", before[seal].replace(b"relatedness", b"plausibility"))
    machine("fourth")
    collect_to(ADDRESS)
    assert len(asked) == 2
    assert stored() == before


def test_a_sweep_is_sent_with_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has its record, and that of the sweep is last."""
    (tmp_path / "sweep.yaml").write_text(
        "data: [{items: mini_relatedness, language: en}]\nsubjects: [baseline:random]\nseeds: [0, 1]\n"
    )
    sweep = read_sweep(tmp_path / "sweep.yaml")
    writes = Writes(monkeypatch)
    with working_copy(ADDRESS) as copy:
        run_sweep(sweep, out=copy.folder, finished=lambda run, table: copy.send_parts())
    runs = [f"mini_relatedness-relatedness-seed{seed}" for seed in (0, 1)]
    assert writes.names[-3:] == [f"{runs[0]}/{RUN}", f"{runs[1]}/{RUN}", RUN]
    assert stored().keys() - {RUN} == set(json.loads(stored()[RUN])["files"])
    assert "whole" in verify_run(copy.folder)[0]


def test_an_address_that_cannot_be_used() -> None:
    """Without a driver, or for another question, nothing is asked; a file that does not arrive is an error."""
    assert not is_address("C:\\runs")
    for chain in ("simplecache::file:///tmp/run", "zip://run::memory://bucket/run.zip"):
        with pytest.raises(InputError, match="chain of addresses"):
            collect_to(chain)
    for nothing in ("memory://", "file:///"):
        with pytest.raises(InputError, match="names no folder"):
            collect_to(nothing)
    with pytest.raises(InputError, match="has no name"):
        collect_to("")
    with pytest.raises(InputError, match="no driver"):
        collect_to("nowhere://bucket/run")
    with pytest.raises(InputError, match="has a password in it"):
        collect_to("ftp://me:secret@host/run")
    collect_to(ADDRESS)
    with working_copy(ADDRESS) as copy, pytest.raises(RunError, match="another question"):
        collect_run(ITEMS[:5], SUBJECTS, "relatedness", out=copy.folder)


def test_a_scheme_in_capitals_is_the_same_address() -> None:
    """Schemes have no case; before, such a run was a folder MEMORY: on this machine."""
    copy = collect_to("MEMORY://bucket/run/")
    assert copy == folder_of(ADDRESS)
    assert stored()


def test_an_address_is_read_from_its_working_copy(tmp_path: Path) -> None:
    """What reads a run says so, and names the copy if this machine has one."""
    runner = CliRunner()
    for address in (ADDRESS, f"file://{tmp_path}/store/run"):
        words = [
            ["report", address, "--out", str(tmp_path / "r.html")],
            ["verify", address],
            ["sql", address, "select 1"],
        ]
        for line in words:
            done = runner.invoke(cli, line)
            assert done.exit_code == 1
            assert "this is an address" in done.output
            assert "lexiscope collect" in done.output
        copy = collect_to(address)
        for line in words:
            done = runner.invoke(cli, line)
            assert f"{address}: [E001]" in done.output
            assert f"name {copy}" in done.output
        with pytest.raises(InputError, match="this is an address"):
            ResponseTable.scan(address)


def test_the_next_command_can_be_copied(tmp_path: Path) -> None:
    """A folder with a space in its name is one word of it."""
    words = [
        "collect",
        "--items",
        "mini_relatedness",
        "--subject",
        "baseline:constant",
        "--out",
        str(tmp_path / "my run"),
    ]
    done = CliRunner().invoke(cli, words)
    assert f"next: lexiscope report '{tmp_path / 'my run'}' --out" in done.output


def test_a_file_that_arrives_otherwise_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent is read back: the run has no record there."""
    files = fsspec.filesystem("memory")
    read = files.open

    def cut(path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "rb" and path.endswith(".parquet"):
            files.store[path].truncate(3)
        return read(path, mode, **options)

    monkeypatch.setattr(files, "open", cut)
    with pytest.raises(RunError, match="did not arrive as it was sent"):
        collect_to(ADDRESS)
    assert RUN not in stored()
