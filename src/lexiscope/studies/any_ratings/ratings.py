"""The ratings themselves, without a model: what raters chose for the items, and how well they agree.

How often each point was chosen, mean ratings, the items on which raters disagree most; which raters disagree with the
others, and what a model can at best be expected to reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from lexiscope.analysis.agreement.alpha import Level, krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import agreement_ceilings, split_half
from lexiscope.analysis.agreement.choices import cohen_kappa, fleiss_kappa, percent_agreement
from lexiscope.analysis.agreement.consistency import describe_participants, group_consistency
from lexiscope.analysis.agreement.left_out import Resampled
from lexiscope.analysis.agreement.raters import RaterAgreement, leave_one_out, pairwise_agreement
from lexiscope.analysis.agreement.retest import Retest, retest
from lexiscope.analysis.mixed.ordinal import fit_ordinal
from lexiscope.analysis.norms.norms import item_sd, mean_item_sd
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.result import Counts, Estimate, Result, Undefined, statistic_name
from lexiscope.core.showing import counted, listed
from lexiscope.core.simulated import COLLECTED
from lexiscope.report.part import Remark
from lexiscope.report.tables import with_minus_signs
from lexiscope.studies.any_ratings.data import RatedRun
from lexiscope.studies.kit.answers import PEOPLE
from lexiscope.studies.kit.repeated_ratings import REPEATED

_MOST_POINTS, _BINS, _TOP = 21, 10, 10
POINTS = "n_ratings_at"


def sizes(run: RatedRun) -> list[Result]:
    """Return how many items, words, raters and ratings there are."""
    ratings = run.people if run.has("ratings") else run.choices
    numbers: dict[str, float] = {"n_items": len(run.items), "n_words": len({item.word for item in run.items})}
    if ratings is not None:
        per_item = ratings.counts()
        numbers |= {"n_participants": len(np.unique(ratings.rater)), "n_trials": len(ratings)}
        for summary, value in (("min", per_item.min()), ("mean", per_item.mean()), ("max", per_item.max())):
            numbers[statistic_name("ratings_per_item", summary=summary)] = float(value)
    return [run.about(Estimate(name, float(value))) for name, value in numbers.items()]


def distribution(run: RatedRun) -> object:
    """Count how often each point of the scale (or each option) was chosen; name the items with the highest SD."""
    if run.choices is not None:
        counts = np.bincount(run.choices.value.astype(np.int64), minlength=len(run.options)).tolist()
        return run.about(Counts(POINTS, tuple(zip(run.options, counts, strict=True)), unit="choices"))
    return [
        run.about(Counts(POINTS, tuple(_points(run)), unit="ratings")),
        run.attempt_all("mean_rating(over=items)", partial(run.means, of=PEOPLE)),
        run.attempt_all("mean_item_sd", lambda: (mean_item_sd(run.people).about(unit="rating"),)),
        *_most_disputed(run),
    ]


def _points(run: RatedRun) -> Iterator[tuple[str, int]]:
    """How many ratings are at each point; for a slider, in each tenth of its range."""
    values = run.people.value
    points, counts = np.unique(values, return_counts=True)
    if len(points) <= _MOST_POINTS:
        known = dict(zip(points.tolist(), counts.tolist(), strict=True))
        whole = all(point == int(point) for point in known)
        # a point that no rater chose is one, too
        every = np.arange(points.min(), points.max() + 1).tolist() if whole else list(known)
        scale = run.items[0].scale
        every = list(scale.points) if scale is not None and scale.points else every
        yield from ((f"{point:g}", int(known.get(point, 0))) for point in every)
        return
    scale = run.items[0].scale
    ends = (scale.low, scale.high) if scale is not None else (float(values.min()), float(values.max()))
    binned, edges = np.histogram(values, bins=_BINS, range=ends)
    for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), binned.tolist(), strict=True):
        yield f"{low:g} to {high:g}", int(n)


def _most_disputed(run: RatedRun) -> Iterator[Result]:
    """The items with the highest SD of their ratings, at most ten."""
    ratings = run.people
    sd, counts = item_sd(ratings), ratings.counts()
    known = np.flatnonzero(~np.isnan(sd) & (sd > 0))
    ids = ratings.item_ids
    for row in sorted(known.tolist(), key=lambda row: (-sd[row], ids[row]))[:_TOP]:
        name = statistic_name("item_sd", ddof=1)
        yield run.about(Estimate(name, float(sd[row]), n=int(counts[row]), condition=f"item={ids[row]}", unit="rating"))


OF_RATER = "rater_agreement"
_MOST_RATERS = 200
_FAR = 3.0
_FEWEST_OF_GROUP = 3
_WITHOUT_CONDITIONS = {"model": "without_conditions"}


def sampled(ratings: Ratings) -> Resampled:
    """Return what intervals allow for: other raters and items; two raters alone are not a sample of raters."""
    return "raters_and_items" if len(np.unique(ratings.rater)) > 2 else "items"


def agreement_of_raters(run: RatedRun) -> RaterAgreement:
    """Return the agreement of each rater with the mean of the others."""
    return leave_one_out(run.people, **run.resampling)


def agreement(run: RatedRun) -> object:
    """Measure how well raters agree: alpha, agreement with the others' means, pairs of raters; of choices kappa."""
    if run.choices is not None:
        return _of_choices(run, run.choices)
    ratings = run.people

    def alpha(level: Level) -> Callable[[], Estimate]:
        return lambda: krippendorff_alpha(
            ratings, level=level, resampled=sampled(ratings), **run.resampling_of(run.words)
        )

    makers: dict[str, Callable[[], Iterable[Result]]] = {
        "leave_one_out_agreement": lambda: run.once(agreement_of_raters).results(),
        "pairwise_agreement": lambda: (pairwise_agreement(ratings, **run.resampling),),
        **{
            statistic_name("krippendorff_alpha", level=level): partial(_single, alpha(level))
            for level in ("interval", "ordinal")
        },
    }
    if repeated_ratings(run) is not None:
        makers["retest_agreement"] = lambda: _retests(run)
    results = [result for name, make in makers.items() for result in run.attempt_all(name, make, subject="raters")]
    return results, _disagreeing(run), _severities(run)


