"""reliability.md W18: the description of every address, and requests that are made from it, right and wrong ones."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from starlette.responses import Response

from lexiscope.annotation.study_file.definition import DesignSection, RatingsSection, StudyDefinition
from lexiscope.annotation.web.admin.dashboard import Dashboard
from lexiscope.annotation.web.admin.routes import ADMIN_ROUTES, admin_routes
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.openapi import FORMS, QUERIES, openapi
from lexiscope.annotation.web.security import RateLimit
from lexiscope.annotation.web.server import ROUTES

from .made_admin import NAME, answer_by_rule, dashboard_of, researcher, running, with_account
from .made_web import SHORT, Person, client, made_definition, made_items
from .served import Served

BARE = re.compile(r":\w+}")


def addresses() -> set[tuple[str, str]]:
    """Method and path of every route, as the description writes it."""
    return {(method, BARE.sub("}", one.path)) for one in (*ROUTES, *ADMIN_ROUTES) for method in one.methods}


def test_every_address_is_described() -> None:
    """A new route without its query or form fails; nothing is described that is no route."""
    described = {(method.upper(), path) for path, methods in openapi()["paths"].items() for method in methods}
    assert described == addresses()
    assert {("POST", path) for path in FORMS} == {one for one in addresses() if one[0] == "POST"}
    assert {("GET", path) for path in QUERIES} <= addresses()
    names = [operation["operationId"] for path in openapi()["paths"].values() for operation in path.values()]
    assert len(set(names)) == len(names)


def unbounded(schema: object, where: str = "") -> Iterator[str]:
    """The parts of a description that say no limit."""
    bounds = {"string": {"maxLength"}, "integer": {"minimum", "maximum"}, "number": {"minimum", "maximum"}}
    bounds["array"] = {"maxItems"}
    if isinstance(schema, list):
        for number, each in enumerate(schema):
            yield from unbounded(each, f"{where}/{number}")
    if isinstance(schema, dict):
        if isinstance(schema.get("type"), str) and not bounds.get(schema["type"], set()) <= set(schema):
            yield where
        for name, each in schema.items():
            yield from unbounded(each, f"{where}/{name}")


def test_everything_is_bounded() -> None:
    """Every text, number and list of the description has its limits."""
    assert list(unbounded(openapi(made_definition()))) == []
    assert list(unbounded({"a": [{"type": "string"}], "b": {"type": "integer", "minimum": 1}})) == ["/a/0", "/b"]


NAMED = re.compile(r'<(?:input|textarea|select|button)[^>]*\bname="([^"]+)"')


def described_fields(action: str, study: StudyDefinition) -> set[str]:
    """The fields that the description has for the address of a form."""
    for path, methods in openapi(study)["paths"].items():
        if "post" in methods and re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), action):
            body = methods["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]
            return set(body["schema"]["properties"])
    raise AssertionError(f"{action} is not described")


def check_forms(page: str, study: StudyDefinition) -> set[str]:
    """Hold every form of a page against the description; return their addresses."""
    found = set()
    for form in re.findall(r'<form[^>]*method="post".*?</form>', page, re.DOTALL):
        action = html.unescape(re.findall(r'action="([^"]*)"', form)[0])
        names = {html.unescape(name).partition("-")[0] for name in NAMED.findall(form)}
        assert names <= described_fields(action, study), action
        found.add(action)
    return found


def test_every_form_of_a_page_is_described(tmp_path: Path) -> None:
    """What the pages of both sides send stands in the description."""
    seen: set[str] = set()

    async def run() -> None:
        with running(tmp_path, made_definition(qualification=(), practice=())) as app:
            answer_by_rule(app, 2)
            who, study = app.store.people()[0].participant_id, app.definition
            async with researcher(app) as browser:
                admin = ("", "/places/1", "/participants", f"/participants/{who}", f"/participants/{who}/forget")
                more = ("/exclusions", "/comments", "/invitations", "/export", "/log", "/status?to=paused")
                for path in (*admin, *more):
                    seen.update(check_forms((await browser.get(f"/researcher{path}")).text, study))
            async with client(app) as browser:
                person = Person(browser, app.study)
                page = await browser.get("/")
                fixed = {"participant": "5" * 24, "consent": "yes", "native_speaker-about": "yes", "age-about": "30"}
                while "DONE1" not in page.text:
                    seen.update(check_forms(page.text, study))
                    suffix = page.url.path.removeprefix("/trial/").replace("/", "-")
                    page = await person.go_on(page, **fixed, **{f"value-{suffix}": "3"})
                await asyncio.gather(*app.tasks)

    asyncio.run(run())
    assert len(seen) >= 15


@dataclass
class Roles:
    """Sends what schemathesis makes, as who it is for: a participant at the first trial, a researcher, or nobody."""

    served: Served
    dashboard: Dashboard
    n: int = 0
    sent: int = 0

    def participant(self) -> tuple[dict[str, str], str]:
        """A new participant's cookie and token."""
        app = self.served.app
        self.n += 1
        who = app.flow.arrive(f"6f{self.n:022x}")
        app.flow.record_consent(who, agreed=True)
        app.flow.begin_trials(who)
        return {"participant": app.keys.sign(who)}, app.keys.form_token(who)

    def researcher(self) -> tuple[dict[str, str], str]:
        """A new session's cookie and token."""
        session, response = self.dashboard.sessions.open(NAME), Response()
        self.dashboard.sessions.set_cookie(response, session)
        name, _, value = response.headers["set-cookie"].partition(";")[0].partition("=")
        return {name: value}, session.csrf

    def anybody(self) -> tuple[dict[str, str], str]:
        """No cookie; the token of the form in which an id is typed, or a name and a password."""
        keys = self.served.app.keys
        return {}, keys.form_token("arriving" if self.n % 2 else "researcher-login")

    def sender(self, path: str, role: str) -> Callable[[Any], None]:
        """How a case of an address is sent and judged."""
        cookies, token = {"participant": self.participant, "researcher": self.researcher}.get(role, self.anybody)()
        people = self.served.app.store.people()
        real = {"who": people[0].participant_id, "list_id": "1", "number": 1, "phase": "trials", "position": 0}

        def send(case: Any) -> None:
            self.sent += 1
            if self.sent % 2:
                case.path_parameters = {name: real.get(name, given) for name, given in case.path_parameters.items()}
            if isinstance(case.body, dict) and self.sent % 5:
                case.body["csrf"] = token
            headers = {"accept": "application/json"} if self.sent % 3 else {}
            # ends a request that hangs; how fast pages are is measured in benchmarks/
            given = {"cookies": cookies, "headers": headers, "allow_redirects": False, "timeout": 120}
            answer = case.call(base_url=self.served.url, **given)
            assert answer.status_code < 500 or (path, answer.status_code) == ("/health", 507), (path, answer.text)
            if headers and role != "researcher" and not path.startswith("/researcher") and answer.status_code >= 400:
                assert set(answer.json()["error"]) == {"code", "field", "message", "reference"}, (path, answer.text)

        return send


