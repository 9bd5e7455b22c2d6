"""Contracts of a dataset: what its card promises is what it loads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import SpanError
from lexiscope.core.item import SAME_SENSE
from lexiscope.core.usage import check_span
from lexiscope.items.read.target_forms import is_form_of
from lexiscope.resources import fetch
from lexiscope.testing.contract import hold, named, repeated

_SAID = ("title", "task", "language", "licence", "citation", "source", "version", "summary")
_ROUNDING = 1e-6


class LoadedDataset:
    """A dataset under the name or path by which it is loaded, and loaded once more only where a contract needs it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.card = catalog.card(name)
        self.dataset = catalog.dataset(name)

    def again(self) -> Dataset:
        """Load the dataset once more."""
        return catalog.dataset(self.name)


def check_dataset(name: str, *, only: str = "") -> tuple[str, ...]:
    """Hold a dataset to :data:`DATASET_CONTRACTS` and return the names of the contracts that it keeps.

    *name* is that of an entry point, or the path of a file, with options if it has some (``my_norms?language=es``);
    *only* names a single contract. The dataset is loaded: its files must be there.
    Errors: :class:`ContractError` with everything that is broken; those of the catalog and of the dataset's ``load``.
    """
    return hold(f"dataset {name}", LoadedDataset(name), DATASET_CONTRACTS, only)


def card_is_complete(loaded: LoadedDataset) -> Iterator[str]:
    """The card gives title, task, language, licence, citation, source, version, summary, and how to get the data."""
    card = loaded.card
    yield from (f"the card has no {field}" for field in _SAID if not str(getattr(card, field)).strip())
    if not card.files:
        yield "the card names no file"
    yield from (f"the file {path} is named twice" for path in repeated(file.path for file in card.files))
    if card.availability == "obtain" and not card.how_to_obtain:
        yield "the card does not state how to obtain the data (how_to_obtain)"
    if card.task and not catalog.has("tasks", card.task):
        yield f"there is no task {card.task!r}"


def files_are_pinned(loaded: LoadedDataset) -> Iterator[str]:
    """Each file has a path below the data folder and a sha256 of 64 hexadecimal digits, unless it is optional."""
    for file in loaded.card.files:
        if os.path.isabs(file.path) or ".." in file.path.split("/"):
            yield f"the path {file.path} leaves the data folder"
        if file.sha256 is None and not file.optional:
            yield f"the file {file.path} has no sha256"
        elif file.sha256 is not None and not re.fullmatch("[0-9a-f]{64}", file.sha256):
            yield f"the sha256 of {file.path} is not a sha256: {file.sha256}"


def counts_hold(loaded: LoadedDataset) -> Iterator[str]:
    """Every count of the card is the number that is loaded."""
    data = loaded.dataset
    trials = data.responses.where(subject_kind="participant")
    numbers = {
        "items": len(data.items),
        "words": len({item.word for item in data.items}),
        "sentences": len({usage.text for item in data.items for usage in item.usages}),
        "participants": len(trials.unique("subject_id")),
        "trials": len(trials),
        "lists": len({item.list_id for item in data.items} - {None}),
        "models": len(data.responses.where(measure="cosine_distance").unique("subject_id")),
        "set_aside": len(data.set_aside),
    }
    for name, count in data.card.counts:
        if name not in numbers:
            yield f"the card counts {name}, which is not one of {', '.join(numbers)}"
        elif count != numbers[name]:
            yield f"the card counts {count} {name}, {numbers[name]} were loaded"


def items_are_whole(loaded: LoadedDataset) -> Iterator[str]:
    """Ids are unique, first and last item are those of the card, languages and conditions are those of all items."""
    card, items = loaded.card, loaded.dataset.items
    if not items:
        yield "the dataset has no items"
        return
    yield from (f"the item {item_id} is there twice" for item_id in repeated(item.item_id for item in items))
    for said, which, item in ((card.first_item, "first", items[0]), (card.last_item, "last", items[-1])):
        if said and said != item.item_id:
            yield f"the card names {said} as the {which} item, {item.item_id} was loaded"
    languages = set(card.language.split(", "))
    kinds: dict[str, type] = {}
    for item in items:
        if item.dataset != card.name:
            yield f"the item {item.item_id} is of the dataset {item.dataset!r}, the card is of {card.name!r}"
        for usage in item.usages:
            if usage.language not in languages:
                yield f"the item {item.item_id} has a usage in {usage.language!r}, the card names {card.language}"
        for name, value in item.conditions.items():
            if type(value) is not kinds.setdefault(name, type(value)):
                other = kinds[name].__name__
                yield f"the condition {name} of the item {item.item_id} is {type(value).__name__}, elsewhere {other}"


def spans_are_verified(loaded: LoadedDataset) -> Iterator[str]:
    """The letters at every span are whole words of the text, and a form of the lemma if the dataset names lemmas.

    A remark of the card says where published targets end "inside a word", and which target is there "for" which lemma
    (``'round' for 'call'``).
    """
    items = loaded.dataset.items
    lemmas = any(usage.lemma for item in items for usage in item.usages)
    remarks = "\n".join(loaded.card.remarks)
    for item in items:
        for usage in item.usages:
            target = f"the target {usage.target!r} of the item {item.item_id}"
            try:
                check_span(usage.text, usage.start, usage.end, usage.target)
            except SpanError as error:
                yield f"{target}: {error.what}"
            before, after = usage.text[: usage.start][-1:], usage.text[usage.end :][:1]
            if (before.isalnum() or after.isalnum()) and "inside a word" not in remarks:
                yield f"{target} begins or ends inside a word"
            if lemmas and not usage.lemma:
                yield f"{target} has no lemma, others have"
            odd = f"{usage.target!r} for {usage.lemma!r}" in remarks
            if usage.lemma and not odd and not is_form_of(usage.target, usage.lemma, usage.language):
                yield f"{target} is not a form of its lemma {usage.lemma!r}"


