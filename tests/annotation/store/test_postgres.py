"""reliability.md S13: the same store on PostgreSQL, several workers at once. Skipped where no server can be started.

The server writes without waiting for the disk: what is tested is what workers do to each other, not its own durability.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store import participants
from lexiscope.annotation.store.backup import accept_restored
from lexiscope.annotation.store.engine import connect, sa
from lexiscope.annotation.store.files import DatabaseLostError
from lexiscope.annotation.store.record import AnswerConflict, AnswerRefused, NoPlaceLeft, Phase, State, StoredTrial
from lexiscope.annotation.store.schema import ANSWERS
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    Anchor,
    CatchSection,
    DesignSection,
    Payment,
    RatingsSection,
    ScaleSection,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.study_folder import open_snapshot, read_study
from lexiscope.core.errors import DataError, InputError, RunError

from ..web.made_web import Person, made_definition, made_items
from .cluster import cluster, new_database
from .made_study import CONSENT, active, answer, made_study, open_store, program, qualified
from .test_killed_processes import answer_until_killed

FROZEN = Path(__file__).with_name("version_1.sql")
MIGRATED = made_study(2, places={"1": 2})
ALL = sa.select(ANSWERS)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server of its own, reached by a socket in a folder of its own."""
    with cluster("fsync=off") as own:
        yield own.url


def make_qualified(store: Store, n: int) -> list[str]:
    """Make people who may take a place, in one transaction."""

    def job(connection: sa.Connection) -> list[str]:
        at, found = store._now(), []
        for _ in range(n):
            who = participants.invite(connection, store._key, platform_id=None, session=None, at=at)
            participants.record_consent(connection, who, text=CONSENT, version="1", at=at)
            participants.change_state(connection, store.study, who, State.QUALIFIED, reason="no test", at=at)
            found.append(who)
        return found

    return store._write(job)


def ask(workers: list[subprocess.Popen[str]], parts: list[list[str]]) -> list[str | None]:
    """Give each worker its people, all at once; return the lists that they got."""
    for worker, part in zip(workers, parts, strict=True):
        assert worker.stdin is not None
        worker.stdin.write(json.dumps(part) + "\n")
        worker.stdin.flush()
    return [one for worker in workers if worker.stdout for one in json.loads(worker.stdout.readline())]


def twenty_races(folder: Path, url: str, *, places: int, arrivals: int) -> None:
    """In each race every list has so many places more, and people arrive at four processes at once."""
    none = {f"list {k}": 0 for k in range(10)}
    command = program("annotation.store.racing_child", folder, url, json.dumps(none))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with open_store(folder, made_study(places=none), url=url) as store:
        workers = [subprocess.Popen(command, **pipes) for _ in range(4)]  # type: ignore[call-overload]
        try:
            # once everybody answers, everybody is there
            assert ask(workers, [[]] * 4) == []
            for race in range(1, 21):
                people = make_qualified(store, arrivals)
                for name in none:
                    store.set_places(name, places * race, actor="keeper")
                found = Counter(ask(workers, [people[k::4] for k in range(4)]))
                assert found == {**dict.fromkeys(none, places), None: arrivals - 10 * places}
                assert {(load.active, load.free) for load in store.loads().values()} == {(places * race, 0)}
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()
        held = [(person.list_id, person.slot) for person in store.people() if person.list_id is not None]
        assert len(set(held)) == len(held) == 200 * places
        assert store.verify().problems == ()


def test_twenty_races_of_four_workers(tmp_path: Path, url: str) -> None:
    """S16: 20 races of 48 arrivals for 20 places on 10 lists, at 4 processes: exactly 20 places every time."""
    twenty_races(tmp_path, new_database(url, "races"), places=2, arrivals=48)


@pytest.mark.soak
def test_twenty_large_races_of_four_workers(tmp_path: Path, url: str) -> None:
    """S16, tier B: 20 races of 320 arrivals for 120 places on 10 lists, at 4 processes: exactly 120 every time."""
    twenty_races(tmp_path, new_database(url, "large_races"), places=12, arrivals=320)


