"""Everything that ``lexiscope agree`` computes: records of the statistics, one row per rater, variance components."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated

import numpy as np

from lexiscope.analysis.agreement.alpha import Level, krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import (
    best_rater,
    counted_in,
    mean_squared_rho,
    split_half,
    squared_mean_rho,
)
from lexiscope.analysis.agreement.choices import cohen_kappa, fleiss_kappa, option_table, percent_agreement
from lexiscope.analysis.agreement.consistency import group_consistency
from lexiscope.analysis.agreement.left_out import Resampled
from lexiscope.analysis.agreement.raters import RaterAgreement, included, leave_one_out, pairwise_agreement
from lexiscope.analysis.agreement.retest import Retest
from lexiscope.analysis.bootstrap import FloatArray, IntArray, Resampling
from lexiscope.analysis.norms.norms import mean_item_sd
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Estimate, Record, parse_statistic, statistic_name
from lexiscope.core.settings import Option

RaterRow = dict[str, str | int | float | None]
"""One rater: ``rater``, ``n``, ``n_missing``, what the table says of the rater's answers, and ``flag``.

The last number is the rater's agreement (*higher means:* agrees more); it is ``None`` where it is undefined, and
``flag`` gives the reason.
"""
Maker = Callable[[], Iterable[Estimate]]


@dataclass(frozen=True, slots=True)
class AgreeSummary:
    """Agreement of one table of ratings or choices.

    ``counts`` gives (what, how many); ``raters`` has one row per rater, lowest agreement first. ``people`` names
    the raters where they are not people.
    """

    counts: tuple[tuple[str, int], ...]
    records: tuple[Record, ...]
    raters: tuple[RaterRow, ...]
    people: str = ""


def summarise(
    ratings: Ratings,
    *,
    groups: Mapping[str, str] | None = None,
    rater_groups: Mapping[str, str] | None = None,
    missing: Mapping[str, int] | None = None,
    repeated: Retest | None = None,
    resamples: Annotated[int, Option("resamples", flag="--bootstrap", least=100)] = 2000,
    seed: Annotated[int, Option("seed of the resampling", least=0)] = 0,
    path: str = "",
) -> AgreeSummary:
    """Compute agreement, ceilings and the table of raters; a statistic without a value keeps its record and a note.

    ``groups`` (item → word) are excluded whole in the intervals over items; intervals of two raters hold them fixed.
    ``rater_groups`` (rater → country) adds the consistency of the groups' means and the best rater of each group.
    ``missing`` (rater → count) goes into the table of raters. ``repeated`` adds the agreement of raters with
    themselves. ``path`` is named in errors.

    Errors: :class:`StatisticError` where there are fewer than two raters.
    """
    _check_raters(ratings, path)
    draws: Resampling = {"resamples": resamples, "seed": seed}

    @cache
    def others() -> RaterAgreement:
        return leave_one_out(ratings, **draws)

    def alpha(level: Level) -> Iterable[Estimate]:
        estimate = krippendorff_alpha(ratings, level=level, resampled=_sampled(ratings), groups=groups, **draws)
        return (estimate.about(condition="items"),)

    def ceiling(make: Callable[[], Estimate]) -> Iterable[Estimate]:
        value = make()
        return (value.about(condition=counted_in(value.name)),)

    # in the order in which they are printed, the honest variant of each first
    makers: dict[str, Maker] = {
        "leave_one_out_agreement": lambda: _over_raters(others()),
        "included_agreement": lambda: _over_raters(included(ratings, **draws)),
        "pairwise_agreement": lambda: (pairwise_agreement(ratings, **draws).about(condition="pairs"),),
        "krippendorff_alpha(level=interval)": partial(alpha, "interval"),
        "krippendorff_alpha(level=ordinal)": partial(alpha, "ordinal"),
        "squared_mean_rater_correlation": partial(ceiling, lambda: squared_mean_rho(others())),
        "mean_squared_rater_correlation": partial(ceiling, lambda: mean_squared_rho(others())),
        "split_half_reliability": partial(ceiling, lambda: split_half(ratings, groups=groups, seed=seed)),
        "mean_item_sd": lambda: (mean_item_sd(ratings).about(unit="rating", condition="items"),),
    }
    if rater_groups is not None:
        makers["best_rater_correlation"] = partial(ceiling, lambda: best_rater(others(), rater_groups, **draws))
        makers["group_consistency"] = lambda: (
            pair.about(condition=f"items, {pair.condition}")
            for pair in group_consistency(ratings, rater_groups, words=groups, **draws)
        )
    if repeated is not None:
        for name, make in (("spearman", repeated.spearman), ("exact", repeated.exact)):
            makers[statistic_name("retest_agreement", method=name)] = partial(_of_pairs, make, groups, draws)
    try:
        rows = _rater_rows(ratings, others(), missing or {})
    except StatisticError:
        rows = _rater_rows(ratings, None, missing or {})
    return AgreeSummary(_counts(ratings, "ratings"), _records(makers), rows)


def _of_pairs(make: Callable[..., Estimate], groups: Mapping[str, str] | None, draws: Resampling) -> Iterable[Estimate]:
    return (make(groups=groups, **draws).about(condition="pairs"),)


def _sampled(ratings: Ratings) -> Resampled:
    """What intervals allow for: other raters and items; only other items with two raters, who are not a sample."""
    return "raters_and_items" if len(np.unique(ratings.rater)) > 2 else "items"


def _check_raters(ratings: Ratings, path: str) -> None:
    n_raters = len(np.unique(ratings.rater))
    if n_raters < 2:
        raise StatisticError(
            f"Agreement needs 2 raters; this file has {n_raters}.",
            place=Place(path) if path else None,
            hint="Check --rater.",
        )


def _counts(ratings: Ratings, what: str) -> tuple[tuple[str, int], ...]:
    """How many answers, raters and items a table has; *what* names the answers."""
    per_item = ratings.counts()
    return (
        (what, len(ratings)),
        ("missing", ratings.n_missing),
        ("raters", ratings.n_raters),
        ("items", ratings.n_items),
        (f"fewest {what} per item", int(per_item.min())),
        (f"most {what} per item", int(per_item.max())),
    )


def _records(makers: Mapping[str, Maker]) -> tuple[Record, ...]:
    """The records of each statistic; an undefined one has no value and the reason."""
    records: list[Record] = []
    for name, make in makers.items():
        try:
            records += [record for result in make() for record in result.records()]
        except StatisticError as error:
            records.append(Record(name, None, note=error.what, status="undefined"))
    return tuple(records)


def _over_raters(agreement: RaterAgreement) -> tuple[Estimate, ...]:
    """The mean over raters with its interval, then median, lowest, highest and SD."""
    n, (base, params) = agreement.n_raters, parse_statistic(agreement.name)
    spread = {
        "median": agreement.median,
        "minimum": agreement.minimum,
        "maximum": agreement.maximum,
        "sd": agreement.sd,
    }
    return (
        Estimate(agreement.name, agreement.mean, agreement.interval, n, condition="raters"),
        *(
            Estimate(statistic_name(base, **params, over_raters=name), value, n=n, condition="raters")
            for name, value in spread.items()
        ),
    )


def _rater_rows(ratings: Ratings, agreement: RaterAgreement | None, missing: Mapping[str, int]) -> tuple[RaterRow, ...]:
    """One row per rater: mean, SD, Spearman correlation with the mean of the others."""
    values = {} if agreement is None else dict(zip(agreement.rater_ids, agreement.values.tolist(), strict=True))
    reasons = {} if agreement is None else agreement.undefined
    rows: list[RaterRow] = []
    for code, rater in enumerate(ratings.rater_ids):
        own = ratings.value[ratings.rater == code]
        rows.append(
            {
                "rater": rater,
                "n": len(own),
                "n_missing": missing.get(rater, 0),
                "mean": float(own.mean()) if len(own) else None,
                "sd": float(own.std(ddof=1)) if len(own) > 1 else None,
                "leave_one_out": values.get(rater),
                "flag": reasons.get(rater, "" if rater in values else _why_alone(own.tolist())),
            }
        )
    return _lowest_first(rows, "leave_one_out")


def _lowest_first(rows: list[RaterRow], agreement: str) -> tuple[RaterRow, ...]:
    """Raters with the lowest agreement first, those without a value before all."""
    return tuple(sorted(rows, key=lambda row: (row[agreement] is not None, row[agreement] or 0.0, row["rater"])))


def _why_alone(own: list[float]) -> str:
    if not own:
        return "no rating"
    if len(own) == 1:
        return "rated one item only"
    return f"gave {own[0]:g} to all {len(own)} items" if len(set(own)) == 1 else "agreement is undefined in this table"


# -- choices between options: nominal statistics, for a choice has no rank -------------------------------------------


def summarise_choices(
    ratings: Ratings,
    *,
    missing: Mapping[str, int] | None = None,
    resamples: int = 2000,
    seed: int = 0,
    path: str = "",
) -> AgreeSummary:
    """Compute percent agreement, Fleiss' kappa, nominal alpha, for two raters Cohen's kappa, and the table of raters.

    The values of *ratings* are codes of options. A statistic without a value keeps its record and a note.
    Errors: :class:`StatisticError` where there are fewer than two raters.
    """
    _check_raters(ratings, path)
    draws: Resampling = {"resamples": resamples, "seed": seed}
    statistics: dict[str, Callable[[], Estimate]] = {
        "percent_agreement(over=items)": lambda: percent_agreement(ratings, resampled=_sampled(ratings), **draws),
        "fleiss_kappa": lambda: fleiss_kappa(ratings, resampled=_sampled(ratings), **draws),
        "krippendorff_alpha(level=nominal)": lambda: krippendorff_alpha(
            ratings, level="nominal", resampled=_sampled(ratings), **draws
        ),
    }
    raters = np.unique(ratings.rater)
    if len(raters) == 2:
        statistics["cohen_kappa(weights=none)"] = lambda: cohen_kappa(*ratings.matrix()[raters], **draws)
    makers = {name: partial(_of_items, make) for name, make in statistics.items()}
    return AgreeSummary(_counts(ratings, "choices"), _records(makers), _chooser_rows(ratings, missing or {}))


def _of_items(make: Callable[[], Estimate]) -> tuple[Estimate, ...]:
    return (make().about(condition="items"),)


def _chooser_rows(ratings: Ratings, missing: Mapping[str, int]) -> tuple[RaterRow, ...]:
    """One row per rater: the share of the others' choices on the same items that are the same, mean over items."""
    options, table = option_table(ratings)
    code = np.searchsorted(options, ratings.value)
    others = ratings.counts()[ratings.item] - 1
    # of the others who answered the item: how many chose the same
    same = table[ratings.item, code] - 1
    rows: list[RaterRow] = []
    for number, rater in enumerate(ratings.rater_ids):
        own = ratings.rater == number
        shared = own & (others > 0)
        share = float(np.mean(same[shared] / others[shared])) if shared.any() else None
        why = "no other rater answered these items" if own.any() else "no choice"
        rows.append(
            {
                "rater": rater,
                "n": int(own.sum()),
                "n_missing": missing.get(rater, 0),
                "agreement": share,
                "flag": why if share is None else "",
            }
        )
    return _lowest_first(rows, "agreement")


