"""A canvas: shapes at one width, each with a look; as SVG for the page, or as SVG, PDF or PNG for a journal.

A look is a name (:data:`LOOKS`). In a page its colours come from the page's style sheet, which :func:`stylesheet`
writes, so that one drawing serves light and dark; in a file they are resolved.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from typing import Literal

PALETTE: Mapping[str, Mapping[str, str]] = {
    "light": {
        "bg": "#fcfbf8", "ink": "#1c2127", "soft": "#5a636e", "rule": "#e4e1d9", "grid": "#eceae4", "model": "#0b63a8",
        "people": "#b04e09", "band": "#f6e3d3", "first": "#0a7a63", "second": "#8a4b9e", "warn": "#8a5a00",
    },
    "dark": {
        "bg": "#14171b", "ink": "#e8eaed", "soft": "#a0a9b4", "rule": "#30363e", "grid": "#272c33", "model": "#66b3f0",
        "people": "#f2a065", "band": "#3d2c20", "first": "#4cc9a9", "second": "#cf9be0", "warn": "#e5b659",
    },
}  # fmt: skip
"""Colours by role: blue is models, orange is people, green and purple are two conditions. Each ≥ 5 : 1 on ``bg``."""

Anchor = Literal["start", "middle", "end"]
LINE = 15.0
"""From one line of text to the next. *Unit:* pixels."""
_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif'
_FILE_FONTS = ("Liberation Sans", "Arial", "Helvetica", "DejaVu Sans")
_PIXELS_PER_MM = 96 / 25.4


@dataclass(frozen=True, slots=True)
class Look:
    """How a shape looks: colours by role (:data:`PALETTE`), line width and font size in pixels, opacity 0 to 1."""

    fill: str = ""
    stroke: str = ""
    width: float = 1.0
    opacity: float = 1.0
    dash: tuple[float, ...] = ()
    size: float = 13.0
    weight: int = 400
    halo: bool = False


LOOKS: Mapping[str, Look] = {
    # text
    "label": Look("ink", size=13, halo=True),
    "label-b": Look("ink", size=13, weight=650, halo=True),
    "label-soft": Look("soft", size=13, halo=True),
    "value": Look("ink", size=12.5),
    "value-b": Look("ink", size=12.5, weight=650),
    "tick": Look("soft", size=12),
    "axis": Look("soft", size=12.5),
    "group": Look("ink", size=12.5, weight=650),
    "people-text": Look("people", size=12.5, halo=True),
    "people-text-b": Look("people", size=12.5, weight=650, halo=True),
    "model-text-b": Look("model", size=13, weight=650),
    "first-text": Look("first", size=12.5, halo=True),
    "first-text-b": Look("first", size=12.5, weight=650, halo=True),
    "second-text": Look("second", size=12.5, halo=True),
    "second-text-b": Look("second", size=12.5, weight=650, halo=True),
    # axes and references
    "grid": Look(stroke="grid"),
    "base": Look(stroke="soft", opacity=0.7),
    "band": Look("band"),
    "ceiling": Look(stroke="people", width=2),
    "ceiling-2": Look(stroke="people", width=1.6, dash=(1.5, 4)),
    "chance": Look(stroke="soft", width=1.4, dash=(4, 3)),
    # people and models
    "person": Look("people", opacity=0.75),
    "dot": Look("model", "bg", 1.4),
    "dot-open": Look("bg", "model", 2.2),
    "dot-pale": Look("model", opacity=0.35),
    "dot-people": Look("people", "bg", 1.4),
    "dot-people-open": Look("bg", "people", 2),
    "dot-figure": Look("bg", "people", 1.8, dash=(1.5, 2.6)),
    "bar": Look(stroke="model", width=2.4, opacity=0.55),
    "bar-people": Look(stroke="people", width=2.4, opacity=0.55),
    "bar-wide": Look(stroke="model", width=10, opacity=0.3),
    "bar-share": Look(stroke="model", width=7, opacity=0.3),
    "bar-thin": Look(stroke="model", width=1.6, opacity=0.4),
    "curve": Look(stroke="model", width=2),
    "curve-band": Look("model", opacity=0.17),
    "fit": Look(stroke="soft", width=1.6),
    "fit-band": Look("soft", opacity=0.13),
    # two conditions
    "first": Look("first", "bg", 1.4),
    "first-area": Look("first", opacity=0.55),
    "first-line": Look(stroke="first", width=2.4),
    "first-dot": Look("first", opacity=0.6),
    "second": Look("second", "bg", 1.4),
    "second-area": Look("second", opacity=0.5),
    "second-line": Look(stroke="second", width=2.4),
    "second-dot": Look("second", opacity=0.6),
    "area": Look("people", opacity=0.5),
    "hatch": Look(stroke="rule", width=1),
    "hit": Look("bg", opacity=0.0),
}
"""The looks by name."""


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points, or an area if it is closed. *Unit of all shapes:* pixels from the upper left corner."""

    points: tuple[tuple[float, float], ...]
    look: str
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Disc:
    """A filled circle."""

    x: float
    y: float
    radius: float
    look: str


