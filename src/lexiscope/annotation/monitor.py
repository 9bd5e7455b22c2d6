"""What a researcher watches while a study runs, as figures: progress, coverage, pay, agreement, who is to be asked yet.

Every function reads tables and returns frozen figures; the dashboard and ``annotate status`` show the same ones. A
figure that cannot be computed yet says why instead of showing a number.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lexiscope.analysis.agreement.alpha import Level, krippendorff_alpha
from lexiscope.analysis.agreement.consistency import TopUp, coverage
from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.exclusion import Rule
from lexiscope.analysis.ratings import Ratings, choices_from_table
from lexiscope.annotation.export.collected import FINISHED, PersonLike
from lexiscope.annotation.study_file.assignment import HasLoad
from lexiscope.annotation.study_file.definition import AboutYou
from lexiscope.annotation.study_file.exclusions import judge_now
from lexiscope.core.errors import LexiscopeError, StatisticError
from lexiscope.core.response import ResponseTable

LEFT = frozenset({"returned", "timed_out"})
UNDER_WAY = frozenset({"consented", "qualified", "active"})


class SeenPerson(PersonLike, Protocol):
    """A participant, and whether there is still a sign of life of them."""

    @property
    def silent(self) -> bool:
        """Whether nothing came for as long as a place is held."""


class HasPlaces(HasLoad, Protocol):
    """How full a list is, and how many people it wants, as a store counts it."""

    @property
    def places(self) -> int:
        """People who are wanted."""

    @property
    def free(self) -> int:
        """Places that somebody can take."""


@dataclass(frozen=True, slots=True)
class ListProgress:
    """How far a list is; ``share`` is that of its places which are validly filled."""

    list_id: str
    places: int
    valid: int
    active: int
    excluded: int
    free: int

    @property
    def share(self) -> float:
        """Valid people over places, at most 1. *Unit:* share."""
        return min(1.0, self.valid / self.places) if self.places else 1.0


@dataclass(frozen=True, slots=True)
class ItemCoverage:
    """How many valid answers items have against the minimum, and which items are short of it."""

    minimum: int
    n_min: int
    n_mean: float
    n_max: int
    n_items: int
    short: tuple[TopUp, ...]


@dataclass(frozen=True, slots=True)
class LiveExclusion:
    """Somebody whom a rule excludes at the moment, and the rule."""

    participant_id: str
    rule: str


@dataclass(frozen=True, slots=True)
class LiveExclusions:
    """Who is excluded at the moment; ``waiting`` are rules that cannot be judged yet, with the reason."""

    excluded: tuple[LiveExclusion, ...]
    waiting: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MonitoredStatistic:
    """A statistic with its n; where it has no value yet, ``why`` says so."""

    name: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class AboutSummary:
    """What participants said to one question: counts of options in their order, or a summary of numbers."""

    measure: str
    n: int
    counts: tuple[tuple[str, int], ...] = ()
    mean: float | None = None
    median: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """How many more people to ask for on a list: ``needed`` valid ones, ``ask`` with the losses observed so far."""

    list_id: str
    needed: int
    active: int
    ask: int


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses observed so far: shares of people who left after they began, and of finished ones excluded.

    A share is empty where nobody can be counted yet; then nothing is added for it.
    """

    n_begun: int
    dropout: float | None
    n_finished: int
    exclusion: float | None


def list_progress(loads: Mapping[str, HasPlaces]) -> tuple[ListProgress, ...]:
    """Return how far each list is, in the order of the lists (2 before 10)."""
    names = sorted(loads, key=lambda name: (len(name), name))
    found = ((name, loads[name]) for name in names)
    return tuple(ListProgress(name, one.places, one.valid, one.active, one.excluded, one.free) for name, one in found)


def item_coverage(table: ResponseTable, lists: Mapping[str, str], *, minimum: int, measure: str) -> ItemCoverage:
    """Return how many answers items have; *table* holds the answers that count, *lists* maps every item to its list.

    Options and texts count as numbers do. *Source:* SAW-C §3.2.
    Errors: :class:`StatisticError` where there are no items.
    """
    answers = table.where(measure=measure)
    known = np.isin(answers.column("item_id").astype(str), sorted(lists))
    answers = answers.filter(known & _answered(answers))
    raters, items = answers.column("subject_id"), answers.column("item_id")
    found = coverage(Ratings.from_arrays(raters, items, np.ones(len(answers))), minimum=minimum, lists=lists)
    return ItemCoverage(minimum, found.n_min, found.n_mean, found.n_max, found.n_items, found.short)


def live_exclusions(rules: Sequence[Rule], table: ResponseTable, *, fewest: int = 3) -> LiveExclusions:
    """Return whom the rules exclude at the moment; a rule that stops with an error waits, with its reason."""
    try:
        now = judge_now(rules, table, fewest=fewest) if len(table) else None
    except LexiscopeError as error:
        return LiveExclusions((), (("the rules", error.what),))
    if now is None:
        return LiveExclusions((), ())
    return LiveExclusions(tuple(LiveExclusion(*pair) for pair in sorted(now.excluded.items())), now.waiting)


