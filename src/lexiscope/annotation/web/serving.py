"""The server of a study: addresses, ASGI application, store, pages of both sides and web server; how it ends.

One process serves a SQLite study. Several serve a PostgreSQL study: each opens the database for itself.
"""

from __future__ import annotations

import atexit
import gc
import json
import logging
import multiprocessing
import os
import signal
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from uvicorn.supervisors import Multiprocess

from lexiscope.annotation.store.accounts import account_names
from lexiscope.annotation.store.participants import Began
from lexiscope.annotation.store.safekeeping import MaintenanceThread
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.row_check import RowCheck
from lexiscope.annotation.study_file.study_folder import StudyOnDisk, copy_inputs, read_study
from lexiscope.annotation.web.admin.accounts import make_setup_link
from lexiscope.annotation.web.admin.routes import admin_routes
from lexiscope.annotation.web.admin.study_pages import study_link
from lexiscope.annotation.web.admin.visit import ROOT
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.connections import AnnouncingServer, listening_socket, server_config
from lexiscope.annotation.web.security import HostGuard, ServerSettings, is_loopback
from lexiscope.annotation.web.server import create_app
from lexiscope.core.columnar.lean import save_memory
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.settings import option
from lexiscope.resources.corpora.entity_list import EntityList

LOG = logging.getLogger("lexiscope.annotation")
BACKUP_MINUTES, BACKUPS_KEPT = 60.0, 48
"""A backup every hour; those of the last two days are kept."""
_WORKER = "LEXISCOPE_ANNOTATE_WORKER"


@dataclass(frozen=True, slots=True)
class Serving:
    """How a study is served."""

    host: str = option("127.0.0.1", "address to listen at")
    port: int = option(8000, "port to listen at; 0: any free port", least=0, most=65535)
    public_url: str = option(
        "", "address that participants open, if there is a proxy; empty: that of the server", metavar="URL"
    )
    private_network: bool = option(
        False, "the address is on a private network which only an HTTPS proxy reaches: plain HTTP is allowed there"
    )
    certificate: Path | None = option(None, "TLS certificate (PEM)", metavar="FILE")
    key: Path | None = option(None, "its private key (PEM)", metavar="FILE")
    postgres: str | None = option(None, "store in this PostgreSQL database instead of SQLite", metavar="URL")
    unsafe_fast: bool = option(False, "faster SQLite, which can lose the last answers in a power cut")
    workers: int = option(1, "processes (PostgreSQL only)", least=1)

    def check(self) -> None:
        """Check the settings before anything is opened.

        Errors: :class:`InputError` for several workers without PostgreSQL, plain HTTP beyond this machine and a private
        network, or half of certificate and key, or two that do not belong together.
        """
        if self.workers > 1 and self.postgres is None:
            what = f"{self.workers} processes cannot write to one SQLite study"
            raise InputError(what, hint="use one, or store the study in PostgreSQL: --postgres URL")
        if (self.certificate is None) != (self.key is None):
            raise InputError("a certificate and its key are given together", hint="--certificate FILE --key FILE")
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise InputError(f"there is no file {file}", code="E001")
        if self.certificate is not None:
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key)
            except OSError as error:
                raise InputError(
                    f"{self.certificate} and {self.key} cannot be used for HTTPS",
                    why=str(error),
                    hint="give a certificate and its private key, both in PEM form, the key without a password",
                ) from error
        behind_proxy = self.private_network and urlsplit(self.public_url).scheme == "https"
        if self.certificate is None and not is_loopback(self.host) and not behind_proxy:
            raise InputError(
                f"Plain HTTP at {self.host} would send cookies and answers without encryption.",
                hint="Add --certificate and --key, or serve 127.0.0.1 behind a proxy with HTTPS and give its address "
                "with --public-url. If only such a proxy reaches this address, add --private-network, too.",
            )
        self.settings()

    def settings(self) -> ServerSettings:
        """Return what the app is told: the public address, which the server's own is where none is given.

        Errors: those of :class:`ServerSettings`.
        """
        scheme = "https" if self.certificate is not None else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        url = self.public_url or f"{scheme}://{host}:{self.port}"
        return ServerSettings(url.rstrip("/"), host=self.host, port=self.port)


@dataclass(frozen=True, slots=True)
class StudyLinks:
    """The links of a study: for participants, to the dashboard, and once the link that sets a password.

    ``set_aside`` is the folder with what is left of an earlier study whose database was lost (``--new``).
    """

    participants: str
    researcher: str
    set_up: str = ""
    set_aside: Path | None = None


