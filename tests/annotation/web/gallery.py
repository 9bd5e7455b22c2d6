"""A gallery of every page with texts in three languages, written for these tests, and a server that shows it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lexiscope.annotation.web.pages import STATIC, Pages, line_html, to_html
from lexiscope.annotation.web.views import (
    AboutView,
    AdminFrame,
    ChoiceView,
    ExampleView,
    FlagView,
    FoldView,
    Frame,
    NavView,
    PointView,
    TrialView,
)
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.screen import Shown
from lexiscope.core.usage import Usage

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAGES = Pages()

HOSTILE = tuple((Path(__file__).parent / "hostile_texts.txt").read_text(encoding="utf-8").splitlines())
"""Texts that try to become markup or script."""

# -- what is shown ------------------------------------------------------------------------------------------------

SENTENCES = {
    "en": ("pitch", "The singer could not hold the pitch", "The workers sealed the boat with pitch"),
    "es": ("mango", "El mango de la sartén quemaba", "Peló el mango para el desayuno"),
    "ar": ("عين", "امتلأت عين الماء بعد المطر", "أغمض الطفل عين اللعبة"),
}
WORDS = {
    "en": ("flour", "oven", "yeast", "engine", "dough", "loaf", "crust", "butter", "baker", "recipe"),
    "es": ("harina", "horno", "levadura", "motor", "masa", "hogaza", "corteza", "mantequilla", "panadero", "receta"),
    "ar": ("دقيق", "فرن", "خميرة", "محرك", "عجين", "رغيف", "قشرة", "زبدة", "خباز", "وصفة"),
}
TITLES = {"en": "The meaning of words", "es": "El significado de las palabras", "ar": "معاني الكلمات"}


def frame(language: str, *, done: int = 3, total: int = 31) -> Frame:
    """The frame of a participant's page."""
    return Frame(TITLES[language], language, "csrf-token", "nonce0000", "lab@example.org", done, total, "owner-a")


def pair(language: str) -> Item:
    """Two sentences with one word, written for this test."""
    word, *texts = SENTENCES[language]
    usages = [Usage(text, text.index(word), text.index(word) + len(word), lemma=word) for text in texts]
    return Item("pair", "test", tuple(usages))


def relatedness(language: str, *, advance: str = "press") -> TrialView:
    """A relatedness trial, drawn by the task's own screen."""
    screen, item = catalog.screen("relatedness"), pair(language)
    ends = dict(screen.anchors[language])
    return TrialView(
        phase="trials",
        position=3,
        action="/trial/trials/3",
        suffix="trials-3",
        client_key="client-key-0003",
        stimulus=PAGES.stimulus(screen, item, Shown(), language),
        question=screen.question(item, language),
        widget="scale",
        advance=advance,
        points=tuple(PointView(str(value), ends.get(value, "")) for value in range(1, 6)),
    )


def everything(language: str) -> TrialView:
    """A scale with words at every point and all that a trial may have beside its widget."""
    words = WORDS[language]
    return replace(
        relatedness(language, advance="next"),
        points=tuple(PointView(str(n), " ".join(words[n : n + 4])) for n in range(1, 6)),
        flags=(FlagView("nonsensical", " ".join(words[:5])),),
        folds=(FoldView("guidelines", words[0], to_html("\n".join(f"- **{w}**" for w in words))),),
        guess=words[2],
        comment=True,
        back_url="/trial/trials/2",
        counter=f"{words[1]} 3/31",
        supersedes=17,
        given={"value": "2", "flag_nonsensical": "1", "comment": words[3], "guessed_word": words[4]},
    )


def groups(language: str) -> TrialView:
    """A choice among three groups of words, after a sentence."""
    words, (_, text, _) = WORDS[language], SENTENCES[language]
    made = tuple(
        ChoiceView(str(n), lines=(((", ".join(words[n:] + words[:n]), False),), (("— ", False), (words[n], True))))
        for n in range(1, 4)
    )
    return replace(relatedness(language), widget="choice", advance="next", points=(), choices=made, stimulus=text)


def intrusion(language: str) -> TrialView:
    """A choice among ten words by one press, with nothing above it."""
    made = tuple(ChoiceView(str(n), word) for n, word in enumerate(WORDS[language]))
    return replace(relatedness(language), widget="choice", points=(), choices=made, stimulus="")


