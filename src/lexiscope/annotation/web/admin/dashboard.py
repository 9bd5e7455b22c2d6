"""What the researchers' pages of one study share: sessions, passwords, failed logins, the summary of the answers."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from lexiscope.analysis.exclusion import parse_rule
from lexiscope.annotation.export.study_data import asked_about_participants
from lexiscope.annotation.phrases import Phrase, rule_phrase
from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.web.admin.passwords import Passwords
from lexiscope.annotation.web.admin.sessions import Sessions
from lexiscope.annotation.web.admin.summary import SummaryCache
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import Refused
from lexiscope.annotation.writing.review import WrittenText
from lexiscope.annotation.writing.staging import written_texts

# -- how often a login may fail: ten times a minute for an account from one address ---------------------------------


AT_MOST = 10
LASTS = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class FailedAttempts:
    """The failed attempts of the last minute by key, in the store: all workers of a study count together.

    An attempt counts from its start, so that many at once do too. *clock* is the one by which places are held: it is
    not set while the server runs.
    """

    store: Store
    clock: Callable[[], datetime]

    def begin(self, key: str) -> int:
        """Count an attempt as failed until :meth:`forget` takes it back; return its number.

        Errors: :class:`Refused` 429 with the seconds to wait, after ten failures within a minute.
        """
        begun = self.store.begin_attempt(key, now=self.clock(), most=AT_MOST, lasts=LASTS)
        if isinstance(begun, timedelta):
            wait = max(1, math.ceil(begun.total_seconds()))
            raise Refused(429, "too_many_logins", "too_many_logins", retry_after=wait)
        return begun

    def forget(self, number: int) -> None:
        """Take an attempt back: it was right, or it was never checked."""
        self.store.forget_attempt(number)


# ---------------------------------------------------------------------------------------------------------------------


_LEAST_SECONDS = 2.0
_REST = 10


@dataclass
class Dashboard:
    """The researchers' side of an app.

    ``links`` holds the links that can be fetched once more as a file: the store has only the hashes of their tokens.
    ``last_export``: when it was made, and its files with their sizes in bytes.
    """

    app: App
    sessions: Sessions
    summaries: SummaryCache
    failures: FailedAttempts
    passwords: Passwords = field(default_factory=Passwords)
    links: OrderedDict[str, str] = field(default_factory=OrderedDict)
    exporting: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_export: tuple[str, tuple[tuple[str, int], ...]] | None = None
    _people: list[ListedParticipant] = field(default_factory=list)
    _people_until: float = 0.0

    @classmethod
    def of(cls, app: App) -> Dashboard:
        """Put the researchers' side of an app together."""
        failures = FailedAttempts(app.store, app.store.held_now)
        return cls(app, Sessions(app.store, app.keys, app.settings), SummaryCache(app.study, app.store), failures)

    @cached_property
    def rules(self) -> Mapping[str, Phrase]:
        """The exclusion rules for readers, by their text in the study file."""
        definition = self.app.definition
        asked = asked_about_participants(definition)
        return {text: rule_phrase(parse_rule(text), asked) for text in definition.exclusions}

    @property
    def collects_texts(self) -> bool:
        """Whether participants of this study write texts, which are reviewed."""
        return self.app.study.screen.widget == "text"

    def people(self) -> list[ListedParticipant]:
        """Return the participants; at most two seconds old, or older if counting their answers takes long."""
        if time.monotonic() >= self._people_until:
            begun = time.monotonic()
            self._people = self.app.store.people()
            took = time.monotonic() - begun
            self._people_until = begun + took + max(_LEAST_SECONDS, _REST * took)
        return self._people

    def refresh(self) -> None:
        """Read everything again for the next page: the researcher changed something."""
        self._people_until = 0.0
        self.summaries.refresh()
        self.app.flow.forget_progress()

    def written_texts(self) -> tuple[WrittenText, ...]:
        """Return the texts for the study's items, without those of excluded participants."""
        return written_texts(self.app.study, self.app.store)
