"""Usages of the mini relatedness nouns with their two glosses, for tests only: which sense has each usage?

A dataset by path of the task *sense disambiguation*: the senses were written with the sentences, nobody annotated them.
"""

from __future__ import annotations

from collections.abc import Iterator

from lexiscope import Dataset, DatasetCard
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.datasets import mini_relatedness

CARD = DatasetCard(
    name="made_senses",
    title="Senses of the mini nouns",
    task="sense_disambiguation",
    language="en",
    licence="CC0-1.0",
    citation="Lexiscope contributors. Senses of the mini nouns, for tests.",
    source="made by rule",
    version="1",
    availability="embedded",
    summary="120 usages of 30 nouns, each with two glosses.",
)
_SPLITS = ("train", "dev", "train", "test")


def load() -> Dataset:
    """Return the usages; of each noun one of each sense to learn from, one to choose by, one to be tested."""
    return Dataset(CARD, tuple(_items()), ResponseTable.empty())


def _items() -> Iterator[Item]:
    stimuli = mini_relatedness.stimuli("en")
    for word in dict.fromkeys(each.usage.lemma for each in stimuli):
        own = [each for each in stimuli if each.usage.lemma == word]
        glosses = {f"{word}#{each.usage.sense}": str(each.about_sentence["gloss"]) for each in own}
        # of nouns with an odd number of letters the second sense is tested, of the others the first
        turned = own if len(word) % 2 else own[::-1]
        for split, each in zip(_SPLITS, turned, strict=True):
            conditions = {"split": split, "glosses": "|".join(glosses.values())}
            yield Item(
                f"{CARD.name}/{each.stimulus_id}", CARD.name, (each.usage,), tuple(glosses),
                gold=f"{word}#{each.usage.sense}", conditions=conditions,
            )  # fmt: skip
