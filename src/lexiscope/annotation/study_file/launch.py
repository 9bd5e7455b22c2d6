"""Check a study before its launch: everything that would harm participants, the data or the analysis.

A problem names its setting, so that an error can show the place in the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any
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
from lexiscope.annotation.study_file.launch_screen import Problem, screen_problems, study_screen
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.screen import Screen
from lexiscope.core.showing import counted
from lexiscope.core.spec import SubjectSpec
from lexiscope.core.study import Question
from lexiscope.items.text_rules import TOLD_APART, foreign_language

__all__ = ["Problem", "launch_problems", "launch_warnings", "question_texts"]

_TEXTS = ("title", "consent", "instructions", "debrief")
_ALWAYS = ("completion", "no_consent")
_WHY = {
    "full": "Copy it from the platform: participants who pass the qualification and find no free place must be paid."
}
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

    Codes: E616 the task has no words in the study's language, E617 the task's page cannot show an item, E619 a setting
    that the task does not have, E621 a text is missing, E622 no ethics statement, E623 an example's word is among the
    targets, E624 codes missing or equal, E625 quotas impossible, E626 an exclusion rule needs data that are not
    collected, E627 the planned analysis is not possible, E628 a question with a known answer is unusable, E629 the
    scale's ends have no labels, E638 the items were rated on another scale, E630 pay below the study's minimum, E634
    the pattern of IDs is not a regular expression, E635 the address to return to is unusable, E636 a question about the
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
            hint = error.hint or "Correct the study file."
            problems.append(Problem(error.code or "E637", ("name",), error.what, hint))
    return tuple(problems)


def _text_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    for name in _TEXTS:
        if not getattr(definition.texts, name).strip():
            yield Problem("E621", ("texts", name), f"The text {name!r} is empty.", "Write it in the study's language.")
    if definition.language.partition("-")[0].lower() in TOLD_APART:
        yield from _foreign_texts(definition, "E639")
    if not definition.ethics.strip():
        hint = "Name the board, the number and the date of its decision, or the reason why none is needed."
        yield Problem("E622", ("ethics",), "The ethics statement is empty.", hint)


def _foreign_texts(definition: StudyDefinition, code: str) -> Iterator[Problem]:
    """Yield every text for participants that reads like another language than the study's."""
    texts: dict[str, str] = definition.texts.model_dump()
    own = definition.words
    parts: list[tuple[tuple[str, ...], str]] = [(("texts", name), text) for name, text in texts.items()]
    parts += [(("words", name), " ".join(getattr(own, name).values())) for name in ("task", "guidelines", "pages")]
    parts.append((("scale", "anchors"), " ".join(anchor.text for anchor in definition.scale.anchors)))
    asked = [text for question in definition.about_you for text in (question.text, *(o.text for o in question.options))]
    parts.append((("about_you",), " ".join(asked)))
    for keys, text in parts:
        if language := foreign_language(text, definition.language):
            what = f"The text {keys[-1]!r} seems to be in {language!r}; the study is in {definition.language!r}."
            yield Problem(code, keys, what, "Translate it, or correct the language of the study.")


def _about_you_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    reserved, measures = _RESERVED | {catalog.screen(definition.task).measure}, set()
    for number, question in enumerate(definition.about_you):
        keys, name = ("about_you", number), question.measure
        if question.kind == "choice" and not question.options:
            yield Problem("E621", keys, f"The question {name!r} is a choice without options.", "Add options.")
        if question.kind == "number" and question.high is not None and not question.low < question.high:
            what = f"{name!r} accepts no number: low is {question.low:g}, high is {question.high:g}."
            yield Problem("E621", (*keys, "high"), what, "Set high above low.")
        if name in reserved:
            what = f"The name {name!r} is reserved."
            yield Problem("E636", (*keys, "measure"), what, "Give the question another name.")
        if name in measures:
            yield Problem("E636", (*keys, "measure"), f"Two questions are named {name!r}.", "Rename one of them.")
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
    return Problem("E623", keys, f"The example word {word!r} is a target of the study.", "Use another word.")


def _code_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if definition.platform.kind == "lab":
        return
    codes: dict[str, str] = definition.codes.model_dump()
    for name, code in codes.items():
        if not code.strip() and (name in _ALWAYS or definition.qualification):
            hint = _WHY.get(name, "Copy it from the platform.")
            yield Problem("E624", ("codes", name), f"The code {name!r} is empty.", hint)
    counts = Counter(code for code in codes.values() if code.strip())
    for name, code in codes.items():
        if counts[code] > 1:
            what = f"The code {code!r} ({name}) is used twice."
            yield Problem("E624", ("codes", name), what, "Use different codes: the platform pays by code.")


