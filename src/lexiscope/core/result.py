"""Results: what an analysis computed (an estimate, a curve over layers, a contrast …), and the records they become.

``results.json`` of a run is a list of flat records, one per printed number. Every number that a table, a figure or a
sentence of the report prints is in it. A result knows its records; how each type of result is put into words, drawn
and framed is registered in ``report``.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, LexiscopeError, Place, SpecError, StatisticError
from lexiscope.core.foreign import json_text, parse_json
from lexiscope.core.sealed import check_file
from lexiscope.core.showing import call_presenter, counted, p_text
from lexiscope.core.simulated import SIMULATED

FloatArray = NDArray[np.float64]
Status = Literal["reproduced", "within rounding", "not reproduced", "not reproducible", "not computed", "undefined", ""]

COMPARED: tuple[Status, ...] = ("reproduced", "within rounding", "not reproduced")
"""The statuses that are outcomes of a comparison with a printed number (:func:`comparison_status`)."""

_NAME = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(?:\((?P<params>.*)\))?\Z")


def statistic_name(name: str, **params: object) -> str:
    """Return the printed name of a statistic with the parameters on which tools differ.

    >>> statistic_name("krippendorff_alpha", level="interval")
    'krippendorff_alpha(level=interval)'
    """
    inner = ",".join(f"{key}={value}" for key, value in params.items())
    text = f"{name}({inner})" if inner else name
    parse_statistic(text)
    return text


def parse_statistic(text: str) -> tuple[str, dict[str, str]]:
    """Split a printed name into the statistic and its parameters.

    >>> parse_statistic("krippendorff_alpha(level=interval)")
    ('krippendorff_alpha', {'level': 'interval'})
    """
    name, parameters = _split_statistic(text)
    return name, dict(parameters)


@lru_cache(maxsize=4096)
def statistic_key(text: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return what two printed names of one statistic share: the order of the parameters does not matter.

    >>> statistic_key("alpha(level=interval,unit=word)") == statistic_key("alpha(unit=word,level=interval)")
    True
    """
    name, parameters = _split_statistic(text)
    return name, frozenset(dict(parameters).items())


