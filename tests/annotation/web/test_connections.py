"""Deadlines and the number of connections, with a real server on loopback."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from lexiscope.annotation.study_file.study_folder import read_study
from lexiscope.annotation.web.connections import (
    ConnectionLimits,
    LimitedConnection,
    listening_socket,
    most_connections,
    server_config,
)
from lexiscope.annotation.web.preview import serve_preview
from lexiscope.annotation.web.security import HEADERS
from lexiscope.annotation.web.serving import Serving, StudyLinks, serve
from lexiscope.core.errors import InputError, RunError

from ...cli.test_annotate_serve import write_study
from .made_web import made_definition, made_items
from .served import Served

QUICK = ConnectionLimits(head=0.6, body=0.6, stalled=0.6, most=200)
OTHER = "127.0.0.2"
"""A second address of this machine."""


@contextmanager
def serving(app: Any, limits: ConnectionLimits = QUICK) -> Iterator[int]:
    """Serve an application under limits; its port."""
    protocol = type("Limited", (LimitedConnection,), {"limits": limits})
    with closing(listening_socket("127.0.0.1", 0)) as listening:
        config = server_config(app, http=protocol)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "connections that are open keep the server from ending"


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the number of bytes that came, or with many on request."""
    n, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        n, more = n + len(message["body"]), message["more_body"]
    body = b"x" * 50_000_000 if scope["path"] == "/many" else str(n).encode()
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    for first in range(0, len(body), 65_536):
        part = body[first : first + 65_536]
        await send({"type": "http.response.body", "body": part, "more_body": first + 65_536 < len(body)})


def connected(port: int, *, source: str = "127.0.0.1") -> socket.socket:
    """A client's connection."""
    return socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(source, 0))


def all_of(client: socket.socket) -> bytes:
    """What the server says until it closes the connection."""
    said = b""
    try:
        while part := client.recv(65_536):
            said += part
    except ConnectionResetError:
        pass
    return said