def _payment_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    pay = definition.payment
    if pay.hourly < pay.hourly_least:
        what = (
            f"The pay is {pay.hourly:.2f} {pay.currency} per hour; the minimum of this study is {pay.hourly_least:g}."
        )
        hint = f"Raise payment.amount (now {pay.amount:g} for {pay.minutes:g} minutes)."
        yield Problem("E630", ("payment", "amount"), what, hint)


def _platform_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    platform = definition.platform
    try:
        re.compile(platform.pattern)
    except re.error as error:
        what = f"The pattern of participant IDs is not a regular expression: {error}."
        yield Problem("E634", ("platform", "pattern"), what, "Correct it, or leave it empty.")
    if platform.return_url:
        keys, address = ("platform", "return_url"), urlsplit(platform.return_url)
        if address.scheme != "https" or not address.hostname:
            yield Problem(
                "E635", keys, f"{platform.return_url!r} is not an https address.", "Copy it from the platform."
            )
        if "{code}" not in platform.return_url:
            what = "The address to return to has no placeholder for the code."
            yield Problem("E635", keys, what, "Write {code} where the platform expects the code.")


def _scale_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if catalog.screen(definition.task).widget != "scale":
        return
    named = {anchor.point for anchor in definition.scale.anchors}
    for name, point in (("low", definition.scale.low), ("high", definition.scale.high)):
        if point not in named:
            what = f"The scale has no label at {point:g}."
            yield Problem("E629", ("scale", name), what, "Add an anchor in the participants' language.")
    scale = definition.scale.scale()
    other = next((item for item in items if item.scale is not None and not item.scale.has_ends_of(scale)), None)
    if other is not None:
        what = f"The scale of item {other.item_id!r} is {other.scale}; the scale of the study is {scale}."
        hint = "Set scale.low and scale.high to those of the items: ratings on two scales cannot be compared."
        yield Problem("E638", ("scale", "low"), what, hint)


# -- the questions with a known answer, the design and the planned analysis ------------------------------------------


_PLAN = "Write a model formula of lme4, and name a condition of the items as its effect."


def _known_question_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield E628 for every question with a known answer that cannot be shown, or has no correct answer."""
    taken = {item.item_id for item in items}
    for part in ("examples", "practice", "qualification", "attention"):
        for number, question in enumerate(getattr(definition, part)):
            if question.id in taken:
                yield Problem("E628", (part, number, "id"), f"The ID {question.id!r} is used twice.", "Use another ID.")
            taken.add(question.id)
            yield from _question_problems(definition, question, (part, number))


def _question_problems(
    definition: StudyDefinition, question: KnownQuestion, keys: tuple[str | int, ...]
) -> Iterator[Problem]:
    if question.task and not catalog.has("tasks", question.task):
        yield Problem("E628", (*keys, "task"), f"Unknown task {question.task!r}.", "See lexiscope list tasks.")
        return
    screen = catalog.screen(question.task or definition.task)
    try:
        if question.task:
            # its page has other texts, which the texts of the study's task do not include
            screen.words(definition.language)
    except InputError as error:
        yield Problem("E616", (*keys, "task"), error.what, "Use the task of the study, or delete the question.")
        return
    try:
        shown = question_item(question, definition.name, definition.language)
        screen.check(shown)
    except InputError as error:
        yield Problem(
            "E628", (*keys, "shows"), error.what, error.hint or "Use the columns that a trial of this task shows."
        )
        return
    yield from _accept_problems(definition, question, keys, screen, shown)


def _accept_problems(
    definition: StudyDefinition, question: KnownQuestion, keys: tuple[str | int, ...], screen: Screen, shown: Item
) -> Iterator[Problem]:
    tested = keys[0] in ("qualification", "attention")
    if tested and screen.widget in ("text", "search"):
        what = f"The answer to {question.id!r} is a text, which cannot be compared with a list of correct answers."
        yield Problem("E628", keys, what, "Under task, name a task with a scale or a choice.")
        return
    if tested and not question.accept:
        yield Problem("E628", keys, f"{question.id!r} has no correct answer.", "List the correct answers under accept.")
    scale = definition.scale.scale() if not question.task else screen.scale
    options = {choice.value for choice in screen.options_of(shown, definition.views[0])}
    for number, answer in enumerate(question.accept):
        here = (*keys, "accept", number)
        if screen.widget == "scale" and scale is not None and (isinstance(answer, str) or not scale.contains(answer)):
            what = f"{question.id!r} accepts {answer}, which is not on the scale."
            yield Problem("E628", here, what, f"Use {scale.low:g} to {scale.high:g}.")
        if screen.widget == "choice" and answer not in options:
            what = f"{question.id!r} accepts {answer!r}, which is not an option."
            yield Problem("E628", here, what, f"The options are: {', '.join(sorted(options))}.")


def _design_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield what makes the quotas or the lists impossible: E625, E402, E407, E408, E421, E422."""
    ratings, lists = definition.ratings, definition.design.lists
    lists *= len(definition.views)
    needed = lists * ratings.per_item
    if ratings.people_at_most and ratings.people_at_most < needed:
        what = (
            f"{ratings.people_at_most} participants cannot give {ratings.per_item} valid answers to each of "
            f"{counted(lists, 'list')}."
        )
        hint = f"Set people_at_most to {needed} or more, with a reserve for excluded participants."
        yield Problem("E625", ("ratings", "people_at_most"), what, hint)
    if ratings.people_at_most and ratings.first_wave > ratings.people_at_most:
        what = f"The first wave ({ratings.first_wave}) is larger than people_at_most ({ratings.people_at_most})."
        yield Problem("E625", ("ratings", "first_wave"), what, "Change one of them.")
    if catalog.screen(definition.task).drawn:
        yield from _pool_problems(definition, items)
    try:
        design = build_design(items, definition.design, definition.catch)
    except InputError as error:
        item = f" (item {error.place.item_id!r})" if error.place is not None and error.place.item_id else ""
        yield Problem(
            error.code or "E421", ("design",), error.what + item, error.hint or "Change the design or the items."
        )
        return
    smallest = min(map(len, design.lists))
    if smallest < 2 and definition.trials_per_list:
        what = f"A list has {counted(smallest, 'item')}: there is no position for a catch trial or an attention check."
        yield Problem(
            "E625", ("design", "lists"), what, "Use fewer lists, or remove catch trials and attention checks."
        )


