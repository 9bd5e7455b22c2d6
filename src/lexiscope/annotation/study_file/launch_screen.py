"""Check that the task's page can show what the study wants shown: its language, its items, its views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import Screen
from lexiscope.resources.corpora.entity_list import EntityList

MOST_POINTS = 21
"""Points of a scale that fit on a page."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason not to launch: its code, the keys of the setting, what is wrong, and what to do."""

    code: str
    keys: tuple[str | int, ...]
    what: str
    hint: str


def screen_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield E616 for a language, E617 for items, E619 for settings that the task's page cannot show."""
    screen = catalog.screen(definition.task)
    try:
        screen.words(definition.language)
    except InputError as error:
        yield Problem("E616", ("language",), error.what, error.hint)
    for item in items:
        try:
            screen.check(item)
        except InputError as error:
            keys = ("dataset",) if definition.dataset else ("items",)
            yield Problem("E617", keys, f"{error.what} (item {item.item_id!r})", error.hint)
            break
    views = definition.views
    differ = any(len({usage.target.casefold() for usage in item.usages}) > 1 for item in items)
    if not views:
        yield Problem("E619", ("views",), "the study has no view", "write [full]")
    for number, view in enumerate(views):
        if view in screen.views and view in views[:number]:
            yield Problem("E619", ("views", number), f"the view {view!r} stands twice", "name each arm once")
        elif view == "word" and view in screen.views and screen.n_usages > 1 and not differ:
            what = "the view 'word' would show the same word twice in every item: nobody could say that they differ"
            yield Problem("E619", ("views", number), what, "leave it out; its accuracy is .5 by construction")
    yield from setting_problems(definition, screen)
    if definition.catch.per_list and (screen.widget != "scale" or screen.n_usages < 2):
        what = "a catch trial shows one sentence twice; this task shows no pair of sentences on a scale"
        yield Problem("E619", ("catch", "per_list"), what, "set it to 0, and add an attention check")


def setting_problems(definition: StudyDefinition, screen: Screen) -> Iterator[Problem]:
    """Yield E619 for settings with which no page can be shown: unknown views, nothing to reveal or search, a scale."""
    for number, view in enumerate(definition.views):
        if view not in screen.views:
            what = f"the task {definition.task!r} has no view {view!r}"
            yield Problem("E619", ("views", number), what, f"it has: {', '.join(screen.views)}")
    if definition.reveal and screen.reveal_view not in definition.views:
        what = f"nothing is revealed: no arm has the view {screen.reveal_view!r}"
        yield Problem("E619", ("reveal",), what, "set reveal: false, or add the view")
    if screen.widget == "search" and not definition.search:
        yield Problem("E619", ("search",), "the study names nothing to search", "name the file of what can be found")
    if screen.widget == "scale" and not 2 <= len(definition.scale.scale().points) <= MOST_POINTS:
        what = f"a page shows a scale of 2 to {MOST_POINTS} points"
        yield Problem("E619", ("scale", "low"), what, "set scale.low, scale.high and scale.step")


def search_problems(definition: StudyDefinition) -> Iterator[Problem]:
    """Yield E619 where the file that participants search cannot be read; a study in its folder has a copy of it."""
    if not definition.search:
        return
    try:
        EntityList.read(Path(definition.search))
    except InputError as error:
        hint = error.hint or "name the file of what can be found"
        yield Problem("E619", ("search",), f"{definition.search}: {error.what}", hint)
