"""A participant in a real browser: goes from page to page, answers as told, and holds every page to the same rules."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from lexiscope.annotation.store.record import Phase
from lexiscope.core.item import Item
from lexiscope.core.screen import Screen, Shown

from .served import Served

SCREENS = os.environ.get("LEXISCOPE_SCREENS", "")
"""A folder into which the walks put their screenshots (docs/make_screens.py); empty: none are taken."""
NARROW = {"width": 360, "height": 740}
_STEPS = 60


@dataclass(frozen=True)
class Given:
    """What somebody answers: a point of the scale, the key of an option, or a text; and what stands beside it."""

    value: str = ""
    option: str = ""
    text: str = ""
    guess: str = ""
    flags: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True)
class Seen:
    """One trial as it stood on the page: what the store planned, and what the browser showed."""

    phase: Phase
    position: int
    item: Item
    screen: Screen
    shown: Shown
    stimulus: str
    sentences: tuple[str, ...]
    options: tuple[str, ...]
    given: Given | None = None


Decide = Callable[[Seen], Given | None]
"""What to answer; ``None`` where the test has done it itself."""


@dataclass
class Walker:
    """Goes through a study with mouse, finger or keyboard. ``judged`` are the kinds of page that axe has seen."""

    page: Any
    served: Served
    who: str = "5f1e2d3c4b5a69788796a5b4"
    by: str = "mouse"
    judged: set[str] = field(default_factory=set)
    seen: list[Seen] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    name: str = ""

    def __post_init__(self) -> None:
        # a refused answer is told to the script with a status, which the browser reports
        self.page.on("console", lambda one: self._note(one.text) if one.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        self.page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _note(self, text: str) -> None:
        if "status of 422" not in text:
            self.faults.append(f"console: {text}")

    @property
    def participant(self) -> str:
        """The id under which the store knows this participant."""
        found = self.served.app.store.find(self.who)
        assert found is not None
        return found

    @property
    def kind(self) -> str:
        """Which kind of page this is."""
        return str(self.page.locator("body").get_attribute("data-page"))

    def whole_way(self, decide: Decide) -> str:
        """Go from the link to an end, and return the code that the page shows."""
        self.page.goto(self.served.link(self.who))
        return self.on(decide)

    def on(self, decide: Decide, *, until: str = "ended") -> str:
        """Go on from the page that is open, to a page of the kind *until*; the code, where that is the last one."""
        for _ in range(_STEPS):
            kind = self.kind
            self.judge(kind)
            if kind == until or kind in ("ended", "error"):
                return str(self.page.locator("#code").inner_text()) if kind == "ended" else ""
            self._step(kind, decide)
        raise AssertionError(f"the study does not end; it is at {self.page.url}")

    def _step(self, kind: str, decide: Decide) -> None:
        if kind == "trial":
            seen = self.read()
            given = decide(seen)
            if given is not None:
                self.seen.append(Seen(**{**_fields(seen), "given": given}))
                self.answer(given)
            return
        if kind == "about":
            self.choose('input[value="yes"]')
            self.write('input[name="age-about"]', "30")
        if kind == "debrief":
            self.write("textarea", "It was fun.")
        buttons = {"consent": 'button[value="yes"]', "feedback": "a.button"}
        self.leave(buttons.get(kind, "button.primary"))

    # -- acting -------------------------------------------------------------------------------------------------

    def answer(self, given: Given) -> None:
        """Answer the trial that is open and wait for the next page."""
        self.fill(given)
        form = "form#answer"
        pressed = self.page.locator(form).get_attribute("data-advance") == "press"
        name, value = ("value", given.value) if given.value else ("option", given.option)
        if value and pressed:
            self.leave(f'{form} button[name^="{name}-"][value="{value}"]')
            return
        if value:
            self.choose(f'{form} input[name^="{name}-"][value="{value}"]')
        self.leave(f"{form} button.primary")

    def fill(self, given: Given) -> None:
        """Fill in what stands beside the answer, and a text."""
        if given.guess:
            self.write('[name^="guessed_word-"]', given.guess)
        if given.text:
            self.write('form#answer [name^="text-"]', given.text)
        for flag in given.flags:
            self.choose(f'[name^="flag_{flag}-"]')
        if given.comment:
            self.write('[name^="comment-"]', given.comment)

    def leave(self, selector: str) -> None:
        """Press what leads to another page, and wait for it."""
        with self.page.expect_navigation(wait_until="load"):
            self.press(selector)

    def press(self, selector: str) -> None:
        """Press a button or a link."""
        one = self.page.locator(selector).first
        if self.by == "keyboard":
            self.reach(selector)
            self.page.keyboard.press("Enter")
        elif self.by == "touch":
            one.tap()
        else:
            one.click()

    def choose(self, selector: str) -> None:
        """Mark a radio button or a box: the label is what people press."""
        one = self.page.locator(selector).first
        if one.is_checked():
            return
        if self.by == "keyboard":
            self._choose_by_keys(one, selector)
        elif self.by == "touch":
            one.locator("xpath=..").tap()
        else:
            one.locator("xpath=..").click()
        assert one.is_checked()

    def _choose_by_keys(self, one: Any, selector: str) -> None:
        if one.get_attribute("data-key"):
            self.page.keyboard.press(one.get_attribute("data-key"))
        else:
            self.reach(selector, arrows=one.get_attribute("type") == "radio")
            self.page.keyboard.press("Space")

    def write(self, selector: str, text: str) -> None:
        """Write into a field, over what stands there."""
        if self.by == "keyboard":
            self.reach(selector)
            self.page.keyboard.press("Control+a")
            self.page.keyboard.insert_text(text)
        else:
            self.page.locator(selector).first.fill(text)

    def reach(self, selector: str, *, arrows: bool = False) -> None:
        """Go to a control with the Tab key; among radio buttons with an arrow."""
        one = self.page.locator(selector).first
        self.page.wait_for_function("one => !one.disabled", arg=one.element_handle())
        for number in range(_STEPS):
            if one.evaluate("one => one === document.activeElement"):
                return
            inside = arrows and self.page.evaluate("document.activeElement.type === 'radio'")
            self.page.keyboard.press("ArrowDown" if inside and number else "Tab")
        raise AssertionError(f"{selector} cannot be reached by keyboard on {self.page.url}")

    # -- looking ------------------------------------------------------------------------------------------------

    def read(self) -> Seen:
        """Read the trial that is open."""
        phase, position = self.page.url.split("/trial/")[1].split("/")
        flow = self.served.app.flow
        asked = flow.trial_at(self.participant, Phase(phase), int(position))
        stimulus = self.page.locator(".stimulus:not(.again *)")
        return Seen(
            Phase(phase),
            int(position),
            asked.item,
            asked.screen,
            asked.shown,
            str(stimulus.inner_text()) if stimulus.count() else "",
            tuple(self.page.locator(".stimulus:not(.again *) :is(.sentence, p.target)").all_inner_texts()),
            tuple(one.get_attribute("value") for one in self.page.locator('#answer [name^="option-"]').all()),
        )

    def judge(self, kind: str) -> None:
        """Hold a page to the rules: nothing in the console; the first of its kind also: axe, and 360 px."""
        assert self.faults == [], (self.page.url, self.faults)
        self.texts.append(words_on(self.page))
        which = kind
        if kind == "trial":
            which = f"{self.name}-{str(self.page.url).split('/')[-2]}"
        elif kind == "feedback":
            which = f"{self.name}-{kind}"
        elif self.served.definition.language != "en":
            which = f"{kind}-{self.served.definition.language}"
        # the questions before the trials are the page of the trials
        if which in self.judged or re.search("/trial/(qualification|practice)/", self.page.url):
            return
        self.judged.add(which)
        if self.by != "touch":
            # a finger meets the page that a mouse met
            assert axe_faults(self.page) == [], self.page.url
        self._screen(which)
        wide = self.page.viewport_size
        self.page.set_viewport_size(NARROW)
        assert overflow(self.page) <= 0, f"{self.page.url} scrolls sideways at 360 px"
        if self.by == "touch":
            small = small_targets(self.page)
            assert small == [], (self.page.url, small)
        self.page.set_viewport_size(wide)

    def _screen(self, which: str) -> None:
        if SCREENS:
            save_screen(self.page, Path(SCREENS) / f"{which}{'-360' if self.by == 'touch' else ''}.png")


def _fields(seen: Seen) -> dict[str, Any]:
    return {name: getattr(seen, name) for name in Seen.__dataclass_fields__}


def save_screen(page: Any, path: Path) -> None:
    """Save a picture of a page in few colours: text stays sharp and the file small."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.open(BytesIO(page.screenshot(full_page=True)))
    picture.convert("RGB").quantize(32, dither=Image.Dither.NONE).save(path, optimize=True)


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def axe_faults(page: Any) -> list[str]:
    """What axe finds serious or critical on a page."""
    page.evaluate(_axe())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    grave = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in grave]


def overflow(page: Any) -> int:
    """How many pixels a page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def small_targets(page: Any) -> list[str]:
    """Buttons, and labels that are pressed, which are lower or narrower than 44 px."""
    return list(
        page.evaluate(
            """() => [...document.querySelectorAll('main button, main label.point, main label.option, main label.flag')]
            .filter((one) => one.offsetParent && (one.offsetHeight < 44 || one.offsetWidth < 44))
            .map((one) => `${one.outerHTML.slice(0, 90)} ${one.offsetWidth}x${one.offsetHeight}`)"""
        )
    )


def words_on(page: Any) -> str:
    """Every word that a page says, to eyes, to screen readers, and later by its script."""
    return str(
        page.evaluate(
            """() => {
            const said = ['aria-label', 'placeholder', 'title', 'alt', 'data-sending', 'data-waiting', 'data-saved',
              'data-refused', 'data-none', 'data-failed', 'data-some', 'data-open', 'data-copied'];
            const all = [...document.querySelectorAll('*')];
            const parts = all.flatMap((one) => said.map((name) => one.getAttribute(name)).filter(Boolean));
            return [document.title, document.body.textContent, ...parts].join('\\n');
            }"""
        )
    )
