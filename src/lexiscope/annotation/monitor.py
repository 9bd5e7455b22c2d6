"""Progress of a running study: what ``annotate status`` prints, coverage, agreement, participants still needed.

Every function reads tables and returns frozen figures; the dashboard and ``annotate status`` show the same figures. A
figure that cannot be computed yet has a reason in place of its value.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexiscope.analysis.agreement.alpha import Level, krippendorff_alpha
from lexiscope.analysis.agreement.consistency import TopUp, coverage
from lexiscope.analysis.agreement.raters import leave_one_out, mean_of_others
from lexiscope.analysis.exclusion import Rule, format_rule
from lexiscope.analysis.ratings import Ratings, choices_from_table
from lexiscope.annotation.export.pay import Pay, PayTopUp, pay_so_far, pay_top_ups
from lexiscope.annotation.phrases import (
    ARE_TEXTS,
    NO_ANSWERS,
    NO_DATA,
    NO_INTERVAL,
    NO_VARIATION,
    UNDEFINED,
    Phrase,
    too_few_raters,
    too_few_shared,
)
from lexiscope.annotation.store.export import FINISHED
from lexiscope.annotation.store.overview import ListedParticipant, study_status
from lexiscope.annotation.store.places import ListLoad
from lexiscope.annotation.store.record import Kind, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import AboutYou
from lexiscope.annotation.study_file.exclusions import CurrentExclusions, current_exclusions, declared_rules
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.core.errors import LexiscopeError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Interval, parse_statistic

_FEWEST_ITEMS = 3
"""The fewest items that a participant shares with others, for a correlation."""
_MOST_OMITTED = 50
"""The most participants that leave-one-out agreement omits one by one for its interval; more are omitted in groups."""
LEFT = frozenset({"returned", "timed_out"})
UNDER_WAY = frozenset({"consented", "qualified", "active"})


@dataclass(frozen=True, slots=True)
class ListProgress:
    """The progress of a list; ``share`` is the share of its places with a valid participant."""

    list_id: str
    places: int
    valid: int
    active: int
    excluded: int
    free: int

    @property
    def share(self) -> float:
        """Valid participants over places, at most 1. *Unit:* share."""
        return min(1.0, self.valid / self.places) if self.places else 1.0


@dataclass(frozen=True, slots=True)
class ItemCoverage:
    """The numbers of valid answers per item, the minimum, and the items below it."""

    minimum: int
    n_min: int
    n_mean: float
    n_max: int
    n_items: int
    short: tuple[TopUp, ...]


@dataclass(frozen=True, slots=True)
class MonitoredStatistic:
    """A statistic with its 95 % interval and n; without a value, ``why`` is the reason.

    ``lowest`` and ``highest`` are the participants who agree least and most, if each of them has a value, ``raters``
    all of these values, without names and in ascending order; ``resampled`` is what the interval resampled: ``raters``,
    ``items``, ``raters_and_items``. ``no_interval`` is why there is none.
    """

    name: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    resampled: str = ""
    lowest: float | None = None
    highest: float | None = None
    why: Phrase | None = None
    no_interval: Phrase | None = None
    raters: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class AboutSummary:
    """The answers to one question about the participant: counts of options in their order, or a summary of numbers."""

    measure: str
    n: int
    counts: tuple[tuple[str, int], ...] = ()
    mean: float | None = None
    median: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The participants to recruit for a list: ``needed`` valid ones; ``ask`` includes the losses observed so far."""

    list_id: str
    needed: int
    active: int
    ask: int


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses observed so far: shares of participants who left after they began, and of finished ones excluded.

    A share is empty while no participant can be counted; then nothing is added for it.
    """

    n_begun: int
    dropout: float | None
    n_finished: int
    exclusion: float | None


def list_progress(loads: Mapping[str, ListLoad]) -> tuple[ListProgress, ...]:
    """Return the progress of each list, in the order of the lists (2 before 10)."""
    ordered = sorted(loads.items(), key=lambda entry: (len(entry[0]), entry[0]))
    return tuple(
        ListProgress(name, load.places, load.valid, load.active, load.excluded, load.free) for name, load in ordered
    )


def item_coverage(table: ResponseTable, lists: Mapping[str, str], *, minimum: int, measure: str) -> ItemCoverage:
    """Return the numbers of answers per item; *table* has the valid answers, *lists* maps every item to its list.

    Options and texts count as numbers do. *Source:* SAW-C §3.2.
    Errors: :class:`StatisticError` if there are no items.
    """
    answers = table.where(measure=measure, item_id=list(lists))
    answers = answers.filter(_has_answer(answers))
    raters, items = answers.column("subject_id"), answers.column("item_id")
    covered = coverage(Ratings.from_arrays(raters, items, np.ones(len(answers))), minimum=minimum, lists=lists)
    return ItemCoverage(minimum, covered.n_min, covered.n_mean, covered.n_max, covered.n_items, covered.short)


def live_exclusions(rules: Sequence[Rule], table: ResponseTable) -> CurrentExclusions:
    """Return the exclusions at the moment; if a rule stops with an error, no rule is applied and all are pending."""
    try:
        return current_exclusions(rules, table) if len(table) else CurrentExclusions({}, ())
    except LexiscopeError:
        return CurrentExclusions({}, tuple((format_rule(rule), NO_DATA) for rule in rules))


def agreement_so_far(table: ResponseTable, *, measure: str) -> tuple[MonitoredStatistic, ...]:
    """Return leave-one-out agreement (mean over participants) and alpha of the valid answers, with 95 % intervals.

    For options it is nominal alpha alone: a choice has no rank. *table* has real items only, no catch trials.
    """
    rows = table.where(measure=measure)
    if not len(rows) or not _has_answer(rows).any():
        return (MonitoredStatistic("agreement", None, 0, why=NO_ANSWERS),)
    if np.isnan(rows.column("value")).all():
        choices = rows.filter(np.array([option is not None for option in rows.column("option")], dtype=bool))
        if not len(choices):
            return (MonitoredStatistic("agreement", None, 0, why=ARE_TEXTS),)
        ratings, _ = choices_from_table(choices, measure=measure)
        return (_alpha(ratings, "nominal"),)
    ratings = Ratings.from_table(rows, measure=measure)
    return _leave_one_out_agreement(ratings), _alpha(ratings, "interval")


def about_summaries(table: ResponseTable, questions: Sequence[AboutYou]) -> tuple[AboutSummary, ...]:
    """Return the answers of the participants in *table* to each question about them."""
    return tuple(_about_summary(table.where(measure=question.measure), question) for question in questions)


def is_active(person: ListedParticipant) -> bool:
    """Return whether a participant is between consent and the last answer, and not silent for longer than a lease."""
    return person.state in UNDER_WAY and not person.silent


def has_left(person: ListedParticipant) -> bool:
    """Return whether a participant began the trials and left, or seems to have left: a silent one may return."""
    away = person.state in LEFT or (person.state in UNDER_WAY and person.silent)
    return away and person.active_at is not None and person.finished_at is None


def losses(people: Iterable[ListedParticipant]) -> Losses:
    """Return the shares of participants who left after they had begun, and of finished participants who are excluded.

    Active participants count in neither; a participant whose lease ran out counts as having left until they return.
    """
    listed = list(people)
    finished = [person for person in listed if person.state in FINISHED and person.finished_at is not None]
    left = [person for person in listed if has_left(person)]
    excluded = sum(person.state == "excluded" for person in finished)
    begun = len(finished) + len(left)
    return Losses(
        begun, len(left) / begun if begun else None, len(finished), excluded / len(finished) if finished else None
    )


def top_up_suggestions(progress: Sequence[ListProgress], lost: Losses, *, per_item: int) -> tuple[Suggestion, ...]:
    """Return the participants to recruit for each list that would end with fewer than ``per_item`` valid ones.

    Active participants count with the share that is expected to remain.

    >>> lost = Losses(n_begun=50, dropout=0.1, n_finished=45, exclusion=1 / 9)
    >>> top_up_suggestions([ListProgress("1", 10, 6, 0, 1, 4)], lost, per_item=10)  # 4 / (.9 × 8/9) = 5
    (Suggestion(list_id='1', needed=4, active=0, ask=5),)
    """
    remain = (1 - (lost.dropout or 0)) * (1 - (lost.exclusion or 0))
    suggestions = []
    for part in progress:
        needed = per_item - part.valid
        expected = needed - part.active * remain
        # if all have left or were excluded, the share that remains is unknown: then no losses are added
        ask = math.ceil(round(expected / (remain or 1), 9))
        if needed > 0 and ask > 0:
            suggestions.append(Suggestion(part.list_id, needed, part.active, ask))
    return tuple(suggestions)


def _has_answer(table: ResponseTable) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return the rows with a number, an option or a text; a skipped item has none of them."""
    pairs = zip(table.column("option"), table.column("raw"), strict=True)
    has_text = np.array([option is not None or raw is not None for option, raw in pairs], dtype=bool)
    return np.asarray(~np.isnan(table.column("value")) | has_text)


