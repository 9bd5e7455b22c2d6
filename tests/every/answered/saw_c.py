"""saw_c with an answer to each question: simulated ratings, made-up encoders, the embedded encoder, a baseline."""

from __future__ import annotations

from pathlib import Path

from lexiscope.studies.saw_c.settings import SawCSettings

SIMULATED = Path(__file__).parents[2] / "simulated"


def settings(folder: Path) -> SawCSettings:
    """Return the settings; nothing is written into the folder."""
    return SawCSettings(
        dataset=str(SIMULATED / "relatedness.py"), subjects=("encoder:minilm", "baseline:word_overlap"), starts=1
    )
