"""Ratings in long form: rater, item, rating. All human-judgment statistics start from this one type.

A missing rating is counted and excluded; a rater or an item without any rating keeps its id, so that it can be
reported. Rows are kept in one order (by rater, then item), so the order of the input changes no result.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.bootstrap import FloatArray, IntArray
from lexiscope.core.columnar.lean import release_columns
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.scale import Scale
from lexiscope.core.showing import call_presenter, counted
from lexiscope.core.simulated import COLLECTED, refuse_mixture

Repeats = Literal["error", "mean", "first", "last"]
PEOPLE = COLLECTED
"""Each ``subject_kind`` that is a rater unless others are named: participants or simulated ones, never both at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings in long form, one entry per rater and item.

    *Shape:* rater, item, value (ratings,). ``rater`` and ``item`` are codes into ``rater_ids`` and ``item_ids``, which
    are sorted. ``n_missing`` counts the ratings that were asked for but have no value; ``n_repeated`` those merged.
    """

    rater: IntArray
    item: IntArray
    value: FloatArray
    rater_ids: tuple[str, ...]
    item_ids: tuple[str, ...]
    n_missing: int = 0
    n_repeated: int = 0

    @classmethod
    def from_arrays(
        cls, raters: ArrayLike, items: ArrayLike, values: ArrayLike, *, repeats: Repeats = "error"
    ) -> Ratings:
        """Build ratings from three columns of equal length; ids of any type are turned into text.

        ``repeats`` says what to do where a rater rated an item twice: refuse (``error``), take the ``mean``, or take
        the ``first`` or ``last`` in the order of the rows. A value that is NaN (or ``None``) is missing.

        Errors: :class:`InputError` E501 (lengths), E502 (repeated rating), E503 (infinite value, or not a number).

        >>> Ratings.from_arrays(["ana", "ana", "eva"], ["i1", "i2", "i1"], [4, None, 5]).n_missing
        1
        """
        rater, rater_ids = _encode(raters)
        item, item_ids = _encode(items)
        try:
            given = np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            hint = "give numbers, and None or NaN where there was no answer"
            raise InputError("a rating is not a number", code="E503", why=str(error), hint=hint) from error
        return _build(rater, rater_ids, item, item_ids, given, repeats)

    @classmethod
    def from_table(
        cls,
        table: ResponseColumns,
        *,
        measure: str = "rating",
        kinds: Collection[str] = PEOPLE,
        repeats: Repeats = "error",
    ) -> Ratings:
        """Build ratings from the rows of a response table that hold *measure*: participants are the raters.

        *kinds* names each ``subject_kind`` that counts as a rater: ``("participant", "chat")`` takes chat models in.
        Errors: :class:`InputError` E504 (no such row), E508 (participants and simulated ones together), and those of
        :meth:`from_arrays`; :class:`StatisticError` for ratings on two scales.
        """
        rows = _rows_of(table, measure, kinds)
        check_one_scale(rows)
        rater, rater_ids = _sorted_codes(*rows.codes("subject_id"))
        item, item_ids = _sorted_codes(*rows.codes("item_id"))
        value = rows.column("value").astype(np.float64, copy=False)
        # a copy with all columns: of a million rows, 50 MB
        del rows
        release_columns()
        return _build(rater, rater_ids, item, item_ids, value, repeats)

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        sizes = (counted(len(self), "rating"), counted(self.n_raters, "rater"), counted(self.n_items, "item"))
        return f"Ratings({', '.join(sizes)})"

    def frame(self) -> Any:
        """Return the ratings as a pandas table, one rating a row: rater, item, value."""
        return call_presenter("frame_of", self._columns(len(self)))

    def _repr_html_(self) -> str:
        return cast(str, call_presenter("html_of", repr(self), self._columns(10), ""))

    def _columns(self, n: int) -> dict[str, list[object]]:
        return {
            "rater": [self.rater_ids[code] for code in self.rater[:n].tolist()],
            "item": [self.item_ids[code] for code in self.item[:n].tolist()],
            "value": self.value[:n].tolist(),
        }

    @property
    def n_raters(self) -> int:
        """How many raters, those without any rating included."""
        return len(self.rater_ids)

    @property
    def n_items(self) -> int:
        """How many items, those without any rating included."""
        return len(self.item_ids)

    @property
    def n_pairable(self) -> int:
        """How many ratings are of an item that has two or more: those that a statistic of pairs counts."""
        counts = self.counts()
        return int(counts[counts > 1].sum())

    @property
    def is_integer(self) -> bool:
        """Whether every rating is a whole number, so that sums are exact and equal means are equal bit for bit."""
        # below 2**31 no sum of fewer than 2**22 ratings leaves the whole numbers that a float holds exactly
        return bool(np.all(self.value == np.rint(self.value)) and np.all(np.abs(self.value) < 2**31))

    def matrix(self) -> FloatArray:
        """Return the ratings as a matrix, NaN where a rater did not rate an item. *Shape:* (raters, items).

        >>> Ratings.from_arrays(["a", "b"], ["i", "j"], [1, 2]).matrix().tolist()
        [[1.0, nan], [nan, 2.0]]
        """
        table = np.full((self.n_raters, self.n_items), np.nan)
        table[self.rater, self.item] = self.value
        return table

    def counts(self) -> IntArray:
        """Return how many ratings each item has. *Shape:* (items,)."""
        return np.bincount(self.item, minlength=self.n_items).astype(np.int64)

    def usual_count(self) -> int:
        """Return how many ratings a mean has: the most frequent number of ratings per item, of several the smallest.

        >>> Ratings.from_arrays(list("abcab"), list("iiijj"), [1, 2, 3, 4, 5]).usual_count()
        2
        """
        numbers, items = np.unique(self.counts(), return_counts=True)
        return int(numbers[np.argmax(items)])

    def sums(self) -> FloatArray:
        """Return the sum of each item's ratings; exact where ratings are whole numbers. *Shape:* (items,)."""
        return np.asarray(np.bincount(self.item, weights=self.value, minlength=self.n_items), dtype=np.float64)

    def means(self) -> FloatArray:
        """Return each item's mean as sum / count, NaN where it has no rating. *Shape:* (items,).

        Means of whole numbers come from exact sums, so equal means are ties; other means are rounded to 12 digits of
        the range of the ratings for the same reason (SAW-C's released means fall apart in the last bit).
        """
        counts = self.counts()
        means = np.divide(self.sums(), counts, out=np.full(self.n_items, np.nan), where=counts > 0)
        return means if self.is_integer else settle(means, self.value)

    def without_unit(self) -> Ratings:
        """Return the ratings for statistics that depend neither on the unit nor on the zero point of the scale.

        Whole numbers stay as they are. Other ratings are counted from the lowest and, unless these are whole numbers,
        in shares of the range: ratings of 1e-9 and of 1e12 + 1 then have the digits of ratings of 1.

        >>> Ratings.from_arrays(list("ab"), list("ii"), [1e-9, 3e-9]).without_unit().value.tolist()
        [0.0, 1.0]
        """
        if self.is_integer or not len(self):
            return self
        # settled: 1e-3 + 2e-9 less 1e-3 holds fewer digits than 2e-9, and equal means of such ratings are to be ties;
        # no digit that the ratings hold is rounded away, so that no other statistic changes
        counted = replace(self, value=settle(self.value - self.value.min(), self.value, share=0.0))
        span = float(counted.value.max())
        if counted.is_integer or not span:
            return counted
        return replace(counted, value=counted.value / span)

    def select(self, keep: NDArray[np.bool_]) -> Ratings:
        """Return the ratings where *keep* is true; ids stay, so that raters left without ratings remain visible."""
        return Ratings(
            rater=self.rater[keep],
            item=self.item[keep],
            value=self.value[keep],
            rater_ids=self.rater_ids,
            item_ids=self.item_ids,
            n_missing=self.n_missing,
            n_repeated=self.n_repeated,
        )

    def of_items(self, items: Collection[str]) -> Ratings:
        """Return the ratings of some items alone: no other item, and no rater without a rating of them, is in it.

        >>> Ratings.from_arrays(["ana", "eva", "ana"], ["i", "i", "j"], [1, 2, 3]).of_items(["j", "k"])
        Ratings(1 rating, 1 rater, 1 item)
        """
        chosen = set(items)
        return self._alone(np.array([item in chosen for item in self.item_ids], dtype=bool)[self.item])

    def of_raters(self, raters: Collection[str]) -> Ratings:
        """Return the ratings of some raters alone: no other rater, and no item that none of them rated, is in it.

        >>> Ratings.from_arrays(["ana", "eva", "ana"], ["i", "i", "j"], [1, 2, 3]).of_raters(["eva"])
        Ratings(1 rating, 1 rater, 1 item)
        """
        chosen = set(raters)
        return self._alone(np.array([rater in chosen for rater in self.rater_ids], dtype=bool)[self.rater])

    def _alone(self, keep: NDArray[np.bool_]) -> Ratings:
        """The ratings where *keep* is true, with the ids of those alone."""
        raters, rater = np.unique(self.rater[keep], return_inverse=True)
        rated, item = np.unique(self.item[keep], return_inverse=True)
        rater_ids = tuple(self.rater_ids[code] for code in raters.tolist())
        item_ids = tuple(self.item_ids[code] for code in rated.tolist())
        return Ratings(rater.reshape(-1), item.reshape(-1), self.value[keep], rater_ids, item_ids)

    def item_labels(self, labels: Mapping[str, str]) -> NDArray[np.str_]:
        """Return each item's label (its word, its condition), from a mapping of item ids. *Shape:* (items,).

        Errors: :class:`InputError` E506 naming an item without a label.
        """
        missing = [item for item in self.item_ids if item not in labels]
        if missing:
            raise InputError(f"{len(missing)} items have no label", code="E506", place=Place(item_id=missing[0]))
        return np.array([str(labels[item]) for item in self.item_ids], dtype=str)

    def rater_code(self, rater_id: str) -> int:
        """Return a rater's code.

        Errors: :class:`InputError` E505.
        """
        if rater_id not in self.rater_ids:
            raise InputError(f"no rater {rater_id!r} among {self.n_raters}", code="E505")
        return self.rater_ids.index(rater_id)


