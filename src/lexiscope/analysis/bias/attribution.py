"""Which words carry an answer, pooled: what a model loses on the mean with a word, over all items that show it.

Words of the context are pooled by their form (case ignored). Intervals resample the words that the items are about (the
targets): items of one target are not independent. They do not allow for the choice of the words that are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.accuracy import share_interval
from lexiscope.analysis.bootstrap import GroupLabels, grouped_mean_interval
from lexiscope.core.result import Estimate, statistic_name

FEWEST_ITEMS = 5
"""A word in fewer items is not pooled."""


@dataclass(frozen=True, slots=True)
class LostEvidence:
    """What a model loses of the evidence for the correct answer to an item if a word is excluded.

    ``group`` is the word that the item is about. *Unit:* nats for ``log_odds``, correct answers (−1 to 1) for
    ``accuracy``. *Higher means:* the word speaks more for the correct answer; below 0 it speaks against it. ``flips``:
    whether the answer changes when the word goes.
    """

    item_id: str
    group: str
    view: str
    word: str
    value: float
    flips: bool
    unit: str


def word_attributions(
    lost: Sequence[LostEvidence], *, how: str, most: int, resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> list[Estimate]:
    """Return the mean loss of the *most* carrying words of one view, the largest first, with intervals over words.

    An estimate's ``condition`` is the word, its ``n`` the items that show it. A word of fewer than
    :data:`FEWEST_ITEMS` items is excluded; of one item with the word twice, both count.

    >>> rows = [LostEvidence(f"i{n}", f"w{n}", "context", word, value, False, "log_odds")
    ...         for n in range(6) for word, value in (("noon", 2.0), ("the", 0.0))]
    >>> best = word_attributions(rows, how="leave_one_out", most=1, resamples=10)[0]
    >>> best.condition, best.value, best.n
    ('noon', 2.0, 6)
    """
    by_word: dict[str, list[LostEvidence]] = {}
    for row in lost:
        by_word.setdefault(row.word, []).append(row)
    kept = {word: rows for word, rows in by_word.items() if len({row.item_id for row in rows}) >= FEWEST_ITEMS}
    means = {word: float(np.mean([row.value for row in rows])) for word, rows in kept.items()}
    estimates = []
    for word in sorted(means, key=lambda word: (-means[word], word))[:most]:
        rows = kept[word]
        name = statistic_name("word_attribution", method=how, unit=rows[0].unit)
        groups = GroupLabels([row.group for row in rows], "words")
        values = [row.value for row in rows]
        interval = grouped_mean_interval(values, groups, level=level, resamples=resamples, seed=seed)
        n = len({row.item_id for row in rows})
        estimates.append(Estimate(name, means[word], interval, n, condition=word, view=rows[0].view))
    return estimates


def changed_share(
    lost: Sequence[LostEvidence], *, how: str, resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> Estimate:
    """Return the share of items of one view whose answer changes with a word that goes; words are resampled.

    >>> rows = [LostEvidence(f"i{n}", f"w{n}", "context", "noon", 1.0, n < 2, "log_odds") for n in range(4)]
    >>> changed_share(rows, how="leave_one_out", resamples=10).value
    0.5
    """
    changed: dict[str, bool] = {}
    for row in lost:
        changed[row.item_id] = changed.get(row.item_id, False) or row.flips
    groups = {row.item_id: row.group for row in lost}
    name = statistic_name("changed_answer_share", method=how)
    values = [float(changes) for changes in changed.values()]
    words = GroupLabels([groups[item] for item in changed], "words")
    interval, _ = share_interval(values, groups=words, level=level, resamples=resamples, seed=seed)
    return Estimate(name, float(np.mean(values)), interval, len(changed), view=lost[0].view)
