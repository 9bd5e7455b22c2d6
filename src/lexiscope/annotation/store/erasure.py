"""Erasure of a participant: the platform identity is removed from the database, its log and its backups.

Deleted rows are overwritten (``secure_delete``) and the files rewritten (``VACUUM``). The answers are kept under the
random id or removed, as the study definition says.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lexiscope.annotation.store import audit, seals
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.schema import ANSWERS, ERASURES, IDENTITIES, PARTICIPANTS, REVIEWS, TOKENS


@dataclass(frozen=True, slots=True)
class Erasure:
    """The result of an erasure: what was removed, and the files that still contain the identity.

    ``still_in`` names files only where the person wrote the id themselves, for instance into a comment that is kept.
    """

    participant_id: str
    identity_removed: bool
    answers_removed: int
    still_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Purge:
    """The number of identities and tokens that were removed, and the files that still contain one."""

    removed: int
    still_in: tuple[str, ...]


def identity_of(connection: sa.Connection, participant_id: str) -> tuple[str, ...]:
    """Return the texts that identify a participant on the recruiting platform: the id, and the session if known."""
    is_theirs = IDENTITIES.c.participant_id == participant_id
    row = connection.execute(sa.select(IDENTITIES.c.platform_id, IDENTITIES.c.session).where(is_theirs)).first()
    return tuple(text for text in row if text) if row is not None else ()


def erase(
    connection: sa.Connection, key: bytes, participant_id: str, *, keep_answers: bool, actor: str, at: str
) -> int:
    """Remove the identity and, unless they are kept, the answers, with an entry in the audit log.

    Returns how many answers were removed. Backups of an older version are supported; they do not have all tables.
    """
    tables = set(sa.inspect(connection).get_table_names())
    connection.execute(IDENTITIES.delete().where(IDENTITIES.c.participant_id == participant_id))
    if TOKENS.name in tables:
        connection.execute(TOKENS.delete().where(TOKENS.c.participant_id == participant_id))
    is_theirs = ERASURES.c.participant_id == participant_id
    if connection.execute(sa.select(ERASURES.c.answers).where(is_theirs)).first() is None:
        row = {"participant_id": participant_id, "answers": "kept" if keep_answers else "removed", "at": at}
        seals.insert(connection, ERASURES, row)
    removed = {} if keep_answers else _remove_answers(connection, participant_id, tables)
    details = {"participant_id": participant_id, **removed}
    audit.append(connection, key, at=at, actor=actor, action=seals.ERASED, details=details)
    return len(removed.get("answers", ()))


def _remove_answers(connection: sa.Connection, participant_id: str, tables: set[str]) -> dict[str, list[int]]:
    """Remove the answers and the reviews of them; return the numbers of both."""
    # latest first: an answer that another one supersedes cannot go before it
    ids = sa.select(ANSWERS.c.id).where(ANSWERS.c.participant_id == participant_id).order_by(ANSWERS.c.revision.desc())
    answer_ids = list(connection.execute(ids).scalars())
    reviews: list[int] = []
    if REVIEWS.name in tables:
        of_them = REVIEWS.c.answer_id.in_(sa.select(ANSWERS.c.id).where(ANSWERS.c.participant_id == participant_id))
        reviews = list(connection.execute(sa.select(REVIEWS.c.id).where(of_them)).scalars())
        connection.execute(REVIEWS.delete().where(of_them))
    for answer_id in answer_ids:
        connection.execute(ANSWERS.delete().where(ANSWERS.c.id == answer_id))
    return {"answers": answer_ids, "reviews": reviews}


def erase_in_backup(path: Path, key: bytes, participant_id: str, *, keep_answers: bool, actor: str, at: str) -> None:
    """Remove a participant from a backup as from the database, and rewrite its file."""

    def job(connection: sa.Connection) -> None:
        in_backup = sa.select(PARTICIPANTS.c.participant_id).where(PARTICIPANTS.c.participant_id == participant_id)
        if connection.execute(in_backup).first() is not None:
            erase(connection, key, participant_id, keep_answers=keep_answers, actor=actor, at=at)
            seals.seal(connection, key, seals.unsealed_rows(connection), at=at)

    _change_backup(path, job)


def identities(connection: sa.Connection) -> tuple[str, ...]:
    """Return every text that identifies a participant on the recruiting platform."""
    rows = connection.execute(sa.select(IDENTITIES.c.platform_id, IDENTITIES.c.session))
    return tuple(text for row in rows for text in row if text)


def purge(connection: sa.Connection, key: bytes, *, actor: str, at: str) -> int:
    """Remove the identities and tokens of all participants, with an entry in the audit log; return how many."""
    removed = int(connection.execute(IDENTITIES.delete()).rowcount)
    if TOKENS.name in sa.inspect(connection).get_table_names():
        removed += int(connection.execute(TOKENS.delete()).rowcount)
    if removed:
        audit.append(connection, key, at=at, actor=actor, action="purge_identities", details={"removed": removed})
    return removed


def purge_in_backup(path: Path, key: bytes, *, actor: str, at: str) -> None:
    """Remove all identities and tokens from a backup and rewrite its file."""
    _change_backup(path, lambda connection: purge(connection, key, actor=actor, at=at))


def _change_backup(path: Path, job: Callable[[sa.Connection], object]) -> None:
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA secure_delete=ON")
        job(connection)
    engine.dispose()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection_:
        connection_.execute("VACUUM")


def files_with(files: Iterable[Path], texts: Iterable[str]) -> tuple[str, ...]:
    """Return the files whose bytes hold one of the texts.

    >>> files_with([], ["5f3c"])
    ()
    """
    wanted = [text.encode("utf-8") for text in texts]
    return tuple(str(file) for file in files if _holds(file, wanted))


def _holds(file: Path, wanted: list[bytes]) -> bool:
    """Search a file piece by piece, pieces overlapping by the longest text."""
    longest = max((len(text) for text in wanted), default=0)
    if not longest or not file.is_file():
        return False
    with file.open("rb") as stream:
        tail = b""
        while piece := stream.read(1 << 20):
            joined = tail + piece
            if any(text in joined for text in wanted):
                return True
            tail = joined[-longest:]
    return False