@dataclass(frozen=True, slots=True)
class Lettering:
    """A line of text; ``y`` is its baseline."""

    x: float
    y: float
    text: str
    look: str
    anchor: Anchor = "start"


@dataclass(frozen=True, slots=True)
class Marked:
    """Shapes that show one value: what they are is read on hover, focus and touch."""

    tip: str
    shapes: tuple[Path | Disc | Lettering, ...]


Shape = Path | Disc | Lettering | Marked


@dataclass(slots=True)
class Canvas:
    """Shapes on a sheet of *width* × *height* pixels; ``alt`` says what is drawn, with its range and extremes."""

    width: float
    height: float
    alt: str
    shapes: list[Shape] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, look: str) -> None:
        """Draw a straight line."""
        self.shapes.append(Path(((x1, y1), (x2, y2)), look))

    def path(self, points: Sequence[tuple[float, float]], look: str, *, closed: bool = False) -> None:
        """Draw a line through points, or an area."""
        self.shapes.append(Path(tuple(points), look, closed))

    def rectangle(self, x: float, y: float, width: float, height: float, look: str) -> None:
        """Draw a filled rectangle."""
        self.path([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], look, closed=True)

    def disc(self, x: float, y: float, radius: float, look: str) -> None:
        """Draw a circle."""
        self.shapes.append(Disc(x, y, radius, look))

    def diamond(self, x: float, y: float, radius: float, look: str) -> None:
        """Draw a diamond around a point."""
        self.path([(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)], look, closed=True)

    def triangle(self, x: float, y: float, radius: float, look: str) -> None:
        """Draw a triangle below its tip."""
        self.path([(x, y), (x + radius, y + 1.7 * radius), (x - radius, y + 1.7 * radius)], look, closed=True)

    def words(self, x: float, y: float, text: str, look: str, anchor: Anchor = "start") -> None:
        """Write a line of text."""
        if text:
            self.shapes.append(Lettering(x, y, text, look, anchor))

    def lines(self, x: float, y: float, lines: Sequence[str], look: str, anchor: Anchor = "start") -> None:
        """Write lines of text below each other; *y* is that of the first."""
        for number, text in enumerate(lines):
            self.words(x, y + LINE * number, text, look, anchor)

    @contextmanager
    def marked(self, tip: str) -> Iterator[None]:
        """Make what is drawn inside the block one mark, which *tip* describes."""
        before = len(self.shapes)
        yield
        inner = tuple(shape for shape in self.shapes[before:] if not isinstance(shape, Marked))
        self.shapes[before:] = [Marked(tip, inner)]


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is in a sans serif font. *Unit:* pixels.

    >>> round(text_width("ρ = .66", 13)), text_width("", 13)
    (45, 0)
    """
    return size * sum(map(_share_of_size, text))


def _share_of_size(char: str) -> float:
    if char in "iljI.,:;|'![]()ft r/":
        return 0.36
    if char in "mwMW%@—…":
        return 0.92
    return 0.7 if char.isupper() else 0.6


def shortened(text: str, width: float, size: float) -> str:
    """Return a text that is no wider than *width* pixels: its middle is omitted where it is too long.

    >>> shortened("bert-base-spanish-wwm-uncased", 120, 13)
    'bert-ba…uncased'
    """
    if text_width(text, size) <= width:
        return text
    for length in range(len(text) - 1, 2, -1):
        tail = length // 2
        short = f"{text[: length - tail]}…{text[len(text) - tail :]}"
        if text_width(short, size) <= width:
            return short
    return text[:1] + "…"


def in_lines(text: str, width: float, size: float) -> list[str]:
    """Return a text as lines that are no wider than *width* pixels, broken between words.

    >>> in_lines("Rating minus prediction from distance", 150, 13)
    ['Rating minus', 'prediction from', 'distance']
    """
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return [shortened(line, width, size) for line in lines]


# -- as SVG ---------------------------------------------------------------------------------------------------------


def stylesheet() -> str:
    """Return the style rules of all looks, with colours as the page's variables (``--model`` …)."""
    rules = [f"svg text{{font-family:{_FONT}}}"]
    rules += [f".k-{name}{{{_style(look, None, text=name in _TEXT_LOOKS)}}}" for name, look in LOOKS.items()]
    return "".join(rules)