def writing(language: str) -> TrialView:
    """A text to write, with another word on demand."""
    word = WORDS[language][0]
    return replace(
        relatedness(language),
        widget="text",
        advance="next",
        points=(),
        placeholder=" ".join(WORDS[language][:4]),
        max_length=40,
        another_url="/another/3",
        another_text=word,
        folds=(FoldView("definitions", WORDS[language][5], to_html(word)),),
    )


def linking(language: str) -> TrialView:
    """A page to be found by a search."""
    return replace(
        relatedness(language), widget="search", advance="next", points=(), search_url="/search", comment=True
    )


TRIALS: dict[str, Callable[[str], TrialView]] = {
    "relatedness": relatedness,
    "everything": everything,
    "groups": groups,
    "intrusion": intrusion,
    "writing": writing,
    "linking": linking,
}


def about(language: str) -> tuple[AboutView, ...]:
    """Questions about the participant: a choice, a number that is wrong, a text that may be left out."""
    words = WORDS[language]
    options = (ChoiceView("yes", words[0]), ChoiceView("no", words[1]))
    return (
        AboutView("native_speaker", words[2], "choice", True, options, given="yes"),
        AboutView("age", words[3], "number", True, given=words[3], fault=PAGES.fault("not_a_number", language, {})),
        AboutView("country", words[4], "text", False),
    )


def page(name: str, language: str) -> str:
    """Render a page by its name."""
    here, quiet = frame(language), frame(language, done=0, total=0)
    prose = to_html(f"## {TITLES[language]}\n\n{SENTENCES[language][1]} **{WORDS[language][0]}**\n\n1. a\n2. b")
    trial = relatedness(language)
    if name in TRIALS:
        return PAGES.trial_page(here, TRIALS[name](language))
    example = ExampleView(trial.stimulus, trial.question, f"1 ({trial.points[0].text})", SENTENCES[language][1])
    asked = {"stimulus": trial.stimulus, "question": trial.question, "explanation": WORDS[language][1]}
    drawn: dict[str, Callable[[], str]] = {
        "consent": lambda: PAGES.consent_page(quiet, text_html=prose, action="/consent"),
        "about": lambda: PAGES.about_you_page(quiet, questions=about(language), action="/about"),
        "instructions": lambda: PAGES.instructions_page(quiet, html=prose, examples=(example,), action="/begin"),
        "feedback": lambda: PAGES.feedback_page(
            here, given="4", right=("1", "2"), is_right=False, action="/now", **asked
        ),
        "debrief": lambda: PAGES.debrief_page(quiet, html=prose, action="/debrief", comment=True),
        "finished": lambda: PAGES.end_page(quiet, kind="finished", html="", code="C1ABCDEF", return_url="/back"),
        "full": lambda: PAGES.end_page(quiet, kind="full", html=prose, code="", return_url=""),
        "error": lambda: PAGES.error_page(quiet, status=503, what=WORDS[language][0], reference="4f2a90"),
        "enter": lambda: PAGES.enter_id_page(quiet, action="/id", fault=WORDS[language][0]),
        "admin": lambda: PAGES.render("admin_base.html", language, frame=admin(language)),
    }
    return drawn[name]()


def admin(language: str) -> AdminFrame:
    """The frame of a researcher's page."""
    nav = (NavView("/admin", WORDS[language][0], True), NavView("/admin/items", WORDS[language][1]))
    title, word = TITLES[language], WORDS[language][2]
    return AdminFrame(title, language, "csrf", title, nav, "open", word, word, "done", word, "/admin/logout")


NAMES = (
    *TRIALS,
    *("consent", "about", "instructions", "feedback", "debrief", "finished", "full", "error", "enter", "admin"),
)


