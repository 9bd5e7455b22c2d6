"""What the page of a profile shows: plain values, each from the results of the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lexiscope.report.tables import BOUNDED, format_number

Gap = Literal["not asked", "cannot answer", "no rows", "no number"]
"""Why a cell is empty: it was not run; the model does not have the capability; only a printed figure exists; or the
answers that there are give no value. They are never mixed."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number with the ends of its interval, if it has one."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """The number: two decimals, no leading zero."""
        return format_number(self.value, BOUNDED)

    @property
    def interval(self) -> str:
        """The interval in brackets; empty without one."""
        if self.low is None or self.high is None:
            return ""
        return f"[{format_number(self.low, BOUNDED)}, {format_number(self.high, BOUNDED)}]"

    @property
    def both(self) -> str:
        """The number with its interval.

        >>> Value(0.39, 0.292, 0.477).both
        '.39 [.29, .48]'
        """
        return f"{self.text} {self.interval}".rstrip()


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A number with its name and where it comes from."""

    name: str
    value: Value
    about: str = ""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of the battery: what is asked, of how many items and words, and what people reach.

    ``statistic`` is the symbol that the values are printed with (``ρ``, ``accuracy``, ``AUC``). ``person`` and ``mean``
    are people's, ``ceiling`` is what a share is of. ``figures`` are printed figures that are not a ceiling.
    """

    id: str
    title: str
    asks: str
    family: str
    statistic: str
    n_items: int
    n_words: int
    chance: float
    ceiling: NamedValue | None
    person: NamedValue | None
    mean: NamedValue | None
    figures: tuple[NamedValue, ...] = ()
    people: tuple[NamedValue, ...] = ()
    remark: str = ""

    @property
    def has_people(self) -> bool:
        """Whether the ceiling is one of people, with rows or printed."""
        return self.ceiling is not None and self.ceiling.name != "all right"

    def share(self, value: float) -> float | None:
        """Return a value of people as a share of the attainable."""
        if self.ceiling is None or self.ceiling.value.value <= self.chance:
            return None
        return (value - self.chance) / (self.ceiling.value.value - self.chance)


@dataclass(frozen=True, slots=True)
class ShownVariant:
    """A way of asking with what the model reaches; the declared one is drawn filled."""

    name: str
    value: float
    declared: bool


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A line as one model answered it: the value and the share, or why there is none.

    ``layers`` are values by layer on all words, ``note`` says which layer was chosen, ``of_raters`` which part of the
    variance of the share comes from the raters. ``needed`` is the number needed to beat as text, with its interval;
    ``needed_note`` what limits it.
    """

    gap: Gap | Literal[""] = ""
    why: str = ""
    value: Value | None = None
    share: Value | None = None
    refused: int = 0
    asked: int = 0
    variants: tuple[ShownVariant, ...] = ()
    varied: str = ""
    layers: tuple[tuple[int, float], ...] = ()
    note: str = ""
    of_raters: float = 0.0
    needed: str = ""
    needed_note: str = ""


@dataclass(frozen=True, slots=True)
class ShownFamily:
    """A family of one model: the mean share of its lines that have one, of how many; else why there is none."""

    id: str
    title: str
    share: Value | None
    parts: tuple[NamedValue, ...]
    n_lines: int
    person: float | None = None
    mean: float | None = None
    figures: tuple[NamedValue, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ShownModel:
    """A model: its name, what is known of it, its cells by line, its families."""

    id: str
    title: str
    facts: str
    cells: Mapping[str, ShownCell]
    families: tuple[ShownFamily, ...]


@dataclass(frozen=True, slots=True)
class ShownPair:
    """The difference of two models on a line, first minus second; ``differs`` where its interval excludes 0."""

    first: str
    second: str
    difference: Value
    differs: bool


@dataclass(frozen=True, slots=True)
class ShownComparison:
    """Models on one line, by id, the highest first, with all pairs, and the sets in which no pair differs.

    ``ranks`` are the ranks of each model that the pairs leave open, as text (``2–4``).
    """

    line: str
    models: tuple[str, ...]
    pairs: tuple[ShownPair, ...]
    sets: tuple[tuple[str, ...], ...]
    critical: float
    ranks: tuple[str, ...] = ()

    def between(self, first: str, second: str) -> ShownPair | None:
        """Return the pair of two models in this direction; none for another model."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.first, pair.second) == (second, first):
                d = pair.difference
                low, high = (None if d.high is None else -d.high), (None if d.low is None else -d.low)
                return ShownPair(first, second, Value(-d.value, low, high), pair.differs)
        return None


@dataclass(frozen=True, slots=True)
class ShownProfile:
    """The whole page: the battery, its lines, the models, and the lines on which several of them are compared."""

    battery: str
    sha256: str
    lines: tuple[ShownLine, ...]
    models: tuple[ShownModel, ...]
    comparisons: tuple[ShownComparison, ...]
    language: str = "en"

    def line(self, name: str) -> ShownLine:
        """Return a line by its id."""
        return next(line for line in self.lines if line.id == name)

    def model(self, name: str) -> ShownModel:
        """Return a model by its id."""
        return next(model for model in self.models if model.id == name)
