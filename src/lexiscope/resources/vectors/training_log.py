"""The log of a training of sense vectors: a file in their folder, one row for some chunks of the text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

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
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [each.name for each in fields(LogRow)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in log)
    return stream.getvalue()


def read_log(folder: Path) -> tuple[LogRow, ...]:
    """Return the log of the training in a folder; vectors that were not trained there (pruned ones) have none."""
    if not (folder / LOG).is_file():
        return ()
    rows = csv.DictReader(io.StringIO((folder / LOG).read_text(encoding="utf-8")))
    return tuple(LogRow(**{one.name: _number(row[one.name], one.name) for one in fields(LogRow)}) for row in rows)


def _number(text: str, name: str) -> Any:
    return int(text) if name in ("epoch", "tokens") else float(text)
