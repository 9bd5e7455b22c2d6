"""After an end no form is shown, whatever address is opened; what is sent all the same is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.record import State
from lexiscope.annotation.study_file.definition import CatchSection, DesignSection, RatingsSection
from lexiscope.annotation.web.app import App

from .made_admin import dashboard_of
from .made_web import JSON, Person, client, form_of, made_definition, running, visit
from .test_flow import right

ONE_PLACE: dict[str, object] = {
    "design": DesignSection(lists=1),
    "ratings": RatingsSection(per_item=1),
    "catch": CatchSection(per_list=0),
    "exclusions": (),
}


async def no_form_anywhere(browser: httpx.AsyncClient, last_trial: dict[str, str], *, code: str) -> None:
    """Open every address of a participant; send a form that was open before the end."""
    trials = [f"/trial/{phase}/{n}" for phase in ("qualification", "practice", "trials", "reveal") for n in range(3)]
    for path in ("/now", "/", "/guidelines", "/feedback/0", "/trial/demographics/0", "/trial/debrief/0", *trials):
        page = await browser.get(path)
        assert page.status_code in (200, 404), path
        # the page for somebody without an id asks for one
        assert "<form" not in page.text or 'action="/id"' in page.text, path
    if last_trial:
        action = last_trial.pop("action")
        name = f"value-{action.removeprefix('/trial/').replace('/', '-')}"
        for value in ("", "3", "77"):
            for asks in (JSON, {}):
                page = await browser.post(action, data=last_trial | {name: value}, headers=asks)
                # the answer that was stored gets its receipt again
                assert page.status_code in (409, 422) or value == "3", (value, page.status_code)
                assert "<form" not in page.text, value
    assert code in (await browser.get("/now")).text


async def to_trial(person: Person, phase: str) -> tuple[httpx.Response, dict[str, str]]:
    """Go on to the first trial of a phase; return its page, and its form as it is sent."""
    page = await person.arrive()
    for _ in range(20):
        if page.url.path.startswith(f"/trial/{phase}"):
            action, fields = form_of(page.text)
            return page, fields | {"action": action}
        if 'name="consent"' in page.text:
            page = await person.go_on(page, consent="yes")
        elif "-about" in page.text:
            page = await person.go_on(page, **{"native_speaker-about": "yes"})
        elif page.url.path.startswith("/trial/"):
            where = page.url.path.removeprefix("/trial/").replace("/", "-")
            page = await person.go_on(page, **{f"value-{where}": right(where, page.text)})
        elif page.url.path.startswith("/feedback/"):
            page = await person.browser.get("/now")
        else:
            page = await person.go_on(page)
    raise AssertionError(f"no trial of {phase}")


def test_who_finished_sees_no_form(tmp_path: Path) -> None:
    """Every trial was answered and could be changed until then; after the last remark only the code is shown."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page, form = await to_trial(person, "trials")
        await person.whole_way(page)
        await no_form_anywhere(browser, form, code="DONE1")

    visit(tmp_path, steps)


def test_who_is_screened_out_sees_no_form(tmp_path: Path) -> None:
    """A failed qualification is an end, with its own code."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page, form = await to_trial(person, "qualification")
        page = await person.go_on(page, **{"value-qualification-0": "5"})
        await no_form_anywhere(browser, form, code="OUT1")

    visit(tmp_path, steps)


def test_who_declined_sees_no_form(tmp_path: Path) -> None:
    """Without consent nothing else is shown."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        await person.go_on(await person.arrive(), consent="no")
        await no_form_anywhere(browser, {}, code="NO1")

    visit(tmp_path, steps)


@pytest.mark.parametrize("closed", [True, False])
def test_a_newcomer_to_a_full_or_closed_study_sees_no_form(tmp_path: Path, *, closed: bool) -> None:
    """The last place is used, or the study is closed: also for who had the consent page open, or had consented."""

    async def steps() -> None:
        with running(tmp_path, made_definition(**ONE_PLACE)) as app:
            async with client(app) as early, client(app) as consented:
                reader, waiting = Person(early, app.study), Person(consented, app.study)
                open_page = await reader.arrive("b" * 24)
                await waiting.go_on(await waiting.arrive("c" * 24), consent="yes")
                if closed:
                    app.store.set_status("closed", actor="test")
                else:
                    async with client(app) as first:
                        one = Person(first, app.study, right)
                        assert "DONE1" in (await one.whole_way(await one.arrive("d" * 24))).text
                said = "does not accept participants" if closed else "No place is free"
                late = await reader.go_on(open_page, consent="yes")
                assert "<form" not in late.text
                await no_form_anywhere(early, {}, code=said)
                if closed:
                    await no_form_anywhere(consented, {}, code=said)
                async with client(app) as fresh:
                    page = await Person(fresh, app.study).arrive("e" * 24)
                    assert "<form" not in page.text
            await asyncio.gather(*app.tasks)

    asyncio.run(steps())


CHANGES: dict[str, Callable[[App, str], object]] = {
    "returned": lambda app, who: app.store.change_state(who, State.RETURNED, reason="by hand"),
    "excluded": lambda app, who: app.store.change_state(who, State.EXCLUDED, reason="by hand"),
}


@pytest.mark.parametrize("to", list(CHANGES))
def test_who_was_sent_away_by_the_researcher_sees_no_form(tmp_path: Path, to: str) -> None:
    """The next trial is kept in memory to show it quickly; what a researcher changes by hand counts at once."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page, _ = await to_trial(person, "trials")
        page = await person.go_on(page, **{"value-trials-0": "3"})
        action, fields = form_of(page.text)
        assert action == "/trial/trials/1"
        who = app.store.people()[0].participant_id
        CHANGES[to](app, who)
        dashboard_of(app).refresh()
        await no_form_anywhere(browser, fields | {"action": action}, code="")
        assert len([one for one in app.store.answers_of(who) if one["phase"] == "trials"]) == 1

    visit(tmp_path, steps)
