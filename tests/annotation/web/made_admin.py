"""A study with simulated answers and a researcher's browser; nobody's judgments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from argon2 import PasswordHasher

from lexiscope.annotation.web.admin.accounts import make_setup_link
from lexiscope.annotation.web.admin.desk import AdminDesk
from lexiscope.annotation.web.admin.passwords import Passwords
from lexiscope.annotation.web.admin.routes import admin_routes
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.server import create_app

from .made_web import ORIGIN, form_of

NAME, PASSWORD = "ana", "three geese by noon"
QUICK = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


def desk_of(app: App) -> AdminDesk:
    """The researchers' side with a quick hash: what is tested is not argon2."""
    desk = AdminDesk.of(app)
    desk.passwords = Passwords(QUICK)
    return desk


def admin_browser(app: App, desk: AdminDesk | None = None, **options: Any) -> httpx.AsyncClient:
    """A researcher's browser, not logged in."""
    asgi = create_app(app, admin_routes(app, desk or desk_of(app)))
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
    """Send the form of a page that leads to an address beginning with *action*."""
    page = (await browser.get(where)).text
    for number in range(page.count("<form")):
        found, fields = form_of(page, number)
        if found.startswith(action):
            return await browser.post(found, data=fields | values)
    raise AssertionError(f"{where} has no form for {action}")


def setup_path(app: App) -> str:
    """The path of a fresh set-up link."""
    return make_setup_link(app.store, app.settings).removeprefix(ORIGIN)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine."""
    asyncio.run(work())


__all__ = ["NAME", "PASSWORD", "Path", "act", "admin_browser", "desk_of", "log_in", "researcher", "run", "setup_path"]
