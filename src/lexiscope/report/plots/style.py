"""The house style of figures: colours that colour-blind readers can distinguish, and marks that do not need colour.

Text stays text in the drawings (it can be read aloud, searched and edited). Layout is measured in DejaVu Sans, which
comes with matplotlib; Verdana, next in the font list, has the same widths, and all further fallbacks are narrower.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from lexiscope.report.figures import Array, Figure, Heading, build_figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

#: Okabe and Ito's set without its yellow, which is too pale for lines on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (8, 3)), (0, (2, 1)))
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oo")

INK = "#1a1a1a"
SOFT = "#595959"
GRID = "#e4e4e4"
#: Full width of a figure, in inches (a page's text block).
WIDTH = 7.2

_SETTINGS: dict[str, object] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica", "sans-serif"],
    "font.size": 8.5,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 8.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 2.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    # a fixed salt makes the ids, and with them the bytes, the same in every run
    "svg.hashsalt": "lexiscope",
}

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
_LINE = 14.0
"""Height of a line below a drawing. *Unit:* points."""
_ELEMENTS = frozenset(
    "svg g defs path use rect circle ellipse line polyline polygon text tspan clipPath pattern title desc".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class MarkStyle:
    """How one category is drawn: colour, marker, line and hatch change together, so that colour alone never carries."""

    colour: str
    marker: str
    line: object
    hatch: str


def mark(index: int) -> MarkStyle:
    """Return the mark of the category at *index*; the first 49 all differ in colour or in marker.

    >>> mark(0).marker, mark(1).marker, mark(0).colour == mark(7).colour, mark(7).marker
    ('o', '^', True, '^')
    """
    shifted = (index + index // len(COLOURS)) % len(MARKERS)
    return MarkStyle(COLOURS[index % len(COLOURS)], MARKERS[shifted], LINES[shifted], HATCHES[shifted])


def shorten(text: str, length: int) -> str:
    """Return *text* without its middle if it is longer than *length* characters.

    >>> shorten("bert-base-spanish-wwm-uncased", 17)
    'bert-bas…-uncased'
    """
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def short_names(names: Sequence[str], length: int) -> list[str]:
    """Return all *names* shortened to *length*; those that would come out alike keep their end, or get a number.

    >>> short_names(["a-long-model-name-1-of-a-kind", "a-long-model-name-2-of-a-kind"], 17)
    ['…ame-1-of-a-kind', '…ame-2-of-a-kind']
    """
    short = [shorten(name, length) for name in names]
    alike = {name for name in short if short.count(name) > 1}
    ends = [f"…{name[2 - length :]}" if cut in alike else cut for name, cut in zip(names, short, strict=True)]
    again = {name for name in ends if ends.count(name) > 1}
    numbered = enumerate(zip(names, ends, strict=True), start=1)
    return [f"{shorten(name, length - 5)} ({index})" if end in again else end for index, (name, end) in numbered]


@contextmanager
def drawing(width: float, height: float) -> Iterator[Drawing]:
    """Yield an empty drawing of *width* × *height* inches in the house style; :func:`drawn_figure` ends the block.

    The user's own matplotlib settings are ignored, so that the same data give identical files everywhere.
    """
    from matplotlib import style
    from matplotlib.figure import Figure as Drawing

    with style.context(["default", _SETTINGS]):
        yield Drawing(figsize=(width, height), layout="constrained")


def panels(sheet: Drawing, count: int, *, columns: int, share_y: bool = True) -> list[Axes]:
    """Return *count* panels of *sheet* in rows of *columns*; empty places of the last row stay blank."""
    rows = -(-count // columns)
    grid = sheet.subplots(rows, columns, sharex=False, sharey=share_y, squeeze=False)
    flat = list(grid.flat)
    for empty in flat[count:]:
        empty.set_axis_off()
    return flat[:count]


def add_legend(sheet: Drawing, *, columns: int = 3, below: bool = False, first: Sequence[str] = ()) -> None:
    """Name each mark of the drawing once, above its panels or *below* them; the labels in *first* come first."""
    handles: dict[str, Artist] = {}
    for axes in sheet.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    labels = [*(label for label in first if label in handles), *(label for label in handles if label not in first)]
    if labels:
        place = f"outside {'lower' if below else 'upper'} center"
        sheet.legend([handles[label] for label in labels], labels, loc=place, ncols=min(columns, len(labels)))


def fix_layout(sheet: Drawing) -> None:
    """Fix the layout of the drawing: names are placed next to points in the final one."""
    engine = sheet.get_layout_engine()
    if engine is not None:
        engine.execute(sheet)
    sheet.set_layout_engine("none")


def drawn_figure(sheet: Drawing, heading: Heading, alt: str, data: Mapping[str, Array], remark: str = "") -> Figure:
    """Return the drawing as a figure; *alt*, *data* and *remark* as in :func:`build_figure`.

    Its SVG has title and description, ids that begin with the figure's name, and no date.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = StringIO()
    # not savefig, which draws twice: once for the layout alone, which is found here before the only drawing
    FigureCanvasSVG(sheet).print_svg(buffer, metadata={"Date": None, "Creator": None})
    root = _clean(ElementTree.fromstring(buffer.getvalue()))
    _round_numbers(root)
    _describe(root, heading.title, alt)
    _prefix(root, f"{heading.name}-")
    return build_figure(heading, _serialise(root), alt, data, remark)


