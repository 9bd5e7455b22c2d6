"""The pages in a browser: content policy, assistive technology, the keyboard, small screens, lost connections."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from lexiscope.core import catalog
from lexiscope.core.screen import Shown

from .gallery import (
    GONE,
    HOSTILE,
    NAMES,
    PAGES,
    TRIALS,
    Reply,
    Site,
    Tab,
    frame,
    hostile_pages,
    relatedness,
    served,
    writing,
)

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def shown() -> Iterator[Site]:
    """The pages on a loopback port."""
    with served() as site:
        yield site


@pytest.fixture
def site(shown: Site) -> Site:
    """The server, with nothing left of an earlier test."""
    shown.reset()
    return shown


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The distribution's Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture
def open_tab(browser: Any, site: Site) -> Iterator[Callable[..., Tab]]:
    """Open tabs, each in a session of its own."""
    contexts = []

    def opened(width: int = 1100, **options: Any) -> Tab:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        tab = Tab(context.new_page(), site)
        tab.page.set_default_timeout(8000)
        tab.page.on("console", lambda message: tab.said.append(message.text))
        tab.page.on("pageerror", lambda error: tab.said.append(str(error)))
        tab.page.on("dialog", lambda dialog: (tab.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        return tab

    yield opened
    for context in contexts:
        context.close()


# -- every page ------------------------------------------------------------------------------------------------------

CONTROLS = "button, .button, label.point, label.option, label.flag, summary, .nav a, .back"
SMALL = """controls => [...document.querySelectorAll(controls)]
  .filter(each => each.offsetParent)
  .map(each => [each.textContent.trim(), each.getBoundingClientRect()])
  .filter(([, box]) => box.width < 44 || box.height < 44).map(([text]) => text)"""


def _violations(axe: Any, page: Any, options: dict[str, object] | None = None) -> list[str]:
    found = axe.run(page, options={"resultTypes": ["violations"]} | (options or {})).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("language", ["en", "es", "ar"])
def test_every_page_is_accessible(open_tab: Callable[..., Tab], language: str) -> None:
    """No serious finding of axe, light or dark, nothing on the console (so nothing against the content policy), no
    sideways scrolling at 360 px nor at 200 % zoom of that, and every control at least 44 px."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab = open_tab(360, color_scheme="light", reduced_motion="reduce")
    found = {}
    for name in NAMES:
        page = tab.open(name, language)
        wrong = _violations(axe, page)
        page.emulate_media(color_scheme="dark")
        wrong += _violations(axe, page, {"runOnly": ["color-contrast"]})
        page.emulate_media(color_scheme="light")
        wrong += [f"small: {text}" for text in page.evaluate(SMALL, CONTROLS)]
        wrong += [] if page.evaluate("document.documentElement.scrollWidth <= innerWidth") else ["scrolls sideways"]
        wrong += tab.said
        tab.said.clear()
        if wrong:
            found[name] = wrong
    assert found == {}


@pytest.mark.parametrize("task", catalog.names("tasks"))
def test_every_task_fits_a_small_screen(open_tab: Callable[..., Tab], site: Site, task: str) -> None:
    """The worked examples of every task that people answer, drawn by its own screen, fit 360 px."""
    module = catalog.module("tasks", task)
    if not hasattr(module, "SCREEN") or not hasattr(module, "example_items"):
        pytest.skip("people are not asked this task, or it has no worked examples as items")
    screen, tab = module.SCREEN, open_tab(360)
    for view in screen.views:
        item, shown = module.example_items("en")[0], Shown(view=view)
        trial = replace(relatedness("en"), stimulus=PAGES.stimulus(screen, item, shown, "en"))
        site.drawn["task"] = PAGES.trial_page(frame("en"), trial)
        page = tab.open("task")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        assert page.locator(".stimulus p").count() or task in ("word_intrusion", "minimal_pair")
    assert tab.said == []


