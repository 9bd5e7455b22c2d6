"""Keeping a study safe: its audit log, checks, backups, its health, and the identities that it must forget."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path

from lexiscope.annotation.store import audit, backup, erasure, participants, seals
from lexiscope.annotation.store.checks import check_text
from lexiscope.annotation.store.engine import sa, vacuum
from lexiscope.annotation.store.opened import OpenedStudy
from lexiscope.annotation.store.record import AnswerRefused


class Safekeeping(OpenedStudy):
    """What keeps a study's record whole, and its participants' identities no longer than promised."""

    def log(self, action: str, *, actor: str, details: Mapping[str, object] | None = None) -> None:
        """Append an entry to the audit log. The details must not hold an id of the recruiting platform.

        Errors: :class:`AnswerRefused` for a text that cannot be stored, or an action that only the store may note.
        """
        for field, text in (("action", action), ("actor", actor)):
            check_text(field, text, longest=200)
        if action in (seals.ACTION, seals.ERASED):
            raise AnswerRefused("action", f"{action!r} is noted by the store alone")
        check_text("details", json.dumps(dict(details or {}), ensure_ascii=False), longest=100_000)
        now = self._now()
        self._write(lambda c: audit.append(c, self._key, at=now, actor=actor, action=action, details=details or {}))

    def audit_entries(self, *, limit: int = 100, offset: int = 0) -> tuple[int, tuple[audit.AuditEntry, ...]]:
        """Return the number of entries of the audit log, seals of rows left out, and a page of them, newest first."""
        with self._read() as connection:
            return audit.entries(connection, without=(seals.ACTION,), limit=limit, offset=offset)

    def verify(self) -> backup.StoreCheck:
        """Check the database file, the audit log's chain, the seals of all rows, and the rules of every answer."""
        return backup.check(self._database, self._key)

    def backup(self, target: Path | None = None) -> Path:
        """Copy the database while it is in use, by default into ``backups/``; return the copy's path."""
        name = f"{self._clock().astimezone(UTC):%Y%m%dT%H%M%S_%f}.sqlite"
        return backup.write_backup(self._database, target or self.folder / backup.BACKUPS / name)

    def forget(self, participant_id: str, *, actor: str) -> erasure.Erasure:
        """Remove a participant's platform identity, and the answers if the study says so, backups included.

        Only copies in the study's ``backups/`` are reached. Errors: :class:`AnswerRefused` for an unknown
        participant, :class:`StorageError` where another program holds the database open.
        """
        check_text("actor", actor, longest=200)
        now, keep, key = self._now(), self.study.keep_answers, self._key

        def job(connection: sa.Connection) -> tuple[tuple[str, ...], int]:
            participants.state_of(connection, participant_id)
            texts = erasure.identity_of(connection, participant_id)
            return texts, erasure.erase(connection, key, participant_id, keep_answers=keep, actor=actor, at=now)

        texts, removed = self._write(job)
        copies = sorted((self.folder / backup.BACKUPS).glob("*.sqlite"))
        for copy in copies:
            erasure.erase_in_backup(copy, key, participant_id, keep_answers=keep, actor=actor, at=now)
        vacuum(self._database)
        files = [*copies, *self.folder.glob("*.sqlite*")]
        return erasure.Erasure(participant_id, bool(texts), removed, erasure.files_with(files, texts))