def colour_variables(mode: str) -> str:
    """Return the palette of a mode (``light``, ``dark``) as the page's variables."""
    return "".join(f"--{role}:{colour};" for role, colour in PALETTE[mode].items())


def to_svg(canvas: Canvas, css_class: str = "", *, mode: str = "") -> str:
    """Return a canvas as SVG: with classes for a page, or, with *mode*, as a file with its colours in it.

    In a page every mark can be reached with the keyboard: the first by Tab, the others with the arrow keys.
    """
    colours = PALETTE[mode] if mode else None
    size = f'width="{_number(canvas.width)}" height="{_number(canvas.height)}"'
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg"{f" class={css_class!r}" if css_class else ""} '
        f'viewBox="0 0 {_number(canvas.width)} {_number(canvas.height)}" {size} '
        f'role="group" aria-label="{escape(canvas.alt)}">'
    ).replace("'", '"')
    body, first = [], True
    if colours:
        body.append(
            f'<rect width="100%" height="100%" fill="{colours["bg"]}"/><g font-family="{escape(_FONT, quote=True)}">'
        )
    for shape in canvas.shapes:
        if isinstance(shape, Marked):
            inner = "".join(_shape_svg(part, colours) for part in shape.shapes)
            tip = escape(shape.tip)
            stop = f' tabindex="{0 if first else -1}" role="img" aria-label="{tip}"' if not colours else ""
            label = f"<title>{tip}</title>" if colours else ""
            body.append(f'<g class="hv"{stop}>{label}{inner}</g>' if not colours else f"<g>{label}{inner}</g>")
            first = False
        else:
            body.append(_shape_svg(shape, colours))
    return start + "".join(body) + ("</g>" if colours else "") + "</svg>"


_TEXT_LOOKS = frozenset(
    name for name in LOOKS if name in ("value", "value-b", "tick", "axis", "group") or "text" in name or "label" in name
)


def _shape_svg(shape: Path | Disc | Lettering, colours: Mapping[str, str] | None) -> str:
    look = LOOKS[shape.look]
    is_text = isinstance(shape, Lettering)
    how = f'style="{_style(look, colours, text=is_text)}"' if colours else f'class="k-{shape.look}"'
    if isinstance(shape, Lettering):
        anchor = f' text-anchor="{shape.anchor}"' if shape.anchor != "start" else ""
        return f'<text {how} x="{_number(shape.x)}" y="{_number(shape.y)}"{anchor}>{escape(shape.text)}</text>'
    if isinstance(shape, Disc):
        return f'<circle {how} cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{_number(shape.radius)}"/>'
    points = "L".join(f"{_number(x)} {_number(y)}" for x, y in shape.points)
    return f'<path {how} d="M{points}{"z" if shape.closed else ""}"/>'


def _style(look: Look, colours: Mapping[str, str] | None, *, text: bool) -> str:
    def colour(role: str) -> str:
        if not role:
            return "none"
        return colours[role] if colours else f"var(--{role})"

    parts = [f"fill:{colour(look.fill)}"]
    if text:
        parts.append(f"font-size:{_number(look.size)}px")
        if look.weight != 400:
            parts.append(f"font-weight:{look.weight}")
        if look.halo:
            parts.append(f"paint-order:stroke;stroke:{colour('bg')};stroke-width:3px;stroke-linejoin:round")
        parts.append("font-variant-numeric:tabular-nums")
    elif look.stroke:
        parts.append(f"stroke:{colour(look.stroke)};stroke-width:{_number(look.width)}")
        parts.append("stroke-linecap:round;stroke-linejoin:round")
        if look.dash:
            parts.append(f"stroke-dasharray:{' '.join(map(_number, look.dash))}")
    if look.opacity != 1:
        parts.append(f"opacity:{_number(look.opacity)}")
    return ";".join(parts)