@contextmanager
def open_app(
    study: FrozenStudy,
    folder: Path,
    settings: ServerSettings,
    *,
    serving: Serving | None = None,
    clock: Callable[[], datetime] | None = None,
    steady: Callable[[], float] | None = None,
    began: Began | None = None,
    search: Path | None = None,
    new: bool = False,
) -> Iterator[App]:
    """Open a study's store and put its app together; *new* starts a study again whose database is lost.

    Errors: those of the store, and of the list that is searched.
    """
    serving = serving or Serving()
    entities = EntityList.read(search) if search is not None else None
    with (
        Store.open(
            folder,
            study.record,
            url=serving.postgres,
            unsafe_fast=serving.unsafe_fast,
            clock=clock,
            steady=steady,
            began=began,
            has_place=study.has_place,
            new=new,
            check_later=True,
        ) as store,
        _checked_meanwhile(study, store),
    ):
        app = App.of(study, store, settings, entities=entities)
        app.clock, app.postgres = clock or app.clock, serving.postgres
        yield app


@contextmanager
def _checked_meanwhile(study: FrozenStudy, store: Store) -> Iterator[None]:
    """Have another process check the rows of a store that was opened because its file is as it was closed.

    If it does not get to an answer, the next start checks them before it serves.
    """
    if not store.check_is_due:
        yield
        return
    with RowCheck(study, store.folder) as check:

        def receive() -> None:
            try:
                store.record_check(check.wait())
            except EOFError:
                LOG.warning("the check of the rows ended before it was done: the next start begins with it")

        receiving = threading.Thread(target=receive, name="lexiscope-check", daemon=True)
        receiving.start()
        try:
            yield
        finally:
            check.stop()
            receiving.join()


def application(app: App) -> HostGuard:
    """Return the ASGI application with both sides: participants and researchers."""
    return create_app(app, admin_routes(app))


def spare_the_collector() -> None:
    """Exclude from garbage collection what lives as long as the server, and collect the rest less often.

    A page makes some hundreds of objects that reference counting frees; looking through the whole program for cycles
    every few pages costs some per cent of the processor.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


def links_of(app: App) -> StudyLinks:
    """Return the links; the first run makes one with which the researcher sets a password."""
    url = app.settings.public_url.rstrip("/")
    set_up = "" if app.store.read(account_names) else make_setup_link(app.store, app.settings)
    return StudyLinks(study_link(app.definition.platform, url), f"{url}{ROOT}", set_up, app.store.set_aside)


def serve(study: StudyOnDisk, serving: Serving, *, say: Callable[[StudyLinks], object], new: bool = False) -> None:
    """Serve a study until the process is asked to stop; *say* is called once it listens.

    A second request to stop, or one that takes too long, ends the process at once: what was acknowledged is stored.

    Errors: :class:`InputError` for settings that cannot be, :class:`RunError` where the address is taken or the study
    is open in another process, or its writer ended; those of the store.
    """
    serving.check()
    save_memory()
    frozen = study.freeze()
    ending = Ending()
    with closing(listening_socket(serving.host, serving.port)) as listening, ending.catch_signals():
        serving = replace(serving, port=listening.getsockname()[1])
        settings = serving.settings()
        with ExitStack() as held:
            app = held.enter_context(
                open_app(frozen, study.folder, settings, serving=serving, search=study.search, new=new)
            )
            copy_inputs(study)
            # before anything else: it reads from the log when the study was last served
            app.store.hold_again()
            # what was promised about the platform's ids holds also where the server was down on the day
            app.store.purge_identities()
            began = app.store.held_time.began
            links = links_of(app)
            if serving.workers == 1:
                held.enter_context(_maintenance(app.store))
                asgi = application(app)
                spare_the_collector()
                app.store.when_writer_ends(stop_soon)
                # while the clocks of a stopping process run: at its exit Python would wait for this thread without end
                held.callback(app.rule_thread.shutdown)
                config = _config(asgi, serving)
                StudyServer(config, started=lambda: say(links), ending=ending).run(sockets=[listening])
                if app.store.trouble.startswith("the writer ended"):
                    raise RunError(
                        app.store.trouble,
                        place=Place(str(study.folder)),
                        hint="start the server again; every acknowledged answer is stored",
                    )
        if serving.workers > 1:
            # the system keeps those who come before the first worker is ready
            say(links)
            _run_workers(study, serving, listening, began)


def worker_app() -> HostGuard:
    """Return the application of one of several worker processes, as its parent's environment describes it."""
    end_with_parent()
    save_memory()
    description = json.loads(os.environ[_WORKER])
    study, serving = read_study(Path(description["folder"])), Serving(**description["serving"])
    held = ExitStack()
    # open as long as the process lives, which ends with its parent's signal: no other object holds the stack, and one
    # that is collected closes the store
    atexit.register(held.close)
    app = held.enter_context(
        open_app(
            study.freeze(),
            study.folder,
            serving.settings(),
            serving=serving,
            began=tuple(description["began"]),
            search=study.search,
        )
    )
    app.store.when_writer_ends(stop_soon)
    Ending().watch_worker()
    # each for itself: one of them may live where the others were killed, and its health says what it could not do
    held.enter_context(_maintenance(app.store))
    asgi = application(app)
    spare_the_collector()
    return asgi


