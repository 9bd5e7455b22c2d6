"""What browsers, hands and networks do to a study: Back, double clicks, held keys, two tabs, no script, no net."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexiscope.annotation.store.record import Phase

from .fault_proxy import FaultProxy
from .made_tasks import task_study
from .served import Served, serving
from .walker import Given, Walker

pytestmark = pytest.mark.browser
BARE = {"qualification": (), "practice": (), "about_you": ()}
# the figures of S9 are for a quiet machine; this is what a busy one may add to them, in seconds
BUSY = 4.0
ON_A = pytest.mark.parametrize("busy", [BUSY, pytest.param(0.0, marks=pytest.mark.soak)], ids=["busy", "quiet"])
"""On a machine that does other things, and (soak) with the figures as they stand."""
NOT_SAVED = "Not saved yet"


@contextmanager
def at_first_trial(
    browser: Any, folder: Path, task: str, *, n_items: int = 8, proxy: FaultProxy | None = None, **context: Any
) -> Iterator[tuple[Walker, Served]]:
    """A participant before the first trial of a study of some items."""
    definition, made = task_study(task, folder, **BARE, **({"catch": {"per_list": 0}} if task == "relatedness" else {}))
    items = tuple(replace(made[number % len(made)], item_id=f"i{number}") for number in range(n_items))
    with serving(folder, definition, items, public_port=proxy.port if proxy else 0) as served:
        if proxy is not None:
            proxy.upstream = served.port
        opened = browser.new_context(**context)
        opened.set_default_timeout(30_000)
        try:
            walker = Walker(opened.new_page(), served)
            walker.page.goto(served.link(walker.who))
            for button in ('button[value="yes"]', "button.primary"):
                walker.leave(button)
            assert walker.page.url.endswith("/trial/trials/0")
            yield walker, served
        finally:
            opened.close()


def rows(walker: Walker) -> list[dict[str, object]]:
    """The stored answers to the items."""
    return [row for row in walker.served.app.store.answers_of(walker.participant) if row["phase"] == Phase.TRIALS]


def wait_until(walker: Walker, true: Callable[[], bool], *, seconds: float) -> float:
    """Wait until something is true and return how long it took."""
    start = time.monotonic()
    while not true():
        assert time.monotonic() - start < seconds, "it took too long"
        walker.page.wait_for_timeout(50)
    return time.monotonic() - start


def at(walker: Walker, position: int) -> None:
    """Wait for a trial."""
    walker.page.wait_for_url(f"**/trial/trials/{position}")


def chosen(walker: Walker) -> tuple[int, str]:
    """How much of a page is filled in already."""
    comment = walker.page.locator('[name^="comment-"]')
    marked = walker.page.locator("#answer input:checked, #answer .chosen").count()
    return marked, comment.input_value() if comment.count() else ""


# -- the browser --------------------------------------------------------------------------------------------------


def test_back_forward_and_reload_bring_no_other_answer(chromium: Any, tmp_path: Path) -> None:
    """S21: after each of ten answers twice Back and Forward, then Reload: 20 Backs. Never is
    something filled in that was the answer to another item, and never is an answer stored by it."""
    with at_first_trial(chromium, tmp_path, "plausibility", n_items=11) as (walker, _):
        for position in range(11):
            assert chosen(walker) == (0, "")
            walker.answer(Given(value="4", flags=("nonsensical",), comment=f"about {position}"))
            if position == 10:
                break
            for move in (*[walker.page.go_back, walker.page.go_forward] * 2, walker.page.reload):
                move()
                assert chosen(walker) == (0, ""), (position, walker.page.url)
            if f"/trials/{position + 1}" not in walker.page.url:
                walker.page.goto(f"{walker.served.url}/now")
            at(walker, position + 1)
            assert len(rows(walker)) == position + 1
        code_page = walker.on(lambda _seen: None)
        walker.page.go_back()
        walker.page.goto(f"{walker.served.url}/now")
        assert walker.page.locator("#code").inner_text() == code_page, "the same code at every visit"
        assert [row["comment"] for row in rows(walker)] == [f"about {number}" for number in range(11)]


def test_a_page_from_the_cache_of_the_browser_is_asked_again(chromium: Any, tmp_path: Path) -> None:
    """S21: a trial that the browser brings back from its memory is loaded anew, so that it cannot be answered twice."""
    with at_first_trial(chromium, tmp_path, "relatedness") as (walker, _):
        page = walker.page
        page.goto(f"{walker.served.url}/guidelines")
        page.go_back()
        at(walker, 0)
        other = page.context.new_page()
        other.goto(f"{walker.served.url}/now")
        other.locator('button[value="2"]').click()
        other.wait_for_url("**/trial/trials/1")
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        at(walker, 1)


def test_a_copied_tab_answers_once(chromium: Any, tmp_path: Path) -> None:
    """S21: two tabs on one trial: the first answer counts, the other tab is led on, and its press answers nothing."""
    with at_first_trial(chromium, tmp_path, "relatedness") as (walker, _):
        copy = walker.page.context.new_page()
        copy.goto(walker.page.url)
        walker.answer(Given(value="2"))
        copy.locator('button[value="5"]').click()
        copy.wait_for_url("**/trial/trials/1")
        assert [row["value"] for row in rows(walker)] == [2]
        copy.wait_for_timeout(400)
        assert len(rows(walker)) == 1


@pytest.mark.parametrize("how", ["double click", "held digit", "held Enter"])
def test_one_press_is_one_answer(chromium: Any, tmp_path: Path, how: str) -> None:
    """S21: a double click and a held key store one row, and leave the next trial alone."""
    with at_first_trial(chromium, tmp_path, "relatedness") as (walker, _):
        page, keys = walker.page, walker.page.keyboard
        button = page.locator('button[value="4"]')
        if how == "double click":
            button.dblclick()
        key = {"held digit": "4", "held Enter": "Enter"}.get(how)
        if key:
            # in the first moment of a page nothing can be pressed
            page.wait_for_timeout(300)
            button.focus()
            for _ in range(40):
                keys.down(key)
                page.wait_for_timeout(30)
            keys.up(key)
        at(walker, 1)
        page.wait_for_timeout(400)
        assert page.url.endswith("/trial/trials/1")
        assert [(row["position"], row["value"]) for row in rows(walker)] == [(0, 4)]
        page.keyboard.press("2")
        at(walker, 2)
        assert [row["value"] for row in rows(walker)] == [4, 2], "a new press counts"


def test_nothing_is_filled_in_by_the_browser(chromium: Any, tmp_path: Path) -> None:
    """S21: no field of a page takes what the browser remembers, and no name is the same on two trials."""
    with at_first_trial(chromium, tmp_path, "plausibility", n_items=2) as (walker, _):
        names = []
        for _trial in range(2):
            fields = walker.page.locator("#answer input, #answer textarea")
            kinds = fields.evaluate_all("all => all.map((one) => one.getAttribute('autocomplete'))")
            assert set(kinds) == {"off"}
            shown = '#answer input:not([type="hidden"]), #answer textarea'
            names.append(set(walker.page.locator(shown).evaluate_all("all => all.map((one) => one.name)")))
            walker.answer(Given(value="3"))
        assert names[0] & names[1] == set()


def test_a_pasted_text_is_stored_as_it_was(chromium: Any, tmp_path: Path) -> None:
    """S21, S20: what is pasted arrives as it is: accents, joined emoji, right-to-left text, no-break space."""
    text = "Él dijo: «\u05e9\u05dc\u05d5\u05dd» \U0001f469\u200d\U0001f680 a\u00a0b."
    with at_first_trial(chromium, tmp_path, "story_ending", n_items=2, permissions=["clipboard-write"]) as (walker, _):
        walker.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        walker.page.locator("form#answer textarea").first.focus()
        walker.page.keyboard.press("Control+v")
        walker.leave("form#answer button.primary")
        assert [row["text"] for row in rows(walker)] == [text]


@pytest.mark.parametrize("task", ["plausibility", "relatedness", "ambiguous_sentence"])
def test_without_scripts(chromium: Any, tmp_path: Path, task: str) -> None:
    """S21: with scripts switched off a study runs to its code; the page says what is lost."""
    with at_first_trial(chromium, tmp_path, task, n_items=3, java_script_enabled=False) as (walker, _):
        page = walker.page
        for position in range(3):
            if position == 0:
                assert "Scripts are switched off" in page.locator("noscript p").inner_text()
                assert page.locator("noscript p").is_visible()
            if task == "relatedness":
                walker.leave('button[value="4"]')
            elif task == "plausibility":
                page.locator('input[value="4"]').check()
                walker.leave("form#answer button.primary")
            elif position == 0:
                walker.leave("form.another button")
            else:
                page.locator("textarea").fill(f"Nobody knew the {walker.read().item.word}.")
                walker.leave("form#answer button.primary")
        walker.leave("button.primary")
        assert page.locator("#code").inner_text() == "DONE1"
        assert len(rows(walker)) == 3


def test_nothing_leaves_this_machine(chromium: Any, tmp_path: Path) -> None:
    """W19: from the link to the code the browser asks nobody but the study's server, for pages, style, script, icon."""
    asked: list[tuple[str, str]] = []
    with at_first_trial(chromium, tmp_path, "plausibility", n_items=2) as (walker, served):
        walker.page.on("request", lambda one: asked.append((one.url, one.resource_type)))
        walker.page.goto(served.link(walker.who))
        for _trial in range(2):
            walker.answer(Given(value="3"))
        walker.leave("button.primary")
        assert walker.page.locator("#code").inner_text() == "DONE1"
    assert {kind for _, kind in asked} >= {"document", "stylesheet", "script", "fetch"}
    assert [url for url, _ in asked if not url.startswith(f"{served.url}/")] == []


