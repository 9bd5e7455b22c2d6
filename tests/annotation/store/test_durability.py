"""reliability.md S3, S11, S12, S23: nothing acknowledged is lost, nothing is doubled, whatever ends the process."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from lexiscope.annotation.store import backup, open_study
from lexiscope.annotation.store.engine import DATABASE_NAME, StorageError
from lexiscope.annotation.store.mark import LogMark, file_digest
from lexiscope.annotation.store.record import AnswerRefused, Receipt
from lexiscope.annotation.store.store import Store
from lexiscope.core.errors import DataError, InputError, LexiscopeError, RunError

from .made_study import active, answer, made_study, open_store, program

ITEMS = [f"i{k}" for k in range(8)]


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on a file's size is POSIX")
def test_a_full_disk_is_a_typed_error_and_passes(tmp_path: Path) -> None:
    """S11: what was refused is not half stored, what was acknowledged is there, and space brings it back to work."""
    command = program("annotation.store.full_disk_child", tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    refused, counts, after = [line for line in done.stdout.splitlines() if line[0] not in " "]
    assert "the disk is full" in refused
    n_acknowledged, n_stored = (int(number) for number in counts.split()[-2:])
    assert n_acknowledged == n_stored
    assert 0 < n_stored < 300
    assert after == "after: 300 ()"


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """S12: who opens the file while it is open is told so, with the way out; afterwards it opens."""
    command = program("annotation.store.opening_child", tmp_path)
    with open_store(tmp_path):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "this study is open in another process" in done.stderr
        assert "PostgreSQL" in done.stderr
        with pytest.raises(RunError, match="open in another process"):
            open_store(tmp_path)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_folder_without_the_right_to_write_is_not_an_open_study(tmp_path: Path) -> None:
    """A lock file that cannot be opened (as in a folder of another account): the error names the right that is missing,
    and no second process."""
    folder = tmp_path / "study"
    # root may write to every folder, and may not open a folder as a file
    (folder / ".lock").mkdir(parents=True)
    with pytest.raises(RunError, match="cannot be made or written to") as caught:
        open_store(folder)
    assert "another process" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_readers_do_not_lock_the_writer_out(tmp_path: Path) -> None:
    """S12: a long external reader does not keep answers from being stored."""
    with open_store(tmp_path) as store:
        who = active(store, ITEMS)
        with sqlite3.connect(tmp_path / DATABASE_NAME) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM answers").fetchone() == (0,)
            for position, item in enumerate(ITEMS):
                store.submit(answer(who, item, position))
            assert reader.execute("SELECT count(*) FROM answers").fetchone() == (0,)
        assert len(store.answers_of(who)) == len(ITEMS)


def test_full_synchronous_unless_asked(tmp_path: Path) -> None:
    """S2: a commit waits for the disk; only ``unsafe_fast`` gives that up."""
    for unsafe, expected in ((False, 2), (True, 1)):
        with open_store(tmp_path, unsafe_fast=unsafe) as store, store._database.write.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == expected
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"


def test_acknowledged_is_committed(tmp_path: Path) -> None:
    """S3: at the moment of its acknowledgement another connection reads the answer."""
    missing: list[int] = []

    def look(future: Future[Receipt]) -> None:
        with sqlite3.connect(tmp_path / DATABASE_NAME) as reader:
            found = reader.execute("SELECT 1 FROM answers WHERE id = ?", (future.result().answer_id,)).fetchone()
        missing.extend([] if found else [future.result().answer_id])

    with open_store(tmp_path, made_study(200)) as store:
        items = [f"i{k}" for k in range(200)]
        who = active(store, items)
        futures = [store.submit_later(answer(who, item, position)) for position, item in enumerate(items)]
        for future in futures:
            future.add_done_callback(look)
        assert [future.result().answer_id for future in futures] == list(range(1, 201))
    assert missing == []


def test_a_failing_job_harms_no_other(tmp_path: Path) -> None:
    """A job that fails after writing leaves nothing, the others of its transaction are kept, the writer lives on."""
    with open_store(tmp_path) as store:
        who = active(store, ITEMS)
        gate = threading.Event()

        def fail(connection: object) -> None:
            store.study.codes["no such code"]

        def half(connection: object) -> None:
            connection.exec_driver_sql("UPDATE lists SET places = 7")  # type: ignore[attr-defined]
            raise AnswerRefused("value", "made to fail")

        # while the writer waits here, the others gather into one transaction
        waiting = store._writer.put(lambda _: gate.wait(30))
        first = store.submit_later(answer(who, "i0", 0))
        broken, refused = store._writer.put(fail), store._writer.put(half)
        second = store.submit_later(answer(who, "i1", 1))
        gate.set()
        assert waiting.result()
        assert (first.result().answer_id, second.result().answer_id) == (1, 2)
        assert isinstance(broken.exception(), KeyError)
        assert isinstance(refused.exception(), AnswerRefused)
        assert {load.places for load in store.loads().values()} == {1000}


def test_a_closed_store_refuses(tmp_path: Path) -> None:
    """After close() nothing is taken in silence."""
    store = open_store(tmp_path)
    who = active(store, ITEMS)
    store.close()
    with pytest.raises(StorageError, match="closed"):
        store.submit(answer(who, "i0", 0))


def closed_study(folder: Path) -> Path:
    """A study with an answer, closed after its rows were checked; its database."""
    with open_store(folder) as store:
        store.submit(answer(active(store, ITEMS), ITEMS[0], 0))
    return folder / DATABASE_NAME


def edit(path: Path) -> None:
    """Another program changes an answer, past the trigger that forbids it."""
    with sqlite3.connect(path) as connection:
        ((name, trigger),) = connection.execute("SELECT name, sql FROM sqlite_master WHERE name = 'answers_no_update'")
        connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE answers SET value = value + 1")
        connection.execute(trigger)
    connection.close()


def test_a_file_as_it_was_closed_opens_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one bit differs, the mark is another's or the rows were not checked since, they are checked first."""
    monkeypatch.setattr(open_study, "CHECKED_AT_ONCE", 0)
    path = closed_study(tmp_path)
    with open_store(tmp_path, check_later=True) as store:
        assert store.check_is_due
        store.record_check("")
        assert not store.check_is_due
        assert store.progress(store.people()[0].participant_id).next_position == 1
    for folder in ("other key", "one bit"):
        shutil.copytree(tmp_path, tmp_path.with_name(folder))
    with open_store(tmp_path, check_later=True) as store:
        assert store.check_is_due
    assert not getattr(LogMark.read(tmp_path), "file", None)
    with open_store(tmp_path, check_later=True) as store:
        assert not store.check_is_due

    with open_store(tmp_path.with_name("one bit")) as store:
        pass
    damaged = tmp_path.with_name("one bit") / DATABASE_NAME
    edit(damaged)
    with pytest.raises(RunError, match="was edited"):
        open_store(damaged.parent, check_later=True)

    other = tmp_path.with_name("other key")
    edit(other / DATABASE_NAME)
    mark = LogMark.read(other)
    assert mark is not None
    forged = LogMark(mark.entries, mark.last, mark.rows, file_digest(other / DATABASE_NAME, bytes(32)))
    forged.write(other, lasting=True)
    with pytest.raises(RunError, match="was edited"):
        open_store(other, check_later=True)
    assert path.exists()


