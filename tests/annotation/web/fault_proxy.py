"""A proxy on loopback that fails on purpose: connections dropped, stalled, reset after the request, answers cut."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

FAULTS = ("drop", "stall", "reset", "cut")
_HURRY = struct.pack("ii", 1, 0)  # linger for 0 s: the connection ends with RST


@dataclass
class FaultProxy:
    """Hands requests on to ``upstream``, one per connection; a share of them fails, in an order given by the seed.

    ``drop``: closed before the server sees it. ``stall``: the server has it, and its answer never comes. ``reset``: the
    server has it, and the connection is reset. ``cut``: half of the answer comes. ``only`` says which requests may fail
    (by their first line); ``counts`` is what happened.
    """

    share: float
    seed: int = 1
    faults: tuple[str, ...] = FAULTS
    stall_seconds: float = 1.0
    only: Callable[[str], bool] = lambda _line: True
    upstream: int = 0
    port: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def __enter__(self) -> FaultProxy:
        self._random = random.Random(self.seed)
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(listening,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    def _run(self, listening: socket.socket) -> None:
        self._loop.run_until_complete(self._serve(listening))
        self._loop.close()

    async def _serve(self, listening: socket.socket) -> None:
        self._end = asyncio.Event()
        server = await asyncio.start_server(self._meet, sock=listening, backlog=500)
        await self._end.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._hand_on(reader, writer)
        writer.close()

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n")[:-2] if not line.lower().startswith(b"connection:")]
        length = next((int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")), 0)
        body = await reader.readexactly(length)
        line = lines[0].decode("latin-1")
        faulty = self.only(line) and self._random.random() < self.share
        fault = self._random.choice(self.faults) if faulty else "none"
        self.counts[fault] += 1
        if fault == "drop":
            self._reset(writer)
            return
        answer = await self._ask(b"\r\n".join([*lines, b"connection: close", b"", b""]) + body)
        if fault == "stall":
            await asyncio.sleep(self.stall_seconds)
        elif fault == "cut":
            writer.write(answer[: len(answer) // 2])
            await writer.drain()
        elif fault == "none":
            writer.write(answer)
            await writer.drain()
            return
        self._reset(writer)

    async def _ask(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        writer.write(request)
        answer = await reader.read(-1)
        writer.close()
        return answer

    @staticmethod
    def _reset(writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _HURRY)
        writer.transport.abort()