def test_a_killed_worker_loses_nothing(tmp_path: Path, url: str) -> None:
    """S13: kill -9 of one worker: what it acknowledged is there once, and the others go on."""
    own = new_database(url, "killed")
    with open_store(tmp_path, made_study(), url=own) as other:
        for kill in range(3):
            acknowledged = answer_until_killed(tmp_path, kill, 20 + 20 * kill, own)
            who = active(other, ["i0"])
            assert other.submit(answer(who, "i0", 0)).answer_id not in acknowledged
            rows = other.read(lambda connection: connection.execute(ALL).all())
            stored = {row.id: (row.participant_id, row.item_id, row.value) for row in rows}
            assert {number: stored.get(number) for number in acknowledged} == acknowledged
        assert other.verify().problems == ()


def copy_of_version_1(url: str) -> None:
    """Put the frozen study of version 1 into a PostgreSQL database."""
    frozen = sqlite3.connect(":memory:")
    frozen.executescript(FROZEN.read_text(encoding="utf-8"))
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        cursor = connection.connection.cursor()
        cursor.execute(FROZEN.with_name("version_1_postgresql.sql").read_text(encoding="utf-8"))
        tables = sa.MetaData()
        tables.reflect(connection)
        for table in tables.sorted_tables:
            found = frozen.execute(f"SELECT * FROM {table.name}")
            names = [column[0] for column in found.description]
            rows = [dict(zip(names, row, strict=True)) for row in found]
            for row in rows:
                row.update({"surplus": bool(row["surplus"])} if "surplus" in row else {})
            if rows:
                connection.execute(table.insert(), rows)
            if "id" in names and table.name != "audit":
                last = (
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), (SELECT max(id) FROM {table.name}))"
                )
                connection.exec_driver_sql(last)
    engine.dispose()
    frozen.close()


def shape(url: str) -> dict[str, object]:
    """Tables with their columns, keys and triggers, read back from PostgreSQL."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        columns = "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
        keys = "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid != 0"
        triggers = "SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
        indexes = "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'"
        function = "SELECT 1, prosrc FROM pg_proc WHERE proname = 'lexiscope_append_only'"
        own = f"{columns} WHERE table_schema = 'public'"
        found: dict[str, object] = {
            query: sorted(map(tuple, connection.exec_driver_sql(query)))
            for query in (own, keys, triggers, indexes, function)
        }
    engine.dispose()
    return found


def test_an_older_study_is_migrated_once(tmp_path: Path, url: str) -> None:
    """Opened by two workers, a study of version 1 has all its answers, and the tables of a new study."""
    old, new = new_database(url, "old"), new_database(url, "new")
    copy_of_version_1(old)
    (tmp_path / "secret.key").write_bytes(bytes.fromhex(FROZEN.read_text("utf-8").splitlines()[1].rpartition(" ")[2]))
    with ThreadPoolExecutor(2) as pool:
        stores = list(pool.map(lambda _: open_store(tmp_path, MIGRATED, url=old), range(2)))
    done = stores[0].find("PLATFORM-1")
    assert done is not None
    assert [row["value"] for row in stores[1].answers_of(done)] == [3.0, 4.0, 5.0]
    stores[0].submit(answer(str(stores[0].find("PLATFORM-2")), "i0", 0))
    stores[1].set_status("paused", actor="anna")
    assert stores[0].verify().problems == ()
    assert [entry.action for entry in stores[0].audit_entries()[1]].count("migrate") == 1
    for store in stores:
        store.close()
    open_store(tmp_path / "new", MIGRATED, url=new).close()
    assert shape(old) == shape(new)


def test_workers_count_attempts_together(tmp_path: Path, url: str) -> None:
    """Ten a minute under a key, at whichever worker, also at once; a study of version 2 gets the table."""
    own, now = new_database(url, "attempts"), datetime(2026, 3, 1, 12, tzinfo=UTC)
    with open_store(tmp_path, made_study(), url=own) as store, store._database.write.begin() as connection:
        connection.exec_driver_sql("DROP TABLE attempts")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '2'")
    with (
        open_store(tmp_path, made_study(), url=own) as one,
        open_store(tmp_path, made_study(), url=own) as two,
        ThreadPoolExecutor(16) as pool,
    ):

        def begin(number: int) -> int | timedelta:
            return (one, two)[number % 2].begin_attempt("ana", now=now, most=10, lasts=timedelta(minutes=1))

        begun = list(pool.map(begin, range(50)))
        assert Counter(type(own) for own in begun) == {int: 10, timedelta: 40}
        assert {own for own in begun if isinstance(own, timedelta)} == {timedelta(minutes=1)}
        two.forget_attempt(next(own for own in begun if isinstance(own, int)))
        assert isinstance(begin(0), int)
        assert isinstance(begin(1), timedelta)
        assert one.verify().problems == ()


def test_a_study_is_read_as_it_was_at_one_moment(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another worker writes without a pause: no problem is found, and no reading sees more than the first one."""
    monkeypatch.chdir(tmp_path)
    study, own = served_study(tmp_path), new_database(url, "moment")
    folder = tmp_path / "study"
    with Store.open(folder, study.record, url=own, has_place=study.has_place) as server, ThreadPoolExecutor(1) as pool:
        stop = threading.Event()

        def arrive() -> int:
            n = 0
            while not stop.is_set():
                qualified(server, f"PLATFORM-{(n := n + 1)}")
            return n

        arriving = pool.submit(arrive)
        try:
            for _ in range(10):
                with open_snapshot(study, folder, url=own) as store:
                    n_people = len(store.people())
                    assert store.verify().problems == ()
                    time.sleep(0.02)
                    assert len(store.people()) == n_people
                assert server.verify().problems == ()
        finally:
            stop.set()
        assert arriving.result() > 10
        assert len(server.people()) == arriving.result() > n_people


