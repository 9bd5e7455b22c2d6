"""Decisions in choice sets: the option that a subject prefers, and accuracy if undecided answers are random.

A choice set is an item of which one option is right (``correct``) and the others are not. The right option wins where
its value is strictly greater than every other; a tie counts as wrong and is reported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.accuracy import accuracy
from lexiscope.analysis.agreement.choices import share
from lexiscope.analysis.bootstrap import BoolArray, FloatArray, GroupLabels, IntArray, groups_of
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, parse_statistic, statistic_name
from lexiscope.core.scoring import Per, ScoringPolicy

CORRECT = "correct"
"""The option that is right, and the measure of a recorded outcome (1 = right, 0 = wrong)."""

N_TOKENS = "n_tokens"
"""The measure that counts an option's tokens under the scoring policy."""
_SELF_TEST = "self_test_margin"


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """What one subject decided in each choice set.

    *Shape:* all (items,). ``correct``: the right option won. ``tied``: it shares the highest value. ``margin``: its
    value minus the best of the others, in the measure's own unit, NaN for recorded outcomes. ``winner``: the option
    with the highest value (the first of several); empty for recorded outcomes. ``n_options``: 0 where not recorded.
    """

    subject: str
    measure: str
    item_ids: tuple[str, ...]
    correct: BoolArray
    tied: BoolArray
    margin: FloatArray
    winner: tuple[str, ...]
    n_options: IntArray

    def __len__(self) -> int:
        return len(self.item_ids)

    @property
    def n_tied(self) -> int:
        """How many choice sets were tied (and are counted wrong)."""
        return int(self.tied.sum())

    def aligned(self, item_ids: Sequence[str]) -> Decisions:
        """Return the decisions on these items, in this order.

        Errors: :class:`InputError` for an item without a decision.
        """
        place = {item_id: row for row, item_id in enumerate(self.item_ids)}
        missing = [item_id for item_id in item_ids if item_id not in place]
        if missing:
            raise InputError(
                f"{self.subject} has no decision on {len(missing)} of {len(item_ids)} choice sets",
                place=Place(item_id=missing[0]),
                hint="finish the collection of this subject, or leave the subject out",
            )
        rows = np.array([place[item_id] for item_id in item_ids], dtype=np.int64)
        return Decisions(
            self.subject,
            self.measure,
            tuple(item_ids),
            self.correct[rows],
            self.tied[rows],
            self.margin[rows],
            tuple(self.winner[row] for row in rows),
            self.n_options[rows],
        )

    def margins(self) -> tuple[Estimate, ...]:
        """Return the quartiles of the margins and the smallest one, by how little it is decided; none without margins.

        Margins of log-probabilities per token have a ratio of perplexities too: that of the best other option over that
        of the right one, geometric mean over items.

        >>> from lexiscope.core.response import Response, ResponseTable
        >>> row = lambda option, value: Response("lm", "lm", "i1", "minimal_pair", "score", value, option)
        >>> table = ResponseTable.from_rows([row("correct", -2.0), row("incorrect_1", -2.5)])
        >>> [(result.name, result.value) for result in decide(table, subject="lm", measure="score").margins()][-1]
        ('margin(summary=smallest_absolute)', 0.5)
        """
        if np.isnan(self.margin).any():
            return ()
        low, median, high = np.quantile(self.margin, (0.25, 0.5, 0.75)).tolist()
        values = {"lower_quartile": low, "median": median, "upper_quartile": high}
        values["smallest_absolute"] = float(np.abs(self.margin).min())
        by_name = {statistic_name("margin", summary=name): value for name, value in values.items()}
        # perplexity is per token by definition: other denominators have none
        if parse_statistic(self.measure)[1].get("per") == "token":
            by_name["perplexity_ratio"] = math.exp(float(self.margin.mean()))
        return tuple(Estimate(name, value, n=len(self)) for name, value in by_name.items())

    def both(self, other: Decisions) -> Decisions:
        """Return the decisions that are right where both are: each with that of *other* at the same place.

        They have the ids of the first, and neither margin nor winner.

        >>> from lexiscope.core.response import Response, ResponseTable
        >>> rows = [Response("lm", "lm", item, "minimal_pair", CORRECT, right) for item, right in (("a", 1), ("b", 0))]
        >>> found = recorded(ResponseTable.from_rows(rows), subject="lm")
        >>> found.both(found.aligned(("b", "a"))).correct.tolist(), found.both(found).correct.tolist()
        ([False, False], [True, False])
        """
        n = len(self)
        return replace(
            self,
            correct=self.correct & other.correct,
            tied=self.tied | other.tied,
            margin=np.full(n, np.nan),
            winner=("",) * n,
            n_options=np.maximum(self.n_options, other.n_options),
        )


