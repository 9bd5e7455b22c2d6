"""Contracts of a task: its question, measures and answer functions; and of its screen, if people can answer it.

The page that is tested is ``screen.html`` of the task's folder, rendered as the web app does: autoescaped, undefined
names are errors, given what ``SCREEN.stimulus`` returns, ``words``, ``shown``, ``language`` and ``line``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import jinja2
from markupsafe import Markup

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.screen import AnswerInvalid, Line, Screen, Shown
from lexiscope.core.subject import CAPABILITIES, AnswersSome
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.testing.contract import hold, named, repeated


class LoadedTask:
    """A task under the name or path by which it is loaded, with its worked examples by language.

    ``screen`` is ``None`` for a task that people are not asked. The module of a task with a screen has a function
    ``example_items(language)``: worked examples as items, whose ``gold`` is the correct answer as text (a point of the
    scale, the stored value of an option, or an accepted text).
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.task: Task = catalog.task(name)
        module = catalog.module("tasks", name)
        self.screen: Screen | None = getattr(module, "SCREEN", None)
        self.faults: tuple[str, ...] = getattr(module, "FAULTS", ())
        self._examples = getattr(module, "example_items", None)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which the task asks people; English for a task without a screen."""
        return self.screen.languages if self.screen is not None else ("en",)

    def examples(self, language: str) -> tuple[Item, ...]:
        """Return the worked examples in a language; none if the module has no ``example_items``.

        A language in which no example is written has none.
        """
        if self._examples is None:
            return ()
        try:
            return tuple(self._examples(language))
        except InputError:
            return ()


class AskedTask(LoadedTask):
    """A task with its screen."""

    screen: Screen

    @property
    def example_language(self) -> str:
        """The first language in which there are worked examples; the first of all if there are none."""
        return next((language for language in self.languages if self.examples(language)), self.languages[0])

    def shown_examples(self) -> Iterator[tuple[str, Item]]:
        """Yield every worked example with its language."""
        for language in self.languages:
            yield from ((language, item) for item in self.examples(language))

    def ways(self) -> tuple[Shown, ...]:
        """Return every way in which a trial of the task can be shown: view, side, and after the target is revealed."""
        sides = ("as_given", "swapped") if self.screen.swaps_sides else (None,)
        ways = [Shown(view, side) for view in self.screen.views for side in sides]
        if self.screen.reveal_view is not None:
            ways += [Shown(self.screen.reveal_view, side, revealed=True) for side in sides]
        return tuple(ways)

    def html(self, item: Item, shown: Shown, language: str) -> str:
        """Return the page of a trial. Errors: those of jinja2 for a name that the page uses and is not given."""
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True)
        environment.globals["line"] = _line
        template = environment.from_string((self.screen.folder / "screen.html").read_text(encoding="utf-8"))
        given = {"words": self.screen.words(language), "shown": shown, "language": language}
        return template.render({**self.screen.stimulus(item, shown), **given})


def check_task(name: str, *, only: str = "") -> tuple[str, ...]:
    """Hold a task to :data:`TASK_CONTRACTS`, and its screen to :data:`SCREEN_CONTRACTS`; return the contracts kept.

    *name* is that of an entry point, or the path of a file or folder; *only* names a single contract.
    Errors: :class:`ContractError` with everything that is broken; those of the catalog.
    """
    loaded = LoadedTask(name)
    if loaded.screen is None:
        return hold(f"task {name}", loaded, TASK_CONTRACTS, only)
    return hold(f"task {name}", AskedTask(name), MappingProxyType({**TASK_CONTRACTS, **SCREEN_CONTRACTS}), only)


# -- every task -------------------------------------------------------------------------------------------------------


def asks_a_question(loaded: LoadedTask) -> Iterator[str]:
    """The task's name is a plain word, its summary one question, and its module has a docstring."""
    if not loaded.task.name.isidentifier():
        yield f"the name {loaded.task.name!r} is not a plain word of letters, digits and _"
    if not loaded.task.summary.endswith("?"):
        yield f"the summary does not end with a question mark: {loaded.task.summary!r}"
    if not catalog.summary("tasks", loaded.name):
        yield "the module has no docstring: lexiscope list tasks has nothing to show"


def answers_name_known_capabilities(loaded: LoadedTask) -> Iterator[str]:
    """Each capability that answers the task is known and named once, with a function."""
    capabilities = [capability for capability, _ in loaded.task.answers]
    if not capabilities:
        yield "no capability answers the task"
    yield from (f"{name} is named twice" for name in repeated(capabilities))
    yield from (f"{name} is not one of {', '.join(CAPABILITIES)}" for name in capabilities if name not in CAPABILITIES)
    yield from (
        f"the answer of {name} is not a function" for name, answer in loaded.task.answers if not callable(answer)
    )