def _pool_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    n_items, per_person = len(items), definition.pool.per_person
    if definition.design.lists > 1:
        what = f"Items are drawn from one pool; the design has {definition.design.lists} lists."
        yield Problem("E625", ("design", "lists"), what, "Set lists: 1.")
    if n_items < 2 * per_person:
        what = f"One participant writes {per_person} answers and can ask for other items; the pool has {n_items} items."
        hint = f"Add items (at least {2 * per_person}), or lower pool.per_person."
        yield Problem("E625", ("pool", "per_person"), what, hint)
    if definition.trials_per_list:
        what = "Catch trials and attention checks are not possible if items are drawn one by one."
        yield Problem("E625", ("catch", "per_list"), what, "Set catch.per_list: 0 and attention: [].")


def _plan_problems(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Yield E627 if the planned model cannot be read, or its effect is not a condition of the items."""
    planned = definition.planned
    yield from _planned_question_problems(definition)
    if not planned.model:
        return
    if catalog.screen(definition.task).widget != "scale":
        what = "A mixed model needs ratings; this task does not collect ratings."
        yield Problem("E627", ("planned", "model"), what, "Leave it empty.")
        return
    try:
        formula = read_formula(planned.model)
        real = [item for item in items if not is_catch(item)]
        effect_codes(real, planned.effect)
    except InputError as error:
        yield Problem("E627", ("planned", "effect" if error.code else "model"), error.what, error.hint or _PLAN)
        return
    if planned.effect not in formula.fixed:
        what = f"The planned model has no fixed effect {planned.effect!r}."
        yield Problem(
            "E627", ("planned", "effect"), what, f"Fixed effects of the model: {', '.join(formula.fixed) or 'none'}."
        )
    known = {"rating", "participant", "item", "word", "list"}.union(*(item.conditions for item in items[:1]))
    for column in formula.columns:
        if column not in known:
            what = f"The planned model uses {column!r}, which is not a column of the ratings."
            yield Problem("E627", ("planned", "model"), what, f"Columns of the ratings: {', '.join(sorted(known))}.")


def _planned_question_problems(definition: StudyDefinition) -> Iterator[Problem]:
    """Yield E627 for a study, a question or a model that is not in the catalog."""
    planned = definition.planned
    if not planned.study:
        if planned.questions or planned.models:
            hint = "Name the study of these questions, for example study: saw_c."
            yield Problem("E627", ("planned", "study"), "Questions or models are planned without a study.", hint)
        return
    try:
        known = question_texts(planned.study)
    except SpecError as error:
        yield Problem("E627", ("planned", "study"), error.what, error.hint)
        return
    if not planned.questions:
        listed = "; ".join(f"{name}: {text}" for name, text in known.items())
        yield Problem(
            "E627", ("planned", "questions"), f"No question of {planned.study} is planned.", f"Questions: {listed}"
        )
    for number, name in enumerate(planned.questions):
        if name not in known:
            what = f"The study {planned.study} has no question {name!r}."
            yield Problem("E627", ("planned", "questions", number), what, f"Its questions: {', '.join(known)}.")
    for number, spec in enumerate(planned.models):
        try:
            SubjectSpec.parse(spec)
        except SpecError as error:
            yield Problem("E627", ("planned", "models", number), error.what, error.hint)


def question_texts(study: str) -> dict[str, str]:
    """Return the questions of a study by id. Errors: :class:`SpecError` for a study that is not in the catalog."""
    named: Any = catalog.study(study)
    questions: tuple[Question, ...] = named.QUESTIONS
    return {question.question_id: question.text for question in questions}


# -- the exclusion rules and the data that they need -----------------------------------------------------------------


def _rule_problems(definition: StudyDefinition) -> Iterator[Problem]:
    """Yield E626 for every rule whose data are not collected, or that would stop the analysis.

    >>> study = StudyDefinition(
    ...     name="s", task="relatedness", language="en", exclusions=("self_report(measure=native_speaker,value=no)",)
    ... )
    >>> [problem.what for problem in _rule_problems(study)]
    ["No question about the participant is named 'native_speaker'."]
    """
    for number, text in enumerate(definition.exclusions):
        for what, hint in _rule_faults(definition, parse_rule(text)):
            yield Problem("E626", ("exclusions", number), what, hint)


def _rule_faults(definition: StudyDefinition, rule: Rule) -> Iterator[tuple[str, str]]:
    measures = _number_measures(definition)
    stored = ", ".join(sorted(measures))
    if isinstance(rule, FailedCatch | LowAgreement) and rule.measure not in measures:
        yield f"The study does not store {rule.measure!r} as a number.", f"Use one of {stored}, or delete the rule."
    elif isinstance(rule, FailedCatch):
        yield from _catch_faults(definition, rule)
    elif isinstance(rule, LowAgreement):
        yield from _agreement_faults(definition, rule)
    elif isinstance(rule, SelfReport):
        yield from _self_report_faults(definition, rule)
    elif isinstance(rule, AttentionCheck) and not definition.attention:
        yield "The study has no attention check.", "Add one under attention, or delete the rule."
    elif isinstance(rule, FailedQualification) and not definition.qualification:
        yield "The study has no qualification test.", "Add one under qualification, or delete the rule."
    elif isinstance(rule, TooSlow | ThresholdRule) and rule.measure not in measures:
        yield f"The study does not store {rule.measure!r} as a number.", f"Use one of {stored}."


def _catch_faults(definition: StudyDefinition, rule: FailedCatch) -> Iterator[tuple[str, str]]:
    if CATCH in rule.items and not definition.catch.per_list:
        yield "The lists have no catch trial.", "Set catch.per_list, or delete the rule."
    if CATCH in rule.items and rule.expected != definition.catch.answer:
        what = f"The rule expects {rule.expected:g}; catch.answer is {definition.catch.answer:g}."
        yield what, "Set both to the correct answer to the catch trials."


def _agreement_faults(definition: StudyDefinition, rule: LowAgreement) -> Iterator[tuple[str, str]]:
    if definition.catch.per_list and CATCH not in rule.ignore_items:
        yield "Catch trials would be included in the agreement.", "Write ignore_items=catch."
    if rule.missing == "error":
        yield (
            "The correlation of a participant with equal answers is undefined and would stop the analysis.",
            "Write missing=exclude or missing=keep.",
        )
    if definition.ratings.per_item < 3:
        what = f"Agreement with the others needs 3 ratings per item; ratings.per_item is {definition.ratings.per_item}."
        yield what, "Set ratings.per_item to 3 or more, or delete the rule."


def _self_report_faults(definition: StudyDefinition, rule: SelfReport) -> Iterator[tuple[str, str]]:
    question = next((entry for entry in definition.about_you if entry.measure == rule.measure), None)
    if question is None:
        what = f"No question about the participant is named {rule.measure!r}."
        yield what, "Add it under about_you, or delete the rule."
    elif question.kind == "choice" and str(rule.value) not in {option.value for option in question.options}:
        known = ", ".join(option.value for option in question.options)
        yield f"{rule.value!r} is not an answer to {rule.measure!r}.", f"The answers are: {known}."
    elif not question.required and rule.missing == "error":
        what = f"The question {rule.measure!r} is not required, so its answer can be missing."
        yield what, "Write missing=exclude or missing=keep, or require an answer."


def _number_measures(definition: StudyDefinition) -> set[str]:
    """Return the measures that are numbers; choices and texts cannot be correlated."""
    screen = catalog.screen(definition.task)
    stored = {"completion_time"} | {q.measure for q in definition.about_you if q.kind == "number"}
    stored |= {screen.measure} if screen.widget == "scale" else set()
    stored |= {"attention_check"} if definition.attention else set()
    return stored | ({"qualification"} if definition.qualification else set())


# -- warnings: they do not prevent the launch -----------------------------------------------------------------------


def launch_warnings(definition: StudyDefinition, items: Sequence[Item], *, merged: str = "") -> tuple[Problem, ...]:
    """Return the warnings: points to check before the launch, which do not prevent it.

    *merged* names the rows that were merged into one item. Codes: W630 participants are not paid, W631 no contact is
    set, W632 the retention of the answers is not described, W634 rows of the item file are one item together, W635
    questions before the place are shown in one view to all arms, W636 variants of one story may meet in a list, W637
    a word that the guidelines explain is among the targets, W639 the items, or texts in a language whose words are
    not known, read like another language than the study's.

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
    hint = "If they are different items, give each row a unique item_id."
    return (*warnings, Problem("W634", ("items",), merged, hint))


def _promise_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if not definition.payment.amount and definition.platform.kind != "lab":
        hint = "Set payment.amount, or state in the consent that the study is unpaid."
        yield Problem("W630", ("payment", "amount"), "No payment is set.", hint)
    if not definition.contact.strip():
        yield Problem("W631", ("contact",), "No contact is set, so participants cannot reach you.", "Set contact.")
    if not definition.retention.answers.strip():
        what = "Data retention is not described."
        hint = "Set retention.answers: who keeps them, for how long, and the place of publication."
        yield Problem("W632", ("retention", "answers"), what, hint)


def _arm_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    first = definition.views[0] if definition.views else "full"
    if len(definition.views) > 1 and first != "full" and (definition.qualification or definition.examples):
        what = f"Participants of all views see the examples and the qualification in the view {first!r}."
        yield Problem("W635", ("views",), what, "List the view that all may see first, for example full.")


def _story_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if catalog.screen(definition.task).drawn or SETUP in {
        confusion.condition for confusion in definition.design.confusion
    }:
        return
    most = max(Counter(str(item.conditions[SETUP]) for item in items if SETUP in item.conditions).values(), default=0)
    if most > 1:
        what = f"Up to {most} items are variants of one story and can meet in one list."
        hint = "To separate them, add to design.confusion: {condition: setup, at_most: 1}."
        yield Problem("W636", ("design", "confusion"), what, hint)


def _language_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    if definition.language.partition("-")[0].lower() not in TOLD_APART:
        # a text in a related language may be mistaken for a known one: not a reason to stop the launch
        yield from _foreign_texts(definition, "W639")
    shown = " ".join(dict.fromkeys(usage.text for item in items for usage in item.usages))
    if language := foreign_language(shown, definition.language):
        what = f"The items seem to be in {language!r}; the study is in {definition.language!r}."
        yield Problem("W639", ("language",), what, "Correct the language or the items.")


def _guideline_warnings(definition: StudyDefinition, items: Sequence[Item]) -> Iterator[Problem]:
    """Warn of targets that the guidelines explain: every page shows the guidelines, which reveal the answer."""
    screen = study_screen(definition)
    if "guidelines" not in screen.fold_outs or definition.language.partition("-")[0] not in screen.guided_languages:
        return
    targets = {usage.target.casefold() for item in items for usage in item.usages}
    shown = screen.guidelines(definition.language, views=definition.views)
    words = [word for word in dict.fromkeys(_BOLD_OR_LINKED.findall(shown)) if word.casefold() in targets]
    if words:
        what = f"The guidelines of the task explain words that are targets: {', '.join(words)}."
        yield Problem("W637", ("items",), what, "Remove these items.")
