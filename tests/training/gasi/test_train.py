"""Training: repeatable, resumable, and what its log says."""

from __future__ import annotations

import csv
import errno
import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch

from lexiscope.core.errors import InputError, RunError, SubjectError
from lexiscope.resources.vectors.sense_vectors import LOG, read_sense_vectors
from lexiscope.training.gasi import train as gasi_training
from lexiscope.training.gasi.settings import VARIANTS, GasiSettings
from lexiscope.training.gasi.shards import Shards, make_shards
from lexiscope.training.gasi.train import CHECKPOINT, TrainedSenses, check_out_folder, train_gasi
from lexiscope.training.gasi.vocabulary import VocabularyLimits

from .corpus import write_corpus

SMALL = {"dimensions": 16, "subsampling": 0.0, "chunk_tokens": 300, "epochs": 3, "learning_rate": 0.1}
SEALED = ("vectors.safetensors", "vocabulary.tsv", LOG, "settings.json")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    folder = tmp_path_factory.mktemp("corpus")
    return make_shards([write_corpus(folder)], folder / "shards", limits=VocabularyLimits(min_count=1))


def trained(shards: Shards, out: Path, **changed: object) -> TrainedSenses:
    return train_gasi(shards, out=out, settings=GasiSettings(**SMALL | changed), seed=4)  # type: ignore[arg-type]


def contents(folder: Path, names: Sequence[str] = SEALED) -> list[bytes]:
    return [(folder / name).read_bytes() for name in names]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_learns(variant: str, shards: Shards, tmp_path: Path) -> None:
    """The loss falls below the ln 2 of a pair and 5 negatives that vectors near 0 have; words keep K senses."""
    found = trained(shards, tmp_path / "a", variant=variant, epochs=8)
    assert 0.8 * 6 * np.log(2) < found.log[0].loss < 6 * np.log(2)
    assert found.log[-1].loss < found.log[0].loss - 0.1
    assert found.n_senses == found.n_words * (1 if variant == "skip_gram" else 3)
    assert found.log[-1].tokens == 8 * shards.n_tokens
    assert found.log[-1].rate == 0


def test_the_same_seed_gives_the_same_bytes(shards: Shards, tmp_path: Path) -> None:
    """On one thread two trainings are equal to the byte, shared negatives too; another seed is another training."""
    for extra in ({}, {"shared_negatives": 8}):
        name = f"{len(extra)}"
        trained(shards, tmp_path / f"a{name}", **extra)
        trained(shards, tmp_path / f"b{name}", **extra)
        assert contents(tmp_path / f"a{name}") == contents(tmp_path / f"b{name}")
    train_gasi(shards, out=tmp_path / "c", settings=GasiSettings(**SMALL), seed=5)  # type: ignore[arg-type]
    assert contents(tmp_path / "c", SEALED[:1]) != contents(tmp_path / "a0", SEALED[:1])
    assert contents(tmp_path / "a1", SEALED[:1]) != contents(tmp_path / "a0", SEALED[:1])


