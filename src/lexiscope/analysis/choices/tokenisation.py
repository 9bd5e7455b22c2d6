"""How a subject's tokenizer cuts sentences and targets: differences within pairs, tokens per target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.layers.layers import values_by_layer
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, statistic_name

COUNTS = ("n_tokens_1", "n_tokens_2", "target_tokens")
"""The measures of a subject that counts tokens: those of both sentences, and of the target."""


def tokenisation(
    tokens_1: ArrayLike, tokens_2: ArrayLike, target_tokens: ArrayLike, words: ArrayLike
) -> tuple[Estimate, ...]:
    """Summarise token counts over sentence pairs: differences (mean, mode, largest) and tokens per target.

    Differences are |tokens of sentence 1 − tokens of sentence 2|; of equally frequent ones the smallest is the mode.
    The tokens per target are a mean over distinct words, and a mean over pairs, so that a word with more pairs counts
    more.

    *Shape:* all (pairs,): tokens of the two sentences, tokens of the target, and its word. *Unit:* tokens. A word
    whose target is cut differently in different pairs enters with its mean, and the note names it.
    *Source:* SAW-C Table 3 (target tokens over words).
    Errors: :class:`StatisticError` where there is no pair, the lengths differ, or a count is not a whole number ≥ 0.

    Differences 1, 0, 1; the word a has 1 token in two pairs, b has 4: over words (1 + 4) / 2, over pairs 6 / 3:

    >>> counts = tokenisation([7, 8, 9], [8, 8, 8], [1, 1, 4], ["a", "a", "b"])
    >>> [(count.name, count.value) for count in counts[1::2]]
    [('token_difference(summary=mode)', 1.0), ('target_tokens(mean_over=words)', 2.5)]
    """
    names, codes = np.unique(np.asarray(words), return_inverse=True)
    first, second, target = (_counts(values, len(codes)) for values in (tokens_1, tokens_2, target_tokens))
    differences = np.abs(first - second)
    frequency = np.bincount(differences)
    per_word = np.bincount(codes, weights=target) / np.bincount(codes)
    varying = [str(name) for code, name in enumerate(names) if len(np.unique(target[codes == code])) > 1]
    note = f"cut differently in different pairs: {', '.join(varying)}" if varying else ""
    summaries = {
        # integers are summed before the one division, so that equal means are equal to the last bit
        statistic_name("token_difference", summary="mean"): int(differences.sum()) / len(codes),
        statistic_name("token_difference", summary="mode"): float(frequency.argmax()),
        statistic_name("token_difference", summary="max"): float(differences.max()),
        statistic_name("target_tokens", mean_over="words"): float(per_word.mean()),
        statistic_name("target_tokens", mean_over="pairs"): int(target.sum()) / len(codes),
    }
    return tuple(Estimate(name, value, n=len(codes), unit="tokens", note=note) for name, value in summaries.items())


def tokenisation_of_answers(
    answers: ResponseTable, item_ids: Sequence[str], words: Sequence[str]
) -> dict[tuple[str, str], tuple[Estimate, ...]]:
    """Return the token counts of each subject in each view among answers; only of those that counted every item.

    *words* are those of the items. Counts of the target do not depend on the view: those of one view serve all.
    """
    first = answers.where(measure=COUNTS[0])
    by_view = {}
    for subject in first.unique("subject_id"):
        own = answers.where(subject_id=subject)
        for view in first.where(subject_id=subject).unique("view"):
            try:
                counts = [_of_view(own.where(measure=measure), view, item_ids) for measure in COUNTS]
            except InputError:
                # a subject that did not count every item has no report
                continue
            by_view[subject, view] = tokenisation(counts[0], counts[1], counts[2], words)
    return by_view


def _of_view(answers: ResponseTable, view: str, item_ids: Sequence[str]) -> ArrayLike:
    rows = answers.where(view=view)
    alone = not len(rows) and COUNTS[2] in answers.unique("measure")
    _, matrix = values_by_layer(answers if alone else rows, item_ids)
    return np.asarray(matrix[:, 0])


def _counts(values: ArrayLike, n: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    counts = np.asarray(values, dtype=np.float64)
    if counts.shape != (n,) or not n:
        raise StatisticError(f"{counts.shape} token counts for {n} pairs")
    if not np.isfinite(counts).all() or (counts < 0).any() or (counts % 1).any():
        raise StatisticError("token counts are whole numbers, none of them missing")
    return counts.astype(np.int64)
