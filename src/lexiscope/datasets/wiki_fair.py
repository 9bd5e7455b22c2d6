"""Wiki-Fair v2: mentions of all kinds, common nouns too, in paragraphs of 120 Wikipedia articles."""

from __future__ import annotations

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.read.linked_items import elevant_set, elevant_space

_VERSION = "8df933fa0a8f54e3e682dc124761c01d48484359"
FILE = DataFile(
    "el/elevant/wiki-fair-v2.benchmark.jsonl",
    f"https://raw.githubusercontent.com/ad-freiburg/elevant/{_VERSION}/benchmarks/wiki-fair-v2.benchmark.jsonl",
    "540c79437b2cd03140c48ebfa6298e8c36077cc98b1e0fb1d144fa5906e2afce",
)

CARD = DatasetCard(
    name="wiki_fair",
    title="Wiki-Fair v2: entities in Wikipedia paragraphs",
    task="entity_link",
    language="en",
    licence="Apache-2.0 (the benchmark files of ELEVANT); text of Wikipedia: CC BY-SA",
    citation=(
        "H. Bast, M. Hertel, N. Prange (2023). A Fair and In-Depth Evaluation of Existing End-to-End Entity Linking "
        "Systems. EMNLP 2023"
    ),
    source="https://github.com/ad-freiburg/elevant",
    version=_VERSION,
    availability="download",
    summary="2,344 mentions in paragraphs of 120 articles, each with its Wikidata id.",
    files=(FILE,),
    counts=(("items", 2_344), ("words", 1_446), ("sentences", 1_905)),
    first_item="wiki_fair/test/2779825/1",
    last_item="wiki_fair/test/32251441/36",
    remarks=(
        "1,027 of 3,371 labels have no id of Wikidata (dates, quantities, unknown entities) and are not items.",
        "Mentions may lie in each other (a duke's name and the duchy in it), and a few lie inside a word.",
    ),
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
