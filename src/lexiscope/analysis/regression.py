"""Ordinary least squares, unpenalised logistic regression, and the effect of model size on fit.

Both solve by a QR decomposition of the column-scaled design, so that a predictor of size 1e-16 (the noise of a
distance at layer 0) is treated like any other, and both refuse designs whose coefficients are not identified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, IntArray, group_sums
from lexiscope.analysis.correlation import correlation_value, is_constant, safe_unit
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

INTERCEPT = "(Intercept)"

# A column whose part outside the span of the columns before it is this small (relative to its length) is
# collinear with them. R's glm uses the same limit.
_COLLINEAR = 1e-11
_MAX_ITERATIONS = 60
# A step that has not died out after so many iterations is tested for being a direction of separation.
_SUSPICIOUS = 12
_EXACT = "the fit is exact: standard errors and AIC carry no information"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One row of a regression table.

    *Unit:* of the outcome (OLS) or log odds (logistic) per unit of the predictor. ``statistic`` is Student's t
    (OLS) or Wald's z (logistic), ``p`` two-sided.
    """

    name: str
    estimate: float
    standard_error: float
    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class OlsFit:
    """An ordinary least-squares fit.

    ``r_squared`` is unadjusted, ``adjusted_r_squared`` is not. ``aic`` is Akaike's criterion as R's ``AIC(lm)``
    prints it: the residual variance counts as a parameter.

    *Shape:* ``residuals`` and ``fitted`` (items,). *Unit:* of the outcome.
    """

    coefficients: tuple[Coefficient, ...]
    residual_df: int
    residual_sd: float
    r_squared: float
    adjusted_r_squared: float
    log_likelihood: float
    aic: float
    n: int
    residuals: FloatArray
    fitted: FloatArray
    remarks: tuple[str, ...] = ()

    def coefficient(self, name: str) -> Coefficient:
        """Return the row of one predictor. Errors: :class:`StatisticError` where there is no such predictor."""
        return _row(self.coefficients, name)

    def results(self, model: str) -> tuple[Estimate, ...]:
        """Return each coefficient but the intercept, with its interval and p, and its standard error.

        *model* names the regression: ``norm~rating+same_sense``.

        >>> ols([0, 2, 3], [0, 1, 2], ["x"]).results("y~x")[0].name
        'coefficient(term=x,model=y~x)'
        """
        estimates: list[Estimate] = []
        for row in self.coefficients:
            if row.name != INTERCEPT:
                name, error = (
                    statistic_name(kind, term=row.name, model=model) for kind in ("coefficient", "standard_error")
                )
                interval, note = coefficient_interval(self, row.name), "ordinary least squares"
                estimates.append(Estimate(name, row.estimate, interval, self.n, p=row.p, note=note))
                estimates.append(Estimate(error, row.standard_error, n=self.n))
        return tuple(estimates)


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """A logistic regression by maximum likelihood, without any penalty.

    ``aic`` = deviance + 2 k, where k counts the intercept.

    *Shape:* ``fitted`` (items,), probabilities of outcome 1. *Unit:* log odds.
    """

    coefficients: tuple[Coefficient, ...]
    deviance: float
    null_deviance: float
    log_likelihood: float
    aic: float
    n: int
    iterations: int
    fitted: FloatArray
    remarks: tuple[str, ...] = ()

    def coefficient(self, name: str) -> Coefficient:
        """Return the row of one predictor. Errors: :class:`StatisticError` where there is no such predictor."""
        return _row(self.coefficients, name)

    def results(self, model: str, *, note: str = "") -> tuple[Estimate, ...]:
        """Return the AIC, then each coefficient with its p and *note*, and its standard error; the intercept too.

        *model* names the regression: ``same_sense~norm``.

        >>> [result.name for result in logistic([1, 0, 0, 1, 1], [2, 1, 3, 4, 5], ["x"]).results("y~x")][:2]
        ['aic(model=y~x)', 'coefficient(term=Intercept,model=y~x)']
        """
        estimates = [Estimate(statistic_name("aic", model=model), self.aic, n=self.n)]
        for row in self.coefficients:
            name, error = (
                statistic_name(kind, term=row.name.strip("()") if row.name == INTERCEPT else row.name, model=model)
                for kind in ("coefficient", "standard_error")
            )
            estimates.append(Estimate(name, row.estimate, n=self.n, p=row.p, note=note))
            estimates.append(Estimate(error, row.standard_error))
        return tuple(estimates)


