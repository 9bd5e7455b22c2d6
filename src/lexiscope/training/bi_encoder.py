"""Bi-encoders: sentence and entry are read separately; the right entry should be nearer than every other.

The query is the sentence with the target between ``[`` and ``]``, an entry ``[CLS] name ‖ description [SEP]``. Every
batch is mined for triplets (a query, its entry, another entry of the batch) that violate the margin; their loss is the
triplet margin loss on cosines. With 0 epochs the encoder stays as it is: a probe that costs no training.
*Source:* the context–word bias study, §2.4; Liu et al. 2021 (SapBERT) for the online mining.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from lexiscope.core.errors import InputError, Place, require
from lexiscope.core.item import Item
from lexiscope.core.run import sha256_of, write_atomically
from lexiscope.core.subject import Floats
from lexiscope.items.answers.search_space import Entry, SearchSpace, check_reachable
from lexiscope.items.answers.sense_options import correct_ids
from lexiscope.resources.vectors.nearest import nearest
from lexiscope.subjects._vector_store import VectorStore, digest
from lexiscope.subjects.trained._encoder import LoadedClassifier, Shape
from lexiscope.subjects.trained._trained_folder import ENCODER, ENTRIES, VECTORS
from lexiscope.subjects.trained._wording import TextsWithTargets, Wording, entry_text
from lexiscope.tasks import RETRIEVED
from lexiscope.training._base import base_of, deciding_versions
from lexiscope.training._checkpoint import FOLDER
from lexiscope.training._labelled_items import Objective, Rows
from lexiscope.training._training import Job, TrainedModel, TrainingOptions, train_folder, training_parts
from lexiscope.training.settings import TrainingSettings

METHOD = "bi_encoder"

Pairs = Set[tuple[int, int]]
"""Numbers of queries and entries of a batch that go together."""

# entries whose vectors are kept together while a search space is read
_STRETCH = 4_096
_STORE_FORMAT = 2


def train_bi_encoder(
    train: Sequence[Item],
    dev: Sequence[Item],
    space: SearchSpace,
    encoder: str,
    *,
    task: str = RETRIEVED,
    store: Path | None = None,
    **how: Unpack[TrainingOptions],
) -> TrainedModel:
    """Train a bi-encoder on items of retrieval, or continue its training, and keep the vectors of all entries.

    The figure on dev is the accuracy at rank 1 among the right entries of dev and others, ``dev_entries`` in all.
    *store* is a folder for the encoder's files and the vectors of entries, which all views share where nothing is
    trained (0 epochs): they are made once, and a finished training needs the store no more.
    Errors: :class:`InputError` naming an item without a correct answer, or one that the search space does not hold;
    :class:`RunError`, :class:`SubjectError` as for pairs.
    """
    asked, rows = training_parts(train, dev, how)
    for part in rows:
        check_reachable(part.items, space)
    if len({item.gold for item in rows[0].items}) < 2:
        what = f"all training items have the answer {rows[0].items[0].gold!r}: no triplet can be made"
        raise InputError(what, place=Place(item_id=rows[0].items[0].item_id), hint="give items of several entries")
    entries = hashlib.sha256(json.dumps(_entry_fields(space.entries)).encode()).hexdigest()
    about = {"name": space.name, "n": len(space), "sha256": entries}
    job = Job(METHOD, METHOD, how["view"], task, "retrieval", *rows, asked, how.get("seed", 0), more={"space": about})
    shape = Shape(0, pooling=asked.pooling, longest=asked.longest)
    base = base_of(encoder)
    # an encoder that is not trained has the same weights for every view
    shared = None if asked.epochs or store is None else store / "untrained"
    kept = _vector_store(shared, base.sha256, asked) if shared else None

    def build(reader: LoadedClassifier) -> Objective:
        return _objective(reader, job, space, kept)

    def finish(reader: LoadedClassifier, folder: Path) -> Sequence[str]:
        own = kept or _vector_store(folder / FOLDER, sha256_of(folder / ENCODER / "model.safetensors"), asked)
        _write_space(reader, folder, space, asked, own)
        return ENTRIES, VECTORS

    return train_folder(job, base, shape, build, how, finish=finish, store=shared)


def entry_readings(entries: Sequence[Entry], description: str) -> list[TextsWithTargets]:
    """Return what is read of entries."""
    return [TextsWithTargets(entry_text(entry, description)) for entry in entries]


def _objective(reader: LoadedClassifier, job: Job, space: SearchSpace, kept: VectorStore | None) -> Objective:
    """Return lessons of queries and entries; *kept* holds vectors of entries where the encoder stays as it is."""
    word, asked = Wording(job.view, reader.mask).query, job.settings
    # what is learnt is the first right entry, in the order of their ids, that the space holds
    golds = [space.row(next(name for name in sorted(correct_ids(item)) if name in space)) for item in job.train.items]
    distinct = sorted(set(golds))
    number = {row: place for place, row in enumerate(distinct)}
    queries = reader.encode([word(item) for item in job.train.items])
    entries = reader.encode(entry_readings([space.entries[row] for row in distinct], asked.description))
    triplets = Triplets(asked.margin, asked.miner)
    right = [
        {number.get(space.row(entry_id)) for entry_id in correct_ids(item) if entry_id in space}
        for item in job.train.items
    ]

    def loss(batch: Sequence[int]) -> Any:
        places = [number[golds[query]] for query in batch]
        # an entry that is right for several queries of a batch is read once
        shown = sorted(set(places))
        labels = [reader.torch.tensor(rows, device=reader.device) for rows in (places, shown)]
        also = {(row, column) for row, query in enumerate(batch) for column, n in enumerate(shown) if n in right[query]}
        vectors = [
            reader.vectors([queries[number] for number in batch]),
            reader.vectors([entries[number] for number in shown]),
        ]
        return triplets.loss(*vectors, *labels, right=also)

    rows = _dev_rows(job.dev, space, asked.dev_entries)
    dev_entries = entry_readings([space.entries[row] for row in rows], asked.description)
    dev_queries = [word(item) for item in job.dev.items]

    def measure() -> float:
        vectors = _vectors(reader, dev_entries, kept) if kept else reader.predict(dev_entries)
        nearest_rows = nearest(reader.predict(dev_queries), vectors).rows[:, 0]
        ids = [space.entries[rows[place]].entry_id for place in nearest_rows.tolist()]
        return float(
            np.mean([entry_id in correct_ids(item) for entry_id, item in zip(ids, job.dev.items, strict=True)])
        )

    cut = {"train": sum(query.cut for query in queries), "dev": reader.n_cut([query] for query in dev_queries)}
    return Objective([len(query.ids) for query in queries], loss, measure, cut)


class Triplets:
    """The triplet margin loss on the cosines of those triplets of a batch that a miner finds.

    A triplet is a query, an entry of its label, an entry that is not right for it; it violates the margin unless the
    query is nearer to the first than to the second by more than *margin*. ``all`` mines all of these, ``hard`` those
    whose second entry is at least as near as the first, ``semihard`` the others. Errors: :class:`MissingExtraError`.
    """

    def __init__(self, margin: float, miner: str) -> None:
        distances = require("pytorch_metric_learning.distances", "train")
        miners = require("pytorch_metric_learning.miners", "train")
        losses = require("pytorch_metric_learning.losses", "train")
        cosine = {"distance": distances.CosineSimilarity()}
        self._miner = miners.TripletMarginMiner(margin=margin, type_of_triplets=miner, **cosine)
        self._loss = losses.TripletMarginLoss(margin=margin, **cosine)

    def mine(
        self, queries: Any, entries: Any, query_labels: Any, entry_labels: Any, *, right: Pairs = frozenset()
    ) -> tuple[Any, Any, Any]:
        """Return the numbers of the queries, of their entries and of the other entries of the mined triplets.

        *right* are (query, entry) that go together although the labels differ: several entries of a query are right.
        """
        triplets: tuple[Any, Any, Any] = self._miner(queries, query_labels, entries, entry_labels)
        pairs = zip(triplets[0].tolist(), triplets[2].tolist(), strict=True)
        kept = triplets[0].new_tensor([place for place, pair in enumerate(pairs) if pair not in right])
        return triplets[0][kept], triplets[1][kept], triplets[2][kept]

    def loss(
        self, queries: Any, entries: Any, query_labels: Any, entry_labels: Any, *, right: Pairs = frozenset()
    ) -> Any:
        """Return the mean loss of the mined triplets above 0, or ``None`` where there are none."""
        triplets = self.mine(queries.detach(), entries.detach(), query_labels, entry_labels, right=right)
        if not len(triplets[0]):
            return None
        return self._loss(queries, query_labels, triplets, entries, entry_labels)


def _dev_rows(dev: Rows, space: SearchSpace, number: int) -> list[int]:
    """Return the entries that dev is searched among: all right ones, and others by a hash of their ids."""
    right = {space.row(entry_id) for item in dev.items for entry_id in correct_ids(item) if entry_id in space}
    if not number or number >= len(space):
        return list(range(len(space)))
    others = sorted(
        (row for row in range(len(space)) if row not in right),
        key=lambda row: hashlib.sha256(space.entries[row].entry_id.encode()).hexdigest(),
    )
    return sorted([*right, *others[: max(0, number - len(right))]])


def _write_space(
    reader: LoadedClassifier, folder: Path, space: SearchSpace, settings: TrainingSettings, kept: VectorStore
) -> None:
    """Write the entries and their vectors; stretches that are *kept* already are not read again."""
    lines = [json.dumps(fields, ensure_ascii=False) for fields in _entry_fields(space.entries)]
    write_atomically(folder / ENTRIES, "\n".join(lines) + "\n")
    readings = entry_readings(space.entries, settings.description)
    stretches = [readings[start : start + _STRETCH] for start in range(0, len(readings), _STRETCH)]
    stream = io.BytesIO()
    np.save(stream, np.concatenate([_vectors(reader, stretch, kept) for stretch in stretches]), allow_pickle=False)
    write_atomically(folder / VECTORS, stream.getvalue())


def _vector_store(folder: Path, weights: str, settings: TrainingSettings) -> VectorStore:
    how = [settings.pooling, settings.longest, settings.device]
    return VectorStore(folder, digest([_STORE_FORMAT, weights, how, deciding_versions()]))


def _vectors(reader: LoadedClassifier, readings: Sequence[TextsWithTargets], kept: VectorStore) -> Floats:
    """Return the vectors of entries that were read together, in this company and order before or only now."""
    texts = [reading.first for reading in readings]
    if not kept.has(texts):
        kept.write(texts, reader.predict(readings).astype(np.float32))
    return kept.read(texts)


def _entry_fields(entries: Sequence[Entry]) -> list[list[str]]:
    return [[entry.entry_id, entry.name, entry.description] for entry in entries]
