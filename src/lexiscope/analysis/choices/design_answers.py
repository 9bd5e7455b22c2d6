"""What subjects decided in a design of choice sets: their accuracies, and what they are compared with.

Every result says its subject and, as its condition, its cell; what compares two says both (``first vs second``). A cell
in which a subject has no decisions has no results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.accuracy import Accuracy, accuracy, share_interval
from lexiscope.analysis.agreement.choices import share
from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    GroupLabels,
    group_codes,
    grouped_mean_interval,
    groups_of,
    percentile_interval,
    ratio_draws,
    resampled_units,
)
from lexiscope.analysis.choices.choice_sets import (
    CORRECT,
    N_TOKENS,
    BothWays,
    Decisions,
    OneByOne,
    both_ways,
    one_by_one,
    token_deltas,
)
from lexiscope.analysis.choices.design import Cell, ChoiceDesign, condition_pairs
from lexiscope.analysis.choices.tokenisation import DeltaEffect, DeltaLevel, accuracy_by_delta, delta_effect, in_family
from lexiscope.analysis.comparison import bootstrap_p
from lexiscope.analysis.ranks import rank_results
from lexiscope.analysis.significance import independent_t
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, parse_statistic, statistic_name
from lexiscope.core.scoring_options import Per

Kind = Literal["recorded", "live", "baseline"]
Results = list[Estimate | Undefined]
SIDES = ("more_frequent", "less_frequent")
"""What the right word can be, compared with the best of the others."""


@dataclass(frozen=True, slots=True, eq=False)
class SubjectAnswers:
    """What one subject decided, by measure (first the one that decides, then other denominators) and cell, in order.

    ``title`` is what it is called. ``deltas`` are the tokens of the right option minus those of the others, by choice
    set, if they were counted.
    """

    subject: str
    title: str
    kind: Kind
    decided: Mapping[str, Mapping[Cell, Decisions]]
    deltas: Mapping[str, float]

    @property
    def measure(self) -> str:
        """The measure that decides."""
        return next(iter(self.decided))

    @property
    def outcomes(self) -> Mapping[Cell, Decisions]:
        """The decisions under the measure that decides."""
        return self.decided[self.measure]

    @property
    def n_tied(self) -> Mapping[Cell, int]:
        """How many of them were ties, by cell."""
        return {cell: decisions.n_tied for cell, decisions in self.outcomes.items()}

    def statistic(self, name: str = "percent_right", *, measure: str = "", **named: str) -> str:
        """Return the printed name of a statistic under a measure (the one that decides): it says the denominator.

        For recorded outcomes it is tokens, as in the synonymy study; what is not a log-probability has none
        (``option``).
        """
        given = parse_statistic(measure or self.measure)[1]
        per = given.get("per", "token" if self.kind == "recorded" else "option")
        return statistic_name(name, **named, per=per)

    def delta(self, cell: Cell) -> FloatArray:
        """Return the token delta of each item in a cell, NaN where tokens were not counted. *Shape:* (items,)."""
        return np.array([self.deltas.get(item_id, np.nan) for item_id in self.outcomes[cell].item_ids])

    def in_cells(self, cells: Iterable[Cell]) -> tuple[Cell, ...]:
        """Return those of some cells that it has decisions in."""
        return tuple(cell for cell in cells if cell in self.outcomes)


def subject_answers(
    design: ChoiceDesign,
    table: ResponseColumns,
    *,
    subject: str,
    title: str = "",
    per: Per = "token",
    baseline: str = "baseline:frequency",
    order: Callable[[Iterable[Cell]], Iterable[Cell]] = tuple,
) -> SubjectAnswers:
    """Return what a subject decided. Recorded outcomes are known by their measure, the *baseline* by its id.

    *order* puts cells in order.

    Errors: those of :meth:`~lexiscope.analysis.choices.design.ChoiceDesign.decisions`.

    >>> from lexiscope.datasets import mini_synonymy
    >>> from lexiscope.core import catalog
    >>> items = mini_synonymy.load().items
    >>> table = catalog.subject("baseline:random").judge(items, "minimal_pair")
    >>> found = subject_answers(ChoiceDesign(items), table, subject="baseline:random")
    >>> found.kind, found.measure, found.statistic()
    ('live', 'random_number', 'percent_right(per=option)')
    """
    own = table.where(subject_id=subject)
    measures = own.unique("measure")
    kind: Kind = "recorded" if set(measures) == {CORRECT} else "live"
    kind = "baseline" if subject.startswith(baseline) else kind
    deltas = token_deltas(own, subject=subject) if N_TOKENS in measures else {}
    by_measure = design.decisions(own, subject=subject, per=per)
    decided = {measure: {cell: by_cell[cell] for cell in order(by_cell)} for measure, by_cell in by_measure.items()}
    return SubjectAnswers(subject, title or subject, kind, decided, deltas)


# -- accuracies -------------------------------------------------------------------------------------------------------

Accuracies = Mapping[str, Mapping[Cell, Accuracy]]
"""Accuracies by measure and cell."""


def accuracies(design: ChoiceDesign, answers: SubjectAnswers, *, compared: Iterable[Cell] = ()) -> Accuracies:
    """Return the accuracies of a subject under every measure: in the *compared* cells, all under that which decides."""
    shown = set(compared)
    return {
        measure: {
            cell: design.accuracy(cell, decided[cell])
            for cell in answers.outcomes
            if measure == answers.measure or cell in shown
        }
        for measure, decided in answers.decided.items()
    }


class AnsweredDesign:
    """Choice sets with what each subject decided in them: what a run over choice sets inherits.

    ``sets`` is the design, ``answers`` what each subject decided, ``main`` the cells that come first (in them other
    denominators are compared too).
    """

    if TYPE_CHECKING:
        # fields or properties of the run

        @property
        def sets(self) -> ChoiceDesign:
            """The choice sets by cell."""

        @property
        def answers(self) -> tuple[SubjectAnswers, ...]:
            """What each subject decided."""

        @property
        def main(self) -> tuple[Cell, ...]:
            """The cells that come first."""

    def label_of(self, cell: Cell) -> str:
        """Return what a cell is called."""
        return cell.name

    def of_kind(self, *kinds: Kind) -> tuple[SubjectAnswers, ...]:
        """Return the answers of these kinds of subject."""
        return tuple(answers for answers in self.answers if answers.kind in kinds)

    @property
    def baseline(self) -> SubjectAnswers | None:
        """The word-frequency baseline, if it could be computed."""
        return next(iter(self.of_kind("baseline")), None)

    @property
    def models(self) -> tuple[SubjectAnswers, ...]:
        """The recorded and live subjects: all but the baseline."""
        return self.of_kind("recorded", "live")

    @cached_property
    def scores(self) -> Mapping[str, Accuracies]:
        """The accuracies of every subject, by its id."""
        return {answers.subject: accuracies(self.sets, answers, compared=self.main) for answers in self.answers}

    def score(self, answers: SubjectAnswers, cell: Cell) -> Accuracy:
        """Return the accuracy of a subject in a cell, under the measure that decides."""
        return self.scores[answers.subject][answers.measure][cell]

    def shares(self, subjects: Sequence[SubjectAnswers], cells: Sequence[Cell]) -> list[tuple[str, str, Accuracy]]:
        """Return the accuracies of subjects, cell by cell, with the title of the subject and the label of the cell."""
        return [
            (answers.title, self.label_of(cell), self.score(answers, cell))
            for cell in cells
            for answers in subjects
            if cell in answers.outcomes
        ]


def accuracy_results(answers: SubjectAnswers, accuracies: Accuracies) -> list[Estimate]:
    """Return the accuracies of a subject as results, with Wilson's bounds, chance, and ties."""
    return [
        result.about(subject=answers.subject, condition=cell.name)
        for measure, by_cell in accuracies.items()
        for cell, right in by_cell.items()
        for result in right.results(**parse_statistic(answers.statistic(measure=measure))[1])
    ]


