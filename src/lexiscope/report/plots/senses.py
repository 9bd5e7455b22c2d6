"""Figures of induced senses: a map of their neighbours, noise against signal in training, the scale of the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Array, Figure, Heading, build, levels
from lexiscope.report.plots.accuracy import stacked_shares
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.labels import place_labels
from lexiscope.report.plots.layers import trajectories
from lexiscope.report.plots.panels import columns_for, distinct_legend, draw_curve, sheet_size, title_length
from lexiscope.report.plots.style import GRID, INK, WIDTH, as_svg, drawing, mark, panels, short_names
from lexiscope.resources.vectors.training_log import LogRow
from lexiscope.senses.histogram import SensesByFrequency

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# so far apart, in shares of the map, two points of one word have one label
_ONE_PLACE = 0.03
_NAMED = 20
# the columns of a log that are drawn
_COURSE = ("tokens", "signal_mean", "signal_sd", "noise_sd")


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A neighbour on a map: its word, the sense whose neighbour it is, and its place (no unit)."""

    word: str
    sense: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class GridPoint:
    """A training and what it reached: ``beta`` is not-a-number where its variant has none; then it is a level line."""

    label: str
    beta: float
    value: float
    low: float
    high: float


def neighbour_map(points: Sequence[MapPoint], heading: Heading) -> Figure:
    """Draw neighbours as named points, one colour and marker for each sense (GASI, Figure 2).

    Only nearness has a meaning: the axes have no unit and are not drawn.
    Errors: :class:`InputError` without points.
    """
    if not points:
        raise InputError("a map of neighbours needs at least one neighbour")
    senses = levels([point.sense for point in points])
    alt = "Neighbours by sense. " + " ".join(
        f"{sense}: {', '.join(point.word for point in points if point.sense == sense)}." for sense in senses
    )
    with drawing(WIDTH, 4.6) as sheet:
        axes = sheet.subplots()
        for number, sense in enumerate(senses):
            own = [point for point in points if point.sense == sense]
            look = mark(number)
            axes.plot([p.x for p in own], [p.y for p in own], ls="", marker=look.marker, ms=5, color=look.colour,
                      label=sense, zorder=3)  # fmt: skip
        axes.set(xticks=[], yticks=[])
        for spine in axes.spines.values():
            spine.set_color(GRID)
            spine.set_visible(True)
        axes.margins(0.1)
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=min(4, len(senses)))
        sheet.draw_without_rendering()
        sheet.set_layout_engine("none")
        named = _named_once(points)
        place_labels(axes, [(point.x, point.y) for point in named], [point.word for point in named])
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    data = {name: np.array([getattr(point, name) for point in points]) for name in ("word", "sense", "x", "y")}
    return build(heading, svg, alt, data)


def noise_against_signal(logs: Mapping[str, Sequence[LogRow]], heading: Heading) -> Figure:
    """Draw mean ± SD of c̄·s_k over the training, and ± SD of the noise, a panel for each subject (GASI, Figure 3).

    *logs* are the logs of trainings by the names of their subjects. Errors: :class:`InputError` without a log.
    """
    if not logs:
        raise InputError("a figure of noise and signal needs at least one training")
    across = columns_for(len(logs))
    alt = "Signal and noise over training. " + " ".join(_noise_words(name, log) for name, log in logs.items())
    with drawing(*sheet_size(len(logs), across, tall=0.55)) as sheet:
        titles = short_names(list(logs), title_length(across))
        for axes, log, title in zip(panels(sheet, len(logs), columns=across), logs.values(), titles, strict=True):
            _noise_panel(axes, *(_column(log, name) for name in _COURSE))
            axes.set_title(title)
        handles, labels = distinct_legend(sheet.axes)
        sheet.legend(handles, labels, loc="outside upper center", ncols=2)
        sheet.supxlabel("Tokens read, all epochs, millions", fontsize=8.5)
        sheet.supylabel("c̄·s and noise, mean ± SD", fontsize=8.5)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    subjects = np.repeat(list(logs), [len(log) for log in logs.values()])
    data = {name: np.concatenate([_column(log, name) for log in logs.values()]) for name in _COURSE}
    return build(heading, svg, alt, {"subject": subjects} | data)


def beta_grid(points: Sequence[GridPoint], heading: Heading, *, statistic: str) -> Figure:
    """Draw what trainings with several β reached, with intervals; variants without β as level lines.

    Errors: :class:`InputError` where no point has a β.
    """
    grid = sorted((point for point in points if np.isfinite(point.beta)), key=lambda point: point.beta)
    if not grid:
        raise InputError("a grid of beta needs at least one training with beta")
    level = [point for point in points if not np.isfinite(point.beta)]
    alt = f"{statistic} by β. " + " ".join(f"{p.label}: {p.value:.1f}." for p in (*grid, *level))
    with drawing(WIDTH * 0.8, 3.2) as sheet:
        axes = sheet.subplots()
        x, y = np.array([p.beta for p in grid]), np.array([p.value for p in grid])
        low, high = np.array([p.low for p in grid]), np.array([p.high for p in grid])
        if np.isfinite(low).all() and np.isfinite(high).all():
            axes.vlines(x, low, high, color=mark(0).colour, lw=1.1, zorder=2)
        draw_curve(axes, x, y, None, None, mark(0), "GASI-β")
        for number, point in enumerate(level, start=1):
            look = mark(number)
            axes.axhline(point.value, color=look.colour, ls=look.line, lw=1.2, label=short_names([point.label], 34)[0])
        axes.set(xlabel="β, scale of the noise", ylabel=statistic)
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    data = {name: np.array([getattr(p, name) for p in points]) for name in ("label", "beta", "value", "low", "high")}
    return build(heading, svg, alt, data)


