"""reliability.md S20: whatever people type is stored as sent, or refused; exports give it back; pages show it."""

from __future__ import annotations

import asyncio
import csv
import json
import secrets
from collections.abc import Awaitable, Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.record import AnswerRefused
from lexiscope.annotation.study_file.definition import AboutYou, CatchSection, DesignSection, StudyDefinition
from lexiscope.annotation.web.admin.summary import read_collected
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.pages import Pages
from lexiscope.annotation.web.security import RateLimit, ServerSettings
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.screen import Shown
from lexiscope.core.usage import Usage
from lexiscope.items.tables.spreadsheet import is_live, neutral_text

from .made_web import JSON, Person, client, form_of, made_definition, running
from .test_security import addresses

URLENCODED = JSON | {"content-type": "application/x-www-form-urlencoded"}
PLATFORM_ID = "5f1e2d3c4b5a69788796a5b4"
LIVE = ("=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\uff1d1", " =HYPERLINK(1)", "\u200b=1", "\r=1", "\u2212x")
ODD = (
    "\u202eabc\u202c",
    "\u2067x\u2069",
    "👩‍👩‍👧",
    "e\u0301",
    "é",
    "\U0010ffff",
    "\ufeff.",
    "'); --",
    "a\x00b",
    "a\r\nb\rc\nd",
    "\u2028x\u2029",
    "\x1b[31m",
    "{{7*7}}",
    "<script>alert(1)</script>",
    '"",\n"',
    "\ufffd",
    "\ufdd0",
    *LIVE,
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40),
    st.text(st.sampled_from("\u202a\u202e\u2066\u2069\u200d\u200e\u200f\u0301\u0308אשعم😀\U0001f1e6 =-"), min_size=1),
    st.sampled_from(ODD),
)


def _linked(number: int, after: str = " at night.") -> Item:
    """A sentence whose word is linked by a free text; made for this test."""
    text = f"They flew over Springfield {number}{after}"
    return Item(f"i{number:04}", "made", (Usage(text, 15, 26, lemma="Springfield", language="en"),))


def _definition(folder: Path, **changed: object) -> StudyDefinition:
    (folder / "entities.tsv").write_text("id\ttitle\taliases\tdescription\nE1\tOne\t\tx\n", encoding="utf-8")
    short = {"qualification": (), "practice": (), "about_you": (), "attention": (), "exclusions": ()}
    fixed = {"design": DesignSection(lists=1, confusion=()), "catch": CatchSection(per_list=0)}
    return made_definition(**(short | fixed | changed))


@pytest.fixture
def linking(tmp_path: Path) -> Iterator[App]:
    """A study of free texts with more trials than this test has cases, without a limit on speed."""
    definition = _definition(tmp_path, task="entity_link", search=str(tmp_path / "entities.tsv"))
    with running(tmp_path / "study", definition, tuple(_linked(n) for n in range(400))) as app:
        app.saves = app.arrivals = RateLimit(burst=10**9, per_second=1e9)
        yield app


