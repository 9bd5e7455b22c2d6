"""A model before and after training on ratings: are its errors smaller, on the same items?

*Source:* AmbiStory §5.3.2 (Wilcoxon's signed-rank test). What is paired is the absolute error of each item's
prediction; the decisions within SD stand beside it, with the exact test of paired decisions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lexiscope.analysis.accuracy import contrast
from lexiscope.analysis.norms.predictions import Form, Predictions, judged
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.analysis.significance import wilcoxon_signed_rank
from lexiscope.core.result import Estimate, statistic_name


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
) -> tuple[Estimate, ...]:
    """Compare the errors of two models on the items that both predicted.

    Returned are both mean absolute errors, V of the signed-rank test of the errors (base − tuned) with its p, and the
    difference of the accuracies within SD, positive where the tuned model is right more often. Items that lack a
    prediction of one of them are excluded. *groups* (item id → word) are resampled whole for the interval of the
    contrast; the rank test takes items as independent. Errors: as :func:`lexiscope.analysis.norms.predictions.judged`;
    :class:`StatisticError` where no error differs.

    >>> people = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [1, 1, 2, 2, 4, 4, 5, 5])
    >>> effects = base_against_tuned(dict.fromkeys("ijkl", 3), dict(zip("ijkl", [1, 2, 4, 5])), people, resamples=0)
    >>> [effect.value for effect in effects][:3]  # errors 2 1 1 2 and 0: ranks 1.5 1.5 3.5 3.5
    [1.5, 0.0, 10.0]
    """
    both = {item for item in base if base[item] is not None and tuned.get(item) is not None}
    first, second = (judged({item: given[item] for item in both}, ratings, form=form) for given in (base, tuned))
    errors = [np.abs(model.predicted - model.mean) for model in (first, second)]
    # equal differences are ties: 1.4 - 0.4 and 1.2 - 0.2 must not differ in their last bit
    smaller = settle(errors[0] - errors[1], np.concatenate([first.predicted, second.predicted, first.mean]))
    right = [is_within_sd(model.predicted, model.mean, model.sd) for model in (first, second)]
    test, n = wilcoxon_signed_rank(smaller, np.zeros_like(smaller)), len(smaller)
    more = contrast(right[1], right[0], clusters=first.labels(groups), level=level, resamples=resamples, seed=seed)
    return (
        Estimate(statistic_name("mean_absolute_error", of="base"), float(errors[0].mean()), n=n),
        Estimate(statistic_name("mean_absolute_error", of="tuned"), float(errors[1].mean()), n=n),
        Estimate("signed_rank", test.statistic, n=n, p=test.p),
        Estimate("accuracy_difference(of=tuned_minus_base)", more.difference, more.interval, n),
    )
