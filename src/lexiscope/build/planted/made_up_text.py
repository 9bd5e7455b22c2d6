"""Made-up running text: lines of invented words, each line about one topic, so that contexts tell the topics apart.

Nobody wrote it and it means nothing. With two words of different topics written as one
(:mod:`lexiscope.build.planted.senses`), it shows on any machine whether a way of inducing senses works at all.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from lexiscope.build.planted.senses import PseudoWord
from lexiscope.core.errors import InputError

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True, slots=True)
class MadeUpText:
    """Text and its topics: ``lines`` of words, the ``topics`` with their words, and ``common`` words of all topics."""

    lines: tuple[tuple[str, ...], ...]
    topics: tuple[tuple[str, ...], ...]
    common: tuple[str, ...]


def made_up_text(
    n_lines: int = 2000,
    *,
    n_topics: int = 6,
    n_words: int = 20,
    n_common: int = 12,
    length: int = 10,
    share_common: float = 0.2,
    seed: int = 0,
) -> MadeUpText:
    """Return *n_lines* lines of *length* words: each of one topic, *share_common* of its words those of all topics.

    Words are drawn with equal probability. The same arguments give the same text.
    Errors: :class:`InputError` for numbers below 1, or a share outside 0 to 1.

    >>> text = made_up_text(3, n_topics=2, n_words=2, n_common=1, length=4)
    >>> len(text.lines), {len(line) for line in text.lines}, len(set(sum(text.topics, text.common)))
    (3, {4}, 5)
    """
    if min(n_lines, n_topics, n_words, n_common, length) < 1 or not 0 <= share_common <= 1:
        raise InputError("a made-up text needs a line, a topic, a word of each kind, and a share from 0 to 1")
    rng = random.Random(seed)
    words = _words(n_topics * n_words + n_common, rng)
    topics = tuple(tuple(words[start : start + n_words]) for start in range(0, n_topics * n_words, n_words))
    common = tuple(words[n_topics * n_words :])
    lines = []
    for _ in range(n_lines):
        topic = rng.choice(topics)
        lines.append(tuple(rng.choice(common if rng.random() < share_common else topic) for _ in range(length)))
    return MadeUpText(tuple(lines), topics, common)


def planted_pairs(text: MadeUpText, n: int) -> tuple[PseudoWord, ...]:
    """Return *n* pseudo-words, each of two words of neighbouring topics, no word twice.

    Errors: :class:`InputError` for one topic only, or more pseudo-words than its words make.

    >>> [pair.name for pair in planted_pairs(MadeUpText((), (("a", "b"), ("c", "d"), ("e", "f")), ()), 3)]
    ['ac', 'eb', 'df']
    """
    free = [list(topic) for topic in text.topics]
    found = []
    for number in range(n):
        first, second = (2 * number) % len(free), (2 * number + 1) % len(free)
        if first == second or not free[first] or not free[second]:
            raise InputError(f"{len(text.topics)} topics do not make {n} pseudo-words", hint="ask for fewer")
        found.append(PseudoWord(free[first].pop(0), free[second].pop(0)))
    return tuple(found)


def _words(n: int, rng: random.Random) -> list[str]:
    """Return so many invented words of two or three syllables, all different."""
    found: dict[str, None] = {}
    while len(found) < n:
        syllables = (rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(rng.choice((2, 3))))
        found["".join(syllables)] = None
    return list(found)