def accuracy_ranks(design: ChoiceDesign, subjects: Sequence[SubjectAnswers], cells: Iterable[Cell]) -> Results:
    """Return the rank of each subject by its accuracy, cell by cell, among those that have decisions there.

    The set of ranks resamples sentences (:func:`~lexiscope.analysis.ranks.rank_results`).
    """
    results: Results = []
    for cell in cells:
        right = {answers.subject: answers.outcomes[cell].correct for answers in subjects if cell in answers.outcomes}
        ranks = rank_results("accuracy", right, groups=design.clusters, resamples=design.resamples, seed=design.seed)
        results += [rank.about(condition=cell.name) for rank in ranks]
    return results


def margins(answers: SubjectAnswers, cells: Iterable[Cell]) -> list[Estimate]:
    """Return the margins of a subject's decisions (``Decisions.margins``)."""
    return [
        margin.about(subject=answers.subject, condition=cell.name)
        for cell in answers.in_cells(cells)
        for margin in answers.outcomes[cell].margins()
    ]


def accuracies_by_frequency(
    design: ChoiceDesign, answers: SubjectAnswers, baseline: SubjectAnswers, cells: Sequence[Cell]
) -> Results:
    """Return the accuracy where the right word is the more frequent one, by a baseline of counts, and where it is not.

    *cells* have the same words in each item. *Unit:* percent. A side with fewer than two sentences has no interval that
    could be computed: it is undefined.
    """
    counted = [baseline.outcomes[cell].margin for cell in baseline.in_cells(cells)]
    results: Results = []
    for cell in answers.in_cells(cells) if counted else ():
        for side, chosen in zip(SIDES, (counted[0] > 0, counted[0] < 0), strict=True):
            name = statistic_name("accuracy_by_frequency", counts="baseline", synonym=side)
            right = _accuracy_of(design, answers.outcomes[cell], chosen, name)
            results.append(right.about(subject=answers.subject, condition=cell.name, unit="percent"))
    return results


