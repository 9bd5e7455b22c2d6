"""reliability.md S11, S23, W15, W16: backups by themselves, the restore drill, health, ids deleted in time, edits."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from lexiscope.annotation.store import audit, backup, safekeeping, seals
from lexiscope.annotation.store.accounts import participant_of_token
from lexiscope.annotation.store.answers import submit
from lexiscope.annotation.store.engine import DATABASE_NAME, StorageError, sa
from lexiscope.annotation.store.record import Phase, Review, State, StoredTrial
from lexiscope.annotation.store.safekeeping import MaintenanceThread, is_low
from lexiscope.annotation.store.schema import SCHEMA_VERSION
from lexiscope.annotation.store.store import Store
from lexiscope.core.errors import InputError

from .made_study import CONSENT, Clock, active, answer, made_study, open_store


def wait_for(condition: object, *, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_a_lost_folder_comes_back_from_its_backups(tmp_path: Path) -> None:
    """S23, the drill: the copies and the key beside them are enough; people are found again by their platform id."""
    study = made_study()
    with open_store(tmp_path / "a", study) as store:
        who = active(store, ["i0", "i1"], "PLATFORM-1")
        store.submit(answer(who, "i0", 0))
        copy = store.backup()
    key = copy.with_name("secret.key")
    assert key.read_bytes() == (tmp_path / "a" / "secret.key").read_bytes()
    if sys.platform != "win32":
        assert key.stat().st_mode & 0o777 == 0o600
    backup.restore(copy, tmp_path / "b")
    with open_store(tmp_path / "b", study) as store:
        assert store.find("PLATFORM-1") == who
        assert store.invite("PLATFORM-1") == who
        store.submit(answer(who, "i1", 1))
        assert store.verify().problems == ()
    if sys.platform != "win32":
        assert (tmp_path / "b" / "secret.key").stat().st_mode & 0o777 == 0o600


def test_a_copy_elsewhere_takes_no_key_along(tmp_path: Path) -> None:
    """A copy that is written to a place of one's own is the database alone: whoever gets it finds nobody."""
    with open_store(tmp_path / "a") as store:
        copy = store.backup(tmp_path / "shared" / "copy.sqlite")
    assert [file.name for file in copy.parent.iterdir()] == ["copy.sqlite"]
    with pytest.raises(InputError, match="key"):
        backup.restore(copy, tmp_path / "b")


def test_a_keeper_backs_up_and_keeps_the_newest(tmp_path: Path) -> None:
    """S23: copies come by themselves, old ones go; those of a migration and by other names stay."""
    with open_store(tmp_path) as store:
        store.backup(tmp_path / "backups" / "before_version_2.sqlite")
        (tmp_path / "backups" / "before_version_2.sqlite").touch()
        who = active(store, ["i0"])
        store.submit(answer(who, "i0", 0))
        seen: set[str] = set()

        def three_went_by() -> bool:
            seen.update(copy.name for copy in backup.copies_in(tmp_path) if copy.name[0] == "2")
            return len(seen) >= 3

        with MaintenanceThread(store, every=0.05 / 60, keep=2) as keeper:
            wait_for(three_went_by)
        assert keeper.problem is None
        left = backup.copies_in(tmp_path)
        assert [copy.name for copy in left if copy.name[0] == "b"] == ["before_version_2.sqlite"]
        assert len(left) == 3
        assert all(backup.file_problems(copy) == () for copy in left)
        assert sorted(copy.name for copy in left)[-1] == "before_version_2.sqlite"


def test_a_clock_that_was_put_back_costs_no_copy(tmp_path: Path) -> None:
    """S22, S23: the copy that has seen most is the newest, whatever the clock called it."""
    clock = Clock()
    with open_store(tmp_path, clock=clock) as store:
        for days in (0, 1, -9):
            clock.forward(days=days)
            store.invite(f"PLATFORM{days}")
            newest = store.backup()
        store.prune_backups(keep=1)
        assert backup.copies_in(tmp_path) == [newest]


def test_what_is_due_is_deleted_once(tmp_path: Path) -> None:
    """W15: after the day no file is rewritten at every turn: only a new copy, and all where an id came back."""
    clock = Clock()
    with open_store(tmp_path, replace(made_study(), retain_days=1), clock=clock) as store:
        store.invite("5f0cPLATFORMID80")
        store.set_status("closed", actor="anna")
        first = store.backup()
        clock.forward(days=2)
        assert store.purge_identities().removed == 1
        files = (tmp_path / DATABASE_NAME, first)
        before = [file.stat().st_mtime_ns for file in files]
        assert store.purge_identities().removed == 0
        assert [file.stat().st_mtime_ns for file in files] == before
        store.invite("5f0cPLATFORMID81")
        assert store.purge_identities().removed == 1
        assert b"5f0cPLATFORMID81" not in b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


