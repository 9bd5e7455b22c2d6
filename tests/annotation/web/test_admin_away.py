"""The platform's list, pasted: who left there gives the place back here, and nobody who has finished is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.annotation.reconciliation import LEFT_THERE
from lexiscope.annotation.store.participants import state_changes
from lexiscope.annotation.store.record import Phase, State
from lexiscope.annotation.web.app import App

from .made_admin import NAME, act, answer_by_rule, researcher, run, running

PLACE, FORM = "/researcher/participants", "/researcher/away"


def begin(app: App, platform_id: str, session: str | None = None) -> str:
    """Somebody who holds a place and has answered nothing."""
    who = app.store.invite(platform_id, session=session)
    app.store.record_consent(who, text="yes", version="1")
    app.store.change_state(who, State.QUALIFIED, reason="test")
    lease = app.store.take_place(who, choose=app.study.choose)
    app.store.lay_out(who, Phase.TRIALS, app.study.trials(lease.list_id, number=lease.ordinal))
    app.store.change_state(who, State.ACTIVE, reason="begins")
    return who


def state_of(app: App, who: str) -> State:
    return next(one.state for one in app.store.people() if one.participant_id == who)


def test_pasted_ids_free_places_and_are_not_shown(tmp_path: Path) -> None:
    """One came by this id, one by this submission; one has finished, one id is nobody's. The first two are returned,
    their places free; the counts are said, no id is; the log names the account. The same list again changes nothing."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 1, careless=0)
            (finished,) = (one.participant_id for one in app.store.people())
            ana, ben = begin(app, "PLATFORM-ana"), begin(app, "PLATFORM-ben", session="SUBMISSION-ben")
            active = sum(one.active for one in app.store.loads().values())
            async with researcher(app) as browser:
                ids = f"PLATFORM-ana, SUBMISSION-ben\r\n\r\nPLATFORM-nobody;5f{0:022x}"
                for marked, kept in ((2, 1), (0, 3)):
                    page = await act(browser, PLACE, FORM, ids=ids, to="returned")
                    assert page.status_code == 200
                    assert f"Marked: {marked}. Not changed, because they had finished or left" in page.text
                    assert f"left before: {kept}. Unknown IDs: 1." in page.text
                    assert "PLATFORM" not in page.text
                    assert "SUBMISSION" not in page.text
                    assert (state_of(app, ana), state_of(app, ben)) == (State.RETURNED, State.RETURNED)
                    assert state_of(app, finished) in (State.FINISHED, State.ACCEPTED)
            assert sum(one.active for one in app.store.loads().values()) == active - 2
            logged = [one for one in app.store.audit_entries(limit=1000)[1] if one.action == "change_state"]
            assert {one.actor for one in logged} == {NAME}
            assert len(logged) == 2
            assert "PLATFORM" not in "".join(one.details for one in app.store.audit_entries(limit=1000)[1])
            assert app.store.verify().problems == ()

    run(visit)


def test_who_came_back_stays_when_the_list_is_applied_again(tmp_path: Path) -> None:
    """Timed out by the list, then back and answering: the same list sends nobody away a second time; returned is
    another thing, and is noted."""
    with running(tmp_path) as app:
        who = begin(app, "PLATFORM-ana")
        assert app.store.mark_away({who: State.TIMED_OUT}, reason=LEFT_THERE, actor="ana") == {who: State.ACTIVE}
        app.store.change_state(who, State.ACTIVE, reason="came back")
        assert app.store.mark_away({who: State.TIMED_OUT}, reason=LEFT_THERE, actor="ana") == {}
        assert app.store.mark_away({who: State.RETURNED}, reason=LEFT_THERE, actor="ana") == {who: State.ACTIVE}
        assert [each.reason for each in app.store.read(state_changes, who)].count(LEFT_THERE) == 2


@pytest.mark.parametrize(("ids", "to"), [("", "returned"), (" ,;\n", "returned"), ("x", "finished"), ("x", "")])
def test_what_is_no_list_is_refused(tmp_path: Path, ids: str, to: str) -> None:
    """Nothing pasted, too many ids, or another state: 422, and nothing is changed."""

    async def visit() -> None:
        with running(tmp_path) as app:
            who = begin(app, "x")
            async with researcher(app) as browser:
                refused = await act(browser, PLACE, FORM, ids=ids, to=to)
                assert refused.status_code == 422
                many = " ".join(f"x{k}" for k in range(2001))
                assert (await act(browser, PLACE, FORM, ids=many, to="returned")).status_code == 422
                assert state_of(app, who) is State.ACTIVE
                assert (await browser.post(FORM, data={"ids": "x", "to": "returned"})).status_code == 403
                assert state_of(app, who) is State.ACTIVE

    run(visit)
