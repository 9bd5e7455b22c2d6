"""The kit on a kind of subject of another distribution, asked that distribution's own task and the package's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.testing import SUBJECT_CONTRACTS, ContractError, check_subject

from .made_site import installed


def test_a_sound_subject_keeps_every_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked the items of its author, for a task of the package and for one of the same distribution."""
    name = installed(tmp_path, monkeypatch, "sound_subject")
    items = catalog.dataset(f"{name}_norms").items
    asked = {"relatedness": items, f"{name}_question": items}
    assert check_subject(f"{name}_counts:plain", items=asked) == tuple(SUBJECT_CONTRACTS)


def test_worked_examples_are_asked_without_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subject that answers one task only is asked the examples of that task, and no others."""
    only = ('CAPABILITIES = ("Judges",)', 'CAPABILITIES = ("Judges",)\nTASKS = ("relatedness",)')
    name = installed(tmp_path, monkeypatch, "one_task", [("counts", *only)])
    assert check_subject(f"{name}_counts:plain", only="some_task_is_answered") == ("some_task_is_answered",)


@pytest.mark.parametrize(
    ("old", "new", "contract", "sentence"),
    [
        (
            '("Judges",)',
            '("Judges", "Embeds")',
            "capabilities_are_declared",
            "Embeds is declared, but its methods are not there",
        ),
        ('revision="1"', 'revision=""', "id_makes_it_again", "its facts have no revision"),
        (
            "3.0 if rated else each for each in signs",
            "float(1 + len(items)) if rated else each for each in signs",
            "answers_depend_on_the_item_alone",
            "relatedness, asked one by one: rating of the item i",
        ),
        (
            "3.0 if rated else each for each in signs",
            "float(1 + (item.gold is not None)) if rated else each for item, each in zip(items, signs)",
            "right_answers_are_not_looked_at",
            "relatedness, without gold: rating of the item i",
        ),
        (
            '"item_id": [item.item_id for item in items]',
            '"item_id": [items[0].item_id + str(n) for n, _ in enumerate(items)]',
            "methods_keep_the_order",
            "judge: no row for the item i1 of relatedness",
        ),
    ],
)
def test_a_fault_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, contract: str, sentence: str
) -> None:
    """The error names the subject, the contract that is broken, and the task and item where it shows."""
    name = installed(tmp_path, monkeypatch, f"odd_{abs(hash(new))}", [("counts", old, new)])
    items = [replace(item, gold="5") for item in catalog.dataset(f"{name}_norms").items]
    with pytest.raises(ContractError) as caught:
        check_subject(f"{name}_counts:plain", items={"relatedness": items}, only=contract)
    assert str(caught.value).startswith(f"the subject {name}_counts:plain breaks 1 contract:\n\n{contract}: ")
    assert any(text.startswith(sentence) for text in caught.value.broken[contract]), caught.value.broken