def hostile_pages() -> dict[str, str]:
    """Pages with hostile texts in every place."""
    everywhere = "\n".join(HOSTILE)
    lines = tuple(((text, place % 2 == 0),) for place, text in enumerate(HOSTILE))
    base = replace(
        relatedness("en", advance="next"),
        stimulus="".join(f"<p class='sentence'>{line_html(each)}</p>" for each in lines),
        question=everywhere,
        placeholder=everywhere,
        guess=everywhere,
        comment=True,
        counter=everywhere,
        another_url="/another",
        another_text=everywhere,
        flags=tuple(FlagView(f"f{place}", text) for place, text in enumerate(HOSTILE)),
        folds=tuple(FoldView("guidelines", text, to_html(text)) for text in HOSTILE),
        given={"text": everywhere, "comment": everywhere, "guessed_word": everywhere},
        faults={"text": everywhere},
    )
    hostile = Frame(everywhere, "en", everywhere, everywhere, everywhere, 1, 2, everywhere)
    options = tuple(ChoiceView(text, text, (each,)) for text, each in zip(HOSTILE, lines, strict=True))
    questions = (
        AboutView("x", everywhere, "text", True, (), everywhere, everywhere),
        *(AboutView(f"y{place}", text, "choice", True, options[:3]) for place, text in enumerate(HOSTILE[:5])),
    )
    return {
        "text": PAGES.trial_page(hostile, replace(base, widget="text")),
        "search": PAGES.trial_page(hostile, replace(base, widget="search", search_url="/search")),
        "choice": PAGES.trial_page(hostile, replace(base, widget="choice", choices=options)),
        "scale": PAGES.trial_page(hostile, replace(base, points=tuple(PointView(text, text) for text in HOSTILE))),
        "about": PAGES.about_you_page(hostile, questions=questions, action=everywhere),
        "consent": PAGES.consent_page(hostile, text_html=to_html("\n\n".join(HOSTILE)), action="/x"),
        "ended": PAGES.end_page(hostile, kind="finished", html="", code=everywhere, return_url="/x"),
        "error": PAGES.error_page(hostile, status=500, what=everywhere, reference=everywhere),
    }


# -- a server that answers as it is told ----------------------------------------------------------------------------

Reply = tuple[int, dict[str, str], object]
GONE: Reply = (0, {}, None)
"""The connection is closed without an answer."""


@dataclass
class Site:
    """What the pages' server was sent, and what it answers next; after the last reply it stores."""

    url: str = ""
    posts: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    drawn: dict[str, str] = field(default_factory=dict)
    found: list[dict[str, str]] = field(default_factory=list)
    slow: float = 0.0

    def reset(self) -> None:
        """Forget what an earlier test did."""
        self.posts.clear()
        self.replies.clear()
        self.drawn.clear()
        self.found.clear()
        self.slow = 0.0


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path.startswith("/static/"):
                file = STATIC / path.removeprefix("/static/")
                self.answer(200, KINDS[file.suffix], file.read_bytes())
            elif path == "/search":
                self.answer(200, "application/json", json.dumps(site.found).encode())
            elif path.startswith("/page/"):
                _, _, language, name = path.split("/")
                html = site.drawn.get(name) or page(name, language)
                self.answer(200, "text/html; charset=utf-8", html.encode())
            else:
                self.answer(200, "text/html; charset=utf-8", b"<!doctype html><title>next</title>")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            site.posts.append((self.path, {name: values[-1] for name, values in parse_qs(body, True).items()}))
            time.sleep(site.slow)
            status, headers, told = site.replies.pop(0) if site.replies else (200, {}, {"next": "/next"})
            if not status:
                self.close_connection = True
                return
            if self.headers["Accept"] != "application/json":
                status, headers = 303, {"Location": "/next"}
            self.answer(status, "application/json", json.dumps(told).encode(), headers)

        def answer(self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            common = {"Content-Type": kind, "Content-Length": str(len(body)), "Content-Security-Policy": POLICY}
            for name, value in (common | (headers or {})).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def served() -> Iterator[Site]:
    """Serve the pages on a loopback port."""
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Tab:
    """A page in a browser session of its own, and what went to its console or opened a dialog."""

    page: Any
    site: Site
    said: list[str] = field(default_factory=list)

    def open(self, name: str, language: str = "en") -> Any:
        """Open a page of the gallery, and wait until its buttons take a press."""
        self.page.goto(f"{self.site.url}/page/{language}/{name}")
        self.page.locator("[data-held]").first.wait_for(state="detached")
        return self.page
