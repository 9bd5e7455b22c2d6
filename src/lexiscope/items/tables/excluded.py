"""What could not be made into items, with the reason: a list with the items, never a silent gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.items.tables.spreadsheet import write_sheet

COLUMNS = ("word", "sense", "why")
"""The columns of the list."""


@dataclass(frozen=True, slots=True)
class ExcludedEntry:
    """A word, or one of its senses where only that was left out, and why."""

    word: str
    why: str
    sense: str = ""


def write_excluded(path: Path | str, entries: Sequence[ExcludedEntry]) -> None:
    """Write the list as CSV, its rows in the order given; a list of nothing is a file with its heading alone."""
    write_sheet(path, COLUMNS, [(entry.word, entry.sense, entry.why) for entry in entries])
