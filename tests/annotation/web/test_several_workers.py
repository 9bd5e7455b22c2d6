"""Several workers serve one study: what one of them did or knows is no fault of another, and nothing is lost by it."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.record import State, StateError
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.showings import Showings, ShownTrial
from lexiscope.core.errors import InputError

from .made_web import SHORT, Person, client, form_of, made_definition, made_items, running, visit


async def finished(app: App, browser: httpx.AsyncClient) -> str:
    """A participant who answers everything with 3, also where 2 is asked for; the rules are not applied yet."""
    person = Person(browser, app.study)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(App, "apply_rules_soon", lambda _app: None)
        assert "DONE1" in (await person.whole_way(await person.arrive())).text
    (one,) = app.store.people()
    assert one.state is State.FINISHED
    return one.participant_id


def actions(app: App) -> list[str]:
    """What the audit log names."""
    return [entry.action for entry in app.store.audit_entries()[1]]


def test_a_participant_excluded_by_another_worker_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Another worker applies the rules between reading and writing: its exclusion counts, and nothing is reported."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        who = await finished(app, browser)
        people = app.store.people()
        app.store.change_state(who, State.EXCLUDED, reason="attention_check()")
        with monkeypatch.context() as patch:
            patch.setattr(type(app.store), "people", lambda _store: people)
            await app._apply_rules()
        assert app.store.people()[0].state is State.EXCLUDED
        assert "judging failed" not in actions(app)
        assert caplog.records == []

    with caplog.at_level(logging.INFO, logger="lexiscope.annotation"):
        visit(tmp_path, steps, **SHORT)


@pytest.mark.parametrize("error", [InputError("a rule needs two raters"), StateError("no such change")])
def test_rules_that_fail_are_one_line_and_in_the_audit_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    """A rule or a change that fails for a reason of its own: one line with the reason, and an entry."""

    def fail(*_words: object, **_more: object) -> None:
        raise error

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        await finished(app, browser)
        name = "change_state" if isinstance(error, StateError) else "responses"
        with monkeypatch.context() as patch:
            patch.setattr(type(app.store), name, fail)
            await app._apply_rules()
        assert "judging failed" in actions(app)
        (line,) = caplog.records
        assert line.exc_info is None
        assert line.getMessage().startswith("the exclusion rules could not be applied: ")
        assert str(error).splitlines()[0] in line.getMessage()
        assert "\n" not in line.getMessage()

    with caplog.at_level(logging.INFO, logger="lexiscope.annotation"):
        visit(tmp_path, steps, **SHORT)


# -- when a page was shown ------------------------------------------------------------------------------------------


Workers = tuple[App, httpx.AsyncClient, httpx.AsyncClient]


@asynccontextmanager
async def two_workers(folder: Path, **changed: object) -> AsyncIterator[Workers]:
    """One browser that one worker answers, and the same browser (its cookies) that another worker answers.

    What a process remembers is in its app: two apps share what two processes do, the store and the key.
    """
    with running(folder, made_definition(**(SHORT | changed)), made_items(24)) as app:
        other = App.of(app.study, app.store, app.settings)
        async with client(app) as first, client(other) as second:
            # the property would copy them
            second._cookies = first.cookies
            yield app, first, second


async def begin(app: App, browser: httpx.AsyncClient, who: str = "5f1e2d3c4b5a69788796a5b4") -> httpx.Response:
    """The page of the first trial."""
    person = Person(browser, app.study)
    page = await person.go_on(await person.go_on(await person.arrive(who), consent="yes"))
    assert page.url.path == "/trial/trials/0"
    return page


async def answer(page: httpx.Response, worker: httpx.AsyncClient, **changed: str) -> httpx.Response:
    """Answer a trial with 3 at one of the workers."""
    action, fields = form_of(page.text)
    suffix = action.removeprefix("/trial/").replace("/", "-")
    return await worker.post(action, data=fields | {f"value-{suffix}": "3"} | changed)


def times(app: App) -> list[tuple[str | None, float | None]]:
    """When the pages of the stored answers were shown, and the response times by the server."""
    rows = [row for one in app.store.people() for row in app.store.answers_of(one.participant_id)]
    return [(row["shown_at"], row["rt_server_ms"]) for row in rows]  # type: ignore[misc]


def test_another_worker_knows_when_a_page_was_shown(tmp_path: Path) -> None:
    """Pages that one worker shows and another one takes: every answer has both times."""

    async def run() -> None:
        async with two_workers(tmp_path) as (app, first, second):
            page = await begin(app, first)
            for _ in range(4):
                page = await answer(page, second)
                page = await first.get(page.url.path)
            stored = times(app)
            assert len(stored) == 4
            assert all(shown is not None and ms is not None and 0 < ms < 60_000 for shown, ms in stored)

    asyncio.run(run())


def test_the_first_showing_counts_until_the_answer_is_stored(tmp_path: Path) -> None:
    """A page that is loaded again, also from another worker or with a message in it, keeps its first time; a stored
    answer that is changed has a time of its own."""

    async def run() -> None:
        async with two_workers(tmp_path, back=True) as (app, first, second):
            page = await begin(app, first)
            mark = form_of(page.text)[1]["shown_mark"]
            for worker in (first, second):
                page = await worker.get("/trial/trials/0")
                assert form_of(page.text)[1]["shown_mark"] == mark
            page = await answer(page, second, **{"value-trials-0": ""})
            assert page.status_code == 422
            assert form_of(page.text)[1]["shown_mark"] == mark
            page = await answer(page, second)
            next_mark = form_of(page.text)[1]["shown_mark"]
            changed = await second.get("/trial/trials/0")
            assert form_of(changed.text)[1]["shown_mark"] not in (mark, next_mark)
            page = await answer(changed, first)
            # who went back continues on the page that was open before
            assert form_of(page.text)[1]["shown_mark"] == next_mark
            (shown, _), (shown_again, _) = times(app)
            assert str(shown) < str(shown_again)

    asyncio.run(run())


def test_a_mark_is_good_for_one_trial_of_one_participant(tmp_path: Path) -> None:
    """A mark that was changed, or is of another trial, answer or person: the answer is stored, without the times."""

    async def run() -> None:
        async with two_workers(tmp_path, back=True) as (app, first, _second):
            async with client(app) as stranger:
                theirs = form_of((await begin(app, stranger, "somebody")).text)[1]["shown_mark"]
            page = await begin(app, first)
            mine = form_of(page.text)[1]["shown_mark"]
            at, steady, clock, signature = mine.split("-")
            earlier = f"{int(at, 16) - 10**9:x}-{steady}-{clock}-{signature}"
            page = await answer(page, first, shown_mark=theirs)
            for mark in (mine, earlier, "", "0-0-00000000-" + "0" * 32):
                page = await answer(page, first, shown_mark=mark)
            changed = await first.get("/trial/trials/0")
            # the first answer's mark for the change of it
            assert (await answer(changed, first, shown_mark=mine)).status_code == 200
            assert times(app) == [(None, None)] * 6

    asyncio.run(run())


def test_a_time_that_cannot_be_is_none() -> None:
    """The monotonic clock counts where it is this machine's since its start; else the time of day; never below zero."""
    now, trial = datetime(2026, 3, 1, tzinfo=UTC), ShownTrial("p1", "trials", "i1", None)
    showings = Showings(b"key")
    mark = showings.mark(trial, now)
    here = showings.read(mark, trial)
    assert here is not None
    assert here.at == now
    # the clock was set back by a year: the monotonic clock was not
    assert 0 <= (here.milliseconds(now - timedelta(days=365)) or -1.0) < 60_000
    showings._clock = "another0"
    away = showings.read(mark, trial)
    assert away is not None
    assert away.steady is None
    assert away.milliseconds(now + timedelta(seconds=2)) == 2000
    assert away.milliseconds(now - timedelta(seconds=2)) is None
    # longer than the store takes: the answer is not lost by it
    assert away.milliseconds(now + timedelta(days=400)) is None
    assert Showings(b"other").read(mark, trial) is None


def test_processes_of_one_machine_read_one_clock() -> None:
    """Two processes name their clocks alike on Linux, where they are the same."""
    command = [sys.executable, "-c", "from lexiscope.annotation.web.showings import *; print(monotonic_clock())"]
    names = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)}
    assert len(names) == (1 if sys.platform == "linux" else 2)