@dataclass(frozen=True, slots=True)
class BothWays:
    """Decisions on a relation and on the same turned round, item by item. *Unit:* shares, 0 to 1.

    ``forth`` and ``back`` are the accuracies; ``n_alike`` items of ``n`` are right both ways or wrong both ways,
    ``expected`` is their share if the two directions had nothing to do with each other; ``apart`` is the mean absolute
    difference of the two margins (NaN without margins).
    """

    n: int
    n_alike: int
    forth: float
    back: float
    expected: float
    apart: float

    def results(self) -> tuple[Estimate, ...]:
        """Return how often both are decided alike, in percent, and the difference of the margins, if there are any."""
        alike = Estimate("same_both_ways", 100 * self.n_alike / self.n, n=self.n, unit="percent")
        if math.isnan(self.apart):
            return (alike,)
        return alike, Estimate("direction_difference", self.apart, n=self.n)


def both_ways(first: Decisions, second: Decisions) -> BothWays:
    """Compare decisions on a relation with those on the same relation asked the other way round.

    *Shape:* the same items in the same order. *Source:* Ivan et al. 2025, §6.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("lm", "lm", item, "minimal_pair", CORRECT, right) for item, right in (("a", 1), ("b", 0))]
    >>> found = recorded(ResponseTable.from_rows(rows), subject="lm")
    >>> [(result.name, result.value) for result in both_ways(found, found).results()], both_ways(found, found).expected
    ([('same_both_ways', 100.0)], 0.5)
    """
    forth, back = float(first.correct.mean()), float(second.correct.mean())
    n_alike, apart = int(np.sum(first.correct == second.correct)), np.mean(np.abs(first.margin - second.margin))
    return BothWays(len(first), n_alike, forth, back, forth * back + (1 - forth) * (1 - back), float(apart))


def option_values(
    table: ResponseColumns, *, subject: str, measure: str
) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray]:
    """Return item ids, options (the right one first), and the values that one subject gave to them.

    *Shape:* (items, options), NaN where an item has no such option.

    Errors: :class:`InputError` where the subject has no such rows, if an item has two values for an option, no value
    for one, or no right option.
    """
    rows = table.where(subject_id=subject, measure=measure)
    if not len(rows):
        measures = ", ".join(table.where(subject_id=subject).unique("measure")) or "no answers"
        raise InputError(f"{subject} has no values of {measure}", hint=f"it has {measures}")
    item, item_ids = rows.codes("item_id")
    option, names = rows.codes("option")
    order = (CORRECT, *(name for name in names if name != CORRECT))
    place = np.array([order.index(name) for name in names], dtype=np.int64)
    values = np.full((len(item_ids), len(order)), np.nan)
    filled = np.zeros(values.shape, dtype=np.int64)
    np.add.at(filled, (item, place[option]), 1)
    values[item, place[option]] = rows.column("value")
    _check(filled, values, item_ids, subject)
    return item_ids, order, values


def decide(table: ResponseColumns, *, subject: str, measure: str) -> Decisions:
    """Return what a subject's values decide: the right option wins where its value is strictly greater than all others.

    Ties are wrong and reported. *Higher means:* preferred. *Source:* Ivan et al. 2025, §3.6.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> row = lambda option, value: Response("lm", "causal_lm", "i1", "minimal_pair", "score", value, option)
    >>> table = ResponseTable.from_rows([row("correct", -2.0), row("incorrect_1", -2.5)])
    >>> found = decide(table, subject="lm", measure="score")
    >>> found.correct.tolist(), found.margin.tolist(), found.winner
    ([True], [0.5], ('correct',))

    Errors: those of :func:`option_values`.
    """
    item_ids, options, values = option_values(table, subject=subject, measure=measure)
    right = values[:, 0]
    others = np.where(np.isnan(values[:, 1:]), -np.inf, values[:, 1:])
    best = others.max(axis=1)
    highest = np.where(np.isnan(values), -np.inf, values).argmax(axis=1)
    return Decisions(
        subject,
        measure,
        item_ids,
        right > best,
        right == best,
        right - best,
        tuple(options[column] for column in highest),
        np.sum(~np.isnan(values), axis=1).astype(np.int64),
    )


