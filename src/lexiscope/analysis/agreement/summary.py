"""Everything that ``lexiscope agree`` computes: flat records for the statistics, one row per rater."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np

from lexiscope.analysis.agreement.alpha import Level, krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import Ceiling, best_rater, mean_squared_rho, split_half, squared_mean_rho
from lexiscope.analysis.agreement.choices import cohen_kappa, option_table, percent_agreement
from lexiscope.analysis.agreement.consistency import group_consistency
from lexiscope.analysis.agreement.raters import (
    RaterAgreement,
    included,
    leave_one_out,
    pairwise_agreement,
)
from lexiscope.analysis.norms.norms import mean_item_sd
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import Place, StatisticError
from lexiscope.core.result import Interval, Record
from lexiscope.core.settings import Option


@dataclass(frozen=True, slots=True)
class RaterRow:
    """One rater: how many ratings, how spread, and how well they agree with the others.

    ``leave_one_out`` is a Spearman correlation with the mean of the others; ``None`` where it is undefined, and
    ``flag`` then says why. *Higher means:* agrees more.
    """

    rater: str
    n: int
    n_missing: int
    mean: float | None
    sd: float | None
    leave_one_out: float | None
    flag: str = ""


class RaterLine(Protocol):
    """A row of the table of raters."""

    @property
    def rater(self) -> str:
        """The rater."""

    @property
    def n(self) -> int:
        """How many answers they gave."""


@dataclass(frozen=True, slots=True)
class AgreeSummary:
    """Agreement of one table of ratings or choices.

    ``counts`` gives (what, how many); ``raters`` are rows of one kind, those who agree least first. ``people`` names
    the raters where they are not people.
    """

    counts: tuple[tuple[str, int], ...]
    records: tuple[Record, ...]
    raters: tuple[RaterLine, ...]
    people: str = ""


def summarise(
    ratings: Ratings,
    *,
    groups: Mapping[str, str] | None = None,
    rater_groups: Mapping[str, str] | None = None,
    missing: Mapping[str, int] | None = None,
    resamples: Annotated[int, Option("resamples", flag="--bootstrap", least=100)] = 2000,
    seed: Annotated[int, Option("seed of the resampling", least=0)] = 0,
    path: str = "",
) -> AgreeSummary:
    """Compute agreement, ceilings and the table of raters; a statistic without a value keeps its record and a note.

    ``groups`` (item → word) are resampled whole in the intervals over items. ``rater_groups`` (rater → country) adds
    the consistency of the groups' means and the best rater of each group. ``missing`` (rater → count) goes into the
    table of raters. ``path`` is named in errors.

    Errors: :class:`StatisticError` where there are fewer than two raters.
    """
    at_least_two(ratings, path)
    setting = AgreementSetting(groups, rater_groups, resamples, seed)
    try:
        others: RaterAgreement | None = leave_one_out(ratings, resamples=resamples, seed=seed)
    except StatisticError:
        others = None
    records = tuple(record for name, make in _makers(ratings, setting).items() for record in records_of(name, make))
    return AgreeSummary(counts_of(ratings, "ratings"), records, _rater_rows(ratings, others, missing or {}))


def at_least_two(ratings: Ratings, path: str) -> None:
    """Refuse a table of fewer than two raters; *path* is named in the error.

    Errors: :class:`StatisticError`.
    """
    n_raters = len(np.unique(ratings.rater))
    if n_raters < 2:
        raise StatisticError(
            "agreement needs at least two raters with ratings",
            place=Place(path) if path else None,
            why=f"the table has {n_raters}",
            hint="ask at least one more person, or name another column with --rater",
        )


def counts_of(ratings: Ratings, what: str) -> tuple[tuple[str, int], ...]:
    """Return how many answers, raters and items a table has; *what* names the answers."""
    per_item = ratings.counts()
    return (
        (what, len(ratings)),
        ("missing", ratings.n_missing),
        ("raters", ratings.n_raters),
        ("items", ratings.n_items),
        (f"fewest {what} per item", int(per_item.min())),
        (f"most {what} per item", int(per_item.max())),
    )


@dataclass(frozen=True, slots=True)
class AgreementSetting:
    """What the statistics of one table share: groups of items and of raters, resamples, seed."""

    groups: Mapping[str, str] | None
    rater_groups: Mapping[str, str] | None
    resamples: int
    seed: int


Maker = Callable[[], list[Record]]


def _makers(ratings: Ratings, setting: AgreementSetting) -> dict[str, Maker]:
    """The statistics in the order in which they are printed, the honest variant of each first."""
    resamples, seed = setting.resamples, setting.seed

    def others() -> RaterAgreement:
        return leave_one_out(ratings, resamples=resamples, seed=seed)

    def alpha(level: Level) -> list[Record]:
        found = krippendorff_alpha(ratings, level=level, groups=setting.groups, resamples=resamples, seed=seed)
        return [flat_record(found.name, found.value, found.interval, found.n_items, "items")]

    def pairwise() -> list[Record]:
        found = pairwise_agreement(ratings, resamples=resamples, seed=seed)
        return [flat_record(found.name, found.value, found.interval, found.n_pairs, "pairs")]

    def item_sd() -> list[Record]:
        found = mean_item_sd(ratings)
        return [Record(found.name, found.value, n=found.n, unit="rating", condition="items")]

    makers: dict[str, Maker] = {
        "leave_one_out_agreement": lambda: _spread(others()),
        "included_agreement": lambda: _spread(included(ratings, resamples=resamples, seed=seed)),
        "pairwise_agreement": pairwise,
        "krippendorff_alpha(level=interval)": lambda: alpha("interval"),
        "krippendorff_alpha(level=ordinal)": lambda: alpha("ordinal"),
        "squared_mean_rater_correlation": lambda: [_ceiling(squared_mean_rho(others()))],
        "mean_squared_rater_correlation": lambda: [
            _ceiling(mean_squared_rho(others(), resamples=resamples, seed=seed))
        ],
        "split_half_reliability": lambda: [_ceiling(split_half(ratings, groups=setting.groups, seed=setting.seed))],
        "mean_item_sd": item_sd,
    }
    if setting.rater_groups is not None:
        of_rater = setting.rater_groups
        makers["best_rater_correlation"] = lambda: [
            _ceiling(best_rater(others(), of_rater, resamples=resamples, seed=seed))
        ]
        makers["group_consistency"] = lambda: _consistency(ratings, setting, of_rater)
    return makers


def _consistency(ratings: Ratings, setting: AgreementSetting, of_rater: Mapping[str, str]) -> list[Record]:
    found = group_consistency(ratings, of_rater, words=setting.groups, resamples=setting.resamples, seed=setting.seed)
    return [
        flat_record(
            pair.name, pair.estimate.value, pair.estimate.interval, pair.n_items, f"items, {pair.first}–{pair.second}"
        )
        for pair in found
    ]


def _ceiling(found: Ceiling) -> Record:
    return flat_record(found.name, found.value, found.interval, found.n, found.unit, found.definition)


def records_of(name: str, make: Maker) -> list[Record]:
    """Return a statistic's records; where it is undefined, one without a value that says why."""
    try:
        return make()
    except StatisticError as error:
        return [Record(name, None, note=error.what, status="undefined")]


