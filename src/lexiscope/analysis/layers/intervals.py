"""Bootstrap intervals of what is read off a whole curve over layers: Expected Layer, last-layer drop, differences.

Groups of items (words) are resampled; a resample reweights sums of products per group, so no regression is fitted
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    FloatArray,
    group_codes,
    no_interval,
    percentile_interval,
    resample_counts,
    resampled_units,
)
from lexiscope.analysis.comparison import bootstrap_p
from lexiscope.analysis.correlation import correlation_draws, correlation_value, is_constant, standardised
from lexiscope.analysis.layers.layers import difference_at_chosen_layers, left_out_draws
from lexiscope.analysis.regression import LOG_PARAMETERS, group_products, weighted_sums
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, parse_statistic, statistic_name

CHOSEN_R_SQUARED = "r_squared_at_chosen_layer"
"""The outcome of a regression of the R² that allows for the choice of the layer."""
BETWEEN_SUBJECTS = statistic_name("r_squared_difference", of="max_over_layers", between="subjects")
BETWEEN_LAYERS = statistic_name("r_squared_difference", of="layer", between="layers")

# A layer whose part that earlier layers do not give has less than this share of its variance adds nothing.
_NOTHING_NEW = 1e-10


def last_layer_drop_intervals(
    distance: ArrayLike,
    norms: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Interval, Interval]:
    """Return the interval of 1 − R² at the last layer / highest R², and the same with the highest of the other layers.

    The highest is found again in each resample. The first cannot be below 0: if the last layer is the best in nearly
    every resample, it has no bounds but the reason, for an interval from 0 to 0 would say that the drop is certain.

    *Shape:* distance (items, layers); norms and groups (items,). *Unit:* share of the highest R².
    *Source:* SAW-C §5.3. Errors: :class:`StatisticError` where the norms are constant.
    """
    draws = np.nan_to_num(_r_squared_draws(distance, norms, groups, resamples, seed))
    n = len(np.asarray(norms))
    intervals = []
    for compared in (draws, draws[:, :-1]):
        highest = compared.max(axis=1, initial=0.0)
        kept = np.divide(draws[:, -1], highest, out=np.full(len(draws), np.nan), where=highest > 0)
        intervals.append(_interval(1 - kept, groups, n, level))
    if resamples and intervals[0].low == intervals[0].high == 0:
        count = int((draws[:, -1] == draws.max(axis=1)).sum())
        why = f"the last layer is the best in {count} of {resamples} resamples, and a drop cannot be below 0"
        intervals[0] = no_interval(why, level=level, resamples=resamples, resampled=resampled_units(groups))
    return intervals[0], intervals[1]


def highest_difference(
    first: ArrayLike,
    second: ArrayLike,
    norms: ArrayLike,
    *,
    between: str,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the highest R² of *first* − the highest of *second*, both on the same resamples.

    *between* names what the first distances have and the second have not. A layer without variation explains nothing.

    *Shape:* first and second (items, layers); norms and groups (items,).
    *Higher means:* the first is closer to people. *Source:* SAW-C fn 11 (with − without stop).
    """
    draws = [_r_squared_draws(distance, norms, groups, resamples, seed) for distance in (first, second)]
    highest = [np.nan_to_num(drawn).max(axis=1, initial=0.0) for drawn in draws]
    interval = _interval(highest[0] - highest[1], groups, len(np.asarray(norms)), level)
    values = [max(_r_squared_values(distance, norms), default=0.0) for distance in (first, second)]
    name = statistic_name("r_squared_difference", of="max_over_layers", between=between)
    note = f"{values[0]:.4f} with, {values[1]:.4f} without"
    return Estimate(name, values[0] - values[1], interval, len(np.asarray(norms)), note=note)