def repeated_ratings(run: RatedRun) -> Retest | None:
    """Return the ratings that raters gave to an item repeatedly, with those that do not count; ``None`` without."""
    rows = run.data.responses.where(measure=("rating", REPEATED), subject_kind=COLLECTED)
    # NaN, of ratings that were not repeated, is sorted last
    order = np.argsort(rows.column("repeat"), kind="stable")
    raters, items, values = (rows.column(name)[order] for name in ("subject_id", "item_id", "value"))
    pairs = retest(raters.tolist(), items.tolist(), values)
    return pairs if len(pairs.earlier) else None


def _retests(run: RatedRun) -> tuple[Result, ...]:
    pairs, draws = repeated_ratings(run), run.resampling_of(run.words)
    if pairs is None:
        return ()
    name = statistic_name("retest_agreement", method="spearman")
    return run.attempt(name, lambda: pairs.spearman(**draws)), pairs.exact(**draws)


def _single(make: Callable[[], Estimate]) -> tuple[Estimate]:
    return (make(),)


def _of_choices(run: RatedRun, choices: Ratings) -> list[Result]:
    """Agreement of choices, which have no order: percent agreement and kappas."""
    raters = np.unique(choices.rater)
    makers: dict[str, Callable[[], Estimate]] = {
        "percent_agreement": lambda: percent_agreement(
            choices, resampled=sampled(choices), **run.resampling_of(run.words)
        ),
        "fleiss_kappa": lambda: fleiss_kappa(choices, resampled=sampled(choices), **run.resampling_of(run.words)),
        "krippendorff_alpha(level=nominal)": lambda: krippendorff_alpha(
            choices, level="nominal", resampled=sampled(choices), **run.resampling_of(run.words)
        ),
    }
    if len(raters) == 2:
        makers["cohen_kappa(weights=none)"] = lambda: cohen_kappa(*choices.matrix()[raters], **run.resampling)
    parts = (run.attempt_all(name, partial(_single, make), subject="raters") for name, make in makers.items())
    return [result for part in parts for result in part]


