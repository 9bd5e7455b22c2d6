"""Environments in which only some extras are installed: the other packages are hidden from a child process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

HERE = Path(__file__).parent / "without"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def packages_of(*names: str) -> set[str]:
    """What ``pip install lexiscope[names]`` brings: requirements of requirements, with their extras."""
    waiting, known = [("lexiscope", frozenset(filter(None, names)))], set()
    while waiting:
        name, extras = each = waiting.pop()
        if each in known:
            continue
        known.add(each)
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for line in map(Requirement, lines):
            if line.marker is None or any(line.marker.evaluate({"extra": one}) for one in {"", *extras}):
                waiting.append((_plain(line.name), frozenset(line.extras)))
    return {name for name, _ in known}


def hidden_for(*extras: str) -> set[str]:
    kept = packages_of(*extras) | {"pip", "setuptools"}
    return {_plain(each.metadata["Name"]) for each in metadata.distributions()} - kept


def environment_with(extras: Sequence[str], folder: Path, *, data: str = "") -> dict[str, str]:
    """The environment of a program for which only these extras are installed, without a network.

    Published data are in the folder *data*, else neither here nor on the network.
    """
    known = {key: value for key, value in os.environ.items() if key != "LEXISCOPE_DATA"}
    given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return known | {
        **({"LEXISCOPE_DATA": data} if data else {}),
        "HIDDEN_PACKAGES": " ".join(hidden_for(*extras)),
        # absolute: the child runs in another folder
        "PYTHONPATH": os.pathsep.join([str(HERE), *(os.path.abspath(place) for place in given)]),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def run_with(extra: str, commands: list[list[str]], folder: Path, *, seconds: int) -> list[dict[str, Any]]:
    """How the commands end where only this extra is installed; data are neither here nor on the network."""
    return run_all(sys.executable, commands, folder, environment_with([extra], folder), seconds=seconds)


def run_all(
    python: str, commands: list[list[str]], folder: Path, environment: dict[str, str], *, seconds: int
) -> list[dict[str, Any]]:
    """How the commands end, each run by this Python in this environment."""
    asked = json.dumps({"commands": commands, "seconds": seconds})
    argv = [python, str(HERE / "run_commands.py")]
    done = subprocess.run(argv, input=asked, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr[-3_000:]
    return list(json.loads(done.stdout))
