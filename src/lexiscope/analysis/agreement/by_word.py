"""Agreement among people beside their consistency with a model, word by word.

*Source:* GASI Figure 7. The two are not independent: where everybody chooses the model's sense, everybody agrees. What
the figure shows is whether words on which people agree are those on which they agree with the model, rather than with
each other against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.agreement.choices import option_table
from lexiscope.analysis.agreement.votes import hits_per_item
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name


@dataclass(frozen=True, slots=True)
class WordAgreement:
    """One word: the mean share of the winning answer over its questions, and the share of judgments that choose the
    model's. *Unit:* shares, 0 to 1. *Higher means:* more agreement."""

    word: str
    agreement: float
    consistency: float
    n_questions: int
    n_judgments: int


@dataclass(frozen=True, slots=True)
class AgreementByWord:
    """Every word, and Spearman's rho of agreement and consistency over words."""

    words: tuple[WordAgreement, ...]
    rho: Estimate | Undefined


def agreement_by_word(
    ratings: Ratings,
    options: Sequence[str],
    *,
    right: Mapping[str, str],
    words: Mapping[str, str],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> AgreementByWord:
    """Return agreement and consistency of each word, in alphabetical order. *Source:* GASI Figure 7.

    *ratings* and *options* are choices; *right* names the option of each item that the model chose, *words* its word.
    Questions with one judgment are left out: it always agrees with itself.
    Errors: :class:`InputError` for an item without a word or a model's choice.

    >>> from lexiscope.analysis.agreement.votes import choices_from_arrays
    >>> ratings, options = choices_from_arrays(list("abcabc"), list("iiijjj"), ["1", "1", "2", "2", "2", "2"])
    >>> found = agreement_by_word(ratings, options, right={"i": "1", "j": "1"}, words={"i": "bank", "j": "bolt"})
    >>> [(each.word, round(each.agreement, 3), round(each.consistency, 3)) for each in found.words]
    [('bank', 0.667, 0.667), ('bolt', 1.0, 0.0)]
    >>> found.rho.reason
    'a correlation needs three words with two judgments of a question, not 2'
    """
    n, labels = ratings.counts(), ratings.item_labels(words)
    votes = option_table(ratings)[1].max(axis=1, initial=0)
    hits = hits_per_item(ratings, options, right)
    found = []
    for word in sorted(set(labels[n > 1].tolist())):
        rows = np.flatnonzero((labels == word) & (n > 1))
        agreed = float(np.mean(votes[rows] / n[rows]))
        consistent = float(hits[rows].sum() / n[rows].sum())
        found.append(WordAgreement(word, agreed, consistent, len(rows), int(n[rows].sum())))
    return AgreementByWord(tuple(found), _rho(found, level=level, resamples=resamples, seed=seed))


def _rho(found: Sequence[WordAgreement], *, level: float, resamples: int, seed: int) -> Estimate | Undefined:
    name = statistic_name("spearman", of="agreement", **{"with": "consistency"})
    if len(found) < 3:
        reason = f"a correlation needs three words with two judgments of a question, not {len(found)}"
        return Undefined(name, reason, len(found))
    x, y = [each.agreement for each in found], [each.consistency for each in found]
    try:
        rho = spearman(x, y, level=level, resamples=resamples, seed=seed, decimals=10)
    except StatisticError as error:
        return Undefined(name, error.what, len(found))
    return Estimate(name, rho.value, rho.interval, rho.n, rho.n_groups)
