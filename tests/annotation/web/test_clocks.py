"""reliability.md S22: a server clock that jumps, leap days, summer time and time zones harm no answer and no table."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.store.record import Phase
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import CatchSection, DesignSection, RatingsSection, StudyDefinition
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.web.admin.summary import read_collected
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import ServerSettings

from .made_web import ORIGIN, Person, client, made_definition, made_items, running

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
JUMPS = [timedelta(hours=1), timedelta(hours=-1), timedelta(days=1), timedelta(days=-1)]
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns")


@dataclass
class Clock:
    """A clock that goes on by *step* at every look, and that a test sets; *zone* is the one in which it tells.

    ``steady`` are the seconds that have passed: setting the clock is none of them, :meth:`wait` is.
    """

    now: datetime = NOON
    step: timedelta = timedelta(seconds=1)
    zone: ZoneInfo | None = None
    ran: timedelta = timedelta()

    def steady(self) -> float:
        return self.ran.total_seconds()

    def wait(self, passed: timedelta) -> None:
        self.now += passed
        self.ran += passed

    def __call__(self) -> datetime:
        self.wait(self.step)
        return self.now if self.zone is None else self.now.astimezone(self.zone)


def definition(**changed: object) -> StudyDefinition:
    """One list with one place, five items, no checks."""
    short: dict[str, object] = {"practice": (), "about_you": (), "qualification": (), "attention": (), "exclusions": ()}
    fixed = {"design": DesignSection(lists=1), "ratings": RatingsSection(per_item=1), "catch": CatchSection(per_list=0)}
    return made_definition(**(short | fixed | changed))


@asynccontextmanager
async def served(folder: Path, clock: Clock, **changed: object) -> AsyncIterator[App]:
    """The app of the small study under a clock."""
    study = freeze(definition(**changed), made_items(5))
    with Store.open(folder, study.record, clock=clock, steady=clock.steady, has_place=study.has_place) as store:
        app = App.of(study, store, ServerSettings(ORIGIN))
        app.clock = clock
        yield app
        await asyncio.gather(*app.tasks)


async def take_part(app: App, who: str, *, between: Callable[[int], None] = lambda _position: None) -> str:
    """Go from the link to the code; *between* is called before each answer. Returns the last page."""
    async with client(app) as browser:
        person = Person(browser, app.study)
        page = await person.go_on(await person.go_on(await person.arrive(who), consent="yes"))
        for position in range(5):
            between(position)
            page = await person.go_on(page, **{f"value-trials-{position}": str(1 + position % 5)})
        return (await person.go_on(page)).text


def exported(app: App, folder: Path) -> tuple[list[dict[str, object]], list[dict[str, str]]]:
    """The judgments of an export, lossless, and its participants."""
    write_export(read_collected(app.study, app.store, tables=app.store.responses_and_judgments()), folder)
    lines = (folder / "judgments.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    with (folder / "participants.csv").open(encoding="utf-8", newline="") as stream:
        return [json.loads(line) for line in lines], list(csv.DictReader(stream))


@pytest.mark.parametrize("jump", JUMPS, ids=str)
@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_jump_in_the_middle_costs_nobody_anything(tmp_path: Path, jump: timedelta, at: int) -> None:
    """The clock jumps before an answer: all five answers and the code are there, no duration is below zero; a session
    that would have ended before it began has no completion time, and the reason stands in its place."""

    async def run() -> None:
        clock = Clock()

        def between(position: int) -> None:
            if position == at:
                clock.now += jump

        async with served(tmp_path / "study", clock) as app:
            assert "DONE1" in await take_part(app, "ana", between=between)
            (person,) = app.store.people()
            assert (person.n_answered, person.surplus) == (5, False)
            (time,) = app.store.responses().where(measure="completion_time").rows()
            if jump < timedelta(0):
                assert (time.value, time.raw) == (None, "the server's clock was set back")
            else:
                assert time.value is not None
                assert jump.total_seconds() * 1000 <= time.value < (jump.total_seconds() + 120) * 1000
            rows, people = exported(app, tmp_path / "export")
            assert len(rows) == 5
            # measured by a clock that cannot be set: not one of them knows of the jump
            assert all(0 <= float(str(row["rt_ms"])) < 60_000 for row in rows)
            assert [one["minutes"] == "" for one in people] == [jump < timedelta(0)]
            assert all(STAMP.fullmatch(str(row[name])) for row in rows for name in ("shown_at", "answered_at"))
            assert app.store.verify().problems == ()

    asyncio.run(run())


@pytest.mark.parametrize("jump", [*JUMPS, timedelta(days=400)], ids=str)
def test_a_jump_frees_no_place_and_keeps_none_longer(tmp_path: Path, jump: timedelta) -> None:
    """The clock is set while somebody holds the only place: nobody else gets it, who holds it finishes and is not
    surplus, and the audit log notes the jump. A place of somebody who left is free after its 60 minutes, not before."""

    async def run() -> None:
        clock = Clock()
        async with served(tmp_path, clock) as app:
            async with client(app) as browser, client(app) as other:
                person = Person(browser, app.study)
                page = await person.go_on(await person.go_on(await person.arrive("ana"), consent="yes"))
                for position in range(3):
                    page = await person.go_on(page, **{f"value-trials-{position}": "3"})
                clock.now += jump
                assert "No place is free" in (await Person(other, app.study).arrive("ben")).text
                assert app.store.loads()["1"].active == 1
                for position in (3, 4):
                    page = await person.go_on(page, **{f"value-trials-{position}": "3"})
                assert "DONE1" in (await person.go_on(page)).text
            assert [(one.n_answered, one.surplus) for one in app.store.people() if one.n_answered] == [(5, False)]
            _, entries = app.store.audit_entries(limit=50)
            (noted,) = [json.loads(one.details)["seconds"] for one in entries if one.action == "clock jumped"]
            assert noted == round(jump.total_seconds())

    asyncio.run(run())


@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_a_place_runs_out_after_its_time_whatever_the_clock_says(tmp_path: Path, jump: timedelta) -> None:
    """Who takes a place, leaves, and does not come back holds it for 60 minutes, counted in seconds that pass."""

    async def run() -> None:
        clock = Clock()
        async with served(tmp_path, clock) as app:
            async with client(app) as browser:
                person = Person(browser, app.study)
                await person.go_on(await person.go_on(await person.arrive("ana"), consent="yes"))
            clock.now += jump
            clock.wait(timedelta(minutes=55))
            async with client(app) as browser:
                assert "No place is free" in (await Person(browser, app.study).arrive("ben")).text
            clock.wait(timedelta(minutes=6))
            async with client(app) as browser:
                assert 'name="consent"' in (await Person(browser, app.study).arrive("ben")).text

    asyncio.run(run())


@pytest.mark.parametrize("while_open", [timedelta(0), timedelta(days=1), timedelta(days=-1)], ids=str)
@pytest.mark.parametrize("while_closed", [*JUMPS, timedelta(0)], ids=str)
def test_a_restart_holds_again_what_was_held(tmp_path: Path, while_open: timedelta, while_closed: timedelta) -> None:
    """The clock is set while the server runs, or while it does not: who held the place when it ended holds it for the
    study's time after the start, who had left long before does not, and the log says how many."""

    async def run() -> None:
        clock = Clock()
        two = {"ratings": RatingsSection(per_item=2)}
        async with served(tmp_path, clock, **two) as app:
            async with client(app) as browser:
                left = Person(browser, app.study)
                await left.go_on(await left.go_on(await left.arrive("left"), consent="yes"))
            clock.wait(timedelta(minutes=61))
            clock.now += while_open
            async with client(app) as browser:
                person = Person(browser, app.study)
                await person.go_on(await person.go_on(await person.arrive("ana"), consent="yes"))
            assert app.store.loads()["1"].active == 1
        clock.now += while_closed
        async with served(tmp_path, clock, **two) as app:
            assert app.store.hold_again() == 1
            _, (entry,) = app.store.audit_entries(limit=1)
            assert (entry.action, json.loads(entry.details)["places"]) == ("places held again", 1)
            clock.wait(timedelta(minutes=55))
            assert app.store.loads()["1"].active == 1
            clock.wait(timedelta(minutes=6))
            assert app.store.loads()["1"].active == 0

    asyncio.run(run())


