"""A run that a test kills: asks a chat endpoint about stories, in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from lexiscope.collect import collect_run
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

PARTS = {"ending": "", "sense": "a place for money", "example": ""}


def stories(number: int) -> tuple[Item, ...]:
    """Made-up stories that differ in a number word only."""
    usage = Usage("He saw the bank.", 11, 15, language="en")
    return tuple(
        Item(f"story/{n}", "made_up", (usage,), conditions={**PARTS, "precontext": f"It was day {n:b}."})
        for n in range(number)
    )


if __name__ == "__main__":
    spec, number, out = sys.argv[1:]
    collect_run(stories(int(number)), [spec], "plausibility", out=Path(out))
