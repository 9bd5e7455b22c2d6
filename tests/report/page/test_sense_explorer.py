"""The sense explorer: one page that holds all, hides no word, and works by keyboard without a network."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.report.document import Report
from lexiscope.report.page.html import render
from lexiscope.report.page.sense_explorer import (
    Exploration,
    ExplorerSettings,
    explore,
    explore_each,
    explorer_section,
    neighbour_maps,
    render_explorer,
    sections_with_pages,
    write_explorer,
    write_pages,
)
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.training.gasi.train import write_senses

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
N_WORDS = 40


@pytest.fixture(scope="module")
def exploration(tmp_path_factory: pytest.TempPathFactory) -> Exploration:
    """Twelve words of forty with random vectors; the third sense of word 3 is pruned; two words are not known."""
    rng, folder = np.random.default_rng(3), tmp_path_factory.mktemp("explorer")
    senses, mask = rng.normal(size=(N_WORDS, 3, 8)).astype(np.float32), np.ones((N_WORDS, 3), np.bool_)
    mask[3, 2] = False
    words = ("<num>", *(f"word{n}" for n in range(1, N_WORDS)))
    vectors = SenseVectors(words, np.arange(N_WORDS, 0, -1), senses, senses[:, 0], mask)
    write_senses(folder / "senses", vectors, {"settings": {"window": 3, "variant": "gasi"}})
    lines = [" ".join(rng.choice(words[1:], size=9)) + " <script>alert(1)</script>." for _ in range(300)]
    (folder / "corpus.txt").write_text("\n".join(lines))
    reader = Gasi(str(folder / "senses"))
    asked = [f"word{n}" for n in range(1, 13)]
    settings = ExplorerSettings(n_best=2, n_drawn=1, seed=4, language="en")
    return explore(
        reader, [*asked, "wrod1", "<b>"], [folder / "corpus.txt"], subject_id="gasi:senses", settings=settings
    )


def test_the_page_holds_everything(exploration: Exploration) -> None:
    """All words, their senses, ten neighbours each, examples with marked targets, maps; pruned and unknown ones."""
    page = render_explorer(exploration)
    assert page.count('<article class="word"') == 12
    assert page.count("<figure>") == 12
    assert page.count('<div class="sense"') == 12 * 3 - 1
    assert len(re.findall(r'<ul class="near".*?</ul>', page, re.S)[0].split("<li>")) == 11
    assert "2 senses (sense 3 was pruned: a duplicate of another)." in page
    shown = [each.examples for each in exploration.words[0].senses]
    assert page.count("<mark>word1</mark>") == sum(len(each.best) + len(each.drawn) for each in shown if each)
    assert '<b dir="auto">wrod1</b>, spelt nearly so: word1' in page
    assert '<html lang="en">' in page
    assert 'lang="en" dir="auto"' in page


def test_nothing_in_the_data_runs(exploration: Exploration) -> None:
    """Markup of corpus and words is text; the one script is known to the page's policy by its hash."""
    page = render_explorer(exploration)
    assert "alert(1)</script>" not in page
    assert page.count("<script>") == 1
    assert "script-src 'sha256-" in page
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)


def test_the_same_exploration_gives_the_same_bytes(exploration: Exploration, tmp_path: Path) -> None:
    """The page is written whole, its size is told."""
    size = write_explorer(exploration, tmp_path / "a.html")
    assert (tmp_path / "a.html").read_bytes() == render_explorer(exploration).encode()
    assert size == (tmp_path / "a.html").stat().st_size < 200_000


def test_a_section_of_a_report(exploration: Exploration) -> None:
    """Every word is a subsection with a table of its senses and a map; unknown words are named; the report renders."""
    section = explorer_section(exploration, section_id="s")
    assert [each.title for each in section.subsections] == [entry.word for entry in exploration.words]
    assert section.paragraphs[-1] == "Not in the vocabulary: wrod1, <b>."
    row = section.subsections[0].tables[0].rows[0]
    assert row[0] == "1"
    assert "[word1]" in str(row[3])
    page = render(Report("Senses", "en", (section,)))
    assert page.count("<figure") == 12


def test_without_a_corpus(exploration: Exploration, tmp_path: Path) -> None:
    """Senses, neighbours and maps are shown, and nothing is said of examples; no known word at all is refused."""
    vectors = np.eye(4, 3, dtype=np.float32)[:, None] + 0.1
    words = ("a", "b", "c", "d")
    write_senses(
        tmp_path / "s", SenseVectors(words, np.ones(4, int), vectors, vectors[:, 0], np.ones((4, 1), bool)), {}
    )
    reader = Gasi(str(tmp_path / "s"))
    page = render_explorer(explore(reader, ["a"], subject_id="gasi:s"))
    assert "Senses of 1 word<" in page
    assert "Most probable" not in page
    assert "occurrence" not in page
    with pytest.raises(InputError, match="none of 1 words"):
        explore(reader, ["x"], subject_id="gasi:s")


