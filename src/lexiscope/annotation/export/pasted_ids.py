"""Platform ids in what participants wrote: people paste their own into comments, and no export may have one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

SHORTEST_ID = 6
"""Shorter platform ids are not searched in free text: they would remove every number from it."""
REMOVED = "[platform id removed]"
_SMALL = str.maketrans("İıſ\u212a", "iisk")
"""The letters beyond ASCII that are, apart from their case, letters of ASCII."""


def without_ids(text: str | None, platform_ids: frozenset[str]) -> str | None:
    """Return a free text without platform ids, small or capital; of ids that begin alike, the longest is removed.

    >>> without_ids("I am 5f0c9A27 (sorry)", frozenset(["5F0C9A27"]))
    'I am [platform id removed] (sorry)'
    """
    # an answer that is a number or a letter is shorter than any id that is searched
    if not text or not platform_ids or len(text) < SHORTEST_ID:
        return text
    pattern = _search_of(platform_ids).pattern_for(text)
    return text if pattern is None else pattern.sub(REMOVED, text)


class _IdSearch:
    """Which of many ids may be in a text: one pattern of all of them would try each at every character.

    An id has the characters of ids in a row, and it has a head, its first characters.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = [text for text in ids if len(text) >= SHORTEST_ID]
        self._size = min(map(len, self._ids), default=SHORTEST_ID)
        by_head = defaultdict[str, list[str]](list)
        for text in self._ids:
            by_head[_small(text[: self._size])].append(text)
        self._by_head = dict(by_head)
        characters = re.escape("".join(sorted(set("".join(self._ids)))))
        run = f"[{characters}]{{{self._size},}}" if self._ids else r"(?!)"
        self._runs = re.compile(run, re.IGNORECASE)
        self._patterns: dict[frozenset[str] | None, re.Pattern[str]] = {}

    def pattern_for(self, text: str) -> re.Pattern[str] | None:
        """Return the pattern of the ids whose heads are in a text; ``None`` where there is no such id."""
        heads = set[str]()
        for run in self._runs.finditer(text):
            small = _small(run.group())
            if not small.isascii():
                return self._pattern(None)
            heads.update(head for head in self._windows(small) if head in self._by_head)
        return self._pattern(frozenset(heads)) if heads else None

    def _windows(self, text: str) -> Iterator[str]:
        return (text[start : start + self._size] for start in range(len(text) - self._size + 1))

    def _pattern(self, heads: frozenset[str] | None) -> re.Pattern[str]:
        """Return the pattern of the ids that begin with these heads, of all without; the longest is tried first."""
        if heads not in self._patterns:
            ids = self._ids if heads is None else [text for head in heads for text in self._by_head[head]]
            longest_first = sorted(ids, key=lambda text: (-len(text), text))
            self._patterns[heads] = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
        return self._patterns[heads]


@lru_cache(maxsize=8)
def _search_of(platform_ids: frozenset[str]) -> _IdSearch:
    return _IdSearch(platform_ids)


def _small(text: str) -> str:
    return text.translate(_SMALL).lower()
