"""Run as a program: opens an older study and is killed in the middle of its migration, the tables already made."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from lexiscope.annotation.store import seals

from .made_study import made_study, open_store


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    seals.seal = die  # type: ignore[assignment]
    open_store(Path(sys.argv[1]), made_study(2, places={"1": 2}))