def ols(y: ArrayLike, X: ArrayLike, names: Sequence[str], *, intercept: bool = True) -> OlsFit:
    """Fit ``y ~ X`` by ordinary least squares.

    *Shape:* y (items,), X (items, predictors) without a column of ones; *names* one per predictor.
    *Source:* SAW-C §4.3, §4.5, §5.2.
    Errors: :class:`StatisticError` where y is constant, a predictor is collinear, a value is missing, or the
    number of items does not exceed the number of coefficients.

    Three points, slope (0·0 + 1·2 + 2·3 − 3·1·5/3) / (0 + 1 + 4 − 3·1²) = 3/2; residuals −1/6, 1/3, −1/6, so
    R² = 1 − (1/6) / (14/3) = 27/28:

    >>> fit = ols([0, 2, 3], [0, 1, 2], ["x"])
    >>> round(fit.coefficient("x").estimate, 12), round(fit.r_squared, 12) == round(27 / 28, 12)
    (1.5, True)
    """
    outcome, design, labels = _check_design(y, X, names, intercept)
    if is_constant(outcome):
        raise StatisticError("the outcome is constant: a regression on it is undefined")
    if len(outcome) <= design.shape[1]:
        raise StatisticError(f"{len(outcome)} items cannot determine {design.shape[1]} coefficients and a variance")
    unit, units = float(safe_unit(outcome)), safe_unit(design)
    fit = _ols_fit(outcome / unit, design / units, labels, intercept)
    if unit == 1.0 and (units == 1.0).all():
        return fit
    moved = len(outcome) * float(np.log(unit))
    return replace(
        fit,
        coefficients=_in_units(fit.coefficients, unit, units),
        residual_sd=fit.residual_sd * unit,
        log_likelihood=fit.log_likelihood - moved,
        aic=fit.aic + 2 * moved,
        residuals=fit.residuals * unit,
        fitted=fit.fitted * unit,
    )


def logistic(y: ArrayLike, X: ArrayLike, names: Sequence[str], *, intercept: bool = True) -> LogisticFit:
    """Fit ``logit P(y = 1) ~ X`` by maximum likelihood (Newton's method), without any penalty.

    *Shape:* y (items,) of 0 and 1 or booleans; X (items, predictors), possibly with no column. *Unit:* log odds.
    *Higher means:* a higher ``aic`` is a worse model. *Source:* SAW-C §4.2.
    Errors: :class:`StatisticError` where all outcomes are equal, a predictor is collinear, the predictors
    separate the outcomes (no finite estimate exists), or the iterations do not converge.

    With no predictor the estimate is the log odds: 3 of 4 give log(3/1), deviance −2 (3 log ¾ + log ¼):

    >>> fit = logistic([1, 1, 1, 0], np.empty((4, 0)), [])
    >>> round(fit.coefficients[0].estimate, 9) == round(float(np.log(3)), 9)
    True
    >>> round(fit.aic, 9) == round(float(-2 * (3 * np.log(0.75) + np.log(0.25)) + 2 * 1), 9)
    True
    """
    outcome, design, labels = _check_design(y, X, names, intercept)
    if not np.isin(outcome, (0.0, 1.0)).all():
        raise StatisticError("the outcome of a logistic regression must be 0 or 1")
    if np.ptp(outcome) == 0:
        raise StatisticError("all outcomes are equal: a logistic regression on them is undefined")
    units = safe_unit(design)
    fit = _logistic_fit(outcome, design / units, labels, intercept)
    return fit if (units == 1.0).all() else replace(fit, coefficients=_in_units(fit.coefficients, 1.0, units))


