"""The embedded planted bias: made from its dials, and from others on demand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.core.errors import DataError, InputError
from lexiscope.datasets import planted_bias
from lexiscope.datasets.planted_bias import CARD, embedded_dials, load


def test_the_dials_are_those_of_the_card() -> None:
    """Six of ten contexts tell, three of ten words; the default dials are the embedded ones."""
    assert embedded_dials() == Dials()
    test = [item for item in load().items if item.conditions["split"] == "test"]
    assert sum(bool(item.conditions["context_tells"]) for item in test) == 600
    assert sum(bool(item.conditions["word_tells"]) for item in test) == 300


def test_other_dials_make_other_items() -> None:
    """The dials are arguments, as numbers or as the text of a spec; the rest of the dataset stays."""
    found = load(context_sufficiency="0", word_sufficiency=1.0, seed="7")
    assert all(item.conditions["word_tells"] for item in found.items)
    assert not any(item.conditions["context_tells"] for item in found.items)
    assert found.items == planted_items(Dials(0.0, 1.0, seed=7))
    assert found.card is CARD


@pytest.mark.parametrize("wrong", [{"seed": "one"}, {"word_sufficiency": "2"}, {"context_sufficiency": "half"}])
def test_a_dial_that_is_no_share_is_refused(wrong: dict[str, str]) -> None:
    """The error names the dial."""
    with pytest.raises(InputError, match=next(iter(wrong))):
        load(**wrong)


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The five numbers are pinned by their checksum."""
    monkeypatch.setattr(planted_bias, "DIALS", replace(CARD.files[0], sha256="0" * 64))
    with pytest.raises(DataError, match="changed"):
        load()
