"""synonymy with an answer to each question: the embedded items, a subject by rule that also fills gaps, a baseline."""

from __future__ import annotations

from pathlib import Path

from lexiscope.studies.synonymy.settings import SynonymySettings

TESTS = Path(__file__).parents[2]


def settings(folder: Path) -> SynonymySettings:
    """Return the settings; nothing is written into the folder."""
    rule = f"{TESTS / 'simulated' / 'rules.py'}:base"
    counts = str(TESTS / "golden" / "own" / "counts.csv")
    return SynonymySettings(dataset="mini_synonymy", subjects=(rule, "baseline:random"), frequency=counts)
