"""Backups and retention at regular times, in a thread that is started and stopped by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from lexiscope.annotation.store.engine import FILE_ERRORS, sa
from lexiscope.annotation.store.safekeeping import Safekeeping
from lexiscope.core.errors import InputError, LexiscopeError

# what a disk or a database can do to a turn; anything else is a fault of ours and ends the thread with its traceback
_FAILURES = (LexiscopeError, OSError, *FILE_ERRORS, sa.exc.SQLAlchemyError)


class BackupKeeper:
    """Backs a study up every so many minutes and keeps the newest copies; deletes platform ids when they are due.

    Use it as a context manager, or start it. With *keep* 0 it makes no copies: a PostgreSQL study is backed up by
    PostgreSQL.

    The two jobs do not depend on each other, and one that fails is tried again at the next time; ``problem`` and the
    store's health say what went wrong at the last. Only copies that backups made by date are removed, never one made
    before a migration.
    """

    def __init__(self, store: Safekeeping, *, every: float, keep: int) -> None:
        if every <= 0 or keep < 0:
            raise InputError("a keeper turns every so many minutes (above 0) and keeps 0 or more copies")
        self.problem: Exception | None = None
        self._store, self._seconds, self._keep = store, 60 * every, keep
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lexiscope-keeper", daemon=True)

    def __enter__(self) -> BackupKeeper:
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
        """End after the backup that is being made, if one is. Stop a keeper before its store is closed."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        wait = self._first_wait()
        while not self._stop.wait(wait):
            tried = [self._try("backup", self._back_up) if self._keep else None, self._try("purge", self._purge)]
            self.problem = next((one for one in tried if one is not None), None)
            wait = self._seconds

    def _try(self, name: str, job: Callable[[], None]) -> Exception | None:
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

    def _purge(self) -> None:
        self._store.purge_identities()

    def _first_wait(self) -> float:
        try:
            age = self._store.health().backup_age_s if self._keep else None
        except _FAILURES:
            return 0.0
        return 0.0 if age is None else max(0.0, self._seconds - age)
