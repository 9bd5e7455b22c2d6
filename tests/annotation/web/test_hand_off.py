"""reliability.md S19: what a recruiting platform's links and states lead to, as docs/people/server.md says.

Every scenario below is a row of that table, and the last test holds the two against each other. The study has one list
with one place, three items, and codes for each end.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.rehearsal.browser import read_page
from lexiscope.annotation.store import safekeeping as health
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import State, StateError
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    CatchSection,
    Codes,
    DesignSection,
    Platform,
    RatingsSection,
    StudyTexts,
)
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import ServerSettings

from .made_web import JSON, ORIGIN, QUALIFICATION, Person, client, form_of, made_definition, made_items, running

PAGE = Path(__file__).parents[3] / "docs" / "people" / "server.md"
ANA, BEN = "5f1e2d3c4b5a69788796a5b4", "6f1e2d3c4b5a69788796a5b4"
TEXTS = StudyTexts(
    title="Words",
    consent="I agree.",
    instructions="Judge.",
    debrief="Thank you.",
    screened_out="TEXT-OUT",
    declined="TEXT-DECLINED",
    full="TEXT-FULL",
    closed="TEXT-CLOSED",
)
ENDS = {"TEXT-OUT": "screened out", "TEXT-DECLINED": "no consent", "TEXT-FULL": "full", "TEXT-CLOSED": "closed"}


@dataclass
class Clock:
    """A clock that goes only when a test waits."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def wait(self, *, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)

    def steady(self) -> float:
        return self.now.timestamp()

    def __call__(self) -> datetime:
        return self.now


@dataclass
class World:
    """A running study, the devices of the people in it, and its clock."""

    app: App
    clock: Clock
    stack: AsyncExitStack
    devices: dict[str, httpx.AsyncClient] = field(default_factory=dict)

    async def device(self, name: str) -> httpx.AsyncClient:
        """The browser of this name; a new one where there is none."""
        if name not in self.devices:
            self.devices[name] = await self.stack.enter_async_context(client(self.app))
        return self.devices[name]

    async def come(self, who: str, *, device: str = "") -> httpx.Response:
        """Follow the platform's link."""
        return await Person(await self.device(device or who), self.app.study).arrive(who)

    async def now(self, who: str) -> httpx.Response:
        """Look at the page again."""
        return await (await self.device(who)).get("/now")

    async def go_on(self, who: str, page: httpx.Response, **answers: str) -> httpx.Response:
        """Send the form of a page."""
        return await Person(await self.device(who), self.app.study).go_on(page, **answers)

    async def into(self, who: str) -> httpx.Response:
        """Go to the first trial: the place is taken."""
        return await self.go_on(who, await self.go_on(who, await self.come(who), consent="yes"))

    async def finish(self, who: str, page: httpx.Response) -> httpx.Response:
        """Go on from a page to the end."""
        person = Person(await self.device(who), self.app.study)
        end = await person.whole_way(page)
        await asyncio.gather(*self.app.tasks)
        return end

    async def answer(self, who: str, page: httpx.Response) -> httpx.Response:
        """Answer the trial of a page, as a script does."""
        action, fields = form_of(page.text)
        suffix = action.removeprefix("/trial/").replace("/", "-")
        return await (await self.device(who)).post(action, data=fields | {f"value-{suffix}": "3"}, headers=JSON)

    def mark(self, who: str, *states: State) -> None:
        """Note what the platform says about somebody."""
        for state in states:
            self.app.store.change_state(self.app.store.find(who) or "", state, reason="the platform says so")

    def status(self, status: str) -> None:
        """Pause, resume or close the study."""
        self.app.store.set_status(status, actor="ana")  # type: ignore[arg-type]

    def stands(self, who: str) -> str:
        """The state of somebody and what became of the place, as the table writes it."""
        found = self.app.store.find(who)
        if found is None:
            people = self.app.store.people()
            return "not recorded" if not people else f"{people[0].state}, {self._place(people[0].participant_id)}"
        return f"{self.app.store.progress(found).state}, {self._place(found)}"

    def _place(self, participant_id: str) -> str:
        lease = self.app.store.progress(participant_id).lease
        if lease is None:
            return "no place"
        if lease.surplus:
            return "surplus"
        return {"held": "holds a place", "done": "used a place"}.get(lease.status, "place free")


def seen(page: httpx.Response) -> str:
    """What a page is, as the table writes it: the page, and the code on it."""
    name = read_page(page.text).name if page.text.startswith("<!") else "json"
    if name == "ended":
        name = next((end for text, end in ENDS.items() if text in page.text), "thanks")
    words = {"error": f"error ({page.status_code})", "enter": "asks for the ID", "json": f"{page.status_code}"}
    code = read_page(page.text).code
    return words.get(name, name) + (f", {code}" if code else "")


