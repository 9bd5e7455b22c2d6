"""Can the questions, the design and the planned analysis of a study be what its file says?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.annotation.study_file.definition import Answer, Question, StudyDefinition
from lexiscope.annotation.study_file.design import build_design, is_catch
from lexiscope.annotation.study_file.planned_effect import effect_codes
from lexiscope.annotation.study_file.problem import Problem
from lexiscope.annotation.study_file.questions import question_item
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Screen

_PLAN = "write a model of lme4's kind, and name a condition of the items as its effect"


def question_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield E628 for every question with a known answer that could not be shown, or not be answered rightly."""
    taken = {item.item_id for item in items}
    for part in ("examples", "practice", "qualification", "attention"):
        for number, question in enumerate(getattr(definition, part)):
            if question.id in taken:
                yield Problem("E628", (part, number, "id"), f"the id {question.id!r} is taken", "give it another id")
            taken.add(question.id)
            yield from _question(definition, question, (part, number))


def _question(definition: StudyDefinition, question: Question, keys: tuple[str | int, ...]) -> Iterator[Problem]:
    if question.task and question.task not in catalog.names("tasks"):
        yield Problem("E628", (*keys, "task"), f"there is no task {question.task!r}", "see: lexiscope list tasks")
        return
    screen = catalog.screen(question.task or definition.task)
    try:
        shown = question_item(question, definition.name, definition.language)
        screen.check(shown)
    except InputError as error:
        yield Problem("E628", (*keys, "shows"), error.what, error.hint or "show what a trial shows")
        return
    yield from _accepted(definition, question, keys, screen, shown)


def _accepted(
    definition: StudyDefinition, question: Question, keys: tuple[str | int, ...], screen: Screen, shown: Item
) -> Iterator[Problem]:
    judged = keys[0] in ("qualification", "attention")
    if judged and screen.widget in ("text", "search"):
        what = f"{question.id!r} is answered in words, which no list of right answers can judge"
        yield Problem("E628", keys, what, "name a task with a scale or a choice under task")
        return
    if judged and not question.accept:
        yield Problem("E628", keys, f"{question.id!r} accepts no answer", "list the right answers: accept")
    scale = definition.scale.scale() if not question.task else screen.scale
    options = {choice.value for choice in screen.options_of(shown, definition.views[0])}
    for number, answer in enumerate(question.accept):
        here = (*keys, "accept", number)
        if screen.widget == "scale" and scale is not None and not _on_scale(scale, answer):
            what = f"{question.id!r} accepts {answer}, which is not on the scale"
            yield Problem("E628", here, what, f"use {scale.low:g} to {scale.high:g}")
        if screen.widget == "choice" and answer not in options:
            what = f"{question.id!r} accepts {answer!r}, which is no option"
            yield Problem("E628", here, what, f"the options are: {', '.join(sorted(options))}")


def _on_scale(scale: Scale, answer: Answer) -> bool:
    return not isinstance(answer, str) and scale.contains(answer)


def design_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield what makes the quotas or the lists impossible: E625, E402, E407, E408, E421, E422."""
    ratings, lists = definition.ratings, definition.design.lists
    lists *= len(definition.views)
    needed = lists * ratings.per_item
    if ratings.people_at_most and ratings.people_at_most < needed:
        what = f"{ratings.people_at_most} people cannot give {ratings.per_item} valid answers to each of {lists} lists"
        hint = f"that takes {needed} people and those in place of excluded ones"
        yield Problem("E625", ("ratings", "people_at_most"), what, hint)
    if ratings.people_at_most and ratings.first_wave > ratings.people_at_most:
        what = f"the first wave of {ratings.first_wave} is more than people_at_most"
        yield Problem("E625", ("ratings", "first_wave"), what, "set one of them")
    if catalog.screen(definition.task).drawn:
        yield from _pool(definition, items)
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


def _pool(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    n_items, per_person = len(items), definition.pool.per_person
    if definition.design.lists > 1:
        what = f"items are drawn from one pool, not from {definition.design.lists} lists"
        yield Problem("E625", ("design", "lists"), what, "set lists: 1")
    if n_items < 2 * per_person:
        what = f"one participant writes {per_person} answers and may ask for other items; the pool has {n_items}"
        yield Problem("E625", ("pool", "per_person"), what, f"add items ({2 * per_person} at least), or ask for fewer")
    if definition.trials_per_list:
        what = "catch trials and attention checks have no place among items that are drawn one by one"
        yield Problem("E625", ("catch", "per_list"), what, "set catch.per_list: 0 and attention: []")


def plan_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield E627 where the planned model cannot be read, or names what is no condition of the items."""
    planned = definition.planned
    if not planned.model:
        return
    if catalog.screen(definition.task).widget != "scale":
        what = "a mixed model is planned for ratings, and this task collects none"
        yield Problem("E627", ("planned", "model"), what, "leave it empty")
        return
    try:
        formula = read_formula(planned.model)
        real = [item for item in items if not is_catch(item)]
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
