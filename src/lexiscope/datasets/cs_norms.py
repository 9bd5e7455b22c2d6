"""Contextualized Sensorimotor Norms: how strongly is a word in a sentence experienced by seeing, hearing, acting?

The 448 sentences are those of RAW-C. Each participant rated about 54 sentences, either on the six dimensions of
perception or on the five of action. ``cs_norms?dimension=vision`` is one of the eleven.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage, locate, occurrences
from lexiscope.items.arrange.pairs import checksums
from lexiscope.resources import fetch
from lexiscope.resources.tables.delimited import DelimitedTable, read_csv

__all__ = ["CARD", "DIMENSIONS", "OPTIONS", "load", "read_ratings", "read_usages"]

VERSION = "713a12f0682b5b237f0a5e590cef501025cff140"
_UPSTREAM = f"https://raw.githubusercontent.com/seantrott/cs_norms/{VERSION}/data/processed"
OPTIONS = ("dimension",)
"""What may be asked for behind a question mark: ``cs_norms?dimension=vision``."""


def _file(name: str, sha256: str) -> DataFile:
    return DataFile(f"cs_norms/{name}", f"{_UPSTREAM}/{name}", sha256)


PERCEPTION = _file(
    "subject-level_perceptual_norms.csv", "2f67afc11b71997cc96b2b45b8bca05a6bd31b60ad8c941b931d7d8dffefd0cd"
)
ACTION = _file("subject-level_action_norms.csv", "0b58ef120b9662cda844184f7d9f32cf359210816122dba02ed78c76c7a520bc")
NORMS = _file(
    "contextualized_sensorimotor_norms.csv", "297c0ec610daf4ae371dbb9b217344f9a72c4996231956c49807a1f1c9530e14"
)
_ASKED = ("", "subject", "word", "context", "sentence", "string")
_COLUMNS = {
    PERCEPTION: ("Vision", "Hearing", "Taste", "Olfaction", "Touch", "Interoception"),
    ACTION: ("Head", "Hand_arm", "Foot_leg", "Torso", "Mouth_throat"),
}
_WAYS = {
    "Vision": "seeing",
    "Hearing": "hearing",
    "Taste": "tasting",
    "Olfaction": "smelling",
    "Touch": "feeling through touch",
    "Interoception": "sensations inside the body",
    "Head": "an action of the head, without the mouth",
    "Hand_arm": "an action of the hand or arm",
    "Foot_leg": "an action of the foot or leg",
    "Torso": "an action of the torso",
    "Mouth_throat": "an action of the mouth or throat",
}
DIMENSIONS = {name.casefold(): name for name in _WAYS}
"""The dimensions by the names that ``dimension`` takes, with their published columns."""
# the publisher computed the norms in another program: their last digits differ
_NOISE = 1e-12
SCALE = Scale(0, 5)

CARD = DatasetCard(
    name="cs_norms",
    title="Contextualized Sensorimotor Norms",
    task="sensorimotor",
    language="en",
    licence="none stated by the publisher; use for research with citation, not redistributed here",
    citation=(
        "S. Trott, B. Bergen (2022). Contextualized Sensorimotor Norms: multi-dimensional measures of sensorimotor "
        "strength for ambiguous English words, in context. arXiv:2203.05648."
    ),
    source="https://github.com/seantrott/cs_norms",
    version=VERSION,
    availability="download",
    summary=(
        "How strongly people experience what an ambiguous English word means in a sentence through each of six senses "
        "and five parts of the body: single ratings of RAW-C's 448 sentences."
    ),
    files=(PERCEPTION, ACTION, NORMS),
    counts=(("items", 4_928), ("words", 112), ("sentences", 448), ("participants", 283), ("trials", 83_837)),
    first_item="cs_norms/act/M2_b/vision",
    last_item="cs_norms/yard/M2_b/mouth_throat",
    remarks=(
        f"An item is a sentence and a dimension; cs_norms?dimension=NAME is one of {', '.join(DIMENSIONS)}. Compute "
        "agreement and ceilings for one dimension: over all, they also hold the differences between dimensions.",
        "132 participants rated perception (7,137 sentences, 52 to 56 each), 151 others action (8,203).",
        "A sentence has 10 to 46 ratings of perception and 12 to 38 of action.",
        "The published means and standard deviations are those of these ratings; this is checked when they are read.",
        "The question and the ways of experience are in Lexiscope's words; those that participants read are not in "
        "the published files.",
    ),
    scale=SCALE,
)


def load(folder: Path | None = None, *, dimension: str = "") -> Dataset:
    """Load the sentences and all ratings of all dimensions, or of one *dimension*.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`SpecError` for another dimension; :class:`DataError` for a file that is missing or not the published
    one; :class:`InputError` with file and line for a row that contradicts another.
    """
    if dimension and dimension not in DIMENSIONS:
        raise SpecError(f"cs_norms has no dimension {dimension!r}", hint=f"use one of {', '.join(DIMENSIONS)}")
    located = {file: fetch.locate(file, dataset=CARD.name, folder=folder) for file in CARD.files}
    norms = read_csv(located[NORMS].path)
    norms.distinct("word", "context")
    usages = read_usages(read_csv(located[PERCEPTION].path, (*_ASKED, *_COLUMNS[PERCEPTION])), norms)
    kept = [column for name, column in DIMENSIONS.items() if dimension in ("", name)]
    answers = []
    for file, columns in _COLUMNS.items():
        table = read_csv(located[file].path, (*_ASKED, *columns))
        answers += [read_ratings(table, column, norms, usages) for column in columns if column in kept]
    items = tuple(
        Item(_item_id(usage, column), CARD.name, (usage,), conditions={"dimension": column.casefold(), "way": way})
        for usage in usages.values()
        for column, way in _WAYS.items()
        if column in kept
    )
    dataset = Dataset(_card_of(dimension, items, answers), items, ResponseTable.concat(answers), checksums(located))
    dataset.check_counts("items", "words", "participants", "trials")
    return dataset


def read_usages(ratings: DelimitedTable, norms: DelimitedTable) -> dict[tuple[str, str], Usage]:
    """Return the sentences of the norms by word and context, each with the form of its word that participants read.

    Errors: :class:`InputError` with file and line for a sentence without ratings; :class:`SpanError` for a form that is
    not in its sentence exactly once.
    """
    forms = dict(zip(zip(ratings["word"], ratings["context"], strict=True), ratings["string"], strict=True))
    usages = {}
    for row, key in enumerate(zip(norms["word"], norms["context"], strict=True)):
        if key not in forms:
            norms.refuse(row, "context", "a sentence that participants rated is needed here")
        text, spans = norms["sentence"][row], occurrences(norms["sentence"][row], forms[key])
        # the place is made only for an error: looking it up reads the file again
        start, end = spans[0] if len(spans) == 1 else locate(text, forms[key], place=norms.place(row, "sentence"))
        word, context = key
        usages[key] = Usage(text, start, end, lemma=word, language="en", sense=f"{word}.{context}")
    return usages


def read_ratings(
    table: DelimitedTable, column: str, norms: DelimitedTable, usages: Mapping[tuple[str, str], Usage]
) -> ResponseTable:
    """Return the ratings of one dimension, checked against the scale, the sentences and the published norms.

    Errors: :class:`InputError` with file and line.
    """
    table.distinct("subject", "word", "context")
    keys = list(usages)
    rows = table.join(["word", "context"], {key: number for number, key in enumerate(keys)}).tolist()
    table.expect("sentence", [usages[keys[row]].text for row in rows])
    ratings = table.floats(column)
    for row in np.flatnonzero(~np.isin(ratings, SCALE.points)):
        table.refuse(int(row), column, f"a rating from {SCALE.low:g} to {SCALE.high:g} is needed here")
    of_sentence: dict[int, list[float]] = {}
    for row, rating in zip(rows, ratings.tolist(), strict=True):
        of_sentence.setdefault(row, []).append(rating)
    for name, compute in ((f"{column}.M", statistics.fmean), (f"{column}.SD", statistics.stdev)):
        published = norms.floats(name).tolist()
        for sentence, norm in enumerate(published):
            if not math.isclose(norm, compute(of_sentence.get(sentence, [0.0, 0.0])), abs_tol=_NOISE):
                norms.refuse(sentence, name, "the ratings of single participants contradict it")
    columns = {
        "subject_id": list(table["subject"]),
        "subject_kind": "participant",
        "item_id": [_item_id(usages[keys[row]], column) for row in rows],
        "task": CARD.task,
        "measure": "rating",
        "value": ratings,
        "view": "full",
    }
    return ResponseTable.from_columns(columns)


def _item_id(usage: Usage, column: str) -> str:
    word, context = str(usage.sense).rsplit(".", 1)
    return f"cs_norms/{word}/{context}/{column.casefold()}"


def _card_of(dimension: str, items: tuple[Item, ...], answers: list[ResponseTable]) -> DatasetCard:
    if not dimension:
        return CARD
    (ratings,) = answers
    kept = {"words": CARD.count("words"), "sentences": CARD.count("sentences")}
    counts = {"items": len(items), **kept, "participants": len(ratings.unique("subject_id")), "trials": len(ratings)}
    return replace(
        CARD,
        title=f"{CARD.title}: {dimension}",
        counts=tuple(counts.items()),
        first_item=items[0].item_id,
        last_item=items[-1].item_id,
    )
