"""What every task in the catalog owes: its words, answer functions for known capabilities, measures, a scale.

A task that people answer (it has a ``SCREEN``) owes more. Its module offers

- ``example_items(language) -> tuple[Item, ...]``: the worked examples of ``examples.jsonl`` as items, at least one in
  each of ``en`` and ``es``. Their ``gold`` is the right answer as text: a point of the scale (``"5"``), the stored
  value of an option, or, for text and search, an answer that is accepted;
- ``FAULTS: tuple[str, ...]``, where its texts can be refused: every key that ``SCREEN.faults`` may return.

What is tested of the page is ``screen.html``, rendered as the app does: autoescaped, undefined names refused, given
what ``SCREEN.stimulus`` returns, ``words``, ``shown``, ``language`` and ``line``. ``line`` makes one piece of safe HTML
of a text in pieces (``core.screen.Line``), emphasised pieces in ``<strong>``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jinja2
import pytest
from markupsafe import Markup

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import AnswerInvalid, Line, Screen, Shown
from lexiscope.core.subject import CAPABILITIES, AnswersSome
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage

TASKS = catalog.names("tasks")
ASKED = tuple(name for name in TASKS if hasattr(catalog.module("tasks", name), "SCREEN"))
LANGUAGES = ("en", "es")


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> Task:
    return catalog.task(request.param)


def test_there_are_tasks() -> None:
    """The catalog finds the tasks by their folders."""
    assert "relatedness" in TASKS


def test_name_and_summary(task: Task) -> None:
    """A task is named as its folder, asks its question in one sentence, and says it in its docstring."""
    assert task.name in TASKS
    assert task.summary.endswith("?")
    assert catalog.summary("tasks", task.name)


def test_answers_name_known_capabilities(task: Task) -> None:
    """Each capability is known and named once, with a function."""
    named = [capability for capability, _ in task.answers]
    assert named
    assert len(set(named)) == len(named)
    assert set(named) <= set(CAPABILITIES)
    assert all(callable(function) for _, function in task.answers)


def test_measures_are_described(task: Task) -> None:
    """Every measure has a name of its own and a description; a scaled measure says which way is up."""
    names = [name for name, _ in task.measures]
    assert names
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and text for name, text in task.measures)


def test_words_stand_in_its_folder(task: Task) -> None:
    """Guidelines and examples are there and not empty; screen and prompt where the question can be asked in words.

    Every example line is a JSON object. A task without screen is answered by scoring texts: it has no page to show.
    """
    folder = catalog._room("tasks") / task.name
    asked = ("screen.html", "prompt.txt")
    for name in ("guidelines.md", "examples.jsonl", *(asked if task.name in ASKED else ())):
        assert (folder / name).read_text(encoding="utf-8").strip(), name
    assert task.name in ASKED or not any((folder / name).exists() for name in asked)
    for line in (folder / "examples.jsonl").read_text(encoding="utf-8").splitlines():
        assert isinstance(json.loads(line), dict)


def test_some_subject_can_answer(task: Task) -> None:
    """At least one kind of subject in the catalog fits the task."""
    assert [kind for name, kind, _ in catalog.pairings() if name == task.name]


# -- what people see ------------------------------------------------------------------------------------------


@pytest.fixture(params=ASKED)
def asked(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def screen(asked: str) -> Screen:
    return catalog.screen(asked)


def examples(name: str, language: str) -> tuple[Item, ...]:
    return catalog.module("tasks", name).example_items(language)  # type: ignore[attr-defined]


def ways(screen: Screen) -> list[Shown]:
    """Return every way in which a trial of the task can be shown."""
    sides = ("as_given", "swapped") if screen.swaps_sides else (None,)
    found = [Shown(view, side) for view in screen.views for side in sides]
    if screen.reveal_view is not None:
        found += [Shown(screen.reveal_view, side, revealed=True) for side in sides]
    return found


def as_html(line: Line) -> Markup:
    return Markup("").join(Markup("<strong>{}</strong>").format(text) if bold else text for text, bold in line)


def rendered(screen: Screen, item: Item, shown: Shown, language: str) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True)
    environment.globals["line"] = as_html
    template = environment.from_string((screen.folder / "screen.html").read_text(encoding="utf-8"))
    given = {"words": screen.words(language), "shown": shown, "language": language}
    return template.render({**screen.stimulus(item, shown), **given})


def with_markup(text: str) -> str:
    """Put markup into a text letter by letter, so that what was a part of another text still is."""
    return text.replace("e", "<e>").replace("a", "<a>")


def hostile(item: Item) -> Item:
    usages = tuple(
        replace(
            usage,
            text=with_markup(usage.text),
            start=len(with_markup(usage.text[: usage.start])),
            end=len(with_markup(usage.text[: usage.end])),
        )
        for usage in item.usages
    )
    conditions = {
        name: with_markup(value) if isinstance(value, str) else value for name, value in item.conditions.items()
    }
    return replace(item, usages=usages, options=tuple(map(with_markup, item.options)), conditions=conditions)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from texts_in(each)


def right_form(screen: Screen, item: Item, view: str) -> dict[str, str]:
    """Return the form that a page sends for the right answer to an example."""
    assert item.gold is not None
    if screen.widget == "scale":
        return {"value": item.gold}
    if screen.widget == "choice":
        return {"option": next(choice.key for choice in screen.options_of(item, view) if choice.value == item.gold)}
    return {"text": item.gold}


def test_words_are_complete_in_every_language(asked: str, screen: Screen) -> None:
    """English and Spanish are there; every language has the same words, none of them empty."""
    assert set(LANGUAGES) <= set(screen.languages)
    wanted = set(screen.words("en"))
    for language in screen.languages:
        words = screen.words(language)
        assert set(words) == wanted, language
        assert all(text.strip() for text in words.values()), language


def test_every_part_of_the_page_has_its_words(asked: str, screen: Screen) -> None:
    """The words that the declaration calls for are written: question, flags, options, guess, placeholder, faults."""
    wanted = {"question", *(f"flag_{name}" for name in screen.flags), *(f"fold_{name}" for name in screen.fold_outs)}
    wanted |= {"guess"} if screen.guess_views else set()
    wanted |= {"another"} if screen.drawn else set()
    wanted |= {"placeholder"} if screen.widget == "text" else set()
    wanted |= set(getattr(catalog.module("tasks", asked), "FAULTS", ()))
    for item in examples(asked, "en"):
        for view in screen.views:
            wanted |= {f"option_{each.key}" for each in screen.options_of(item, view) if not each.lines}
    assert wanted <= set(screen.words("en")), wanted - set(screen.words("en"))


def test_anchors_have_words_in_every_language(asked: str, screen: Screen) -> None:
    """Where a scale has words at its points, it has them at the same points in every language of the task."""
    if screen.widget == "scale":
        assert screen.scale is not None
        assert set(screen.anchors) == set(screen.languages)
        points = {language: [point for point, _ in anchors] for language, anchors in screen.anchors.items()}
        assert all(found == points["en"] for found in points.values())
        assert all(screen.scale.contains(point) for point in points["en"])
    else:
        assert screen.scale is None
        assert not screen.anchors


def test_guidelines_stand_in_the_same_languages(asked: str, screen: Screen) -> None:
    """Guidelines exist in English and Spanish, and in every language of a task that opens them on its page."""
    for language in screen.languages if "guidelines" in screen.fold_outs else LANGUAGES:
        assert len(screen.guidelines(language).split()) > 30


def test_measure_and_scale_are_the_task_s_own(asked: str, screen: Screen) -> None:
    """Rows are stored under a measure that the task describes, on the scale that it names."""
    task = catalog.task(asked)
    assert screen.measure in dict(task.measures)
    assert task.scale == screen.scale


def test_examples_are_items_of_the_task(asked: str, screen: Screen) -> None:
    """There are worked examples in both languages; each has what the page shows of an item, and its answer is taken."""
    for language in LANGUAGES:
        items = examples(asked, language)
        assert items, language
        assert len({item.item_id for item in items}) == len(items)
        for item in items:
            screen.check(item)
            assert all(usage.language == language or screen.n_usages > 1 for usage in item.usages)
            assert screen.question(item, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_is_drawn(asked: str, screen: Screen, language: str) -> None:
    """The stimulus of every example is drawn in every view, side and phase, with no name left undefined."""
    for item in examples(asked, language):
        for shown in ways(screen):
            html = rendered(screen, item, shown, language)
            assert "&lt;strong" not in html
            for name in screen.fold_outs:
                assert name == "guidelines" or f"fold_{name}" in screen.stimulus(item, shown)
        for view in screen.views:
            assert "{" not in screen.question(item, language, view=view)


def test_markup_in_items_is_escaped(asked: str, screen: Screen) -> None:
    """S38: text of an item is text on the page, whatever stands in it."""
    for item in map(hostile, examples(asked, "en")):
        for shown in ways(screen):
            html = rendered(screen, item, shown, "en")
            assert "<e>" not in html
            assert "<a>" not in html
            given = "".join(texts_in(dict(screen.stimulus(item, shown))))
            assert ("&lt;" in html) or "<" not in given


def test_no_page_tells_the_answer(asked: str, screen: Screen) -> None:
    """What is shown and what is offered does not change with the item's gold answer."""
    for item in examples(asked, "en"):
        other = replace(item, gold="another answer")
        for shown in ways(screen):
            assert screen.stimulus(item, shown) == screen.stimulus(other, shown)
            assert screen.choices(item, shown) == screen.choices(other, shown)


