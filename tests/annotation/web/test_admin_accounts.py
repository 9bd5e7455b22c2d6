"""How researchers get in and stay in: set-up link, passwords, brute force, sessions, form tokens (W1-W6)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lexiscope.annotation.store.accounts import password_hash
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.schema import ATTEMPTS
from lexiscope.annotation.web.admin.accounts import make_setup_link
from lexiscope.annotation.web.admin.dashboard import FailedAttempts
from lexiscope.annotation.web.admin.passwords import LONGEST, password_fault
from lexiscope.annotation.web.admin.routes import ADMIN_ROUTES
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import Refused, ServerSettings

from .made_admin import (
    NAME,
    PASSWORD,
    admin_browser,
    dashboard_of,
    log_in,
    researcher,
    run,
    running,
    setup_path,
    with_account,
)
from .made_web import ORIGIN, form_of


def actions(app: App) -> list[tuple[str, str]]:
    """Actor and action of the log, oldest first."""
    return [(one.actor, one.action) for one in reversed(app.store.audit_entries(limit=1000)[1])]


def test_no_account_before_the_set_up_link(tmp_path: Path) -> None:
    """There is no default account: the link makes the first one, once, and only when a password is taken (W2)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with admin_browser(app) as browser:
                for name, password in (("admin", "admin"), ("admin", ""), ("", ""), ("lexiscope", "lexiscope")):
                    assert (await log_in(browser, password, name)).status_code == 401
                path = setup_path(app)
                page = await browser.get(path)
                assert (await browser.get(path)).status_code == 200, "looking does not use it up"
                _, fields = form_of(page.text)
                weak = await browser.post(
                    path, data=fields | {"name": NAME, "password": "password1", "again": "password1"}
                )
                assert weak.status_code == 422
                given = {"name": NAME, "password": PASSWORD, "again": PASSWORD}
                done = await browser.post(path, data=fields | given)
                assert done.url.path == "/researcher/login"
                again = await browser.post(path, data=fields | given | {"name": "other"})
                assert again.status_code == 403
                assert app.store.read(password_hash, "other") is None
                stored = app.store.read(password_hash, NAME)
                assert stored is not None
                assert stored.startswith("$argon2id$")
                assert (await log_in(browser)).url.path == "/researcher"

    run(visit)


def test_a_set_up_link_lasts_a_day(tmp_path: Path) -> None:
    """The secret has 256 bits; after 24 hours, or once a newer link is made, it opens nothing."""
    with running(tmp_path) as app:
        old = make_setup_link(app.store, app.settings, now=datetime.now(UTC) - timedelta(hours=24, seconds=1))
        secret = old.rpartition("/")[2]
        assert len(secret) * 6 >= 256

        async def visit() -> None:
            async with admin_browser(app) as browser:
                given = {"name": NAME, "password": PASSWORD, "again": PASSWORD}
                first = setup_path(app)
                newer = setup_path(app)
                for path, status in ((old.removeprefix(ORIGIN), 403), (first, 403), (newer, 200)):
                    _, fields = form_of((await browser.get(path)).text)
                    assert (await browser.post(path, data=fields | given)).status_code == status

        run(visit)


@pytest.mark.parametrize(
    ("password", "fault"),
    [
        ("short12", "password_short"),
        ("x" * (LONGEST + 1), "password_long"),
        ("Passw0rd!!", "password_common"),
        ("qwertyuiop", "password_common"),
        ("!!letmein!!", "password_common"),
        ("made-ana-1", "password_names"),
        ("aaaaaaaaaaaa", "password_pattern"),
        ("abcabcabcabc", "password_pattern"),
        ("12345678987654321", "password_pattern"),
        ("poiuytrewq", "password_pattern"),
        ("tandem kelp 44 orbit", ""),
        ("kq8#vZp2", ""),
        ("é" * 3 + "ß unter dem Tor" * 8, ""),
    ],
)
def test_passwords(password: str, fault: str) -> None:
    """Too short, long, common, the study's own name, repetitions and runs are refused; 128 characters are fine."""
    assert password_fault(password, study="made", name="ana") == fault


