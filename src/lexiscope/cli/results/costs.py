"""What a collection would cost, on stdout: subject by subject, and in total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from lexiscope.cli.output import print_json, print_table, say, say_folded
from lexiscope.collect.costs import CollectionCost, total_cost

_COST_COLUMNS = ("task", "view", "requests", "kept", "tokens in", "out", "price", "hours")


def print_costs(costs: Sequence[CollectionCost], *, as_json: bool) -> None:
    """Print what collecting would cost, subject by subject, and in total; as JSON ``costs`` and ``total``."""
    total = total_cost(costs)
    if as_json:
        print_json({"costs": [asdict(cost) for cost in costs], "total": total})
        return
    print_cost_tables(costs)
    print_total_cost(total)


def print_cost_tables(costs: Sequence[CollectionCost]) -> None:
    """Print the costs of each subject, with what they assume and its first request."""
    for subject, own in groupby(costs, key=lambda cost: cost.subject):
        part = list(own)
        say(subject)
        rows = [[cost.task, cost.view, *_cost_cells(asdict(cost))] for cost in part]
        print_table(_COST_COLUMNS, rows, right=_COST_COLUMNS[2:], whole=_COST_COLUMNS)
        for text in dict.fromkeys(cost.assumption for cost in part):
            say_folded(text)
        request = next((cost.request for cost in part if cost.request), None)
        if request:
            say("first request:")
            print_json(request)
        say()


def print_total_cost(total: Mapping[str, Any]) -> None:
    """Print the sums over all subjects."""
    say("total")
    print_table(_COST_COLUMNS[2:], [_cost_cells(total)], right=_COST_COLUMNS[2:], whole=_COST_COLUMNS)


def _cost_cells(sums: Mapping[str, Any]) -> list[str]:
    known = ("n_requests", "n_kept", "prompt_tokens", "completion_tokens")
    counts = ["unknown" if sums[name] is None else f"{sums[name]:,}" for name in known]
    amounts = ("unknown" if sums[name] is None else f"{sums[name]:.4g}" for name in ("cost", "device_hours"))
    return [*counts, *amounts]
