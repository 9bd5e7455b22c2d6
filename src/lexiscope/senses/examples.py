"""Usages of induced senses in running text: examples of each sense, and the usages of words in two corpora.

Examples are the most probable ones of each sense, and some drawn at random.

The corpus is read once, line by line; what is held are the examples kept so far and some thousand occurrences. The same
corpus, words and seed give the same examples, whichever other words are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import ChoosesSense, Subject
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import KnowsWords
from lexiscope.items.draws import generator_of
from lexiscope.items.text_rules import sentence_spans
from lexiscope.resources.corpora.running_text import NUMBER, read_places, words_of, words_with_spans
from lexiscope.senses.induced_senses import InducedSenses

Floats = NDArray[np.float32]
Progress = Callable[[str, int, int], None]
Token = tuple[int, int, int]
"""A word of a text: its number in the vocabulary, −1 for a word out of it, and its half-open offsets."""

_HELD = 20_000
_FEW = 64
_PIECE = 400
LONGEST = 260
"""An example is cut around its target where its sentence has more characters."""


@runtime_checkable
class ReadsSenses(Protocol):
    """A subject that chooses among induced senses, asked in bulk."""

    @property
    def window(self) -> int:
        """The most known words on each side that choose the sense."""

    @property
    def induced(self) -> InducedSenses:
        """Its senses."""

    def tokens(self, text: str) -> list[Token]:
        """Return the words of a text."""

    def distributions(self, word: int, windows: Sequence[Sequence[int]]) -> Floats:
        """Return how probable each sense of a word is among the words of each window. *Shape: (windows, K)*."""


@dataclass(frozen=True, slots=True)
class SenseExample:
    """A sentence with the word in it, and how probable the sense is there.

    ``start`` and ``end`` are half-open offsets in ``text``; a sentence that was cut has … where it was. ``path`` and
    ``line`` (from 1) say where it is.
    """

    text: str
    start: int
    end: int
    probability: float
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class SenseExamples:
    """What a corpus shows of one sense.

    ``share`` is its mean probability over the occurrences of the word, ``n_chosen`` in how many of them it is the most
    probable sense. ``best`` have the highest probabilities; ``drawn`` are a random sample of those occurrences in which
    the sense is the most probable one, without the best.
    """

    share: float
    n_chosen: int
    best: tuple[SenseExample, ...]
    drawn: tuple[SenseExample, ...]


@dataclass(frozen=True, slots=True)
class WordExamples:
    """What a corpus shows of a word: ``n`` occurrences, ``n_alone`` without a known word around; its senses.

    A sense's ``share`` is not a number where ``n`` is 0.
    """

    n: int
    n_alone: int
    senses: tuple[SenseExamples, ...]


def find_examples(
    reader: ReadsSenses,
    words: Sequence[str],
    files: Sequence[Path],
    *,
    n_best: int = 5,
    n_drawn: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, WordExamples]:
    """Return examples of all senses of some words of the vocabulary, from text files in UTF-8, packed or not.

    An occurrence is judged in its line, as in training; what is shown is its sentence. A repeated sentence, and a
    line with several occurrences, are shown once; all count.
    Errors: :class:`InputError` E712 for a word out of the vocabulary; E702 and E703 for a file that is not text or
    cannot be read, with its line.
    """
    samples = {}
    for word in dict.fromkeys(words):
        # refuses a word out of the vocabulary
        reader.induced.of(word)
        samples[reader.induced.index[word]] = _WordSample(reader, word, n_best, n_drawn, seed)
    held: list[_ProbableOccurrence] = []
    for occurrence in _occurrences(reader, samples, words, read_places(files, part="corpus", progress=progress)):
        # a line is judged in one piece: of its occurrences one is shown
        if len(held) >= _HELD and (occurrence.path, occurrence.line) != (held[-1].path, held[-1].line):
            _add_by_word(held, samples)
            held.clear()
        held.append(occurrence)
    _add_by_word(held, samples)
    return {sample.word: sample.examples() for sample in samples.values()}


@dataclass(frozen=True, slots=True)
class _ProbableOccurrence:
    word: int
    window: list[int]
    text: str
    start: int
    end: int
    cut: tuple[bool, bool]
    path: str
    line: int


@dataclass(slots=True)
class _WordSample:
    """What is kept of one word: sums over all occurrences, and for each sense the best and the first of a shuffle."""

    reader: ReadsSenses
    word: str
    n_best: int
    n_drawn: int
    seed: int
    n: int = 0
    n_alone: int = 0
    columns: NDArray[np.int64] = field(init=False)
    sums: NDArray[np.float64] = field(init=False)
    chosen: NDArray[np.int64] = field(init=False)
    best: list[list[tuple[float, SenseExample]]] = field(init=False)
    drawn: list[list[tuple[float, SenseExample]]] = field(init=False)
    generator: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        induced = self.reader.induced
        self.columns = induced.numbers[list(induced.of(self.word))]
        self.sums, self.chosen = np.zeros(len(self.columns)), np.zeros(len(self.columns), np.int64)
        self.best, self.drawn = [[] for _ in self.columns], [[] for _ in self.columns]
        # a generator of its own for each word: other words in the same call change no draw
        self.generator = generator_of(self.seed, self.word)

    def add_occurrences(self, part: Sequence[_ProbableOccurrence]) -> None:
        shares = self.reader.distributions(part[0].word, [occurrence.window for occurrence in part])[:, self.columns]
        most, keys = shares.argmax(axis=1), self.generator.random(len(part))
        self.n += len(part)
        self.n_alone += sum(not occurrence.window for occurrence in part)
        self.sums += shares.sum(axis=0, dtype=np.float64)
        self.chosen += np.bincount(most, minlength=len(self.columns))
        for k in range(len(self.columns)):
            mine, own = shares[:, k], np.flatnonzero(most == k)
            self.best[k] = _merge_lowest(self.best[k], -mine, np.flatnonzero(mine > 0), part, mine, self.n_best)
            # so many that enough are left without the best
            enough = self.n_drawn + self.n_best if self.n_drawn else 0
            self.drawn[k] = _merge_lowest(self.drawn[k], keys, own, part, mine, enough)

    def examples(self) -> WordExamples:
        senses = []
        for k, (best, drawn) in enumerate(zip(self.best, self.drawn, strict=True)):
            shown = {example.text for _, example in best}
            others = [example for _, example in drawn if example.text not in shown][: self.n_drawn]
            share = float(self.sums[k] / self.n) if self.n else float("nan")
            senses.append(
                SenseExamples(share, int(self.chosen[k]), tuple(example for _, example in best), tuple(others))
            )
        return WordExamples(self.n, self.n_alone, tuple(senses))


def words_with_neighbours(
    tokens: Sequence[Token], wanted: Container[int], window: int
) -> Iterator[tuple[Token, list[int]]]:
    """Yield each of the *wanted* words among the tokens of a text, with the known words that choose its sense.

    These are the *window* known words on each side, left to right, without the unknown ones between them.

    >>> list(words_with_neighbours([(0, 0, 1), (-1, 2, 3), (5, 4, 5), (1, 6, 7), (2, 8, 9)], {5}, 1))
    [((5, 4, 5), [0, 1])]
    """
    known = [token for token in tokens if token[0] >= 0]
    for place, token in enumerate(known):
        if token[0] in wanted:
            near = known[max(0, place - window) : place] + known[place + 1 : place + 1 + window]
            yield token, [number for number, _, _ in near]


def _occurrences(
    reader: ReadsSenses, wanted: Container[int], words: Sequence[str], lines: Iterable[tuple[Path, int, str]]
) -> Iterator[_ProbableOccurrence]:
    # the fast tokeniser says which few lines are worth a closer look
    forms = {form for word in words for form in (word, word.lower(), *words_of(word))}
    for path, number, line in lines:
        if not _holds(line, forms):
            continue
        for (token, start, end), near in words_with_neighbours(reader.tokens(line), wanted, reader.window):
            low, high = max(0, start - _PIECE), min(len(line), end + _PIECE)
            cut = low > 0, high < len(line)
            yield _ProbableOccurrence(token, near, line[low:high], start - low, end - low, cut, str(path), number)


def _holds(line: str, forms: Set[str]) -> bool:
    """Whether one of some forms is a word of a line."""
    # what the tokeniser finds is in the line, numbers apart: to look for few words is faster than to cut all
    if len(forms) <= _FEW and NUMBER not in forms and line.isascii():
        lower = line.lower()
        if not any(form in lower for form in forms):
            return False
    return not forms.isdisjoint(words_of(line))


def _add_by_word(held: Sequence[_ProbableOccurrence], samples: Mapping[int, _WordSample]) -> None:
    by_word: dict[int, list[_ProbableOccurrence]] = {}
    for occurrence in held:
        by_word.setdefault(occurrence.word, []).append(occurrence)
    for word, part in by_word.items():
        samples[word].add_occurrences(part)


def _merge_lowest(
    old: list[tuple[float, SenseExample]],
    keys: NDArray[np.floating[Any]],
    possible: NDArray[np.int64],
    part: Sequence[_ProbableOccurrence],
    shares: Floats,
    n: int,
) -> list[tuple[float, SenseExample]]:
    """Return the *n* of lowest key among the old and the possible, each text and line once; of equals the first."""
    order = possible[np.argsort(keys[possible], kind="stable")].tolist()
    new = _Distinct()
    for place in order:
        key = float(keys[place])
        if len(new.kept) == n or (len(old) == n and key >= old[-1][0]):
            break
        at = part[place]
        text, start = sentence_around(at.text, at.start, at.end, cut=at.cut)
        end = start + at.end - at.start
        new.add(key, SenseExample(text, start, end, float(shares[place]), at.path, at.line))
    merged = _Distinct()
    for key, example in sorted([*old, *new.kept], key=lambda pair: pair[0]):
        merged.add(key, example)
    return merged.kept[:n]


@dataclass(slots=True)
class _Distinct:
    """Examples with their keys, none with the text of one before it, and none of its line."""

    kept: list[tuple[float, SenseExample]] = field(default_factory=list)
    seen: set[object] = field(default_factory=set)

    def add(self, key: float, example: SenseExample) -> None:
        signs = {example.text, (example.path, example.line)}
        if not signs & self.seen:
            self.seen |= signs
            self.kept.append((key, example))


def sentence_around(text: str, start: int, end: int, *, cut: tuple[bool, bool] = (False, False)) -> tuple[str, int]:
    """Return the sentence around a target, cut between words where it is long, and where the target begins in it.

    *cut* says whether the text was cut before and behind already.
    """
    begins, ends = next((low, high) for low, high in sentence_spans(text) if low <= start < high)
    low, high = _room(begins, max(ends, end), start, end)
    if low > begins or (low == 0 and cut[0]):
        low = text.find(" ", low, start) + 1 or start
    if high < ends or (high == len(text) and cut[1]):
        high = max(text.rfind(" ", end, high), end)
    before, after = "… " if low > begins else "", " …" if high < ends else ""
    return f"{before}{text[low:high]}{after}", start - low + len(before)


def _room(begins: int, ends: int, start: int, end: int) -> tuple[int, int]:
    """Return what of a sentence is shown: the longest stretch with the target in its middle, or near its ends.

    >>> _room(0, 1000, 500, 504), _room(0, 1000, 10, 14), _room(0, 90, 10, 14)
    ((372, 632), (0, 260), (0, 90))
    """
    spare = max(0, LONGEST - (end - start))
    left, right = start - begins, ends - end
    before = min(left, max(spare // 2, spare - right))
    after = min(right, spare - before)
    return start - before, end + after


# -- usages drawn from running text, for subjects that read whole texts -----------------------------------------------


def draw_usages(
    words: Sequence[str], files: Sequence[Path], *, per_word: int, seed: int = 0, progress: Progress | None = None
) -> dict[str, tuple[Usage, ...]]:
    """Return up to *per_word* usages of each word, each occurrence equally likely, in the order of the text.

    A word is searched in its form, in any letter case. Its text is its sentence, cut between words if it is long;
    a repeated sentence is drawn once. The draw of a word does not depend on the other words.
    Errors: E702 and E703 for a file that is not text or cannot be read, with its line.
    """
    wanted = {word.lower(): word for word in words}
    kept: dict[str, list[tuple[float, int, Usage]]] = {word: [] for word in words}
    seen: dict[str, set[str]] = {word: set() for word in words}
    generators = {word: generator_of(seed, word, "usages") for word in words}
    order = 0
    for _, _, line in read_places(files, part="corpus", progress=progress):
        if not _holds(line, wanted.keys()):
            continue
        for form, start, end in words_with_spans(line):
            if (word := wanted.get(form)) is None:
                continue
            text, at = sentence_around(line, start, end)
            if text in seen[word]:
                continue
            seen[word].add(text)
            order += 1
            kept[word].append((float(generators[word].random()), order, Usage(text, at, at + end - start, lemma=word)))
            if len(kept[word]) > 2 * per_word:
                kept[word] = sorted(kept[word], key=lambda row: row[:2])[:per_word]
    return {
        word: tuple(
            usage for _, _, usage in sorted(sorted(rows, key=lambda row: row[:2])[:per_word], key=lambda row: row[1])
        )
        for word, rows in kept.items()
    }


# -- the usages of words in two corpora, with the sense that is chosen in each ---------------------------------------


class ChoosesKnownSenses(Subject, ChoosesSense, KnowsWords, Protocol):
    """A subject that says which words it knows, and how probable each sense of a usage is."""


class ChoosesInducedSenses(ChoosesKnownSenses, Protocol):
    """A subject of which the senses themselves are known, too."""

    @property
    def induced(self) -> InducedSenses:
        """Its senses."""


@dataclass(frozen=True, slots=True)
class ComparedWord:
    """A word in two corpora: its senses as rows of all senses, their numbers from 1, its usages, their probabilities.

    *Shape:* usages and shares have an entry for each corpus; shares (usages, senses).
    """

    rows: tuple[int, ...]
    numbers: tuple[int, ...]
    usages: tuple[tuple[Usage, ...], ...]
    shares: tuple[Floats, ...]

    @property
    def chosen(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The most probable sense of each usage, in each corpus."""
        first, second = (np.asarray(own.argmax(axis=1), np.int64) for own in self.shares)
        return first, second

    def examples(self, n: int) -> tuple[tuple[tuple[Usage, ...], ...], ...]:
        """Return up to *n* usages of each sense in each corpus, the surest first. *Shape: (senses, corpora)*."""
        senses = []
        for sense in range(len(self.rows)):
            sides = []
            for usages, shares, chosen in zip(self.usages, self.shares, self.chosen, strict=True):
                mine = np.flatnonzero(chosen == sense)
                best = mine[np.argsort(-shares[mine, sense], kind="stable")][:n]
                sides.append(tuple(usages[place] for place in best.tolist()))
            senses.append(tuple(sides))
        return tuple(senses)


