"""Agreement against size: names that can be read, ceilings by name."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.layers.layers import r_squared_by_layer
from lexiscope.analysis.regression import scaling as regression_on_size
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.result import Estimate
from lexiscope.report.figures import Heading, data_csv
from lexiscope.report.plots.labels import place_labels
from lexiscope.report.plots.size import NAMED, Sized, SizeRegression, statistic_by_size
from lexiscope.report.plots.style import drawing

HEADING = Heading("scaling", "6", "Scaling")
# name, number of parameters and highest R² of the 13 released encoders of SAW-C
RELEASED = [
    ("albert-tiny-spanish", 5344136, 0.1136),
    ("albert-base-spanish", 11811584, 0.1823),
    ("albert-large-spanish", 17811968, 0.1414),
    ("albert-xlarge-spanish", 58852864, 0.1923),
    ("albert-xxlarge-spanish", 222723584, 0.1527),
    ("distilbert-base-spanish-uncased", 66338304, 0.2023),
    ("bert-base-spanish-wwm-cased", 109850880, 0.3569),
    ("bert-base-spanish-wwm-uncased", 109850880, 0.1845),
    ("bert-base-multilingual-cased", 177853440, 0.2209),
    ("roberta-base-bne", 124643328, 0.3087),
    ("roberta-large-bne", 355356672, 0.3912),
    ("xlm-roberta-base", 278043648, 0.1495),
    ("patana-chilean-spanish-bert", 109850880, 0.3540),
]


def _covered(boxes: list[Any]) -> list[Any]:
    shared = [one.intersection(one, other) for one, other in itertools.combinations(boxes, 2)]
    return [box for box in shared if box is not None and box.width * box.height > 1]


def test_thirteen_names_do_not_cover_each_other() -> None:
    """The names of SAW-C's 13 encoders stand inside the axes and do not overlap."""
    with drawing(7.2, 4.2) as sheet:
        axes = sheet.subplots()
        axes.set(xscale="log", xlim=(3e6, 6e8), ylim=(0, 0.7))
        points = [(float(size), value) for _, size, value in RELEASED]
        axes.plot(*zip(*points, strict=True), "o")
        sheet.draw_without_rendering()
        place_labels(axes, points, [name for name, _, _ in RELEASED])
        boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 13
    assert _covered(boxes) == []


def test_names_of_one_place_do_not_cover_each_other() -> None:
    """Three subjects with the same size and value get three places for their names."""
    with drawing(7.2, 4.2) as sheet:
        axes = sheet.subplots()
        axes.set(xlim=(0, 1), ylim=(0, 1))
        sheet.draw_without_rendering()
        place_labels(axes, [(0.5, 0.5)] * 3, ["first-model", "second-model", "third-model"])
        assert _covered([text.get_window_extent() for text in axes.texts]) == []


def test_many_subjects_are_numbered_with_a_key() -> None:
    """Beyond the number of names that fit, points carry numbers and a key names them."""
    few = [Sized(f"model-{index}", 10.0 ** (6 + index / 10), 0.2) for index in range(NAMED)]
    many = [*few, Sized("one-more", 5e8, 0.3)]
    assert "17 one-more" not in statistic_by_size(few, HEADING).svg
    assert "17 one-more" in statistic_by_size(many, HEADING).svg


def test_ceilings_and_fit_are_named() -> None:
    """Each ceiling carries its full name and value, the regression its slope per tenfold parameters."""
    ceilings = {"true leave-one-out (mean ρ)²": 0.534, "own rating included": 0.597}
    figure = statistic_by_size(
        [Sized("a", 1e7, 0.1), Sized("b", 1e8, 0.2)], HEADING, fit=SizeRegression(-0.6, 0.105), ceilings=ceilings
    )
    for words in ("true leave-one-out (mean ρ)² .53", "own rating included .60", "regression: .105 per tenfold"):
        assert words in figure.svg
    assert "Ceiling, own rating included: .597." in figure.alt


