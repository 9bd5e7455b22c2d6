"""Whether answers are saved now: the beginning and the end of a failure are one line each in the server's messages."""

from __future__ import annotations

import logging
import threading
import time

from lexiscope.annotation.store.engine import sa
from lexiscope.core.errors import LexiscopeError

LOG = logging.getLogger("lexiscope.annotation")


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
