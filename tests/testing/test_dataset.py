"""The kit on the dataset of another distribution: a sound one keeps all contracts, each fault is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.testing import DATASET_CONTRACTS, ContractError, check_dataset

from .made_site import installed


def test_a_sound_dataset_keeps_every_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dataset of an installed distribution, by the name of its entry point and by the path of its file."""
    name = installed(tmp_path, monkeypatch, "sound_data")
    assert check_dataset(f"{name}_norms") == tuple(DATASET_CONTRACTS)
    assert check_dataset(f"{name}_norms", only="counts_hold") == ("counts_hold",)
    (tmp_path / "file").mkdir()
    for file in ("norms.py", "data.csv"):
        (tmp_path / "file" / file).write_text((tmp_path / name / file).read_text(encoding="utf-8"), encoding="utf-8")
    assert check_dataset(str(tmp_path / "file" / "norms.py"), only="items_are_whole") == ("items_are_whole",)


@pytest.mark.parametrize(
    ("old", "new", "contract", "sentence"),
    [
        ('("items", 2)', '("items", 3)', "counts_hold", "the card counts 3 items, 2 were loaded"),
        ('("words", 1)', '("pages", 1)', "counts_hold", "the card counts pages, which is not one of items, words"),
        ('summary="Two pairs."', 'summary=" "', "card_is_complete", "the card has no summary"),
        ('counts=', 'last_item="i9", counts=', "items_are_whole", "the card names i9 as the last item, i2 was loaded"),
        ('"en",\n    licence', '"es",\n    licence', "items_are_whole", "the item i1 has a usage in 'en'"),
        (
            "Dataset(CARD, read.items, read.responses,",
            "Dataset(CARD, read.items[:1], read.responses,",
            "responses_refer_to_items",
            "a response names the item i2, which is not loaded",
        ),
        (
            "Dataset(CARD, read.items,",
            "Dataset(CARD, tuple(sorted(read.items, key=lambda item: -len(CALLS))) [:: (-1) ** len(CALLS)],",
            "loading_twice_gives_the_same",
            "the items are different the second time",
        ),
        ("((CARD.files[0].path, found.sha256),)", "()", "checksums_are_recorded", "the dataset records no checksum"),
    ],
)  # fmt: skip
def test_a_fault_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, contract: str, sentence: str
) -> None:
    """The error names the dataset, the contract that is broken, and what breaks it."""
    name = installed(tmp_path, monkeypatch, f"odd_{abs(hash(new))}", [("norms", old, new)])
    if "CALLS" in new:
        file = tmp_path / name / "norms.py"
        text = file.read_text(encoding="utf-8")
        file.write_text(
            text.replace("def load():", "CALLS = []\n\n\ndef load():\n    CALLS.append(1)"), encoding="utf-8"
        )
    with pytest.raises(ContractError) as caught:
        check_dataset(f"{name}_norms")
    assert str(caught.value).startswith(f"the dataset {name}_norms breaks ")
    assert any(text.startswith(sentence) for text in caught.value.broken[contract]), caught.value.broken
