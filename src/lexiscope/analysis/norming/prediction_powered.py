"""Prediction-powered inference: estimates from people's ratings of some items and a model's of all of them.

The mean of the model's answers over all items is corrected by the mean error of the model on the items that people
rated: the estimate has no bias, and its interval is valid, however wrong the model is. A factor λ weights the model by
how much it helps (*power tuning*): with λ = 0 the estimate is that of people alone, so that a useless model costs
nothing but the estimation of λ. Means, contrasts and coefficients of linear regression are one estimator: a mean is a
regression on a constant.

How the rated items were *drawn* decides what the interval is about, its *target*:

``apart``               target: the population. Rated and other items are two independent samples of a larger population
                        (Angelopoulos, Duchi & Zrnic 2023, "PPI++"); the variance has a part for the model's mean,
                        which is of a sample, too
``with_replacement``    target: the list. Each rating is of an item that was drawn from it, and may be drawn again;
                        the model's answers to the list are all known, so that their mean has no variance
``without_replacement`` target: the list. Each item can be rated once; the interval shrinks to nothing as all items are
                        rated (the regression estimator of survey statistics: Särndal et al. 1992)

With few rated items, the same items that give λ make their own errors small. Errors are therefore those of each item
with λ and the coefficients from the others (errors / (1 − leverage): MacKinnon & White 1985, HC3), and quantiles are of
Student's t. Without this, 91 % of the intervals from 17 rated pairs of one sense of RAW-C hold the truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, IntArray, group_codes, group_sums, require_finite, student_quantile
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Contrast, Estimate, Interval, statistic_name

Drawn = Literal["apart", "with_replacement", "without_replacement"]
Target = Literal["list", "population"]
"""What an estimate is about: the items of the list, or a larger population of which the list is a sample."""
FEWEST = 5
"""A regression on p columns needs p + 5 rated items."""


@dataclass(frozen=True, slots=True)
class PoweredEstimate:
    """One estimate from people and a model together, and the same from people alone.

    ``tuning`` is λ, the weight of the model: 0 is people alone, 1 takes the model at its word. ``freedom`` are the
    degrees of freedom of both intervals.
    """

    powered: Estimate
    people: Estimate
    tuning: float
    freedom: tuple[float, float]

    @property
    def width_ratio(self) -> float:
        """The width of the interval with the model over that without. *Lower means:* the model saves more ratings."""
        alone, joint = (interval.high - interval.low for interval in (self.people.interval, self.powered.interval))
        return joint / alone if alone > 0 else math.nan

    def results(self) -> tuple[Estimate, ...]:
        """Return the estimate with the model, the one without, λ and the ratio of the widths."""
        n, condition, subject = self.people.n, self.powered.condition, self.powered.subject
        of = self.powered.name.partition("(")[0]
        numbers = [(statistic_name("power_tuning", of=of), self.tuning)]
        numbers += [(statistic_name("width_ratio", of=of), self.width_ratio)] if self.width_ratio > 0 else []
        more = (Estimate(name, value, n=n, condition=condition, subject=subject) for name, value in numbers)
        return self.powered, self.people, *more


def powered_mean(
    rated: ArrayLike,
    predicted: ArrayLike,
    predicted_of_all: ArrayLike,
    *,
    drawn: Drawn = "without_replacement",
    tuning: float | None = None,
    groups: ArrayLike | None = None,
    groups_of_all: ArrayLike | None = None,
    level: float = 0.95,
) -> PoweredEstimate:
    """Return the mean of people's norms over items, most of which only a model rated.

    *Shape:* rated, predicted (rated items,): people's norm and the model's answer; predicted_of_all (items,): the
    model's answer to each item of the list (of ``apart``: each item that people did not rate). *tuning* fixes λ.
    *groups* and *groups_of_all* are the words; only ``apart`` uses them: its words are the sample, and may
    be in both.

    Errors: :class:`StatisticError` with fewer than 6 rated items, a missing value, or more rated items than the list.

    >>> model = np.arange(20.0)
    >>> estimate = powered_mean([3.0, 8.0, 13.0, 18.0, 6.0, 11.0], [2, 7, 12, 17, 5, 10], model)  # always 1 too low
    >>> round(estimate.powered.value, 6), round(estimate.people.value, 3), round(estimate.tuning, 6)
    (10.5, 9.833, 1.0)
    """
    return powered_coefficients(
        rated, np.ones((len(np.asarray(rated)), 1)), predicted, np.ones((len(np.asarray(predicted_of_all)), 1)),
        predicted_of_all, ["mean"], drawn=drawn, tuning=tuning, groups=groups, groups_of_all=groups_of_all, level=level,
    )[0]  # fmt: skip


def powered_contrast(
    first: PoweredEstimate, second: PoweredEstimate, *, level: float = 0.95
) -> tuple[Contrast, Contrast]:
    """Return the difference of two means of different items, with the model and with people alone.

    Errors of the two are taken as independent: no item is in both. λ of both means is tuned.
    """

    def of(one_side: Estimate, other_side: Estimate, freedom: tuple[float, float], source: str) -> Contrast:
        parts = [
            ((side.interval.high - side.interval.low) / 2 / student_quantile(level, own)) ** 2
            for side, own in zip((one_side, other_side), freedom, strict=True)
        ]
        variance = sum(parts)
        # Welch & Satterthwaite: the side with few items has few degrees of freedom, however many the other has
        joint = variance**2 / sum(part**2 / own for part, own in zip(parts, freedom, strict=True)) if variance else 1.0
        reach = student_quantile(level, joint) * math.sqrt(variance)
        value = one_side.value - other_side.value
        name = statistic_name("mean_rating_difference", source=source)
        how = one_side.interval.method
        return Contrast(
            name, one_side, other_side, Interval(value - reach, value + reach, level, how), one_side.n + other_side.n
        )

    joint, alone = zip(first.freedom, second.freedom, strict=True)
    return (
        of(first.powered, second.powered, joint, "people_and_model"),
        of(first.people, second.people, alone, "people"),
    )


def powered_coefficients(
    rated: ArrayLike,
    X: ArrayLike,
    predicted: ArrayLike,
    X_of_all: ArrayLike,
    predicted_of_all: ArrayLike,
    names: Sequence[str],
    *,
    drawn: Drawn = "without_replacement",
    tuning: float | None = None,
    groups: ArrayLike | None = None,
    groups_of_all: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[PoweredEstimate, ...]:
    """Return the coefficients of the linear regression of people's norms on columns, each with its own λ.

    *Shape:* rated, predicted (rated items,); X (rated items, columns), with a column of ones for the intercept;
    predicted_of_all (items,); X_of_all (items, columns). *names* names the columns. Variances are robust to unequal
    spread (sandwich) and corrected for few rated items. *Source:* PPI++, §3 to §6, with one coefficient as the
    target of its tuning.

    Errors: as :func:`powered_mean`; :class:`StatisticError` for columns that depend on each other.

    >>> x = np.arange(30.0)
    >>> design, rows = np.column_stack([np.ones(30), x]), np.arange(0, 30, 2)
    >>> norm = 2 + 0.5 * x + np.tile([0.5, -0.5, 0.0], 10)
    >>> slope = powered_coefficients(norm[rows], design[rows], norm[rows], design, norm, ["one", "x"])[1]
    >>> round(slope.powered.value, 4), round(float(np.polyfit(x, norm, 1)[0]), 4)  # a model that is always right
    (0.4978, 0.4978)
    """
    y, f, f_all = (np.asarray(values, dtype=np.float64) for values in (rated, predicted, predicted_of_all))
    design, design_of_all = np.asarray(X, dtype=np.float64), np.asarray(X_of_all, dtype=np.float64)
    require_finite("a prediction-powered estimate", y, f, f_all, design, design_of_all)
    n, p, n_all = len(y), design.shape[1], len(f_all)
    if n < p + FEWEST:
        raise StatisticError(
            f"a prediction-powered estimate of {p} coefficients needs {p + FEWEST} rated items, not {n}"
        )
    if drawn == "without_replacement" and n > n_all:
        raise StatisticError(f"{n} items cannot be drawn without replacement from a list of {n_all}")
    gram, gram_of_all = design.T @ design / n, design_of_all.T @ design_of_all / n_all
    known = gram_of_all if drawn != "apart" else (n * gram + n_all * gram_of_all) / (n + n_all)
    if p > 1 and max(np.linalg.cond(gram), np.linalg.cond(known)) > 1e12:
        raise StatisticError("columns of the regression depend on each other", hint="drop one of them")
    plain = np.linalg.solve(gram, design.T @ y / n)
    # the finite population of a sample without replacement is used up as all items are rated
    left = 1 - n / n_all if drawn == "without_replacement" else 1.0
    words = _words(groups, n, groups_of_all, n_all) if drawn == "apart" else None
    of_rated = None if words is None else np.unique(words[:n], return_inverse=True)[1]
    units = n if of_rated is None else int(of_rated.max()) + 1
    leverage = np.einsum("ij,jk,ik->i", design, np.linalg.inv(gram), design) / n
    inverse, inverse_alone = np.linalg.inv(known), np.linalg.inv(gram)
    estimates = []
    for row, name in enumerate(names):
        z, z_alone = design @ inverse[:, row], design @ inverse_alone[:, row]
        z_of_all = design_of_all @ inverse[:, row]
        residual, of_model = z * (y - design @ plain), z * (f - design @ plain)
        weight = _tuned(residual, of_model, n, n_all, drawn) if tuning is None else tuning
        lhs = weight * gram_of_all + (1 - weight) * gram
        rhs = weight * design_of_all.T @ f_all / n_all + design.T @ (y - weight * f) / n
        solution = np.linalg.solve(lhs, rhs)
        errors = z * (y - design @ solution) - weight * z * (f - design @ solution)
        spent = p + (tuning is None)
        of_list = weight * z_of_all * (f_all - design_of_all @ solution)
        own = leverage + (_leverage(of_model) if tuning is None and weight else 0.0)
        errors = (errors - errors.mean()) / np.maximum(1 - own, 1 - _MOST_LEVERAGE)
        if words is not None:
            # what each word adds to the sum of two means: it may have items in both
            parts = [(part - part.mean()) / len(part) for part in (errors, of_list)]
            sums = group_sums(np.concatenate(parts), words, int(words.max()) + 1)
            variance, freedom = _variance_of_sums(sums, units, units - spent)
        else:
            of_people, freedom = _variance_of_sums(errors / n, n, n - spent)
            variance = left * of_people
            variance += _variance(of_list, None, p) if drawn == "apart" else 0.0
        alone = left * _variance(z_alone * (y - design @ plain), of_rated, p)
        how = statistic_name("prediction_powered", drawn=drawn, level=f"{level:g}")
        how_alone = statistic_name("t", drawn=drawn, level=f"{level:g}")
        values = (
            (float(solution[row]), variance, freedom, "people_and_model", how),
            (float(plain[row]), alone, float(max(units - p, 1)), "people", how_alone),
        )
        statistic = "mean_rating" if p == 1 and name == "mean" else "coefficient"
        made = [
            Estimate(
                statistic_name(statistic, source=source), value, _interval(value, own, df, level, method), n, units
            )
            for value, own, df, source, method in values
        ]
        condition = {} if p == 1 else {"condition": name}
        both = made[0].about(**condition), made[1].about(**condition)
        estimates.append(PoweredEstimate(*both, weight, (values[0][2], values[1][2])))
    return tuple(estimates)


def subsampled_means(
    rated: ArrayLike,
    predicted: ArrayLike,
    sizes: Sequence[int],
    *,
    drawn: Literal["with_replacement", "without_replacement"] = "with_replacement",
    draws: int = 500,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[Estimate, ...]:
    """Return what the model would have saved: n items are drawn from those with norms, and the truth is their mean.

    For each n: the share of draws whose interval holds the mean norm of all items, and the mean width of the interval,
    with the model and with people alone, and the ratio of the widths. *Shape:* rated, predicted (items,). Sizes that
    exceed the list (half of it, without replacement) are skipped.

    >>> rng = np.random.default_rng(1)
    >>> norm = rng.normal(size=200)
    >>> results = subsampled_means(norm, norm + rng.normal(size=200) / 2, [50], draws=200)
    >>> by_name = {result.name: result.value for result in results}
    >>> by_name["coverage_of_interval(source=people_and_model,n=50,drawn=with_replacement)"] > 0.9
    True
    """
    y, f = np.asarray(rated, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    truth, n_all = float(y.mean()), len(y)
    results = []
    for n in sizes:
        if n > (n_all if drawn == "with_replacement" else n_all // 2):
            continue
        rng = np.random.default_rng([seed, n])
        held: dict[str, list[bool]] = {"people_and_model": [], "people": []}
        widths: dict[str, list[float]] = {"people_and_model": [], "people": []}
        for _ in range(draws):
            rows = rng.integers(0, n_all, n) if drawn == "with_replacement" else rng.choice(n_all, n, replace=False)
            estimate = powered_mean(y[rows], f[rows], f, drawn=drawn, level=level)
            for source, own in (("people_and_model", estimate.powered), ("people", estimate.people)):
                held[source].append(own.interval.low <= truth <= own.interval.high)
                widths[source].append(own.interval.high - own.interval.low)
        for source, hits in held.items():
            options = {"source": source, "n": n, "drawn": drawn}
            results.append(
                Estimate(statistic_name("coverage_of_interval", **options), float(np.mean(hits)), n=draws, unit="share")
            )
            results.append(
                Estimate(
                    statistic_name("mean_width", **options), float(np.mean(widths[source])), n=draws, unit="points"
                )
            )
        ratio = np.array(widths["people_and_model"]) / np.array(widths["people"])
        ends = np.quantile(ratio, [(1 - level) / 2, (1 + level) / 2])
        spread = Interval(
            float(ends[0]), float(ends[1]), level, statistic_name("quantiles", over="draws", level=f"{level:g}")
        )
        name = statistic_name("width_ratio", of="mean_rating", n=n, drawn=drawn)
        value = float(np.mean(widths["people_and_model"]) / np.mean(widths["people"]))
        results.append(Estimate(name, value, spread, draws, note="interval: the middle 95 % of the draws"))
    return tuple(results)


def means_by_condition(
    norm: ArrayLike,
    predicted: ArrayLike,
    conditions: Sequence[object],
    *,
    drawn: Drawn = "without_replacement",
    groups: Sequence[str] | None = None,
) -> Mapping[str, PoweredEstimate]:
    """Return the prediction-powered mean of each value of a condition. *Shape of each:* (items,); NaN is unrated.

    *groups* are the words, used by ``apart``. Errors: as :func:`powered_mean`.
    """
    y, f = np.asarray(norm, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    labels = np.array([str(value) for value in conditions], dtype=object)
    means = {}
    for label in sorted(set(labels.tolist())):
        own = labels == label
        rated = own & ~np.isnan(y)
        listed = own & np.isnan(y) if drawn == "apart" else own
        words: list[ArrayLike | None] = [None, None]
        if groups is not None:
            words = [np.asarray(groups, dtype=object)[rows] for rows in (rated, listed)]
        mean = powered_mean(y[rated], f[rated], f[listed], drawn=drawn, groups=words[0], groups_of_all=words[1])
        powered, people = (own.about(condition=label) for own in (mean.powered, mean.people))
        means[label] = replace(mean, powered=powered, people=people)
    return means


def _tuned(residual: FloatArray, of_model: FloatArray, n: int, n_all: int, drawn: Drawn) -> float:
    """λ: the slope of people's contributions on the model's, less where the model's mean of all items is a sample."""
    spread = float(of_model.var(ddof=1))
    # an item that alone decides λ has no error that could be seen: such a model is not used
    if spread <= 1e-12 * (1 + float(residual.var())) or float(_leverage(of_model).max()) + 1 / n > _MOST_LEVERAGE:
        return 0.0
    slope = float(np.cov(residual, of_model)[0, 1]) / spread
    return slope / (1 + n / n_all) if drawn == "apart" else slope


