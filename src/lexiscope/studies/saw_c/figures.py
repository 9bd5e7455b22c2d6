"""The figures of the study over layers, sizes and agreement (SAW-C, Figures 3, 4, 6-9 and 11)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexiscope.analysis.agreement import RaterAgreement
from lexiscope.analysis.condition_layers import distance_by_condition
from lexiscope.analysis.scaling import LOG_PARAMETERS, ScalingReport
from lexiscope.analysis.trajectory import FamilyCurve
from lexiscope.core.result import Curve
from lexiscope.report.curves import LayerMeans, Trajectory
from lexiscope.report.figure_layers import by_depth, distance_by_layer, trajectories
from lexiscope.report.figure_panels import aic_panels, peak_panels
from lexiscope.report.figure_people import Place, agreement_histogram, norms_by_distance
from lexiscope.report.figure_size import Ceiling, Fit, Sized, scaling
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import resampling
from lexiscope.studies.saw_c.curves import SubjectCurves, separated_layers
from lexiscope.studies.saw_c.material import Distances, Material
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.trials import DIFFERENT, SAME

ORDER = (SAME, DIFFERENT)
WORDS_95 = "95 % CI, words resampled"


def title(distances: Distances) -> str:
    """Return the name of a subject as figures print it."""
    return distances.facts.title or distances.subject


def figure_3(material: Material, curves: Sequence[SubjectCurves], settings: SawCSettings) -> tuple[Figure, ...]:
    """Draw mean distance by layer and sense, one panel per subject."""
    means = [mean for entry in curves if entry.distances.layers for mean in _means(material, entry.distances, settings)]
    if not means:
        return ()
    heading = Heading("figure_3_distance_by_layer", "3", "Cosine distance by layer and sense", "Mean over usage pairs.")
    return (distance_by_layer(means, heading, interval=WORDS_95, order=ORDER),)


def _means(material: Material, distances: Distances, settings: SawCSettings) -> list[LayerMeans]:
    assert material.same is not None
    labels = np.where(material.same, SAME, DIFFERENT).tolist()
    found = distance_by_condition(
        distances.matrix,
        labels,
        **resampling(material.words, settings),
    )
    layers = np.array(distances.layers)
    return [
        LayerMeans(
            title(distances),
            entry.condition,
            layers,
            entry.mean,
            np.array([interval.low for interval in entry.intervals]),
            np.array([interval.high for interval in entry.intervals]),
            entry.n,
        )
        for entry in found
    ]


DEFINITIONS = {
    "leave_one_out": ("figure_4_agreement", "true leave-one-out"),
    "included": ("figure_4b_agreement_included", "own rating included"),
}


def figure_4(agreements: Sequence[RaterAgreement], places: Sequence[Place]) -> tuple[Figure, ...]:
    """Draw the agreement of single raters under each definition, with the subjects' places in it."""
    figures = []
    for number, agreement in enumerate(agreements):
        name, definition = DEFINITIONS[agreement.variant]
        heading = Heading(name, f"4{'ab'[number]}", f"Agreement of single raters ({definition})")
        figures.append(agreement_histogram(agreement.values, places, heading, definition=definition))
    return tuple(figures)


def figure_scatter(material: Material, curves: SubjectCurves, layer: int | None) -> tuple[Figure, ...]:
    """Draw the norms against the distances of one subject at one layer."""
    if material.same is None or curves.r is None or curves.rho is None:
        return ()
    distances, rated = curves.distances, material.rated
    at = layer if layer is not None else curves.r.values[-1].layer
    heading = Heading("norms_by_distance", "", f"Norms against distances: {title(distances)}")
    return (
        norms_by_distance(
            material.norm[rated],
            distances.column_of(layer)[rated],
            np.where(material.same[rated], SAME, DIFFERENT),
            heading,
            subject=title(distances),
            layer="" if layer is None else f"layer {layer}",
            r=curves.r.at(at).value or float("nan"),
            rho=curves.rho.at(at).value or float("nan"),
            order=ORDER,
        ),
    )


