"""Seals: each transaction notes the rows that it added in the audit log, by their hashes.

The log is a chain under the study's secret key. A program that edits, deletes or adds a row of a sealed table
leaves a seal without its row or a row without its seal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from lexiscope.annotation.store import audit
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.schema import (
    ANSWERS,
    AUDIT,
    CODES,
    CONSENTS,
    ERASURES,
    REVIEWS,
    SCHEMA_VERSION,
    STATES,
    STATUSES,
)

SEALED = (ANSWERS, STATES, CONSENTS, CODES, REVIEWS, STATUSES, ERASURES)
"""The tables whose rows are sealed."""


def sealed_in(version: int) -> tuple[sa.Table, ...]:
    """Return the tables whose rows are sealed in a version of a study's tables: the first one had no seals."""
    return SEALED if version >= 2 else ()


ACTION, ERASED = "seal", "forget"
_UNSEALED = "lexiscope_unsealed"
_KEYS = {table.name: tuple(column.name for column in table.primary_key.columns) for table in SEALED}
_NAMES = {table.name: tuple(column.name for column in table.columns) for table in SEALED}
_INSERTS = {table.name: table.insert().returning(*table.primary_key.columns) for table in SEALED}
_LARGEST = 5000

Seal = tuple[str, tuple[Any, ...], str]
"""A table, the primary key of a row, the row's hash."""


def insert(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any]) -> Any:
    """Add a row to a sealed table, to be sealed with the transaction; return the first part of its primary key."""
    key = tuple(connection.execute(_INSERTS[table.name], row).one())
    whole = {**row, **dict(zip(_KEYS[table.name], key, strict=True))}
    unsealed_rows(connection).append((table.name, key, digest(table.name, whole)))
    return key[0]


def unsealed_rows(connection: sa.Connection) -> list[Seal]:
    """Return the seals of the present transaction: the writer empties the list and takes back those of failed jobs."""
    seals: list[Seal] = connection.info.setdefault(_UNSEALED, [])
    return seals


def digest(table: str, row: Mapping[str, Any]) -> str:
    """Return the hash of a row's columns in their order, 128 bits of SHA-256."""
    return _digest(json.dumps([table, *(row.get(name) for name in _NAMES[table])]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


def seal(connection: sa.Connection, key: bytes, seals: Iterable[Seal], *, at: str) -> None:
    """Write seals into the audit log; nothing where there are none."""
    rows = list(seals)
    for start in range(0, len(rows), _LARGEST):
        details = {"rows": rows[start : start + _LARGEST]}
        audit.append(connection, key, at=at, actor="store", action=ACTION, details=details)


def seals_of(connection: sa.Connection, tables: Iterable[sa.Table] = SEALED) -> Iterable[Seal]:
    """Yield the seals that the rows of these tables have now."""
    for table in tables:
        name, places = table.name, [1 + _NAMES[table.name].index(key) for key in _KEYS[table.name]]
        query = sa.select(table).order_by(*table.primary_key.columns).execution_options(yield_per=_LARGEST)
        for batch in connection.execute(query).partitions():
            rows = [(name, *row) for row in batch]
            for row, text in zip(rows, audit.json_texts(rows), strict=True):
                yield name, tuple([row[place] for place in places]), _digest(text)


def seal_problems(connection: sa.Connection, version: int = SCHEMA_VERSION) -> list[str]:
    """Return the rows of sealed tables that do not fit their seals; rows that an erasure removed are not reported."""
    problems = []
    expected, erased = _logged_seals(connection)
    for table, key, value in seals_of(connection, sealed_in(version)):
        known = expected.pop((table, key), None)
        if known != value:
            key_text = ", ".join(map(str, key))
            problems.append(
                f"{table}, row {key_text}: {'was not written by the store' if known is None else 'was edited'}"
            )
    missing = [(table, key) for table, key in expected if (table, key) not in erased]
    return problems + [f"{table}, row {', '.join(map(str, key))}: is missing" for table, key in missing]


def _logged_seals(connection: sa.Connection) -> tuple[dict[tuple[str, tuple[Any, ...]], str], set[tuple[str, Any]]]:
    """The seals in the log, and the rows that an erasure removed."""
    query = sa.select(AUDIT.c.action, AUDIT.c.details).where(AUDIT.c.action.in_((ACTION, ERASED)))
    expected: dict[tuple[str, tuple[Any, ...]], str] = {}
    erased: set[tuple[str, Any]] = set()
    for action, text in connection.execute(query):
        details = json.loads(text)
        if action == ACTION:
            expected.update(((table, tuple(key)), value) for table, key, value in details["rows"])
        else:
            erased |= {(table, (number,)) for table in ("answers", "reviews") for number in details.get(table, ())}
    return expected, erased
