"""``lexiscope senses``: the group, and the count of senses by frequency."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from lexiscope.cli.senses import VERBS, senses

from ..training.gasi.corpus import write_corpus
from .conftest import Run

SMALL = ("--dimensions", 8, "--epochs", 1, "--min-count", 1, "--subsampling", 0, "--quiet")


@pytest.mark.parametrize("verb", VERBS)
def test_table_of_verbs_is_true(verb: str) -> None:
    """Each verb's one-line help is the first line of its own help, and its command has its name."""
    command = senses.get_command(click.Context(senses), verb)
    assert command is not None
    assert command.name == verb
    assert (command.help or "").splitlines()[0] == VERBS[verb][1]


def test_help_imports_little(imported: Callable[..., set[str]]) -> None:
    """The help of the group imports no library of numbers and none of models."""
    assert imported(["senses", "--help"], ("torch", "numba", "pandas", "scipy", "matplotlib", "numpy")) == set()


def test_senses_are_counted_by_frequency(run: Run, tmp_path: Path) -> None:
    """48 words with 3 senses each make 4 bins of 12 words; table and file say the same."""
    corpus = write_corpus(tmp_path)
    assert run("train", "gasi", "--corpus", corpus, "--out", "a", *SMALL).exit_code == 0
    done = run("senses", "histogram", "a", "--bins", 4, "--out", "h.csv")
    assert done.exit_code == 0, done.output
    lines = (tmp_path / "h.csv").read_text().splitlines()
    assert lines[0] == "first_rank,last_rank,1 senses,2 senses,3 senses,mean"
    assert lines[1:] == [f"{1 + 12 * n},{12 + 12 * n},0,0,12,3.0" for n in range(4)]
    assert "37-48" in done.stdout
