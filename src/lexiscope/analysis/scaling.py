"""Do larger subjects fit people better: R² against the logarithm of the number of parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.correlation import correlation_value
from lexiscope.analysis.regression import OlsFit, coefficient_interval, ols
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, statistic_name

LOG_PARAMETERS = "log10_parameters"
MULTILINGUAL = "multilingual"


def scaling(
    best_r_squared: ArrayLike,
    parameters: ArrayLike,
    multilingual: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> tuple[OlsFit, tuple[Estimate, ...]]:
    """Regress the best R² of each subject on log10 of its parameters and on whether it is multilingual.

    Returned are the fit and its numbers: the slope, which is the gain in R² per tenfold number of parameters, with its
    standard error and p; the term of multilingual subjects; the R² of the regression; and Pearson's r with the log of
    the parameters, without the multilingual term. Interval and p rest on Student's t and treat subjects as independent,
    which models of one family are not.

    *Shape:* all (subjects,); *multilingual* of 0/1 or booleans, left out where all subjects are alike.
    *Higher means:* (slope) larger subjects fit better. *Source:* SAW-C §5.2, Figure 6, A.3.1.
    Errors: :class:`StatisticError` with fewer than 4 subjects, equal sizes, a parameter count that is not positive,
    or a *multilingual* flag that is the same for all.

    R² of .1, .2, .3, .4 at 1e6 … 1e9 parameters gain exactly .1 per order of magnitude:

    >>> _, (slope, *_) = scaling([0.1, 0.2, 0.3, 0.4], [1e6, 1e7, 1e8, 1e9])
    >>> round(slope.value, 9)
    0.1
    """
    outcome, size = np.asarray(best_r_squared, dtype=np.float64), np.asarray(parameters, dtype=np.float64)
    if outcome.ndim != 1 or len(outcome) < 4:
        raise StatisticError(f"a scaling regression needs at least 4 subjects, not {outcome.size}")
    if size.shape != outcome.shape or not (size > 0).all():
        raise StatisticError("each subject needs a positive number of parameters")
    logs = np.log10(size)
    columns, names = [logs], [LOG_PARAMETERS]
    if multilingual is not None:
        flag = np.asarray(multilingual, dtype=np.float64)
        # a column that never changes would be reported as collinear with the intercept: say it in the user's words
        if flag.shape == outcome.shape and np.ptp(flag) == 0:
            raise StatisticError("all subjects have the same multilingual flag", hint="leave the flag out")
        columns, names = [logs, flag], [LOG_PARAMETERS, MULTILINGUAL]
    fit = ols(outcome, np.column_stack(columns), names)
    row = fit.coefficient(LOG_PARAMETERS)
    n, of, outcome_name = len(outcome), LOG_PARAMETERS, "max_r_squared"
    note, interval = "R² per tenfold number of parameters", coefficient_interval(fit, of, level=level)
    flags = [term for term in fit.coefficients if term.name == MULTILINGUAL]
    r = correlation_value(logs, outcome, kind="pearson")
    return fit, (
        Estimate(statistic_name("slope", of=of, outcome=outcome_name), row.estimate, interval, n, p=row.p, note=note),
        Estimate(statistic_name("standard_error", of=of), row.standard_error),
        Estimate(statistic_name("p", of=of), row.p),
        *(
            Estimate(statistic_name("slope", of=term.name, outcome=outcome_name), term.estimate, p=term.p)
            for term in flags
        ),
        Estimate(statistic_name("r_squared", of="scaling"), fit.r_squared, n=n),
        Estimate(statistic_name("pearson", of=of, **{"with": outcome_name}), r, n=n),
    )
