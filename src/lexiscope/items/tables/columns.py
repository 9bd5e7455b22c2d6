"""Which column of a user's file means what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from lexiscope.core.errors import InputError
from lexiscope.core.item import SAME_SENSE

# Names as they are in the field's released files, after lower case and without punctuation.
_NAMES: dict[str, tuple[str, ...]] = {
    "item_id": ("itemid", "item", "pairid", "stimulusid", "id"),
    "sentence_1": ("sentence1", "context1", "text1", "sentence", "text"),
    "sentence_2": ("sentence2", "context2", "text2"),
    "target": ("target", "wordform", "word"),
    "target_1": ("target1", "wordform1"),
    "target_2": ("target2", "wordform2"),
    "start_1": ("start1", "start"),
    "end_1": ("end1", "end"),
    "start_2": ("start2",),
    "end_2": ("end2",),
    "word": ("word", "lemma", "lemma1"),
    "sense_1": ("sense1", "senseid1", "senseids1", "sense", "senseid"),
    "sense_2": ("sense2", "senseid2", "senseids2"),
    SAME_SENSE: ("samesense", "same", "conditionsamesense"),
    "gold": ("gold", "goldlabel"),
    "split": ("split", "conditionsplit"),
    "language": ("language", "lang", "language1"),
    "list_id": ("listid", "list"),
    "rater": ("rater", "raterid", "participant", "participantid", "subject", "subjectid", "annotator"),
    "rating": ("rating", "response", "relatedness", "judgment", "judgement"),
    "norm": ("norm", "mean", "meanrelatedness", "meanrating"),
    "n_ratings": ("nratings", "count"),
    "catch": ("catch", "iscatch", "conditioncatch"),
}


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The name of the column for each part of an item; ``None`` where the file has no such column.

    ``target`` is the wordform in both sentences, ``target_1`` and ``target_2`` where they differ. ``word`` is what
    items are grouped by (the lemma). ``gold`` is the right answer, ``split`` the part of the set (train, dev, test).
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
        plain = {re.sub(r"[\W_]", "", name).casefold(): name for name in reversed(header)}
        taken = set(dict(self.items()).values())
        parts: dict[str, Any] = {}
        for part, usual in _NAMES.items():
            named = [plain[name] for name in usual if name in plain and plain[name] not in taken]
            if getattr(self, part) is None and named:
                parts[part] = named[0]
        if "rating" in parts and (self.rater or parts.get("rater")) is None:
            # a rating without a rater column is a mean under a short name at best: never guess which
            del parts["rating"]
        return replace(self, **parts)

    def with_word_alone(self) -> ColumnMap:
        """Let the word be the sentence too, where there is no column of sentences: the usage is the word itself.

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
        """Look up the columns; those that the header lacks are left out (see :func:`missing_columns`)."""
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
