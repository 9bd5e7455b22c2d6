"""A small made-up study, and participants who answer it by rule: nobody's judgments."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lexiscope.annotation.store.record import (
    BrowserAnswer,
    ItemQuestion,
    Kind,
    Phase,
    State,
    StoredTrial,
    StudyItem,
    StudyRecord,
)
from lexiscope.annotation.store.store import Store
from lexiscope.core.scale import Scale

RATING = ItemQuestion("rating", Scale(1, 5))
NATIVE = ItemQuestion("native_speaker", options=("yes", "no"))
SENTENCE = ItemQuestion("sentence", max_length=10_000)
CONSENT = "I take part of my own will."
_TESTS = Path(__file__).parents[2]


def made_study(n_items: int = 8, *, places: dict[str, int] | None = None, keep_answers: bool = True) -> StudyRecord:
    """A rating study with a catch item, an attention check, a qualification item, a text and a self-report."""
    items = [StudyItem(f"i{k}", RATING, f"{k:064x}", confusion_set=f"w{k % 3}") for k in range(n_items)]
    items += [
        StudyItem("catch", RATING, "c" * 64, Kind.CATCH, accept=(5.0,)),
        StudyItem("attention", RATING, "a" * 64, Kind.ATTENTION, accept=(1.0, 2.0)),
        StudyItem("test", RATING, "b" * 64, Kind.QUALIFICATION, accept=(4.0, 5.0)),
        StudyItem("native_speaker", NATIVE, "d" * 64, Kind.SELF_REPORT),
        StudyItem("sentence", SENTENCE, "e" * 64),
    ]
    definition = f"study: made up\nitems: {n_items}\n"
    return StudyRecord(
        "made_up", "relatedness", definition, tuple(items), places or {"1": 1000, "2": 1000}, keep_answers=keep_answers
    )


class Clock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.ran = 0.0

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)
        self.ran += timedelta(**by).total_seconds()

    def steady(self) -> float:
        """The seconds that have passed; a jump, which sets ``now`` alone, is none of them."""
        return self.ran


def open_store(folder: Path, study: StudyRecord | None = None, **options: object) -> Store:
    clock = options.get("clock")
    steady = {"steady": clock.steady} if isinstance(clock, Clock) else {}
    return Store.open(folder, study or made_study(), **(steady | options))  # type: ignore[arg-type]


def qualified(store: Store, platform_id: str | None = None) -> str:
    """A participant who consented and may take a place."""
    who = store.invite(platform_id)
    store.record_consent(who, text=CONSENT, version="1")
    store.change_state(who, State.QUALIFIED, reason="no test in this study")
    return who


def active(store: Store, items: list[str], platform_id: str | None = None) -> str:
    """A participant with a place and a plan of these items."""
    who = qualified(store, platform_id)
    store.take_place(who)
    store.lay_out(who, Phase.TRIALS, [StoredTrial(item, (1, 0), "left") for item in items])
    store.change_state(who, State.ACTIVE, reason="read the instructions")
    return who


def answer(who: str, item: str, position: int, value: float | None = 3, **more: object) -> BrowserAnswer:
    key = more.pop("client_key", f"key-{item}")
    phase = more.pop("phase", Phase.TRIALS)
    return BrowserAnswer(who, item, phase, key, position, value=value, **more)  # type: ignore[arg-type]


def program(name: str, *words: object) -> list[str]:
    """The command that runs a module of the tests as a program."""
    start = f"import runpy, sys; sys.path.insert(0, {str(_TESTS)!r}); runpy.run_module({name!r}, run_name='__main__')"
    return [sys.executable, "-c", start, *map(str, words)]