def test_a_hidden_target_is_nowhere_on_the_page(asked: str, screen: Screen) -> None:
    """In the view `context` neither the page nor the question nor an option holds a target."""
    if "context" not in screen.views:
        assert screen.reveal_view is None
        return
    shown = Shown("context")
    for item in examples(asked, "en"):
        page = [*texts_in(dict(screen.stimulus(item, shown))), screen.question(item, "en", view="context")]
        page += texts_in([choice.lines for choice in screen.choices(item, shown)])
        assert not [text for text in page for usage in item.usages if usage.target in text]


def test_the_right_answer_is_read(asked: str, screen: Screen) -> None:
    """The right answer of every example is taken in every view, with a comment and flags where the page has them."""
    extra = {"comment": " well ", "guessed_word": "guess", **{f"flag_{name}": "1" for name in screen.flags}}
    for item in [*examples(asked, "en"), *examples(asked, "es")]:
        for view in screen.views:
            reading = screen.read(right_form(screen, item, view) | extra, item, view=view)
            given = {"scale": reading.value, "choice": reading.option}.get(screen.widget, reading.text)
            assert given == (float(item.gold or "nan") if screen.widget == "scale" else item.gold)
            assert reading.comment == ("well" if screen.comment else None)
            assert reading.guessed_word == ("guess" if view in screen.guess_views else None)
            assert set(screen.flags) <= set(reading.flags)


