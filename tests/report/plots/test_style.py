"""The house style: tellable apart by everybody, and drawings that cannot do anything."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from io import StringIO

import numpy as np
import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure as Drawing

from lexiscope.report.figures import Heading
from lexiscope.report.plots import style
from lexiscope.report.plots.style import (
    COLOURS,
    INK,
    SOFT,
    add_legend,
    clean_svg,
    drawing,
    drawn_figure,
    mark,
    panels,
    prefix_ids,
    short_names,
    shorten,
    texts_of,
    with_description,
)

# Machado, Oliveira & Fernandes (2009), severity 1.0
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def _linear(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = to_xyz @ np.clip(linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def _contrast(colour: str, paper: str = "#ffffff") -> float:
    light, dark = sorted(
        (float(_linear(c) @ np.array([0.2126, 0.7152, 0.0722])) for c in (colour, paper)), reverse=True
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("deficiency", sorted(DEFICIENCIES))
def test_any_two_colours_stay_apart(deficiency: str) -> None:
    """Under full vision or a simulated deficiency, any two colours differ by CIE76 > 10 (2.3 is just noticeable)."""
    seen = [_lab(DEFICIENCIES[deficiency] @ _linear(colour)) for colour in COLOURS]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) > 10


def test_the_first_two_colours_are_far_apart() -> None:
    """The two colours of the two conditions differ by more than 30 under every deficiency."""
    for matrix in DEFICIENCIES.values():
        assert np.linalg.norm(_lab(matrix @ _linear(COLOURS[0])) - _lab(matrix @ _linear(COLOURS[1]))) > 30


@pytest.mark.parametrize("colour", [INK, SOFT])
def test_text_has_contrast(colour: str) -> None:
    """Text on white has a contrast of at least 4.5 to 1 (WCAG 1.4.3)."""
    assert _contrast(colour) >= 4.5


def test_marks_never_differ_by_colour_alone() -> None:
    """The first seven categories differ pairwise in marker and in line; the first 49 in colour or marker."""
    first = [mark(index) for index in range(7)]
    assert len({look.marker for look in first}) == len({str(look.line) for look in first}) == 7
    assert len({(mark(index).colour, mark(index).marker) for index in range(49)}) == 49


@pytest.mark.parametrize(
    "payload",
    [
        "<script>alert(1)</script>",
        "<foreignObject><b xmlns='http://www.w3.org/1999/xhtml'>x</b></foreignObject>",
        "<image href='http://example.org/x.png'/>",
        "<style>@import url(http://example.org)</style>",
        "<path d='M0 0' onclick='alert(1)'/>",
        "<use xmlns:xlink='http://www.w3.org/1999/xlink' xlink:href='http://example.org/#a'/>",
        "<use href='javascript:alert(1)'/>",
        "<rect style='fill: url(http://example.org/a)'/>",
        "<rect style='fill: url( \"http://example.org/a\")'/>",
        "<a href='javascript:alert(1)'><path d='M0 0'/></a>",
        "<animate onbegin='alert(1)' attributeName='x'/>",
    ],
)
def test_a_drawing_is_reduced_to_shapes(payload: str) -> None:
    """Scripts, handlers, foreign content and references outside the drawing are removed."""
    cleaned = clean_svg(f'<svg xmlns="http://www.w3.org/2000/svg">{payload}</svg>')
    for word in ("script", "alert", "example.org", "foreignObject", "style>"):
        assert word not in cleaned


def test_cleaning_keeps_what_it_has_cleaned() -> None:
    """Cleaning twice gives what cleaning once gives, and text stays escaped."""
    once = clean_svg('<svg xmlns="http://www.w3.org/2000/svg"><text>&lt;script&gt;</text><path d="M 0 0" /></svg>')
    assert clean_svg(once) == once
    assert "&lt;script&gt;" in once


def test_ids_and_references_move_together() -> None:
    """A prefix goes to ids, to references by url and by link, and to the names of the description."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" aria-labelledby="t d"><title id="t">T</title>'
        '<path id="p" clip-path="url(#c)" /><use href="#p" /></svg>'
    )
    moved = prefix_ids(svg, "run1-")
    for part in ('aria-labelledby="run1-t run1-d"', 'id="run1-p"', "url(#run1-c)", 'href="#run1-p"'):
        assert part in moved


def test_long_names_lose_their_middle() -> None:
    """A shortened name has the length asked for and keeps both ends; a short one is left alone."""
    assert shorten("bert-base-spanish-wwm-uncased", 17) == "bert-bas" + "…" + "-uncased"
    assert shorten("BETO", 17) == "BETO"


def test_shortened_names_stay_distinct() -> None:
    """Two subjects never share a title, however much of their names is left out, and no title is too long."""
    names = [f"an-organisation/another-encoder-{index}-of-some-length" for index in range(40)]
    names += [f"prefix-{index}-{'x' * 40}" for index in range(3)]
    short = short_names(names, 25)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= 25
    assert short_names(["BETO", "mBERT"], 25) == ["BETO", "mBERT"]


def test_a_described_drawing_keeps_its_texts_whole() -> None:
    """The line below a drawing makes room for itself, and no text of the drawing is changed: a longer one would be cut
    at the edge, and a number with it."""
    with drawing(3, 2) as sheet:
        sheet.subplots().text(0.5, 0.5, "people .49")
        before = drawn_figure(sheet, Heading("f", "", "Old"), "Old words", {}).svg
    after = with_description(before, title="New", alt="New words", visible="[judgments: simulated participants]")
    assert texts_of(after) == [*texts_of(before), "[judgments: simulated participants]"]
    heights = [float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg)[1]) for svg in (before, after)]  # type: ignore[index]
    lines = re.findall(r'<text x="4" y="([\d.]+)"', after)
    assert heights[0] < float(lines[-1]) < heights[1]
    assert "<title" in after
    assert "New words" in after
    assert "Old" not in after


def test_a_figure_is_drawn_once_as_savefig_draws_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layout is found before the only drawing; shapes, texts and their places are those of savefig, which draws
    everything a second time to find it.
    """

    def sketch(sheet: Drawing) -> None:
        for axes in panels(sheet, 3, columns=2):
            axes.plot([1, 2, 30000], [3, 1, 2], label="a model")
            axes.set(xlabel="Layer", ylabel="Distance", title="A panel")
        add_legend(sheet)

    def numbers(svg: str) -> list[list[str]]:
        # what drawn_figure adds (a description, prefixes of ids, rounding) is left out of the comparison
        return [re.findall(r"-?\d+\.\d\d", path) for path in re.findall(r' (?:d|transform)="([^"]*)"', svg)]

    with drawing(5, 3) as sheet:
        sketch(sheet)
        saved = StringIO()
        sheet.savefig(saved, format="svg", metadata={"Date": None, "Creator": None})
    draws, draw = [], Drawing.draw

    def counted(self: Drawing, renderer: RendererBase) -> None:
        draws.append(renderer)
        draw(self, renderer)

    monkeypatch.setattr(Drawing, "draw", counted)
    with drawing(5, 3) as sheet:
        sketch(sheet)
        found = drawn_figure(sheet, Heading("sketch", "1", "A sketch."), "A sketch.", {"x": np.arange(3)})
    assert len(draws) == 1
    reference = ElementTree.fromstring(saved.getvalue())
    style._round_numbers(reference)
    assert numbers(found.svg) == numbers(ElementTree.tostring(reference, encoding="unicode"))
    assert texts_of(found.svg) == texts_of(saved.getvalue())
