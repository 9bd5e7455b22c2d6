"""The store of a study: answers and commits per second, and the CPU time of an answer.

    python benchmarks/annotation_store.py

Clients submit one answer after the other, each of its own session, without thinking. The CPU time is the whole
process's, clients included; with the next page it holds the query for the participant's progress too. The goal of a
server with its pages is 3 ms.
"""

from __future__ import annotations

import argparse
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import (
    BrowserAnswer,
    ItemQuestion,
    Phase,
    State,
    StoredTrial,
    StudyItem,
    StudyRecord,
)
from lexiscope.annotation.store.store import Store
from lexiscope.core.scale import Scale

N_TRIALS = 80
QUESTION = ItemQuestion("rating", Scale(1, 5))
STUDY = StudyRecord(
    "benchmark",
    "relatedness",
    "made up",
    tuple(StudyItem(f"i{k}", QUESTION, "0" * 64) for k in range(N_TRIALS)),
    {"1": 10_000},
)


def begin(store: Store) -> str:
    who = store.invite()
    store.record_consent(who, text="I take part.", version="1")
    store.change_state(who, State.QUALIFIED, reason="no test")
    store.take_place(who)
    store.lay_out(who, Phase.TRIALS, [StoredTrial(item.item_id, (1, 0), "left") for item in STUDY.items])
    store.change_state(who, State.ACTIVE, reason="go")
    return who


def session(store: Store, who: str, *, n_answers: int, next_page: bool) -> None:
    for position in range(n_answers):
        given = BrowserAnswer(
            who, f"i{position}", Phase.TRIALS, f"k{position}", position, value=position % 5 + 1, rt_ms=900.0
        )
        store.submit(given)
        if next_page:
            store.progress(who)


def measure(n_clients: int, n_answers: int, *, unsafe_fast: bool, next_page: bool) -> tuple[float, float, float]:
    """Return answers per second, commits per second, CPU milliseconds per answer."""
    with (
        TemporaryDirectory() as folder,
        Store.open(Path(folder), STUDY, unsafe_fast=unsafe_fast) as store,
        ThreadPoolExecutor(n_clients) as pool,
    ):
        people = [begin(store) for _ in range(n_clients)]
        commits: list[object] = []
        sa.event.listen(store._database.write, "commit", commits.append)
        wall, cpu = time.perf_counter(), time.process_time()
        jobs = [pool.submit(session, store, who, n_answers=n_answers, next_page=next_page) for who in people]
        for job in jobs:
            job.result()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    total = n_clients * n_answers
    return total / wall, len(commits) / wall, 1000 * cpu / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    cases = [
        (f"{clients} clients{', next page' if page else ''}{', unsafe_fast' if fast else ''}", clients, page, fast)
        for clients, page, fast in ((1, False, False), (50, False, False), (50, True, False), (50, False, True))
    ]
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name, *_ in cases}
    for number in range(rounds + 1):
        for name, clients, page, fast in cases:
            figures = measure(clients, N_TRIALS, unsafe_fast=fast, next_page=page)
            # the first round warms up
            if number:
                found[name].append(figures)
    print("| case | answers/s | commits/s | answers per commit | CPU ms per answer | min |")
    print("|---|---|---|---|---|---|")
    for name, all_figures in found.items():
        answers, commits, cpu = (statistics.median(column) for column in zip(*all_figures, strict=True))
        least = min(figures[2] for figures in all_figures)
        print(f"| {name} | {answers:.0f} | {commits:.0f} | {answers / commits:.1f} | {cpu:.2f} | {least:.2f} |")


if __name__ == "__main__":
    main()
