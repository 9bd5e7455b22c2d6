"""NCBI Disease: diseases in PubMed abstracts, linked to MeSH and OMIM; a public-domain stand-in for the medical domain.

A mention in 64 words on either side, and its concepts: if the annotators gave several, each is correct. WikiMed and
COMETA, the medical sets of the context–word bias study, must be obtained by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard, SetAside
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.items.answers.sense_options import correct_ids
from lexiscope.items.read.linked_items import linked_items, set_aside, word_window
from lexiscope.resources import fetch
from lexiscope.resources.corpora.linked_text import read_pubtator

_VERSION = "5a266c6fc76fb2b5184cfa397ff0a5ecdb133aec"
_AT = f"https://raw.githubusercontent.com/spyysalo/ncbi-disease/{_VERSION}/original-data"
FILES = {
    "train": DataFile(
        "el/ncbi_disease/NCBItrainset_corpus.txt",
        f"{_AT}/train/NCBItrainset_corpus.txt",
        "f311381b28a6d0f641f57f4a963bb83619c2bdec5cd9caabb1381f894d5db817",
    ),
    "dev": DataFile(
        "el/ncbi_disease/NCBIdevelopset_corpus.txt",
        f"{_AT}/devel/NCBIdevelopset_corpus.txt",
        "02db559974624ae9cbe6cd95d64d953e6926bb63afb6b25b63e53bd8b41a4b55",
    ),
    "test": DataFile(
        "el/ncbi_disease/NCBItestset_corpus.txt",
        f"{_AT}/test/NCBItestset_corpus.txt",
        "61c8050bf6979ef7b943ec1158dfc03b651ea3367d4c37356f9de4841e85c9a3",
    ),
}

CARD = DatasetCard(
    name="ncbi_disease",
    title="NCBI Disease: diseases in abstracts and their concepts",
    task="entity_link",
    language="en",
    licence="public domain (a work of the government of the United States)",
    citation=(
        "R. I. Doğan, R. Leaman, Z. Lu (2014). NCBI disease corpus: A resource for disease name recognition and "
        "concept normalization. Journal of Biomedical Informatics 47, 1-10, doi:10.1016/j.jbi.2013.12.006"
    ),
    source="https://www.ncbi.nlm.nih.gov/CBBresearch/Dogan/DISEASE",
    version=f"as in spyysalo/ncbi-disease {_VERSION}",
    availability="download",
    summary="6,891 mentions of diseases in 792 abstracts (train, dev, test), linked to MeSH and OMIM.",
    files=tuple(FILES.values()),
    counts=(("items", 6_891), ("words", 2_135), ("sentences", 6_758), ("set_aside", 1)),
    first_item="ncbi_disease/train/10192393/1",
    last_item="ncbi_disease/test/9988281/11",
    remarks=(
        "One mention of the training part is not at its offsets and is set aside: 'generalized epilepsy and "
        'febrile seizures " plus "\' of abstract 10923035 is written with two spaces at its end.',
        "Abstract 8528200 occurs in the training file twice; its second copy has ids with ~2.",
        "The ids of a composite mention (colon and some other cancers) are given together: any of them is right.",
        "Concepts have no names in these files: the search space names them by their commonest mention in the training "
        "part, others by their id.",
        "Two mentions lie inside a word (disorder in disorders).",
    ),
)


def load() -> Dataset:
    """Return the mentions of all three parts.

    Errors: :class:`~lexiscope.core.errors.DataError` for a file that is missing or not the published one.
    """
    items: list[Item] = []
    aside: list[SetAside] = []
    checksums = []
    for split, file in FILES.items():
        located = fetch.locate(file, dataset=CARD.name)
        checksums.append((file.path, located.sha256))
        texts = tuple(read_pubtator(located.path))
        items += linked_items(texts, dataset=CARD.name, split=split, shown=word_window()).items
        aside += set_aside((mention for text in texts for mention in text.misplaced), file.path)
    return Dataset(CARD, tuple(items), ResponseTable.empty(), tuple(checksums), set_aside=tuple(aside))


def search_space() -> SearchSpace:
    """Return all concepts of the corpus, by id; the name is the commonest training mention, or the id.

    Errors: those of :func:`load`.
    """
    items = load().items
    names = dict(_concept_names(item for item in items if item.conditions["split"] == "train"))
    ids = sorted({concept for item in items for concept in correct_ids(item)})
    return SearchSpace(
        "concepts of ncbi_disease", tuple(Entry(concept, names.get(concept, concept)) for concept in ids)
    )


def _concept_names(items: Iterable[Item]) -> Iterator[tuple[str, str]]:
    """The commonest mention of each concept; mentions of several concepts name none."""
    mentions: dict[str, Counter[str]] = {}
    for item in items:
        if len(ids := correct_ids(item)) == 1:
            mentions.setdefault(next(iter(ids)), Counter())[item.usages[0].target.lower()] += 1
    for concept, counts in mentions.items():
        # most_common keeps the order of first appearance among equals
        yield concept, counts.most_common(1)[0][0]
