"""The answers so far: how often each was given, how much participants differ on an item, and arrivals over time.

Every function reads tables and returns frozen figures for the dashboard. None of them has names, conditions or correct
answers: a researcher who looks at them stays blind to the design.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import numpy as np

from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale

Kind = Literal["ratings", "options", "shares", "lengths"]
MOST_BINS = 48
"""The most time bins of a figure."""
_MOST_OPTIONS = 12
_STEPS = (1, 3, 6, 12, 24, 24 * 7, 24 * 28)
"""The widths of time bins. *Unit:* hours."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How often each answer was given in a view; ``n`` answers in all.

    ``kind`` is what the bars are: the points of the scale (``ratings``), the options that all items share
    (``options``), items by the share of their most frequent answer, in tenths (``shares``), or texts by their number
    of words (``lengths``). ``bars`` has the lower end, point or option of each bar, and its count.
    """

    view: str
    kind: Kind
    bars: tuple[tuple[str, int], ...]
    n: int
    mean: float | None = None
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class ItemSpread:
    """How much participants differ on an item in a view: SD (n − 1) of ratings, or share of the most frequent answer.

    *Higher* ``sd`` and *lower* ``share`` *mean:* participants differ more.
    """

    item_id: str
    view: str
    n: int
    mean: float | None = None
    sd: float | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class TimeBin:
    """The participants who consented, and who finished, from ``start`` (UTC) until the next bin."""

    start: datetime
    started: int
    finished: int


@dataclass(frozen=True, slots=True)
class Answers:
    """The valid answers to real items, one entry each: item, view, and the rating, option or text."""

    item_ids: Sequence[str]
    views: Sequence[str]
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    options: Sequence[str | None]
    texts: Sequence[str | None]

    @classmethod
    def of(cls, table: ResponseTable, view_of: Mapping[str, str], first_view: str) -> Answers:
        """Take the answers of a response table; *view_of* maps a list to its view, *first_view* is that of others."""
        lists = table.column("list_id").tolist()
        return cls(
            table.column("item_id").tolist(),
            [view_of.get(name or "", first_view) for name in lists],
            table.column("value").astype(np.float64),
            table.column("option").tolist(),
            table.column("raw").tolist(),
        )

    @property
    def are_ratings(self) -> bool:
        """Whether the answers are numbers on a scale."""
        return not bool(np.isnan(self.values).all())

    @property
    def are_choices(self) -> bool:
        """Whether the answers are options."""
        return any(option is not None for option in self.options)


def distributions(
    answers: Answers, *, views: Sequence[str], scale: Scale | None, options: Sequence[str] = ()
) -> tuple[Distribution, ...]:
    """Return the distribution of the answers in each view; *options* are those that all items share, if they do."""
    return tuple(
        made for view in views if (made := _distribution(answers, view, scale=scale, options=options)) is not None
    )


def _distribution(answers: Answers, view: str, *, scale: Scale | None, options: Sequence[str]) -> Distribution | None:
    rows = [k for k, name in enumerate(answers.views) if name == view]
    if not rows:
        return None
    if answers.are_ratings:
        return _of_ratings(answers.values[rows], view, scale)
    if answers.are_choices:
        chosen = [option for k in rows if (option := answers.options[k]) is not None]
        if 0 < len(options) <= _MOST_OPTIONS:
            counts = Counter(chosen)
            return Distribution(view, "options", tuple((name, counts[name]) for name in options), len(chosen))
        shares = [spread.share for spread in item_spreads(answers) if spread.view == view and spread.share is not None]
        return _in_tenths(shares, view)
    return _of_texts([text for k in rows if (text := answers.texts[k])], view)


def _of_ratings(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], view: str, scale: Scale | None
) -> Distribution | None:
    given = values[~np.isnan(values)]
    if not len(given):
        return None
    points = scale.points if scale is not None and scale.points else tuple(np.unique(given).tolist())
    counts = Counter(given.tolist())
    sd = float(given.std(ddof=1)) if len(given) > 1 else None
    bars = tuple((f"{point:g}", counts[point]) for point in points)
    return Distribution(view, "ratings", bars, len(given), float(given.mean()), sd)


def _in_tenths(shares: Sequence[float], view: str) -> Distribution | None:
    if not shares:
        return None
    # a share of 1 belongs to the last tenth
    counts = Counter(min(int(round(share * 10, 9)), 9) for share in shares)
    first = min(counts)
    bars = tuple((f"{tenth / 10:g}", counts[tenth]) for tenth in range(first, 10))
    return Distribution(view, "shares", bars, len(shares), float(np.mean(shares)))


def _of_texts(texts: Sequence[str], view: str) -> Distribution | None:
    lengths = [len(text.split()) for text in texts]
    if not lengths:
        return None
    width = max(1, -(-(max(lengths) - min(lengths) + 1) // 20))
    start = min(lengths) // width * width
    counts = Counter((length - start) // width for length in lengths)
    bars = tuple((str(start + width * k), counts[k]) for k in range(max(counts) + 1))
    sd = float(np.std(lengths, ddof=1)) if len(lengths) > 1 else None
    return Distribution(view, "lengths", bars, len(lengths), float(np.mean(lengths)), sd)


def item_spreads(answers: Answers) -> tuple[ItemSpread, ...]:
    """Return the items on which participants differ most first; none if the answers are texts.

    >>> ratings = np.array([1.0, 5.0, 3.0, 3.0])
    >>> answers = Answers(["i", "i", "j", "j"], ["full"] * 4, ratings, [None] * 4, [None] * 4)
    >>> [(spread.item_id, round(spread.sd, 3)) for spread in item_spreads(answers)]
    [('i', 2.828), ('j', 0.0)]
    """
    if answers.are_ratings:
        spreads = _rating_spreads(answers)
        return tuple(sorted(spreads, key=lambda spread: (spread.sd is None, -(spread.sd or 0.0), spread.item_id)))
    votes: dict[tuple[str, str], Counter[str]] = {}
    for item_id, view, option in zip(answers.item_ids, answers.views, answers.options, strict=True):
        if option is not None:
            votes.setdefault((item_id, view), Counter())[option] += 1
    spreads = [
        ItemSpread(item_id, view, counts.total(), share=max(counts.values()) / counts.total())
        for (item_id, view), counts in votes.items()
    ]
    # an item with one answer has a share of 1, which says no more than that
    return tuple(sorted(spreads, key=lambda spread: (spread.n < 2, spread.share or 0.0, spread.item_id)))


def _rating_spreads(answers: Answers) -> list[ItemSpread]:
    by_item: dict[tuple[str, str], list[float]] = {}
    for item_id, view, value in zip(answers.item_ids, answers.views, answers.values.tolist(), strict=True):
        if value == value:
            by_item.setdefault((item_id, view), []).append(value)
    return [
        ItemSpread(item_id, view, len(own), float(np.mean(own)), float(np.std(own, ddof=1)) if len(own) > 1 else None)
        for (item_id, view), own in by_item.items()
    ]


def arrivals(people: Iterable[ListedParticipant]) -> tuple[TimeBin, ...]:
    """Return how many participants consented and finished over time, in bins of an hour to four weeks.

    The bins are as narrow as :data:`MOST_BINS` of them allow; those without a participant are among them.
    """
    started, finished = [], []
    for person in people:
        started += [datetime.fromisoformat(person.consented_at)] if person.consented_at else []
        finished += [datetime.fromisoformat(person.finished_at)] if person.finished_at else []
    moments = started + finished
    if not moments:
        return ()
    first, last = min(moments), max(moments)
    hours = next((step for step in _STEPS if (last - first) / timedelta(hours=step) < MOST_BINS - 1), _STEPS[-1])
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    width = timedelta(hours=hours)
    start = midnight + (first - midnight) // width * width
    n = (last - start) // width + 1
    counts = [Counter((moment - start) // width for moment in group) for group in (started, finished)]
    return tuple(TimeBin(start + k * width, counts[0][k], counts[1][k]) for k in range(n))