def test_a_keeper_goes_on_after_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup that fails is said and tried again."""
    with open_store(tmp_path) as store:
        working, failed = store.backup, threading.Event()

        def fail_once(target: Path | None = None) -> Path:
            if not failed.is_set():
                failed.set()
                raise StorageError("made to fail")
            return working(target)

        monkeypatch.setattr(store, "backup", fail_once)
        with MaintenanceThread(store, every=0.2 / 60, keep=1) as keeper:
            wait_for(lambda: keeper.problem is not None)
            wait_for(lambda: keeper.problem is None)
        assert len(backup.copies_in(tmp_path)) == 1
        with pytest.raises(InputError):
            MaintenanceThread(store, every=0, keep=1)


def test_a_keeper_deletes_what_is_due(tmp_path: Path) -> None:
    """W15: nobody has to remember the day: the keeper's next turn after it deletes the platform ids."""
    clock = Clock()
    with open_store(tmp_path, replace(made_study(), retain_days=1), clock=clock) as store:
        store.invite("5f0cPLATFORMID79")
        store.set_status("closed", actor="anna")
        clock.forward(days=2)
        with MaintenanceThread(store, every=0.05 / 60, keep=1) as keeper:
            wait_for(lambda: store.find("5f0cPLATFORMID79") is None)
        assert keeper.problem is None


def test_health_says_how_the_storage_is(tmp_path: Path) -> None:
    """S11: space, log, backup and settings, as a monitor asks for them."""
    clock = Clock()
    with open_store(tmp_path, clock=clock) as store:
        found = store.health()
        assert (found.synchronous, found.status, found.version) == ("FULL", "running", SCHEMA_VERSION)
        assert found.backup_age_s is None
        assert found.free_bytes > 0
        assert found.wal_bytes == (tmp_path / f"{DATABASE_NAME}-wal").stat().st_size > 0
        copy = store.backup()
        clock.now = clock.now.fromtimestamp(copy.stat().st_mtime, clock.now.tzinfo) + timedelta(seconds=90)
        store.set_status("closed", actor="anna")
        found = store.health()
        assert (found.backup_age_s, found.status) == (pytest.approx(90, abs=0.01), "closed")
    with open_store(tmp_path, unsafe_fast=True) as store:
        assert store.health().synchronous == "NORMAL"
    # < 200 MB, or < 5 %
    assert [is_low(*pair) for pair in ((199_999_999, 10**9), (2 * 10**8, 10**9), (49, 1000), (5 * 10**9, 10**11))] == [
        True,
        False,
        True,
        False,
    ]


def test_platform_ids_go_in_time(tmp_path: Path) -> None:
    """W15: not before the days are over, then from every file of the study; answers and random ids stay."""
    clock = Clock()
    texts = [b"5f0cPLATFORMID77", b"sESSION-3e1", b"5f0cPLATFORMID78"]
    with open_store(tmp_path, replace(made_study(), retain_days=30), clock=clock) as store:
        who = store.invite(texts[0].decode(), session=texts[1].decode())
        store.record_consent(who, text=CONSENT, version="1")
        store.submit(answer(active(store, ["i0"], texts[2].decode()), "i0", 0))
        (token,) = store.make_tokens(1, actor="anna")
        store.backup()

        def holding() -> set[str]:
            files = [file for file in tmp_path.rglob("*") if file.is_file()]
            return {file.name for file in files if any(text in file.read_bytes() for text in texts)}

        assert len(holding()) >= 2
        assert (store.due_purge(), store.purge_identities().removed) == (None, 0)
        store.set_status("closed", actor="anna")
        assert store.due_purge() == clock() + timedelta(days=30)
        clock.forward(days=29, hours=23)
        assert store.purge_identities().removed == 0
        assert store.find(texts[0].decode()) == who
        clock.forward(hours=1)
        done = store.purge_identities()
        assert (done.removed, done.still_in) == (3, ())
        assert holding() == set()
        assert (store.find(texts[0].decode()), store.read(participant_of_token, token)) == (None, None)
        assert store.purge_identities().removed == 0
        assert len(store.people()) == 3
        assert store.verify().problems == ()
        (copy,) = backup.copies_in(tmp_path)
    backup.restore(copy, tmp_path / "b")
    with open_store(tmp_path / "b", replace(made_study(), retain_days=30)) as store:
        assert store.verify().problems == ()
    with open_store(tmp_path / "c") as store:
        store.set_status("closed", actor="anna")
        assert store.due_purge() is None, "a study that names no days keeps them until somebody is forgotten"


