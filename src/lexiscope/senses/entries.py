"""Words as a lexicographer looks at them: each induced sense with its neighbours and examples from running text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from lexiscope.core.errors import InputError, Place
from lexiscope.core.settings import Option
from lexiscope.resources.corpora.running_text import read_lines
from lexiscope.resources.vectors.sense_vectors import Neighbour
from lexiscope.senses.examples import Progress, ReadsSenses, SenseExamples, WordExamples, find_examples


@dataclass(frozen=True, slots=True)
class SenseEntry:
    """One sense: ``number`` counts from 1 (its column in a distribution), ``prior`` where the vectors have one.

    ``examples`` is ``None`` where no corpus was read.
    """

    number: int
    neighbours: tuple[Neighbour, ...]
    prior: float | None = None
    examples: SenseExamples | None = None

    @property
    def share(self) -> float | None:
        """The share of this sense in the word: in the corpus if one was read, otherwise the prior. 0 to 1."""
        return self.prior if self.examples is None else self.examples.share


@dataclass(frozen=True, slots=True)
class WordEntry:
    """A word, its senses in order, and the numbers (from 1) of those that were pruned.

    ``count`` is how often it occurs in the corpus of the training, ``n`` how often in the corpus that was read, and
    ``n_alone`` in how many of these without a known word around; ``None`` where that is not known.
    """

    word: str
    senses: tuple[SenseEntry, ...]
    pruned: tuple[int, ...] = ()
    count: int | None = None
    n: int | None = None
    n_alone: int | None = None


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word that is not in the vocabulary, and words that are spelt nearly so."""

    word: str
    near: tuple[str, ...]


def make_entries(
    reader: ReadsSenses,
    words: Sequence[str],
    files: Sequence[Path] = (),
    *,
    n_neighbours: Annotated[int, Option("neighbours of each sense", flag="--neighbours", least=1, most=50)] = 10,
    n_best: int = 5,
    n_drawn: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[WordEntry, ...]:
    """Return an entry for each word, in their order, each once; with *files* also examples and shares.

    Errors: those of :func:`~lexiscope.senses.examples.find_examples`.
    """
    induced, distinct = reader.induced, list(dict.fromkeys(words))
    rows = [row for word in distinct for row in induced.of(word)]
    near = dict(zip(rows, induced.neighbours(rows, n_neighbours), strict=True))
    examples: dict[str, WordExamples] = {}
    if files:
        examples = find_examples(reader, distinct, files, n_best=n_best, n_drawn=n_drawn, seed=seed, progress=progress)
    return tuple(_entry(reader, word, near, examples.get(word)) for word in distinct)


def known_words(reader: ReadsSenses, words: Sequence[str]) -> tuple[tuple[str, ...], tuple[UnknownWord, ...]]:
    """Return the words of the vocabulary, each once, and the others with what is spelt nearly so.

    Errors: :class:`InputError` E731 where none is in the vocabulary.
    """
    induced, distinct = reader.induced, list(dict.fromkeys(words))
    known = tuple(word for word in distinct if word in induced.index)
    unknown = tuple(UnknownWord(word, induced.near_spellings(word)) for word in distinct if word not in induced.index)
    if not known:
        shown = ", ".join(distinct[:3]) + (" …" if len(distinct) > 3 else "")
        what = f"none of {len(distinct)} words is among the {len(induced.words):,} words of these vectors: {shown}"
        near = [f"{close.word}: {', '.join(close.near)}" for close in unknown[:3] if close.near]
        hint = f"spelt nearly so: {'; '.join(near)}" if near else "words are single tokens, mostly in lower case"
        raise InputError(what, code="E731", place=Place(induced.name or None), hint=hint)
    return known, unknown


def read_words(path: Path) -> tuple[str, ...]:
    """Read a list of words, one per line, in UTF-8; empty lines are passed over, a word that comes again counts once.

    Errors: :class:`InputError` E730 for a list without words; E702 and E703 for a file that is not text.
    """
    words = tuple(dict.fromkeys(line.strip() for line in read_lines(path) if line.strip()))
    if not words:
        hint = "write one word per line"
        raise InputError("this list has no words", code="E730", place=Place(str(path)), hint=hint)
    return words


def _entry(
    reader: ReadsSenses, word: str, near: dict[int, tuple[Neighbour, ...]], examples: WordExamples | None
) -> WordEntry:
    induced, rows = reader.induced, list(reader.induced.of(word))
    senses = tuple(
        SenseEntry(
            int(induced.numbers[row]) + 1,
            near[row],
            None if induced.priors is None else float(induced.priors[row]),
            None if examples is None else examples.senses[place],
        )
        for place, row in enumerate(rows)
    )
    pruned = tuple(number + 1 for number in induced.pruned_numbers(word))
    count = None if induced.counts is None else int(induced.counts[induced.index[word]])
    return WordEntry(
        word, senses, pruned, count, *((None, None) if examples is None else (examples.n, examples.n_alone))
    )
