"""Every type of result has its records, a sentence with direction, size and interval; curves have a figure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lexiscope.core.errors import StatisticError
from lexiscope.core.result import (
    NO_INTERVAL,
    Contrast,
    Counts,
    Curve,
    CurvePoint,
    Curves,
    Estimate,
    Fit,
    Interval,
    Result,
    Undefined,
)
from lexiscope.report.presenting import plot, results_table, sentence
from lexiscope.report.tables import to_text

BOUNDS = Interval(0.52, 0.69, 0.95, "bootstrap(method=percentile,level=0.95,resamples=100)", 100)
ONE = Estimate("spearman(with=norms)", 0.612, BOUNDS, 672, 112, subject="gpt-4", higher="closer to people")
TWO = Estimate("spearman(with=norms)", 0.4, BOUNDS, 672, 112, subject="minilm", layer=3)
POINTS = (
    CurvePoint(0, 0.0, None, None, "all distances are 0"),
    CurvePoint(1, 0.5, 0.5, BOUNDS),
    CurvePoint(2, 1.0, 0.3),
)
CURVE = Curve("spearman(with=norms)", "higher", POINTS, 1, (1,), 672, 112, subject="minilm")


def test_an_estimate_says_its_size_its_interval_and_what_higher_means() -> None:
    """Value, interval with its level, n in groups, direction."""
    text = "The Spearman correlation with the norms of gpt-4 is .61, 95% CI [.52, .69], n = 672 in 112 groups"
    assert sentence(ONE) == f"{text} (higher means closer to people)."
    (record,) = ONE.records()
    assert (record.value, record.low, record.high, record.n, record.subject) == (0.612, 0.52, 0.69, 672, "gpt-4")


def test_a_contrast_says_which_is_higher_only_where_the_interval_excludes_zero() -> None:
    """An interval around 0 is no difference in any direction."""
    apart = Contrast("spearman_difference(with=norms)", ONE, TWO, Interval(0.1, 0.3, 0.95, "b"), 672, 112)
    assert "of gpt-4 is .21 higher than that of minilm, layer 3, 95% CI [.10, .30]" in sentence(apart)
    close = Contrast("spearman_difference(with=norms)", ONE, TWO, Interval(-0.1, 0.3, 0.95, "b"), 672, 112)
    assert "do not differ reliably" in sentence(close)
    (record,) = close.records()
    assert record.subject == "gpt-4 − minilm@3"
    assert record.value == pytest.approx(0.212)


@pytest.mark.parametrize(
    ("first", "second", "lead"),
    [
        (
            {"condition": "same_sense=False"},
            {"condition": "same_sense=True"},
            "The alpha of people for same_sense=False is .24 lower than that of people for same_sense=True, 95%",
        ),
        (
            {"condition": "same_sense=False"},
            {},
            "of people for same_sense=False is .24 lower than that of people for all",
        ),
        ({"layer": 7}, {"layer": 12}, "of people, layer 7, is .24 lower than that of people, layer 12, 95%"),
        (
            {"view": "full", "layer": 7},
            {"view": "word", "layer": 7},
            "of people, layer 7, view full, is .24 lower than that of people, layer 7, view word, 95%",
        ),
        (
            {"condition": "pos=N", "view": "word", "layer": 7},
            {"condition": "pos=N", "view": "word", "layer": 12},
            "For pos=N, view word, the alpha of people, layer 7, is .24 lower than that of people, layer 12, 95%",
        ),
    ],
)
def test_a_contrast_names_what_differs_and_says_once_what_both_share(
    first: dict[str, object], second: dict[str, object], lead: str
) -> None:
    """Two sides of one subject are told by layer, view or condition; shared ones come before the comparison."""
    sides = [Estimate("alpha", value, subject="people").about(**more) for value, more in ((0.5, first), (0.74, second))]
    assert lead in sentence(Contrast("alpha_difference", *sides, Interval(-0.33, -0.12, 0.95, "b"), 24, 12))


def test_a_curve_names_its_best_layer_and_the_last_one() -> None:
    """The best layer by number with its interval; the last layer where it is another one."""
    assert "is highest at layer 1 (.50, 95% CI [.52, .69]); at the last layer, 2, it is .30" in sentence(CURVE)
    records = CURVE.records()
    assert [(r.statistic, r.layer, r.value) for r in records] == [
        ("spearman(with=norms)", 0, None),
        ("spearman(with=norms)", 1, 0.5),
        ("spearman(with=norms)", 2, 0.3),
        ("best_layer(by=spearman)", None, 1.0),
    ]
    assert records[0].note == "undefined: all distances are 0"
    figure = plot(Curves((CURVE,)), "By layer")
    assert figure.title == "By layer"
    assert figure.data["layer"].tolist() == [0, 1, 2]


def test_the_best_of_several_subjects() -> None:
    """Each subject at its best layer, the best subject first; an undefined one is no candidate."""
    curves = Curves((CURVE, ONE, Undefined("spearman(with=norms)", "constant", 3, subject="baseline")))
    assert [(one.subject, one.layer, one.value) for one in curves.best(3)] == [
        ("gpt-4", None, 0.612),
        ("minilm", 1, 0.5),
    ]
    assert curves.of("gpt-4") is ONE
    with pytest.raises(StatisticError, match="no subject 'x'"):
        curves.of("x")
    assert plot(Curves((ONE,))).data["value"].tolist() == [ONE.value], "without layers, dots"
    with pytest.raises(StatisticError, match="nothing to draw"):
        plot(Curves((Undefined("rho", "constant", 3),)))


def test_counts_and_tests_and_what_is_undefined() -> None:
    """Counts name their total, a test its χ², df, p and both models; an undefined statistic its reason."""
    counts = Counts("answers", (("read", 9), ("refused", 1)))
    assert sentence(counts) == "The answers: read 9, refused 1 (of 10)."
    assert [(r.condition, r.value, r.n) for r in counts.records()] == [("read", 9, 10), ("refused", 1, 10)]
    fit = Fit("sense boundary", "y ~ x + z", "y ~ x", 12.345, 1, 0.0004, 100, (Estimate("b", 1.5, condition="z"),))
    assert sentence(fit) == (
        "The sense boundary improves the model (χ²(1) = 12.35, p < .001, n = 100; y ~ x + z compared with y ~ x)."
    )
    assert [r.statistic for r in fit.records()] == ["chi2(df=1)", "b"]
    assert "χ²(1) = 12.35" in fit.summary()
    assert plot(counts).data["value"].tolist() == [9, 1]
    assert plot(fit).data["value"].tolist() == [1.5], "the coefficients of the larger model"
    assert plot(fit).title == "y ~ x + z"
    with pytest.raises(StatisticError, match="without its coefficients"):
        plot(replace(fit, terms=()))
    assert sentence(Undefined("rho", "one item", 1)) == "The rho is undefined: one item."


def test_results_are_shown_in_notebooks_and_frames() -> None:
    """A piece of HTML with the sentence and the numbers; a frame with one row a record."""
    assert (
        "is .61" in CURVE.about(condition="a < b")._repr_html_()
        or "a &lt; b" in CURVE.about(condition="a < b")._repr_html_()
    )
    frame = Curves((CURVE, ONE)).frame()
    assert list(frame["subject"]) == ["minilm"] * 4 + ["gpt-4"]
    table = to_text(results_table("t", "Title", [CURVE, ONE]))
    assert "Spearman correlation with the norms" in table
    assert ".61" in table or "0.61" in table


def test_a_type_of_result_without_words_is_refused() -> None:
    """What is not registered is an error, never shown as something else."""
    with pytest.raises(StatisticError, match="cannot be put into words"):
        Result().sentence()
    assert not NO_INTERVAL.is_defined