def agreement_so_far(table: ResponseTable, *, measure: str) -> tuple[MonitoredStatistic, ...]:
    """Return leave-one-out agreement (mean, with lowest and highest person) and alpha of the answers that count.

    For options it is nominal alpha alone: a choice has no rank. *table* holds real items only, no catch trials.
    """
    rows = table.where(measure=measure)
    if not len(rows) or not _answered(rows).any():
        return (MonitoredStatistic("agreement", None, 0, why="nobody's answers count yet"),)
    if np.isnan(rows.column("value")).all():
        choices = rows.filter(np.array([option is not None for option in rows.column("option")], dtype=bool))
        if not len(choices):
            return (MonitoredStatistic("agreement", None, 0, why="the answers are texts: nobody agrees or disagrees"),)
        ratings, _ = choices_from_table(choices, measure=measure)
        return (_alpha(ratings, "nominal"),)
    ratings = Ratings.from_table(rows, measure=measure)
    return _leave_one_out(ratings), _alpha(ratings, "interval")


def about_participants(table: ResponseTable, questions: Sequence[AboutYou]) -> tuple[AboutSummary, ...]:
    """Return what the people in *table* said about themselves, question by question."""
    return tuple(_about(table.where(measure=question.measure), question) for question in questions)


def is_at_it(person: SeenPerson) -> bool:
    """Say whether somebody is between consent and the last answer, with a sign of life within a place's time."""
    return str(person.state) in UNDER_WAY and not person.silent


def has_left(person: SeenPerson) -> bool:
    """Say whether somebody began the trials and will not finish, as far as can be seen; who is silent may come back."""
    away = str(person.state) in LEFT or (str(person.state) in UNDER_WAY and person.silent)
    return away and person.active_at is not None and person.finished_at is None


def losses(people: Iterable[SeenPerson]) -> Losses:
    """Return the shares of people who left after they had begun, and of those who finished and are excluded.

    Whoever is still at it counts in neither; whose place ran out has left until they come back.
    """
    listed = list(people)
    finished = [one for one in listed if str(one.state) in FINISHED and one.finished_at is not None]
    left = [one for one in listed if has_left(one)]
    excluded = sum(str(one.state) == "excluded" for one in finished)
    begun = len(finished) + len(left)
    return Losses(
        begun, len(left) / begun if begun else None, len(finished), excluded / len(finished) if finished else None
    )


def top_up_suggestions(progress: Sequence[ListProgress], lost: Losses, *, per_item: int) -> tuple[Suggestion, ...]:
    """Return how many more people to ask for on each list that will be short of ``per_item`` valid ones.

    People who are at it count with the share that is expected to remain.

    >>> lost = Losses(n_begun=50, dropout=0.1, n_finished=45, exclusion=1 / 9)
    >>> top_up_suggestions([ListProgress("1", 10, 6, 0, 1, 4)], lost, per_item=10)  # 4 / (.9 × 8/9) = 5
    (Suggestion(list_id='1', needed=4, active=0, ask=5),)
    """
    remain = (1 - (lost.dropout or 0)) * (1 - (lost.exclusion or 0))
    found = []
    for one in progress:
        needed = per_item - one.valid
        expected = needed - one.active * remain
        # where everybody left or was excluded nothing can be foretold: then nothing is added
        ask = math.ceil(round(expected / (remain or 1), 9))
        if needed > 0 and ask > 0:
            found.append(Suggestion(one.list_id, needed, one.active, ask))
    return tuple(found)


def _answered(table: ResponseTable) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Where there is a number, an option or a text; a skipped item has none of them."""
    number = ~np.isnan(table.column("value"))
    said = [
        option is not None or raw is not None
        for option, raw in zip(table.column("option"), table.column("raw"), strict=True)
    ]
    return np.asarray(number | np.array(said, dtype=bool))


def _leave_one_out(ratings: Ratings) -> MonitoredStatistic:
    name = "leave_one_out_agreement(method=spearman)"
    try:
        found = leave_one_out(ratings, resamples=0)
    except StatisticError as error:
        return MonitoredStatistic(name, None, 0, why=error.why or error.what)
    return MonitoredStatistic(name, found.mean, found.n_raters, found.minimum, found.maximum)


def _alpha(ratings: Ratings, level: Level) -> MonitoredStatistic:
    try:
        found = krippendorff_alpha(ratings, level=level, resamples=0)
    except StatisticError as error:
        return MonitoredStatistic(f"krippendorff_alpha(level={level})", None, 0, why=error.what)
    return MonitoredStatistic(found.name, found.value, found.n_ratings)


def _about(rows: ResponseTable, question: AboutYou) -> AboutSummary:
    if question.kind == "number":
        values = sorted(value for value in rows.column("value").tolist() if value == value)
        if not values:
            return AboutSummary(question.measure, 0)
        middle = statistics.median(values)
        return AboutSummary(question.measure, len(values), (), statistics.fmean(values), middle, values[0], values[-1])
    if question.kind == "text":
        return AboutSummary(question.measure, int(_answered(rows).sum()))
    given = [option for option in rows.column("option").tolist() if option is not None]
    names = dict.fromkeys([*(option.value for option in question.options), *sorted(set(given))])
    return AboutSummary(question.measure, len(given), tuple((name, given.count(name)) for name in names))
