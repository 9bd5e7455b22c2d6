"""What the researchers' pages of one study share: sessions, passwords, failed logins, the last look at the answers."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.annotation.web.admin.look import Looks
from lexiscope.annotation.web.admin.passwords import Passwords
from lexiscope.annotation.web.admin.sessions import Sessions
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import Refused
from lexiscope.annotation.writing.review import Written
from lexiscope.annotation.writing.staging import written_texts

# -- how often a login may fail: ten times a minute for an account from one address ---------------------------------


# -- texts that are given out once ----------------------------------------------------------------------------------


@dataclass(slots=True)
class OneTimeTexts:
    """Texts that are shown once and may be fetched once more as a file: links, whose tokens the store cannot tell."""

    _texts: OrderedDict[str, str] = field(default_factory=OrderedDict)

    def put(self, key: str, text: str) -> None:
        """Keep a text until it is fetched; only the last ones are kept."""
        self._texts[key] = text
        while len(self._texts) > 10:
            self._texts.popitem(last=False)

    def take(self, key: str) -> str | None:
        """Return a text and forget it."""
        return self._texts.pop(key, None)


# ---------------------------------------------------------------------------------------------------------------------


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


# ---------------------------------------------------------------------------------------------------------------------


_PEOPLE_SECONDS = 2.0
_REST = 10


@dataclass(slots=True)
class AdminDesk:
    """The researchers' side of an app. ``last_export``: when it was made, and its files with their sizes in bytes."""

    app: App
    sessions: Sessions
    looks: Looks
    passwords: Passwords = field(default_factory=Passwords)
    failures: Failures = field(default_factory=Failures)
    links: OneTimeTexts = field(default_factory=OneTimeTexts)
    exporting: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_export: tuple[str, tuple[tuple[str, int], ...]] | None = None
    _people: list[ListedParticipant] = field(default_factory=list)
    _people_until: float = 0.0

    @classmethod
    def of(cls, app: App) -> AdminDesk:
        """Put the researchers' side of an app together."""
        return cls(app, Sessions(app.store, app.keys, app.settings), Looks(app.study, app.store))

    @property
    def writes(self) -> bool:
        """Say whether participants of this study write texts, which are reviewed."""
        return self.app.study.screen.widget == "text"

    def people(self) -> list[ListedParticipant]:
        """Return the participants; two seconds old at most, older where it took long to count their answers."""
        if time.monotonic() >= self._people_until:
            begun = time.monotonic()
            self._people = self.app.store.people()
            took = time.monotonic() - begun
            self._people_until = begun + took + max(_PEOPLE_SECONDS, _REST * took)
        return self._people

    def changed(self) -> None:
        """Count anew for the next page: something was changed by hand."""
        self._people_until = 0.0
        self.looks.refresh()
        self.app.flow.forget_standings()

    def written(self) -> tuple[Written, ...]:
        """Return what people wrote for the study's items, those of excluded participants left out."""
        return written_texts(self.app.study, self.app.store)