def test_brute_force(tmp_path: Path) -> None:
    """Of 1,000 bad logins ten a minute are checked; then 429, for the right password too; a minute later it works."""

    async def visit() -> None:
        with running(tmp_path) as app:
            with_account(app)
            now = [datetime(2026, 3, 1, 12, tzinfo=UTC)]
            dashboard = dashboard_of(app)
            dashboard.failures = FailedAttempts(app.store, clock=lambda: now[0])
            async with admin_browser(app, dashboard) as browser:
                _, fields = form_of((await browser.get("/researcher/login")).text)
                bad = fields | {"name": NAME, "password": "wrong"}
                answers = [await browser.post("/researcher/login", data=bad) for _ in range(1000)]
                assert [one.status_code for one in answers].count(401) == 10
                assert {one.status_code for one in answers[10:]} == {429}
                assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
                assert (await log_in(browser)).status_code == 429
                now[0] += timedelta(seconds=61)
                assert (await log_in(browser)).url.path == "/researcher"
            assert actions(app).count((NAME, "login failed")) == 10
            assert actions(app)[-1] == (NAME, "login")

    run(visit)


def test_attempts_at_once_count(tmp_path: Path) -> None:
    """Fifty wrong passwords sent at the same moment are not more than ten."""

    async def visit() -> None:
        with running(tmp_path) as app:
            with_account(app)
            async with admin_browser(app) as browser:
                _, fields = form_of((await browser.get("/researcher/login")).text)
                bad = fields | {"name": NAME, "password": "wrong"}
                found = await asyncio.gather(*(browser.post("/researcher/login", data=bad) for _ in range(50)))
                assert [one.status_code for one in found].count(401) == 10

    run(visit)


def test_what_is_typed_as_a_name_is_not_logged(tmp_path: Path) -> None:
    """People type passwords into the field for the name: the log says that the account is unknown."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with admin_browser(app) as browser:
                assert (await log_in(browser, "x", "my-secret-password")).status_code == 401
            assert actions(app)[-1] == ("unknown account", "login failed")

    run(visit)


def test_a_session_is_dead_after_logout(tmp_path: Path) -> None:
    """The cookie is HttpOnly and SameSite=Strict; replayed after the logout it opens nothing (W4)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            with_account(app)
            async with admin_browser(app) as browser:
                _, fields = form_of((await browser.get("/researcher/login")).text)
                sent = {"name": NAME, "password": PASSWORD}
                page = await browser.post("/researcher/login", data=fields | sent, follow_redirects=False)
                cookie = page.headers["set-cookie"]
                assert "HttpOnly" in cookie
                assert "SameSite=strict" in cookie
                value = browser.cookies["researcher"]
                token = value.partition(".")[0]
                assert len(token) * 6 >= 128
                folder = b"".join(path.read_bytes() for path in tmp_path.glob("*.sqlite*"))
                assert token.encode() not in folder, "only the hash is stored"
                out, fields = form_of((await browser.get("/researcher")).text, 0)
                assert out == "/researcher/logout"
                assert (await browser.post(out, data=fields)).url.path == "/researcher/login"
                browser.cookies.set("researcher", value)
                replayed = await browser.get("/researcher", follow_redirects=False)
                assert (replayed.status_code, replayed.headers["location"]) == (303, "/researcher/login")
                assert (await browser.post(out, data=fields)).status_code == 401

    run(visit)