def test_a_dump_that_was_restored_is_accepted(tmp_path: Path, url: str) -> None:
    """An older state does not open by itself, nor does --new begin a study in it; the key must be the study's."""
    old, study = new_database(url, "dumped"), made_study()
    with open_store(tmp_path, study, url=old) as store:
        who = active(store, ["i0", "i1"])
        store.submit(answer(who, "i0", 0))
    again = new_database(url, "restored", like="dumped")
    with open_store(tmp_path, study, url=old) as store:
        store.submit(answer(who, "i1", 1))
    for new in (False, True):
        with pytest.raises((RunError, InputError)) as refused:
            open_store(tmp_path, study, url=again, new=new).close()
        assert ("annotate restore" in refused.value.hint) is not new
    with pytest.raises(DataError, match="cannot be taken for the study's"):
        accept_restored(new_database(url, "empty"), tmp_path)
    with pytest.raises(InputError, match="the study's key is needed"):
        accept_restored(again, tmp_path / "elsewhere")
    assert accept_restored(again, tmp_path / "elsewhere", key=tmp_path / "secret.key").answers == 1
    assert (tmp_path / "elsewhere").stat().st_mode & 0o077 == 0, "W15: a folder that is made is for its owner only"
    assert accept_restored(again, tmp_path).problems == ()
    for folder in (tmp_path, tmp_path / "elsewhere"):
        with open_store(folder, study, url=again) as store:
            assert len(store.answers_of(who)) == 1
            assert store.verify().problems == ()


def test_the_folder_of_a_postgresql_study_is_no_lost_sqlite_study(tmp_path: Path, url: str) -> None:
    """Without --postgres, or with --new, nothing is moved or begun: the key of its answers is in the folder."""
    open_store(tmp_path, made_study(), url=new_database(url, "elsewhere")).close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for new in (False, True):
        with pytest.raises((DatabaseLostError, InputError), match="this study is stored in PostgreSQL") as refused:
            open_store(tmp_path, made_study(), new=new)
        assert "--postgres URL" in refused.value.hint
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != ".lock"} == before


