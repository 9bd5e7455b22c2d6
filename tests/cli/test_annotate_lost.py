"""Issue 15, lost or damaged 1 and 3: a study whose database is missing, replaced or damaged, in every verb."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lexiscope.cli.main import cli

from .test_annotate_reconcile import come, opened
from .test_annotate_serve import served, write_study

Run = Callable[..., Result]
LIST = "Submission id,Participant id,Status,Completion code\ns1,ID-a,APPROVED,AAA\n"
VERBS: dict[str, tuple[object, ...]] = {
    "serve": ("study", "--port", "0"),
    "status": ("study",),
    "export": ("study", "--out", "exported"),
    "verify": ("study",),
    "stage": ("study", "--out", "staged"),
    "reconcile": ("study", "list.csv"),
    "pause": ("study",),
    "resume": ("study",),
    "close": ("study",),
    "invite": ("study", "--n", "1"),
    "forget": ("study", "ID-a", "--platform-id"),
    "purge": ("study",),
    "password": ("study",),
    "backup": ("study",),
}
"""Every verb that opens a study's store, with what it needs."""

READING = ("status", "export", "verify", "reconcile", "backup")


def launched(folder: Path) -> Path:
    """A study with three people and their answers, a backup, and one more answer after it; closed in good order."""
    write_study(folder)
    (folder / "list.csv").write_text(LIST, encoding="utf-8")
    with opened(folder) as store:
        for name in ("ID-a", "ID-b"):
            come(store, name, until="finished")
        store.backup()
        come(store, "ID-c", until="finished")
    return folder / "study"


def files_of(folder: Path) -> dict[str, bytes]:
    # a lock's file names the process that looked last
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in folder.rglob("*")
        if one.name != ".lock" and one.is_file()
    }


def missing(study: Path) -> None:
    (study / "study.sqlite").unlink()


def empty(study: Path) -> None:
    (study / "study.sqlite").write_bytes(b"")


def another_program(study: Path) -> None:
    missing(study)
    code = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript('CREATE TABLE notes (text)')"
    subprocess.run([sys.executable, "-c", code, study / "study.sqlite"], check=True)


def another_study(study: Path) -> None:
    other = study.parent / "elsewhere"
    other.mkdir()
    shutil.copyfile(launched(other) / "study.sqlite", study / "study.sqlite")


def an_older_copy(study: Path) -> None:
    (copy,) = (study / "backups").glob("*.sqlite")
    shutil.copyfile(copy, study / "study.sqlite")


LOSSES = (missing, empty, another_program, another_study, an_older_copy)


@pytest.mark.parametrize("lose", LOSSES)
def test_a_lost_database_is_refused_by_every_verb(run: Run, tmp_path: Path, lose: Callable[[Path], None]) -> None:
    """Missing, empty, of another program, of another study, an older copy: two lines that name the file, the newest
    backup and the command that restores it; nothing is made or changed; that command brings the study back."""
    study = launched(tmp_path)
    lose(study)
    (copy,) = (study / "backups").glob("*.sqlite")
    before = files_of(study)
    for verb, words in VERBS.items():
        done = run("annotate", verb, *words)
        lines = done.stderr.splitlines()
        assert (done.exit_code, len(lines), done.stdout) == (1, 2, ""), (verb, done.output)
        assert "study.sqlite: " in lines[0], verb
        assert (
            lines[1]
            == f"  what to do: restore the newest backup: lexiscope annotate restore study {copy.relative_to(tmp_path)}"
        )
        assert files_of(study) == before, verb
    assert not (tmp_path / "exported").exists()
    restored = run(*lines[1].partition("lexiscope ")[2].split())
    assert restored.exit_code == 0, restored.output
    assert run("annotate", "verify", "study").exit_code == 0
    assert '"finished": 2' in run("annotate", "status", "study", "--json").output


def test_only_new_starts_again(run: Run, tmp_path: Path) -> None:
    """--new serves a lost study without its answers and keeps what is left in a folder of its own, from which it can be
    restored; on a sound database it is an error, so that a command that stays in a unit file loses nothing."""
    study = launched(tmp_path)
    refused = run("annotate", "serve", "study", "--port", "0", "--new")
    assert (refused.exit_code, "intact" in refused.output) == (1, True), refused.output
    missing(study)
    with served(tmp_path, "--new") as (_, said):
        assert "starts again without earlier answers" in "".join(said)
    (aside,) = study.glob("before_*")
    assert {one.name for one in aside.iterdir()} == {"secret.key", "study.mark", "backups"}
    assert '"states": {}' in run("annotate", "status", "study", "--json").output
    with served(tmp_path) as (_, said):
        assert "starts again" not in "".join(said)
    (copy,) = (aside / "backups").glob("*.sqlite")
    assert run("annotate", "restore", "again", copy).exit_code == 0


