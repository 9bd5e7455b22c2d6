"""The vocabulary of a corpus: which words are learnt, how frequent they are, and what follows from that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place
from lexiscope.core.settings import option
from lexiscope.resources.corpora.running_text import Progress, Tokenisation, read_corpus, read_lines, words_of

NEGATIVE_POWER = 0.75


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling frequency, ties in code point order, with their ``counts``; ``n_tokens`` counts all tokens.

    *Shape:* counts (words,).
    """

    words: tuple[str, ...]
    counts: NDArray[np.int64]
    n_tokens: int

    @cached_property
    def index(self) -> dict[str, int]:
        """Each word's number."""
        return {word: number for number, word in enumerate(self.words)}

    def keep_probabilities(self, threshold: float) -> NDArray[np.float32]:
        """Return the probability with which each occurrence of a word is kept, 1 for all where *threshold* is 0.

        p(w) = sqrt(t / f(w)) + t / f(w), at most 1, with f(w) the share of the word among the known tokens: the rule
        of word2vec's program.

        >>> kept = Vocabulary(("the", "bank"), np.array([900, 100]), 1000).keep_probabilities(0.1)
        >>> [round(float(p), 3) for p in kept]
        [0.444, 1.0]
        """
        if not threshold:
            return np.ones(len(self.words), np.float32)
        ratio = threshold * self.counts.sum() / self.counts
        return np.asarray(np.minimum(1.0, np.sqrt(ratio) + ratio), np.float32)

    def negative_probabilities(self) -> NDArray[np.float64]:
        """Return the probability with which each word is drawn as a negative: its count to the power of 3/4.

        >>> Vocabulary(("the", "bank"), np.array([16, 1]), 17).negative_probabilities().round(3).tolist()
        [0.889, 0.111]
        """
        weights = self.counts.astype(np.float64) ** NEGATIVE_POWER
        return weights / weights.sum()  # type: ignore[no-any-return]

    def text(self) -> str:
        """Return it as lines ``word TAB count``."""
        return "".join(f"{word}\t{count}\n" for word, count in zip(self.words, self.counts.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class VocabularyLimits:
    """Which words of a corpus are learnt: those seen ``min_count`` times, of them the ``top`` most frequent.

    Errors: :class:`InputError` for a minimum below 1.
    """

    min_count: int = option(5, "rarer words are dropped", least=1)
    top: int = option(100_000, "the most words of the vocabulary; 0: no limit", least=0)

    def __post_init__(self) -> None:
        if self.min_count < 1 or self.top < 0:
            raise InputError("a minimum count is 1 or more, a number of words 0 (no limit) or more")


def count_words(
    files: Sequence[Path],
    limits: VocabularyLimits,
    tokenisation: Tokenisation = "own",
    *,
    progress: Progress | None = None,
) -> Vocabulary:
    """Count the words of a corpus and choose those that are learnt.

    Errors: :class:`InputError` E704 where no line has two words, E705 where no word is frequent enough; those of
    :func:`lexiscope.resources.corpora.running_text.read_lines`.
    """
    counts: Counter[str] = Counter()
    longest = 0
    for line in read_corpus(files, part="count words", progress=progress):
        words = words_of(line, tokenisation)
        counts.update(words)
        longest = max(longest, len(words))
    _check_lines(files, longest, counts)
    return choose_words(counts, limits, files[0])


def _check_lines(files: Sequence[Path], longest: int, counts: Counter[str]) -> None:
    if longest >= 2:
        return
    what = "no line of this corpus has two words" if counts else "this corpus holds no word"
    why = "senses are learnt from the words around a word; a window ends with its line" if counts else ""
    hint = "write one sentence or paragraph per line, not a list of words"
    raise InputError(what, code="E704", place=Place(str(files[0]), 1), why=why, hint=hint)


def choose_words(counts: Counter[str], limits: VocabularyLimits, source: Path) -> Vocabulary:
    """Return the vocabulary of counted words. Errors: :class:`InputError` E705 where it has fewer than two words."""
    frequent = [(word, count) for word, count in counts.items() if count >= limits.min_count]
    frequent.sort(key=lambda pair: (-pair[1], pair[0]))
    kept = frequent[: limits.top] if limits.top else frequent
    if len(kept) < 2:
        word, most = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        what = f"the vocabulary is too small: {len(kept)} of {len(counts):,} words are learnt, needed are 2"
        why = f"{len(frequent):,} occur {limits.min_count:,} times or more; the most frequent, {word!r}, {most:,} times"
        hint = "use a larger --top" if len(frequent) > len(kept) else "give more text, or a smaller --min-count"
        raise InputError(what, code="E705", place=Place(str(source)), why=why, hint=hint)
    numbers = np.array([count for _, count in kept], np.int64)
    return Vocabulary(tuple(word for word, _ in kept), numbers, sum(counts.values()))


def read_vocabulary(path: Path, n_tokens: int = 0) -> Vocabulary:
    """Read lines ``word TAB count``. Errors: :class:`InputError` E706 naming the first line of another form."""
    words: list[str] = []
    counts: list[int] = []
    for number, line in enumerate(read_lines(path), start=1):
        word, tab, count = line.partition("\t")
        if not word or not tab or not count.isdecimal() or not int(count):
            hint = "a line is a word, a tab, and how often the word occurs"
            place = Place(str(path), number, text=line)
            raise InputError("this is not a line of a vocabulary", code="E706", place=place, hint=hint)
        words.append(word)
        counts.append(int(count))
    if len(set(words)) != len(words) or not words:
        what = "a word occurs twice in this vocabulary" if words else "this vocabulary is empty"
        raise InputError(what, code="E706", place=Place(str(path)))
    return Vocabulary(tuple(words), np.array(counts, np.int64), n_tokens or sum(counts))


def negative_table(probabilities: NDArray[np.float64], size: int) -> NDArray[np.int32]:
    """Return a table in which each word occurs as often as it will be drawn, rounded by its cumulated share.

    >>> negative_table(np.array([0.5, 0.25, 0.25]), 8).tolist()
    [0, 0, 0, 0, 1, 1, 2, 2]
    """
    ends = np.rint(np.cumsum(probabilities) * size).astype(np.int64)
    repeats: NDArray[Any] = np.diff(ends, prepend=0)
    return np.repeat(np.arange(len(probabilities), dtype=np.int32), repeats)
