"""A chat endpoint for tests: it answers by a rule, stumbles as it is told to, and counts what it was paid for."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Fault = Callable[["FakeChat", Body, int], Any]
"""Given the endpoint, the request and how often it came: a (status, body, headers), a word for a fault, or ``None``."""

KEY = "sk-loopback-0123456789abcdef"


def rating_of(body: Body) -> int:
    """The rating that the endpoint gives a request: from 1 to 5, by its last message."""
    return zlib.crc32(body["messages"][-1]["content"].encode()) % 5 + 1


def error(message: str, **more: Any) -> Body:
    """An error as the OpenAI API writes it."""
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


class FakeChat:
    """Answers with :func:`rating_of`, or with ``says`` of the request; ``faults`` come first, one after another."""

    def __init__(self, *, says: Callable[[Body], Any] | None = None, faults: tuple[Fault, ...] = ()) -> None:
        self.says = says or (lambda body: str(rating_of(body)))
        self.faults = faults
        self.lock = threading.Lock()
        self.received: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.seen: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        self.under_way = self.most_under_way = 0
        self.slow = 0.0

    def respond(self, body: Body, headers: dict[str, str]) -> tuple[int | str, Any, dict[str, str]]:
        """Return a status (or a word for a fault), a body and headers."""
        name = json.dumps(body, sort_keys=True)
        with self.lock:
            self.received.append(body)
            self.headers.append(headers)
            self.seen[name] += 1
            times = self.seen[name]
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            time.sleep(self.slow)
            for fault in self.faults:
                found = fault(self, body, times)
                if found is not None:
                    return found if isinstance(found, tuple) else (found, None, {})
            with self.lock:
                self.paid[name] += 1
            return 200, self.answer(body), {}
        finally:
            with self.lock:
                self.under_way -= 1

    def answer(self, body: Body) -> Body:
        """Return a chat completion."""
        said = self.says(body)
        choice = (
            said
            if isinstance(said, dict)
            else {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        )
        usage = {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102}
        return {
            "id": f"chatcmpl-{zlib.crc32(json.dumps(body).encode())}",
            "model": f"{body['model']}-2026-01-01",
            "system_fingerprint": "fp_1",
            "choices": [{"index": 0, **choice}],
            "usage": usage,
        }


@contextmanager
def serving(endpoint: FakeChat) -> Iterator[str]:
    """Serve an endpoint on a loopback port for the time of the block; give its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer, headers = endpoint.respond(body, dict(self.headers))
            if status == "half":
                self.close_connection = True
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices": [{"mess')
                return
            if status == "closed":
                self.close_connection = True
                self.wfile.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n{"choices"')
                return
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(int(status))
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            """Keep the test's output quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


# -- faults ---------------------------------------------------------------------------------------------------


def often(share: float, fault: Any, *, salt: str = "") -> Fault:
    """A fault that befalls a share of the requests, the first time that each comes."""

    def befalls(_endpoint: FakeChat, body: Body, times: int) -> Any:
        number = zlib.crc32(f"{salt}{body['messages'][-1]['content']}".encode()) % 1000
        return fault if times == 1 and number < share * 1000 else None

    return befalls


def refuses(field: str, message: str, status: int = 400) -> Fault:
    """An endpoint that takes no such field."""

    def befalls(_endpoint: FakeChat, body: Body, _times: int) -> Any:
        return (status, error(message, param=field), {}) if field in body else None

    return befalls
