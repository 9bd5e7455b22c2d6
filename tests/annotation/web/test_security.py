"""Web security of the participants' side (reliability.md W3 to W20), over the real application."""

from __future__ import annotations

import logging
import random
import secrets
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.store.overview import study_status
from lexiscope.annotation.study_file.definition import Platform
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import RateLimit, Refused, ServerSettings
from lexiscope.annotation.web.server import ROUTES
from lexiscope.core.errors import InputError

from .made_web import JSON, ORIGIN, SHORT, Person, client, form_of, visit
from .test_flow import right


async def at_trial(
    app: App, browser: httpx.AsyncClient, platform_id: str = "5f1e2d3c4b5a69788796a5b4"
) -> httpx.Response:
    """Go to the first trial."""
    person = Person(browser, app.study, right)
    page = await person.go_on(await person.arrive(platform_id), consent="yes")
    return await person.go_on(page)


def addresses() -> list[tuple[str, str, str]]:
    """Every route with its parameters filled in: method, path, role."""
    filled = {"{phase}": "trials", "{position}": "0", "{token}": "x" * 43, "{name}": "app.css"}
    found = []
    for route in ROUTES:
        path = route.path
        for name, value in filled.items():
            path = path.replace(name, value)
        found += [(method, path, route.role) for method in route.methods]
    return found


def test_every_route_against_every_role(tmp_path: Path) -> None:
    """W5: nobody without a session gets a 2xx from a participant's route, nor does a forged or a foreign cookie."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        await at_trial(app, browser)
        real = browser.cookies["participant"]
        forged = real[:-3] + ("abc" if real[-3:] != "abc" else "xyz")
        for cookie in ("", forged, real.split(".")[0], "p" + secrets.token_hex(16)):
            async with client(app) as stranger:
                stranger.cookies.set("participant", cookie)
                stranger.follow_redirects = False
                for method, path, role in addresses():
                    answer = await stranger.request(method, path, headers=JSON)
                    assert role == "everyone" or answer.status_code == 401, (method, path, answer.status_code)
        assert {role for _, _, role in addresses()} <= {"everyone", "participant"}

    visit(tmp_path, steps, **SHORT)


def test_one_participant_cannot_reach_another(tmp_path: Path) -> None:
    """W5, W12: addresses hold no participant: a session reaches its own trials only; extra fields do nothing."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        page = await at_trial(app, browser)
        async with client(app) as other:
            theirs = await at_trial(app, other, "6f1e2d3c4b5a69788796a5b4")
            _, their_fields = form_of(theirs.text)
        action, fields = form_of(page.text)
        answer = {"value-trials-0": "3"}
        stolen = await browser.post(action, data=fields | answer | {"csrf": their_fields["csrf"]}, headers=JSON)
        assert stolen.status_code == 403
        extra = {"participant_id": "p0", "list_id": "2", "position": "4", "code": "DONE1", "state": "finished"}
        done = await browser.post(action, data=fields | answer | extra, headers=JSON)
        assert done.status_code == 200
        people = {one.participant_id: one for one in app.store.people()}
        assert sorted(one.n_answered for one in people.values()) == [0, 1]
        assert {str(one.state) for one in people.values()} == {"active"}

    visit(tmp_path, steps, **SHORT)


@pytest.mark.parametrize(
    "change",
    [
        {"csrf": ""},
        {"csrf": "0" * 64},
        {"headers": {"origin": "https://evil.example"}},
        {"headers": {"origin": "null", "sec-fetch-site": "cross-site"}},
        {"headers": {"sec-fetch-site": "cross-site"}},
    ],
)
def test_forms_of_others_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    """W6: without our token, or from another site, a form changes nothing."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        page = await at_trial(app, browser)
        action, fields = form_of(page.text)
        fields |= {"value-trials-0": "3"} | ({"csrf": str(change["csrf"])} if "csrf" in change else {})
        answer = await browser.post(action, data=fields, headers={**JSON, **change.get("headers", {})})  # type: ignore[dict-item]
        assert answer.status_code == 403
        assert app.store.people()[0].n_answered == 0

    visit(tmp_path, steps, **SHORT)


def test_a_get_changes_nothing(tmp_path: Path) -> None:
    """W6: reading every address again and again leaves answers, states and places as they are."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        await at_trial(app, browser)
        before = (app.store.people(), app.store.loads(), app.store.read(study_status))
        for _ in range(3):
            for method, path, _role in addresses():
                if method == "GET" and not path.startswith("/t/"):
                    assert (await browser.get(path)).status_code < 500
        assert (app.store.people(), app.store.loads(), app.store.read(study_status)) == before

    visit(tmp_path, steps, **SHORT)