# -- the net --------------------------------------------------------------------------------------------------------


@ON_A
def test_offline_at_any_moment(chromium: Any, tmp_path: Path, busy: float) -> None:
    """S9: the net goes away before an answer: within 2 s the page says so, the answer is sent within 5 s after the net
    is back, through a reload too; none is lost, none doubled."""
    draw = random.Random(9)
    with at_first_trial(chromium, tmp_path, "relatedness") as (walker, _):
        page, net = walker.page, walker.page.context
        for position in range(8):
            away, reload = draw.random() < 0.75, draw.random() < 0.5
            net.set_offline(away)
            page.locator(f'button[value="{position % 5 + 1}"]').click()
            if away:
                page.get_by_text(NOT_SAVED).wait_for(timeout=(2 + busy) * 1000)
                assert len(rows(walker)) == position
                if reload:
                    with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
                        page.reload()
                net.set_offline(False)
                if reload:
                    page.goto(f"{walker.served.url}/now")
                wait_until(walker, lambda n=position: len(rows(walker)) > n, seconds=5 + busy)  # type: ignore[misc]
            page.wait_for_url("**/now" if position == 7 else f"**/trial/trials/{position + 1}")
        assert [row["value"] for row in rows(walker)] == [position % 5 + 1 for position in range(8)]
        empty = "Object.keys(localStorage).length === 0"
        wait_until(walker, lambda: bool(page.evaluate(empty)), seconds=5 + busy)


