"""``lexiscope verify``: every damage of a run is found and named, also after a report, and nothing is blessed again."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lexiscope.cli.main import cli
from lexiscope.core.errors import RunError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import read_records
from lexiscope.core.run import sha256_of, write_json
from lexiscope.core.sealed import seal_run, write_sealed
from lexiscope.subjects.trained._trained_folder import seal_of

N_THIN, N_WHOLE = 30, 200
COLLECT = (
    *("collect", "--items", "mini_relatedness"),
    *("--subject", "baseline:word_overlap", "--subject", "encoder:minilm"),
)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def study_command(out: Path) -> list[object]:
    made = ["study", "saw_c", "--dataset", "mini_relatedness", "--subject", "encoder:minilm"]
    return [*made, "--bootstrap", "20", "--out", out]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished run of a study with a live subject: every kind of file is in it."""
    folder = tmp_path_factory.mktemp("verify") / "study"
    result = call(*study_command(folder))
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of collect."""
    folder = tmp_path_factory.mktemp("verify") / "answers"
    made = [
        "collect",
        "--items",
        "mini_relatedness",
        "--subject",
        "baseline:word_overlap",
        "--subject",
        "encoder:minilm",
    ]
    result = call(*made, "--out", folder)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def own(study: Path, tmp_path: Path) -> Path:
    """A copy of the study's run, to be damaged."""
    return Path(shutil.copytree(study, tmp_path / "study"))


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def damages(folder: Path, number: int) -> Iterator[tuple[Path, bytes]]:
    """Every file in turn, with one bit of it turned, or cut short: *number* of each."""
    draw, files = random.Random(4), files_of(folder)
    for turn in range(2 * number):
        path = files[turn // 2 % len(files)] if turn // 2 < len(files) else draw.choice(files)
        content = path.read_bytes()
        if turn % 2:
            yield path, content[: draw.randrange(len(content))]
        else:
            place = draw.randrange(len(content))
            yield path, content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1 :]


def check_damages(folder: Path, number: int, page: Path) -> None:
    found = 0
    for path, content in damages(folder, number):
        before = path.read_bytes()
        path.write_bytes(content)
        whole = {each: sha256_of(each) for each in files_of(folder)}
        report = call("report", folder, "--out", page)
        result = call("verify", folder, "--checksums")
        name = path.relative_to(folder).as_posix()
        assert result.exit_code == 1, f"{name}: not found\n{result.output}"
        assert path.name in result.output
        assert ("sha256" in result.output and "expected" in result.output) or any(
            words in result.output for words in ("cannot be", "sealed")
        ), result.output
        assert "what to do:" in result.output
        assert {each: sha256_of(each) for each in files_of(folder)} == whole, "a reader changed the run"
        if "work" not in path.parts and path.name != "machine.json":
            assert report.exit_code == 1, f"{name}: the report was written of a damaged run"
            assert path.name in report.output
        path.write_bytes(before)
        found += 1
    assert found == 2 * number
    assert call("verify", folder, "--checksums").exit_code == 0