def _spread(found: RaterAgreement) -> list[Record]:
    """The mean over raters with its interval, then what lies around it."""
    base, _, params = found.name.partition("(")
    inner = params.rstrip(")")
    rest = {"median": found.median, "minimum": found.minimum, "maximum": found.maximum, "sd": found.sd}
    first = flat_record(found.name, found.mean, found.interval, found.n_raters, "raters")
    more = [
        Record(f"{base}({inner},over_raters={name})", value, n=found.n_raters, condition="raters")
        for name, value in rest.items()
    ]
    return [first, *more]


def flat_record(name: str, value: float, interval: Interval, n: int, over: str, note: str = "") -> Record:
    """Return a value with its interval as a record; *over* says what *n* counts."""
    bounds = (interval.low, interval.high) if interval.is_defined else (None, None)
    note = "; ".join(filter(None, (note, interval.note)))
    return Record(name, value, low=bounds[0], high=bounds[1], interval=interval.method, n=n, condition=over, note=note)


def _rater_rows(ratings: Ratings, agreement: RaterAgreement | None, missing: Mapping[str, int]) -> tuple[RaterRow, ...]:
    """One row per rater, those who agree least first, undefined ones before all."""
    values = {} if agreement is None else dict(zip(agreement.rater_ids, agreement.values.tolist(), strict=True))
    why = {} if agreement is None else {rater.rater_id: rater.reason for rater in agreement.undefined}
    rows = []
    for code, rater in enumerate(ratings.rater_ids):
        own = ratings.value[ratings.rater == code]
        mean = float(own.mean()) if len(own) else None
        sd = float(own.std(ddof=1)) if len(own) > 1 else None
        flag = why.get(rater, "" if rater in values else _alone(own.tolist()))
        rows.append(RaterRow(rater, len(own), missing.get(rater, 0), mean, sd, values.get(rater), flag))
    return tuple(sorted(rows, key=lambda row: (row.leave_one_out is not None, row.leave_one_out or 0.0, row.rater)))