def _accuracy_of(design: ChoiceDesign, decisions: Decisions, chosen: BoolArray, name: str) -> Estimate | Undefined:
    sentences, n = groups_of(design.sentences, chosen), int(chosen.sum())
    if len(set(sentences or ())) < 2:
        return Undefined(name, "fewer than two items", n)
    right = accuracy(decisions.correct[chosen], clusters=sentences, resamples=design.resamples, seed=design.seed)
    return right.percent(name)


# -- comparisons ------------------------------------------------------------------------------------------------------


def versus(first: str, second: str) -> str:
    """Return what two compared things are called; one thing is called by its name.

    >>> versus("a", "b"), versus("a", "a")
    ('a vs b', 'a')
    """
    return first if first == second else f"{first} vs {second}"


def contrast_results(
    design: ChoiceDesign, first: tuple[SubjectAnswers, Cell], second: tuple[SubjectAnswers, Cell]
) -> Results:
    """Return the contrast of a subject in a cell with another, or in another cell (paired t, McNemar's test)."""
    (answers, here), (other, there) = first, second
    if here not in answers.outcomes or there not in other.outcomes:
        return []
    about = {"subject": versus(answers.subject, other.subject), "condition": versus(here.name, there.name)}
    return [
        result.about(**about) for result in design.contrast(answers.outcomes[here], other.outcomes[there]).results()
    ]


def above_baseline(design: ChoiceDesign, answers: SubjectAnswers, baseline: SubjectAnswers) -> Results:
    """Return by how many points a subject is above a baseline in each cell of both, with McNemar's exact p.

    *Unit:* points. *Higher means:* more often right than the baseline.
    """
    results: Results = []
    for cell in answers.in_cells(baseline.outcomes):
        contrast = design.contrast(answers.outcomes[cell], baseline.outcomes[cell])
        difference, _, _, exact, *_ = contrast.results()
        about = {"subject": answers.subject, "condition": cell.name}
        p = contrast.exact.p if contrast.exact else None
        results.append(difference.about(name="above_baseline", p=p, note=contrast.note, **about))
        results.append(exact.about(name="above_baseline_exact_p", **about))
    return results


def disagreeing_tests(
    results: Iterable[Estimate | Undefined], *, alpha: float = 0.05
) -> tuple[int, list[tuple[str, str]]]:
    """Return how many contrasts were tested, and the subject and condition of those on which the two tests differ.

    They differ where one of paired t and McNemar's exact test gives a p below *alpha*, and the other does not.

    >>> disagreeing_tests([Estimate("paired_t_p", 0.04, subject="m"), Estimate("mcnemar_p", 0.06, subject="m")])
    (1, [('m', '')])
    """
    p = {(p.name, p.subject, p.condition): p.value for p in results if isinstance(p, Estimate)}
    tested = [(subject, condition) for name, subject, condition in p if name == "paired_t_p"]
    apart = [key for key in tested if (p["paired_t_p", *key] < alpha) != (p["mcnemar_p", *key] < alpha)]
    return len(tested), apart