def test_headers_stand_on_every_response(tmp_path: Path) -> None:
    """W8: a strict policy without inline code, no sniffing, no referrer, no framing, on pages, errors and files."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        await at_trial(app, browser)
        paths = [path for method, path, _ in addresses() if method == "GET"] + ["/nothing", "/trial/x/0", "/now/../.."]
        for path in paths:
            answer = await browser.get(path)
            policy = answer.headers["content-security-policy"]
            assert "unsafe" not in policy
            for part in ("object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "default-src 'none'"):
                assert part in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            kept = "max-age=31536000" in answer.headers["cache-control"]
            assert kept == path.startswith("/static/")
            assert "no-store" in answer.headers["cache-control"] or kept
        assert (await browser.get("/now", headers={"host": "evil.example"})).status_code == 400

    visit(tmp_path, steps, **SHORT)


def test_the_platform_id_leaves_the_address_and_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """W14: the id in the link becomes a cookie and a clean address; ids, answers and keys stand in no log line."""
    planted = "5f1e2d3c4b5a69788796a5b4"

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        first = await browser.get("/", params={"PROLIFIC_PID": planted}, follow_redirects=False)
        assert (first.status_code, first.headers["location"]) == (303, "/now")
        assert planted not in first.headers["set-cookie"]
        cookie = first.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        page = await at_trial(app, browser, planted)
        assert planted not in page.text
        await browser.get("/trial/nothing/9999999999999999999999")

    with caplog.at_level(logging.DEBUG, logger="lexiscope"):
        visit(tmp_path, steps, **SHORT)
    assert planted not in caplog.text


def test_server_settings_refuse_plain_http_in_public() -> None:
    """W4: cookies never travel in the clear: plain HTTP is for this machine only; HTTPS cookies are host-bound."""
    with pytest.raises(InputError, match="without encryption"):
        ServerSettings("http://study.example.org")
    with pytest.raises(InputError, match="without encryption"):
        ServerSettings("http://127.0.0.1:8000", host="0.0.0.0")
    with pytest.raises(InputError, match="not the address"):
        ServerSettings("study.example.org")
    assert ServerSettings("https://study.example.org", host="0.0.0.0").cookie("participant") == "__Host-participant"


def test_a_burst_is_slowed_down_and_a_typist_is_not(tmp_path: Path) -> None:
    """W13: a flood gets 429 with the seconds to wait; one answer every 150 ms never does."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        page = await at_trial(app, browser)
        action, fields = form_of(page.text)
        answers = [await browser.post(action, data=fields, headers=JSON) for _ in range(40)]
        slowed = [one for one in answers if one.status_code == 429]
        assert slowed
        assert all(int(one.headers["retry-after"]) >= 1 for one in slowed)
        assert slowed[0].json()["error"]["code"] == "too_many_requests"

    visit(tmp_path, steps, **SHORT)
    clock = iter(range(10_000))
    limit = RateLimit(burst=20, per_second=10, clock=lambda: next(clock) * 0.15)
    for _ in range(500):
        limit.take("typist")
    flood = RateLimit(burst=20, per_second=10, clock=lambda: 0.0)
    for _ in range(20):
        flood.take("x")
    with pytest.raises(Refused):
        flood.take("x")