def run_cases(operation: Any, send: Callable[[Any], None], n: int, *, right: bool) -> None:
    """Send so many requests that fit the description, or do not."""
    modes = import_schemathesis().GenerationMode
    cases = operation.as_strategy(generation_mode=modes.POSITIVE if right else modes.NEGATIVE)
    checks = list(HealthCheck)
    quiet = settings(max_examples=n, deadline=None, derandomize=True, database=None, suppress_health_check=checks)
    try:
        quiet(given(cases)(lambda case: send(case)))()
    except Unsatisfiable:
        assert not right, "nothing fits the description"


def import_schemathesis() -> Any:
    """The library; imported when it is used: it takes a second."""
    return pytest.importorskip("schemathesis")


@pytest.mark.parametrize("n", [4, pytest.param(24, marks=pytest.mark.soak)], ids=["fast", "soak"])
@pytest.mark.filterwarnings("ignore")
def test_no_request_breaks_the_server(tmp_path: Path, n: int) -> None:
    """Some 200 requests (soak: 2,000) over every address of both sides, half of them against the description: no 5xx,
    none takes more than 2 s, every refusal of the participants' side has the documented shape, nothing is damaged."""
    is_soak = n > 4
    definition = made_definition(**SHORT, design=DesignSection(lists=1), ratings=RatingsSection(per_item=100))
    served = Served(tmp_path, definition, made_items())
    dashboards: list[Dashboard] = []

    def both_sides(app: App) -> Any:
        app.saves, app.arrivals = RateLimit(10**9, 1e9), RateLimit(10**9, 1e9)
        dashboards.append(dashboard_of(app))
        return admin_routes(app, dashboards[0])

    served.more = both_sides
    served.start()
    try:
        answer_by_rule(served.app, 3)
        with_account(served.app)
        roles = Roles(served, dashboards[0])
        description = openapi(definition)
        schema = import_schemathesis().openapi.from_dict(description)
        operations = [
            (path, name, each) for path, methods in description["paths"].items() for name, each in methods.items()
        ]
        for number, (path, method, operation) in enumerate(operations):
            role = next((name for each in operation["security"] for name in each), "everyone")
            for right in (True, False) if is_soak else (number % 2 == 0,):
                run_cases(schema[path][method.upper()], roles.sender(path, role), n, right=right)
        assert roles.sent > (1900 if is_soak else 120)
        assert served.app.store.verify().problems == ()
    finally:
        served.stop()
