"""The time by which places are held: it advances evenly, even if the server's clock is changed.

Places run out at stored times. If these were compared with the clock, a clock that is set a day forward would free
every place, and one that is set back would keep places of people who left.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

JUMP_SECONDS = 60.0
"""The clock jumped where it differs by more than this from what it told before."""
Began = tuple[str, float]
"""The clock's time and the monotonic seconds at one moment, from which time is counted."""


class HeldTime:
    """The clock's time when a study was opened, and the seconds since by a clock that cannot be set.

    *began* is that of another process of the same machine which serves the same study: their times agree.
    """

    def __init__(
        self, clock: Callable[[], datetime], steady: Callable[[], float] | None = None, *, began: Began | None = None
    ) -> None:
        self._clock, self._steady = clock, steady or time.monotonic
        self.began: Began = began or (clock().isoformat(), self._steady())
        self._begin = datetime.fromisoformat(self.began[0])
        self._noted, self._noting = 0.0, threading.Lock()

    def now(self) -> datetime:
        """Return the time by which places are held."""
        return self._begin + timedelta(seconds=self._steady() - self.began[1])

    def jump(self) -> float | None:
        """Return the clock's lead, if it jumped since the last call. *Unit:* seconds."""
        ahead = (self._clock() - self.now()).total_seconds()
        with self._noting:
            if abs(ahead - self._noted) <= JUMP_SECONDS:
                return None
            self._noted = ahead
            return ahead