def figure_6(
    usable: Sequence[SubjectCurves],
    report: ScalingReport | None,
    ceilings: dict[str, float],
    view: str,
    condition: str,
) -> tuple[Figure, ...]:
    """Draw the highest R² of each subject against its size, with the regression line and the ceilings."""
    points = [_sized(entry) for entry in usable]
    if not points:
        return ()
    fit = None
    if report is not None:
        intercept = report.fit.coefficients[0].estimate
        text = f"b = {report.slope:.3f} per tenfold, p = {report.slope_p:.3f}, n = {report.n_subjects}"
        fit = Fit(intercept, report.fit.coefficient(LOG_PARAMETERS).estimate, text)
    lines = [Ceiling(name, value) for name, value in ceilings.items()]
    name = f"figure_6_size{_slug(view)}" + (_slug(condition) if condition else "")
    words = f"Highest R² by number of parameters, view {view}" + (f", {condition}" if condition else "")
    heading = Heading(name, "6", words)
    return (scaling(points, heading, fit=fit, ceilings=lines),)


def _slug(view: str) -> str:
    return "_" + "".join(letter if letter.isalnum() else "_" for letter in view)


def _sized(entry: SubjectCurves) -> Sized:
    assert entry.r_squared is not None
    best, facts = entry.r_squared.best_value(), entry.distances.facts
    low, high = (best.interval.low, best.interval.high) if best.interval else (None, None)
    value = best.value if best.value is not None else float("nan")
    return Sized(title(entry.distances), float(facts.n_parameters or 0), value, low, high, bool(facts.multilingual))


def trajectory_figures(curves: Sequence[SubjectCurves]) -> tuple[Figure, ...]:
    """Draw R² by layer: all subjects together, and one panel per subject with peak and last-layer drop."""
    paths = [_path(e, e.r_squared) for e in curves if e.r_squared is not None and e.distances.n_layers > 1]
    if not paths:
        return ()
    seven = Heading("figure_7_trajectories", "7", "R² by layer")
    nine = Heading("figure_9_trajectory_panels", "9", "R² by layer, one panel per subject")
    return trajectories(paths, seven, statistic="R²"), peak_panels(paths, nine, interval=WORDS_95)


def aic_figures(curves: Sequence[SubjectCurves]) -> tuple[Figure, ...]:
    """Draw AIC by layer, one panel per subject, with the best layer and the Expected Layer."""
    paths = [_path(e, e.aic, expected=True) for e in curves if e.aic is not None and e.distances.n_layers > 1]
    heading = Heading("figure_11_aic_panels", "11", "AIC of the sense boundary by layer")
    return (aic_panels(paths, heading),) if paths else ()


def family_figures(depth: Sequence[FamilyCurve], ntile: Sequence[FamilyCurve], view: str) -> tuple[Figure, ...]:
    """Draw family means over depth: by layer depth ratio, and in the paper's bins."""
    figures = []
    for curves, name, number, horizontal in (
        (depth, "figure_8_families_by_depth", "8a", "Layer depth ratio"),
        (ntile, "figure_8b_families_by_ntile", "8b", "Decile of layers within each model, as in SAW-C"),
    ):
        if curves:
            words = f"R² over depth by family: {horizontal[0].lower()}{horizontal[1:]}"
            heading = Heading(f"{name}{_slug(view)}", number, words)
            lines = [Trajectory(curve.family, curve.positions, curve.values) for curve in curves]
            figures.append(by_depth(lines, heading, statistic="R²", horizontal=horizontal))
    return tuple(figures)


def _path(entry: SubjectCurves, curve: Curve, *, expected: bool = False) -> Trajectory:
    intervals = [value.interval for value in curve.values]
    has = any(interval is not None for interval in intervals)
    low = np.array([np.nan if i is None else i.low for i in intervals]) if has else None
    high = np.array([np.nan if i is None else i.high for i in intervals]) if has else None
    layers = np.array([value.layer for value in curve.values])
    found = [e.value for e in entry.expected if e.name == "expected_layer(score=aic,deltas=signed)"] if expected else []
    return Trajectory(
        title(entry.distances),
        layers,
        curve.array(),
        low,
        high,
        entry.distances.facts.family,
        found[0] if found else None,
        curve.baseline if expected else None,
        separated_layers(curve) if expected else (),
    )