def test_a_page_can_be_magnified(open_tab: Callable[..., Tab]) -> None:
    """At 200 % on a screen of 1280 px (640 CSS px) nothing scrolls sideways."""
    tab = open_tab(640, device_scale_factor=2)
    for name in TRIALS:
        assert tab.open(name).evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_a_right_to_left_page_is_mirrored(open_tab: Callable[..., Tab]) -> None:
    """In Arabic the first point of the scale stands right of the last, and the first sentence right of the second."""
    left = {}
    for language in ("en", "ar"):
        page = open_tab().open("relatedness", language)
        for selector in (".point", ".side-by-side .sentence", ".ends span"):
            boxes = [page.locator(selector).nth(place).bounding_box()["x"] for place in (0, -1)]
            left[language, selector] = boxes[0] < boxes[1]
    assert [found for (language, _), found in left.items() if language == "en"] == [True, True, True]
    assert [found for (language, _), found in left.items() if language == "ar"] == [False, False, False]


def test_sentences_stand_side_by_side_or_stacked(open_tab: Callable[..., Tab]) -> None:
    """Two sentences are side by side on a wide screen, one below the other on a narrow one; the target is larger."""
    for width, beside in ((1100, True), (600, False)):
        page = open_tab(width).open("relatedness")
        first, second = (page.locator(".sentence").nth(place).bounding_box() for place in (0, 1))
        assert (first["y"] == second["y"]) is beside
    sizes = [
        page.locator(each).evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
        for each in (".target", "body")
    ]
    assert sizes[0] > 1.5 * sizes[1]


# -- answering -------------------------------------------------------------------------------------------------------


def _sent(site: Site, page: Any) -> dict[str, str]:
    page.wait_for_url("**/next")
    assert len(site.posts) == 1
    return site.posts[0][1]


@pytest.mark.parametrize("key", ["4", "Numpad4"])
def test_a_number_key_answers_a_scale(open_tab: Callable[..., Tab], site: Site, key: str) -> None:
    """Where a press is the answer, the key of a point sends that point, with a time and everything that was hidden."""
    page = open_tab().open("relatedness")
    page.keyboard.press(key)
    sent = _sent(site, page)
    assert sent["value-trials-3"] == "4"
    assert (sent["client_key"], sent["csrf"]) == ("client-key-0003", "csrf-token")
    assert 0 < float(sent["rt_ms"]) < 60_000
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", sent["shown_at"])


def test_other_keys_answer_nothing(open_tab: Callable[..., Tab], site: Site) -> None:
    """Keys with a modifier, keys of no point, letters: nothing is sent."""
    page = open_tab().open("relatedness")
    for key in ("Control+4", "Alt+4", "Meta+4", "7", "x", "Enter", "Space"):
        page.keyboard.press(key)
    page.wait_for_timeout(100)
    assert site.posts == []


def test_a_key_that_is_held_answers_nothing(open_tab: Callable[..., Tab], site: Site) -> None:
    """Repeats of a key that was held before the page came, and of Enter on a focused button, send nothing."""
    page = open_tab().open("relatedness")
    page.evaluate(
        """() => { const button = document.querySelector('.point'); button.focus();
        for (const key of ['3', 'Enter', ' '])
          button.dispatchEvent(new KeyboardEvent('keydown', {key, repeat: true, bubbles: true, cancelable: true})); }"""
    )
    page.wait_for_timeout(100)
    assert site.posts == []


def test_a_double_click_is_one_answer(open_tab: Callable[..., Tab], site: Site) -> None:
    """Two clicks, and clicks on other buttons while the answer is on its way, send one answer."""
    site.slow = 0.4
    page = open_tab().open("relatedness")
    page.locator(".point").nth(1).dblclick()
    page.locator(".point").nth(4).click(force=True)
    assert _sent(site, page)["value-trials-3"] == "2"


def test_the_second_click_of_a_double_click_does_not_answer_the_next_item(
    open_tab: Callable[..., Tab], site: Site
) -> None:
    """In its first quarter of a second a page takes no press."""
    tab = open_tab()
    tab.page.add_init_script(
        """addEventListener('DOMContentLoaded', () => setTimeout(() => {
        const point = document.querySelector('.point');
        document.body.dataset.early = String(point.disabled);
        point.click();
        document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '3', bubbles: true}));
        }))"""
    )
    page = tab.open("relatedness")
    assert page.locator("body").get_attribute("data-early") == "true"
    assert site.posts == []


