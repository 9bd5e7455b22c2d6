"""A connection of the web server: how long a request may take to arrive, and how many connections are open at once.

Uvicorn waits for ever for the rest of a request, and takes as many connections as come. Both let one visitor with a
slow or broken line, or with bad intent, keep the others out.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lexiscope.annotation.web.security import HEADERS
from lexiscope.core.errors import RunError

_PHRASES = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}
# files and sockets of the program itself: the database, its log, what is being exported
_KEPT_FREE = 128
_BACKLOG = 2048
_ENDING = "lexiscope.ending"


def most_connections(wanted: int = 1000) -> int:
    """Return how many connections this process can hold in addition to its own files."""
    limit = os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else -1
    return wanted if limit < 0 else max(16, min(wanted, limit - _KEPT_FREE))


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of a connection.

    ``head``: from the first byte of a request, or from the connection, to the end of its head; ``body``: from there to
    its end; ``stalled``: without taking anything of a response that waits. ``head_bytes``: the longest head. ``most``:
    open connections of one process. *Unit:* seconds; bytes.
    """

    head: float = 10.0
    body: float = 30.0
    stalled: float = 30.0
    head_bytes: int = 65_536
    most: int = 1000


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one.

    Errors: :class:`RunError` if the address is taken, or is not one of this machine.
    """
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        # from here on the address is ours: binding alone leaves it to another server that is quicker
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        what = f"Could not serve at {host}, port {port}."
        raise RunError(what, why=error.strerror or str(error), hint="Choose another port with --port.") from error
    return listening


def ending_of(scope: Any) -> asyncio.Event:
    """Return the event that is set when the server ends while this request is being answered.

    What takes long waits for it too, and breaks off.
    """
    event: asyncio.Event = scope.setdefault(_ENDING, asyncio.Event())
    return event


class AnnouncingServer(uvicorn.Server):
    """A web server that reports when it has started."""

    def __init__(self, config: uvicorn.Config, *, started: Callable[[], object]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server, then report it."""
        await super().startup(sockets)
        if self.started:
            self._tell()


def server_config(app: Any, *, http: type[LimitedConnection] | None = None, **more: Any) -> uvicorn.Config:
    """Return the settings of every web server of studies: no request makes an entry in its log."""
    return uvicorn.Config(
        app,
        http=http or LimitedConnection,
        # no page is a WebSocket: with a library installed, uvicorn would take requests for one past our limits
        ws="none",
        lifespan="off",
        log_config=None,
        # uvicorn warns of each request that it cannot read; what fails is in our own log
        log_level="error",
        # no access log: addresses hold tokens and ids of the recruiting platform
        access_log=False,
        server_header=False,
        proxy_headers=False,
        **more,
    )


class LimitedConnection(HttpToolsProtocol):
    """One connection, within the limits of its class.

    If all connections are taken, a new one replaces one on which no complete request is waiting for its answer: of the
    address with most connections, the one that has been silent longest. If there is none, it gets status 503.
    """

    limits = ConnectionLimits(most=most_connections())
    _timer: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _waits_for: object = None
    _came: int = 0
    _heard: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; make room where there are too many."""
        super().connection_made(transport)
        self._heard = time.monotonic()
        self._watch()
        if len(self.connections) > self.limits.most:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """End; nothing is waited for any more."""
        super().connection_lost(exc)
        for timer in (self._timer, self._stalled):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        # what follows a rejected request is never read
        if self.transport.is_closing():
            return
        self._heard = time.monotonic()
        self._came += len(data)
        super().data_received(data)
        if not self.transport.is_closing():
            self._watch(heard=True)
            if self._is_head and self._came > self.limits.head_bytes:
                self._refuse(431)

    def pause_writing(self) -> None:
        """Record that the client does not read the response."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(self.limits.stalled, self.transport.abort)

    def resume_writing(self) -> None:
        """Record that the client reads again."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def shutdown(self) -> None:
        """Answer a complete request; close a connection without one."""
        super().shutdown()
        if self.is_served:
            ending_of(self.cycle.scope).set()
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse data that is not a request."""
        self._refuse(400)

    @property
    def is_served(self) -> bool:
        """Return whether a complete request is waiting for its answer."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    @property
    def address(self) -> str:
        """The client's address; empty where the system does not say."""
        return self.client[0] if self.client else ""

    @property
    def _is_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _watch(self, *, heard: bool = False) -> None:
        """Set the deadline of the part of a request that is on its way now: once for each part."""
        if self.is_served:
            waits_for: Any = None
        elif not self._is_head:
            waits_for = self.cycle
        else:
            # an idle connection between two requests is uvicorn's to close
            waits_for = ("head", id(self.cycle)) if heard or self.cycle is None else None
        if not self._is_head:
            self._came = 0
        if waits_for == self._waits_for:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._waits_for, self._timer = waits_for, None
        if waits_for is not None:
            seconds = self.limits.body if waits_for is self.cycle else self.limits.head
            self._timer = self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        if self.transport.is_closing():
            self.transport.abort()
        elif self._is_head and not self._came:
            # a browser opens connections before it needs them
            self._end()
        else:
            self._refuse(408)

    def _refuse(self, status: int) -> None:
        """Answer without the application, unless it has begun to, and close."""
        if self._is_head or not self.cycle.response_started:
            text = _PHRASES[status].encode("ascii")
            lines = [f"HTTP/1.1 {status} {_PHRASES[status]}", "content-type: text/plain; charset=utf-8"]
            lines += [f"content-length: {len(text)}", "connection: close", "cache-control: no-store"]
            lines += [f"{name}: {value}" for name, value in HEADERS.items()]
            lines += ["retry-after: 2"] if status == 503 else []
            self.transport.write("\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + text)
        self._end()

    def _end(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            # the reader of the request is told that nothing more comes
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()
        # a client that takes nothing does not keep the connection open either
        self.loop.call_later(1.0, self.transport.abort)

    def _make_room(self) -> None:
        others = [c for c in self.connections if isinstance(c, LimitedConnection) and c is not self]
        held = Counter(connection.address for connection in others)

        def priority(connection: LimitedConnection) -> tuple[bool, int, float]:
            # one that is closing already goes first
            return not connection.transport.is_closing(), -held[connection.address], connection._heard

        idle = [connection for connection in others if not connection.is_served]
        if idle:
            min(idle, key=priority).transport.abort()
        else:
            self._refuse(503)
