"""Exact search among all synsets: Lexiscope's blocks of numpy against the exact index of faiss, on one thread.

    pip install lexiscope; pip install faiss-cpu
    python benchmarks/exact_search.py --rounds 3

Every method gets the same vectors of length 1 (float32, from files) and looks for the nearest entry of every query.
*Plain product* is the least that any exact search does: single-precision products of the same blocks, the largest of
each row kept, nothing checked. Every method runs in a process of its own, in interleaved rounds after a warm-up round;
building the index of faiss stands inside its clock, as a search needs it. Measured are the CPU time of the process and
how far its memory rises above what it had before the search, the files that it maps included. Answers are compared with
those of Lexiscope: where another entry is found, the table says by how much it is farther, in double precision.

Without ``--queries`` and ``--entries`` (files of numpy, one row a vector) the vectors are drawn with a seed: entries
around centres, and queries near entries.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from lexiscope.resources.vectors.nearest import CANDIDATE_BLOCK, QUERY_BLOCK, nearest  # noqa: E402

ENTRIES, QUERIES, WIDTH = 117_659, 4 * 7_253, 384
"""All synsets of WordNet 3.0; the items of ALL in four views; the width of all-MiniLM-L6-v2."""


def lexiscope(queries: Any, entries: Any) -> Any:
    return nearest(queries, entries).rows[:, 0]


def faiss(queries: Any, entries: Any) -> Any:
    import faiss as library

    library.omp_set_num_threads(1)
    index = library.IndexFlatIP(entries.shape[1])
    index.add(np.ascontiguousarray(entries))
    return index.search(np.ascontiguousarray(queries), 1)[1][:, 0]


def plain_product(queries: Any, entries: Any) -> Any:
    found = np.empty(len(queries), dtype=np.int64)
    for start in range(0, len(queries), QUERY_BLOCK):
        block = np.ascontiguousarray(queries[start : start + QUERY_BLOCK])
        best, row = np.full(len(block), -2.0, dtype=np.float32), np.zeros(len(block), dtype=np.int64)
        for first in range(0, len(entries), CANDIDATE_BLOCK):
            products = block @ entries[first : first + CANDIDATE_BLOCK].T
            place = products.argmax(axis=1)
            value = products[np.arange(len(block)), place]
            row[value > best] = place[value > best] + first
            best = np.maximum(best, value)
        found[start : start + QUERY_BLOCK] = row
    return found


METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "plain product": plain_product,
    "lexiscope": lexiscope,
    "faiss IndexFlatIP": faiss,
}


def in_child(name: str, folder: Path) -> None:
    """Search once and print what it cost; the answers are written beside the vectors."""
    queries, entries = (np.load(folder / f"{each}.npy", mmap_mode="r") for each in ("queries", "entries"))
    if name.startswith("faiss"):
        import faiss as library  # noqa: F401
    before, begun = _peak(), time.process_time()
    rows = METHODS[name](queries, entries)
    cost = {"cpu": time.process_time() - begun, "memory": _peak() - before}
    np.save(folder / f"found_{list(METHODS).index(name)}.npy", rows)
    print(json.dumps(cost))


def _peak() -> float:
    """The most memory that the process has had, in MiB (Linux; ru_maxrss would begin with that of the parent)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def measured(names: list[str], folder: Path, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Run all methods in turn; the first round is not counted."""
    costs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for number in range(rounds + 1):
        for name in names:
            command = [sys.executable, __file__, "--child", name, "--folder", str(folder)]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            if number:
                costs[name].append(json.loads(told))
    return costs


def drawn(n_queries: int, n_entries: int) -> tuple[Any, Any]:
    """Vectors of length 1 that crowd around centres, as those of texts do."""
    made = np.random.default_rng(0)
    centres = made.normal(size=(400, WIDTH)).astype(np.float32)
    entries = centres[made.integers(0, 400, n_entries)] + made.normal(size=(n_entries, WIDTH)).astype(np.float32)
    queries = entries[made.integers(0, n_entries, n_queries)] + made.normal(size=(n_queries, WIDTH)).astype(np.float32)
    return tuple(each / np.linalg.norm(each, axis=1, keepdims=True) for each in (queries, entries))


def differences(folder: Path, number: int) -> tuple[int, float]:
    """Return how many answers differ from those of Lexiscope, and by how much the other entry is farther, at most."""
    queries, entries = (np.load(folder / f"{each}.npy", mmap_mode="r") for each in ("queries", "entries"))
    ours = np.load(folder / f"found_{list(METHODS).index('lexiscope')}.npy")
    theirs = np.load(folder / f"found_{number}.npy")
    other = np.flatnonzero(ours != theirs)
    cosines = [
        np.einsum("ij,ij->i", queries[other].astype(float), entries[rows[other]].astype(float))
        for rows in (ours, theirs)
    ]
    return len(other), float(np.max(cosines[0] - cosines[1], initial=0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--n-queries", type=int, default=QUERIES)
    parser.add_argument("--n-entries", type=int, default=ENTRIES)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--entries", type=Path)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        in_child(asked.child, asked.folder)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.queries and asked.entries:
            vectors = (np.load(asked.queries), np.load(asked.entries))
            vectors = tuple(each / np.linalg.norm(each, axis=1, keepdims=True) for each in vectors)
        else:
            vectors = drawn(asked.n_queries, asked.n_entries)
        for which, each in zip(("queries", "entries"), vectors, strict=True):
            np.save(folder / f"{which}.npy", each.astype(np.float32))
        costs = measured(asked.methods, folder, asked.rounds)
        print(f"{len(vectors[0]):,} queries, {len(vectors[1]):,} entries, width {vectors[1].shape[1]}")
        print(f"numpy {np.__version__}, {asked.rounds} rounds, load {os.getloadavg()[0]:.1f}\n")
        print("| method | median s | min s | × lexiscope | memory, MiB | other answers | farther by at most |")
        print("|---|---|---|---|---|---|---|")
        own = statistics.median(each["cpu"] for each in costs["lexiscope"])
        for name, found in costs.items():
            cpu = [each["cpu"] for each in found]
            memory = statistics.median(each["memory"] for each in found)
            other, farther = differences(folder, list(METHODS).index(name))
            told = f"{statistics.median(cpu):.1f} | {min(cpu):.1f} | {statistics.median(cpu) / own:.2f} | {memory:.0f}"
            print(f"| {name} | {told} | {other} | {farther:.1e} |")


if __name__ == "__main__":
    main()