def test_radios_are_marked_and_sent(open_tab: Callable[..., Tab], site: Site) -> None:
    """Where the answer is sent by a button of its own: a number key marks, arrows move, Enter sends."""
    page = open_tab().open("everything")
    assert page.locator("input[type=radio]:checked").input_value() == "2"
    page.keyboard.press("3")
    assert page.locator("input[type=radio]:checked").input_value() == "3"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    sent = _sent(site, page)
    assert sent["value-trials-3"] == "4"
    assert (sent["supersedes"], sent["flag_nonsensical-trials-3"], sent["comment-trials-3"]) == ("17", "1", "engine")


def test_a_choice_is_made_by_tab_and_space(open_tab: Callable[..., Tab], site: Site) -> None:
    """A choice is reached by Tab alone; the tenth option by the key 0."""
    page = open_tab().open("groups")
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "radio":
            break
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert _sent(site, page)["option-trials-3"] == "1"
    site.posts.clear()
    page = open_tab().open("intrusion")
    page.keyboard.press("0")
    assert _sent(site, page)["option-trials-3"] == "9"


def test_digits_in_a_text_are_text(open_tab: Callable[..., Tab], site: Site) -> None:
    """Digits and spaces in a text field answer nothing; characters are counted as people count them."""
    page = open_tab().open("writing")
    page.locator("textarea").focus()
    page.keyboard.type("1 2 3 ")
    page.keyboard.insert_text("😀")
    assert page.locator("[data-count]").inner_text() == "7"
    assert site.posts == []
    page.keyboard.insert_text("x" * 40)
    assert "over" in page.locator(".count").get_attribute("class")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert _sent(site, page)["text-trials-3"] == "1 2 3 😀" + "x" * 40


def test_a_page_is_found_by_keyboard(open_tab: Callable[..., Tab], site: Site) -> None:
    """The search follows the combobox pattern: arrows mark, Enter takes, Escape closes; a link shows the page."""
    site.found[:] = [
        {"id": "Q1", "title": "Pitch (music)", "text": "how high a sound is", "url": "https://example.org/1"},
        {"id": "Q2", "title": "Pitch (resin)", "text": "a black stuff", "url": "javascript:alert(1)"},
    ]
    page = open_tab().open("linking")
    box = page.get_by_role("combobox")
    box.focus()
    page.keyboard.type("pit")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")
    assert site.posts == []
    page.keyboard.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") == "results-trials-3-0"
    page.keyboard.press("Enter")
    assert box.input_value() == "Pitch (music)"
    assert page.locator(".found a").get_attribute("href") == "https://example.org/1"
    page.keyboard.type("x")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Escape")
    assert box.get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert (box.input_value(), page.locator(".found a").count()) == ("Pitch (resin)", 0)
    page.keyboard.press("Enter")
    assert _sent(site, page)["text-trials-3"] == "Pitch (resin)"


# -- what can go wrong -----------------------------------------------------------------------------------------------


def test_an_answer_outlives_a_lost_connection(open_tab: Callable[..., Tab], site: Site) -> None:
    """Without a connection the page says so within 2 s; when it is back the same answer is sent, under the same key."""
    tab = open_tab()
    page = tab.open("relatedness")
    page.context.set_offline(True)
    page.keyboard.press("4")
    page.get_by_text("Not saved yet – trying again").wait_for(timeout=2000)
    assert page.locator(".point").first.is_disabled()
    page.context.set_offline(False)
    assert _sent(site, page)["value-trials-3"] == "4"


