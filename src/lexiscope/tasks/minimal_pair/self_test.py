"""A test of a scorer before it is used: does it prefer a text to the same words in another order?

Every language model should, in every language; one that does not is broken, wrongly set up, or not a model of the
items' language, and its accuracies would not show knowledge of word meaning.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import numpy as np

from lexiscope.core.errors import SubjectError
from lexiscope.core.item import Item
from lexiscope.core.scoring import TokenScores
from lexiscope.core.subject import Scores, Subject

MOST_PAIRS = 40
"""How many texts are tried; fewer only where the items have fewer."""

ALPHA = 0.05
_FEWEST_PARTS = 4
# single precision: a uniform model's sums differ by some steps of the last digit between processors
_SAME = 64 * float(np.finfo(np.float32).eps)
_TRIES = 20


@runtime_checkable
class SelfTested(Protocol):
    """A subject that says whether it should be tested; a control model (one of equal probabilities) should not."""

    @property
    def self_test(self) -> bool:
        """Whether the test will be run."""


@dataclass(frozen=True, slots=True)
class EasyPair:
    """A text of an item, and the same words shuffled."""

    item_id: str
    text: str
    shuffled: str


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What the test found. ``margins``: log-probability per token of each text minus that of its shuffled words.

    *Unit of margins:* nats per token. *Higher means:* the text is preferred. A tie is not a preference.

    >>> pair = EasyPair("i", "a b c d", "d b a c")
    >>> SelfTest((pair,) * 6, (0.1,) * 6).verdict
    '6 of 6 texts preferred to their own words shuffled, p = 0.0156'
    """

    pairs: tuple[EasyPair, ...]
    margins: tuple[float, ...]

    @property
    def n_preferred(self) -> int:
        """How many texts were preferred."""
        return sum(margin > 0 for margin in self.margins)

    @property
    def p(self) -> float:
        """The one-sided exact binomial probability of as many preferences or more by chance."""
        return binomial_tail(self.n_preferred, len(self.margins))

    @property
    def decidable(self) -> bool:
        """Whether there are enough texts for all of them, preferred, to be above chance."""
        return 0.5 ** len(self.margins) < ALPHA

    @property
    def verdict(self) -> str:
        """The result as text, as it is recorded."""
        told = (
            f"{self.n_preferred} of {len(self.margins)} texts preferred to their own words shuffled, p = {self.p:.3g}"
        )
        return told if self.decidable else f"{told}: too few texts to judge by"


def binomial_tail(k: int, n: int) -> float:
    """Return the probability of *k* or more heads in *n* tosses of a fair coin.

    >>> binomial_tail(5, 5) == 1 / 32, binomial_tail(0, 7)
    (True, 1.0)
    """
    return float(sum(math.comb(n, heads) for heads in range(k, n + 1)) / 2**n)


def easy_pairs(items: Sequence[Item], *, seed: int = 0, most: int = MOST_PAIRS) -> tuple[EasyPair, ...]:
    """Return up to *most* pairs from different texts of the items, spread evenly over them.

    A text is cut at white space; where that gives fewer than four parts (a script without spaces), into its characters.
    The order depends on the seed and the text only. A text whose parts are all the same has no other order and is
    passed over.
    """
    first = {item.usages[0].text: item.item_id for item in reversed(items)}
    texts = list(dict.fromkeys(item.usages[0].text for item in items))
    # twice as many as are wanted, for some texts have no other order
    pairs = []
    for text in texts[:: max(1, len(texts) // (2 * most))]:
        shuffled = _shuffle_words(text, seed)
        if shuffled != text:
            pairs.append(EasyPair(first[text], text, shuffled))
    return tuple(pairs[:: max(1, len(pairs) // most)][:most])


def self_test(items: Sequence[Item], subject: Subject, *, seed: int = 0, work: Path | None = None) -> SelfTest | None:
    """Test a subject on texts of the items, and return what was found; ``None`` where the subject declines.

    With *work*, scores are kept there: a run that is continued asks nothing again.

    Errors: :class:`SubjectError` for scores that are NaN or infinite, all the same, or no better than chance (one-sided
    exact binomial test, p < .05; fewer than five texts are not enough).
    """
    if isinstance(subject, SelfTested) and not subject.self_test:
        return None
    pairs = easy_pairs(items, seed=seed)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.text, pair.shuffled)))
    scorer = cast(Scores, subject)
    scored = dict(zip(texts, scorer.score(texts, work=work), strict=True)) if texts else {}
    # the texts have no word in question: all of their tokens are compared, whatever counts in the run
    policy = replace(scorer.policy, tokens="text", per="token")
    _check_scores(scored, subject)
    values = {text: policy.value(scores, text) for text, scores in scored.items()}
    tested = SelfTest(pairs, tuple(values[pair.text] - values[pair.shuffled] for pair in pairs))
    if tested.decidable and tested.p >= ALPHA:
        raise SubjectError(
            f"{subject.subject_id} fails the self-test: {tested.verdict}",
            why="it does not prefer a text to its own words in disorder, so its choices between words mean little",
            hint=_HINT,
        )
    return tested


_HINT = "check the model, its tokenizer and the language of the items; score a control model with self_test=no"


def _check_scores(scored: dict[str, TokenScores], subject: Subject) -> None:
    kept = []
    for text, scores in scored.items():
        # the first token has no score if nothing precedes it
        values = np.asarray(scores.log_probabilities, dtype=np.float64)[
            int(np.isnan(scores.log_probabilities[:1]).any()) :
        ]
        if not np.isfinite(values).all():
            raise SubjectError(
                f"{subject.subject_id} fails the self-test: a score is NaN or infinite in {text!r}",
                hint="try dtype=fp32; check that the weights are complete",
            )
        kept.append(values)
    everything = np.concatenate(kept) if kept else np.empty(0)
    # a smaller share of the size is rounding, not preference
    if len(everything) > 1 and np.ptp(everything) <= _SAME * np.abs(everything).max():
        raise SubjectError(
            f"{subject.subject_id} fails the self-test: every token has the same log-probability",
            why=f"{len(everything)} tokens of {len(scored)} texts all have {everything[0]:.6g} nats",
            hint=_HINT,
        )


def _shuffle_words(text: str, seed: int) -> str:
    parts, between = text.split(), " "
    if len(parts) < _FEWEST_PARTS:
        parts, between = list(text), ""
    if len(parts) < _FEWEST_PARTS or len(set(parts)) == 1:
        return text
    # seeded by the text too: an item gets the same shuffle regardless of the other items
    draw = random.Random(f"{seed}\n{text}")
    for _ in range(_TRIES):
        draw.shuffle(parts)
        if between.join(parts) != text:
            return between.join(parts)
    return text
