"""Participants as the store lists them, made up: who began when, took how long, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

BEGAN = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Somebody:
    """A participant as the store lists them."""

    participant_id: str
    state: str
    list_id: str | None = "1"
    reason: str = ""
    surplus: bool = False
    active_at: str | None = None
    finished_at: str | None = None
    n_answered: int = 0
    consented_at: str | None = None
    silent: bool = False


def person(name: str, minutes: float | None, state: str = "finished") -> Somebody:
    """A participant who took so many minutes; ``None``: began and did not finish."""
    ended = None if minutes is None else (BEGAN + timedelta(minutes=minutes)).isoformat()
    began = BEGAN.isoformat()
    return Somebody(name, state, active_at=began, finished_at=ended, consented_at=began)
