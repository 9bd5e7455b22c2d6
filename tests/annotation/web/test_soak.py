"""reliability.md S24: a study that goes on for hours. ``LEXISCOPE_SOAK_HOURS`` says how long; ten minutes without."""

from __future__ import annotations

import asyncio
import os
import random
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.engine import DATABASE_NAME
from lexiscope.annotation.store.store import Store

from .made_web import JSON, Person, form_of
from .serving_child import long_study
from .test_killed_server import free_port, server

HOURS = float(os.environ.get("LEXISCOPE_SOAK_HOURS", 1 / 6))
PEOPLE, PER_SECOND = 20, 20.0
WAL_BYTES = 64_000_000
GROWTH_MB = 20.0


@dataclass
class Seen:
    """What happened: acknowledged answers, statuses that were not 200, memory (MB) and log (bytes) by time."""

    answers: int = 0
    errors: list[int] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    log: list[int] = field(default_factory=list)


async def person_after_person(base: str, number: int, end: float, seen: Seen) -> None:
    """Answer once a second, as one person after the other, until the time is over."""
    study, rng, due, k = long_study(), random.Random(number), time.monotonic() + number / PER_SECOND, 0
    while time.monotonic() < end:
        async with httpx.AsyncClient(base_url=base, follow_redirects=True, timeout=60) as browser:
            person, k = Person(browser, study), k + 1
            page = await person.go_on(await person.arrive(f"{number:08x}{k:016x}"), consent="yes")
            page = await person.go_on(page)
            while page.url.path.startswith("/trial/") and time.monotonic() < end:
                due += PEOPLE / PER_SECOND
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                action, fields = form_of(page.text)
                value = {f"value-trials-{page.url.path.rpartition('/')[2]}": str(rng.randint(1, 5))}
                told = await browser.post(action, data=fields | value, headers=JSON)
                page = await browser.get(told.json().get("next", "/now"))
                seen.errors += [one.status_code for one in (told, page) if one.status_code != 200]
                seen.answers += told.status_code == 200


async def watch(pid: int, log: Path, end: float, seen: Seen) -> None:
    """Look at the server's memory and at the write-ahead log, forty times."""
    pause = (end - time.monotonic()) / 40
    while time.monotonic() < end:
        status = Path(f"/proc/{pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found is not None
        seen.memory.append(int(found[1]) / 1024)
        seen.log.append(log.stat().st_size)
        await asyncio.sleep(pause)


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_hours_of_answers(tmp_path: Path) -> None:
    """20 answers a second: no error, memory stays flat after the first quarter, the write-ahead log below 64 MB, every
    answer stored once."""
    port, seen = free_port(), Seen()

    async def run(pid: int) -> None:
        end = time.monotonic() + HOURS * 3600
        people = [person_after_person(f"http://127.0.0.1:{port}", number, end, seen) for number in range(PEOPLE)]
        await asyncio.gather(*people, watch(pid, tmp_path / f"{DATABASE_NAME}-wal", end, seen))

    with server(port, tmp_path) as process:
        asyncio.run(run(process.pid))
    with Store.open(tmp_path, long_study().record) as store:
        assert store.verify().problems == ()
        assert len(store.trial_answers()) == seen.answers
    quarter = len(seen.memory) // 4
    growth = max(seen.memory[-quarter:]) - max(seen.memory[quarter : 2 * quarter])
    figures = {"answers": seen.answers, "MB": seen.memory[-1], "growth": growth, "log": max(seen.log)}
    sys.stdout.write(f"{figures}\n")
    assert seen.errors == []
    assert seen.answers >= 0.9 * PER_SECOND * HOURS * 3600
    assert max(seen.log) <= WAL_BYTES
    assert growth <= GROWTH_MB