def highest_differences(
    first: Mapping[str, ArrayLike],
    second: Mapping[str, ArrayLike],
    families: Mapping[str, str],
    norms: ArrayLike,
    *,
    between: str,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return :func:`highest_difference` of each subject of both, then the mean of each family, named in the condition.

    Last is the difference of each subject with both layers chosen on other words
    (:func:`~lexiscope.analysis.layers.layers.difference_at_chosen_layers`).

    *first*, *second* and *families* are by subject. *Shape:* distances each (items, layers); norms and groups (items,).
    *Source:* SAW-C fn 9, fn 11.

    >>> near, far = {"m": [[1], [2], [3]]}, {"m": [[1], [3], [2]]}
    >>> one, mean = highest_differences(near, far, {"m": "F"}, [3, 2, 1], between="views", resamples=0)
    >>> one.subject, round(one.value, 12), mean.condition, mean.n  # 1 - .5 ** 2
    ('m', 0.75, 'family=F', 1)
    """
    results: list[Estimate] = []
    chosen: list[Estimate | Undefined] = []
    of_family: dict[str, list[float]] = {}
    _, n_groups = group_codes(groups, len(np.asarray(norms)))
    options: dict[str, Any] = {"groups": groups, "level": level, "resamples": resamples, "seed": seed}
    for subject, distances in first.items():
        difference = highest_difference(distances, second[subject], norms, between=between, **options)
        results.append(difference.about(subject=subject))
        if resamples and n_groups > 1:
            name = _with_chosen_layers(difference.name)
            other = difference_at_chosen_layers(
                distances, second[subject], norms, kind="r_squared", name=name, **options
            )
            other = replace(other, p=None) if isinstance(other, Estimate) else other
            chosen.append(other.about(subject=subject))
        of_family.setdefault(families[subject], []).append(difference.value)
    name = statistic_name("r_squared_difference", of="max_over_layers", between=between)
    means = (
        Estimate(name, float(np.mean(values)), n=len(values)).about(condition=f"family={family}")
        for family, values in of_family.items()
    )
    return (*results, *means, *chosen)


def highest_combinations(
    distances: Sequence[ArrayLike],
    norms: ArrayLike,
    weights: Sequence[tuple[str, ArrayLike]],
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return weighted sums of the highest R² of several subjects, all on the same resamples, with p of a sum of 0.

    *weights* are the statistic's name and a weight per subject: (−1, 1) is a difference, (x − x̄) / Σ (x − x̄)² the
    least-squares slope on x. The highest layer is found again in each resample. p is that of
    :func:`~lexiscope.analysis.comparison.bootstrap_p`, ``None`` without an interval. If a subject has several
    layers, the same sums follow of the R² with each layer chosen on other words
    (:func:`~lexiscope.analysis.layers.layers.left_out_draws`), without p: a hypothesis is tested once.

    *Shape:* distances each (items, layers); norms and groups (items,); weights each (subjects,).
    *Source:* SAW-C §5.2.

    Errors: :class:`StatisticError` if the norms are constant or weights do not match the subjects.
    """
    values = np.array([max(_r_squared_values(distance, norms), default=0.0) for distance in distances])
    by_layer = [_r_squared_draws(distance, norms, groups, resamples, seed) for distance in distances]
    draws = np.array([np.nan_to_num(drawn).max(axis=1, initial=0.0) for drawn in by_layer])
    n, combined = len(np.asarray(norms)), list[Estimate | Undefined]()
    for name, given in weights:
        own = np.asarray(given, dtype=np.float64)
        if own.shape != values.shape:
            raise StatisticError(f"{name}: weights of shape {own.shape} do not go with {len(values)} subjects")
        drawn = own @ draws
        interval, (_, n_groups) = _interval(drawn, groups, n, level), group_codes(groups, n)
        p = bootstrap_p(drawn, n_groups=n_groups) if interval.is_defined else None
        combined.append(Estimate(name, float(own @ values), interval, n, p=p))
    if resamples and group_codes(groups, n)[1] > 1 and any(drawn.shape[1] > 1 for drawn in by_layer):
        combined += _combinations_at_chosen_layers(distances, norms, weights, by_layer, groups, level, resamples, seed)
    return tuple(combined)


def _combinations_at_chosen_layers(
    distances: Sequence[ArrayLike],
    norms: ArrayLike,
    weights: Sequence[tuple[str, ArrayLike]],
    draws: Sequence[FloatArray],
    groups: ArrayLike | None,
    level: float,
    resamples: int,
    seed: int,
) -> list[Estimate | Undefined]:
    """The same sums of the R² of each subject at the layer that is chosen on other words."""
    sides = [
        left_out_draws(distance, norms, kind="r_squared", draws=drawn, groups=groups, resamples=resamples, seed=seed)
        for distance, drawn in zip(distances, draws, strict=True)
    ]
    n, units = len(np.asarray(norms)), resampled_units(groups)
    sums: list[Estimate | Undefined] = []
    for name, given in weights:
        own, name = np.asarray(given, dtype=np.float64), _with_chosen_layers(name)
        used = [(weight, side) for weight, side in zip(own.tolist(), sides, strict=True) if weight]
        reason = next((side.reason for _, side in used if side.reason), "")
        if reason:
            sums.append(Undefined(name, reason, n))
            continue
        ends = sum((weight * side.ends for weight, side in used), np.zeros(resamples))
        interval = percentile_interval(ends, level=level, method="left_out_words", resampled=units)
        sums.append(Estimate(name, float(sum(weight * side.value for weight, side in used)), interval, n))
    return sums


def _with_chosen_layers(name: str) -> str:
    """The name of a statistic of the highest R², of the R² at layers that are chosen on other words."""
    plain, parameters = parse_statistic(name)
    if parameters.pop("of", "") == "max_over_layers":
        return statistic_name(f"{plain}_at_chosen_layers", **parameters)
    return name.replace("outcome=max_r_squared", f"outcome={CHOSEN_R_SQUARED}")


def size_contrasts(
    facts: Sequence[SubjectFacts],
    distances: Sequence[ArrayLike],
    norms: ArrayLike,
    *,
    far_smaller: float = 3.0,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Compare the highest R² of subjects by their size, where little else differs (:func:`highest_combinations`).

    Among subjects that were trained alike (family, training text, tokenizer and objective are the same): each larger
    one minus the next smaller, and the slope of the highest R² on log10 of the parameters, also without the smallest.
    For each multilingual subject: it minus each monolingual one that has at most 1 / *far_smaller* of its parameters,
    and minus their mean. The condition names the family, the subject both sides.

    *Shape:* facts (subjects,), each with its number of parameters; distances each (items, layers); norms and groups
    (items,). *Source:* SAW-C §5.2. Errors: as :func:`highest_combinations`.
    """
    ordered = sorted(range(len(facts)), key=lambda place: facts[place].n_parameters or 0)
    sized = [facts[place] for place in ordered]
    sizes = np.array([of.n_parameters or 0 for of in sized], dtype=np.float64)
    series: dict[tuple[str, ...], list[int]] = {}
    for place, of in enumerate(sized):
        if of.corpus:
            series.setdefault((of.family, of.corpus, of.tokenizer, of.objective), []).append(place)
    about: list[dict[str, str]] = []
    weights: list[tuple[str, FloatArray]] = []

    def add(name: str, of: Mapping[int, float], **where: str) -> None:
        about.append(where)
        weights.append((name, np.array([of.get(place, 0.0) for place in range(len(sized))])))

    between = "r_squared_difference(of=max_over_layers,between={})"
    slope_name = statistic_name("slope_within_family", of=LOG_PARAMETERS, outcome="max_r_squared")
    for (family, *_), alike in series.items():
        for small, large in pairwise(alike):
            if sizes[large] > sizes[small]:
                subject = f"{sized[large].subject_id} − {sized[small].subject_id}"
                condition = f"family={family}"
                add(between.format("sizes"), {large: 1.0, small: -1.0}, subject=subject, condition=condition)
        for places, said in ((alike, ""), (alike[1:], ", without the smallest")):
            if len(set(sizes[places])) >= 3:
                centred = np.log10(sizes[places]) - np.log10(sizes[places]).mean()
                slope = dict(zip(places, (centred / (centred @ centred)).tolist(), strict=True))
                add(slope_name, slope, condition=f"family={family}{said}")
    for place, of in enumerate(sized):
        others = [k for k, other in enumerate(sized) if not other.multilingual]
        smaller = [k for k in others if sizes[k] * far_smaller <= sizes[place]] if of.multilingual else []
        for other in smaller:
            subject = f"{of.subject_id} − {sized[other].subject_id}"
            add(between.format("multilingual"), {place: 1.0, other: -1.0}, subject=subject)
        if len(smaller) > 1:
            mean = {place: 1.0} | dict.fromkeys(smaller, -1.0 / len(smaller))
            subject = f"{of.subject_id} − mean of {len(smaller)} smaller"
            add(between.format("multilingual"), mean, subject=subject)
    if not weights:
        return ()
    estimates = highest_combinations(
        [distances[place] for place in ordered], norms, weights, groups=groups, level=level, resamples=resamples,
        seed=seed,
    )  # fmt: skip
    return tuple(estimate.about(**where) for estimate, where in zip(estimates, cycle(about), strict=False))


def best_contrasts(
    distances: Mapping[str, ArrayLike],
    norms: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return the highest R² of the best subject minus that of each other one (:func:`highest_combinations`).

    Both share the resamples, in each of which both layers are found again. The subject says which two are compared.
    Which of them is the best was seen on the same items: sets of ranks allow for that.

    *distances* are by subject. *Shape:* each (items, layers); norms and groups (items,).
    *Source:* SAW-C §5.2. Errors: as :func:`highest_combinations`.

    >>> distances = {"m": [[1], [3], [2]], "n": [[1], [2], [3]]}
    >>> [(of.subject, round(of.value, 12)) for of in best_contrasts(distances, [3, 2, 1], resamples=0)]  # 1 - .5 ** 2
    [('n − m', 0.75)]
    """
    subjects = list(distances)
    highest = [max(_r_squared_values(distances[subject], norms), default=0.0) for subject in subjects]
    best = int(np.argmax(highest))
    others = [place for place in range(len(subjects)) if place != best]
    weights = [(BETWEEN_SUBJECTS, _one_less(best, other, len(subjects))) for other in others]
    estimates = highest_combinations(
        list(distances.values()), norms, weights, groups=groups, level=level, resamples=resamples, seed=seed
    )
    return tuple(
        estimate.about(subject=f"{subjects[best]} − {subjects[other]}")
        for other, estimate in zip(cycle(others), estimates, strict=False)
    )


def layer_contrasts(
    distance: ArrayLike,
    norms: ArrayLike,
    layer: int,
    *,
    layers: Sequence[int] | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return R² at one *layer* minus R² at each other, on the same resamples; the condition says which two.

    For a layer that was named before the data were seen. A layer without variation explains nothing.

    *Shape:* distance (items, layers), whose numbers are *layers*, by default 0, 1, …; norms and groups (items,).
    *Source:* SAW-C §4.3. Errors: :class:`StatisticError` where the norms are constant, or there is no such layer.

    >>> [(of.condition, round(of.value, 12)) for of in layer_contrasts([[1, 1], [3, 2], [2, 3]], [3, 2, 1], 1,
    ...     resamples=0)]
    [('layer 1 − layer 0', 0.75)]
    """
    columns, _ = _check_columns(distance, norms)
    numbers = list(range(columns.shape[1])) if layers is None else list(layers)
    if layer not in numbers or len(numbers) != columns.shape[1]:
        raise StatisticError(f"there is no layer {layer} in {columns.shape[1]} columns of layers {numbers}")
    own, others = numbers.index(layer), [place for place, number in enumerate(numbers) if number != layer]
    weights = [(BETWEEN_LAYERS, _one_less(own, other, len(numbers))) for other in others]
    single = [column[:, None] for column in columns.T]
    estimates = highest_combinations(single, norms, weights, groups=groups, level=level, resamples=resamples, seed=seed)
    return tuple(
        estimate.about(condition=f"layer {layer} − layer {numbers[other]}")
        for other, estimate in zip(others, estimates, strict=True)
    )


def _one_less(first: int, second: int, n: int) -> FloatArray:
    """The weights of a difference of two of n."""
    return np.asarray(np.eye(n)[first] - np.eye(n)[second])


def expected_layer_r_squared_interval(
    distance: ArrayLike,
    norms: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the interval of the Expected Layer by R² (signed deltas, cumulative from layer 0).

    The same as :func:`lexiscope.analysis.layers.expected_layer.expected_layer_interval` with ``r_squared``, without
    fitting.

    *Shape:* distance (items, L + 1) for layers 0…L; norms and groups (items,). *Unit:* layers. *Source:* SAW-C A.2.
    Errors: :class:`StatisticError` with fewer than two layers or where the norms are constant.
    """
    columns, y = _check_columns(distance, norms)
    if columns.shape[1] < 2:
        raise StatisticError("an expected layer needs at least one layer above the embeddings")
    used = [layer for layer in range(columns.shape[1]) if not is_constant(columns[:, layer])]
    codes, n_groups = group_codes(groups, len(y))
    sums = group_products(standardised(columns[:, used]), standardised(y[:, None]), codes, n_groups)
    layers = np.array(used, dtype=np.float64)
    draws = []
    for counts in resample_counts(n_groups, resamples=resamples, seed=seed):
        gains = _sequential_gains(weighted_sums(counts, sums))
        # layer 0 is where the cumulative regressions start: it has no delta
        gains[:, layers == 0] = 0.0
        total = gains.sum(axis=1)
        draws.append(np.divide(gains @ layers, total, out=np.full(len(total), np.nan), where=total > 1e-12))
    return _interval(np.concatenate(draws), groups, len(y), level)


def _interval(draws: FloatArray, groups: ArrayLike | None, n: int, level: float) -> Interval:
    units, (_, n_groups) = resampled_units(groups), group_codes(groups, n)
    return percentile_interval(draws, level=level, resampled=units, n_groups=n_groups)


def _sequential_gains(products: FloatArray) -> FloatArray:
    """What each predictor adds to the explained sum of squares after those before it. *Shape:* (draws, predictors).

    *products* are sums of products of (1, predictors, outcome), *Shape:* (draws, k, k); they are eliminated in order.
    """
    # draws last, so that each step runs over all of them in one go; below the diagonal is what is above it
    left = np.ascontiguousarray(products.transpose(1, 2, 0))
    first = np.einsum("iib->ib", left).copy()
    k = len(left)
    gains = np.zeros((left.shape[2], k - 2))
    for column in range(k - 1):
        pivot = left[column, column]
        sound = pivot > _NOTHING_NEW * first[column]
        row = np.where(sound, left[column, column + 1 :], 0.0)
        scale = np.where(sound, pivot, 1.0)
        if column:
            gains[:, column - 1] = row[-1] ** 2 / scale
        for place in range(k - column - 1):
            left[column + 1 + place, column + 1 + place :] -= row[place] * row[place:] / scale
    return gains


def _r_squared_draws(
    distance: ArrayLike, norms: ArrayLike, groups: ArrayLike | None, resamples: int, seed: int
) -> FloatArray:
    """R² of every layer in every resample; NaN where a layer has no variation. *Shape:* (draws, layers)."""
    columns, y = _check_columns(distance, norms)
    draws = np.full((resamples, columns.shape[1]), np.nan)
    used = [layer for layer in range(columns.shape[1]) if not is_constant(columns[:, layer])]
    if used:
        own = columns[:, used]
        draws[:, used] = correlation_draws(own, y, kind="r_squared", groups=groups, resamples=resamples, seed=seed)
    return draws


def _r_squared_values(distance: ArrayLike, norms: ArrayLike) -> list[float]:
    columns, y = _check_columns(distance, norms)
    return [correlation_value(column, y, kind="r_squared") for column in columns.T if not is_constant(column)]


def _check_columns(distance: ArrayLike, norms: ArrayLike) -> tuple[FloatArray, FloatArray]:
    columns, y = np.asarray(distance, dtype=np.float64), np.asarray(norms, dtype=np.float64)
    if columns.ndim != 2 or len(columns) != len(y):
        raise StatisticError(f"distances of shape {columns.shape} do not go with {len(y)} norms")
    if is_constant(y):
        raise StatisticError("the norms are constant: they have no variance to explain")
    return columns, y