def test_what_a_later_check_finds_ends_the_saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that the key's owner changed in the closed file: found while the study is open, and never attested."""
    monkeypatch.setattr(open_study, "CHECKED_AT_ONCE", 0)
    path = closed_study(tmp_path)
    edit(path)
    key, mark = (tmp_path / backup.KEY_NAME).read_bytes(), LogMark.read(tmp_path)
    assert mark is not None
    LogMark(mark.entries, mark.last, file=file_digest(path, key)).write(tmp_path, lasting=True)
    with open_store(tmp_path, check_later=True) as store:
        problem = backup.unusable(tmp_path, key, made_study())
        assert "was edited" in problem
        store.record_check(problem)
        assert "damaged" in store.trouble
        with pytest.raises(StorageError, match="damaged"):
            store.invite("someone")
    with pytest.raises(RunError, match="was edited"):
        open_store(tmp_path, check_later=True)


def test_a_backup_holds_what_was_acknowledged_before_it(tmp_path: Path) -> None:
    """S23: copied while people answer; it opens, it is whole, and restored it is a store that works."""
    study = made_study()
    with open_store(tmp_path / "a", study) as store:
        before = active(store, ITEMS)
        for position, item in enumerate(ITEMS):
            store.submit(answer(before, item, position))
        during = active(store, ITEMS)
        futures = [store.submit_later(answer(during, item, position)) for position, item in enumerate(ITEMS)]
        copy = store.backup()
        assert all(future.result().answer_id for future in futures)
        own = store.answers_of(before)
    assert backup.file_problems(copy) == ()
    backup.restore(copy, tmp_path / "b", key=tmp_path / "a" / "secret.key")
    with open_store(tmp_path / "b", study) as store:
        assert store.answers_of(before) == own
        assert store.verify().problems == ()
        store.submit(answer(during, "i0", 0))


