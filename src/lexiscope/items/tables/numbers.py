"""How numbers and truth values are written in a file: the decimal sign, and the texts that mean no answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from lexiscope.core.errors import InputError, Place

Decimal = Literal["point", "comma"]
NO_ANSWER = frozenset({"", "na", "n/a", "#n/a", "#nv", "nan", "null", "none", "-", "–", "—", "−", "."})
"""What means that there was no answer, in lower case."""
CODES = frozenset({-9.0, -77.0, -88.0, -99.0, -999.0, -9999.0, 77.0, 88.0, 99.0, 777.0, 888.0, 999.0, 9999.0})
"""Numbers by which surveys say that there was no answer. Each could be a rating: none of them is taken for either."""

_TRUE, _FALSE = (
    # t and f are the labels of WiC and its relatives; 1.0 and 0.0 is how a column of numbers with gaps is written
    frozenset({"true", "t", "1", "1.0", "yes", "y", "same", "same sense"}),
    frozenset({"false", "f", "0", "0.0", "no", "n", "different", "different sense"}),
)
_POINT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)
_WITH_POINT = re.compile(r"[+-]?(\d+\.\d+|\.\d+)", re.ASCII)
_FEW = 0.05
_FEWEST = 5


def parse_truth(text: str) -> bool | None:
    """Return the truth value that a field holds, however it is written; ``None`` for any other text.

    >>> parse_truth("T"), parse_truth("no"), parse_truth("maybe")
    (True, False, None)
    """
    text = text.strip().casefold()
    return text in _TRUE if text in _TRUE or text in _FALSE else None


@dataclass(frozen=True, slots=True)
class NumberForm:
    """How numbers are written: with a decimal ``point`` or ``comma``, and what is ``missing`` (in lower case)."""

    decimal: Decimal = "point"
    missing: frozenset[str] = NO_ANSWER

    def is_missing(self, text: str) -> bool:
        """Return whether a cell means that there was no answer."""
        value = self.read(text)
        return value is not None and value != value

    def read(self, text: str) -> float | None:
        """Return the number that a cell holds, NaN for no answer, ``None`` for another text.

        >>> NumberForm("comma").read("2,5"), NumberForm().read("2,5"), NumberForm().read("n/a")
        (2.5, None, nan)
        """
        text = text.strip()
        if text.casefold() in self.missing:
            return float("nan")
        if self.decimal == "comma":
            if not (_COMMA.fullmatch(text) or _WHOLE.fullmatch(text)):
                return None
            text = text.replace(",", ".")
        value = float(text) if _POINT.fullmatch(text) else None
        if value is None or not isfinite(value):
            return None
        # a code for no answer that was named as 999 may be written 999.0
        return float("nan") if value in self._missing_numbers else value

    @property
    def _missing_numbers(self) -> set[float]:
        return {float(text) for text in self.missing if _POINT.fullmatch(text)}

    def read_all(self, cells: Iterable[str]) -> dict[str, float | None]:
        """Return the number of each distinct cell."""
        return {text: self.read(text) for text in dict.fromkeys(cells)}

    def missing_counts(self, cells: Iterable[str]) -> Counter[str]:
        """Return how often each text that means no answer is in a column, without outer white space."""
        counts: Counter[str] = Counter()
        for text, n in Counter(cells).items():
            if self.is_missing(text):
                counts[text.strip()] += n
        return counts


PLAIN = NumberForm()
"""Numbers with a decimal point, and the usual texts for no answer."""


def number_form(
    cells: Iterable[str], *, decimal: str = "", missing: Sequence[str] = (), place: Place | None = None
) -> NumberForm:
    """Return how the numbers in these cells are written. *decimal* and *missing* are what the user said.

    Errors: :class:`InputError` E304 where the decimal sign cannot be told: both are there, or a comma that may divide
    thousands.

    >>> number_form(["1", "2,5"]).decimal, number_form(["1", "2.5"]).decimal
    ('comma', 'point')
    """
    texts = NO_ANSWER | {text.strip().casefold() for text in missing}
    if decimal:
        return NumberForm("comma" if decimal == "comma" else "point", texts)
    distinct = [text.strip() for text in dict.fromkeys(cells)]
    commas = [text for text in distinct if _COMMA.fullmatch(text)]
    points = [text for text in distinct if _WITH_POINT.fullmatch(text)]
    if commas and points:
        what = f"some numbers have a decimal comma ({commas[0]}), others a decimal point ({points[0]})"
        hint = "write all of them in one way; if a comma divides thousands, remove it"
        raise InputError(what, code="E304", place=place, hint=hint)
    if commas and all(_THOUSANDS.fullmatch(text) for text in commas):
        what = f"{commas[0]} may be {commas[0].replace(',', '.')} or {commas[0].replace(',', '')}"
        hint = "name the decimal sign: --decimal comma; if the comma divides thousands, remove it"
        raise InputError(what, code="E304", place=place, hint=hint)
    return NumberForm("comma" if commas else "point", texts)


# -- numbers that are far from all others ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FarNumbers:
    """Numbers that are far from all others, with their counts, and the range of the others."""

    counts: Mapping[float, int] = field(default_factory=dict)
    low: float = 0.0
    high: float = 0.0

    @property
    def codes(self) -> dict[float, int]:
        """Those of them by which surveys say that there was no answer."""
        return {value: n for value, n in self.counts.items() if value in CODES}


def far_numbers(counts: Mapping[float, int]) -> FarNumbers:
    """Return the numbers that are farther from all others than the others are from each other.

    Such numbers are few (one, or at most one in twenty), or codes of surveys for no answer. *counts* are those of each
    number.

    >>> far_numbers({1: 30, 3: 40, 5: 30, 55: 1}).counts, far_numbers({1: 30, 5: 30, 99: 40}).codes
    ({55: 1}, {99: 40})
    >>> far_numbers({1: 30, 5: 30, 6: 1}).counts
    {}
    """
    values, total = sorted(counts), sum(counts.values())
    best = FarNumbers(low=values[0], high=values[-1]) if values else FarNumbers()
    low, high = 0, len(values) - 1
    # from the outside in: a gap wider than all that is left inside it divides
    while high - low >= 1:
        gap_low, gap_high = values[low + 1] - values[low], values[high] - values[high - 1]
        if gap_high >= gap_low:
            left, gap = (low, high - 1), gap_high
        else:
            left, gap = (low + 1, high), gap_low
        outside = {value: counts[value] for value in values if not values[left[0]] <= value <= values[left[1]]}
        n_outside = sum(n for value, n in outside.items() if value not in CODES)
        if n_outside > max(1, _FEW * total) or total - n_outside < _FEWEST:
            break
        low, high = left
        width = values[high] - values[low]
        if width and gap > width:
            best = FarNumbers(outside, values[low], values[high])
    return best
