"""Small multiples: one panel per subject with a statistic over its layers, on shared axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.core.showing import counted
from lexiscope.report.marks.canvas import Canvas, shortened, text_width
from lexiscope.report.marks.drawing import Axis, Drawing, Pixels, ReferenceLine, is_wide

_HEIGHT = 84.0


@dataclass(frozen=True)
class LayerPoint:
    """A statistic at one layer, with the ends of its interval; ``value`` is missing where it is undefined."""

    layer: int
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class LayerPanel:
    """The panel of one subject: its points, its best layer by the statistic, and by another one (a triangle)."""

    title: str
    points: tuple[LayerPoint, ...]
    best: int | None = None
    second: int | None = None
    tip: str = ""
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class LayerPanels(Drawing):
    """A statistic over layers, a panel per subject; references run through every panel.

    ``best_name`` and ``second_name`` say what the dot and the triangle mark.
    """

    panels: tuple[LayerPanel, ...]
    axis: Axis
    references: tuple[ReferenceLine, ...] = ()
    best_name: str = "best layer"
    second_name: str = ""

    def _drawn(self, width: float) -> Canvas:
        """Return what is drawn at a width in pixels: four in a row on a screen, two on a phone."""
        wide, n = is_wide(width), len(self.panels)
        columns = min((4 if wide else 2) if n > 1 else 1, n)
        gap, left, top, cell = 20.0, 28.0, 6.0, _HEIGHT + 56
        panel_width = (width - left - gap * (columns - 1)) / columns
        if n == 1:
            panel_width = min(panel_width, 420.0)
        rows = math.ceil(n / columns)
        legend_height = 26.0
        canvas = Canvas(width, round(top + rows * cell + 22 + legend_height), self._alt())
        for index, panel in enumerate(self.panels):
            x0 = left + (index % columns) * (panel_width + gap)
            y0 = top + (index // columns) * cell + 22
            self._draw_panel(canvas, panel, x0, y0, panel_width, labelled=index % columns == 0)
        bottom = top + rows * cell + 6
        canvas.words(width / 2 if n > 1 else left + panel_width / 2, bottom + 4, "Layer", "axis", "middle")
        self._draw_legend(canvas, left, bottom + 24)
        return canvas

    def columns(self) -> Mapping[str, Sequence[object]]:
        """Return one row per panel and layer."""
        rows = [(panel.title, p.layer, p.value, p.low, p.high) for panel in self.panels for p in panel.points]
        names = ("subject", "layer", "value", "low", "high")
        return {name: [row[index] for row in rows] for index, name in enumerate(names)}

    def _alt(self) -> str:
        lines = "".join(f"; line: {reference.label}" for reference in self.references)
        return f"{self.title}. {self.axis.label} by layer, {counted(len(self.panels), 'panel')}{lines}."

    def _draw_panel(
        self, canvas: Canvas, panel: LayerPanel, x0: float, y0: float, width: float, *, labelled: bool
    ) -> None:
        depth = max((point.layer for point in panel.points), default=1) or 1
        x = Pixels(Axis("layer", 0, depth), x0, x0 + width)
        y = Pixels(self.axis, y0 + _HEIGHT, y0)
        canvas.words(x0, y0 - 8, shortened(panel.title, width, 13), "label-b" if panel.strong else "label")
        for tick in self.axis.ticks(4):
            canvas.line(x0, y(tick), x0 + width, y(tick), "base" if abs(tick) < 1e-9 else "grid")
            if labelled:
                canvas.words(x0 - 5, y(tick) + 4, self.axis.text(tick), "tick", "end")
        for reference in self.references:
            if reference.low is not None and reference.high is not None and reference.kind == "people":
                high, low = y(reference.high), y(reference.low)
                canvas.rectangle(x0, high, width, low - high, "band")
            line = {"people": "ceiling", "further": "ceiling-2", "chance": "chance"}[reference.kind]
            canvas.line(x0, y(reference.value), x0 + width, y(reference.value), line)
        known = [point for point in panel.points if point.value is not None]
        banded = [point for point in known if point.low is not None and point.high is not None]
        if len(banded) > 1:
            upper = [(x(p.layer), y(p.high)) for p in banded if p.high is not None]
            lower = [(x(p.layer), y(p.low)) for p in reversed(banded) if p.low is not None]
            canvas.path([*upper, *lower], "curve-band", closed=True)
        if len(known) > 1:
            canvas.path([(x(p.layer), y(p.value)) for p in known if p.value is not None], "curve")
        if panel.second is not None:
            canvas.triangle(x(panel.second), y0 + _HEIGHT + 2, 4.2, "first")
        canvas.words(x0, y0 + _HEIGHT + 22, "0", "tick")
        canvas.words(x0 + width, y0 + _HEIGHT + 22, str(depth), "tick", "end")
        at_best = next((p.value for p in known if p.layer == panel.best), None)
        with canvas.marked(panel.tip or panel.title):
            canvas.rectangle(x0, y0, width, _HEIGHT, "hit")
            if at_best is not None and panel.best is not None:
                canvas.disc(x(panel.best), y(at_best), 4.4, "dot")
            elif not known:
                canvas.words(x0 + 4, y0 + _HEIGHT / 2, "undefined", "tick")

    def _draw_legend(self, canvas: Canvas, left: float, y: float) -> None:
        place = left
        entries = [("dot", self.best_name)] if self.best_name else []
        entries += [("triangle", self.second_name)] if self.second_name else []
        if any(point.low is not None for panel in self.panels for point in panel.points):
            entries.append(("band", "95% CI"))
        entries += [(reference.kind, reference.label) for reference in self.references]
        for kind, text in entries:
            wide = 34 + text_width(text, 12)
            if place + wide > canvas.width and place > left:
                y, place = y + 17, left
                canvas.height += 17
            if kind == "dot":
                canvas.disc(place + 6, y - 4, 4.4, "dot")
            elif kind == "triangle":
                canvas.triangle(place + 6, y - 8, 4.2, "first")
            elif kind == "band":
                canvas.rectangle(place, y - 9, 13, 9, "curve-band")
            else:
                line = {"people": "ceiling", "further": "ceiling-2", "chance": "chance"}[kind]
                canvas.line(place, y - 4, place + 13, y - 4, line)
            canvas.words(place + 18, y, text, "tick")
            place += wide
