"""Scores by view as bars, a panel for each dataset, and minimum gaps as dots (the study's Figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Array, Figure, Heading, build, gaps_remark, levels
from lexiscope.report.plots.style import GRID, INK, WIDTH, MarkStyle, as_svg, drawing, mark, panels, short_names

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_NAME = 34
#: Height of one subject's line within a dataset, in inches.
_LINE = 0.14


@dataclass(frozen=True, slots=True)
class ViewBar:
    """The score of one subject in one view of one dataset. *Unit:* percent, or as the figure's unit says.

    Not-a-number where there is no score or no interval. ``fixed`` says why it was not measured (printed, assumed).
    """

    dataset: str
    view: str
    subject: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    fixed: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """The minimum gap of one subject on one dataset, with its interval. *Unit:* points."""

    dataset: str
    subject: str
    value: float
    low: float = float("nan")
    high: float = float("nan")
    people: bool = False


def view_bars(
    bars: Sequence[ViewBar],
    heading: Heading,
    *,
    views: Sequence[str] = ("full", "context", "word", "label"),
    unit: str = "Right answers, %",
    random: Sequence[tuple[str, float]] = (),
    order: Sequence[str] = (),
    top: float = 100.0,
) -> Figure:
    """Draw scores as bars: a panel for each dataset, a group for each view, a bar for each subject (Figure 2).

    Bars differ in colour and hatching; thin lines are intervals; ``×`` marks a score that was not measured; the broken
    line is a random answer, from *random*: (dataset, score). *order* names all subjects of a report.
    Errors: :class:`InputError` without a bar, or for a view that is not among *views*.
    """
    if not bars:
        raise InputError("a figure of views needs at least one score")
    shown, datasets = levels([bar.view for bar in bars], views), levels([bar.dataset for bar in bars])
    subjects = levels([bar.subject for bar in bars])
    marked = list(dict.fromkeys((*order, *subjects)))
    columns = min(len(datasets), 2 if len(shown) * len(subjects) > 12 else 3)
    rows = -(-len(datasets) // columns)
    alt = _bar_words(bars, datasets, unit, dict(random))
    with drawing(WIDTH, 0.6 + 1.9 * rows + 0.17 * -(-(len(subjects) + 2) // 3)) as sheet:
        every = panels(sheet, len(datasets), columns=columns)
        for axes, dataset in zip(every, datasets, strict=True):
            own = [bar for bar in bars if bar.dataset == dataset]
            for place, (subject, name) in enumerate(zip(subjects, short_names(subjects, _NAME), strict=True)):
                _bars(axes, own, subject, shown, name, place, len(subjects), mark(marked.index(subject)))
            _bar_frame(axes, dataset, shown, dict(random).get(dataset, float("nan")), columns, top)
        sheet.supylabel(unit, fontsize=8.5)
        names, handles = _legend(every, short_names(subjects, _NAME))
        sheet.legend(handles, names, loc="outside upper center", ncols=3)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    gaps = [f"{bar.subject}, {bar.dataset}, {bar.view}" for bar in bars if not np.isfinite(bar.value)]
    return build(heading, svg, alt, _columns(bars, ("dataset", "view", "subject", "value", "low", "high", "fixed")),
                 gaps_remark(gaps))  # fmt: skip


def minimum_gaps(gaps: Sequence[Gap], heading: Heading, *, order: Sequence[str] = (), unit: str = "points") -> Figure:
    """Draw min(FULL − CONTEXT, FULL − WORD) of models and people, a row for each dataset (Figure 3).

    Right of 0, word and context together give more than the better of the two alone. People are hollow marks; lines are
    intervals. *order* names all subjects of a report.
    Errors: :class:`InputError` where no gap has a value.
    """
    drawn = [gap for gap in gaps if np.isfinite(gap.value)]
    if not drawn:
        raise InputError("a figure of gaps needs at least one gap")
    rows, subjects = levels([gap.dataset for gap in drawn]), levels([gap.subject for gap in drawn])
    marked = list(dict.fromkeys((*order, *subjects)))
    alt = f"Minimum gap in {unit}. " + " ".join(
        f"{row}: " + ", ".join(f"{gap.subject} {gap.value:.1f}" for gap in drawn if gap.dataset == row) + "."
        for row in rows
    )
    step = max(_LINE * len(subjects) + 0.12, 0.36)
    with drawing(WIDTH, 0.8 + step * len(rows) + 0.17 * -(-len(subjects) // 3)) as sheet:
        axes = sheet.subplots()
        for place, (subject, name) in enumerate(zip(subjects, short_names(subjects, _NAME), strict=True)):
            own = [gap for gap in drawn if gap.subject == subject]
            _dots(axes, own, rows, name, 0.8 * (place - (len(subjects) - 1) / 2) / len(subjects),
                  mark(marked.index(subject)))  # fmt: skip
        axes.axvline(0, color=INK, lw=0.9, zorder=1)
        axes.set(xlabel=f"min(FULL − CONTEXT, FULL − WORD), {unit}", ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), short_names(rows, 26))
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        for edge in range(1, len(rows)):
            axes.axhline(edge - 0.5, color=GRID, lw=0.6, zorder=0)
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    undefined = [f"{gap.subject} on {gap.dataset}" for gap in gaps if not np.isfinite(gap.value)]
    return build(heading, svg, alt, _columns(gaps, ("dataset", "subject", "people", "value", "low", "high")),
                 gaps_remark(undefined))  # fmt: skip


def _bars(
    axes: Axes,
    own: Sequence[ViewBar],
    subject: str,
    views: Sequence[str],
    name: str,
    place: int,
    count: int,
    look: MarkStyle,
) -> None:
    width = 0.8 / count
    for bar in own:
        if bar.subject != subject or not np.isfinite(bar.value):
            continue
        x = views.index(bar.view) + (place - (count - 1) / 2) * width
        axes.bar(x, bar.value, width * 0.92, color=look.colour, hatch=look.hatch, edgecolor="white", lw=0.4, label=name)
        if np.isfinite([bar.low, bar.high]).all():
            # a white seam keeps the line apart from a dark bar
            axes.vlines(x, bar.low, bar.high, color="white", lw=2.4, zorder=3)
            axes.vlines(x, bar.low, bar.high, color=INK, lw=1, zorder=4)
        if bar.fixed:
            axes.plot(x, bar.value, ls="", marker="x", ms=4, mew=1, color=INK, label="not measured here", zorder=4)


def _bar_frame(axes: Axes, dataset: str, views: Sequence[str], random: float, columns: int, top: float) -> None:
    if np.isfinite(random):
        axes.axhline(random, color=INK, lw=1, ls=(0, (3, 2)), zorder=5, label="random answer")
    axes.set(ylim=(0, top), xlim=(-0.5, len(views) - 0.5))
    axes.set_xticks(range(len(views)), [view.replace("_", " ").upper() for view in views], fontsize=6.5)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.set_title(short_names([dataset], {1: 70, 2: 44}.get(columns, 30))[0])


def _legend(every: Sequence[Axes], subjects: Sequence[str]) -> tuple[list[str], list[Artist]]:
    """Labels and handles of all panels, subjects first: one may be missing in some panels."""
    found: dict[str, Artist] = {}
    for axes in every:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    names = [name for name in subjects if name in found] + [name for name in found if name not in subjects]
    return names, [found[name] for name in names]


def _dots(axes: Axes, own: Sequence[Gap], rows: Sequence[str], name: str, offset: float, look: MarkStyle) -> None:
    y = [rows.index(gap.dataset) + offset for gap in own]
    for height, gap in zip(y, own, strict=True):
        if np.isfinite([gap.low, gap.high]).all():
            axes.hlines(height, gap.low, gap.high, color=look.colour, lw=1.2, zorder=2)
    face = "white" if own[0].people else look.colour
    axes.plot([gap.value for gap in own], y, ls="", marker=look.marker, ms=5.4, mfc=face, mec=look.colour, mew=1.3,
              label=name, zorder=3)  # fmt: skip


def _bar_words(bars: Sequence[ViewBar], datasets: Sequence[str], unit: str, random: dict[str, float]) -> str:
    parts = [f"{unit}, by view."]
    for dataset in datasets:
        own = [bar for bar in bars if bar.dataset == dataset]
        chance = f" (random {random[dataset]:.1f})" if np.isfinite(random.get(dataset, float("nan"))) else ""
        told = []
        for subject in levels([bar.subject for bar in own]):
            values = [f"{bar.view} {bar.value:.1f}" for bar in own if bar.subject == subject]
            told.append(f"{subject} {', '.join(values)}")
        parts.append(f"{dataset}{chance}: {'; '.join(told)}.")
    return " ".join(parts)


def _columns(rows: Sequence[ViewBar] | Sequence[Gap], names: Sequence[str]) -> dict[str, Array]:
    return {name: np.array([getattr(row, name) for row in rows]) for name in names}
