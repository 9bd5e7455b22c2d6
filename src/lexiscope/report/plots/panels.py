"""What figures of several panels share: their size, their curves, their ticks, one legend for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.report.figures import Array
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.style import WIDTH, MarkStyle

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def draw_curve(
    axes: Axes, x: Array, y: Array, low: Array | None, high: Array | None, look: MarkStyle, label: str
) -> None:
    """Draw one curve with its band; a lone point gets a bar for its interval."""
    # markers on every layer crowd a 24-layer curve; a lone point needs one to be seen at all
    every = max(1, len(x) // 13)
    axes.plot(x, y, color=look.colour, ls=look.line, marker=look.marker, ms=3.2, markevery=every, label=label, zorder=3)
    if low is not None and high is not None:
        axes.fill_between(x, low, high, color=look.colour, alpha=0.15, lw=0, zorder=2)
        if len(x) == 1:
            axes.vlines(x, low, high, color=look.colour, lw=1.2, zorder=2)


def columns_for(count: int) -> int:
    """Return how many panels stand side by side."""
    return min(count, 3)


def title_length(columns: int) -> int:
    """Return how many characters fit above one of *columns* panels."""
    return {1: 70, 2: 44}.get(columns, 31)


def sheet_size(count: int, columns: int, *, tall: float) -> tuple[float, float]:
    """Return width and height of a sheet of panels, in inches; *tall* is room for legend and axis titles."""
    rows = -(-count // columns)
    width = WIDTH * 0.72 if count == 1 else WIDTH
    height = 2.6 if count == 1 else 1.9 if count <= 18 else 1.6
    return width, tall + 0.3 + height * rows


def layer_ticks(axes: Axes, last: float) -> None:
    """Mark whole layers only, from the embeddings to the *last* layer, in quarters where they come out even."""
    step = max(1, int(last) // 4 if int(last) % 4 == 0 else -(-int(last) // 5))
    axes.set_xticks(range(0, int(last) + 1, step))
    margin = 0.04 * last or 0.5
    axes.set_xlim(-margin, last + margin)


def start_at_zero(grid: Sequence[Axes], curves: Sequence[DrawnCurve]) -> None:
    """Start the shared vertical axis at 0 and end it above every curve and band; where values are negative, leave it.

    Call it when all curves are drawn: a limit set earlier would cut the later ones.
    """
    parts = [part for c in curves for part in (c.value, c.low, c.high) if part is not None]
    known = np.concatenate([np.asarray(part, dtype=float) for part in parts])
    known = known[np.isfinite(known)]
    values = np.concatenate([np.asarray(c.value, dtype=float) for c in curves])
    if len(known) and known.max() > 0 and not (values < 0).any():
        grid[0].set_ylim(0, 1.05 * float(known.max()))


def distinct_legend(all_axes: Sequence[Axes]) -> tuple[list[Artist], list[str]]:
    """Return each label once, with the first artist drawn under it."""
    found: dict[str, Artist] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)