def _disagreeing(run: RatedRun) -> list[object]:
    """Each rater's agreement with the others (of very many raters only the low ones), and which raters are far off."""
    raters = run.attempt("leave_one_out_agreement", lambda: run.once(agreement_of_raters))
    if isinstance(raters, Undefined):
        return []
    values = dict(zip(raters.rater_ids, raters.values.tolist(), strict=True))
    n_items = dict(zip(raters.rater_ids, raters.n_items.tolist(), strict=True))
    # the median and the deviations from it: one rater who is far off must not hide behind its own spread
    spread = 1.4826 * float(np.median(np.abs(raters.values - raters.median)))
    low = raters.median - _FAR * spread if spread else -1.0
    far = [name for name, value in values.items() if value <= 0 or value < low]
    order = sorted(values, key=lambda name: (values[name], name))
    shown = order if len(order) <= _MOST_RATERS else [name for name in order if name in far][:_MOST_RATERS]
    name = statistic_name(OF_RATER, method=raters.method)
    results: list[object] = [
        run.about(Estimate(name, values[rater], n=n_items[rater], condition=f"rater={rater}", unit="correlation"))
        for rater in shown
    ]
    if far:
        said = listed([with_minus_signs(f"{rater} ({values[rater]:.2f})") for rater in order if rater in far], 5)
        what = "does not agree" if len(far) == 1 else "do not agree"
        results.append(
            Remark(
                f"{counted(len(far), 'rater')} of {len(values)} {what} with the others (correlation of 0 or below, or "
                f"more than {_FAR:g} robust SD below the median): {said}. They are included."
            )
        )
    results += [Remark(f"Rater {rater} has no agreement: {reason}.") for rater, reason in raters.undefined.items()][:5]
    return results


def _severities(run: RatedRun) -> list[object]:
    """How severely each rater rates, and where the points of the scale part, if the settings ask for ordinal models."""
    results: list[object] = []
    for link in run.settings.ordinal if run.has("ratings") else ():
        name = statistic_name("rater_severity", **_WITHOUT_CONDITIONS, link=link)
        results += run.attempt_all(name, partial(_of_ordinal_model, run, link), subject="raters")
    return results


def _of_ordinal_model(run: RatedRun, link: str) -> list[Estimate]:
    """Thresholds and severities of the ordinal model without conditions: they are of the whole table of ratings."""
    words = {item.word for item in run.items}
    groups = ("participant", "item", *(("word",) if 1 < len(words) < len(run.items) else ()))
    formula = f"rating ~ 1 + {' + '.join(f'(1 | {group})' for group in groups)}"
    fit = fit_ordinal(formula, run.rated_columns(), link=link, seed=run.settings.seed)
    name = statistic_name("threshold", of="ordinal", **_WITHOUT_CONDITIONS, link=link)
    thresholds = [
        Estimate(name, term.estimate, term.interval(run.bootstrap.level), fit.n_observations, condition=term.name)
        for term in fit.thresholds
    ]
    severities = fit.severities("participant", **_WITHOUT_CONDITIONS)
    return [*thresholds, *(own.about(subject="raters", condition=f"rater={own.subject}") for own in severities)]


def ceilings(run: RatedRun) -> object:
    """Return what a model can at best be expected to reach, each definition under its own name."""
    own = run.attempt_all("mean_rater_correlation", lambda: agreement_ceilings(run.once(agreement_of_raters)))
    halves = partial(split_half, run.people, **run.resampling_of(run.words))
    return [*own, *run.attempt_all("split_half_reliability", partial(_single, halves))]


def groups(run: RatedRun) -> object:
    """Count the raters of each group, and correlate the groups' mean ratings."""
    raters = [run.people.rater_ids[code] for code in np.unique(run.people.rater)]
    known = {name.title(): {who: of[who] for who in raters if who in of} for name, of in run.groups.items()}
    ages = [age for who, age in run.ages.items() if who in raters]
    results: list[object] = [run.about(result) for result in describe_participants(known, ages).values()]
    for label, of in known.items():
        sizes = Counter(of.values())
        compared = {who: group for who, group in of.items() if sizes[group] >= _FEWEST_OF_GROUP}
        if len(set(compared.values())) < 2:
            results.append(
                Remark(f"{label}: fewer than two groups have {_FEWEST_OF_GROUP} raters, so none is compared.")
            )
            continue
        own = run.people.of_raters(compared)
        make = partial(group_consistency, own, compared, words=run.words, **run.resampling)
        name = statistic_name("group_consistency", method="pearson")
        for result in run.attempt_all(name, make):
            results.append(result.about(condition=f"{label.lower()}: {result.condition}"))
    return results
