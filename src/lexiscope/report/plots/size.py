"""Agreement with people against the number of parameters (SAW-C, Figure 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexiscope.analysis.scaling import ScalingReport
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.result import Curve
from lexiscope.report.figures import Array, Figure, Heading, apa, build, gaps_remark
from lexiscope.report.plots.labels import place_labels
from lexiscope.report.plots.style import COLOURS, INK, LINES, SOFT, WIDTH, as_svg, drawing, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = (
    (False, "monolingual", COLOURS[0], "o"),
    (True, "multilingual", COLOURS[1], "^"),
    (None, "number of languages not known", SOFT, "s"),
)
#: Beyond this many subjects, names beside the points would cover each other: numbers stand there instead.
NAMED = 16


@dataclass(frozen=True, slots=True)
class Sized:
    """A subject, its number of parameters, and its statistic (not-a-number where undefined), with an interval.

    ``multilingual`` is ``None`` where it is not known.
    """

    subject: str
    parameters: float
    value: float
    low: float | None = None
    high: float | None = None
    multilingual: bool | None = None

    @classmethod
    def of(cls, facts: SubjectFacts, curve: Curve, *, multilingual: bool | None = None) -> Sized:
        """Return a subject with the best value of its curve and the interval there."""
        best, size = curve.best_value(), facts.n_parameters or float("nan")
        low, high = (best.interval.low, best.interval.high) if best.interval else (None, None)
        value = float("nan") if best.value is None else best.value
        return cls(facts.title or facts.subject_id, float(size), value, low, high, multilingual)


@dataclass(frozen=True, slots=True)
class DrawnCeiling:
    """A human ceiling under its full name, in the unit of the statistic drawn."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class SizeRegression:
    """A regression of the statistic on log10(parameters). *Unit:* ``slope`` per tenfold number of parameters."""

    intercept: float
    slope: float
    text: str = ""

    @classmethod
    def of(cls, report: ScalingReport) -> SizeRegression:
        """Return the line of a regression on size, with its slope, p and n in words."""
        text = f"b = {report.slope:.3f} per tenfold, p = {report.slope_p:.3f}, n = {report.n_subjects}"
        return cls(report.fit.coefficients[0].estimate, report.slope, text)


