"""The words that the settings name, and the names of subjects: which have a map, and that no two are alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.report.part import part_of, short_titles
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.studies.sense_induction.vectors import trainings
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.subjects.senses.sense_embedding import SenseEmbedding
from lexiscope.training.gasi.train import write_senses

WORDS = ("bank", "shore", "river", "loan", "pin")


@pytest.fixture
def run(tmp_path: Path) -> SenseData:
    """Two senses a word; those of *pin* have length 0, and *loan* has one."""
    senses = np.random.default_rng(0).normal(size=(len(WORDS), 2, 4)).astype(np.float32)
    senses[WORDS.index("pin")] = 0
    mask = np.array([[True, word != "loan"] for word in WORDS])
    vectors = SenseVectors(WORDS, np.arange(50, 0, -10), senses, np.ones((len(WORDS), 4), np.float32), mask)
    write_senses(tmp_path / "a", vectors, {"settings": {"variant": "gasi", "window": 2}})
    subject = Gasi(str(tmp_path / "a"))
    settings = SenseInductionSettings(words=("bank", "loan", "pin", "toad"))
    return SenseData(settings, subjects=(subject,), titles={subject.subject_id: "a"})


def test_vectors_of_one_file_with_two_windows_have_two_names() -> None:
    """A table in which two rows have one name says nothing: where the paths are alike, the ids are taken."""
    near, far = (SenseEmbedding("muse", "a/v.txt", window=n, name=f"muse:a/v.txt?window={n}") for n in (5, 10))
    other = SenseEmbedding("muse", "b/w.txt", name="muse:b/w.txt")
    ids = [near.subject_id, far.subject_id, other.subject_id]
    assert list(short_titles(ids).values()) == [
        near.subject_id,
        far.subject_id,
        "w.txt",
    ]


def test_a_map_needs_two_senses_with_neighbours(run: SenseData) -> None:
    """Of four words one has two senses with a direction: it has a map of three neighbours each, the others a reason."""
    part = part_of(trainings(run))
    assert [len(figure.data["word"]) for figure in part.figures] == [2 * 3]
    assert [each.reason for each in part.omissions if each.analysis == "Map of neighbours"] == [
        "It has no two senses of 'loan'.",
        "The senses of 'pin' have no direction, and no neighbours.",
        "It has no two senses of 'toad'.",
    ]
