"""The app's texts in every language: complete, with the same placeholders, and nothing left in English."""

from __future__ import annotations

import asyncio
import gettext
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from lexiscope.annotation.web.pages import LOCALE, Pages
from lexiscope.annotation.web.replies import MESSAGES
from lexiscope.annotation.web.views import AboutView, ExampleView, Frame, PointView, TrialView

from .made_admin import researcher, run, running

pytest.importorskip("babel")
SCRIPT = Path(__file__).resolve().parents[3] / "docs" / "make_catalogs.py"
LANGUAGES = ("es", "de", "ar")
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}")
# the same word in both languages
SAME = {"de": {"Code"}, "es": {"Total", "no", "%(statistic)s: %(value)s, %(n_text)s. %(reason)s"}}


@pytest.fixture(scope="module")
def catalogs() -> ModuleType:
    """The script that makes the catalogues."""
    spec = importlib.util.spec_from_file_location("make_catalogs", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", LANGUAGES)
def test_participants_read_every_text_in_their_language(catalogs: ModuleType, language: str) -> None:
    """Every text of the participants' side has a translation with the same placeholders.

    If this fails after a text was changed: ``python docs/make_catalogs.py``, then edit the ``.po`` files and run it
    again.
    """
    _check(catalogs.participants(), catalogs.translated(language), language)


def test_researchers_read_every_text_in_spanish(catalogs: ModuleType) -> None:
    """So has every text of the researchers' side in Spanish; no catalogue keeps what no page says any more."""
    _check(set(catalogs.texts()), catalogs.translated("es"), "es")
    assert {language: set(catalogs.translated(language)) - catalogs.owed(language) for language in LANGUAGES} == {
        language: set() for language in LANGUAGES
    }


@pytest.mark.parametrize(
    ("language", "words"), [("en", ("participant", "participants")), ("es", ("participante", "participantes"))]
)
def test_what_is_counted_has_its_plural(tmp_path: Path, language: str, words: tuple[str, str]) -> None:
    """One participant is said as one, in both languages of the researchers' pages."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app, headers={"accept-language": language}) as browser:
                for n, word in enumerate(words, start=1):
                    app.store.invite(f"PLATFORM-{n}")
                    # the count of people is two seconds old at most
                    page = (await browser.get("/researcher/export")).text
                    for _ in range(60):
                        if f"{n} {word} " in page:
                            break
                        await asyncio.sleep(0.1)
                        page = (await browser.get("/researcher/export")).text
                    assert f"{n} {word} " in page

    run(visit)


def _check(owed: set[str], known: Mapping[str, str], language: str) -> None:
    assert [text for text in sorted(owed) if not known.get(text, "").strip()] == []
    holes = {text: (sorted(PLACEHOLDER.findall(text)), sorted(PLACEHOLDER.findall(known[text]))) for text in owed}
    assert {text: both for text, both in holes.items() if both[0] != both[1]} == {}
    assert {text for text in owed if known[text] == text} - SAME.get(language, set()) == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_that_of_the_source(catalogs: ModuleType, language: str) -> None:
    """What the app reads is what the translator wrote."""
    with (LOCALE / language / "LC_MESSAGES" / "messages.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    written = {text: translation for text, translation in catalogs.translated(language).items() if translation}
    ones = {more: one for one, more in catalogs.plurals().items()}
    read = {
        text: compiled.ngettext(ones[text], text, 5) if text in ones else compiled.gettext(text) for text in written
    }
    assert read == written


def test_the_servers_messages_are_translated() -> None:
    """What the server says when it refuses something exists in every language."""
    pages = Pages()
    for language in LANGUAGES:
        assert [text for text in MESSAGES.values() if pages.translate(text, language) == text] == []


class Texts(HTMLParser):
    """What people can read or hear of a page: its text nodes, and the attributes that are said or shown."""

    SPOKEN = ("aria-label", "placeholder", "title", "alt")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.found |= {data.strip()}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {str(text) for name, text in attrs if name in self.SPOKEN or name.startswith("data-")}


def _drawn(language: str) -> list[str]:
    pages = Pages()
    frame = Frame("·", language, "c", "n", "·", 1, 2)
    trial = TrialView("trials", 0, "/", "s", "k", "·", "·", "scale", "next", points=(PointView("1"),))
    full = replace(trial, back_url="/", comment=True, guess="·", search_url="/", may_stay_empty=True)
    full = replace(full, instructions="·", instructions_url="/")
    kinds = ("finished", "surplus", "screened_out", "declined", "full", "closed")
    asked = {"stimulus": "·", "question": "·", "given": "1", "right": ("2",), "explanation": "·", "action": "/"}
    return [
        *(pages.trial_page(frame, replace(full, widget=widget)) for widget in ("scale", "choice", "text", "search")),
        pages.consent_page(frame, text_html="·", action="/"),
        pages.about_you_page(frame, questions=(AboutView("m", "·", "text", False),), action="/"),
        pages.instructions_page(frame, html="·", examples=(ExampleView("·", "·", "·", "·"),), action="/"),
        *(pages.feedback_page(frame, is_right=right, **asked) for right in (True, False)),
        pages.debrief_page(frame, html="·", action="/", comment=True),
        *(pages.end_page(frame, kind=kind, html="·", code=code, return_url="") for kind in kinds for code in ("C", "")),
        pages.end_page(frame, kind="finished", html="·", code="C", return_url="/"),
        *(pages.error_page(frame, status=status, what="·", reference="r") for status in (403, 404, 429, 500, 503)),
        pages.enter_id_page(frame, action="/", fault="·"),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_has_a_text_in_english(catalogs: ModuleType, language: str) -> None:
    """Every text that a participant's page shows or says is none of the English catalogue; and every English text of
    the templates is on one of the pages that are compared here."""
    patterns = {text: _pattern(text) for text in catalogs.participants()}
    shown = {text for html in _drawn(language) for text in Texts(html).found if text}
    english = {text for text in shown for each in patterns.values() if each.fullmatch(text)}
    assert english - SAME.get(language, set()) == set()
    original = {text for html in _drawn("en") for text in Texts(html).found}
    files = catalogs.texts()
    of_templates = [text for text in patterns if any(name.endswith(".html") for name in files[text])]
    assert [text for text in of_templates if not any(patterns[text].search(each) for each in original)] == []


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, PLACEHOLDER.split(text))))
