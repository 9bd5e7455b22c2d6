"""S1, S3, S10 over the network: a server that is killed with -9 while people answer, and started again."""

from __future__ import annotations

import asyncio
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.store import Store

from .made_web import JSON, Person, form_of
from .serving_child import long_study

TESTS = Path(__file__).parents[2]
CLIENTS = 12


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def server(port: int, folder: Path, *within: str) -> Iterator[subprocess.Popen[bytes]]:
    """The server as a process of its own (*within*: run by this command), ready to answer; killed at the end."""
    start = f"import runpy, sys; sys.path.insert(0, {str(TESTS)!r}); sys.argv = ['child', '{port}', {str(folder)!r}]; "
    start += "runpy.run_module('annotation.web.serving_child', run_name='__main__')"
    with subprocess.Popen([*within, sys.executable, "-c", start]) as process:
        try:
            for _ in range(400):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, "the server ended by itself"
                time.sleep(0.05)
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)


async def one_person(base: str, name: str, acknowledged: dict[tuple[str, int], str], stop: asyncio.Event) -> None:
    """Answer until the server is gone, and note every answer that it acknowledged; begin or go on with one id."""
    rng = random.Random(name)
    study = long_study()
    with suppress(httpx.HTTPError):
        async with httpx.AsyncClient(base_url=base, follow_redirects=True, timeout=20) as browser:
            person = Person(browser, study)
            page = await person.arrive(name)
            if 'name="consent"' in page.text:
                page = await person.go_on(await person.go_on(page, consent="yes"))
            while page.url.path.startswith("/trial/") and not stop.is_set():
                position = int(page.url.path.rpartition("/")[2])
                action, fields = form_of(page.text)
                value = str(rng.randint(1, 5))
                said = await browser.post(action, data=fields | {f"value-trials-{position}": value}, headers=JSON)
                if said.status_code == 200:
                    assert (name, position) not in acknowledged, "a trial was asked for twice"
                    acknowledged[name, position] = value
                page = await browser.get("/now")


def run_kills(folder: Path, kills: int) -> None:
    """Kill the server again and again, then compare what was acknowledged with what is stored."""
    rng, port = random.Random(1), free_port()
    acknowledged: dict[tuple[str, int], str] = {}

    async def visit(process: subprocess.Popen[bytes], kill: int) -> None:
        stop = asyncio.Event()
        names = [f"person{n}-{kill // 3}" for n in range(CLIENTS)]
        wanted = len(acknowledged) + rng.randint(20, 120)
        people = [asyncio.create_task(one_person(f"http://127.0.0.1:{port}", n, acknowledged, stop)) for n in names]
        while len(acknowledged) < wanted and not all(task.done() for task in people):
            await asyncio.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        stop.set()
        await asyncio.gather(*people)

    for kill in range(kills):
        with server(port, folder) as process:
            asyncio.run(visit(process, kill))
    study = long_study()
    with Store.open(folder, study.record) as store:
        assert store.verify().problems == ()
        stored = {}
        for name in {name for name, _ in acknowledged}:
            who = store.find(name)
            assert who is not None
            rows = store.answers_of(who)
            assert [row["position"] for row in rows] == list(range(len(rows))), "each trial once, none left out"
            assert store.progress(who).next_position == len(rows)
            stored |= {(name, int(str(row["position"]))): f"{row['value']:g}" for row in rows}
    assert len(acknowledged) >= 20 * kills
    assert {key: stored.get(key) for key in acknowledged} == acknowledged


def test_no_acknowledged_answer_is_lost(tmp_path: Path) -> None:
    """Three kills under load: every acknowledged answer is stored once with its value; people go on where they were."""
    run_kills(tmp_path, 3)


@pytest.mark.soak
def test_no_acknowledged_answer_is_lost_in_many_kills(tmp_path: Path) -> None:
    """Tier B: 40 kills over the network."""
    run_kills(tmp_path, 40)
