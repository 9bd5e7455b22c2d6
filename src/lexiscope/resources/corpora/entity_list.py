"""A list of entities (pages of an encyclopedia) that people search while they type, without a network.

The file is a table divided by tabs, in UTF-8, with a header. ``title`` must be there; ``id``, ``aliases`` (divided by
``|``) and ``description`` may be. Nothing is quoted: a quotation mark is a part of the title.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.core.run import write_atomically
from lexiscope.resources.tables.plain_lines import PlainLines, read_lines

COLUMNS = ("id", "title", "aliases", "description")
"""The columns that a file may have; only ``title`` must be there."""

# accents of Latin, Greek and Cyrillic, and Arabic vowel signs; vowel signs of other scripts tell words apart
_MARKS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670]")
_WORD = re.compile(r"\w+")
# behind every text that begins with a prefix, and before every other
_LAST = "\U0010ffff"

Integers = np.ndarray[Any, np.dtype[np.int32]]


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity: its id (the title where the file gives none), its title, other names, and what it is."""

    entity_id: str
    title: str
    aliases: tuple[str, ...] = ()
    description: str = ""


def normalise(text: str) -> str:
    """Return a text as it is compared: without case and accents, composed, with single spaces.

    >>> normalise("  São   PAULO "), normalise("Stra\u00dfe") == normalise("STRASSE")
    ('sao paulo', True)
    """
    folded = text.casefold()
    # most titles have no accents, and a list may have very many
    if not folded.isascii():
        folded = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", folded)))
    return " ".join(folded.split())


class EntityList:
    """Entities that can be found by title, by other names, and by words of either.

    >>> found = EntityList([Entity("Q1", "Córdoba"), Entity("Q2", "Córdoba (Argentina)"), Entity("Q3", "New Cordoba")])
    >>> [entity.title for entity in found.search("cordoba")]
    ['Córdoba', 'Córdoba (Argentina)', 'New Cordoba']
    >>> [entity.title for entity in found.search("argentina cor")]
    ['Córdoba (Argentina)']
    """

    __slots__ = ("_entities", "_ids", "_key_owners", "_keys", "_postings", "_starts", "_words")

    def __init__(self, entities: Iterable[Entity]) -> None:
        keyed = sorted(
            ((normalise(entity.title), entity.entity_id, entity) for entity in entities), key=lambda row: row[:2]
        )
        # in the order of titles, so that a number says at once where an entity is among the results
        self._entities = tuple(entity for _, _, entity in keyed)
        self._ids: dict[str, int] = {}
        for number, entity in enumerate(self._entities):
            if self._ids.setdefault(entity.entity_id, number) != number:
                raise InputError(f"two entities have the id {entity.entity_id!r}", hint="give every entity its own id")
        self._index_names([key for key, _, _ in keyed])
        self._index_words()

    @classmethod
    def read(cls, path: Path) -> EntityList:
        """Read a list from a file.

        Errors: :class:`InputError` with file and line: not there, not UTF-8, an unknown or missing column, a row with
        too few or too many cells, an empty title, an id that comes twice, no rows.
        """
        return cls(_read(path))

    def __len__(self) -> int:
        return len(self._entities)

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._entities)

    def get(self, entity_id: str) -> Entity | None:
        """Return the entity with this id, or ``None``."""
        number = self._ids.get(entity_id)
        return None if number is None else self._entities[number]

    def find_named(self, answer: str) -> Entity | None:
        """Return the entity that an answer names: by its id, its title or another name, or the address of its page.

        ``None`` if no entity has that name, or more than one. Case, accents and underscores do not count; in an
        address, only the last part does.

        >>> pages = EntityList([Entity("Q1", "Salt (film)"), Entity("Q2", "Salt", ("sodium chloride",))])
        >>> answers = ("https://a.org/wiki/Salt_(film)", "salt", "oak")
        >>> [entity and entity.entity_id for entity in map(pages.find_named, answers)]
        ['Q1', 'Q2', None]
        """
        text = answer.strip()
        if re.match("https?://", text, re.IGNORECASE):
            text = unquote(urlsplit(text).path.rstrip("/").rpartition("/")[2])
        if text in self._ids:
            return self._entities[self._ids[text]]
        for key in dict.fromkeys((normalise(text), normalise(text.replace("_", " ")))):
            low = bisect_left(self._keys, key)
            owners = self._key_owners[low : self._end_of(key, low)] if key else []
            # a title goes before what is only another name
            for known in ({owner for owner in owners if owner >= 0}, {~owner for owner in owners if owner < 0}):
                if known:
                    return self._entities[known.pop()] if len(known) == 1 else None
        return None

    def search(self, query: str, limit: int = 10) -> tuple[Entity, ...]:
        """Return the entities that a query finds, best first: at most *limit*, each once.

        First the titles that equal the query, then other names and the id that do; then titles and names that begin
        with it, in alphabetical order; then entities that hold all its words, the last of them perhaps unfinished, in
        the order of titles. Case and accents do not count. The same query always gives the same answer.
        Errors: :class:`InputError` for a limit below 1.
        """
        if limit < 1:
            raise InputError(f"a search returns at least 1 entity, not {limit}")
        key = normalise(query)
        if not key:
            return ()
        numbers: dict[int, None] = {}
        for number in self._matches(key, query.strip()):
            numbers.setdefault(number)
            if len(numbers) == limit:
                break
        return tuple(self._entities[number] for number in numbers)

    def _matches(self, key: str, query: str) -> Iterator[int]:
        """Numbers of entities, best first, some more than once; made only as far as they are asked for."""
        low, high = bisect_left(self._keys, key), bisect_left(self._keys, key + _LAST)
        equal = self._key_owners[low : self._end_of(key, low)]
        # an entity has its number as title and its complement as another name: titles are first
        yield from (owner for owner in equal if owner >= 0)
        yield from (~owner for owner in equal if owner < 0)
        if query in self._ids:
            yield self._ids[query]
        for place in range(low, high):
            owner = self._key_owners[place]
            yield owner if owner >= 0 else ~owner
        yield from self._with_words(_WORD.findall(key)).tolist()

    def _end_of(self, key: str, low: int) -> int:
        end = low
        while end < len(self._keys) and self._keys[end] == key:
            end += 1
        return end

    def _with_words(self, words: Sequence[str]) -> Integers:
        """The entities that hold all words, the last one as a beginning, in the order of titles."""
        if not words:
            return np.empty(0, dtype=np.int32)
        kept = np.ones(len(self._entities), dtype=np.bool_)
        for place, word in enumerate(words):
            low = bisect_left(self._words, word)
            whole = low + int(low < len(self._words) and self._words[low] == word)
            high = bisect_left(self._words, word + _LAST) if place == len(words) - 1 else whole
            holding = np.zeros(len(self._entities), dtype=np.bool_)
            # the entities of words that follow one another in the alphabet are in one slice
            holding[self._postings[self._starts[low] : self._starts[high]]] = True
            kept &= holding
        return np.flatnonzero(kept).astype(np.int32)

    def _index_names(self, titles: Sequence[str]) -> None:
        names = [(title, number) for number, title in enumerate(titles)]
        for number, entity in enumerate(self._entities):
            names += [(normalise(alias), ~number) for alias in entity.aliases]
        names.sort(key=lambda entry: (entry[0], entry[1] < 0, abs(entry[1])))
        self._keys = [name for name, _ in names]
        self._key_owners = [owner for _, owner in names]

    def _index_words(self) -> None:
        # all lists of holders one behind the other, in the alphabet of words: a beginning is then one slice
        holders: dict[str, list[int]] = {}
        for number, entity in enumerate(self._entities):
            text = normalise(" ".join((entity.title, *entity.aliases)))
            for word in set(_WORD.findall(text)):
                holders.setdefault(word, []).append(number)
        self._words = sorted(holders)
        sizes = [len(holders[word]) for word in self._words]
        self._starts = [0, *np.cumsum(sizes, dtype=np.int64).tolist()]
        together = [number for word in self._words for number in holders[word]]
        self._postings: Integers = np.array(together, dtype=np.int32)


