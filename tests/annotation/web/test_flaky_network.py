"""S9: many sessions behind a net that fails, with programs that resend as the page's script does."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.record import Phase
from lexiscope.annotation.study_file.definition import CatchSection, RatingsSection

from .fault_proxy import FaultProxy
from .made_tasks import task_study
from .made_web import JSON, form_of
from .served import Served, serving


@dataclass
class Session:
    """A participant who asks again until there is an answer; ``sent`` are the answers in their order.

    ``refused`` counts the server's errors by status.
    """

    browser: httpx.AsyncClient
    draw: random.Random
    sent: list[int] = field(default_factory=list)
    tries: int = 0
    refused: Counter[int] = field(default_factory=Counter)

    async def ask(self, method: str, address: str, **more: object) -> httpx.Response:
        """Ask until an answer comes whole; what is sent again is the same in every byte."""
        for attempt in range(60):
            self.tries += 1
            with suppress(httpx.TransportError):
                answer = await self.browser.request(method, address, **more)  # type: ignore[arg-type]
                if answer.status_code < 500:
                    return answer
                self.refused[answer.status_code] += 1
            await asyncio.sleep(min(0.05 * 2**attempt, 0.4))
        raise AssertionError("the session is stuck")

    async def whole_way(self, link: str) -> str:
        """From the link to the last page."""
        page = await self.ask("GET", link)
        for answers in ({"consent": "yes"}, {}):
            page = await self._send(page, answers)
        while page.url.path.startswith("/trial/"):
            position = int(page.url.path.rsplit("/", 1)[1])
            value = self.draw.randint(1, 5)
            action, fields = form_of(page.text)
            sent = {**fields, f"value-trials-{position}": str(value)}
            told = (await self.ask("POST", action, data=sent, headers=JSON)).json()
            assert "next" in told, told
            self.sent.append(value)
            page = await self.ask("GET", told["next"])
        return (await self._send(page, {})).text

    async def _send(self, page: httpx.Response, answers: dict[str, str]) -> httpx.Response:
        action, fields = form_of(page.text)
        await self.ask("POST", action, data={**fields, **answers}, follow_redirects=False)
        return await self.ask("GET", "/now")


async def all_sessions(served: Served, n: int) -> list[Session]:
    """Run sessions side by side through the proxy; each ends with its code."""
    sessions = []

    async def one(number: int) -> None:
        # a stalled answer is given up before the proxy does
        settings = {"base_url": served.url, "timeout": 0.7, "follow_redirects": True}
        async with httpx.AsyncClient(**settings) as browser:  # type: ignore[arg-type]
            session = Session(browser, random.Random(number))
            sessions.append((number, session))
            assert "DONE1" in await session.whole_way(served.link(f"{number:024x}"))

    # not all at once: a person in front of a page takes time
    gate = asyncio.Semaphore(12)

    async def gated(number: int) -> None:
        async with gate:
            await one(number)

    await asyncio.gather(*(gated(number) for number in range(n)))
    return [session for _, session in sorted(sessions, key=lambda pair: pair[0])]


@pytest.mark.parametrize(
    ("n_sessions", "n_items"), [(30, 8), pytest.param(200, 20, marks=pytest.mark.soak)], ids=["fast", "soak"]
)
def test_nothing_is_lost_doubled_or_stuck(tmp_path: Path, n_sessions: int, n_items: int) -> None:
    """A fifth of all requests is dropped, stalled, reset or cut: every answer is stored once, as it was sent, and
    every session comes to its code."""
    bare = {"qualification": (), "practice": (), "about_you": (), "catch": CatchSection(per_list=0)}
    study, made = task_study("relatedness", tmp_path, ratings=RatingsSection(per_item=n_sessions), **bare)
    items = tuple(replace(made[number % 2], item_id=f"i{number:02}") for number in range(n_items))
    proxy = FaultProxy(0.2, seed=7, stall_seconds=1.0)
    with proxy, serving(tmp_path, study, items, public_port=proxy.port) as served:
        proxy.upstream = served.port
        sessions = asyncio.run(all_sessions(served, n_sessions))
        store = served.app.store
        for number, session in enumerate(sessions):
            who = store.find(f"{number:024x}")
            assert who is not None
            stored = [row for row in store.answers_of(who) if row["phase"] == Phase.TRIALS]
            assert [row["value"] for row in stored] == session.sent
            assert len({row["item_id"] for row in stored}) == len(stored) == n_items
        assert len(store.people()) == n_sessions
    failed = Counter({name: n for name, n in proxy.counts.items() if name != "none"})
    assert set(failed) == {"drop", "stall", "reset", "cut"}
    assert 0.15 < failed.total() / proxy.counts.total() < 0.25
