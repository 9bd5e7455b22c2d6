"""How a subject's tokenizer cuts sentences and targets: differences within pairs, tokens per target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.layers.layers import values_by_layer
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, statistic_name

COUNTS = ("n_tokens_1", "n_tokens_2", "target_tokens")
"""The measures of a subject that counts tokens: those of both sentences, and of the target."""


@dataclass(frozen=True, slots=True)
class TokenisationReport:
    """Token counts of one subject over sentence pairs.

    ``difference_*`` describe |tokens of sentence 1 − tokens of sentence 2|; ``difference_mode`` is the smallest of
    ``difference_modes``. ``target_tokens_over_words`` averages over distinct words, ``target_tokens_over_pairs`` over
    pairs, so that a word with more pairs counts more. ``split_words`` counts the words of more than one token.

    *Unit:* tokens.
    """

    n_pairs: int
    n_words: int
    difference_mean: float
    difference_mode: int
    difference_modes: tuple[int, ...]
    difference_max: int
    target_tokens_over_words: float
    target_tokens_over_pairs: float
    split_words: int
    remarks: tuple[str, ...] = ()

    def results(self) -> tuple[Estimate, ...]:
        """Return the differences (mean, mode, most) and the tokens per target, over words and over pairs."""
        difference, target = "token_difference", "target_tokens"
        values = {
            statistic_name(difference, summary="mean"): self.difference_mean,
            statistic_name(difference, summary="mode"): self.difference_mode,
            statistic_name(difference, summary="max"): self.difference_max,
            statistic_name(target, mean_over="words"): self.target_tokens_over_words,
            statistic_name(target, mean_over="pairs"): self.target_tokens_over_pairs,
        }
        note = "; ".join(self.remarks)
        return tuple(
            Estimate(name, float(value), n=self.n_pairs, unit="tokens", note=note) for name, value in values.items()
        )


def tokenisation(
    tokens_1: ArrayLike, tokens_2: ArrayLike, target_tokens: ArrayLike, words: ArrayLike
) -> TokenisationReport:
    """Summarise token counts over sentence pairs.

    *Shape:* all (pairs,): tokens of the two sentences, tokens of the target, and its word. *Unit:* tokens. A word
    whose target is cut differently in different pairs enters with its mean, and ``remarks`` names it.
    *Source:* SAW-C Table 3 (target tokens over words).
    Errors: :class:`StatisticError` where there is no pair, the lengths differ, or a count is not a whole number ≥ 0.

    Differences 1, 0, 1; the word a has 1 token in two pairs, b has 4: over words (1 + 4) / 2, over pairs 6 / 3:

    >>> report = tokenisation([7, 8, 9], [8, 8, 8], [1, 1, 4], ["a", "a", "b"])
    >>> report.difference_mode, report.target_tokens_over_words, report.target_tokens_over_pairs
    (1, 2.5, 2.0)
    """
    names, codes = np.unique(np.asarray(words), return_inverse=True)
    first, second, target = (_counts(values, len(codes)) for values in (tokens_1, tokens_2, target_tokens))
    differences = np.abs(first - second)
    frequency = np.bincount(differences)
    modes = tuple(np.flatnonzero(frequency == frequency.max()).tolist())
    per_word = np.bincount(codes, weights=target) / np.bincount(codes)
    varying = [str(name) for code, name in enumerate(names) if len(np.unique(target[codes == code])) > 1]
    return TokenisationReport(
        n_pairs=len(codes),
        n_words=len(names),
        # integers are summed before the one division, so that equal means are equal to the last bit
        difference_mean=int(differences.sum()) / len(codes),
        difference_mode=modes[0],
        difference_modes=modes,
        difference_max=int(differences.max()),
        target_tokens_over_words=float(per_word.mean()),
        target_tokens_over_pairs=int(target.sum()) / len(codes),
        split_words=int(np.sum(per_word > 1)),
        remarks=(f"cut differently in different pairs: {', '.join(varying)}",) if varying else (),
    )


def tokenisation_of_answers(
    answers: ResponseTable, item_ids: Sequence[str], words: Sequence[str]
) -> dict[tuple[str, str], TokenisationReport]:
    """Return the token counts of each subject in each view among answers; only of those that counted every item.

    *words* are those of the items. Counts of the target do not depend on the view: those of one view serve all.
    """
    first = answers.where(measure=COUNTS[0])
    found = {}
    for subject in first.unique("subject_id"):
        own = answers.where(subject_id=subject)
        for view in first.where(subject_id=subject).unique("view"):
            try:
                counts = [_of_view(own.where(measure=measure), view, item_ids) for measure in COUNTS]
            except InputError:
                # a subject that did not count every item has no report
                continue
            found[subject, view] = tokenisation(counts[0], counts[1], counts[2], words)
    return found


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
