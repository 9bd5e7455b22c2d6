"""The entries among which a mention is looked up: the synsets of a lexicon, the pages of an encyclopedia, concepts.

A subject that answers a retrieval task (``sense_retrieval``, ``entity_link``) ranks the entries of a search space; the
id at rank 1 is a row of the measure ``retrieved``, those behind it are rows of ``retrieved_next``, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.answers.sense_options import correct_ids, join_ids
from lexiscope.resources.corpora.entity_list import Entity, EntityList
from lexiscope.resources.lexicons.lexicon import LexicalSense, Lexicon, normalised_lemma
from lexiscope.resources.vectors.nearest import Nearest

MEASURE_RETRIEVED, MEASURE_NEXT = "retrieved", "retrieved_next"

RETRIEVAL_MEASURES = (
    (MEASURE_RETRIEVED, "nearness of the entry at rank 1, whose id is in the column option; higher means nearer"),
    (
        MEASURE_NEXT,
        "nearness of an entry at a further rank, in the order of ranks; option: its id; higher means nearer",
    ),
)
"""The measures of a subject that ranks the entries of a search space."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What can be retrieved: its id, its name, and a description (empty where there is none)."""

    entry_id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Entries in a fixed order, each with a unique id. ``name`` says which they are.

    >>> space = SearchSpace("towns", (Entry("Q1", "Cordoba"), Entry("Q2", "Santiago")))
    >>> space.row("Q2"), space.ids, "Q3" in space
    (1, ('Q1', 'Q2'), False)
    """

    name: str
    entries: tuple[Entry, ...]
    _rows: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows: dict[str, int] = {}
        for row, entry in enumerate(self.entries):
            if rows.setdefault(entry.entry_id, row) != row:
                raise InputError(f"two entries of {self.name} have the id {entry.entry_id!r}")
        object.__setattr__(self, "_rows", rows)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._rows

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the entries, in their order."""
        return tuple(entry.entry_id for entry in self.entries)

    def row(self, entry_id: str) -> int:
        """Return the number of an entry, from 0.

        Errors: :class:`InputError` where there is none with this id.
        """
        if entry_id not in self._rows:
            raise InputError(f"the search space {self.name} has no entry {entry_id!r}")
        return self._rows[entry_id]

    @classmethod
    def of_pages(cls, name: str, titles: Iterable[str]) -> SearchSpace:
        """Return pages by their titles, each once, in alphabetical order; ``_`` in a title is a space in its name.

        >>> pages = SearchSpace.of_pages("pages", ["Salt_(film)", "Salt", "Salt"])
        >>> [(entry.entry_id, entry.name) for entry in pages.entries]
        [('Salt', 'Salt'), ('Salt_(film)', 'Salt (film)')]
        """
        return cls(name, tuple(Entry(title, title.replace("_", " ")) for title in sorted(set(titles))))

    @classmethod
    def read(cls, path: Path, *, name: str = "") -> SearchSpace:
        """Return the entries of a list of entities (:mod:`lexiscope.resources.corpora.entity_list`), sorted by id.

        Errors: those of :meth:`~lexiscope.resources.corpora.entity_list.EntityList.read`.
        """
        listed = sorted(EntityList.read(path), key=lambda entity: entity.entity_id)
        entries = (Entry(entity.entity_id, entity.title, entity.description) for entity in listed)
        return cls(name or path.name, tuple(entries))

    def entity_list(self) -> EntityList:
        """Return the entries as people look them up: by id and by name; the name is before the description.

        What a participant chooses is the id, which is unique; names may be shared.
        """
        return EntityList(map(_looked_up, self.entries))


def _looked_up(entry: Entry) -> Entity:
    name = entry.name if entry.name != entry.entry_id.replace("_", " ") else ""
    described = ": ".join(part for part in (name, entry.description) if part)
    return Entity(entry.entry_id, entry.entry_id, (entry.name,), described)