def senses_by_frequency(rows: Mapping[str, Sequence[SensesByFrequency]]) -> tuple[Figure, ...]:
    """Draw how many senses frequent and rare words have: the means of all subjects, then each one's words as shares.

    *rows* are, for each title of a subject, its words in bins of falling frequency (GASI, Figure 4).
    """
    bins = np.arange(1, max(map(len, rows.values())) + 1)
    curves = [DrawnCurve(title, bins, np.array([row.mean for row in own])) for title, own in rows.items()]
    caption = "Words by falling frequency, a tenth of them each."
    mean = trajectories(
        curves,
        Heading("senses_by_frequency", "4", "Senses of a word by frequency", caption),
        statistic="Senses of a word, mean",
        horizontal="Decile of words, most frequent first",
        place="decile",
    )
    shares = []
    for number, (title, own) in enumerate(rows.items(), start=1):
        names = ["1 sense", *(f"{k} senses" for k in range(2, len(own[0].n_words) + 1))]
        parts = [
            (f"{row.first_rank:,}–{row.last_rank:,}", name, 100 * count / sum(row.n_words))
            for row in own
            for name, count in zip(names, row.n_words, strict=True)
        ]
        named = f"Words by number of senses: {title}"
        heading = Heading(f"senses_by_frequency_{number}", "4", named, "By rank of frequency.")
        shares.append(stacked_shares(parts, heading, order=names, unit="Words, %"))
    return mean, *shares


def agreement_and_consistency(words: Sequence[tuple[str, float, float]], heading: Heading) -> Figure:
    """Draw words by how far people agree and how often they choose the model's sense (GASI, Figure 7).

    *words* are (word, agreement, consistency), shares from 0 to 1. Up to 20 words are named.
    Errors: :class:`InputError` without words.
    """
    if not words:
        raise InputError("a figure of agreement and consistency needs at least one word")
    alt = "Agreement and consistency. " + " ".join(f"{word}: {a:.2f}, {c:.2f}." for word, a, c in words)
    with drawing(WIDTH * 0.75, 4.2) as sheet:
        axes = sheet.subplots()
        look = mark(0)
        x, y = [a for _, a, _ in words], [c for _, _, c in words]
        axes.plot(x, y, ls="", marker=look.marker, ms=4.6, color=look.colour, alpha=0.75, zorder=3)
        axes.set(
            xlabel="Agreement among people, mean share of the winning group",
            ylabel="Share that chooses the model's sense",
        )
        axes.set(xlim=(min([*x, 0.3]) - 0.05, 1.05), ylim=(-0.05, 1.05))
        if len(words) <= _NAMED:
            sheet.draw_without_rendering()
            sheet.set_layout_engine("none")
            place_labels(axes, list(zip(x, y, strict=True)), [word for word, _, _ in words])
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    data = {"word": np.array([word for word, _, _ in words]), "agreement": np.array(x), "consistency": np.array(y)}
    return build(heading, svg, alt, data)


def _named_once(points: Sequence[MapPoint]) -> list[MapPoint]:
    """The points that get a label: of a word that several senses have at one place, the first."""
    size = max(np.ptp([point.x for point in points]), np.ptp([point.y for point in points]))
    found: list[MapPoint] = []
    for point in points:
        near = (one for one in found if one.word == point.word)
        if not any(np.hypot(one.x - point.x, one.y - point.y) <= _ONE_PLACE * size for one in near):
            found.append(point)
    return found


def _noise_panel(axes: Axes, tokens: Array, mean: Array, sd: Array, noise: Array) -> None:
    x = tokens / 1e6
    # a constant added to all senses changes no choice, so the noise is drawn around 0
    axes.plot(x, noise, color=INK, lw=1.0, ls=(0, (3, 2)), label="noise, ± SD around 0", zorder=2)
    axes.plot(x, -noise, color=INK, lw=1.0, ls=(0, (3, 2)), zorder=2)
    draw_curve(axes, x, mean, mean - sd, mean + sd, mark(0), "c̄·s, mean ± SD")


def _noise_words(subject: str, log: Sequence[LogRow]) -> str:
    first, last = (f"{row.signal_sd:.2f}" for row in (log[0], log[-1]))
    return f"{subject}: SD of the signal from {first} to {last}, of the noise {log[-1].noise_sd:.2f}."


def _column(log: Sequence[LogRow], name: str) -> Array:
    return np.array([getattr(row, name) for row in log], dtype=np.float64)
