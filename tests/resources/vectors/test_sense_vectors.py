"""Sense vectors: neighbours by brute force, probabilities by the formula, damage is found."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from lexiscope.core.errors import InputError, RunError, SubjectError
from lexiscope.core.run import sha256_of
from lexiscope.resources.vectors.sense_vectors import (
    SETTINGS,
    VECTORS,
    SenseVectors,
    map_tensors,
    read_sense_vectors,
    sense_probabilities,
)
from lexiscope.resources.vectors.word2vec import write_word2vec
from lexiscope.training.gasi.train import write_senses


def vectors_of(n_words: int = 40, n_senses: int = 3, width: int = 6, seed: int = 0) -> SenseVectors:
    """Random vectors; every fifth word has one sense, the second."""
    rng = np.random.default_rng(seed)
    mask = np.ones((n_words, n_senses), np.bool_)
    mask[::5] = np.arange(n_senses) == 1
    senses = rng.normal(size=(n_words, n_senses, width)).astype(np.float32)
    contexts = rng.normal(size=(n_words, width)).astype(np.float32)
    counts = np.sort(rng.integers(5, 999, size=n_words))[::-1]
    return SenseVectors(tuple(f"w{n}" for n in range(n_words)), counts, senses, contexts, mask)


def cosine_distance(one: np.ndarray, other: np.ndarray) -> float:
    return 1.0 - float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize(("word", "sense"), [(3, 0), (3, 2), (5, 1), (39, 1)])
def test_distances_equal_brute_force(word: int, sense: int) -> None:
    """The cosine distance to every sense that is there; infinite to one that is not."""
    vectors = vectors_of()
    row = vectors.senses[word, sense]
    expected = [
        [cosine_distance(row, vectors.senses[w, k]) if vectors.mask[w, k] else np.inf for k in range(3)]
        for w in range(len(vectors.words))
    ]
    (distances,) = next(vectors.distances(row[None]))
    np.testing.assert_allclose(distances, expected, atol=1e-5)


def test_a_word_that_is_not_there_is_refused() -> None:
    """E712 for a word out of vocabulary."""
    with pytest.raises(InputError, match="E712"):
        vectors_of().number("bank")


def test_probabilities_follow_the_formula() -> None:
    """softmax(c̄·s_k) over the senses that are there (eq. 8); all equal beside nothing known."""
    vectors = vectors_of()
    window = np.array([1, 2, 7])
    logits = vectors.senses[4].astype(float) @ vectors.contexts[window].astype(float).mean(axis=0)
    expected = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(sense_probabilities(vectors, 4, window), expected, rtol=1e-5)
    assert sense_probabilities(vectors, 5, window).tolist() == [0, 1, 0]
    np.testing.assert_allclose(sense_probabilities(vectors, 4, window[:0]), 1 / 3, rtol=1e-6)


def test_a_folder_reads_back_mapped(tmp_path: Path) -> None:
    """What is written is what is read, and it is mapped, not copied."""
    vectors = vectors_of()
    write_senses(tmp_path, vectors, {})
    found = read_sense_vectors(tmp_path)
    assert found.words == vectors.words
    for name in ("counts", "senses", "contexts", "mask"):
        np.testing.assert_array_equal(getattr(found, name), getattr(vectors, name))
    assert isinstance(found.senses, np.memmap)
    library = safetensors.numpy.load_file(tmp_path / VECTORS)
    np.testing.assert_array_equal(library["senses"], vectors.senses)
    modes = {(tmp_path / name).stat().st_mode for name in (VECTORS, SETTINGS, "vocabulary.tsv")}
    assert len(modes) == 1, "vectors are as readable as the files beside them"
    assert found.n_senses.sum() == 8 * 1 + 32 * 3


def test_damage_is_found(tmp_path: Path) -> None:
    """E711: no record, a record of something else, a file cut off or gone, a header that is none."""
    with pytest.raises(SubjectError, match="E711"):
        read_sense_vectors(tmp_path)
    (tmp_path / SETTINGS).write_text(json.dumps({"kind": "lora"}))
    with pytest.raises(SubjectError, match="holds no sense vectors"):
        read_sense_vectors(tmp_path)
    (tmp_path / SETTINGS).write_text("{")
    with pytest.raises(SubjectError, match="damaged"):
        read_sense_vectors(tmp_path)
    write_senses(tmp_path, vectors_of(), {})
    whole = (tmp_path / VECTORS).read_bytes()
    for content in (whole[:-1], b"", b"\xff" * 40):
        (tmp_path / VECTORS).write_bytes(content)
        with pytest.raises(SubjectError, match=rf"{VECTORS}: \[E711\]"):
            read_sense_vectors(tmp_path)
        with pytest.raises(SubjectError, match="E711"):
            map_tensors(tmp_path / VECTORS)
    (tmp_path / VECTORS).unlink()
    with pytest.raises(SubjectError, match="missing"):
        read_sense_vectors(tmp_path)


def changed(**arrays: np.ndarray) -> SenseVectors:
    return replace(vectors_of(), **arrays)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (changed(senses=np.zeros((40, 18), np.float32)), r"senses \(40, 18\), contexts \(40, 6\)"),
        (changed(contexts=np.zeros((40, 5), np.float32)), r"contexts \(40, 5\)"),
        (changed(mask=np.ones((40, 2), np.bool_)), r"mask \(40, 2\)"),
        (changed(mask=np.ones((40, 3), np.float32)), r"mask \(40, 3\)"),
        (changed(mask=np.zeros((40, 3), np.bool_)), "a word has no sense"),
        (changed(senses=np.full((40, 3, 6), np.nan, np.float32)), "not finite"),
        (changed(contexts=np.where(np.eye(40, 6), np.inf, 0).astype(np.float32)), "not finite"),
        (changed(words=("w0",) * 40), "a word occurs twice"),
        (changed(counts=np.full(40, -1)), "less than 0 times"),
        (changed(words=tuple(map(str, range(39))), counts=np.ones(39, np.int64)), "for 39 words"),
        (changed(words=tuple(f"a\t{n}" for n in range(40))), "not a vocabulary"),
    ],
)  # fmt: skip
def test_whole_files_that_are_no_vectors_are_refused(wrong: SenseVectors, what: str, tmp_path: Path) -> None:
    """A checksum says that a file is as it was written, not that what was written can be used."""
    write_senses(tmp_path, wrong, {})
    with pytest.raises(SubjectError, match=rf"\[E711\] .*{what}"):
        read_sense_vectors(tmp_path)


def test_a_missing_array_or_setting_is_refused(tmp_path: Path) -> None:
    """E711 names the array; settings that are none are told before any vector is read."""
    write_senses(tmp_path, vectors_of(), {"settings": {"window": 5}})
    arrays = dict(map_tensors(tmp_path / VECTORS))
    del arrays["mask"]
    safetensors.numpy.save_file({name: np.array(each) for name, each in arrays.items()}, tmp_path / VECTORS)
    about = json.loads((tmp_path / SETTINGS).read_text())
    about["files"][VECTORS] = sha256_of(tmp_path / VECTORS)
    (tmp_path / SETTINGS).write_text(json.dumps(about))
    with pytest.raises(SubjectError, match=r"\[E711\] .*no array mask"):
        read_sense_vectors(tmp_path)
    for settings in ({"window": "wide"}, 3):
        (tmp_path / SETTINGS).write_text(json.dumps(about | {"settings": settings}))
        with pytest.raises(SubjectError, match=r"settings.json: \[E711\]"):
            read_sense_vectors(tmp_path)


def test_a_header_that_is_no_table_is_refused(tmp_path: Path) -> None:
    """E711 for JSON of another kind where the names of the arrays should stand."""
    (tmp_path / VECTORS).write_bytes((5).to_bytes(8, "little") + b"[1,2]")
    with pytest.raises(SubjectError, match="E711"):
        map_tensors(tmp_path / VECTORS)


def test_word2vec_formats(tmp_path: Path) -> None:
    """Text and binary hold the same float32 numbers to the bit, one vector for each sense that is there."""
    vectors = vectors_of(6)
    rows = vectors.senses[vectors.mask]
    assert write_word2vec(tmp_path / "a.txt", vectors) == len(rows) == 2 * 1 + 4 * 3
    head, *lines = (tmp_path / "a.txt").read_text().splitlines()
    assert head == "14 6"
    assert [line.split()[0] for line in lines[:5]] == ["w0#1", "w1#1", "w1#2", "w1#3", "w2#1"]
    np.testing.assert_array_equal(np.array([line.split()[1:] for line in lines], np.float32), rows)
    write_word2vec(tmp_path / "a.bin", vectors, "binary")
    content = (tmp_path / "a.bin").read_bytes()
    assert content.startswith(b"14 6\nw0#1 " + rows[0].tobytes() + b"\nw1#1 " + rows[1].tobytes())
    assert len(content) == 5 + 14 * (5 + 6 * 4 + 1)


def test_an_export_to_a_disk_that_is_only_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That nothing can be removed either does not hide why nothing could be written."""

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(RunError, match=r"cannot be written\n  why: .*Read-only"):
        write_word2vec(tmp_path / "a.txt", vectors_of())
