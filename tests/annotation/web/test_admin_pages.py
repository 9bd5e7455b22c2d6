"""The researchers' pages: each renders, shows what is stored, changes what its form says, and escapes everything."""

from __future__ import annotations

import html
import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from lexiscope.annotation.monitor import progress_of
from lexiscope.annotation.store.accounts import participant_of_token
from lexiscope.annotation.store.overview import study_status
from lexiscope.annotation.store.record import State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.web.admin.routes import ADMIN_ROUTES
from lexiscope.annotation.web.admin.summary import read_collected_for_export
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.pages import LOCALE
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.core.simulated import SIMULATED_ID, short_id

from .made_admin import NAME, act, answer_by_rule, researcher, run, running
from .made_web import ORIGIN, form_of, made_definition, made_items

PAGES = (
    "",
    "/items",
    "/participants",
    "/exclusions",
    "/results",
    "/comments",
    "/invitations",
    "/export",
    "/log",
    "/status",
)
XSS = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}"


def acted(app: App) -> list[str]:
    """What the account did, oldest first."""
    return [one.action for one in reversed(app.store.audit_entries(limit=1000)[1]) if one.actor == NAME]


def state_of(app: App, who: str) -> State:
    """Where a participant stands."""
    return next(one.state for one in app.store.people() if one.participant_id == who)


@pytest.mark.parametrize("n", [0, 6])
def test_every_page_renders_and_changes_nothing(tmp_path: Path, n: int) -> None:
    """Without data and with data every page is there, shows no platform id, and looking changes no row (W6)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, n)
            app.flow.exclusion_rules.apply()
            async with researcher(app) as browser:
                before = app.store.people(), app.store.audit_entries(limit=1000), app.store.read(study_status)
                paths = list(PAGES) + [f"/places/{name}" for name in app.store.loads()]
                people = [one.participant_id for one in app.store.people()]
                paths += [f"/participants/{who}{more}" for who in people[:2] for more in ("", "/forget")]
                paths += ["/items?below=1&q=word1", "/participants?state=excluded&page=99", "/comments?flagged=1"]
                paths += ["/status?to=paused", "/log?page=0", "/items?page=-1", "/review"]
                for path in paths:
                    page = await browser.get(f"/researcher{path}")
                    assert page.status_code == 200, path
                    assert "</html>" in page.text
                    assert "5f00000000" not in page.text, f"a platform id on {path}"
                    assert "script-src 'self'" in page.headers["content-security-policy"]
                    assert page.headers["cache-control"] == "no-store"
                assert (app.store.people(), app.store.audit_entries(limit=1000), app.store.read(study_status)) == before

    run(visit)


@pytest.mark.parametrize("again", [False, True])
def test_every_page_of_a_rehearsal_says_so(tmp_path: Path, *, again: bool) -> None:
    """A study whose participants are simulated: every page, the status and the export say it, in the researcher's
    language; also when the store is opened later by a server that knows of no rehearsal: the ids carry the mark."""

    async def visit(app: App) -> None:
        for language, told in (("en", "Simulated participants: this is"), ("es", "Participantes simulados: esto es")):
            async with researcher(app, headers={"accept-language": language}) as browser:
                who = app.store.people()[0].participant_id
                assert who.startswith(SIMULATED_ID)
                for path in (*PAGES, f"/participants/{who}", f"/participants/{who}/forget"):
                    assert told in (await browser.get(f"/researcher{path}")).text, path
                assert short_id(who) in (await browser.get("/researcher/participants")).text
        assert progress_of(app.study, app.store).simulated
        assert read_collected_for_export(app.study, app.store).simulated

    study = freeze(made_definition(), made_items())
    rehearsal = replace(study, record=replace(study.record, simulated=True))
    with Store.open(tmp_path, rehearsal.record, unsafe_fast=True) as store:
        app = App.of(rehearsal, store, ServerSettings(ORIGIN))
        answer_by_rule(app, 4)
        if not again:
            run(lambda: visit(app))
    if again:
        with running(tmp_path) as later:
            run(lambda: visit(later))


def test_no_page_of_people_speaks_of_simulated_ones(tmp_path: Path) -> None:
    """Where people answered no page says simulated, and the export has no mark."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 2)
            async with researcher(app) as browser:
                for path in PAGES:
                    assert "imulated participants" not in (await browser.get(f"/researcher{path}")).text, path
            assert not progress_of(app.study, app.store).simulated
            assert not read_collected_for_export(app.study, app.store).simulated

    run(visit)


