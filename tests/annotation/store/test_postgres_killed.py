"""reliability.md S13: kill -9 of the PostgreSQL server itself while people answer at several workers."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.record import Phase
from lexiscope.annotation.store.store import Store

from ..web.test_flaky_network import Session
from .cluster import Cluster, cluster
from .test_postgres import address_of, served_study, serving_with_workers, workers_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
BACK_SECONDS = 5.0
# the figure is for a quiet machine; this is what a busy one may add to it
BUSY_SECONDS = 10.0


async def is_back(address: str) -> float:
    """How long it takes until the server answers 200 again; until then it says 503."""
    begun = time.monotonic()
    async with httpx.AsyncClient(timeout=10) as browser:
        while (answer := await browser.get(f"{address}/health")).status_code != 200:
            assert answer.status_code == 503
            assert time.monotonic() - begun < BACK_SECONDS + BUSY_SECONDS, "the server does not come back"
            await asyncio.sleep(0.05)
    return time.monotonic() - begun


async def kill_and_start(address: str, own: Cluster, sessions: list[Session], n_answers: int, kills: int) -> None:
    """Kill the database at random points of the work, look at what the server says of it, and start it again."""
    rng = random.Random(1)
    points = sorted(rng.sample(range(n_answers // 10, n_answers * 8 // 10), kills))
    for point in points:
        while sum(len(one.sent) for one in sessions) < point:
            await asyncio.sleep(0.005)
        await asyncio.to_thread(own.kill)
        before = sum(len(one.sent) for one in sessions)
        async with httpx.AsyncClient(timeout=10) as browser:
            told = await browser.get(f"{address}/health")
        assert (told.status_code, told.json()) == (503, {"status": "failing", "saving": False})
        assert int(told.headers["retry-after"]) > 0
        # what was on its way at the kill may have been stored; nothing else is acknowledged now
        await asyncio.sleep(0.5)
        assert sum(len(one.sent) for one in sessions) - before <= len(sessions)
        await asyncio.to_thread(own.start)
        await is_back(address)


@pytest.mark.parametrize(
    ("workers", "kills", "people", "n_items"),
    [(2, 1, 12, 12), pytest.param(4, 20, 60, 100, marks=pytest.mark.soak)],
    ids=["fast", "soak"],
)
def test_a_killed_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, kills: int, people: int, n_items: int
) -> None:
    """Nobody is lost or stored twice, the workers say 503 while it is away and go on by themselves: every session
    comes to its code, every answer is stored once as it was sent, and the seals hold."""
    monkeypatch.chdir(tmp_path)
    study = served_study(tmp_path, n_items=n_items, places=people // 2, about_you=())
    sessions: list[Session] = []

    async def everything(address: str, own: Cluster) -> None:
        async def take_part(number: int) -> None:
            async with httpx.AsyncClient(base_url=address, timeout=30, follow_redirects=True) as browser:
                sessions.append(Session(browser, random.Random(number)))
                assert "DONE1" in await sessions[number].whole_way(f"/?PROLIFIC_PID=5f{number:022x}&SESSION_ID=s")

        work = [take_part(number) for number in range(people)]
        await asyncio.gather(*work, kill_and_start(address, own, sessions, people * n_items // 2, kills))

    with cluster() as own, workers_of(tmp_path, own.url, n=workers) as address:
        asyncio.run(everything(address, own))
        with Store.open(tmp_path / "study", study.record, url=own.url) as store:
            for number, session in enumerate(sessions):
                who = store.find(f"5f{number:022x}")
                assert who is not None
                stored = [row for row in store.answers_of(who) if row["phase"] == Phase.TRIALS]
                assert [row["value"] for row in stored] == session.sent
                assert len({row["item_id"] for row in stored}) == len(stored) == n_items // 2
            assert len(store.people()) == people
            assert store.verify().problems == ()
    refused = sum((one.refused for one in sessions), Counter[int]())
    assert set(refused) == {503}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_end_with_their_killed_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """kill -9 of the process that started the workers: they end by themselves, and the study is served again at the
    same address."""
    monkeypatch.chdir(tmp_path)
    served_study(tmp_path)
    with cluster("fsync=off") as own:
        with parent_of_workers(tmp_path, own.url) as (process, address):
            workers = children_of(process.pid)
            assert len([pid for pid in workers if is_python_worker(pid)]) == 2
            assert wait_for_health(address) == 200
            process.kill()
            process.wait(10)
            end = time.monotonic() + 20 + BUSY_SECONDS
            while any(Path(f"/proc/{pid}").exists() for pid in workers):
                assert time.monotonic() < end, "workers serve on without their parent"
                time.sleep(0.1)
        port = address.rpartition(":")[2]
        with parent_of_workers(tmp_path, own.url, port=port) as (process, again):
            assert again == address
            assert wait_for_health(address) == 200
            process.terminate()
            assert process.wait(60) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_health_answers_while_the_database_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGSTOP of the database: /health answers within five seconds that nothing is saved, while participants wait, and
    that answers are saved again once the database goes on."""
    monkeypatch.chdir(tmp_path)
    served_study(tmp_path)
    with cluster("fsync=off") as own, parent_of_workers(tmp_path, own.url) as (process, address):
        assert own.process is not None
        assert wait_for_health(address) == 200
        servers = [own.process.pid, *children_of(own.process.pid)]
        with ThreadPoolExecutor(20) as visitors:
            try:
                for pid in servers:
                    os.kill(pid, signal.SIGSTOP)
                links = [f"{address}/?PROLIFIC_PID=5f{number:022x}&SESSION_ID=s" for number in range(20)]
                waiting = [visitors.submit(httpx.get, link, timeout=60) for link in links]
                time.sleep(0.5)
                for _ in range(4):
                    begun = time.monotonic()
                    told = httpx.get(f"{address}/health", timeout=5 + BUSY_SECONDS)
                    assert (told.status_code, told.json()) == (503, {"status": "failing", "saving": False})
                    assert time.monotonic() - begun < 5 + BUSY_SECONDS
            finally:
                for pid in servers:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGCONT)
            # who needed a new connection was told after ten seconds that the server cannot answer now
            assert {each.result().status_code for each in waiting} <= {303, 503}
        assert asyncio.run(is_back(address)) < BACK_SECONDS + BUSY_SECONDS
        process.terminate()
        assert process.stdout is not None
        said = process.stdout.read()
        assert process.wait(60) == 0
    # each of two workers says it at most once
    assert 1 <= said.count("answers cannot be saved: the database did not answer within 4 seconds") <= 2
    assert said.count("answers are saved again") >= 1


@contextmanager
def parent_of_workers(folder: Path, url: str, *, port: str = "0") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``serve --workers 2`` in a process of its own, and its address; whatever is left of it is killed."""
    with serving_with_workers(folder, url, n=2, port=port) as process:
        started: list[int] = []
        try:
            address = address_of(process, [])
            end = time.monotonic() + 20
            while len(started) < 3 and time.monotonic() < end:
                time.sleep(0.1)
                started = children_of(process.pid)
            yield process, address
        finally:
            for pid in (process.pid, *started):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    """The processes that a process started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()]


def is_python_worker(pid: int) -> bool:
    """Whether a process is a worker; the other child keeps count of what they share."""
    return b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()


def wait_for_health(address: str) -> int:
    """The status of /health once a worker answers."""
    end = time.monotonic() + 30
    while True:
        with suppress(httpx.TransportError):
            return httpx.get(f"{address}/health", timeout=10).status_code
        assert time.monotonic() < end, "no worker answers"
        time.sleep(0.1)
