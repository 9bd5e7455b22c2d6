"""Simulated ratings of the mini relatedness items, for tests only: nobody gave them.

A dataset by path. 14 simulated participants rate the pairs of 10 English and 5 Spanish nouns from 1 to 5. A pair of one
sense is rated around 4.3, a pair of two senses around 2.1; each word, pair and participant is shifted by up to 0.6, and
each rating by up to 1.2, then rounded and cut to the scale. Shifts follow from a checksum of the ids, so that every
machine has the same ratings.

Four made-up encoders of three layers stand beside them: their distances follow the same rule for words and pairs, with
noise that falls with the layer and with the size that the facts name.

``?of=words`` is another set: 40 pairs of single words with ratings of the same participants.
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from lexiscope import Dataset, DatasetCard, Scale
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.datasets import mini_relatedness

OPTIONS = ("of",)
CARD = DatasetCard(
    name="simulated_relatedness",
    title="Simulated ratings of the mini relatedness items",
    task="relatedness",
    language="en, es",
    licence="CC0-1.0",
    citation="Lexiscope contributors. Simulated ratings, for tests.",
    source="made by rule",
    version="1",
    availability="embedded",
    summary="Ratings of 14 simulated participants.",
    remarks=("Simulated participants: nobody gave these ratings.",),
    scale=Scale(1, 5),
)
PARTICIPANTS = tuple(f"simulated-{n:02}" for n in range(1, 15))
LAYERS = (0, 1, 2)
ENCODERS = (
    SubjectFacts("made/small", family="made", multilingual=False, n_layers=3, n_parameters=1_000_000),
    SubjectFacts("made/medium", family="made", multilingual=False, n_layers=3, n_parameters=10_000_000),
    SubjectFacts("made/large", family="made", multilingual=False, n_layers=3, n_parameters=100_000_000),
    SubjectFacts("made/other", family="other", multilingual=True, n_layers=3, n_parameters=30_000_000),
)
_NOUNS = {"en": 10, "es": 5}
_PAIRS_OF_A_NOUN = 6


def load(*, of: str = "usages") -> Dataset:
    """Return the pairs of usages (or of words) with their simulated ratings."""
    if of == "words":
        words = tuple(_words())
        return Dataset(CARD, words, ResponseTable.from_rows(_ratings(words)))
    items = tuple(
        item
        for language, nouns in _NOUNS.items()
        for item in mini_relatedness.load(language).items[: nouns * _PAIRS_OF_A_NOUN]
    )
    rows = (*_ratings(items), *_distances(items))
    return Dataset(CARD, items, ResponseTable.from_rows(rows), subjects=ENCODERS)


def _words() -> Iterator[Item]:
    nouns = list(dict.fromkeys(item.word for item in mini_relatedness.load("en").items))
    for step in (1, 2):
        for one, other in zip(nouns[:20], nouns[step:], strict=False):
            usages = tuple(Usage(word, 0, len(word), lemma=word, language="en") for word in (one, other))
            yield Item(f"words/{one}-{other}", CARD.name, usages)


def _ratings(items: tuple[Item, ...]) -> Iterator[Response]:
    for who in PARTICIPANTS:
        for item in items:
            value = _nearness(item) + 0.6 * _shift(who) + 1.2 * _shift(f"{who} {item.item_id}")
            rating = min(5.0, max(1.0, float(round(value))))
            yield Response(who, "simulated", item.item_id, CARD.task, "rating", rating, view="full")


def _distances(items: tuple[Item, ...]) -> Iterator[Response]:
    for facts in ENCODERS:
        for layer in LAYERS:
            noise = 60 / (1 + layer) / len(str(facts.n_parameters)) ** 2
            for item in items:
                value = 1 - _nearness(item) / 6 + noise * _shift(f"{facts.subject_id} {layer} {item.item_id}")
                yield Response(
                    facts.subject_id, "encoder", item.item_id, CARD.task, "cosine_distance", value,
                    layer=layer, view="full",
                )  # fmt: skip


def _nearness(item: Item) -> float:
    centre = 4.3 if item.conditions.get("same_sense") else 2.1
    return centre + 0.6 * _shift(item.word) + 0.6 * _shift(item.item_id)


def _shift(text: str) -> float:
    """A number between -1 and 1 that follows from a text."""
    return crc32(text.encode()) / 2**31 - 1