def measures_are_described(loaded: LoadedTask) -> Iterator[str]:
    """Every measure has a unique name and a description."""
    measures = loaded.task.measures
    if not measures:
        yield "the task has no measure"
    yield from (f"the measure {name} is there twice" for name in repeated(name for name, _ in measures))
    yield from (f"the measure {name!r} is not a plain word" for name, _ in measures if not name.isidentifier())
    yield from (f"the measure {name} has no description" for name, text in measures if not text.strip())


def some_subject_can_answer(loaded: LoadedTask) -> Iterator[str]:
    """At least one kind of subject of the catalog has a capability that answers the task."""
    wanted = {capability for capability, _ in loaded.task.answers}
    if not any(wanted & set(catalog.subject_capabilities(kind)) for kind in catalog.names("subjects")):
        yield f"no kind of subject has {' or '.join(sorted(wanted))}"


def baselines_answer(loaded: LoadedTask) -> Iterator[str]:
    """The rules of the kind ``baseline`` that the task names are such rules, and each answers the task."""
    for rule in loaded.task.baselines:
        try:
            subject = catalog.subject(f"baseline:{rule}")
        except SpecError as error:
            yield error.what
            continue
        if not isinstance(subject, AnswersSome) or loaded.task.name not in subject.tasks:
            yield f"baseline:{rule} does not answer the task"


def examples_can_be_asked(loaded: LoadedTask) -> Iterator[str]:
    """The task accepts each of its worked examples, whose IDs are unique within a language."""
    for language in loaded.languages:
        items = loaded.examples(language)
        yield from (f"two examples in {language} are {name}" for name in repeated(item.item_id for item in items))
        for item in items:
            try:
                loaded.task.check_item(item)
            except InputError as error:
                yield f"the example {item.item_id} ({language}): {error.what}"


TASK_CONTRACTS = named(
    asks_a_question,
    answers_name_known_capabilities,
    measures_are_described,
    some_subject_can_answer,
    baselines_answer,
    examples_can_be_asked,
)
"""The contracts of every task by their names."""


# -- what people see --------------------------------------------------------------------------------------------------


def words_are_complete(asked: AskedTask) -> Iterator[str]:
    """Every language of the screen has the same words, and none of them is empty."""
    first = asked.languages[0]
    wanted = set(asked.screen.words(first))
    for language in asked.languages:
        words = asked.screen.words(language)
        yield from (f"{language} has no text {name!r}, unlike {first}" for name in sorted(wanted - set(words)))
        yield from (f"{language} has {name!r}, which is not in {first}" for name in sorted(set(words) - wanted))
        yield from (f"{name!r} is empty in {language}" for name, text in words.items() if not text.strip())


def every_part_has_its_words(asked: AskedTask) -> Iterator[str]:
    """The words that the screen needs are written: question, flags, options, guess, placeholder, faults."""
    screen = asked.screen
    wanted = {"question", *(f"flag_{name}" for name in screen.flags), *(f"fold_{name}" for name in screen.fold_outs)}
    wanted |= {"guess"} if screen.guess_views else set()
    wanted |= {"another"} if screen.drawn else set()
    wanted |= {"placeholder"} if screen.widget == "text" else set()
    wanted |= set(asked.faults)
    for _, item in asked.shown_examples():
        for view in screen.views:
            wanted |= {f"option_{choice.key}" for choice in screen.options_of(item, view) if not choice.lines}
    language = asked.languages[0]
    yield from (f"{language} has no text {name!r}" for name in sorted(wanted - set(screen.words(language))))


def anchors_have_words_in_every_language(asked: AskedTask) -> Iterator[str]:
    """Points of a scale that have words have them in every language; a question without a scale has no such points."""
    screen = asked.screen
    if screen.widget != "scale":
        if screen.scale is not None or screen.anchors:
            yield f"the screen is a {screen.widget}, but has a scale or words at its points"
        return
    if screen.scale is None:
        yield "the screen is a scale, but has none"
        return
    points = {language: [point for point, _ in anchors] for language, anchors in screen.anchors.items()}
    first = points.get(asked.languages[0], [])
    for language in asked.languages:
        if points.get(language) != first:
            yield f"the points with words are {points.get(language)} in {language}, {first} in {asked.languages[0]}"
    yield from (f"the point {point:g} is not on the scale {screen.scale}"
                for point in first if not screen.scale.contains(point))  # fmt: skip


