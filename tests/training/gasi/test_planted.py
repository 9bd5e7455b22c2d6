"""From planted senses to what was recovered: the whole way, on a corpus in which contexts separate the two words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.analysis.senses.planted import SenseRecovery, sense_recovery
from lexiscope.analysis.significance import paired_t
from lexiscope.build.planted.senses import PseudoWord, plant_words, planted_usages
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.resources.vectors.sense_vectors import SenseVectors, read_sense_vectors
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.training.gasi.planted import PlantedSenses
from lexiscope.training.gasi.settings import VARIANTS, GasiSettings, Variant
from lexiscope.training.gasi.shards import make_shards
from lexiscope.training.gasi.train import train_gasi, write_senses
from lexiscope.training.gasi.vocabulary import VocabularyLimits

from .corpus import noisy_lines, topic_lines

# river words with money words, music words with garden words
PLANTED = [PseudoWord(f"river{a}", f"money{a}") for a in "abc"] + [PseudoWord(f"music{a}", f"garden{a}") for a in "abc"]


def recovered(folder: Path, variant: Variant, *, senses: int = 2, noise: float = 0.0, seed: int = 0) -> SenseRecovery:
    lines = noisy_lines(noise=noise, seed=1) if noise else topic_lines(1500, seed=1)
    folder.mkdir()
    (folder / "corpus.txt").write_text("".join(" ".join(line) + "\n" for line in plant_words(lines, PLANTED)))
    shards = make_shards([folder / "corpus.txt"], folder / "shards", limits=VocabularyLimits(min_count=1))
    how = GasiSettings(
        variant=variant, dimensions=24, subsampling=0.0, epochs=6, learning_rate=0.05, chunk_tokens=2000, senses=senses
    )
    train_gasi(shards, out=folder / "senses", settings=how, seed=seed)
    usages = planted_usages(lines, PLANTED, per_word=40)
    chosen = Gasi(str(folder / "senses")).sense_distribution(usages).argmax(axis=1)
    return sense_recovery([str(each.lemma) for each in usages], chosen, [str(each.sense) for each in usages])


def duplicates(folder: Path) -> float:
    """Return the mean cosine distance of the senses of the pseudo-words."""
    vectors = read_sense_vectors(folder)
    rows = np.stack([vectors.senses[vectors.number(each.name)] for each in PLANTED]).astype(float)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    upper = np.triu_indices(rows.shape[1], 1)
    return float((1 - rows @ rows.transpose(0, 2, 1))[:, upper[0], upper[1]].mean())


def test_gasi_beta_recovers_planted_senses(tmp_path: Path) -> None:
    """Two planted senses, contexts of their own: GASI-β tells them apart, far above one sense for all (.5)."""
    found = recovered(tmp_path / "a", "gasi_beta")
    assert found.majority == pytest.approx(0.5, abs=0.02)
    assert found.accuracy > 0.9
    assert found.accuracy_interval.low > 0.75
    assert found.recovered > 1.8


@pytest.mark.parametrize("seed", [0, 1])
def test_gasi_beta_is_far_above_plain_attention(tmp_path: Path, seed: int) -> None:
    """Where most words of a line say nothing, plain attention never decides: its senses become one; GASI-β decides."""
    gasi = recovered(tmp_path / "gasi", "gasi_beta", senses=3, noise=0.6, seed=seed)
    sasi = recovered(tmp_path / "sasi", "sasi", senses=3, noise=0.6, seed=seed)
    assert gasi.accuracy > 0.8
    by_word = [[word.accuracy for word in side.words] for side in (gasi, sasi)]
    apart = paired_t(*by_word).interval
    assert apart is not None
    assert apart.low > 0.2
    assert min(by_word[0]) > gasi.majority + 0.1
    assert gasi.accuracy - sasi.accuracy > 0.25
    assert duplicates(tmp_path / "sasi" / "senses") < 0.01 < 0.2 < duplicates(tmp_path / "gasi" / "senses")


def test_only_scaled_noise_learns_a_choice_that_is_decided(tmp_path: Path) -> None:
    """Fig. 5: after training, judged without noise, GASI is nearly as flat as equal chances and GASI-β is not.

    Noise as large as g hides what contexts say, and plain attention has no need to part its senses; the entropy of γ as
    it is drawn in training does not show this: noise alone makes that of GASI low.
    """
    made = "".join(" ".join(line) + "\n" for line in noisy_lines(seed=1))
    (tmp_path / "corpus.txt").write_text(made)
    shards = make_shards([tmp_path / "corpus.txt"], tmp_path / "shards", limits=VocabularyLimits(min_count=1))
    last = {}
    for variant in VARIANTS[1:]:
        how = GasiSettings(
            variant=variant, dimensions=24, subsampling=0.0, epochs=6, learning_rate=0.05, chunk_tokens=2000
        )
        last[variant] = train_gasi(shards, out=tmp_path / variant, settings=how).log[-1]
    flat = np.log(3)
    assert last["sasi"].entropy_without_noise > 0.95 * flat
    assert last["gasi"].entropy_without_noise > 0.85 * flat
    assert last["gasi_beta"].entropy_without_noise < 0.65 * flat
    assert last["gasi"].entropy < 0.65 * flat


def test_what_a_subject_makes_of_planted_usages(tmp_path: Path) -> None:
    """The sense of each usage that a subject knows is an answer; without a reference nothing is said of looks.

    Who knows fewer than two of the pseudo-words has no answers.
    """
    dice, words = np.random.default_rng(0), ("ab", "cd", "x", "y")
    senses = dice.normal(size=(4, 2, 3)).astype(np.float32)
    vectors = SenseVectors(words, np.array([4, 3, 2, 1]), senses, senses[:, 0], np.ones((4, 2), np.bool_))
    (tmp_path / "v").mkdir()
    write_senses(tmp_path / "v", vectors, {"settings": {"variant": "gasi", "window": 2}})
    usages = [Usage(f"x {name} y", 2, 4, lemma=name, sense=sense) for name in ("ab", "cd", "ef") for sense in "mn"]
    items = tuple(Item(f"p{number}", "planted", (usage,)) for number, usage in enumerate(usages))
    subject = Gasi(str(tmp_path / "v"))
    planted = PlantedSenses("made", items, (subject,))
    (rows,) = planted.responses
    assert rows.column("item_id").tolist() == ["p0", "p1", "p2", "p3"]
    found = {one.name: one.value for one in planted.recovery(subject, resamples=0)}
    assert found["n_unknown"] == 2
    assert found["planted_majority"] == 0.5
    assert "planted_selection" not in found
    assert (planted.planted_words, planted.has_known_neighbours(subject)) == ({}, False)
    assert PlantedSenses("made", items[4:], (subject,)).answers == {}
