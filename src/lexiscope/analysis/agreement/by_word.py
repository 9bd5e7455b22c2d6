"""Agreement among people and their consistency with a model, word by word.

*Source:* GASI Figure 7. The two are not independent: where everybody chooses the model's sense, everybody agrees. What
the figure shows is whether words on which people agree are those on which they agree with the model, rather than with
each other against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lexiscope.analysis.agreement.choices import option_table
from lexiscope.analysis.agreement.votes import hits_per_item
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name


def agreement_by_word(
    ratings: Ratings,
    options: Sequence[str],
    *,
    right: Mapping[str, str],
    words: Mapping[str, str],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[dict[str, tuple[float, float]], Estimate | Undefined]:
    """Return agreement and consistency of each word, in alphabetical order, and Spearman's rho of the two over words.

    Agreement is the mean over the word's questions of the share of the winning answer, consistency the share of its
    judgments that choose the model's. *Unit:* shares, 0 to 1. *Higher means:* more agreement. *Source:* GASI Figure 7.

    *ratings* and *options* are choices; *right* names the option of each item that the model chose, *words* its word.
    Questions with one judgment are left out: it always agrees with itself.
    Errors: :class:`InputError` for an item without a word or a model's choice.

    >>> from lexiscope.analysis.agreement.votes import choices_from_arrays
    >>> ratings, options = choices_from_arrays(list("abcabc"), list("iiijjj"), ["1", "1", "2", "2", "2", "2"])
    >>> words, rho = agreement_by_word(ratings, options, right={"i": "1", "j": "1"}, words={"i": "bank", "j": "bolt"})
    >>> {word: (round(agreement, 3), round(consistency, 3)) for word, (agreement, consistency) in words.items()}
    {'bank': (0.667, 0.667), 'bolt': (1.0, 0.0)}
    >>> rho.reason
    'a correlation needs three words with two judgments of a question, not 2'
    """
    n, labels = ratings.counts(), ratings.item_labels(words)
    votes = option_table(ratings)[1].max(axis=1, initial=0)
    hits = hits_per_item(ratings, options, right)
    by_word = {}
    for word in sorted(set(labels[n > 1].tolist())):
        rows = np.flatnonzero((labels == word) & (n > 1))
        by_word[word] = float(np.mean(votes[rows] / n[rows])), float(hits[rows].sum() / n[rows].sum())
    name = statistic_name("spearman", of="agreement", **{"with": "consistency"})
    if len(by_word) < 3:
        reason = f"a correlation needs three words with two judgments of a question, not {len(by_word)}"
        return by_word, Undefined(name, reason, len(by_word))
    x, y = zip(*by_word.values(), strict=True)
    try:
        rho = spearman(x, y, level=level, resamples=resamples, seed=seed, decimals=10)
    except StatisticError as error:
        return by_word, Undefined(name, error.what, len(by_word))
    return by_word, rho.about(name=name)