def choices_from_table(
    table: ResponseColumns, *, measure: str = "choice", kinds: Collection[str] = PEOPLE, repeats: Repeats = "error"
) -> tuple[Ratings, tuple[str, ...]]:
    """Build ratings whose value is the code of the option chosen, and the options in the order of the codes.

    Nominal statistics (kappa, majority, nominal alpha) take these as they take numbers. Participants are the raters;
    *kinds* names others.

    Errors: as :meth:`Ratings.from_table`.
    """
    rows = _rows_of(table, measure, kinds)
    option, options = _sorted_codes(*rows.codes("option"))
    rater, rater_ids = _sorted_codes(*rows.codes("subject_id"))
    item, item_ids = _sorted_codes(*rows.codes("item_id"))
    values = np.where(option < 0, np.nan, option.astype(np.float64))
    return _build(rater, rater_ids, item, item_ids, values, repeats), options


def settle(values: FloatArray, given: FloatArray, *, share: float = 1e-12) -> FloatArray:
    """Round values that were computed from *given* ones, so that those that are equal in fact are ties.

    They are rounded to this *share* of the range of *given*, or to the last digits that its largest value holds.

    >>> settle(np.array([0.1 + 0.2, 0.3]), np.array([0.1, 0.3])).tolist()
    [0.3, 0.3]
    """
    if not given.size:
        return values
    # 12 digits: far below any difference that people can make on a scale, far above accumulated rounding
    step = max(share * float(np.ptp(given)), 8 * float(np.finfo(np.float64).eps) * float(np.max(np.abs(given))))
    return values.round(-math.ceil(math.log10(step))) if step > 0 else values


