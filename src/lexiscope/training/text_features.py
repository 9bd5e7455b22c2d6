"""What a text shows without being understood: words, letters, lengths, and what two texts have in common.

The features of an item in a view are made from what the view shows and from nothing else. They are sparse and come in
groups of equal weight, so that many letter sequences do not drown a few words. Both texts of a pair are seen together:
a word that occurs in both, in the first alone, or in the second alone is a feature each, and so are two words of which
one occurs in each text.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.answers.sense_options import definition_of
from lexiscope.items.arrange.views import CONTEXT, CONTEXT_SPAN, MASK, view_item

VIEWS = ("full", CONTEXT, CONTEXT_SPAN, "word", "label")
"""The views of which there are features."""

_TOKEN = re.compile(rf"{re.escape(MASK)}|\w+|[^\w\s]")
_GRAMS = (2, 3, 4)
_MOST_CROSSED = 300
_LEAST_CROSSED = 5
_MOST_OF_A_TEXT = 12
_BINS = 8

Groups = Mapping[str, Sequence[str]]
"""The names of the features that an item has, by group."""


def text_matrix(items: Sequence[Item], further: Sequence[Item], view: str) -> Any:
    """Return the features of pairs, or of usages with a definition, as a view shows them; ``label`` has none.

    *Shape:* (items and further, features), sparse.
    What a feature is follows from *items* alone, not from *further* ones; what tells a label is learnt from some items.
    Errors: :class:`InputError` for a view that is not one of :data:`VIEWS`.
    """
    if view not in VIEWS:
        raise InputError(f"no features of the view {view!r}", hint=f"use one of {', '.join(VIEWS)}")
    if view == "label" or not items:
        return _matrix([{} for _ in (*items, *further)])
    shown = [_ShownText.of(item, view) for item in (*items, *further)]
    crossed = _frequent_words(shown[: len(items)])
    numbers = [text.numbers() for text in shown]
    # a number becomes a feature by the eighth of the values that it is in, so that no shape is assumed
    names, shares = dict.fromkeys(name for row in numbers for name in row), np.arange(1, _BINS) / _BINS
    known = numbers[: len(items)]
    edges = {name: np.unique(np.quantile([row.get(name, 0.0) for row in known], shares)) for name in names}
    bins = [[f"{name}>{np.searchsorted(edges[name], value)}" for name, value in row.items()] for row in numbers]
    return _matrix({**text.groups(crossed), "numbers": own} for text, own in zip(shown, bins, strict=True))


@dataclass(frozen=True, slots=True)
class _ShownText:
    """What a view shows of an item: up to two texts, and the words themselves where they are shown."""

    texts: tuple[str, ...]
    forms: tuple[str, ...]

    @classmethod
    def of(cls, item: Item, view: str) -> _ShownText:
        hides = view in (CONTEXT, CONTEXT_SPAN)
        # the whole input is the context and, separately, the words: each part is seen as it is seen alone
        usages = view_item(item, view if hides else CONTEXT).usages if view != "word" else ()
        texts = [usage.text for usage in usages]
        if "definition" in item.conditions:
            texts.append(definition_of(item))
        return cls(tuple(texts), () if hides else tuple(usage.target for usage in item.usages))

    def groups(self, crossed: Mapping[str, int]) -> Groups:
        """The features by group; *crossed* are the words that are looked at in pairs, one of each text, by rank."""
        words = [_words(text) for text in self.texts]
        groups: dict[str, Sequence[str]] = {}
        if words:
            with_neighbours = [dict.fromkeys([*own, *map(" ".join, pairwise(own))]) for own in words]
            groups["words"] = [f"{n}:{word}" for n, own in enumerate(with_neighbours) for word in own]
            groups["letters"] = [f"c:{gram}" for text in self.texts for gram in _grams(text)]
        if len(words) > 1:
            first, second = (dict.fromkeys(own) for own in words[:2])
            groups["both"] = [f"both:{word}" for word in first if word in second]
            pairs = [(a, b) for a in _rarest(first, crossed) for b in _rarest(second, crossed)]
            groups["crossed"] = [f"x:{a}|{b}" for a, b in pairs]
        if self.forms:
            lowered = [form.casefold() for form in self.forms]
            name = "|".join(sorted(lowered))
            groups["form"] = [f"f:{name}", *(f"f{n}:{form}" for n, form in enumerate(lowered))]
            groups["form_letters"] = [f"fc:{gram}" for form in self.forms for gram in _grams(form)]
            groups["form_beside"] = [f"f:{name}|{word}" for own in words for word in dict.fromkeys(own)]
        return groups

    def numbers(self) -> dict[str, float]:
        """Lengths, and how much the two texts or words have in common."""
        numbers: dict[str, float] = {}
        for kind, parts in (("text", self.texts), ("form", self.forms)):
            for n, part in enumerate(parts):
                numbers[f"{kind}{n}"] = float(len(part))
            if len(parts) > 1:
                numbers[f"{kind}_longer"] = float(len(parts[0]) - len(parts[1]))
                numbers[f"{kind}_alike"] = _overlap(set(_grams(parts[0])), set(_grams(parts[1])))
        if len(self.texts) > 1:
            numbers["words_alike"] = _overlap(*(set(_words(text)) for text in self.texts[:2]))
        return numbers


def _words(text: str) -> list[str]:
    return [match.group().casefold() for match in _TOKEN.finditer(text)]


def _grams(text: str) -> list[str]:
    """Sequences of letters within words and at their edges, each once."""
    return list(dict.fromkeys(chain.from_iterable(map(_grams_of_word, text.split()))))


@lru_cache(maxsize=1 << 16)
def _grams_of_word(word: str) -> tuple[str, ...]:
    # most words of a text stand in many other texts, and each text is looked at in several views
    shown = f" {word} "
    return tuple(shown[n : n + length] for length in _GRAMS for n in range(len(shown) - length + 1))


def _overlap(first: set[str], second: set[str]) -> float:
    together = len(first | second)
    return len(first & second) / together if together else 1.0


def _rarest(words: Iterable[str], ranks: Mapping[str, int]) -> list[str]:
    """Those of the words that have a rank, at most a dozen, the rarest first: they tell more than *the* and *of*."""
    return sorted((word for word in words if word in ranks), key=lambda word: -ranks[word])[:_MOST_OF_A_TEXT]


def _frequent_words(shown: Sequence[_ShownText]) -> dict[str, int]:
    """The most frequent words with their ranks: they are looked at in pairs, for a rare one could not be learnt so."""
    counts = Counter(
        word for text_shown in shown for word in {word for text in text_shown.texts for word in _words(text)}
    )
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return {word: rank for rank, (word, n) in enumerate(ranked[:_MOST_CROSSED]) if n >= _LEAST_CROSSED}


def _matrix(rows: Iterable[Groups]) -> Any:
    # loaded here: the help of a verb must not wait for it
    from scipy import sparse

    # a name that is new has the next free place
    places: defaultdict[str, int] = defaultdict()
    places.default_factory = places.__len__
    # arrays: there may be millions of entries
    columns, values = array("i"), array("d")
    ends = [0]
    for row in rows:
        for names in row.values():
            own = dict.fromkeys(names)
            columns.extend(map(places.__getitem__, own))
            # a group has length 1 for any number of features
            values.extend([1 / math.sqrt(len(own))] * len(own) if own else [])
        ends.append(len(columns))
    entries = np.frombuffer(values), np.frombuffer(columns, dtype=np.int32), np.array(ends)
    return sparse.csr_matrix(entries, shape=(len(ends) - 1, len(places)))