@lru_cache(maxsize=4096)
def _split_statistic(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    # rows of a table repeat few names very often
    match = _NAME.match(text)
    parts = [part.partition("=") for part in (match["params"] or "").split(",") if part] if match else []
    if match is None or any(not key or not value for key, _, value in parts):
        raise SpecError(f"{text!r} is not the name of a statistic", hint="write name or name(key=value,key=value)")
    return match["name"], tuple((key.strip(), value.strip()) for key, _, value in parts)


class AtMost(float):
    """A p at the floor of its draws, of which none was as extreme as the data: more draws could only lower it.

    It is a number like any other, and printed with ≤.

    >>> Record("t", 2.1, p=AtMost(0.005)).p_bound, AtMost(0.005) < 0.05
    ('≤', True)
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One printed number.

    ``statistic`` is a name that :func:`parse_statistic` reads. ``value`` is ``None`` if the statistic is
    undefined; ``note`` is then the reason. ``low`` and ``high`` bound the interval named in ``interval``. ``published``
    is what a paper prints, ``source`` where, and ``status`` whether the number is reproduced. ``analysis`` marks
    the research question it belongs to as ``confirmatory`` or ``exploratory``. ``people`` is ``simulated`` where the
    judgments behind it are those of simulated participants. ``p_adjusted`` is the p of a test adjusted for the others
    of its ``family``, whose printed name has the method and the number of tests. ``bound`` is ``<`` or ``>`` where the
    paper prints a bound (p < .001). ``p_bound`` is ``≤`` where p, and so the adjusted one, is the smallest that the
    draws of its test can give (:class:`AtMost`). Files leave these five out where a record has none.
    """

    statistic: str
    value: float | None
    subject: str = ""
    dataset: str = ""
    layer: int | None = None
    condition: str = ""
    view: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    interval: str = ""
    n: int | None = None
    p: float | None = None
    published: float | None = None
    source: str = ""
    status: Status = ""
    analysis: str = ""
    question: str = ""
    note: str = ""
    people: str = ""
    p_adjusted: float | None = None
    family: str = ""
    bound: str = ""
    p_bound: str = ""

    def __post_init__(self) -> None:
        parse_statistic(self.statistic)
        if isinstance(self.p, AtMost):
            object.__setattr__(self, "p_bound", "≤")
        for name in ("value", "low", "high", "p", "published", "p_adjusted"):
            number = getattr(self, name)
            # numpy scalars and infinities do not survive JSON: store plain finite floats or nothing
            if number is not None:
                plain = AtMost if self.p_bound and name in ("p", "p_adjusted") else float
                object.__setattr__(self, name, plain(number) if math.isfinite(number) else None)
        if self.value is None and not self.note:
            what = f"{self.statistic}: a record without a value needs a note with the reason"
            raise InputError(what, hint="return Undefined(NAME, REASON) where a statistic has no value, never NaN")
        if self.status in COMPARED and (self.value is None or self.published is None):
            raise InputError(
                f"{self.statistic}: the status {self.status!r} without "
                f"{'a value' if self.value is None else 'a printed number'}",
                why="it is the outcome of a comparison of the two, and of nothing else",
            )

    def content(self) -> dict[str, Any]:
        """Return the record as plain values, as files hold it: :data:`OPTIONAL_FIELDS` only where it has them."""
        # not asdict, which copies: all fields are plain values
        values = {column.name: getattr(self, column.name) for column in fields(self)}
        absent = [name for name in OPTIONAL_FIELDS if values[name] in (None, "")]
        return {name: value for name, value in values.items() if name not in absent}


OPTIONAL_FIELDS = ("people", "p_adjusted", "family", "bound", "p_bound")
"""The fields that files leave out where a record has none."""


def p_of(record: Record) -> float | None:
    """Return the p of a test's record: its field, or the value of a record that is a p itself; ``None`` for no test.

    >>> p_of(Record("t", 2.1, p=0.04)), p_of(Record("mcnemar_p", 0.5)), p_of(Record("mean", 3.0))
    (0.04, 0.5, None)
    """
    if record.p is not None:
        return record.p
    name, parameters = parse_statistic(record.statistic)
    return record.value if name == "p" or name.endswith("_p") or parameters.get("value") == "p" else None


# -- results --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval: its bounds, its level, and how it was made.

    ``method`` is a name that prints its parameters, ``resamples`` the number of bootstrap draws (0 for a closed form)
    and ``undefined`` how many of them had no value (a constant resample). Where too many have none, the bounds are NaN
    and ``note`` says so: the estimate is valid, its precision is unknown.
    """

    low: float
    high: float
    level: float
    method: str
    resamples: int = 0
    undefined: int = 0
    note: str = ""

    @property
    def is_defined(self) -> bool:
        """Whether the interval has bounds."""
        return not self.note

    def times(self, factor: float) -> Interval:
        """Return the interval in another unit: 100 times for a share as percent.

        >>> half = Interval(0.4, 0.6, 0.95, "wilson").times(100)
        >>> half.low, half.high
        (40.0, 60.0)
        """
        return replace(self, low=factor * self.low, high=factor * self.high)


NO_INTERVAL = Interval(math.nan, math.nan, 0.95, "", note="no interval: none was computed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What an analysis computed, and what it is about. Results are frozen; :meth:`about` returns one with more said.

    ``subject``, ``dataset``, ``layer``, ``view`` and ``condition`` say of what the number is; ``unit`` is its unit,
    ``higher`` what a higher value means, as text; ``note`` is what the reader must know of it. ``run`` is the run that
    it was computed in, if it was: two estimates of one run are compared on the same resamples of it.
    """

    subject: str = ""
    dataset: str = ""
    layer: int | None = None
    view: str = ""
    condition: str = ""
    unit: str = ""
    higher: str = ""
    note: str = ""
    run: Any = field(default=None, repr=False, compare=False)

    def about(self, **where: Any) -> Self:
        """Return the same result with these fields set, as ``subject`` or ``condition``."""
        return replace(self, **where)

    def records(self) -> tuple[Record, ...]:
        """Return the numbers of the result as they are kept in ``results.json``."""
        raise NotImplementedError

    def sentence(self) -> str:
        """Return one English sentence with direction, size, interval and n."""
        return cast(str, call_presenter("sentence", self))

    def plot(self, title: str = "") -> Any:
        """Return the result as a figure (:class:`lexiscope.report.figures.Figure`)."""
        return call_presenter("plot", self, title)

    def frame(self) -> Any:
        """Return the numbers as a pandas table, one record a row. Errors: a missing pandas is named."""
        return call_presenter("frame", self.records())

    def _repr_html_(self) -> str:
        return cast(str, call_presenter("html", self))

    def __repr__(self) -> str:
        layer = "" if self.layer is None else f"layer {self.layer}"
        parts = [*self._brief(), self.subject, layer, self.condition]
        return f"{type(self).__name__}({', '.join(filter(None, parts))})"

    def _brief(self) -> tuple[str, ...]:
        """Return what is short of the result itself: its name, its value with the interval, its n."""
        return ()

    def _record(self, statistic: str, value: float | None, **more: Any) -> Record:
        where = {name: getattr(self, name) for name in _PLACE}
        return Record(statistic, value, **(where | more))


_PLACE = ("subject", "dataset", "layer", "view", "condition", "unit", "note")
_SHARED = ("subject", "dataset", "view", "condition", "unit", "higher", "run")
"""What a curve and the estimate at its best layer are about alike."""


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Result):
    """A statistic with its interval and the number of observations and resampled groups behind it.

    ``chosen_from`` is the number of layers of which this one was chosen as the best on the same items, 0 if none was.
    ``p`` is that of its test, ``p_adjusted`` the same adjusted for the other tests of the ``family``.
    """

    name: str
    value: float
    interval: Interval = NO_INTERVAL
    n: int = 0
    n_groups: int = 0
    _: KW_ONLY
    p: float | None = None
    chosen_from: int = 0
    p_adjusted: float | None = None
    family: str = ""

    @property
    def caution(self) -> str:
        """What a reader must know of the choice of the layer; empty if none was made."""
        return f"the best of {self.chosen_from} layers, chosen on the same items" if self.chosen_from > 1 else ""

    def times(self, factor: float, unit: str) -> Estimate:
        """Return the estimate in another unit, with its interval: 100 times for a share as percent.

        >>> Estimate("coverage", 0.5, n=8).times(100, "percent").value
        50.0
        """
        return replace(self, value=factor * self.value, interval=self.interval.times(factor), unit=unit)

    def records(self) -> tuple[Record, ...]:
        """Return the one number; an ``n`` of 0 was not given."""
        note = "; ".join(filter(None, (self.note, self.caution)))
        more = {"note": note} | _bounds(self.interval, note)
        return (self._record(self.name, self.value, n=self.n or None, **_test(self), **more),)

    def _brief(self) -> tuple[str, ...]:
        return (f"{self.name} = {_value_text(self.value, self.interval)}", _n_text(self.n))


