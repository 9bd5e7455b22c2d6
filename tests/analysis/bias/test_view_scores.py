"""Scores by view and their draws: paired over views, clustered by word, refused where they make no sense."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.bias.view_scores import FixedScore, Scores, ViewScores, draw_scores
from lexiscope.analysis.correlation import correlation_value
from lexiscope.core.errors import StatisticError

WORDS = [f"w{number}" for number in range(20) for _ in range(3)]


def test_draws_are_means_over_resampled_words() -> None:
    """A draw is the mean over the rows of the words drawn: computed here row by row from the same counts."""
    rng = np.random.default_rng(1)
    right = rng.integers(0, 2, len(WORDS)).astype(float)
    drawn = draw_scores({"full": ViewScores(right, WORDS)}, resamples=50, seed=4)
    picks = np.random.default_rng(4).integers(0, 20, size=(50, 20))
    names = sorted(set(WORDS))
    rows = {name: [i for i, word in enumerate(WORDS) if word == name] for name in names}
    by_hand = [np.mean([right[i] for pick in draw for i in rows[names[pick]]]) for draw in picks]
    assert np.allclose(drawn.draws["full"], by_hand)


def test_views_are_paired_over_words() -> None:
    """Two views with the same answers differ in no draw, whatever the order of their items."""
    right = np.arange(len(WORDS)) % 2
    turned = ViewScores(right[::-1], WORDS[::-1])
    drawn = draw_scores({"full": ViewScores(right, WORDS), "word": turned}, resamples=200)
    assert np.array_equal(drawn.draws["full"], drawn.draws["word"])


def test_views_may_hold_other_words() -> None:
    """People see other items in each view: the words of all views are drawn, a draw without any of a view is NaN."""
    scores: Scores = {"full": ViewScores([1, 0, 1], ["a", "b", "c"]), "word": ViewScores([1], ["a"])}
    drawn = draw_scores(scores, resamples=500)
    assert drawn.n_words == 3
    # the word a is missing from a draw of 3 words with probability (2/3)**3 = .296
    assert 0.2 < np.isnan(drawn.draws["word"]).mean() < 0.4
    assert not drawn.values["word"].interval.is_defined
    assert drawn.values["word"].value == 1.0


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_correlations_are_paired_too(metric: str) -> None:
    """The value is the correlation with the gold, and equal views have equal draws."""
    rng = np.random.default_rng(0)
    gold = rng.normal(size=len(WORDS))
    guess = gold + rng.normal(size=len(WORDS))
    scores: Scores = {view: ViewScores(guess, WORDS, gold) for view in ("full", "context")}
    drawn = draw_scores(scores, metric=metric, resamples=100)  # type: ignore[arg-type]
    assert drawn.values["full"].value == correlation_value(guess, gold, kind=metric)  # type: ignore[arg-type]
    assert np.array_equal(drawn.draws["full"], drawn.draws["context"])
    assert drawn.values["full"].interval.low < drawn.values["full"].value < drawn.values["full"].interval.high


def test_one_prediction_for_all_items_counts_as_no_correlation() -> None:
    """The label view of a graded task predicts the mean everywhere: 0, in every draw, and the note says so."""
    gold = np.arange(len(WORDS), dtype=float)
    drawn = draw_scores({"label": ViewScores(np.full(len(WORDS), 2.5), WORDS, gold)}, metric="spearman", resamples=50)
    assert drawn.values["label"].value == 0
    assert "one prediction" in drawn.values["label"].note
    assert not drawn.draws["label"].any()


def test_a_score_that_was_not_measured_says_so() -> None:
    """It has no interval, and why it stands there is kept."""
    value = draw_scores({"word": FixedScore(0.5, "assumed")}).values["word"]
    assert (value.value, value.fixed, value.n) == (0.5, "assumed", 0)
    assert value.interval.note == "no interval: the value is assumed"


def test_one_word_has_no_interval() -> None:
    """Where all items share one word, nothing can be resampled, and the note says why."""
    value = draw_scores({"full": ViewScores([1, 0], ["a", "a"])}).values["full"]
    assert value.value == 0.5
    assert value.interval.note == "no interval: all items share one word"


@pytest.mark.parametrize(
    ("scores", "metric", "said"),
    [
        (ViewScores([1, 0], ["a"]), "accuracy", "2 values, 1 words"),
        (ViewScores([], []), "accuracy", "0 values"),
        (ViewScores([1, np.nan], ["a", "b"]), "accuracy", "a value of the view full is missing"),
        (ViewScores([1, 2], ["a", "b"]), "accuracy", "outside 0 to 1"),
        (ViewScores([1, 2, 3], ["a", "b", "c"]), "spearman", "graded gold"),
        (ViewScores([1, 2, 3], ["a", "b", "c"], [1, 1, 1]), "spearman", "graded gold"),
        (ViewScores([1], ["a"]), "f1", "no metric 'f1'"),
    ],
)
def test_what_makes_no_score_is_refused(scores: ViewScores, metric: str, said: str) -> None:
    """Each error names the view and what is wrong."""
    with pytest.raises(StatisticError, match=said):
        draw_scores({"full": scores}, metric=metric)  # type: ignore[arg-type]
