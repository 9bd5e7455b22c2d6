"""The export of the researchers' pages is made by another process, which never outlives its server or its client."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.export import package
from lexiscope.annotation.web.admin import export_process
from lexiscope.annotation.web.admin.routes import admin_routes
from lexiscope.core.errors import RunError

from .made_admin import NAME, PASSWORD, QUICK, answer_by_rule, dashboard_of, running
from .made_web import form_of, made_definition, made_items
from .served import Served

ROOT = Path(__file__).parents[3]


def wait_for(what: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.02)


@contextmanager
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Served, httpx.Client, Path]]:
    """A study behind a real socket, a researcher's browser that is logged in, and the folder of temporary files."""
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    made = Served(tmp_path / "study", made_definition(), made_items())
    made.more = lambda app: admin_routes(app, dashboard_of(app))
    made.start()
    try:
        made.app.store.set_password(NAME, QUICK.hash(PASSWORD), actor="test")
        answer_by_rule(made.app, 2)
        with httpx.Client(base_url=made.url, follow_redirects=True, timeout=60) as browser:
            _, fields = form_of(browser.get("/researcher/login").text)
            assert (
                browser.post("/researcher/login", data=fields | {"name": NAME, "password": PASSWORD}).status_code == 200
            )
            yield made, browser, room
    finally:
        made.stop()
    assert multiprocessing.active_children() == []
    assert list(room.iterdir()) == []


def begun(made: Served, browser: httpx.Client) -> tuple[threading.Thread, list[object]]:
    """Ask for an export in a thread; it has begun when its process is there. What came of it is in the list."""
    _, fields = form_of(browser.get("/researcher/export").text)
    came: list[object] = []

    def ask() -> None:
        try:
            came.append(browser.post("/researcher/export", data=fields).status_code)
        except httpx.HTTPError as error:
            came.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    wait_for(multiprocessing.active_children)
    return thread, came


def test_the_export_is_made_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a server that could make none itself the export comes, whole, and the log names it; answers that are sent
    meanwhile are stored."""

    def never(*_: object) -> None:
        raise AssertionError("the server makes no export")

    monkeypatch.setattr(package, "write_export", never)
    monkeypatch.setattr(export_process, "write_export", never)
    with served(tmp_path, monkeypatch) as (made, browser, _):
        _, fields = form_of(browser.get("/researcher/export").text)
        with browser.stream("POST", "/researcher/export", data=fields) as sent:
            assert sent.status_code == 200
            content = sent.read()
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.testzip() is None
            assert "made/judgments.jsonl" in archive.namelist()
            sums = json.loads(archive.read("made/export.json"))["sha256"]
            assert sorted(archive.namelist()) == sorted([*(f"made/{name}" for name in sums), "made/export.json"])
            packed = {name: hashlib.sha256(archive.read(f"made/{name}")).hexdigest() for name in sums}
            assert packed == sums
        _, entries = made.app.store.audit_entries(limit=5)
        assert [one.actor for one in entries if one.action == "export"] == [NAME]
        # the page after it names the files
        assert "judgments.jsonl" in browser.get("/researcher/export").text


def test_answers_are_taken_while_an_export_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the beginning and the end of an export other pages are served and consents are stored."""
    with served(tmp_path, monkeypatch) as (made, browser, _):
        thread, came = begun(made, browser)
        with httpx.Client(base_url=made.url, follow_redirects=True) as other:
            page = other.get("/", params={"PROLIFIC_PID": "e" * 24})
            action, fields = form_of(page.text)
            assert other.post(action, data=fields | {"consent": "yes"}).status_code == 200
        assert came == [], "the export was made before anybody answered: nothing was tested"
        thread.join(60)
        assert came == [200]


def test_who_leaves_during_an_export_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client closes the connection: the process is gone soon after, and its files."""
    with served(tmp_path, monkeypatch) as (made, browser, room):
        _, fields = form_of(browser.get("/researcher/export").text)
        with pytest.raises(httpx.ReadTimeout):
            browser.post("/researcher/export", data=fields, timeout=0.5)
        wait_for(lambda: not multiprocessing.active_children() and not list(room.iterdir()))
        assert [one.action for one in made.app.store.audit_entries(limit=3)[1]].count("export") == 0


def test_a_server_that_ends_breaks_the_export_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The researcher is told, and no process stays."""
    with served(tmp_path, monkeypatch) as (made, browser, _):
        thread, came = begun(made, browser)
        made.stop()
        thread.join(60)
        assert came == [503]


def test_an_export_that_fails_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its process is killed from outside (out of memory, say): a page says that the export was not made, and names the
    log, which has the reason."""
    with served(tmp_path, monkeypatch) as (made, browser, _):
        thread, came = begun(made, browser)
        wait_for(lambda: multiprocessing.active_children()[0].pid)
        multiprocessing.active_children()[0].kill()
        thread.join(60)
        assert came == [500]
        assert "its process ended before it was done" in caplog.text
        assert browser.get("/researcher/export").status_code == 200


def test_a_fault_of_the_export_names_its_reason(tmp_path: Path) -> None:
    """What failed in the other process is said where it was asked for."""
    with running(tmp_path / "study") as app:
        (tmp_path / "out" / "made").mkdir(parents=True)
        (tmp_path / "out" / "made" / "README.md").write_text("mine", encoding="utf-8")
        with pytest.raises(RunError, match=r"RunError: .*This folder is not an export\.\n.*Name a new folder"):
            asyncio.run(export_process.export_in_process(app.study, tmp_path / "out", store=tmp_path / "study"))


CHILD = """
import asyncio, multiprocessing, sys, threading, time
from pathlib import Path
from lexiscope.annotation.web.admin.export_process import export_in_process
from tests.annotation.web.made_admin import running

def tell():
    while not (found := multiprocessing.active_children()) or not found[0].pid:
        time.sleep(0.01)
    print(found[0].pid, flush=True)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with running(folder / "study") as app:
        threading.Thread(target=tell, daemon=True).start()
        asyncio.run(export_in_process(app.study, folder / "out", store=folder / "study"))
"""


def test_a_server_that_is_killed_takes_the_export_with_it(tmp_path: Path) -> None:
    """SIGKILL leaves the server no moment to end anything: the process ends by itself and removes its files."""
    (tmp_path / "out").mkdir()
    (tmp_path / "child.py").write_text(CHILD, encoding="utf-8")
    surroundings = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, str(tmp_path / "child.py"), str(tmp_path)]
    with subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        server.send_signal(signal.SIGKILL)

    def is_gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        # nobody waits for it where no init does
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].startswith("Z")

    wait_for(is_gone)
    wait_for(lambda: not (tmp_path / "out").exists())