def _maintenance(store: Store) -> MaintenanceThread:
    # PostgreSQL is backed up by its own tools; platform ids are ours to delete wherever they are
    return MaintenanceThread(store, every=BACKUP_MINUTES, keep=0 if store.is_shared else BACKUPS_KEPT)


def _config(app: Any, serving: Serving, **more: Any) -> uvicorn.Config:
    return server_config(
        app,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=str(serving.certificate) if serving.certificate is not None else None,
        ssl_keyfile=str(serving.key) if serving.key is not None else None,
        **more,
    )


def _run_workers(study: StudyOnDisk, serving: Serving, listening: socket.socket, began: Began) -> None:
    settings = {name: getattr(serving, name) for name in serving.__slots__}
    settings |= {name: str(settings[name]) if settings[name] is not None else None for name in ("certificate", "key")}
    os.environ[_WORKER] = json.dumps({"folder": str(study.folder.resolve()), "serving": settings, "began": began})
    target = f"{__name__}:{worker_app.__name__}"
    config = _config(target, serving, factory=True, workers=serving.workers)
    Multiprocess(config, sockets=[listening]).run()


# -- ending ---------------------------------------------------------------------------------------------------------
# How a server's process ends: in good order if it can, by force if it cannot, and always when it is asked to.
#
# An answer is acknowledged after its commit, so that a process that ends at any moment loses none.


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
        self._requests = 0
        self._clocks: list[threading.Timer] = []

    def request_stop(self) -> bool:
        """Record a request to stop; return whether it is the first."""
        self._requests += 1
        if self._requests <= 2:
            # a blocked thread, a foreign lock, an export: none of them keeps this thread from ending the process
            clock = threading.Timer(LATEST_SECONDS if self._requests == 1 else AGAIN_SECONDS, _end_by_force)
            clock.daemon = True
            clock.start()
            self._clocks.append(clock)
        return self._requests == 1

    @contextmanager
    def catch_signals(self) -> Iterator[None]:
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
            self.request_stop()
            if callable(served):
                served(number, frame)

        signal.signal(signal.SIGTERM, stop)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        # a second request must not break off what the first one closes: its clock ends it
        if self.request_stop():
            raise Stopped


class StudyServer(AnnouncingServer):
    """The web server; a second request to stop waits for no connection."""

    def __init__(self, config: uvicorn.Config, *, started: Callable[[], object], ending: Ending) -> None:
        super().__init__(config, started=started)
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, without raising the signal again afterwards: what follows the server closes in its own order."""
        self.force_exit = not self._ending.request_stop()
        self.should_exit = True


def stop_soon() -> None:
    """Ask this process to stop in a moment."""
    clock = threading.Timer(TROUBLE_SECONDS, os.kill, (os.getpid(), signal.SIGTERM))
    clock.daemon = True
    clock.start()


def end_with_parent() -> None:
    """Have this worker end when the process that started it is gone, however that one ended.

    A killed parent sends no signal. Its workers would answer without a supervisor and keep the address of the study,
    so that it could not be started again.
    """
    parent = multiprocessing.parent_process()

    def wait() -> None:
        assert parent is not None
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        # a worker that is still being opened, and waits for a database that does not answer
        time.sleep(LATEST_SECONDS)
        _end_by_force()

    if parent is not None:
        threading.Thread(target=wait, name="lexiscope-parent", daemon=True).start()


def _end_by_force() -> None:
    sys.stderr.write("Stopped without waiting for open requests. All answers are saved.\n")
    sys.stderr.flush()
    os._exit(0)
