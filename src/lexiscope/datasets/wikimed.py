"""WikiMed: medical mentions in Wikipedia articles, linked to concepts of UMLS; to be obtained by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.items.answers.sense_options import correct_ids
from lexiscope.items.read.linked_items import linked_items, word_window
from lexiscope.resources import fetch
from lexiscope.resources.corpora.linked_json import read_wikimed

FILE = DataFile("el/wikimed/WikiMed.json")

CARD = DatasetCard(
    name="wikimed",
    title="WikiMed: medical mentions in Wikipedia and their UMLS concepts",
    task="entity_link",
    language="en",
    licence="text of Wikipedia: CC BY-SA; UMLS concepts: licence of the National Library of Medicine",
    citation=(
        "S. Vashishth et al. (2021). Improving broad-coverage medical entity linking with semantic type prediction and "
        "large-scale datasets. Journal of Biomedical Informatics 121, doi:10.1016/j.jbi.2021.103880"
    ),
    source="https://github.com/svjan5/medtype",
    version="1 (Zenodo)",
    availability="obtain",
    summary="Medical mentions in 64 words of Wikipedia text on either side, and their concepts; split by the file.",
    files=(FILE,),
    how_to_obtain=(
        "download WikiMed from Zenodo (the page https://github.com/svjan5/medtype names the record), put the file of "
        f"JSON lines at {FILE.path} in a folder and set LEXISCOPE_DATA to it, or call wikimed.load(PATH). A stand-in "
        "in the public domain is ncbi_disease"
    ),
    remarks=("Concepts are ids; a list of their names is UMLS's, which has a separate licence.",),
)


def load(path: Path | None = None) -> Dataset:
    """Return the mentions of a file, with its own splits.

    Errors: :class:`~lexiscope.core.errors.DataError` if there is no file (how to obtain one);
    :class:`~lexiscope.core.errors.InputError` with file and line for what is not in its format.
    """
    file = fetch.own_file(path) if path else fetch.locate_all(CARD)[0]
    texts = tuple(read_wikimed(file.path))
    items: list[Item] = []
    for split in dict.fromkeys(text.split for text in texts):
        part = (text for text in texts if text.split == split)
        items += linked_items(part, dataset=CARD.name, split=split or "all", shown=word_window()).items
    return Dataset(CARD, tuple(items), ResponseTable.empty(), ((FILE.path, file.sha256),))


def search_space(path: Path | None = None) -> SearchSpace:
    """Return the concepts that any mention of the file is linked to; the name is the commonest training mention.

    A concept that the training part does not have goes by its id.
    Errors: those of :func:`load`.
    """
    names: dict[str, Counter[str]] = {}
    for item in load(path).items:
        for concept in correct_ids(item):
            counts = names.setdefault(concept, Counter())
            if item.conditions["split"] == "train":
                counts[item.usages[0].target.lower()] += 1
    named = {concept: counts.most_common(1)[0][0] if counts else concept for concept, counts in names.items()}
    return SearchSpace("concepts of wikimed", tuple(Entry(concept, named[concept]) for concept in sorted(named)))
