"""Do larger subjects fit people better: R² against the logarithm of the number of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.correlation import correlation_value
from lexiscope.analysis.regression import OlsFit, coefficient_interval, ols
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

LOG_PARAMETERS = "log10_parameters"
MULTILINGUAL = "multilingual"


@dataclass(frozen=True, slots=True)
class ScalingReport:
    """The regression of the best R² of each subject on its size.

    ``slope`` is the gain in R² per tenfold number of parameters; its interval and p rest on Student's t with
    ``fit.residual_df`` degrees of freedom and treat subjects as independent, which models of one family are not.
    ``r_log_parameters`` is Pearson's r without the multilingual term. ``ceilings`` are carried along by name.

    *Unit:* share of variance per order of magnitude.
    """

    fit: OlsFit
    slope: float
    slope_standard_error: float
    slope_p: float
    slope_interval: Interval
    r_log_parameters: float
    n_subjects: int
    ceilings: tuple[tuple[str, float], ...] = ()

    def results(self, outcome: str = "max_r_squared") -> tuple[Estimate, ...]:
        """Return the slope with its standard error and p, the term of multilingual subjects, R² and r.

        *outcome* names what was regressed on size.
        """
        n, size = self.n_subjects, LOG_PARAMETERS
        slope = statistic_name("slope", of=size, outcome=outcome)
        note = "R² per tenfold number of parameters"
        flags = [row for row in self.fit.coefficients if row.name == MULTILINGUAL]
        return (
            Estimate(slope, self.slope, self.slope_interval, n, p=self.slope_p, note=note),
            Estimate(statistic_name("standard_error", of=size), self.slope_standard_error),
            Estimate(statistic_name("p", of=size), self.slope_p),
            *(Estimate(statistic_name("slope", of=row.name, outcome=outcome), row.estimate, p=row.p) for row in flags),
            Estimate(statistic_name("r_squared", of="scaling"), self.fit.r_squared, n=n),
            Estimate(statistic_name("pearson", of=size, **{"with": outcome}), self.r_log_parameters, n=n),
        )


def scaling(
    best_r_squared: ArrayLike,
    parameters: ArrayLike,
    multilingual: ArrayLike | None = None,
    *,
    ceilings: Mapping[str, float] | None = None,
    level: float = 0.95,
) -> ScalingReport:
    """Regress the best R² of each subject on log10 of its parameters and on whether it is multilingual.

    *Shape:* all (subjects,); *multilingual* of 0/1 or booleans, left out where all subjects are alike.
    *Higher means:* (slope) larger subjects fit better. *Source:* SAW-C §5.2, Figure 6, A.3.1.
    Errors: :class:`StatisticError` with fewer than 4 subjects, equal sizes, a parameter count that is not positive,
    or a *multilingual* flag that is the same for all.

    R² of .1, .2, .3, .4 at 1e6 … 1e9 parameters gain exactly .1 per order of magnitude:

    >>> round(scaling([0.1, 0.2, 0.3, 0.4], [1e6, 1e7, 1e8, 1e9]).slope, 9)
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
    return ScalingReport(
        fit=fit,
        slope=row.estimate,
        slope_standard_error=row.standard_error,
        slope_p=row.p,
        slope_interval=coefficient_interval(fit, LOG_PARAMETERS, level=level),
        r_log_parameters=correlation_value(logs, outcome, kind="pearson"),
        n_subjects=len(outcome),
        ceilings=tuple((ceilings or {}).items()),
    )
