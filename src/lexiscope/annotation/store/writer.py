"""The writer thread: it puts all waiting jobs into one transaction, commits, and only then answers them.

A transaction of many answers costs one fsync. Each job has its own savepoint: a refused one leaves nothing behind and
the others are kept. When the database itself fails, or its file is gone, no job of the transaction is acknowledged.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from lexiscope.annotation.store.engine import DamagedError, Database, StorageError, sa, shorten_log
from lexiscope.annotation.store.files import StudyFiles
from lexiscope.annotation.store.mark import LogMark
from lexiscope.annotation.store.seals import Seal, unsealed_rows
from lexiscope.core.errors import LexiscopeError

LOG = logging.getLogger("lexiscope.annotation")
T = TypeVar("T")
LINGER_SECONDS = 0.03
"""How long a commit waits for more answers."""
LARGEST_LOG = 4_000_000
"""A write-ahead log of more bytes is moved into the database after the commit."""
Job = Callable[[sa.Connection], T]


@dataclass(frozen=True, slots=True)
class _Waiting:
    job: Callable[..., Any]
    future: Future[Any]
    alone: bool = False


class Writer:
    """The only place that opens write transactions on a study's database.

    *seal* is called once before each commit, with the seals of the rows that the transaction added; *committed* after
    it, with the mark of what is stored now. *failure* turns what a transaction raised into the error of its callers.
    *files* are those of a SQLite study.

    ``outage`` has the reason if the last try to store something failed. A transaction that fails, for any reason, fails
    its batch: each waiting job gets the error, and the next batch begins with a new connection. Where not even that is
    possible the thread ends: every job that waits or comes later is answered with an error, ``ended`` has the cause,
    and ``when_ended`` is called.
    """

    def __init__(
        self,
        database: Database,
        seal: Callable[[sa.Connection, list[Seal]], None],
        *,
        files: StudyFiles | None,
        committed: Callable[[LogMark], None],
        failure: Callable[[BaseException], StorageError],
        largest: int = 256,
    ) -> None:
        self._database, self._seal, self._largest = database, seal, largest
        self._files, self._committed, self._failure = files, committed, failure
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self.ended: BaseException | None = None
        self.outage = Outage()
        # whether the last transaction in an outage moved the audit log on, as every answer does
        self._has_moved = False
        self.when_ended: Callable[[], None] = lambda: None
        self._missed = self._not_now = 0
        # taken from the queue and not answered yet; the job that must not share its transaction with those before it
        self._batch: list[_Waiting] = []
        self._next: _Waiting | None = None
        self._thread = threading.Thread(target=self._run, name="lexiscope-writer", daemon=True)
        self._thread.start()

    def put(self, job: Job[T]) -> Future[T]:
        """Queue a job; its future is done once the transaction that holds it is committed, or has failed.

        Errors: :class:`StorageError` where the writer is closed, or has ended.
        """
        return self._enqueue(job, alone=False)

    def put_alone(self, job: Callable[[], T]) -> Future[T]:
        """Queue a job that rewrites the database file outside any transaction."""
        return self._enqueue(job, alone=True)

    def _enqueue(self, job: Callable[..., T], *, alone: bool) -> Future[T]:
        future: Future[T] = Future()
        # the lock keeps a job from being queued after the end mark: it would never be answered
        with self._closing:
            if self.ended is not None:
                raise _ended_error(self.ended)
            if self._closed:
                raise StorageError("the study is closed: nothing more is stored")
            self._queue.put(_Waiting(job, future, alone))
        return future

    def close(self) -> None:
        """Commit what is waiting, then end the thread."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            last = False
            while not last:
                last = self._take_batch()
                if self._batch:
                    self._store_batch(self._batch)
                self._batch = []
        except BaseException as error:  # noqa: BLE001 - a thread that dies in silence leaves its callers waiting for ever
            self._end(error)

    def _end(self, error: BaseException) -> None:
        """Answer every job that waits with the reason why this thread ends."""
        with self._closing:
            self.ended, self._closed = error, True
        waiting = [*self._batch, *([self._next] if self._next is not None else [])]
        with suppress(queue.Empty):
            while True:
                job = self._queue.get_nowait()
                waiting += [job] if job is not None else []
        for job in waiting:
            if not job.future.done():
                job.future.set_exception(_ended_error(error))
        self.when_ended()

    def _take_batch(self) -> bool:
        """Wait for one job, then take all that are waiting behind it, and what comes in the next moment.

        Returns whether it was the last batch.
        """
        waiting = self._next or self._queue.get()
        self._next = None
        while waiting is not None:
            if waiting.alone and self._batch:
                self._next = waiting
                return False
            self._batch.append(waiting)
            if waiting.alone or len(self._batch) == self._largest:
                return False
            if len(self._batch) == 1:
                self._linger()
            try:
                waiting = self._queue.get_nowait()
            except queue.Empty:
                return False
        return True

    def _linger(self) -> None:
        """Wait a moment for more jobs, where that has not been in vain lately.

        A commit costs as much as several answers. If waiting was in vain it is done less and less often: a single
        participant does not wait.
        """
        if self._not_now or not self._queue.empty():
            self._not_now = max(0, self._not_now - 1)
            return
        # one sleep costs less than waking up for every job that comes
        time.sleep(LINGER_SECONDS)
        self._missed = min(self._missed + 1, 6) if self._queue.empty() else 0
        self._not_now = 2**self._missed - 1

    def _store_batch(self, batch: list[_Waiting]) -> None:
        """Store a batch, then give each of its jobs its result or its error."""
        batch[:] = [job for job in batch if job.future.set_running_or_notify_cancel()]
        outcomes = self._commit_or_fail(batch)
        for waiting, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, _Failed):
                waiting.future.set_exception(outcome.error)
            else:
                waiting.future.set_result(outcome)
        if self._files is not None and self._files.damage is None and self._files.log_bytes > LARGEST_LOG:
            self._shorten_log(self._files)

    def _commit_or_fail(self, batch: list[_Waiting]) -> list[Any]:
        self._has_moved = False
        try:
            if self._files is not None:
                self._files.check_unchanged()
            try:
                outcomes = self._commit(batch)
            finally:
                if self._files is not None:
                    self._files.record()
            # a commit to a file that is no longer the study's is lost: it is not acknowledged
            if self._files is not None:
                self._files.check_present()
        except BaseException as error:  # noqa: BLE001 - after any failure, each caller is answered and the next batch follows
            # the connection may hold a transaction that SQLite has ended already
            self._database.write.dispose()
            failure = self._failure(error)
            # a file that is gone or damaged is reported where it is found; a rewritten one holds no answer up
            if not (isinstance(error, StorageError) or isinstance(failure, DamagedError)):
                self.outage.record_failure(reason_of(failure, error))
            return [_Failed(failure) for _ in batch]
        # a transaction without rows succeeds on a full disk too
        if self._has_moved:
            self.outage.record_success()
        return outcomes

    def _commit(self, batch: list[_Waiting]) -> list[Any]:
        if batch and batch[0].alone:
            return [batch[0].job()]
        try:
            return self._transaction(batch, _run_job)
        except _JobFailedError:
            # one of the jobs is rejected: now each in a savepoint, so that the others are kept
            return self._transaction(batch, _run_in_savepoint)

    def _transaction(self, batch: list[_Waiting], run: Callable[[sa.Connection, Job[Any]], Any]) -> list[Any]:
        with self._database.write.begin() as connection:
            before = LogMark.of(connection) if self.outage.reason else None
            unsealed_rows(connection).clear()
            outcomes = [run(connection, waiting.job) for waiting in batch]
            self._seal(connection, unsealed_rows(connection))
            mark = LogMark.of(connection)
        self._has_moved = before not in (None, mark)
        self._committed(mark)
        return outcomes

    def _shorten_log(self, files: StudyFiles) -> None:
        """Move the log into the database as far as readers allow; where that fails it is tried after the next batch."""
        try:
            shorten_log(self._database)
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError) as error:
            self._database.write.dispose()
            self._failure(error)
        files.record()


