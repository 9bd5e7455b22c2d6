"""Issue 3, point 6: a study of an older version opens with all that it holds; a newer one is refused."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lexiscope.annotation.store import audit, backup
from lexiscope.annotation.store.engine import DATABASE_NAME, DamagedError, read_only, sa
from lexiscope.annotation.store.mark import LogMark, rows_digest
from lexiscope.annotation.store.record import Review, State
from lexiscope.annotation.store.schema import APPEND_ONLY, METADATA, SCHEMA_VERSION
from lexiscope.core.errors import RunError

from .made_study import active, answer, made_study, open_store, program

FROZEN = Path(__file__).with_name("version_1.sql")
STUDY = made_study(2, places={"1": 2})
TABLES_OF_VERSION_2 = (
    "accounts alembic_version audit audit_head lists participants setup_secrets statuses study answers codes consents "
    "erasures identities leases sessions states tokens trials reviews"
)


def version_1(folder: Path) -> Path:
    """Put the frozen study of version 1 into a folder, with its key."""
    text = FROZEN.read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "secret.key").write_bytes(bytes.fromhex(text.splitlines()[1].rpartition(" ")[2]))
    database = sqlite3.connect(folder / DATABASE_NAME)
    database.executescript(text)
    database.close()
    return folder


def tables_of(path: Path) -> dict[str, object]:
    """The tables, columns, keys, indexes and triggers of a database, read back from it."""
    engine = sa.create_engine(f"sqlite:///{path}")
    inspector = sa.inspect(engine)
    found: dict[str, object] = {
        name: (
            [
                (one["name"], str(one["type"]), one["nullable"], one["primary_key"])
                for one in inspector.get_columns(name)
            ],
            sorted(str(one) for one in inspector.get_foreign_keys(name)),
            sorted(str(one["column_names"]) for one in inspector.get_unique_constraints(name)),
            sorted(str(one["column_names"]) for one in inspector.get_indexes(name)),
        )
        for name in inspector.get_table_names()
    }
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        found["triggers"] = {name: " ".join(text.split()) for name, text in rows}
    engine.dispose()
    return found


def test_an_older_study_is_migrated(tmp_path: Path) -> None:
    """Everything of version 1 is there, the new parts work, the record is guarded and sealed, a backup was made."""
    folder = version_1(tmp_path)
    with sqlite3.connect(folder / DATABASE_NAME) as database:
        before = database.execute("SELECT * FROM answers ORDER BY id").fetchall()
        code = database.execute("SELECT code FROM codes").fetchone()[0]
    with open_store(folder, STUDY) as store:
        assert store.verify().problems == ()
        done = store.find("PLATFORM-1")
        going = store.find("PLATFORM-2")
        assert done is not None
        assert going is not None
        assert store.issue_code(done) == code
        assert [tuple(row.values()) for row in store.answers_of(done)] == before
        store.submit(answer(going, "i0", 0))
        store.change_state(going, State.FINISHED, reason="answered all")
        store.record_review(Review(1, "accepted", "", None, "anna", "2026-03-01T12:00:00.000000+00:00"))
        store.set_status("paused", actor="anna")
        assert store.verify().problems == ()
    (copy,) = (folder / "backups").glob("*.sqlite")
    with sqlite3.connect(copy) as database:
        assert database.execute("SELECT schema_version FROM study").fetchone() == (1,)
        assert database.execute("SELECT * FROM answers ORDER BY id").fetchall() == before
    with sqlite3.connect(folder / DATABASE_NAME) as database:
        for table in APPEND_ONLY:
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                database.execute(f"DELETE FROM {table.name}")
    with open_store(folder, STUDY) as store:
        assert len(list((folder / "backups").glob("*.sqlite"))) == 1, "migrated once"


def test_a_closed_study_of_version_2_opens(tmp_path: Path) -> None:
    """Its mark holds a digest of the tables of its version, in their order; a row that was changed since is found."""
    with open_store(tmp_path, STUDY) as store:
        store.submit(answer(active(store, ["i0"]), "i0", 0))
    path = tmp_path / DATABASE_NAME
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE attempts")
        database.execute("UPDATE alembic_version SET version_num = '2'")
    with read_only(path).connect() as connection:
        LogMark(*audit.head(connection), rows=rows_digest(connection)).write(tmp_path, lasting=True)
    names = [table.name for table in METADATA.sorted_tables]
    assert [name for name in names if name != "attempts"] == TABLES_OF_VERSION_2.split()
    changed = tmp_path / "changed"
    shutil.copytree(tmp_path, changed)
    with closing(sqlite3.connect(changed / DATABASE_NAME)) as database, database:
        database.execute("UPDATE leases SET taken_at = '2026-03-01T00:00:00.000000+00:00'")
    with pytest.raises(DamagedError, match="rows were changed"):
        open_store(changed, STUDY)
    with open_store(tmp_path, STUDY) as store:
        assert store.verify().problems == ()
        assert isinstance(store.begin_attempt("ana", now=datetime.now(UTC), most=1, lasts=timedelta(minutes=1)), int)


UNANSWERED = "WHERE participant_id NOT IN (SELECT participant_id FROM answers)"
EDITS = {
    f"UPDATE trials SET item_id = 'elsewhere' {UNANSWERED}": "trials.item_id",
    f"UPDATE trials SET position = 7 {UNANSWERED}": "trials.position",
    "UPDATE study SET schema_version = 'one'": "study.schema_version",
    "UPDATE leases SET status = 'gone'": "leases.status",
    "UPDATE answers SET value = 'three'": "answers.value",
    "UPDATE answers SET rt_ms = x'00'": "answers.rt_ms",
    "UPDATE states SET at = 'yesterday'": "states.at",
    "UPDATE audit SET details = '{}' WHERE id = 2": "audit log",
    "DELETE FROM consents": "without a consent",
}
"""Edits of a study of version 1, which has no seals, and what is said of them."""


@pytest.mark.parametrize("statement", EDITS)
@pytest.mark.parametrize("checked", [True, False])
def test_a_damaged_older_study_is_not_migrated(tmp_path: Path, statement: str, checked: bool) -> None:
    """A migration seals rows as they are found: content that the store cannot have written is an error before it, also
    where only the problems were to be listed; nothing is changed."""
    folder = version_1(tmp_path)
    with closing(sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)) as other:
        for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            other.execute(f"DROP TRIGGER {name}")
        other.execute(statement)
    before = (folder / DATABASE_NAME).read_bytes()
    with pytest.raises(DamagedError) as caught:
        open_store(folder, STUDY, checked=checked)
    assert EDITS[statement] in str(caught.value)
    assert (folder / DATABASE_NAME).read_bytes() == before
    assert not (folder / "backups").exists()


def test_migrated_tables_are_those_of_a_new_study(tmp_path: Path) -> None:
    """Columns, keys, indexes and triggers are the same, whichever way they came to be."""
    open_store(version_1(tmp_path / "old"), STUDY).close()
    open_store(tmp_path / "new", STUDY).close()
    assert tables_of(tmp_path / "old" / DATABASE_NAME) == tables_of(tmp_path / "new" / DATABASE_NAME)


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
def test_a_killed_migration_changes_nothing(tmp_path: Path) -> None:
    """Killed after the new tables were made, the study is as it was, and opens at the next start."""
    folder = version_1(tmp_path)
    before = tables_of(folder / DATABASE_NAME)
    command = program("annotation.store.killed_migration_child", folder)
    assert subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGKILL
    assert backup.file_problems(folder / DATABASE_NAME) == ()
    assert tables_of(folder / DATABASE_NAME) == before
    with open_store(folder, STUDY) as store:
        assert store.verify().problems == ()


def test_a_newer_study_is_refused(tmp_path: Path) -> None:
    """Both versions are named, and nothing is changed."""
    open_store(tmp_path, STUDY).close()
    with sqlite3.connect(tmp_path / DATABASE_NAME) as database:
        database.execute("UPDATE alembic_version SET version_num = '99'")
    with pytest.raises(RunError, match=f"version 99, this program knows them up to version {SCHEMA_VERSION}"):
        open_store(tmp_path, STUDY)
    assert not (tmp_path / "backups").exists()


def test_another_study_is_not_migrated(tmp_path: Path) -> None:
    """What is refused for its definition or its key stays at its version."""
    folder = version_1(tmp_path)
    with pytest.raises(RunError, match="another definition"):
        open_store(folder, made_study(3))
    (folder / "secret.key").write_bytes(b"k" * 32)
    with pytest.raises(RunError, match="not the one of this database"):
        open_store(folder, STUDY)
    assert "reviews" not in tables_of(folder / DATABASE_NAME)