def test_a_folder_without_a_study_stays_empty(run: Run, tmp_path: Path) -> None:
    """Before the launch no verb but serve makes a database."""
    write_study(tmp_path)
    (tmp_path / "list.csv").write_text(LIST, encoding="utf-8")
    for verb, words in VERBS.items():
        if verb != "serve":
            done = run("annotate", verb, "study.yaml", *words[1:])
            assert (done.exit_code, "This study was not launched yet." in done.output) == (1, True), (verb, done.output)
    assert not (tmp_path / "study").exists()


def damages(n: int, sizes: dict[str, int], seed: int) -> list[tuple[str, str, int, int]]:
    """Random damages: the file, what is done to it, where, and with what."""
    rng = random.Random(seed)
    found = []
    for case in range(n):
        name = rng.choice(sorted(sizes))
        how = ("flip", "zeros", "truncate", "header")[case % 4]
        found.append((name, how, rng.randrange(sizes[name]), rng.randrange(1, 256)))
    return found


def damage(path: Path, how: str, at: int, byte: int) -> None:
    data = bytearray(path.read_bytes())
    if how == "flip":
        data[at] ^= byte
    elif how == "zeros":
        data[at : at + 512] = bytes(len(data[at : at + 512]))
    elif how == "truncate":
        del data[at:]
    else:
        data[: byte % 100] = os.urandom(byte % 100)
    path.write_bytes(data)


def outputs(verbs: tuple[str, ...]) -> dict[str, tuple[int, str]]:
    """What each verb says, in this process; an unexpected error is raised."""
    found = {}
    for verb in verbs:
        with suppress(FileNotFoundError):
            shutil.rmtree("exported")
        done = CliRunner().invoke(cli, ["annotate", verb, *map(str, VERBS[verb])], catch_exceptions=False)
        found[verb] = (done.exit_code, done.output)
    return found


def damaged_runs(tmp_path: Path, n: int, *, verbs: tuple[str, ...], killed: bool) -> int:
    """Damage a study's files again and again; return how often a verb reported it."""
    whole, study = tmp_path / "whole", tmp_path / "study"
    shutil.move(launched(tmp_path), whole)
    if killed:
        leave_log(whole, tmp_path)
    shutil.copytree(whole, study)
    expected, reported = outputs(verbs), 0
    assert all(code == 0 for code, _ in expected.values()), expected
    sizes = {
        name: (whole / name).stat().st_size for name in ("study.sqlite", "study.sqlite-wal") if (whole / name).exists()
    }
    assert len(sizes) == 1 + killed
    for case in damages(n, sizes, seed=15):
        name, how, at, byte = case
        shutil.rmtree(study)
        shutil.copytree(whole, study)
        damage(study / name, how, at, byte)
        for verb, (code, output) in outputs(verbs).items():
            if code == 0:
                assert verb == "backup" or output == expected[verb][1], (case, verb, output)
                continue
            reported += 1
            assert "what to do: " in output, (case, verb, output)
            assert verb == "verify" or len(output.splitlines()) == 2, (case, verb, output)
            assert "restore study/backups/" in output.replace("restore study study/", "restore study/"), (case, output)
    return reported


def leave_log(folder: Path, tmp_path: Path) -> None:
    """Leave a study as a process does that is killed: the last answers are in the write-ahead log."""
    code = (
        "import os, sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); "
        "from cli.test_annotate_reconcile import come, opened\n"
        "with opened(Path(sys.argv[2])) as store:\n"
        "    come(store, 'ID-d', until='finished'); come(store, 'ID-e', until='active'); os._exit(9)"
    )
    shutil.move(folder, tmp_path / "study")
    done = subprocess.run([sys.executable, "-c", code, Path(__file__).parents[1], tmp_path], check=False)
    assert done.returncode == 9
    shutil.move(tmp_path / "study", folder)


@pytest.mark.parametrize("killed", [False, True])
def test_a_damaged_file_is_an_error_or_does_not_matter(run: Run, tmp_path: Path, killed: bool) -> None:
    """Bytes flipped or zeroed, a file cut short, a random header, also of the log that a killed server left: each verb
    prints what it printed before, or two lines with the way back (``verify``: each problem, then the way back)."""
    assert damaged_runs(tmp_path, 16, verbs=("status", "verify"), killed=killed) > 10


@pytest.mark.soak
@pytest.mark.parametrize("killed", [False, True])
def test_many_damaged_files(run: Run, tmp_path: Path, killed: bool) -> None:
    """As above: 200 damages and all verbs that read."""
    assert damaged_runs(tmp_path, 200, verbs=READING, killed=killed) > 200


