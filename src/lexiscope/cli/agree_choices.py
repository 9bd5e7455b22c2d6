"""What ``lexiscope agree`` computes of choices between options: nominal statistics, for a choice has no rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.choices import cohen_kappa, option_table, percent_agreement
from lexiscope.analysis.ratings import Ratings
from lexiscope.cli.agree_summary import AgreeSummary, Maker, at_least_two, counts_of, flat_record, records_of
from lexiscope.core.result import Interval, Record


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