def _rows_of(table: ResponseColumns, measure: str, kinds: Collection[str]) -> ResponseColumns:
    answers = table.where(measure=measure)
    if not len(answers):
        raise InputError(
            f"no response has the measure {measure!r}", code="E504", hint="name a measure that the table holds"
        )
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    rows = answers.where(subject_kind=kinds)
    if not len(rows):
        others = answers.codes("subject_kind")[1]
        what = f"no response with the measure {measure!r} is by a rater of the kind {' or '.join(kinds)}"
        hint = f"to count others as raters, name their kind: kinds={others!r}"
        raise InputError(what, code="E504", why=f"there are answers by {', '.join(others)}", hint=hint)
    refuse_mixture(rows.codes("subject_kind")[1])
    return rows


def check_one_scale(rows: ResponseColumns) -> None:
    """Refuse ratings on two scales; ratings whose scale is not stated go with any.

    Errors: :class:`StatisticError` naming both scales with an item of each.
    """
    codes, printed = rows.codes("scale")
    scales = [Scale.parse(text) for text in printed]
    other = next((place for place, scale in enumerate(scales) if not scale.has_ends_of(scales[0])), None)
    if other is None:
        return
    items = rows.column("item_id")
    parts = [
        f"{int((codes == place).sum())} from {scales[place].low:g} to {scales[place].high:g} "
        f"(item {items[codes == place][0]!r})"
        for place in (0, other)
    ]
    raise StatisticError(
        f"these ratings are on two scales: {' and '.join(parts)}",
        why="a mean or an agreement of both would depend on which items are on which scale",
        hint=f"compute each by itself: table.where(scale={printed[0]!r})",
    )


