"""Which items people rate next: an allocation as item files that ``annotate`` takes, with the stopping rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from lexiscope.analysis.norming.allocation import Allocation, StoppingRule, allocate
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, Record, Result, Undefined
from lexiscope.core.run import write_atomically
from lexiscope.core.showing import counted
from lexiscope.items.tables.tabular import write_items
from lexiscope.report.part import Remark
from lexiscope.studies.norm.data import PROBABILITY, WAVE, Floats, NormRun
from lexiscope.studies.norm.estimates import allocated_mean

FOLDER = "allocation"
_NEAREST = 50
"""The error at a prediction is the mean of that of this number of items."""


def uncertainty(run: NormRun) -> tuple[Floats, str]:
    """Return how uncertain models are of each item, and where that comes from. *Shape:* (items,).

    Where people rated enough items: their distance from the models' prediction, at similar predictions for other
    words. Without that, of several models the spread of their ratings, of one that rated items several times the spread
    of these.
    """
    if run.centaurs:
        return _expected_error(run), "the error that is expected at the prediction of the models"
    if len(run.rating) > 1:
        spread = np.nanstd(np.array(list(run.rating.values())), axis=0)
        filled = np.asarray(np.nan_to_num(spread, nan=float(np.nanmax(spread))), dtype=np.float64)
        return filled, "the spread of the ratings of the models"
    (name,) = run.rating
    rows, values = run.single_ratings.get(name, (np.zeros(0, dtype=np.int64), np.zeros(0)))
    counts = np.bincount(rows, minlength=len(run.items))
    if len(rows) and counts.min() > 1:
        means = np.bincount(rows, weights=values, minlength=len(counts)) / counts
        squares = np.bincount(rows, weights=(values - means[rows]) ** 2, minlength=len(counts))
        return np.asarray(np.sqrt(squares / (counts - 1))), "the spread of the model's repeated ratings"
    return np.ones(len(run.items)), "none is known of the model, so that items are drawn evenly"


def _expected_error(run: NormRun) -> Floats:
    """The mean distance of people from the models' mean prediction, among other words' items with a similar one."""
    table = np.array([own.predicted for own in run.centaurs.values()])
    known = ~np.isnan(table).all(axis=0)
    predicted = np.full(table.shape[1], np.nan)
    predicted[known] = np.nanmean(table[:, known], axis=0)
    rated = ~np.isnan(run.norm) & known
    error = np.abs(run.norm - predicted)
    words = np.asarray(run.labels)
    nearest = min(_NEAREST, max(5, int(rated.sum()) // 4))
    expected = np.full(len(predicted), np.nan)
    for row in np.flatnonzero(known).tolist():
        others = np.flatnonzero(rated & (words != words[row]))
        close = others[np.argsort(np.abs(predicted[others] - predicted[row]), kind="stable")[:nearest]]
        expected[row] = float(error[close].mean()) if len(close) else np.nan
    learnt = expected[~np.isnan(expected)]
    return np.asarray(np.nan_to_num(expected, nan=float(learnt.max()) if len(learnt) else 1.0), dtype=np.float64)


def plan(run: NormRun) -> Allocation:
    """Return the allocation: of the items without ratings, or, if all have some, of all items."""
    open_items = _open_items(run)
    n = run.settings.items_next or max(1, len(open_items) // 4)
    values, _ = run.once(uncertainty)
    own = allocate(
        values[open_items], min(n, len(open_items)), waves=min(run.settings.waves, n), seed=run.settings.seed
    )
    probability, wave = np.zeros(len(run.items)), np.zeros(len(run.items), dtype=np.int64)
    probability[open_items], wave[open_items] = own.probability, own.wave
    return Allocation(probability, wave)


def _open_items(run: NormRun) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    bare = np.flatnonzero(run.n_ratings == 0)
    return bare if len(bare) else np.arange(len(run.items))


def rule(run: NormRun) -> StoppingRule:
    """Return the rule by which a study of the allocated items stops."""
    return StoppingRule(run.settings.half_width, run.settings.waves)


def allocation(run: NormRun) -> list[object]:
    """Return what the allocation is, what it saves compared with an even sample, and the stopping rule."""
    if run.sampled is not None:
        return _continued(run)
    own, (values, source) = run.once(plan), run.once(uncertainty)
    open_items = _open_items(run)
    share = own.probability[open_items]
    results: list[Result] = [
        run.about(Estimate("n_allocated_items", float(own.n), n=len(open_items))),
        run.about(Estimate("lowest_sampling_probability", float(share.min()), n=len(open_items), unit="share")),
        run.about(Estimate("highest_sampling_probability", float(share.max()), n=len(open_items), unit="share")),
    ]
    results += _saved(run, own, values)
    texts = (
        f"Uncertainty: {source}. {counted(own.n, 'item')} of {len(open_items)} are allocated; each has its "
        "probability, so that estimates with the inverse of it as weight stay unbiased.",
        f"Stopping rule: {rule(run).text} The rule looks at the width alone, never at the estimate.",
    )
    return [*results, *map(Remark, texts)]


def _continued(run: NormRun) -> list[object]:
    """How an earlier allocation continues: what the rule says of each model's estimate, and how many items are left."""
    sampled = run.sampled
    assert sampled is not None
    done = int(np.max(sampled.wave * (run.n_ratings > 0)))
    left = int((sampled.wave > done).sum())
    # the number of waves is that of the allocation
    stated = StoppingRule(run.settings.half_width, int(sampled.wave.max()))
    texts = [f"These items were allocated before: {counted(done, 'wave')} of {stated.waves} rated. {stated.text}"]
    for name, values in run.rating.items():
        estimates = run.attempt("mean_rating", partial(allocated_mean, run, name, values))
        if isinstance(estimates, Undefined):
            texts.append(f"{name}: {estimates.reason}.")
            continue
        what = "The study stops" if stated.is_met(estimates[0], done) else f"Ask wave {done + 1} next"
        texts.append(f"{what}, by the interval of {name} and people.")
    return [run.about(Estimate("n_allocated_items", float(left), n=len(run.items))), *map(Remark, texts)]


