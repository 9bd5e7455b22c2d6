"""A rating scale: its ends, its step, and the words at its points."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.errors import InputError, Place


@dataclass(frozen=True, slots=True)
class Scale:
    """A rating scale from ``low`` to ``high`` in steps of ``step`` (0 = continuous).

    ``anchors`` gives the words at some points, as (value, text) pairs in the participants' language.

    >>> Scale(1, 5).contains(3), Scale(1, 5).contains(3.5), Scale(0, 1, step=0).contains(0.37)
    (True, False, True)
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

    @property
    def points(self) -> tuple[float, ...]:
        """All values that an answer may take; empty for a continuous scale."""
        if self.step == 0:
            return ()
        return tuple(self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1))

    def contains(self, value: float) -> bool:
        """Say whether *value* lies on the scale (NaN does not)."""
        if not self.low <= value <= self.high:
            return False
        return self.step == 0 or ((value - self.low) / self.step).is_integer()

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
