"""A rating scale: its ends, its step, and the words at its points."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from lexiscope.core.errors import InputError, Place

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_PRINTED = re.compile(rf"({_NUMBER}) to ({_NUMBER})(?:, (continuous)| by ({_NUMBER}))?")
_MOST_OPTIONS = 1001
_LAST_DIGITS = 1e-9


@dataclass(frozen=True, slots=True)
class Scale:
    """A rating scale from ``low`` to ``high`` in steps of ``step`` (0 = continuous).

    ``anchors`` gives the words at some points, as (value, text) pairs in the participants' language. The printed form,
    without the words, is what the column ``scale`` of a response table holds; it parses back.

    >>> Scale(1, 5).contains(3), Scale(1, 5).contains(3.5), Scale(0, 1, step=0).contains(0.37)
    (True, False, True)
    >>> print(Scale(1, 5), Scale(0, 1, step=0.25), Scale(0, 100, step=0), sep="; ")
    1 to 5; 0 to 1 by 0.25; 0 to 100, continuous
    >>> Scale.parse("0 to 1 by 0.25") == Scale(0, 1, step=0.25)
    True
    """

    low: float
    high: float
    step: float = 1.0
    anchors: tuple[tuple[float, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.low < self.high or self.step < 0:
            raise InputError(f"a scale needs low < high and step >= 0, not {self.low}..{self.high} by {self.step}")

    @classmethod
    def between(cls, low: float, high: float) -> Scale:
        """Return the scale that its two ends suggest: steps of 1 between whole numbers, else continuous.

        Ends more than 20 apart are those of a slider, whose answers may have decimals.

        >>> Scale.between(1, 5).step, Scale.between(0, 100).step, Scale.between(0, 0.5).step
        (1.0, 0.0, 0.0)
        """
        whole = float(low).is_integer() and float(high).is_integer()
        return cls(low, high, step=1.0 if whole and high - low <= 20 else 0.0)

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read a printed scale back; it has no words.

        Errors: :class:`InputError` for a text that is no scale.
        """
        match = _PRINTED.fullmatch(text.strip())
        if match is None:
            raise InputError(f"{text!r} is not a rating scale", hint="write it as '1 to 5', or '0 to 100, continuous'")
        low, high, continuous, step = match.groups()
        return cls(float(low), float(high), step=0.0 if continuous else float(step or 1))

    def __str__(self) -> str:
        by = ", continuous" if self.step == 0 else "" if self.step == 1 else f" by {self.step:.12g}"
        return f"{self.low:.12g} to {self.high:.12g}{by}"

    @property
    def points(self) -> tuple[float, ...]:
        """All values that an answer may take; empty for a continuous scale."""
        if self.step == 0:
            return ()
        # to 12 digits, as a person types them: 0 + 3 * 0.1 is 0.30000000000000004
        steps = range(round((self.high - self.low) / self.step) + 1)
        return tuple(float(f"{self.low + i * self.step:.12g}") for i in steps)

    @property
    def options(self) -> tuple[float, ...]:
        """The numbers that a model can be offered as answers: all points, or the whole numbers of a continuous scale.

        >>> Scale(0, 4).options, len(Scale.between(1, 100).options)
        ((0.0, 1.0, 2.0, 3.0, 4.0), 100)

        Errors: :class:`InputError` for a continuous scale with fewer than three whole numbers, or more than 1,001.
        """
        first, last = math.ceil(self.low), math.floor(self.high)
        if self.step == 0 and (last - first < 2 or last - first >= _MOST_OPTIONS):
            raise InputError(
                f"the scale {self} has no list of numbers that a model could choose from",
                hint="name a scale with steps: Scale(low, high, step=…)",
            )
        return self.points or tuple(float(number) for number in range(first, last + 1))

    def has_ends_of(self, other: Scale) -> bool:
        """Whether both scales have the same ends, so that their ratings can be averaged."""
        return (self.low, self.high) == (other.low, other.high)

    def nearest_to(self, value: float, *, of: Scale) -> float:
        """Return the point that lies where *value* lies on another scale: end for end, others by proportion.

        Between two points it is the higher one where both are equally near.

        >>> [Scale(0, 4).nearest_to(value, of=Scale(1, 5)) for value in (1, 3, 5)]
        [0.0, 2.0, 4.0]
        >>> Scale(0, 10).nearest_to(2, of=Scale(1, 5)), Scale(1, 100, step=0).nearest_to(5, of=Scale(1, 5))
        (3.0, 100.0)
        """
        share = (value - of.low) / (of.high - of.low)
        there = self.low + share * (self.high - self.low)
        if self.step == 0:
            return there
        return float(min(self.high, self.low + math.floor((there - self.low) / self.step + 0.5) * self.step))

    def contains(self, value: float) -> bool:
        """Whether *value* lies on the scale (NaN does not).

        >>> Scale(0, 1, step=0.1).contains(0.3), Scale(0, 1, step=0.1).contains(0.31)
        (True, False)
        """
        if not self.low <= value <= self.high:
            return False
        # a point that has no exact binary form (0.3 in steps of 0.1) is reached to its last digits only; a whole
        # number of whole steps is exact
        steps = (value - self.low) / self.step if self.step else 0.0
        return steps.is_integer() or (
            not float(self.step).is_integer() and abs(steps - round(steps)) <= _LAST_DIGITS * max(1.0, abs(steps))
        )

    def check(self, value: float, *, place: Place | None = None) -> float:
        """Return *value* if it lies on the scale.

        Errors: :class:`InputError` E301 otherwise.
        """
        if not self.contains(float(value)):
            by = f" in steps of {self.step:g}" if self.step else ""
            raise InputError(
                f"{value:.12g} is not on the scale {self.low:g} to {self.high:g}{by}",
                code="E301",
                place=place,
                hint="correct the value, or leave the field empty where there was no answer",
            )
        return float(value)
