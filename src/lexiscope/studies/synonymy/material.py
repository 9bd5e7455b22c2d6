"""What the study works on: the decisions of every subject in every cell, in the order of the collection's items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lexiscope.analysis.choice_sets import CORRECT, Decisions, decide, recorded, token_deltas
from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scoring import Per, ScoringPolicy
from lexiscope.studies.synonymy.cells import JOINT, Cell, cell_of, ordered
from lexiscope.studies.synonymy.design import Design, design_of

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Kind = Literal["recorded", "live", "baseline"]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Decisions of one subject in one cell. *Shape:* correct, tied, margin, delta (items,).

    ``margin`` is NaN for recorded outcomes and joint conditions, ``delta`` (tokens of the right option minus the
    others) where tokens were not counted. ``n_options`` is the largest number of options of a choice set.
    """

    correct: Flags
    tied: Flags
    margin: Floats
    delta: Floats
    n_options: int


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What one subject decided: ``outcomes`` by cell, under the measure that decides; ``others`` under other ones."""

    subject: str
    title: str
    kind: Kind
    measure: str
    outcomes: Mapping[Cell, Outcome]
    others: Mapping[str, Mapping[Cell, Outcome]] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that it has decisions in, in the paper's order."""
        return ordered(self.outcomes)

    @property
    def policy(self) -> ScoringPolicy | None:
        """How its texts were scored, where it scored texts."""
        try:
            return ScoringPolicy.parse(self.measure)
        except SpecError:
            return None


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Everything that the analyses see. ``numbers`` are the items of the collection, in order; ``sentences`` their
    sentences (what is resampled); ``gaps`` the completions of live subjects, with the items that they complete;
    ``states`` the ids of the subjects that are states of a model in training, with how far each was. ``own`` says
    whether items or templates are the user's, ``gap`` what stands between a sentence and its gap (T is the target),
    ``left_out`` which analyses do not apply, each with its reason.
    """

    name: str
    mode: str
    card: DatasetCard
    items: tuple[Item, ...]
    responses: ResponseTable
    numbers: tuple[int, ...]
    sentences: tuple[str, ...]
    answers: tuple[Answers, ...]
    facts: Mapping[str, SubjectFacts]
    gap_items: tuple[Item, ...] = ()
    gaps: ResponseTable = field(default_factory=ResponseTable.empty)
    deltas: Floats | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    routes: tuple[Mapping[str, Any], ...] = ()
    licences: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    states: tuple[tuple[str, float], ...] = ()
    own: bool = False
    gap: str = ""
    left_out: tuple[tuple[str, str], ...] = ()

    def of_kind(self, *kinds: Kind) -> tuple[Answers, ...]:
        """Return the answers of these kinds of subject."""
        return tuple(answers for answers in self.answers if answers.kind in kinds)

    @property
    def all_responses(self) -> ResponseTable:
        """All answers of the run: outcomes, scores, counts and completions."""
        return ResponseTable.concat([self.responses, self.gaps])

    @property
    def baseline(self) -> Answers | None:
        """The word-frequency baseline, where it could be computed."""
        return next((answers for answers in self.answers if answers.kind == "baseline"), None)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells that any subject has decisions in."""
        return ordered(cell for answers in self.answers for cell in answers.outcomes)

    @property
    def design(self) -> Design:
        """What is compared with what: the plan over these cells."""
        return design_of(self.cells)

    @property
    def main(self) -> tuple[Cell, ...]:
        """The cells whose accuracies stand first, whether they were answered by all or not."""
        return self.design.main


class Grid:
    """Which choice set belongs to which cell and item of the collection."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.numbers = tuple(sorted({int(item.conditions["item"]) for item in items}))
        sentence = {int(item.conditions["item"]): str(item.conditions["sentence"]) for item in items}
        self.sentences = tuple(sentence[number] for number in self.numbers)
        self._ids: dict[Cell, dict[int, str]] = {}
        self.n_options: dict[Cell, int] = {}
        for item in items:
            cell = cell_of(item)
            self._ids.setdefault(cell, {})[int(item.conditions["item"])] = item.item_id
            self.n_options[cell] = max(self.n_options.get(cell, 0), len(item.options))

    def cells(self, answered: frozenset[str]) -> dict[Cell, list[str]]:
        """Return the item ids of each cell in the order of the collection, of those cells that were answered at all.

        Errors: :class:`InputError` for a cell that lacks an item of the collection: cells could not be compared.
        """
        found = {}
        for cell, ids in self._ids.items():
            lacking = [number for number in self.numbers if number not in ids]
            if lacking:
                raise InputError(f"{cell.name} has no choice set for {len(lacking)} items, the first is {lacking[0]}")
            if answered & set(ids.values()):
                found[cell] = [ids[number] for number in self.numbers]
        return found


def answers_of(
    table: ResponseTable, subject: str, *, grid: Grid, title: str, kind: Kind, per: Per = "token"
) -> Answers:
    """Return what one subject decided in every cell, under the denominator *per* where it scored texts."""
    own = table.where(subject_id=subject)
    measures = _deciding(own, per)
    deltas = token_deltas(own, subject=subject) if len(own.where(measure="n_tokens")) else {}
    found = {measure: _outcomes(_decisions(own, subject, measure), grid, deltas) for measure in measures}
    return Answers(subject, title, kind, measures[0], found[measures[0]], {m: found[m] for m in measures[1:]})


def _deciding(table: ResponseTable, per: Per) -> list[str]:
    """The measures that decide: the main one first, then those with other denominators."""
    policies = []
    others = []
    for measure in table.unique("measure"):
        try:
            policies.append(ScoringPolicy.parse(measure))
        except SpecError:
            others.append(str(measure))
    if policies:
        return [str(policy) for policy in sorted(policies, key=lambda policy: policy.per != per)]
    return [name for name in others if name not in ("n_tokens", "self_test_margin")][:1]


def _decisions(table: ResponseTable, subject: str, measure: str) -> Decisions:
    return recorded(table, subject=subject) if measure == CORRECT else decide(table, subject=subject, measure=measure)


def _outcomes(decisions: Decisions, grid: Grid, deltas: Mapping[str, float]) -> dict[Cell, Outcome]:
    answered = frozenset(decisions.item_ids)
    found: dict[Cell, Outcome] = {}
    for cell, ids in grid.cells(answered).items():
        own = decisions.aligned(ids)
        delta = np.array([deltas.get(item_id, np.nan) for item_id in ids])
        found[cell] = Outcome(own.correct, own.tied, own.margin, delta, grid.n_options[cell])
    for joint, parts in JOINT.items():
        for cell in [cell for cell in found if cell.condition == parts[0]]:
            other = found.get(cell.with_condition(parts[1]))
            if other is not None and len(other.correct) == len(found[cell].correct):
                found[cell.with_condition(joint)] = _both(found[cell], other)
    return found


def _both(first: Outcome, second: Outcome) -> Outcome:
    nothing = np.full(len(first.correct), np.nan)
    correct, tied = first.correct & second.correct, first.tied | second.tied
    return Outcome(correct, tied, nothing, nothing, max(first.n_options, second.n_options))
