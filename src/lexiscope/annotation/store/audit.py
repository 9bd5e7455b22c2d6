"""The audit log: every action of the store and of the researchers, in a chain of keyed hashes.

Each entry's hash covers the entry and the hash before it, under the secret key of the study's folder, and a head record
holds the number of entries and the last hash. If a row of the database is edited or deleted, the last one included, the
chain cannot be made to fit again without the key.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.schema import AUDIT, AUDIT_HEAD

_START = "0" * 64
ROWS_TOGETHER = 5000
"""The number of rows that are read and hashed at a time."""
# built once: every commit seals its rows with these
_HEAD = sa.select(AUDIT_HEAD.c.entries, AUDIT_HEAD.c.hash)
_SHOWN = (AUDIT.c.id, AUDIT.c.at, AUDIT.c.actor, AUDIT.c.action, AUDIT.c.details)
_ENTRY, _BEGIN, _MOVE = AUDIT.insert(), AUDIT_HEAD.insert(), AUDIT_HEAD.update()


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """Whether the audit log is whole: the number of entries, and what is wrong (empty where nothing is)."""

    entries: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry of the audit log: its number from 1, its time in UTC, who did what, and the details as JSON."""

    number: int
    at: str
    actor: str
    action: str
    details: str


def entries(
    connection: sa.Connection, *, without: Collection[str], limit: int, offset: int
) -> tuple[int, tuple[AuditEntry, ...]]:
    """Return how many entries there are without these actions, and a page of them, newest first."""
    chosen = AUDIT.c.action.not_in(list(without))
    n = int(connection.execute(sa.select(sa.func.count()).select_from(AUDIT).where(chosen)).scalar_one())
    page = sa.select(*_SHOWN).where(chosen).order_by(AUDIT.c.id.desc()).limit(limit).offset(offset)
    return n, tuple(AuditEntry(*row) for row in connection.execute(page))


def latest_entry(connection: sa.Connection, actions: Collection[str]) -> AuditEntry | None:
    """Return the newest entry with one of these actions."""
    query = sa.select(*_SHOWN).where(AUDIT.c.action.in_(list(actions))).order_by(AUDIT.c.id.desc()).limit(1)
    row = connection.execute(query).first()
    return None if row is None else AuditEntry(*row)


def append(
    connection: sa.Connection, key: bytes, *, at: str, actor: str, action: str, details: Mapping[str, object]
) -> None:
    """Append an entry. The details hold random ids, never an id of the recruiting platform."""
    entries, previous = head(connection)
    text = json.dumps(details, ensure_ascii=False, sort_keys=True)
    row = {"id": entries + 1, "at": at, "actor": actor, "action": action, "details": text, "previous": previous}
    digest = _hash(key, row)
    connection.execute(_ENTRY, {**row, "hash": digest})
    connection.execute(_MOVE if entries else _BEGIN, {"one": 1, "entries": entries + 1, "hash": digest})


def head(connection: sa.Connection) -> tuple[int, str]:
    """Return the number and the hash of the last entry; 0 and a hash of zeros where there is none."""
    last = connection.execute(_HEAD).first()
    return (last.entries, last.hash) if last is not None else (0, _START)


def hash_of(connection: sa.Connection, number: int) -> str | None:
    """Return the hash of an entry, ``None`` where the log does not have it; entry 0 is the beginning."""
    if number == 0:
        return _START
    return connection.execute(sa.select(AUDIT.c.hash).where(AUDIT.c.id == number)).scalar_one_or_none()


def key_fits(connection: sa.Connection, key: bytes) -> bool:
    """Return whether the log was begun under this key."""
    first = connection.execute(sa.select(AUDIT).where(AUDIT.c.id == 1)).mappings().first()
    row = dict(first or {})
    return hmac.compare_digest(str(row.pop("hash", "")), _hash(key, row))


def entries_together(connection: sa.Connection) -> int:
    """Return how many entries of the log are read at a time: each may have thousands of seals."""
    # another database may be asked over a network
    return 25 if connection.dialect.name == "sqlite" else 500


def verify(connection: sa.Connection, key: bytes) -> AuditCheck:
    """Recompute the chain from its first entry."""
    problems: list[str] = []
    previous, number = _START, 0
    query = sa.select(AUDIT).order_by(AUDIT.c.id).execution_options(yield_per=entries_together(connection))
    for batch in connection.execute(query).mappings().partitions():
        rows = [dict(stored) for stored in batch]
        digests = [row.pop("hash") for row in rows]
        for row, digest, text in zip(rows, digests, json_texts(rows), strict=True):
            number += 1
            if row["id"] != number:
                problems.append(f"entry {number} is missing: entry {row['id']} follows")
                number = row["id"]
            if row["previous"] != previous:
                problems.append(f"entry {row['id']} does not follow the entry before it")
            if not hmac.compare_digest(str(digest), _keyed_hash(key, text)):
                problems.append(f"entry {row['id']} was edited")
            previous = digest
    heads = connection.execute(sa.select(AUDIT_HEAD.c.entries, AUDIT_HEAD.c.hash)).all()
    if [(head.entries, head.hash) for head in heads] != [(number, previous)] and (heads or number):
        problems.append(f"the log ends at entry {number}, which is not the last that was written")
    return AuditCheck(number, tuple(problems))


def _hash(key: bytes, row: Mapping[str, object]) -> str:
    return _keyed_hash(key, json.dumps(dict(row), sort_keys=True, default=repr))


def _keyed_hash(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode("ascii"), "sha256").hex()


def json_texts(rows: Sequence[Sequence[object]] | Sequence[dict[str, object]]) -> list[str]:
    r"""Return each row as JSON in ASCII, its keys sorted: all rows in one call, which takes half of the time.

    Rows are all objects, or all lists whose first cell is a text.

    >>> json_texts([["a", 1], ["b", '], ["']])
    ['["a", 1]', '["b", "], [\\""]']
    """
    if not rows:
        return []
    text = json.dumps(rows, sort_keys=True, default=repr)
    # in a text of JSON a quotation mark has a backslash before it: there, this is never between two rows
    opening, closing = text[1], text[-2]
    parts = text[3:-2].split(f'{closing}, {opening}"')
    if len(parts) == len(rows):
        return [f'{opening}"{part}{closing}' for part in parts]
    # a cell that is a list itself
    return [json.dumps(row, sort_keys=True, default=repr) for row in rows]
