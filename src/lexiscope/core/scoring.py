"""Log-probabilities of texts: what a scorer returns per token, and the policy that says which tokens count.

Tools differ in whether a beginning-of-sequence token precedes the text, whether the first token is scored, which
tokens are added up, and what the sum is divided by. A :class:`ScoringPolicy` says all of it; its printed form is the
``measure`` of every row it produced and parses back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast, get_args

import numpy as np

from lexiscope.core.errors import InputError, SpecError, SubjectError
from lexiscope.core.result import parse_statistic, statistic_name
from lexiscope.core.scoring_options import Bos as Bos
from lexiscope.core.scoring_options import Conditioning as Conditioning
from lexiscope.core.scoring_options import Counted as Counted
from lexiscope.core.scoring_options import First as First
from lexiscope.core.scoring_options import Per as Per

Doubles = np.ndarray[Any, np.dtype[np.float64]]
Offsets = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class ScoredOption:
    """An option as a scorer reads it: the text before it, its own text, and the text before it without the context.

    ``value`` is what is stored when it is chosen; ``neutral`` is empty where options are compared as they are. With
    nothing before it, the option is a whole text. ``lowest``: of options with a neutral text, the one that gains least
    by the context is chosen.
    """

    value: str
    before: str
    text: str
    neutral: str = ""
    lowest: bool = False


_MEASURES: dict[str, str] = {"left": "log_probability", "masked": "pseudo_log_probability"}
_PSEUDO = "pseudo_log_probability"


@dataclass(frozen=True, slots=True)
class TokenScores:
    """The log-probability of every token of one text.

    ``log_probabilities``: natural logarithms, NaN for a token that was not scored (the first one, without a
    beginning-of-sequence token before it). ``starts`` and ``ends`` are the token's half-open character offsets in the
    text; special tokens are excluded. *Shape:* (tokens,) each. *Unit:* nats, at most 0. *Higher means:* more probable.
    """

    log_probabilities: Doubles
    starts: Offsets
    ends: Offsets

    def __post_init__(self) -> None:
        if not len(self.log_probabilities) == len(self.starts) == len(self.ends):
            raise InputError("a token needs a log-probability, a start and an end")

    def __len__(self) -> int:
        return len(self.log_probabilities)


@dataclass(frozen=True, slots=True)
class ScoringPolicy:
    """How texts are scored.

    ``bos``: a beginning-of-sequence token precedes the text. ``first``: the first token of the text counts (it
    can only with ``bos``). ``tokens``: which tokens count: those of the whole ``text``, of the ``word`` in question, or
    of the ``continuation`` (the word and all that follows); a token counts where it overlaps. ``per``: what the sum
    is divided by: nothing (``text``), the ``token`` s that count, or the ``character`` s or UTF-8 ``byte`` s of the
    text, word or continuation. ``conditioning``: what a token's probability is conditioned on: all tokens ``left``
    of it; the whole rest of the text with the token ``masked`` alone (Salazar et al. 2020); or, ``masked_within_word``,
    with the later tokens of its word masked too (Kauf & Ivanova 2023).

    >>> str(PUBLISHED)
    'log_probability(bos=no,first=unscored,tokens=text,per=token)'
    >>> ScoringPolicy.parse(str(PUBLISHED)) == PUBLISHED
    True
    """

    bos: Bos = "no"
    first: First = "unscored"
    tokens: Counted = "text"
    per: Per = "token"
    conditioning: Conditioning = "left"

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise SpecError(f"{name}={getattr(self, name)} is not a scoring policy", hint=f"use {', '.join(known)}")
        if self.conditioning == "left" and self.bos == "no" and self.first == "scored":
            raise SpecError(
                "the first token cannot be scored without a beginning-of-sequence token before it",
                hint="use bos=yes, or first=unscored",
            )

    @classmethod
    def parse(cls, measure: str) -> ScoringPolicy:
        """Read a measure back.

        Errors: :class:`SpecError` for a text that is not a measure of log-probability.
        """
        name, given = parse_statistic(measure)
        if name not in (*_MEASURES.values(), _PSEUDO) or not set(given) <= set(_CHOICES):
            raise SpecError(f"{measure!r} is not a measure of log-probability", hint=f"one is {PUBLISHED}")
        if (name == _PSEUDO) != ("conditioning" in given):
            raise SpecError(f"{measure!r}: pseudo_log_probability, and it alone, says its conditioning")
        return cls(**cast(dict[str, Any], given))

    def __str__(self) -> str:
        return self.named(_MEASURES["left"] if self.conditioning == "left" else _PSEUDO)

    def named(self, measure: str, **more: str) -> str:
        """Return the name of a measure that is made of log-probabilities under this policy.

        *more* are parameters of the measure itself; one with the name of a part of the policy takes its place.

        >>> PUBLISHED.named("log_odds", wording="question", per="text")
        'log_odds(wording=question,bos=no,first=unscored,tokens=text,per=text)'
        """
        pseudo = {} if self.conditioning == "left" else {"conditioning": self.conditioning}
        parts = {"bos": self.bos, "first": self.first, "tokens": self.tokens, "per": self.per}
        own = {name: value for name, value in more.items() if name not in parts}
        return statistic_name(measure, **own, **pseudo, **(parts | {k: v for k, v in more.items() if k in parts}))

    def divided_by(self, per: Per) -> ScoringPolicy:
        """Return the same policy with another denominator."""
        return replace(self, per=per)

    def counted_tokens(self, scores: TokenScores, text: str, span: tuple[int, int] | None = None) -> list[int]:
        """Return the indices of the tokens that count.

        *span* is the word's half-open character span; ``word`` and ``continuation`` need it.
        Errors: :class:`InputError` without a span where one is needed; :class:`SubjectError` where no token counts
        or a token that counts has no log-probability.
        """
        start, end = self._region(text, span)
        inside = (scores.starts < end) & (scores.ends > start)
        if self.first == "unscored" and len(scores):
            inside[0] = False
        indices = np.flatnonzero(inside).tolist()
        if not indices:
            raise SubjectError(f"no token counts under {self} in {text!r}", hint="use bos=yes,first=scored")
        if np.isnan(scores.log_probabilities[indices]).any():
            raise SubjectError(f"a token that counts under {self} has no log-probability in {text!r}")
        return indices

    def value(self, scores: TokenScores, text: str, span: tuple[int, int] | None = None) -> float:
        """Return the log-probability of a text under this policy.

        *Unit:* nats, or nats per token, character or byte. *Higher means:* more probable. Errors: those of
        :meth:`counted_tokens`.

        >>> scores = TokenScores(np.log([0.5, 0.25, 0.5]), np.array([0, 1, 3]), np.array([1, 3, 6]))
        >>> total = ScoringPolicy(bos="yes", first="scored", per="text").value(scores, "a role")
        >>> bool(np.isclose(total, np.log(0.5 * 0.25 * 0.5)))
        True
        """
        counted = self.counted_tokens(scores, text, span)
        # added in double precision: the sum of hundreds of tokens must be right to 1e-4
        total = float(np.sum(scores.log_probabilities[counted], dtype=np.float64))
        start, end = self._region(text, span)
        units = {
            "text": 1,
            "token": len(counted),
            "character": end - start,
            "byte": len(text[start:end].encode("utf-8")),
        }
        return total / units[self.per]

    def _region(self, text: str, span: tuple[int, int] | None) -> tuple[int, int]:
        if self.tokens == "text":
            return 0, len(text)
        if span is None:
            raise InputError(f"tokens={self.tokens} needs the span of the word", hint="use tokens=text")
        return (span[0], len(text)) if self.tokens == "continuation" else span


_CHOICES: dict[str, tuple[str, ...]] = {
    "bos": get_args(Bos),
    "first": get_args(First),
    "tokens": get_args(Counted),
    "per": get_args(Per),
    "conditioning": get_args(Conditioning),
}

PUBLISHED = ScoringPolicy()
"""The policy of the synonymy study: no special tokens, the mean over tokens 2..n (perplexity, turned round)."""

PRESETS: Mapping[str, ScoringPolicy] = MappingProxyType(
    {
        "published": PUBLISHED,
        "bos": ScoringPolicy(bos="yes", first="scored"),
        "word": ScoringPolicy(bos="yes", first="scored", tokens="word", per="text"),
        "continuation": ScoringPolicy(bos="yes", first="scored", tokens="continuation", per="text"),
    }
)
"""Policies by name. ``published``: the synonymy study, §3.6."""