@dataclass(frozen=True, slots=True, repr=False)
class Undefined(Result):
    """A statistic that has no value on these numbers, and why."""

    name: str
    reason: str
    n: int = 0

    def records(self) -> tuple[Record, ...]:
        """Return a number without a value, with the reason."""
        return (self._record(self.name, None, n=self.n, note=f"undefined: {self.reason}"),)

    def _brief(self) -> tuple[str, ...]:
        return (f"{self.name} is undefined: {self.reason}",)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A statistic at one layer.

    ``depth_ratio`` is layer / L (0 = embeddings, 1 = last layer). ``value`` is ``None`` if the statistic is
    undefined; ``remark`` is then the reason, and otherwise what the reader should know about the value. ``interval`` is
    ``None`` where none was asked for or nothing could be resampled.
    """

    layer: int
    depth_ratio: float
    value: float | None
    interval: Interval | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Curve(Result):
    """A statistic over the layers of one subject.

    ``best`` is the layer with the best value, the lowest layer number among equal ones (all of them are in
    ``tied``); ``None`` where no layer has a value. ``baseline`` is the value of the model without any distance
    (the AIC of the intercept alone), if there is one. ``chosen`` is the statistic at the best layer, allowing for
    this layer having been chosen on the same items: the value at ``best`` itself is too good. ``held_out`` is what
    belongs to ``chosen``: the same of the model without any distance, and the difference. ``caution`` is what a
    reader must know of the best layer: that even there the senses are not separated, or in the wrong direction.
    """

    statistic: str
    better: Literal["higher", "lower"]
    values: tuple[CurvePoint, ...]
    best: int | None
    tied: tuple[int, ...]
    n: int
    n_groups: int
    baseline: float | None = None
    chosen: Estimate | Undefined | None = None
    caution: str = ""
    held_out: tuple[Estimate | Undefined, ...] = ()

    def about(self, **where: Any) -> Self:
        """Return the same curve with these fields set; what its best layer is about is set, too."""
        shared = {name: value for name, value in where.items() if name in _SHARED}
        chosen = self.chosen.about(**shared) if self.chosen else None
        held_out = tuple(result.about(**shared) for result in self.held_out)
        return replace(self, **{"chosen": chosen, "held_out": held_out} | where)

    def at(self, layer: int) -> CurvePoint:
        """Return the entry of one layer. Errors: :class:`StatisticError` where the curve has no such layer."""
        for entry in self.values:
            if entry.layer == layer:
                return entry
        raise StatisticError(f"the curve of {self.statistic} has no layer {layer}")

    def best_value(self) -> CurvePoint:
        """Return the entry of the best layer. Errors: :class:`StatisticError` where no layer has a value."""
        if self.best is None:
            raise StatisticError(f"{self.statistic} is undefined at every layer", why=self.values[0].remark)
        return self.at(self.best)

    def estimate(self, layer: int) -> Estimate | Undefined:
        """Return the statistic at one layer as a separate result."""
        point, where = self.at(layer), {name: getattr(self, name) for name in _PLACE if name != "note"}
        where |= {"layer": layer, "higher": self.higher, "run": self.run}
        if point.value is None:
            return Undefined(self.statistic, point.remark, self.n, **where)
        bounds = point.interval or NO_INTERVAL
        return Estimate(self.statistic, point.value, bounds, self.n, self.n_groups, note=point.remark, **where)

    def array(self) -> FloatArray:
        """Return the values alone, NaN where undefined. *Shape:* (layers,)."""
        return np.array([np.nan if entry.value is None else entry.value for entry in self.values])

    def records(self) -> tuple[Record, ...]:
        """Return the number of each layer, then the best layer, then the value that allows for its choice."""
        every = [record for point in self.values for record in self.estimate(point.layer).records()]
        name = statistic_name("best_layer", by=parse_statistic(self.statistic)[0])
        reason = "" if self.best is not None else "undefined: no layer has a value"
        note = reason or "; ".join(filter(None, (self.note, self.caution)))
        best = self._record(name, self.best, n=self.n, layer=None, unit="layer", note=note)
        allowing = (*((self.chosen,) if self.chosen else ()), *self.held_out)
        return (*every, best, *(record for result in allowing for record in result.records()))

    def _brief(self) -> tuple[str, ...]:
        best = "no layer has a value"
        if self.best is not None:
            point = self.best_value()
            best = f"best at layer {point.layer}: {_value_text(float(point.value or 0), point.interval or NO_INTERVAL)}"
        if isinstance(self.chosen, Estimate):
            best += f", {self.chosen.value:.4g} allowing for the choice"
        return (self.statistic, counted(len(self.values), "layer"), best, _n_text(self.n))


@dataclass(frozen=True, slots=True, repr=False)
class Curves(Result):
    """One statistic of several subjects: a curve of each that has layers, an estimate of each that has none."""

    entries: tuple[Curve | Estimate | Undefined, ...]

    def best(self, n: int = 1) -> tuple[Estimate, ...]:
        """Return the *n* best subjects, each at its best layer, the best first; fewer where fewer have a value.

        The best of several layers was chosen on the same items: its value is too good, which the estimate says in its
        sentence and in its record. A curve's ``chosen`` allows for it.
        """
        candidates = []
        for entry in self.entries:
            point = entry.estimate(entry.best) if isinstance(entry, Curve) and entry.best is not None else entry
            if isinstance(entry, Curve) and isinstance(point, Estimate):
                point = replace(point, chosen_from=sum(layer_point.value is not None for layer_point in entry.values))
            if isinstance(point, Estimate):
                sign = -1.0 if isinstance(entry, Curve) and entry.better == "lower" else 1.0
                candidates.append((sign * point.value, point))
        return tuple(point for _, point in sorted(candidates, key=lambda pair: -pair[0])[:n])

    def of(self, subject: str) -> Curve | Estimate | Undefined:
        """Return what one subject has. Errors: :class:`StatisticError` naming the subjects that there are."""
        for entry in self.entries:
            if entry.subject == subject:
                return entry
        known = ", ".join(entry.subject for entry in self.entries) or "none"
        raise StatisticError(
            f"there is no subject {subject!r} among the results", hint=f"subjects of these results: {known}"
        )

    def records(self) -> tuple[Record, ...]:
        """Return the numbers of all subjects."""
        return tuple(record for entry in self.entries for record in entry.records())

    def _brief(self) -> tuple[str, ...]:
        names = dict.fromkeys(entry.statistic if isinstance(entry, Curve) else entry.name for entry in self.entries)
        best = [f"best: {estimate.subject} {_value_text(estimate.value, NO_INTERVAL)}" for estimate in self.best()]
        return (*names, counted(len(self.entries), "subject"), *best)


@dataclass(frozen=True, slots=True, repr=False)
class Contrast(Result):
    """The difference of two estimates on the same draws: *first* minus *second*, with the interval of the difference.

    ``p`` is that of a test of no difference, if one was made. ``test`` is a second test of the same sides, if one was
    asked for: its name, its statistic and its p. ``chosen`` is the difference that allows for layers having been chosen
    on the same items, if one was.
    """

    name: str
    first: Estimate
    second: Estimate
    interval: Interval = NO_INTERVAL
    n: int = 0
    n_groups: int = 0
    _: KW_ONLY
    p: float | None = None
    p_adjusted: float | None = None
    family: str = ""
    test: Estimate | None = None
    chosen: Estimate | Undefined | None = None

    @property
    def value(self) -> float:
        """The difference."""
        return self.first.value - self.second.value

    @property
    def caution(self) -> str:
        """What a reader must know of the choice of the layers; empty if none was made."""
        chosen = [estimate for estimate in self.pair if estimate.caution]
        return "; ".join(f"layer {estimate.layer} of {estimate.subject} is {estimate.caution}" for estimate in chosen)

    def records(self) -> tuple[Record, ...]:
        """Return the difference, its second test, and what allows for the choice of layers.

        The subject names both sides, the note says what a positive difference means.
        """
        names = [side.subject if side.layer is None else f"{side.subject}@{side.layer}" for side in self.pair]
        subject = self.subject or " − ".join(names)
        sizes = f"n = {self.first.n:,} and {self.second.n:,}" if self.first.n != self.second.n else ""
        direction = f"positive: {self.higher}" if self.higher else ""
        note = "; ".join(filter(None, (self.note, sizes, direction, self.caution)))
        more = {"note": note} | _bounds(self.interval, note)
        difference = self._record(self.name, self.value, n=self.n, **_test(self), **more | {"subject": subject})
        about = {"subject": subject, "dataset": self.dataset, "condition": self.condition, "view": self.view}
        further = (result.about(**about) for result in (self.test, self.chosen) if result is not None)
        return (difference, *(record for result in further for record in result.records()))

    def _brief(self) -> tuple[str, ...]:
        record = self.records()[0]
        both = "" if self.subject else record.subject
        return (f"{self.name} = {_value_text(self.value, self.interval)}", _n_text(self.n), both)

    @property
    def pair(self) -> tuple[Estimate, Estimate]:
        """Both estimates."""
        return (self.first, self.second)


@dataclass(frozen=True, slots=True, repr=False)
class Counts(Result):
    """How many of what: counts by label, in an order that means something. ``name`` is what is counted."""

    name: str
    counts: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """The sum."""
        return sum(count for _, count in self.counts)

    def records(self) -> tuple[Record, ...]:
        """Return one number a label, which is its condition."""
        joined = f"{self.condition}, " if self.condition else ""
        return tuple(self._record(self.name, n, n=self.total, condition=joined + label) for label, n in self.counts)

    def _brief(self) -> tuple[str, ...]:
        return (self.name, counted(len(self.counts), "label"), f"{self.total:,} in all")


@dataclass(frozen=True, slots=True, repr=False)
class Fit(Result):
    """A model with its test: two nested models, the test between them, and the coefficients of the larger one.

    ``chi2`` has ``df`` degrees of freedom. *Higher means:* the larger model fits better. ``link`` is that of an ordinal
    model, whose test is another statistic: a family of tests has one kind of model.
    """

    name: str
    formula: str
    reduced: str
    chi2: float
    df: int
    p: float
    n: int
    terms: tuple[Estimate, ...] = ()
    _: KW_ONLY
    link: str = ""
    p_adjusted: float | None = None
    family: str = ""

    def records(self) -> tuple[Record, ...]:
        """Return the test, then the coefficients."""
        condition = ", ".join(filter(None, (self.condition, self.name)))
        note = "; ".join(filter(None, (f"{self.formula} compared with {self.reduced}", self.note)))
        of_link = {"link": self.link} if self.link else {}
        name = statistic_name("ordinal_chi2" if self.link else "chi2", **of_link, df=self.df)
        test = self._record(name, self.chi2, n=self.n, condition=condition, **_test(self) | {"note": note})
        terms = [term.about(**self._where(), condition=f"{condition}: {term.condition}") for term in self.terms]
        return (test, *(record for term in terms for record in term.records()))

    def _brief(self) -> tuple[str, ...]:
        return (self.name, f"χ²({self.df}) = {self.chi2:.4g}, {p_text(self.p)}", _n_text(self.n))

    def summary(self) -> str:
        """Return the coefficients, the test and what must be known of the fit (singularity, REML) as text."""
        lines = [f"{self.formula}  (n = {self.n})"]
        for term in self.terms:
            bounds = _bounds(term.interval, "")
            between = f"  [{_digits(bounds['low'])}, {_digits(bounds['high'])}]" if "low" in bounds else ""
            lines.append(f"  {term.condition or term.name:24} {_digits(term.value):>10}{between}")
        lines += self._further_lines()
        lines.append(f"against {self.reduced}: χ²({self.df}) = {self.chi2:.2f}, {p_text(self.p)}")
        return "\n".join([*lines, *(self.note.split("; ") if self.note else [])])

    def _further_lines(self) -> list[str]:
        return []

    def _where(self) -> dict[str, Any]:
        return {"subject": self.subject, "dataset": self.dataset, "layer": self.layer, "view": self.view}


def _test(result: Estimate | Contrast | Fit) -> dict[str, Any]:
    """The p of a result as fields of its record."""
    return {"p": result.p, "p_adjusted": result.p_adjusted, "family": result.family}


def _value_text(value: float, interval: Interval) -> str:
    between = f" [{_digits(interval.low)}, {_digits(interval.high)}]" if interval.is_defined else ""
    return _digits(value) + between


def _digits(value: float) -> str:
    # a mean of ratings may lie between two numbers of four digits: its last bits, which depend on the machine, must not
    # decide which of them is shown
    return f"{float(f'{value:.11g}'):.4g}"


def _n_text(n: int) -> str:
    return f"n = {n:,}" if n else ""


def _bounds(interval: Interval, note: str) -> dict[str, Any]:
    if interval.note == NO_INTERVAL.note:
        return {}
    if not interval.is_defined:
        # a layer's remark may have the reason already
        return {"note": note if interval.note in note else "; ".join(filter(None, (note, interval.note)))}
    return {"low": interval.low, "high": interval.high, "interval": interval.method}


# -- comparison with printed numbers ----------------------------------------------------------------------------------


def simulated_records(records: Iterable[Record], *, keep_all: bool = False) -> tuple[Record, ...]:
    """Return records as those of a run whose judgments are of simulated participants.

    None is compared with a printed number: what a paper prints is of people. Records that only hold a printed number
    are excluded, unless *keep_all*.
    """
    plain = (record for record in records if keep_all or record.status not in ("not reproducible", "not computed"))
    return tuple(
        replace(
            record,
            people=SIMULATED,
            published=None,
            source="" if record.published is not None else record.source,
            status=record.status if record.status == "undefined" else "",
        )
        for record in plain
    )


def printed_number(text: str) -> tuple[str, str]:
    """Split what a paper prints into the sign of a bound (``<``, ``>``, or none) and the text of its number.

    >>> printed_number("< .001"), printed_number("-.61")
    (('<', '.001'), ('', '-.61'))
    """
    bound = text[:1] if text.startswith(("<", ">")) else ""
    return bound, text.removeprefix(bound).strip()


def comparison_status(value: float, published: str) -> Status:
    """Compare a recomputed value with a printed one, digit for digit.

    *published* is the text as printed, so that its number of decimals is known. ``reproduced``: the value rounds
    to it; ``within rounding``: off by at most one unit of the last printed digit. A printed bound (``< .001``) is
    reproduced by a value on its side.

    >>> comparison_status(39.5885, "39.59"), comparison_status(0.99754, ".997"), comparison_status(0.7306, ".77")
    ('reproduced', 'within rounding', 'not reproduced')
    >>> comparison_status(3.135e-10, "3.1e-10"), comparison_status(9e-10, "3.1e-10")
    ('reproduced', 'not reproduced')
    >>> comparison_status(3.135e-10, "< .001"), comparison_status(.81, "> .82")
    ('reproduced', 'not reproduced')
    """
    bound, number = printed_number(published)
    printed = Decimal(number)
    if bound:
        return "reproduced" if (value < printed if bound == "<" else value > printed) else "not reproduced"
    unit, target = 10.0 ** int(printed.as_tuple().exponent), float(printed)
    # what rounding leaves of a half: a share of the last digit, or the last bits of the value
    slack = 1e-9 * unit + 4 * sys.float_info.epsilon * abs(target)
    if abs(value - target) <= unit / 2 + slack:
        return "reproduced"
    return "within rounding" if abs(value - target) <= unit + slack else "not reproduced"


def to_json(records: Iterable[Record]) -> str:
    """Render records as JSON, one record a line, keys in the order of the fields."""
    lines = [json.dumps(record.content(), ensure_ascii=False, allow_nan=False) for record in records]
    return json_text("[\n" + ",\n".join(lines) + "\n]\n")


def from_json(text: str, *, path: str = "results.json") -> tuple[Record, ...]:
    """Read records back.

    Errors: :class:`InputError` naming the record that is not one.
    """
    known = {field.name for field in fields(Record)}
    records = []
    try:
        content = parse_json(text)
    except ValueError as error:
        raise InputError("this file of results is not JSON", place=Place(path), why=str(error)) from error
    if not isinstance(content, list):
        raise InputError("this file of results is not a list of records", place=Place(path))
    for number, raw in enumerate(content, start=1):
        try:
            if not isinstance(raw, dict) or not set(raw) <= known:
                raise InputError("it has other fields than a record")
            records.append(Record(**raw))
        except (LexiscopeError, TypeError, ValueError) as error:
            what = f"record {number} is not a result record"
            raise InputError(what, place=Place(path), why=str(error)) from error
    return tuple(records)


def read_records(path: Path) -> tuple[Record, ...]:
    """Read ``results.json``; in the folder of a run it is checked first.

    Errors: :class:`InputError` if it is not a list of records, :class:`RunError` if it is not as the run wrote it.
    """
    check_file(path)
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError as error:
        raise InputError("this file of results is not UTF-8 text", place=Place(str(path)), why=str(error)) from error
    return from_json(text, path=str(path))


def find_record(records: Sequence[Record], statistic: str, **where: object) -> Record:
    """Return the only record with this statistic and these field values.

    Errors: :class:`InputError` when there is none or more than one.
    """
    hits = [r for r in records if r.statistic == statistic and all(getattr(r, k) == v for k, v in where.items())]
    if len(hits) != 1:
        raise InputError(f"{len(hits)} records match {statistic!r} {where!r}, expected one")
    return hits[0]
