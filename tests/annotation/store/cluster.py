"""A PostgreSQL server of the tests' own: reached by a socket in a folder of its own, killed and started by its id."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lexiscope.annotation.store.engine import sa

_PATIENCE = 30
PROGRAMS = [shutil.which(name) for name in ("initdb", "postgres")]


@dataclass
class Cluster:
    """A server in a folder; ``settings`` are its own (``fsync=off``). It does not run as root: then as ``nobody``."""

    folder: str
    settings: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of its first database."""
        return f"postgresql://people@/postgres?host={self.folder}"

    def make(self) -> None:
        """Make the folder's database."""
        command = [str(PROGRAMS[0]), "-D", f"{self.folder}/data", "-U", "people", "-A", "trust", "-E", "UTF8", "-N"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **_other_user())

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = [f"--{each}" for each in (*self.settings, "listen_addresses=", "max_connections=200")]
        command = [str(PROGRAMS[1]), "-D", f"{self.folder}/data", "-k", self.folder, *options]
        with Path(self.folder, "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **_other_user())
        end = time.monotonic() + _PATIENCE
        engine = sa.create_engine(self.url.replace("postgresql:", "postgresql+psycopg:"))
        while True:
            with suppress(sa.exc.OperationalError), engine.connect():
                break
            assert self.process.poll() is None, Path(self.folder, "log").read_text("utf-8")
            assert time.monotonic() < end, "PostgreSQL does not start"
            time.sleep(0.02)
        engine.dispose()

    def kill(self) -> None:
        """End every process of the server with -9, without a warning, as the out-of-memory killer does."""
        assert self.process is not None
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        for each in (pid, *map(int, children.read_text().split() if children.exists() else ())):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self.process.wait(_PATIENCE)

    def stop(self) -> None:
        """End it at once, whatever it is doing."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(_PATIENCE)


@contextmanager
def cluster(*settings: str) -> Iterator[Cluster]:
    """A server until the block ends. The test is skipped where none can be started."""
    if None in PROGRAMS or importlib.util.find_spec("psycopg") is None:
        pytest.skip("PostgreSQL needs initdb, postgres and the package psycopg (extra: postgres)")
    # a short name: the path of a socket has some 100 characters at most
    with TemporaryDirectory() as name:
        if _other_user():
            shutil.chown(name, "nobody")
        one = Cluster(name, settings)
        one.make()
        try:
            one.start()
            yield one
        finally:
            one.stop()


def new_database(url: str, name: str, *, like: str = "template1") -> str:
    """Make a database on a server, empty or as another one is now, to which nobody is connected; return its URL."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {like}")
    engine.dispose()
    return url.replace("/postgres?", f"/{name}?")


def _other_user() -> dict[str, object]:
    """How a process is started that may not be root's."""
    if os.name == "posix" and os.geteuid() == 0:
        return {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": ()}
    return {}
