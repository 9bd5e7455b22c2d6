"""Mini synonymy items: 40 English nouns in plain sentences, written for Lexiscope (CC0), in the eight suites.

Each item has a synonym of the target's sense in its sentence, a synonym of another sense, and ten random nouns drawn by
the rule of :mod:`lexiscope.build.minimal_pairs.word_counts` from a list of 122. The items are embedded, so that a
language model can be tried on a fresh machine without a network. They have not been answered: there are no human
answers here.
"""

from __future__ import annotations

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.items.choice_sets.collection_file import read_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets
from lexiscope.resources import fetch

ITEMS = DataFile("mini/synonymy_en.csv", sha256="1c70d2613394a35b4b4fc00306100578676178f43a6ca57585608e2efe103c8e")
NOUNS = DataFile(
    "mini/synonymy_nouns_en.txt", sha256="cc9edad6866faf890590d479d52540fc752fe23877bdac341c57de5c0a04232e"
)

CARD = DatasetCard(
    name="mini_synonymy",
    title="Mini synonymy items (English)",
    task="minimal_pair",
    language="en",
    licence="CC0-1.0",
    citation="Lexiscope contributors. Mini synonymy items, version 1.",
    source="written for Lexiscope, after the design of the synonymy study, §3",
    version="1",
    availability="embedded",
    summary="40 items: a noun in a sentence, a right and a wrong synonym, ten random nouns; eight suites; no answers.",
    files=(ITEMS, NOUNS),
    counts=(("items", 640), ("words", 71), ("sentences", 3_801)),
    first_item="mini_synonymy/01/relation_no_context/is_a_synonym_of/correct_vs_random",
    last_item="mini_synonymy/40/relation/is_the_same_as/random",
    remarks=(
        "No one has answered these items: they show how the tools work. 40 items tell little about a model.",
        "Five targets occur twice, in two senses: bill, court, ring, spring and stock.",
        "Synonym and distractor are in different WordNet 3.0 synsets of the target; the glosses are ours.",
        "The random nouns are rarer than the synonyms: compare the random conditions with a frequency baseline.",
    ),
)


def load() -> Dataset:
    """Return all choice sets: 16 of each of the 40 items.

    Errors: :class:`DataError` where an embedded file was changed.
    """
    items = choice_sets(collection(), dataset=CARD.name)
    checksums = tuple((file.path, sha256_of(fetch.locate_embedded(file, "items"))) for file in CARD.files)
    return Dataset(CARD, items, ResponseTable.empty(), checksums)


def collection() -> tuple[SynonymItem, ...]:
    """Return the 40 items, from which a user makes other suites; ``extra`` holds the gloss of the target's sense.

    Errors: :class:`DataError` where the embedded file was changed.
    """
    return read_collection(fetch.locate_embedded(ITEMS, "items"))


def nouns() -> tuple[str, ...]:
    """Return the nouns of which the random ones were drawn.

    Errors: :class:`DataError` where the embedded file was changed.
    """
    return tuple(fetch.locate_embedded(NOUNS, "items").read_text(encoding="utf-8").split())
