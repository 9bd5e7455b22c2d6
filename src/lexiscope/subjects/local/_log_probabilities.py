"""Log-probabilities from hidden states: the vocabulary is projected piece by piece, and no row of it is ever kept.

A piece of logits is computed for all rows, turned into sums of exponentials while it is near the processor, and
overwritten by the next one. The logits of scored tokens are products of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lexiscope.core.errors import require

# outputs of a piece, and rows of it that are summed together (benchmarks/README.md)
_OUTPUTS, _ROWS = 2_048, 128
# scored tokens whose logits are computed together
_SCORED = 1_024


def log_probabilities(hidden: Any, head: Any, rows: Any, targets: Any, *, scaling: Callable[[Any], Any]) -> Any:
    """Return the log-probability of ``targets[i]`` after ``hidden[rows[i]]``. *Shape: (targets,)*, at most 0.

    *head* is a linear layer, *scaling* what the model does to every single one of its outputs.
    """
    torch = require("torch", "models")
    n_rows, pieces = len(hidden), head.weight.split(_OUTPUTS)
    biases = [None] * len(pieces) if head.bias is None else head.bias.split(_OUTPUTS)
    largest, sums = hidden.new_empty((2, len(pieces), n_rows), dtype=torch.float32)
    place = hidden.new_empty(n_rows * min(_OUTPUTS, len(head.weight)))
    for number, (weight, bias) in enumerate(zip(pieces, biases, strict=True)):
        logits = place[: n_rows * len(weight)].view(n_rows, len(weight))
        _project(torch, hidden, weight, bias, out=logits)
        split = (each.split(_ROWS) for each in (logits, largest[number], sums[number]))
        for part, most, total in zip(*split, strict=True):
            near = scaling(part).float()
            torch.amax(near, 1, out=most)
            torch.sum(near.sub_(most[:, None]).exp_(), 1, out=total)
    whole = torch.logsumexp(sums.log_().add_(largest), 0)
    return (_logits_of(torch, hidden, head, rows, targets, scaling) - whole[rows]).clamp_(max=0)


def _project(torch: Any, hidden: Any, weight: Any, bias: Any, *, out: Any) -> None:
    if bias is None:
        torch.mm(hidden, weight.t(), out=out)
    else:
        torch.addmm(bias, hidden, weight.t(), out=out)


def _logits_of(torch: Any, hidden: Any, head: Any, rows: Any, targets: Any, scaling: Callable[[Any], Any]) -> Any:
    found = []
    for row, target in zip(rows.split(_SCORED), targets.split(_SCORED), strict=True):
        logits = torch.linalg.vecdot(hidden[row].float(), head.weight[target].float())
        found.append(scaling(logits if head.bias is None else logits + head.bias[target].float()))
    return torch.cat(found)