def scaling(
    subjects: Sequence[Sized],
    heading: Heading,
    *,
    statistic: str = "Highest R² over layers",
    fit: SizeRegression | None = None,
    ceilings: Sequence[DrawnCeiling] = (),
) -> Figure:
    """Draw a statistic against the number of parameters, each subject named, with fit and ceilings (SAW-C, Figure 6).

    *Unit:* parameters on a log10 axis. Subjects without a defined value are listed, not drawn.
    Errors: :class:`InputError` where a subject has no positive number of parameters, or none has a value.
    """
    _check(subjects)
    drawn = [subject for subject in subjects if np.isfinite(subject.value)]
    alt = _words(subjects, statistic, fit, ceilings)
    numbered = len(drawn) > NAMED
    with drawing(WIDTH, 4.2 + (0.13 * -(-len(drawn) // 3) if numbered else 0)) as sheet:
        axes = sheet.subplots()
        axes.set(xscale="log", xlabel="Parameters (log10 axis)", ylabel=statistic)
        _points(axes, drawn)
        _lines(axes, drawn, fit, ceilings)
        _limits(axes, drawn, ceilings)
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)
        if numbered:
            sheet.supxlabel(_key(drawn), fontsize=6.5, ha="center", linespacing=1.5)
        # labels are placed against the final layout, so it is fixed first
        sheet.draw_without_rendering()
        sheet.set_layout_engine("none")
        places = [(subject.parameters, subject.value) for subject in drawn]
        names = short_names([subject.subject for subject in drawn], 32)
        texts = [str(i + 1) for i in range(len(drawn))] if numbered else names
        place_labels(axes, places, texts, obstacles=_segments(drawn, fit, ceilings))
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    gaps = [subject.subject for subject in subjects if not np.isfinite(subject.value)]
    return build(heading, svg, alt, _data(subjects), gaps_remark(gaps))


def _check(subjects: Sequence[Sized]) -> None:
    wrong = [s.subject for s in subjects if not (np.isfinite(s.parameters) and s.parameters > 0)]
    if wrong:
        raise InputError(f"no positive number of parameters: {', '.join(wrong)}")
    if not any(np.isfinite(subject.value) for subject in subjects):
        raise InputError("scaling: no subject has a defined value")


def _points(axes: Axes, drawn: Sequence[Sized]) -> None:
    for multilingual, label, colour, marker in _KINDS:
        group = [subject for subject in drawn if subject.multilingual is multilingual]
        if not group:
            continue
        x, y = [s.parameters for s in group], [s.value for s in group]
        axes.plot(x, y, ls="", marker=marker, ms=5.5, mfc="white" if multilingual else colour, mec=colour, mew=1.3,
                  label=f"{label} (n = {len(group)})", zorder=4)  # fmt: skip
        bounds = [(s.parameters, s.low, s.high) for s in group if s.low is not None and s.high is not None]
        if bounds:
            axes.vlines(*zip(*bounds, strict=True), color=colour, lw=1, alpha=0.65, zorder=3)


def _span(drawn: Sequence[Sized]) -> tuple[float, float]:
    sizes = np.log10([subject.parameters for subject in drawn])
    margin = 0.12 * float(np.ptp(sizes)) or 0.5
    return 10 ** float(sizes.min() - margin), 10 ** float(sizes.max() + margin)


def _lines(axes: Axes, drawn: Sequence[Sized], fit: SizeRegression | None, ceilings: Sequence[DrawnCeiling]) -> None:
    for index, ceiling in enumerate(ceilings):
        axes.axhline(ceiling.value, color=INK, lw=1.1, ls=LINES[(index + 1) % len(LINES)],
                     label=f"{ceiling.name} {apa(ceiling.value)}")  # fmt: skip
    if fit is not None:
        ends = np.array(_span(drawn))
        label = fit.text or f"regression: {apa(fit.slope, 3)} per tenfold parameters"
        axes.plot(ends, fit.intercept + fit.slope * np.log10(ends), color=SOFT, lw=1.2, label=label, zorder=2)


def _limits(axes: Axes, drawn: Sequence[Sized], ceilings: Sequence[DrawnCeiling]) -> None:
    axes.set_xlim(*_span(drawn))
    tops = [s.value if s.high is None else s.high for s in drawn] + [ceiling.value for ceiling in ceilings]
    lows = [s.value if s.low is None else s.low for s in drawn]
    axes.set_ylim(min(0.0, min(lows) * 1.1), max(tops) + 0.1 * (abs(max(tops)) or 1.0))


def _segments(
    drawn: Sequence[Sized], fit: SizeRegression | None, ceilings: Sequence[DrawnCeiling]
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    left, right = _span(drawn)
    found = [((left, ceiling.value), (right, ceiling.value)) for ceiling in ceilings]
    found += [
        ((s.parameters, s.low), (s.parameters, s.high)) for s in drawn if s.low is not None and s.high is not None
    ]
    if fit is not None:
        ends = [fit.intercept + fit.slope * float(np.log10(x)) for x in (left, right)]
        found.append(((left, ends[0]), (right, ends[1])))
    return found


def _key(drawn: Sequence[Sized]) -> str:
    names = short_names([subject.subject for subject in drawn], 36)
    entries = [f"{index} {name}" for index, name in enumerate(names, start=1)]
    return "\n".join(" · ".join(entries[start : start + 3]) for start in range(0, len(entries), 3))


def _words(
    subjects: Sequence[Sized], statistic: str, fit: SizeRegression | None, ceilings: Sequence[DrawnCeiling]
) -> str:
    parts = [f"{statistic} against number of parameters."]
    parts += [
        f"{s.subject}{' (multilingual)' if s.multilingual else ''}: {s.parameters:,.0f} parameters, {apa(s.value, 3)}."
        for s in subjects
    ]
    parts += [f"Ceiling, {ceiling.name}: {apa(ceiling.value, 3)}." for ceiling in ceilings]
    parts += [f"Regression slope {apa(fit.slope, 3)} per tenfold parameters."] if fit is not None else []
    return " ".join(parts)


def _data(subjects: Sequence[Sized]) -> dict[str, Array]:
    bounds = {
        end: np.array([np.nan if getattr(s, end) is None else getattr(s, end) for s in subjects])
        for end in ("low", "high")
    }
    return {
        "subject": np.array([s.subject for s in subjects]),
        "parameters": np.array([s.parameters for s in subjects]),
        "value": np.array([s.value for s in subjects]),
        **bounds,
        "multilingual": np.array([s.multilingual for s in subjects], dtype=object),
    }