UNANSWERED = "WHERE participant_id NOT IN (SELECT participant_id FROM answers)"
ODD = {
    "UPDATE lists SET places = 'null'": "lists.places",
    "UPDATE lists SET places = 9000000000": "lists.places",
    "UPDATE leases SET number = 'two'": "leases.number",
    "UPDATE leases SET surplus = 7": "leases.surplus",
    "UPDATE leases SET status = 'gone'": "leases.status",
    "UPDATE leases SET expires_at = '2026-02-30T00:00:00.000000+00:00'": "leases.expires_at",
    "UPDATE leases SET taken_at = '2026-02-03T00:00:00'": "leases.taken_at",
    "UPDATE trials SET display_order = '[[['": "trials.display_order",
    "UPDATE trials SET display_order = 'null'": "trials.display_order",
    "UPDATE trials SET display_order = '[0, 7]'": "trials.display_order",
    "UPDATE trials SET item_id = x'ff00'": "trials.item_id",
    f"UPDATE trials SET item_id = 'elsewhere' {UNANSWERED}": "trials.item_id",
    f"UPDATE trials SET item_id = (SELECT item_id || '0' FROM answers) {UNANSWERED}": "trials.item_id",
    f"UPDATE trials SET item_id = 'debrief_comment' {UNANSWERED}": "trials.item_id",
    f"UPDATE trials SET phase = 'demographics' {UNANSWERED}": "trials.item_id",
    f"UPDATE trials SET position = -1 {UNANSWERED}": "trials.position",
    f"UPDATE trials SET position = 1 {UNANSWERED}": "trials.position",
    "INSERT INTO lists VALUES ('elsewhere', 90, 3)": "lists.list_id",
    "UPDATE identities SET platform_id = x'00' WHERE platform_id = 'ID-b'": "identities.platform_id",
    "UPDATE participants SET created_at = ''": "participants.created_at",
    "INSERT INTO setup_secrets VALUES ('0', 3.5)": "setup_secrets.expires_at",
    "UPDATE study SET definition = replace(definition, 'a', char(0))": "study.definition",
    "UPDATE study SET sha256 = 'b' || substr(sha256, 2)": "study.sha256",
    "UPDATE study SET study_id = 'studx'": "study.study_id",
    "UPDATE alembic_version SET version_num = 'two'": "alembic_version.version_num",
    "UPDATE alembic_version SET version_num = '-1'": "alembic_version.version_num",
    "DELETE FROM alembic_version": "alembic_version.version_num",
}
"""Edits by another program of what no seal covers, and the column in which the store finds what it cannot have
written."""


def test_cells_of_a_wrong_type_are_an_error_of_every_verb(run: Run, tmp_path: Path) -> None:
    """A server was killed, and another program set a cell to what the store does not write: each verb prints two lines
    that name the column, and the way back; the value, which may be a platform id, is not shown."""
    study, whole = launched(tmp_path), tmp_path / "whole"
    leave_log(study, tmp_path)
    shutil.move(study, whole)
    for number, (statement, column) in enumerate(ODD.items()):
        shutil.rmtree(study, ignore_errors=True)
        shutil.copytree(whole, study)
        with closing(sqlite3.connect(study / "study.sqlite", isolation_level=None)) as other:
            other.execute("DROP TRIGGER trials_no_update")
            other.execute("DROP TRIGGER participants_no_update")
            other.execute("DROP TRIGGER study_no_update")
            other.execute(statement)
        for verb in VERBS if not number else ("status", "verify"):
            done = run("annotate", verb, *VERBS[verb])
            assert (done.exit_code, "what to do: " in done.output) == (1, True), (statement, verb, done.output)
            assert f"{column}: " in done.output, (statement, verb, done.output)
            assert verb == "verify" or (len(done.stderr.splitlines()), done.stdout) == (2, ""), (verb, done.output)


def test_damage_is_an_error_of_every_verb(run: Run, tmp_path: Path) -> None:
    """A page of zeros: each verb, those that change the study too, prints two lines with the way back and changes
    nothing; the restore keeps the damaged file under another name."""
    study = launched(tmp_path)
    damage(study / "study.sqlite", "zeros", 8192, 0)
    before = files_of(study)
    for verb, words in VERBS.items():
        done = run("annotate", verb, *words)
        assert (done.exit_code, "  what to do: " in done.output) == (1, True), (verb, done.output)
        assert verb == "verify" or (len(done.stderr.splitlines()), done.stdout) == (2, ""), (verb, done.output)
        assert files_of(study) == before, verb
    (copy,) = (study / "backups").glob("*.sqlite")
    assert "Kept the former database" in run("annotate", "restore", "study", copy).output
    assert len(list(study.glob("replaced_*.sqlite"))) == 1
    assert run("annotate", "verify", "study").exit_code == 0
