"""Devices: vectors and log-probabilities on the processor and on every accelerator of a machine.

    pip install 'lexiscope[demo]'
    LEXISCOPE_DATA=folder python benchmarks/devices.py --encoder encoder:FOLDER --model FOLDER --items 1000

Workloads: ``embedding`` = an encoder reads the first *items* items of WiC (two usages each, all layers); ``scoring`` =
the causal language model in FOLDER scores their sentences. Each workload runs once on a device before the clock:
loading and compiling are not measured. Printed are seconds by the clock, medians of the rounds, the ratio of the
processor to each device, and the largest difference of their numbers. Without an accelerator, only the processor is
measured, with `--threads` threads; an accelerator stands for all the cores of a machine, so name their number.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
import torch

from lexiscope.core import catalog

DEVICES = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


def embedding(spec: str, number: int, how: str) -> Callable[[], np.ndarray]:
    """Return what is measured: the vectors of the usages."""
    usages = [usage for item in catalog.dataset("wic").items[:number] for usage in item.usages]
    subject = cast(Any, catalog.subject(f"{spec}?{how}"))
    return partial(subject.embed, usages)


def scoring(folder: str, number: int, how: str) -> Callable[[], np.ndarray]:
    """Return what is measured: the log-probabilities of the tokens of the sentences."""
    texts = list(dict.fromkeys(usage.text for item in catalog.dataset("wic").items[:number] for usage in item.usages))
    subject = cast(Any, catalog.subject(f"causal_lm:{folder}?self_test=no&{how}"))
    return lambda: np.concatenate([scores.log_probabilities for scores in subject.score(texts)])


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encoder", help="the encoder's spec, such as encoder:minilm; without it, no embedding")
    parser.add_argument("--model", help="folder of a causal language model; without it, scoring is not measured")
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    workloads: dict[str, Callable[[str], Callable[[], np.ndarray]]] = {}
    if given.encoder:
        workloads["embedding"] = partial(embedding, given.encoder, given.items)
    if given.model:
        workloads["scoring"] = partial(scoring, given.model, given.items)
    if not workloads:
        parser.error("name --encoder, --model or both")
    there = [name for name, is_there in DEVICES.items() if is_there]
    print("| workload | " + " | ".join(f"{name}, s" for name in there) + " | cpu ÷ each | largest difference |")
    print("|---|" + "---|" * (len(there) + 2))
    for workload, of_device in workloads.items():
        runs = {name: of_device(f"device={name}&threads={given.threads}") for name in there}
        found = {name: run() for name, run in runs.items()}
        times: dict[str, list[float]] = {name: [] for name in there}
        for _ in range(given.rounds):
            for name, run in runs.items():
                begun = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - begun)
        medians = {name: statistics.median(seconds) for name, seconds in times.items()}
        ratios = ", ".join(f"{medians['cpu'] / medians[name]:.1f}" for name in there)
        worst = max(float(np.nanmax(np.abs(found[name] - found["cpu"]))) for name in there)
        cells = " | ".join(f"{medians[name]:.2f}" for name in there)
        print(f"| {workload}, {given.items} items | {cells} | {ratios} | {worst:.1e} |", flush=True)


if __name__ == "__main__":
    main()
