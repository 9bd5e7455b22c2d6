"""One contract for every dataset of the catalog: what its card promises is what it loads."""

from __future__ import annotations

import functools
import importlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard
from lexiscope.core.usage import check_span
from lexiscope.items.read.target_forms import is_form_of
from lexiscope.resources import fetch

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
def _load(name: str) -> Dataset:
    return catalog.dataset(name)


@pytest.fixture
def dataset(request: pytest.FixtureRequest) -> Dataset:
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


@pytest.mark.parametrize("name", NAMES)
def test_importing_is_light(name: str) -> None:
    """Importing a dataset's file reads nothing and brings in no pandas, scipy, torch or network library."""
    heavy = ("torch", "transformers", "pandas", "scipy", "statsmodels", "matplotlib", "requests", "pooch")
    code = f"import lexiscope.datasets.{name}, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert importlib.import_module(f"lexiscope.datasets.{name}").CARD is catalog.card(name)


@every
def test_counts_hold(dataset: Dataset) -> None:
    """Every count of the card is what was loaded."""
    trials = dataset.responses.where(subject_kind="participant")
    found = {
        "items": len(dataset.items),
        "words": len({item.word for item in dataset.items}),
        "sentences": len({usage.text for item in dataset.items for usage in item.usages}),
        "participants": len(trials.unique("subject_id")),
        "trials": len(trials),
        "lists": len({item.list_id for item in dataset.items} - {None}),
        "models": len(dataset.responses.where(measure="cosine_distance").unique("subject_id")),
        "set_aside": len(dataset.set_aside),
    }
    assert dict(dataset.card.counts) == {name: found[name] for name, _ in dataset.card.counts}


@every
def test_items_are_whole(dataset: Dataset) -> None:
    """Ids are unique, first and last are as the card says, every item has usages in a language, conditions agree."""
    ids = [item.item_id for item in dataset.items]
    assert (ids[0], ids[-1]) == (dataset.card.first_item, dataset.card.last_item)
    assert len(set(ids)) == len(ids)
    assert {item.dataset for item in dataset.items} == {dataset.card.name}
    languages = set(dataset.card.language.split(", "))
    assert {usage.language for item in dataset.items for usage in item.usages} <= languages
    kinds = {name: type(value) for item in dataset.items for name, value in item.conditions.items()}
    assert all(type(v) is kinds[name] for item in dataset.items for name, v in item.conditions.items())


@every
def test_spans_are_verified(dataset: Dataset) -> None:
    """The letters at every span are whole words of the text, and a form of the lemma where the set names lemmas.

    A card says in a remark where published links end "inside a word", and which target stands "for" which lemma.
    """
    usages = {usage for item in dataset.items for usage in item.usages}
    named, remarks = any(usage.lemma for usage in usages), "\n".join(dataset.card.remarks)
    for usage in usages:
        check_span(usage.text, usage.start, usage.end, usage.target)
        alone = not usage.text[: usage.start][-1:].isalnum() and not usage.text[usage.end :][:1].isalnum()
        assert alone or "inside a word" in remarks
        assert usage.lemma or not named
        odd = f"{usage.target!r} for {usage.lemma!r}" in remarks
        assert odd or usage.lemma is None or is_form_of(usage.target, usage.lemma, usage.language)


@every
def test_same_sense_is_what_the_senses_say(dataset: Dataset) -> None:
    """A pair's condition ``same_sense`` follows from the senses of its two usages."""
    for item in dataset.items:
        if "same_sense" in item.conditions:
            assert item.conditions["same_sense"] is (item.usages[0].sense == item.usages[1].sense)


@every
def test_responses_refer_to_items(dataset: Dataset) -> None:
    """Every response is to a known item, of the dataset's task, by a person or by a model with known facts."""
    assert set(dataset.responses.unique("item_id")) <= {item.item_id for item in dataset.items}
    assert set(dataset.responses.unique("task")) <= {dataset.card.task}
    known = {(facts.subject_id, facts.kind) for facts in dataset.subjects}
    who = {
        (name, kind)
        for kind in dataset.responses.unique("subject_kind")
        for name in dataset.responses.where(subject_kind=kind).unique("subject_id")
    }
    assert {each for each in who if each[1] != "participant"} <= known


@every
def test_values_are_on_their_scale(dataset: Dataset) -> None:
    """Ratings and norms lie on the card's scale, cosine distances from 0 to 2 (up to rounding), nothing is NaN.

    A reply of a chat model that could not be read has no value, but its text.
    """
    rated = dataset.responses.where(measure=("rating", "norm"))
    silent = np.isnan(rated.column("value").astype(float)) & (rated.column("subject_kind") == "chat")
    assert all(rated.column("raw")[silent])
    ratings = rated.column("value")[~silent]
    assert (dataset.card.scale is None) == (len(ratings) == 0)
    assert all(dataset.card.scale.contains(value) for value in np.unique(ratings)) if dataset.card.scale else True
    distances = dataset.responses.where(measure="cosine_distance").column("value")
    assert np.all((distances > -1e-6) & (distances <= 2 + 1e-6))
    assert np.isnan(dataset.responses.column("value")).sum() == silent.sum()


@every
def test_checksums_are_recorded(dataset: Dataset) -> None:
    """Each file that was read is recorded with its sha256, which is the pinned one where one is pinned."""
    pinned = {file.path: file.sha256 for file in dataset.card.files}
    assert dataset.checksums
    assert all(pinned[path] in (None, sha256) for path, sha256 in dataset.checksums)


@every
def test_files_check_out(dataset: Dataset) -> None:
    """``check`` finds every file that is not optional, as pinned."""
    states = {row.file.path: row.status for row in fetch.file_states(dataset.card) if not row.file.optional}
    assert set(states.values()) == {"ok"}


@every
def test_loading_twice_gives_the_same(dataset: Dataset) -> None:
    """Loading depends on nothing but the files."""
    again = catalog.dataset(dataset.card.name)
    assert again.items == dataset.items
    assert again.responses == dataset.responses
