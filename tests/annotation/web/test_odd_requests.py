"""Addresses and fields that hold no sensible number: never a 5xx, and nothing that a visitor wrote is logged."""

from __future__ import annotations

import asyncio
import logging
import re
from itertools import product
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.record import Phase
from lexiscope.annotation.study_file.definition import AboutYou
from lexiscope.annotation.web.admin.routes import ADMIN_ROUTES
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.server import ROUTES

from .made_admin import answer_by_rule, researcher
from .made_admin import running as researchers_app
from .made_web import AGE, JSON, NATIVE, SHORT, Person, form_of, visit
from .test_security import at_trial

MARK = "visitorwrotethis"
NUMBERS = (
    "9" * 4400,
    "9" * 40,
    "-1",
    "+1",
    "1e9",
    "1_0",
    "0x1",
    "1.5",
    "٣",
    "１",
    "²",
    "nan",
    "inf",
    "%00",
    "",
    MARK,
)


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """What the server said, without the lines of the test's own browser."""
    return "\n".join(one.getMessage() for one in caplog.records if not one.name.startswith("http"))


def of_route(path: str, filled: dict[str, str]) -> str:
    """A route's address with its parameters filled in."""
    return re.sub(r"\{(\w+)[^}]*\}", lambda found: filled[found[1]], path)


def test_no_address_of_a_participant_breaks_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Every route with every odd number in each of its parts, and every phase that has no trials: below 500, and no
    text of the visitor in the log."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        await at_trial(app, browser)
        app.saves.burst = app.arrivals.burst = 10**9
        browser.follow_redirects = False
        for route, odd in product(ROUTES, NUMBERS):
            for phase in (*map(str, Phase), odd) if "{phase}" in route.path else ("",):
                path = of_route(route.path, {"phase": phase, "position": odd, "token": odd, "name": odd})
                path = path if path.startswith("/") else f"/{path}"
                for method in route.methods:
                    answer = await browser.request(method, f"{path}?page={odd}&q={odd}", headers=JSON)
                    assert answer.status_code < 500, (method, path[:80])
        for phase in ("demographics", "debrief"):
            for method in ("GET", "POST"):
                answer = await browser.request(method, f"/trial/{phase}/0", headers=JSON)
                assert answer.status_code in (404, 415), phase

    with caplog.at_level(logging.DEBUG):
        visit(tmp_path, steps)
    assert MARK not in logged(caplog)
    assert "9" * 40 not in logged(caplog)


def test_no_address_of_a_researcher_breaks_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The same for every page of the researchers, path, query and form."""

    async def steps() -> None:
        with researchers_app(tmp_path) as app:
            answer_by_rule(app, 2)
            async with researcher(app, headers=JSON) as browser:
                token = form_of((await browser.get("/researcher/status")).text)[1]["csrf"]
                browser.follow_redirects = False
                routes = [one for one in ADMIN_ROUTES if not one.path.endswith(("/logout", "/export", "/login"))]
                for route, odd in product(routes, NUMBERS):
                    path = of_route(route.path, dict.fromkeys(("secret", "list_id", "who", "number", "name"), odd))
                    fields = dict.fromkeys(("places", "n", "page", "status", "to", "verdict", "key"), odd)
                    for method in route.methods:
                        form = {"data": fields | {"csrf": token, "confirmed": "yes"}} if method == "POST" else {}
                        answer = await browser.request(method, f"{path}?page={odd}&places={odd}", **form)
                        assert answer.status_code < 500, (method, path[:80])

    with caplog.at_level(logging.DEBUG):
        asyncio.run(steps())
    assert MARK not in logged(caplog)
    assert "9" * 40 not in logged(caplog)


@pytest.mark.parametrize("odd", [one for one in NUMBERS if one])
def test_no_number_of_a_form_breaks_the_server(tmp_path: Path, odd: str) -> None:
    """The fields of a trial's form that hold numbers: an odd one is refused by its name, or is no measure."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        page = await at_trial(app, browser)
        action, fields = form_of(page.text)
        for name in ("value-trials-0", "supersedes", "rt_ms"):
            given = fields | {"value-trials-0": "3"} | {name: odd}
            answer = await browser.post(action, data=given, headers=JSON)
            assert answer.status_code == (200 if name == "rt_ms" else 422), name
            if name != "rt_ms":
                assert answer.json()["error"]["field"] == name.partition("-")[0]
            else:
                (row,) = app.store.answers_of(app.store.people()[0].participant_id)
                assert row["rt_ms"] in (None, 1.0, 1.5, 10.0), row["rt_ms"]

    visit(tmp_path, steps, **SHORT)