def test_the_overview_counts(tmp_path: Path) -> None:
    """Of six simulated people one fails the catch trial: five are valid, six places are wanted (two lists of three)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 6, careless=6)
            app.flow.exclusion_rules.apply()
            async with researcher(app) as browser:
                page = (await browser.get("/researcher")).text
                figures = re.findall(r'class="value">([^<]*)</dd><dt class="name">([^<]*)<', page)
                assert ("5 of 6", "Valid participants") in figures
                assert ("1", "Excluded") in figures
                # 1 valid person is missing, of 6 who finished 1 is excluded: 1 / (5/6), rounded up to 2
                assert "<strong>2</strong>" in page

    run(visit)


def test_more_places_let_more_people_in(tmp_path: Path) -> None:
    """Places are changed after a confirmation only, and newcomers find them."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 6, careless=0)
            assert app.flow.next_step(app.flow.arrive("late")).kind == "full"
            async with researcher(app) as browser:
                refused = await act(browser, "/researcher/places/1", "/researcher/places/1", places="5")
                assert refused.status_code == 422
                assert app.store.loads()["1"].places == 3
                for bad in ("-1", "x", "", "9999999", "１"):
                    form = {"places": bad, "confirmed": "yes"}
                    assert (
                        await act(browser, "/researcher/places/1", "/researcher/places/1", **form)
                    ).status_code == 422
                page = await act(browser, "/researcher/places/1", "/researcher/places/1", places="5", confirmed="yes")
                assert page.url.path == "/researcher"
                assert app.store.loads()["1"].places == 5
                assert (await browser.get("/researcher/places/nowhere")).status_code == 404
            assert app.flow.next_step(app.flow.arrive("late")).kind == "consent"
            answer_by_rule(app, 8, careless=0)
            assert [load.valid for load in app.store.loads().values()] == [5, 3]
            assert ("set_places") in acted(app)

    run(visit)


def test_excluding_and_taking_back_by_hand(tmp_path: Path) -> None:
    """Both need a reason; the place is free at once; no rule undoes what was decided by hand."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 6, careless=6)
            app.flow.exclusion_rules.apply()
            careless = next(one.participant_id for one in app.store.people() if one.state is State.EXCLUDED)
            good = next(one.participant_id for one in app.store.people() if one.state is State.FINISHED)
            async with researcher(app) as browser:
                back, out = f"/researcher/participants/{careless}", f"/researcher/participants/{good}"
                assert (await act(browser, back, back, reason=" ")).status_code == 422
                assert state_of(app, careless) is State.EXCLUDED
                await act(browser, back, back, reason="wrote that the screen froze")
                assert state_of(app, careless) is State.ACCEPTED
                app.flow.exclusion_rules.apply()
                assert state_of(app, careless) is State.ACCEPTED
                free = sum(load.free for load in app.store.loads().values())
                _, fields = form_of((await browser.get(out)).text, 0)
                await browser.post(out, data=fields | {"to": "excluded", "reason": XSS})
                assert state_of(app, good) is State.EXCLUDED
                assert sum(load.free for load in app.store.loads().values()) == free + 1
                app.flow.exclusion_rules.apply()
                assert state_of(app, good) is State.EXCLUDED
                page = (await browser.get("/researcher/exclusions")).text
                assert "<script>alert" not in page
                assert "excluded by hand" in page
                assert "failed_catch(items=catch,expected=5)" in page
                assert (await browser.post(out, data=fields | {"to": "invited"})).status_code == 409
            assert acted(app).count("change_state") == 2

    run(visit)


def test_returned_places_are_free_at_once(tmp_path: Path) -> None:
    """Somebody who is at it and returns on the platform leaves a free place within the minute (S17)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            who = app.flow.arrive("5f1e2d3c4b5a69788796a5b4")
            app.flow.record_consent(who, agreed=True)
            app.flow.record_about_you(who, {"native_speaker": "yes", "age": "30"}, client_key="about-key")
            app.store.change_state(who, State.QUALIFIED, reason="test")
            app.flow.begin_trials(who)
            app.store.take_place(who)
            assert sum(load.active for load in app.store.loads().values()) == 1
            async with researcher(app) as browser:
                path = f"/researcher/participants/{who}"
                _, fields = form_of((await browser.get(path)).text, 0)
                page = await browser.post(path, data=fields | {"to": "returned"})
                assert "The participant&#39;s state was changed." in page.text
            assert sum(load.active for load in app.store.loads().values()) == 0
            assert state_of(app, who) is State.RETURNED

    run(visit)


