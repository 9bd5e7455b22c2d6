"""Answers follow from results by rule: every outcome has its verdict and its sentence, and none is fixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lexiscope.core.result import Contrast, Counts, Curve, CurvePoint, Curves, Estimate, Interval, Record, Undefined
from lexiscope.report.answers.answer import UNDECIDED, Answer, verdict_of
from lexiscope.report.answers.effects import Condition, PairedEstimates, SlopeOf, TwoConditions, by_token_difference
from lexiscope.report.answers.layers import BestLayers, LayerCurves
from lexiscope.report.answers.numbers import POINTS, RHO, Numbers, Quantity, pick
from lexiscope.report.answers.one import Named, OneEstimate
from lexiscope.report.answers.results_page import default_answer, quantity_of
from lexiscope.report.answers.subjects import Against, SubjectEstimates
from lexiscope.report.marks.distribution import Distributions
from lexiscope.report.marks.forest import Forest
from lexiscope.report.marks.multiples import LayerPanels
from lexiscope.report.marks.pairs import PairedDots
from lexiscope.report.marks.scatter import Scatter

DIFFERENCE = TwoConditions(
    Condition("same-sense pairs", pick("mean", condition="same"), "Same"),
    Condition("different-sense pairs", pick("mean", condition="other"), "Other"),
    pick("difference"),
    predicted="above",
    smallest=0.5,
    tests=(("Mixed model", pick("chi2(df=1)")),),
)
MEANS = (Record("mean", 4.35, condition="same"), Record("mean", 2.11, condition="other"))
MODELS = SubjectEstimates(
    "Agreement",
    pick("rho"),
    replace(RHO, sign=-1.0),
    claim="follow people",
    against=(Against("the average person", pick("person")),),
    place=pick("place"),
)


def answer_of(rule: SubjectEstimates | TwoConditions | LayerCurves, *records: Record) -> Answer:
    answer = rule.answer(Numbers(records, {"a": "Model A", "b": "Model B"}))
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict", "words"),
    [
        (2.24, 2.03, 2.47, "Yes.", "were rated 2.24 points higher, 95% CI [2.03, 2.47], than different-sense pairs"),
        (-2.24, -2.47, -2.03, "The other way round.", "Predicted was a higher mean, but same-sense pairs were rated"),
        (0.1, -0.2, 0.4, "No.", "differ by 0.10 points 95% CI [−0.20, 0.40]"),
        (0.3, -0.2, 0.8, "Not decided.", "allow both a higher and a lower mean"),
    ],
)
def test_two_conditions(value: float, low: float, high: float, verdict: str, words: str) -> None:
    """Predicted sign, opposite sign, excluded beyond the smallest effect, and undecided each read as what they are."""
    test = Record("chi2(df=1)", 39.59, p=1e-9)
    answer = answer_of(DIFFERENCE, *MEANS, Record("difference", value, low=low, high=high), test)
    assert answer.verdict == verdict
    assert words in answer.sentences[0]
    assert answer.test == "Mixed model, χ²(1) = 39.59, p < .001."


def test_a_difference_without_a_value_is_not_answered() -> None:
    """The reason is in the sentence; without any such result there is no answer."""
    answer = answer_of(DIFFERENCE, *MEANS, Record("difference", None, note="undefined: one rater"))
    assert (answer.verdict, "one rater" in answer.sentences[0]) == ("Not answered.", True)
    assert DIFFERENCE.answer(Numbers(MEANS)) is None


def test_models_compared_with_people() -> None:
    """Partly: all follow people, none reaches them. The sign is turned once, for values and for intervals."""
    place = Record("place", 0.15, subject="a", n=131)
    person = Record("person", 0.73, low=0.71, high=0.75)
    a, b = (Record("rho", -v, subject=s, low=-v - 0.06, high=-v + 0.06) for s, v in (("a", 0.6), ("b", 0.4)))
    answer = answer_of(MODELS, a, b, person, place)
    assert answer.verdict == "Partly."
    assert answer.sentences == (
        "Both models follow people; the highest is Model A, ρ = .60, 95% CI [.54, .66], the lowest Model B, ρ = .40 "
        "[.34, .46].",
        "The average person reaches ρ = .73 [.71, .75]; the highest model is above 20 of 131 people (15%).",
    )
    assert isinstance(answer.drawing, Forest)
    assert [row.label for row in answer.drawing.rows] == ["Model A", "Model B"]
    assert (answer.drawing.axis.low, answer.drawing.axis.high) == (0.0, 1.0)
    assert answer.drawing.references[0].label == "average person .73"


def test_models_against_and_without_people() -> None:
    """One model whose interval includes 0 is undecided; models that all go the wrong way are the reverse."""
    person = Record("person", 0.73)
    alone = answer_of(MODELS, Record("rho", -0.1, subject="a", low=-0.3, high=0.1), person)
    assert (alone.verdict, "includes 0" in alone.sentences[0]) == ("Not decided.", True)
    wrong = answer_of(MODELS, *(Record("rho", 0.4, subject=s, low=0.3, high=0.5) for s in "ab"), person)
    assert wrong.verdict == "The other way round."
    assert wrong.sentences[0].startswith("Neither of the two models can be said to follow people")
    missing = answer_of(MODELS, Record("rho", None, subject="a", note="undefined: all distances are 0"))
    assert missing.verdict == "Not answered."


def test_baselines_are_drawn_and_not_counted() -> None:
    """Chance is a line; a baseline is hollow; a paired difference that includes 0 makes a yes a partly."""
    rule = SubjectEstimates(
        "Accuracy",
        pick("right"),
        Quantity("", "Percent", (0.0, 100.0), 0, unit="%"),
        claim="are above chance",
        against=(Against("chance", value=50.0, kind="chance"),),
        paired=(("the baseline", pick("above")),),
    )
    right = [
        Record("right", v, subject=s, low=v - 5, high=v + 5) for s, v in (("a", 80), ("b", 70), ("baseline:x", 60))
    ]
    above = [Record("above", v, subject=s, low=v - 9, high=v + 9) for s, v in (("a", 20), ("b", 5))]
    answer = answer_of(rule, *right, *above)
    assert answer.verdict == "Partly."
    assert answer.sentences[0].startswith("Both models are above chance; ")
    assert answer.sentences[1] == "1 of 2 is above the baseline, judged by the interval of the paired difference."
    assert isinstance(answer.drawing, Forest)
    assert [row.hollow for row in answer.drawing.rows] == [False, False, True]
    alone = answer_of(rule, right[2])
    assert alone.verdict == "No model was asked."
    assert alone.sentences[0] == "Only baselines answered; the highest is baseline:x, 60%, 95% CI [55, 65]."
    # guessing one point has no correlation: it is not a model whose question is open
    alone = answer_of(rule, replace(right[2], value=None, low=None, high=None, note="undefined: every prediction is 4"))
    assert alone == Answer(
        "No model was asked.", ("Only baselines answered.",), caution="No value for baseline:x: every prediction is 4."
    )
    grouped = replace(rule, group=("condition",))
    answer = answer_of(
        grouped, *(replace(r, condition=c) for r in right for c in "xy" if (c, r.subject[0]) != ("y", "a"))
    )
    assert isinstance(answer.drawing, Forest)
    assert {row.group for row in answer.drawing.rows} == {"x", "y"}
    answer = answer_of(
        grouped, *(replace(r, condition="x") for r in right), replace(right[2], condition="only guesses")
    )
    assert isinstance(answer.drawing, Forest)
    assert {row.group for row in answer.drawing.rows} == {"x"}


def test_layers() -> None:
    """The lead says where the best layers are; a fall at the last layer is told with both values."""
    rule = LayerCurves("By layer", pick("rho"), RHO)
    up = [Record("rho", v, subject="a", layer=n, low=v - 0.1, high=v + 0.1) for n, v in enumerate((0.1, 0.3, 0.5))]
    down = [Record("rho", v, subject="b", layer=n) for n, v in enumerate((0.1, 0.4, 0.2))]
    answer = answer_of(rule, *up, *down)
    assert answer.verdict == "It depends on the model."
    assert answer.sentences[0].startswith("In 1 of 2 models agreement with people is highest at the last layer.")
    assert answer.sentences[1] == "In Model B it falls from .40 (layer 1) to .20 at the last layer."
    assert isinstance(answer.drawing, LayerPanels)
    assert answer_of(rule, *up).verdict == "At layer 2 of 2."
    other = Record("rho(layer=chosen)", 0.35, subject="b")
    both = answer_of(replace(rule, allowing=pick("rho(layer=chosen)")), *up, *down, other)
    assert both.sentences[1] == answer.sentences[1].replace("layer.", "layer (layer chosen on other items: .35).")
    assert isinstance(both.drawing, LayerPanels)
    tips = [panel.tip for panel in both.drawing.panels]
    assert [tip.endswith("; with the layer chosen on other items: ρ = .35") for tip in tips] == [False, True]


def test_the_best_layer_is_undecided_where_words_held_out_do_not_support_it() -> None:
    """Below the model without a layer on the same items only: not decided. Above it: no."""
    rule = BestLayers("Best layers", pick("lowest"), pick("alone"), pick("saved"), what="separates the senses")
    lowest, alone = Record("lowest", 55.5, subject="a", layer=6), Record("alone", 63.1, subject="a")
    saved = Record("saved", -1.0, subject="a", low=-110.0, high=19.0)
    better, undecided = (rule.answer(Numbers((lowest, alone, r))) for r in (replace(saved, low=0.5), saved))
    assert better is not None
    assert undecided is not None
    assert (better.verdict, undecided.verdict) == ("At layer 6 in a.", "Not decided.")
    worse = rule.answer(Numbers((lowest, replace(alone, value=50.0), saved)))
    assert worse is not None
    text = "No layer separates the senses better than no predictor at all (lowest AIC 55.5; without predictor 50.0)."
    assert worse.sentences == (text,)


def test_pairs_slopes_and_single_estimates() -> None:
    """Each says direction, size and interval, and what it rests on."""
    claim = "people rate both beyond distance"
    pairs = PairedEstimates("Residuals", pick("same"), pick("other"), "same", "other", POINTS, claim, "Points")
    records = [Record(n, v, subject="a", low=v - 0.1, high=v + 0.1) for n, v in (("same", 1.3), ("other", -0.6))]
    answer = pairs.answer(Numbers(tuple(records)))
    assert answer is not None
    assert (answer.verdict, type(answer.drawing)) == ("Yes.", PairedDots)
    per = "for ten times as many parameters"
    slope = SlopeOf("Size", pick("slope"), pick("r2"), pick("n_parameters"), RHO, "R²", per, "Parameters")
    few = slope.answer(Numbers((Record("slope", 0.1, low=0.01, high=0.2, p=0.037, n=12),)))
    assert few is not None
    assert few.verdict == "Somewhat."
    assert few.sentences == (f"R² rises by .10 {per}, 95% CI [.01, .20], p = .037; this rests on 12 models.",)
    of_four = Record("slope", 0.1, low=0.01, high=0.2, p=0.037, n=12, p_adjusted=0.146, family="size(tests=4)")
    many = slope.answer(Numbers((of_four,)))
    assert many is not None
    assert (many.verdict, many.sentences) == (
        UNDECIDED,
        (
            f"R² rises by .10 {per}, 95% CI [.01, .20], p = .037 (p = .146 adjusted for 4 tests); after the adjustment "
            "for several tests, both directions are possible.",
        ),
    )
    one = OneEstimate(Named("the share", pick("share"), Quantity("", "", (0, 100), 0, unit="%")), against=50.0)
    said = one.answer(Numbers((Record("share", 65.0, low=62.0, high=68.0),)))
    assert said is not None
    assert (said.verdict, said.sentences) == ("Yes.", ("The share is 65%, 95% CI [62, 68]; chance is 50%.",))


def test_best_layers_by_size_have_their_value_allowing_for_the_choice() -> None:
    """The figure says that layers were chosen on the same items; the tip of a point has both values."""
    per = "for ten times as many parameters"
    rule = SlopeOf("Size", pick("slope"), pick("r2"), pick("n_parameters"), RHO, "R²", per, "Parameters")
    records = [Record("slope", 0.1, low=0.01, high=0.2, p=0.037, n=3)]
    for n, name in enumerate("abc", start=1):
        records += [Record("r2", 0.2 * n, subject=name), Record("n_parameters", 10.0**n, subject=name)]
    records.append(Record("r2(layer=chosen)", 0.35, subject="b"))
    numbers = Numbers(tuple(records))
    for allowing, tip in ((None, "b: ρ = .40; 100 parameters"), (pick("r2(layer=chosen)"), " = .35")):
        answer = replace(rule, allowing=allowing).answer(numbers)
        assert answer is not None
        assert isinstance(answer.drawing, Scatter)
        assert [point.tip.endswith(tip) for point in answer.drawing.points] == [False, True, False]
        assert ("chosen on the same items" in answer.drawing.note) is (allowing is not None)


def test_few_units_make_a_somewhat() -> None:
    """A clear slope over nine models rests on few of them."""
    slope = Record("slope", 0.1, low=0.01, high=0.2)
    assert verdict_of(slope, Quantity("b"), predicted="above", n_units=9) == "Somewhat."
    assert verdict_of(replace(slope, low=None, high=None), Quantity("b")) == ""


def test_an_answer_without_a_rule_is_that_of_the_type() -> None:
    """A comparison, curves, estimates, counts and what is undefined each answer by their own sentence and drawing."""
    interval = Interval(0.1, 0.3, 0.95, "b")
    about = {"unit": "correlation"}
    first, second = (Estimate("spearman", v, interval, 50, subject=s, **about) for s, v in (("a", 0.5), ("b", 0.3)))
    numbers = Numbers(())
    contrast = Contrast("spearman_difference", first, second, interval, 50, unit="correlation")
    answer = default_answer([contrast], contrast.records(), numbers)
    assert answer is not None
    assert (answer.verdict, type(answer.drawing)) == ("Yes.", Forest)
    points = tuple(CurvePoint(n, n / 2, v) for n, v in enumerate((0.1, 0.4, 0.2)))
    curve = Curve("spearman", "higher", points, 1, (1,), 50, 10, subject="a", unit="correlation")
    curves = Curves((curve,))
    answer = default_answer([curves], curves.records(), Numbers(curves.records()))
    assert answer is not None
    assert isinstance(answer.drawing, LayerPanels)
    estimates = default_answer([first, second], (), numbers)
    assert estimates is not None
    assert isinstance(estimates.drawing, Forest)
    counts = default_answer([Counts("answers", (("read", 9), ("refused", 1)))], (), numbers)
    assert counts is not None
    assert isinstance(counts.drawing, Forest)
    assert counts.drawing.rows[0].shown == "90% [60, 98]"  # Wilson's interval of 9 of 10: 59.6 to 98.2
    undefined = default_answer([Undefined("rho", "one item", 1)], (), numbers)
    assert undefined is not None
    assert undefined.verdict == "Not answered."
    assert default_answer([], [Record("n_items", 5)], numbers) is None, "counts alone are no answer"


def test_quantities_are_shown_on_the_range_of_their_statistic() -> None:
    """Shares and correlations have bounds; a difference of correlations may be negative; a free number has none."""
    assert quantity_of("accuracy", "share").bounds == (0.0, 1.0)
    assert quantity_of("spearman(with=norms)", "correlation").bounds == (-1.0, 1.0)
    assert quantity_of("spearman_difference", "correlation").bounds == (-1.0, 1.0)
    assert quantity_of("mean_rating", "points").bounds is None


def test_one_accuracy_has_no_range() -> None:
    """Words that all differ by one token have one accuracy; of two the lowest and the highest are told."""
    one = Record("accuracy_by_delta(delta=-1)", 40.0, subject="a", n=10, unit="percent")
    other = replace(one, statistic="accuracy_by_delta(delta=0)", value=60.0)
    sentences = [by_token_difference(Numbers(own, {"a": "Model A"}), None) for own in ((one,), (one, other))]
    assert [answer.sentences for answer in sentences if answer] == [
        ("Accuracy is 40% (Model A, −1 tokens).",),
        ("Accuracy ranges from 40% (Model A, −1 tokens) to 60% (Model A, equally many tokens).",),
    ]


def test_distributions_need_single_values() -> None:
    """The drawing is made of the values of a figure of the run; without them there is none."""
    record = Record("difference", 2.0, low=1.0, high=3.0)
    assert not isinstance(answer_of(DIFFERENCE, *MEANS, record).drawing, Distributions)


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ({}, "Both models"),
        ({"group": ("dataset",)}, "Both results"),
        ({"label": "view"}, "Both views"),
        ({"group": ("dataset",), "rows_are": ("pair", "pairs")}, "Both pairs"),
    ],
)
def test_rows_are_called_what_they_are(changes: dict[str, Any], rows: str) -> None:
    """Rows are models, results where they are grouped, what their label is, or what the rule says."""
    rule = replace(MODELS, against=(), quantity=RHO, **changes)
    records = [
        Record("rho", value, view=view, dataset="d", low=0.1, high=0.9) for value, view in ((0.3, "x"), (0.6, "y"))
    ]
    assert answer_of(rule, *records).sentences[0].startswith(f"{rows} follow people")


def test_views_keep_the_order_of_the_results() -> None:
    """Subjects are ranked by their values; views, conditions and points stay in the order of the results."""
    records = [
        Record("rho", value, subject=view, view=view, low=0.1, high=0.9) for value, view in ((0.3, "x"), (0.6, "y"))
    ]
    rule = replace(MODELS, against=(), quantity=RHO)
    drawings = [answer_of(own, *records).drawing for own in (rule, replace(rule, label="view"))]
    labels = [[row.label for row in drawing.rows] for drawing in drawings if isinstance(drawing, Forest)]
    assert labels == [["y", "x"], ["x", "y"]]
    (first, _) = [drawing.rows[0] for drawing in drawings if isinstance(drawing, Forest)]
    assert (first.value, first.low, first.high, first.shown) == (0.6, 0.1, 0.9, RHO.both(records[1]))


def test_the_default_answer_calls_subjects_by_their_names() -> None:
    """Without a rule, a sentence has the title of the subject and of the condition, and a summary in words."""
    shown = Estimate("my_agreement(summary=median)", 0.5, subject="baseline:random", condition="suite/one")
    numbers = Numbers(shown.records(), titles={"baseline:random": "random", "suite/one": "the first suite"})
    answer = default_answer([shown], shown.records(), numbers)
    assert answer is not None
    assert answer.sentences[0].startswith("The median of the my agreement of random for the first suite is")
