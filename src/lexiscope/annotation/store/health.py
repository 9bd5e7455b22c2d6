"""How a study's storage is doing: disk space, the write-ahead log, the age of the last backup."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lexiscope.annotation.store import overview
from lexiscope.annotation.store.backup import copies_in
from lexiscope.annotation.store.engine import Database, sa
from lexiscope.annotation.store.record import Status
from lexiscope.annotation.store.schema import SCHEMA_VERSION

LOW_SHARE, LOW_BYTES = 0.05, 200_000_000
"""Less free space than either is low."""

_SQLITE = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}


@dataclass(frozen=True, slots=True)
class Health:
    """What a monitor asks of a running study.

    ``low`` says that the disk of the study's folder has less than 5 % or 200 MB left. ``synchronous`` is the database's
    own word for what a commit waits for. ``backup_age_s`` is ``None`` where ``backups/`` holds none. ``version`` is
    that of the tables. ``not_kept`` says what the keeper could not do at its last turn, and why, by job (``backup``,
    ``purge``). ``trouble`` says why no answer can be saved, empty while they are. *Unit:* bytes; seconds.
    """

    free_bytes: int
    low: bool
    wal_bytes: int
    synchronous: str
    backup_age_s: float | None
    status: Status
    version: int
    not_kept: Mapping[str, str] = field(default_factory=dict, hash=False)
    trouble: str = ""


def is_low(free: int, total: int) -> bool:
    """Say whether so little space is left that somebody should act.

    >>> is_low(10**9, 10**10), is_low(10**9, 10**11), is_low(10**8, 10**9)
    (False, True, True)
    """
    return free < LOW_BYTES or free < LOW_SHARE * total


def health(
    connection: sa.Connection, database: Database, folder: Path, *, now: float, not_kept: Mapping[str, str]
) -> Health:
    """Look at the disk, the database's settings and the backups. *now* is seconds since 1970."""
    disk = shutil.disk_usage(folder)
    newest = max((copy.stat().st_mtime for copy in copies_in(folder)), default=None)
    return Health(
        free_bytes=disk.free,
        low=is_low(disk.free, disk.total),
        wal_bytes=_wal_bytes(database),
        synchronous=_synchronous(connection, database),
        backup_age_s=None if newest is None else max(0.0, now - newest),
        status=overview.status(connection),
        version=SCHEMA_VERSION,
        not_kept=dict(not_kept),
    )


def _wal_bytes(database: Database) -> int:
    if database.path is None:
        return 0
    log = database.path.with_name(f"{database.path.name}-wal")
    return log.stat().st_size if log.exists() else 0


def _synchronous(connection: sa.Connection, database: Database) -> str:
    if database.path is None:
        return str(connection.exec_driver_sql("SHOW synchronous_commit").scalar_one())
    return _SQLITE[int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())]
