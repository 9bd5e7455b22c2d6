"""Which route is exact for a model: found out by its configuration, then proved by scoring token sequences twice.

A mask that lets a token see its ancestors alone is silently wrong on models with a sliding window shorter than the row,
and cannot be given to models with linear biases or a recurrent state. So both routes score the same sequences when the
model is loaded, and a route that differs from the plain forward pass is not used. The same holds for lean kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.core.errors import SubjectError
from lexiscope.subjects.local._rounding import rounding
from lexiscope.subjects.local._score_units import Route, ScorePlan, batch_plan, tree_plan
from lexiscope.subjects.local._tree_forward import CausalForward

_WITHOUT_POSITIONS = ("bloom", "mpt", "mamba", "rwkv", "recurrent", "jamba", "zamba", "bamba", "xlstm")
_WITHOUT_ATTENTION = ("linear", "mamba", "recurrent", "conv", "ssm")
_MASKABLE = ("sdpa", "eager")
_NO_LIMIT = 1 << 30
# the longest row and text of the check, and the shortest row that an attention window may ask for
_CHECKED = 512


@dataclass(frozen=True, slots=True)
class RouteCheck:
    """What the check of the routes found.

    ``route`` is the one to use; ``difference`` the largest difference of a token's log-probability between it and the
    plain forward pass (*unit: nats*); ``refused`` says why the routes before it are not used; ``window`` is the
    longest row of a prefix tree that the model can read, ``row`` the budget of a row; ``lean`` says whether lean
    kernels are used and ``kernels`` which, or why not.
    """

    route: Route
    difference: float
    refused: str
    window: int
    row: int = _CHECKED
    lean: bool = False
    kernels: str = ""


def window_of(config: Any) -> int:
    """Return how far back the model's shortest attention window reaches; a large number where there is none."""
    kinds = str(getattr(config, "layer_types", "") or getattr(config, "attention_layers", "") or "")
    if kinds and not any(kind in kinds for kind in ("sliding", "chunked", "local")):
        return _NO_LIMIT
    stated = [getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size", "window_size")]
    return min((each for each in stated if isinstance(each, int) and each > 0), default=_NO_LIMIT)


def refusal(config: Any, attention: str, row: int) -> str:
    """Say why a configuration rules out rows of a prefix tree, or return an empty string."""
    kind = str(getattr(config, "model_type", ""))
    if window_of(config) < row:
        return f"its attention window of {window_of(config)} tokens is shorter than a row of {row}"
    if getattr(config, "alibi", False) or any(each in kind for each in _WITHOUT_POSITIONS):
        return f"the architecture {kind} takes no positions of tokens"
    if any(each in str(getattr(config, "layer_types", "")) for each in _WITHOUT_ATTENTION):
        return f"the architecture {kind} has layers without attention"
    if attention not in _MASKABLE:
        return f"its attention {attention or 'of an unknown kind'!r} is none of {', '.join(_MASKABLE)}"
    return ""


def guard(forward: CausalForward, asked: str, *, row_budget: int, plain_budget: int, batch_budget: int) -> RouteCheck:
    """Find the fastest route, and kernels, that give the scores of the plain forward pass.

    *row_budget* is that of a row read by lean kernels, *plain_budget* of one read by the model's own; an attention
    window shortens both, though not below 512. Errors: :class:`SubjectError` where the route that was asked for is not
    exact, or scores are not finite.
    """
    config = getattr(forward.model.config, "text_config", forward.model.config)
    window = window_of(config)
    if asked == "single":
        return RouteCheck("single", 0.0, "", window)
    row, plain_row = (min(each, max(window, _CHECKED)) for each in (row_budget, plain_budget))
    sequences = _probes(forward, plain_row)
    plain = [forward.plain(ids) for ids in sequences]
    if not all(np.isfinite(scores).all() for scores in plain):
        raise SubjectError("the model's log-probabilities are not finite (NaN or infinity)", hint="use dtype=fp32")
    refused = ""
    if asked in ("auto", "tree"):
        refused = refusal(config, forward.attention, plain_row)
        found = None if refused else _compared(forward, _tree(sequences, min(plain_row, _CHECKED)), plain)
        if found and found.exact:
            return RouteCheck("tree", found.difference, "", window, row if found.lean else plain_row, *found.how)
        refused = refused or _apart("the prefix tree", found.difference if found else 0.0)
        if asked == "tree":
            raise SubjectError("the route 'tree' is not exact for this model", why=refused, hint="use route=auto")
    found = _compared(forward, batch_plan(sequences, budget=batch_budget, route="batched"), plain)
    if found.exact:
        return RouteCheck("batched", found.difference, refused, window, plain_row, *found.how)
    why = _apart("batches", found.difference)
    if asked == "batched":
        raise SubjectError("the route 'batched' is not exact for this model", why=why, hint="use route=auto")
    return RouteCheck("single", 0.0, f"{refused}; {why}", window)


@dataclass(frozen=True, slots=True)
class _RouteComparison:
    """How far a route is from the plain forward pass, with lean kernels where these are exact."""

    difference: float
    exact: bool
    lean: bool
    kernels: str

    @property
    def how(self) -> tuple[bool, str]:
        return self.lean, self.kernels


def _compared(forward: CausalForward, plan: ScorePlan, plain: list[Any]) -> _RouteComparison:
    """Compare a route with the plain forward pass, first with lean kernels, then with the model's own."""
    # near 0 a log-probability carries the rounding of the logits that it is the difference of, which are not small
    largest = max(1.0, *(float(np.abs(scores).max(initial=0.0)) for scores in plain))
    tolerance, kernels = rounding(largest, forward.dtype), forward.kernels(plan.units[0].route)
    if kernels:
        difference = _difference(forward, plan, plain, lean=True)
        if difference <= tolerance:
            return _RouteComparison(difference, True, True, kernels)
        kernels = f"plain; lean ones ({kernels}) raise, or differ by {difference:.1e} from plain ones"
    difference = _difference(forward, plan, plain, lean=False)
    return _RouteComparison(difference, difference <= tolerance, False, kernels or "plain")


def _apart(route: str, difference: float) -> str:
    if difference == float("inf"):
        return f"texts cannot be read as rows of {route}: the model raises, or gives no numbers"
    return f"scores through {route} differ by {difference:.1e} from plain ones"


def _tree(sequences: list[tuple[int, ...]], budget: int) -> ScorePlan:
    return tree_plan(sequences, budget=budget, longest=budget)


def _difference(forward: CausalForward, plan: ScorePlan, plain: list[Any], *, lean: bool) -> float:
    found = np.full(plan.n_nodes, np.nan, dtype=np.float32)
    try:
        for unit in plan.units:
            found[unit.nodes] = forward.run(unit, lean=lean)
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError, KeyError):
        # an architecture that cannot be given a mask or positions says so by raising
        return float("inf")
    apart = [np.abs(found[path[1:]] - scores).max() for path, scores in zip(plan.paths, plain, strict=True)]
    largest = float(max(apart))
    return largest if np.isfinite(largest) else float("inf")


def _probes(forward: CausalForward, budget: int) -> list[tuple[int, ...]]:
    """Make sequences that share a prefix, repeat one, and reach far apart in a row of the tree."""
    longest = min(forward.longest or _NO_LIMIT, budget, _CHECKED)
    # ids without pattern, the same in every run; the first ids of a vocabulary are often special tokens
    drawn = np.random.default_rng(20_250_429).integers(min(10, forward.n_vocabulary - 1), forward.n_vocabulary, 4_096)
    ids = tuple(int(each) for each in drawn)
    half, quarter, few = max(longest // 2, 2), max(longest // 4, 1), max(min(16, longest // 4), 1)
    shared = ids[:quarter]
    return [
        ids[:half],
        (*shared, *ids[1_000 : 1_000 + few]),
        (*shared, *ids[2_000 : 2_000 + few]),
        (*shared[:few], *shared[:few], *ids[3_000 : 3_000 + few]),
        ids[1_500 : 1_500 + few + 1],
    ]