def consistency_results(design: ChoiceDesign, answers: SubjectAnswers, first: Cell, second: Cell) -> Results:
    """Return how often items are right in a second cell, given what they were in a first one."""
    if first not in answers.outcomes or second not in answers.outcomes:
        return []
    right = answers.outcomes[first].correct, answers.outcomes[second].correct
    results = consistency_table(*right, groups=design.clusters, resamples=design.resamples)
    about = {"subject": answers.subject, "condition": versus(first.name, second.name)}
    return [result.about(**about) for result in results]


def turned_round(answers: SubjectAnswers, turned: str) -> list[tuple[Cell, BothWays]]:
    """Return decisions with those on the same relation turned round, whose suite has the ending *turned*."""
    return [
        (cell, both_ways(decisions, answers.outcomes[other]))
        for cell, decisions in answers.outcomes.items()
        if (other := replace(cell, suite=cell.suite + turned)) in answers.outcomes
    ]


def best_expressions(
    answers: SubjectAnswers, accuracies: Mapping[Cell, Accuracy], cells: Iterable[Cell]
) -> list[tuple[tuple[Cell, ...], Estimate]]:
    """Return the expression of each suite's relation that is most often right, with the cells that were compared.

    The condition of a result is suite and condition, its note the expressions that share the highest value.
    """
    kinds: dict[tuple[str, str], list[Cell]] = {}
    for cell in answers.in_cells(cells):
        kinds.setdefault((cell.suite, cell.condition), []).append(cell)
    made = []
    for kind, same in kinds.items():
        top = max(accuracies[cell].value for cell in same)
        best = " and ".join(f"“{cell.expression}”" for cell in same if accuracies[cell].value == top)
        about = {"subject": answers.subject, "condition": "/".join(kind), "unit": "percent", "note": best}
        made.append((tuple(same), Estimate("best_expression", 100 * top).about(**about)))
    return made


# -- tokens -----------------------------------------------------------------------------------------------------------


def pooled(answers: SubjectAnswers, cells: Iterable[Cell]) -> tuple[FloatArray, FloatArray]:
    """Return the decisions in several cells one after the other, and their token deltas. *Shape:* (decisions,) each."""
    own = answers.in_cells(cells)
    if not own:
        return np.array([]), np.array([])
    right = np.concatenate([answers.outcomes[cell].correct for cell in own]).astype(np.float64)
    return right, np.concatenate([answers.delta(cell) for cell in own])