def test_a_map_of_many_senses(tmp_path: Path) -> None:
    """With 30 senses each has 3 names on the map instead of 10, and the caption says so."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(60, 30, 6)).astype(np.float32)
    mask = np.zeros((60, 30), np.bool_)
    mask[:, 0], mask[0] = True, True
    made = SenseVectors(tuple(f"w{n}" for n in range(60)), np.ones(60, np.int64), vectors, vectors[:, 0], mask)
    write_senses(tmp_path / "s", made, {})
    (figure,) = explore(Gasi(str(tmp_path / "s")), ["w0"], subject_id="gasi:s").maps
    assert figure is not None
    assert figure.caption.startswith("The 3 nearest neighbours of each sense are drawn. Points that")
    assert len(figure.data["name"]) <= 30 + 90


# -- in a browser ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(exploration: Exploration, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page in the distribution's Chromium, without a network."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    path = tmp_path_factory.mktemp("page") / "senses.html"
    write_explorer(exploration, path)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        found = browser.new_page(viewport={"width": 1280, "height": 900}, offline=True)
        found.faults = []
        found.on("console", lambda message: found.faults.append(message.text))
        found.on("pageerror", lambda error: found.faults.append(str(error)))
        found.on("request", lambda request: found.faults.append(request.url))
        found.goto(path.as_uri())
        yield found
        browser.close()


def visible(page: Any) -> list[str]:
    return list(page.locator(".word:not([hidden]) h2").all_text_contents())


@pytest.mark.browser
def test_search_by_keyboard(page: Any) -> None:
    """/ leads to the box; words stay by name or neighbour, which is told; Enter goes there, Escape shows all."""
    page.keyboard.press("/")
    page.keyboard.type("word12")
    assert "word12" in visible(page)
    told = page.locator("#found").inner_text()
    assert told.startswith(f"{len(visible(page))} of 12 words: 1 by name")
    by_near = [word for word in visible(page) if word != "word12"]
    assert page.locator(".word:not([hidden]) .near li.hit").count() >= len(by_near)
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "word12"
    page.keyboard.press("Escape")
    assert len(visible(page)) == 12
    page.fill("#query", "zzz")
    assert visible(page) == []
    assert page.locator("#found").inner_text() == "In no word, and no neighbour begins so."
    assert page.locator("#unknown").is_visible()
    page.fill("#query", "word12")
    assert not page.locator("#unknown").is_visible()
    page.fill("#query", "")


@pytest.mark.browser
def test_examples_can_be_hidden(page: Any) -> None:
    """A button hides the examples of all words, and shows them again."""
    button = page.locator("#examples")
    button.focus()
    page.keyboard.press("Enter")
    assert button.inner_text() == "Show examples"
    assert not page.locator(".examples").first.is_visible()
    page.keyboard.press("Enter")
    assert button.inner_text() == "Hide examples"
    assert page.locator(".examples").first.is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(page: Any, scheme: str) -> None:
    """Axe finds no fault in light or dark, contrast included; at 390 pixels nothing makes the page scroll sideways."""
    page.emulate_media(color_scheme=scheme)
    page.add_style_tag(content=".word { content-visibility: visible !important }")
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [f"{one['id']}: {one['nodes'][0]['html']}" for one in found["violations"]] == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.browser
def test_nothing_is_asked_of_a_network(page: Any) -> None:
    """The only request is the file itself; the console stays empty."""
    assert [fault for fault in page.faults if not fault.startswith("file:")] == []


def test_several_subjects_have_a_section_a_page_and_maps_each(tmp_path: Path) -> None:
    """Who gives no vectors, or knows none of the words, is left out; so are maps beyond the most that are drawn."""
    dice = np.random.default_rng(0)
    mask = np.array([[True, number != 1] for number in range(20)])
    senses = dice.normal(size=(20, 2, 4)).astype(np.float32)
    vectors = SenseVectors(tuple(f"w{n}" for n in range(20)), np.arange(20, 0, -1), senses, senses[:, 0], mask)
    (tmp_path / "s").mkdir()
    write_senses(tmp_path / "s", vectors, {"settings": {"variant": "gasi"}})
    known, other = Gasi(str(tmp_path / "s")), catalog.subject("baseline:random")
    words, titles = ("w0", "w1", "w2"), {known.subject_id: "s"}
    found, omitted = explore_each([known, other], words, titles=titles)
    assert [(one.subject_id, len(one.words)) for one in found] == [("s", 3)]
    assert [(one.subject, one.reason) for one in omitted] == [("baseline:random", "It gives no vectors of its senses.")]
    assert explore_each([known], ["x"], titles=titles)[1][0].reason == "It knows none of the words that were named."
    part = neighbour_maps([known], found, words, titles=titles, most=1)
    assert [len(figure.data["word"]) for figure in part.figures] == [2 * 10]
    assert [one.reason for one in part.omissions] == [
        "It has no two senses of 'w1'.",
        "1 maps are drawn: name fewer words or subjects.",
    ]
    assert write_pages(found, tmp_path) == ("senses_1.html",)
    (section,) = sections_with_pages(found)
    assert "The file senses_1.html in the folder of this report" in section.paragraphs[-1]
    assert not [figure for each in section.subsections for figure in each.figures]