def test_forget_asks_for_the_pseudonym(tmp_path: Path) -> None:
    """Nothing is deleted until the pseudonym is typed; then no file of the study holds the platform id."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 2)
            app.store.backup()
            who = app.store.find(f"5f{0:022x}")
            assert who is not None
            async with researcher(app) as browser:
                path = f"/researcher/participants/{who}/forget"
                assert (await act(browser, path, path, typed="something")).status_code == 422
                assert app.store.find(f"5f{0:022x}") == who
                page = await act(browser, path, path, typed=who[:8])
                assert "was deleted" in page.text
            assert app.store.find(f"5f{0:022x}") is None
        stored = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
        assert f"5f{0:022x}".encode() not in stored
        assert f"5f{1:022x}".encode() in stored

    run(visit)


def test_status_is_changed_after_a_confirmation(tmp_path: Path) -> None:
    """Pause and close ask first; newcomers then see the study's own text."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as browser:
                for to in ("paused", "closed", "running"):
                    assert 'name="confirmed"' not in (await browser.get("/researcher/status")).text
                    page = await act(browser, f"/researcher/status?to={to}", "/researcher/status")
                    assert app.store.read(study_status) == to
                    assert page.url.path == "/researcher/status"
                    door = app.flow.next_step(app.flow.arrive(f"new-{to}")).kind
                    assert door == ("consent" if to == "running" else "closed")
                _, fields = form_of((await browser.get("/researcher/status")).text, 0)
                assert (await browser.post("/researcher/status", data=fields | {"to": "closed"})).status_code == 422
            assert app.store.read(study_status) == "running"
            assert acted(app).count("set_status") == 3

    run(visit)


def test_links_are_shown_once(tmp_path: Path) -> None:
    """Lab links appear in the answer to the form, can be fetched as a file once, and lead into the study."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as browser:
                page = await act(browser, "/researcher/invitations", "/researcher/invitations", n="3")
                links = re.findall(r"<code dir=\"ltr\">([^<]*/t/[^<]*)</code>", page.text)
                assert len(set(links)) == 3
                action, fields = form_of(page.text, 1)
                assert action == "/researcher/invitations/file"
                file = await browser.post(action, data=fields)
                assert file.text.split() == links
                assert "attachment" in file.headers["content-disposition"]
                assert (await browser.post(action, data=fields)).status_code == 404
                for bad in ("0", "1001", "x", "", "-3"):
                    found = await act(browser, "/researcher/invitations", "/researcher/invitations", n=bad)
                    assert found.status_code == 422
                assert links[0].rpartition("/")[2] not in (await browser.get("/researcher/log")).text
                who = app.store.read(participant_of_token, links[0].rpartition("/")[2])
                assert who is not None
            assert len(app.store.people()) == 3

    run(visit)


def test_the_last_ten_files_of_links_are_kept(tmp_path: Path) -> None:
    """Of eleven files that were not fetched, the first is gone; the second is sent for one request."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as browser:
                forms = []
                for _ in range(11):
                    page = await act(browser, "/researcher/invitations", "/researcher/invitations", n="1")
                    forms.append(form_of(page.text, 1))
                sent = [await browser.post(action, data=fields) for action, fields in (*forms[:2], forms[1])]
                assert [file.status_code for file in sent] == [404, 200, 404]

    run(visit)