@ON_A
def test_a_restart_between_two_answers(chromium: Any, tmp_path: Path, busy: float) -> None:
    """S10: the server ends and starts again on its folder and port: the participant goes on without a login, and what
    was answered meanwhile arrives."""
    with at_first_trial(chromium, tmp_path, "relatedness") as (walker, served):
        walker.answer(Given(value="1"))
        served.stop()
        served.start()
        walker.answer(Given(value="2"))
        served.stop()
        walker.page.locator('button[value="3"]').click()
        walker.page.get_by_text(NOT_SAVED).wait_for(timeout=(2 + busy) * 1000)
        served.start()
        wait_until(walker, lambda: len(rows(walker)) == 3, seconds=5 + busy)
        at(walker, 3)
        assert [row["value"] for row in rows(walker)] == [1, 2, 3]
        assert len(served.app.store.people()) == 1


def test_a_page_behind_a_faulty_net(chromium: Any, tmp_path: Path) -> None:
    """S9: half of the answers meet a dropped or reset connection, or half an answer: each is stored once."""
    faulty = FaultProxy(0.4, seed=3, faults=("drop", "reset", "cut"), only=lambda line: line.startswith("POST /trial"))
    with faulty, at_first_trial(chromium, tmp_path, "relatedness", n_items=5, proxy=faulty) as (walker, _):
        for position in range(5):
            walker.page.locator(f'button[value="{position + 1}"]').click()
            walker.page.wait_for_url("**/now" if position == 4 else f"**/trial/trials/{position + 1}")
        assert [row["value"] for row in rows(walker)] == [1, 2, 3, 4, 5]
    assert sum(faulty.counts[name] for name in faulty.faults) >= 2, "the net was faulty"
