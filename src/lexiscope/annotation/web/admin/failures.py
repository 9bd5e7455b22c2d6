"""How often a login may fail: ten times a minute for an account from one address."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from lexiscope.annotation.web.security import Refused

AT_MOST = 10
SECONDS = 60.0
_MOST_KEYS = 50_000


@dataclass(slots=True)
class Failures:
    """The failed attempts of the last minute by key. An attempt counts from its start, so that many at once do too."""

    clock: Callable[[], float] = time.monotonic
    _times: OrderedDict[str, list[float]] = field(default_factory=OrderedDict)

    def begin(self, key: str) -> float:
        """Count an attempt as failed until :meth:`forget` takes it back; return its mark.

        Errors: :class:`Refused` 429 with the seconds to wait, after ten failures within a minute.
        """
        now = self.clock()
        recent = [one for one in self._times.pop(key, []) if now - one < SECONDS]
        self._times[key] = recent
        while len(self._times) > _MOST_KEYS:
            self._times.popitem(last=False)
        if len(recent) >= AT_MOST:
            wait = max(1, math.ceil(SECONDS - (now - recent[0])))
            raise Refused(429, "too_many_logins", "too_many_logins", retry_after=wait)
        recent.append(now)
        return now

    def forget(self, key: str, mark: float) -> None:
        """Take an attempt back: it was right, or it was never checked."""
        if mark in self._times.get(key, ()):
            self._times[key].remove(mark)