def with_description(svg: str, *, title: str, alt: str, visible: str) -> str:
    """Return a drawing under another title and description, with the line *visible* written below it.

    A drawing that is taken out of its page must still say what the page says of it.
    """
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        if _local(element.tag) in ("title", "desc"):
            element.text = title if _local(element.tag) == "title" else alt
    left, top, width, height = (float(number) for number in root.attrib["viewBox"].split())
    root.set("viewBox", f"{left:g} {top:g} {width:g} {height + _LINE:g}")
    if "height" in root.attrib:
        unit = root.attrib["height"].lstrip("0123456789.")
        root.set("height", f"{float(root.attrib['height'].removesuffix(unit)) + _LINE:g}{unit}")
    look = {"x": f"{left + 4:g}", "y": f"{top + height + 9:g}", "style": f"font: 8px sans-serif; fill: {INK}"}
    line = ElementTree.SubElement(root, f"{{{_SVG}}}text", look)
    line.text = visible
    return _serialise(root)


def texts_of(svg: str) -> list[str]:
    """Return the texts that are written in a drawing, in the order of the file.

    >>> texts_of('<svg xmlns="http://www.w3.org/2000/svg"><title>t</title><text>people <tspan>.30</tspan></text></svg>')
    ['people ', '.30']
    """
    elements = ElementTree.fromstring(svg).iter()
    return [element.text for element in elements if _local(element.tag) in ("text", "tspan") and element.text]


def clean_svg(text: str) -> str:
    """Return an SVG drawing reduced to shapes and text: no script, no event handler, no reference outside itself.

    >>> clean_svg('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script><path d="M0 0"/></svg>')
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0" /></svg>'
    """
    return _serialise(_clean(ElementTree.fromstring(text)))


def prefix_ids(svg: str, prefix: str) -> str:
    """Return a drawing with *prefix* before all its ids, so that two of one name can be on one page."""
    root = _clean(ElementTree.fromstring(svg))
    _prefix(root, prefix)
    return _serialise(root)


def _serialise(root: ElementTree.Element) -> str:
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    return ElementTree.tostring(root, encoding="unicode")


def _clean(element: ElementTree.Element) -> ElementTree.Element:
    for child in list(element):
        if _local(child.tag) in _ELEMENTS:
            _clean(child)
        else:
            element.remove(child)
    for key, value in list(element.attrib.items()):
        if not _harmless(_local(key), value):
            del element.attrib[key]
    return element


def _local(tag: object) -> str:
    return str(tag).rpartition("}")[2]


def _harmless(key: str, value: str) -> bool:
    if key.lower().startswith("on"):
        return False
    if key == "href":
        return value.startswith("#")
    outside = re.findall(r"url\(\s*['\"]?(.)", value)
    return all(first == "#" for first in outside)


def _round_numbers(root: ElementTree.Element) -> None:
    # a hundredth of a point is far below what can be seen, and halves the size of the drawing
    for element in root.iter():
        for key in ("d", "points"):
            if key in element.attrib:
                element.set(key, re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}", element.attrib[key]))


def _describe(root: ElementTree.Element, title: str, alt: str) -> None:
    for tag, text in (("desc", alt), ("title", title)):
        element = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": tag})
        element.text = text
        root.insert(0, element)
    root.set("role", "img")
    root.set("aria-labelledby", "title desc")
    # matplotlib states these two for every element of the page in a style sheet; here they belong to the drawing
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")


def _prefix(root: ElementTree.Element, prefix: str) -> None:
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{prefix}{value}")
            elif key == "aria-labelledby":
                element.set(key, " ".join(f"{prefix}{part}" for part in value.split()))
            elif _local(key) == "href":
                element.set(key, f"#{prefix}{value[1:]}")
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{prefix}"))
