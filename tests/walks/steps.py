"""The steps of docs/extend/code-tour.md, and the functions that a run of the package really called."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import lexiscope

PACKAGE = Path(lexiscope.__file__).parent
_PAGE = Path(__file__).resolve().parents[2] / "docs" / "extend" / "code-tour.md"
_STEP = re.compile(r"^\| (\d+) \| `([\w/]+\.py)` `([\w.]+)` \|", re.MULTILINE)


def steps(walk: str) -> list[str]:
    """Return the steps of one walk, as ``file function``; *walk* is its heading."""
    text = _PAGE.read_text(encoding="utf-8")
    section = text.partition(f"## {walk}\n")[2].partition("\n## ")[0]
    found = _STEP.findall(section)
    assert [int(number) for number, _, _ in found] == list(range(1, len(found) + 1)), (
        f"{walk}: the numbers of the steps"
    )
    return [f"{path} {function}" for _, path, function in found]


def resolve(step: str) -> Any:
    """Return the function that a step names. An error says that there is none."""
    path, _, function = step.partition(" ")
    thing: Any = import_module("lexiscope." + path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    for part in function.split("."):
        thing = getattr(thing, part)
    return thing


@contextmanager
def calls() -> Iterator[list[str]]:
    """Record every call of a function of the package, in order and in all threads, as ``file function``."""
    made: list[str] = []
    inside = str(PACKAGE) + "/"

    def note(frame: FrameType, event: str, _argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and isinstance(name, str) and name.startswith(inside):
            made.append(f"{name.removeprefix(inside)} {frame.f_code.co_qualname}")

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield made
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def not_reached(made: Sequence[str], walk: Sequence[str]) -> list[str]:
    """Return the steps that the calls did not take in this order: empty where they took all."""
    rest = list(walk)
    for call in made:
        if rest and call == rest[0]:
            rest.pop(0)
    return rest