def test_the_export_is_a_zip_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The zip holds every table under pseudonyms only, and its temporary folder is gone afterwards."""
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))

    async def visit() -> None:
        with running(tmp_path / "study") as app:
            answer_by_rule(app, 4, comment=f"my id is 5f{1:022x}")
            async with researcher(app) as browser:
                sent = await act(browser, "/researcher/export", "/researcher/export")
                assert sent.headers["content-type"] == "application/zip"
                with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
                    names = archive.namelist()
                    assert "made/responses.parquet" in names
                    assert "made/export.json" in names
                    assert all(name.startswith("made/") for name in names)
                    for name in names:
                        assert b"5f0000000000" not in archive.read(name), name
                page = (await browser.get("/researcher/export")).text
                assert "responses.parquet" in page
            assert list(room.iterdir()) == []
            assert "export" in acted(app)

    run(visit)


def test_what_people_write_is_escaped_and_without_ids(tmp_path: Path) -> None:
    """Script in a comment is text on every page; an id that somebody pasted into a comment is taken out (W7, W15)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 2, comment=f"{XSS} 5f{1:022x}")
            async with researcher(app) as browser:
                page = (await browser.get("/researcher/comments")).text
                assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
                assert "<script>alert" not in page
                assert "<img" not in page
                assert "{{7*7}}" in page
                assert f"5f{1:022x}" not in page
                assert "[platform id removed]" in page
                for path in (
                    f"/participants?q={XSS}&state={XSS}",
                    f"/items?q={XSS}",
                    f"/?said={XSS}",
                    f"/status?to={XSS}",
                ):
                    assert "<script>alert" not in (await browser.get(f"/researcher{path}")).text

    run(visit)


def test_the_log_is_verified(tmp_path: Path) -> None:
    """The button checks the whole store; once an edited entry was found, no page is served and nothing is saved."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 1)
            async with researcher(app) as browser:
                good = await act(browser, "/researcher/log", "/researcher/log")
                assert "answers were checked" in good.text
                assert "verify" in acted(app)
                with app.store._database.write.begin() as connection:
                    connection.exec_driver_sql("UPDATE audit_head SET entries = entries + 1")
                bad = await act(browser, "/researcher/log", "/researcher/log")
                assert bad.status_code == 503
                assert (await browser.get("/health")).json()["saving"] is False

    run(visit)


def test_rules_are_applied_on_request(tmp_path: Path) -> None:
    """The page says when the rules were applied; the button applies them, and is in the log."""

    async def visit() -> None:
        with running(tmp_path) as app:
            answer_by_rule(app, 6, careless=3)
            async with researcher(app) as browser:
                assert "not applied since" in (await browser.get("/researcher/exclusions")).text
                page = await act(browser, "/researcher/exclusions", "/researcher/exclusions")
                assert "last applied at" in page.text
                assert sum(one.state is State.EXCLUDED for one in app.store.people()) == 2
            assert "judge" in acted(app)

    run(visit)


def test_spanish_pages_are_spanish(tmp_path: Path) -> None:
    """With a Spanish browser no text of the program that is longer than a word is left in English."""

    async def visit() -> None:
        with running(tmp_path, made_definition(language="es")) as app:
            answer_by_rule(app, 4)
            app.flow.exclusion_rules.apply()
            spanish = read_po((LOCALE / "es/LC_MESSAGES/messages.po").open("rb"), locale="es")
            english = [str(one.id) for one in spanish if " " in str(one.id) and "%(" not in str(one.id)]
            assert len(english) > 100
            async with researcher(app, headers={"accept-language": "es-ES,es;q=0.9"}) as browser:
                for path in (*PAGES, "/places/1", f"/participants/{app.store.people()[0].participant_id}"):
                    page = html.unescape((await browser.get(f"/researcher{path}")).text)
                    assert '<html lang="es"' in page
                    assert [text for text in english if text in page] == [], path

    run(visit)


def test_an_unforeseen_error_shows_nothing_of_the_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No stack trace, no path; a reference that the log has (W17)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as browser:
                monkeypatch.setattr(type(app.store), "health", lambda _self: 1 / 0)
                page = await browser.get("/researcher/status")
                assert page.status_code == 500
                assert "ZeroDivision" not in page.text
                assert "Traceback" not in page.text

    run(visit)


def test_every_action_has_its_own_address() -> None:
    """No address takes both, and every one names who may use it."""
    assert {one.methods for one in ADMIN_ROUTES} == {("GET",), ("POST",)}
    assert {one.role for one in ADMIN_ROUTES} == {"everyone", "researcher"}
    assert sum(one.role == "everyone" for one in ADMIN_ROUTES) == 4
