"""S18: every displayed order, side and option order follows from the definition, its seed and the export."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.study_file.assignment import plan_trials
from lexiscope.annotation.study_file.definition import DesignSection, StudyDefinition
from lexiscope.annotation.study_file.design import DividedLists, build_design
from lexiscope.core.errors import RunError

from .made_export import collected, pair
from .shown_orders import Plan, read_shown_trials, shown_trials, verify_orders


@dataclass(frozen=True)
class Planned:
    """A trial as the store keeps it."""

    item_id: str
    display_order: tuple[int, ...]
    side: str | None


def definition(seed: int = 7) -> StudyDefinition:
    """Three lists."""
    return StudyDefinition(name="o", task="relatedness", language="en", design=DesignSection(lists=3, seed=seed))


def plan_of(study: StudyDefinition, design: DividedLists) -> Plan:
    """The plan by the assignment itself."""

    def plan(list_id: str, number: int) -> list[Planned]:
        trials = plan_trials(study, design, list_number=int(list_id) - 1, number=number)
        return [Planned(one.item.item_id, (), one.side) for one in trials]

    return plan


def made() -> StudyData:
    """Twelve people on three lists of ten pairs and a catch trial."""
    return collected(definition(), [pair(f"=i{k}", f"w{k}") for k in range(30)], per_list=4)


def test_every_order_is_made_again_from_the_export(tmp_path: Path) -> None:
    """100 % of 132 trials: definition and items are read anew, only the export says what was shown."""
    write_export(made(), tmp_path / "e")
    items = [pair(f"=i{k}", f"w{k}") for k in range(30)]
    random.Random(3).shuffle(items)
    design = build_design(items, definition().design, definition().catch)
    found = verify_orders(read_shown_trials(tmp_path / "e"), plan_of(definition(), design))
    assert (found.n_participants, found.n_trials, found.n_reproduced) == (12, 12 * 11, 12 * 11)


def test_another_seed_or_a_changed_order_is_found() -> None:
    """What was not shown as planned is named: participant, trial, what was shown and what is planned."""
    source = made()
    shown = shown_trials(source)
    plan = plan_of(source.definition, source.design)
    swapped = replace(shown[5], side="as_given" if shown[5].side == "swapped" else "swapped")
    found = verify_orders([*shown[:5], swapped, *shown[6:]], plan)
    assert [(one.participant_id, one.trial_index) for one in found.differences] == [(swapped.participant_id, 5)]
    reordered = verify_orders([replace(shown[0], display_order=(1, 0))], plan)
    assert reordered.n_reproduced == 0
    beyond = verify_orders([replace(shown[0], trial_index=99)], plan)
    assert beyond.differences[0].planned == "None"
    other = definition(seed=8)
    design = build_design(source.design.items, other.design, other.catch)
    assert verify_orders(shown, plan_of(other, design)).n_reproduced < len(shown) / 2


def test_who_answered_in_part_is_verified_in_part() -> None:
    """The trials that were answered count; the rest was not shown."""
    source = made()
    first = shown_trials(source)[:4]
    assert verify_orders(first, plan_of(source.definition, source.design)).n_reproduced == 4


def test_an_export_without_orders_is_refused(tmp_path: Path) -> None:
    """No silent success on a folder that holds no orders."""
    with pytest.raises(RunError, match="cannot be read"):
        read_shown_trials(tmp_path)
