"""Check a study before its launch: everything that would harm participants, the data or the analysis.

A problem names its setting, so that an error can show the place in the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from lexiscope.analysis.exclusion import (
    AttentionCheck,
    FailedCatch,
    FailedQualification,
    LowAgreement,
    Rule,
    SelfReport,
    ThresholdRule,
    TooSlow,
    parse_rule,
)
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.annotation.study_file.definition import KnownQuestion, StudyDefinition
from lexiscope.annotation.study_file.design import build_design, effect_codes, is_catch
from lexiscope.annotation.study_file.exclusions import CATCH
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.study_file.items import SETUP, question_item
from lexiscope.annotation.study_file.launch_screen import Problem, screen_problems
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import Screen
from lexiscope.items.text_rules import foreign_language

__all__ = ["Problem", "launch_problems", "launch_warnings"]

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
"""Measures and form fields that the app itself uses."""
_BOLD = re.compile(r"\*\*([^\s*]+)\*\*")
_BOLD_OR_LINKED = re.compile(r"\*\*\[?([^\s*\[\]]+)\]?\*\*")


def launch_problems(definition: StudyDefinition, items: Sequence[Item]) -> tuple[Problem, ...]:
    """Return the problems that prevent the launch of a study.

    Codes: E616 the task has no words in the study's language, E617 an item lacks what the task's page shows, E619 a
    setting that the task does not have, E621 a text is missing, E622 no ethics statement, E623 an example's word is
    among the targets, E624 codes missing or equal, E625 quotas impossible, E626 an exclusion rule needs what is not
    collected, E627 the planned analysis is not possible, E628 a question with a known answer is unusable, E629 the
    scale's ends have no words, E638 the items were rated on another scale, E630 pay below the study's own minimum, E634
    the ids' pattern is no regular expression, E635 the address to return to is unusable, E636 a question about the
    participant has a name that is taken, E637 the study cannot be put together, E639 a text is in another language than
    the study, and the codes of the design (E402, E407, E408, E421, E422). Warnings do not prevent the launch:
    :func:`launch_warnings`.

    >>> empty = StudyDefinition(name="s", task="relatedness", language="en")
    >>> [problem.code for problem in launch_problems(empty, [])][:5]
    ['E621', 'E621', 'E621', 'E621', 'E622']
    """
    checks: tuple[Callable[[StudyDefinition, Sequence[Item]], Iterator[Problem]], ...] = (
        _text_problems,
        _about_you_problems,
        _example_problems,
        _code_problems,
        _payment_problems,
        _platform_problems,
        _scale_problems,
        screen_problems,
        _known_question_problems,
        _design_problems,
        _plan_problems,
    )
    problems = [problem for check in checks for problem in check(definition, items)]
    problems += _rule_problems(definition)
    if not problems:
        # last, because a study with other faults cannot be frozen either: two questions of one id, for example
        try:
            freeze(definition, items)
        except InputError as error:
            hint = error.hint or "correct the study's file"
            problems.append(Problem(error.code or "E637", ("name",), error.what, hint))
    return tuple(problems)


def _text_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    for name in _TEXTS:
        if not getattr(definition.texts, name).strip():
            yield Problem(
                "E621", ("texts", name), f"the study has no text {name!r}", "write it in the study's language"
            )
        elif language := foreign_language(getattr(definition.texts, name), definition.language):
            what = f"the text {name!r} reads like {language!r}, and the study is in {definition.language!r}"
            yield Problem("E639", ("texts", name), what, "translate it, or correct the language of the study")
    if not definition.ethics.strip():
        hint = "name the board, the number and the date of its decision, or why none is needed"
        yield Problem("E622", ("ethics",), "the study has no ethics statement", hint)


def _about_you_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    reserved, measures = _RESERVED | {catalog.screen(definition.task).measure}, set()
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
        if name in measures:
            yield Problem("E636", (*keys, "measure"), f"two questions are called {name!r}", "rename one of them")
        measures.add(name)


def _example_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    targets = {name.casefold() for item in items for name in (item.word, *(u.target for u in item.usages))}
    for part in ("examples", "practice"):
        questions: tuple[KnownQuestion, ...] = getattr(definition, part)
        for number, question in enumerate(questions):
            for name, text in question.shows.items():
                if name.startswith("target") and text.casefold() in targets:
                    yield _among_targets(text, (part, number, "shows", name))
    for word in dict.fromkeys(_BOLD.findall(definition.texts.instructions)):
        if word.casefold() in targets:
            yield _among_targets(word, ("texts", "instructions"))


def _among_targets(word: str, keys: tuple[str | int, ...]) -> Problem:
    return Problem("E623", keys, f"the example's word {word!r} is among the targets", "explain with another word")


def _code_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
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


def _payment_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    pay = definition.payment
    if pay.hourly < pay.hourly_least:
        what = f"{pay.amount:g} {pay.currency} for {pay.minutes:g} minutes are {pay.hourly:.2f} per hour"
        yield Problem("E630", ("payment", "amount"), what, f"the study's own minimum is {pay.hourly_least:g}")


def _platform_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
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


def _scale_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if catalog.screen(definition.task).widget != "scale":
        return
    named = {anchor.point for anchor in definition.scale.anchors}
    for name, point in (("low", definition.scale.low), ("high", definition.scale.high)):
        if point not in named:
            what = f"the scale has no words at {point:g}"
            yield Problem("E629", ("scale", name), what, "add an anchor in the participants' language")
    scale = definition.scale.scale()
    other = next((item for item in items if item.scale is not None and not item.scale.has_ends_of(scale)), None)
    if other is not None:
        what = f"the item {other.item_id!r} is rated from {other.scale}, the study asks from {scale}"
        hint = "set scale.low and scale.high to those of the items, whose ratings could not be compared otherwise"
        yield Problem("E638", ("scale", "low"), what, hint)


# -- can the questions, the design and the planned analysis of a study be what its file says? -----------------------


_PLAN = "write a model of lme4's kind, and name a condition of the items as its effect"


def _known_question_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield E628 for every question with a known answer that could not be shown, or not be answered rightly."""
    taken = {item.item_id for item in items}
    for part in ("examples", "practice", "qualification", "attention"):
        for number, question in enumerate(getattr(definition, part)):
            if question.id in taken:
                yield Problem("E628", (part, number, "id"), f"the id {question.id!r} is taken", "give it another id")
            taken.add(question.id)
            yield from _question_problems(definition, question, (part, number))


