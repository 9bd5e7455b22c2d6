"""A local server that misbehaves on request."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

CONTENT = b"word,rating\n" + b"bank,3\n" * 20_000


class FaultyServer:
    """Serves ``CONTENT`` under names that say what goes wrong; ``asked`` counts the requests for each."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        faults, outer = _FAULTS, self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rpartition("/")[2]
                outer.asked[name] += 1
                faults[name](self, outer.asked[name])

            def log_message(self, format: str, *args: object) -> None:
                """Stay silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, fault: str, *, commit: str = "") -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{commit and f'{commit}/'}{fault}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _send(handler: BaseHTTPRequestHandler, body: bytes, *, status: int = 200, length: int | None = None) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


def _ok(handler: BaseHTTPRequestHandler, nth: int) -> None:
    _send(handler, CONTENT)


def _missing(handler: BaseHTTPRequestHandler, nth: int) -> None:
    _send(handler, b"no such file", status=404)


def _twice_500(handler: BaseHTTPRequestHandler, nth: int) -> None:
    _send(handler, CONTENT if nth > 2 else b"broken", status=200 if nth > 2 else 500)


def _always_500(handler: BaseHTTPRequestHandler, nth: int) -> None:
    _send(handler, b"broken", status=500)


def _short(handler: BaseHTTPRequestHandler, nth: int) -> None:
    _send(handler, CONTENT[: len(CONTENT) // 2], length=len(CONTENT))


def _changed(handler: BaseHTTPRequestHandler, nth: int) -> None:
    _send(handler, CONTENT.replace(b"3", b"4", 1))


def _login(handler: BaseHTTPRequestHandler, nth: int) -> None:
    _send(handler, b"<!DOCTYPE html><html><body>Please sign in</body></html>")


def _dropped(handler: BaseHTTPRequestHandler, nth: int) -> None:
    _send(handler, CONTENT[: len(CONTENT) // 2], length=len(CONTENT))
    handler.wfile.flush()
    # linger 0: the connection ends with a reset, not in order
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def _loop(handler: BaseHTTPRequestHandler, nth: int) -> None:
    handler.send_response(302)
    handler.send_header("Location", "/loop")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def _slow(handler: BaseHTTPRequestHandler, nth: int) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    for start in range(0, len(CONTENT), len(CONTENT) // 20):
        handler.wfile.write(CONTENT[start : start + len(CONTENT) // 20])
        handler.wfile.flush()
        time.sleep(0.05)


_FAULTS: dict[str, Callable[[BaseHTTPRequestHandler, int], None]] = {
    "ok": _ok,
    "missing": _missing,
    "twice_500": _twice_500,
    "always_500": _always_500,
    "short": _short,
    "changed": _changed,
    "login": _login,
    "dropped": _dropped,
    "loop": _loop,
    "slow": _slow,
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    """A server of the test's own, on the loopback interface."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = FaultyServer()
    yield running
    running.close()


@pytest.fixture
def content() -> bytes:
    """What the server means to send."""
    return CONTENT
