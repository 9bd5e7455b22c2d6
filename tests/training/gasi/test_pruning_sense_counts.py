"""Counting senses in the corpus of the training: the same as reading its text line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.senses.examples import find_examples
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.training.gasi import pruning
from lexiscope.training.gasi.pruning import count_senses
from lexiscope.training.gasi.shards import Shards, make_shards
from lexiscope.training.gasi.train import write_senses
from lexiscope.training.gasi.vocabulary import VocabularyLimits

from .corpus import write_corpus


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Shards, Gasi]:
    """A corpus in files of 700 numbers, and vectors at random, some pruned."""
    folder, rng = tmp_path_factory.mktemp("counts"), np.random.default_rng(4)
    corpus = write_corpus(folder)
    shards = make_shards([corpus], folder / "shards", limits=VocabularyLimits(1, 0), shard_tokens=700)
    words, counts = shards.vocabulary.words, shards.vocabulary.counts
    senses, contexts = (rng.normal(size=(len(words), *shape)).astype(np.float32) for shape in ((3, 6), (6,)))
    mask = rng.random((len(words), 3)) < 0.7
    mask[:, 1] = True
    write_senses(folder / "a", SenseVectors(words, counts, senses, contexts, mask), {"settings": {"window": 3}})
    return corpus, shards, Gasi(str(folder / "a"))


@pytest.mark.parametrize("size", [64, 1 << 22])
def test_equals_reading_the_text(made: tuple[Path, Shards, Gasi], size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts and shares are those of the text, whatever the size of the pieces; windows end where lines end."""
    corpus, shards, subject = made
    monkeypatch.setattr(pruning, "_NUMBERS", size)
    monkeypatch.setattr(pruning, "_JUDGED", 5)
    words = subject.vectors.words[::7]
    for word, expected in find_examples(subject, words, [corpus], n_best=0).items():
        found = count_senses(shards, subject.vectors, word, window=3)
        assert found.n == expected.n == subject.vectors.counts[subject.vectors.number(word)]
        assert found.chosen == tuple(each.n_chosen for each in expected.senses)
        assert found.shares == pytest.approx([each.share for each in expected.senses], abs=1e-6)


def test_what_is_refused(made: tuple[Path, Shards, Gasi]) -> None:
    """A word out of the vocabulary, and a corpus of other words."""
    _, shards, subject = made
    with pytest.raises(InputError, match="E712"):
        count_senses(shards, subject.vectors, "nowhere", window=3)
    vectors = subject.vectors
    other = SenseVectors(vectors.words[::-1], vectors.counts, vectors.senses, vectors.contexts, vectors.mask)
    with pytest.raises(InputError, match="E713"):
        count_senses(shards, other, vectors.words[0], window=3)