def guidelines_are_in_every_language(asked: AskedTask) -> Iterator[str]:
    """The guidelines are written in some language; if the page opens them, in every language of the screen."""
    languages = asked.languages if "guidelines" in asked.screen.fold_outs else asked.screen.guided_languages
    if not languages:
        yield "there are no guidelines"
    yield from (f"the guidelines in {language} are empty"
                for language in languages if not asked.screen.guidelines(language).strip())  # fmt: skip


def screen_and_task_agree(asked: AskedTask) -> Iterator[str]:
    """People's answers are stored under a measure of the task, on the task's scale."""
    if asked.screen.measure not in dict(asked.task.measures):
        yield f"the screen's measure {asked.screen.measure!r} is not among the task's"
    if asked.task.scale != asked.screen.scale:
        yield f"the scale of the screen is {asked.screen.scale}, that of the task {asked.task.scale}"


def examples_are_shown(asked: AskedTask) -> Iterator[str]:
    """There is a worked example; each has all that the page shows, and a question."""
    if not asked.examples(asked.example_language):
        yield "there is no worked example: write example_items(language) in the task's module"
    for language, item in asked.shown_examples():
        try:
            asked.screen.check(item)
        except InputError as error:
            yield f"the example {item.item_id} ({language}): {error.what}"
        for view in asked.screen.views:
            question = asked.screen.question(item, language, view=view)
            if not question.strip() or "{" in question:
                yield f"the question of the example {item.item_id} ({language}, {view}) is {question!r}"


def page_is_drawn(asked: AskedTask) -> Iterator[str]:
    """Every example is drawn in every view, side and phase: all names are defined, and emphasis is not escaped."""
    for language, item in asked.shown_examples():
        for shown in asked.ways():
            try:
                html = asked.html(item, shown, language)
            except jinja2.TemplateError as error:
                yield f"the example {item.item_id} ({language}, {shown.appears_as}): {error}"
                continue
            if "&lt;strong" in html:
                yield f"the example {item.item_id} ({language}, {shown.appears_as}) shows <strong> as text"


def markup_in_items_is_escaped(asked: AskedTask) -> Iterator[str]:
    """Markup in the text of an item is text on the page: an item file cannot run code in a participant's browser."""
    language = asked.example_language
    for item in asked.examples(language):
        hostile = _hostile(item)
        for shown in asked.ways():
            html = asked.html(hostile, shown, language)
            if re.search("<[ea]>", html):
                yield f"the page of the example {item.item_id} ({shown.appears_as}) has its text as markup"


def gold_changes_nothing(asked: AskedTask) -> Iterator[str]:
    """What is shown and what can be chosen does not depend on the item's correct answer."""
    for language, item in asked.shown_examples():
        other = replace(item, gold="another answer")
        for shown in asked.ways():
            stimuli = asked.screen.stimulus(item, shown), asked.screen.stimulus(other, shown)
            choices = asked.screen.choices(item, shown), asked.screen.choices(other, shown)
            if stimuli[0] != stimuli[1] or choices[0] != choices[1]:
                yield f"the page of the example {item.item_id} ({language}) changes with gold"


def hidden_target_is_nowhere(asked: AskedTask) -> Iterator[str]:
    """In the view ``context`` neither the page nor the question nor an option has a target in it."""
    if "context" not in asked.screen.views:
        return
    shown = Shown("context")
    for language, item in asked.shown_examples():
        texts = [*texts_in(dict(asked.screen.stimulus(item, shown)))]
        texts += [asked.screen.question(item, language, view="context")]
        texts += texts_in([choice.lines for choice in asked.screen.choices(item, shown)])
        targets = {usage.target for usage in item.usages if any(usage.target in text for text in texts)}
        yield from (f"the page of the example {item.item_id} ({language}) shows {target!r}" for target in targets)


def right_answer_is_read(asked: AskedTask) -> Iterator[str]:
    """The correct answer of every example is accepted in every view and read as it is, with comment and flags."""
    screen = asked.screen
    extra = {"comment": " well ", "guessed_word": "guess", **{f"flag_{name}": "1" for name in screen.flags}}
    for language, item in asked.shown_examples():
        where = f"the example {item.item_id} ({language})"
        if item.gold is None:
            yield f"{where} has no correct answer (gold)"
            continue
        for view in screen.views:
            try:
                reading = screen.read(_right_form(screen, item, view) | extra, item, view=view)
            except AnswerInvalid as error:
                yield f"the correct answer of {where}, view {view}, is not accepted: {error.what}"
                continue
            value = "" if reading.value is None else f"{reading.value:g}"
            answer = {"scale": value, "choice": reading.option}.get(screen.widget, reading.text)
            right = f"{float(item.gold):g}" if screen.widget == "scale" else item.gold
            if answer != right:
                yield f"the correct answer of {where}, view {view}, is {right!r}, and is read as {answer!r}"
            if reading.comment != ("well" if screen.comment else None):
                yield f"the comment on {where} is read as {reading.comment!r}"
            if reading.guessed_word != ("guess" if view in screen.guess_views else None):
                yield f"the guess at {where}, view {view}, is read as {reading.guessed_word!r}"
            yield from (f"the flag {name} of {where} is lost" for name in set(screen.flags) - set(reading.flags))


