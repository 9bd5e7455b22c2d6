"""The way of a participant through the real server: every page from the link to the code, without scripts."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
from pathlib import Path

from lexiscope.annotation.store.engine import DATABASE_NAME
from lexiscope.annotation.store.record import Phase, State
from lexiscope.annotation.study_file.definition import Payment

from .made_web import Person, client, form_of, made_definition, running


def right(where: str, page: str) -> str:
    """Answer what is right: the checks by their texts, the others in the middle."""
    if "seal" in page:
        return "1"
    if "choose 2" in page:
        return "2"
    sentences = [part.split("</p>")[0] for part in page.split('class="sentence"')[1:]]
    return "5" if len(sentences) == 2 and sentences[0] == sentences[1] else "3"


def test_from_the_link_to_the_code(tmp_path: Path) -> None:
    """Consent, questions, instructions, qualification, practice, trials, debrief, code; every answer is stored once."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with client(app) as browser:
                person = Person(browser, app.study, right)
                end = await person.whole_way(await person.arrive())
                assert "DONE1" in end.text
                again = await browser.get("/now")
                assert "DONE1" in again.text, "the same code at every visit"
            (who,) = [one.participant_id for one in app.store.people()]
            stored = app.store.answers_of(who)
            # age and native language, one qualification, one practice, 3 items + 1 catch + 1 attention
            assert len(stored) == 2 + 1 + 1 + 5
            assert all(row["rt_server_ms"] is not None for row in stored if row["phase"] == "trials")
            await asyncio.gather(*app.tasks)
            assert app.store.people()[0].state is State.FINISHED

    asyncio.run(visit())


def test_the_consent_page_has_duration_and_pay(tmp_path: Path) -> None:
    """A participant reads both before the first button, and what is stored is the text that they read."""

    async def visit() -> None:
        with running(tmp_path, made_definition(payment=Payment(amount=2.5, currency="GBP", minutes=12))) as app:
            async with client(app) as browser:
                person = Person(browser, app.study)
                page = await person.arrive()
                before = page.text.partition('name="consent"')[0]
                assert re.findall(r"<li>(.*?)</li>", before) == ["Duration: about 12 min", "Pay: 2.50 GBP"]
                await person.go_on(page, consent="yes")
            with sqlite3.connect(tmp_path / DATABASE_NAME) as database:
                digest = hashlib.sha256(app.study.consent_text.encode()).hexdigest()
                assert database.execute("SELECT text_sha256 FROM consents").fetchall() == [(digest,)]

    asyncio.run(visit())


def test_a_failed_qualification_ends_it(tmp_path: Path) -> None:
    """A wrong answer screens out at once, with the screen-out code; the same id finds no second attempt (S8)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with client(app) as browser:
                person = Person(browser, app.study, lambda _where, _page: "5")
                assert "OUT1" in (await person.whole_way(await person.arrive())).text
            async with client(app) as another_browser:
                person = Person(another_browser, app.study, right)
                end = await person.whole_way(await person.arrive())
                assert "OUT1" in end.text
                assert "DONE1" not in end.text

    asyncio.run(visit())


def test_who_does_not_consent_answers_nothing(tmp_path: Path) -> None:
    """Without consent: its own code, no answer, no trial page."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with client(app) as browser:
                person = Person(browser, app.study)
                end = await person.go_on(await person.arrive(), consent="no")
                assert "NO1" in end.text
                assert (await browser.get("/trial/trials/0")).url.path == "/now"
                assert app.store.people()[0].n_answered == 0

    asyncio.run(visit())


