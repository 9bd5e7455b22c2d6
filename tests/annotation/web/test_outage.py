"""A database that fails for a while: /health says so in JSON within five seconds, the log has its beginning and end."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store import audit
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import BrowserAnswer, Phase
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.store.writer import reason_of
from lexiscope.annotation.web import app as web_app
from lexiscope.annotation.web import server as web_server
from lexiscope.annotation.web.app import App
from lexiscope.core.errors import LexiscopeError

from .made_web import SHORT, Person, visit
from .test_failed_maintenance import unreadable

FAILING = (503, {"status": "failing", "saving": False})


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """The lines that the server has written."""
    with caplog.at_level(logging.INFO, logger="lexiscope.annotation"):
        yield lambda: [record.getMessage() for record in caplog.records]


@contextmanager
def full_disk() -> Iterator[None]:
    """No transaction with rows is stored, each of which has an entry in the audit log; one without rows is."""

    def fail(*_words: object, **_more: object) -> None:
        raise sa.exc.OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "append", fail)
        yield


async def health(browser: httpx.AsyncClient) -> tuple[int, object]:
    """The status and the body of /health, which is JSON in any case."""
    told = await browser.get("/health")
    return told.status_code, told.json()


def test_saving_is_false_while_the_last_try_failed(tmp_path: Path, lines: Callable[[], list[str]]) -> None:
    """Many failed saves: one line when it begins, one when it ends; /health says it all the time, and finds out
    by itself that there is space again, which the audit log notes."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        page = await Person(browser, app.study).arrive()
        assert page.status_code == 200
        assert (await health(browser))[0] == 200
        with full_disk():
            for number in range(50):
                assert (await browser.get("/", params={"PROLIFIC_PID": f"p{number}"})).status_code == 503
            assert await health(browser) == FAILING
            # what writes nothing is no evidence
            app.store._write(lambda _connection: None)
            assert await health(browser) == FAILING
            assert len(lines()) == 1
            assert "answers cannot be saved" in lines()[0]
            assert "disk is full" in lines()[0]
        status, body = await health(browser)
        assert (status, isinstance(body, dict) and body["saving"]) == (200, True)
        assert len(lines()) == 2
        assert "answers are saved again" in lines()[1]
        assert app.store.audit_entries()[1][0].action == "saving again"
        assert await health(browser) == (status, body)
        assert [entry.action for entry in app.store.audit_entries()[1]].count("saving again") == 1

    visit(tmp_path, steps, **SHORT)


def test_a_stored_answer_ends_the_failure(tmp_path: Path, lines: Callable[[], list[str]]) -> None:
    """Without a program that asks /health, the next write that succeeds ends it."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        with full_disk():
            assert (await browser.get("/", params={"PROLIFIC_PID": "p1"})).status_code == 503
        app.store.log("test", actor="test")
        assert [line.partition(":")[0].partition(",")[0] for line in lines()] == [
            "answers cannot be saved",
            "answers are saved again",
        ]

    visit(tmp_path, steps, **SHORT)


def test_a_refused_answer_is_no_failure(tmp_path: Path, lines: Callable[[], list[str]]) -> None:
    """What a participant sends wrongly says nothing about the database."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        with pytest.raises(LexiscopeError):
            app.store.submit(BrowserAnswer("nobody", "i0", Phase.TRIALS, "a-key-of-it", 0, value=3))
        assert (await health(browser))[0] == 200
        assert lines() == []

    visit(tmp_path, steps, **SHORT)


def test_a_database_that_cannot_be_read_is_failing(tmp_path: Path, lines: Callable[[], list[str]]) -> None:
    """Requests that only read fail too: JSON, one line for all of them, and one when it is over."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        await Person(browser, app.study).arrive()
        with unreadable(app, tmp_path):
            for _ in range(20):
                assert (await browser.get("/now")).status_code == 503
                assert (await browser.get("/health", headers={"accept": "text/html"})).json() == FAILING[1]
        assert (await health(browser))[0] == 200
        assert (await browser.get("/now")).status_code == 200
        assert lines()[0].startswith("answers cannot be saved: the database cannot be read (unable to open")
        # the probe writes, and reads fail: each time it is another failure
        assert lines()[-1].startswith("answers are saved again")

    visit(tmp_path, steps, **SHORT)


def test_health_answers_while_the_database_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    """A database that does not answer: each question is answered in time, and asks it once."""
    monkeypatch.setattr(web_app, "HEALTH_SECONDS", 0.3)
    monkeypatch.setattr(web_server, "HEALTH_SECONDS", 0.3)
    goes_on, asked = threading.Event(), []
    ask = Store.health

    def hang(store: Store) -> object:
        asked.append(1)
        goes_on.wait(20)
        return ask(store)

    async def steps(_app: App, browser: httpx.AsyncClient) -> None:
        begun = time.monotonic()
        with monkeypatch.context() as patch:
            patch.setattr(Store, "health", hang)
            for _ in range(3):
                assert await health(browser) == FAILING
            assert time.monotonic() - begun < 10
            assert len(asked) == 1
            assert len(lines()) == 1
            assert "did not answer within" in lines()[0]
            goes_on.set()
            await asyncio.sleep(0.3)
        assert (await health(browser))[0] == 200
        assert len(lines()) == 2

    visit(tmp_path, steps, **SHORT)


def test_any_other_fault_is_told_in_the_same_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    """A fault of the program in /health itself."""

    def fail(_store: Store) -> None:
        raise KeyError("a participant's answer")

    async def steps(_app: App, browser: httpx.AsyncClient) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Store, "health", fail)
            assert await health(browser) == FAILING
            (line,) = lines()
            assert "KeyError" in line
            assert "a participant's answer" not in line
            assert "\n" not in line
        assert (await health(browser))[0] == 200

    visit(tmp_path, steps, **SHORT)


def test_the_log_quotes_no_value() -> None:
    """A database names its connection and its disk in the log, and no value that it was given."""
    error = LexiscopeError("the database did not take a transaction")
    of_value = sa.exc.DataError("INSERT", {}, Exception("invalid input: 'my answer'"))
    assert reason_of(error, of_value) == "the database did not take a transaction (Exception)"
    of_connection = sa.exc.OperationalError("INSERT", {}, Exception("connection refused\nDETAIL: my answer"))
    assert reason_of(error, of_connection) == "the database did not take a transaction (connection refused)"