def recorded(table: ResponseColumns, *, subject: str) -> Decisions:
    """Return the outcomes that were recorded for a subject: rows of the measure ``correct``, 1 or 0, without option.

    Errors: :class:`InputError` for a subject without such rows, a value other than 0 and 1, or an item given twice.
    """
    rows = table.where(subject_id=subject, measure=CORRECT, option=None)
    values, (_, item_ids) = rows.column("value"), rows.codes("item_id")
    if not len(rows) or len(item_ids) < len(rows):
        raise InputError(f"{subject} needs one recorded outcome per choice set, not {len(rows)} for {len(item_ids)}")
    wrong = np.flatnonzero(~np.isin(values, (0.0, 1.0)))
    if len(wrong):
        raise InputError("a recorded outcome is 1 or 0", place=Place(item_id=item_ids[int(wrong[0])]))
    n = len(item_ids)
    nothing = np.zeros(n, dtype=bool)
    return Decisions(
        subject, CORRECT, item_ids, values == 1.0, nothing, np.full(n, np.nan), ("",) * n, np.zeros(n, dtype=np.int64)
    )


def decisions_of(table: ResponseColumns, *, subject: str, per: Per = "token") -> dict[str, Decisions]:
    """Return what one subject decided, by measure: first under the measure that decides, then under other denominators.

    Log-probabilities decide by their value *per* token (text, character, byte); otherwise the first measure of the
    subject that is neither a count of tokens nor a self-test decides. Errors: those of :func:`decide` and
    :func:`recorded`.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> row = Response("lm", "causal_lm", "i1", "minimal_pair", CORRECT, 1.0)
    >>> [(measure, found.correct.tolist()) for measure, found in decisions_of(ResponseTable.from_rows([row]),
    ...  subject="lm").items()]
    [('correct', [True])]
    """
    policies, others = [], []
    for measure in table.where(subject_id=subject).unique("measure"):
        try:
            policies.append(ScoringPolicy.parse(measure))
        except SpecError:
            others.append(measure)
    measures = [name for name in others if name not in (N_TOKENS, _SELF_TEST)][:1]
    if policies:
        measures = [str(policy) for policy in sorted(policies, key=lambda policy: policy.per != per)]
    return {
        measure: recorded(table, subject=subject)
        if measure == CORRECT
        else decide(table, subject=subject, measure=measure)
        for measure in measures
    }


