"""The log of a training of sense vectors: a file in their folder, one row for some chunks of the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from lexiscope.core.run import csv_lines
from lexiscope.resources.tables.delimited import read_csv

LOG = "training_log.csv"


@dataclass(frozen=True, slots=True)
class LogRow:
    """What some chunks came to.

    ``tokens``: numbers read so far, over all epochs: known words and line ends, before sub-sampling.
    ``loss``: of a pair of words and its negatives, *unit:* nats.
    ``entropy``: of γ as it was drawn, and without noise as a usage is judged, means over windows, *unit:* nats.
    ``signal_mean`` and ``signal_sd``: of c̄·s_k; ``noise_sd``: of the noise on it. *Source:* GASI, Fig. 3.
    """

    epoch: int
    tokens: int
    rate: float
    loss: float
    entropy: float
    entropy_without_noise: float
    signal_mean: float
    signal_sd: float
    noise_sd: float


def log_text(log: Sequence[LogRow]) -> str:
    """Return the log as CSV with a header."""
    return csv_lines([column.name for column in fields(LogRow)], map(astuple, log))


def read_log(folder: Path) -> tuple[LogRow, ...]:
    """Return the log of the training in a folder; vectors that were not trained there (pruned ones) have none."""
    if not (folder / LOG).is_file():
        return ()
    names = [column.name for column in fields(LogRow)]
    rows = read_csv(folder / LOG, names, may_be_empty=True).rows()
    kinds: dict[str, Callable[[str], Any]] = {name: int if name in ("epoch", "tokens") else float for name in names}
    return tuple(LogRow(**{name: kind(cells[name]) for name, kind in kinds.items()}) for _, cells in rows)