def _ended_error(error: BaseException) -> StorageError:
    return StorageError(
        "the study's writer has ended: nothing more is saved",
        why=f"{type(error).__name__}: {error}".splitlines()[0],
        hint="start the server again; every acknowledged answer is stored",
    )


class _JobFailedError(Exception):
    """A job of a batch failed by itself; nothing of the batch is stored yet."""


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


def _run_job(connection: sa.Connection, job: Job[Any]) -> Any:
    """Run a job without a savepoint: nearly every answer is valid, and two statements fewer take less time."""
    try:
        return job(connection)
    except sa.exc.IntegrityError as error:
        raise _JobFailedError from error
    except sa.exc.SQLAlchemyError:
        raise
    except Exception as error:
        raise _JobFailedError from error


def _run_in_savepoint(connection: sa.Connection, job: Job[Any]) -> Any:
    """Run a job in a savepoint; a failing job fails alone, a failing database fails the whole batch."""
    seals = unsealed_rows(connection)
    sealed_before = seals.copy()
    try:
        with connection.begin_nested():
            return job(connection)
    except sa.exc.IntegrityError as error:
        failed = _Failed(StorageError("the database refused a row", why=str(error.orig)))
    except sa.exc.SQLAlchemyError:
        raise
    except Exception as error:  # noqa: BLE001 - handed to the caller whole: the writer outlives a faulty job
        failed = _Failed(error)
    seals[:] = sealed_before
    return failed


# -- outages: whether answers are saved now. Their beginning and end are one line each in the log -------------------


class Outage:
    """A failure of the database that lasts: ``reason`` is empty while the last try to reach or to write it succeeded.

    Thousands of requests may fail in an outage; they are counted, not logged.
    """

    def __init__(self) -> None:
        self.reason = ""
        self._lock = threading.Lock()
        self._since, self._failures = 0.0, 0

    @property
    def seconds(self) -> float:
        """Return how long the outage has lasted; 0 where there is none."""
        return time.monotonic() - self._since if self.reason else 0.0

    def record_failure(self, reason: str) -> None:
        """Record that a try failed; the first one begins the outage."""
        with self._lock:
            self._failures += 1
            begins = not self.reason
            if begins:
                self.reason, self._since = reason, time.monotonic()
        if begins:
            LOG.error("answers cannot be saved: %s", reason)

    def record_success(self) -> None:
        """Record that something was stored, which ends an outage."""
        with self._lock:
            lasted, failures, ends = self.seconds, self._failures, bool(self.reason)
            self.reason, self._failures = "", 0
        if ends:
            LOG.warning("answers are saved again, after %.0f seconds; %d tries had failed", lasted, failures)


def reason_of(error: LexiscopeError, cause: BaseException | None) -> str:
    """Return an error and its cause as one line of the log.

    Only what a database says of its connection or its disk is quoted: what it says of a value may quote an answer.

    >>> reason_of(LexiscopeError("the transaction failed"), MemoryError("no more"))
    'the transaction failed (MemoryError)'
    """
    if cause is None:
        return error.what
    told = getattr(cause, "orig", None) or cause
    of_connection = isinstance(cause, sa.exc.OperationalError | sa.exc.InterfaceError)
    why = str(told).strip().partition("\n")[0] if of_connection else ""
    return f"{error.what} ({why or type(told).__name__})"
