"""Pairs from a stimulus list: every two sentences of a word make one relatedness item (SAW-C §3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import SAME_SENSE, Condition, Item
from lexiscope.core.usage import Usage

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One sentence of a stimulus list: a usage with its id, its sense, and what is known of its word.

    ``about_sentence`` holds facts of this sentence (cue, gloss); ``about_word`` facts that all sentences of the word
    share (homonymy or polysemy). Both become conditions of the pairs.
    """

    stimulus_id: str
    usage: Usage
    about_sentence: Mapping[str, Condition] = field(default_factory=dict, hash=False)
    about_word: Mapping[str, Condition] = field(default_factory=dict, hash=False)

    @property
    def word(self) -> str:
        """The lemma (the wordform where none is known): pairs are made within a word."""
        return self.usage.lemma or self.usage.target


def stimulus_ids(words_and_senses: Iterable[tuple[str, str]]) -> list[str]:
    """Return an id per sentence from its word and sense: a letter counts the sentences of a sense, in order.

    >>> stimulus_ids([("bank", "1"), ("bank", "1"), ("bank", "2")])
    ['bank-1a', 'bank-1b', 'bank-2a']
    """
    seen: Counter[tuple[str, str]] = Counter()
    ids = []
    for key in words_and_senses:
        n = seen[key]
        letter = _LETTERS[n] if n < len(_LETTERS) else f"_{n + 1}"
        ids.append(f"{key[0]}-{key[1]}{letter}")
        seen[key] += 1
    return ids


def enumerate_pairs(stimuli: Sequence[Stimulus], *, dataset: str) -> tuple[Item, ...]:
    """Return every pair of sentences of the same word, in the order of the list.

    The condition ``same_sense`` comes from the senses of the two usages. The id joins the two stimulus ids, so that it
    stays the same when the list grows. n sentences of a word give n (n − 1) / 2 pairs: 4 give 6 (SAW-C §3.1).
    Errors: :class:`InputError` E406 where a sentence has no sense.
    """
    by_word: dict[str, list[Stimulus]] = {}
    for stimulus in stimuli:
        if stimulus.usage.sense is None:
            raise InputError("the sentence has no sense", code="E406", place=Place(item_id=stimulus.stimulus_id))
        by_word.setdefault(stimulus.word, []).append(stimulus)
    return tuple(_pair(a, b, dataset) for group in by_word.values() for a, b in combinations(group, 2))


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How many pairs there are in all and per word (SAW-C §3.1: 812; 6 to 28 per noun, mean 7.96)."""

    n_pairs: int
    n_same: int
    n_different: int
    per_word: tuple[tuple[str, int], ...]

    @property
    def mean_per_word(self) -> float:
        """The mean number of pairs per word. *Unit: pairs.*"""
        return self.n_pairs / len(self.per_word)


def pair_counts(items: Sequence[Item]) -> PairCounts:
    """Count pairs by kind and by word.

    Errors: :class:`InputError` E402 where an item has no condition ``same_sense``, E404 where there are no items.
    """
    if not items:
        raise InputError("there are no pairs to count", code="E404")
    n_same = sum(bool(item.condition(SAME_SENSE)) for item in items)
    per_word = Counter(item.word for item in items)
    return PairCounts(len(items), n_same, len(items) - n_same, tuple(per_word.items()))


def _pair(first: Stimulus, second: Stimulus, dataset: str) -> Item:
    # "bank-1a" and "bank-2b" make "bank-1a-2b": what both ids begin with is said once
    shared = first.stimulus_id[: first.stimulus_id.rfind("-") + 1]
    short = second.stimulus_id.removeprefix(shared)
    conditions: dict[str, Condition] = {SAME_SENSE: first.usage.sense == second.usage.sense}
    conditions |= {f"{name}_1": value for name, value in first.about_sentence.items()}
    conditions |= {f"{name}_2": value for name, value in second.about_sentence.items()}
    conditions |= dict(first.about_word)
    return Item(f"{first.stimulus_id}-{short}", dataset, (first.usage, second.usage), conditions=conditions)