def test_the_data_beside_are_the_input() -> None:
    """Sizes, values, bounds and the multilingual mark stand in the CSV; undefined values are listed, not drawn."""
    subjects = [Sized("a", 1e7, 0.1, 0.05, 0.15, multilingual=True), Sized("b", 1e8, float("nan"))]
    figure = statistic_by_size(subjects, HEADING)
    assert figure.data["parameters"].tolist() == [1e7, 1e8]
    assert figure.data["multilingual"].tolist() == [True, None]
    np.testing.assert_array_equal(figure.data["low"], [0.05, np.nan])
    assert "Undefined and left as a gap: b." in figure.caption
    assert "Diamonds" not in figure.caption


def test_the_value_that_allows_for_the_choice_of_the_layer_stands_beside_the_highest() -> None:
    """A negative R² of words left out is drawn too: data, description, legend and caption have it."""
    figure = statistic_by_size([Sized("a", 1e7, 0.1, chosen=-0.05), Sized("b", 1e8, 0.3)], HEADING)
    np.testing.assert_array_equal(figure.data["chosen"], [-0.05, np.nan])
    assert "a: 10,000,000 parameters, .100 (−.050 with the choice of the layer allowed for). b:" in figure.alt
    assert "R², choice of the layer allowed for" in figure.svg
    assert "Diamonds: R², choice of the layer allowed for. Intervals and line: of the highest R²." in figure.caption


@pytest.mark.parametrize("parameters", [0.0, -1.0, float("nan")])
def test_a_size_must_be_positive(parameters: float) -> None:
    """A logarithm needs a positive number of parameters; the subject is named."""
    with pytest.raises(InputError, match="odd"):
        statistic_by_size([Sized("odd", parameters, 0.2)], HEADING)


def test_nothing_to_draw_is_an_error() -> None:
    """At least one subject must have a value."""
    with pytest.raises(InputError, match="no subject"):
        statistic_by_size([Sized("a", 1e7, float("nan"))], HEADING)


def test_a_single_subject_is_drawn() -> None:
    """One subject gives one point with its name."""
    assert "lonely" in statistic_by_size([Sized("lonely", 1e8, 0.3)], HEADING).svg


def test_unknown_languages_are_not_called_monolingual() -> None:
    """Where nobody said whether a subject is multilingual, the legend says so, and the data are empty there."""
    figure = statistic_by_size([Sized("a", 1e7, 0.1), Sized("b", 1e8, 0.2, multilingual=False)], HEADING)
    assert "number of languages not known (n = 1)" in figure.svg
    assert "monolingual (n = 1)" in figure.svg
    assert data_csv(figure).splitlines()[1].endswith(",")


def test_a_point_and_the_line_come_from_results() -> None:
    """A subject is drawn at the best value of its curve with the interval there, the line is that of the regression.

    Where the curve has the value that allows for the choice of the layer, the point has it too.
    """
    norms, rising = [1.0, 2, 3, 5, 4], np.array([1.0, 2, 3, 5, 6])
    curve = r_squared_by_layer(np.column_stack([rising[::-1] ** 2, rising]), norms, resamples=50)
    best = curve.best_value()
    assert best.interval is not None
    drawn = Sized.of(SubjectFacts("m", n_parameters=1000), curve)
    assert repr(drawn) == repr(Sized("m", 1000.0, best.value, best.interval.low, best.interval.high))
    allowing = replace(curve, chosen=Estimate("r_squared(layer=chosen)", 0.25))
    assert Sized.of(SubjectFacts("m", n_parameters=1000), allowing).chosen == 0.25
    fit, _kept = regression_on_size([0.1, 0.2, 0.3, 0.45], [1e6, 1e7, 1e8, 1e9])
    intercept, slope = fit.coefficients
    line = SizeRegression.of(fit)
    assert (line.intercept, line.slope) == (intercept.estimate, slope.estimate)
    assert line.text == f"b = {slope.estimate:.3f} per tenfold, n = 4"
