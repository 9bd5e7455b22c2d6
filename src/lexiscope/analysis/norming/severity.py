"""How severely a model rates compared with raters: the crossed ordinal model of raters and items, and a model in it.

People's ratings are ordered categories: a rating is at most j with probability F(threshold j − item + severity), F
being the logistic distribution. Severities of raters and effects of items are normal and crossed
(:mod:`lexiscope.analysis.mixed.ordinal`). The model is fitted to people alone, so that no model moves their scale. A
model's severity is the one that makes its ratings most probable on that scale, over what people's ratings leave open
about each item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray, IntArray
from lexiscope.analysis.mixed.ordinal import OrdinalFit, OrdinalTerm, fit_ordinal
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name

SEVERITY = statistic_name("rater_severity", link="logit")
_FEWEST_RATERS = 3
_NODES = 31  # of the integral over an item's effect: more change no severity in its sixth digit
_FARTHEST = 30.0  # a severity beyond this is that of ratings at one end of the scale alone
_STEP = 1e-3  # of the second difference of the log-likelihood. Unit: logistic units


def severities(
    ratings: Ratings, models: Mapping[str, tuple[Sequence[str], FloatArray]]
) -> tuple[Estimate | Undefined, ...]:
    """Return people's ordinal scale, the spread of raters and items on it, and how severe each model is.

    *models* are the ids of the rated items and the ratings of each model, a rating each; items without ratings of
    people do not count. First come the log-likelihood, the thresholds with Wald's intervals and the SDs of raters and
    of items; then, by model, its severity with an interval, and the share of raters that are less severe. The interval
    is Wald's, with the error of the raters' mean severity; distances of thresholds and SDs are taken as known.
    The share compares with these raters, not with the mean one: its ends are those without that error.

    *Unit:* standard logistic units; 0 is the mean rater. *Higher means:* lower ratings of the same items.
    *Source:* thresholds and SDs are those of ``clmm(rating ~ 1 + (1 | rater) + (1 | item))`` in the R package ordinal.

    Errors: :class:`StatisticError` with fewer than 3 raters, more than 20 points, and where the fit does not converge.
    """
    if ratings.n_raters < _FEWEST_RATERS:
        raise StatisticError(f"severity needs {_FEWEST_RATERS} raters, not {ratings.n_raters}")
    rows = {
        "rating": ratings.value.tolist(),
        "rater": [ratings.rater_ids[rater] for rater in ratings.rater.tolist()],
        "item": [ratings.item_ids[item] for item in ratings.item.tolist()],
    }
    fit = fit_ordinal("rating ~ 1 + (1 | rater) + (1 | item)", rows, starts=2)
    if not fit.modes:
        raise StatisticError(f"the ordinal model of raters and items did not converge: {'; '.join(fit.remarks)}")
    results: list[Estimate | Undefined] = [
        result for result in fit.results(of="raters") if result.name.startswith(("log_likelihood", "threshold"))
    ]
    for group, n in fit.levels:
        name = statistic_name("latent_sd", of=f"{group}s", link="logit")
        results.append(Estimate(name, fit.component(group, "(Intercept)").sd, n=n, unit="logistic units"))
    by_rater = np.bincount(ratings.rater)
    # as many equally busy raters as the raters are worth
    n_equal = by_rater.sum() ** 2 / (by_rater**2).sum()
    mean_rater = fit.component("rater", "(Intercept)").sd / float(np.sqrt(n_equal))
    for model, (item_ids, values) in models.items():
        results += [result.about(subject=model) for result in _severity_of(fit, item_ids, values, mean_rater)]
    return tuple(results)


def _severity_of(
    fit: OrdinalFit, item_ids: Sequence[str], values: FloatArray, mean_rater: float
) -> tuple[Estimate | Undefined, ...]:
    """The severity of one model on people's scale, and the share of raters below it.

    *mean_rater* is the standard error of the mean rater's severity.
    """
    items = fit.modes["item"]
    row_of = {level: row for row, level in enumerate(items.levels)}
    known = [number for number, item in enumerate(item_ids) if item in row_of]
    given = np.asarray(values, dtype=np.float64)[known]
    share = statistic_name("less_severe_raters", link="logit")
    foreign = sorted(set(given.tolist()) - set(fit.categories))
    if foreign or not known:
        reason = f"it gave {foreign[0]:g}, which no person gave" if foreign else "it rated no item that people rated"
        return Undefined(SEVERITY, reason), Undefined(share, reason)
    rows = np.array([row_of[item_ids[number]] for number in known], dtype=np.int64)
    category = np.searchsorted(fit.categories, given)

    def log_likelihood(severity: float) -> float:
        return _log_likelihood(severity, fit, rows, category)

    from scipy.optimize import minimize_scalar

    optimum = minimize_scalar(
        lambda severity: -log_likelihood(severity), bounds=(-_FARTHEST, _FARTHEST), method="bounded",
        options={"xatol": 1e-7},
    )  # fmt: skip
    value = float(optimum.x)
    curvature = (log_likelihood(value + _STEP) - 2 * log_likelihood(value) + log_likelihood(value - _STEP)) / _STEP**2
    if abs(value) > _FARTHEST - 1 or not curvature < 0:
        reason = "all of its ratings are at one end of the scale"
        return Undefined(SEVERITY, reason, len(known)), Undefined(share, reason, len(known))
    own = float(1 / np.sqrt(-curvature))
    interval = OrdinalTerm("model", value, float(np.hypot(own, mean_rater))).interval()
    among = OrdinalTerm("model", value, own).interval()
    raters = np.array([severity for _, severity, _ in fit.modes["rater"].severity()])
    # a rater with the same severity is half below: a model at the mean of equal raters is in the middle
    below, low, high = (
        float(np.mean(raters < end) + np.mean(raters == end) / 2) for end in (value, among.low, among.high)
    )
    ends = Interval(low, high, interval.level, statistic_name("of_severity", level=f"{interval.level:g}"))
    return (
        Estimate(SEVERITY, value, interval, len(known), higher="rates the same items lower", unit="logistic units"),
        Estimate(share, below, ends, len(raters), unit="share"),
    )


def _log_likelihood(severity: float, fit: OrdinalFit, rows: IntArray, category: IntArray) -> float:
    """The log-probability of a model's ratings: the effect of each item is integrated out of all of its ratings."""
    from scipy.special import expit, logsumexp

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    modes = fit.modes["item"]
    effects = modes.values[:, 0, None] + np.sqrt(modes.covariances[:, 0, 0])[:, None] * nodes
    edges = np.array([-np.inf, *(threshold.estimate for threshold in fit.thresholds), np.inf])
    at = effects[rows] - severity
    shares = expit(edges[category + 1][:, None] - at) - expit(edges[category][:, None] - at)
    by_item = np.zeros_like(effects)
    np.add.at(by_item, rows, np.log(np.maximum(shares, np.finfo(np.float64).tiny)))
    return float(logsumexp(by_item, axis=1, b=weights / weights.sum()).sum())