def visit(app: App, steps: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
    """Run the steps of one browser."""

    async def run() -> None:
        async with client(app) as browser:
            await steps(browser)
        await asyncio.gather(*app.tasks)

    asyncio.run(run())


async def first_trial(app: App, browser: httpx.AsyncClient) -> httpx.Response:
    """Go to the first trial."""
    person = Person(browser, app.study)
    return await person.go_on(await person.go_on(await person.arrive(PLATFORM_ID), consent="yes"))


def encoded(fields: dict[str, str]) -> bytes:
    """A form as a browser sends it; halves of surrogate pairs go as a careless client encodes them."""
    return "&".join(
        f"{name}={quote(value, errors='surrogatepass', safe='')}" for name, value in fields.items()
    ).encode()


def as_stored(text: str) -> str:
    """The one documented change: outer white space is no part of an answer, and a line ends in LF."""
    return text.replace("\r\n", "\n").strip()


def gathered(n: int) -> list[tuple[str, str, str]]:
    """Texts for an answer, its comment and the end of its item, as hypothesis finds them, and live cells."""
    cases: list[tuple[str, str, str]] = []

    @settings(max_examples=n, deadline=None, derandomize=True, database=None)
    @given(TEXTS, TEXTS, TEXTS)
    def gather(text: str, comment: str, item: str) -> None:
        # an item file is text: NUL ends no sentence
        cases.append((text, comment, item.replace("\x00", "")))

    gather()
    return [*cases, *((live, live, live) for live in LIVE)]


Sent = dict[str, tuple[str, str | None]]
"""What was stored, by item: answer and comment."""


async def answer_all(app: App, browser: httpx.AsyncClient, cases: list[tuple[str, str]], who: str) -> Sent:
    """Send texts and comments as the answers of one participant; return those that are stored."""
    person, sent = Person(browser, app.study), Sent()
    page = await person.go_on(await person.go_on(await person.arrive(who), consent="yes"))
    fields = {"csrf": form_of(page.text)[1]["csrf"]}
    plan = app.store.read(planned_trials, app.store.find(who) or "")
    for text, comment in cases:
        form = fields | {"text": text, "comment": comment, "client_key": f"case-{secrets.token_hex(8)}"}
        answer = await browser.post(f"/trial/trials/{len(sent)}", content=encoded(form), headers=URLENCODED)
        kept = as_stored(text), as_stored(comment) or None
        possible = bool(kept[0]) and "\x00" not in kept[0] + (kept[1] or "")
        assert answer.status_code == (200 if possible else 422), (answer.status_code, text, comment)
        if possible:
            sent[plan[len(sent)].item_id] = kept
    return sent


@pytest.mark.parametrize(
    ("n", "lists"), [(300, 1), pytest.param(5000, 20, marks=pytest.mark.soak)], ids=["fast", "soak"]
)
def test_answers_comments_and_items_come_back_from_the_export(tmp_path: Path, n: int, lists: int) -> None:
    """Hundreds of texts as answers, comments and items: stored as sent, but for outer white space and CR LF, or 422;
    exports give them back."""
    cases = gathered(n)
    items = tuple(_linked(number, item) for number, (_, _, item) in enumerate(cases))
    design = DesignSection(lists=lists, confusion=())
    definition = _definition(tmp_path, task="entity_link", search=str(tmp_path / "entities.tsv"), design=design)
    sent = Sent()
    with running(tmp_path / "study", definition, items) as app:
        app.saves = app.arrivals = RateLimit(burst=10**9, per_second=1e9)
        size = min(len(one) for one in app.study.design.lists)
        for number in range(lists):
            part = [(text, comment) for text, comment, _ in cases[number * size : (number + 1) * size]]

            async def steps(browser: httpx.AsyncClient, part: list[tuple[str, str]] = part, k: int = number) -> None:
                sent.update(await answer_all(app, browser, part, f"{k:024x}"))

            visit(app, steps)
        stored = {
            str(row["item_id"]): (row["text"], row["comment"])
            for one in app.store.people()
            for row in app.store.answers_of(one.participant_id)
        }
        assert stored == sent
        assert n * 0.8 < len(sent) < len(cases)
        source = read_collected(app.study, app.store, tables=app.store.responses_and_judgments())
        write_export(source, tmp_path / "export")
        assert app.store.verify().problems == ()
    _check_export(tmp_path / "export", sent)
    _check_items(tmp_path / "export", items)


def _check_items(folder: Path, items: tuple[Item, ...]) -> None:
    """Every text of an item is in the lossless file as it was, and in the CSV one as a text that is not run."""
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    texts = {item.item_id: item.usages[0].text for item in items}
    assert {row["item_id"]: row["sentence_1"] for row in map(json.loads, lines)} == texts
    with (folder / "items.csv").open(encoding="utf-8", newline="") as stream:
        cells = {row["item_id"]: row["sentence_1"] for row in csv.DictReader(stream)}
    assert cells == {item_id: neutral_text(text) for item_id, text in texts.items()}


def _check_export(folder: Path, sent: dict[str, tuple[str, str | None]]) -> None:
    lines = (folder / "judgments.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    rows = {row["item_id"]: row for row in map(json.loads, lines)}
    assert {item_id: (row["response_text"], row["comment"]) for item_id, row in rows.items()} == sent
    with (folder / "judgments.csv").open(encoding="utf-8", newline="") as stream:
        for cells in csv.DictReader(stream):
            text, comment = sent[cells["item_id"]]
            assert (cells["response_text"], cells["comment"]) == (neutral_text(text), neutral_text(comment or ""))
            assert not any(is_live(cell) for cell in (cells["response_text"], cells["comment"]))
    assert sum(text.startswith(("=", "+", "-", "@")) for text, _ in sent.values()) >= 4


@pytest.mark.parametrize("letter", ["a", "é", "字", "😀"])
@pytest.mark.parametrize(("length", "status"), [(10_000, 200), (10_001, 422)])
def test_long_comments_in_every_script(linking: App, letter: str, length: int, status: int) -> None:
    """10,000 characters of a comment are kept whole, whatever bytes they take; one more is refused, not cut."""

    async def steps(browser: httpx.AsyncClient) -> None:
        _, fields = form_of((await first_trial(linking, browser)).text)
        form = {"csrf": fields["csrf"], "client_key": "k" * 8, "text": "x", "comment": letter * length}
        answer = await browser.post("/trial/trials/0", content=encoded(form), headers=URLENCODED)
        assert answer.status_code == status

    visit(linking, steps)
    (person,) = linking.store.people()
    assert [row["comment"] for row in linking.store.answers_of(person.participant_id)] == (
        [letter * length] if status == 200 else []
    )


@pytest.mark.parametrize("name", ["text", "comment", "client_key", "csrf", "x\ud800"])
def test_bytes_that_are_no_text_are_refused(linking: App, name: str) -> None:
    """Halves of surrogate pairs and other bytes that are no UTF-8: 400 for the whole form, nothing is stored."""

    async def steps(browser: httpx.AsyncClient) -> None:
        _, fields = form_of((await first_trial(linking, browser)).text)
        form = {"csrf": fields["csrf"], "client_key": "k" * 8, "text": "x"}
        for bad in (b"%ED%A0%80", b"%ED%B0%80", b"%FF", b"%C0%80", b"%F4%90%80%80", "é".encode()):
            body = encoded({key: value for key, value in form.items() if key != name})
            body += b"&" + quote(name, errors="surrogatepass").encode() + b"=" + bad
            answer = await browser.post("/trial/trials/0", content=body, headers=URLENCODED)
            assert answer.status_code == 400, (name, bad)
            assert answer.json()["error"]["code"] == "unreadable"

    visit(linking, steps)
    assert linking.store.people()[0].n_answered == 0


def test_what_people_say_about_themselves(tmp_path: Path) -> None:
    """60 texts about the participant: stored as sent or 422; a number is a number in any script's digits."""
    asked = (
        AboutYou(measure="dialect", text="Your dialect?", kind="text"),
        AboutYou(measure="age", text="Your age?", kind="number", required=False, step=0.5),
    )
    numbers = ("30", "٣٠", "3,5", "nan", "inf", "1e999", "thirty", "-0", "३०", "")
    right = {"30": 30.0, "٣٠": 30.0, "3,5": 3.5, "-0": 0.0, "३०": 30.0, "": None}
    cases: list[str] = [*ODD, "x" * 1000, "x" * 1001]

    @settings(max_examples=30, deadline=None, derandomize=True, database=None)
    @given(TEXTS)
    def gather(text: str) -> None:
        cases.append(text)

    gather()
    with running(tmp_path / "study", _definition(tmp_path, about_you=asked)) as app:
        app.saves = app.arrivals = RateLimit(burst=10**9, per_second=1e9)
        for number, text in enumerate(cases):
            age = numbers[number % len(numbers)]

            async def steps(browser: httpx.AsyncClient, text: str = text, age: str = age, number: int = number) -> None:
                person = Person(browser, app.study)
                page = await person.go_on(await person.arrive(f"person{number}"), consent="yes")
                _, fields = form_of(page.text)
                form = fields | {"dialect-about": text, "age-about": age}
                answer = await browser.post("/about", content=encoded(form), headers=URLENCODED)
                who = app.store.find(f"person{number}") or ""
                stored = {row["measure"]: row["text"] or row["value"] for row in app.store.answers_of(who)}
                kept = text.strip()
                if not kept or "\x00" in kept or len(kept) > 1000:
                    assert (answer.status_code, stored) == (422, {}), text
                elif age in right:
                    assert answer.status_code == 200
                    assert (stored["dialect"], stored["age"] or 0.0) == (kept, right[age] or 0.0)
                else:
                    assert answer.status_code == 422, age
                    assert "age" not in stored

            visit(app, steps)


def test_participant_ids(linking: App) -> None:
    """Ids from a link are found again exactly as they came, or refused: those with invisible characters, and bytes that
    are no UTF-8, which would all be one id."""

    def is_good(text: str) -> bool:
        return bool(text) and text.isprintable() and "\ufffd" not in text and len(text) <= 200

    cases: list[str] = [
        *ODD,
        "\u202eabc",
        "a" * 200,
        "a" * 201,
        "字" * 200,
        "NFC é",
        "NFC e\u0301",
        "\ud800",
        "x\udfff",
    ]

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(st.text(min_size=1, max_size=30))
    def gather(text: str) -> None:
        cases.append(text)

    gather()
    good: set[str] = set()
    for text in cases:

        async def steps(browser: httpx.AsyncClient, text: str = text) -> None:
            value = quote(text, errors="surrogatepass", safe="")
            answer = await browser.get(f"/?PROLIFIC_PID={value}", follow_redirects=False)
            kept = text.strip()
            if not kept:
                assert (answer.status_code, 'name="participant"' in answer.text) == (200, True)
            elif is_good(kept) and not any("\ud800" <= each <= "\udfff" for each in kept):
                good.add(kept)
                assert answer.status_code == 303, text
            else:
                assert answer.status_code == 422, text

        visit(linking, steps)
    assert len(good) > 30
    found = {one: linking.store.find(one) for one in good}
    assert None not in found.values()
    assert len(set(found.values())) == len(good) == len(linking.store.people())


def test_an_id_that_cannot_be_stored_is_not_half_stored(linking: App) -> None:
    """What passes the door is what the store takes: refused ids leave no participant behind."""
    for bad in ("a\x00b", "a\ud800", "a" * 201, ""):
        with pytest.raises(AnswerRefused):
            linking.store.invite(bad)
    assert linking.store.people() == []


def test_every_text_says_its_encoding(linking: App) -> None:
    """ASVS 4.1.1, 3.4.2: every body has its type, every text is declared UTF-8, and no response opens itself to other
    sites."""

    async def steps(browser: httpx.AsyncClient) -> None:
        await first_trial(linking, browser)
        browser.follow_redirects = False
        paths = [path for method, path, _ in addresses() if method == "GET"]
        seen = set()
        for path in [*paths, "/nothing", "/trial/x/0", "/search?q=one", "/now"]:
            for accept in ("text/html", "application/json"):
                answer = await browser.get(path, headers={"accept": accept, "origin": "https://evil.example"})
                assert not [name for name in answer.headers if name.startswith("access-control-")]
                kind, _, rest = answer.headers.get("content-type", "").partition(";")
                assert kind or not answer.content, path
                # JSON is UTF-8 by its own standard
                assert "charset=utf-8" in rest or not kind.startswith("text/"), path
                seen.add(kind)
        assert {"text/html", "text/css", "application/json"} <= seen

    visit(linking, steps)


def test_https_is_remembered_by_browsers(linking: App) -> None:
    """ASVS 3.4.1, 3.3.1: over HTTPS every response asks for HTTPS for two years, and the cookie is Secure and bound to
    the host."""
    linking.settings = ServerSettings("https://words.example.org")

    async def steps(browser: httpx.AsyncClient) -> None:
        browser.base_url, browser.follow_redirects = "https://words.example.org", False  # type: ignore[assignment]
        for path in ("/", "/health", "/nothing", "/now", f"/?PROLIFIC_PID={PLATFORM_ID}"):
            answer = await browser.get(path)
            age = answer.headers["strict-transport-security"].partition("max-age=")[2]
            assert int(age.partition(";")[0]) >= 365 * 24 * 3600
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-participant=")
        assert {"Secure", "HttpOnly", "Path=/"} <= {part.strip() for part in cookie.split(";")}

    visit(linking, steps)


class Reader(HTMLParser):
    """Reads a page's texts with the ``dir`` of their element and the language that they are in."""

    VOID = frozenset({"input", "br", "hr", "img", "wbr", "meta", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[dict[str, str | None]] = []
        self.texts: list[tuple[str, str | None, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip():
            inside = list(reversed(self.open))
            direction = next((each["dir"] for each in inside if "dir" in each), None)
            self.texts.append((data, direction, next((each["lang"] for each in inside if "lang" in each), None)))


# people are not asked every task
ASKED = [name for name in catalog.names("tasks") if hasattr(catalog.module("tasks", name), "SCREEN")]


@pytest.mark.parametrize("task", ASKED)
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_stimulus_says_its_direction_and_language(task: str, language: str) -> None:
    """Every text of an item stands in an element with dir="auto" (bidi texts do not disturb their neighbours), and in
    one that names its language for screen readers."""
    screen, pages = catalog.screen(task), Pages()
    seen = 0
    for item in catalog.module("tasks", task).example_items(language):
        own = [usage.text for usage in item.usages] + [usage.target for usage in item.usages]
        own += [str(value) for name, value in item.conditions.items() if name in screen.requires]
        for view in screen.views:
            for shown in (Shown(view), Shown(view, revealed=True)):
                html = str(pages.stimulus(screen, item, shown, language))
                reader = Reader()
                reader.feed(f'<div class="stimulus" lang="{language}">{html}</div>')
                of_item = [each for each in reader.texts if any(each[0].strip() in text for text in own)]
                seen += len(of_item)
                for text, direction, lang in of_item:
                    assert (direction, lang) == ("auto", language), text
    # the word of an intrusion item is hidden, and finished texts are options: both show options only
    assert seen or task in ("word_intrusion", "minimal_pair")
