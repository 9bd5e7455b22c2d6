"""A small study of English words, and a participant who goes through its real server over ASGI."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    AboutYou,
    AboutYouOption,
    CatchSection,
    Codes,
    DesignSection,
    KnownQuestion,
    LeaseSection,
    Platform,
    RatingsSection,
    StudyDefinition,
    StudyTexts,
)
from lexiscope.annotation.study_file.freeze import FrozenStudy, freeze
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.annotation.web.server import create_app
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

ORIGIN = "http://127.0.0.1:8000"
JSON = {"accept": "application/json"}
"""How a script asks."""
SHORT: dict[str, object] = {"qualification": (), "practice": (), "about_you": ()}
"""Settings of a study in which the trials follow the instructions."""
QUALIFICATION = KnownQuestion(
    id="q1",
    shows={"target": "seal", "sentence_1": "The seal swam.", "sentence_2": "The seal of the letter broke."},
    accept=(1, 2),
)
PRACTICE = KnownQuestion(
    id="p1",
    shows={"target": "mine", "sentence_1": "The mine closed.", "sentence_2": "They left the mine."},
    accept=(5,),
    explanation="Both are places where coal is dug.",
)
ATTENTION = KnownQuestion(
    id="a1",
    shows={"target": "note", "sentence_1": "Please choose 2 for this note.", "sentence_2": "A note: choose 2."},
    accept=(2,),
)
NATIVE = AboutYou(
    measure="native_speaker",
    text="Is English your native language?",
    options=(AboutYouOption(value="yes", text="yes"), AboutYouOption(value="no", text="no")),
)
AGE = AboutYou(measure="age", text="How old are you?", kind="number", required=False)


def made_items(n: int = 6) -> tuple[Item, ...]:
    """Pairs of made sentences, two for each word."""
    items = []
    for number in range(n):
        word = f"word{number // 2}"
        texts = [f"Here is the {word} number {number}.", f"There stood a {word} of kind {number}."]
        usages = tuple(
            Usage(text, text.index(word), text.index(word) + len(word), lemma=word, language="en") for text in texts
        )
        items.append(Item(f"i{number}", "made", usages, conditions={"same_sense": number % 2 == 0}))
    return tuple(items)


def made_definition(**changed: object) -> StudyDefinition:
    """The definition of the small study; what is given replaces a setting."""
    values: dict[str, object] = {
        "name": "made",
        "task": "relatedness",
        "language": "en",
        "design": DesignSection(lists=2, balance=("same_sense",)),
        "ratings": RatingsSection(per_item=3),
        "catch": CatchSection(per_list=1),
        "about_you": (NATIVE, AGE),
        "qualification": (QUALIFICATION,),
        "practice": (PRACTICE,),
        "attention": (ATTENTION,),
        "exclusions": ("failed_catch(items=catch,expected=5)", "attention_check()"),
        "texts": StudyTexts(
            title="Words", consent="I **agree**.", instructions="Judge the words.", debrief="Thank you for this."
        ),
        "codes": Codes(completion="DONE1", screen_out="OUT1", no_consent="NO1"),
        "platform": Platform(kind="prolific"),
        "lease": LeaseSection(minutes=60),
        "ethics": "Board 1, 2026-01-01",
        "contact": "team@example.org",
    }
    return StudyDefinition(**(values | changed))  # type: ignore[arg-type]


@contextmanager
def running(
    folder: Path, definition: StudyDefinition | None = None, items: tuple[Item, ...] | None = None
) -> Iterator[App]:
    """The app of a study whose store stands in a folder."""
    study = freeze(definition or made_definition(), items if items is not None else made_items())
    with Store.open(folder, study.record) as store:
        yield App.of(study, store, ServerSettings(ORIGIN))


def client(app: App) -> httpx.AsyncClient:
    """A browser without scripts that follows redirects."""
    transport = httpx.ASGITransport(app=create_app(app))  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url=ORIGIN, follow_redirects=True)


@dataclass
class Person:
    """Somebody who answers what the page shows; *decide* chooses from the study's items by the page's text."""

    browser: httpx.AsyncClient
    study: FrozenStudy
    decide: Callable[[str, str], str] = lambda _where, _page: "3"

    async def arrive(self, platform_id: str = "5f1e2d3c4b5a69788796a5b4") -> httpx.Response:
        return await self.browser.get("/", params={"PROLIFIC_PID": platform_id, "SESSION_ID": "s"})

    async def go_on(self, page: httpx.Response, **answers: str) -> httpx.Response:
        """Send the form of a page with answers; fields that a page hides are sent as they stand."""
        action, fields = form_of(page.text)
        return await self.browser.post(action, data=fields | answers)

    async def whole_way(self, page: httpx.Response) -> httpx.Response:
        """Go from any page to an end."""
        for _ in range(500):
            path = page.url.path
            if path.startswith("/trial/"):
                suffix = path.removeprefix("/trial/").replace("/", "-")
                page = await self.go_on(page, **{f"value-{suffix}": self.decide(suffix, page.text)})
            elif path.startswith("/feedback/"):
                page = await self.browser.get("/now")
            elif 'name="consent"' in page.text:
                page = await self.go_on(page, consent="yes")
            elif "-about" in page.text:
                page = await self.go_on(page, **{"native_speaker-about": "yes", "age-about": "30"})
            elif 'action="/begin"' in page.text or 'action="/debrief"' in page.text:
                page = await self.go_on(page)
            else:
                return page
        raise AssertionError("the study does not end")


def visit(folder: Path, steps: Callable[[App, httpx.AsyncClient], Awaitable[None]], **changed: object) -> None:
    """Run the steps of one browser against the app of a study, and what they began in the background."""

    async def run() -> None:
        with running(folder, made_definition(**changed)) as app:
            async with client(app) as browser:
                await steps(app, browser)
                await asyncio.gather(*app.tasks)

    asyncio.run(run())


def form_of(page: str, which: int = -1) -> tuple[str, dict[str, str]]:
    """The address and the hidden fields of a form of a page (the last one)."""
    form = re.findall(r"<form.*?</form>", page, re.DOTALL)[which]
    action = re.search(r'action="([^"]*)"', form)
    assert action is not None
    hidden = re.findall(r"<input[^>]*type=\"hidden\"[^>]*>", form)
    fields = {}
    for field in hidden:
        name, value = re.search(r'name="([^"]*)"', field), re.search(r'value="([^"]*)"', field)
        if name is not None:
            fields[html.unescape(name[1])] = html.unescape(value[1]) if value is not None else ""
    return html.unescape(action[1]), fields
