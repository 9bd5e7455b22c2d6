"""What broke off between two commits is completed at the next visit, and nobody is left without a way to the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.engine import StorageError
from lexiscope.annotation.store.record import BrowserAnswer, Phase, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import DesignSection, LeaseSection, PoolSection, RatingsSection
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.flow import Flow
from lexiscope.core.errors import RunError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

from .made_web import SHORT, Person, client, form_of, made_definition, made_items, running, visit
from .test_flow import right


def fails_once(monkeypatch: pytest.MonkeyPatch, name: str, *, when: Callable[..., bool]) -> None:
    """Let one method of the store fail once, as a full disk would."""
    working, failed = getattr(Store, name), []

    def fail(self: Store, *words: object, **named: object) -> object:
        if not failed and when(*words, **named):
            failed.append(True)
            raise StorageError("made to fail")
        return working(self, *words, **named)

    monkeypatch.setattr(Store, name, fail)


@pytest.mark.parametrize("phase", [Phase.PRACTICE, Phase.TRIALS])
def test_a_place_without_trials_gets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: Phase) -> None:
    """S10, S11: the place was stored, the trials were not: the next visit lays them out, and the code follows."""
    fails_once(monkeypatch, "lay_out", when=lambda _who, laid, _trials: laid is phase)

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page = await person.go_on(await person.arrive(), consent="yes")
        assert (await person.go_on(page)).status_code == 503
        assert "DONE1" in (await person.whole_way(await browser.get("/now"))).text

    visit(tmp_path, steps, qualification=(), about_you=())


def test_a_consent_without_its_questions_gets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S10: the questions about the participant are laid out with the first answers, whatever failed before."""
    fails_once(monkeypatch, "lay_out", when=lambda _who, laid, _trials: laid is Phase.DEMOGRAPHICS)

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page = await person.go_on(await person.arrive(), consent="yes")
        refused = await person.go_on(page, **{"native_speaker-about": "yes"})
        assert refused.status_code == 503
        assert "DONE1" in (await person.whole_way(await browser.get("/now"))).text

    visit(tmp_path, steps)


def test_a_last_remark_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment that could not be stored is stored when it is sent again, though its page was acknowledged."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page = await person.arrive()
        while 'action="/debrief"' not in page.text:
            page = await one_page(person, page)
        fails_once(monkeypatch, "submit", when=lambda answer: answer.phase is Phase.DEBRIEF)
        action, fields = form_of(page.text)
        sent = fields | {"comment-debrief": "Nice words."}
        assert (await browser.post(action, data=sent)).status_code == 503
        assert "DONE1" in (await browser.post(action, data=sent)).text
        who = app.store.people()[0].participant_id
        assert [row["text"] for row in app.store.answers_of(who) if row["phase"] == "debrief"] == ["Nice words."]

    visit(tmp_path, steps, **SHORT)


async def one_page(person: Person, page: httpx.Response) -> httpx.Response:
    """Answer one page."""
    if 'name="consent"' in page.text:
        return await person.go_on(page, consent="yes")
    if page.url.path.startswith("/trial/"):
        suffix = page.url.path.removeprefix("/trial/").replace("/", "-")
        return await person.go_on(page, **{f"value-{suffix}": person.decide(suffix, page.text)})
    return await person.go_on(page)


