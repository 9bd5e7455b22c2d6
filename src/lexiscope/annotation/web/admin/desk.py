"""What the researchers' pages of one study share: sessions, passwords, failed logins, the last look at the answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from lexiscope.annotation.web.admin.failures import Failures
from lexiscope.annotation.web.admin.passwords import Passwords
from lexiscope.annotation.web.admin.sessions import Sessions
from lexiscope.annotation.web.app import App


@dataclass(slots=True)
class AdminDesk:
    """The researchers' side of an app."""

    app: App
    sessions: Sessions
    passwords: Passwords = field(default_factory=Passwords)
    failures: Failures = field(default_factory=Failures)

    @classmethod
    def of(cls, app: App) -> AdminDesk:
        """Put the researchers' side of an app together."""
        return cls(app, Sessions(app.store, app.keys, app.settings))

    @property
    def writes(self) -> bool:
        """Say whether participants of this study write texts, which are reviewed."""
        return self.app.study.screen.widget == "text"
