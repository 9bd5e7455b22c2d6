"""From people's ratings to the number that is learnt: their mean, rounded to a point of the scale by a named rule."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale

Rounding = Literal["half_up", "half_even"]
"""What becomes of a mean halfway between two points: the higher point, or the even one (Python's ``round``)."""

# a mean that was added up in floating point may miss a half by its last bit
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class RatedItem:
    """An item with the ratings that people gave it, at least one.

    Errors: :class:`InputError` without a rating.
    """

    item: Item
    ratings: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.ratings:
            raise InputError("an item without a rating teaches nothing", place=Place(item_id=self.item.item_id))

    @property
    def mean(self) -> float:
        """The mean of its ratings."""
        return statistics.fmean(self.ratings)

    @property
    def sd(self) -> float:
        """The sample SD of its ratings (n - 1); 0 for a single one."""
        return statistics.stdev(self.ratings) if len(self.ratings) > 1 else 0.0


def rounded(mean: float, scale: Scale, rounding: Rounding = "half_up") -> float:
    """Return the point of a scale that is nearest to a mean. *Source:* AmbiStory §5.3.1, which names no rule.

    >>> scale = Scale(1, 5)
    >>> [rounded(mean, scale) for mean in (2.4, 2.5, 3.5)]
    [2.0, 3.0, 4.0]
    >>> [rounded(mean, scale, "half_even") for mean in (2.4, 2.5, 3.5)]
    [2.0, 2.0, 4.0]

    Errors: :class:`InputError` for a continuous scale and a mean that is not within it.
    """
    if not scale.points:
        what = f"the scale {scale.low:g} to {scale.high:g} is continuous: it has no points to round to"
        raise InputError(what, hint="name a scale with steps")
    if not scale.low <= mean <= scale.high:
        raise InputError(f"a mean of {mean:g} is not within the scale {scale.low:g} to {scale.high:g}")
    # counted in steps from zero where the points are multiples of the step, so that "even" means even numbers
    origin = math.fmod(scale.low, scale.step)
    steps = (mean - origin) / scale.step
    below = math.floor(steps + _TINY)
    half = abs(steps - below - 0.5) <= _TINY
    up = (rounding == "half_up" or below % 2 == 1) if half else steps - below > 0.5
    return min(scale.high, origin + (below + up) * scale.step)


def targets_of(items: Sequence[RatedItem], scale: Scale, rounding: Rounding) -> tuple[int, ...]:
    """Return the place, from 0, of every item's number among the points of the scale.

    Errors: those of :func:`rounded`, naming the item.
    """
    places = {point: place for place, point in enumerate(scale.points)}
    found = []
    for rated in items:
        try:
            found.append(places[rounded(rated.mean, scale, rounding)])
        except InputError as error:
            raise InputError(error.what, place=Place(item_id=rated.item.item_id), hint=error.hint) from error
    return tuple(found)
