"""A model before and after training on ratings: are its errors smaller, on the same items?

*Source:* AmbiStory §5.3.2 (Wilcoxon's signed-rank test). What is paired is the absolute error of each item's
prediction; the decisions within SD stand beside it, with the exact test of paired decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.accuracy import PairedDecisions, contrast
from lexiscope.analysis.norms.predictions import Form, Predictions, judged
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.analysis.significance import TestResult, wilcoxon_signed_rank
from lexiscope.core.result import Estimate, statistic_name


@dataclass(frozen=True, slots=True)
class TuningEffect:
    """Base against tuned model on the items that both predicted.

    ``base_error`` and ``tuned_error`` are mean absolute errors; ``test`` is the signed-rank test of base − tuned, whose
    effect is positive where the tuned model errs less. ``within_sd`` contrasts tuned with base: its difference is
    positive where the tuned model is right more often. ``n_left_out`` items lack a prediction of one of them.
    """

    base_error: float
    tuned_error: float
    test: TestResult
    within_sd: PairedDecisions
    n: int
    n_left_out: int

    def results(self) -> tuple[Estimate, ...]:
        """Return both mean absolute errors, V with its p, and the difference of the accuracies within SD."""
        errors = (("base", self.base_error), ("tuned", self.tuned_error))
        contrast, n = self.within_sd, self.n
        name = "accuracy_difference(of=tuned_minus_base)"
        return (
            *(Estimate(statistic_name("mean_absolute_error", of=model), value, n=n) for model, value in errors),
            Estimate("signed_rank", self.test.statistic, n=n, p=self.test.p),
            Estimate(name, contrast.difference, contrast.interval, n),
        )


def base_against_tuned(
    base: Predictions,
    tuned: Predictions,
    ratings: Ratings,
    *,
    form: Form = "integer",
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> TuningEffect:
    """Compare the errors of two models on the items that both predicted.

    *groups* (item id → word) are resampled whole for the interval of the contrast; the rank test takes items as
    independent. Errors: as :func:`lexiscope.analysis.norms.predictions.judged`; :class:`StatisticError` where no error
    differs.

    >>> people = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [1, 1, 2, 2, 4, 4, 5, 5])
    >>> found = base_against_tuned(dict.fromkeys("ijkl", 3), dict(zip("ijkl", [1, 2, 4, 5])), people, resamples=0)
    >>> found.base_error, found.tuned_error, found.test.statistic  # errors 2 1 1 2 and 0: ranks 1.5 1.5 3.5 3.5
    (1.5, 0.0, 10.0)
    """
    both = {item for item in base if base[item] is not None and tuned.get(item) is not None}
    first, second = (judged({item: each[item] for item in both}, ratings, form=form) for each in (base, tuned))
    errors = [np.abs(each.predicted - each.mean) for each in (first, second)]
    # equal differences are ties: 1.4 - 0.4 and 1.2 - 0.2 must not differ in their last bit
    smaller = settle(errors[0] - errors[1], np.concatenate([first.predicted, second.predicted, first.mean]))
    right = [is_within_sd(each.predicted, each.mean, each.sd) for each in (first, second)]
    labels = first.labels(groups)
    return TuningEffect(
        base_error=float(errors[0].mean()),
        tuned_error=float(errors[1].mean()),
        test=wilcoxon_signed_rank(smaller, np.zeros_like(smaller)),
        within_sd=contrast(right[1], right[0], clusters=labels, level=level, resamples=resamples, seed=seed),
        n=len(first.item_ids),
        n_left_out=first.n_missing,
    )
