"""Bi-encoders: mined triplets satisfy their definition, recall rises, the search space is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lexiscope.core.errors import InputError
from lexiscope.core.subject import SubjectSpec
from lexiscope.subjects._vector_store import VectorStore
from lexiscope.subjects.bi_encoder import load
from lexiscope.training.bi_encoder import Triplets, train_bi_encoder

from .tiny_views import QUICK, SPACE, retrievals

TRAIN, DEV = retrievals(64), retrievals(16, start=64)


@pytest.mark.parametrize("miner", ["all", "hard", "semihard"])
def test_mined_triplets_satisfy_their_definition(miner: str) -> None:
    """Against a plain walk through all triplets: s(q, e) − s(q, e') is at most the margin; hard ≤ 0 < semihard."""
    generator = torch.Generator().manual_seed(4)
    queries, entries = (torch.randn(n, 5, generator=generator) for n in (12, 7))
    query_labels, entry_labels = torch.arange(12) % 7, torch.arange(7)
    cosines = torch.nn.functional.cosine_similarity(queries[:, None], entries[None], dim=-1)
    expected = set()
    for query, label in enumerate(query_labels.tolist()):
        for other in range(7):
            gap = float(cosines[query, label] - cosines[query, other])
            fits = {"all": True, "hard": gap <= 0, "semihard": gap > 0}[miner]
            if other != label and gap <= 0.2 and fits:
                expected.add((query, label, other))
    triplets = Triplets(0.2, miner)
    mined = triplets.mine(queries, entries, query_labels, entry_labels)
    assert expected
    assert set(zip(*(each.tolist() for each in mined), strict=True)) == expected
    losses = [0.2 - float(cosines[q, e] - cosines[q, o]) for q, e, o in expected]
    found = triplets.loss(queries, entries, query_labels, entry_labels)
    assert float(found) == pytest.approx(np.mean([loss for loss in losses if loss > 0]), abs=1e-5)


def test_a_batch_without_triplets_teaches_nothing() -> None:
    """Where every entry but the right one lies beyond the margin, there is no loss."""
    vectors = torch.eye(4)
    labels = torch.arange(4)
    assert Triplets(0.2, "all").loss(vectors, vectors, labels, labels) is None


def test_another_right_entry_is_no_wrong_one(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where several entries are right (gold ``a|b``), b is no negative of that query, though it is another's label."""
    ids = sorted({str(item.gold) for item in TRAIN})
    both = [replace(item, gold="|".join(ids)) if item.gold == ids[0] else item for item in TRAIN]
    taught: set[int] = set()
    plain = Triplets.mine

    def spied(self: Triplets, queries: Any, entries: Any, *labels: Any, **more: Any) -> Any:
        found = plain(self, queries, entries, *labels, **more)
        named = labels[0].tolist()
        taught.update(named[query] for query in found[0].tolist())
        return found

    monkeypatch.setattr(Triplets, "mine", spied)
    settings = replace(QUICK, epochs=1, margin=2.0, pooling="mean")
    train_bi_encoder(both, DEV, SPACE, str(bert), view="full", out=tmp_path / "b", settings=settings)
    rows = sorted(SPACE.row(each) for each in ids)
    # for the first entry's queries every other is right as well: they have no triplet, all others have
    assert {rows[label] for label in taught} == set(rows) - {SPACE.row(ids[0])}


def test_recall_rises(bert: Path, tmp_path: Path) -> None:
    """From what the encoder has before training to most of the toy; the folder retrieves what training measured."""
    settings = replace(QUICK, learning_rate=1e-3, epochs=14, patience=14, pooling="mean", dev_entries=0)
    before = train_bi_encoder(
        TRAIN, DEV, SPACE, str(bert), view="full", out=tmp_path / "0", settings=replace(settings, epochs=0)
    )
    found = train_bi_encoder(TRAIN, DEV, SPACE, str(bert), view="full", out=tmp_path / "b", settings=settings)
    assert before.best_epoch == 0
    assert before.dev_accuracy < 0.5 < 0.7 < found.dev_accuracy
    subject = load(SubjectSpec.parse(f"{found.spec}?ranks=3"))
    table = subject.judge(DEV, "sense_retrieval")
    first = table.where(measure="retrieved").column("option")
    assert np.mean([option == item.gold for option, item in zip(first, DEV, strict=True)]) == found.dev_accuracy
    assert len(table.where(measure="retrieved_next")) == 2 * len(DEV)
    assert subject.settings["training"]["settings"]["miner"] == "all"
    assert subject.settings["training"]["settings"]["margin"] == 0.2
    assert subject.space.ids == SPACE.ids


@pytest.mark.parametrize("pooling", ["mean", "target"])
def test_without_training_it_is_a_probe(bert: Path, tmp_path: Path, pooling: str) -> None:
    """0 epochs: the encoder stays as it is, whichever vector stands for a text; the gloss may be left out."""
    settings = replace(QUICK, epochs=0, pooling=pooling, description="none")
    found = train_bi_encoder(TRAIN, DEV, SPACE, str(bert), view="word", out=tmp_path / "b", settings=settings)
    assert found.stopped == "nothing was to be learnt"
    assert (tmp_path / "b" / "vectors.npy").is_file()


def test_entries_are_read_once_for_all_views(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without training, a second view takes the vectors of the entries from the store, and they are the same."""
    settings = replace(QUICK, epochs=0)
    made = {"settings": settings, "store": tmp_path / "store"}
    train_bi_encoder(TRAIN, DEV, SPACE, str(bert), view="full", out=tmp_path / "a", **made)  # type: ignore[arg-type]
    monkeypatch.setattr(VectorStore, "write", None)
    train_bi_encoder(TRAIN, DEV, SPACE, str(bert), view="word", out=tmp_path / "b", **made)  # type: ignore[arg-type]
    one, other = ((tmp_path / name / "vectors.npy").read_bytes() for name in "ab")
    assert one == other


def test_entries_that_are_not_there_are_named(bert: Path, tmp_path: Path) -> None:
    """A right answer outside the search space, and one answer for all: the row is named."""
    beyond = [*TRAIN[:3], replace(TRAIN[3], gold="gnu.0")]
    with pytest.raises(InputError, match=r"made/3.*'gnu\.0'"):
        train_bi_encoder(beyond, DEV, SPACE, str(bert), view="full", out=tmp_path / "x", settings=QUICK)
    same = [replace(item, gold="bat.0") for item in TRAIN]
    with pytest.raises(InputError, match=r"made/0.*no triplet"):
        train_bi_encoder(same, DEV, SPACE, str(bert), view="full", out=tmp_path / "x", settings=QUICK)
