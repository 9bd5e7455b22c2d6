"""Cells that the store cannot have written.

SQLite keeps whatever another program writes, in a column of any type. What reads the rows relies on their types, so
that odd cells are found when a study is opened. Rows of sealed tables are compared with their hashes (``seals.py``),
the audit log with its chain; this is for the other tables.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any, get_args

from lexiscope.annotation.store import places
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import Kind, Phase, State, StudyRecord
from lexiscope.annotation.store.schema import (
    ALEMBIC_VERSION,
    ANSWERS,
    AUDIT,
    AUDIT_HEAD,
    LEASES,
    LISTS,
    METADATA,
    STATES,
    TIME,
    TRIALS,
)
from lexiscope.annotation.store.seals import sealed_in

_CHECKED_ELSEWHERE = {AUDIT, AUDIT_HEAD, ALEMBIC_VERSION}
_OWN_ITEMS = {str(Phase.DEMOGRAPHICS), str(Phase.DEBRIEF)}
"""The phases whose items are no items of the material, but questions about the participant and the study."""


def odd_cells(connection: sa.Connection, version: int) -> list[str]:
    """Return the columns with a value that the store does not write; the value is not named: it may be a platform id.

    The values of a column are far fewer than its rows, but for those of participants. An older version has fewer
    tables, and seals fewer of them.
    """
    found, there = [], set(sa.inspect(connection).get_table_names())
    elsewhere = {*_CHECKED_ELSEWHERE, *sealed_in(version)}
    for table in METADATA.sorted_tables:
        for column in () if table in elsewhere or table.name not in there else table.columns:
            is_written = _KNOWN.get(column) or _reader_of(column)
            # as it is stored: SQLAlchemy would read it as what it should be
            values = connection.execute(sa.select(sa.type_coerce(column, sa.types.NullType())).distinct()).scalars()
            if not all((value is None and column.nullable) or is_written(value) for value in values):
                found.append(f"{table.name}.{column.name}: a value is there that the store does not write")
    return found


def unknown_to(study: StudyRecord, connection: sa.Connection) -> list[str]:
    """Return the columns with a list or an item that the study does not have; what is shown is looked up there."""
    asked = {item.item_id for item in study.items if item.kind is Kind.SELF_REPORT}
    shown = {item.item_id for item in study.items} - asked
    lists = set(connection.execute(sa.select(LISTS.c.list_id)).scalars())
    planned = connection.execute(sa.select(TRIALS.c.phase, TRIALS.c.item_id).distinct()).all()
    found = [] if lists == set(study.places) else ["lists.list_id: its lists are not those of the study"]
    if any(item_id not in (asked if phase in _OWN_ITEMS else shown) for phase, item_id in planned):
        found.append("trials.item_id: an item is planned that the study does not have in this phase")
    return found


def _reader_of(column: sa.Column[Any]) -> Callable[[object], bool]:
    if isinstance(column.type, sa.Boolean):
        return _is_truth
    if isinstance(column.type, sa.Integer):
        return _is_whole
    if isinstance(column.type, sa.Float):
        return _is_number
    return _is_time if column.type is TIME else _is_text


def _is_truth(value: object) -> bool:
    # PostgreSQL has a type for it, SQLite has not
    return isinstance(value, bool | int) and value in (0, 1)


def _is_whole(value: object) -> bool:
    # the tables that are exported have whole numbers of 32 bits
    return type(value) is int and -(2**31) <= value < 2**31


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


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
    ANSWERS.c.phase: tuple(Phase).__contains__,
    ANSWERS.c.display_order: _is_order,
    STATES.c.from_state: tuple(State).__contains__,
    STATES.c.to_state: tuple(State).__contains__,
}