def write_entities(path: Path | str, entities: Iterable[Entity]) -> None:
    """Write a list of entities as :meth:`EntityList.read` reads it; a tab or line end in a text becomes a space.

    Errors: :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
    """
    lines = ["\t".join(COLUMNS)]
    for entity in entities:
        cells = (entity.entity_id, entity.title, "|".join(entity.aliases), entity.description)
        lines.append("\t".join(" ".join(cell.split()) for cell in cells))
    write_atomically(Path(path), "\n".join(lines) + "\n")


def _read(path: Path) -> list[Entity]:
    lines = read_lines(path)
    header = [name.strip() for name in lines.split(0)]
    wrong = sorted({name for name in header if name not in COLUMNS or header.count(name) > 1})
    if wrong or "title" not in header:
        what = f"the columns of a list of entities are {', '.join(COLUMNS)} (title must be there), not {header}"
        lines.refuse(0, what, hint="name the columns in the first line, divided by tabs")
    entities: dict[str, tuple[int, Entity]] = {}
    for row, cells in lines.named_cells():
        entity = _entity(lines, row, cells)
        if entity.entity_id in entities:
            what = f"the id {entity.entity_id!r} is already in line {entities[entity.entity_id][0] + 1}"
            lines.refuse(row, what, hint="give every entity its own id")
        entities[entity.entity_id] = (row, entity)
    if not entities:
        lines.refuse(0, "this list has no entities", hint="add a line for each")
    return [entity for _, entity in entities.values()]


def _entity(lines: PlainLines, row: int, cells: Mapping[str, str]) -> Entity:
    title = unicodedata.normalize("NFC", cells["title"])
    if not title:
        lines.refuse(row, "this entity has no title", hint="write its title")
    aliases = tuple(alias.strip() for alias in cells.get("aliases", "").split("|") if alias.strip())
    return Entity(cells.get("id") or title, title, aliases, cells.get("description", ""))
