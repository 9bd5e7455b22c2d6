"""The exclusion rules of a study: as declared, and as they apply while the study still runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lexiscope.analysis.exclusion import LowAgreement, Rule, TooSlow, apply, format_rule, parse_rule
from lexiscope.annotation.phrases import Phrase, pending_until
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.design import DividedLists
from lexiscope.core.response import ResponseTable

if TYPE_CHECKING:
    # a type only: a study is checked before a database library is needed
    from lexiscope.annotation.store.overview import ListedParticipant

CATCH = "catch"
"""The word by which a rule names all catch trials of the design, whose ids its author cannot know."""
FEWEST_FOR_AGREEMENT = 3
"""The number of participants of a list who must have finished before a rule on agreement applies to them."""
INCLUDED = "included by hand: "
"""The prefix of the reason of a participant who was included again by a researcher: no rule excludes them."""


@dataclass(frozen=True, slots=True)
class CurrentExclusions:
    """The participants who are excluded at the moment, each with its rule, and the pending rules with their reasons."""

    excluded: dict[str, str]
    waiting: tuple[tuple[str, Phrase], ...]


def ids_included_by_hand(people: Iterable[ListedParticipant]) -> frozenset[str]:
    """Return the ids of the participants who were included again by a researcher."""
    return frozenset(person.participant_id for person in people if person.reason.startswith(INCLUDED))


def declared_rules(definition: StudyDefinition, design: DividedLists) -> tuple[Rule, ...]:
    """Return the study's rules in order, the word ``catch`` replaced by the ids of the catch trials.

    Errors: :class:`SpecError` for a rule that does not parse.
    """
    return tuple(with_catch_ids(parse_rule(text), design.catch_ids) for text in definition.exclusions)


def with_catch_ids(rule: Rule, catch_ids: tuple[str, ...]) -> Rule:
    """Return the rule with the word ``catch`` among its items replaced by ids.

    >>> with_catch_ids(parse_rule("failed_catch(items=catch,expected=5)"), ("c1", "c2")).items
    ('c1', 'c2')
    """
    changed: dict[str, tuple[str, ...]] = {}
    for field in fields(cast(Any, rule)):
        value = getattr(rule, field.name)
        if isinstance(value, tuple) and CATCH in value:
            changed[field.name] = tuple(
                dict.fromkeys([*catch_ids, *(item_id for item_id in value if item_id != CATCH)])
            )
    return cast(Rule, replace(cast(Any, rule), **changed)) if changed else rule


def current_exclusions(
    rules: Sequence[Rule], table: ResponseTable, *, fewest: int = FEWEST_FOR_AGREEMENT, kept: Collection[str] = ()
) -> CurrentExclusions:
    """Apply the rules in order to those who have finished so far.

    A rule that compares participants is pending at first: agreement, until *fewest* participants of a list are in;
    time, until two are. Participants in *kept* are compared with the others and stay in. Once the study is complete
    this is :func:`lexiscope.analysis.exclusion.apply`, which the analysis uses.
    Errors: those of the rules, for a rule without a result for a participant and without a setting for that case.
    """
    excluded: dict[str, str] = {}
    waiting: list[tuple[str, Phrase]] = []
    for rule in rules:
        rows = _rows_for_rule(rule, table, fewest)
        compares_in_list, needed = isinstance(rule, LowAgreement), 2 if isinstance(rule, TooSlow) else 1
        if len(rows.unique("subject_id")) < needed:
            n = int(_list_sizes(table).max()) if compares_in_list else len(table.unique("subject_id"))
            waiting.append((format_rule(rule), pending_until(n, needed=fewest if compares_in_list else needed)))
            continue
        caught = {person: format_rule(rule) for person in apply([rule], rows).attribution if person not in kept}
        excluded |= caught
        table = table.where(subject_id=set(table.unique("subject_id")) - set(caught))
        if not len(table):
            break
    return CurrentExclusions(excluded, tuple(waiting))


def _rows_for_rule(rule: Rule, table: ResponseTable, fewest: int) -> ResponseTable:
    """Return the answers that a rule applies to: those of lists with enough participants, if it compares these."""
    if not isinstance(rule, LowAgreement):
        return table
    return table.filter(_list_sizes(table)[table.codes("list_id")[0]] >= fewest)


def _list_sizes(table: ResponseTable) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of participants of each list, by the code of the list; the last is that of no list (−1)."""
    (codes, people), (lists, names) = table.codes("subject_id"), table.codes("list_id")
    list_of = np.zeros(len(people), dtype=np.int64)
    list_of[codes] = lists
    return np.bincount(list_of % (len(names) + 1), minlength=len(names) + 1)