def _saved(run: NormRun, own: Allocation, values: Floats) -> list[Result]:
    """The spread of the estimate from the allocation over that from an even sample, as the rated items have it."""
    ratios = []
    for name, centaur in run.centaurs.items():
        error = run.norm - centaur.predicted
        known = ~np.isnan(error)
        if known.sum() < len(values) or not own.probability.all():
            # of items without ratings the errors are not known
            continue
        share, n, n_all = own.probability, own.n, len(values)
        even = n / n_all
        sampled, evenly = (
            float(((1 - p) * (error / p - _middle(error, p)) ** 2 * p).sum()) for p in (share, np.full(n_all, even))
        )
        ratios.append(run.about(Estimate("spread_ratio", float(np.sqrt(sampled / evenly)), n=n_all), subject=name))
    return list(ratios)


def _middle(error: Floats, share: Floats) -> float:
    room = share * (1 - share)
    return float((room * error / share).sum() / room.sum()) if room.sum() > 0 else 0.0


def write_allocation(run: NormRun, folder: Path, _records: Sequence[Record]) -> Sequence[str]:
    """Write ``allocation/``: all items with probability and wave, the items of each wave, and the stopping rule.

    Nothing is written if the items are those of an allocation: its waves are asked next.
    """
    if run.sampled is not None or not run.rating or not all(item.usages for item in run.items):
        return ()
    own, place = run.once(plan), folder / FOLDER
    place.mkdir(exist_ok=True)
    items = [_with_plan(item, own, row) for row, item in enumerate(run.items)]
    names = [f"{FOLDER}/items.csv"]
    write_items(items, folder / names[0])
    for wave in range(1, int(own.wave.max()) + 1):
        names.append(f"{FOLDER}/wave_{wave}.csv")
        write_items([item for item in items if item.conditions[WAVE] == wave], folder / names[-1])
    names.append(f"{FOLDER}/stopping_rule.txt")
    write_atomically(folder / names[-1], rule(run).text + "\n")
    return tuple(names)


def _with_plan(item: Item, own: Allocation, row: int) -> Item:
    plan_of_item = {PROBABILITY: round(float(own.probability[row]), 12), WAVE: int(own.wave[row])}
    return replace(item, conditions={**item.conditions, **plan_of_item})