_MOST_LEVERAGE = 0.99


def _leverage(of_model: FloatArray) -> FloatArray:
    """How much each item weighs in λ: its share of the squares. *Shape:* (items,)."""
    apart = (of_model - of_model.mean()) ** 2
    return np.asarray(apart / apart.sum())


def _words(groups: ArrayLike | None, n: int, groups_of_all: ArrayLike | None, n_all: int) -> IntArray | None:
    """The words of the rated and of the other items as one column of numbers. *Shape:* (rated + others,)."""
    if groups is None or groups_of_all is None:
        return None
    labels = [str(label) for part in (groups, groups_of_all) for label in np.asarray(part).tolist()]
    return group_codes(labels, n + n_all)[0]


def _variance_of_sums(sums: FloatArray, n: int, freedom: int) -> tuple[float, float]:
    """The variance of an estimate from what its *n* units add to it, and its degrees of freedom.

    Long tails make the variance itself uncertain: its degrees of freedom are 2 n / (kurtosis − 1) if that is less.
    """
    squares = sums**2
    total = float(squares.sum())
    if total <= 0:
        return 0.0, float(max(freedom, 1))
    excess = len(sums) * float(squares @ squares) / total**2 - 1
    known = 2 * len(sums) / excess if excess > 0 else freedom
    return total * n / (n - 1), float(max(min(freedom, known), 2))


def _variance(contributions: FloatArray, clusters: ArrayLike | None, spent: int) -> float:
    """The variance of a mean of contributions, of which *spent* numbers were estimated from the same rows."""
    n = len(contributions)
    centred = contributions - contributions.mean()
    if clusters is None:
        return float(centred @ centred) / n / max(n - spent, 1)
    codes = np.asarray(clusters)
    n_groups = int(codes.max()) + 1
    sums = group_sums(centred, codes, n_groups)
    return float(sums @ sums) / n**2 * n_groups / max(n_groups - spent, 1)


def _interval(value: float, variance: float, freedom: float, level: float, method: str) -> Interval:
    reach = student_quantile(level, freedom) * math.sqrt(max(variance, 0.0))
    return Interval(value - reach, value + reach, level, method)
