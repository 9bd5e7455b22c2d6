"""Drawings: at any width nothing is cut or overlaps, every mark has a text, and files hold what the page shows."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, replace

import pytest

from lexiscope.report.marks.canvas import LOOKS, PALETTE, Lettering, stylesheet, text_width, to_bytes, to_svg
from lexiscope.report.marks.distribution import Distributions, ValueGroup
from lexiscope.report.marks.drawing import NARROW, WIDE, Axis, Drawing, ReferenceLine, levels_of_labels
from lexiscope.report.marks.forest import Forest, ForestRow
from lexiscope.report.marks.multiples import LayerPanel, LayerPanels, LayerPoint
from lexiscope.report.marks.pairs import PairedDots, PairRow
from lexiscope.report.marks.scatter import Scatter, ScatterPoint
from lexiscope.report.page.stored_answers import DRAWINGS, drawing_from_json

LONG = "a-model-with-quite-a-long-name-of-many-letters-uncased"
ONE = Axis("Spearman’s ρ", 0.0, 1.0)


def row(n: int) -> ForestRow:
    value = 0.1 * n
    shown = f".{n}0 [.{n}0, .{n}5]"
    return ForestRow(f"{LONG}-{n}", value, value - 0.05, value + 0.05, shown, side=f"{n}/12", pale=value + 0.02)


ROWS = tuple(map(row, range(1, 9)))
POINTS = tuple(LayerPoint(n, n / 20, n / 20 - 0.01, n / 20 + 0.02) for n in range(13))
GROUPS = (ValueGroup("same", (1.0, 4.5, 5.0) * 80, 4.2, "4.20"), ValueGroup("different", (1.5, 2.0) * 90, 1.7, "1.70"))
LINES = (ReferenceLine("average person .73", 0.73, 0.7, 0.76), ReferenceLine("reliability .75", 0.75, kind="further"))
SAMPLES: tuple[Drawing, ...] = (
    Forest(
        name="f", title="T", rows=(*ROWS, ForestRow("none", None, reason="all distances are 0")), axis=ONE,
        references=LINES,
        raters=(0.3, 0.7, 0.71, 0.72, 0.9), rows_name="9 models", people_name="5 people", value_head="ρ [95% CI]",
    ),
    LayerPanels(
        name="l", title="T", axis=ONE, references=(ReferenceLine("person", 0.7),), second_name="sense",
        panels=tuple(LayerPanel(LONG, POINTS, 12, 6) for _ in range(7)),
    ),
    PairedDots(
        name="p", title="T", axis=Axis("points", -1, 1.5), first_name="same sense", second_name="different senses",
        below="people rate lower", above="people rate higher",
        rows=tuple(PairRow(LONG, (0.5, 0.4, 0.6), (-0.5, -0.6, -0.4)) for _ in range(5)),
    ),
    Distributions(
        name="d", title="T", axis=Axis("Mean rating", 1, 5),
        groups=GROUPS,
    ),
    Scatter(
        name="s", title="T", axis=Axis("R²", 0, 0.5), x_label="Parameters", log=True, line=(0.0, 0.05),
        points=tuple(ScatterPoint(LONG[: 8 + n], 10.0 ** (6 + n / 4), 0.1 + n / 30, 0.05, 0.4) for n in range(8)),
    ),
)  # fmt: skip


@pytest.mark.parametrize("drawing", SAMPLES, ids=lambda drawing: type(drawing).__name__)
@pytest.mark.parametrize("width", [WIDE, NARROW, 454.0])
def test_no_text_leaves_the_sheet(drawing: Drawing, width: float) -> None:
    """Every line of text begins and ends on the sheet, at the widths of a screen, a phone and a journal."""
    canvas = drawing.draw(width)
    texts = [
        part for shape in canvas.shapes for part in getattr(shape, "shapes", (shape,)) if isinstance(part, Lettering)
    ]
    assert len(texts) > 4
    for words in texts:
        wide = text_width(words.text, LOOKS[words.look].size)
        start = words.x - {"start": 0.0, "middle": wide / 2, "end": wide}[words.anchor]
        assert start >= -1, words.text
        assert start + wide <= width + 1, words.text
        assert 0 < words.y <= canvas.height


@pytest.mark.parametrize(
    "drawing",
    [drawing for drawing in SAMPLES if isinstance(drawing, Forest | PairedDots | Distributions)],
    ids=lambda drawing: type(drawing).__name__,
)
def test_a_long_axis_label_is_written_whole(drawing: Forest | PairedDots | Distributions) -> None:
    """No word of the label of an axis is lost on a phone: it is written in lines, on the sheet."""
    label = "rating minus prediction from the distance of the two uses, points of the scale"
    canvas = replace(drawing, axis=replace(drawing.axis, label=label)).draw(NARROW)
    lines = [shape for shape in canvas.shapes if isinstance(shape, Lettering) and shape.look == "axis"]
    assert len(lines) > 1
    assert " ".join(line.text for line in lines) == label
    assert all(line.y <= canvas.height for line in lines)


@pytest.mark.parametrize("drawing", SAMPLES, ids=lambda drawing: type(drawing).__name__)
def test_a_drawing_is_well_formed_and_comes_back_from_json(drawing: Drawing) -> None:
    """The SVG parses and names its marks; the stored drawing is the same object; its columns are of one length."""
    svg = ElementTree.fromstring(to_svg(drawing.draw(WIDE), "wide"))
    assert svg.attrib["role"] == "group"
    assert svg.attrib["aria-label"]
    marks = [element for element in svg.iter() if element.attrib.get("class") == "hv"]
    assert marks
    assert all(element.attrib["aria-label"] for element in marks)
    assert [element.attrib["tabindex"] for element in marks].count("0") == 1
    stored = json.loads(json.dumps({"type": type(drawing).__name__, **asdict(drawing)}))
    assert drawing_from_json(stored) == drawing
    assert len({len(values) for values in drawing.columns().values()}) == 1
    assert type(drawing).__name__ in DRAWINGS


@pytest.mark.parametrize("kind", ["pdf", "png", "svg"])
def test_files_for_a_journal(kind: str) -> None:
    """PDF, PNG and SVG are whole files, the same bytes each time, with colours in them."""
    canvas = SAMPLES[0].draw(680)
    content = to_bytes(canvas, kind)  # type: ignore[arg-type]
    assert content == to_bytes(canvas, kind)  # type: ignore[arg-type]
    assert content.startswith({"pdf": b"%PDF", "png": b"\x89PNG", "svg": b"<?xml"}[kind])
    if kind == "svg":
        assert b"var(" not in content
        assert PALETTE["light"]["model"].encode() in content


def test_colours_have_contrast() -> None:
    """Text and marks have 5 : 1 on the background in both modes (bands, rules and the grid are no marks)."""

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for palette in PALETTE.values():
        for role in ("ink", "soft", "model", "people", "first", "second", "warn"):
            both = sorted((light(palette[role]), light(palette["bg"])))
            assert (both[1] + 0.05) / (both[0] + 0.05) >= 5, role


def test_labels_of_references_do_not_overlap() -> None:
    """Labels that would touch are written on lines above each other."""
    spots = levels_of_labels([(300, "average person .73"), (310, "reliability .75"), (600, "other")], 12.5, 704)
    assert [level for _, level in spots] == [0, 1, 0]


def test_the_style_has_a_rule_for_every_look() -> None:
    """A look without a rule would be black."""
    assert set(re.findall(r"\.k-([\w-]+)\{", stylesheet())) == set(LOOKS)


def test_an_axis_shows_the_range_of_its_statistic() -> None:
    """A bounded statistic keeps its bounds, from 0 if nothing is below; a free one has round ends and its 0."""
    assert Axis.around([0.42, 0.44], "ρ", bounds=(-1, 1)) == Axis("ρ", 0.0, 1)
    assert Axis.around([-0.05, 0.44], "ρ", bounds=(-1, 1)).low == -0.2
    free = Axis.around([3.0, 7.0], "points")
    assert (free.low, free.high) == (0.0, 8.0)
    assert [free.text(tick) for tick in free.ticks()] == ["0", "2", "4", "6", "8"]
    assert [Axis("", 0, 1).text(v) for v in (0.25, 0.5, 1.0, -0.2)] == [".25", ".5", "1", "−.2"]
