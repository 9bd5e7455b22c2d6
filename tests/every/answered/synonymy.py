"""synonymy with an answer to each question: items of several kinds, a subject by rule that fills gaps, a baseline."""

from __future__ import annotations

from pathlib import Path

from lexiscope.studies.synonymy.settings import SynonymySettings

TESTS = Path(__file__).parents[2]


def settings(folder: Path) -> SynonymySettings:
    """Return the settings; nothing is written into the folder."""
    rule = f"{TESTS / 'simulated' / 'rules.py'}:base"
    counts = str(TESTS / "golden" / "own" / "counts.csv")
    items = str(TESTS / "data" / "synonyms_by_part_of_speech.csv")
    return SynonymySettings(items=items, subjects=(rule, "baseline:random"), frequency=counts)
