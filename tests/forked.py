"""Programs in processes of their own, forked from one process that has imported what they need.

A new Python needs most of a second to import Lexiscope; a fork of one that has imported it needs none. A forked
program has its own folder, environment, arguments and files for what it prints; torch is not imported for it.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TESTS = Path(__file__).resolve().parent
_IMPORTED = (
    "jinja2",
    "lexiscope.annotation.store.store",
    "lexiscope.cli.collect",
    "lexiscope.cli.study",
    "lexiscope.items.read.importer",
    "lexiscope.studies.saw_c",
    "lexiscope.tasks.relatedness",
)


@functools.cache
def _parent() -> subprocess.Popen[str]:
    """The process that forks, one for each process of tests: a child is ended before the next one is begun."""
    # without this file's folder in its path, which no program has
    command = [sys.executable, "-P", __file__]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(parent.communicate)
    return parent


def _told() -> int:
    stdout = _parent().stdout
    assert stdout is not None
    return int(stdout.readline())


@dataclass(frozen=True)
class Forked:
    """A program that was begun."""

    pid: int

    def kill(self) -> int:
        """End it at once, and return its status."""
        os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> int:
        """Return its status: 0, what it exits with, or the negative number of a signal."""
        return _told()


def begin(
    module: str,
    words: Sequence[str],
    *,
    cwd: Path,
    stdout: Path,
    stderr: Path = Path(os.devnull),
    paths: Sequence[Path] = (),
    environment: Mapping[str, str] = os.environ,
) -> Forked:
    """Begin a module as a program, as ``python -m`` does, with *paths* before the path of modules.

    *stdout* and *stderr* are files or named pipes. Until the program was waited for or killed no other is begun.
    """
    stdin = _parent().stdin
    assert stdin is not None
    files = [os.devnull, str(stdout), str(stderr)]
    order = {"module": module, "words": list(words), "cwd": str(cwd), "files": files, "paths": [*map(str, paths)]}
    stdin.write(json.dumps(order | {"environment": dict(environment)}) + "\n")
    stdin.flush()
    return Forked(_told())


def run_command(
    *words: str, cwd: Path, environment: Mapping[str, str] = os.environ, site: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``lexiscope`` with these words; *site* is a folder of installed distributions beside the usual ones."""
    with TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in ("stdout", "stderr")}
        paths = [cwd, *(str(site).split(os.pathsep) if site else ())]
        program = begin("lexiscope", words, cwd=cwd, paths=[*map(Path, paths)], environment=environment, **files)
        status = program.wait()
        told = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    return subprocess.CompletedProcess(["lexiscope", *words], status, **told)


# -- the process that forks -----------------------------------------------------------------------------------------


def _fork_on_demand() -> None:
    for name in _IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(json.loads(line))
            return
        _tell(child)
        _tell(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _tell(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _run(order: Mapping[str, Any]) -> None:
    for number, name in enumerate(order["files"]):
        opened = os.open(name, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.path[:0] = order["paths"]
    sys.argv = [order["module"], *order["words"]]
    runpy.run_module(order["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _fork_on_demand()
