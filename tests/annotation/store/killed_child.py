"""Run as a program: people answer in four threads, each receipt is printed once it is there. The parent kills it."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from lexiscope.annotation.store.store import Store

from .made_study import active, answer, made_study

PRINTING = threading.Lock()


def answer_for_ever(store: Store, name: str) -> None:
    items = [f"i{k}" for k in range(8)]
    number = 0
    while True:
        number += 1
        who = active(store, items, f"{name}-{number}")
        for position, item in enumerate(items):
            receipt = store.submit(answer(who, item, position, 1 + (number + position) % 5))
            with PRINTING:
                sys.stdout.write(f"{who} {item} {1 + (number + position) % 5} {receipt.answer_id}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    url = next((word for word in sys.argv[3:] if word.startswith("postgresql")), None)
    # places for everybody who comes in 200 runs
    study = made_study(places={"1": 1_000_000, "2": 1_000_000})
    opened = Store.open(Path(sys.argv[1]), study, url=url, unsafe_fast="unsafe_fast" in sys.argv[3:])
    for thread in range(4):
        threading.Thread(target=answer_for_ever, args=(opened, f"{sys.argv[2]}-{thread}")).start()