# -- variance components --------------------------------------------------------------------------------------------
# Where ratings differ: between items, between raters, and what neither explains; and what a mean of ratings is worth.
#
# Each group of raters judged the same items, all of them. A two-way analysis of variance within groups, pooled over
# groups, gives the components; the intraclass correlations follow. *Source:* Shrout & Fleiss 1979, case 2 (raters are a
# sample), for several groups.


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance of items, raters and residual, the test of raters, and the reliability of one rating.

    *Unit:* squared points of the scale; a component may come out below 0, which means none. ``f`` tests whether raters
    differ in leniency, with the degrees of freedom ``df`` and ``p``.
    """

    item: float
    rater: float
    residual: float
    f: float
    df: tuple[int, int]
    p: float
    n_groups: int
    n_items: int
    n_raters: int
    n_ratings: int

    @property
    def icc_single(self) -> float:
        """ICC(2,1): the share of the variance of one rating that is the items'."""
        return self.icc_mean(1)

    def icc_mean(self, n_ratings: int) -> float:
        """ICC(2,k): the reliability of the mean of *n_ratings* ratings.

        >>> round(VarianceComponents(1.2, 0.1, 1.1, 2.0, (1, 1), 0.1, 1, 2, 2, 4).icc_mean(4), 6)  # 1.2 / (1.2 + .3)
        0.8
        """
        return self.item / (self.item + (self.rater + self.residual) / n_ratings)

    def results(self, n_ratings: int) -> tuple[Estimate, ...]:
        """Return the components, the reliability of one rating and of the mean of *n_ratings*, and F with its p."""
        parts = (("sample", self.item), ("rater", self.rater), ("residual", self.residual))
        return (
            *(Estimate(statistic_name("variance", of=name), value) for name, value in parts),
            *(
                Estimate(statistic_name("icc", model=2, ratings=several), self.icc_mean(several), n=self.n_items)
                for several in (1, n_ratings)
            ),
            Estimate("rater_effect_f", self.f, n=self.n_raters, p=self.p),
        )


