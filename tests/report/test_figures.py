"""What holds for every figure."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Figure, Heading, apa, data_csv, floats, gaps_remark, levels, write_figure
from lexiscope.report.plots.style import clean_svg

Drawer = Callable[[], Figure]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_drawing_is_well_formed_and_described(figure: Figure) -> None:
    """Each drawing parses, has role img, its title, and its text alternative, named by aria-labelledby."""
    root = ElementTree.fromstring(figure.svg)
    named = {element.get("id"): element.text for element in root if element.tag in (f"{SVG}title", f"{SVG}desc")}
    assert root.get("role") == "img"
    assert [named[part] for part in root.get("aria-labelledby", "").split()] == [figure.title, figure.alt]
    assert len(figure.alt) > 40


def test_the_same_data_give_the_same_bytes(figure: Figure, drawer: Drawer) -> None:
    """Drawn again, under other matplotlib settings, the figure has the same bytes; the settings stay as they were."""
    with matplotlib.rc_context({"font.size": 20, "axes.grid": False, "svg.fonttype": "path", "svg.hashsalt": "x"}):
        again = drawer()
        assert matplotlib.rcParams["font.size"] == 20
    assert again.svg == figure.svg
    assert data_csv(again) == data_csv(figure)
    assert "dc:date" not in figure.svg


def test_ids_are_unique_and_belong_to_the_figure(figure: Figure) -> None:
    """All ids begin with the figure's name, none occurs twice, and every reference is answered inside the drawing."""
    ids = re.findall(r' id="([^"]+)"', figure.svg)
    assert len(ids) == len(set(ids))
    assert all(name.startswith(f"{figure.name}-") for name in ids)
    assert {*re.findall(r"url\(#([^)]+)\)", figure.svg), *re.findall(r'href="#([^"]+)"', figure.svg)} <= set(ids)


def test_drawings_ask_for_nothing_outside(figure: Figure) -> None:
    """Nothing but shapes and text: cleaning changes nothing, and no address but the name spaces occurs."""
    svg = figure.svg
    assert clean_svg(svg) == svg
    assert set(re.findall(r"https?://[^\"' ]+", svg)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_text_stays_text(figure: Figure) -> None:
    """Axis labels are text elements, so that they can be searched, read aloud and edited."""
    assert len(re.findall(r"<text ", figure.svg)) >= 4


def test_written_files(figure: Figure, tmp_path: Path) -> None:
    """A figure is written as a drawing with prologue and a CSV with its data, under its name."""
    svg, data = write_figure(figure, tmp_path / "figures")
    assert svg.name == f"{figure.name}.svg"
    assert data.name == f"{figure.name}.csv"
    assert svg.read_text(encoding="utf-8").startswith('<?xml version="1.0" encoding="utf-8"?>\n<svg ')
    assert sorted(path.name for path in svg.parent.iterdir()) == [data.name, svg.name]


def test_csv_keeps_full_precision() -> None:
    """Numbers in the CSV read back equal; undefined ones are empty cells; text is quoted where it must be."""
    numbers = np.array([0.1 + 0.2, 1 / 3, np.nan])
    data = {"name": np.array(["a,b", 'c"d', "é"]), "value": numbers}
    text = data_csv(Figure("f", "1", "t", "", "a", "<svg/>", data))
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["name", "value"]
    assert [row[0] for row in rows[1:]] == ["a,b", 'c"d', "é"]
    assert [float(row[1]) for row in rows[1:3]] == [0.1 + 0.2, 1 / 3]
    assert rows[3][1] == ""


def test_columns_of_unequal_length_are_refused() -> None:
    """Columns beside a figure describe the same rows."""
    with pytest.raises(InputError, match="differ in length"):
        Figure("f", "1", "t", "", "a", "<svg/>", {"a": np.zeros(2), "b": np.zeros(3)})


@pytest.mark.parametrize("name", ["", "a b", "../x", "1st", "a/b", '"'])
def test_a_name_must_be_a_file_name_and_an_id(name: str) -> None:
    """A figure's name becomes a file and an HTML id; nothing else is accepted."""
    with pytest.raises(InputError):
        Heading(name, "1", "t")


@pytest.mark.parametrize("bad", [[], [[1.0]], [1.0, float("inf")]])
def test_numbers_are_checked(bad: list[float]) -> None:
    """Nothing, more than one row, and infinite values are refused."""
    with pytest.raises(InputError):
        floats(bad, "x")


def test_an_order_must_name_every_level() -> None:
    """A condition that the given order leaves out is an error, not a silent omission."""
    assert levels(["b", "a", "b"], ["a", "b", "c"]) == ["a", "b"]
    with pytest.raises(InputError, match="leaves out"):
        levels(["b", "a"], ["a"])


def test_gaps_are_named_and_counted() -> None:
    """Up to five undefined points are named, the rest counted."""
    assert gaps_remark([]) == ""
    assert gaps_remark(list("abcdefg")) == "Undefined and left as gaps: a; b; c; d; e; and 2 more."


def test_bounded_numbers_have_no_leading_zero() -> None:
    """As the APA prints them, with a true minus sign."""
    assert [apa(value) for value in (0.61, -0.61, 1.0, 0.0, 12.5)] == [".61", "−.61", "1.00", ".00", "12.50"]
