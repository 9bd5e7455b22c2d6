"""Time and accuracy of crossed mixed models against lme4, on the trials of SAW-C and on simulated ones.

Run: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LEXISCOPE_DATA=<folder> python benchmarks/mixed_models.py
     [--repeats 5] [--starts 1] [--maximal] [--large 100000 1000000] [--lme4-up-to 100000] [--package]

Both sides get the same trials and fit one model at a time, in CPU seconds of one thread. R's start-up and reading are
not in its times; the checking and coding of columns is in ours. Without Rscript and lme4 only this library is timed.
``--maximal`` adds the 22-parameter model of §4.5, which takes lme4 minutes. ``--large`` fits simulated trials instead,
once: 500 people × 200 items, or 200 people × 5,000 words (reading times), with the slopes of :data:`LARGE`, from two
starts and with degrees of freedom; lme4 up to ``--lme4-up-to`` rows. ``--package`` adds the sparse route (mixedlm),
from one start.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lexiscope.analysis.mixed import optimum
from lexiscope.analysis.mixed.data import Column
from lexiscope.analysis.mixed.models import fit
from lexiscope.analysis.mixed.r_script import csv_text

NORMS = "(1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 | Word)"
DISTANCE = "(1 + Same_sense + Distance | Participant) + (1 | List) + (1 | Word)"
MODELS = {
    "3.5 full": f"Response ~ Same_sense + {NORMS}",
    "3.5 without sense": f"Response ~ 1 + {NORMS}",
    "4.5 full": f"Response ~ Same_sense + Distance + {DISTANCE}",
    "4.5 without sense": f"Response ~ Distance + {DISTANCE}",
    "4.5 without distance": f"Response ~ Same_sense + {DISTANCE}",
    "intercepts only": "Response ~ Same_sense + (1 | Participant) + (1 | List) + (1 | Word)",
}
MAXIMAL = "Response ~ Same_sense + Distance + " + " + ".join(
    f"(1 + Same_sense + Distance | {group})" for group in ("Participant", "List", "Word")
)
LARGE = "y ~ x + z + (1 + x + z | person) + (1 + x | item)"
R_LOOP = """
suppressPackageStartupMessages(library(lme4))
arguments <- commandArgs(TRUE)
trials <- read.csv(arguments[1])
if ("Same_sense" %in% names(trials)) trials$Same_sense <- as.numeric(trials$Same_sense == "Same Sense")
for (column in intersect(c("Participant", "List", "Word", "person", "item"), names(trials)))
  trials[[column]] <- factor(trials[[column]])
for (i in seq_len(as.integer(arguments[2]))) {
  seconds <- sum(system.time(model <- suppressWarnings(suppressMessages(
    lmer(as.formula(arguments[3]), trials, REML = FALSE))))[c("user.self", "sys.self")])
  cat(sprintf("%.6f %.6f\\n", seconds, as.numeric(logLik(model))))
}
"""


def read_trials(folder: Path) -> dict[str, Column]:
    """Return the trials with BETO's distance at layer 12."""
    with (folder / "sawc_relatedness_full_critical_data.csv").open(encoding="utf-8", newline="") as file:
        trials = list(csv.DictReader(file))
    path = folder / "models_stimpunct" / "sawc-distances_model-bert-base-spanish-wwm-cased.csv"
    with path.open(encoding="utf-8", newline="") as file:
        layer = [row for row in csv.DictReader(file) if row["Layer"] == "12"]
    distance = {
        (row["Sentence_1"].removesuffix("."), row["Sentence_2"].removesuffix(".")): float(row["Distance"])
        for row in layer
    }
    text = {name: np.array([row[name] for row in trials]) for name in ("Same_sense", "Participant", "List", "Word")}
    return {
        "Response": np.array([int(row["Response"]) for row in trials]),
        "Distance": np.array([distance[row["Sentence_1"], row["Sentence_2"]] for row in trials]),
        **text,
    }


def time_here(formula: str, trials: Mapping[str, Column], repeats: int, starts: int) -> tuple[list[float], float]:
    """Return the seconds of every repeat and the log-likelihood."""
    seconds, log_likelihood = [], 0.0
    for _ in range(repeats):
        begin = time.process_time()
        log_likelihood = fit(formula, trials, starts=starts, satterthwaite=False).log_likelihood
        seconds.append(time.process_time() - begin)
    return seconds, log_likelihood