def _alone(own: list[float]) -> str:
    if not own:
        return "no rating"
    if len(own) == 1:
        return "rated one item only"
    return f"gave {own[0]:g} to all {len(own)} items" if len(set(own)) == 1 else "agreement is undefined in this table"


# -- choices between options: nominal statistics, for a choice has no rank -------------------------------------------


@dataclass(frozen=True, slots=True)
class ChooserRow:
    """One rater: how many choices, and the share of the other people's choices on the same items that are the same.

    ``agreement`` is the mean over items that somebody else answered too; ``None`` where there is none, and ``flag``
    then says why. *Unit:* share. *Higher means:* agrees more.
    """

    rater: str
    n: int
    n_missing: int
    agreement: float | None
    flag: str = ""


def summarise_choices(
    ratings: Ratings,
    *,
    missing: Mapping[str, int] | None = None,
    resamples: int = 2000,
    seed: int = 0,
    path: str = "",
) -> AgreeSummary:
    """Compute percent agreement, nominal alpha, for two raters Cohen's kappa, and the table of raters.

    The values of *ratings* are codes of options. A statistic without a value keeps its record and a note.
    Errors: :class:`StatisticError` where there are fewer than two raters.
    """
    at_least_two(ratings, path)
    makers: dict[str, Maker] = {
        "percent_agreement(over=items)": lambda: _percent(ratings, resamples, seed),
        "krippendorff_alpha(level=nominal)": lambda: _alpha(ratings, resamples, seed),
    }
    if len(np.unique(ratings.rater)) == 2:
        makers["cohen_kappa(weights=none)"] = lambda: _kappa(ratings, resamples, seed)
    records = tuple(record for name, make in makers.items() for record in records_of(name, make))
    return AgreeSummary(counts_of(ratings, "choices"), records, _chooser_rows(ratings, missing or {}))


def _percent(ratings: Ratings, resamples: int, seed: int) -> list[Record]:
    found = percent_agreement(ratings, resamples=resamples, seed=seed)
    return [_record(found.name, found.value, found.interval, found.n)]


def _alpha(ratings: Ratings, resamples: int, seed: int) -> list[Record]:
    found = krippendorff_alpha(ratings, level="nominal", resamples=resamples, seed=seed)
    return [_record(found.name, found.value, found.interval, found.n_items)]


def _kappa(ratings: Ratings, resamples: int, seed: int) -> list[Record]:
    table = ratings.matrix()
    first, second = table[np.unique(ratings.rater)]
    found = cohen_kappa(first, second, resamples=resamples, seed=seed)
    return [_record(found.name, found.value, found.interval, found.n)]


def _record(name: str, value: float, interval: Interval, n: int) -> Record:
    return flat_record(name, value, interval, n, "items")


def _chooser_rows(ratings: Ratings, missing: Mapping[str, int]) -> tuple[ChooserRow, ...]:
    """One row per rater, those who agree least first, undefined ones before all."""
    options, table = option_table(ratings)
    code = np.searchsorted(options, ratings.value)
    others = ratings.counts()[ratings.item] - 1
    # of those who answered the item, everybody but the rater who chose the same
    same = table[ratings.item, code] - 1
    rows = []
    for number, rater in enumerate(ratings.rater_ids):
        own = ratings.rater == number
        shared = own & (others > 0)
        share = float(np.mean(same[shared] / others[shared])) if shared.any() else None
        alone = "nobody else answered these items" if own.any() else "no choice"
        flag = alone if share is None else ""
        rows.append(ChooserRow(rater, int(own.sum()), missing.get(rater, 0), share, flag))
    return tuple(sorted(rows, key=lambda row: (row.agreement is not None, row.agreement or 0.0, row.rater)))