def variance_components(ratings: Ratings, groups: Mapping[str, str]) -> VarianceComponents:
    """Return the variance components of raters within groups; *groups*: rater id → group.

    Every rater of a group must have rated every item of it, and every item belongs to one group.
    Errors: :class:`InputError` for a rater without a group; :class:`StatisticError` if a group has no rating, or has
    fewer than two raters or items.

    >>> two = Ratings.from_arrays(list("aaabbb"), list("ijkijk"), [1, 2, 6, 3, 4, 5])
    >>> found = variance_components(two, {"a": "g", "b": "g"})
    >>> found.item, found.rater, found.residual  # MS 6.5, 1.5, 1.5: (6.5 - 1.5) / 2, (1.5 - 1.5) / 3
    (2.5, 0.0, 1.5)
    """
    from scipy import special

    sums, freedom, sizes = np.zeros(3), np.zeros(3), np.zeros(2)
    tables = _tables(ratings, groups)
    for table in tables:
        items, raters = table.shape
        squares, degrees = _squares(table)
        sums, freedom = sums + squares, freedom + degrees
        # what a component counts for in its mean square: the other side's number
        sizes = sizes + np.array([raters * (items - 1.0), items * (raters - 1.0)])
    mean = sums / freedom
    residual = float(mean[2])
    # what rounding leaves of ratings of this size is not a residual
    if residual <= (16 * np.finfo(np.float64).eps * max(float(np.max(np.abs(table))) for table in tables)) ** 2:
        raise StatisticError("variance components are undefined: nothing is left over items and raters")
    item, rater = ((mean[:2] - residual) * freedom[:2] / sizes).tolist()
    f, df = float(mean[1] / residual), (int(freedom[1]), int(freedom[2]))
    return VarianceComponents(
        item=item,
        rater=rater,
        residual=residual,
        f=f,
        df=df,
        p=float(special.fdtrc(*df, f)),
        n_groups=len(tables),
        n_items=sum(len(table) for table in tables),
        n_raters=sum(table.shape[1] for table in tables),
        n_ratings=sum(table.size for table in tables),
    )


