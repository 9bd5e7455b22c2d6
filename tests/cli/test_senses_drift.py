"""``lexiscope senses drift``: senses whose usages were planted in two corpora, on vectors made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.response import ResponseTable
from lexiscope.core.result import find_record, read_records
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.train import write_senses

from .conftest import Run

NATURE, MONEY = ("river", "shore", "stream", "tide"), ("loan", "cash", "credit", "debt")


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """Vectors whose senses the words around choose, and two corpora: *bank* gets a second sense in the later one.

    *crane* is used alike in both; its first sense was pruned, so that the other ones are numbers 2 and 3.
    """
    words = ("bank", "crane", *NATURE, *MONEY)
    senses, contexts = np.zeros((len(words), 3, 2), np.float32), np.zeros((len(words), 2), np.float32)
    senses[0], senses[1] = [(9, 0), (0, 9), (1, 1)], [(1, 1), (9, 0), (0, 9)]
    mask = np.array([[True, True, False], [False, True, True], *[[True, False, False]] * 8])
    for row in range(2, 10):
        senses[row, 0] = contexts[row] = (1, 0) if words[row] in NATURE else (0, 1)
    vectors = SenseVectors(words, np.full(10, 100), senses, contexts, mask)
    write_senses(tmp_path / "senses", vectors, {"settings": GasiSettings(senses=3, dimensions=2).deciding_values()})
    for name, n_money in (("old", 0), ("new", 30)):
        lines = [f"The bank number {n} of the {(MONEY if n < n_money else NATURE)[n % 4]} ." for n in range(60)]
        lines += [f"A crane number {n} with its {(NATURE if n < 30 else MONEY)[n % 4]} ." for n in range(60)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines))
    (tmp_path / "words.txt").write_text("bank\ncrane\nunheard\nloan\n")
    return tmp_path


def test_planted_drift_comes_out(run: Run, corpora: Path) -> None:
    """Half of the later usages of bank are of a new sense: shares, difference, verdict, examples; crane is steady."""
    options = ("--words", "words.txt", "--first", "old.txt", "--second", "new.txt", "--names", "1900", "2000")
    done = run("senses", "drift", "gasi:senses", *options, "--out", "drift")
    assert done.exit_code == 0, done.output
    records = read_records(corpora / "drift" / "results.json")
    bank = {"condition": "bank"}
    assert find_record(records, "sense_share(sense=2,corpus=first)", **bank).value == 0
    assert find_record(records, "sense_share(sense=2,corpus=second)", **bank).value == 0.5
    appeared = find_record(records, "sense_share_difference(sense=2)", **bank)
    assert (appeared.value, appeared.note) == (0.5, "appears")
    assert find_record(records, "sense_share_difference(sense=1)", **bank).note == "falls"
    # shares (1, 0) and (1/2, 1/2): 3/4 · log2(4/3) + ... = .3113 bits
    assert find_record(records, "sense_divergence", **bank).value == pytest.approx(0.3113, abs=1e-4)
    assert {r.note for r in records if r.condition == "crane" and "difference" in r.statistic} == {"steady"}
    assert find_record(records, "sense_share(sense=3,corpus=first)", condition="crane").value == 0.5
    page = (corpora / "drift" / "report.html").read_text()
    assert "1 of 2 words changed from 1900 to 2000" in page
    assert "appears: bank" in page
    assert "Sense 2, 2000: The [bank] number" in page
    assert "Sense 2, 1900" not in page
    assert "excluded: unheard (not in the vocabulary)" in done.stderr
    # loan is in each fourth line with money: 30 lines of crane in both corpora, and 30 of bank in the later one
    assert "Excluded: unheard (not in the vocabulary), loan (7 and 15 usages, fewer than 10)." in page
    rows = ResponseTable.read_parquet(corpora / "drift" / "responses.parquet")
    assert len(rows) == 240
    assert sum(option == "2" for option in rows.where(measure="induced_sense").column("option")) == 30 + 60
    told = json.loads(run("senses", "drift", "gasi:senses", *options, "--out", "again", "--json", "-q").stdout)
    assert {row["condition"] for row in told} == {"bank", "crane"}


def test_words_that_are_not_there_are_refused(run: Run, corpora: Path) -> None:
    """No listed word has usages in both corpora: an error, and no folder."""
    (corpora / "words.txt").write_text("unheard\n")
    done = run("senses", "drift", "gasi:senses", "--words", "words.txt", "--first", "old.txt", "--second", "new.txt",
               "--out", "drift")  # fmt: skip
    assert done.exit_code == 1
    assert "no word has 10 usages" in done.stderr
    assert not (corpora / "drift").exists()