def time_lme4(formula: str, csv_path: Path, repeats: int) -> tuple[list[float], float] | None:
    """Return the same from lme4, or None where R or lme4 is missing."""
    if shutil.which("Rscript") is None:
        return None
    command = ["Rscript", "--vanilla", "-e", R_LOOP, str(csv_path), str(repeats), formula]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    rows = [line.split() for line in done.stdout.splitlines()]
    return [float(row[0]) for row in rows], float(rows[-1][1])


def simulated(n: int) -> dict[str, Column]:
    """Return *n* trials with correlated effects over people (SD .6, .3, .2) and over items (.5, .2)."""
    people, items = (500, n // 500) if n <= 100_000 else (200, n // 200)
    random = np.random.default_rng(1)
    person, item = (grid.ravel() for grid in np.meshgrid(np.arange(people), np.arange(items), indexing="ij"))
    x, z = random.normal(size=person.size), random.normal(size=items)[item]
    factor = np.linalg.cholesky(np.array([[1, 0.3, 0.2], [0.3, 1, 0.4], [0.2, 0.4, 1]]))
    own = (random.normal(size=(people, 3)) @ factor.T * [0.6, 0.3, 0.2])[person]
    of_item = (random.normal(size=(items, 2)) * [0.5, 0.2])[item]
    y = 3 + 0.5 * x + 0.2 * z + own[:, 0] + own[:, 1] * x + own[:, 2] * z
    y += of_item[:, 0] + of_item[:, 1] * x + random.normal(size=person.size)
    return {"y": y, "x": x, "z": z, "person": person, "item": item}


def time_large(n: int, *, lme4: bool, package: bool) -> None:
    """Print the times of one simulated data set; the peak of memory is that of this process."""
    trials = simulated(n)
    begin = time.process_time()
    ours = fit(LARGE, trials)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    degrees = ", ".join(f"{effect.name} {effect.df:.1f}" for effect in ours.fixed)
    print(f"{n} rows: {seconds:.1f} CPU-s, peak {peak:.0f} MB, {ours.starts_in_words}, df: {degrees}", flush=True)
    print(
        f"  log-likelihood {ours.log_likelihood:.6f}, converged {ours.converged}, singular {ours.singular}", flush=True
    )
    if lme4:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trials.csv")
            path.write_text(csv_text(trials, list(trials)), encoding="utf-8")
            found = time_lme4(LARGE, path, 1)
        if found is not None:
            gap = ours.log_likelihood - found[1]
            print(f"  lme4: {found[0][0]:.1f} CPU-s, without df; here - lme4: {gap:.1e}", flush=True)
    if package:
        optimum.LARGEST = 0
        begin = time.process_time()
        theirs = fit(LARGE, trials, starts=1, satterthwaite=False)
        seconds, gap = time.process_time() - begin, ours.log_likelihood - theirs.log_likelihood
        print(f"  mixedlm: {seconds:.1f} CPU-s from one start, without df; here - mixedlm: {gap:.1e}", flush=True)


def main() -> None:
    """Print one line per model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--maximal", action="store_true")
    parser.add_argument("--large", type=int, nargs="*", default=[])
    parser.add_argument("--lme4-up-to", type=int, default=100_000)
    parser.add_argument("--package", action="store_true")
    options = parser.parse_args()
    for n in options.large:
        time_large(n, lme4=n <= options.lme4_up_to, package=options.package)
    if options.large:
        return
    trials = read_trials(Path(os.environ["LEXISCOPE_DATA"]) / "sawc")
    models = MODELS | ({"4.5 maximal": MAXIMAL} if options.maximal else {})
    print(f"{len(trials['Response'])} trials, median of {options.repeats}, {options.starts} start(s)")
    print(f"{'model':22} {'here s':>8} {'lme4 s':>8} {'lme4/here':>9} {'log-lik. here':>15} {'here - lme4':>12}")
    fit(models["intercepts only"], trials, starts=1)  # imports and first-call costs are not the fit's
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trials.csv")
        path.write_text(csv_text(trials, list(trials)), encoding="utf-8")
        for name, formula in models.items():
            seconds, log_likelihood = time_here(formula, trials, options.repeats, options.starts)
            lme4 = time_lme4(formula, path, options.repeats)
            ours = statistics.median(seconds)
            theirs, gap = f"{'-':>8} {'-':>9}", "-"
            if lme4 is not None:
                median = statistics.median(lme4[0])
                theirs, gap = f"{median:8.2f} {median / ours:9.1f}", f"{log_likelihood - lme4[1]:.1e}"
            print(f"{name:22} {ours:8.2f} {theirs} {log_likelihood:15.6f} {gap:>12}", flush=True)


if __name__ == "__main__":
    main()
