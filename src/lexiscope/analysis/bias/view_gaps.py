"""People and models view by view: how far a model stays behind people, and ambiguity beside word bias."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lexiscope.analysis.bias.view_scores import Metric, Scores, ViewValue, draw_scores
from lexiscope.analysis.correlation import correlate_columns
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name


@dataclass(frozen=True, slots=True)
class ViewGap:
    """The score of people minus that of a model in one view. *Unit:* that of the metric.

    ``note`` says where one of the two was not measured: the interval then holds the other's sampling only.
    *Higher means:* the model stays further behind people.
    """

    view: str
    model: ViewValue
    human: ViewValue
    value: float
    interval: Interval
    note: str = ""

    @property
    def excludes_zero(self) -> bool:
        """Say whether the interval lies wholly above or wholly below 0; without an interval it does not."""
        return self.interval.is_defined and not self.interval.low <= 0 <= self.interval.high


def human_model_gaps(
    model: Scores,
    human: Scores,
    *,
    metric: Metric = "accuracy",
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[ViewGap, ...]:
    """Return people minus model in each view that both have, in the order of *human*; words are resampled for both.

    AM²iCo and BERT (Table 5 of the study: 3, 7.5 and 16.9 points). The human scores are printed, those of the model
    follow from the printed gaps.

    >>> from lexiscope.analysis.bias.view_scores import FixedScore
    >>> human = {"context": 69.0, "word": 68.5, "full": 87.9}
    >>> model = {"full": 71.0, "context": 71.0 - 5, "word": 71.0 - 10}
    >>> fixed = [{view: FixedScore(value, "printed") for view, value in scores.items()} for scores in (model, human)]
    >>> [(gap.view, round(gap.value, 9)) for gap in human_model_gaps(*fixed)]
    [('context', 3.0), ('word', 7.5), ('full', 16.9)]

    Errors: :class:`StatisticError` where they have no view in common, and those of :func:`draw_scores`.
    """
    shared = [view for view in human if view in model]
    if not shared:
        raise StatisticError(f"people saw {', '.join(human)}, the model {', '.join(model)}: no view in common")
    # one mapping for both, so that one draw of words serves people and model
    both = {f"model {view}": model[view] for view in shared} | {f"human {view}": human[view] for view in shared}
    drawn = draw_scores(both, metric=metric, resamples=resamples, seed=seed, level=level)
    gaps = []
    for view in shared:
        low, high = drawn.values[f"model {view}"], drawn.values[f"human {view}"]
        interval = drawn.interval(drawn.draws[f"human {view}"] - drawn.draws[f"model {view}"])
        gaps.append(ViewGap(view, low, high, high.value - low.value, interval, _note(low, high)))
    return tuple(gaps)


def ambiguity_and_word_bias(
    entropy: Mapping[str, float],
    word_bias: Mapping[str, float],
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate | Undefined:
    """Return Spearman's rho of ambiguity (mean entropy of words) and word bias over the datasets that have both.

    *Higher means:* the more ambiguous the words of a dataset, the larger its word bias. Datasets are resampled; they
    are few, so ``n`` belongs beside the value. NaN counts as not there. *Source:* the context–word bias study, §3.1.

    >>> entropy = {"a": 0.21, "b": 0.06, "c": 0.04, "d": 0.001}
    >>> found = ambiguity_and_word_bias(entropy, {"a": 0.5, "b": 0.8, "c": 0.9, "d": 1.0, "e": 0.1})
    >>> found.name, found.value, found.n
    ('spearman(of=ambiguity,with=word_bias)', -1.0, 4)
    """
    shared = [name for name in entropy if np.isfinite(entropy[name]) and np.isfinite(word_bias.get(name, np.nan))]
    x, y = [entropy[name] for name in shared], [word_bias[name] for name in shared]
    name = statistic_name("spearman", of="ambiguity", **{"with": "word_bias"})
    if len(shared) < 3:
        return Undefined(name, f"only {len(shared)} datasets have both; a correlation needs at least 3", len(shared))
    if len(set(y)) == 1:
        return Undefined(name, "the word bias of all datasets is the same", len(shared))
    columns = np.array(x)[:, None]
    (rho,) = correlate_columns(columns, y, kind="spearman", resamples=resamples, seed=seed, level=level)
    return replace(rho, name=name)


def _note(model: ViewValue, human: ViewValue) -> str:
    fixed = [
        f"the score of {who} is {value.fixed}"
        for who, value in (("people", human), ("the model", model))
        if value.fixed
    ]
    return "; ".join(fixed)