def logistic_predictors(y: ArrayLike, x: ArrayLike, learnt: ArrayLike) -> FloatArray:
    """Return the log odds of every item under logistic regressions on one predictor, each learnt from some items.

    They are fitted side by side by Newton's method; one that does not converge at once is fitted by :func:`logistic`.
    *Shape:* y (items,) of 0 and 1, x (items,), learnt (fits, items) of booleans → (fits, items), NaN in the row of a
    regression that is not identified (a constant predictor, one outcome). *Unit:* log odds.
    Errors: :class:`StatisticError` where a predictor separates the outcomes: no finite estimate exists.

    >>> learnt = [[True] * 6 + [False]]  # one of three at 1, two of three at 2: log 1/2, log 2
    >>> (np.exp(logistic_predictors([1, 0, 0, 1, 1, 0, 1], [1, 1, 1, 2, 2, 2, 3], learnt)).round(6) + 0).tolist()
    [[0.5, 0.5, 0.5, 2.0, 2.0, 2.0, 8.0]]
    """
    outcome, values = np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64)
    rows = np.asarray(learnt, dtype=bool)
    weight, scale = rows.astype(np.float64), float(values.std())
    z = (values - values.mean()) / (scale or 1.0)
    design = np.stack([np.ones(len(z)), z])
    beta, step = np.zeros((len(rows), 2)), np.full((len(rows), 2), np.inf)
    with np.errstate(all="ignore"):
        for _ in range(_SUSPICIOUS):
            probability = _probability(beta @ design)
            gradient = (weight * (outcome - probability)) @ design.T
            a, b, c = (weight * probability * (1 - probability) @ np.stack([*design, z * z]).T).T
            step = np.stack([c * gradient[:, 0] - b * gradient[:, 1], a * gradient[:, 1] - b * gradient[:, 0]], axis=1)
            step /= (a * c - b * b)[:, None]
            beta = beta + step
            if (np.abs(step) <= 1e-10 * (1 + np.abs(beta))).all():
                break
    predictors = beta @ design
    for fit in np.flatnonzero(~(np.abs(step) <= 1e-10 * (1 + np.abs(beta))).all(axis=1)):
        kept = rows[fit]
        predictors[fit] = np.nan
        if np.ptp(outcome[kept]) and not is_constant(z[kept]):
            predictors[fit] = [row.estimate for row in logistic(outcome[kept], z[kept], ["x"]).coefficients] @ design
    return np.asarray(predictors, dtype=np.float64)


def log_score(y: ArrayLike, log_odds: ArrayLike) -> FloatArray:
    """Return the deviance of each outcome, −2 log probability, under its predicted log odds.

    *Shape:* y (items,) of 0 and 1, log_odds (…, items), kept. *Higher means:* a worse prediction.

    >>> log_score([1, 0], [0.0, 0.0]).round(4).tolist()  # 2 log 2
    [1.3863, 1.3863]
    """
    ones, eta = np.asarray(y) == 1, np.asarray(log_odds, dtype=np.float64)
    # log(1 + exp ·) written so that it neither overflows nor cancels
    return np.asarray(2 * np.logaddexp(0.0, np.where(ones, -eta, eta)))


def group_products(X: FloatArray, y: FloatArray, codes: IntArray, n_groups: int) -> FloatArray:
    """Return the sums of products of (1, X, y) within each group of rows. *Shape:* (groups, k, k).

    One matrix per group: a resample of groups is then a weighted sum of matrices (:func:`weighted_sums`) instead of a
    new pass over the rows.
    """
    design = np.column_stack([np.ones(len(X)), X, y])
    return group_sums(design[:, :, None] * design[:, None, :], codes, n_groups)


def weighted_sums(counts: IntArray, sums: FloatArray) -> FloatArray:
    """Return the sums of each resample, from how often each group was drawn. *Shape:* (draws, k, k)."""
    flat = counts.astype(np.float64) @ sums.reshape(len(sums), -1)
    return np.asarray(flat.reshape(len(counts), *sums.shape[1:]))


def coefficient_interval(fit: OlsFit, name: str, *, level: float = 0.95) -> Interval:
    """Return the interval of a coefficient: estimate ± t · standard error.

    *Unit:* of the outcome per unit of the predictor.
    Errors: :class:`StatisticError` where there is no such predictor or the level is not between 0 and 1.

    With one degree of freedom t(.975) = tan(.475 π) = 12.7062; the slope is 1.5 ± 12.7062 · √(1/12):

    >>> interval = coefficient_interval(ols([0, 2, 3], [0, 1, 2], ["x"]), "x")
    >>> round(interval.high - 1.5, 4) == round(12.7062 * (1 / 12) ** 0.5, 4)
    True
    """
    from scipy import special

    if not 0 < level < 1:
        raise StatisticError(f"a confidence level is between 0 and 1, not {level}")
    row = fit.coefficient(name)
    margin = float(special.stdtrit(fit.residual_df, (1 + level) / 2)) * row.standard_error
    method = statistic_name("student_t", df=fit.residual_df, level=f"{level:g}")
    return Interval(row.estimate - margin, row.estimate + margin, level, method)