def _encode(ids: ArrayLike) -> tuple[IntArray, tuple[str, ...]]:
    raw = np.asarray(ids)
    labels = np.array([str(label) for label in raw], dtype=str) if raw.dtype.kind == "O" else raw
    # numbers are sorted as numbers first, much faster than as text; the few distinct ids are put right afterwards
    distinct, codes = np.unique(labels, return_inverse=True)
    return _sorted_codes(codes.reshape(-1).astype(np.int64), tuple(str(label) for label in distinct.tolist()))


def _sorted_codes(codes: IntArray, categories: tuple[str, ...]) -> tuple[IntArray, tuple[str, ...]]:
    """Renumber codes so that categories are in code point order; −1 stays."""
    order = sorted(range(len(categories)), key=categories.__getitem__)
    # the extra last entry is what code -1 (missing) points to
    place = np.full(len(categories) + 1, -1, dtype=np.int64)
    place[order] = np.arange(len(categories))
    return place[codes], tuple(categories[k] for k in order)


def _build(
    rater: IntArray,
    rater_ids: tuple[str, ...],
    item: IntArray,
    item_ids: tuple[str, ...],
    value: FloatArray,
    repeats: Repeats,
) -> Ratings:
    lengths = {len(rater), len(item), len(value)}
    if len(lengths) != 1:
        raise InputError(
            f"raters, items and values differ in length: {len(rater)}, {len(item)}, {len(value)}", code="E501"
        )
    if np.isinf(value).any():
        raise InputError(f"rating {int(np.flatnonzero(np.isinf(value))[0])} is infinite", code="E503")
    given = ~np.isnan(value)
    # one order whatever the input's: sums and resamples then do not depend on how a file was sorted
    kept = value
    if not given.all():
        rater, item, kept = rater[given], item[given], value[given]
    order = np.lexsort((item, rater))
    rater, item, kept = rater[order], item[order], kept[order]
    repeated = np.flatnonzero((rater[1:] == rater[:-1]) & (item[1:] == item[:-1])) + 1
    if len(repeated) and repeats == "error":
        _refuse_repeats(rater_ids[rater[repeated[0]]], item_ids[item[repeated[0]]], len(repeated))
    if len(repeated):
        rater, item, kept = _merge(rater, item, kept, repeated, repeats)
    return Ratings(rater, item, kept, rater_ids, item_ids, int((~given).sum()), len(repeated))


def _refuse_repeats(rater_id: str, item_id: str, count: int) -> None:
    raise InputError(
        f"rater {rater_id!r} rated this item more than once ({count} repeated ratings in all)",
        code="E502",
        place=Place(item_id=item_id),
        hint='choose how repetitions count: repeats="mean", "first" or "last"',
    )


def _merge(
    rater: IntArray, item: IntArray, value: FloatArray, repeated: IntArray, repeats: Repeats
) -> tuple[IntArray, IntArray, FloatArray]:
    """Make one rating of each run of repeated ones; the rows are sorted by rater and item, stably."""
    first = np.ones(len(value), dtype=bool)
    first[repeated] = False
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], len(value))
    if repeats == "mean":
        return rater[starts], item[starts], np.add.reduceat(value, starts) / (ends - starts)
    return rater[starts], item[starts], value[starts if repeats == "first" else ends - 1]