def test_no_answer_is_no_reading(asked: str, screen: Screen) -> None:
    """An empty form is refused, and so is what the page does not offer; a flag replaces an answer only where it may."""
    flags = {f"flag_{name}": "1" for name in screen.flags}
    for item in examples(asked, "en"):
        for view in screen.views:
            for form in ({}, {"value": "", "option": "", "text": " "}, {"value": "1e9", "option": "no such option"}):
                with pytest.raises(AnswerInvalid):
                    screen.read(form, item, view=view)
            if screen.may_stay_empty:
                assert set(screen.read(flags, item, view=view).flags) == set(screen.flags)
            else:
                with pytest.raises(AnswerInvalid):
                    screen.read(flags, item, view=view)


def test_an_item_without_its_parts_is_refused(asked: str, screen: Screen) -> None:
    """An item with another number of usages, or without a condition that the page shows, is refused by name."""
    item = examples(asked, "en")[0]
    usage = Usage("one more", 0, 3)
    for broken in (
        replace(item, usages=(*item.usages, usage)),
        *(
            replace(item, conditions={k: v for k, v in item.conditions.items() if k != name})
            for name in screen.requires
        ),
    ):
        with pytest.raises(InputError, match=item.item_id):
            screen.check(broken)


def test_the_baselines_that_a_task_names_answer_it(task: Task) -> None:
    """The rules of the kind ``baseline`` that a task names are such rules, and each says that it answers the task."""
    for rule in task.baselines:
        subject = catalog.subject(f"baseline:{rule}")
        assert isinstance(subject, AnswersSome)
        assert task.name in subject.tasks
    assert (task.name in catalog.subject_tasks("baseline")) == bool(task.baselines)


def test_an_example_is_asked_on_the_sheets_of_its_own_task_alone() -> None:
    """``on_sheet`` tells the tasks apart by what an item has, and ``truth`` says that its options are t and f."""
    screens = {name: screen for name, screen in catalog.screens().items() if screen.on_sheet is not None}
    assert screens
    for own in screens:
        make = getattr(catalog.module("tasks", own), "example_items")  # noqa: B009
        for item in make("en"):
            assert [name for name, screen in screens.items() if screen.on_sheet and screen.on_sheet(item)] == [own]
            options = catalog.task(own).options
            assert catalog.task(own).truth == (options is not None and set(options(item, "full")) == {"t", "f"})