def no_answer_is_no_reading(asked: AskedTask) -> Iterator[str]:
    """An empty form and what the page does not offer are errors; a flag replaces an answer only if it may."""
    screen = asked.screen
    flags = {f"flag_{name}": "1" for name in screen.flags}
    forms: list[tuple[str, dict[str, str]]] = [
        ("an empty form", {}),
        ("an empty answer", {"value": "", "option": "", "text": " "}),
        ("an answer that is not offered", {"value": "1e9", "option": "no such option"}),
    ]
    for item in asked.examples(asked.example_language):
        for view in screen.views:
            for what, form in forms if screen.may_stay_empty else [*forms, ("flags without an answer", flags)]:
                if _is_read(screen, form, item, view):
                    yield f"{what} to the example {item.item_id}, view {view}, is accepted"
            if screen.may_stay_empty and not _is_read(screen, flags, item, view):
                yield f"flags alone are not accepted at the example {item.item_id}, view {view}"


def items_without_their_parts_are_errors(asked: AskedTask) -> Iterator[str]:
    """An item with another number of usages, or without a condition that the page shows, is an error with its ID."""
    for item in asked.examples(asked.example_language)[:1]:
        usage = Usage("one more", 0, 3)
        broken = {"one usage too many": replace(item, usages=(*item.usages, usage))}
        for name in asked.screen.requires:
            rest = {key: value for key, value in item.conditions.items() if key != name}
            broken[f"no {name}"] = replace(item, conditions=rest)
        for what, without in broken.items():
            try:
                asked.screen.check(without)
            except InputError as error:
                if item.item_id not in str(error):
                    yield f"the error for an item with {what} does not name the item"
            else:
                yield f"an item with {what} is accepted"


SCREEN_CONTRACTS = named(
    words_are_complete,
    every_part_has_its_words,
    anchors_have_words_in_every_language,
    guidelines_are_in_every_language,
    screen_and_task_agree,
    examples_are_shown,
    page_is_drawn,
    markup_in_items_is_escaped,
    gold_changes_nothing,
    hidden_target_is_nowhere,
    right_answer_is_read,
    no_answer_is_no_reading,
    items_without_their_parts_are_errors,
)
"""The contracts of a task that people can answer by their names."""


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a value, however deep.

    >>> list(texts_in({"a": ["b", ("c", 1)]}))
    ['b', 'c']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts_in(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from texts_in(part)


def _line(line: Line) -> Markup:
    return Markup("").join(Markup("<strong>{}</strong>").format(text) if bold else text for text, bold in line)


def _with_markup(text: str) -> str:
    """Put markup into a text letter by letter, so that what was a part of another text still is."""
    return text.replace("e", "<e>").replace("a", "<a>")


def _hostile(item: Item) -> Item:
    usages = tuple(
        replace(
            usage,
            text=_with_markup(usage.text),
            start=len(_with_markup(usage.text[: usage.start])),
            end=len(_with_markup(usage.text[: usage.end])),
        )
        for usage in item.usages
    )
    conditions = {
        name: _with_markup(value) if isinstance(value, str) else value for name, value in item.conditions.items()
    }
    return replace(item, usages=usages, options=tuple(map(_with_markup, item.options)), conditions=conditions)


def _right_form(screen: Screen, item: Item, view: str) -> dict[str, str]:
    """Return the form that a page sends for the correct answer to an example."""
    gold = item.gold or ""
    if screen.widget == "scale":
        return {"value": gold}
    if screen.widget == "choice":
        keys = [choice.key for choice in screen.options_of(item, view) if choice.value == gold]
        return {"option": keys[0] if keys else gold}
    return {"text": gold}


def _is_read(screen: Screen, form: Mapping[str, str], item: Item, view: str) -> bool:
    try:
        screen.read(form, item, view=view)
    except AnswerInvalid:
        return False
    return True