def _tables(ratings: Ratings, groups: Mapping[str, str]) -> list[FloatArray]:
    """The ratings of each group. *Shape:* (items, raters) each."""
    missing = [rater for rater in ratings.rater_ids if rater not in groups]
    if missing:
        raise InputError(f"{len(missing)} raters have no group, first {missing[0]!r}")
    labels, of_rater = np.unique([groups[rater] for rater in ratings.rater_ids], return_inverse=True)
    group = of_rater.reshape(-1)[ratings.rater]
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(len(labels) + 1))
    cut = zip(labels.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return [_table(ratings, order[start:end], label) for label, start, end in cut if end > start]


def _table(ratings: Ratings, rows: IntArray, label: str) -> FloatArray:
    items, item = np.unique(ratings.item[rows], return_inverse=True)
    raters, rater = np.unique(ratings.rater[rows], return_inverse=True)
    if len(rows) != len(items) * len(raters) or min(len(items), len(raters)) < 2:
        raise StatisticError(
            f"group {label!r} has {len(rows)} ratings of {len(items)} items by {len(raters)} raters",
            why="the components need every rating of two raters and two items or more",
        )
    table = np.empty((len(items), len(raters)))
    table[item.reshape(-1), rater.reshape(-1)] = ratings.value[rows]
    return table


def _squares(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of squares and degrees of freedom of items, raters and residual."""
    items, raters = table.shape
    centred = table - table.mean()
    by_item, by_rater = centred.mean(axis=1), centred.mean(axis=0)
    rest = centred - by_item[:, None] - by_rater[None, :]
    squares = [raters * (by_item**2).sum(), items * (by_rater**2).sum(), (rest**2).sum()]
    return np.array(squares), np.array([items - 1.0, raters - 1.0, (items - 1.0) * (raters - 1.0)])
