"""ambistory with an answer to each question: simulated ratings, and two subjects by rule, one as if trained."""

from __future__ import annotations

from pathlib import Path

from lexiscope.studies.ambistory.settings import AmbistorySettings

SIMULATED = Path(__file__).parents[2] / "simulated"


def settings(folder: Path) -> AmbistorySettings:
    """Return the settings; nothing is written into the folder."""
    base, tuned = (f"{SIMULATED / 'rules.py'}:{name}" for name in ("base", "tuned"))
    return AmbistorySettings(dataset=str(SIMULATED / "stories.py"), subjects=(base, tuned), compare=((tuned, base),))