def token_deltas(table: ResponseColumns, *, subject: str) -> dict[str, float]:
    """Return, per choice set, the tokens of the right option minus those of the others (their mean where several).

    *Unit:* tokens. *Higher means:* the right option is cut into more pieces. Errors: those of :func:`option_values`.
    """
    item_ids, _, values = option_values(table, subject=subject, measure=N_TOKENS)
    others = np.nanmean(values[:, 1:], axis=1)
    return dict(zip(item_ids, (values[:, 0] - others).tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class OneByOne:
    """The right option against each of the others alone: ``won`` 1 or 0, ``deltas`` its tokens minus the other's.

    *Shape:* won, deltas (items, others); NaN where an item has no such option, deltas too where none were counted.
    """

    item_ids: tuple[str, ...]
    won: FloatArray
    deltas: FloatArray

    @property
    def several(self) -> bool:
        """Whether any item has several others."""
        return bool((np.sum(~np.isnan(self.won), axis=1) > 1).any())

    @property
    def counted(self) -> bool:
        """Whether the tokens of all options were counted."""
        return not np.isnan(self.deltas[~np.isnan(self.won)]).any()

    def aligned(self, item_ids: Sequence[str]) -> OneByOne:
        """Return the comparisons on these items, in this order."""
        place = {item_id: row for row, item_id in enumerate(self.item_ids)}
        rows = [place[item_id] for item_id in item_ids]
        return OneByOne(tuple(item_ids), self.won[rows], self.deltas[rows])


def one_by_one(table: ResponseColumns, *, subject: str, measure: str) -> OneByOne:
    """Return how the right option does against each of the others alone, by a subject's values: a tie is lost.

    Every comparison has a chance of 1/2, however many options a choice set has.
    Errors: those of :func:`option_values`; :class:`InputError` for a choice set whose tokens were not counted, where
    those of others were.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> row = lambda option, value: Response("lm", "causal_lm", "i1", "minimal_pair", "score", value, option)
    >>> table = ResponseTable.from_rows([row("correct", -2.0), row("incorrect_1", -2.5), row("incorrect_2", -1.0)])
    >>> one_by_one(table, subject="lm", measure="score").won.tolist()
    [[1.0, 0.0]]
    """
    item_ids, options, values = option_values(table, subject=subject, measure=measure)
    won = np.where(np.isnan(values[:, 1:]), np.nan, values[:, :1] > values[:, 1:])
    deltas = np.full(won.shape, np.nan)
    if N_TOKENS in table.where(subject_id=subject).unique("measure"):
        counted_ids, counted_options, counts = option_values(table, subject=subject, measure=N_TOKENS)
        place = {item_id: row for row, item_id in enumerate(counted_ids)}
        lacking = [item_id for item_id in item_ids if item_id not in place]
        if lacking or not set(options) <= set(counted_options):
            what = f"{subject} told the tokens of some options and not of others"
            raise InputError(what, place=Place(item_id=next(iter(lacking), "")), hint="collect its answers again")
        counts = counts[[place[item_id] for item_id in item_ids]][:, [counted_options.index(name) for name in options]]
        deltas = counts[:, :1] - counts[:, 1:]
    return OneByOne(item_ids, won, deltas)


def _check(filled: IntArray, values: FloatArray, item_ids: Sequence[str], subject: str) -> None:
    doubled = np.argwhere(filled > 1)
    unvalued = np.argwhere((filled == 1) & np.isnan(values))
    alone = np.flatnonzero((filled[:, 0] == 0) | ((filled > 0).sum(axis=1) < 2))
    for wrong, what in (
        (doubled, "two values for one option"),
        (unvalued, "an option without a value"),
        (alone, "no right option, or no other option"),
    ):
        if len(wrong):
            item_id = item_ids[int(np.atleast_1d(wrong[0])[0])]
            raise InputError(f"{subject}: a choice set with {what}", place=Place(item_id=item_id))


# -- random answers -------------------------------------------------------------------------------------------------
# Accuracy if some answers are random, because a subject cannot decide: of all, of those it decides, and expected.


ALL, DECIDED = statistic_name("percent_right", of="all"), statistic_name("percent_right", of="decided")
EXPECTED = "expected_accuracy"
UNDECIDED = "identity decides no pair: every answer is random"
"""The note of an expected accuracy that does not depend on the subject."""


def n_random(reason: str) -> str:
    """Return the name of the number of answers that are random for a reason.

    >>> n_random("one sense")
    'n_random(reason=one_sense)'
    """
    return statistic_name("n_random", reason=reason.replace(" ", "_"))


def accuracy_with_random(
    right: ArrayLike,
    reasons: Sequence[str | None],
    *,
    words: ArrayLike,
    counted: Sequence[str],
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return the accuracy over all answers, over decided ones, and expected, and how many are random for each reason.

    *right* says whether each answer is right, *reasons* why it is random (``None`` or empty: it is not), *counted* are
    the reasons there can be. Expected: every random answer counts as half right, so that no seed changes it. Intervals
    resample *words* whole; of one word the answers one by one, and the expected accuracy has none.
    *Shape:* right, words (answers,). *Unit:* percent. *Higher means:* more is right.

    >>> asked = {"words": ["bank", "bat", "bat"], "counted": ["one sense"], "resamples": 20}
    >>> found = accuracy_with_random([True, False, True], [None, "one sense", None], **asked)
    >>> [round(result.value, 1) for result in found]  # 2 of 3, 2 of 2, 2.5 of 3, one random answer
    [66.7, 100.0, 83.3, 1.0]
    """
    hits, labels = np.asarray(right, np.bool_), GroupLabels(np.asarray(words).tolist(), "words")
    random = np.array([bool(reason) for reason in reasons])
    values = np.where(random, 0.5, hits.astype(np.float64))
    expected = Estimate(EXPECTED, float(values.mean()), n=len(values), note=UNDECIDED if random.all() else "")
    if not random.all() and len(set(labels)) > 1:
        expected = share(EXPECTED, values, np.ones(len(values)), groups=labels, resamples=resamples, seed=seed)

    def over(name: str, rows: NDArray[np.bool_]) -> Estimate:
        if rows.sum() < 2:
            return Estimate(name, float(hits[rows].mean()), n=int(rows.sum())).times(100, "percent")
        own = groups_of(labels, rows)
        clusters = own if len(set(own or ())) > 1 else None
        return accuracy(hits[rows], clusters=clusters, resamples=resamples, seed=seed).percent(name)

    return (
        over(ALL, np.ones(len(hits), np.bool_)),
        Undefined(DECIDED, "identity decides no pair") if random.all() else over(DECIDED, ~random),
        expected.times(100, "percent"),
        *(Estimate(n_random(reason), float(list(reasons).count(reason)), n=len(hits)) for reason in counted),
    )


def choices_with_random(
    answers: ResponseColumns,
    right: Mapping[str, str],
    *,
    flag: str,
    words: ArrayLike,
    counted: Sequence[str],
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return :func:`accuracy_with_random` of one subject's choices.

    *answers* have a row ``choice`` for each item, and one of the measure *flag*, whose ``raw`` is the reason where the
    choice is random. *right* is the right option by item; *words* are in its order.
    """
    option, reason = answers.where(measure="choice").by_item("option"), answers.where(measure=flag).by_item("raw")
    return accuracy_with_random(
        [option[item_id] == gold for item_id, gold in right.items()],
        [reason[item_id] for item_id in right],
        words=words,
        counted=counted,
        resamples=resamples,
        seed=seed,
    )
