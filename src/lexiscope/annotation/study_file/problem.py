"""One reason not to launch a study, with the setting that it is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason not to launch: its code, the keys of the setting, what is wrong, and what to do."""

    code: str
    keys: tuple[str | int, ...]
    what: str
    hint: str