def _question_problems(
    definition: StudyDefinition, question: KnownQuestion, keys: tuple[str | int, ...]
) -> Iterator[Problem]:
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
    yield from _accept_problems(definition, question, keys, screen, shown)


def _accept_problems(
    definition: StudyDefinition, question: KnownQuestion, keys: tuple[str | int, ...], screen: Screen, shown: Item
) -> Iterator[Problem]:
    tested = keys[0] in ("qualification", "attention")
    if tested and screen.widget in ("text", "search"):
        what = f"{question.id!r} is answered in words, which no list of right answers can judge"
        yield Problem("E628", keys, what, "name a task with a scale or a choice under task")
        return
    if tested and not question.accept:
        yield Problem("E628", keys, f"{question.id!r} accepts no answer", "list the right answers: accept")
    scale = definition.scale.scale() if not question.task else screen.scale
    options = {choice.value for choice in screen.options_of(shown, definition.views[0])}
    for number, answer in enumerate(question.accept):
        here = (*keys, "accept", number)
        if screen.widget == "scale" and scale is not None and (isinstance(answer, str) or not scale.contains(answer)):
            what = f"{question.id!r} accepts {answer}, which is not on the scale"
            yield Problem("E628", here, what, f"use {scale.low:g} to {scale.high:g}")
        if screen.widget == "choice" and answer not in options:
            what = f"{question.id!r} accepts {answer!r}, which is no option"
            yield Problem("E628", here, what, f"the options are: {', '.join(sorted(options))}")


