"""Which column of a user's file means what."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from lexiscope.core.errors import InputError, nearest_name
from lexiscope.resources.tables.delimited import read_csv

NAMES = Path(__file__).with_name("names.csv")
"""The usual names of columns by field and language, as :func:`plain_column` writes them, the most usual first."""
SEVERAL = ("item", "condition", "model", "rater_columns", "item_columns")
"""The fields that may have several columns: ``model`` is a model's rating of each item. The last two take patterns:
``rater_columns=p*``."""
OF_RATINGS = ("rater", "item", "rating", "group", "rater_group", "list_id", "catch", *SEVERAL[1:])
"""The fields of a table of ratings. An item file has those of :class:`ColumnMap`."""
_OF_ROWS = re.compile(
    r"(|id|.*number|nr|no|n|num|idx|index|row|.*rowid|order|position|trial.*|unnamed.*|time.*|.*time|.*timestamp|date.*|.*date|"
    r"rt|.*rt|rtms|comment.*|age|list|listid|lista|liste|block|session|display|slot|.*sha256|.*version|nrevisions|.*line)"
)
_ALIASES = {"item_id": "item", "value": "rating", "word": "group"}


def plain_column(name: str) -> str:
    """Return the name of a column without case, accents, signs and what is in brackets behind it.

    >>> plain_column("Valoración (1-5)"), plain_column("Spreadsheet: item_ID")
    ('valoracion', 'itemid')
    """
    name = re.sub(r"[\[(](?!\d*[\])]).*[\])]\s*$", "", name).removeprefix("Spreadsheet: ") or name
    letters = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\W_]", "", "".join(char for char in letters if not unicodedata.combining(char)))


@cache
def usual_names() -> Mapping[str, tuple[str, ...]]:
    """Return the usual names of the columns of each field, English ones first.

    >>> usual_names()["list_id"]
    ('listid', 'list', 'lista', 'liste')
    """
    names: dict[str, dict[str, None]] = {}
    for _, row in read_csv(NAMES, ("field", "language", "names")).rows():
        names.setdefault(row["field"], {}).update(dict.fromkeys(row["names"].split()))
    return {field: tuple(known) for field, known in names.items()}


def columns_named(field: str, header: Sequence[str]) -> list[str]:
    """Return the columns of a header whose name is a usual one of a field, in the order of the header.

    >>> columns_named("rater", ["Ítem", "Participante", "Valoración"])
    ['Participante']
    """
    known = usual_names()[field]
    return [name for name in header if plain_column(name) in known]


def describes_rows(name: str) -> bool:
    """Return whether a column numbers or dates rows, or says how they were produced: no condition of an item, and no
    rater.

    >>> describes_rows("Trial number"), describes_rows("idx"), describes_rows("frequency")
    (True, True, False)
    """
    return _OF_ROWS.fullmatch(plain_column(name)) is not None


@dataclass(frozen=True, slots=True)
class FieldMap:
    """What the user said of columns: for each field the columns, in the order given."""

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, pairs: Sequence[str]) -> FieldMap:
        """Read texts FIELD=COLUMN.

        Errors: :class:`InputError` for a text of another form, an unknown field, and a second column of a field that
        has one.

        >>> FieldMap.parse(["rater=Wer", "item=Wort", "item=Satz"]).columns
        {'rater': ('Wer',), 'item': ('Wort', 'Satz')}
        """
        columns: dict[str, tuple[str, ...]] = {}
        known = (*OF_RATINGS, *_ALIASES, *(part.name for part in fields(ColumnMap) if part.name != "raters"))
        for pair in pairs:
            name, sign, column = pair.partition("=")
            if not sign or not name or not column:
                raise InputError(f"{pair!r} is not of the form FIELD=COLUMN", hint="write --map rating=Response")
            if name not in known:
                near = nearest_name(name, known)
                hint = (f"Did you mean {near!r}? " if near else "") + f"fields: {', '.join(dict.fromkeys(known))}"
                raise InputError(f"unknown field {name!r}", hint=hint)
            if name in columns and name not in SEVERAL:
                raise InputError(
                    f"the field {name!r} has two columns: {columns[name][0]} and {column}", hint="keep one"
                )
            columns[name] = (*columns.get(name, ()), column)
        return cls(columns)

    def of_ratings(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of a table of ratings: ``item_id`` is ``item`` there, ``value`` ``rating``."""
        named = {_ALIASES.get(name, name): columns for name, columns in self.columns.items()}
        return {name: columns for name, columns in named.items() if name in OF_RATINGS}

    def of_items(self, header: Sequence[str] = ()) -> ColumnMap:
        """Return the columns of an item file; ``rater_columns`` are those of the *header* that fit the patterns."""
        own = {part.name for part in fields(ColumnMap)} - {"raters"}
        named = {_ITEM_NAMES.get(name, name): columns[0] for name, columns in self.columns.items()}
        parts = {name: column for name, column in named.items() if name in own}
        raters = fitting_columns(header, self.columns.get("rater_columns", ()))
        return replace(ColumnMap.from_mapping(parts), raters=raters)


_ITEM_NAMES = {"item": "item_id", "value": "rating", "group": "word"}


