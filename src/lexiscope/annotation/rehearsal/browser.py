"""A browser without scripts that speaks to the server's application in this process, and counts what that costs."""

from __future__ import annotations

import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.types import ASGIApp

from lexiscope.core.errors import RunError

_REDIRECTS = (302, 303, 307)


@dataclass(slots=True)
class Meter:
    """Requests and the processor time of the whole process while the application worked on them. *Unit:* seconds."""

    requests: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PageReply:
    """What came back, after redirects: the path at which they ended, the status, the text."""

    path: str
    status: int
    text: str


@dataclass(slots=True)
class Browser:
    """One participant's browser: cookies, and a referee's watch on the server."""

    app: ASGIApp
    origin: str
    meter: Meter = field(default_factory=Meter)
    cookies: dict[str, str] = field(default_factory=dict)

    async def get(self, address: str) -> PageReply:
        """Open an address.

        Errors: :class:`RunError` for a failure of the server, or redirects without end.
        """
        return await self._follow("GET", address, b"")

    async def post(self, address: str, form: Mapping[str, str]) -> PageReply:
        """Send a form and follow where it leads (errors as in :meth:`get`)."""
        return await self._follow("POST", address, urlencode(form).encode("ascii"))

    async def _follow(self, method: str, address: str, body: bytes) -> PageReply:
        for _ in range(10):
            status, headers, text = await self._request(method, address, body)
            if status >= 500:
                raise RunError(f"the server answered {method} {address} with {status}", why=text[:300])
            if status not in _REDIRECTS:
                return PageReply(urlsplit(address).path, status, text)
            method, address, body = "GET", headers["location"], b""
        raise RunError(f"{address} redirects without end")

    async def _request(self, method: str, address: str, body: bytes) -> tuple[int, dict[str, str], str]:
        got: dict[str, Any] = {"status": 0, "headers": {}, "parts": []}
        sent = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> MutableMapping[str, Any]:
            return next(sent, {"type": "http.disconnect"})

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                got["status"] = message["status"]
                self._take(message["headers"], got["headers"])
            else:
                got["parts"].append(message.get("body", b""))

        before = time.process_time()
        await self.app(self._scope(method, address, body), receive, send)
        self.meter.seconds += time.process_time() - before
        self.meter.requests += 1
        return got["status"], got["headers"], b"".join(got["parts"]).decode("utf-8")

    def _scope(self, method: str, address: str, body: bytes) -> dict[str, Any]:
        parts, host = urlsplit(address), urlsplit(self.origin).netloc
        headers = [(b"host", host.encode()), (b"origin", self.origin.encode()), (b"sec-fetch-site", b"same-origin")]
        if self.cookies:
            jar = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            headers.append((b"cookie", jar.encode("ascii")))
        if method == "POST":
            headers.append((b"content-type", b"application/x-www-form-urlencoded"))
            headers.append((b"content-length", str(len(body)).encode()))
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": urlsplit(self.origin).scheme,
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": urlencode(parse_qsl(parts.query)).encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }

    def _take(self, given: list[tuple[bytes, bytes]], into: dict[str, str]) -> None:
        for name, value in given:
            text = value.decode("latin-1")
            if name == b"set-cookie":
                key, _, rest = text.partition("=")
                self.cookies[key] = rest.partition(";")[0]
            into[name.decode("latin-1")] = text
