"""Simulated ratings of the mini ambiguous stories, for tests only: nobody gave them.

A dataset by path: 6 simulated participants in two groups rate all samples from 1 to 5. The meaning that the ending
intends is rated around 4, the other one around 2, both meanings of an open story around 3; each sample is shifted by up
to 0.5 and each rating by up to 1, then rounded and cut to the scale. Shifts follow from a checksum of the ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from zlib import crc32

from lexiscope import Dataset, Scale
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.datasets import mini_ambistory

CARD = replace(
    mini_ambistory.CARD,
    name="simulated_stories",
    title="Simulated ratings of the mini ambiguous stories",
    source="made by rule",
    summary="Ratings of 6 simulated participants.",
    remarks=("Simulated participants: nobody gave these ratings.",),
    scale=Scale(1, 5),
)
PARTICIPANTS = tuple(f"simulated-{group}-{place}" for group in "ab" for place in (1, 2, 3))
_CENTRES = {"intended": 4.0, "unintended": 2.0, "open": 3.0}


def load() -> Dataset:
    """Return the 144 samples with their simulated ratings."""
    loaded = mini_ambistory.load()
    return Dataset(CARD, loaded.items, ResponseTable.from_rows(_ratings(loaded.items)), loaded.checksums)


def _ratings(items: tuple[Item, ...]) -> Iterator[Response]:
    for who in PARTICIPANTS:
        for item in items:
            centre = _CENTRES[str(item.condition("intention"))]
            value = centre + 0.5 * _shift(item.item_id) + _shift(f"{who} {item.item_id}")
            rating = min(5.0, max(1.0, float(round(value))))
            yield Response(who, "simulated", item.item_id, CARD.task, "rating", rating, view="full")


def _shift(text: str) -> float:
    """A number between -1 and 1 that follows from a text."""
    return crc32(text.encode()) / 2**31 - 1
