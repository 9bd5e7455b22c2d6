"""Check that the task's page can show the study: its language, its items, its views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.page_texts import has_catalogue, participants_texts
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import ALL_VIEWS, Screen, TaskWords
from lexiscope.resources.corpora.entity_list import EntityList

MOST_POINTS = 21
"""Points of a scale that fit on a page."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error or a warning before the launch: its code, the keys of the setting, what is wrong, and what to do."""

    code: str
    keys: tuple[str | int, ...]
    what: str
    hint: str


def study_screen(definition: StudyDefinition) -> Screen:
    """Return the page of a study's task, with the study's own texts for it, and with or without comments.

    With comments an answer is sent by a separate button: the press of an option would leave no time to write.
    """
    screen, own = catalog.screen(definition.task), definition.words
    if definition.comments is not None:
        screen = replace(screen, comment=definition.comments)
    if definition.comments:
        screen = replace(screen, advance="next")
    if not own.task and not own.guidelines:
        return screen
    given = TaskWords(
        definition.language,
        words=own.task,
        anchors=tuple((anchor.point, anchor.text) for anchor in definition.scale.anchors),
        guidelines={"" if part == ALL_VIEWS else part: text.strip() for part, text in own.guidelines.items()},
    )
    return replace(screen, given=given)


def _word_problems(definition: StudyDefinition) -> Iterator[Problem]:
    """Yield E616 for words of the task, E633 for texts of the pages that are missing in the study's language."""
    screen, language = study_screen(definition), definition.language
    try:
        screen.words(language)
    except InputError as error:
        yield Problem("E616", ("language",), error.what, error.hint)
        return
    # the anchors are the scale's, which is checked by itself
    missing = screen.missing_words(screen.given) if screen.given is not None else ()
    missing = tuple(name for name in missing if not name.startswith("anchors."))
    if missing:
        what = f"Texts of the task are missing in {language!r}: {', '.join(missing)}."
        yield Problem("E616", ("words",), what, "Write them under words: task and guidelines.")
    pages = definition.words.pages
    untranslated = [] if has_catalogue(language) else [text for text in participants_texts() if not pages.get(text)]
    if untranslated:
        n_more = f" and {len(untranslated) - 3} more" if len(untranslated) > 3 else ""
        what = f"Texts of the pages are missing in {language!r}: {', '.join(map(repr, untranslated[:3]))}{n_more}."
        hint = f"Write them under words.pages (lexiscope annotate words {definition.task} --language {language})."
        yield Problem("E633", ("words", "pages"), what, hint)


def screen_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield E616 and E633 for a language, E617 for items, E619 for settings that the task's page cannot show."""
    screen = catalog.screen(definition.task)
    yield from _word_problems(definition)
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
        yield Problem("E619", ("views",), "The study has no view.", "Write [full].")
    for number, view in enumerate(views):
        if view in screen.views and view in views[:number]:
            yield Problem("E619", ("views", number), f"The view {view!r} is listed twice.", "List each view once.")
        elif view == "word" and view in screen.views and screen.n_usages > 1 and not differ:
            what = "The view 'word' would show the same word twice in every item, so all answers would be equal."
            yield Problem("E619", ("views", number), what, "Remove it; its accuracy is .5 by construction.")
    yield from setting_problems(definition, screen)
    if definition.catch.per_list and (screen.widget != "scale" or screen.n_usages < 2):
        what = "A catch trial shows one sentence twice; this task does not show pairs of sentences on a scale."
        yield Problem("E619", ("catch", "per_list"), what, "Set it to 0, and add an attention check.")


def setting_problems(definition: StudyDefinition, screen: Screen) -> Iterator[Problem]:
    """Yield E619 for settings with which no page can be shown: unknown views, reveal, search, scale."""
    for number, view in enumerate(definition.views):
        if view not in screen.views:
            what = f"The task {definition.task!r} has no view {view!r}."
            yield Problem("E619", ("views", number), what, f"Its views: {', '.join(screen.views)}.")
    if definition.reveal and screen.reveal_view not in definition.views:
        what = f"reveal needs the view {screen.reveal_view!r}, which the study does not have."
        yield Problem("E619", ("reveal",), what, "Set reveal: false, or add the view.")
    if screen.widget == "search" and not definition.search:
        yield Problem("E619", ("search",), "The file of entries to search is not set.", "Set search.")
    if screen.widget == "scale" and not 2 <= len(definition.scale.scale().points) <= MOST_POINTS:
        what = f"A page shows a scale of 2 to {MOST_POINTS} points."
        yield Problem("E619", ("scale", "low"), what, "Change scale.low, scale.high or scale.step.")


def search_problems(definition: StudyDefinition) -> Iterator[Problem]:
    """Yield E619 if the file that participants search cannot be read; a study in its folder has a copy of it."""
    if not definition.search:
        return
    try:
        EntityList.read(Path(definition.search))
    except InputError as error:
        hint = error.hint or "Set search to the file of the entries."
        yield Problem("E619", ("search",), f"{definition.search}: {error.what}", hint)
