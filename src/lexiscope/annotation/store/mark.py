"""The mark of a study: a small file next to its database that records the last state of the database.

The mark names the last entry of the audit log, which every answer moves on, by number and keyed hash. A database that
does not have this entry is another study's, a new one, or an older copy. When a study is closed, the mark also holds a
digest of all rows: any change to the closed file is found when it is opened again. A keyed digest of the file itself
says that it is byte for byte what this program closed after it had checked every row.

The mark follows the database and never leads: it is written after the commit, without waiting for the disk.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lexiscope.annotation.store import audit
from lexiscope.annotation.store.engine import has_log, sa
from lexiscope.annotation.store.schema import AUDIT, METADATA

MARK_NAME = "study.mark"
_HEADING, _NOT_CLOSED, _CHECKED = "lexiscope-mark", "-" * 64, 16
_SQLITE, _POSTGRES = "2", "P"
"""The version of a mark: of a SQLite study, and of one in PostgreSQL, which earlier programs read as well."""


@dataclass(frozen=True, slots=True)
class LogMark:
    """The number and hash of the last entry of the audit log; digests of all rows and of the file of a closed study.

    That of the file is empty if its rows were not checked. ``is_shared``: the study is stored in PostgreSQL.
    """

    entries: int
    last: str
    rows: str = ""
    file: str = ""
    is_shared: bool = False

    @classmethod
    def of(cls, connection: sa.Connection) -> LogMark:
        """Return the mark of an open study as a connection sees it."""
        entries, last = audit.head(connection)
        return cls(entries, last, is_shared=connection.dialect.name == "postgresql")

    @classmethod
    def read(cls, folder: Path) -> LogMark | None:
        """Return the mark of a folder.

        ``None`` where there is none (a study of an earlier version), or a power cut left half of one.
        """
        with suppress(FileNotFoundError):
            text = (folder / MARK_NAME).read_text(encoding="ascii", errors="replace")
            body, _, check = text.rstrip("\n").rpartition(" ")
            heading, *parts = body.split() or [""]
            if (
                hmac.compare_digest(check.encode(), _check(body).encode())
                and heading == _HEADING
                and len(parts) in (4, 5)
                and parts[1].isdecimal()
            ):
                # the first version of the mark had no digest of the file
                digests = ["" if text == _NOT_CLOSED else text for text in parts[3:]]
                rows, file = (*digests, "")[:2]
                return cls(int(parts[1]), parts[2], rows, file, parts[0] == _POSTGRES)
        return None

    def write(self, folder: Path, *, lasting: bool) -> None:
        """Write the mark over the earlier one, all marks being of one length; *lasting* waits for the disk.

        A reader sees the earlier mark or this one. Errors: :class:`OSError`.
        """
        digests = f"{self.rows or _NOT_CLOSED} {self.file or _NOT_CLOSED}"
        body = f"{_HEADING} {_POSTGRES if self.is_shared else _SQLITE} {self.entries:020d} {self.last} {digests}"
        handle = os.open(folder / MARK_NAME, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(handle, f"{body} {_check(body)}\n".encode("ascii"))
            if lasting:
                os.fsync(handle)
        finally:
            os.close(handle)

    def is_in(self, connection: sa.Connection) -> bool:
        """Check that a database has the entry that this mark names."""
        return hmac.compare_digest(audit.hash_of(connection, self.entries) or "", self.last)


def rows_digest(connection: sa.Connection) -> str:
    """Return a digest of a SQLite study: its tables and triggers, and every row in the order of the primary keys.

    What SQLite keeps for itself is not part of it: a database that was only rewritten (``VACUUM``) has the same digest.
    """
    digest = hashlib.sha256()
    schema = sa.text("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    digest.update(repr([tuple(row) for row in connection.execute(schema)]).encode("utf-8", "surrogatepass"))
    present = set(sa.inspect(connection).get_table_names())
    # a study of an earlier version, which is checked before it is migrated, has fewer tables
    for table in (table for table in METADATA.sorted_tables if table.name in present):
        digest.update(f"{table.name}\n".encode("ascii"))
        together = audit.entries_together(connection) if table is AUDIT else audit.ROWS_TOGETHER
        query = sa.select(table).order_by(*table.primary_key.columns).execution_options(yield_per=together)
        for rows in connection.execute(query).partitions():
            digest.update("".join([repr(tuple(row)) for row in rows]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def file_digest(path: Path, key: bytes) -> str:
    """Return a hash of a SQLite file under the study's key; empty where a process has it open, or was killed."""
    if has_log(path):
        return ""
    with path.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").digest()
    return hmac.digest(key, content, "sha256").hex()


def _check(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8")).hexdigest()[:_CHECKED]
