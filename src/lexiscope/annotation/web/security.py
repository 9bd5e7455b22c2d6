"""Protection of the server: signed cookies, request tokens, headers, limits.

Everything that a request brings is bounded before it is read. Keys are derived from the study's secret key, so that
sessions survive a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qsl, urlsplit

from itsdangerous import BadSignature, Signer
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexiscope.annotation.store.backup import KEY_NAME
from lexiscope.annotation.web.showings import Showings
from lexiscope.core.errors import InputError

MAX_BODY = 192 * 1024
"""Bytes of a request's body: the longest text and comment fit in any script (12 bytes a character as a form sends it),
and no page of a participant uploads a file."""
MAX_FIELDS = 100
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; object-src 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-frame-options": "DENY",
}
_MAX_BUCKETS = 100_000
K = TypeVar("K")
V = TypeVar("V")


def remember(memory: OrderedDict[K, V], key: K, value: V, *, most: int) -> None:
    """Put a value at the end of a memory, and remove the oldest ones beyond *most*."""
    # another thread may remove the key at any moment
    memory.pop(key, None)
    memory[key] = value
    while len(memory) > most:
        memory.popitem(last=False)


class Refused(Exception):
    """A request that is not carried out: an HTTP status, a code for programs, and a key of a text for users."""

    def __init__(self, status: int, code: str, message: str, *, field: str = "", retry_after: int = 0) -> None:
        self.status, self.code, self.message, self.field, self.retry_after = status, code, message, field, retry_after
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The addresses of the server.

    ``public_url`` is the address that participants open. Over plain HTTP only a loopback address is served: cookies
    would travel in the clear.
    """

    public_url: str
    host: str = "127.0.0.1"
    port: int = 8000

    def __post_init__(self) -> None:
        address = urlsplit(self.public_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise InputError(
                f"{self.public_url!r} is not the address of a server.", hint="Write https://study.example.org."
            )
        if address.scheme == "http" and not (is_loopback(address.hostname) and is_loopback(self.host)):
            raise InputError(
                f"{self.public_url} would send cookies and answers without encryption.",
                why="Plain HTTP is served on this machine only.",
                hint="Add --certificate and --key, or use a proxy with HTTPS and give its address with --public-url.",
            )

    @property
    def secure(self) -> bool:
        """Return whether participants connect by HTTPS."""
        return self.public_url.startswith("https:")

    @property
    def origin(self) -> str:
        """Scheme, host and port of the public address."""
        address = urlsplit(self.public_url)
        return f"{address.scheme}://{address.netloc}"

    def cookie(self, name: str) -> str:
        """Return the full name of a cookie: bound to this host where there is HTTPS."""
        return f"__Host-{name}" if self.secure else name


def is_loopback(host: str) -> bool:
    """Return whether a host name is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Keys:
    """Signatures under the study's secret key: of a participant's cookie, and of the token in every form.

    ``showings`` signs when a page was shown.
    """

    def __init__(self, folder: Path) -> None:
        secret = (folder / KEY_NAME).read_bytes()
        self._signer = Signer(_derive_key(secret, "cookie"), salt="participant", digest_method=hashlib.sha256)
        self._form = _derive_key(secret, "form")
        self.showings = Showings(_derive_key(secret, "showing"))
        # signatures that were checked once: a participant sends the same one hundreds of times
        self.participant = lru_cache(maxsize=4096)(self._participant)

    def sign(self, participant_id: str) -> str:
        """Return the value of a participant's cookie."""
        return self._signer.sign(participant_id).decode("ascii")

    def _participant(self, cookie: str) -> str | None:
        """Return the participant whose cookie this is; ``None`` if it was not signed here."""
        try:
            return self._signer.unsign(cookie.encode("ascii", "replace")).decode("ascii")
        except BadSignature:
            return None

    def form_token(self, who: str) -> str:
        """Return the token that every form of this session carries."""
        return hmac.new(self._form, who.encode("utf-8"), hashlib.sha256).hexdigest()

    def check_form(self, request: Request, who: str, token: str, *, origin: str) -> None:
        """Check that a form was sent from a page of ours.

        Errors: :class:`Refused` 403.
        """
        if not hmac.compare_digest(self.form_token(who).encode(), token.encode("utf-8", "replace")):
            raise Refused(403, "csrf", "form_expired")
        foreign = request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        # under no-referrer a browser sends "null" with its own forms: no evidence either way
        if foreign or request.headers.get("origin", origin) not in (origin, "null"):
            raise Refused(403, "csrf", "form_expired")


def _derive_key(secret: bytes, purpose: str) -> bytes:
    return hmac.new(secret, b"lexiscope/" + purpose.encode(), hashlib.sha256).digest()


def new_token() -> str:
    """Return a secret of 256 bits."""
    return secrets.token_urlsafe(32)


@dataclass(slots=True)
class RateLimit:
    """A limit per key: ``burst`` actions at once, then ``per_second``. The oldest keys are removed first."""

    burst: int
    per_second: float
    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, key: str) -> None:
        """Count one action.

        Errors: :class:`Refused` 429 with the seconds to wait.
        """
        now = self.clock()
        left, then = self._buckets.get(key, (float(self.burst), now))
        left = min(float(self.burst), left + (now - then) * self.per_second)
        remember(self._buckets, key, (max(left - 1, 0.0) if left >= 1 else left, now), most=_MAX_BUCKETS)
        if left < 1:
            raise Refused(429, "too_many_requests", "too_fast", retry_after=max(1, round((1 - left) / self.per_second)))


def path_number(request: Request, name: str) -> int:
    """Return the whole number in a part of the address.

    Errors: :class:`Refused` 404 for anything but one to nine digits.
    """
    text = request.path_params[name]
    if not re.fullmatch("[0-9]{1,9}", text):
        raise Refused(404, "not_found", "not_found")
    return int(text)


async def read_form(request: Request) -> dict[str, str]:
    """Read a form of bounded size; if a field comes twice, the last one counts.

    Errors: :class:`Refused` 413 (too large), 415 (no form), 400 (not readable, or the client left).
    """
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise Refused(415, "not_a_form", "not_a_form")
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY:
                raise Refused(413, "too_large", "too_large")
    except ClientDisconnect as error:
        # the response is never read, and a client that leaves is not a fault to log
        raise Refused(400, "broken_off", "not_a_form") from error
    try:
        text = bytes(body).decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict"))
    except (UnicodeDecodeError, ValueError) as error:
        raise Refused(400, "unreadable", "not_a_form") from error


class HostGuard:
    """ASGI middleware: the security headers on every response, and only requests for our own host.

    Every response has ``no-store`` except the files under ``/static/``, which have their hash in their address.
    """

    def __init__(self, app: ASGIApp, *, settings: ServerSettings, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = {urlsplit(settings.public_url).netloc, *hosts}
        fixed = HEADERS | ({"strict-transport-security": "max-age=63072000"} if settings.secure else {})
        self._fixed = [(name.encode("ascii"), value.encode("ascii")) for name, value in fixed.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and the headers back."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message["headers"]
                kept = [] if any(name == b"cache-control" for name, _ in given) else [(b"cache-control", b"no-store")]
                message["headers"] = [*given, *self._fixed, *kept]
            await send(message)

        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if host not in self._hosts:
            await _plain(send_guarded, 400, b"unknown host")
            return
        try:
            await self._app(scope, receive, send_guarded)
        except Exception:  # noqa: BLE001 - answered and logged inside; the web server would log the error's text too
            return


async def _plain(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