def test_commits_wait_for_the_disk(tmp_path: Path, url: str) -> None:
    """Also where the settings of the database say that they need not."""
    own = new_database(url, "waiting")
    engine = sa.create_engine(own.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("ALTER DATABASE waiting SET synchronous_commit = off")
    engine.dispose()
    with open_store(tmp_path, made_study(), url=own) as store:
        setting = store._write(lambda c: c.exec_driver_sql("SHOW synchronous_commit").scalar_one())
        assert setting == store.health().synchronous == "on"


def test_a_database_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    """A connection has ten seconds, unless the address says how many."""
    for query, seconds in (("", "10"), ("?connect_timeout=3", "3")):
        database = connect(tmp_path, url=f"postgresql://people@localhost/study{query}")
        assert {engine.url.query["connect_timeout"] for engine in (database.read, database.write)} == {seconds}
        database.dispose()


@pytest.mark.parametrize(
    "address", ["", "lexiscope", "postgresql://a:secret@host:port/b", "postgres://a:secret@host/b"]
)
def test_an_address_that_is_none_is_an_error(tmp_path: Path, address: str) -> None:
    """It says what to write, and no password."""
    with pytest.raises(InputError) as refused:
        open_store(tmp_path, made_study(), url=address)
    assert "postgresql://USER@HOST/DATABASE" in refused.value.hint
    assert "secret" not in str(refused.value)


def test_two_workers_on_one_study(tmp_path: Path, url: str) -> None:
    """320 arrivals on 120 places, parallel answers, codes, triggers, erasure: as on SQLite."""
    study = made_study(places={f"list {k}": 12 for k in range(10)})
    with (
        open_store(tmp_path, study, url=url) as one,
        open_store(tmp_path, study, url=url) as two,
        ThreadPoolExecutor(16) as pool,
    ):
        workers = (one, two)
        people = list(pool.map(lambda k: qualified(workers[k % 2], f"PLATFORM-{k}"), range(20)))
        people += make_qualified(one, 300)
        # the first one surely gets a place, and stays known by name below
        one.take_place(people[0])
        found = [pool.submit(workers[k % 2].take_place, who) for k, who in enumerate(people)]
        assert Counter(type(future.exception()) for future in found) == {type(None): 120, NoPlaceLeft: 200}
        assert {(load.active, load.free) for load in two.loads().values()} == {(12, 0)}
        who = people[0]
        one.lay_out(who, Phase.TRIALS, [StoredTrial("i0"), StoredTrial("i1")])
        two.change_state(who, State.ACTIVE, reason="go")
        given = [answer(who, "i0", 0, 1 + k % 4, client_key=f"tab {k % 4}") for k in range(40)]
        errors = [pool.submit(workers[k % 2].submit, sent).exception() for k, sent in enumerate(given)]
        assert Counter(type(error) for error in errors) == {type(None): 10, AnswerConflict: 30}
        with pytest.raises(AnswerRefused, match="NUL"):
            one.submit(answer(who, "i1", 1, comment="\x00"))
        two.submit(answer(who, "i1", 1))
        one.change_state(who, State.FINISHED, reason="answered all")
        assert one.issue_code(who) == two.issue_code(who)
        assert (one.responses_and_judgments()[1].num_rows, one.verify().problems) == (2, ())
        for table in ("answers", "consents", "states", "audit"):
            for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
                with (
                    pytest.raises(sa.exc.IntegrityError, match="append-only"),
                    one._database.write.begin() as connection,
                ):
                    connection.exec_driver_sql(statement)
        platform_id = f"PLATFORM-{people.index(who)}"
        assert two.find(platform_id) == who
        assert one.forget(who, actor="keeper").identity_removed
        assert two.find(platform_id) is None
        assert two.verify().problems == ()


def served_study(folder: Path, *, n_items: int = 6, places: int = 10, **changed: object) -> FrozenStudy:
    """A study file of two lists with so many places each, half of the items a person, beside its item file."""
    anchors = (Anchor(point=1, text="not at all"), Anchor(point=5, text="very much"))
    rows = [",".join((one.item_id, *(usage.text for usage in one.usages), one.word)) for one in made_items(n_items)]
    (folder / "items.csv").write_text("item_id,sentence_1,sentence_2,target\n" + "\n".join(rows), encoding="utf-8")
    short: dict[str, object] = {
        "payment": Payment(amount=1, minutes=6),
        "qualification": (),
        "practice": (),
        "attention": (),
        "exclusions": (),
    }
    sizes = {
        "design": DesignSection(lists=2),
        "ratings": RatingsSection(per_item=places),
        "catch": CatchSection(per_list=0),
    }
    scale = ScaleSection(anchors=anchors)
    definition = made_definition(items="items.csv", scale=scale, **(short | sizes | changed))
    (folder / "study.yaml").write_text(definition_yaml(definition), encoding="utf-8")
    return read_study(folder / "study.yaml").freeze()


@contextmanager
def workers_of(folder: Path, url: str, *, n: int = 2) -> Iterator[str]:
    """``serve --workers 2`` in a process of its own; its address. It ends in good order."""
    with serving_with_workers(folder, url, n=n) as process:
        assert process.stdout is not None
        said: list[str] = []
        try:
            yield address_of(process, said)
        finally:
            process.send_signal(signal.SIGTERM)
            left = process.stdout.read()
            assert process.wait(timeout=60) == 0, "".join(said) + left
        assert "All answers are saved" in left, left


def serving_with_workers(folder: Path, url: str, *, n: int, port: str = "0") -> subprocess.Popen[str]:
    """Start ``serve`` with so many workers in a process of its own."""
    how = ("--port", port, "--postgres", url, "--workers", str(n))
    command = [sys.executable, "-m", "lexiscope", "annotate", "serve", "study.yaml", *how]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def address_of(process: subprocess.Popen[str], said: list[str]) -> str:
    """Return the address of a server once it listens; what it said until then is added to *said*."""
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        if line.startswith("Ctrl-C"):
            break
    found = re.search(r"http://127.0.0.1:\d+", "".join(said))
    assert found is not None, said
    return found[0]


async def take_part(study: FrozenStudy, address: str, number: int) -> str:
    """One person from the link to the end; the last page."""
    # a new connection for each request, so that any worker may answer it
    each = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=address, follow_redirects=True, timeout=60, limits=each) as browser:
        for _ in range(200):
            try:
                await browser.get("/health")
                break
            except httpx.ConnectError:
                await asyncio.sleep(0.1)
        person = Person(browser, study)
        return (await person.whole_way(await person.arrive(f"5f{number:022x}"))).text


