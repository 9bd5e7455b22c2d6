"""Run as a program: takes places for people on a PostgreSQL study, race after race, as its parent says on stdin."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lexiscope.annotation.store.record import NoPlaceLeft
from lexiscope.annotation.store.store import Store

from .made_study import made_study, open_store


def take(store: Store, who: str) -> str | None:
    try:
        return store.take_place(who).list_id
    except NoPlaceLeft:
        return None


if __name__ == "__main__":
    study = made_study(places=json.loads(sys.argv[3]))
    with open_store(Path(sys.argv[1]), study, url=sys.argv[2]) as opened, ThreadPoolExecutor(8) as pool:
        for line in sys.stdin:
            people = json.loads(line)
            found = list(pool.map(take, [opened] * len(people), people))
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()