def test_a_backup_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    """Damaged, over a database, or without the key: an error, and nothing is written."""
    with open_store(tmp_path / "a") as store:
        copy = store.backup()
        with pytest.raises(InputError, match="a file of this name"):
            store.backup(copy)
    with pytest.raises(InputError, match="has a database"):
        backup.restore(copy, tmp_path / "a")
    # a copy that was taken elsewhere without the key that lies beside it
    alone = tmp_path / "alone.sqlite"
    alone.write_bytes(copy.read_bytes())
    with pytest.raises(InputError, match="key"):
        backup.restore(alone, tmp_path / "b")
    copy.write_bytes(copy.read_bytes()[:5000] + b"\xff" * 5000 + copy.read_bytes()[10_000:])
    with pytest.raises(DataError, match="damaged"):
        backup.restore(copy, tmp_path / "c", key=tmp_path / "a" / "secret.key")
    assert not (tmp_path / "b" / DATABASE_NAME).exists()
    assert not (tmp_path / "c").exists()


def test_the_stored_study_is_frozen(tmp_path: Path) -> None:
    """A folder takes no other definition, and no database without its key; a refused opening holds no lock."""
    open_store(tmp_path).close()
    with pytest.raises(RunError, match="another definition"):
        open_store(tmp_path, made_study(9))
    open_store(tmp_path).close()
    (tmp_path / "secret.key").unlink()
    with pytest.raises(RunError, match="key is missing"):
        open_store(tmp_path)
    for wrong, message in ((b"k" * 32, "not the one of this database"), (b"k" * 31, "damaged")):
        (tmp_path / "secret.key").write_bytes(wrong)
        with pytest.raises(RunError, match=message):
            open_store(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX")
def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    """W15: database, log, key and backups hold platform ids or guard them: nobody else reads them."""
    with open_store(tmp_path) as store:
        store.invite("PLATFORM")
        store.backup()
        modes = {file.name: file.stat().st_mode & 0o077 for file in tmp_path.rglob("*") if file.is_file()}
        assert {"study.sqlite", "study.sqlite-wal", "secret.key"} < set(modes)
        assert {name: mode for name, mode in modes.items() if mode and name != ".lock"} == {}


def test_folders_are_for_their_owner_only(tmp_path: Path) -> None:
    """W15: a folder that is made has mode 700, so that the copies of study file and items in it are private, too.

    One that was there keeps its mode, which its owner chose.
    """
    there = tmp_path / "there"
    for folder in (tmp_path / "made" / "study", there):
        if folder == there:
            there.mkdir()
            there.chmod(0o755)
        with open_store(folder) as store:
            store.invite("PLATFORM")
            copy = store.backup()
            before = folder.stat().st_mode
        assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
        again = tmp_path / f"again_{folder.name}"
        backup.restore(copy, again, key=folder / backup.KEY_NAME)
        assert stat.S_IMODE(again.stat().st_mode) == 0o700
        assert stat.S_IMODE(before) == (0o755 if folder == there else 0o700)


def test_other_databases_are_refused(tmp_path: Path) -> None:
    """SQLite in the folder or PostgreSQL by URL, nothing else."""
    with pytest.raises(LexiscopeError, match="SQLite or PostgreSQL"):
        Store.open(tmp_path, made_study(), url="mysql://nobody@localhost/study")


def test_a_missing_extra_gives_the_install_line() -> None:
    """Without SQLAlchemy the error says what to install."""
    code = "import sys; sys.modules['sqlalchemy'] = None; import lexiscope.annotation.store.engine"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'lexiscope[annotate]'" in done.stderr
