"""reliability.md S12: another program holds the write lock of the study's file while participants answer."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.engine import DATABASE_NAME
from lexiscope.annotation.study_file.definition import RatingsSection

from .made_web import JSON, SHORT, form_of, made_definition, made_items
from .served import Served

LOCKING = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("CREATE TABLE foreign_table (x)")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
print("free", flush=True)
"""
PEOPLE = 30


@contextmanager
def locked(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another program that has begun to write, and waits."""
    command = [sys.executable, "-c", LOCKING, str(folder / DATABASE_NAME)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        try:
            yield other
        finally:
            other.kill()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A study with places for everybody, behind a real socket."""
    made = Served(tmp_path, made_definition(**SHORT, ratings=RatingsSection(per_item=500)), made_items())
    made.start()
    made.app.arrivals.burst = 10**6
    try:
        yield made
    finally:
        made.stop()


async def at_first_trial(browser: httpx.AsyncClient, number: int) -> tuple[str, dict[str, str]]:
    """Go to the first trial; its form."""
    page = await browser.get("/", params={"PROLIFIC_PID": f"{number:024x}"})
    for extra in ({"consent": "yes"}, {}):
        action, fields = form_of(page.text)
        page = await browser.post(action, data=fields | extra)
    return form_of(page.text)


@pytest.mark.parametrize("seconds_allowed", [30, pytest.param(5, marks=pytest.mark.soak)])
def test_every_request_is_answered_during_a_foreign_lock(served: Served, seconds_allowed: int) -> None:
    """Thirty participants answer, and others arrive, while another program writes: each is told that nothing was saved
    and when to try again; pages can be read meanwhile. When the program has ended, the same answers under the same
    keys are stored, each once. The five seconds of S12 are measured on a machine that does nothing else (soak)."""

    async def run() -> None:
        # a connection each time: one that the server closes meanwhile is no part of this test
        limits = httpx.Limits(max_connections=400, max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=served.url, timeout=30, limits=limits) as plain:
            settings = {
                "base_url": served.url,
                "follow_redirects": True,
                "timeout": 30,
                "limits": limits,
                "verify": False,
            }
            people = [httpx.AsyncClient(**settings) for _ in range(PEOPLE)]
            forms = [await at_first_trial(one, number) for number, one in enumerate(people)]

            async def save(number: int) -> tuple[httpx.Response, float]:
                begun = time.monotonic()
                action, fields = forms[number]
                sent = fields | {"value-trials-0": str(1 + number % 5)}
                answer = await people[number].post(action, data=sent, headers=JSON)
                return answer, time.monotonic() - begun

            async def arrive(number: int) -> tuple[httpx.Response, float]:
                begun = time.monotonic()
                return await plain.get(f"/?PROLIFIC_PID={number + 10**6:024x}", headers=JSON), time.monotonic() - begun

            with locked(served.folder) as other:
                for _ in range(2):
                    asked = [save(number) for number in range(PEOPLE)] + [arrive(number) for number in range(PEOPLE)]
                    found = await asyncio.gather(*asked)
                    for answer, seconds in found:
                        assert answer.status_code == 503
                        assert answer.json()["error"]["code"] == "not_stored"
                        assert int(answer.headers["retry-after"]) >= 1
                        assert seconds < seconds_allowed
                assert (await people[0].get("/trial/trials/0")).status_code == 200
                # what a browser without scripts is told
                action, fields = forms[0]
                page = await people[0].post(action, data=fields | {"value-trials-0": "1"})
                assert page.status_code == 503
                assert "could not be stored" in page.text
                assert other.stdin is not None
                assert other.stdout is not None
                other.stdin.write("\n")
                other.stdin.flush()
                assert other.stdout.readline() == "free\n"
            # whoever comes in the moment after the lock may still be told to wait
            await asyncio.sleep(0.5)
            assert {(await save(number))[0].status_code for number in range(PEOPLE)} == {200}
            for one in people:
                await one.aclose()

    asyncio.run(run())
    rows = [served.app.store.answers_of(one.participant_id) for one in served.app.store.people()]
    stored = sorted(row[0]["value"] for row in rows if row)  # type: ignore[type-var]
    assert stored == sorted(1 + number % 5 for number in range(PEOPLE))
    assert all(len(row) <= 1 for row in rows)
    assert served.app.store.verify().problems == ()


def test_a_lock_that_ends_in_time_is_not_noticed(served: Served) -> None:
    """A program that writes for a moment costs nobody an answer: it is waited for."""

    async def run() -> None:
        async with httpx.AsyncClient(base_url=served.url, follow_redirects=True, timeout=30) as browser:
            action, fields = await at_first_trial(browser, 1)
            with closing(sqlite3.connect(served.folder / DATABASE_NAME, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                sending = asyncio.create_task(browser.post(action, data=fields | {"value-trials-0": "2"}, headers=JSON))
                await asyncio.sleep(0.5)
                assert not sending.done()
                other.execute("ROLLBACK")
                assert (await sending).status_code == 200

    asyncio.run(run())
