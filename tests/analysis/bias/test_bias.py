"""Context bias, word bias and the gaps: equal to hand calculation, with honest intervals."""

from __future__ import annotations

import math
import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lexiscope.analysis.bias.bias import bias_value, context_word_bias, effects_of_items
from lexiscope.analysis.bias.view_scores import FixedScore, Scores, ViewScores
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, parse_statistic

SHARES = st.floats(0, 1)


def scores(n_words: int = 60, per_word: int = 4, *, seed: int = 0, **accuracy: float) -> Scores:
    """Simulated decisions: in each view, each item is right with the view's probability."""
    rng = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(n_words) for _ in range(per_word)]
    return {view: ViewScores((rng.random(len(words)) < p).astype(float), words) for view, p in accuracy.items()}


def exact(n_words: int, **right: int) -> Scores:
    """One item a word, so many of them right."""
    words = [f"w{number}" for number in range(n_words)]
    return {view: ViewScores((np.arange(n_words) < n).astype(float), words) for view, n in right.items()}


def test_biases_are_equations_1_and_2() -> None:
    """(M_part − M_label) / (M_full − M_label), from the table of accuracies."""
    words = list("abcdefghij")
    found = context_word_bias(
        {
            "full": ViewScores([1] * 9 + [0], words),
            "context": ViewScores([1] * 8 + [0] * 2, words),
            "word": ViewScores([1] * 4 + [0] * 6, words),
            "label": FixedScore(0.5, "a closed form"),
        }
    )
    assert found.context.value == pytest.approx((0.8 - 0.5) / (0.9 - 0.5))
    assert found.word.value == pytest.approx((0.4 - 0.5) / (0.9 - 0.5))
    assert found.context_gap is not None
    assert found.context_gap.value == pytest.approx(0.9 - 0.8)
    assert found.word_gap is not None
    assert found.word_gap.value == pytest.approx(0.9 - 0.4)
    assert found.minimum_gap is not None
    assert found.minimum_gap.value == pytest.approx(min(0.1, 0.5))
    assert found.minimum_gap.nearest == "context"
    assert found.full_over_label is not None
    assert found.full_over_label.value == pytest.approx(0.4)


def test_the_minimum_gap_of_am2ico() -> None:
    """Figure 3 of the study: BERT min(5, 10) = 5, people min(18.9, 19.4) = 18.9 (points)."""
    for full, context, word, expected in ((71.0, 66.0, 61.0, 5.0), (87.9, 69.0, 68.5, 18.9)):
        views = {"full": full, "context": context, "word": word}
        gap = context_word_bias({view: FixedScore(value, "printed") for view, value in views.items()}).minimum_gap
        assert gap is not None
        assert gap.value == pytest.approx(expected)


@given(SHARES, SHARES, SHARES)
def test_a_bias_is_undefined_exactly_where_full_is_not_above_label(part: float, full: float, label: float) -> None:
    """Elsewhere it inverts: label + bias × (full − label) is the part's score."""
    value = bias_value(part, full, label)
    assert math.isnan(value) == (full - label <= 1e-12)
    if full - label > 1e-6:
        assert label + value * (full - label) == pytest.approx(part)


def test_an_undefined_bias_says_why() -> None:
    """FULL ≤ LABEL, or a view that is not there."""
    below = context_word_bias(scores(full=0.4, context=0.5, word=0.5) | {"label": FixedScore(0.5, "assumed")})
    assert math.isnan(below.context.value)
    assert "FULL" in below.context.reason
    assert "not above LABEL (0.5)" in below.context.reason
    assert not below.word.is_defined
    no_label = context_word_bias(scores(full=0.9, context=0.7))
    assert no_label.context.reason == "the view label is not there"
    assert no_label.word.reason == "the views label and word are not there"
    assert (no_label.word_gap, no_label.minimum_gap, no_label.full_over_label) == (None, None, None)
    with pytest.raises(StatisticError, match="full is missing"):
        context_word_bias(scores(context=0.7))


def test_a_bias_whose_room_may_be_nothing_has_a_set_without_bounds() -> None:
    """Fieller's set: bounds where FULL is above LABEL, two half-lines or every value where it may not be.

    The bounds solve (context − label − b · room)² = t² · its variance, computed here from the 0/1 answers themselves.
    """
    label: Scores = {"label": FixedScore(0.5, "assumed")}
    clear = context_word_bias(scores(full=0.85, context=0.7, word=0.6) | label).context.interval
    assert (clear.undefined, parse_statistic(clear.method)[1]["method"]) == (0, "fieller")
    views = exact(240, full=137, context=130) | label
    found = context_word_bias(views, resamples=20_000).context.interval
    above, room = (np.asarray(views[view].values, dtype=float) - 0.5 for view in ("context", "full"))
    n, t = 240, stats.t.ppf(0.975, 239)
    (s_aa, s_ar), (_, s_rr) = np.cov(above, room) / n
    a, h, c = room.mean() ** 2 - t**2 * s_rr, above.mean() * room.mean() - t**2 * s_ar, above.mean() ** 2 - t**2 * s_aa
    ends = sorted(np.roots([a, -2 * h, c]))
    assert (found.low, found.high) == pytest.approx(ends, rel=0.05)
    many = context_word_bias(exact(60, full=33, context=31) | label).context  # SD .064, FULL − LABEL .05
    assert many.value == pytest.approx((31 / 60 - 0.5) / (33 / 60 - 0.5))
    assert not many.interval.is_defined
    assert many.interval.note == "no bounded interval: every value agrees with the data"
    beside = context_word_bias(exact(60, full=33, context=50) | label).context.interval  # the context is far above
    assert re.fullmatch(r"no bounded interval: values below −\d.* or above \d.* agree with the data", beside.note)


