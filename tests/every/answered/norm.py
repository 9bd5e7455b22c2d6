"""norm with an answer to each question: simulated ratings, two models that rate, the embedded encoder."""

from __future__ import annotations

from pathlib import Path

from lexiscope.studies.norm.settings import NormSettings

SIMULATED = Path(__file__).parents[2] / "simulated"


def settings(folder: Path) -> NormSettings:
    """Return the settings; few draws, as only the contract is tested."""
    return NormSettings(
        dataset=str(SIMULATED / "relatedness.py"),
        subjects=("encoder:minilm", "baseline:word_overlap"),
        sizes=(12, 20),
        draws=20,
    )
