"""How close models come to the mean ratings, which of them is closer, and how they compare with one rater."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Curve, Curves, Estimate, Result, Undefined
from lexiscope.report.part import Remark
from lexiscope.studies.any_ratings.data import RatedRun

_MOST_COMPARED = 6


def fitted(run: RatedRun) -> Curves:
    """Return the correlation of each model with the mean ratings, by layer where it has layers."""
    return run.fit("spearman")


def closeness(run: RatedRun) -> object:
    """Return how close each model comes, at each layer and at its best one."""
    silent = sorted(set(run.answers.unique("subject_id")) - set(run.models))
    more = [Remark(f"{', '.join(silent)}: no answers that can be compared with ratings.")] if silent else []
    return run.once(fitted), more


def differences(run: RatedRun) -> object:
    """Return the difference of each two models on the same resamples of words, and the ranks of all."""
    best = [estimate for estimate in run.once(fitted).best(_MOST_COMPARED) if not np.isnan(estimate.value)]
    if len(best) < 2:
        return Remark("One model answered: there is none to compare it with.")
    contrasts: list[Result] = []
    for first, second in combinations(best, 2):
        try:
            contrasts.append(run.compare(first, second))
        except StatisticError as error:
            name = f"{first.subject} − {second.subject}"
            contrasts.append(run.about(Undefined("spearman_difference(with=norms)", error.what), subject=name))
    return contrasts, run.ranks()


def against_raters(run: RatedRun) -> list[Result]:
    """Return the share of raters who agree less with the others than each model does with all."""
    return list(_places(run))


def _places(run: RatedRun) -> Iterator[Result]:
    for entry in run.once(fitted).entries:
        chosen: Estimate | Undefined | None = entry.chosen if isinstance(entry, Curve) else None
        # of a model with layers, the value that allows for the choice of its layer
        value = chosen if isinstance(chosen, Estimate) else entry
        if not isinstance(value, Estimate):
            yield run.about(Undefined("raters_below_model", "the model has no correlation"), subject=entry.subject)
            continue
        try:
            yield run.raters_below(value)
        except StatisticError as error:
            yield run.about(Undefined("raters_below_model", error.what), subject=entry.subject)