def _leave_one_out_agreement(ratings: Ratings) -> MonitoredStatistic:
    name = "leave_one_out_agreement(method=spearman)"
    try:
        agreement = leave_one_out(ratings, minimum=_FEWEST_ITEMS, resamples=_MOST_OMITTED)
    except StatisticError:
        return MonitoredStatistic(name, None, 0, why=_why_undefined(ratings, fewest_items=_FEWEST_ITEMS))
    mean = MonitoredStatistic(
        name,
        agreement.mean,
        agreement.n_raters,
        lowest=agreement.minimum,
        highest=agreement.maximum,
        raters=tuple(sorted(agreement.values.tolist())),
    )
    return _with_interval(mean, agreement.interval)


def _alpha(ratings: Ratings, level: Level) -> MonitoredStatistic:
    name = f"krippendorff_alpha(level={level})"
    try:
        alpha = krippendorff_alpha(ratings, level=level)
    except StatisticError:
        return MonitoredStatistic(name, None, 0, why=_why_undefined(ratings, fewest_items=1))
    assert alpha.value is not None
    return _with_interval(MonitoredStatistic(name, alpha.value, ratings.n_pairable), alpha.interval)


def _with_interval(statistic: MonitoredStatistic, interval: Interval) -> MonitoredStatistic:
    if not interval.is_defined or math.isnan(interval.low) or math.isnan(interval.high):
        return replace(statistic, no_interval=NO_INTERVAL)
    resampled = parse_statistic(interval.method)[1].get("resampled", "")
    return replace(statistic, low=interval.low, high=interval.high, resampled=resampled)


