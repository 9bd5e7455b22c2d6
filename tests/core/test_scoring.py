"""Which tokens count, and what the sum is divided by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lexiscope.core.errors import InputError, SpecError, SubjectError
from lexiscope.core.scoring import PRESETS, PUBLISHED, ScoringPolicy, TokenScores
from lexiscope.core.subject import Decoding

TEXT = "une idée vague"
# une| idée| vag|ue
SCORES = TokenScores(np.array([-1.0, -2.0, -4.0, -8.0]), np.array([0, 3, 8, 12]), np.array([3, 8, 12, 14]))
SPAN = (4, 8)


@pytest.mark.parametrize("policy", [*PRESETS.values(), ScoringPolicy(conditioning="masked_within_word", per="byte")])
def test_a_measure_parses_back(policy: ScoringPolicy) -> None:
    """The printed form says everything."""
    assert ScoringPolicy.parse(str(policy)) == policy


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (PUBLISHED, (-2 - 4 - 8) / 3),
        (PUBLISHED.divided_by("text"), -2 - 4 - 8),
        (PUBLISHED.divided_by("character"), (-2 - 4 - 8) / 14),
        (PUBLISHED.divided_by("byte"), (-2 - 4 - 8) / 15),
        (PRESETS["bos"], (-1 - 2 - 4 - 8) / 4),
        (PRESETS["word"], -2),
        (PRESETS["continuation"], -2 - 4 - 8),
        (PRESETS["continuation"].divided_by("byte"), (-2 - 4 - 8) / len("idée vague".encode())),
    ],
)
def test_values(policy: ScoringPolicy, expected: float) -> None:
    """A token counts where it overlaps the region; characters and bytes are those of the region."""
    assert policy.value(SCORES, TEXT, SPAN) == pytest.approx(expected)


def test_the_first_token_needs_something_before_it() -> None:
    """Without BOS there is nothing that the first token could be conditioned on."""
    with pytest.raises(SpecError, match="first token"):
        ScoringPolicy(first="scored")
    assert ScoringPolicy(first="scored", conditioning="masked").bos == "no"


def test_a_missing_score_is_never_a_number() -> None:
    """NaN among the tokens that count, no token at all, and a missing span are errors."""
    unscored = TokenScores(np.array([math.nan, -2.0]), np.array([0, 3]), np.array([3, 8]))
    assert PUBLISHED.value(unscored, "une idée") == -2.0
    with pytest.raises(SubjectError, match="no log-probability"):
        PRESETS["bos"].value(unscored, "une idée")
    with pytest.raises(SubjectError, match="no token counts"):
        PUBLISHED.value(TokenScores(np.array([-1.0]), np.array([0]), np.array([3])), "une")
    with pytest.raises(InputError, match="span"):
        PRESETS["word"].value(SCORES, TEXT)


@pytest.mark.parametrize("text", ["rating", "log_probability(bos=maybe)", "log_probability(level=1)", "nothing at all"])
def test_what_is_no_policy(text: str) -> None:
    """Anything else is refused with an example."""
    with pytest.raises(SpecError):
        ScoringPolicy.parse(text)


def test_greedy_continuations_are_one() -> None:
    """Ten greedy continuations would be ten copies."""
    with pytest.raises(InputError, match="same"):
        Decoding(n=10)
