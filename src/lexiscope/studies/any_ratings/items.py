"""The items: how often each point was chosen, mean ratings, and the items on which raters disagree most."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from lexiscope.analysis.norms.norms import item_sd, mean_item_sd
from lexiscope.core.result import Counts, Estimate, Result, statistic_name
from lexiscope.studies.any_ratings.data import RatedRun
from lexiscope.studies.kit.answers import PEOPLE

_MOST_POINTS, _BINS, _TOP = 21, 10, 10
POINTS = "n_ratings_at"


def sizes(run: RatedRun) -> list[Result]:
    """Return how many items, words, raters and ratings there are."""
    ratings = run.people if run.has("ratings") else run.choices
    numbers: dict[str, float] = {"n_items": len(run.items), "n_words": len({item.word for item in run.items})}
    if ratings is not None:
        per_item = ratings.counts()
        numbers |= {"n_participants": len(np.unique(ratings.rater)), "n_trials": len(ratings)}
        for summary, value in (("min", per_item.min()), ("mean", per_item.mean()), ("max", per_item.max())):
            numbers[statistic_name("ratings_per_item", summary=summary)] = float(value)
    return [run.about(Estimate(name, float(value))) for name, value in numbers.items()]


def distribution(run: RatedRun) -> object:
    """Count how often each point of the scale (or each option) was chosen; name the items with the highest SD."""
    if run.choices is not None:
        counts = np.bincount(run.choices.value.astype(np.int64), minlength=len(run.options)).tolist()
        return run.about(Counts(POINTS, tuple(zip(run.options, counts, strict=True)), unit="choices"))
    return [
        run.about(Counts(POINTS, tuple(_points(run)), unit="ratings")),
        run.attempt_all("mean_rating(over=items)", partial(run.means, of=PEOPLE)),
        run.attempt_all("mean_item_sd", lambda: (mean_item_sd(run.people).about(unit="rating"),)),
        *_most_disputed(run),
    ]


def _points(run: RatedRun) -> Iterator[tuple[str, int]]:
    """How many ratings are at each point; for a slider, in each tenth of its range."""
    values = run.people.value
    points, counts = np.unique(values, return_counts=True)
    if len(points) <= _MOST_POINTS:
        known = dict(zip(points.tolist(), counts.tolist(), strict=True))
        whole = all(point == int(point) for point in known)
        # a point that no rater chose is one, too
        every = np.arange(points.min(), points.max() + 1).tolist() if whole else list(known)
        scale = run.items[0].scale
        every = list(scale.points) if scale is not None and scale.points else every
        yield from ((f"{point:g}", int(known.get(point, 0))) for point in every)
        return
    scale = run.items[0].scale
    ends = (scale.low, scale.high) if scale is not None else (float(values.min()), float(values.max()))
    binned, edges = np.histogram(values, bins=_BINS, range=ends)
    for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), binned.tolist(), strict=True):
        yield f"{low:g} to {high:g}", int(n)


def _most_disputed(run: RatedRun) -> Iterator[Result]:
    """The items with the highest SD of their ratings, at most ten."""
    ratings = run.people
    sd, counts = item_sd(ratings), ratings.counts()
    known = np.flatnonzero(~np.isnan(sd) & (sd > 0))
    ids = ratings.item_ids
    for row in sorted(known.tolist(), key=lambda row: (-sd[row], ids[row]))[:_TOP]:
        name = statistic_name("item_sd", ddof=1)
        yield run.about(Estimate(name, float(sd[row]), n=int(counts[row]), condition=f"item={ids[row]}", unit="rating"))
