"""The input of an export: the study, its answers, its participants; and which participants are valid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np
import pyarrow as pa

from lexiscope.analysis.exclusion import Rule, format_rule
from lexiscope.annotation.export.pasted_ids import without_ids
from lexiscope.annotation.phrases import EXCLUDED_EARLIER, NO_DATA, NONE_FINISHED, Asked, Phrase, rule_phrase
from lexiscope.annotation.store.export import FINISHED, FREE_TEXTS
from lexiscope.annotation.store.overview import ListedParticipant, PlanSignature
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.design import DividedLists
from lexiscope.annotation.study_file.exclusions import current_exclusions, declared_rules, ids_included_by_hand
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.simulated import SIMULATED, kind_of_person, refuse_mixture
from lexiscope.items.sheets.long_rows import TableRows, distinct, mapped, with_replaced
from lexiscope.tasks.kit.published_sheets import Reviewed

_NOT_JUDGED = ("view", "position", "answered_at", "raw")
"""The columns of responses that no rule reads."""
EXCLUDED_WHILE_RUNNING = "excluded_while_running"
"""The name, among the rules, of exclusions that no rule accounts for."""


@dataclass(frozen=True, slots=True)
class RuleCount:
    """The effect of one rule: participants before, removed and after; ``waiting`` is why it could not be applied.

    ``name`` is the rule for readers, ``rule`` as it was declared with every setting, ``description`` as a sentence.
    """

    rule: str
    name: Phrase
    description: str
    n_before: int
    n_removed: int
    n_after: int
    waiting: Phrase | None = None


@dataclass(frozen=True, slots=True)
class ParticipantCounts:
    """The participants: counts by rule in order, the excluded ones with their reasons, and the valid ones."""

    rules: tuple[RuleCount, ...]
    excluded: Mapping[str, str]
    valid: frozenset[str]


@dataclass(frozen=True, eq=False)
class StudyData:
    """A study and all that was collected in it.

    ``responses`` and ``judgments`` are the store's tables; ``views`` the view of each list; ``measure`` that of the
    task's answers; ``numbers`` the number from which each participant's trials were made (the ordinal of their place);
    ``reviews`` the verdicts on texts, by participant and item. ``platform_ids`` are removed from free text; nothing
    else of them is used. ``signature`` is that of the plan, if a person signed it; ``first_answer_at`` when the first
    answer was stored, of any phase.
    """

    definition: StudyDefinition
    design: DividedLists
    measure: str
    responses: ResponseTable
    judgments: pa.Table
    people: Sequence[ListedParticipant]
    numbers: Mapping[str, int] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    reviews: Mapping[tuple[str, str], Reviewed] = field(default_factory=dict)
    platform_ids: frozenset[str] = frozenset()
    signature: PlanSignature | None = None
    first_answer_at: str = ""

    @cached_property
    def simulated(self) -> bool:
        """Whether the participants are simulated: their ids say so, which every table is made of.

        Errors: :class:`InputError` E508 where people are among them.
        """
        kinds = {kind_of_person(person.participant_id) for person in self.people}
        refuse_mixture(kinds)
        return SIMULATED in kinds

    @property
    def asked(self) -> Sequence[Item]:
        """The items, without catch trials."""
        return self.design.items

    @property
    def scale(self) -> Scale:
        """The scale of the ratings."""
        return self.definition.scale.scale()

    @property
    def first_view(self) -> str:
        """The first view of the study."""
        return self.definition.views[0]

    @cached_property
    def items(self) -> dict[str, Item]:
        """The items by id, catch trials too."""
        catch = {item.item_id: item for items in self.design.catch for item in items}
        return {item.item_id: item for item in self.design.items} | catch

    @cached_property
    def participant_counts(self) -> ParticipantCounts:
        """The valid and the excluded participants, by the rules as declared and by decisions by hand."""
        return count_participants(self)

    @cached_property
    def rows(self) -> TableRows:
        """The judgments as rows: excluded participants are marked, platform ids in free text are removed."""
        table, excluded = self.judgments, self.participant_counts.excluded
        people = table.column("participant_id")

        reasons = mapped(people, lambda who: without_ids(excluded.get(who), self.platform_ids), pa.string())
        known = {"exclusion_rule": reasons, "excluded": mapped(people, excluded.__contains__, pa.bool_())}
        for name in FREE_TEXTS:
            # of a million texts, few have an id
            texts = ((text, without_ids(text, self.platform_ids)) for text in distinct(table.column(name)))
            cleaned = {text: now for text, now in texts if now is not None and now != text}
            if cleaned:
                known[name] = with_replaced(table.column(name), cleaned)
        for name, column in known.items():
            table = table.set_column(table.column_names.index(name), name, column)
        return TableRows(table)

    @cached_property
    def valid_rows(self) -> TableRows:
        """The answers that count: to real items, in the trials, of valid participants, in one order."""
        return self.valid_rows_revealed.where(phase=("trials",))

    @cached_property
    def valid_rows_revealed(self) -> TableRows:
        """The same with the second answers, given with the target shown; each follows the first.

        They are in the order of the lists as numbers (list 2 before list 10), then by place on the list, participant
        and trial; surplus people come last.
        """
        valid = self.participant_counts.valid
        asked = self.rows.where(kind=("item",), phase=("trials", "reveal"), participant_id=valid)
        return asked.ordered_by(
            list_id=lambda name: (len(name or ""), name or ""),
            slot=lambda slot: (slot is None, slot or 0),
            participant_id=str,
            trial_index=lambda number: number or 0,
            phase="reveal".__eq__,
        )

    @property
    def valid_responses(self) -> ResponseTable:
        """The responses of valid participants."""
        return self.responses.where(subject_id=self.participant_counts.valid)

    @property
    def item_answers(self) -> ResponseTable:
        """The valid responses to real items, in the task's measure."""
        return self.item_answers_in(self.responses)

    def item_answers_in(self, table: ResponseTable) -> ResponseTable:
        """Return the rows of some of the study's responses that are :attr:`item_answers`."""
        items = [item.item_id for item in self.design.items]
        return table.where(subject_id=self.participant_counts.valid, measure=self.measure, item_id=items)

    def view_of(self, list_id: str | None) -> str:
        """Return the view of a list."""
        return self.views.get(list_id or "", self.first_view)