@pytest.mark.parametrize(
    ("begin", "zone"),
    [
        (datetime(2028, 2, 28, 23, 59, 50, tzinfo=UTC), None),
        (datetime(2028, 2, 29, 23, 59, 50, tzinfo=UTC), None),
        (datetime(2026, 12, 31, 23, 59, 50, tzinfo=UTC), "Asia/Kolkata"),
        # summer time begins and ends in Newfoundland: 2 a.m. of -03:30 and -02:30
        (datetime(2026, 3, 8, 5, 29, 50, tzinfo=UTC), "America/St_Johns"),
        (datetime(2026, 11, 1, 4, 29, 50, tzinfo=UTC), "America/St_Johns"),
    ],
    ids=str,
)
def test_calendars_do_not_matter(tmp_path: Path, begin: datetime, zone: str | None) -> None:
    """Over the end of a leap day, of a year, and over the change of summer time, even under a clock that tells local
    time: stamps are UTC and rise, and the completion time is what passed."""

    async def run() -> None:
        clock = Clock(begin, zone=ZoneInfo(zone) if zone else None)
        async with served(tmp_path / "study", clock) as app:
            assert "DONE1" in await take_part(app, "ana")
            rows, _ = exported(app, tmp_path / "export")
            stamps = [str(row["answered_at"]) for row in rows if row["phase"] == str(Phase.TRIALS)]
            assert all(STAMP.fullmatch(stamp) for stamp in stamps)
            moments = [datetime.fromisoformat(stamp) for stamp in stamps]
            assert moments == sorted(moments)
            assert begin < moments[0] < moments[-1] <= clock.now < begin + timedelta(minutes=2)
            (time,) = app.store.responses().where(measure="completion_time").rows()
            assert time.value is not None
            assert 0 < time.value <= (clock.now - begin).total_seconds() * 1000

    asyncio.run(run())


