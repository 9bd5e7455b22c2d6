"""How a server's process ends: in good order if it can, by force if it cannot, and always when it is asked to.

An answer is acknowledged after its commit, so that a process that ends at any moment loses none.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import uvicorn

from lexiscope.annotation.web.connections import Announced

GRACE_SECONDS = 15
"""How long requests under way may take after the first request to stop."""
LATEST_SECONDS, AGAIN_SECONDS = 25.0, 3.0
"""After so long the process ends by force: after the first request to stop, after a second one."""
TROUBLE_SECONDS = 2.0
"""How long a server whose writer ended still answers, so that /health can report it."""


class Stopped(Exception):
    """The process was asked to stop before the server took over the signals."""


class Ending:
    """The requests to stop that this process had, and the clocks that they start."""

    def __init__(self) -> None:
        self._asked = 0
        self._clocks: list[threading.Timer] = []

    def ask(self) -> bool:
        """Note a request to stop; return whether it is the first."""
        self._asked += 1
        if self._asked <= 2:
            # a blocked thread, a foreign lock, an export: none of them keeps this thread from ending the process
            clock = threading.Timer(LATEST_SECONDS if self._asked == 1 else AGAIN_SECONDS, _end_by_force)
            clock.daemon = True
            clock.start()
            self._clocks.append(clock)
        return self._asked == 1

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let the block end in good order when the process is asked to stop, at any moment.

        The server takes the signals over while it runs, and gives them back when it has ended.
        """
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with suppress(Stopped):
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            for clock in self._clocks:
                clock.cancel()

    def watch_worker(self) -> None:
        """Start the clocks also where uvicorn's own worker process handles the signal."""
        served = signal.getsignal(signal.SIGTERM)

        def stop(number: int, frame: FrameType | None) -> None:
            self.ask()
            if callable(served):
                served(number, frame)

        signal.signal(signal.SIGTERM, stop)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        # a second request must not break off what the first one closes: its clock ends it
        if self.ask():
            raise Stopped


class Server(Announced):
    """The web server; a second request to stop waits for no connection."""

    def __init__(self, config: uvicorn.Config, *, started: Callable[[], object], ending: Ending) -> None:
        super().__init__(config, started=started)
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, without raising the signal again afterwards: what follows the server closes in its own order."""
        self.force_exit = not self._ending.ask()
        self.should_exit = True


def stop_soon() -> None:
    """Ask this process to stop in a moment."""
    clock = threading.Timer(TROUBLE_SECONDS, os.kill, (os.getpid(), signal.SIGTERM))
    clock.daemon = True
    clock.start()


def _end_by_force() -> None:
    sys.stderr.write("ended without waiting for what is under way; every acknowledged answer is stored\n")
    sys.stderr.flush()
    os._exit(0)
