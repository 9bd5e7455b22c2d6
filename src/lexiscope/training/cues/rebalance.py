"""Adversarial filtering: which items must go so that a learner of one part of the input does no better than without it.

In rounds, a learner of words and characters is trained on each part by itself, and answers each item from trainings
that did not see it (three new divisions into folds in each round). If a part is above LABEL, the items that it answers
with most evidence are removed, as many of each answer, and the learner is trained again on what is left: so an item
goes only while what solves it can still be learnt. What is left is fitted to this learner. What it is worth is for
another model to say.
*Source:* the idea is that of adversarial filtering (AFLite); a limit by the interval over words instead of a size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.bias.view_scores import ViewScores, draw_scores
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.arrange.splits import divide_in_folds
from lexiscope.training._steps import Progress
from lexiscope.training.text_features import text_matrix
from lexiscope.training.view_learners import Floats, regression_log_odds

PARTS = ("context", "word")
"""The parts of the input that must not solve an item by themselves."""
N_FOLDS, N_DIVISIONS = 5, 3
LEAST_LEFT = 0.2
"""The share of the items below which the filter gives up."""
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


def _most_evident(golds: Sequence[str], evidence: Floats) -> set[int]:
    """The rows with most evidence for their right answer, as many of each answer; none without evidence for it."""
    rows = {gold: [row for row, own in enumerate(golds) if own == gold and evidence[row] > 0] for gold in {*golds}}
    n = min(max(1, round(_STEP * len(golds) / len(rows))), *map(len, rows.values()))
    return {row for own in rows.values() for row in sorted(own, key=lambda row: (-evidence[row], row))[:n]}
