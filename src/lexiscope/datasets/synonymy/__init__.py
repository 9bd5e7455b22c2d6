"""Synonymy: a word that keeps the meaning of a noun in its sentence against words that do not; three models' outcomes.

200 curated items of Ivan, Ramisch and Nasr, each in eight suites and two conditions.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset
from lexiscope.core.errors import InputError
from lexiscope.datasets.synonymy.card import CARD, CURATED, ITEMS, NEGATIVES, OUTCOMES, SUBJECTS
from lexiscope.datasets.synonymy.reading import read_collection, read_outcomes
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets
from lexiscope.items.choice_sets.surface import ArticleRule, Mode
from lexiscope.resources.fetch import locate

__all__ = ["CARD", "SUBJECTS", "collection", "load"]


def load(folder: Path | None = None, *, mode: Mode = "clean") -> Dataset:
    """Load all choice sets and the outcomes of OLMo-1B, OLMo-7B and Amber.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache. *mode* is ``clean`` or
    ``published``: the texts as they were released, flaws included. The outcomes, rows of measure ``correct``, were
    recorded on the published texts; the joint conditions are the products of their parts and are not stored.
    Errors: :class:`DataError` for a file that is missing or not the pinned one; :class:`InputError` with file and line
    for a row that contradicts another; :class:`SpecError` for an unknown mode.
    """
    items = choice_sets(collection(folder), mode=mode, dataset=CARD.name)
    responses = read_outcomes(_path(OUTCOMES, folder), items)
    checksums = tuple((file.path, file.sha256 or "") for file in (CURATED, ITEMS, NEGATIVES, OUTCOMES))
    return _counted(Dataset(CARD, items, responses, checksums, SUBJECTS), mode)


def collection(folder: Path | None = None, *, article: ArticleRule = "letter") -> tuple[SynonymItem, ...]:
    """Return the 200 items, from which suites of one's own are made.

    ``extra`` of an item holds the other columns of its file, among them ``token_delta``: tokens of the synonym minus
    tokens of the distractor, by OLMo-1B's tokenizer, as released. *article*: whether an article before an inserted word
    follows its letter (as in the figures that were published) or its sound.
    Errors: those of :func:`load`.
    """
    curated, items, negatives = (_path(file, folder) for file in (CURATED, ITEMS, NEGATIVES))
    return read_collection(curated, items, negatives, article=article)


def _path(file: DataFile, folder: Path | None) -> Path:
    return locate(file, dataset=CARD.name, folder=folder, how_to_obtain=CARD.how_to_obtain).path


def _counted(dataset: Dataset, mode: Mode) -> Dataset:
    found = {"items": len(dataset.items)}
    if mode == "clean":
        found["words"] = len({item.word for item in dataset.items})
        found["sentences"] = len({usage.text for item in dataset.items for usage in item.usages})
    for name, number in found.items():
        if number != CARD.count(name):
            raise InputError(f"{CARD.name} has {CARD.count(name)} {name}; these files hold {number}")
    return dataset