def test_failed_checks_exclude_at_once(tmp_path: Path) -> None:
    """Who fails the catch trial is excluded when they finish, by the declared rule, and still gets the code."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with client(app) as browser:
                person = Person(browser, app.study, lambda w, p: {"5": "4"}.get(right(w, p), right(w, p)))
                end = await person.whole_way(await person.arrive())
                await asyncio.gather(*app.tasks)
                (one,) = app.store.people()
                assert (one.state, one.reason) == (State.EXCLUDED, "failed_catch(items=catch,expected=5)")
                assert "DONE1" in (await browser.get("/now")).text
                assert "DONE1" in end.text

    asyncio.run(visit())


def test_back_changes_an_answer_in_a_new_row(tmp_path: Path) -> None:
    """Where Back is allowed the page shows the stored answer, and a change is a row that names the first one."""

    async def visit() -> None:
        with running(tmp_path, made_definition(back=True, qualification=(), practice=(), about_you=())) as app:
            async with client(app) as browser:
                person = Person(browser, app.study, right)
                page = await person.go_on(await person.arrive(), consent="yes")
                page = await person.go_on(page)
                page = await person.go_on(page, **{"value-trials-0": "2"})
                assert page.url.path == "/trial/trials/1"
                earlier = await browser.get("/trial/trials/0")
                assert 'name="supersedes"' in earlier.text
                page = await person.go_on(earlier, **{"value-trials-0": "4"})
                assert page.url.path == "/trial/trials/1"
            who = app.store.people()[0].participant_id
            first, second = app.store.answers_of(who)
            assert (first["value"], second["value"], second["supersedes"]) == (2, 4, first["id"])

    asyncio.run(visit())


def test_an_answer_sent_twice_is_one(tmp_path: Path) -> None:
    """A repeated form gets the first result; another answer to the same final item is a conflict that leads on."""

    async def visit() -> None:
        with running(tmp_path, made_definition(qualification=(), practice=(), about_you=())) as app:
            async with client(app) as browser:
                person = Person(browser, app.study, right)
                page = await person.go_on(await person.go_on(await person.arrive(), consent="yes"))
                action, fields = form_of(page.text)
                asks_json = {"accept": "application/json"}
                sent = fields | {"value-trials-0": "2"}
                first = await browser.post(action, data=sent, headers=asks_json)
                repeated = await browser.post(action, data=sent, headers=asks_json)
                assert first.json() == repeated.json() == {"next": "/trial/trials/1"}
                other = await browser.post(action, data=sent | {"client_key": "another-key-1"}, headers=asks_json)
                assert (other.status_code, other.json()["next"]) == (409, "/now")
                changed = await browser.post(action, data=sent | {"value-trials-0": "3"}, headers=asks_json)
                assert (changed.status_code, changed.json()["error"]["field"]) == (409, "client_key")
            who = app.store.people()[0].participant_id
            assert len(app.store.answers_of(who)) == 1
            assert app.store.progress(who, Phase.TRIALS).next_position == 1

    asyncio.run(visit())


def test_answers_about_you_sent_twice_are_one(tmp_path: Path) -> None:
    """The same form again changes nothing. Another value, one added or one left out is a conflict that leads on, under
    the same key and under another one: nothing is acknowledged that is not stored."""

    async def visit() -> None:
        with running(tmp_path, made_definition(qualification=(), practice=())) as app:
            async with client(app) as browser:
                person = Person(browser, app.study, right)
                action, fields = form_of((await person.go_on(await person.arrive(), consent="yes")).text)
                assert action == "/about"
                sent = fields | {"native_speaker-about": "yes", "age-about": "30"}
                for _ in range(2):
                    page = await browser.post(action, data=sent)
                    assert (page.status_code, 'action="/begin"' in page.text) == (200, True)
                for key in (fields["client_key"], "another-key-1"):
                    assert (await browser.post(action, data=sent | {"client_key": key})).status_code == 200
                    for name, value in (("native_speaker", "no"), ("age", "31"), ("age", "")):
                        changed = sent | {f"{name}-about": value, "client_key": key}
                        refused = await browser.post(action, data=changed, headers={"accept": "application/json"})
                        assert (refused.status_code, refused.json()["next"]) == (409, "/now"), (key, name, value)
            rows = app.store.answers_of(app.store.people()[0].participant_id)
            assert [(row["option"], row["value"]) for row in rows] == [("yes", None), (None, 30.0)]

    asyncio.run(visit())


def test_a_last_remark_sent_twice_is_one(tmp_path: Path) -> None:
    """The same remark again leads on. Another one is a conflict, under the same key and under another one; an empty
    one is a conflict under the key of a stored remark, and from another tab it leads on."""

    async def visit() -> None:
        with running(tmp_path, made_definition(qualification=(), practice=(), about_you=())) as app:
            async with client(app) as browser:
                person = Person(browser, app.study, right)
                page = await person.go_on(await person.go_on(await person.arrive(), consent="yes"))
                while 'action="/debrief"' not in page.text:
                    suffix = page.url.path.removeprefix("/trial/").replace("/", "-")
                    page = await person.go_on(page, **{f"value-{suffix}": right(suffix, page.text)})
                action, fields = form_of(page.text)

                async def send(comment: str, key: str = fields["client_key"]) -> int:
                    sent = fields | {"comment-debrief": comment, "client_key": key}
                    return (await browser.post(action, data=sent)).status_code

                assert [await send(""), await send(" Nice\r\nwords. "), await send("Nice\nwords.")] == [200] * 3
                assert [await send("Other words."), await send("")] == [409] * 2
                other = "another-key-1"
                said = [await send("Nice\nwords.", other), await send("", other), await send("Other words.", other)]
                assert said == [200, 200, 409]
            rows = app.store.answers_of(app.store.people()[0].participant_id)
            assert [row["text"] for row in rows if row["phase"] == "debrief"] == ["Nice\nwords."]

    asyncio.run(visit())