@pytest.mark.parametrize("backend", ["numba", "torch"])
def test_a_broken_training_goes_on(
    backend: str, shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after any of its first chunks, and again, it ends with the bytes of one that was not."""
    # the steps of a batch are summed: a large one of few words goes too far
    settings = {"checkpoint_tokens": 600, "backend": backend, "epochs": 2, "batch": 32}
    trained(shards, tmp_path / "whole", **settings)
    plain = gasi_training.Loop._learn_round

    for stop in (5, 12):

        def broken(self: gasi_training.Loop, pool: object, first: int, last: int, stop: int = stop) -> None:
            if last > stop:
                raise KeyboardInterrupt
            plain(self, pool, first, last)  # type: ignore[arg-type]

        monkeypatch.setattr(gasi_training.Loop, "_learn_round", broken)
        with pytest.raises(KeyboardInterrupt):
            trained(shards, tmp_path / "broken", **settings)
        assert (tmp_path / "broken" / CHECKPOINT / gasi_training.STATE).is_file()
        assert not (tmp_path / "broken" / "settings.json").is_file()
    monkeypatch.setattr(gasi_training.Loop, "_learn_round", plain)
    trained(shards, tmp_path / "broken", **settings)
    assert contents(tmp_path / "broken") == contents(tmp_path / "whole")
    assert not (tmp_path / "broken" / CHECKPOINT).exists()


def test_a_training_says_what_its_bytes_hang_on(shards: Shards, tmp_path: Path) -> None:
    """The version of the library that learns is in the claim: another one rounds otherwise. How fast it learnt is told
    by the call that learnt."""
    for backend, settings in (("numba", {}), ("torch", {"backend": "torch", "batch": 32, "epochs": 1})):
        found = trained(shards, tmp_path / backend, **settings)
        about = json.loads((tmp_path / backend / "settings.json").read_text())
        assert about["with"][backend] == metadata.version(backend)
        assert about["threads"] == 1
        assert found.tokens_per_second is not None
        assert found.tokens_per_second > 0
        assert trained(shards, tmp_path / backend, **settings).tokens_per_second is None


def test_a_finished_training_is_read(shards: Shards, tmp_path: Path) -> None:
    """The same call changes no byte; other settings in its folder are refused."""
    first = trained(shards, tmp_path / "a")
    before = (tmp_path / "a" / "vectors.safetensors").stat().st_mtime_ns
    assert trained(shards, tmp_path / "a") == first
    assert (tmp_path / "a" / "vectors.safetensors").stat().st_mtime_ns == before
    with pytest.raises(RunError, match="another training"):
        trained(shards, tmp_path / "a", beta=0.5)


def test_a_place_in_the_corpus_is_refused(tmp_path: Path) -> None:
    """What a training writes must not be text of the corpus when the command is given again."""
    (tmp_path / "texts" / "deep").mkdir(parents=True)
    for out in (tmp_path / "texts", tmp_path / "texts" / "deep" / "senses", tmp_path / "x" / ".." / "texts" / "senses"):
        with pytest.raises(RunError, match="lies in that of the corpus"):
            check_out_folder(out, [tmp_path / "texts"])
    check_out_folder(tmp_path / "senses", [tmp_path / "texts"])


def test_a_damaged_checkpoint_is_refused(shards: Shards, tmp_path: Path) -> None:
    """Nothing is begun silently anew."""
    trained(shards, tmp_path / "a")
    (tmp_path / "b" / CHECKPOINT).mkdir(parents=True)
    (tmp_path / "b" / CHECKPOINT / gasi_training.STATE).write_bytes(b"12345678901234")
    with pytest.raises(RunError, match="checkpoint cannot be read"):
        trained(shards, tmp_path / "b")
    broken = tmp_path / "a" / "vectors.safetensors"
    broken.write_bytes(broken.read_bytes()[:-1])
    with pytest.raises(SubjectError, match="E711"):
        trained(shards, tmp_path / "a")


def test_a_mask_fixes_the_senses_of_a_word(shards: Shards, tmp_path: Path) -> None:
    """A sense that is not there stays as it was at the start, the others learn; the folder keeps the mask."""
    mask = np.ones((len(shards.vocabulary.words), 3), np.bool_)
    mask[::2, 1:] = False
    settings = GasiSettings(**SMALL)  # type: ignore[arg-type]
    train_gasi(shards, out=tmp_path / "a", settings=settings, seed=4, mask=mask)
    found = read_sense_vectors(tmp_path / "a")
    start, _ = gasi_training.first_vectors(len(mask), settings, 4)
    np.testing.assert_array_equal(found.mask, mask)
    np.testing.assert_array_equal(found.senses[~mask], start[~mask])
    assert (found.senses[mask] != start[mask]).any(axis=1).all()
    # as many senses, of other words
    with pytest.raises(RunError, match=r"another training.*\n.*mask was"):
        train_gasi(shards, out=tmp_path / "a", settings=settings, seed=4, mask=mask[::-1].copy())
    for wrong in (mask[:, :2], mask & False):
        with pytest.raises(InputError, match="E713"):
            train_gasi(shards, out=tmp_path / "b", settings=settings, mask=wrong)


def test_the_start_is_uniform() -> None:
    """U(-.5/d, .5/d), senses and contexts. *Source:* appendix B."""
    for each in gasi_training.first_vectors(500, GasiSettings(dimensions=40), 1):
        assert np.abs(each).max() <= 0.5 / 40
        assert each.std() == pytest.approx(1 / 40 / np.sqrt(12), rel=0.02)


def test_the_log_is_a_table(shards: Shards, tmp_path: Path) -> None:
    """One row per round in CSV, as the result has them; β sets the noise, and skip-gram has no entropy."""
    found = trained(shards, tmp_path / "a", beta=0.4)
    rows = list(csv.DictReader((tmp_path / "a" / LOG).open()))
    assert len(rows) == len(found.log) == 3 * -(-shards.n_tokens // 300)
    assert float(rows[0]["noise_sd"]) == pytest.approx(0.4 * np.pi / np.sqrt(6))
    assert all(0 < row.entropy < np.log(3) for row in found.log)
    assert all(row.entropy == 0 for row in trained(shards, tmp_path / "b", variant="skip_gram").log)
    about = json.loads((tmp_path / "a" / "settings.json").read_text())
    assert about["settings"]["beta"] == 0.4
    assert about["shape"] == [48, 3, 16]


def test_the_selections_entropy_orders_the_variants(shards: Shards, tmp_path: Path) -> None:
    """The noise makes selections decided while senses are equal: γ of SASI is flat, of GASI-β less so, of GASI least;
    and a grid of β orders them too."""
    by_name = {name: trained(shards, tmp_path / name, variant=name, epochs=1).log[0] for name in VARIANTS[1:]}
    assert by_name["sasi"].entropy > by_name["gasi_beta"].entropy > by_name["gasi"].entropy
    grid = [trained(shards, tmp_path / f"b{beta}", beta=beta, epochs=1).log[0].entropy for beta in (0.1, 0.4, 0.7)]
    assert grid == sorted(grid, reverse=True)


def test_threads_share_the_vectors(shards: Shards, tmp_path: Path) -> None:
    """Two threads learn the whole corpus too; their number is no part of the claim, but it is kept: a later call on one
    thread does not make the result one that can be had again."""
    found = trained(shards, tmp_path / "a", threads=2, epochs=6)
    assert json.loads((tmp_path / "a" / "settings.json").read_text())["threads"] == 2
    assert found.log[-1].loss < found.log[0].loss
    assert trained(shards, tmp_path / "a", threads=1, epochs=6) == found


def test_threads_have_enough_to_do(shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round has several chunks for each thread also in a short text, or one thread would wait for the other."""
    plain, sizes = gasi_training.Loop._learn_round, []

    def told(self: gasi_training.Loop, pool: object, first: int, last: int) -> None:
        sizes.append(last - first)
        plain(self, pool, first, last)  # type: ignore[arg-type]

    monkeypatch.setattr(gasi_training.Loop, "_learn_round", told)
    trained(shards, tmp_path / "a", threads=2, epochs=6)
    assert min(sizes[:-1]) >= 16
    assert sum(sizes) == 6 * -(-shards.n_tokens // 300)
    sizes.clear()
    trained(shards, tmp_path / "b", epochs=6)
    assert max(sizes) == 1


def test_the_torch_path_learns_the_same(shards: Shards, tmp_path: Path) -> None:
    """Batches of windows by autograd end near the loss of the kernel."""
    one = trained(shards, tmp_path / "a", epochs=6)
    other = trained(shards, tmp_path / "b", epochs=6, backend="torch", batch=16)
    assert other.log[-1].loss == pytest.approx(one.log[-1].loss, rel=0.05)
    entropies = [np.mean([row.entropy for row in each.log if row.epoch == 1]) for each in (one, other)]
    assert entropies[1] == pytest.approx(entropies[0], rel=0.05)


@pytest.mark.parametrize(
    "wrong", [{"variant": "x"}, {"senses": 0}, {"beta": -1.0}, {"temperature": 0.0}, {"device": "cuda"}, {"epochs": 0}]
)
def test_settings_are_checked(wrong: dict[str, object]) -> None:
    """E710 names the setting."""
    with pytest.raises(InputError, match=rf"\[E710\] {next(iter(wrong))}"):
        GasiSettings(**wrong)  # type: ignore[arg-type]


def test_a_checkpoint_is_no_smaller_than_a_chunk() -> None:
    """E710 says how large a chunk is: the command has no option of it."""
    with pytest.raises(InputError, match=r"checkpoint_tokens .* is 10,000, the size of a chunk, or more"):
        GasiSettings(checkpoint_tokens=9_999)


def test_a_rate_that_is_too_large_is_told(shards: Shards, tmp_path: Path) -> None:
    """A loss that is no number, or far above that of untrained vectors, ends the training without a result."""
    for rate in (1e30, 10.0):
        with pytest.raises(SubjectError, match="diverges in epoch 1"):
            trained(shards, tmp_path / f"{rate}", learning_rate=rate)
        assert not (tmp_path / f"{rate}" / "settings.json").exists()


def test_a_folder_of_a_failed_training_takes_another(shards: Shards, tmp_path: Path) -> None:
    """A rate that diverges, or a device that is not there, does not bind the folder to it."""
    with pytest.raises(SubjectError, match="diverges"):
        trained(shards, tmp_path / "a", learning_rate=1e30)
    if not torch.cuda.is_available():
        with pytest.raises(SubjectError, match="cuda"):
            trained(shards, tmp_path / "a", backend="torch", device="cuda")
    assert trained(shards, tmp_path / "a").log


def test_another_training_is_told_by_what_differs(shards: Shards, tmp_path: Path) -> None:
    """Of seventeen settings the error names the one that is another."""
    trained(shards, tmp_path / "a")
    with pytest.raises(RunError, match=r"why: settings\.epochs was 3 and is now 4\n"):
        trained(shards, tmp_path / "a", epochs=4)


def test_a_training_without_a_pair_of_words_fails(shards: Shards, tmp_path: Path) -> None:
    """Where every word is left out nothing is learnt, and the vectors of the start are no result."""
    with pytest.raises(SubjectError, match="nothing was learnt"):
        trained(shards, tmp_path / "a", subsampling=1e-30)
    assert not (tmp_path / "a").exists()


def test_vectors_beyond_the_memory_are_refused(shards: Shards, tmp_path: Path) -> None:
    """Before they are asked for: the error says how much they need, and the folder is not made."""
    words = len(shards.vocabulary.words)
    gib = words * (10**9 + (10**9 + 1) * 64) / 2**30
    with pytest.raises(InputError, match=rf"E710\] the vectors need {gib:,.1f} GiB"):
        trained(shards, tmp_path / "a", senses=10**9)
    assert not (tmp_path / "a").exists()


def test_a_checkpoint_that_cannot_be_written_is_told(
    shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nothing can be removed, as on a disk that is only read."""

    def refuse(self: Path, **_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "touch", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(RunError, match=r"cannot be written\n  why: .*Read-only"):
        gasi_training.save_tensors(tmp_path / "a.safetensors", {}, {})