@pytest.mark.parametrize(
    "replies",
    [
        [GONE, GONE],
        [(503, {"Retry-After": "1"}, {})],
        [(502, {}, "<html>")],
        [(429, {}, {"error": {}})],
        [(404, {}, "x")],
    ],
)
def test_an_answer_is_sent_until_it_is_stored(open_tab: Callable[..., Tab], site: Site, replies: list[Reply]) -> None:
    """A cut connection, a server that is down or busy, a reply that is not the server's: the same is sent again."""
    site.replies[:] = replies
    page = open_tab().open("relatedness")
    page.keyboard.press("2")
    page.wait_for_url("**/next")
    assert len(site.posts) == len(replies) + 1
    assert len({tuple(sorted(fields.items())) for _, fields in site.posts}) == 1


def test_an_answer_outlives_the_tab(open_tab: Callable[..., Tab], site: Site) -> None:
    """A page that is opened again sends what was kept, for the same participant only."""
    site.replies[:] = [(503, {"Retry-After": "60"}, {})]
    tab = open_tab()
    page = tab.open("relatedness")
    page.keyboard.press("5")
    page.get_by_text("Not saved yet").wait_for()
    other = page.context.new_page()
    site.drawn["other"] = PAGES.trial_page(replace(frame("en"), owner="owner-b"), relatedness("en"))
    other.goto(f"{site.url}/page/en/other")
    other.wait_for_timeout(300)
    assert len(site.posts) == 1
    other.goto(f"{site.url}/page/en/relatedness")
    other.wait_for_url("**/next")
    assert [fields["value-trials-3"] for _, fields in site.posts] == ["5", "5"]
    assert other.evaluate("Object.keys(localStorage).filter(name => name.includes('unsent'))") == []


def test_a_refusal_is_shown_where_it_belongs(open_tab: Callable[..., Tab], site: Site) -> None:
    """A refused answer stays on the page, its fault beside the field, which is marked and has the focus."""
    error = {"code": "word_not_once", "field": "text", "message": "The word has to stand there once."}
    site.replies[:] = [(422, {}, {"error": error})]
    page = open_tab().open("writing")
    page.locator("textarea").fill("Nothing of it.")
    page.get_by_role("button", name="Next").click()
    fault = page.get_by_text(error["message"])
    fault.wait_for()
    assert fault.get_attribute("id") in page.locator("textarea").get_attribute("aria-describedby").split()
    assert page.locator("textarea").get_attribute("aria-invalid") == "true"
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    page.locator("textarea").fill("It is there.")
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**/next")
    assert [fields["text-trials-3"] for _, fields in site.posts] == ["Nothing of it.", "It is there."]


def test_a_conflict_leads_on(open_tab: Callable[..., Tab], site: Site) -> None:
    """Where another tab has answered, the page goes to what the server names."""
    site.replies[:] = [(409, {}, {"error": {"code": "conflict"}, "current": {"value": 2}, "next": "/next"})]
    page = open_tab().open("relatedness")
    page.keyboard.press("1")
    assert _sent(site, page)["value-trials-3"] == "1"


def test_no_answer_leads_to_another_site(open_tab: Callable[..., Tab], site: Site) -> None:
    """The next page is one of this server."""
    site.replies[:] = [(200, {}, {"next": "https://example.org/away"})]
    page = open_tab().open("relatedness")
    page.keyboard.press("1")
    page.get_by_text("This answer could not be stored.").first.wait_for()
    assert page.url.startswith(site.url)


def test_a_draft_comes_back(open_tab: Callable[..., Tab], site: Site) -> None:
    """A text that was not sent is there after a reload, for this participant only, and gone once it is stored."""
    page = open_tab().open("writing")
    page.locator("textarea").fill("Half a sent")
    page.reload()
    assert page.locator("textarea").input_value() == "Half a sent"
    site.drawn["other"] = PAGES.trial_page(replace(frame("en"), owner="owner-b"), writing("en"))
    page.goto(f"{site.url}/page/en/other")
    assert page.locator("textarea").input_value() == ""
    page.goto(f"{site.url}/page/en/writing")
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**/next")
    assert page.evaluate("Object.keys(localStorage)") == []