def test_each_login_is_a_new_session(tmp_path: Path) -> None:
    """Two logins have different tokens; a changed password ends both."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as one, admin_browser(app) as other:
                await log_in(other)
                assert one.cookies["researcher"] != other.cookies["researcher"]
                with_account(app)
                for browser in (one, other):
                    assert (await browser.get("/researcher")).url.path == "/researcher/login"

    run(visit)


@pytest.mark.parametrize(
    ("hours", "step", "alive"), [(1.9, 1.9, True), (2.1, 2.1, False), (11.9, 1.7, True), (12.1, 1.1, False)]
)
def test_a_session_ends_by_itself(tmp_path: Path, hours: float, step: float, *, alive: bool) -> None:
    """It lasts twelve hours in use, and two without; pages that are looked at meanwhile renew it."""

    async def visit() -> None:
        with running(tmp_path) as app:
            with_account(app)
            began = datetime.now(UTC)
            now = [began]
            app.store._clock = lambda: now[0]
            dashboard = dashboard_of(app)
            object.__setattr__(dashboard.sessions, "clock", lambda: now[0])
            async with admin_browser(app, dashboard) as browser:
                await log_in(browser)
                while now[0] < began + timedelta(hours=hours):
                    now[0] = min(now[0] + timedelta(hours=step), began + timedelta(hours=hours))
                    page = await browser.get("/researcher")
                assert (page.url.path == "/researcher") is alive

    run(visit)


def test_every_address_but_the_doors_asks_for_a_session(tmp_path: Path) -> None:
    """Nobody, a participant and somebody with a forged cookie see no page and do nothing (W5)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with admin_browser(app) as browser:
                who = app.store.invite("5f1e2d3c4b5a69788796a5b4")
                forged = app.keys.sign(who)
                for cookie in ("", forged, f"{who}.1.{app.keys.form_token(who)}", "a.b.c", "..", "x" * 4000):
                    browser.cookies.clear()
                    browser.cookies.set("participant", forged)
                    browser.cookies.set("researcher", cookie)
                    for one in ADMIN_ROUTES:
                        if one.role == "everyone":
                            continue
                        path = one.path.replace("{who}", who).replace("{number}", "1").replace("{list_id}", "1")
                        found = await browser.request(one.methods[0], path, follow_redirects=False)
                        assert found.status_code in (303, 401), (one.path, cookie)
                        assert found.headers.get("location", "/researcher/login") == "/researcher/login"

    run(visit)


def test_forms_of_other_pages_change_nothing(tmp_path: Path) -> None:
    """Without the form token of this session, or sent from elsewhere, every action is refused (W6)."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as browser:
                before = actions(app)
                _, fields = form_of((await browser.get("/researcher")).text, 0)
                posts = [one.path for one in ADMIN_ROUTES if one.methods == ("POST",)]
                who = app.store.invite("5f1e2d3c4b5a69788796a5b4")
                bad: list[tuple[dict[str, str], dict[str, str]]] = [
                    ({}, {}),
                    ({"csrf": app.keys.form_token(who)}, {}),
                    ({"csrf": "é"}, {}),
                    (fields, {"origin": "https://elsewhere.example"}),
                    (fields, {"sec-fetch-site": "cross-site"}),
                ]
                for path in posts:
                    address = path.replace("{who}", who).replace("{number}", "1").replace("{secret}", "s")
                    for data, headers in bad:
                        found = await browser.post(address, data=data or {"x": "1"}, headers=headers)
                        assert found.status_code == 403, (path, data, headers)
                assert actions(app) == before

    run(visit)


def test_the_cookie_is_bound_to_the_host_over_https(tmp_path: Path) -> None:
    """Over HTTPS the cookie is Secure and has the prefix that binds it to this host."""

    async def visit() -> None:
        with running(tmp_path) as app:
            with_account(app)
            app.settings = ServerSettings("https://study.example.org")
            async with admin_browser(app) as browser:
                browser.base_url = "https://study.example.org"  # type: ignore[assignment]
                page = await browser.get("/researcher/login")
                _, fields = form_of(page.text)
                sent = {"name": NAME, "password": PASSWORD}
                entered = await browser.post("/researcher/login", data=fields | sent, follow_redirects=False)
                cookie = entered.headers["set-cookie"]
                assert cookie.startswith("__Host-researcher=")
                assert "Secure" in cookie
                assert "Path=/" in cookie

    run(visit)


def test_failures_are_counted_by_key(tmp_path: Path) -> None:
    """Ten of one key do not stop another, and an attempt that was right does not count; no key is stored."""
    now = [datetime(2026, 3, 1, 12, tzinfo=UTC)]
    with running(tmp_path) as app:
        failures = FailedAttempts(app.store, clock=lambda: now[0])
        for _ in range(30):
            failures.forget(failures.begin("ana 203.0.113.9"))
        for _ in range(10):
            failures.begin("ana 203.0.113.9")
            now[0] += timedelta(seconds=2)
        with pytest.raises(Refused) as refused:
            failures.begin("ana 203.0.113.9")
        assert refused.value.retry_after == 40
        failures.begin("ben 203.0.113.9")
        assert not any(b"203.0.113.9" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        # the first of them is a minute old, and what is older is removed
        now[0] += timedelta(seconds=40)
        failures.begin("ana 203.0.113.9")
        kept = app.store.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(ATTEMPTS)).scalar_one())
        assert kept == 11
