"""Wikification: a sample of Wikipedia links, divided by sentence: 50,000 to test, 50,000 for dev, the rest to train.

The sample of the context–word bias study was never released: this reads any file of links in BLINK's format and draws
again, with a seed. ``wned_wiki.draw_sample`` divides open text in the same way.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.items.answers.sense_options import join_ids
from lexiscope.items.arrange.splits import split_by_sentence
from lexiscope.resources import fetch
from lexiscope.resources.corpora.linked_json import read_blink

FILE = DataFile("el/wikification/links.jsonl")
N_TEST, N_DEV = 50_000, 50_000

CARD = DatasetCard(
    name="wikification",
    title="Wikification: links of Wikipedia, sampled by sentence",
    task="entity_link",
    language="en",
    licence="text of Wikipedia: CC BY-SA",
    citation=(
        "the context–word bias study, §2.1; format: L. Wu, F. Petroni, M. Josifoski, S. Riedel, L. Zettlemoyer (2020). "
        "Scalable Zero-shot Entity Linking with Dense Entity Retrieval. EMNLP 2020, 6397-6407"
    ),
    source="https://github.com/facebookresearch/BLINK",
    version="the user's own",
    availability="obtain",
    summary="A link of Wikipedia in its text and its page; 50,000 sentences to test, 50,000 for dev, drawn by seed.",
    files=(FILE,),
    how_to_obtain=(
        "the study's sample was not released. Take links of Wikipedia as JSON lines (context_left, mention, "
        f"context_right, label_id, label_title, label), one link per line; put them at {FILE.path} in a folder and set "
        "LEXISCOPE_DATA to it, or call wikification.load(PATH). wned_wiki?sample=0 is a small stand-in of open text"
    ),
    remarks=(
        "Links with the same text on both sides share a sentence, and stay in one part.",
        "The numbers of sentences and the seed are arguments; no count of the study can be reproduced.",
    ),
)


def load(path: Path | None = None, *, n_test: int = N_TEST, n_dev: int = N_DEV, seed: int = 0) -> Dataset:
    """Return the links of a file, divided by sentence (the condition ``split``).

    Errors: :class:`~lexiscope.core.errors.DataError` if there is no file (how to obtain one);
    :class:`~lexiscope.core.errors.InputError` with file and line for what is not in its format, and for fewer sentences
    than the parts need.
    """
    file = fetch.own_file(path) if path else fetch.locate_all(CARD)[0]
    items = []
    for number, link in enumerate(read_blink(file.path), start=1):
        usage = Usage(link.text, link.start, link.end, language="en")
        item_id = f"{CARD.name}/{number}"
        items.append(
            Item(item_id, CARD.name, (usage,), gold=join_ids([link.page_id]), conditions={"sentence": link.text})
        )
    drawn = split_by_sentence(items, n_test=n_test, n_dev=n_dev, seed=seed)
    return Dataset(CARD, drawn, ResponseTable.empty(), ((FILE.path, file.sha256),))


def search_space(path: Path | None = None) -> SearchSpace:
    """Return the pages that any link of the file leads to: id, title, description.

    Errors: those of :func:`load`.
    """
    source = path or fetch.locate_all(CARD)[0].path
    pages = {link.page_id: Entry(link.page_id, link.title, link.description) for link in read_blink(source)}
    return SearchSpace("pages of wikification", tuple(pages[page_id] for page_id in sorted(pages)))
