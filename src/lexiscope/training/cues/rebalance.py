"""Adversarial filtering: which items must go so that a learner of one part of the input does no better than without it.

In rounds, a learner of words and characters is trained on each part by itself, and answers each item from trainings
that did not see it (three new divisions into folds in each round). If a part is above LABEL, the items that it answers
with most evidence are removed, as many of each answer, and the learner is trained again on what is left: so an item
goes only while what solves it can still be learnt.

What is left was chosen by its own answers: each learner that is tested on it does badly for that reason alone. The
filter is therefore judged by learners that had no part in it (:func:`judge_rebalancing`), next to random removal.
*Source:* the idea is that of adversarial filtering (AFLite); a limit by the interval over words instead of a size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.bias.view_scores import ViewScores, draw_scores
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.arrange.splits import divide_in_folds, stratified_folds
from lexiscope.training._steps import Progress
from lexiscope.training.text_features import text_matrix
from lexiscope.training.view_learners import Features, Floats, Truths, predict_log_odds, regression_log_odds

PARTS = ("context", "word")
"""The parts of the input that must not solve an item by themselves."""
N_FOLDS, N_DIVISIONS = 5, 3
LEAST_LEFT = 0.2
"""The share of the items below which the filter gives up."""
N_RANDOM = 5
"""How often as many items are removed at random, as a control."""
ALL, KEPT, RANDOM = "all", "kept", "random"
"""What a learner learns from: all items, those that the filter keeps, and as many that are drawn at random."""
_STEP = 0.05
_MOST_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Rebalancing:
    """The items that are left and those that went, in their order; what each part was above LABEL round by round.

    ``above``: for each round by part the difference to LABEL (share of items) and the low end of its interval;
    ``reached`` says whether no part was above LABEL at the end.
    """

    kept: tuple[Item, ...]
    removed: tuple[Item, ...]
    above: tuple[dict[str, tuple[float, float]], ...]
    reached: bool


def rebalance(
    items: Sequence[Item], *, resamples: int = 500, seed: int = 0, progress: Progress | None = None
) -> Rebalancing:
    """Return the items of two answers without those that a part of the input solves, and what that took.

    Intervals resample words. Errors: :class:`InputError` for items with an answer that is rarer than the folds.
    """
    kept, above, told = tuple(items), list[dict[str, tuple[float, float]]](), list[str]()
    for number in range(_MOST_ROUNDS):
        golds = [str(item.gold) for item in kept]
        rarest = min(golds.count(gold) for gold in {*golds})
        if rarest < N_FOLDS:
            what = f"only {rarest} items of one answer are left; {N_FOLDS} folds need at least {N_FOLDS}"
            raise InputError(what, hint="give more items of this answer")
        if progress is not None:
            progress("re-balancing", len(items) - len(kept), round((1 - LEAST_LEFT) * len(items)))
        words = [item.word for item in kept]
        # one division may miss by chance what can be learnt: several are taken together
        divisions = [divide_in_folds(kept, N_FOLDS, seed + number * N_DIVISIONS + n) for n in range(N_DIVISIONS)]
        evidence, scores = {}, {}
        for view in (*PARTS, "label"):
            matrix = text_matrix(kept, (), view)
            fits = [regression_log_odds(parts, matrix) for parts in divisions]
            right = [[answer == gold for answer, gold in zip(fit.answers, golds, strict=True)] for fit in fits]
            evidence[view] = np.mean([fit.of_right(golds) for fit in fits], axis=0)
            scores[view] = ViewScores(np.mean(right, axis=0), words)
        drawn = draw_scores(scores, resamples=resamples, seed=seed)
        differences = {
            view: (
                drawn.values[view].value - drawn.values["label"].value,
                drawn.interval(drawn.draws[view] - drawn.draws["label"]).low,
            )
            for view in PARTS
        }
        above.append(differences)
        told = [view for view, (_, low) in differences.items() if low > 0]
        gone = _most_evident(golds, np.max([evidence[view] for view in told], axis=0)) if told else set()
        if not gone or len(kept) - len(gone) < LEAST_LEFT * len(items):
            break
        kept = tuple(item for row, item in enumerate(kept) if row not in gone)
    left = {item.item_id for item in kept}
    removed = tuple(item for item in items if item.item_id not in left)
    return Rebalancing(kept, removed, tuple(above), not told)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRebalancing:
    """A filter, and what a part of the input gives in the items that it keeps, to learners that had no part in it.

    Each of two ``halves`` of the items was filtered by itself; what is left of one is answered by learners that learnt
    what is left of the other. ``scores``: by learner, then :data:`ALL`, :data:`KEPT` or :data:`RANDOM` items, the score
    of each view; of random removals all :data:`N_RANDOM` draws together. ``ranges``: by learner and part, its
    difference from LABEL in the lowest and the highest of these draws.
    """

    filtered: Rebalancing
    halves: tuple[Rebalancing, ...]
    scores: Mapping[str, Mapping[str, Mapping[str, ViewScores]]]
    ranges: Mapping[tuple[str, str], tuple[float, float]]


def judge_rebalancing(
    items: Sequence[Item],
    learners: Mapping[str, Features],
    *,
    resamples: int = 500,
    seed: int = 0,
    progress: Progress | None = None,
) -> JudgedRebalancing:
    """Filter all items, and each half of them; return what learners of one half reach in the other, before and after.

    *learners* are the features of each by its name. A random removal takes as many items of each answer as the filter.
    Errors: those of :func:`rebalance`; a half needs as many items of each answer as there are folds.
    """
    golds = np.array([str(item.gold) for item in items])
    division = divide_in_folds(items, 2, seed)
    half_of = np.array(division.folds)
    halves = [tuple(item for item, half in zip(items, division.folds, strict=True) if half == own) for own in (0, 1)]
    filters = [rebalance(half, resamples=resamples, seed=seed, progress=progress) for half in halves]
    gone = {item.item_id for filtered in filters for item in filtered.removed}
    removed = np.array([item.item_id in gone for item in items])
    rng = np.random.default_rng(seed)
    left = {ALL: [np.ones(len(items), dtype=np.bool_)], KEPT: [~removed], RANDOM: list[Truths]()}
    for _ in range(N_RANDOM):
        stays = np.ones(len(items), dtype=np.bool_)
        for half in (0, 1):
            for gold in sorted({*golds}):
                own = (half_of == half) & (golds == gold)
                stays[rng.choice(np.flatnonzero(own), int((own & removed).sum()), replace=False)] = False
        left[RANDOM].append(stays)
    is_dev = np.array(stratified_folds(golds.tolist(), N_FOLDS, seed=seed)) == 0
    rows, words = np.arange(len(items)), np.array([item.word for item in items])
    scores: dict[str, dict[str, dict[str, ViewScores]]] = {}
    ranges: dict[tuple[str, str], tuple[float, float]] = {}
    for learner, features in learners.items():
        own_scores: dict[str, dict[str, ViewScores]] = {name: {} for name in left}
        means: dict[str, list[float]] = {}
        for view in ("full", *PARTS, "label"):
            matrix = features(items, (), view)
            for name, draws in left.items():
                right = []
                for stays in draws:
                    turns = [
                        (rows[stays & learnt & ~is_dev], rows[stays & learnt & is_dev], rows[stays & ~learnt])
                        for learnt in (half_of == 1, half_of == 0)
                    ]
                    fitted = predict_log_odds(matrix, golds.tolist(), turns, refit=True)
                    answers = np.array(fitted.answers, dtype=np.str_)
                    right.append((answers == golds[stays]).astype(np.float64))
                asked = np.concatenate([words[stays] for stays in draws])
                own_scores[name][view] = ViewScores(np.concatenate(right), asked)
                if name == RANDOM:
                    means[view] = [float(own.mean()) for own in right]
        scores[learner] = own_scores
        for view in PARTS:
            above = [part - label for part, label in zip(means[view], means["label"], strict=True)]
            ranges[learner, view] = min(above), max(above)
    whole = rebalance(items, resamples=resamples, seed=seed, progress=progress)
    return JudgedRebalancing(whole, tuple(filters), scores, ranges)


def _most_evident(golds: Sequence[str], evidence: Floats) -> set[int]:
    """The rows with most evidence for their correct answer, as many of each answer; none without evidence for it."""
    rows = {gold: [row for row, own in enumerate(golds) if own == gold and evidence[row] > 0] for gold in {*golds}}
    n = min(max(1, round(_STEP * len(golds) / len(rows))), *map(len, rows.values()))
    return {row for own in rows.values() for row in sorted(own, key=lambda row: (-evidence[row], row))[:n]}
