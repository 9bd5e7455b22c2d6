"""Curves over layers as data: what they are, whether they can be drawn, what they say in words and in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.layers.by_condition import ConditionLayers
from lexiscope.core.errors import InputError
from lexiscope.report.figures import Array, floats, same_length


@dataclass(frozen=True, slots=True, eq=False)
class LayerMeans:
    """Mean distance of one subject in one condition, layer by layer, with its interval and the items behind it.

    *Shape:* (layers,) each. *Unit:* cosine distance. ``low`` and ``high`` may be left out.
    """

    subject: str
    condition: str
    layer: Array
    mean: Array
    low: Array | None = None
    high: Array | None = None
    n: int | None = None

    @classmethod
    def of(cls, subject: str, layers: Sequence[int], found: ConditionLayers) -> LayerMeans:
        """Return the means of a condition as they are drawn: those of one subject at these layers."""
        low, high = (np.array([getattr(interval, end) for interval in found.intervals]) for end in ("low", "high"))
        return cls(subject, found.condition, np.array(layers), found.mean, low, high, found.n)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnCurve:
    """A statistic of one subject over layers, or over layer depth ratios (0 … 1), with its interval where known.

    *Shape:* (layers,) each. ``group`` is the family, or whatever the panels are made of. ``expected_layer`` and
    ``baseline``, the statistic of a model without distance, are drawn where the figure shows them. ``separated``: the
    layers without a value because the outcomes are told apart without error, which is better than any value.
    """

    subject: str
    layer: Array
    value: Array
    low: Array | None = None
    high: Array | None = None
    group: str = ""
    expected_layer: float | None = None
    baseline: float | None = None
    separated: tuple[float, ...] = ()


def check_curves(rows: Sequence[tuple[str, Array, Array, Array | None, Array | None]]) -> None:
    """Check that every curve has numbers, as many values as layers, and both ends of its interval or none.

    Errors: :class:`InputError` naming the curve.
    """
    if not rows:
        raise InputError("a figure over layers needs at least one curve")
    for what, layer, value, low, high in rows:
        if (low is None) != (high is None):
            raise InputError(f"{what}: an interval needs both of its ends")
        parts = [part for part in (layer, value, low, high) if part is not None]
        same_length(what, *[floats(part, what) for part in parts])


def check_trajectories(curves: Sequence[DrawnCurve]) -> None:
    """Check trajectories as :func:`check_curves` does."""
    check_curves([(curve.subject, curve.layer, curve.value, curve.low, curve.high) for curve in curves])


def gaps_of(what: str, layer: Array, value: Array) -> list[str]:
    """Name the undefined points of one curve."""
    return [f"{what}, layer {place:g}" for place, number in zip(layer, value, strict=True) if not np.isfinite(number)]


def all_gaps(curves: Sequence[DrawnCurve]) -> list[str]:
    """Name the undefined points of all trajectories."""
    return [gap for curve in curves for gap in gaps_of(curve.subject, curve.layer, curve.value)]


def _ends(value: Array, place: str = "layer") -> str:
    known = [float(number) for number in value if np.isfinite(number)]
    if not known:
        return f"undefined at every {place}"
    return f"from {known[0]:.3g} at the first to {known[-1]:.3g} at the last {place}"


def _highest(layer: Array, value: Array) -> str:
    if not np.isfinite(value).any():
        return ""
    return f"; highest {np.nanmax(value):.3g} at {layer[int(np.nanargmax(value))]:g}"


def distance_words(curve: LayerMeans) -> str:
    """Say one distance curve in words."""
    count = f" (n = {curve.n})" if curve.n is not None else ""
    return f"{curve.subject}, {curve.condition}{count}: {_ends(curve.mean)}."


def trajectory_words(statistic: str, curves: Sequence[DrawnCurve], place: str = "layer") -> str:
    """Say trajectories in words: where each begins and ends, and its highest point; *place* is what it goes over."""
    parts = [f"{statistic}, {len(curves)} curve{'s' if len(curves) > 1 else ''}."]
    for curve in curves:
        value = np.asarray(curve.value, dtype=float)
        parts.append(f"{curve.subject}: {_ends(value, place)}{_highest(curve.layer, value)}.")
    return " ".join(parts)


def _optional(part: Array | None, length: int) -> Array:
    return np.full(length, np.nan) if part is None else np.asarray(part, dtype=float)


def distance_data(curves: Sequence[LayerMeans]) -> dict[str, Array]:
    """Return the columns beside a figure of distances: one row per subject, condition and layer."""
    sizes = [len(curve.layer) for curve in curves]
    return {
        "subject": np.repeat([curve.subject for curve in curves], sizes),
        "condition": np.repeat([curve.condition for curve in curves], sizes),
        "layer": np.concatenate([curve.layer for curve in curves]),
        "mean": np.concatenate([curve.mean for curve in curves]),
        "low": np.concatenate([_optional(curve.low, size) for curve, size in zip(curves, sizes, strict=True)]),
        "high": np.concatenate([_optional(curve.high, size) for curve, size in zip(curves, sizes, strict=True)]),
        "n": np.repeat([np.nan if curve.n is None else curve.n for curve in curves], sizes),
    }


def trajectory_data(curves: Sequence[DrawnCurve], place: str = "layer") -> dict[str, Array]:
    """Return the columns beside a figure of trajectories: one row per subject and layer, or what else *place* is."""
    sizes = [len(curve.layer) for curve in curves]
    data = {
        "subject": np.repeat([curve.subject for curve in curves], sizes),
        "group": np.repeat([curve.group for curve in curves], sizes),
        place: np.concatenate([curve.layer for curve in curves]),
        "value": np.concatenate([curve.value for curve in curves]),
        "low": np.concatenate([_optional(curve.low, size) for curve, size in zip(curves, sizes, strict=True)]),
        "high": np.concatenate([_optional(curve.high, size) for curve, size in zip(curves, sizes, strict=True)]),
    }
    for name in ("expected_layer", "baseline"):
        given = [getattr(curve, name) for curve in curves]
        if any(value is not None for value in given):
            data[name] = np.repeat([np.nan if value is None else value for value in given], sizes)
    if any(curve.separated for curve in curves):
        data["separated"] = np.concatenate([np.isin(curve.layer, curve.separated) for curve in curves]).astype(float)
    return data