def test_every_damage_is_found_also_when_the_report_runs_first(study: Path, answers: Path, tmp_path: Path) -> None:
    """Single bits and truncations, over all files of a study and of a run of collect (R3; all of them: make soak)."""
    check_damages(study, N_THIN, tmp_path / "a.html")
    check_damages(answers, N_THIN // 2, tmp_path / "b.html")


@pytest.mark.soak
def test_all_four_hundred_damages_are_found(study: Path, answers: Path, tmp_path: Path) -> None:
    """R3: 200 flips and 200 truncations, of either kind of run."""
    check_damages(study, N_WHOLE, tmp_path / "a.html")
    check_damages(answers, N_WHOLE, tmp_path / "b.html")


def test_a_whole_run_is_computed_again(study: Path, answers: Path) -> None:
    """It says what was computed again and what was compared by checksum only, and changes nothing."""
    before = {path: path.read_bytes() for path in files_of(study)}
    result = call("verify", study)
    assert result.exit_code == 0, result.output
    assert "the study saw_c was run again on its answers" in result.output
    assert "collected/responses.parquet: put together again from 1 part, the same rows" in result.output
    assert "under work, by checksum only" in result.output
    assert {path: path.read_bytes() for path in files_of(study)} == before
    result = call("verify", answers)
    assert result.exit_code == 0, result.output
    assert "responses.parquet: put together again from 2 parts, the same rows" in result.output


def test_numbers_that_were_sealed_again_are_found(own: Path) -> None:
    """Who changes a result and its checksum too is found by computing it again."""
    record = json.loads((own / "run.json").read_text(encoding="utf-8"))
    text = (own / "results.json").read_text(encoding="utf-8")
    (own / "results.json").write_text(text.replace('"value": ', '"value": 1', 1), encoding="utf-8")
    seal_run(own, record, record["files"])
    assert call("verify", own, "--checksums").exit_code == 0
    result = call("verify", own)
    assert result.exit_code == 1
    assert "results.json: sha256" in result.output


def test_answers_that_are_not_those_of_the_parts_are_found(answers: Path, tmp_path: Path) -> None:
    """A table of answers with a checksum of its own is compared with the parts."""
    own = Path(shutil.copytree(answers, tmp_path / "own"))
    record = json.loads((own / "run.json").read_text(encoding="utf-8"))
    table = ResponseTable.read_parquet(own / "responses.parquet")
    table.take(range(1, len(table))).write_parquet(own / "responses.parquet")  # type: ignore[arg-type]
    seal_run(own, record, record["files"])
    result = call("verify", own)
    assert result.exit_code == 1
    assert "does not hold the answers of its parts" in result.output


def test_files_of_the_user_are_named_and_no_error(own: Path) -> None:
    """Notes in the folder are the user's."""
    (own / "notes.txt").write_text("mine", encoding="utf-8")
    result = call("verify", own, "--checksums")
    assert result.exit_code == 0
    assert "not part of the run, not checked: notes.txt" in result.output
    assert call("report", own, "--out", own / "page.html").exit_code == 0


@pytest.mark.parametrize("name", ["run.json", "tables/*.csv", "results.json", "collected/parts/*.parquet"])
def test_a_file_that_is_gone_is_named(own: Path, tmp_path: Path, name: str) -> None:
    """A lost file is damage, for verify and for the report."""
    path = sorted(own.glob(name))[0]
    path.unlink()
    for result in (call("verify", own), call("report", own, "--out", tmp_path / "page.html")):
        assert result.exit_code == 1
        assert path.name in result.output


@pytest.mark.parametrize(("one", "other"), [("run.json", "machine.json"), ("run.json", "collected/question.json")])
def test_sealed_files_that_changed_places_are_found(own: Path, tmp_path: Path, one: str, other: str) -> None:
    """A sealed file says which file it is: two that are whole are damage where each has the place of the other."""
    (own / one).rename(own / "kept.json")
    (own / other).rename(own / one)
    (own / "kept.json").rename(own / other)
    for result in (
        call("verify", own),
        call("report", own, "--out", tmp_path / "page.html"),
        call(*study_command(own)),
    ):
        assert result.exit_code == 1, result.output
        assert f"it was written as {Path(other).name}" in result.output
        assert "what to do:" in result.output


def test_a_run_of_an_earlier_version_says_so(own: Path, tmp_path: Path) -> None:
    """A record without seal, and one that names no files, are clear messages with the way out."""
    record = json.loads((own / "run.json").read_text(encoding="utf-8"))
    (own / "run.json").write_text(json.dumps({k: v for k, v in record.items() if k != "seal"}), encoding="utf-8")
    for result in (call("verify", own), call("report", own, "--out", tmp_path / "a.html"), call(*study_command(own))):
        assert result.exit_code == 1
        assert "it has no seal: an earlier version of Lexiscope wrote it, or it was changed" in result.output
        assert "delete run.json and give the command again" in result.output
    write_sealed(own / "run.json", {k: v for k, v in record.items() if k != "files"})
    result = call("verify", own)
    assert result.exit_code == 1
    assert "its record names no files" in result.output


def test_a_study_computes_a_damaged_result_again_and_says_so(own: Path, study: Path) -> None:
    """The way back is the command of the run: its results come from answers that are whole."""
    (own / "results.json").write_text("[]", encoding="utf-8")
    result = call(*study_command(own))
    assert result.exit_code == 0, result.output
    assert "results.json was not as it was written and was computed again" in result.output
    assert (own / "results.json").read_bytes() == (study / "results.json").read_bytes()
    assert call("verify", own, "--checksums").exit_code == 0


@pytest.mark.parametrize("end", [".parquet", ".json"])
def test_a_study_checks_what_it_collected(own: Path, study: Path, end: str) -> None:
    """A study whose collected answers were changed is refused, naming the file; deleted, they are asked again."""
    part = next((own / "collected" / "parts").glob(f"*{end}"))
    content = part.read_bytes()
    part.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    result = call(*study_command(own))
    assert result.exit_code == 1
    assert part.name in result.output
    assert "delete it and" in result.output
    for each in (own / "collected" / "parts").iterdir():
        each.unlink()
    result = call(*study_command(own))
    assert result.exit_code == 0, result.output
    names = json.loads((study / "run.json").read_text(encoding="utf-8"))["files"]
    for name in names:
        assert (own / name).read_bytes() == (study / name).read_bytes(), name


def test_readers_in_python_check_as_well(own: Path) -> None:
    """Results and answers that are read by name are compared with the record beside them first."""
    for name, read in (("results.json", read_records), ("responses.parquet", ResponseTable.read_parquet)):
        content = (own / name).read_bytes()
        read(own / name)
        (own / name).write_bytes(content + b" ")
        with pytest.raises(RunError, match=name):
            read(own / name)
        (own / name).write_bytes(content)


def test_collect_goes_on_from_whole_parts_only(answers: Path, tmp_path: Path) -> None:
    """A damaged part or question stops it; a damaged table of answers is put together again, to the same bytes."""
    own = Path(shutil.copytree(answers, tmp_path / "own"))
    for path in (own / "question.json", next((own / "parts").glob("*.json")), next((own / "parts").glob("*.parquet"))):
        content = path.read_bytes()
        path.write_bytes(content[:20] + bytes([content[20] ^ 1]) + content[21:])
        result = call(*COLLECT, "--out", own)
        assert (result.exit_code, path.name in result.output) == (1, True), result.output
        path.write_bytes(content)
    (own / "responses.parquet").write_bytes(b"PAR1")
    assert call(*COLLECT, "--out", own).exit_code == 0
    assert (own / "responses.parquet").read_bytes() == (answers / "responses.parquet").read_bytes()


def test_what_is_no_run(tmp_path: Path) -> None:
    """An empty folder and no folder are told apart."""
    (tmp_path / "empty").mkdir()
    assert "holds no finished run" in call("verify", tmp_path / "empty").output
    assert "there is no such run folder" in call("verify", tmp_path / "none").output


def test_what_was_worked_out_may_be_deleted(own: Path) -> None:
    """Batches of a model are kept to continue; they are no part of the result."""
    number = len(files_of(own / "collected" / "work"))
    shutil.rmtree(own / "collected" / "work")
    result = call("verify", own, "--checksums")
    assert result.exit_code == 0, result.output
    assert f"{number} files under work were deleted" in result.output


def test_a_trained_folder_is_checked(tmp_path: Path) -> None:
    """The record of a training has a seal of its own kind; a changed byte of it, or of its files, is found."""
    (tmp_path / "head.safetensors").write_bytes(b"weights")
    record = {
        "kind": "classifier",
        "training": {"view": "full"},
        "files": {"head.safetensors": sha256_of(tmp_path / "head.safetensors")},
    }
    write_json(tmp_path / "run.json", record | {"seal": seal_of(record)})
    assert call("verify", tmp_path).exit_code == 0
    for path in (tmp_path / "head.safetensors", tmp_path / "run.json"):
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        result = call("verify", tmp_path)
        assert (result.exit_code, path.name in result.output) == (1, True)
        path.write_bytes(content)