def _in_units(rows: tuple[Coefficient, ...], unit: float, units: FloatArray) -> tuple[Coefficient, ...]:
    """Rows of a fit to an outcome and columns that were divided by their units, in the units of the data."""
    rows_in_units = []
    with np.errstate(over="ignore"):
        factors = unit / units
    for row, factor in zip(rows, factors.tolist(), strict=True):
        estimate, error = row.estimate * factor, row.standard_error * factor
        if not (np.isfinite([estimate, error]).all() and (estimate or not row.estimate)):
            raise StatisticError(
                f"the coefficient of {row.name!r} is too large or too small for a number of this computer",
                hint="give the outcome or the predictor in another unit",
            )
        rows_in_units.append(replace(row, estimate=estimate, standard_error=error))
    return tuple(rows_in_units)


def _row(rows: tuple[Coefficient, ...], name: str) -> Coefficient:
    for row in rows:
        if row.name == name:
            return row
    raise StatisticError(f"no coefficient is called {name!r}", hint=f"one of {', '.join(row.name for row in rows)}")


def _check_design(
    y: ArrayLike, X: ArrayLike, names: Sequence[str], intercept: bool
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    outcome = np.asarray(y, dtype=np.float64)
    predictors = np.asarray(X, dtype=np.float64)
    predictors = predictors[:, None] if predictors.ndim == 1 else predictors
    if outcome.ndim != 1 or predictors.ndim != 2 or len(outcome) != len(predictors):
        raise StatisticError(f"outcome {outcome.shape} and predictors {predictors.shape} do not belong together")
    if len(names) != predictors.shape[1]:
        raise StatisticError(f"{predictors.shape[1]} predictors but {len(names)} names")
    if not (np.isfinite(outcome).all() and np.isfinite(predictors).all()):
        raise StatisticError("a value is missing or infinite", hint="leave the incomplete items out, and count them")
    if not intercept:
        return outcome, predictors, tuple(names)
    return outcome, np.column_stack([np.ones(len(outcome)), predictors]), (INTERCEPT, *names)


def _ols_fit(outcome: FloatArray, design: FloatArray, labels: tuple[str, ...], intercept: bool) -> OlsFit:
    n, k = design.shape
    orthogonal, triangle, scale = _factor(design, labels)
    # one step of refinement on the residuals
    beta = np.linalg.solve(triangle, orthogonal.T @ outcome) / scale
    rest = np.asarray(outcome - np.asarray(design, np.longdouble) @ beta, dtype=np.float64)
    beta = np.asarray(beta + np.linalg.solve(triangle, orthogonal.T @ rest) / scale, dtype=np.float64)
    fitted = design @ beta
    residuals = outcome - fitted
    rss = float(residuals @ residuals)
    total = float(np.sum((outcome - outcome.mean() if intercept else outcome) ** 2))
    variance = rss / (n - k)
    log_likelihood = np.inf if rss == 0 else -n / 2 * (np.log(2 * np.pi * rss / n) + 1)
    r_squared = 1 - rss / total
    return OlsFit(
        coefficients=_table(labels, beta, np.sqrt(variance * _inverse_diagonal(triangle)) / scale, residual_df=n - k),
        residual_df=n - k,
        residual_sd=float(np.sqrt(variance)),
        r_squared=r_squared,
        adjusted_r_squared=1 - (1 - r_squared) * (n - int(intercept)) / (n - k),
        log_likelihood=float(log_likelihood),
        aic=float(-2 * log_likelihood + 2 * (k + 1)),
        n=n,
        residuals=residuals,
        fitted=fitted,
        remarks=(_EXACT,) if rss <= 1e-24 * total else (),
    )


def _logistic_fit(outcome: FloatArray, design: FloatArray, labels: tuple[str, ...], intercept: bool) -> LogisticFit:
    # steps along orthogonal columns: a time stamp of 1e9 ± 1 is the intercept but for its last digits
    orthogonal, change, scale = _factor(design, labels)
    eta, along, iterations = _newton(outcome, orthogonal)
    beta = np.linalg.solve(change, along)
    probability = _probability(eta)
    spread = np.sqrt(probability * (1 - probability))
    triangle = np.linalg.qr(spread[:, None] * orthogonal, mode="r") @ change
    deviance = _deviance(outcome, eta)
    share = outcome.mean() if intercept else 0.5
    extreme = int(np.sum(spread**2 < 10 * np.finfo(float).eps))
    return LogisticFit(
        coefficients=_table(labels, beta / scale, np.sqrt(_inverse_diagonal(triangle)) / scale, residual_df=None),
        deviance=deviance,
        null_deviance=_deviance(outcome, np.full(len(outcome), np.log(share / (1 - share)))),
        log_likelihood=-deviance / 2,
        aic=deviance + 2 * design.shape[1],
        n=len(outcome),
        iterations=iterations,
        fitted=probability,
        remarks=(f"{extreme} fitted probabilities are numerically 0 or 1",) if extreme else (),
    )


def _factor(design: FloatArray, labels: tuple[str, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """QR of the design with columns of length 1; the lengths come along."""
    scale = np.abs(design).max(axis=0, initial=0.0)
    if not scale.all():
        raise StatisticError(f"predictor {labels[int(np.argmin(scale))]!r} is zero everywhere")
    # dividing by the largest entry first keeps the squares of tiny entries from underflowing
    scale = scale * np.sqrt(((design / scale) ** 2).sum(axis=0))
    orthogonal, triangle = np.linalg.qr(design / scale)
    rest = np.abs(np.diag(triangle))
    if len(rest) < design.shape[1] or rest.min(initial=1.0) < _COLLINEAR:
        worst = labels[int(np.argmin(rest))] if len(rest) == design.shape[1] else labels[-1]
        raise StatisticError(
            f"predictor {worst!r} is a linear combination of the ones before it",
            why="its coefficient is not identified: a constant or repeated predictor, or too few items",
            hint="leave it out",
        )
    return orthogonal, triangle, scale


def _inverse_diagonal(triangle: FloatArray) -> FloatArray:
    """Diagonal of (RᵀR)⁻¹."""
    inverse = np.linalg.solve(triangle, np.eye(len(triangle)))
    return np.asarray((inverse**2).sum(axis=1), dtype=np.float64)


def _table(
    labels: tuple[str, ...], estimates: FloatArray, errors: FloatArray, *, residual_df: int | None
) -> tuple[Coefficient, ...]:
    """Rows with two-sided p: Student's t where *residual_df* is given, otherwise the normal distribution."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = estimates / errors
    tail = -np.abs(ratio)
    p = 2 * (special.ndtr(tail) if residual_df is None else special.stdtr(residual_df, tail))
    columns = (column.tolist() for column in (estimates, errors, ratio, p))
    return tuple(Coefficient(*row) for row in zip(labels, *columns, strict=True))


def _probability(eta: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1 + np.tanh(eta / 2)), dtype=np.float64)


def _deviance(outcome: FloatArray, eta: FloatArray) -> float:
    """−2 log likelihood."""
    return float(log_score(outcome, eta).sum())


def _newton(outcome: FloatArray, design: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Iterate to the maximum of the likelihood: linear predictor, coefficients, number of iterations."""
    beta = np.zeros(design.shape[1])
    eta = np.zeros(len(outcome))
    deviance = _deviance(outcome, eta)
    for iteration in range(1, _MAX_ITERATIONS + 1):
        step = _newton_step(outcome, design, eta)
        change = design @ step
        if iteration >= _SUSPICIOUS and _separates(outcome, change):
            raise StatisticError(
                "the predictors separate the two outcomes: no finite estimate exists",
                why="a combination of predictors separates all ones from all zeros",
                hint="fewer predictors, or more items",
            )
        share, best = 1.0, deviance * (1 + 1e-14)
        while (there := _deviance(outcome, eta + share * change)) > best and share > 1e-6:
            share /= 2
        beta, eta, deviance = beta + share * step, eta + share * change, there
        if np.abs(change).max() <= 1e-9 * (1 + np.abs(eta).max()):
            return eta, beta, iteration
    raise StatisticError(f"the logistic regression did not converge in {_MAX_ITERATIONS} iterations")


def _newton_step(outcome: FloatArray, design: FloatArray, eta: FloatArray) -> FloatArray:
    """Solve (XᵀWX) step = Xᵀ(y − p) by a QR decomposition of √W X."""
    probability = _probability(eta)
    # the floor keeps a saturated item from making the weighted design singular by underflow
    root = np.sqrt(np.maximum(probability * (1 - probability), 1e-20))
    orthogonal, triangle = np.linalg.qr(root[:, None] * design)
    return np.asarray(np.linalg.solve(triangle, orthogonal.T @ ((outcome - probability) / root)), dtype=np.float64)


def _separates(outcome: FloatArray, change: FloatArray) -> bool:
    """Whether moving along *change* raises the likelihood of some items and lowers that of none."""
    towards = np.where(outcome == 1, change, -change)
    largest = float(np.abs(change).max())
    return largest > 1e-3 and float(towards.min()) >= -1e-6 * largest


# -- do larger subjects fit people better: R² against the logarithm of the number of parameters ---------------------


LOG_PARAMETERS = "log10_parameters"
MULTILINGUAL = "multilingual"


def scaling(
    best_r_squared: ArrayLike,
    parameters: ArrayLike,
    multilingual: ArrayLike | None = None,
    *,
    outcome: str = "max_r_squared",
    level: float = 0.95,
) -> tuple[OlsFit, tuple[Estimate, ...]]:
    """Regress the best R² of each subject on log10 of its parameters and on whether it is multilingual.

    Returned are the fit and its numbers: the slope, which is the gain in R² per tenfold number of parameters, with its
    standard error and p; the term of multilingual subjects; the R² of the regression; and Pearson's r with the log of
    the parameters, without the multilingual term. *outcome* is what the names call that R². Interval and p rest on
    Student's t and treat subjects as independent, which models of one family are not.

    *Shape:* all (subjects,); *multilingual* of 0/1 or booleans, excluded where all subjects are alike.
    *Higher means:* (slope) larger subjects fit better. *Source:* SAW-C §5.2, Figure 6, A.3.1.
    Errors: :class:`StatisticError` with fewer than 4 subjects, equal sizes, a parameter count that is not positive,
    or a *multilingual* flag that is the same for all.

    R² of .1, .2, .3, .4 at 1e6 … 1e9 parameters gain exactly .1 per order of magnitude:

    >>> _, (slope, *_) = scaling([0.1, 0.2, 0.3, 0.4], [1e6, 1e7, 1e8, 1e9])
    >>> round(slope.value, 9)
    0.1
    """
    best, size = np.asarray(best_r_squared, dtype=np.float64), np.asarray(parameters, dtype=np.float64)
    if best.ndim != 1 or len(best) < 4:
        raise StatisticError(f"a scaling regression needs at least 4 subjects, not {best.size}")
    if size.shape != best.shape or not (size > 0).all():
        raise StatisticError("each subject needs a positive number of parameters")
    logs = np.log10(size)
    columns, names = [logs], [LOG_PARAMETERS]
    if multilingual is not None:
        flag = np.asarray(multilingual, dtype=np.float64)
        # a column that never changes would be reported as collinear with the intercept: say it in the user's words
        if flag.shape == best.shape and np.ptp(flag) == 0:
            raise StatisticError("all subjects have the same multilingual flag", hint="leave the flag out")
        columns, names = [logs, flag], [LOG_PARAMETERS, MULTILINGUAL]
    fit = ols(best, np.column_stack(columns), names)
    row = fit.coefficient(LOG_PARAMETERS)
    n, of = len(best), LOG_PARAMETERS
    note, interval = "R² per tenfold number of parameters", coefficient_interval(fit, of, level=level)
    flags = [term for term in fit.coefficients if term.name == MULTILINGUAL]
    r = correlation_value(logs, best, kind="pearson")
    return fit, (
        Estimate(statistic_name("slope", of=of, outcome=outcome), row.estimate, interval, n, p=row.p, note=note),
        Estimate(statistic_name("standard_error", of=of), row.standard_error),
        Estimate(statistic_name("p", of=of), row.p),
        *(Estimate(statistic_name("slope", of=term.name, outcome=outcome), term.estimate, p=term.p) for term in flags),
        Estimate(statistic_name("r_squared", of="scaling"), fit.r_squared, n=n),
        Estimate(statistic_name("pearson", of=of, **{"with": outcome}), r, n=n),
    )
