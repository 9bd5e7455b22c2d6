"""What the researchers' pages of one study share: sessions, passwords, failed logins, the last look at the answers."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from lexiscope.annotation.store.overview import Person
from lexiscope.annotation.web.admin.failures import Failures
from lexiscope.annotation.web.admin.look import Looks
from lexiscope.annotation.web.admin.one_time import OneTimeTexts
from lexiscope.annotation.web.admin.passwords import Passwords
from lexiscope.annotation.web.admin.sessions import Sessions
from lexiscope.annotation.web.app import App
from lexiscope.annotation.writing.review import Written
from lexiscope.annotation.writing.staging import written_texts

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
    _people: list[Person] = field(default_factory=list)
    _people_until: float = 0.0

    @classmethod
    def of(cls, app: App) -> AdminDesk:
        """Put the researchers' side of an app together."""
        return cls(app, Sessions(app.store, app.keys, app.settings), Looks(app.study, app.store))

    @property
    def writes(self) -> bool:
        """Say whether participants of this study write texts, which are reviewed."""
        return self.app.study.screen.widget == "text"

    def people(self) -> list[Person]:
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
