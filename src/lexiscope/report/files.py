"""The text of a CSV file, at full precision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lexiscope.core.run import csv_lines


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV text; numbers keep full precision, ``None`` and not-a-number are empty.

    >>> csv_text(["a", "b"], [[0.1, None], ["x,y", float("nan")]])
    'a,b\\n0.1,\\n"x,y",\\n'
    """
    return csv_lines(header, ([_plain(value) for value in row] for row in rows))


def _plain(value: object) -> object:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else value
