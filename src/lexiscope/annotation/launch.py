"""May a study be launched? Everything that would harm participants, the data or the analysis is found before.

A problem names the setting that it is about, so that a file can be shown at its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from lexiscope.analysis.mixed_formula import read_formula
from lexiscope.annotation.definition import Question, StudyDefinition
from lexiscope.annotation.design import build_design
from lexiscope.annotation.launch_rules import rule_problems
from lexiscope.annotation.problem import Problem
from lexiscope.annotation.questions import question_item
from lexiscope.annotation.rehearsal.answers import effect_codes
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item

__all__ = ["Problem", "ready_to_launch"]

_TEXTS = ("title", "consent", "instructions", "debrief")
_PLAN = "write a model of lme4's kind, and name a condition of the items as its effect"
_BOLD = re.compile(r"\*\*([^\s*]+)\*\*")


def ready_to_launch(definition: StudyDefinition, items: Sequence[Item]) -> tuple[Problem, ...]:
    """Return what stands in the way of launching a study; empty where nothing does.

    Codes: E621 a text is missing, E622 no ethics statement, E623 an example's word is among the targets, E624 codes
    missing or equal, E625 quotas impossible, E626 an exclusion rule judges what is not collected, E627 the planned
    analysis is not possible, E628 a question with a known answer is unusable, E629 the scale's ends have no words,
    E630 pay below the study's own minimum, and the codes of the design (E402, E407, E408, E421, E422).

    >>> empty = StudyDefinition(name="s", task="relatedness", language="en")
    >>> [problem.code for problem in ready_to_launch(empty, [])][:5]
    ['E621', 'E621', 'E621', 'E621', 'E622']
    """
    checks: tuple[Callable[[StudyDefinition, Sequence[Item]], Iterator[Problem]], ...] = (
        _texts,
        _examples,
        _codes,
        _payment,
        _scale,
        _questions,
        _design,
        _planned,
    )
    found = [problem for check in checks for problem in check(definition, items)]
    return (*found, *rule_problems(definition))


def _texts(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    for name in _TEXTS:
        if not getattr(definition.texts, name).strip():
            yield Problem(
                "E621", ("texts", name), f"the study has no text {name!r}", "write it in the study's language"
            )
    if not definition.ethics.strip():
        hint = "name the board, the number and the date of its decision, or why none is needed"
        yield Problem("E622", ("ethics",), "the study has no ethics statement", hint)
    for number, question in enumerate(definition.about_you):
        if question.kind == "choice" and not question.options:
            yield Problem(
                "E621", ("about_you", number), f"{question.measure!r} is a choice without options", "add them"
            )


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
        if not code.strip() and name != "full":
            yield Problem("E624", ("codes", name), f"the study has no {name} code", "take it from the platform")
    counts = Counter(code for code in codes.values() if code.strip())
    for name, code in codes.items():
        if counts[code] > 1:
            what = f"the {name} code {code!r} is also another code"
            yield Problem("E624", ("codes", name), what, "the platform pays by the code: all three must differ")


def _payment(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    pay = definition.payment
    if pay.hourly < pay.hourly_least:
        what = f"{pay.amount:g} {pay.currency} for {pay.minutes:g} minutes are {pay.hourly:.2f} per hour"
        yield Problem("E630", ("payment", "amount"), what, f"the study's own minimum is {pay.hourly_least:g}")


def _scale(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    named = {anchor.point for anchor in definition.scale.anchors}
    for name, point in (("low", definition.scale.low), ("high", definition.scale.high)):
        if point not in named:
            what = f"the scale has no words at {point:g}"
            yield Problem("E629", ("scale", name), what, "add an anchor in the participants' language")


def _questions(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    taken = {item.item_id for item in items}
    n_usages = Counter(len(item.usages) for item in items).most_common(1)
    for part in ("examples", "practice", "qualification", "attention"):
        for number, question in enumerate(getattr(definition, part)):
            if question.id in taken:
                yield Problem("E628", (part, number, "id"), f"the id {question.id!r} is taken", "give it another id")
            taken.add(question.id)
            yield from _question(definition, question, (part, number), n_usages[0][0] if n_usages else 0)


def _question(
    definition: StudyDefinition, question: Question, keys: tuple[str | int, ...], n_usages: int
) -> Iterator[Problem]:
    try:
        shown = question_item(question, definition.name, definition.language)
    except InputError as error:
        yield Problem("E628", (*keys, "shows"), error.what, error.hint or "give target and sentence_1")
        return
    if n_usages and len(shown.usages) != n_usages:
        what = f"{question.id!r} shows {len(shown.usages)} sentences; the items have {n_usages}"
        yield Problem("E628", (*keys, "shows"), what, "show what a trial shows")
    if not question.accept and keys[0] in ("qualification", "attention"):
        yield Problem("E628", keys, f"{question.id!r} accepts no answer", "list the right answers: accept")
    scale = definition.scale.scale()
    for number, answer in enumerate(question.accept):
        if not isinstance(answer, str) and not scale.contains(answer):
            what = f"{question.id!r} accepts {answer:g}, which is not on the scale"
            yield Problem("E628", (*keys, "accept", number), what, f"use {scale.low:g} to {scale.high:g}")


def _design(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    ratings, lists = definition.ratings, definition.design.lists
    needed = lists * ratings.per_item
    if ratings.people_at_most and ratings.people_at_most < needed:
        what = f"{ratings.people_at_most} people cannot give {ratings.per_item} valid answers to each of {lists} lists"
        hint = f"that takes {needed} people and those in place of excluded ones"
        yield Problem("E625", ("ratings", "people_at_most"), what, hint)
    if ratings.people_at_most and ratings.first_wave > ratings.people_at_most:
        what = f"the first wave of {ratings.first_wave} is more than people_at_most"
        yield Problem("E625", ("ratings", "first_wave"), what, "set one of them")
    try:
        design = build_design(items, definition.design, definition.catch)
    except InputError as error:
        item = f" (item {error.place.item_id!r})" if error.place is not None and error.place.item_id else ""
        yield Problem(
            error.code or "E421", ("design",), error.what + item, error.hint or "change the design, or the items"
        )
        return
    smallest = min(map(len, design.lists))
    if smallest < 2 and definition.trials_per_list:
        what = f"a list has {smallest} items: no check can stand between them"
        yield Problem("E625", ("design", "lists"), what, "use fewer lists, or no checks")


def _planned(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    planned = definition.planned
    if not planned.model:
        return
    try:
        formula = read_formula(planned.model)
        real = [item for item in items if not item.conditions.get("catch", False)]
        effect_codes(real, planned.effect)
    except InputError as error:
        yield Problem("E627", ("planned", "effect" if error.code else "model"), error.what, error.hint or _PLAN)
        return
    if planned.effect not in formula.fixed:
        what = f"the planned model has no fixed effect {planned.effect!r}"
        yield Problem(
            "E627", ("planned", "effect"), what, f"its fixed effects are: {', '.join(formula.fixed) or 'none'}"
        )
    known = {"rating", "participant", "item", "word", "list"}.union(*(item.conditions for item in items[:1]))
    for column in formula.columns:
        if column not in known:
            what = f"the planned model uses {column!r}, which is no column of the ratings"
            yield Problem("E627", ("planned", "model"), what, f"there are: {', '.join(sorted(known))}")
