"""How much the same numbers may differ when a model computes them in another order.

Processors add in different orders, so an absolute bound that holds on one machine fails on another, and a bound for
numbers around 1 is meaningless for numbers around 1,000: bounds follow the type and the size of the numbers.
"""

from __future__ import annotations

from typing import Any

# shares of the size, not steps of the last digit: sums over a model's width and layers add up their rounding errors
_SHARE = {"fp32": 1e-5, "fp16": 5e-3, "bf16": 2.5e-2}


def rounding(largest: float, dtype: str = "fp32") -> float:
    """Return how much two routes to the same numbers may differ by rounding alone.

    *largest:* the largest absolute value among them; *dtype:* ``fp32``, ``fp16`` or ``bf16``. *Unit:* that of the
    numbers.

    >>> f"{rounding(8.0):.0e}", rounding(8.0, "bf16")
    ('8e-05', 0.2)
    """
    return largest * _SHARE[dtype]


def same_to_rounding(actual: Any, expected: Any, dtype: str = "fp32", *, part: float = 1.0) -> bool:
    """Say whether two tensors of one shape are equal to a part of :func:`rounding`.

    Each vector (last dimension) is judged by its own largest value, so that one large vector does not excuse the
    others. NaN is never equal.
    """
    if actual.shape != expected.shape:
        return False
    actual, expected = actual.float(), expected.float()
    bound = expected.abs().amax(dim=-1, keepdim=True) * (part * _SHARE[dtype])
    return bool(((actual - expected).abs() <= bound).all())
