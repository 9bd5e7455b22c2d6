"""May a study be launched? Everything that would harm participants, the data or the analysis is found before.

A problem names the setting that it is about, so that a file can be shown at its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from lexiscope.annotation.study_file.definition import Question, StudyDefinition
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.study_file.launch_material import design_problems, plan_problems, question_problems
from lexiscope.annotation.study_file.launch_rules import rule_problems
from lexiscope.annotation.study_file.launch_screen import screen_problems
from lexiscope.annotation.study_file.problem import Problem
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item

__all__ = ["Problem", "ready_to_launch"]

_TEXTS = ("title", "consent", "instructions", "debrief")
_ALWAYS = ("completion", "no_consent")
_WHY = {"full": "who passes the qualification and then finds no place must be paid: take it from the platform"}
_RESERVED = frozenset(
    {
        "attention_check",
        "client_key",
        "comment",
        "completion_time",
        "csrf",
        "debrief_comment",
        "guessed_word",
        "page_version",
        "practice",
        "qualification",
        "rt_ms",
        "shown_at",
        "supersedes",
    }
)
"""Measures and form fields of the app's own."""
_BOLD = re.compile(r"\*\*([^\s*]+)\*\*")


def ready_to_launch(definition: StudyDefinition, items: Sequence[Item]) -> tuple[Problem, ...]:
    """Return what stands in the way of launching a study; empty where nothing does.

    Codes: E616 the task has no words in the study's language, E617 an item lacks what the task's page shows, E619 a
    setting that the task does not have, E621 a text is missing, E622 no ethics statement, E623 an example's word is
    among the targets, E624 codes missing or equal, E625 quotas impossible, E626 an exclusion rule judges what is not
    collected, E627 the planned analysis is not possible, E628 a question with a known answer is unusable, E629 the
    scale's ends have no words, E638 the items were rated on another scale, E630 pay below the study's own minimum, E634
    the ids' pattern is no regular expression, E635 the address to return to is unusable, E636 a question about the
    participant has a name that is taken, E637 the study cannot be put together, and the codes of the design (E402,
    E407, E408, E421, E422). What deserves a second look and stops nothing:
    :func:`lexiscope.annotation.study_file.launch_warnings.launch_warnings`.

    >>> empty = StudyDefinition(name="s", task="relatedness", language="en")
    >>> [problem.code for problem in ready_to_launch(empty, [])][:5]
    ['E621', 'E621', 'E621', 'E621', 'E622']
    """
    checks: tuple[Callable[[StudyDefinition, Sequence[Item]], Iterator[Problem]], ...] = (
        _texts,
        _about_you,
        _examples,
        _codes,
        _payment,
        _platform,
        _scale,
        screen_problems,
        question_problems,
        design_problems,
        plan_problems,
    )
    found = [problem for check in checks for problem in check(definition, items)]
    found += rule_problems(definition)
    # last, for a study with other faults cannot be frozen either
    return tuple(found or _frozen(definition, items))


def _frozen(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """What only the whole of a study shows, such as two questions of one id."""
    try:
        freeze(definition, items)
    except InputError as error:
        yield Problem(error.code or "E637", ("name",), error.what, error.hint or "correct the study's file")


def _texts(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    for name in _TEXTS:
        if not getattr(definition.texts, name).strip():
            yield Problem(
                "E621", ("texts", name), f"the study has no text {name!r}", "write it in the study's language"
            )
    if not definition.ethics.strip():
        hint = "name the board, the number and the date of its decision, or why none is needed"
        yield Problem("E622", ("ethics",), "the study has no ethics statement", hint)


def _about_you(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    reserved, asked = _RESERVED | {catalog.screen(definition.task).measure}, set()
    for number, question in enumerate(definition.about_you):
        keys, name = ("about_you", number), question.measure
        if question.kind == "choice" and not question.options:
            yield Problem("E621", keys, f"{name!r} is a choice without options", "add them")
        if question.kind == "number" and question.high is not None and not question.low < question.high:
            what = f"{name!r} takes no number: low is {question.low:g}, high is {question.high:g}"
            yield Problem("E621", (*keys, "high"), what, "give a high above low")
        if name in reserved:
            what = f"the data have a {name!r} of their own"
            yield Problem("E636", (*keys, "measure"), what, "give the question another name")
        if name in asked:
            yield Problem("E636", (*keys, "measure"), f"two questions are called {name!r}", "rename one of them")
        asked.add(name)


def _examples(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    targets = {name.casefold() for item in items for name in (item.word, *(u.target for u in item.usages))}
    for part in ("examples", "practice"):
        questions: tuple[Question, ...] = getattr(definition, part)
        for number, question in enumerate(questions):
            for name, text in question.shows.items():
                if name.startswith("target") and text.casefold() in targets:
                    yield _among_targets(text, (part, number, "shows", name))
    for word in dict.fromkeys(_BOLD.findall(definition.texts.instructions)):
        if word.casefold() in targets:
            yield _among_targets(word, ("texts", "instructions"))


def _among_targets(word: str, keys: tuple[str | int, ...]) -> Problem:
    return Problem("E623", keys, f"the example's word {word!r} is among the targets", "explain with another word")


def _codes(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if definition.platform.kind == "lab":
        return
    codes: dict[str, str] = definition.codes.model_dump()
    for name, code in codes.items():
        if not code.strip() and (name in _ALWAYS or definition.qualification):
            hint = _WHY.get(name, "take it from the platform")
            yield Problem("E624", ("codes", name), f"the study has no {name} code", hint)
    counts = Counter(code for code in codes.values() if code.strip())
    for name, code in codes.items():
        if counts[code] > 1:
            what = f"the {name} code {code!r} is also another code"
            yield Problem("E624", ("codes", name), what, "the platform pays by the code: no two may be the same")


def _payment(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    pay = definition.payment
    if pay.hourly < pay.hourly_least:
        what = f"{pay.amount:g} {pay.currency} for {pay.minutes:g} minutes are {pay.hourly:.2f} per hour"
        yield Problem("E630", ("payment", "amount"), what, f"the study's own minimum is {pay.hourly_least:g}")


def _platform(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    platform = definition.platform
    try:
        re.compile(platform.pattern)
    except re.error as error:
        what = f"the pattern of participants' ids cannot be read: {error}"
        yield Problem("E634", ("platform", "pattern"), what, "write a regular expression, or leave it empty")
    if platform.return_url:
        keys, address = ("platform", "return_url"), urlsplit(platform.return_url)
        if address.scheme != "https" or not address.hostname:
            yield Problem("E635", keys, f"{platform.return_url!r} is no https address", "copy it from the platform")
        if "{code}" not in platform.return_url:
            what = "the address to return to has no place for the code"
            yield Problem("E635", keys, what, "write {code} where the platform expects it")


def _scale(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if catalog.screen(definition.task).widget != "scale":
        return
    named = {anchor.point for anchor in definition.scale.anchors}
    for name, point in (("low", definition.scale.low), ("high", definition.scale.high)):
        if point not in named:
            what = f"the scale has no words at {point:g}"
            yield Problem("E629", ("scale", name), what, "add an anchor in the participants' language")
    asked = definition.scale.scale()
    other = next((item for item in items if item.scale is not None and not item.scale.has_ends_of(asked)), None)
    if other is not None:
        what = f"the item {other.item_id!r} is rated from {other.scale}, the study asks from {asked}"
        hint = "set scale.low and scale.high to those of the items, whose ratings could not be compared otherwise"
        yield Problem("E638", ("scale", "low"), what, hint)