Steps = Callable[[World], Awaitable[tuple[httpx.Response, str]]]


@dataclass(frozen=True)
class Scenario:
    """A row of the table: what happens, what the person sees at the end, where they stand."""

    happens: str
    sees: str
    stands: str
    steps: Steps
    changed: dict[str, object]


SCENARIOS: list[Scenario] = []


def scenario(happens: str, sees: str, stands: str, **changed: object) -> Callable[[Steps], Steps]:
    """Note a scenario; *changed* are settings of the study."""

    def note(steps: Steps) -> Steps:
        SCENARIOS.append(Scenario(happens, sees, stands, steps, changed))
        return steps

    return note


# -- links -----------------------------------------------------------------------------------------------------------

PATTERN = Platform(pattern="[0-9a-f]{24}")
PANEL = Platform(kind="panel", participant="pid", study="", session="")
LAB = Platform(kind="lab")


@scenario("the link has no ID", "asks for the ID", "not recorded")
async def _no_id(w: World) -> tuple[httpx.Response, str]:
    return await (await w.device(ANA)).get("/"), ANA


@scenario("the participant types an ID instead", "consent", "invited, no place")
async def _typed(w: World) -> tuple[httpx.Response, str]:
    return await w.go_on(ANA, await (await w.device(ANA)).get("/"), participant=f" {ANA} "), ANA


@scenario("the platform left its placeholder in the link", "error (422)", "not recorded", platform=PATTERN)
async def _placeholder(w: World) -> tuple[httpx.Response, str]:
    return await w.come("{{%PROLIFIC_PID%}}"), ANA


@scenario("the ID does not match `platform.pattern`", "error (422)", "not recorded", platform=PATTERN)
async def _malformed(w: World) -> tuple[httpx.Response, str]:
    return await w.come("5F1E"), ANA


@scenario("the link names two different IDs", "error (422)", "not recorded")
async def _two_ids(w: World) -> tuple[httpx.Response, str]:
    return await (await w.device(ANA)).get(f"/?PROLIFIC_PID={ANA}&PROLIFIC_PID={BEN}"), ANA


@scenario("the link names the same ID twice", "consent", "invited, no place")
async def _same_twice(w: World) -> tuple[httpx.Response, str]:
    return await (await w.device(ANA)).get(f"/?PROLIFIC_PID={ANA}&PROLIFIC_PID={ANA}"), ANA


@scenario("the ID differs in one capital letter", "full, FULL1", "invited, no place")
async def _capital(w: World) -> tuple[httpx.Response, str]:
    await w.into(ANA)
    return await w.come(ANA.upper()), ANA.upper()


@scenario("the same ID is used on a second device during the trials", "trial", "active, holds a place")
async def _second_device(w: World) -> tuple[httpx.Response, str]:
    await w.answer(ANA, await w.into(ANA))
    page = await w.come(ANA, device="phone")
    assert page.url.path == "/trial/trials/1"
    assert len(w.app.store.people()) == 1
    return page, ANA


