"""Can the declared exclusion rules be judged on what the study collects?"""

from __future__ import annotations

from collections.abc import Iterator

from lexiscope.analysis.exclusion import (
    AttentionCheck,
    FailedCatch,
    FailedQualification,
    LowAgreement,
    Rule,
    SelfReport,
    Threshold,
    TooSlow,
    parse_rule,
)
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.exclusions import CATCH
from lexiscope.annotation.study_file.problem import Problem
from lexiscope.core import catalog


def rule_problems(definition: StudyDefinition) -> Iterator[Problem]:
    """Yield E626 for every rule that would have nothing to judge, or would stop the analysis.

    >>> study = StudyDefinition(
    ...     name="s", task="relatedness", language="en", exclusions=("self_report(measure=native_speaker,value=no)",)
    ... )
    >>> [problem.what for problem in rule_problems(study)]
    ["no question asks 'native_speaker'"]
    """
    for number, text in enumerate(definition.exclusions):
        for what, hint in _faults(definition, parse_rule(text)):
            yield Problem("E626", ("exclusions", number), what, hint)


def _faults(definition: StudyDefinition, rule: Rule) -> Iterator[tuple[str, str]]:
    if isinstance(rule, FailedCatch | LowAgreement) and rule.measure not in _numbers(definition):
        stored = ", ".join(sorted(_numbers(definition)))
        yield f"the study stores no number {rule.measure!r}", f"it stores: {stored}; or take the rule out"
    elif isinstance(rule, FailedCatch):
        yield from _catch(definition, rule)
    elif isinstance(rule, LowAgreement):
        yield from _agreement(definition, rule)
    elif isinstance(rule, SelfReport):
        yield from _report(definition, rule)
    elif isinstance(rule, AttentionCheck) and not definition.attention:
        yield "the study has no attention check", "add one under attention, or take the rule out"
    elif isinstance(rule, FailedQualification) and not definition.qualification:
        yield "the study has no qualification", "add one under qualification, or take the rule out"
    elif isinstance(rule, TooSlow | Threshold):
        yield from _measure(definition, rule.measure)


def _catch(definition: StudyDefinition, rule: FailedCatch) -> Iterator[tuple[str, str]]:
    if CATCH in rule.items and not definition.catch.per_list:
        yield "the lists have no catch trial", "set catch.per_list, or take the rule out"
    if CATCH in rule.items and rule.expected != definition.catch.answer:
        what = f"the rule expects {rule.expected:g}, catch.answer is {definition.catch.answer:g}"
        yield what, "both are the right answer to the same trials"


def _agreement(definition: StudyDefinition, rule: LowAgreement) -> Iterator[tuple[str, str]]:
    if definition.catch.per_list and CATCH not in rule.ignore_items:
        yield "catch trials would count as agreement", "write ignore_items=catch"
    if rule.missing == "error":
        yield (
            "who gives the same answer everywhere has no correlation, and would stop the analysis",
            "write missing=exclude or missing=keep",
        )
    if definition.ratings.per_item < 3:
        yield f"with {definition.ratings.per_item} ratings an item there is no group to agree with", "ask for 3 or more"


def _report(definition: StudyDefinition, rule: SelfReport) -> Iterator[tuple[str, str]]:
    asked = next((question for question in definition.about_you if question.measure == rule.measure), None)
    if asked is None:
        yield f"no question asks {rule.measure!r}", "ask it under about_you, or take the rule out"
    elif asked.kind == "choice" and str(rule.value) not in {option.value for option in asked.options}:
        known = ", ".join(option.value for option in asked.options)
        yield f"{rule.value!r} is no answer to {rule.measure!r}", f"the answers are: {known}"
    elif not asked.required and rule.missing == "error":
        yield f"{rule.measure!r} may stay unanswered", "write missing=exclude or missing=keep, or require an answer"


def _measure(definition: StudyDefinition, measure: str) -> Iterator[tuple[str, str]]:
    stored = _numbers(definition)
    if measure not in stored:
        yield f"the study stores no number {measure!r}", f"it stores: {', '.join(sorted(stored))}"


def _numbers(definition: StudyDefinition) -> set[str]:
    """The measures that are numbers: choices and texts are none, and nothing can be correlated with them."""
    screen = catalog.screen(definition.task)
    stored = {"completion_time"} | {q.measure for q in definition.about_you if q.kind == "number"}
    stored |= {screen.measure} if screen.widget == "scale" else set()
    stored |= {"attention_check"} if definition.attention else set()
    return stored | ({"qualification"} if definition.qualification else set())
