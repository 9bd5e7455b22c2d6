"""What a model is worth, and what follows from people and models together.

Worth: number needed to beat, the alternative annotator test, the differences from people. Estimates: means, contrasts,
coefficients, centaur norms, and distributions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.bootstrap import GroupOf, groups_of, percentile_interval, resample_rows
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.norming.allocation import weighted_mean
from lexiscope.analysis.norming.alternative_annotator import (
    AlternativeAnnotator,
    alternative_annotator_test,
    undefined_test,
)
from lexiscope.analysis.norming.centaur import CentaurNorms
from lexiscope.analysis.norming.number_needed import NumberNeeded, number_needed_to_beat
from lexiscope.analysis.norming.prediction_powered import (
    Drawn,
    PoweredEstimate,
    means_by_condition,
    powered_coefficients,
    powered_contrast,
    powered_mean,
    subsampled_means,
)
from lexiscope.analysis.norming.rating_distributions import compare_distributions, counts_at_points
from lexiscope.analysis.norming.severity import SEVERITY, severities
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Contrast, Estimate, Interval, Result, Undefined, statistic_name
from lexiscope.core.showing import counted
from lexiscope.report.part import Remark
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
            run.people,
            models,
            groups=GroupOf(words, "words"),
            centaurs=centaurs,
            persons=run.card.raters != "columns",
            **resampling,
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


_FEWEST = 12
TOGETHER = "models together"
"""The subject of the distribution of the ratings of all models."""


def valid_estimates(run: NormRun) -> list[object]:
    """Return the estimates of each model with people, and what the model saves at several numbers of rated items."""
    return [result for name, values in run.rating.items() for result in _estimates(run, name, values)]


def _estimates(run: NormRun, name: str, values: Floats) -> Iterator[object]:
    answered = ~np.isnan(values)
    rated = answered & ~np.isnan(run.norm)
    skipped = int((~np.isnan(run.norm) & ~answered).sum())
    if skipped:
        yield Remark(f"{name} did not answer {counted(skipped, 'item')} that people rated: not in these estimates.")
    if run.sampled is not None and (answered & ~rated).any():
        if run.settings.target == "population":
            yield Remark("Items were allocated with unequal probabilities: the target of this estimate is the list.")
        yield from run.attempt_all("mean_rating(source=people_and_model)", partial(allocated_mean, run, name, values))
        return
    if rated.sum() < _FEWEST:
        reason = f"{counted(int(rated.sum()), 'item')} with ratings and answers; {_FEWEST} are needed"
        yield run.about(Undefined("mean_rating(source=people_and_model)", reason), subject=name)
        return
    seed, draws = run.settings.seed, run.settings.draws
    norm = np.where(rated, run.norm, np.nan)
    if not (answered & ~rated).any():
        # every item is rated: what a model would have saved, had only some of them been
        y, f = run.norm[rated], values[rated]
        for drawn in ("with_replacement", "without_replacement"):
            results = subsampled_means(y, f, run.settings.sizes, drawn=drawn, draws=draws, seed=seed)
            yield from run.about_all(results, subject=name)
        # the middle one of the sizes that these items allow
        sizes = [size for size in run.settings.sizes if _FEWEST <= size <= int(rated.sum()) // 2]
        size = sizes[len(sizes) // 2] if sizes else 0
        if not size:
            return
        chosen = np.random.default_rng(seed).choice(np.flatnonzero(rated), size, replace=False)
        norm = np.full(len(values), np.nan)
        norm[chosen] = run.norm[chosen]
        yield Remark(
            f"All items of these data are rated. The estimates of {name} by condition are an example: {size} items "
            "were drawn at random, and the ratings of the others were set aside."
        )
    yield from _powered(run, name, values, norm, answered)


def _powered(run: NormRun, name: str, values: Floats, norm: Floats, answered: NDArray[np.bool_]) -> Iterator[object]:
    """The mean, the means by condition with their contrast, and the coefficients of a regression on conditions."""
    rated = ~np.isnan(norm)
    drawn, listed, words = _targeted(run, rated, answered)

    def make_mean() -> PoweredEstimate:
        groups, others = words[rated], words[listed]
        return powered_mean(
            norm[rated], values[rated], values[listed], drawn=drawn, groups=groups, groups_of_all=others
        )

    mean = run.attempt("mean_rating", make_mean, subject=name)
    if isinstance(mean, Undefined):
        yield mean
        return
    yield from run.about_all(mean.results(), subject=name)
    for condition in run.shown_conditions:
        labels = [f"{condition}={value}" for value in run.conditions[condition]]
        rows = np.flatnonzero(answered)
        own_labels = [labels[row] for row in rows]
        own_words = words[rows].tolist()
        make = partial(means_by_condition, norm[rows], values[rows], own_labels, drawn=drawn, groups=own_words)
        means = run.attempt("mean_rating", make, subject=name, condition=condition)
        if isinstance(means, Undefined):
            yield means
            continue
        for own in means.values():
            yield from run.about_all(own.results(), subject=name)
        if len(means) == 2:
            low, high = (means[label] for label in sorted(means))
            sides = f"{high.powered.condition} − {low.powered.condition}"
            for contrast in powered_contrast(high, low):
                yield run.about(contrast, subject=name, condition=sides, unit="points")
    yield from _regression(run, name, values, norm, answered)


def _targeted(
    run: NormRun, rated: NDArray[np.bool_], answered: NDArray[np.bool_]
) -> tuple[Drawn, NDArray[np.bool_], NDArray[np.object_]]:
    """How rated items are taken to be drawn, the items of the model's mean, and the word of each item.

    For a population, rated and other items are two samples; for a list, the model's mean is that of all items.
    """
    words = np.array([str(item.word) for item in run.items], dtype=object)
    if run.settings.target == "population":
        return "apart", answered & ~rated, words
    return "without_replacement", answered, words


def _regression(run: NormRun, name: str, values: Floats, norm: Floats, answered: NDArray[np.bool_]) -> Iterator[Result]:
    """The linear regression of norms on the numbers that were named, and on conditions with two levels."""
    columns = {"intercept": np.ones(len(norm))}
    for condition in run.shown_conditions:
        levels = run.levels(condition)
        if len(levels) == 2:
            columns[f"{condition}={levels[1]}"] = np.array(
                [float(value == levels[1]) for value in run.conditions[condition]]
            )
    # levels alone are the means and their difference once more
    if not run.shown_numbers:
        return
    columns |= {condition: run.numbers(condition) for condition in run.shown_numbers}
    design = np.column_stack(list(columns.values()))
    rated = ~np.isnan(norm)
    drawn, listed, words = _targeted(run, rated, answered)

    def make() -> list[Result]:
        estimates: tuple[PoweredEstimate, ...] = powered_coefficients(
            norm[rated], design[rated], values[rated], design[listed], values[listed], list(columns), drawn=drawn,
            groups=words[rated], groups_of_all=words[listed],
        )  # fmt: skip
        return [result for own in estimates for result in own.results()]

    yield from run.attempt_all("coefficient", make, subject=name)


def allocated_mean(run: NormRun, name: str, values: Floats) -> list[Estimate]:
    """Return the mean over all items from those that were allocated to people, each with its probability.

    Errors: :class:`StatisticError` where a wave is not rated completely, and those of the weighted mean.
    """
    sampled = run.sampled
    assert sampled is not None
    rated = ~np.isnan(run.norm) & (sampled.wave > 0) & ~np.isnan(values)
    done = int(sampled.wave[rated].max()) if rated.any() else 0
    asked = (sampled.wave > 0) & (sampled.wave <= done)
    if (asked & ~rated).any():
        raise StatisticError(
            f"{int((asked & ~rated).sum())} of {int(asked.sum())} items of the waves up to {done} have no rating",
            why="a wave counts when all of its items are rated",
        )
    share = sampled.probability_after(done)[rated]
    result = weighted_mean(run.norm[rated], values[rated], share, values[~np.isnan(values)])
    return [run.about(result, subject=name, unit="points", condition=f"waves 1 to {done}")]


def centaurs(run: NormRun) -> list[Result]:
    """Return how much people and each model weigh in the norms of items, and the errors of these norms."""
    return [result for name, own in run.centaurs.items() for result in _centaur(run, name, own)]


def _centaur(run: NormRun, name: str, own: CentaurNorms) -> Iterator[Result]:
    known = ~np.isnan(own.predicted)
    rated = known & (own.n > 0)
    within, between = float(np.nanmean(own.within)), float(np.nanmean(own.between))
    alone = float(np.mean(own.errors_of_people[rated]))
    numbers = {
        "sd_within_items": np.sqrt(within),
        "sd_around_prediction": np.sqrt(between),
        "mean_weight_of_people": float(np.mean(own.weight(own.n)[rated])),
        statistic_name("mean_standard_error", of="people"): alone,
        statistic_name("mean_standard_error", of="people_and_model"): float(np.mean(own.errors[rated])),
    }
    units = {"mean_weight_of_people": "share"}
    if between > 0:
        # σ² / k equals τ² for this k
        numbers["ratings_worth"] = within / between
        units["ratings_worth"] = "ratings"
    for statistic, value in numbers.items():
        yield run.about(
            Estimate(statistic, float(value), n=int(rated.sum())), subject=name, unit=units.get(statistic, "points")
        )


def distributions(run: NormRun) -> list[object]:
    """Return people's distributions compared with those of each model and of all models together, and severities."""
    points = run.points
    counts = {
        name: counts_at_points(values, rows, len(run.items), points)
        for name, (rows, values) in run.single_ratings.items()
        if name in run.rating and np.isin(values, points).all()
    }
    remarks: list[object] = [
        Remark(f"{name}: its answers are not points of the scale, so that it has no distribution of ratings.")
        for name in run.rating
        if name not in counts
    ]
    single = dict(counts)
    if len(counts) > 1:
        counts[TOGETHER] = np.sum(list(single.values()), axis=0)
    if not counts:
        # the ceiling is people's alone
        counts[""] = np.ones((len(run.items), len(points)))
    words = GroupOf({item: run.words[item] for item in run.people.item_ids}, "words")
    ceilings: list[Result] = []
    results: list[object] = []
    for name, own in counts.items():
        chosen = run.attempt_all(
            "earth_movers_distance",
            partial(
                compare_distributions, run.people, own[run.rows_of_ratings], points, groups=words, **run.resampling
            ),
        )
        results += [result.about(subject=name) for result in chosen if not result.subject and name]
        ceilings = ceilings or [result for result in chosen if result.subject]
    return [*results, *ceilings, *_severities(run, list(single)), *remarks]


def _severities(run: NormRun, names: list[str]) -> list[Result]:
    """People's ordinal scale and how severe each model of *names* is; undefined where raters are not persons."""
    if run.card.raters == "columns":
        reason = "which ratings are of one person is not published; severity is that of a person over many items"
        return run.about_all([Undefined(SEVERITY, reason)])
    ids = np.array([item.item_id for item in run.items])
    models = {name: (ids[rows].tolist(), own) for name, (rows, own) in run.single_ratings.items() if name in names}
    return run.attempt_all(SEVERITY, partial(severities, run.people, models))
