"""Pairs from a stimulus list (SAW-C §3.1), their number, and what published sets of pairs have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from lexiscope.core.dataset import DataFile, DatasetCard, SetAside
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import SAME_SENSE, Condition, Item
from lexiscope.core.result import Estimate, statistic_name
from lexiscope.core.usage import Usage
from lexiscope.resources.fetch import FetchedFile


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


def _pair(first: Stimulus, second: Stimulus, dataset: str) -> Item:
    # "bank-1a" and "bank-2b" make "bank-1a-2b": what both ids begin with is said once
    shared = first.stimulus_id[: first.stimulus_id.rfind("-") + 1]
    short = second.stimulus_id.removeprefix(shared)
    conditions: dict[str, Condition] = {SAME_SENSE: first.usage.sense == second.usage.sense}
    conditions |= {f"{name}_1": value for name, value in first.about_sentence.items()}
    conditions |= {f"{name}_2": value for name, value in second.about_sentence.items()}
    conditions |= dict(first.about_word)
    return Item(f"{first.stimulus_id}-{short}", dataset, (first.usage, second.usage), conditions=conditions)


# -- the size of a set of pairs ---------------------------------------------------------------------------------------
# How large a set of usage pairs is: items, words, sentences, and how the two sentences of a pair differ in length.


def sizes_of_pairs(items: Sequence[Item]) -> dict[str, Estimate]:
    """Return what there is how many of, by what a table calls it. *Source:* SAW-C §3.1.

    Words of a sentence are what spaces separate. An item without two usages has no difference in length.

    >>> from lexiscope.core.usage import Usage
    >>> texts = ("A bank closed.", "The old bank closed.")
    >>> pair = Item("1", "own", tuple(Usage(text, *(text.index("bank") + k for k in (0, 4))) for text in texts))
    >>> {label: one.value for label, one in sizes_of_pairs([pair]).items()}["Words per sentence, mean"]
    3.5
    """
    per_word = list(Counter(item.word for item in items).values())
    texts = {usage.text for item in items for usage in item.usages}
    lengths = [[len(usage.text.split()) for usage in item.usages] for item in items if len(item.usages) == 2]
    differing = Counter(abs(first - second) for first, second in lengths)
    per_list = Counter(item.list_id for item in items if item.list_id is not None).values()
    words = float(np.mean([len(text.split()) for text in texts]))
    unequal = {by: statistic_name("items_differing_in_word_count", by=by) for by in ("any", 1, 2)}
    values: dict[str, tuple[str, float]] = {
        "Usage pairs": ("n_items", len(items)),
        "Words": ("n_words", len(per_word)),
        **({"Lists": ("n_lists", len(per_list))} if per_list else {}),
        **({"Pairs per list, fewest": ("items_per_list(summary=min)", min(per_list))} if per_list else {}),
        **({"Pairs per list, most": ("items_per_list(summary=max)", max(per_list))} if per_list else {}),
        "Pairs per word, fewest": ("items_per_word(summary=min)", min(per_word)),
        "Pairs per word, mean": ("items_per_word(summary=mean)", float(np.mean(per_word))),
        "Pairs per word, most": ("items_per_word(summary=max)", max(per_word)),
        "Distinct sentences": ("n_sentences", len(texts)),
        "Words per sentence, mean": ("words_per_sentence(summary=mean)", words),
        "Pairs whose sentences differ in word count": (unequal["any"], differing.total() - differing[0]),
        "… by one word": (unequal[1], differing[1]),
        "… by two words": (unequal[2], differing[2]),
    }
    return {label: Estimate(name, value) for label, (name, value) in values.items()}


# -- published pairs ------------------------------------------------------------------------------------------------
# What the published pair sets have in common: ids, labels, splits, and counts that are checked when they are read.


SPLITS = ("train", "dev", "test")
"""The splits, as the condition ``split`` names them."""
TRUTHS: Mapping[str, str] = {"T": "t", "F": "f"}
"""A label as it is published and as the gold answer has it: ``t`` the same meaning, ``f`` different ones."""


def pair_item(
    item_id: str,
    usages: Sequence[Usage],
    *,
    gold: str | None,
    split: str,
    conditions: Mapping[str, Condition] | None = None,
) -> Item:
    """Return an item of a set with splits; its id begins with the name of the set.

    >>> pair_item("wic/dev/00001", [Usage("A bank", 2, 6)], gold="t", split="dev").dataset
    'wic'
    """
    own: dict[str, Condition] = {"split": split}
    return Item(item_id, item_id.split("/")[0], tuple(usages), gold=gold, conditions=own | dict(conditions or {}))


def expect_counts(name: str, items: Sequence[Item], expected: Mapping[str, int]) -> None:
    """Check how many items each split has.

    Errors: :class:`InputError` naming the set, the split and both numbers.
    """
    counts = Counter(str(item.condition("split")) for item in items)
    for split in SPLITS:
        if counts[split] != expected.get(split, 0):
            wanted = f"{name} has {expected.get(split, 0):,} items in {split}; these files hold {counts[split]:,}"
            raise InputError(wanted, hint="the files are incomplete or not the published ones: download them again")


def expect_set_aside(name: str, rows: Sequence[SetAside], expected: int) -> None:
    """Check how many published rows are not items.

    Errors: :class:`InputError` naming the set, both numbers, and the first such row.
    """
    if len(rows) != expected:
        first = f"; the first is {rows[0].path}, line {rows[0].line}: {rows[0].reason}" if rows else ""
        raise InputError(f"{name}: {expected} rows are known to be no items; here there are {len(rows)}{first}")


def card_of(
    card: DatasetCard, items: Sequence[Item], *, language: str, more: Sequence[tuple[str, int]] = ()
) -> DatasetCard:
    """Return the card of what was read of a set of several languages: *card* itself where that is what it is about.

    Counts are those of items and words, and *more*; first and last item are those of *items*.
    """
    counts = (("items", len(items)), ("words", len({item.word for item in items})), *more)
    ends = (items[0].item_id, items[-1].item_id)
    own = replace(card, language=language, counts=counts, first_item=ends[0], last_item=ends[1])
    return card if own == card else own


def checksums(files: Mapping[DataFile, FetchedFile]) -> tuple[tuple[str, str], ...]:
    """Return each file that was read with its sha256, as a dataset records them."""
    return tuple((file.path, place.sha256) for file, place in files.items())