def delta_results(
    design: ChoiceDesign, answers: SubjectAnswers, cells: Iterable[Cell], released: Sequence[float] = ()
) -> tuple[Results, list[tuple[str, DeltaLevel]]]:
    """Return the accuracy by token delta of the decisions in several cells together, as results and level by level.

    Recorded outcomes have the *released* deltas (one for each item, the same in every cell), others their own; the
    condition says which. Intervals allow for the decisions that share a sentence, or an item if there is one sentence.
    """
    right, own = pooled(answers, cells)
    deltas: dict[str, FloatArray] = {}
    if right.size and answers.kind == "recorded" and len(released):
        deltas["released token deltas"] = np.tile(np.array(released), right.size // len(released))
    if right.size and not np.isnan(own).any():
        deltas["own token deltas"] = own
    results: Results = []
    levels = []
    labels = design.clusters or GroupLabels(map(str, design.numbers), "items")
    groups = GroupLabels(labels * (right.size // len(labels)), labels.plural)
    for condition, counted in deltas.items():
        about = {"subject": answers.subject, "condition": condition}
        n_pooled = Estimate(statistic_name("n_by_delta", delta="all"), float(len(right)), n=len(right))
        results.append(n_pooled.about(**about))
        for level in accuracy_by_delta(right, counted, groups=groups, resamples=design.resamples):
            results += [result.about(**about) for result in level.results()]
            levels.append((condition, level))
    return results, levels


def token_effects(
    every: Sequence[SubjectAnswers], cells: Sequence[Cell]
) -> list[tuple[SubjectAnswers, Cell, DeltaEffect]]:
    """Return whether decisions follow the token delta, subject by subject and cell by cell.

    All of them are one family: they are read together, and one in twenty would follow the delta by chance. Of joint
    conditions, and without counts, there is nothing. A result is that of
    :meth:`~lexiscope.analysis.choices.tokenisation.DeltaEffect.result`.
    """
    measured = [
        (answers, cell, delta_effect(answers.outcomes[cell].correct, answers.delta(cell)))
        for answers in every
        for cell in answers.in_cells(cells)
        if not cell.is_joint and not np.isnan(answers.delta(cell)).any()
    ]
    adjusted = in_family([effect for _, _, effect in measured])
    return [(answers, cell, effect) for (answers, cell, _), effect in zip(measured, adjusted, strict=True)]


# -- one distractor at a time ----------------------------------------------------------------------------------------

TOKEN_SIDES = ("more", "same", "fewer")
"""Whether the right option has more tokens than the other, as many, or fewer."""


def one_by_one_results(
    design: ChoiceDesign, answers: SubjectAnswers, options: OneByOne, cells: Iterable[Cell]
) -> Results:
    """Return how often the right option wins against one other alone, in each cell that is not joint. *Chance:* 50.

    An item's value is its mean over the others, of which every item counts once: one wrong word and ten random ones can
    be compared, whose best has another chance. The difference of the conditions of a suite follows (*points*), item by
    item. If a choice set has several others, so does the share by tokens: of all comparisons in which the right option
    has more tokens than the other, as many, fewer. Intervals are over sentences. *Unit:* percent.
    """
    own = [cell for cell in answers.in_cells(cells) if not cell.is_joint]
    compared = {cell: options.aligned(answers.outcomes[cell].item_ids) for cell in own}
    shares = {cell: np.nanmean(compared[cell].won, axis=1) for cell in own}
    results: Results = []
    for cell in own:
        won, deltas = compared[cell].won, compared[cell].deltas
        sides = {"": (shares[cell], np.ones(len(won)))}
        if compared[cell].several and compared[cell].counted:
            for side, chosen in zip(TOKEN_SIDES, (deltas > 0, deltas == 0, deltas < 0), strict=True):
                sides[side] = _won_where(compared[cell], chosen)
        for side, (hits, sizes) in sides.items():
            name = answers.statistic("pairwise_accuracy", **({"tokens": side} if side else {}))
            result = _share_of(design, name, hits, sizes)
            results.append(result.about(subject=answers.subject, condition=cell.name))
    for first, second in condition_pairs(own) if len(design.numbers) > 1 else ():
        moved = shares[first] - shares[second]
        name, groups = answers.statistic("pairwise_accuracy_difference"), design.clusters
        interval = grouped_mean_interval(moved, groups, resamples=design.resamples, seed=design.seed)
        count = len(moved) if groups is None else len(set(groups))
        difference = Estimate(name, float(moved.mean()), interval, len(moved), count).times(100, "points")
        results.append(difference.about(subject=answers.subject, condition=versus(first.name, second.name)))
    return results


FARTHEST_DELTA = 2
"""Token deltas beyond it are counted with it."""


def token_delta_results(
    design: ChoiceDesign, answers: SubjectAnswers, options: OneByOne, cells: Iterable[Cell]
) -> Results:
    """Return how often the right option wins against one other alone, by token delta, if there are several others.

    An item has as many comparisons as others: the random conditions, which the synonymy study leaves open (its §6).
    ``pairwise_accuracy(delta=…)`` is the percent won at a delta (the tokens of the right option less those of the
    other; ±2 with what is beyond), ``pairwise_token_effect`` the percent won with more tokens less that with fewer, in
    points. Intervals, and the p of the effect, resample sentences. *Higher means:* the right option wins more often.
    """
    results: Results = []
    for cell in answers.in_cells(cells):
        compared = options.aligned(answers.outcomes[cell].item_ids) if not cell.is_joint else None
        if compared is None or not compared.several or not compared.counted:
            continue
        made: Results = []
        deltas = compared.deltas
        near = np.clip(deltas, -FARTHEST_DELTA, FARTHEST_DELTA)
        for delta in range(-FARTHEST_DELTA, FARTHEST_DELTA + 1):
            name = answers.statistic("pairwise_accuracy", delta=str(delta))
            made.append(_share_of(design, name, *_won_where(compared, near == delta)))
        more, fewer = _won_where(compared, deltas > 0), _won_where(compared, deltas < 0)
        name = answers.statistic("pairwise_token_effect")
        if more[1].sum() and fewer[1].sum():
            codes, count = group_codes(design.clusters, len(deltas))
            draws, units = np.array([]), resampled_units(design.clusters)
            if design.resamples:
                drawn = {"resamples": design.resamples, "seed": design.seed}
                draws = ratio_draws(*more, codes, count, **drawn) - ratio_draws(*fewer, codes, count, **drawn)
            interval = percentile_interval(draws, resampled=units, n_groups=count)
            value = float(more[0].sum() / more[1].sum() - fewer[0].sum() / fewer[1].sum())
            p = bootstrap_p(draws, n_groups=count) if interval.is_defined else None
            n = int(more[1].sum() + fewer[1].sum())
            made.append(Estimate(name, value, interval, n, count, p=p).times(100, "points"))
        else:
            made.append(Undefined(name, "the right word never has more, or never fewer, tokens"))
        results += [result.about(subject=answers.subject, condition=cell.name) for result in made]
    return results


def _won_where(compared: OneByOne, chosen: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The numbers of won and of all chosen comparisons of each item."""
    return np.where(chosen, compared.won, 0.0).sum(axis=1), chosen.sum(axis=1).astype(np.float64)


def _share_of(design: ChoiceDesign, name: str, hits: FloatArray, sizes: FloatArray) -> Estimate | Undefined:
    counted = sizes > 0
    groups = groups_of(design.clusters, counted) or GroupLabels(np.flatnonzero(counted).tolist(), "items")
    if len(set(groups)) < 2:
        return Undefined(name, "fewer than two items", int(sizes.sum()))
    won, asked, resamples, seed = hits[counted], sizes[counted], design.resamples, design.seed
    return share(name, won, asked, groups=groups, resamples=resamples, seed=seed).times(100, "percent")


# -- groups of items -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class GroupAnswers:
    """What a subject decided on the items of a group: ``name`` is that of the group (*verb*), ``design`` its items.

    ``options`` are its decisions against one other word at a time, where each word has a score.
    """

    name: str
    design: ChoiceDesign
    answers: SubjectAnswers
    options: OneByOne | None

    def shares(self, cell: Cell) -> Mapping[str, FloatArray]:
        """Return, per statistic, each item's value in a cell: 1 or 0; against several others one by one, its mean."""
        decided = self.answers.outcomes[cell]
        values = {"accuracy": decided.correct.astype(np.float64)}
        if self.options is not None and not cell.is_joint:
            compared = self.options.aligned(decided.item_ids)
            # against the only other one it is the same test
            if compared.several:
                values["pairwise_accuracy"] = np.nanmean(compared.won, axis=1)
        return values


def group_answers(
    design: ChoiceDesign, name: str, table: ResponseColumns, answers: SubjectAnswers, *, per: Per = "token"
) -> GroupAnswers:
    """Return what a subject decided on the items of a *design* that is one group of the items that it answered."""
    own = table.where(item_id=tuple(item.item_id for item in design.items))
    decided = subject_answers(design, own, subject=answers.subject, title=answers.title, per=per)
    single = decided.kind != "recorded" and decided.measure != CORRECT
    options = one_by_one(own, subject=answers.subject, measure=decided.measure) if single else None
    return GroupAnswers(name, design, decided, options)


def group_results(groups: Sequence[GroupAnswers], cells: Iterable[Cell]) -> Results:
    """Return the accuracy of a subject in each group of items, and the differences of each two groups, cell by cell.

    Accuracy is the percent of items right (``of=accuracy``) and the percent of comparisons that the right option wins
    against one other alone (``of=pairwise_accuracy``, chance 50): the groups need not have equally many others for it.
    A difference is the first group's less the second's, in points; its interval resamples sentences, its p is that of
    Welch's t over items. *Higher means:* more often right.
    """
    results: Results = []
    for cell in cells:
        own = [group for group in groups if cell in group.answers.outcomes]
        values = [group.shares(cell) for group in own]
        for group, shares in zip(own, values, strict=True):
            for of, value in shares.items():
                name = group.answers.statistic("accuracy_by_group", of=of, group=group.name)
                result = _share_of(group.design, name, value, np.ones(len(value)))
                results.append(result.about(subject=group.answers.subject, condition=cell.name))
        for (first, a), (second, b) in combinations(zip(own, values, strict=True), 2):
            for of in a.keys() & b.keys():
                name = first.answers.statistic("group_difference", of=of, first=first.name, second=second.name)
                labels = GroupLabels((*first.design.sentences, *second.design.sentences), "sentences")
                design = first.design
                moved = mean_difference(name, a[of], b[of], groups=labels, resamples=design.resamples, seed=design.seed)
                results.append(moved.times(100, "points").about(subject=first.answers.subject, condition=cell.name))
    return results


def mean_difference(
    name: str, first: FloatArray, second: FloatArray, *, groups: GroupLabels, resamples: int = 2000, seed: int = 0
) -> Estimate:
    """Return the mean of *first* less that of *second*, of different items; p is that of Welch's t.

    *groups* are those of the items of both, one after the other: they are resampled whole, with each value moved by
    what it adds to the difference (a group may have items of both).

    >>> labels = GroupLabels(["a", "b", "c", "d"], "sentences")
    >>> moved = mean_difference("m", np.array([1.0, 1.0]), np.array([0.0, 1.0]), groups=labels, resamples=20)
    >>> moved.value, moved.n
    (0.5, 4)
    """
    n = len(first) + len(second)
    value = float(first.mean() - second.mean())
    own, other = n / len(first) * (first - first.mean()), n / len(second) * (second - second.mean())
    interval = grouped_mean_interval(value + np.concatenate([own, -other]), groups, resamples=resamples, seed=seed)
    tested = min(len(first), len(second)) > 1 and (np.ptp(first) > 0 or np.ptp(second) > 0)
    p = independent_t(first, second).p if tested else None
    return Estimate(name, value, interval, n, len(set(groups)), p=p)


# -- consistency table ----------------------------------------------------------------------------------------------
# Consistency of two tests over the same items: how often B comes out right given that A did, or did not.


def consistency_table(
    first: ArrayLike, second: ArrayLike, *, groups: ArrayLike | None = None, resamples: int = 2000
) -> tuple[Estimate | Undefined, ...]:
    """Cross two columns of decisions (0 and 1) on the same items, a test A and a test B.

    Returned are the four counts, each followed by its share P(B | A): A wrong and B wrong, A wrong and B right, A right
    and B wrong, both right. A share is undefined where no item has this outcome in A; its interval is that of
    :func:`~lexiscope.analysis.accuracy.share_interval`, by *groups* (sentences). *Shape:* (items,) each.
    *Source:* Ivan et al. 2025, §4.4.

    >>> [(result.name, result.value) for result in consistency_table([1, 1], [1, 0])[6:]]
    [('n_consistent(a=1,b=1)', 1.0), ('given(a=1,b=1)', 0.5)]

    Errors: :class:`StatisticError` for unequal lengths, no items, or values other than 0 and 1.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise StatisticError(f"consistency needs two columns of one length, not shapes {a.shape} and {b.shape}")
    if not np.isin(a, (0.0, 1.0)).all() or not np.isin(b, (0.0, 1.0)).all():
        raise StatisticError("decisions are 0 and 1")
    counts = np.bincount((2 * a + b).astype(np.int64), minlength=4).reshape(2, 2)
    results: list[Estimate | Undefined] = []
    reason = "no item has this outcome in the first test"
    for outcome_a, outcome_b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        params, chosen = {"a": outcome_a, "b": outcome_b}, a == outcome_a
        share, name = statistic_name("given", **params), statistic_name("n_consistent", **params)
        count, n = int(counts[outcome_a, outcome_b]), int(counts[outcome_a].sum())
        results.append(Estimate(name, float(count), n=len(a)))
        if not n:
            results.append(Undefined(share, reason))
            continue
        own = groups_of(groups, chosen)
        interval, n_groups = share_interval(b[chosen] == outcome_b, groups=own, resamples=resamples)
        results.append(Estimate(share, count / n, interval, n, n_groups))
    return tuple(results)