def _number(value: float) -> str:
    text = f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# -- as a file for a journal -----------------------------------------------------------------------------------------


JOURNAL_WIDTHS = (85, 120, 180)
"""Widths of figures in journals: one column, one and a half, two. *Unit:* millimetres."""


def pixels(millimetres: float) -> float:
    """Return how many pixels wide a drawing is on paper: its text is then 9 points high.

    >>> round(pixels(180))
    680
    """
    return millimetres * _PIXELS_PER_MM


def to_bytes(canvas: Canvas, kind: Literal["pdf", "png", "svg"], *, dots_per_inch: int = 300) -> bytes:
    """Return a canvas as a file in light colours on white; text stays text in PDF and SVG."""
    if kind == "svg":
        return f'<?xml version="1.0" encoding="utf-8"?>\n{to_svg(canvas, mode="light")}\n'.encode()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings = {"pdf.fonttype": 42, "font.family": list(_FILE_FONTS), "svg.hashsalt": "lexiscope"}
    with rc_context(settings):
        sheet = Figure(figsize=(canvas.width / 96, canvas.height / 96))
        axes = sheet.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, canvas.width)
        axes.set_ylim(canvas.height, 0)
        axes.set_axis_off()
        parts = [part for s in canvas.shapes for part in (s.shapes if isinstance(s, Marked) else (s,))]
        for order, part in enumerate(parts):
            # matplotlib would draw all lines above all areas
            _add_to(axes, part, order)
        buffer = BytesIO()
        metadata = {"CreationDate": None} if kind == "pdf" else None
        sheet.savefig(buffer, format=kind, dpi=dots_per_inch, facecolor="white", metadata=metadata)
    return buffer.getvalue()


def _add_to(axes: object, shape: Path | Disc | Lettering, order: int) -> None:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.patches import Circle, Polygon
    from matplotlib.patheffects import withStroke

    assert isinstance(axes, Axes)
    look, colours = LOOKS[shape.look], {**PALETTE["light"], "bg": "#ffffff"}
    if shape.look == "hit":
        return
    stroke = colours[look.stroke] if look.stroke else "none"
    fill = colours[look.fill] if look.fill else "none"
    points_per_pixel = 0.75
    if isinstance(shape, Lettering):
        align = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
        halo = [withStroke(linewidth=2, foreground="white")] if look.halo else None
        weight = "bold" if look.weight > 400 else "normal"
        axes.text(
            shape.x, shape.y, shape.text, fontsize=look.size * points_per_pixel, color=fill, ha=align, va="baseline",
            fontweight=weight, path_effects=halo, parse_math=False, zorder=order,
        )  # fmt: skip
        return
    width = look.width * points_per_pixel if look.stroke else 0.0
    drawn: Artist
    if isinstance(shape, Disc):
        drawn = axes.add_patch(Circle((shape.x, shape.y), shape.radius, facecolor=fill, edgecolor=stroke))
    elif shape.closed:
        drawn = axes.add_patch(Polygon(shape.points, facecolor=fill, edgecolor=stroke))
    else:
        xs, ys = zip(*shape.points, strict=True)
        (drawn,) = axes.plot(xs, ys, color=stroke, solid_capstyle="round", clip_on=False)
        if look.dash:
            drawn.set_dashes([part * points_per_pixel / max(width, 0.1) for part in look.dash])
    drawn.set(linewidth=width, alpha=look.opacity, zorder=order)


# -- axes ------------------------------------------------------------------------------------------------------------


def nice_ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """Return round numbers that cover a range, at most *most* of them; the range itself is widened to them.

    >>> nice_ticks(0, 0.83), nice_ticks(-0.3, 1.75)
    ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (-0.5, 0.0, 0.5, 1.0, 1.5, 2.0))
    """
    span = max(high - low, 1e-12)
    power = 10.0 ** math.floor(math.log10(span / max(most - 1, 1)))
    for factor in (1, 2, 2.5, 5, 10, 20, 25, 50):
        step = factor * power
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first + 1 <= most:
            return tuple(round(index * step, 12) for index in range(first, last + 1))
    return (low, high)
