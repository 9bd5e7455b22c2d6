"""The map of senses: every point drawn and named, inside the frame, apart; no colour alone tells senses apart."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.senses import HIGH, SHAPES, WIDE, SensePoint, key, sense_map
from lexiscope.report.plots.style import clean_svg, mark

SVG = "{http://www.w3.org/2000/svg}"


def points(groups: int = 3, of: int = 8, *, seed: int = 2) -> list[SensePoint]:
    rng = np.random.default_rng(seed)
    found = []
    for sense in range(1, groups + 1):
        centre = 300 * rng.normal(size=2)
        found += [SensePoint("bank", sense, *centre, itself=True)]
        found += [SensePoint(f"word{sense}{n}", sense, *(centre + 4 * rng.normal(size=2))) for n in range(of)]
    return found


def test_every_point_is_drawn_and_named() -> None:
    """A circle with its number for each sense, a mark and a name for each neighbour, all inside the frame."""
    figure = sense_map(points(), Heading("map", "2", "The senses of bank"))
    root = ElementTree.fromstring(figure.svg)
    texts = [(each.text, float(each.get("x", 0)), float(each.get("y", 0))) for each in root.iter(f"{SVG}text")]
    assert {text for text, _, _ in texts} == {"1", "2", "3", *(p.name for p in points() if not p.itself)}
    assert all(0 <= x <= WIDE and 0 <= y <= HIGH for _, x, y in texts)
    assert len(list(root.iter(f"{SVG}circle"))) == 3
    assert "Sense 2: word20, word21" in figure.alt
    assert figure.data["itself"].sum() == 3
    assert figure.caption.endswith("empty space between them is cut.")


def test_names_do_not_cover_each_other() -> None:
    """Of 24 names in three crowded groups hardly any two overlap."""
    figure = sense_map(points(), Heading("map", "", "T"))
    found = re.findall(r'<text x="(\d+)" y="(\d+)">(word\d+)</text>', figure.svg)
    boxes = np.array([(int(x), int(y) - 11, int(x) + 0.56 * 11.5 * len(name), int(y)) for x, y, name in found])
    wide = np.minimum(boxes[:, None, 2], boxes[:, 2]) - np.maximum(boxes[:, None, 0], boxes[:, 0])
    high = np.minimum(boxes[:, None, 3], boxes[:, 3]) - np.maximum(boxes[:, None, 1], boxes[:, 1])
    over = np.triu(np.maximum(wide, 0) * np.maximum(high, 0), 1)
    assert (over > 30).sum() <= 1


def test_a_long_name_is_cut() -> None:
    """An address or a line without spaces keeps 23 letters in the drawing, so that it does not cross others."""
    long = SensePoint("bank", 1, 0.0, 0.0), SensePoint("x" * 200, 1, 1.0, 1.0)
    assert f">{'x' * 23}…<" in sense_map([*long, *points()], Heading("map", "", "T")).svg


def test_senses_at_one_place_can_both_be_read() -> None:
    """Circles of 9 points around stand at least 18 apart, even where two senses are the same vector."""
    given = [SensePoint("star", n, 1.0, 1.0 + n // 3, itself=True) for n in (1, 2, 3)] + [
        SensePoint("sky", 1, 9.0, 9.0)
    ]
    svg = sense_map(given, Heading("map", "", "T")).svg
    places = np.array(re.findall(r'<circle cx="(\d+)" cy="(\d+)"', svg), float)
    apart = np.hypot(*(places[:, None] - places).T)[np.triu_indices(3, 1)]
    assert apart.min() >= 18


def test_senses_differ_in_mark_and_colour() -> None:
    """The marks are those of the house style, with an outline each; a legend's mark is the map's."""
    assert set(SHAPES) == {mark(number).marker for number in range(49)}
    assert SHAPES[mark(1).marker] in key(2)
    assert key(1) != key(2)


def test_the_drawing_is_clean_and_the_same() -> None:
    """Sanitising takes nothing away; letters of markup are escaped; the same points give the same bytes."""
    given = [SensePoint("<b>&", 1, 0.0, 0.0), SensePoint("x", 1, 1.0, 1.0)]
    one, two = (sense_map(given, Heading("map", "", 'A "title"')) for _ in range(2))
    assert one.svg == two.svg
    assert "&lt;b&gt;&amp;" in one.svg
    assert len(clean_svg(one.svg)) == pytest.approx(len(one.svg), abs=60)


def test_one_point_and_none() -> None:
    """Points at one place are drawn; no point at all is refused."""
    assert "only" in sense_map([SensePoint("only", 1, 3.0, 3.0)], Heading("map", "", "T")).svg
    with pytest.raises(InputError, match="at least one"):
        sense_map([], Heading("map", "", "T"))
