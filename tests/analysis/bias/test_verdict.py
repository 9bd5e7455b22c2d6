"""The verdict: which sentence stands where, and none that says more than the intervals do."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lexiscope.analysis.bias.bias import Biases, context_word_bias
from lexiscope.analysis.bias.verdict import verdict
from lexiscope.analysis.bias.view_scores import FixedScore, Scores, ViewScores, human_model_gaps

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
        (0.5, 0.5, "neither"),
        (0.6, 0.5, "a part tells"),
        (0.86, 0.5, "a part tells"),
        (0.97, 0.86, "context-biased"),
    ],
)
def test_the_kind_follows_the_intervals(context: float, word: float, kind: str) -> None:
    """FULL .97, LABEL .5: a part at .97 has bias 1, at .5 bias 0, at .86 bias .77 with an interval around .80."""
    assert verdict(biases(500, full=0.97, context=context, word=word)).kind == kind


def test_parts_above_label_are_said_first_and_the_ratio_second() -> None:
    """CONTEXT .86 is above LABEL .5 by 36 points: that stands first, though its bias is open; WORD .5 is not above."""
    found = verdict(biases(500, full=0.97, context=0.86, word=0.5))
    first, ratio = found.text.split("Judged by")[0], found.text.split("Judged by")[1]
    assert re.match(r"CONTEXT is above LABEL by 36\.0 points \[3\d\.\d, 3\d\.\d\]\. ", first)
    assert re.search(r"WORD is not shown to be above LABEL: 0\.0 points \[−\d\.\d, \d\.\d\]\. $", first)
    assert "the context alone tells a part of the answers (threshold of a bias: 0.80)" in ratio
    assert "It is not word-biased. The numbers" not in found.summary
    assert "The numbers do not decide whether it is context-biased. It is not word-biased." in found.summary


def test_a_part_above_label_is_never_called_unbiased() -> None:
    """The word decides all, and FULL tells nothing (a learner of whole texts): the ratio is undefined, WORD counts."""
    found = verdict(biases(200, full=0.5, context=0.5, word=1.0))
    assert found.kind == "word-biased"
    assert found.summary.startswith("WORD is above LABEL by 50.0 points")
    assert "The word alone gives more than the whole input" in found.word.sentence
    low = verdict(biases(2000, full=0.97, context=0.6, word=0.5))
    assert low.kind == "a part tells"
    assert "unbiased" not in low.text
    assert "neither" not in low.text


def test_a_part_that_a_subject_cannot_see_gets_no_verdict() -> None:
    """WORD equals LABEL because the subject is blind to it: that is said, and neither 'not biased' nor 'neither'."""
    seen = biases(500, full=0.97, context=0.5, word=0.5)
    found = verdict(seen, blind={"word": "it compares two equal words"})
    assert found.kind == "cannot be said"
    assert "the model cannot see WORD, so there is no verdict on it: it compares two equal words." in found.summary
    assert "word-biased" not in found.text
    assert "word bias" not in found.text
    above = verdict(biases(500, full=0.97, context=0.5, word=0.97), blind={"word": "it compares two equal words"})
    assert above.kind == "word-biased"


@pytest.mark.parametrize(("n_words", "first"), [(5, "Too few words for a verdict: 5 words."), (12, "CONTEXT is above")])
def test_too_few_words_are_said_before_anything_else(n_words: int, first: str) -> None:
    """With fewer than 10 words there is no verdict; with fewer than 25 the intervals are said to be too short."""
    words = [f"w{n}" for n in range(n_words)] * 20
    right, half = ViewScores([1.0] * len(words), words), ViewScores([1.0, 0.0] * (len(words) // 2), words)
    found = verdict(context_word_bias({"full": right, "context": right, "word": half, "label": HALF}, resamples=200))
    assert found.text.startswith(first)
    assert (found.kind == "cannot be said") == (n_words < 10)
    assert ("the intervals are somewhat too short" in found.text) == (n_words == 12)


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


def test_a_part_that_is_right_on_the_same_items_as_label_is_said_to_look_too_exact() -> None:
    """A learner that answers alike in WORD and in LABEL: 0.0 [0.0, 0.0] does not show that the word tells nothing."""
    of = views(full=0.9, context=0.7, word=0.5)
    found = verdict(context_word_bias(of | {"label": of["word"]}, resamples=300))
    told = "In WORD and LABEL the model is right on the same items: an interval without width does not show that"
    assert told in found.text
    assert told not in verdict(context_word_bias(of, resamples=300)).text
