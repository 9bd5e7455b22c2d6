"""Planted senses in real text: what the benchmark prints of GASI-β and plain attention, asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "planted_senses.py"
GASI, SASI = "gasi_beta, K = 2", "sasi, K = 2"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, published: object) -> dict[str, Any]:
    """What the benchmark found in 8M tokens of the shared corpus with 30 pseudo-words, at the rate of the how-to."""
    work = tmp_path_factory.mktemp("planted")
    how = ["--seeds", "1", "--senses", "2", "--variants", "skip_gram", "sasi", "gasi_beta", "--learning-rate", "0.025"]
    subprocess.run([sys.executable, str(SCRIPT), "--work", str(work), *how], check=True)
    return json.loads((work / "quality.json").read_text())


@pytest.mark.soak
@pytest.mark.published
def test_gasi_beta_selects_planted_senses_of_the_shared_corpus(found: dict[str, Any]) -> None:
    """The sense that GASI-β chooses goes with the planted word far more often than one sense for all does."""
    gasi, one_sense = found["methods"][GASI], found["methods"]["skip_gram"]
    assert gasi["one_to_one"]["low"] > one_sense["one_to_one"]["high"] + 0.1
    assert gasi["by_neighbours"]["low"] > 0.7
    assert gasi["recovered_by_neighbours"] > 1.8


@pytest.mark.soak
@pytest.mark.published
def test_senses_of_gasi_beta_look_like_what_they_stand_for_and_those_of_plain_attention_do_not(
    found: dict[str, Any],
) -> None:
    """By neighbours GASI-β is above plain attention before pruning and after it, and by argmax after it.

    By argmax before pruning the two are close: near duplicates of plain attention tilt enough for it.
    """
    plain, pruned = (found["differences"][f"{GASI}{kind} − {SASI}{kind}"] for kind in ("", ", pruned"))
    assert plain["by_neighbours"]["low"] > 0.05
    assert pruned["by_neighbours"]["low"] > 0.05
    assert pruned["one_to_one"]["low"] > 0.05
    assert found["methods"][SASI]["recovered_by_neighbours"] < found["methods"][GASI]["recovered_by_neighbours"]