def _design_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
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
        yield from _pool_problems(definition, items)
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


def _pool_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
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


def _plan_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
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


# -- can the declared exclusion rules be applied to what the study collects? ----------------------------------------


def _rule_problems(definition: StudyDefinition) -> Iterator[Problem]:
    """Yield E626 for every rule that would have nothing to judge, or would stop the analysis.

    >>> study = StudyDefinition(
    ...     name="s", task="relatedness", language="en", exclusions=("self_report(measure=native_speaker,value=no)",)
    ... )
    >>> [problem.what for problem in _rule_problems(study)]
    ["no question asks 'native_speaker'"]
    """
    for number, text in enumerate(definition.exclusions):
        for what, hint in _rule_faults(definition, parse_rule(text)):
            yield Problem("E626", ("exclusions", number), what, hint)


def _rule_faults(definition: StudyDefinition, rule: Rule) -> Iterator[tuple[str, str]]:
    measures = _number_measures(definition)
    stored = ", ".join(sorted(measures))
    if isinstance(rule, FailedCatch | LowAgreement) and rule.measure not in measures:
        yield f"the study stores no number {rule.measure!r}", f"it stores: {stored}; or take the rule out"
    elif isinstance(rule, FailedCatch):
        yield from _catch_faults(definition, rule)
    elif isinstance(rule, LowAgreement):
        yield from _agreement_faults(definition, rule)
    elif isinstance(rule, SelfReport):
        yield from _self_report_faults(definition, rule)
    elif isinstance(rule, AttentionCheck) and not definition.attention:
        yield "the study has no attention check", "add one under attention, or take the rule out"
    elif isinstance(rule, FailedQualification) and not definition.qualification:
        yield "the study has no qualification", "add one under qualification, or take the rule out"
    elif isinstance(rule, TooSlow | ThresholdRule) and rule.measure not in measures:
        yield f"the study stores no number {rule.measure!r}", f"it stores: {stored}"


def _catch_faults(definition: StudyDefinition, rule: FailedCatch) -> Iterator[tuple[str, str]]:
    if CATCH in rule.items and not definition.catch.per_list:
        yield "the lists have no catch trial", "set catch.per_list, or take the rule out"
    if CATCH in rule.items and rule.expected != definition.catch.answer:
        what = f"the rule expects {rule.expected:g}, catch.answer is {definition.catch.answer:g}"
        yield what, "both are the right answer to the same trials"


def _agreement_faults(definition: StudyDefinition, rule: LowAgreement) -> Iterator[tuple[str, str]]:
    if definition.catch.per_list and CATCH not in rule.ignore_items:
        yield "catch trials would count as agreement", "write ignore_items=catch"
    if rule.missing == "error":
        yield (
            "who gives the same answer everywhere has no correlation, and would stop the analysis",
            "write missing=exclude or missing=keep",
        )
    if definition.ratings.per_item < 3:
        yield f"with {definition.ratings.per_item} ratings an item there is no group to agree with", "ask for 3 or more"


def _self_report_faults(definition: StudyDefinition, rule: SelfReport) -> Iterator[tuple[str, str]]:
    question = next((entry for entry in definition.about_you if entry.measure == rule.measure), None)
    if question is None:
        yield f"no question asks {rule.measure!r}", "ask it under about_you, or take the rule out"
    elif question.kind == "choice" and str(rule.value) not in {option.value for option in question.options}:
        known = ", ".join(option.value for option in question.options)
        yield f"{rule.value!r} is no answer to {rule.measure!r}", f"the answers are: {known}"
    elif not question.required and rule.missing == "error":
        yield f"{rule.measure!r} may stay unanswered", "write missing=exclude or missing=keep, or require an answer"