def test_intervals_cover_the_truth() -> None:
    """95 % intervals of the bias hold the planted .6 in 88 of 100 seeded samples or more (80 words, resampled)."""
    inside = 0
    for seed in range(100):
        drawn = scores(80, 5, seed=seed, full=0.9, context=0.74, word=0.5) | {"label": FixedScore(0.5, "assumed")}
        interval = context_word_bias(drawn, resamples=400, seed=seed).context.interval
        inside += interval.low <= (0.74 - 0.5) / (0.9 - 0.5) <= interval.high
    assert inside >= 88


def test_differences_say_whether_they_exclude_zero() -> None:
    """FULL − LABEL of a model that learnt does, of one that did not does not; nor does one without an interval."""
    label: Scores = {"label": FixedScore(0.5, "assumed")}
    learnt = context_word_bias(scores(full=0.8) | label).full_over_label
    guessed = context_word_bias(scores(full=0.5) | label).full_over_label
    fixed = context_word_bias({"full": FixedScore(0.9, "printed")} | label).full_over_label
    assert learnt is not None
    assert guessed is not None
    assert fixed is not None
    assert (learnt.excludes_zero, guessed.excludes_zero, fixed.excludes_zero) == (True, False, False)


def test_graded_labels_have_biases_too() -> None:
    """With a correlation as M and a constant LABEL prediction (0), the bias is the ratio of the correlations."""
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(100)]
    gold = rng.normal(size=100)
    views = {
        view: ViewScores(gold + noise * rng.normal(size=100), words, gold)
        for view, noise in (("full", 0.2), ("context", 1.0), ("word", 3.0))
    }
    found = context_word_bias(views | {"label": ViewScores(np.zeros(100), words, gold)}, metric="spearman")
    value = {each.view: each.value for each in found.views}
    assert found.context.value == pytest.approx(value["context"] / value["full"])
    assert value["label"] == 0


def test_fourteen_thousand_items_take_seconds() -> None:
    """14,000 items in 3,000 words, four views, 2,000 draws: far less than a minute, even on a busy machine."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 3000, 14_000).astype(str)
    views = {view: ViewScores(rng.integers(0, 2, 14_000), words) for view in ("full", "context", "word", "label")}
    start = time.process_time()
    context_word_bias(views)
    assert time.process_time() - start < 30


def test_effects_of_items_are_those_of_each_set_and_their_differences() -> None:
    """Two sets that share words but not items, by hand: what is above LABEL, the ratio, and what the second changes.

    The interval of a change has the expanded percentiles (Hesterberg 2015) of an independent resampling of words.
    """
    named = [f"w{number}" for number in range(20)]
    words = {"all": named * 3, "kept": named * 2}
    rng = np.random.default_rng(5)
    values = {
        (name, view): (rng.random(len(own)) < p).astype(float)
        for name, own in words.items()
        for view, p in (("full", 0.95), ("context", 0.8), ("label", 0.3))
    }
    scores = {
        name: {view: ViewScores(values[name, view], own) for view in ("full", "context", "label")}
        for name, own in words.items()
    }
    effects = {effect.name: effect for effect in effects_of_items(scores, changed="kept", resamples=20_000, seed=3)}

    def value(name: str) -> float:
        effect = effects[name]
        assert isinstance(effect, Estimate)
        return effect.value

    above = {key: own.mean() - values[key[0], "label"].mean() for key, own in values.items()}
    base = "view_difference(first=context,second=label,metric=accuracy,items="
    assert value(f"{base}all)") == pytest.approx(above["all", "context"])
    assert value(f"{base}kept,minus=all)") == pytest.approx(above["kept", "context"] - above["all", "context"])
    ratio = {name: above[name, "context"] / above[name, "full"] for name in words}
    assert value("context_bias(metric=accuracy,items=kept)") == pytest.approx(ratio["kept"])
    assert value("context_bias(metric=accuracy,items=kept,minus=all)") == pytest.approx(ratio["kept"] - ratio["all"])
    assert (effects[f"{base}all)"].n, effects[f"{base}kept)"].n) == (60, 40)
    # every word has as many items as any other: the mean of a resample is the mean of the means of its words
    drawn = rng.integers(0, 20, (20_000, 20))
    means = {key: own.reshape(-1, 20).mean(axis=0)[drawn].mean(axis=1) for key, own in values.items()}
    moved = means["kept", "context"] - means["kept", "label"] - means["all", "context"] + means["all", "label"]
    tail = stats.norm.cdf(-math.sqrt(20 / 19) * stats.t.ppf(0.975, 19))
    change = effects[f"{base}kept,minus=all)"]
    assert isinstance(change, Estimate)
    ends = (change.interval.low, change.interval.high)
    assert ends == pytest.approx(tuple(np.quantile(moved, [tail, 1 - tail])), abs=0.02)
    flat = {
        name: {view: ViewScores([0.5] * 4, list("abcd")) for view in ("full", "context", "label")} for name in words
    }
    undefined = {effect.name: effect for effect in effects_of_items(flat, changed="kept", resamples=50)}
    reasons = [str(undefined[f"context_bias(metric=accuracy,items=kept{more})"]) for more in ("", ",minus=all")]
    assert "FULL is not above LABEL" in reasons[0]
    assert "not shown to be above LABEL in both sets" in reasons[1]
