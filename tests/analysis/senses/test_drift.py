"""Drift of senses: planted changes get their verdict, unchanged words none, and the test holds its level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from lexiscope.analysis.senses.drift import divergence, drifts, named, word_drift
from lexiscope.core.errors import StatisticError


def usages(*counts: int) -> np.ndarray:
    return np.repeat(np.arange(len(counts)), counts)


def test_the_divergence_is_that_of_scipy() -> None:
    """The square of scipy's distance to the base 2, of rows at once."""
    rng = np.random.default_rng(0)
    first, second = rng.dirichlet([1, 1, 1], 5), rng.dirichlet([1, 1, 1], 5)
    expected = [jensenshannon(p, q, base=2) ** 2 for p, q in zip(first, second, strict=True)]
    np.testing.assert_allclose(divergence(first, second), expected)


def test_planted_changes_have_their_verdicts() -> None:
    """A new sense appears, an old one vanishes, one grows at the cost of another; what stays as it was is steady."""
    planted = {
        "mouse": (usages(98, 2), usages(60, 40)),
        "wireless": (usages(50, 50), usages(100, 0)),
        "plane": (usages(70, 30), usages(30, 70)),
        "bank": (usages(60, 40), usages(58, 42)),
    }
    words = drifts(planted, senses=dict.fromkeys(planted, (1, 2)))
    verdicts = {word.word: [sense.verdict for sense in word.senses] for word in words}
    assert verdicts == {
        "mouse": ["falls", "appears"],
        "wireless": ["rises", "vanishes"],
        "plane": ["falls", "rises"],
        "bank": ["steady", "steady"],
    }
    assert named(words, "appears") == ("mouse",)
    assert [word.word for word in words][-1] == "bank"
    mouse = next(word for word in words if word.word == "mouse")
    assert (mouse.senses[1].first, mouse.senses[1].second) == (0.02, 0.4)
    assert mouse.senses[1].difference.value == pytest.approx(0.38)
    # √(.02 · .98 / 100 + .4 · .6 / 100) = .0510
    assert mouse.senses[1].difference.interval.low == pytest.approx(0.38 - 1.96 * 0.051, abs=0.02)
    assert mouse.divergence.p_adjusted == pytest.approx(4 * (mouse.divergence.p or 1))
    assert {record.condition for record in mouse.records()} == {"mouse"}


def test_two_samples_of_one_text_do_not_drift() -> None:
    """Of 200 words without any change, about 5 % have p < .05, and after the adjustment (nearly) none."""
    rng = np.random.default_rng(2)
    same = {f"w{n}": (rng.choice(3, 60, p=[0.6, 0.3, 0.1]), rng.choice(3, 90, p=[0.6, 0.3, 0.1])) for n in range(200)}
    words = drifts(same, senses=dict.fromkeys(same, (1, 2, 4)), resamples=100)
    assert 2 <= sum((word.divergence.p or 1) < 0.05 for word in words) <= 20
    assert sum(word.drifts for word in words) <= 1
    # what chance makes: (K − 1) / (2 ln 2) · (1/60 + 1/90) / 4 bits, for two samples
    expected = 2 / (8 * np.log(2)) * (1 / 60 + 1 / 90)
    assert np.mean([word.by_chance for word in words]) == pytest.approx(expected, rel=0.1)


def test_too_little_is_refused() -> None:
    """One usage in a corpus, and a sense that the word has not."""
    with pytest.raises(StatisticError, match="two usages in each corpus"):
        word_drift("bank", [0], [0, 1], senses=(1, 2))
    with pytest.raises(StatisticError, match="one of 2 senses"):
        word_drift("bank", [0, 2], [0, 1], senses=(1, 2))