def check_reachable(items: Iterable[Item], space: SearchSpace) -> None:
    """Check that every correct answer of items is an entry of the search space.

    Errors: :class:`InputError` naming the first item of which none is, and how many there are.
    """
    beyond = [
        item for item in items if correct_ids(item) and not any(entry_id in space for entry_id in correct_ids(item))
    ]
    if beyond:
        what = f"the correct answers of {len(beyond)} items are not in {space.name}: {beyond[0].gold!r}"
        hint = "use the search space of this dataset, or exclude these items and report their number"
        raise InputError(what, place=Place(item_id=beyond[0].item_id), hint=hint)


def retrieval_rows(
    items: Sequence[Item], space: SearchSpace, nearest: Nearest, *, subject_id: str, subject_kind: str, task: str
) -> ResponseTable:
    """Return what a search found for items as rows of ``retrieved`` and ``retrieved_next``, item by item, best first.

    *found* has a row for every item, whose numbers are those of the search space.
    Errors: :class:`InputError` for another number of rows.
    """
    if len(nearest.rows) != len(items):
        raise InputError(f"{len(nearest.rows)} searches do not belong to {len(items)} items")
    k, ids = nearest.rows.shape[1], space.ids
    return ResponseTable.from_columns(
        {
            "subject_id": subject_id,
            "subject_kind": subject_kind,
            "item_id": [item.item_id for item in items for _ in range(k)],
            "task": task,
            "measure": [MEASURE_NEXT if rank else MEASURE_RETRIEVED for _ in items for rank in range(k)],
            "value": nearest.scores.ravel(),
            "option": [ids[row] for row in nearest.rows.ravel().tolist()],
        }
    )


# -- the synsets of a lexicon as a search space: retrieval among all meanings of a language -------------------------
# A synset has the id of its first lemma: ``bank.n.01`` is the synset that the first noun sense of *bank* belongs to,
# where *bank* is first in it. That holds in every build of an edition, while synset ids of a file may be offsets.
# *Source:* the context–word bias study, §2.1 and §2.4 (name: lemmas; description: gloss).


def synset_space(lexicon: Lexicon) -> SearchSpace:
    """Return all synsets of a lexicon, in the order of its file: id, lemmas divided by commas, gloss."""
    entries = []
    for synset in lexicon.all_synsets():
        name = ", ".join(lemma.replace("_", " ") for lemma in synset.lemmas)
        entries.append(Entry(_id(lexicon.members(synset.synset_id)[0]), name, synset.gloss))
    return SearchSpace(f"synsets of {lexicon.name}", tuple(entries))


def entry_of_sense(lexicon: Lexicon, sense_key: str) -> str:
    """Return the id of the synset that a sense belongs to.

    Errors: :class:`~lexiscope.core.errors.InputError` for a key that the lexicon does not have.
    """
    return _id(lexicon.members(lexicon.sense(sense_key).synset_id)[0])


def retrieval_items(items: Sequence[Item], lexicon: Lexicon) -> tuple[Item, ...]:
    """Return items of sense disambiguation as items of sense retrieval: the right synsets instead of sense keys.

    Nothing of the senses of the word is left in an item: what it can mean is not told.
    Errors: :class:`~lexiscope.core.errors.InputError` for a key that the lexicon does not have.
    """
    golds: dict[str, str] = {}
    made = []
    for item in items:
        if item.gold and item.gold not in golds:
            golds[item.gold] = join_ids(sorted(entry_of_sense(lexicon, key) for key in correct_ids(item)))
        conditions = {name: value for name, value in item.conditions.items() if name not in ("senses", "glosses")}
        usages = tuple(replace(usage, sense=None) for usage in item.usages)
        gold = golds.get(item.gold or "")
        made.append(replace(item, usages=usages, options=(), gold=gold, conditions=conditions))
    return tuple(made)


def _id(sense: LexicalSense) -> str:
    return f"{normalised_lemma(sense.lemma)}.{sense.pos}.{sense.number:02d}"
