"""WNED-Wiki: mentions in 319 Wikipedia articles, linked to their pages; open text, and a stand-in for Wikification.

A mention in its sentence, and the title of its page. :func:`load` has them all as test items; :func:`draw_sample`
divides them by sentence as the Wikification sample of the context–word bias study was divided, which was never
released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.answers.sense_options import correct_ids
from lexiscope.items.arrange.splits import split_by_sentence
from lexiscope.items.read.linked_items import linked_items, mention_sentence, set_aside
from lexiscope.resources import fetch
from lexiscope.resources.corpora.linked_json import read_zelda

_VERSION = "04627bdefb1c1094ac43b1cb1678d66067aa562c"
FILE = DataFile(
    "el/wned_wiki/test_wned-wiki.jsonl",
    f"https://raw.githubusercontent.com/flairNLP/zelda/{_VERSION}/test_data/jsonl/test_wned-wiki.jsonl",
    "013ba9c3e03d41b5d050562c11af0d3ea98dfd74d3d40fffd84ba9531b38f41b",
)
OPTIONS = ("sample",)
"""What may follow the name: ``wned_wiki?sample=0`` divides the items by sentence, drawn with this seed."""

CARD = DatasetCard(
    name="wned_wiki",
    title="WNED-Wiki: mentions in Wikipedia articles and their pages",
    task="entity_link",
    language="en",
    licence="text of Wikipedia: CC BY-SA",
    citation=(
        "Z. Guo, D. Barbosa (2018). Robust named entity disambiguation with random walks. Semantic Web 9(4), 459-479; "
        "in the form of M. Milich, A. Akbik (2023). ZELDA: A Comprehensive Benchmark for Supervised Entity "
        "Disambiguation. EACL 2023"
    ),
    source="https://github.com/flairNLP/zelda",
    version=_VERSION,
    availability="download",
    summary="6,743 mentions in the sentences of 319 articles, each with the title of its Wikipedia page.",
    files=(FILE,),
    counts=(("items", 6_743), ("words", 5_066), ("sentences", 2_834), ("set_aside", 22)),
    first_item="wned_wiki/test/Frank_S._Pepper/1",
    last_item="wned_wiki/test/2009_Superfinalen/20",
    remarks=(
        "22 of 6,765 mentions are not at their offsets and are set aside: 19 of the article Jiří Třanovský, whose "
        "offsets were counted in other characters, and three that begin with a space.",
        "Some 170 mentions end inside a word (*story paper* in *story papers*): links of Wikipedia do.",
        "Sentences are found by rule (items.sentence_count), not by hand.",
    ),
)


def load(*, sample: str = "") -> Dataset:
    """Return all mentions as test items; with *sample*, a seed, divided by sentence as :func:`draw_sample` does.

    Errors: :class:`~lexiscope.core.errors.DataError` for a file that is missing or not the published one;
    :class:`SpecError` for a seed that is no whole number.
    """
    if sample and not sample.isdecimal():
        raise SpecError(f"{sample!r} is not a seed of a sample", hint="write wned_wiki?sample=0")
    if sample:
        whole = load()
        return replace(whole, items=draw_sample(whole.items, seed=int(sample)))
    file = fetch.locate(FILE, dataset=CARD.name)
    texts = tuple(read_zelda(file.path))
    items = linked_items(texts, dataset=CARD.name, split="test", shown=mention_sentence()).items
    aside = set_aside((mention for text in texts for mention in text.misplaced), FILE.path)
    return Dataset(CARD, items, ResponseTable.empty(), ((FILE.path, file.sha256),), set_aside=aside)


def draw_sample(items: Sequence[Item], *, n_test: int = 600, n_dev: int = 600, seed: int = 0) -> tuple[Item, ...]:
    """Return the items divided by sentence into test, dev and train (the condition ``split``), drawn with *seed*.

    It replaces the Wikification sample (50,000 sentences each for test and dev).
    Errors: those of :func:`~lexiscope.items.arrange.splits.split_by_sentence`.
    """
    return split_by_sentence(items, n_test=n_test, n_dev=n_dev, seed=seed)


def search_space() -> SearchSpace:
    """Return the pages that are right for any mention, by title; there are no descriptions.

    Errors: those of :func:`load`.
    """
    return SearchSpace.of_pages("pages of wned_wiki", (page for item in load().items for page in correct_ids(item)))