def _why_undefined(ratings: Ratings, *, fewest_items: int) -> Phrase:
    """Return the reason for a missing agreement: participants, items that they share, or variation."""
    n_raters = len(np.unique(ratings.rater))
    if n_raters < 2:
        return too_few_raters(n_raters)
    _, has_others = mean_of_others(ratings)
    most = int(np.bincount(ratings.rater[has_others]).max(initial=0))
    if most < fewest_items:
        return too_few_shared(most, needed=fewest_items)
    return NO_VARIATION if len(np.unique(ratings.value[has_others])) == 1 else UNDEFINED


def _about_summary(rows: ResponseTable, question: AboutYou) -> AboutSummary:
    if question.kind == "number":
        values = sorted(value for value in rows.column("value").tolist() if value == value)
        if not values:
            return AboutSummary(question.measure, 0)
        middle = statistics.median(values)
        return AboutSummary(question.measure, len(values), (), statistics.fmean(values), middle, values[0], values[-1])
    if question.kind == "text":
        return AboutSummary(question.measure, int(_has_answer(rows).sum()))
    given = [option for option in rows.column("option").tolist() if option is not None]
    names = dict.fromkeys([*(option.value for option in question.options), *sorted(set(given))])
    return AboutSummary(question.measure, len(given), tuple((name, given.count(name)) for name in names))


# -- the progress of a study: what ``annotate status`` prints --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The progress of a study.

    ``valid`` of ``wanted`` participants are valid, over all lists and views; ``at_it`` are active, ``left`` dropped
    out. ``views`` maps a list to its view. ``states`` counts participants; ``coverage`` is by view, and empty if items
    are drawn from a pool; ``owed`` are the underpaid participants; ``waiting`` the pending rules with their reasons;
    ``simulated``: the participants are simulated.
    """

    status: str
    complete: bool
    valid: int
    wanted: int
    at_it: int
    left: int
    lists: tuple[ListProgress, ...]
    views: Mapping[str, str]
    states: Mapping[str, int]
    coverage: Mapping[str, ItemCoverage]
    pay: Pay
    owed: tuple[PayTopUp, ...]
    suggestions: tuple[Suggestion, ...]
    waiting: tuple[tuple[str, str], ...]
    simulated: bool = False


def progress_of(study: FrozenStudy, store: Store) -> StudyProgress:
    """Read the progress of a study.

    Errors: those of the store.
    """
    definition, people, loads = study.definition, store.people(), store.loads()
    lists, need = list_progress(loads), study.quota.need
    table = store.responses()
    rules, payment = declared_rules(definition, study.design), definition.payment
    return StudyProgress(
        status=store.read(study_status),
        complete=all(part.valid >= need for part in lists),
        valid=sum(part.valid for part in lists),
        wanted=need * len(lists),
        at_it=sum(map(is_active, people)),
        left=sum(map(has_left, people)),
        lists=lists,
        views=dict(study.record.views),
        states=dict(sorted(Counter(str(person.state) for person in people).items())),
        coverage={} if study.screen.drawn else _coverage(study, people, table),
        pay=pay_so_far(people, amount=payment.amount, currency=payment.currency),
        owed=pay_top_ups(people, amount=payment.amount, hourly_least=payment.hourly_least),
        suggestions=top_up_suggestions(lists, losses(people), per_item=need),
        waiting=tuple((rule, str(why)) for rule, why in live_exclusions(rules, table).waiting),
        simulated=store.holds_simulated(),
    )


def _coverage(study: FrozenStudy, people: Sequence[ListedParticipant], table: ResponseTable) -> dict[str, ItemCoverage]:
    """Return the coverage of every view: answers in one arm do not count in another."""
    valid = [person.participant_id for person in people if person.state in (State.FINISHED, State.ACCEPTED)]
    real = [item.item_id for item in study.record.items if item.kind is Kind.ITEM]
    table, minimum = table.where(subject_id=valid, item_id=real), study.definition.ratings.per_item
    coverage: dict[str, ItemCoverage] = {}
    for arm, view in enumerate(study.definition.views):
        # the lists of the first view come first, then those of the second
        numbered = enumerate(study.design.lists, 1 + arm * len(study.design.lists))
        lists = {item.item_id: str(number) for number, items in numbered for item in items}
        seen = table.where(list_id=[name for name, shown in study.record.views.items() if shown == view])
        coverage[view] = item_coverage(seen, lists, minimum=minimum, measure=study.screen.measure)
    return coverage
