"""Several workers serve one study: what one of them did or knows is no fault of another, and nothing is lost by it."""

from __future__ import annotations

import logging
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.record import State, StateError
from lexiscope.annotation.web.app import App
from lexiscope.core.errors import InputError

from .made_web import SHORT, Person, visit


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
