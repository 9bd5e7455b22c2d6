"""Run as a program: the largest file that it may write shrinks until the store refuses, then grows again."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from lexiscope.annotation.store.engine import StorageError
from lexiscope.annotation.store.store import Store

from .made_study import active, answer, made_study

ITEMS = [f"i{k}" for k in range(300)]

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with Store.open(folder, made_study(300)) as store:
        who = active(store, ITEMS)
        largest = max(file.stat().st_size for file in folder.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 100_000, resource.RLIM_INFINITY))
        stored, error = 0, None
        while error is None and stored < len(ITEMS):
            try:
                store.submit(answer(who, ITEMS[stored], stored, comment="c" * 3000))
                stored += 1
            except StorageError as caught:
                error = caught
        sys.stdout.write(f"refused: {error}\n")
        sys.stdout.write(f"acknowledged and stored: {stored} {len(store.answers_of(who))}\n")
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        for position in range(stored, len(ITEMS)):
            store.submit(answer(who, ITEMS[position], position, comment="c" * 3000))
        sys.stdout.write(f"after: {len(store.answers_of(who))} {store.verify().problems}\n")
