"""Bi-encoders: mined triplets satisfy their definition, recall rises, the search space is kept."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lexiscope.core.errors import InputError, RunError
from lexiscope.core.run import sha256_of
from lexiscope.core.subject import SubjectSpec
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects._vector_store import VectorStore
from lexiscope.subjects.trained import _trained_folder
from lexiscope.subjects.trained._encoder import LoadedClassifier
from lexiscope.subjects.trained._wording import TextsWithTargets
from lexiscope.subjects.trained.bi_encoder import load
from lexiscope.training import _training
from lexiscope.training._training import TrainedModel
from lexiscope.training.bi_encoder import Triplets, train_bi_encoder

from .tiny_views import QUICK, SPACE, retrievals, save_bert

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
    assert found.stopped == "no training was needed"
    assert (tmp_path / "b" / "vectors.npy").is_file()


def untrained(bert: Path, out: Path, view: str, store: Path | None = None) -> TrainedModel:
    """Fit an encoder that is not trained to a view."""
    settings = replace(QUICK, epochs=0, dev_entries=6)
    return train_bi_encoder(TRAIN, DEV, SPACE, str(bert), view=view, out=out, settings=settings, store=store)


def files_of(folder: Path) -> dict[str, bytes]:
    """All files of a training but those that differ between equal ones."""
    own = (".lock", "machine.json")
    found = {str(each.relative_to(folder)): each for each in folder.rglob("*") if each.is_file()}
    return {name: each.read_bytes() for name, each in found.items() if each.name not in own}


def test_entries_are_read_once_for_all_views(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without training, a second view takes encoder and vectors of the first; both folders need the store no more."""
    first = untrained(bert, tmp_path / "a", "full", tmp_path / "store")
    read: list[TextsWithTargets] = []
    plain = LoadedClassifier.predict

    def spied(self: LoadedClassifier, readings: Sequence[TextsWithTargets]) -> Any:
        read.extend(readings)
        return plain(self, readings)

    with monkeypatch.context() as patched:
        patched.setattr(LoadedClassifier, "predict", spied)
        patched.setattr(_training, "_write_weights", None)
        second = untrained(bert, tmp_path / "b", "word", tmp_path / "store")
    # the usages of dev, and no entry
    assert len(read) == len(DEV)
    assert all(reading.targets for reading in read)
    for name in ("vectors.npy", "entries.jsonl", "encoder/model.safetensors"):
        assert (tmp_path / "a" / name).samefile(tmp_path / "b" / name)
    shutil.rmtree(tmp_path / "store")
    for shard, view in ((first, "full"), (second, "word")):
        alone = untrained(bert, tmp_path / f"{view} alone", view)
        assert files_of(shard.folder) == files_of(alone.folder)
        shown = [view_item(item, view) for item in DEV]
        answers = load(SubjectSpec.parse(shard.spec)).judge(shown, "sense_retrieval")
        assert len(answers) == len(DEV)


def test_files_are_copied_where_they_can_have_one_name_only(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems know no hard links: each view gets the same bytes, in files of its own."""

    def refused(self: Path, target: Path) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    for view in ("full", "word"):
        untrained(bert, tmp_path / view, view, tmp_path / "store")
    one, other = (tmp_path / view / "vectors.npy" for view in ("full", "word"))
    assert not one.samefile(other)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", ["vectors.npy", "model.safetensors"])
def test_a_damaged_store_is_named(bert: Path, tmp_path: Path, name: str) -> None:
    """One byte of the files in common is another one, or the file is gone: no view is given them."""
    untrained(bert, tmp_path / "a", "full", tmp_path / "store")
    (path,) = (tmp_path / "store").rglob(name)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    # a file of its own: the finished view keeps what it has
    path.unlink()
    path.write_bytes(content)
    with pytest.raises(RunError, match=rf"(?s)damaged.*{name}"):
        untrained(bert, tmp_path / "b", "word", tmp_path / "store")
    path.unlink()
    with pytest.raises(RunError, match=rf"(?s)damaged.*{name}"):
        untrained(bert, tmp_path / "b", "word", tmp_path / "store")
    load(SubjectSpec.parse(f"bi_encoder:{tmp_path / 'a'}")).folder.check()
    shutil.rmtree(tmp_path / "store")
    again = untrained(bert, tmp_path / "b", "word", tmp_path / "store")
    assert files_of(again.folder) == files_of(untrained(bert, tmp_path / "c", "word").folder)


def test_a_store_that_was_not_finished_is_written_anew(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken off between the encoder and the vectors: nothing of it is taken, and the vectors that were read are."""
    with monkeypatch.context() as patched:
        patched.setattr(np, "save", None)
        with pytest.raises(TypeError):
            untrained(bert, tmp_path / "a", "full", tmp_path / "store")
    assert not list((tmp_path / "store").rglob("model.safetensors"))
    monkeypatch.setattr(VectorStore, "write", None)
    found = untrained(bert, tmp_path / "a", "full", tmp_path / "store")
    monkeypatch.undo()
    assert files_of(found.folder) == files_of(untrained(bert, tmp_path / "b", "full").folder)


def test_the_files_of_a_folder_are_hashed_once(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subject asks of its folder encoder, entries and vectors: one look at the files serves for all."""
    found = untrained(bert, tmp_path / "a", "full")
    hashed: list[Path] = []

    def counted(path: Path) -> str:
        hashed.append(path)
        return sha256_of(path)

    monkeypatch.setattr(_trained_folder, "sha256_of", counted)
    subject = load(SubjectSpec.parse(found.spec))
    assert subject.n_cut(DEV) == 0
    subject.judge(DEV, "sense_retrieval")
    names = subject.folder.record["files"]
    assert {"vectors.npy", "entries.jsonl", "encoder/model.safetensors"} <= set(names)
    assert sorted(hashed) == sorted(found.folder / name for name in names)


def test_another_encoder_or_space_shares_nothing(bert: Path, tmp_path: Path) -> None:
    """One store for two encoders and two descriptions of entries: every folder is as without a store."""
    other = save_bert(tmp_path / "other", seed=4)
    for number, (encoder, description) in enumerate([(bert, "gloss"), (other, "gloss"), (bert, "none")]):
        settings = replace(QUICK, epochs=0, description=description)
        made = {"view": "full", "settings": settings}
        for store in (tmp_path / "store", None):
            out = tmp_path / f"{number}{'' if store else ' alone'}"
            train_bi_encoder(TRAIN, DEV, SPACE, str(encoder), out=out, store=store, **made)  # type: ignore[arg-type]
        assert files_of(tmp_path / str(number)) == files_of(tmp_path / f"{number} alone")


def test_entries_that_are_not_there_are_named(bert: Path, tmp_path: Path) -> None:
    """A right answer outside the search space, and one answer for all: the row is named."""
    beyond = [*TRAIN[:3], replace(TRAIN[3], gold="gnu.0")]
    with pytest.raises(InputError, match=r"made/3.*'gnu\.0'"):
        train_bi_encoder(beyond, DEV, SPACE, str(bert), view="full", out=tmp_path / "x", settings=QUICK)
    same = [replace(item, gold="bat.0") for item in TRAIN]
    with pytest.raises(InputError, match=r"made/0.*no triplet"):
        train_bi_encoder(same, DEV, SPACE, str(bert), view="full", out=tmp_path / "x", settings=QUICK)