def _filled(store: Store) -> None:
    for number in range(12):
        who = active(store, ["i0", "i1", "i2"], f"PLATFORM-{number}")
        for position in range(3):
            first = store.submit(answer(who, f"i{position}", position, comment="é", rt_ms=801, flags=("weird",)))
        again = answer(who, "i2", 2, 5, client_key="again", supersedes=first.answer_id)
        store.submit(again)
        store.change_state(who, State.FINISHED, reason="answered all")
        store.issue_code(who)
        store.record_review(Review(first.answer_id, "rejected", "why", "é", "anna", "2026-03-01T12:00:00+00:00"))
    store.forget(store.people()[0].participant_id, actor="anna")
    store.set_status("paused", actor="anna")


def _tampering(tables: list[tuple[str, int, list[str]]], n: int) -> Iterator[str]:
    rng = random.Random(3)
    for case in range(n):
        name, rows, columns = rng.choice(tables)
        pick = f"rowid = (SELECT rowid FROM {name} ORDER BY rowid LIMIT 1 OFFSET {rng.randrange(rows)})"
        column = f'"{rng.choice(columns)}"'
        number, text = f"{column} + 1000000", f"ifnull({column}, '') || 'x'"
        edit = f"{column} = CASE WHEN typeof({column}) IN ('integer', 'real') THEN {number} ELSE {text} END"
        yield f"UPDATE {name} SET {edit} WHERE {pick}" if case % 3 else f"DELETE FROM {name} WHERE {pick}"


@pytest.mark.parametrize("keep_answers", [True, False])
def test_tampering_with_any_sealed_row_is_found(tmp_path: Path, keep_answers: bool) -> None:
    """W16: of 300 random edits and deletions of one row of answers, states, consents, codes, reviews all are found."""
    with open_store(tmp_path, made_study(keep_answers=keep_answers)) as store:
        _filled(store)
        assert store.verify().problems == ()
    # without foreign keys and triggers: as somebody works who has the file
    engine = sa.create_engine(f"sqlite:///{tmp_path / DATABASE_NAME}")
    with engine.connect() as connection:
        names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
        for name in names:
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        connection.commit()
        sizes = [
            (table.name, connection.scalar(sa.select(sa.func.count()).select_from(table))) for table in seals.SEALED
        ]
        assert all(rows for _, rows in sizes)
        columns = [[column.name for column in table.columns] for table in seals.SEALED]
        tables = [(name, int(rows or 0), each) for (name, rows), each in zip(sizes, columns, strict=True)]
        missed = []
        for statement in _tampering(tables, 300):
            assert connection.exec_driver_sql(statement).rowcount == 1
            missed += [] if seals.seal_problems(connection) else [statement]
            connection.rollback()
        assert missed == []
        assert seals.seal_problems(connection) == []
        forged = "INSERT INTO consents SELECT 999, participant_id, '2', '', '' FROM consents LIMIT 1"
        connection.exec_driver_sql(forged)
        assert seals.seal_problems(connection) == ["consents, row 999: was not written by the store"]
    engine.dispose()


def _erase_and_answer_again(store: Store) -> list[tuple[object, ...]]:
    """The newest answers are erased, and the answers of the next participant get their numbers; the erased rows."""
    gone = active(store, ["i0", "i1"], "PLATFORM-1")
    for position in range(2):
        store.submit(answer(gone, f"i{position}", position, 1))
    rows = store.read(lambda c: [tuple(row) for row in c.execute(sa.text("SELECT * FROM answers ORDER BY id"))])
    store.forget(gone, actor="anna")
    store.submit(answer(active(store, ["i0"], "PLATFORM-2"), "i0", 0, 5))
    assert store.verify().problems == ()
    return rows


def test_numbers_that_are_given_again_hide_nothing(tmp_path: Path) -> None:
    """W16: an answer with the number of an erased one cannot be deleted, and the erased ones cannot come back."""
    with open_store(tmp_path, made_study(keep_answers=False)) as store:
        erased = _erase_and_answer_again(store)
    insert = f"INSERT INTO answers VALUES ({', '.join('?' * len(erased[0]))})"
    cases = {
        "answers, row 1: is missing": [("DELETE FROM answers", ())],
        "answers, row 1: was edited": [("DELETE FROM answers", ()), (insert, erased[0])],
        "answers, row 2: was not written by the store": [(insert, erased[1])],
    }
    engine = sa.create_engine(f"sqlite:///{tmp_path / DATABASE_NAME}")
    with engine.connect() as connection:
        for name in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all():
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        connection.commit()
        for found, statements in cases.items():
            for statement, values in statements:
                connection.exec_driver_sql(statement, values)
            assert seals.seal_problems(connection) == [found]
            connection.rollback()
        assert seals.seal_problems(connection) == []
    engine.dispose()


