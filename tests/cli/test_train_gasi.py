"""``lexiscope train gasi``, ``gasi_prune`` and ``gasi_export``: from text to vectors, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.usage import Usage
from lexiscope.resources.vectors.sense_vectors import read_sense_vectors
from lexiscope.subjects.senses.gasi import Gasi

from ..training.gasi.corpus import write_corpus
from .conftest import Run

SMALL = ("--dimensions", 8, "--epochs", 2, "--min-count", 1, "--subsampling", 0, "--quiet")


def test_from_text_to_a_pruned_subject(run: Run, tmp_path: Path) -> None:
    """Train, prune, train again with the senses that are left, export; each step says where it wrote."""
    corpus = write_corpus(tmp_path)
    done = run("train", "gasi", "--corpus", corpus, "--out", "a", "--shards", "s", *SMALL)
    assert done.exit_code == 0, done.output
    assert "144 senses of 48 words" in done.stdout
    before = (tmp_path / "a" / "vectors.safetensors").read_bytes()
    again = run("train", "gasi", "--corpus", corpus, "--out", "a", "--shards", "s", *SMALL, "--json")
    assert len(json.loads(again.stdout)) == 2
    assert (tmp_path / "a" / "vectors.safetensors").read_bytes() == before
    pruned = run("train", "gasi_prune", "a", "--out", "b", "--threshold", 0.6, "--json")
    told = json.loads(pruned.stdout)
    assert told["n_before"] == 144 > told["n_after"] >= 48
    assert sum(sum(row["n_words"]) for row in told["senses_by_frequency"]) == 48
    assert "threshold 0.6000" in run("train", "gasi_prune", "a", "--out", "c", "--threshold", 0.6).stdout
    done = run("train", "gasi", "--corpus", corpus, "--out", "d", "--shards", "s", "--senses-of", "b", *SMALL)
    assert f"{told['n_after']} senses of 48 words" in done.stdout
    exported = run("train", "gasi_export", "d", "--out", "d.txt")
    assert exported.exit_code == 0
    assert (tmp_path / "d.txt").read_text().startswith(f"{told['n_after']} 8\n")
    subject = catalog.subject("gasi:d")
    assert isinstance(subject, Gasi)
    found = subject.sense_distribution([Usage("rivera riverb moneyc", 7, 13)])
    assert found.sum() == pytest.approx(1, abs=1e-6)
    assert ((found > 0) == read_sense_vectors(tmp_path / "d").mask[subject.vectors.index["riverb"]]).all()


def test_a_training_tells_its_rate_and_both_entropies(run: Run, tmp_path: Path) -> None:
    """Tokens a second by the call that learns alone; the entropy of the choice as drawn and without noise; a batch."""
    corpus = write_corpus(tmp_path)
    more = SMALL[:-1]
    done = run("train", "gasi", "--corpus", corpus, "--out", "a", "--backend", "torch", "--batch", 64, *more)
    assert done.exit_code == 0, done.output
    assert "tokens of the corpus a second" in done.stderr
    assert "entropy" in done.stdout
    assert "without noise" in done.stdout
    assert json.loads((tmp_path / "a" / "settings.json").read_text())["settings"]["batch"] == 64
    again = run("train", "gasi", "--corpus", corpus, "--out", "a", "--backend", "torch", "--batch", 64, *more)
    assert "a second" not in again.stderr


def test_bad_text_is_refused(run: Run, tmp_path: Path) -> None:
    """A binary file, a list of words and an absent one are told, and no folder is left."""
    (tmp_path / "a.bin").write_bytes(b"a b\n\0\n")
    (tmp_path / "words.txt").write_text("bank\nriver\n" * 9)
    (tmp_path / "rare.txt").write_text("bank river money\n")
    for name, code in (("a.bin", "E702"), ("words.txt", "E704"), ("rare.txt", "E705"), ("none.txt", "E701")):
        done = run("train", "gasi", "--corpus", name, "--out", "x", "--quiet")
        assert done.exit_code != 0
        assert f"[{code}]" in done.stderr + str(done.exception)
        assert not (tmp_path / "x").exists()


def test_a_folder_of_something_else_is_left_alone(run: Run, tmp_path: Path) -> None:
    """Nothing is written to a folder that holds other files."""
    corpus = write_corpus(tmp_path, 20)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "thesis.txt").write_text("years of work")
    done = run("train", "gasi", "--corpus", corpus, "--out", "x", *SMALL)
    assert done.exit_code != 0
    assert "thesis.txt" in done.stderr
    assert [each.name for each in (tmp_path / "x").iterdir()] == ["thesis.txt"]


def test_help_imports_no_compiler(imported: Callable[..., set[str]]) -> None:
    """The help of a training imports neither torch nor numba."""
    assert imported(["train", "gasi", "--help"], ("torch", "numba", "pandas", "scipy")) == set()


def test_words_that_no_sentence_shows_are_told(run: Run, tmp_path: Path) -> None:
    """A text that was cut otherwise than sentences will be has words that are learnt in vain: they are counted."""
    (tmp_path / "c.txt").write_text("the New_York bank 's well-known <num>\n" * 20)
    asked = ("train", "gasi", "--corpus", "c.txt", "--tokens", "given", *SMALL[:-1])
    done = run(*asked, "--out", "a")
    assert done.exit_code == 0, done.output
    assert (
        "2 of 6 words (33.3 % of the text), 'New_York', 'well-known' for instance, are written otherwise" in done.stderr
    )
    (tmp_path / "c.txt").write_text("the bank 's <num>\n" * 20)
    assert "otherwise" not in run(*asked, "--out", "b").stderr


def test_senses_that_do_not_part_are_told(run: Run, tmp_path: Path) -> None:
    """At a rate near 0 nothing is learnt, and all senses stay equally probable: the remark says so. Other rates, and
    words with one sense, have none."""
    corpus = write_corpus(tmp_path)
    asked = ("train", "gasi", "--corpus", corpus, "--shards", "s", *SMALL[:-1])
    told = run(*asked, "--out", "a", "--learning-rate", 1e-6).stderr
    assert "the senses hardly differ" in told
    assert "(entropy 1.099 of at most 1.099)" in told
    assert "hardly differ" not in run(*asked, "--out", "b", "--senses", 1).stderr
    assert "hardly differ" not in run(*asked, "--out", "c", "--learning-rate", 0.2, "--epochs", 8).stderr