def test_another_word_begins_empty(open_tab: Callable[..., Tab], site: Site) -> None:
    """Another word is asked for at the same address: what was begun for the first does not come up for the second."""
    page = open_tab().open("writing")
    page.locator("textarea").fill("Half a sent")
    page.locator(".another button").click()
    page.wait_for_url("**/next")
    assert [path for path, _ in site.posts] == ["/another/3"]
    page.goto(f"{site.url}/page/en/writing")
    assert page.locator("textarea").input_value() == ""


def test_an_answer_outlives_its_session(open_tab: Callable[..., Tab], site: Site) -> None:
    """An answer that was refused because the session or the page was too old is sent from the next page, with its
    token and under the same key."""
    site.replies[:] = [(403, {}, {"error": {"code": "form_expired", "field": "csrf", "message": "Too old."}})]
    page = open_tab().open("relatedness")
    page.keyboard.press("5")
    page.get_by_text("Too old.").wait_for()
    site.drawn["relatedness"] = PAGES.trial_page(replace(frame("en"), csrf="new-token"), relatedness("en"))
    page.reload()
    page.wait_for_url("**/next")
    first, second = (fields for _, fields in site.posts)
    assert second == first | {"csrf": "new-token"}


def test_a_page_from_the_history_is_loaded_again(open_tab: Callable[..., Tab]) -> None:
    """A page that the browser takes out of its memory, with an old state, loads itself anew."""
    page = open_tab().open("relatedness")
    page.evaluate("document.body.dataset.old = 'yes'")
    with page.expect_navigation():
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    assert page.locator("body[data-old]").count() == 0


def test_answering_works_without_scripts(open_tab: Callable[..., Tab], site: Site) -> None:
    """Without scripts the same form is posted by the browser; the page says what is missing; Enter chooses nothing."""
    site.drawn["guessing"] = PAGES.trial_page(frame("en"), replace(relatedness("en"), guess="Which word?"))
    tab = open_tab(java_script_enabled=False)
    tab.page.goto(f"{site.url}/page/en/guessing")
    assert tab.page.locator("noscript .note").is_visible()
    tab.page.get_by_label("Which word?").fill("tone")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_timeout(150)
    assert site.posts == []
    tab.page.get_by_role("button", name="4", exact=True).click()
    sent = _sent(site, tab.page)
    assert (sent["value-trials-3"], sent["guessed_word-trials-3"], sent["rt_ms"]) == ("4", "tone", "")


def test_enter_in_a_field_does_not_choose_an_option(open_tab: Callable[..., Tab], site: Site) -> None:
    """With scripts as without: Enter in a text field beside press buttons sends none of them."""
    site.drawn["guessing"] = PAGES.trial_page(frame("en"), replace(relatedness("en"), guess="Which word?"))
    page = open_tab().open("guessing")
    page.get_by_label("Which word?").press("Enter")
    page.wait_for_timeout(150)
    assert site.posts == []


# -- hostile texts -----------------------------------------------------------------------------------------------------

EVENT_ATTRIBUTES = """[...document.querySelectorAll('*')].flatMap(each => each.getAttributeNames())
  .filter(name => /^on|^style$/.test(name))"""


def test_hostile_texts_run_nothing(open_tab: Callable[..., Tab], site: Site) -> None:
    """Texts that try to become markup or script, in every place of a page: no dialog, no script, no request, and not
    even an attempt that the content policy had to stop."""
    site.found[:] = [{"id": text, "title": text, "text": text, "url": text} for text in HOSTILE]
    tab = open_tab()
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    for name, html in hostile_pages().items():
        site.drawn[name] = html
        page = tab.open(name)
        assert page.locator("main script, main iframe, main img, main object, main style, main svg").count() == 0, name
        assert page.evaluate(EVENT_ATTRIBUTES) == [], name
        if name == "search":
            page.get_by_role("combobox").fill("x")
            page.get_by_role("option").nth(len(HOSTILE) - 1).wait_for()
            page.get_by_role("option").first.click()
            assert page.locator(".found strong").inner_text().strip() == HOSTILE[0].strip()
    assert tab.said == []
    assert {path for path in asked if not path.startswith(("/page/", "/static/"))} == {"/search"}
