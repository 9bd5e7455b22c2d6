"""What an ending does to the meanings of a story: open against ended, ending against ending, intended against other.

A setup has two endings and none, each judged for two meanings: six items. *Source:* AmbiStory §4.2 and Table 7. Items
are known here by their place in a setup alone; which subject saw what is no matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray, group_codes, percentile_interval, resample_counts
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.predictions import Predictor
from lexiscope.analysis.norms.within_sd import UNREAD, accuracy_within_sd
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.analysis.significance import TestResult, rank_sum_p_without_ties, wilcoxon_rank_sum
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Estimate, Interval, parse_statistic, statistic_name

Kind = Literal["open", "ended"]
KINDS: tuple[Kind, ...] = ("open", "ended")
ENDINGS = ("A", "B", "open")
MEANINGS = ("1", "2")
_PLACES = tuple((ending_of, meaning) for ending_of in ENDINGS for meaning in MEANINGS)


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """Where an item stands: its setup, whose ending its story has (A, B or open), which meaning is judged (1 or 2).

    Ending A was written for meaning 1, ending B for meaning 2.
    """

    setup: str
    ending_of: str
    meaning: str

    @property
    def kind(self) -> Kind:
        """Whether the story is left open."""
        return "open" if self.ending_of == "open" else "ended"


@dataclass(frozen=True, slots=True)
class Shift:
    """Absolute differences of mean ratings: how far an ending moves a meaning.

    ``sd`` divides by n − 1, ``sd_population`` by n (what the paper prints). The interval of ``mean`` resamples setups,
    or what groups them. *Unit:* points of the scale.
    """

    name: str
    mean: float
    sd: float
    sd_population: float
    interval: Interval
    n: int
    n_groups: int

    def results(self) -> tuple[Estimate, ...]:
        """Return the mean with its interval, and the two standard deviations."""
        between = parse_statistic(self.name)[1]["between"]
        mean = Estimate(self.name, self.mean, self.interval, self.n, self.n_groups)
        sds = enumerate((self.sd_population, self.sd))
        name = "absolute_difference_sd"
        return mean, *(Estimate(statistic_name(name, between=between, ddof=k), sd, n=self.n) for k, sd in sds)


@dataclass(frozen=True, slots=True)
class Order:
    """How often one mean rating is above, equal to, or below another. Shares add up to 1; the interval is of above."""

    name: str
    above: float
    equal: float
    below: float
    interval: Interval
    n: int

    def results(self) -> tuple[Estimate, ...]:
        """Return the three shares, the first with its interval. *Unit:* percent."""
        shares = (("above", self.above), ("equal", self.equal), ("below", self.below))
        found = [
            Estimate(statistic_name(self.name, share=share), 100 * value, n=self.n, unit="percent")
            for share, value in shares
        ]
        return found[0].about(interval=self.interval.times(100)), *found[1:]


@dataclass(frozen=True, slots=True)
class EndingEffects:
    """All comparisons within setups: two shifts and two orders."""

    open_to_ended: Shift
    ending_to_ending: Shift
    intended_above_other: Order
    ending_raises_intended: Order

    def results(self) -> tuple[Estimate, ...]:
        """Return the results of both shifts and both orders."""
        parts = (self.open_to_ended, self.ending_to_ending, self.intended_above_other, self.ending_raises_intended)
        return tuple(result for part in parts for result in part.results())


@dataclass(frozen=True, slots=True)
class OpenAgainstEnded:
    """Whether people disagree more about open stories: mean SDs and the rank-sum test of all SDs (open first).

    ``p_without_ties`` is the p of the same test where the variance is not corrected for ties (and there is no
    continuity correction): what some programs print.
    """

    open_sd: float
    ended_sd: float
    test: TestResult
    p_without_ties: float

    def results(self, condition: str) -> tuple[Estimate, ...]:
        """Return both mean SDs, then the test: U with its p, its p, and the p without corrections.

        *condition* says which stories were compared; those of the SDs name the kind of story too.
        """
        n, name = sum(self.test.n), "rank_sum"
        of: dict[str, str] = {"of": "sd", "between": "open_and_ended"}
        tests = (
            Estimate(statistic_name(name, **of), self.test.statistic, n=n, p=self.test.p),
            Estimate(statistic_name(name, **of, value="p"), self.test.p, n=n),
            Estimate(statistic_name(name, **of, ties="ignored", value="p"), self.p_without_ties, n=n),
        )
        sds = (("open", self.open_sd), ("ended", self.ended_sd))
        means = [Estimate("kind_mean_sd(ddof=1)", sd, condition=f"{condition}, {kind}") for kind, sd in sds]
        return *means, *(test.about(condition=condition) for test in tests)


def story_places(conditions: Mapping[str, Mapping[str, object]]) -> dict[str, StoryPlace]:
    """Return the place of each item from its conditions ``setup``, ``ending_of`` and ``meaning``.

    Errors: :class:`InputError` naming an item that lacks one of them or has another value.
    """
    found = {}
    for item, has in conditions.items():
        place = StoryPlace(*(str(has.get(name, "")) for name in ("setup", "ending_of", "meaning")))
        if not place.setup or (place.ending_of, place.meaning) not in _PLACES:
            hint = "it needs setup, ending_of (A, B, open) and meaning (1, 2)"
            raise InputError("this item has no place in a story", place=Place(item_id=item), hint=hint)
        found[item] = place
    return found


def ending_effects(
    ratings: Ratings,
    places: Mapping[str, StoryPlace],
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> EndingEffects:
    """Return how far endings move mean ratings, and how often in the direction they were written for.

    Setups without all six items are refused. *groups* (setup → word) are resampled whole instead of setups.
    Errors: :class:`InputError` for an item without a place; :class:`StatisticError` for a setup that is not whole.
    """
    setups, means = _by_place(ratings.item_ids, ratings.means(), places)
    if groups is not None and (lost := [setup for setup in setups if setup not in groups]):
        raise InputError(f"setup {lost[0]!r} has no word", code="E506")
    labels = setups if groups is None else [groups[setup] for setup in setups]
    a, b, free = means[:, 0, :], means[:, 1, :], means[:, 2, :]
    # meaning 1 of ending A and meaning 2 of ending B were intended
    intended, other = np.stack([a[:, 0], b[:, 1]], axis=1), np.stack([a[:, 1], b[:, 0]], axis=1)
    sample = _SetupSample(labels, level, resamples, seed)
    return EndingEffects(
        open_to_ended=sample.shift(
            "absolute_difference(between=open_and_ended)", np.concatenate([a - free, b - free], axis=1)
        ),
        ending_to_ending=sample.shift("absolute_difference(between=endings)", a - b),
        intended_above_other=sample.order("intended_above_other", intended - other),
        ending_raises_intended=sample.order("ending_raises_intended", intended - free),
    )


def open_against_ended(ratings: Ratings, places: Mapping[str, StoryPlace]) -> OpenAgainstEnded:
    """Test whether the SDs of ratings (n − 1) differ between open and ended stories (Wilcoxon's rank-sum test).

    SDs are rounded to 12 digits of the range of the ratings first: equal ones that differ in the last bit are ties.
    *Source:* AmbiStory §5.3.2.
    Errors: :class:`InputError` for an item without a place; those of the test.
    """
    sds = settle(item_sd(ratings), ratings.value)
    kinds = np.array([_place(item, places).kind for item in ratings.item_ids])
    free, ended = (sds[(kinds == kind) & ~np.isnan(sds)] for kind in KINDS)
    if not len(free) or not len(ended):
        raise StatisticError("there are no open stories, or no ended ones, with two ratings")
    test = wilcoxon_rank_sum(free, ended)
    plain = rank_sum_p_without_ties(test.statistic, len(free), len(ended))
    return OpenAgainstEnded(float(free.mean()), float(ended.mean()), test, plain)


def accuracy_by_kind(
    subject: Predictor,
    ratings: Ratings,
    places: Mapping[str, StoryPlace],
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return a subject's accuracy within SD on all, open and ended stories (its condition): a row of Table 7.

    Its predictions are taken as whole numbers. First come the accuracies over readable replies, then those that count
    samples without one as wrong. Predictions of items without ratings are passed over.
    Errors: those of :func:`lexiscope.analysis.norms.within_sd.accuracy_within_sd`; :class:`InputError` for an item
    without a place.
    """
    kinds = np.array([_place(item, places).kind for item in ratings.item_ids])
    items = np.array(ratings.item_ids)
    parts = {"all": ratings} | {str(kind): ratings.of_items(items[kinds == kind].tolist()) for kind in KINDS}
    found = []
    for unread in UNREAD:
        for kind, part in parts.items():
            rated = set(part.item_ids)
            own = {item: value for item, value in subject.predictions.items() if item in rated}
            form = subject.whole_form
            one = accuracy_within_sd(
                own, part, form=form, unread=unread, groups=groups, level=level, resamples=resamples, seed=seed
            )
            found.append(one.about(subject=subject.subject, condition=kind))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _SetupSample:
    """Differences per setup and how they are resampled."""

    labels: Sequence[str]
    level: float
    resamples: int
    seed: int

    def shift(self, name: str, differences: FloatArray) -> Shift:
        sizes = np.abs(differences)
        interval, groups = self._interval(sizes)
        values = sizes.ravel()
        sd, population = float(values.std(ddof=1)), float(values.std())
        return Shift(name, float(values.mean()), sd, population, interval, len(values), groups)

    def order(self, name: str, differences: FloatArray) -> Order:
        # equal means of ratings are equal to the last bit, so every difference is one
        above, equal = differences > 0, differences == 0
        interval, _ = self._interval(above.astype(np.float64))
        below = float((differences < 0).mean())
        return Order(name, float(above.mean()), float(equal.mean()), below, interval, differences.size)

    def _interval(self, values: FloatArray) -> tuple[Interval, int]:
        codes, count = group_codes(np.array(self.labels), len(values))
        sums = np.bincount(codes, weights=values.sum(axis=1), minlength=count)
        sizes = np.bincount(codes, minlength=count) * float(values.shape[1])
        blocks = resample_counts(count, resamples=self.resamples, seed=self.seed)
        draws = np.concatenate([(block @ sums) / (block @ sizes) for block in blocks])
        return percentile_interval(draws, level=self.level), count


def _by_place(
    items: Sequence[str], means: FloatArray, places: Mapping[str, StoryPlace]
) -> tuple[list[str], FloatArray]:
    """The means of whole setups, in code point order. *Shape:* (setups, endings, meanings)."""
    setups = sorted({_place(item, places).setup for item in items})
    row = {setup: number for number, setup in enumerate(setups)}
    table = np.full((len(setups), len(ENDINGS), len(MEANINGS)), np.nan)
    for item, mean in zip(items, means.tolist(), strict=True):
        place = places[item]
        table[row[place.setup], ENDINGS.index(place.ending_of), MEANINGS.index(place.meaning)] = mean
    broken = np.flatnonzero(np.isnan(table).any(axis=(1, 2)))
    if len(broken):
        raise StatisticError(
            f"setup {setups[broken[0]]!r} (and {len(broken) - 1} more) lacks ratings of one of its six items",
            hint="leave such setups out, and say how many",
        )
    return setups, table


def _place(item: str, places: Mapping[str, StoryPlace]) -> StoryPlace:
    if item not in places:
        raise InputError("this item has no place in a story", place=Place(item_id=item))
    return places[item]
