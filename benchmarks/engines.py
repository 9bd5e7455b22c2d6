"""Engines: one command with two workers and with none, by the clock.

    pip install 'lexiscope[demo]'
    LEXISCOPE_DATA=folder python benchmarks/engines.py --encoder encoder:minilm --model FOLDER

Workloads: ``embedding`` = an encoder reads the first *items* items of WiC (two usages each, all layers; all 7,466 items
are some 14,900 sentences); ``scoring`` = the causal language model in FOLDER scores the texts of ``same_sense`` for
them. Each round runs the whole command in a new folder, with every engine in
turn: start of Python, loading of models, all files. Measured is the time on the clock, because the engines use
different numbers of processors; nothing else may run on the machine. The answers of all engines are compared byte by
byte. What several workers cannot share is some seconds: the start of Python and PyTorch, the loading of the model. A
model of BERT-base's size and a norming study's items (the use that engines are for) take minutes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.run import csv_lines

ENGINES = ("local", "processes:2")


def seconds_of(subject: str, task: str, items: Path, engine: str, out: Path) -> float:
    """Run the command and return how long it took."""
    command = [sys.executable, "-m", "lexiscope", "collect", "--items", str(items), "--task", task, "--language", "en"]
    command += ["--subject", subject, "--out", str(out), "--engine", engine, "--quiet"]
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"HF_HUB_OFFLINE": "1"})
    return time.perf_counter() - begun


def write_items(path: Path, number: int) -> None:
    """Write the first items of WiC as a file of pairs."""
    rows = []
    for item in catalog.dataset("wic").items[:number]:
        first, second = item.usages
        rows.append((item.item_id, first.text, first.start, first.end, second.text, second.start, second.end))
    columns = ["item_id", "sentence_1", "start_1", "end_1", "sentence_2", "start_2", "end_2"]
    path.write_text(csv_lines(columns, rows), encoding="utf-8")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="folder of a causal language model; without it scoring is not measured")
    parser.add_argument("--encoder", help="the encoder's spec, such as encoder:minilm; without it, no embedding")
    parser.add_argument("--items", type=int, default=7_466)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    subjects = {"embedding": (given.encoder, "relatedness")} if given.encoder else {}
    if given.model:
        subjects["scoring"] = (f"causal_lm:{given.model}?self_test=no", "same_sense")
    if not subjects:
        parser.error("name --encoder, --model or both")
    print("| workload | " + " | ".join(f"{engine}, s" for engine in ENGINES) + " | ratio, median (lowest–highest) |")
    print("|---|" + "---|" * (len(ENGINES) + 1))
    with tempfile.TemporaryDirectory() as folder:
        write_items(Path(folder) / "items.csv", given.items)
        for name, (subject, task) in subjects.items():
            times: dict[str, list[float]] = {engine: [] for engine in ENGINES}
            answers = set()
            for number in range(given.rounds):
                for engine in ENGINES:
                    out = Path(folder) / f"{name}_{number}_{engine}"
                    times[engine].append(seconds_of(subject, task, Path(folder) / "items.csv", engine, out))
                    answers.add((out / "responses.parquet").read_bytes())
            assert len(answers) == 1
            ratios = [one / two for one, two in zip(times[ENGINES[0]], times[ENGINES[1]], strict=True)]
            cells = [f"{statistics.median(times[engine]):.1f}" for engine in ENGINES]
            spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
            print(f"| {name}, {given.items} items | " + " | ".join(cells) + f" | {spread} |", flush=True)


if __name__ == "__main__":
    main()
