"""What a model is worth: number needed to beat, the alternative annotator test, the differences from people."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.bootstrap import GroupOf, groups_of, percentile_interval, resample_rows
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.norming.alternative_annotator import (
    AlternativeAnnotator,
    alternative_annotator_test,
    undefined_test,
)
from lexiscope.analysis.norming.number_needed import NumberNeeded, number_needed_to_beat
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Contrast, Estimate, Interval, Result, Undefined, statistic_name
from lexiscope.studies.norm.data import Floats, NormRun

_FEWEST_AT_A_POINT = 5


def number_needed(run: NormRun) -> NumberNeeded | Undefined:
    """Return the number needed to beat of each model, with the curves."""
    models = {name: run.of_ratings(values) for name, values in run.rating.items()}
    words = {item: run.words[item] for item in run.people.item_ids}
    centaurs = {name: own.of(run.rows_of_ratings) for name, own in run.centaurs.items()}
    resampling = run.resampling
    return run.attempt(
        "number_needed_to_beat(method=spearman)",
        lambda: number_needed_to_beat(
            run.people, models, groups=GroupOf(words, "words"), centaurs=centaurs, **resampling
        ),
    )


def people_and_model(run: NormRun) -> list[Result]:
    """Return the results of :func:`number_needed`."""
    needed = run.once(number_needed)
    return run.about_all([needed] if isinstance(needed, Undefined) else needed.results())


def annotator_tests(run: NormRun) -> dict[str, AlternativeAnnotator | Undefined]:
    """Return the alternative annotator test of each model; undefined where raters are columns, not persons."""
    if run.card.raters == "columns":
        return {name: undefined_test(_NO_PERSONS, "rmse", run.settings.epsilon) for name in run.rating}
    tests: dict[str, AlternativeAnnotator | Undefined] = {}
    for name, values in run.rating.items():
        epsilon = run.settings.epsilon
        try:
            tests[name] = alternative_annotator_test(
                run.people, run.of_ratings(values), epsilon=epsilon, resamples=run.settings.n_bootstrap
            )
        except StatisticError as error:
            tests[name] = undefined_test("; ".join(filter(None, (error.what, error.why))), "rmse", epsilon)
    return tests


_NO_PERSONS = "which ratings are of one person is not published; the test excludes one annotator at a time"


def annotators(run: NormRun) -> list[Result]:
    """Return the winning rate and the advantage probability of each model."""
    parts = run.once(annotator_tests).items()
    return [
        run.about(result, subject=name)
        for name, test in parts
        for result in ((test,) if isinstance(test, Undefined) else test.results())
    ]


def differences(run: NormRun) -> list[Result]:
    """Return the mean norm at each point that a model gives, and by condition its difference from people.

    Without the ratings of single raters, the model's correlation with the norms comes first: with them, the model is
    compared with people on the same other raters instead.
    """
    return [result for name, values in run.rating.items() for result in _differences(run, name, values)]


def _differences(run: NormRun, name: str, values: Floats) -> Iterator[Result]:
    known = ~np.isnan(values) & ~np.isnan(run.norm)
    points = np.unique(values[known])
    rated = name in run.single_ratings
    if not run.has("ratings"):
        yield run.attempt("spearman(with=norms)", partial(_with_norms, run, name, values, known))
    for point in points.tolist() if rated and len(points) <= 11 else ():
        rows = known & (values == point)
        if rows.sum() < _FEWEST_AT_A_POINT:
            continue
        statistic = statistic_name("norm_at_rating", rating=f"{point:g}")
        yield run.about(run.bootstrap_of(rows).mean(statistic, run.norm[rows]), subject=name, unit="points")
    for condition in run.shown_conditions:
        labels = np.array([str(value) for value in run.conditions[condition]])
        for level in map(str, run.levels(condition)):
            rows = known & (labels == level)
            if rows.sum() < _FEWEST_AT_A_POINT:
                continue
            gap = run.bootstrap_of(rows).mean("model_minus_people", values[rows] - run.norm[rows])
            about = {"subject": name, "condition": f"{condition}={level}", "unit": "points"}
            yield run.about(gap, **about, higher="the model rates higher than people")
        if len(run.levels(condition)) == 2:
            yield run.attempt("condition_effect_difference", partial(_effect, run, name, values, condition))


def _with_norms(run: NormRun, name: str, values: Floats, known: NDArray[np.bool_]) -> Estimate:
    """The correlation of a model's ratings with the mean ratings."""
    labels = groups_of(run.labels, known)
    rho = spearman(values[known], run.norm[known], groups=labels, **run.resampling)
    return run.about(rho.about(name=statistic_name("spearman", **{"with": "norms"})), subject=name)


def _effect(run: NormRun, name: str, values: Floats, condition: str) -> Contrast:
    """The difference between two levels as the model has it, minus that of people, on the same resamples of words."""
    low, high = map(str, run.levels(condition))
    known = ~np.isnan(values) & ~np.isnan(run.norm)
    labels = np.array([str(value) for value in run.conditions[condition]])
    columns, sides = np.array([values, run.norm]), [known & (labels == level) for level in (high, low)]
    if min(side.sum() for side in sides) < _FEWEST_AT_A_POINT:
        raise StatisticError(f"a level of {condition} has fewer than {_FEWEST_AT_A_POINT} items that both rated")
    codes = np.unique(np.asarray(run.labels), return_inverse=True)[1].reshape(-1).astype(np.int64)
    n_words = int(codes.max()) + 1
    effects = []
    for rows in resample_rows(codes, n_words, resamples=run.settings.n_bootstrap, seed=run.settings.seed):
        parts = [columns[:, rows[side[rows]]] for side in sides]
        empty = min(part.shape[1] for part in parts) == 0
        effects.append(np.full(2, np.nan) if empty else parts[0].mean(axis=1) - parts[1].mean(axis=1))
    draws = np.array(effects).reshape(-1, 2)
    whole = columns[:, sides[0]].mean(axis=1) - columns[:, sides[1]].mean(axis=1)

    def interval(drawn: Floats) -> Interval:
        return percentile_interval(drawn, resampled="words", n_groups=n_words)

    n = int(sum(side.sum() for side in sides))
    of = statistic_name("condition_effect", levels=f"{high}-{low}")
    both = [
        Estimate(of, float(whole[i]), interval(draws[:, i]), n, n_words, subject=subject, unit="points")
        for i, subject in enumerate((name, "people"))
    ]
    contrast = Contrast(
        "condition_effect_difference", both[0], both[1], interval(draws[:, 0] - draws[:, 1]), n, n_words,
        subject=name, condition=condition, unit="points", higher="the model separates the levels more than people do",
    )  # fmt: skip
    return run.about(contrast, subject=name, condition=condition)
