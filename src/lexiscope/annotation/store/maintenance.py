"""Backups and retention at regular times, in a thread that is started and stopped by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from lexiscope.annotation.store.engine import FILE_ERRORS, sa
from lexiscope.annotation.store.safekeeping import Safekeeping
from lexiscope.core.errors import InputError, LexiscopeError

# failures of the disk or the database; any other is a fault of the program and ends the thread with its traceback
_FAILURES = (LexiscopeError, OSError, *FILE_ERRORS, sa.exc.SQLAlchemyError)


class MaintenanceThread:
    """A thread that makes backups at regular times, keeps the newest copies, and deletes platform ids when due.

    Use it as a context manager, or start it. With *keep* 0 it makes no copies: a PostgreSQL study is backed up by
    PostgreSQL.

    The two jobs do not depend on each other, and one that fails is tried again the next time; ``problem`` and the
    store's health have the last failure. Only copies that backups made by date are removed, never one made
    before a migration.
    """

    def __init__(self, store: Safekeeping, *, every: float, keep: int) -> None:
        if every <= 0 or keep < 0:
            raise InputError("maintenance runs every N minutes (N above 0) and keeps 0 or more copies")
        self.problem: Exception | None = None
        self._store, self._seconds, self._keep = store, 60 * every, keep
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lexiscope-maintenance", daemon=True)

    def __enter__(self) -> MaintenanceThread:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; the first backup is due when the newest copy is older than the interval."""
        self._thread.start()

    def stop(self) -> None:
        """End after the backup that is being made, if one is. Stop it before the store is closed."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        wait = self._first_wait()
        while not self._stop.wait(wait):
            backup_error = self._try("backup", self._back_up) if self._keep else None
            purge_error = self._try("purge", self._store.purge_identities)
            self.problem = backup_error or purge_error
            wait = self._seconds

    def _try(self, name: str, job: Callable[[], object]) -> Exception | None:
        try:
            job()
        except _FAILURES as error:
            # the first line: what follows may quote rows
            self._store.not_kept[name] = str(error).partition("\n")[0]
            return error
        self._store.not_kept.pop(name, None)
        return None

    def _back_up(self) -> None:
        self._store.backup()
        self._store.prune_backups(keep=self._keep)

    def _first_wait(self) -> float:
        try:
            age = self._store.health().backup_age_s if self._keep else None
        except _FAILURES:
            return 0.0
        return 0.0 if age is None else max(0.0, self._seconds - age)
