"""Cells that the store cannot have written.

SQLite keeps whatever another program writes, in a column of any type. What reads the rows relies on their types, so
that odd cells are found when a study is opened. Rows of sealed tables are compared with their hashes (``seals.py``),
the audit log with its chain; this is for the other tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, get_args

from lexiscope.annotation.store import places
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import Phase
from lexiscope.annotation.store.schema import ALEMBIC_VERSION, AUDIT, AUDIT_HEAD, LEASES, METADATA, TIME, TRIALS
from lexiscope.annotation.store.seals import SEALED

_CHECKED_ELSEWHERE = {*SEALED, AUDIT, AUDIT_HEAD, ALEMBIC_VERSION}


def odd_cells(connection: sa.Connection) -> list[str]:
    """Return the columns with a value that the store does not write; the value is not named: it may be a platform id.

    The values of a column are far fewer than its rows, but for those of participants.
    """
    found = []
    for table in METADATA.sorted_tables:
        for column in () if table in _CHECKED_ELSEWHERE else table.columns:
            is_written = _KNOWN.get(column) or _reader_of(column)
            # as it is stored: SQLAlchemy would read it as what it should be
            values = connection.execute(sa.select(sa.type_coerce(column, sa.types.NullType())).distinct()).scalars()
            if not all((value is None and column.nullable) or is_written(value) for value in values):
                found.append(f"{table.name}.{column.name}: a value is there that the store does not write")
    return found


def _reader_of(column: sa.Column[Any]) -> Callable[[object], bool]:
    if isinstance(column.type, sa.Boolean):
        return _is_truth
    if isinstance(column.type, sa.Integer):
        return _is_whole
    return _is_time if column.type is TIME else _is_text


def _is_truth(value: object) -> bool:
    # PostgreSQL has a type for it, SQLite has not
    return isinstance(value, bool | int) and value in (0, 1)


def _is_whole(value: object) -> bool:
    # the tables that are exported have whole numbers of 32 bits
    return type(value) is int and -(2**31) <= value < 2**31


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_order(value: object) -> bool:
    """Check that a value is the order of a trial's options, as JSON."""
    try:
        order = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return False
    if not isinstance(order, list) or any(type(one) is not int for one in order):
        return False
    return sorted(order) == list(range(len(order)))


_KNOWN: dict[sa.Column[Any], Callable[[object], bool]] = {
    LEASES.c.status: get_args(places.Status).__contains__,
    TRIALS.c.phase: tuple(Phase).__contains__,
    TRIALS.c.display_order: _is_order,
}