def _number_measures(definition: StudyDefinition) -> set[str]:
    """Return the measures that are numbers; choices and texts are none, and cannot be correlated."""
    screen = catalog.screen(definition.task)
    stored = {"completion_time"} | {q.measure for q in definition.about_you if q.kind == "number"}
    stored |= {screen.measure} if screen.widget == "scale" else set()
    stored |= {"attention_check"} if definition.attention else set()
    return stored | ({"qualification"} if definition.qualification else set())


# -- warnings: they do not prevent the launch -----------------------------------------------------------------------


def launch_warnings(definition: StudyDefinition, items: Sequence[Item], *, merged: str = "") -> tuple[Problem, ...]:
    """Return what a researcher should check before the launch; a warning does not prevent it.

    *merged* says which rows were merged into one item. Codes: W630 participants are not paid, W631 no contact is named,
    W632 the retention of the answers is not described, W634 rows of the item file are one item together, W635 questions
    before the place are shown in one view to all arms, W636 variants of one story may meet in a list, W637 a word that
    the guidelines explain is among the targets, W639 the items read like another language than the study's.

    >>> study = StudyDefinition(name="s", task="relatedness", language="en")
    >>> [warning.code for warning in launch_warnings(study, [])]
    ['W630', 'W631', 'W632']
    """
    checks: tuple[Callable[[StudyDefinition, Sequence[Item]], Iterator[Problem]], ...] = (
        _promise_warnings,
        _arm_warnings,
        _story_warnings,
        _guideline_warnings,
        _language_warnings,
    )
    warnings = tuple(warning for check in checks for warning in check(definition, items))
    if not merged:
        return warnings
    hint = "give each row an item_id of its own, where they are different items"
    return (*warnings, Problem("W634", ("items",), merged, hint))


def _promise_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if not definition.payment.amount and definition.platform.kind != "lab":
        hint = "write payment.amount, or make sure that the consent says so"
        yield Problem("W630", ("payment", "amount"), "participants are paid nothing", hint)
    if not definition.contact.strip():
        yield Problem("W631", ("contact",), "the study names nobody whom a participant can write to", "name somebody")
    if not definition.retention.answers.strip():
        what = "nothing says what happens to the answers"
        yield Problem("W632", ("retention", "answers"), what, "say who keeps them, how long, and where they appear")


def _arm_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    first = definition.views[0] if definition.views else "full"
    if len(definition.views) > 1 and first != "full" and (definition.qualification or definition.examples):
        what = f"examples and qualification are shown in the view {first!r} to the participants of every arm"
        yield Problem("W635", ("views",), what, "name the view first that all may see: full")


def _story_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if catalog.screen(definition.task).drawn or SETUP in {
        confusion.condition for confusion in definition.design.confusion
    }:
        return
    most = max(Counter(str(item.conditions[SETUP]) for item in items if SETUP in item.conditions).values(), default=0)
    if most > 1:
        what = f"up to {most} items are variants of one story, and nothing keeps them out of one list"
        hint = "add to design.confusion: {condition: setup, at_most: 1}"
        yield Problem("W636", ("design", "confusion"), what, hint)


def _language_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    shown = " ".join(dict.fromkeys(usage.text for item in items for usage in item.usages))
    if language := foreign_language(shown, definition.language):
        what = f"the items read like {language!r}, and the study is in {definition.language!r}"
        yield Problem("W639", ("language",), what, "correct the language, or the items")


def _guideline_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Warn of targets that the guidelines explain: the pages always show the guidelines, which give the answer away."""
    screen = catalog.screen(definition.task)
    if "guidelines" not in screen.fold_outs or definition.language.partition("-")[0] not in screen.guided_languages:
        return
    targets = {usage.target.casefold() for item in items for usage in item.usages}
    shown = screen.guidelines(definition.language, views=definition.views)
    words = [word for word in dict.fromkeys(_BOLD_OR_LINKED.findall(shown)) if word.casefold() in targets]
    if words:
        what = f"the task's guidelines explain words that are among the targets: {', '.join(words)}"
        yield Problem("W637", ("items",), what, "leave these items out")