@scenario("the second device answers the same trial", "409", "active, holds a place")
async def _answered_elsewhere(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    phone = await w.come(ANA, device="phone")
    assert (await w.answer("phone", phone)).status_code == 200
    again = await w.answer(ANA, page)
    assert again.json()["next"] == "/now"
    return again, ANA


@scenario("the same ID returns after the end, cookies cleared", "thanks, DONE1", "finished, used a place")
async def _again_after_the_end(w: World) -> tuple[httpx.Response, str]:
    await w.finish(ANA, await w.into(ANA))
    return await w.come(ANA, device="phone"), ANA


@scenario("a panel's link with the panel's own parameter", "consent", "invited, no place", platform=PANEL)
async def _panel(w: World) -> tuple[httpx.Response, str]:
    return await (await w.device(ANA)).get(f"/?pid={ANA}&other=1"), ANA


@scenario("a panel's link with another parameter", "asks for the ID", "not recorded", platform=PANEL)
async def _wrong_parameter(w: World) -> tuple[httpx.Response, str]:
    return await (await w.device(ANA)).get(f"/?PROLIFIC_PID={ANA}"), ANA


async def _token(w: World, device: str, token: str) -> httpx.Response:
    return await (await w.device(device)).get(f"/t/{token}")


@scenario("a lab's link", "consent", "invited, no place", platform=LAB)
async def _lab(w: World) -> tuple[httpx.Response, str]:
    (token,) = w.app.store.make_tokens(1, actor="ana")
    return await _token(w, ANA, token), ""


@scenario("a lab's link is opened on a second device during the trials", "trial", "active, holds a place", platform=LAB)
async def _lab_again(w: World) -> tuple[httpx.Response, str]:
    (token,) = w.app.store.make_tokens(1, actor="ana")
    await w.go_on(ANA, await w.go_on(ANA, await _token(w, ANA, token), consent="yes"))
    return await _token(w, "phone", token), ""


@scenario("a lab's link with a wrong letter", "error (404)", "invited, no place", platform=LAB)
async def _wrong_token(w: World) -> tuple[httpx.Response, str]:
    (token,) = w.app.store.make_tokens(1, actor="ana")
    return await _token(w, ANA, token[:-1] + ("A" if token[-1] != "A" else "B")), ""


@scenario("a link of another study of the lab", "error (404)", "not recorded", platform=LAB)
async def _foreign_token(w: World) -> tuple[httpx.Response, str]:
    other = freeze(made_definition(name="other"), made_items())
    with Store.open(w.app.store.folder / "other", other.record) as store:
        (token,) = store.make_tokens(1, actor="ana")
    return await _token(w, ANA, token), ""


@scenario("a lab study is opened without a link", "error (404)", "not recorded", platform=LAB)
async def _no_token(w: World) -> tuple[httpx.Response, str]:
    return await w.come(ANA), ""


# -- ends ------------------------------------------------------------------------------------------------------------

ASKED = {"qualification": (QUALIFICATION,)}


@scenario("the participant does not consent", "no consent, NO1", "declined, no place")
async def _declines(w: World) -> tuple[httpx.Response, str]:
    return await w.go_on(ANA, await w.come(ANA), consent="no"), ANA


@scenario("a participant who declined opens the link again", "no consent, NO1", "declined, no place")
async def _declined_again(w: World) -> tuple[httpx.Response, str]:
    await w.go_on(ANA, await w.come(ANA), consent="no")
    return await w.come(ANA, device="phone"), ANA


@scenario("the participant fails the qualification", "screened out, OUT1", "screened_out, no place", **ASKED)
async def _fails(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    return await w.go_on(ANA, page, **{"value-qualification-0": "5"}), ANA


@scenario(
    "a participant who failed opens the link on another device", "screened out, OUT1", "screened_out, no place", **ASKED
)
async def _failed_again(w: World) -> tuple[httpx.Response, str]:
    await w.go_on(ANA, await w.into(ANA), **{"value-qualification-0": "5"})
    return await w.come(ANA, device="phone"), ANA


@scenario("every place is held or used", "full, FULL1", "invited, no place")
async def _full(w: World) -> tuple[httpx.Response, str]:
    await w.into(ANA)
    return await w.come(BEN), BEN


@scenario("the last place is taken while the participant reads the instructions", "full, FULL1", "qualified, no place")
async def _full_meanwhile(w: World) -> tuple[httpx.Response, str]:
    page = await w.go_on(BEN, await w.come(BEN), consent="yes")
    await w.into(ANA)
    return await w.go_on(BEN, page), BEN


@scenario("a place is free again when the participant reloads", "trial", "active, holds a place")
async def _free_again(w: World) -> tuple[httpx.Response, str]:
    page = await w.go_on(BEN, await w.come(BEN), consent="yes")
    await w.into(ANA)
    await w.go_on(BEN, page)
    w.mark(ANA, State.RETURNED)
    return await w.go_on(BEN, await w.now(BEN)), BEN


# -- paused and closed -----------------------------------------------------------------------------------------------


@scenario("the link is opened while the study is paused", "closed", "invited, no place")
async def _paused(w: World) -> tuple[httpx.Response, str]:
    w.status("paused")
    return await w.come(ANA), ANA


@scenario("the study is paused while a participant without a place reads", "closed", "consented, no place")
async def _paused_while_reading(w: World) -> tuple[httpx.Response, str]:
    page = await w.go_on(ANA, await w.come(ANA), consent="yes")
    w.status("paused")
    return await w.go_on(ANA, page), ANA


@scenario("the study is paused during the qualification", "closed", "qualified, no place", **ASKED)
async def _paused_qualifying(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.status("paused")
    return await w.go_on(ANA, page, **{"value-qualification-0": "1"}), ANA


@scenario("the study is resumed and the participant reloads", "trial", "active, holds a place", **ASKED)
async def _resumed(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.status("paused")
    await w.go_on(ANA, page, **{"value-qualification-0": "1"})
    w.status("running")
    return await w.go_on(ANA, await w.now(ANA)), ANA


@scenario("the study is paused during the trials", "thanks, DONE1", "finished, used a place")
async def _paused_inside(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.status("paused")
    return await w.finish(ANA, page), ANA


@scenario("a participant of a paused study returns by the link", "thanks, DONE1", "finished, used a place")
async def _paused_back(w: World) -> tuple[httpx.Response, str]:
    await w.into(ANA)
    w.status("paused")
    w.mark(ANA, State.TIMED_OUT)
    return await w.finish("phone", await w.come(ANA, device="phone")), ANA


@scenario("the link is opened after the study was closed", "closed", "invited, no place")
async def _closed(w: World) -> tuple[httpx.Response, str]:
    w.status("closed")
    return await w.come(ANA), ANA


@scenario("the study is closed during the trials", "thanks, DONE1", "finished, used a place")
async def _closed_inside(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.status("closed")
    return await w.finish(ANA, page), ANA


# -- returned, timed out, late ---------------------------------------------------------------------------------------


@scenario("RETURNED during the trials: the next participant takes the place at once", "trial", "active, holds a place")
async def _returned(w: World) -> tuple[httpx.Response, str]:
    await w.into(ANA)
    assert seen(await w.come(BEN)) == "full, FULL1"
    w.mark(ANA, State.RETURNED)
    assert w.stands(ANA) == "returned, place free"
    return await w.into(BEN), BEN


@scenario("RETURNED, then resumed, the place still free", "trial", "active, holds a place")
async def _returned_back(w: World) -> tuple[httpx.Response, str]:
    await w.answer(ANA, await w.into(ANA))
    w.mark(ANA, State.RETURNED)
    page = await w.come(ANA)
    assert page.url.path == "/trial/trials/1"
    return page, ANA


@scenario("RETURNED, then resumed, the place taken", "thanks, DONE1", "finished, surplus")
async def _returned_late(w: World) -> tuple[httpx.Response, str]:
    await w.into(ANA)
    w.mark(ANA, State.RETURNED)
    await w.into(BEN)
    return await w.finish(ANA, await w.come(ANA)), ANA


@scenario("RETURNED, then a response on the open page", "422", "returned, place free")
async def _returned_answers(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.mark(ANA, State.RETURNED)
    answer = await w.answer(ANA, page)
    assert w.app.store.people()[0].n_answered == 0
    assert seen(await w.now(ANA)) == "closed"
    return answer, ANA


@scenario("RETURNED is noted a second time", "closed", "returned, place free")
async def _returned_twice(w: World) -> tuple[httpx.Response, str]:
    await w.into(ANA)
    w.mark(ANA, State.RETURNED)
    with pytest.raises(StateError):
        w.mark(ANA, State.RETURNED)
    return await w.now(ANA), ANA


@scenario("TIMED-OUT, then a response on the open page", "200", "active, holds a place")
async def _timed_out_answers(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.mark(ANA, State.TIMED_OUT)
    answer = await w.answer(ANA, page)
    assert w.app.store.people()[0].n_answered == 1
    return answer, ANA


@scenario("TIMED-OUT, the place taken, then resumed", "thanks, DONE1", "finished, surplus")
async def _timed_out_late(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.mark(ANA, State.TIMED_OUT)
    await w.finish(BEN, await w.into(BEN))
    return await w.finish(ANA, page), ANA


@scenario("TIMED-OUT, then RETURNED, then resumed", "trial", "active, holds a place")
async def _out_of_order(w: World) -> tuple[httpx.Response, str]:
    await w.into(ANA)
    w.mark(ANA, State.TIMED_OUT, State.RETURNED)
    return await w.come(ANA), ANA


@scenario("TIMED-OUT after the end, then returns for the code", "thanks, DONE1", "finished, used a place")
async def _timed_out_after_the_end(w: World) -> tuple[httpx.Response, str]:
    await w.finish(ANA, await w.into(ANA))
    w.mark(ANA, State.TIMED_OUT)
    assert w.stands(ANA) == "timed_out, place free"
    return await w.come(ANA, device="phone"), ANA


@scenario("RETURNED after the end (withdrawn), then returns", "closed", "returned, place free")
async def _withdrawn(w: World) -> tuple[httpx.Response, str]:
    await w.finish(ANA, await w.into(ANA))
    w.mark(ANA, State.RETURNED)
    return await w.come(ANA), ANA


@scenario(
    "away for longer than `lease.minutes`, the place still free, resumed", "thanks, DONE1", "finished, used a place"
)
async def _late_alone(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.clock.wait(minutes=61)
    return await w.finish(ANA, page), ANA


@scenario("away for longer, the place taken, resumed", "thanks, DONE1", "finished, surplus")
async def _late(w: World) -> tuple[httpx.Response, str]:
    page = await w.into(ANA)
    w.clock.wait(minutes=61)
    await w.into(BEN)
    return await w.finish(ANA, page), ANA


@scenario("excluded by a rule after the end", "thanks, DONE1", "excluded, place free")
async def _excluded(w: World) -> tuple[httpx.Response, str]:
    await w.finish(ANA, await w.into(ANA))
    w.mark(ANA, State.EXCLUDED)
    assert seen(await w.come(BEN)) == "consent"
    return await w.now(ANA), ANA


@pytest.mark.parametrize("row", SCENARIOS, ids=lambda row: row.happens)
def test_a_scenario_ends_as_documented(tmp_path: Path, row: Scenario) -> None:
    """S19: each of the scripted scenarios ends on the page, with the code, in the state and place of its row."""
    short = {"practice": (), "about_you": (), "qualification": (), "attention": (), "exclusions": ()}
    fixed = {
        "design": DesignSection(lists=1),
        "ratings": RatingsSection(per_item=1),
        "catch": CatchSection(per_list=0),
        "texts": TEXTS,
        "codes": Codes(completion="DONE1", screen_out="OUT1", no_consent="NO1", full="FULL1"),
    }

    async def run() -> None:
        study, clock = freeze(made_definition(**(short | fixed | row.changed)), made_items(3)), Clock()
        with Store.open(tmp_path, study.record, clock=clock, steady=clock.steady, has_place=study.has_place) as store:
            app = App.of(study, store, ServerSettings(ORIGIN))
            app.clock = clock
            async with AsyncExitStack() as stack:
                world = World(app, clock, stack)
                page, who = await row.steps(world)
                await asyncio.gather(*app.tasks)
                assert (seen(page), world.stands(who)) == (row.sees, row.stands)
            assert store.verify().problems == ()

    asyncio.run(run())


def test_health_says_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S11: status, disk and version, and nothing about participants; 507 where the disk is nearly full."""

    async def run() -> None:
        with running(tmp_path) as app:
            async with client(app) as browser:
                await Person(browser, app.study).arrive(ANA)
                well = await browser.get("/health")
                assert (well.status_code, set(well.json())) == (
                    200,
                    {"status", "saving", "disk_low", "version", "not_kept"},
                )
                assert well.json()["status"] == "running"
                app.store.set_status("paused", actor="ana")
                assert (await browser.get("/health")).json()["status"] == "paused"
                monkeypatch.setattr(health, "LOW_BYTES", 10**18)
                low = await browser.get("/health")
                assert (low.status_code, low.json()["disk_low"]) == (507, True)

    asyncio.run(run())


def test_an_answer_that_cannot_be_stored_is_taken_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S11: while the disk is full an answer gets 503 with the time to wait; the same answer sent again is stored once,
    without a restart."""

    def full_disk(*_: object) -> None:
        raise sa.exc.OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))

    async def run() -> None:
        with running(tmp_path, made_definition(practice=(), about_you=(), qualification=())) as app:
            world = World(app, Clock(), AsyncExitStack())
            async with world.stack:
                page = await world.into(ANA)
                action, fields = form_of(page.text)
                form = fields | {"value-trials-0": "3"}
                browser = await world.device(ANA)
                with monkeypatch.context() as patched:
                    patched.setattr(app.store._writer, "_seal", full_disk)
                    full = await browser.post(action, data=form, headers=JSON)
                assert (full.status_code, full.json()["error"]["code"]) == (503, "not_stored")
                assert int(full.headers["retry-after"]) >= 1
                assert app.store.people()[0].n_answered == 0
                assert (await browser.post(action, data=form, headers=JSON)).status_code == 200
            assert app.store.people()[0].n_answered == 1

    asyncio.run(run())


def test_the_table_in_the_documentation_is_the_tested_one() -> None:
    """Every scenario is a row of the table, word for word, and the table has no other rows."""
    text = PAGE.read_text(encoding="utf-8").partition("| what happens |")[2].partition("\n\n")[0]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in text.splitlines()[2:]]
    assert [tuple(re.sub(r"\s+", " ", cell) for cell in row) for row in rows] == [
        (one.happens, one.sees, one.stands) for one in SCENARIOS
    ]
    assert len(SCENARIOS) >= 30
