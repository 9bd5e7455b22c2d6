"""The participants' server on a loopback port, as browsers of the tests meet it."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.routing import Route

from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.connections import server_config
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.annotation.web.server import create_app
from lexiscope.core.item import Item

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_PATIENCE = 15


@dataclass
class Served:
    """A study behind a real socket. :meth:`stop` and :meth:`start` are a restart on the same folder and port.

    ``more`` makes the researchers' routes.
    """

    folder: Path
    definition: StudyDefinition
    items: tuple[Item, ...]
    public_port: int = 0
    port: int = 0
    more: Callable[[App], tuple[Route, ...]] = lambda _app: ()
    app: App = field(init=False)
    _server: uvicorn.Server | None = None
    _thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address that participants open: the server's, or that of a proxy before it."""
        return f"http://127.0.0.1:{self.public_port or self.port}"

    def link(self, who: str = "5f1e2d3c4b5a69788796a5b4") -> str:
        """The link of a recruiting platform."""
        return f"{self.url}/?PROLIFIC_PID={who}&STUDY_ID=st1&SESSION_ID=se1"

    def start(self) -> None:
        """Open the store and serve; on the same port as before, if there was one."""
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        self.port = listening.getsockname()[1]
        study = freeze(self.definition, self.items)
        store = Store.open(self.folder, study.record)
        try:
            self.app = App.of(study, store, ServerSettings(self.url))
            settings = server_config(create_app(self.app, self.more(self.app)))
            self._server = uvicorn.Server(settings)
            run = self._server.run
            self._thread = threading.Thread(target=lambda: run(sockets=[listening]), daemon=True)
            self._thread.start()
            end = time.monotonic() + _PATIENCE
            while not self._server.started:
                assert time.monotonic() < end, "the server does not start"
                time.sleep(0.01)
        except BaseException:
            store.close()
            raise

    def stop(self) -> None:
        """End the server as SIGTERM does (requests under way are answered), then close the store."""
        if self._server is None or self._thread is None:
            return
        self._server.should_exit = True
        self._thread.join(_PATIENCE)
        # a browser that keeps a connection open does not keep the server
        self._server.force_exit = True
        self._thread.join(_PATIENCE)
        assert not self._thread.is_alive(), "the server does not end"
        self._server = self._thread = None
        self.app.store.close()


@contextmanager
def serving(
    folder: Path, definition: StudyDefinition, items: tuple[Item, ...], *, public_port: int = 0
) -> Iterator[Served]:
    """A study that is served until the test is over, whatever happens."""
    served = Served(folder, definition, items, public_port=public_port)
    try:
        served.start()
        yield served
    finally:
        with suppress(AttributeError):
            served.stop()
