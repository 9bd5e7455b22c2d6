"""KORE50: 50 sentences made to be hard for entity linking (first names, surnames, places that stand for clubs)."""

from __future__ import annotations

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.read.linked_items import elevant_set, elevant_space

_VERSION = "8df933fa0a8f54e3e682dc124761c01d48484359"
FILE = DataFile(
    "el/elevant/kore50.benchmark.jsonl",
    f"https://raw.githubusercontent.com/ad-freiburg/elevant/{_VERSION}/benchmarks/kore50.benchmark.jsonl",
    "a9cf70d7aef91c2c54e83a5e6ddc50532b1b7f98ad22a738a22596d5106610da",
)

CARD = DatasetCard(
    name="kore50",
    title="KORE50: hard mentions of persons, groups and places",
    task="entity_link",
    language="en",
    licence="Apache-2.0 (the benchmark files of ELEVANT); the annotations of KORE50: CC BY-SA 3.0",
    citation=(
        "J. Hoffart, S. Seufert, D. B. Nguyen, M. Theobald, G. Weikum (2012). KORE: Keyphrase Overlap Relatedness for "
        "Entity Disambiguation. CIKM 2012, 545-554; in the form of H. Bast, M. Hertel, N. Prange (2022). ELEVANT. "
        "EMNLP 2022 demonstrations"
    ),
    source="https://github.com/ad-freiburg/elevant",
    version=_VERSION,
    availability="download",
    summary="143 mentions in 50 sentences, each with its Wikidata id.",
    files=(FILE,),
    counts=(("items", 143), ("words", 127), ("sentences", 50)),
    first_item="kore50/test/0/1",
    last_item="kore50/test/49/2",
    remarks=("One of 144 labels has no id of Wikidata, so it has no item.",),
)


def load() -> Dataset:
    """Return the linked mentions as test items.

    Errors: :class:`~lexiscope.core.errors.DataError` for a file that is missing or not the published one.
    """
    return elevant_set(CARD)


def search_space() -> SearchSpace:
    """Return the entities that any mention of the set is linked to: Wikidata id and name.

    Errors: those of :func:`load`.
    """
    return elevant_space(CARD)
