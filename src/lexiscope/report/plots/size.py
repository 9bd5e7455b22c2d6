"""Agreement with people against the number of parameters (SAW-C, Figures 6 and 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.analysis.regression import OlsFit
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.result import Curve, Estimate
from lexiscope.report.figures import Figure, Heading, apa, columns_of, gaps_remark
from lexiscope.report.plots.labels import Segment, label_points
from lexiscope.report.plots.style import COLOURS, INK, LINES, SOFT, WIDTH, add_legend, drawing, drawn_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = (
    (False, "monolingual", COLOURS[0], "o"),
    (True, "multilingual", COLOURS[1], "^"),
    (None, "number of languages not known", SOFT, "s"),
)
#: Beyond this many subjects, names at the points would cover each other: numbers are there instead.
NAMED = 16
_NAN = float("nan")
_STATISTIC = "Highest R² over layers"
_ALLOWING = "R², choice of the layer allowed for"


@dataclass(frozen=True, slots=True)
class Sized:
    """A subject, its number of parameters, and its statistic with its interval (not-a-number where undefined).

    ``multilingual`` is ``None`` where it is not known; ``chosen`` is the statistic that allows for its layer having
    been chosen on the same items, not-a-number where there is none.
    """

    subject: str
    parameters: float
    value: float
    low: float = _NAN
    high: float = _NAN
    multilingual: bool | None = None
    chosen: float = _NAN

    @classmethod
    def of(cls, facts: SubjectFacts, curve: Curve, *, multilingual: bool | None = None) -> Sized:
        """Return a subject with the best value of its curve, the interval there, and what allows for the choice."""
        best, size = curve.best_value(), facts.n_parameters or _NAN
        low, high = (best.interval.low, best.interval.high) if best.interval else (_NAN, _NAN)
        value = _NAN if best.value is None else best.value
        chosen = curve.chosen.value if isinstance(curve.chosen, Estimate) else _NAN
        return cls(facts.title or facts.subject_id, float(size), value, low, high, multilingual, chosen)


@dataclass(frozen=True, slots=True)
class SizeRegression:
    """A regression of the statistic on log10(parameters). *Unit:* ``slope`` per tenfold number of parameters."""

    intercept: float
    slope: float
    text: str = ""

    @classmethod
    def of(cls, fit: OlsFit) -> SizeRegression:
        """Return the line of a regression on size, its second coefficient, with slope and n as text."""
        intercept, size, *_ = fit.coefficients
        text = f"b = {size.estimate:.3f} per tenfold, n = {fit.n}"
        return cls(intercept.estimate, size.estimate, text)


def statistic_by_size(
    subjects: Sequence[Sized],
    heading: Heading,
    *,
    fit: SizeRegression | None = None,
    ceilings: Mapping[str, float] | None = None,
) -> Figure:
    """Draw the highest R² against the number of parameters, with names, fit and ceilings (SAW-C, Figures 6 and 10).

    A diamond is what is left when the choice of the layer is allowed for; *fit* and intervals are of the highest R².
    *ceilings* are the human ceilings by their full names. *Unit:* parameters on a log10 axis. Subjects without a
    defined value are listed, not drawn.
    Errors: :class:`InputError` where a subject has no positive number of parameters, or none has a value.
    """
    wrong = [s.subject for s in subjects if not (np.isfinite(s.parameters) and s.parameters > 0)]
    if wrong:
        raise InputError(f"no positive number of parameters: {', '.join(wrong)}")
    drawn = [subject for subject in subjects if np.isfinite(subject.value)]
    if not drawn:
        raise InputError("scaling: no subject has a defined value")
    allowing = [subject for subject in drawn if np.isfinite(subject.chosen)]
    sizes = np.log10([subject.parameters for subject in drawn])
    margin = 0.12 * float(np.ptp(sizes)) or 0.5
    left, right = 10 ** float(sizes.min() - margin), 10 ** float(sizes.max() + margin)
    ceilings = ceilings or {}
    # names are not written over ceilings, intervals and the regression
    lines: list[Segment] = [((left, value), (right, value)) for value in ceilings.values()]
    lines += [((s.parameters, s.low), (s.parameters, s.high)) for s in drawn if np.isfinite([s.low, s.high]).all()]
    lines += [((s.parameters, s.chosen), (s.parameters, s.value)) for s in allowing]
    height = 4.2 + (0.13 * -(-len(drawn) // 3) if len(drawn) > NAMED else 0)
    with drawing(WIDTH, height) as sheet:
        axes = sheet.subplots()
        axes.set(xscale="log", xlabel="Parameters (log10 axis)", ylabel=_STATISTIC, xlim=(left, right))
        _draw_points(axes, drawn)
        if allowing:
            at, left_over = [s.parameters for s in allowing], [s.chosen for s in allowing]
            axes.plot(at, left_over, ls="", marker="D", ms=3.6, mfc="none", mec=INK, mew=0.9, label=_ALLOWING, zorder=5)
        for index, (name, value) in enumerate(ceilings.items(), start=1):
            axes.axhline(value, color=INK, lw=1.1, ls=LINES[index % len(LINES)], label=f"{name} {apa(value)}")
        if fit is not None:
            start, end = (fit.intercept + fit.slope * float(np.log10(size)) for size in (left, right))
            label = fit.text or f"regression: {apa(fit.slope, 3)} per tenfold parameters"
            axes.plot([left, right], [start, end], color=SOFT, lw=1.2, label=label, zorder=2)
            lines.append(((left, start), (right, end)))
        shown = np.array([(s.value, s.low, s.high, s.chosen) for s in drawn])
        top = max([float(np.nanmax(shown)), *ceilings.values()])
        axes.set_ylim(min(0.0, 1.1 * float(np.nanmin(shown))), top + 0.1 * (abs(top) or 1.0))
        add_legend(sheet, columns=2)
        places, names = [(s.parameters, s.value) for s in drawn], [s.subject for s in drawn]
        label_points(sheet, axes, places, names, length=32, most=NAMED, per_line=3, obstacles=lines)
        data = columns_of(subjects, "subject", "parameters", "value", "low", "high", "chosen")
        data["multilingual"] = np.array([s.multilingual for s in subjects], dtype=object)
        gaps = [subject.subject for subject in subjects if not np.isfinite(subject.value)]
        remark = f"Diamonds: {_ALLOWING}. Intervals and line: of the highest R²." if allowing else ""
        remark = " ".join(filter(None, (remark, gaps_remark(gaps))))
        return drawn_figure(sheet, heading, _text(subjects, fit, ceilings), data, remark)


def _draw_points(axes: Axes, drawn: Sequence[Sized]) -> None:
    for multilingual, label, colour, marker in _KINDS:
        group = [subject for subject in drawn if subject.multilingual is multilingual]
        if group:
            x, y = [s.parameters for s in group], [s.value for s in group]
            axes.plot(x, y, ls="", marker=marker, ms=5.5, mfc="white" if multilingual else colour, mec=colour, mew=1.3,
                      label=f"{label} (n = {len(group)})", zorder=4)  # fmt: skip
        for s in group:
            if np.isfinite([s.low, s.high]).all():
                axes.vlines(s.parameters, s.low, s.high, color=colour, lw=1, alpha=0.65, zorder=3)


def _text(subjects: Sequence[Sized], fit: SizeRegression | None, ceilings: Mapping[str, float]) -> str:
    parts = [f"{_STATISTIC} against number of parameters."]
    parts += [
        f"{s.subject}{' (multilingual)' if s.multilingual else ''}: {s.parameters:,.0f} parameters, {apa(s.value, 3)}"
        f"{f' ({apa(s.chosen, 3)} with the choice of the layer allowed for)' if np.isfinite(s.chosen) else ''}."
        for s in subjects
    ]
    parts += [f"Ceiling, {name}: {apa(value, 3)}." for name, value in ceilings.items()]
    parts += [f"Regression slope {apa(fit.slope, 3)} per tenfold parameters."] if fit is not None else []
    return " ".join(parts)
