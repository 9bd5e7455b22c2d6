"""Curves over layers: gaps, limits, and any number of subjects and layers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from lexiscope.analysis.layers.trajectory import family_by_depth_ratio
from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.curves import DrawnCurve, layer_ticks, start_at_zero
from lexiscope.report.plots.layers import aic_panels, distance_by_layer, families_by_depth, peak_panels, trajectories
from lexiscope.report.plots.style import drawing, panels

SVG = "{http://www.w3.org/2000/svg}"
HEADING = Heading("layers", "9", "Layers")


def _curve(subject: str, *value: float, **more: float) -> DrawnCurve:
    return DrawnCurve(subject, np.arange(len(value)), np.array(value), **more)


def test_the_data_beside_are_the_input() -> None:
    """One row per subject, condition and layer, with mean, interval and n exactly as given."""
    mean = np.array([0.0, 1 / 3])
    curve = DrawnCurve("BETO", np.array([0, 1]), mean, mean - 0.1, mean + 0.1, condition="same", n=241)
    data = distance_by_layer([curve], HEADING).data
    np.testing.assert_array_equal(data["mean"], mean)
    np.testing.assert_array_equal(data["low"], mean - 0.1)
    np.testing.assert_array_equal(data["high"], mean + 0.1)
    assert data["layer"].tolist() == [0, 1]
    assert data["n"].tolist() == [241, 241]


def test_undefined_points_are_gaps_with_a_remark() -> None:
    """Not-a-number stays in the data, is left out of the drawing, and is named in the caption."""
    figure = peak_panels([_curve("BETO", np.nan, 0.2, 0.3)], HEADING)
    assert np.isnan(figure.data["value"][0])
    assert "Undefined and left as a gap: BETO, layer 0." in figure.caption
    assert "nan" not in figure.svg


def test_a_curve_without_any_value_says_so() -> None:
    """A subject whose statistic is undefined everywhere keeps its panel."""
    figure = peak_panels([_curve("BETO", np.nan, np.nan), _curve("mBERT", 0.1, 0.2)], HEADING)
    assert "undefined at every layer" in figure.svg
    assert "undefined at every layer" in figure.alt


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ((0.1, 0.4, 0.1), "peak .40 at 1 · last −75 %"),  # 1 - .1 / .4
        ((0.1, 0.2, 0.4), "peak .40 at 2 · no drop"),
        ((0.1, 0.4, np.nan), "peak .40 at 1 · last —"),
    ],
)
def test_peak_and_drop_are_printed(value: tuple[float, ...], printed: str) -> None:
    """Each panel names its peak, the layer of it, and the share that is lost; the caption, how the layer was chosen."""
    figure = peak_panels([_curve("BETO", *value)], HEADING)
    assert printed in figure.svg
    assert "its layer chosen on the same items" in figure.caption


def test_the_peak_stands_beside_what_allows_for_its_layer_having_been_chosen() -> None:
    """Panels print it, data and description have it, and the caption says what it is; without it none of this."""
    chosen, plain = _curve("BETO", 0.1, 0.4, chosen=0.31), _curve("mBERT", 0.1, 0.2)
    figure = peak_panels([chosen, plain], HEADING)
    assert figure.svg.count("choice allowed for: .31") == 1
    assert "Choice allowed for: the value of the other words at the layer chosen on the words drawn" in figure.caption
    together = trajectories([chosen, plain], HEADING, statistic="R²")
    for drawn in (figure, together):
        np.testing.assert_array_equal(drawn.data["chosen"], [0.31, 0.31, np.nan, np.nan])
        assert "highest 0.4 at 1; best layer, its choice allowed for: 0.31. mBERT" in drawn.alt
    assert "chosen on the same items" in together.caption
    alone = peak_panels([plain], HEADING), trajectories([plain], HEADING, statistic="R²")
    assert not any("chosen" in drawn.data or "allow" in drawn.caption for drawn in alone)


def test_lowest_aic_and_expected_layer_are_printed() -> None:
    """Each panel names the lowest AIC, its layer, and the expected layer where there is one."""
    figure = aic_panels([_curve("BETO", 991.2, 712.9, 722.6, expected_layer=3.602)], HEADING)
    assert "lowest 712.9 at 1 · expected layer 3.60" in figure.svg
    assert "lowest value, chosen on the same items" in figure.caption
    assert set(figure.data["expected_layer"]) == {3.602}
    assert "expected_layer" not in aic_panels([_curve("BETO", 9.0, 8.0)], HEADING).data


def test_an_expected_layer_outside_the_layers_is_named_and_not_drawn() -> None:
    """7.35 of 2 layers is no place on the axis: the panel says that it lies outside, and draws no line."""
    figure = aic_panels([_curve("BETO", 69.9, 70.0, 69.2, expected_layer=7.35)], HEADING)
    assert "expected layer 7.35 (outside)" in figure.svg
    inside = aic_panels([_curve("BETO", 69.9, 70.0, 69.2, expected_layer=1.5)], HEADING)
    assert "outside" not in inside.svg
    assert "Dashed" in inside.caption
    assert "Dashed" not in figure.caption


def test_the_aic_without_distance_is_drawn_and_named() -> None:
    """Each panel names the AIC of the model without distance: a curve above it separates nothing."""
    figure = aic_panels([_curve("BETO", 69.9, 70.0, 68.99, baseline=68.54)], HEADING)
    assert "lowest 69.0 at 2" in figure.svg
    assert "without distance 68.5" in figure.svg
    assert "Dotted level line: the model without distance" in figure.caption
    assert set(figure.data["baseline"]) == {68.54}


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_any_number_of_subjects(count: int) -> None:
    """Every subject gets a panel with its name."""
    svg = peak_panels([_curve(f"model-{index}", 0.1, 0.2) for index in range(count)], HEADING).svg
    assert all(f"model-{index}<" in svg for index in range(count))


def test_one_layer_is_a_point() -> None:
    """A subject with a single layer is drawn, with its interval as a bar."""
    point = np.array([12]), np.array([0.36]), np.array([0.30]), np.array([0.41])
    figure = trajectories([DrawnCurve("BETO", *point)], HEADING, statistic="R²")
    assert figure.data["value"].tolist() == [0.36]
    assert "NaN" not in figure.svg


def test_the_axis_holds_every_curve() -> None:
    """The shared vertical axis starts at 0 and reaches above the highest band of any panel, whichever came first."""
    low, high = _curve("low", 0.0, 0.1), DrawnCurve(
        "high", np.arange(2), np.array([0.0, 0.5]), np.array([0.0, 0.4]), np.array([0.0, 0.6])
    )  # fmt: skip
    with drawing(4, 2) as sheet:
        grid = panels(sheet, 2, columns=2)
        start_at_zero(grid, [low, high])
        assert [axes.get_ylim()[0] for axes in grid] == [0, 0]
        assert [axes.get_ylim()[1] for axes in grid] == [pytest.approx(1.05 * 0.6)] * 2


def test_no_curve_is_cut() -> None:
    """In the finished drawing all points of all curves lie inside the frame that clips them, whatever their order."""
    curves = [_curve("low", 0.0, 0.05), _curve("high", 0.0, 0.9), _curve("middle", 0.1, 0.3)]
    root = ElementTree.fromstring(peak_panels(curves, HEADING).svg)
    frames = {f"url(#{clip.get('id')})": clip[0] for clip in root.iter(f"{SVG}clipPath")}
    lines = [
        path for path in root.iter(f"{SVG}path") if path.get("clip-path") and "fill: none" in path.get("style", "")
    ]
    heights = [
        (frames[path.get("clip-path", "")], re.findall(r" (-?[\d.]+) *(?=[ML]|$)", path.get("d", ""))) for path in lines
    ]
    assert len(heights) >= 3
    for frame, points in heights:
        top, height = float(frame.get("y", "")), float(frame.get("height", ""))
        assert all(top - 1 <= float(y) <= top + height + 1 for y in points)


def test_negative_values_keep_their_axis() -> None:
    """Where a statistic is negative somewhere, the axis does not start at 0."""
    with drawing(4, 2) as sheet:
        grid = panels(sheet, 1, columns=1)
        grid[0].plot([0, 1], [-0.5, 0.5])
        start_at_zero(grid, [_curve("x", -0.5, 0.5)])
        assert grid[0].get_ylim()[0] < -0.5


@pytest.mark.parametrize("last", [1, 4, 6, 12, 24, 32])
def test_ticks_are_whole_layers(last: int) -> None:
    """Ticks are whole layers from 0 on, at most seven, inside the axis."""
    with drawing(4, 2) as sheet:
        axes = panels(sheet, 1, columns=1)[0]
        layer_ticks(axes, last)
        ticks = axes.get_xticks().tolist()
    assert ticks[0] == 0
    assert ticks[-1] <= last
    assert all(float(tick).is_integer() for tick in ticks)
    assert 2 <= len(ticks) <= 7


def test_groups_are_panels() -> None:
    """Trajectories of one group share a panel under its name; by depth, all share one."""
    curves = [
        DrawnCurve("a", np.arange(3), np.array([0.0, 0.1, 0.2]), group="12 layers"),
        DrawnCurve("b", np.arange(3), np.array([0.0, 0.2, 0.3]), group="24 layers"),
    ]
    families = family_by_depth_ratio({"a": [0.0, 0.1, 0.2], "b": [0.0, 0.3]}, {"a": "12 layers", "b": "24 layers"})
    svg = trajectories(curves, HEADING, statistic="R²").svg
    assert ">12 layers<" in svg
    assert ">24 layers<" in svg
    assert families_by_depth(families, HEADING, statistic="R²").svg.count(">24 layers<") == 1, (
        "in the legend, over no panel"
    )


def test_half_an_interval_and_unequal_lengths_are_refused() -> None:
    """An interval has two ends; layers and values are equally many; something must be given."""
    with pytest.raises(InputError, match="both of its ends"):
        peak_panels([DrawnCurve("a", np.arange(2), np.zeros(2), low=np.zeros(2))], HEADING)
    with pytest.raises(InputError, match="lengths"):
        peak_panels([DrawnCurve("a", np.arange(3), np.zeros(2))], HEADING)
    with pytest.raises(InputError, match="at least one curve"):
        peak_panels([], HEADING)


def test_a_layer_without_error_is_marked_instead_of_the_lowest_value() -> None:
    """Senses that are separated perfectly have no finite AIC: the lowest finite one is not the best layer."""
    separated = replace(_curve("BETO", 69.9, float("nan"), 50.1), separated=(1.0,))
    figure = aic_panels([separated, _curve("mBERT", 60.0, 40.0, 50.0)], HEADING)
    assert "without error at 1" in figure.svg
    assert "lowest 50.1" not in figure.svg
    assert "lowest 40.0 at 1" in figure.svg
    assert "Triangle: a layer that separates the senses without error" in figure.caption
    assert list(figure.data["separated"]) == [0, 1, 0, 0, 0, 0]
