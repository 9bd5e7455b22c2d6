"""Planted senses in real text: what the benchmark prints of GASI-β and plain attention, asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "sense_induction.py"


@pytest.mark.soak
@pytest.mark.published
def test_gasi_beta_selects_planted_senses_of_the_shared_corpus(tmp_path: Path, published: object) -> None:
    """8M tokens: the sense that GASI-β chooses looks right far more often than chance and than plain attention's.

    The interval over pseudo-words of the one lies above that of the other, before pruning and after it.
    """
    how = ["--tokens", "8000000", "--variants", "sasi", "gasi_beta"]
    subprocess.run([sys.executable, str(SCRIPT), "planted", "--work", str(tmp_path), *how], check=True)
    found = json.loads((tmp_path / "selection.json").read_text())
    for kind in ("", ", pruned"):
        gasi, sasi = found[f"gasi_beta{kind}"], found[f"sasi{kind}"]
        assert gasi["accuracy"] > 0.7
        assert gasi["accuracy_interval"]["low"] > max(sasi["accuracy_interval"]["high"], 0.6)
        assert gasi["probability"] > sasi["probability"]
        assert gasi["recovered"] > sasi["recovered"]