def test_two_workers_serve_twenty_places(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """24 people come at once to two processes: 20 finish and get the code, 4 are told that the study is full; 60
    answers are stored once each, each with the time when its page was shown, whichever process showed it; nothing is
    left over, and the seals hold."""
    own = new_database(url, "served")
    monkeypatch.chdir(tmp_path)
    study = served_study(tmp_path)

    async def everybody(address: str) -> list[str]:
        return await asyncio.gather(*(take_part(study, address, number) for number in range(24)))

    with workers_of(tmp_path, own) as address:
        ends = asyncio.run(everybody(address))
    assert Counter("DONE1" in end for end in ends) == {True: 20, False: 4}
    with Store.open(tmp_path / "study", study.record, url=own) as store:
        assert [(load.valid, load.active, load.free) for load in store.loads().values()] == [(10, 0, 0), (10, 0, 0)]
        done = [one for one in store.people() if one.state in (State.FINISHED, State.ACCEPTED)]
        # three trials, two questions about the person
        assert Counter(one.n_answered for one in done) == {3 + 2: 20}
        trials = store.trial_answers()
        assert len(trials) == 60
        assert all(row["shown_at"] < row["answered_at"] and row["rt_server_ms"] > 0 for row in trials)
        assert store.verify().problems == ()
        assert not any(one.surplus for one in store.people())
