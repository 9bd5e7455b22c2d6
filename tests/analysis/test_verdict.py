"""The verdict: which sentence stands where, and none that says more than the intervals do."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.bias import Biases, context_word_bias
from lexiscope.analysis.verdict import verdict
from lexiscope.analysis.view_gaps import human_model_gaps
from lexiscope.analysis.view_scores import FixedScore, Scores, ViewScores

HALF = FixedScore(0.5, "a closed form")


def views(n_words: int = 200, *, seed: int = 0, **accuracy: float) -> Scores:
    """Simulated decisions with exact accuracies: the right ones are spread over the words by a seed."""
    rng = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(n_words)]
    return {
        view: ViewScores(rng.permutation(np.arange(n_words) < round(share * n_words)).astype(float), words)
        for view, share in accuracy.items()
    } | {"label": HALF}


def biases(n_words: int = 200, *, seed: int = 0, **accuracy: float) -> Biases:
    return context_word_bias(views(n_words, seed=seed, **accuracy), resamples=500)


@pytest.mark.parametrize(
    ("context", "word", "kind"),
    [
        (0.97, 0.55, "context-biased"),
        (0.55, 0.97, "word-biased"),
        (0.97, 0.97, "both"),
        (0.55, 0.55, "neither"),
        (0.86, 0.55, "cannot be said"),
    ],
)
def test_the_kind_follows_the_intervals(context: float, word: float, kind: str) -> None:
    """FULL .97: a part at .97 has bias 1, at .55 bias .11, at .86 bias .77 with an interval around .80."""
    assert verdict(biases(500, full=0.97, context=context, word=word)).kind == kind


def test_one_decided_bias_is_said_where_the_other_is_open() -> None:
    """The verdict as a whole cannot be given, but what is known is said."""
    found = verdict(biases(500, full=0.97, context=0.86, word=0.55))
    assert found.summary.endswith("It is not word-biased; only of the context that cannot be said.")
    assert found.text.startswith("Judged by the model, at a threshold of 0.80: the numbers do not decide")


def test_wide_intervals_say_how_many_words_are_needed() -> None:
    """With 25 words the interval is far wider than .5: the sentence says so and names a factor."""
    found = verdict(biases(25, full=0.9, context=0.8, word=0.55))
    assert found.context.finding == "cannot be said"
    assert "times as many words are needed" in found.context.sentence


def test_nothing_is_said_where_nothing_was_learnt() -> None:
    """FULL not shown to be above LABEL: no bias, even where its own interval has bounds or would be high."""
    found = verdict(biases(100, full=0.56, context=0.56, word=0.52))
    assert found.kind == "cannot be said"
    assert any("It is not shown that anything was learnt" in sentence for sentence in found.sentences)
    below = verdict(biases(100, full=0.45, context=0.5, word=0.5))
    assert below.context.sentence == "The context bias is undefined: FULL (0.45) is not above LABEL (0.5)."


def test_people_are_set_beside_the_model() -> None:
    """Their own biases and the gap in each view; without people the verdict says that it does not know."""
    model, human = views(full=0.75, context=0.74, word=0.55), views(seed=1, full=0.95, context=0.72, word=0.55)
    gaps = human_model_gaps(model, human, resamples=500)
    found = verdict(context_word_bias(model), human=context_word_bias(human), gaps=gaps)
    assert sum(sentence.startswith("People: ") for sentence in found.sentences) == 3
    assert any(
        sentence.startswith("FULL: people are ahead of the model by 20.0 points") for sentence in found.sentences
    )
    assert any(sentence.startswith("WORD: people and model are not shown to differ") for sentence in found.sentences)
    alone = verdict(context_word_bias(model))
    assert any("No people were asked" in sentence for sentence in alone.sentences)


def test_a_threshold_is_an_argument() -> None:
    """The same bias of .47 is high at .3 and not high at .8."""
    found = biases(2000, full=0.97, context=0.72, word=0.55)
    assert verdict(found, high=0.3).context.finding == "high"
    assert verdict(found).context.finding == "not high"


def test_a_bias_above_one_and_below_zero_is_said() -> None:
    """Where the whole interval is above 1 the whole input does worse than the part; below 0, worse than no input."""
    found = verdict(biases(1000, full=0.7, context=0.95, word=0.3))
    assert "More than 1: without the word the scores are higher than with it." in found.context.sentence
    assert "Below 0" in found.word.sentence
    assert any(sentence.startswith("A part of the input gives the model more") for sentence in found.sentences)


def test_scores_without_an_interval_decide_nothing() -> None:
    """Printed accuracies alone: biases are shown, findings are not."""
    printed = {view: FixedScore(value, "printed") for view, value in (("full", 0.9), ("context", 0.9), ("word", 0.5))}
    found = verdict(context_word_bias(printed | {"label": HALF}))
    assert found.kind == "cannot be said"
    assert found.context.sentence.startswith("The context bias is 1.00, but its precision is not known")


def test_correlations_are_no_percent() -> None:
    """Graded gold: the sentences print correlations as they are."""
    rng = np.random.default_rng(2)
    words, gold = [f"w{number}" for number in range(200)], rng.normal(size=200)
    graded: Scores = {
        view: ViewScores(gold + noise * rng.normal(size=200), words, gold)
        for view, noise in (("full", 0.1), ("context", 2.0), ("word", 2.0))
    }
    zeros = ViewScores(np.zeros(200), words, gold)
    found = verdict(context_word_bias(graded | {"label": zeros}, metric="spearman", resamples=300))
    assert found.sentences[0].startswith("With the whole input the model reaches 0.99, without input 0.00")
    assert not any("%" in sentence for sentence in found.sentences)


def test_a_subject_that_is_never_wrong_is_said_to_look_too_exact() -> None:
    """Its intervals have no width; numbers print with a true minus and without a negative zero."""
    found = verdict(biases(full=1.0, context=1.0, word=0.499))
    assert "In FULL and CONTEXT all answers of the model score alike" in found.text
    assert "word bias 0.00 [−" in found.word.sentence
    assert "score alike" not in verdict(biases(full=0.9, context=0.9, word=0.5)).text
