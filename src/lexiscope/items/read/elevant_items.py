"""Items and entities of a benchmark in ELEVANT's format."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.dataset import Dataset, DatasetCard
from lexiscope.core.response import ResponseTable
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.items.read.linked_items import Linked, linked_items, window
from lexiscope.resources import fetch
from lexiscope.resources.corpora.elevant import read_elevant


def elevant_set(card: DatasetCard) -> Dataset:
    """Return the linked mentions of a benchmark of one file as test items.

    Errors: :class:`~lexiscope.core.errors.DataError` where the file is not at hand or not as published.
    """
    (file,) = card.files
    found = fetch.locate(file, dataset=card.name)
    items = elevant_items(found.path, dataset=card.name, split="test").items
    return Dataset(card, items, ResponseTable.empty(), ((file.path, found.sha256),))


def elevant_space(card: DatasetCard) -> SearchSpace:
    """Return the entities that any mention is linked to, by Wikidata id, with the name that is given them first.

    Errors: those of :func:`elevant_set`.
    """
    (file,) = card.files
    names: dict[str, str] = {}
    for text in read_elevant(fetch.locate(file, dataset=card.name).path):
        for mention in text.mentions:
            for each in mention.ids:
                names.setdefault(each, mention.name or each)
    entries = (Entry(each, names[each]) for each in sorted(names, key=lambda q: int(q[1:])))
    return SearchSpace(f"entities of {card.name}", tuple(entries))


def elevant_items(path: Path, *, dataset: str, split: str) -> Linked:
    """Return an item for each mention that has an id of Wikidata, in 64 words of text on either side.

    Errors: :class:`~lexiscope.core.errors.InputError` with file and line, as of
    :func:`~lexiscope.resources.corpora.elevant.read_elevant`.
    """
    return linked_items(read_elevant(path), dataset=dataset, split=split, shown=window())