def compare_usages(
    subject: ChoosesInducedSenses, drawn: Sequence[Mapping[str, Sequence[Usage]]], *, fewest: int
) -> tuple[dict[str, ComparedWord], dict[str, str]]:
    """Return the words with *fewest* known usages or more in each corpus, with the senses that a subject chooses.

    And the other words, each with the reason. *drawn* are the usages of each corpus by word (:func:`draw_usages`).
    Errors: :class:`InputError` where no word has *fewest* usages.
    """
    compared, left_out, induced = {}, {}, subject.induced
    for word in drawn[0]:
        usages = tuple(tuple(usage for usage in own[word] if subject.knows(usage)) for own in drawn)
        form = next((spelling for spelling in (word, word.lower()) if spelling in induced.index), None)
        if form is None or min(map(len, usages)) < fewest:
            counts = " and ".join(str(len(own)) for own in usages)
            left_out[word] = "not in the vocabulary" if form is None else f"{counts} usages, fewer than {fewest}"
            continue
        rows = tuple(induced.of(form))
        columns = induced.numbers[list(rows)]
        shares = tuple(np.asarray(subject.sense_distribution(own), np.float32)[:, columns] for own in usages)
        compared[word] = ComparedWord(rows, tuple((columns + 1).tolist()), usages, shares)
    if not compared:
        what = f"no word has {fewest} usages in each corpus that these vectors know"
        raise InputError(what, hint="name other words, or give more text")
    return compared, left_out


