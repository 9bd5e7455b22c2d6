"""Are the orders that were shown those that the definition and its seed give? Made again, trial by trial."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lexiscope.annotation.export.study_data import StudyData
from lexiscope.core.errors import Place, RunError

PHASE = "trials"


class PlannedTrial(Protocol):
    """What is compared of a trial as it is planned."""

    @property
    def item_id(self) -> str:
        """The item."""

    @property
    def display_order(self) -> tuple[int, ...]:
        """The order of the options; empty as given."""

    @property
    def side(self) -> str | None:
        """Which sentence stood left."""


Plan = Callable[[str, int], Sequence[PlannedTrial]]
"""The trials of a list and a participant's number, made again from the definition and its seed."""


@dataclass(frozen=True, slots=True)
class ShownTrial:
    """A trial as it was shown: who, on which list, with which number, and what stood where."""

    participant_id: str
    list_id: str
    number: int
    trial_index: int
    item_id: str
    display_order: tuple[int, ...]
    side: str


@dataclass(frozen=True, slots=True)
class OrderDifference:
    """A trial that was not shown as it is planned."""

    participant_id: str
    trial_index: int
    shown: str
    planned: str


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """How many trials were shown, how many of them as planned, and every one that was not."""

    n_participants: int
    n_trials: int
    differences: tuple[OrderDifference, ...]

    @property
    def n_reproduced(self) -> int:
        """Trials that are as planned."""
        return self.n_trials - len(self.differences)


def verify_orders(shown: Sequence[ShownTrial], plan: Plan) -> OrderCheck:
    """Compare the trials that were shown with those that the plan gives for the same lists and numbers."""
    people: dict[tuple[str, str, int], list[ShownTrial]] = {}
    for trial in shown:
        people.setdefault((trial.participant_id, trial.list_id, trial.number), []).append(trial)
    differences: list[OrderDifference] = []
    for (who, list_id, number), trials in people.items():
        planned = plan(list_id, number)
        for trial in trials:
            was = (trial.item_id, trial.display_order, trial.side)
            should = _planned(planned, trial.trial_index)
            if was != should:
                differences.append(OrderDifference(who, trial.trial_index, str(was), str(should)))
    return OrderCheck(len(people), len(shown), tuple(differences))


def shown_trials(collected: StudyData) -> tuple[ShownTrial, ...]:
    """Return the trials of a study as they were shown."""
    rows = [row | {"number": collected.numbers.get(row["participant_id"])} for row in collected.rows]
    return tuple(_shown(row) for row in rows if row["phase"] == PHASE)


def read_shown_trials(folder: Path) -> tuple[ShownTrial, ...]:
    """Return the trials of an export as they were shown.

    Errors: :class:`RunError` where the export has no readable ``display_orders.jsonl``.
    """
    path = folder / "display_orders.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line]
        return tuple(_shown(row) for row in rows if row["phase"] == PHASE)
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = "the orders of this export cannot be read"
        raise RunError(what, place=Place(str(path)), why=str(error), hint="export again") from error


def _shown(row: Mapping[str, Any]) -> ShownTrial:
    return ShownTrial(
        participant_id=row["participant_id"],
        list_id=row["list_id"] or "",
        number=-1 if row["number"] is None else row["number"],
        trial_index=row["trial_index"],
        item_id=row["item_id"],
        display_order=tuple(json.loads(row["display_order"] or "[]")),
        side=row["side"] or "as_given",
    )


def _planned(planned: Sequence[PlannedTrial], index: int) -> tuple[str, tuple[int, ...], str] | None:
    if index >= len(planned):
        return None
    trial = planned[index]
    return trial.item_id, tuple(trial.display_order), trial.side or "as_given"