def fitting_columns(header: Sequence[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that have one of these names, or fit one of these patterns (``p*``).

    Errors: :class:`InputError` E006 for a pattern that no column fits.
    """
    for pattern in patterns:
        if header and not any(_fits(name, pattern) for name in header):
            hint = f"Columns in the file: {', '.join(header)}"
            raise InputError(f"no column is called {pattern!r}", code="E006", hint=hint)
    return tuple(name for name in header if any(_fits(name, pattern) for pattern in patterns))


def _fits(name: str, pattern: str) -> bool:
    # brackets in a name are letters where the name is given whole
    return name == pattern or fnmatchcase(name, pattern)


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The name of the column for each part of an item; ``None`` where the file has no such column.

    ``target`` is the wordform in both sentences, ``target_1`` and ``target_2`` where they differ. ``word`` is what
    items are grouped by (the lemma). ``gold`` is the correct answer, ``split`` the part of the set (train, dev, test).
    Ratings stand either in long form (``rater``, ``rating``: a row per rating) or as one ``norm`` (mean, with
    ``n_ratings``) per row, or in one column per rater (``raters``).
    """

    item_id: str | None = None
    sentence_1: str | None = None
    sentence_2: str | None = None
    target: str | None = None
    target_1: str | None = None
    target_2: str | None = None
    start_1: str | None = None
    end_1: str | None = None
    start_2: str | None = None
    end_2: str | None = None
    word: str | None = None
    sense_1: str | None = None
    sense_2: str | None = None
    same_sense: str | None = None
    gold: str | None = None
    split: str | None = None
    language: str | None = None
    list_id: str | None = None
    rater: str | None = None
    rating: str | None = None
    norm: str | None = None
    n_ratings: str | None = None
    catch: str | None = None
    raters: tuple[str, ...] = ()

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, str]) -> ColumnMap:
        """Make a map from ``{part: column}``, as a command line gives it.

        Errors: :class:`InputError` where a part is unknown.

        >>> ColumnMap.from_mapping({"sentence_1": "Oración"}).sentence_1
        'Oración'
        """
        known = [part.name for part in fields(cls) if part.name != "raters"]
        wrong = [name for name in mapping if name not in known]
        if wrong:
            raise InputError(f"no part of an item is called {wrong[0]!r}", hint=f"use one of {', '.join(known)}")
        parts: dict[str, Any] = dict(mapping)
        return cls(**parts)

    def with_usual_columns(self, header: Sequence[str]) -> ColumnMap:
        """Fill the parts that are not set from columns whose name is one of the usual ones.

        >>> found = ColumnMap(target="Palabra").with_usual_columns(["Sentence_1", "Palabra", "Sense_id_s1"])
        >>> found.sentence_1, found.target, found.sense_1
        ('Sentence_1', 'Palabra', 'Sense_id_s1')
        """
        plain = {plain_column(name): name for name in reversed(header)}
        taken = set(dict(self.items()).values())
        parts: dict[str, Any] = {}
        own = [part.name for part in fields(self) if part.name in usual_names()]
        for part in own:
            named = [plain[name] for name in usual_names()[part] if name in plain and plain[name] not in taken]
            if getattr(self, part) is None and named:
                parts[part] = named[0]
        if "rating" in parts and (self.rater or parts.get("rater")) is None:
            # a rating without a rater column is a mean under a short name at best: never guess which
            del parts["rating"]
        return replace(self, **parts)

    def with_word_alone(self) -> ColumnMap:
        """Let the word be the sentence too, if there is no column of sentences: the usage is the word itself.

        >>> ColumnMap(target="form").with_word_alone().sentence_1
        'form'
        """
        word = self.target or self.target_1 or self.word
        if self.sentence_1 is not None or word is None:
            return self
        return replace(self, sentence_1=word, target=word)

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield (part, column) for the parts that are set, in order."""
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, str):
                yield part.name, value
        yield from ((f"rater:{name}", name) for name in self.raters)


@dataclass(frozen=True, slots=True)
class Indices:
    """The column numbers that belong to a :class:`ColumnMap` in one file."""

    numbers: Mapping[str, int]
    raters: tuple[tuple[str, int], ...] = ()
    _sides: dict[str, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for side in ("1", "2"):
            parts = [f"{part}_{side}" for part in ("sentence", "target", "start", "end", "sense")]
            parts += ["target", "word", "language"]
            self._sides[side] = tuple(self.numbers[part] for part in parts if part in self.numbers)

    @classmethod
    def of(cls, columns: ColumnMap, header: Sequence[str]) -> Indices:
        """Look up the columns; those that are not in the header are excluded (see :func:`missing_columns`)."""
        at = {name: i for i, name in reversed(list(enumerate(header)))}
        raters = tuple((name, at[name]) for name in columns.raters if name in at)
        return cls({part: at[name] for part, name in columns.items() if name in at and part != "raters"}, raters)

    def get(self, part: str) -> int | None:
        """Return the number of a part's column, from 0, or ``None``."""
        return self.numbers.get(part)

    def of_side(self, side: str) -> tuple[int, ...]:
        """Return the columns on which the usage of one side (``1`` or ``2``) depends."""
        return self._sides[side]

    def text(self, part: str, row_fields: Sequence[str]) -> str | None:
        """Return a part's text without outer white space; ``None`` where there is no column or no text."""
        index = self.numbers.get(part)
        return (row_fields[index].strip() or None) if index is not None else None


def missing_columns(columns: ColumnMap, header: Sequence[str]) -> list[str]:
    """Return the columns that were asked for by name and are not in the header."""
    return [name for _, name in columns.items() if name not in header]
