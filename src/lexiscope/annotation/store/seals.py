"""Seals: each transaction notes the rows that it added in the audit log, by their hashes.

The log is a chain under the study's secret key. A program that edits, deletes or adds a row of a sealed table
leaves a seal without its row or a row without its seal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
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
VOID = "seals_void"
"""In an entry on erased rows: every seal of them is before it in the log, which earlier versions did not ensure."""
_UNSEALED = "lexiscope_unsealed"
_KEYS = {table.name: tuple(column.name for column in table.primary_key.columns) for table in SEALED}
_NAMES = {table.name: tuple(column.name for column in table.columns) for table in SEALED}
_INSERTS = {table.name: table.insert().returning(*table.primary_key.columns) for table in SEALED}
_LARGEST = 5000
_ENTRIES = sa.select(AUDIT.c.action, AUDIT.c.details).order_by(AUDIT.c.id)

Seal = tuple[str, tuple[Any, ...], str]
"""A table, the primary key of a row, the row's hash."""
_KeyedSeal = tuple[tuple[Any, ...], str]
_Row = tuple[str, tuple[Any, ...]]


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


def withdraw(connection: sa.Connection, table: sa.Table, numbers: Collection[int]) -> None:
    """Take back the seals of the present transaction for rows that it also removes."""
    pending, gone = unsealed_rows(connection), {(number,) for number in numbers}
    pending[:] = [seal for seal in pending if seal[0] != table.name or seal[1] not in gone]


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


def seals_of(connection: sa.Connection, tables: Iterable[sa.Table] = SEALED) -> Iterator[Seal]:
    """Yield the seals that the rows of these tables have now."""
    for table in tables:
        for seals in _seals_of_rows(connection, table):
            for key, value in seals:
                yield table.name, key, value


def seal_problems(connection: sa.Connection, version: int = SCHEMA_VERSION) -> list[str]:
    """Return the rows of sealed tables that do not fit their seals; rows that an erasure removed are not reported."""
    problems = []
    logged = _LoggedSeals(connection)
    for table in sealed_in(version):
        for seals in _seals_of_rows(connection, table):
            for key, value in seals:
                known = logged.take(table.name, key)
                if known != value:
                    why = "was not written by the store" if known is None else "was edited"
                    problems.append(f"{table.name}, row {', '.join(map(str, key))}: {why}")
    return problems + [f"{table}, row {', '.join(map(str, key))}: is missing" for table, key in logged.left()]


def _seals_of_rows(connection: sa.Connection, table: sa.Table) -> Iterator[list[_KeyedSeal]]:
    """Yield the primary keys and the present hashes of a table's rows, some thousands at a time."""
    name, places = table.name, [1 + _NAMES[table.name].index(key) for key in _KEYS[table.name]]
    query = sa.select(table).order_by(*table.primary_key.columns).execution_options(yield_per=_LARGEST)
    for batch in connection.execute(query).partitions():
        rows = [(name, *row) for row in batch]
        keys = zip(*([row[place] for row in rows] for place in places), strict=True)
        yield list(zip(keys, map(_digest, audit.json_texts(rows)), strict=True))


class _LoggedSeals:
    """The seals in the log, read as far as the rows need them: those of a million rows would fill the memory.

    The log has the rows of a table mostly in the order of their keys. What it has before its row comes is kept. A seal
    is void if a later entry says that its row was erased; the number of that row may have been given again.
    """

    def __init__(self, connection: sa.Connection) -> None:
        at_a_time = {"yield_per": audit.entries_together(connection)}
        erasures = connection.execute(_ENTRIES.where(AUDIT.c.action == ERASED), execution_options=at_a_time)
        self._erased = {row for entry in erasures for row in _erased_rows(json.loads(entry.details))}
        both = _ENTRIES.where(AUDIT.c.action.in_((ACTION, ERASED)))
        self._entries = connection.execute(both, execution_options=at_a_time)
        self._seals: dict[str, dict[tuple[Any, ...], str]] = {table.name: {} for table in SEALED}
        # rows that an earlier version erased, until the seals of the same transaction come; and those sealed by these
        self._in_doubt: set[_Row] = set()
        self._doubted: set[_Row] = set()

    def take(self, table: str, key: tuple[Any, ...]) -> str | None:
        """Return the seal of a row, ``None`` where the log has none, and forget it."""
        seals = self._seals[table]
        # of a number that was given again the last seal counts
        is_erased = bool(self._erased) and (table, key) in self._erased
        while (key not in seals or is_erased) and self._read():
            pass
        return seals.pop(key, None)

    def left(self) -> list[_Row]:
        """Return the rows whose seals were not taken, and that no erasure removed."""
        while self._read():
            pass
        rows = [(table, key) for table, seals in self._seals.items() for key in seals]
        return [row for row in rows if row not in self._doubted]

    def _read(self) -> bool:
        """Read an entry of the log; return whether there was one."""
        entry = self._entries.fetchone()
        if entry is None:
            return False
        details = json.loads(entry.details)
        if entry.action == ERASED:
            erased = _erased_rows(details)
            for table, key in erased:
                self._seals[table].pop(key, None)
            self._in_doubt |= set() if VOID in details else set(erased)
            return True
        for table, key, value in details["rows"]:
            self._seals[table][tuple(key)] = value
        if self._in_doubt:
            self._doubted |= self._in_doubt & {(table, tuple(key)) for table, key, _ in details["rows"]}
            self._in_doubt = set()
        return True


def _erased_rows(details: Mapping[str, Any]) -> list[_Row]:
    """Return the rows that an entry of the log says were erased."""
    return [(table, (number,)) for table in ("answers", "reviews") for number in details.get(table, ())]