def test_who_finished_unseen_is_judged_at_the_next_visit(tmp_path: Path) -> None:
    """S17: somebody who failed the catch trial finished, and the server went down before it judged: the next person
    to come finds the place free again."""
    one_place = {**SHORT, "attention": (), "design": DesignSection(lists=1), "ratings": RatingsSection(per_item=1)}

    async def first(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, lambda _where, _page: "3")
        page = await person.go_on(await person.go_on(await person.arrive("careless"), consent="yes"))
        who = app.store.people()[0].participant_id
        while page.url.path.startswith("/trial/"):
            position = int(page.url.path.rpartition("/")[2])
            item = app.store.read(planned_trials, who)[position].item_id
            app.store.submit(BrowserAnswer(who, item, Phase.TRIALS, f"key-{position:06}", position, value=3))
            if position + 1 == len(app.store.read(planned_trials, who)):
                break
            page = await browser.get(f"/trial/trials/{position + 1}")
        app.store.change_state(who, State.FINISHED, reason="made to finish unseen")

    async def second(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        assert app.store.people()[0].state is State.FINISHED
        await person.arrive("careful")
        await asyncio.gather(*app.tasks)
        assert app.store.people()[0].state is State.EXCLUDED
        assert "DONE1" in (await person.whole_way(await browser.get("/now"))).text

    visit(tmp_path, first, **one_place)
    visit(tmp_path, second, **one_place)


def test_nobody_skips_themselves_out(tmp_path: Path) -> None:
    """A pool of four words, two sentences owed: another word may be asked for twice, then the button is gone."""
    words = ("bank", "pitch", "seal", "mine")
    senses = {"sense_1": "one", "example_1": "An example.", "sense_2": "two", "example_2": "An example."}
    items = tuple(Item(word, "d", (Usage(word, 0, len(word), lemma=word),), conditions=senses) for word in words)
    definition = made_definition(
        **SHORT,
        task="ambiguous_sentence",
        attention=(),
        exclusions=(),
        catch={"per_list": 0},
        design=DesignSection(lists=1),
        pool=PoolSection(per_person=2, at_most=1),
        ratings=RatingsSection(per_item=5),
    )

    async def run() -> None:
        with running(tmp_path, definition, items) as app:
            async with client(app) as browser:
                person = Person(browser, app.study)
                page = await person.go_on(await person.go_on(await person.arrive(), consent="yes"))
                skips = 0
                while 'action="/another/' in page.text:
                    skips += 1
                    action, fields = form_of(page.text, 0)
                    assert fields["page_version"]
                    page = await browser.post(action, data=fields | {"rt_ms": "812.5"})
                assert skips == 2
                skipped = app.store.answers_of(app.store.people()[0].participant_id)
                assert [(row["flags"], row["rt_ms"]) for row in skipped] == [('["skipped"]', 812.5)] * 2
                assert all(float(str(row["rt_server_ms"])) > 0 and row["shown_at"] for row in skipped)
                refused = await browser.post("/another/2", data=form_of(page.text)[1])
                assert refused.status_code == 422
                for position in (2, 3):
                    word = app.store.read(planned_trials, app.store.people()[0].participant_id)[position].item_id
                    page = await person.go_on(page, **{f"text-trials-{position}": f"Here the {word} stood alone."})
                assert "DONE1" in (await person.go_on(page)).text

    asyncio.run(run())


def test_a_changed_answer_has_times_of_its_own(tmp_path: Path) -> None:
    """Who goes back is shown the trial anew: the change is timed from then on."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page = await person.go_on(await person.go_on(await person.arrive(), consent="yes"))
        page = await person.go_on(page, **{"value-trials-0": "2"})
        await person.go_on(await browser.get("/trial/trials/0"), **{"value-trials-0": "4"})
        first, second = app.store.answers_of(app.store.people()[0].participant_id)
        assert str(second["shown_at"]) > str(first["answered_at"])

    visit(tmp_path, steps, back=True, **SHORT)


def test_a_place_is_renewed_once_in_half_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After half of the time one answer renews the place; the answers after it do not."""
    renewed, renew = [], Flow.renew_place

    def count(self: Flow, who: str, asked: object) -> object:
        renewed.append(who)
        return renew(self, who, asked)  # type: ignore[arg-type]

    monkeypatch.setattr(Flow, "renew_place", count)

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page = await person.go_on(await person.go_on(await person.arrive(), consent="yes"))
        ahead = time.monotonic() + 40 * 60
        app.store.held_time._steady = lambda: ahead
        for position in range(4):
            page = await person.go_on(page, **{f"value-trials-{position}": "3"})
        assert len(renewed) == 1

    visit(tmp_path, steps, lease=LeaseSection(minutes=60), **SHORT)


def test_two_servers_of_one_study_remember_nothing(tmp_path: Path) -> None:
    """Several workers on one database: what one of them knows of a participant, another may have changed."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page = await person.go_on(await person.go_on(await person.arrive(), consent="yes"))
        who = app.store.people()[0].participant_id
        app.flow._remembers = False
        page = await person.go_on(page, **{"value-trials-0": "2"})
        assert page.url.path == "/trial/trials/1"
        item = app.store.read(planned_trials, who)[1].item_id
        app.store.submit(BrowserAnswer(who, item, Phase.TRIALS, "another-worker", 1, value=4))
        shown = app.flow.trial_to_show(who, Phase.TRIALS, 1)
        assert shown.stored is not None
        assert shown.stored["value"] == 4
        assert app.flow.trial_at(who, Phase.TRIALS, 2).progress.next_position == 2

    visit(tmp_path, steps, back=True, **SHORT)


def test_the_next_person_at_a_shared_computer(tmp_path: Path) -> None:
    """A link without an id, after somebody finished here: the page asks who it is, and shows nobody's code."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        assert "DONE1" in (await person.whole_way(await person.arrive("first"))).text
        page = await browser.get("/")
        assert "DONE1" not in page.text
        assert 'name="participant"' in page.text

    visit(tmp_path, steps, **SHORT)


def test_a_study_of_an_earlier_version_opens(tmp_path: Path) -> None:
    """A later version knows more settings: a study whose stored definition lacks one goes on, with its default; a
    definition in which something was changed does not."""

    definition, earlier = made_definition(), tmp_path / "earlier"
    frozen = freeze(definition, made_items())
    fewer = frozen.record.definition.replace("option_order: random\n", "").replace('search: ""\n', "")
    assert fewer != frozen.record.definition
    with Store.open(earlier, replace(frozen.record, definition=fewer)):
        pass
    with Store.open(earlier, frozen.record) as store:
        assert store.people() == []
    changed = freeze(made_definition(back=True), made_items())
    with pytest.raises(RunError, match="another definition"):
        Store.open(earlier, changed.record)
    with pytest.raises(RunError, match="another definition"):
        Store.open(earlier, freeze(definition, made_items(4)).record)