def test_a_browsers_clock_is_not_believed(tmp_path: Path) -> None:
    """A browser whose clock is years off, or whose times are nonsense: the server's stamps are stored."""

    async def run() -> None:
        clock = Clock()
        async with served(tmp_path, clock) as app:
            async with client(app) as browser:
                person = Person(browser, app.study)
                page = await person.go_on(await person.go_on(await person.arrive("ana"), consent="yes"))
                told = ("2099-01-01T00:00:00Z", "-1", "NaN", "0000", "1e999")
                for position, text in enumerate(told):
                    fields = {f"value-trials-{position}": "3", "shown_at": text, "rt_ms": text}
                    page = await person.go_on(page, **fields)
            (one,) = app.store.people()
            rows = app.store.answers_of(one.participant_id)
            assert len(rows) == 5
            assert {str(row["shown_at"])[:13] for row in rows} == {"2026-03-01T12"}
            assert [row["rt_ms"] for row in rows] == [None, None, None, 0.0, None]
            assert all(float(str(row["rt_server_ms"])) >= 0 for row in rows)

    asyncio.run(run())


def export_here(folder: Path, out: Path) -> list[str]:
    """Open and export the study; return a hash of all files, their number, the offset of a stamp, whether it is of now,
    and the hour of 12:00 UTC by the clock of this process."""
    study = freeze(definition(), made_items(5))
    with Store.open(folder, study.record) as store:
        store.log("looked", actor="test")
        _, (entry,) = store.audit_entries(limit=1)
        write_export(read_collected(study, store, tables=store.responses_and_judgments()), out)
    off = abs((datetime.fromisoformat(entry.at) - datetime.now(UTC)).total_seconds())
    files = sorted(path for path in out.rglob("*") if path.is_file())
    content = b"".join(path.relative_to(out).as_posix().encode() + path.read_bytes() for path in files)
    hour = time.localtime(1772366400).tm_hour
    return [hashlib.sha256(content).hexdigest(), str(len(files)), entry.at[-6:], str(off < 60), str(hour)]


CHILD = """
import sys
from pathlib import Path
from tests.annotation.web.test_clocks import export_here

print(*export_here(Path(sys.argv[1]), Path(sys.argv[2])))
"""


@contextmanager
def local_zone(zone: str) -> Iterator[None]:
    """Set the time zone of this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()


def test_exports_are_the_same_bytes_in_every_time_zone(tmp_path: Path) -> None:
    """The same study is exported in three time zones, in one of them by a process that was begun there: every file has
    the same bytes, and the stamps of each are UTC with their offset."""

    async def run() -> None:
        with running(tmp_path / "study", definition(), made_items(5)) as app:
            assert "DONE1" in await take_part(app, "ana")
            await asyncio.gather(*app.tasks)

    asyncio.run(run())
    root, (here, there, last) = Path(__file__).parents[3], ZONES
    surroundings = {**os.environ, "TZ": there, "PYTHONPATH": f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "study"), str(tmp_path / "there")],
        env=surroundings,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [done.stdout.split()]
    for place, zone in ((0, here), (2, last)):
        with local_zone(zone):
            found.insert(place, export_here(tmp_path / "study", tmp_path / zone.replace("/", "_")))
    assert len({tuple(line[:4]) for line in found}) == 1
    assert found[0][2:4] == ["+00:00", "True"]
    assert int(found[0][1]) > 10
    # 12:00 UTC by the processes' own clocks: the zones were really set
    assert [line[4] for line in found] == ["12", "17", "8"]
