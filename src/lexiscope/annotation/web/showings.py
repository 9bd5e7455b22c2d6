"""When the page of a trial was first shown: a signed mark in the page tells it to every process, also after a restart.

The mark is a hidden field of the trial's forms and comes back with the answer. It is signed under the study's key for
one participant, phase, item and stored answer, so that it can be neither made up nor used for another trial, another
person or a later change of the answer. A page that is loaded again keeps its first time: a cookie has the latest marks.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lexiscope.annotation.store.checks import LONGEST_MS

SHOWN_MARK = "shown_mark"
"""The name of the field."""
_MARK = re.compile("([0-9a-f]{1,16})-([0-9a-f]{1,16})-([0-9a-f]{8})-([0-9a-f]{32})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_KEPT = 8
"""Marks in the cookie: the trial that is answered, and those that were left for a look at earlier ones."""


class ShownTrial(NamedTuple):
    """What a page shows: a participant's item in a phase, and the stored answer that the page can change."""

    participant_id: str
    phase: str
    item_id: str
    supersedes: int | None


@dataclass(frozen=True, slots=True)
class Showing:
    """When a page was shown: by the server's clock, and by its monotonic clock where that is the clock of this process.

    *Unit:* ``steady``: seconds.
    """

    at: datetime
    steady: float | None

    def milliseconds(self, now: datetime) -> float | None:
        """Return how long ago that is: by the monotonic clock, or by *now* if the machine was started again since.

        ``None`` for a time that cannot be, as after a clock was set back.
        """
        seconds = (now - self.at).total_seconds() if self.steady is None else time.monotonic() - self.steady
        return seconds * 1000 if 0 <= seconds * 1000 <= LONGEST_MS else None


class Showings:
    """The marks of one study, under a key that is derived from its secret."""

    def __init__(self, key: bytes) -> None:
        self._key, self._clock = key, monotonic_clock()
        # how long the machine has been running is not for participants
        self._offset = int.from_bytes(self._sign("clock", self._clock)[:5], "big")

    def mark(self, trial: ShownTrial, now: datetime) -> str:
        """Return the mark of a page that is shown now."""
        at = (now - _EPOCH) // _MICROSECOND
        steady = self._offset + int(time.monotonic() * 1e6)
        times = f"{at:x}-{steady:x}-{self._clock}"
        return f"{times}-{self._signature(times, trial)}"

    def read(self, mark: str, trial: ShownTrial) -> Showing | None:
        """Return when the page with this mark was shown; ``None`` if the mark was not made here for this trial."""
        parts = _MARK.fullmatch(mark)
        if parts is None or not hmac.compare_digest(self._signature(mark.rpartition("-")[0], trial), parts[4]):
            return None
        steady = (int(parts[2], 16) - self._offset) / 1e6 if parts[3] == self._clock else None
        return Showing(_EPOCH + int(parts[1], 16) * _MICROSECOND, steady)

    def first(self, kept: str, trial: ShownTrial, now: datetime) -> tuple[str, str]:
        """Return the first mark of a trial's page in a browser that *kept* these marks, and what it keeps from now on.

        The latter is empty where nothing changes: the page is loaded again.
        """
        marks = kept.split(".")[-_KEPT:] if kept else []
        for mark in marks:
            if self.read(mark, trial) is not None:
                return mark, ""
        new = self.mark(trial, now)
        return new, ".".join([*(mark for mark in marks if _MARK.fullmatch(mark)), new][-_KEPT:])

    def _signature(self, times: str, trial: ShownTrial) -> str:
        return self._sign(times, *trial).hex()[:32]

    def _sign(self, *parts: str | int | None) -> bytes:
        return hmac.new(self._key, json.dumps(parts).encode("ascii"), hashlib.sha256).digest()


@cache
def monotonic_clock() -> str:
    """Return a name of this process's monotonic clock; processes under the same name read the same clock.

    Linux counts it from the start of the machine for all processes, but for those of a container that was given its
    own. Other systems do not say which start it is: there the name is this process's alone.
    """
    try:
        name = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        name = secrets.token_hex(16)
    with suppress(OSError):
        name += str(Path("/proc/self/ns/time").readlink())
    return hashlib.sha256(name.encode()).hexdigest()[:8]
