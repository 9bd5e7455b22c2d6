"""Sessions of researchers: a random token in a cookie, its hash in the store, twelve hours at most, two without use."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from lexiscope.annotation.store.accounts import sha256
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.web.app import utc_now
from lexiscope.annotation.web.security import Keys, ServerSettings, new_token

COOKIE = "researcher"
LASTS = timedelta(hours=12)
IDLE = timedelta(hours=2)
_RENEWED_AFTER = 60


@dataclass(frozen=True, slots=True)
class Session:
    """A researcher who is logged in: the account's name, the token, when the cookie was last made, the form token."""

    name: str
    token: str
    seen: int
    csrf: str


@dataclass(frozen=True, slots=True)
class Sessions:
    """Opens, recognises and ends sessions.

    The cookie says, under a signature, when it was last renewed: that is how two hours without use are told, on any of
    several server processes and across restarts.
    """

    store: Store
    keys: Keys
    settings: ServerSettings
    clock: Callable[[], datetime] = utc_now

    def open(self, name: str) -> Session:
        """Begin a session of an account, always under a new token."""
        token, now = new_token(), self.clock()
        self.store.open_session(sha256(token), name, now + LASTS)
        return self._session(name, token, int(now.timestamp()))

    def of(self, request: Request) -> Session | None:
        """Return the session of a request; ``None`` if there is none, or it is over."""
        token, _, rest = request.cookies.get(self.settings.cookie(COOKIE), "").partition(".")
        seen, _, signature = rest.partition(".")
        if not seen.isdecimal() or len(seen) > 12 or not seen.isascii():
            return None
        if not hmac.compare_digest(self._signature(token, int(seen)).encode(), signature.encode("utf-8", "replace")):
            return None
        if self.clock().timestamp() - int(seen) > IDLE.total_seconds():
            return None
        name = self.store.session(sha256(token))
        return self._session(name, token, int(seen)) if name is not None else None

    def close(self, session: Session) -> None:
        """End a session: its token opens nothing any more."""
        self.store.close_session(sha256(session.token))

    def is_renewal_due(self, session: Session) -> bool:
        """Return whether the cookie of a session that is in use should be renewed."""
        return self.clock().timestamp() - session.seen >= _RENEWED_AFTER

    def set_cookie(self, response: Response, session: Session) -> None:
        """Set the cookie of a session; its idle time begins again."""
        now = int(self.clock().timestamp())
        value = f"{session.token}.{now}.{self._signature(session.token, now)}"
        name, secure = self.settings.cookie(COOKIE), self.settings.secure
        response.set_cookie(name, value, secure=secure, httponly=True, samesite="strict", path="/")

    def delete_cookie(self, response: Response) -> None:
        """Remove the cookie from the browser."""
        name, secure = self.settings.cookie(COOKIE), self.settings.secure
        response.delete_cookie(name, secure=secure, httponly=True, samesite="strict", path="/")

    def _session(self, name: str, token: str, seen: int) -> Session:
        return Session(name, token, seen, self.keys.form_token(f"researcher-form/{token}"))

    def _signature(self, token: str, seen: int) -> str:
        return self.keys.form_token(f"researcher-cookie/{token}/{seen}")
