"""Scales: their points, and the values that they reject."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.scale import Scale


def test_scale_knows_its_points() -> None:
    """Values off the scale or between its points are refused with E301."""
    scale = Scale(1, 5)
    assert scale.points == (1, 2, 3, 4, 5)
    for value in (0, 6, 2.5, float("nan")):
        with pytest.raises(InputError, match="E301"):
            scale.check(value)
    with pytest.raises(InputError):
        Scale(5, 1)
