"""Results on stdout: the records of a run, shares and agreement with their intervals. Other output is in cli/output."""

from __future__ import annotations

from pathlib import Path

from lexiscope.cli.output import print_json
from lexiscope.core.result import Estimate, Interval, Undefined, read_records


def print_results(run: Path) -> None:
    """Print the records of a run's ``results.json`` as JSON."""
    print_json([record.content() for record in read_records(run / "results.json")])


def percent(value: float) -> str:
    """Return a share as people read it.

    >>> percent(0.8817)
    '88.2 %'
    """
    return f"{100 * value:.1f} %"


def with_interval(value: float, interval: Interval) -> str:
    """Return a share with its interval; without bounds the share alone."""
    bounds = f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]" if interval.is_defined else ""
    return percent(value) + bounds


def kappa_text(kappa: Estimate | Undefined) -> str:
    """Return a kappa with its interval, or why there is none."""
    if isinstance(kappa, Undefined):
        return kappa.reason
    bounds = f" [{kappa.interval.low:.2f}, {kappa.interval.high:.2f}]" if kappa.interval.is_defined else ""
    return f"{kappa.value:.2f}{bounds}"