def test_what_a_fault_of_ours_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A 500 names a reference that the log has too, with the place in the code; neither the address nor the text of
    the error is logged: both may quote the visitor."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        await at_trial(app, browser)

        def broken(*_: object) -> None:
            raise KeyError(MARK)

        monkeypatch.setattr(type(app.flow), "trial_to_show", broken)
        answer = await browser.get(f"/trial/trials/0?q={MARK}", headers=JSON)
        assert answer.status_code == 500
        reference = answer.json()["error"]["reference"]
        assert f"error {reference} at GET /trial/{{phase}}/{{position}}: KeyError" in logged(caplog)
        assert "server.py" in logged(caplog)

    with caplog.at_level(logging.DEBUG):
        visit(tmp_path, steps, **SHORT)
    assert MARK not in logged(caplog)


def test_a_form_that_breaks_off_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who leaves while a form is on its way stores nothing, and the log stays empty."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        page = await at_trial(app, browser)
        action, _ = form_of(page.text)
        sent: list[object] = []
        messages = iter([{"type": "http.request", "body": b"value", "more_body": True}, {"type": "http.disconnect"}])
        cookie = f"participant={browser.cookies['participant']}".encode()
        form = (b"content-type", b"application/x-www-form-urlencoded")
        scope = {
            "type": "http",
            "method": "POST",
            "path": action,
            "raw_path": action.encode(),
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1:8000"), (b"cookie", cookie), form],
        }

        async def receive() -> object:
            return next(messages)

        async def send(message: object) -> None:
            sent.append(message)

        await browser._transport.app(scope, receive, send)  # type: ignore[attr-defined]
        assert app.store.people()[0].n_answered == 0

    with caplog.at_level(logging.DEBUG, logger="lexiscope"):
        visit(tmp_path, steps, **SHORT)
    assert not [one for one in caplog.records if one.name.startswith("lexiscope")]


YEARS = AboutYou(measure="years_of_spanish", text="How many years?", kind="number", low=0, high=80, step=0.5)
BORN = AboutYou(measure="year_of_birth", text="When were you born?", kind="number", required=False)


@pytest.mark.parametrize(
    ("question", "given", "stored"),
    [
        *((AGE, odd, None) for odd in ("-5", "999", "121", "12.5", "abc", "1e1", "+30", "3_0", "nan", "9" * 4400)),
        (AGE, "0", 0),
        (AGE, "120", 120),
        (AGE, " 30 ", 30),
        (AGE, "٣٠", 30),
        (AGE, "３０", 30),
        (YEARS, "2,5", 2.5),
        (YEARS, "2.5", 2.5),
        (YEARS, "٢٫٥", 2.5),
        (YEARS, "2.3", None),
        (YEARS, "-1", None),
        (YEARS, "81", None),
        (BORN, "1990", 1990),
        (BORN, "-1990", None),
    ],
)
def test_a_number_about_oneself_is_within_its_limits(
    tmp_path: Path, question: AboutYou, given: str, stored: float | None
) -> None:
    """A number that no person can have is refused, its field is named and nothing of the page is stored; digits of any
    script and a decimal comma are numbers. An age is at most 120, other numbers have the limits of the study."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study)
        page = await person.go_on(await person.arrive(), consent="yes")
        answers = {"native_speaker-about": "yes", f"{question.measure}-about": given}
        page = await person.go_on(page, **answers)
        rows = [one["value"] for one in app.store.answers_of(app.store.people()[0].participant_id)]
        if stored is None:
            assert page.status_code == 422
            assert f'id="fault-{question.measure}"' in page.text
            assert 'id="fault-native_speaker"' not in page.text
            assert rows == []
        else:
            assert page.status_code == 200
            assert rows == [None, stored]

    visit(tmp_path, steps, **(SHORT | {"about_you": (NATIVE, question)}))