def test_bodies_are_bounded_and_typed(tmp_path: Path) -> None:
    """S6, W18: what is too large, no form, of another type, off the scale, out of turn: 4xx, one shape, no row."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        page = await at_trial(app, browser)
        app.saves.burst, app.saves.per_second = 10**6, 1e6
        action, fields = form_of(page.text)
        bad: list[tuple[int, dict[str, str]]] = [
            (422, {"value-trials-0": "6"}),
            (422, {"value-trials-0": "2.5"}),
            (422, {"value-trials-0": "NaN"}),
            (422, {"value-trials-0": "9" * 400}),
            (422, {}),
            (422, {"value-trials-0": "3", "client_key": "short"}),
            (422, {"value-trials-0": "3", "client_key": "x" * 65}),
            (422, {"value-trials-0": "3", "supersedes": "-1"}),
            (422, {"value-trials-0": "3", "supersedes": "12"}),
            (413, {"value-trials-0": "3", "comment": "a" * 200_000}),
        ]
        for status, change in bad:
            answer = await browser.post(action, data=fields | change, headers=JSON)
            assert (answer.status_code, set(answer.json())) == (status, {"error"}), change
            assert set(answer.json()["error"]) == {"code", "field", "message", "reference"}
        good = fields | {"value-trials-0": "3"}
        for path, status in (("/trial/trials/1", 422), ("/trial/trials/99", 422), ("/trial/reveal/0", 422)):
            assert (await browser.post(path, data=good, headers=JSON)).status_code == status
        for path in ("/trial/nothing/0", "/trial/trials/-1", "/trial/trials/x"):
            assert (await browser.post(path, data=good, headers=JSON)).status_code == 404
        typed = await browser.post(action, content=b"{}", headers=JSON | {"content-type": "application/json"})
        assert typed.status_code == 415
        many = {f"f{n}": "1" for n in range(300)}
        assert (await browser.post(action, data=fields | many, headers=JSON)).status_code == 400
        assert app.store.people()[0].n_answered == 0

    visit(tmp_path, steps, **SHORT)


PIECES = (b"%00", b"%ff", b"&", b"=", b"%", b"value-trials-0=", b"\xff", b"csrf=", b"%ED%A0%80", b"a" * 300, b"1", b"-")
ODD = ("%00", "%ff", "..%2f", "9" * 40, "-1", "x", "%F0%9F%98%80", "' OR 1=1 --", "{{7*7}}", "<script>", "%0d%0aX: y")


def mutated(body: bytes, rng: random.Random) -> bytes:
    """A body with up to four random changes."""
    changed = bytearray(body)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed) + 1)
        changed[at : at + rng.randint(0, 5)] = rng.choice(PIECES)
    return bytes(changed)


def fuzz(tmp_path: Path, requests: int) -> None:
    """Send mutated bodies to every route that takes one, and odd addresses to the others."""
    rng = random.Random(1)
    headers = JSON | {"content-type": "application/x-www-form-urlencoded"}
    posts = [path for method, path, _ in addresses() if method == "POST"]
    gets = [path for method, path, _ in addresses() if method == "GET"]

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        page = await at_trial(app, browser)
        app.saves.burst, app.saves.per_second = 10**9, 1e9
        app.arrivals.burst, app.arrivals.per_second = 10**9, 1e9
        browser.follow_redirects = False
        _, fields = form_of(page.text)
        clean = str(httpx.QueryParams(fields | {"value-trials-0": "3", "consent": "yes"})).encode()
        for number in range(requests):
            if number % 3:
                path, body = rng.choice(posts), mutated(clean, rng)
                answer = await browser.post(path, content=body, headers=headers)
            else:
                path = rng.choice(gets).rpartition("/")[0] + "/" + rng.choice(ODD)
                body = f"?{rng.choice(['q', 'PROLIFIC_PID', 'SESSION_ID'])}={rng.choice(ODD)}".encode()
                answer = await browser.get(path + body.decode(), headers=JSON)
            assert answer.status_code < 500, (answer.status_code, path, body)
        people = app.store.people()
        stored = [row for one in people for row in app.store.answers_of(one.participant_id) if row["phase"] == "trials"]
        assert {row["value"] for row in stored} <= {1, 2, 3, 4, 5}
        assert app.store.verify().problems == ()

    visit(tmp_path, steps, **SHORT)


def test_mutated_requests_never_break_the_server(tmp_path: Path) -> None:
    """W18, W9: 1,200 requests with random changes: no 5xx, and nothing is stored that is not an answer on the scale."""
    fuzz(tmp_path, 1200)


@pytest.mark.soak
def test_seven_thousand_mutated_requests(tmp_path: Path) -> None:
    """W18, tier B: 7,000 requests, no 5xx."""
    fuzz(tmp_path, 7000)


def test_strange_participant_ids(tmp_path: Path) -> None:
    """S19, S20: an id that does not match, is a placeholder, too long or not printable is refused politely."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        for bad in ("{{%PROLIFIC_PID%}}", "x", "5" * 25, "5f1e2d3c4b5a69788796a5b\x00", "a" * 5000, "‮abc"):
            answer = await browser.get("/", params={"PROLIFIC_PID": bad})
            assert answer.status_code == 422, bad
        missing = await browser.get("/")
        assert 'name="participant"' in missing.text
        person = Person(browser, app.study)
        typed = await person.go_on(missing, participant="5f1e2d3c4b5a69788796a5b4")
        assert 'name="consent"' in typed.text
        assert [one.state for one in app.store.people()] == ["invited"]

    visit(tmp_path, steps, platform=Platform(pattern="[0-9a-f]{24}"))


def test_an_unknown_error_says_nothing_of_the_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """W17: a fault of ours is a 500 with a reference that stands in the log; no trace, path or SQL in the page."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        await at_trial(app, browser)

        def broken(*_: object) -> None:
            raise ZeroDivisionError("SELECT secret FROM /etc")

        monkeypatch.setattr(type(app.flow), "trial_to_show", broken)
        transport = browser._transport
        transport.raise_app_exceptions = False  # type: ignore[attr-defined]
        answer = await browser.get("/trial/trials/0")
        assert answer.status_code == 500
        for inside in ("SELECT", "ZeroDivision", "Traceback", "site-packages", str(tmp_path)):
            assert inside not in answer.text
        assert "content-security-policy" in answer.headers

    visit(tmp_path, steps, **SHORT)


def test_the_way_back_is_the_researchers_only(tmp_path: Path) -> None:
    """W20: where the last page leads stands in the definition; no parameter of a request changes it."""

    async def steps(app: App, browser: httpx.AsyncClient) -> None:
        person = Person(browser, app.study, right)
        page = await browser.get(
            "/", params={"PROLIFIC_PID": "5" * 24, "return_url": "https://evil.example", "cc": "X"}
        )
        end = await person.whole_way(page)
        assert "https://platform.example/done?cc=DONE1" in end.text
        assert "evil.example" not in end.text

    visit(tmp_path, steps, platform=Platform(return_url="https://platform.example/done?cc={code}"), **SHORT)


def test_the_origin_of_the_tests_is_loopback() -> None:
    """The servers under test stand on this machine."""
    assert ServerSettings(ORIGIN).secure is False