def count_participants(collected: StudyData) -> ParticipantCounts:
    """Apply the rules to all who finished, as the study does while it runs, and count what each rule did.

    A rule that cannot be applied removes no participant and has a reason. Exclusions by hand come after the rules.
    """
    finished = {person.participant_id for person in collected.people if person.state in FINISHED}
    table = collected.responses.where(subject_id=finished)
    for column in _NOT_JUDGED:
        # rules choose among the rows, which makes copies of them
        table = table.with_column(column, None)
    kept = ids_included_by_hand(collected.people)
    counts: list[RuleCount] = []
    excluded: dict[str, str] = {}
    questions = asked_about_participants(collected.definition)
    for rule in declared_rules(collected.definition, collected.design):
        caught, waiting = _rule_exclusions(rule, table, kept)
        before = len(finished) - len(excluded)
        excluded |= caught
        name = rule_phrase(rule, questions)
        removed = (before, len(caught), before - len(caught))
        counts.append(RuleCount(format_rule(rule), name, rule.describe(), *removed, waiting))
        table = table.where(subject_id=finished - set(excluded))
    by_hand = {
        person.participant_id: person.reason or "no reason given"
        for person in collected.people
        if person.state == "excluded" and person.participant_id not in excluded
    }
    if by_hand:
        before = len(finished) - len(excluded)
        what = "Excluded while the study was running, by hand or by a rule that no longer applies to them."
        removed = (before, len(by_hand), before - len(by_hand))
        counts.append(RuleCount(EXCLUDED_WHILE_RUNNING, EXCLUDED_EARLIER, what, *removed))
    excluded |= by_hand
    return ParticipantCounts(tuple(counts), excluded, frozenset(finished - set(excluded)))


def responses_without_ids(table: ResponseTable, platform_ids: frozenset[str]) -> ResponseTable:
    """Return responses with platform ids taken out of free text."""
    if not platform_ids:
        return table
    for name in ("option", "raw"):
        table = with_texts(table, name, lambda text: without_ids(text, platform_ids))
    return table


def with_texts(table: ResponseTable, name: str, change: Callable[[str], str | None]) -> ResponseTable:
    """Return responses with the texts of a column changed, each distinct one once; the table itself if none is."""
    codes, texts = table.codes(name)
    changed = [change(text) for text in texts]
    if changed == list(texts):
        return table
    column = pa.array([*changed, None], pa.string()).take(pa.array(np.where(codes < 0, len(texts), codes)))
    return table.with_column(name, column)


def minutes_of(person: ListedParticipant) -> float | None:
    """Return the minutes from the first trial to the last; ``None`` where there is no such time.

    A clock that was set back makes no time.
    """
    return _minutes_between(person.active_at, person.finished_at)


def session_minutes_of(person: ListedParticipant) -> float | None:
    """Return the minutes from consent to the last answer, with all pauses: the paid time; ``None`` as above."""
    return _minutes_between(person.consented_at, person.finished_at)


def asked_about_participants(definition: StudyDefinition) -> Asked:
    """Return the questions about the participant as rules name them."""
    return {
        question.measure: (question.text, {option.value: option.text for option in question.options})
        for question in definition.about_you
    }


def _rule_exclusions(rule: Rule, table: ResponseTable, kept: Collection[str]) -> tuple[dict[str, str], Phrase | None]:
    """Return the participants that a rule excludes, and the reason if it is pending."""
    if not len(table):
        return {}, NONE_FINISHED
    try:
        now = current_exclusions([rule], table, kept=kept)
    except (InputError, StatisticError):
        return {}, NO_DATA
    return now.excluded, now.waiting[0][1] if now.waiting else None


def _minutes_between(first: str | None, last: str | None) -> float | None:
    if first is None or last is None:
        return None
    seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    return seconds / 60 if seconds >= 0 else None
