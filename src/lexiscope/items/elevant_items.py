"""Items and entities of a benchmark in ELEVANT's format."""

from __future__ import annotations

from pathlib import Path

from lexiscope.items.linked_items import Linked, linked_items, window
from lexiscope.items.search_space import Entry, SearchSpace
from lexiscope.resources.elevant import read_elevant


def elevant_items(path: Path, *, dataset: str, split: str) -> Linked:
    """Return an item for each mention that has an id of Wikidata, in 64 words of text on either side.

    Errors: :class:`~lexiscope.core.errors.InputError` with file and line, as of
    :func:`~lexiscope.resources.elevant.read_elevant`.
    """
    return linked_items(read_elevant(path), dataset=dataset, split=split, shown=window())


def entities(*paths: Path, name: str) -> SearchSpace:
    """Return the entities that any mention is linked to, by Wikidata id, with the name that is given them first.

    Errors: as of :func:`elevant_items`.
    """
    names: dict[str, str] = {}
    for text in (text for path in paths for text in read_elevant(path)):
        for mention in text.mentions:
            for each in mention.ids:
                names.setdefault(each, mention.name or each)
    return SearchSpace(name, tuple(Entry(each, names[each]) for each in sorted(names, key=lambda q: int(q[1:]))))
