"""any_ratings with an answer to each question: simulated ratings and groups, the embedded encoder, a baseline."""

from __future__ import annotations

from pathlib import Path

from lexiscope.studies.any_ratings.settings import AnyRatingsSettings

SIMULATED = Path(__file__).parents[2] / "simulated"


def settings(folder: Path) -> AnyRatingsSettings:
    """Return the settings; the countries of the simulated participants are written into the folder."""
    rows = [f"simulated-{n:02},{('Chile', 'Mexico')[n % 2]},{20 + n}" for n in range(1, 15)]
    participants = folder / "participants.csv"
    participants.write_text("\n".join(["participant_id,country,age", *rows]) + "\n", encoding="utf-8")
    return AnyRatingsSettings(
        dataset=str(SIMULATED / "relatedness.py"),
        participants=str(participants),
        subjects=("encoder:minilm", "baseline:word_overlap"),
        starts=1,
    )
