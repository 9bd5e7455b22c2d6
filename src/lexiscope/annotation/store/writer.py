"""One thread writes: it gathers what is waiting into one transaction, commits, and only then answers.

A transaction of many answers costs one fsync. Each job has its own savepoint: a refused one leaves nothing behind and
the others are kept. When the database itself fails, no job of the transaction is acknowledged.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from lexiscope.annotation.store.engine import Database, StorageError, sa, storage_error
from lexiscope.annotation.store.seals import Seal, unsealed

T = TypeVar("T")
LINGER_SECONDS = 0.03
"""How long a commit waits for more answers."""
Job = Callable[[sa.Connection], T]


@dataclass(frozen=True, slots=True)
class _Waiting:
    job: Job[Any]
    future: Future[Any]


class Writer:
    """The only place that opens write transactions on a study's database.

    *seal* is called once before each commit, with the seals of the rows that the transaction added.
    """

    def __init__(
        self, database: Database, seal: Callable[[sa.Connection, list[Seal]], None], *, largest: int = 256
    ) -> None:
        self._database, self._seal, self._largest = database, seal, largest
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._missed = self._not_now = 0
        self._thread = threading.Thread(target=self._run, name="lexiscope-writer", daemon=True)
        self._thread.start()

    def put(self, job: Job[T]) -> Future[T]:
        """Queue a job; its future is done once the transaction that holds it is committed, or has failed.

        Errors: :class:`StorageError` where the writer is closed.
        """
        future: Future[T] = Future()
        # the lock keeps a job from being queued behind the end mark, where nobody would answer it
        with self._closing:
            if self._closed:
                raise StorageError("the study is closed: nothing more is stored")
            self._queue.put(_Waiting(job, future))
        return future

    def close(self) -> None:
        """Commit what is waiting, then end the thread."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            batch, last = self._gather()
            if batch:
                self._commit(batch)
            if last:
                return

    def _gather(self) -> tuple[list[_Waiting], bool]:
        """Wait for one job, then take all that are waiting behind it, and what comes in the next moment."""
        batch: list[_Waiting] = []
        waiting = self._queue.get()
        while waiting is not None:
            batch.append(waiting)
            if len(batch) == self._largest:
                return batch, False
            if len(batch) == 1:
                self._linger()
            try:
                waiting = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _linger(self) -> None:
        """Wait a moment for more jobs, where that has not been in vain lately.

        A commit costs as much as several answers. Where waiting was in vain it is done less and less often: one person
        alone waits for nobody.
        """
        if self._not_now or not self._queue.empty():
            self._not_now = max(0, self._not_now - 1)
            return
        # one sleep costs less than waking up for every job that comes
        time.sleep(LINGER_SECONDS)
        self._missed = min(self._missed + 1, 6) if self._queue.empty() else 0
        self._not_now = 2**self._missed - 1

    def _commit(self, batch: list[_Waiting]) -> None:
        batch = [one for one in batch if one.future.set_running_or_notify_cancel()]
        try:
            try:
                outcomes = self._transaction(batch, _plainly)
            except _JobFailedError:
                # one of the jobs is refused: now each in a savepoint, so that the others stand
                outcomes = self._transaction(batch, _attempt)
        except sa.exc.SQLAlchemyError as error:
            # the connection may hold a transaction that SQLite has ended already
            self._database.write.dispose()
            outcomes = [_Failed(storage_error(error, self._database)) for _ in batch]
        for waiting, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, _Failed):
                waiting.future.set_exception(outcome.error)
            else:
                waiting.future.set_result(outcome)

    def _transaction(self, batch: list[_Waiting], run: Callable[[sa.Connection, Job[Any]], Any]) -> list[Any]:
        with self._database.write.begin() as connection:
            unsealed(connection).clear()
            outcomes = [run(connection, waiting.job) for waiting in batch]
            self._seal(connection, unsealed(connection))
        return outcomes


class _JobFailedError(Exception):
    """A job of a batch failed by itself; nothing of the batch is stored yet."""


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


def _plainly(connection: sa.Connection, job: Job[Any]) -> Any:
    """Run a job without a savepoint of its own: nearly every answer is in order, and two statements less cost less."""
    try:
        return job(connection)
    except sa.exc.IntegrityError as error:
        raise _JobFailedError from error
    except sa.exc.SQLAlchemyError:
        raise
    except Exception as error:
        raise _JobFailedError from error


def _attempt(connection: sa.Connection, job: Job[Any]) -> Any:
    """Run a job in its savepoint; a failure of the job is its own, a failure of the database is everybody's."""
    seals = unsealed(connection)
    sealed_before = len(seals)
    try:
        with connection.begin_nested():
            return job(connection)
    except sa.exc.IntegrityError as error:
        failed = _Failed(StorageError("the database refused a row", why=str(error.orig)))
    except sa.exc.SQLAlchemyError:
        raise
    except Exception as error:  # noqa: BLE001 - handed to the caller whole: the writer outlives a faulty job
        failed = _Failed(error)
    del seals[sealed_before:]
    return failed
