"""Planted senses: pseudo-words, two unrelated words written as one, whose senses are known without any judgment.

Every occurrence of *banana* and of *door* becomes *bananadoor*. Which of the two stood there is the sense of that
occurrence: a program that induces senses from such a text can be measured against it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.tables.tabular import read_items
from lexiscope.resources.lexicons.lexicon import Lexicon


@dataclass(frozen=True, slots=True)
class PseudoWord:
    """Two words that are written as one.

    >>> PseudoWord("banana", "door").name
    'bananadoor'
    """

    first: str
    second: str

    @property
    def name(self) -> str:
        """How both are written."""
        return self.first + self.second


def pseudo_words(
    counts: Mapping[str, int],
    n: int,
    *,
    bands: Sequence[tuple[int, int]] = ((100, 1_000), (1_000, 10_000)),
    kinds: Mapping[str, str] | None = None,
    seed: int = 0,
) -> tuple[PseudoWord, ...]:
    """Draw *n* pseudo-words from each band of frequency, of words of letters alone, no word twice.

    A band holds the words that occur at least as often as its first number and less often than its second. A word is
    drawn at random; the other is that of nearest frequency, so that one sense for all is right about half the time. Two
    such words are hardly ever related. The more frequent is the first. With *kinds* only words in it are taken, and the
    two are of different kinds: see :func:`unambiguous_nouns`.
    Errors: :class:`InputError` E715 for a band with too few words.
    """
    rng = random.Random(seed)
    taken: set[str] = set()
    drawn: list[PseudoWord] = []
    for low, high in bands:
        fit = (word for word, count in counts.items() if low <= count < high and word.isalpha())
        free = sorted(word for word in fit if word not in taken and (kinds is None or word in kinds))
        if len(free) < 2 * n:
            what = f"{len(free)} words occur {low} to {high - 1} times, {2 * n} are needed for {n} pseudo-words"
            raise InputError(what, code="E715", hint="ask for fewer, or for another band")
        rng.shuffle(free)
        for _ in range(n):
            pair = _pair(free, counts, kinds)
            drawn.append(PseudoWord(*sorted(pair, key=lambda word: (-counts[word], word))))
            taken |= set(pair)
    _check_names(drawn, counts)
    return tuple(drawn)


def _pair(free: list[str], counts: Mapping[str, int], kinds: Mapping[str, str] | None) -> tuple[str, str]:
    """Take the last of the free words, and that of another kind whose frequency is nearest; of equals, the first."""
    word = free.pop()
    others = [other for other in free if kinds is None or kinds[other] != kinds[word]]
    if not others:
        what = f"no word of its frequency is of another kind than {word!r}"
        raise InputError(what, code="E715", hint="ask for fewer, or for another band")
    other = min(others, key=lambda candidate: abs(math.log(counts[candidate] / counts[word])))
    free.remove(other)
    return word, other


def unambiguous_nouns(words: Iterable[str], lexicon: Lexicon) -> dict[str, str]:
    """Return those words that have one sense in a lexicon, as a noun in its base form, with their supersense.

    Words with several senses would plant more senses than are known, and words of two supersenses (a person and a
    place) are not alike. Words of fewer than four letters are excluded: most of them have other uses too.
    """
    nouns = {}
    for word in words:
        senses = lexicon.synsets(word) if len(word) > _SHORTEST and word.isalpha() else ()
        inflected = [form for pos in ("n", "v", "a", "r") for form in lexicon.base_forms(word, pos) if form != word]
        if len(senses) == 1 and senses[0].pos == "n" and not inflected:
            nouns[word] = senses[0].supersense
    return nouns


def plant_words(lines: Iterable[Sequence[str]], planted: Sequence[PseudoWord]) -> Iterator[list[str]]:
    """Give lines of words in which both words of each pseudo-word are written as one.

    Errors: :class:`InputError` E715 for a word in two pseudo-words.

    >>> list(plant_words([["a", "banana", "door"]], [PseudoWord("banana", "door")]))
    [['a', 'bananadoor', 'bananadoor']]
    """
    names = _names(planted)
    for line in lines:
        yield [names.get(word, word) for word in line]


def planted_usages(
    lines: Iterable[Sequence[str]], planted: Sequence[PseudoWord], *, per_word: int = 50, seed: int = 0
) -> tuple[Usage, ...]:
    """Draw up to *per_word* occurrences of each planted word, as usages of its pseudo-word in the planted line.

    ``lemma`` is the pseudo-word, ``sense`` the word that stood there. *lines* are those before planting. Occurrences
    are drawn without replacement, each equally likely, in one pass and with no more in memory than are drawn. Usages
    come word by word, in the order of the text. Errors: as :func:`plant_words`.
    """
    names, rng = _names(planted), random.Random(seed)
    drawn: dict[str, list[tuple[int, Usage]]] = {word: [] for word in names}
    seen = dict.fromkeys(names, 0)
    for number, line in enumerate(lines):
        for place in (place for place, word in enumerate(line) if word in names):
            word = line[place]
            seen[word] += 1
            # the k-th occurrence is kept with the probability per_word/k, in the place of one that was kept before
            where = len(drawn[word]) if seen[word] <= per_word else rng.randrange(seen[word])
            if where < per_word:
                kept = drawn[word]
                words = [names.get(word, word) for word in line]
                start = sum(len(word) + 1 for word in words[:place])
                end = start + len(words[place])
                usage = Usage(" ".join(words), start, end, lemma=words[place], sense=line[place])
                kept[where : where + 1] = [(number * _WIDEST + place, usage)]
    return tuple(usage for kept in drawn.values() for _, usage in sorted(kept, key=lambda pair: pair[0]))


def read_planted(path: Path) -> tuple[Item, ...]:
    """Read usages of pseudo-words from a table of items: the lemma is the pseudo-word, the sense what was planted.

    Errors: :class:`InputError` with the file and item for another table, or a usage without a sense.
    """
    items = read_items(path)
    for item in items:
        if len(item.usages) != 1 or not item.usages[0].sense or not item.usages[0].lemma:
            what = "a planted usage is one usage with the pseudo-word as lemma and what was planted as sense"
            raise InputError(what, place=Place(str(path), item_id=item.item_id))
    if not items:
        raise InputError("this table holds no planted usages", place=Place(str(path)))
    return items


_SHORTEST = 3
# more words than a line has: occurrences are put in the order of the text
_WIDEST = 1 << 32


def _names(planted: Sequence[PseudoWord]) -> dict[str, str]:
    names = {word: pair.name for pair in planted for word in (pair.first, pair.second)}
    if len(names) != 2 * len(planted):
        raise InputError("a word is in two pseudo-words, or twice in one", code="E715", hint="draw them again")
    return names


def _check_names(planted: Sequence[PseudoWord], counts: Mapping[str, int]) -> None:
    taken = [pair.name for pair in planted if pair.name in counts]
    if taken:
        what = f"{taken[0]!r} is a word of this corpus already, so it cannot be a pseudo-word"
        raise InputError(what, code="E715", hint="draw with another seed")


# -- made-up text -----------------------------------------------------------------------------------------------------
# Lines of invented words, each line about one topic, so that contexts distinguish the topics. With two words of
# different topics written as one, it shows on any machine whether a way of inducing senses works at all.


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
    pairs = []
    for number in range(n):
        first, second = (2 * number) % len(free), (2 * number + 1) % len(free)
        if first == second or not free[first] or not free[second]:
            raise InputError(f"{len(text.topics)} topics do not make {n} pseudo-words", hint="ask for fewer")
        pairs.append(PseudoWord(free[first].pop(0), free[second].pop(0)))
    return tuple(pairs)


def _words(n: int, rng: random.Random) -> list[str]:
    """Return *n* invented words of two or three syllables, all different."""
    words: dict[str, None] = {}
    while len(words) < n:
        syllables = (rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(rng.choice((2, 3))))
        words["".join(syllables)] = None
    return list(words)
