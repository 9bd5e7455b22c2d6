"""What a program's export says of its columns, and small things that several exports share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from lexiscope.core.errors import InputError
from lexiscope.resources.tables.cells import CellTable


@dataclass(frozen=True, slots=True)
class ProgramExport:
    """The table of an export, the program that wrote it, the columns by field, and notes for the reader.

    ``own`` are the columns that the program adds to those of the study: none of them is a condition. ``doubt`` is what
    cannot be told of the columns with answers: an error unless the user names them.
    """

    table: CellTable
    program: str = ""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    doubt: InputError | None = None


def is_number(text: str) -> bool:
    """Return whether a cell is a number as programs write it.

    >>> is_number("3.5"), is_number("three"), is_number("")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lower() not in ("nan", "inf", "-inf", "infinity")


def are_numbers(cells: Iterable[str]) -> bool:
    """Return whether a column holds numbers, and empty cells at most in addition."""
    filled = {cell for cell in cells if cell.strip() not in ("", "NA", "NULL", "null", "-99")}
    return bool(filled) and all(map(is_number, filled))


_POINTS = 4.0
"""The range from end to end of a scale of five points is."""


def off_scale(ranges: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the columns whose numbers are clearly not on the scale that most columns share: ages, years, times.

    *ranges* are the lowest and the highest number of each column. The scale is from the median of the lowest to the
    median of the highest numbers, and a column is off it that goes beyond by more than its length: ratings of few items
    may show a part of a scale only.

    >>> off_scale({"q1": (1, 4), "q2": (2, 5), "q3": (1, 5), "age": (18, 70)})
    ['age']
    """
    if not ranges:
        return []
    low, high = median(least for least, _ in ranges.values()), median(most for _, most in ranges.values())
    width = max(high - low, _POINTS) if high - low > 1 else max(high - low, 1.0)
    return [name for name, (least, most) in ranges.items() if most > high + width or least < low - width]


def first_named(header: Sequence[str], names: Sequence[str]) -> str:
    """Return the first of these names that a header has, regardless of its case and signs; empty if it has none.

    >>> first_named(["PROLIFIC_PID", "Q1"], ["participant", "prolific pid"])
    'PROLIFIC_PID'
    """
    plain = {_plain(name): name for name in reversed(header)}
    return next((plain[_plain(name)] for name in names if _plain(name) in plain), "")


def _plain(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


PARTICIPANT_NAMES = (
    *("participant_id", "participant", "subject_id", "subject", "prolific_pid", "prolific_id", "worker_id", "rater"),
    *("user_id", "run_id", "id"),
)
"""What researchers call the id of a participant in programs that let them name it, the most certain first."""
ITEM_NAMES = ("item_id", "item", "stimulus_id", "stim_id", "item_number", "pair_id", "pair", "sentence_id", "trial_id")
"""What they call an item."""
