"""What the paper prints: every number of its tables, as text, in ``printed.csv`` next to this file.

A record has a status only as the outcome of a comparison with one of these rows.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.study import printed_values
from lexiscope.studies.synonymy.cells import Cell

OLMO_1B, OLMO_7B, AMBER = "allenai/OLMo-1B", "allenai/OLMo-7B", "LLM360/Amber"
MODELS = (OLMO_1B, OLMO_7B, AMBER)
PAIRS = tuple(f"{a} vs {b}" for a, b in ((OLMO_1B, OLMO_7B), (OLMO_1B, AMBER), (OLMO_7B, AMBER)))


def versus(first: Cell, second: Cell) -> str:
    """Return the condition of the records of a contrast."""
    return f"{first.name} vs {second.name}"


PUBLISHED = printed_values(Path(__file__).with_name("printed.csv"), dataset="synonymy")