def same_sense_follows_senses(loaded: LoadedDataset) -> Iterator[str]:
    """A pair's condition ``same_sense`` is whether its two usages have the same sense."""
    for item in loaded.dataset.items:
        if SAME_SENSE in item.conditions and len(item.usages) > 1:
            same = item.usages[0].sense == item.usages[1].sense
            if item.conditions[SAME_SENSE] is not same:
                senses = f"{item.usages[0].sense!r} and {item.usages[1].sense!r}"
                yield f"the item {item.item_id} has {SAME_SENSE}={item.conditions[SAME_SENSE]} and senses {senses}"


def responses_refer_to_items(loaded: LoadedDataset) -> Iterator[str]:
    """Every response is to an item of the dataset, in its task, by a participant or a model with known facts."""
    data = loaded.dataset
    ids = {item.item_id for item in data.items}
    yield from (f"a response names the item {name}, which is not loaded"
                for name in data.responses.unique("item_id") if name not in ids)  # fmt: skip
    yield from (f"a response is of the task {name}, the card's is {data.card.task}"
                for name in data.responses.unique("task") if name != data.card.task)  # fmt: skip
    known = {(facts.subject_id, facts.kind) for facts in data.subjects}
    for kind in data.responses.unique("subject_kind"):
        if kind != "participant":
            for name in data.responses.where(subject_kind=kind).unique("subject_id"):
                if (name, kind) not in known:
                    yield f"the {kind} {name} answers, but is not among the dataset's subjects"


def values_are_on_scale(loaded: LoadedDataset) -> Iterator[str]:
    """Ratings and norms lie on the card's scale, cosine distances from 0 to 2, and no value is missing.

    A reply of a chat model that could not be read has no value, but its text.
    """
    data = loaded.dataset
    # that of the data: the catalog describes several sets with scales of their own by one card
    scale = data.card.scale
    missing = np.isnan(data.responses.column("value").astype(float))
    kinds, texts = data.responses.column("subject_kind"), data.responses.column("raw")
    options, ids = data.responses.column("option"), data.responses.column("item_id")
    for row in np.flatnonzero(missing & (kinds != "chat") & (options == None)):  # noqa: E711
        yield f"a response to the item {ids[row]} has neither a value nor an option"
    for row in np.flatnonzero(missing & (kinds == "chat")):
        if not texts[row]:
            yield f"a reply of a chat model to the item {ids[row]} has neither a value nor its text"
    rated = data.responses.where(measure=("rating", "norm"))
    values = rated.column("value").astype(float)
    values = values[~np.isnan(values)]
    if scale is None and len(values):
        yield "there are ratings or norms, but the card has no scale"
    elif scale is not None and not len(values):
        yield f"the card has the scale {scale}, but there are no ratings or norms"
    elif scale is not None:
        yield from (f"the rating {value:g} is not on the scale {scale}"
                    for value in np.unique(values) if not scale.contains(value))  # fmt: skip
    distances = data.responses.where(measure="cosine_distance").column("value").astype(float)
    outside = distances[(distances < -_ROUNDING) | (distances > 2 + _ROUNDING)]
    yield from (f"the cosine distance {value:g} is not between 0 and 2" for value in np.unique(outside))


def checksums_are_recorded(loaded: LoadedDataset) -> Iterator[str]:
    """The dataset records the sha256 of each file that it read; it is that of the card."""
    pinned = {file.path: file.sha256 for file in loaded.card.files}
    if not loaded.dataset.checksums:
        yield "the dataset records no checksum: give Dataset(CARD, items, responses, checksums)"
    for path, sha256 in loaded.dataset.checksums:
        if path not in pinned:
            yield f"a checksum is recorded for {path}, which the card does not name"
        elif pinned[path] not in (None, sha256):
            yield f"the sha256 of {path} is {sha256}, the card's is {pinned[path]}"


def files_check_out(loaded: LoadedDataset) -> Iterator[str]:
    """``lexiscope data check`` finds every file that is not optional, as pinned."""
    for state in fetch.file_states(loaded.card):
        if not state.file.optional and state.status != "ok":
            yield f"{state.file.path}: {state.status}"


def loading_twice_gives_the_same(loaded: LoadedDataset) -> Iterator[str]:
    """Loading depends on the files alone: a second time it gives equal items and responses, in the same order."""
    again = loaded.again()
    if again.items != loaded.dataset.items:
        yield "the items are different the second time"
    if again.responses != loaded.dataset.responses:
        yield "the responses are different the second time"


DATASET_CONTRACTS = named(
    card_is_complete,
    files_are_pinned,
    counts_hold,
    items_are_whole,
    spans_are_verified,
    same_sense_follows_senses,
    responses_refer_to_items,
    values_are_on_scale,
    checksums_are_recorded,
    files_check_out,
    loading_twice_gives_the_same,
)
"""The contracts of a dataset by their names."""