def test_a_log_of_an_earlier_version_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have the seal of a row behind the entry that says that the row was erased, in the same transaction."""
    with open_store(tmp_path, made_study(keep_answers=False)) as store:
        who = active(store, ["i0"], "PLATFORM-1")
        at = "2026-03-01T12:00:00+00:00"

        def answered_and_erased(connection: sa.Connection) -> None:
            submit(connection, answer(who, "i0", 0), store.study, store._items, now=store._clock())
            safekeeping.erase(connection, store._key, who, keep_answers=False, actor="anna", at=at)

        with monkeypatch.context() as patch:
            patch.setattr(seals, "VOID", "other")
            patch.setattr(seals, "withdraw", lambda *_: None)
            store._write(answered_and_erased)
        assert store.verify().problems == ()
        store.submit(answer(active(store, ["i0"], "PLATFORM-2"), "i0", 0, 5))
        assert store.verify().problems == ()


def test_a_refused_job_leaves_no_seal(tmp_path: Path) -> None:
    """A row that was taken back with its job is not in the log, so that the check does not miss it."""
    with open_store(tmp_path) as store:
        who = active(store, ["i0"])

        def half(connection: object) -> None:
            seals.insert(connection, seals.CONSENTS, _consent(who))  # type: ignore[arg-type]
            raise InputError("made to fail")

        with pytest.raises(InputError, match="made to fail"):
            store._write(half)
        store.lay_out(who, Phase.PRACTICE, [StoredTrial("i1")])
        assert store.verify().problems == ()


def _consent(who: str) -> dict[str, object]:
    return {"participant_id": who, "text_version": "1", "text_sha256": "", "at": ""}


def test_a_failing_backup_keeps_no_purge_from_its_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backup and purge are tried apart: with every backup failing by the disk's own error, the ids go on their day."""
    clock = Clock()
    with open_store(tmp_path, replace(made_study(), retain_days=1), clock=clock) as store:
        store.invite("5f0cPLATFORMID80")
        store.set_status("closed", actor="anna")
        clock.forward(days=2)

        def full(target: Path | None = None) -> Path:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(store, "backup", full)
        with MaintenanceThread(store, every=0.05 / 60, keep=1) as keeper:
            wait_for(lambda: store.find("5f0cPLATFORMID80") is None)
            wait_for(lambda: keeper.problem is not None)
        assert store.health().not_kept == {"backup": "[Errno 28] No space left on device"}


def test_a_keeper_outlives_a_database_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read that fails as its thread begins ends nothing: the turn comes, fails, and the next one succeeds."""
    with open_store(tmp_path) as store:
        working = store._database
        broken = replace(working, read=sa.create_engine(f"sqlite:///{tmp_path}/gone/study.sqlite"))
        monkeypatch.setattr(store, "_database", broken)
        for read in (store.health, store.people, store.verify, store.loads):
            with pytest.raises(StorageError, match="cannot be read"):
                read()
        with MaintenanceThread(store, every=0.05 / 60, keep=1) as keeper:
            wait_for(lambda: keeper.problem is not None)
            monkeypatch.setattr(store, "_database", working)
            wait_for(lambda: keeper.problem is None)
        assert store.health().not_kept == {}


def test_a_keeper_of_postgresql_deletes_and_makes_no_copies(tmp_path: Path) -> None:
    """keep=0: PostgreSQL is backed up by its own tools; platform ids go on their day all the same."""
    clock = Clock()
    with open_store(tmp_path, replace(made_study(), retain_days=1), clock=clock) as store:
        store.invite("5f0cPLATFORMID81")
        store.set_status("closed", actor="anna")
        clock.forward(days=2)
        with MaintenanceThread(store, every=0.05 / 60, keep=0) as keeper:
            wait_for(lambda: store.find("5f0cPLATFORMID81") is None)
        assert (keeper.problem, backup.copies_in(tmp_path)) == (None, [])


def test_rows_as_json_together_are_those_of_one_after_another() -> None:
    """Hashes in old studies were made row by row: no text within a cell may look like the end of a row."""
    texts = ['], ["answers", ', '}, {"id', '"', "\\", '\\", ["', "\ud800", "Ж", "", "\n"]
    lists: list[list[object]] = [["answers", number, text, None, 0.1, True] for number, text in enumerate(texts)]
    objects: list[dict[str, object]] = [{"b": text, "a": number} for number, text in enumerate(texts)]
    assert audit.json_texts(lists) == [json.dumps(row) for row in lists]
    assert audit.json_texts(objects) == [json.dumps(row, sort_keys=True) for row in objects]
    nested: list[list[object]] = [["answers", [["x"], ["y"]]], ["answers", [["x"], ["y"]]]]
    assert audit.json_texts(nested) == [json.dumps(row) for row in nested]
    assert audit.json_texts(lists[:1]) == [json.dumps(lists[0])]
    assert audit.json_texts([]) == []