def chosen_senses(subject: Subject, compared: Mapping[str, ComparedWord], names: Sequence[str]) -> ResponseTable:
    """Return the sense of every usage, as answers; *names* are what the corpora are called."""
    rows = [
        (f"{name}/{word}/{number}", str(own.numbers[sense]))
        for word, own in compared.items()
        for name, chosen in zip(names, own.chosen, strict=True)
        for number, sense in enumerate(chosen.tolist(), start=1)
    ]
    return ResponseTable.from_columns(
        {
            "subject_id": subject.subject_id,
            "subject_kind": subject.kind,
            "item_id": [item_id for item_id, _ in rows],
            "task": "sense_drift",
            "measure": "induced_sense",
            "option": [option for _, option in rows],
        }
    )


# -- the sense that the words of a sentence choose --------------------------------------------------------------------
# Every occurrence of a word in a sentence, with the words that chose its sense.


@dataclass(frozen=True, slots=True)
class SenseUsage:
    """A word in a sentence, at half-open offsets: how probable its senses are, in their order, and which words chose.

    ``beside`` are the known words of the window, left to right; without any all senses, or their priors, are shown.
    There are none for a subject that reads whole texts.
    """

    text: str
    start: int
    end: int
    beside: tuple[str, ...]
    probabilities: tuple[float, ...]


def read_usages(reader: ReadsSenses, word: str, text: str) -> tuple[SenseUsage, ...]:
    """Return every occurrence of a word of the vocabulary in a text, in their order.

    Errors: :class:`InputError` E712 for a word out of the vocabulary; E732 where it is not in the text.
    """
    induced = reader.induced
    columns = induced.numbers[list(induced.of(word))]
    number, tokens = induced.index[word], reader.tokens(text)
    usages = []
    for (_, start, end), near in words_with_neighbours(tokens, {number}, reader.window):
        if reader.window or not isinstance(reader, ChoosesSense):
            (shares,) = reader.distributions(number, [near])
        else:
            # a subject without a window reads the whole text
            (shares,) = reader.sense_distribution([Usage(text, start, end)])
        beside = tuple(induced.words[token] for token in near)
        usages.append(SenseUsage(text, start, end, beside, tuple(shares[columns].astype(float).tolist())))
    if not usages:
        words = ", ".join(induced.words[token] for token, _, _ in tokens if token >= 0) or "none"
        hint = f"the form itself is searched, not its lemma; known words of the sentence: {words}"
        raise InputError(f"{word!r} is not in the sentence", code="E732", place=Place(text=text), hint=hint)
    return tuple(usages)
