"""Planted bias: 3,800 pairs of sentences with nonsense words, in which we decided what part tells the answer (CC0).

The items are made when they are loaded, from five numbers that are embedded (:mod:`lexiscope.build.planted.bias` says
how). Six of ten contexts tell the answer alone, three of ten words do: a learner that learns everything has a context
bias of .6 and a word bias of .3. So a measure of bias can be tried on a fresh machine, without a network, and be
compared with the truth. The items have no human answers: the words mean nothing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.resources import fetch

DIALS = DataFile("mini/planted_bias.json", sha256="1cd7552ccc45936a5d4d452ee4aefc7a85ae3e8bf382241149779a7928b8e870")

OPTIONS = ("context_sufficiency", "word_sufficiency", "seed")

CARD = DatasetCard(
    name="planted_bias",
    title="Planted bias (nonsense words in English sentences)",
    task="same_sense",
    language="en",
    licence="CC0-1.0",
    citation="Lexiscope contributors. Planted bias, version 1.",
    source="generated for Lexiscope",
    version="1",
    availability="embedded",
    summary="3,800 pairs; the context alone tells the answer of 6 in 10, the word alone of 3 in 10; no answers.",
    files=(DIALS,),
    counts=(("items", 3800), ("words", 48), ("sentences", 384)),
    first_item="planted_bias/train/1",
    last_item="planted_bias/test/1000",
    remarks=(
        "A benchmark of the measurement, not of word meaning: the words mean nothing, and all splits share them.",
        "Context bias .6 and word bias .3 are what a learner reaches that learns everything; a real one may not.",
        "The condition context_tells or word_tells says which part gives the answer; no subject is shown it.",
        "With other dials: planted_bias?context_sufficiency=0.2&word_sufficiency=0.9 (and seed, a whole number).",
    ),
)


def load(
    *,
    context_sufficiency: float | str | None = None,
    word_sufficiency: float | str | None = None,
    seed: int | str | None = None,
) -> Dataset:
    """Return the items of the embedded dials, or of others; :func:`planted_items` varies their numbers too.

    Errors: :class:`DataError` where the embedded file was changed; :class:`InputError` for a dial that is no share.
    """
    given = {"context_sufficiency": context_sufficiency, "word_sufficiency": word_sufficiency, "seed": seed}
    turned = {name: _parse_number(name, value) for name, value in given.items() if value is not None}
    items = planted_items(replace(embedded_dials(), **turned), dataset=CARD.name)
    return Dataset(CARD, items, ResponseTable.empty(), ((DIALS.path, DIALS.sha256 or ""),))


def embedded_dials() -> Dials:
    """Return the dials of the embedded dataset.

    Errors: :class:`DataError` where the embedded file was changed.
    """
    read = json.loads(fetch.locate_embedded(DIALS, "dials").read_text(encoding="utf-8"))
    return Dials(**{**read, "splits": tuple(read["splits"].items())})


def _parse_number(name: str, value: float | str) -> Any:
    """Return a dial that may have been given as text."""
    try:
        return int(value) if name == "seed" else float(value)
    except ValueError as error:
        raise InputError(f"{name} is a number, not {value!r}", hint=f"write {CARD.name}?{name}=1") from error
