"""Many browsers at once against the real application: places, second attempts, codes, repeated answers."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import httpx

from lexiscope.annotation.store.record import State
from lexiscope.annotation.study_file.definition import DesignSection, RatingsSection

from .made_web import JSON, SHORT, Person, client, form_of, made_definition, made_items, running
from .test_flow import right


def test_exactly_as_many_places_as_the_study_has(tmp_path: Path) -> None:
    """S15, S16: 90 people arrive at once for 40 places: exactly 40 begin, 10 on each list; the others see that it is
    full, hold no place, and nobody sees an error."""
    definition = made_definition(
        **SHORT, design=DesignSection(lists=4, balance=("same_sense",)), ratings=RatingsSection(per_item=10)
    )

    async def one(browser: httpx.AsyncClient, person: Person, number: int) -> str:
        page = await person.go_on(await person.arrive(f"person{number}"), consent="yes")
        if 'action="/begin"' in page.text:
            page = await person.go_on(page)
        assert page.status_code == 200
        return "trial" if page.url.path.startswith("/trial/") else "full"

    async def run() -> None:
        with running(tmp_path, definition, made_items(8)) as app:
            browsers = [client(app) for _ in range(90)]
            people = [Person(browser, app.study) for browser in browsers]
            ends = Counter(
                await asyncio.gather(*(one(b, p, n) for n, (b, p) in enumerate(zip(browsers, people, strict=True))))
            )
            assert ends == {"trial": 40, "full": 50}
            assert [(load.active, load.free) for load in app.store.loads().values()] == [(10, 0)] * 4
            for browser in browsers:
                await browser.aclose()

    asyncio.run(run())


def test_one_attempt_at_the_qualification(tmp_path: Path) -> None:
    """S8: a wrong and a right answer sent together, from two tabs, 30 times: one of them counts, never both."""

    async def run() -> None:
        definition = made_definition(practice=(), about_you=(), ratings=RatingsSection(per_item=30))
        with running(tmp_path, definition) as app:
            for number in range(30):
                async with client(app) as browser:
                    person = Person(browser, app.study)
                    page = await person.go_on(await person.arrive(f"person{number}"), consent="yes")
                    action, fields = form_of((await person.go_on(page)).text)
                    sent = [
                        {"value-qualification-0": value, "client_key": f"tab-{value}-{number:06}"} for value in "15"
                    ]
                    random.Random(number).shuffle(sent)
                    answers = await asyncio.gather(
                        *(browser.post(action, data=fields | each, headers=JSON) for each in sent)
                    )
                    assert sorted(answer.status_code for answer in answers) == [200, 409]
            for person in app.store.people():
                stored = [a for a in app.store.answers_of(person.participant_id) if a["phase"] == "qualification"]
                assert len(stored) == 1
                passed = stored[0]["value"] == 1
                assert (person.state is State.SCREENED_OUT) == (not passed)

    asyncio.run(run())


def test_no_code_before_the_last_row(tmp_path: Path) -> None:
    """S7: while the last answer is on its way, 12 requests ask for the code: whoever sees it finds every row stored,
    and all see the same one."""

    async def run() -> None:
        with running(tmp_path, made_definition(**SHORT, attention=())) as app:
            for number in range(4):
                async with client(app) as browser:
                    person = Person(browser, app.study, right)
                    page = await person.go_on(await person.arrive(f"person{number}"), consent="yes")
                    page = await person.go_on(page)
                    for position in range(3):
                        value = {f"value-trials-{position}": right("", page.text)}
                        page = await person.go_on(page, **value)
                    action, fields = form_of(page.text)
                    last = browser.post(action, data=fields | {"value-trials-3": right("", page.text)}, headers=JSON)
                    pages = await asyncio.gather(last, *(browser.get("/now") for _ in range(12)))
                    assert all("DONE1" not in each.text for each in pages), "the debrief comes first"
                    end = await person.go_on(await browser.get("/now"))
                    assert "DONE1" in end.text
                await asyncio.gather(*app.tasks)
            assert [one.n_answered for one in app.store.people()] == [4] * 4

    asyncio.run(run())


def test_the_same_answer_from_ten_tabs_is_one_row(tmp_path: Path) -> None:
    """S4: ten copies of one request, sent together: one row, ten equal receipts."""

    async def run() -> None:
        with running(tmp_path, made_definition(**SHORT)) as app:
            async with client(app) as browser:
                person = Person(browser, app.study)
                page = await person.go_on(await person.go_on(await person.arrive(), consent="yes"))
                action, fields = form_of(page.text)
                sent = fields | {"value-trials-0": "4"}
                answers = await asyncio.gather(*(browser.post(action, data=sent, headers=JSON) for _ in range(10)))
                assert [answer.json() for answer in answers] == [{"next": "/trial/trials/1"}] * 10
            (one,) = app.store.people()
            assert len(app.store.answers_of(one.participant_id)) == 1

    asyncio.run(run())
