"""The table for ``lexiscope agree``: answers that count, and no others, in the form of the response table."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.annotation.export.collected import Collected, exported
from lexiscope.annotation.export.plain_form import RATING
from lexiscope.core.response import ResponseTable

_CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class CountedTable:
    """The answers of valid people to real items in the trials; ``name`` is that of its files: ratings or choices."""

    name: str
    table: ResponseTable

    @property
    def file(self) -> str:
        """The name of the CSV file."""
        return f"{self.name}.csv"

    @property
    def row_is(self) -> str:
        """What one row is."""
        return f"one of the {self.name} that count: a real item, a valid participant. THE file for `lexiscope agree`"


def counted_table(collected: Collected) -> CountedTable | None:
    """Return the answers that count; ``None`` where they are texts, on which nobody agrees or disagrees."""
    table = exported(collected, collected.item_answers)
    if collected.measure == RATING:
        return CountedTable("ratings", table)
    chosen = any(option is not None for option in table.column("option"))
    return CountedTable("choices", table) if chosen or collected.measure == _CHOICE else None
