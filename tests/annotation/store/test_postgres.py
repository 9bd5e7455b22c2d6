"""reliability.md S13: the same store on PostgreSQL, two workers at once. Skipped where no server can be started."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import AnswerConflict, AnswerRefused, NoPlaceLeft, Phase, State, Trial

from .made_study import answer, made_study, open_store, qualified

PROGRAMS = [shutil.which(name) for name in ("initdb", "pg_ctl")]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server of its own, reached by a socket in a folder of its own."""
    if None in PROGRAMS or importlib.util.find_spec("psycopg") is None:
        pytest.skip("PostgreSQL needs initdb, pg_ctl and the package psycopg (extra: postgres)")
    # PostgreSQL does not run as root
    prefix: list[str] = []
    if os.name == "posix" and os.geteuid() == 0:
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no runuser")
        prefix = ["runuser", "-u", "nobody", "--"]
    with TemporaryDirectory() as name:
        if prefix:
            shutil.chown(name, "nobody")
        initdb, pg_ctl = map(str, PROGRAMS)
        data, options = f"{name}/data", f"-k {name} -c listen_addresses=''"
        run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": name}
        subprocess.run([*prefix, initdb, "-D", data, "-U", "people", "-A", "trust", "-E", "UTF8"], **run)  # type: ignore[call-overload]
        subprocess.run([*prefix, pg_ctl, "-D", data, "-o", options, "-l", f"{name}/log", "-w", "start"], **run)  # type: ignore[call-overload]
        try:
            yield f"postgresql://people@/postgres?host={name}"
        finally:
            subprocess.run([*prefix, pg_ctl, "-D", data, "-m", "immediate", "stop"], **run)  # type: ignore[call-overload]


def test_two_workers_on_one_study(tmp_path: Path, url: str) -> None:
    """320 arrivals on 120 places, parallel answers, codes, triggers, erasure: as on SQLite."""
    study = made_study(places={f"list {k}": 12 for k in range(10)})
    with (
        open_store(tmp_path, study, url=url) as one,
        open_store(tmp_path, study, url=url) as two,
        ThreadPoolExecutor(16) as pool,
    ):
        workers = (one, two)
        people = list(pool.map(lambda k: qualified(workers[k % 2], f"PLATFORM-{k}"), range(320)))
        found = [pool.submit(workers[k % 2].take_place, who) for k, who in enumerate(people)]
        assert Counter(type(future.exception()) for future in found) == {type(None): 120, NoPlaceLeft: 200}
        assert {(load.active, load.free) for load in two.loads().values()} == {(12, 0)}
        who = next(future.result().participant_id for future in found if future.exception() is None)
        one.lay_out(who, Phase.TRIALS, [Trial("i0"), Trial("i1")])
        two.change_state(who, State.ACTIVE, reason="go")
        given = [answer(who, "i0", 0, 1 + k % 5, client_key=f"tab {k % 4}") for k in range(40)]
        errors = [pool.submit(workers[k % 2].submit, sent).exception() for k, sent in enumerate(given)]
        assert Counter(type(error) for error in errors) == {type(None): 10, AnswerConflict: 30}
        with pytest.raises(AnswerRefused, match="NUL"):
            one.submit(answer(who, "i1", 1, comment="\x00"))
        two.submit(answer(who, "i1", 1))
        one.change_state(who, State.FINISHED, reason="answered all")
        assert one.issue_code(who) == two.issue_code(who)
        assert (one.long_export().num_rows, one.verify().problems) == (2, ())
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
