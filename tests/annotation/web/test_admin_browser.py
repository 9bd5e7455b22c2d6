"""The researchers' pages in Chromium: accessible, nothing on the console, no sideways scrolling, usable by keyboard."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn

from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import Payment
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.web.admin.routes import admin_routes
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.annotation.web.server import create_app

from .made_admin import NAME, PASSWORD, answer_by_rule, dashboard_of, setup_path
from .made_tasks import task_study
from .made_web import made_definition, made_items
from .test_admin_review import write

pytestmark = pytest.mark.browser
PAGES = ("", "items", "participants", "exclusions", "results", "comments", "invitations", "export", "log", "status")
COMMENT = "The second sentence has an odd end, and I read it twice before I answered."


@contextmanager
def served(folder: Path, kind: str) -> Iterator[App]:
    """A study with simulated answers behind a socket; its researchers' side too."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.bind(("127.0.0.1", 0))
    folder.mkdir()
    definition, items = made_definition(payment=Payment(amount=3, hourly_least=9)), made_items(24)
    if kind == "written":
        definition, items = task_study("ambiguous_sentence", folder)
    study = freeze(definition, items)
    with Store.open(folder / "study", study.record, unsafe_fast=True) as store:
        app = App.of(study, store, ServerSettings(f"http://127.0.0.1:{listening.getsockname()[1]}"))
        if kind == "rated":
            answer_by_rule(app, 6, careless=5, comment=COMMENT)
            app.flow.exclusion_rules.apply()
        else:
            write(app, "eva", ["There stood a WORD.", "Nobody expected the WORD."])
        asgi = create_app(app, admin_routes(app, dashboard_of(app)))
        server = uvicorn.Server(uvicorn.Config(asgi, log_level="critical", access_log=False, lifespan="off"))
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
        thread.start()
        end = time.monotonic() + 15
        while not server.started and time.monotonic() < end:
            time.sleep(0.02)
        try:
            yield app
        finally:
            server.should_exit = server.force_exit = True
            thread.join(15)


def wrong_with(page: Any, axe: Any) -> list[str]:
    """Serious findings of axe, in light and dark, and sideways scrolling."""
    found = []
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme=scheme)
        results = axe.run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
        bad = [one for one in results if one["impact"] in ("serious", "critical")]
        found += [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in bad]
    page.emulate_media(color_scheme="light")
    sideways = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*found, *(["scrolls sideways"] if sideways else [])]


def keep(page: Any, name: str) -> None:
    """Keep a picture of a page, where the variable names a folder for it."""
    folder = os.environ.get("LEXISCOPE_SCREENSHOTS")
    if folder:
        page.screenshot(path=f"{folder}/admin_{name}.png", full_page=True)


@pytest.mark.parametrize("kind", ["rated", "written"])
def test_every_page_is_accessible(tmp_path: Path, chromium: Any, kind: str) -> None:
    """From the set-up link, by keyboard, through every page: axe finds nothing serious, the console stays empty, and no
    request leaves this machine (W19)."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with served(tmp_path / "data", kind) as app:
        context = chromium.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
        try:
            page, said = context.new_page(), []
            page.set_default_timeout(15_000)
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("request", lambda asked: said.extend([asked.url] * (urlsplit(asked.url).hostname != "127.0.0.1")))
            base = app.settings.public_url
            page.goto(base + setup_path(app, base))
            wrong = {"setup": wrong_with(page, axe)}
            keep(page, "setup")
            page.focus("#name")
            for text in (NAME, PASSWORD, PASSWORD):
                page.keyboard.type(text)
                page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            page.wait_for_url("**/researcher/login*")
            wrong["login"] = wrong_with(page, axe)
            keep(page, "login")
            page.fill("#name", NAME)
            page.fill("#password", PASSWORD)
            page.keyboard.press("Enter")
            page.wait_for_url("**/researcher")
            for name in (PAGES if kind == "rated" else ("review",)) + more(app, kind):
                page.goto(f"{base}/researcher/{name}".rstrip("/"))
                page.set_viewport_size({"width": 360, "height": 740})
                wrong[name] = wrong_with(page, axe)
                keep(page, f"narrow_{picture(name)}") if name in ("", "participants") else None
                page.set_viewport_size({"width": 1280, "height": 860})
                keep(page, picture(name))
            assert {name: found for name, found in wrong.items() if found} == {}
            assert said == []
        finally:
            context.close()


def more(app: App, kind: str) -> tuple[str, ...]:
    """The pages of one participant or text, and those that ask before something is changed."""
    who = app.store.people()[0].participant_id
    if kind == "written":
        return (f"review/{app.store.answers_of(who)[0]['id']}",)
    return (f"participants/{who}", f"participants/{who}/forget", "places/1", "status?to=closed")


def picture(name: str) -> str:
    """The name of a page's picture."""
    parts = name.partition("?")[0].split("/")
    return "_".join(part for part in parts if len(part) < 20) + ("_one" if len(parts) > 1 else "") or "overview"
