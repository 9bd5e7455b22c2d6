"""A study with simulated answers and a researcher's browser; nobody's judgments."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from argon2 import PasswordHasher

from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.web.admin.accounts import make_setup_link
from lexiscope.annotation.web.admin.dashboard import Dashboard
from lexiscope.annotation.web.admin.passwords import Passwords
from lexiscope.annotation.web.admin.routes import admin_routes
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.flow import AnswerMetadata, TrialOnPage
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.annotation.web.server import create_app
from lexiscope.core.item import Item

from .made_web import ORIGIN, form_of, made_definition, made_items

NAME, PASSWORD = "ana", "three geese by noon"
QUICK = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


@contextmanager
def running(
    folder: Path, definition: StudyDefinition | None = None, items: tuple[Item, ...] | None = None
) -> Iterator[App]:
    """The app of a study; a power cut is not tested here, so nothing waits for the disk."""
    study = freeze(definition or made_definition(), items if items is not None else made_items())
    with Store.open(folder, study.record, unsafe_fast=True) as store:
        yield App.of(study, store, ServerSettings(ORIGIN))


def dashboard_of(app: App) -> Dashboard:
    """The researchers' side with a quick hash, and pages that wait for new figures: both would make tests slow."""
    dashboard = Dashboard.of(app)
    dashboard.passwords, dashboard.summaries.patience = Passwords(QUICK), 60.0
    return dashboard


def admin_browser(app: App, dashboard: Dashboard | None = None, **options: Any) -> httpx.AsyncClient:
    """A researcher's browser, not logged in."""
    asgi = create_app(app, admin_routes(app, dashboard or dashboard_of(app)))
    transport = httpx.ASGITransport(app=asgi, raise_app_exceptions=False)  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url=ORIGIN, follow_redirects=True, **options)


def with_account(app: App) -> None:
    """Give the study an account."""
    app.store.set_password(NAME, QUICK.hash(PASSWORD), actor="test")


async def log_in(browser: httpx.AsyncClient, password: str = PASSWORD, name: str = NAME) -> httpx.Response:
    """Send the login form."""
    _, fields = form_of((await browser.get("/researcher/login")).text)
    return await browser.post("/researcher/login", data=fields | {"name": name, "password": password})


@asynccontextmanager
async def researcher(app: App, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that is logged in."""
    with_account(app)
    async with admin_browser(app, **options) as browser:
        page = await log_in(browser)
        assert page.status_code == 200
        assert page.url.path == "/researcher"
        yield browser


async def act(browser: httpx.AsyncClient, where: str, action: str, **values: str) -> httpx.Response:
    """Send the form of a page that leads to the address *action*."""
    page = (await browser.get(where)).text
    for number in range(page.count("<form")):
        found, fields = form_of(page, number)
        if found == action:
            return await browser.post(found, data=fields | values)
    raise AssertionError(f"{where} has no form for {action}")


def answer_by_rule(app: App, n: int, *, careless: int = 4, comment: str = "", rng: random.Random | None = None) -> None:
    """Send *n* simulated participants through the study; every *careless*-th fails the catch trial."""
    rng = rng or random.Random(7)
    for number in range(n):
        who = app.flow.arrive(f"5f{number:022x}")
        app.flow.record_consent(who, agreed=True)
        app.flow.record_about_you(who, {"native_speaker": "yes", "age": str(20 + number)}, client_key=f"about-{number}")
        app.flow.begin_trials(who)
        for k in range(200):
            step = app.flow.advance(who)
            if step.kind != "trial":
                break
            assert step.phase is not None
            asked = app.flow.trial_at(who, step.phase, step.position)
            good = careless == 0 or (number + 1) % careless != 0
            form = {"value": str(_rating(app, asked, rng, good=good))}
            sent = AnswerMetadata(f"key-{number}-{k}")
            answer = app.flow.read_answer(
                who, asked, phase=step.phase, position=step.position, form=form, metadata=sent
            )
            app.store.submit_later(replace(answer, comment=comment) if comment and k == 5 else answer).result()
        app.flow.advance(who)


def _rating(app: App, asked: TrialOnPage, rng: random.Random, *, good: bool) -> int:
    item_id = asked.item.item_id
    if item_id in app.study.known:
        return int(float(app.study.known[item_id].accept[0]))
    if item_id in app.study.design.catch_ids:
        return 5 if good else 1
    middle = 4 if asked.item.conditions.get("same_sense") else 2
    return min(5, max(1, middle + rng.choice((-1, 0, 0, 1))))


def setup_path(app: App, origin: str = ORIGIN) -> str:
    """The path of a fresh set-up link."""
    return make_setup_link(app.store, app.settings).removeprefix(origin)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine."""
    asyncio.run(work())
