"""One contract for every dataset of the catalog: what its card promises is what it loads."""

from __future__ import annotations

import functools
import importlib
import json
import os
import re
import subprocess
import sys

import pytest

from lexiscope.core import catalog
from lexiscope.core.dataset import DatasetCard
from lexiscope.testing.contract import hold
from lexiscope.testing.dataset import DATASET_CONTRACTS, LoadedDataset

NAMES = catalog.names("datasets")
GATED = tuple(
    name
    for name in NAMES
    if catalog.card(name).availability == "obtain" and all(file.sha256 is None for file in catalog.card(name).files)
)
"""Sets that nobody may pass on and we never saw: their readers are tested on made-up files (test_entity_linking)."""


def _parameters() -> list[object]:
    """A dataset that is not embedded needs the published data."""
    marks = {name: [] if catalog.card(name).availability == "embedded" else [pytest.mark.published] for name in NAMES}
    return [pytest.param(name, marks=marks[name]) for name in NAMES if name not in GATED]


@functools.cache
def _load(name: str) -> LoadedDataset:
    return LoadedDataset(name)


@pytest.fixture
def dataset(request: pytest.FixtureRequest) -> LoadedDataset:
    name = request.param
    if catalog.card(name).availability != "embedded":
        request.getfixturevalue("published")
    return _load(name)


every = pytest.mark.parametrize("dataset", _parameters(), indirect=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_card_is_complete(name: str) -> None:
    """A card says what, in which language, by whom, under which licence, which version, and how to get it."""
    card: DatasetCard = catalog.card(name)
    assert card.name == name
    said = (
        "title",
        "task",
        "language",
        "licence",
        "citation",
        "source",
        "version",
        "summary",
        *(() if name in GATED else ("first_item", "last_item")),
    )
    assert [field for field in said if not getattr(card, field).strip()] == []
    assert card.files
    assert name in GATED or dict(card.counts).keys() >= {"items", "words"}
    assert card.availability != "obtain" or card.how_to_obtain
    assert len({file.path for file in card.files}) == len(card.files)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_pinned(name: str) -> None:
    """A file has a sha256, at any https address; an optional file may lack it where its address has a commit."""
    card = catalog.card(name)
    for file in card.files:
        assert not os.path.isabs(file.path)
        assert ".." not in file.path
        assert (file.optional or name in GATED) if file.sha256 is None else re.fullmatch("[0-9a-f]{64}", file.sha256)
        if card.availability == "download":
            assert re.match(r"https://\S+$" if file.sha256 else r"https://\S+/[0-9a-f]{40}/\S+$", file.url)


@pytest.fixture(scope="module")
def brought_in() -> dict[str, list[str]]:
    """The heavy modules that are there after each dataset's file is imported: in one process, one file after another.

    If one of them is to blame, those after it are named too; where none is, all lists are empty.
    """
    heavy = ("torch", "transformers", "pandas", "scipy", "statsmodels", "matplotlib", "requests", "pooch")
    code = (
        "import importlib, json, sys\nseen = {}\n"
        f"for name in {NAMES!r}:\n"
        "    importlib.import_module(f'lexiscope.datasets.{name}')\n"
        f"    seen[name] = [module for module in {heavy!r} if module in sys.modules]\n"
        "print(json.dumps(seen))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", NAMES)
def test_importing_is_light(name: str, brought_in: dict[str, list[str]]) -> None:
    """Importing a dataset's file reads nothing and brings in no pandas, scipy, torch or network library."""
    assert brought_in[name] == []
    assert importlib.import_module(f"lexiscope.datasets.{name}").CARD is catalog.card(name)


@pytest.mark.parametrize("contract", sorted({*DATASET_CONTRACTS} - {"files_are_pinned"}))
@every
def test_the_contracts_of_the_kit(dataset: LoadedDataset, contract: str) -> None:
    """What every dataset owes, of the package or not: :mod:`lexiscope.testing`."""
    hold(f"dataset {dataset.name}", dataset, DATASET_CONTRACTS, contract)
