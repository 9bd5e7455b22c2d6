"""Backups and retention at regular times, in a thread that is started and stopped by hand."""

from __future__ import annotations

import threading
from types import TracebackType

from lexiscope.annotation.store.safekeeping import Safekeeping
from lexiscope.core.errors import InputError, LexiscopeError


class Keeper:
    """Backs a study up every so many minutes and keeps the newest copies; deletes platform ids when they are due.

    Use it as a context manager, or start it.

    A backup that fails is tried again at the next time; ``problem`` says what went wrong with the last one. Only copies
    that backups made by date are removed, never one made before a migration.
    """

    def __init__(self, store: Safekeeping, *, every: float, keep: int) -> None:
        if every <= 0 or keep < 1:
            raise InputError("a keeper makes backups every so many minutes (above 0) and keeps 1 or more")
        self.problem: LexiscopeError | None = None
        self._store, self._seconds, self._keep = store, 60 * every, keep
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lexiscope-keeper", daemon=True)

    def __enter__(self) -> Keeper:
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
            try:
                self._store.backup()
                self._store.prune_backups(keep=self._keep)
                self._store.purge_identities()
                self.problem = None
            except LexiscopeError as error:
                self.problem = error
            wait = self._seconds

    def _first_wait(self) -> float:
        age = self._store.health().backup_age_s
        return 0.0 if age is None else max(0.0, self._seconds - age)