def asked(client: socket.socket, path: str = "/", body: bytes = b"") -> bytes:
    """The answer to a whole request on a connection that stays open."""
    client.sendall(f"POST {path} HTTP/1.1\r\nhost: here\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
    answer = client.recv(65_536)
    # head and body may come in two pieces
    (length,) = (int(digits) for digits in re.findall(rb"(?i)content-length: (\d+)", answer))
    while len(answer.partition(b"\r\n\r\n")[2]) < length:
        answer += client.recv(65_536)
    return answer


HEAD = b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 100\r\n"


@pytest.mark.parametrize(
    ("before", "dripped"),
    [(b"", HEAD), (HEAD + b"\r\n", b"x" * 50), (b"POST / HTTP/1.1\r\n", b"a: b\r\n" * 20)],
    ids=["head", "body", "headers"],
)
@pytest.mark.parametrize("again", [False, True], ids=["first request", "second request"])
def test_a_request_that_drips_in_is_ended(before: bytes, dripped: bytes, *, again: bool) -> None:
    """One byte at a time is no way to hold a connection: the deadline is that of the whole head, and of the whole
    body, also after a first request that was in order; 408 is the answer, with the headers of every answer."""
    with serving(echo) as port, closing(connected(port)) as client:
        if again:
            assert asked(client, body=b"abc").endswith(b"\r\n\r\n3")
        client.sendall(before)
        with ExitStack() as stop:
            done = threading.Event()
            stop.callback(done.set)

            def drip() -> None:
                for byte in dripped:
                    if done.wait(0.05):
                        return
                    try:
                        client.sendall(bytes([byte]))
                    except OSError:
                        return

            threading.Thread(target=drip, daemon=True).start()
            said = all_of(client)
        # bytes that arrive after the end may reset the connection before its answer is read
        assert said == b"" or said.startswith(b"HTTP/1.1 408 "), said[:80]
        if said:
            assert all(f"{name}: {value}".encode() in said for name, value in HEADERS.items())


def test_a_connection_that_says_nothing_is_closed() -> None:
    """Browsers open connections before they need them: such a one is closed without an answer."""
    with serving(echo) as port, closing(connected(port)) as client:
        assert all_of(client) == b""


def test_a_slow_request_within_the_deadlines_is_served() -> None:
    """Head and body have a deadline each; parts that arrive in time are one request."""
    with serving(echo, ConnectionLimits(head=5, body=5)) as port, closing(connected(port)) as client:
        for part in (HEAD[:20], HEAD[20:], b"\r\n", b"x" * 60, b"x" * 40):
            client.sendall(part)
            time.sleep(0.05)
        assert client.recv(65_536).endswith(b"\r\n\r\n100")
        # many requests on one connection are not one long head
        for _ in range(100):
            assert asked(client, body=b"x" * 1000).endswith(b"\r\n\r\n1000")


def test_a_head_without_end_is_refused() -> None:
    """A head is bounded before it is kept."""
    with serving(echo, ConnectionLimits(head=20)) as port, closing(connected(port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 12_000)
        assert all_of(client).startswith(b"HTTP/1.1 431 ")


def test_who_takes_no_answer_does_not_keep_the_connection() -> None:
    """A client that asks for much and reads nothing is cut off."""
    with serving(echo) as port, closing(connected(port)) as client:
        client.sendall(b"GET /many HTTP/1.1\r\nhost: here\r\n\r\n")
        time.sleep(2.5)
        assert len(all_of(client)) < 50_000_000


def test_one_address_that_takes_every_connection_keeps_nobody_out() -> None:
    """Three times as many slow connections as there is room for, from one address: somebody at another address is
    served at every visit, and on the connection that stays open between two."""
    with serving(echo, ConnectionLimits(head=30, most=20)) as port, ExitStack() as held:
        patient = held.enter_context(closing(connected(port, source=OTHER)))
        assert asked(patient).endswith(b"\r\n\r\n0")
        for number in range(60):
            slow = held.enter_context(closing(connected(port)))
            slow.sendall(b"GET / HTTP/1.1\r\n")
            if number % 6 == 0:
                with closing(connected(port, source=OTHER)) as newcomer:
                    assert asked(newcomer).endswith(b"\r\n\r\n0"), number
                assert asked(patient).endswith(b"\r\n\r\n0"), number


def test_where_every_connection_is_served_a_newcomer_is_told_to_come_again() -> None:
    """A request that is being answered is never given up for another one: 503 with the seconds to wait."""
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def waits(scope: Any, receive: Any, send: Any) -> None:
        event = asyncio.Event()
        loops.append((asyncio.get_running_loop(), event))
        await event.wait()
        await echo(scope, receive, send)

    with serving(waits, ConnectionLimits(most=3)) as port, ExitStack() as held:
        clients = [held.enter_context(closing(connected(port))) for _ in range(3)]
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
        while len(loops) < 3:
            time.sleep(0.01)
        with closing(connected(port)) as late:
            said = all_of(late)
        assert said.startswith(b"HTTP/1.1 503 "), said[:80]
        assert b"retry-after: 2" in said
        for loop, event in loops:
            loop.call_soon_threadsafe(event.set)
        assert all(client.recv(65_536).endswith(b"\r\n\r\n0") for client in clients)


def test_the_cap_leaves_files_for_the_program() -> None:
    """The number of connections stays below that of open files of a process."""
    assert 16 <= most_connections() <= max(16, os.sysconf("SC_OPEN_MAX") - 100)
    assert LimitedConnection.limits.most == most_connections()


def test_who_leaves_in_the_middle_is_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A form that breaks off with a reset, and a page that nobody waits for: nothing is stored, nothing is logged."""
    served = Served(tmp_path, made_definition(), made_items())
    served.start()
    with caplog.at_level(logging.INFO):
        try:
            who = served.app.flow.arrive("5f1e2d3c4b5a69788796a5b4")
            cookie = f"cookie: participant={served.app.keys.sign(who)}\r\n"
            form = "content-type: application/x-www-form-urlencoded\r\ncontent-length: 500\r\n\r\nvisitorwrote"
            requests = (f"POST /consent HTTP/1.1\r\nhost: 127.0.0.1:{served.port}\r\n{cookie}{form}",)
            requests += (f"GET /now HTTP/1.1\r\nhost: 127.0.0.1:{served.port}\r\n{cookie}\r\n",)
            for request in requests * 3:
                client = connected(served.port)
                # closing sends a reset
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.sendall(request.encode())
                time.sleep(0.1)
                client.close()
            time.sleep(0.2)
            assert str(served.app.store.progress(who).state) == "invited"
        finally:
            served.stop()
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []


JUNK = (
    b"GET / HTTP/1.1\r\nhost: HOST\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: HOST\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\n\r\n",
    b"POST /consent HTTP/1.1\r\nhost: HOST\r\nconnection: upgrade\r\nupgrade: visitorwrote\r\n"
    b"content-length: 3\r\n\r\na=b",
    b"visitorwrote\r\n\r\n",
    b"CONNECT visitorwrote:443 HTTP/1.1\r\nhost: HOST\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    b"POST /consent HTTP/1.1\r\nhost: HOST\r\ntransfer-encoding: chunked\r\n\r\nvisitorwrote\r\n",
    b"POST /consent HTTP/1.1\r\nhost: HOST\r\ncontent-length: -1\r\n\r\n",
    b"GET /\xff\xfevisitorwrote HTTP/1.1\r\nhost: HOST\r\n\r\n",
)


def test_junk_is_answered_and_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Requests to become a WebSocket or HTTP/2, another protocol, a broken head or body: answered without a 5xx, as an
    ordinary request or with 400, and nothing is logged."""
    served = Served(tmp_path, made_definition(), made_items())
    served.start()
    try:
        for junk in JUNK:
            with closing(connected(served.port)) as client:
                client.sendall(junk.replace(b"HOST", f"127.0.0.1:{served.port}".encode()))
                said = client.recv(65_536)
            assert said.startswith((b"HTTP/1.1 2", b"HTTP/1.1 4")), (junk, said)
    finally:
        served.stop()
    assert [one.getMessage() for one in caplog.records] == []


# -- links --------------------------------------------------------------------------------------------------------


def test_links_are_said_when_the_server_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a link at the moment at which it is printed gets a connection."""
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    seen: list[StudyLinks] = []

    def say(links: StudyLinks) -> None:
        port = int(links.researcher.partition("://")[2].partition("/")[0].partition(":")[2])
        with closing(connected(port)):
            seen.append(links)
        os.kill(os.getpid(), signal.SIGINT)

    serve(read_study(tmp_path / "study.yaml"), Serving(port=0), say=say)
    assert len(seen) == 1


@pytest.mark.parametrize("listens", [True, False], ids=["taken", "bound"])
def test_a_taken_port_is_an_error_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, listens: bool
) -> None:
    """The port of another program is refused before any link is said, for the study and for its preview."""
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    study = read_study(tmp_path / "study.yaml")
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        if listens:
            other.listen()
        port = other.getsockname()[1]
        said: list[object] = []
        doings: tuple[Callable[[], object], ...] = (
            lambda: serve(study, Serving(port=port), say=said.append),
            lambda: serve_preview(study, port=port, say=said.append),
        )
        for doing in doings:
            with pytest.raises(RunError, match=f"Could not serve at 127.0.0.1, port {port}"):
                doing()
        assert said == []
        assert not (tmp_path / "study" / "study.sqlite").exists()


def test_a_certificate_that_cannot_be_used_is_an_error_without_links(tmp_path: Path) -> None:
    """Files that are no certificate are refused at once, not when the first participant comes."""
    for name in ("c.pem", "k.pem"):
        (tmp_path / name).write_text("nothing\n", encoding="utf-8")
    serving = Serving(certificate=tmp_path / "c.pem", key=tmp_path / "k.pem")
    with pytest.raises(InputError, match="cannot be used for HTTPS"):
        serving.check()
