"""The exclusion rules of a study: as declared, and as they are judged while the study still runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, cast

import numpy as np

from lexiscope.analysis.exclusion import LowAgreement, Rule, TooSlow, apply, format_rule, parse_rule
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.design import DividedLists
from lexiscope.annotation.study_file.wording import people
from lexiscope.core.response import ResponseTable

CATCH = "catch"
"""The word by which a rule names all catch trials of the design, whose ids its author cannot know."""


INCLUDED = "included by hand: "
"""Begins the reason of somebody whom a researcher took back in: no rule excludes them again."""


class HasReason(Protocol):
    """A participant with the reason of their last change of state."""

    @property
    def participant_id(self) -> str:
        """The random id."""

    @property
    def reason(self) -> str:
        """Why they are in their state."""


def kept_by_hand(people: Iterable[HasReason]) -> frozenset[str]:
    """Return who was taken back in by a researcher."""
    return frozenset(one.participant_id for one in people if one.reason.startswith(INCLUDED))


@dataclass(frozen=True, slots=True)
class JudgedNow:
    """Who is excluded at the moment, by which rule, and which rules cannot be judged on so few people yet."""

    excluded: dict[str, str]
    waiting: tuple[tuple[str, str], ...]


def declared_rules(definition: StudyDefinition, design: DividedLists) -> tuple[Rule, ...]:
    """Return the study's rules in order, the word ``catch`` replaced by the ids of the catch trials.

    Errors: :class:`SpecError` for a rule that does not parse.
    """
    return tuple(with_catch(parse_rule(text), design.catch_ids) for text in definition.exclusions)


def with_catch(rule: Rule, catch_ids: tuple[str, ...]) -> Rule:
    """Return the rule with the word ``catch`` among its items replaced by ids.

    >>> with_catch(parse_rule("failed_catch(items=catch,expected=5)"), ("c1", "c2")).items
    ('c1', 'c2')
    """
    changed: dict[str, tuple[str, ...]] = {}
    for field in fields(cast(Any, rule)):
        value = getattr(rule, field.name)
        if isinstance(value, tuple) and CATCH in value:
            changed[field.name] = tuple(dict.fromkeys([*catch_ids, *(each for each in value if each != CATCH)]))
    return cast(Rule, replace(cast(Any, rule), **changed)) if changed else rule


def judge_now(rules: Sequence[Rule], table: ResponseTable, *, fewest: int, kept: Collection[str] = ()) -> JudgedNow:
    """Judge those who have finished so far, in the order of the rules.

    A rule that compares people waits: agreement, until *fewest* people of a list are still in; time, until two people
    are. Who is in *kept* is judged with the others and stays in. Once the study is complete this is
    :func:`lexiscope.analysis.exclusion.apply`, which the analysis uses.
    Errors: those of the rules, for a rule that cannot judge somebody and does not say what then.
    """
    excluded: dict[str, str] = {}
    waiting: list[tuple[str, str]] = []
    for rule in rules:
        judged = _judged(rule, table, fewest)
        n_people = len(judged.unique("subject_id"))
        if n_people < (2 if isinstance(rule, TooSlow) else 1):
            waiting.append((format_rule(rule), f"{people(n_people)} can be compared so far"))
            continue
        found = apply([rule], judged)
        out = {person: format_rule(rule) for person in found.attribution if person not in kept}
        excluded |= out
        table = table.filter(~np.isin(table.column("subject_id").astype(str), sorted(out)))
        if not len(table):
            break
    return JudgedNow(excluded, tuple(waiting))


def _judged(rule: Rule, table: ResponseTable, fewest: int) -> ResponseTable:
    """The answers that a rule can be judged on: of lists with enough people, where it compares people of a list."""
    if not isinstance(rule, LowAgreement):
        return table
    codes, _ = table.codes("subject_id")
    lists, _ = table.codes("list_id")
    list_of = dict(zip(codes.tolist(), lists.tolist(), strict=True))
    sizes = Counter(list_of.values())
    full = np.array([sizes[number] >= fewest for number in lists.tolist()], dtype=bool)
    return table.filter(full)
