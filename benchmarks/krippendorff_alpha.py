"""Krippendorff's alpha of up to a million ratings, at four levels: Lexiscope and the package `krippendorff`.

    python benchmarks/krippendorff_alpha.py [--reference PYTHON] [--rounds 5] [--resamples 2000]

`krippendorff` is GPL: it is no dependency and is never imported here. With --reference, the interpreter of an
environment that has it is started for each measurement, and the values are compared. Times are process CPU seconds of
the call alone, after a warm-up call; Lexiscope's start from ratings in long form, the package's from its matrix.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

from lexiscope.analysis.agreement.alpha import LEVELS, Level, krippendorff_alpha  # noqa: E402
from lexiscope.analysis.ratings import Ratings  # noqa: E402

# raters, items, share missing, points of the scale (0: continuous)
CASES = {
    "5 × 3,800 on five points": (5, 3_800, 0.0, 5),
    "1,000 × 100 continuous, 10 % missing": (1_000, 100, 0.1, 0),
    "10 × 100,000 on five points": (10, 100_000, 0.0, 5),
    "1,000 × 1,000 on five points, 10 % missing": (1_000, 1_000, 0.1, 5),
    "10 × 100,000 continuous": (10, 100_000, 0.0, 0),
    "1,000 × 1,000 continuous, 10 % missing": (1_000, 1_000, 0.1, 0),
}
# the package needs a square table of the distinct values
MOST_VALUES = 2_000
REFERENCE = """
import json, sys, time
import krippendorff, numpy as np
matrix, level = np.load(sys.argv[1]), sys.argv[2]
krippendorff.alpha(reliability_data=matrix[:, :50], level_of_measurement=level)
seconds = []
for _ in range(int(sys.argv[3])):
    start = time.process_time()
    value = krippendorff.alpha(reliability_data=matrix, level_of_measurement=level)
    seconds.append(time.process_time() - start)
print(json.dumps([float(value), seconds]))
"""


def ratings_of(raters: int, items: int, missing: float, points: int) -> np.ndarray:
    """Made-up ratings around a true value per item, NaN where missing. *Shape:* (raters, items)."""
    generator = np.random.default_rng(0)
    values = generator.uniform(1, 5, size=items) + generator.normal(size=(raters, items))
    values = np.clip(np.rint(values), 1, points) if points else np.abs(values)
    values[generator.random(values.shape) < missing] = np.nan
    return values


def ours(ratings: Ratings, level: Level, *, rounds: int, resamples: int) -> tuple[float, list[float]]:
    """Return alpha and the CPU seconds of each round."""
    seconds = []
    for _ in range(rounds + 1):
        start = time.process_time()
        value = krippendorff_alpha(ratings, level=level, resamples=resamples).value
        seconds.append(time.process_time() - start)
    # the first call is a warm-up, unless it is the only one
    return value, seconds[1:] or seconds


def reference(python: str, matrix: np.ndarray, level: Level, *, rounds: int) -> tuple[float, list[float]]:
    """Return what the package says in an environment of its own, and the CPU seconds of each round."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.npy"
        np.save(path, matrix)
        command = [python, "-c", REFERENCE, str(path), level, str(rounds)]
        value, seconds = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return value, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", help="the interpreter of an environment with krippendorff")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=2000)
    chosen = parser.parse_args()
    print(f"| ratings | level | median s | with {chosen.resamples} resamples | krippendorff s | difference |")
    print("|---|---|---|---|---|---|")
    for name, case in CASES.items():
        matrix = ratings_of(*case)
        rater, item = np.indices(matrix.shape)
        ratings = Ratings.from_arrays(rater.ravel(), item.ravel(), matrix.ravel())
        few = len(np.unique(ratings.value)) <= MOST_VALUES
        for level in LEVELS:
            value, seconds = ours(ratings, level, rounds=chosen.rounds, resamples=0)
            _, drawn = ours(ratings, level, rounds=0, resamples=chosen.resamples)
            cells = ["–", "–"]
            if chosen.reference and few:
                other, theirs = reference(chosen.reference, matrix, level, rounds=max(1, chosen.rounds // 2))
                cells = [f"{statistics.median(theirs):.3f}", f"{abs(other - value):.0e}"]
            print(
                f"| {name} | {level} | {statistics.median(seconds):.3f} | {drawn[0]:.2f} | {cells[0]} | {cells[1]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
