"""Layer by layer, for every subject: sense boundary (AIC), relatedness (r, ρ, R²), Expected Layer, trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.analysis.expected_layer import (
    CumulativeScores,
    ExpectedLayer,
    cumulative_aic,
    cumulative_r_squared,
    expected_layer,
)
from lexiscope.analysis.layers import (
    LayerCurve,
    LayerValue,
    aic_by_layer,
    r_by_layer,
    r_squared_by_layer,
    rho_by_layer,
)
from lexiscope.analysis.trajectory import Trajectory, trajectory
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.study import StudySettings
from lexiscope.studies.saw_c.material import Distances, Material
from lexiscope.studies.saw_c.part import with_interval

VARIANTS = ("signed", "clipped", "from_intercept")


@dataclass(frozen=True, slots=True, eq=False)
class Undefined:
    """A statistic that these numbers do not allow, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class SubjectCurves:
    """All layer-wise statistics of one subject in one view; what is missing is listed in ``undefined``."""

    distances: Distances
    aic: LayerCurve | None
    r_squared: LayerCurve | None
    r: LayerCurve | None
    rho: LayerCurve | None
    trajectory: Trajectory | None
    expected: tuple[ExpectedLayer, ...]
    undefined: tuple[Undefined, ...]

    @property
    def subject(self) -> str:
        """The subject's id."""
        return self.distances.subject


def subject_curves(material: Material, distances: Distances, settings: StudySettings) -> SubjectCurves:
    """Compute every layer-wise statistic of one subject. *Source: SAW-C §4.2, §4.3, §5.3, A.2.*"""
    undefined: list[Undefined] = []
    aic = None if material.same is None else _aic(material, distances)
    r_squared = r = rho = None
    if material.rated.sum() >= 3:
        r_squared, r, rho = (_curve(kind, material, distances, settings) for kind in ("r_squared", "r", "rho"))
    expected = tuple(_expected(material, distances, undefined)) if distances.layers is not None else ()
    path = None
    if r_squared is not None and distances.n_layers > 1:
        path = trajectory(np.nan_to_num(r_squared.array(), nan=0.0))
    return SubjectCurves(distances, aic, r_squared, r, rho, path, expected, tuple(undefined))


def _aic(material: Material, distances: Distances) -> LayerCurve:
    assert material.same is not None
    return aic_by_layer(distances.matrix, material.same, layers=distances.layers)


def _curve(kind: str, material: Material, distances: Distances, settings: StudySettings) -> LayerCurve:
    function = {"r_squared": r_squared_by_layer, "r": r_by_layer, "rho": rho_by_layer}[kind]
    rated = material.rated
    return function(
        distances.matrix[rated],
        material.norm[rated],
        layers=distances.layers,
        groups=np.array(material.words)[rated],
        resamples=settings.n_bootstrap,
        seed=settings.seed,
    )


def _expected(material: Material, distances: Distances, undefined: list[Undefined]) -> Iterator[ExpectedLayer]:
    for score in ("aic", "r_squared"):
        try:
            cumulative = _cumulative(score, material, distances)
        except StatisticError as error:
            undefined.append(Undefined(statistic_name("expected_layer", score=score), error.what))
            continue
        if cumulative is None:
            continue
        for variant in VARIANTS:
            try:
                yield expected_layer(cumulative, variant=variant)  # type: ignore[arg-type]
            except StatisticError as error:
                name = statistic_name("expected_layer", score=score, deltas=variant)
                undefined.append(Undefined(name, error.what))


def _cumulative(score: str, material: Material, distances: Distances) -> CumulativeScores | None:
    if score == "aic":
        return None if material.same is None else cumulative_aic(distances.matrix, material.same)
    rated = material.rated
    return cumulative_r_squared(distances.matrix[rated], material.norm[rated]) if rated.sum() >= 3 else None


# -- records ------------------------------------------------------------------------------------------------------


def curve_records(material: Material, curves: SubjectCurves) -> Iterator[Record]:
    """Yield every number of a subject's curves."""
    base: dict[str, Any] = {"subject": curves.subject, "dataset": material.name, "view": curves.distances.view}
    for curve in (curves.aic, curves.r_squared, curves.r, curves.rho):
        if curve is not None:
            yield from _layer_records(curve, curves, base)
    yield from _best_records(curves, base)
    for expected in curves.expected:
        yield Record(expected.name, expected.value, unit="layers", note="; ".join(expected.remarks), **base)
    for undefined in curves.undefined:
        yield Record(undefined.name, None, note=undefined.reason, **base)
    yield from _trajectory_records(curves, base)


def _layer_records(curve: LayerCurve, curves: SubjectCurves, base: dict[str, Any]) -> Iterator[Record]:
    for value in curve.values:
        layer = None if curves.distances.layers is None else value.layer
        record = Record(curve.statistic, value.value, layer=layer, n=curve.n, note=_reason(value), **base)
        yield with_interval(record, value.interval)
    if curve.baseline is not None:
        yield Record(statistic_name(curve.statistic, model="intercept_only"), curve.baseline, n=curve.n, **base)


def _reason(value: LayerValue) -> str:
    return value.remark or ("undefined" if value.value is None else "")


def _best_records(curves: SubjectCurves, base: dict[str, Any]) -> Iterator[Record]:
    for curve, what in ((curves.aic, "min"), (curves.r_squared, "max"), (curves.rho, "min")):
        if curve is None or curve.best is None:
            continue
        best = curve.best_value()
        layer = None if curves.distances.layers is None else curve.best
        yield with_interval(
            Record(f"{what}_{_bare(curve.statistic)}_over_layers", best.value, layer=layer, n=curve.n, **base),
            best.interval,
        )
        if curves.distances.layers is not None:
            note = f"tied with layers {curve.tied}" if len(curve.tied) > 1 else ""
            name = statistic_name("best_layer", by=_bare(curve.statistic))
            yield Record(name, float(curve.best), unit="layer", note=note, **base)


def _bare(statistic: str) -> str:
    return statistic.partition("(")[0]


def _trajectory_records(curves: SubjectCurves, base: dict[str, Any]) -> Iterator[Record]:
    path = curves.trajectory
    if path is None:
        return
    yield Record(
        "last_layer_drop", path.last_layer_drop, note=f"{path.shape} at a threshold of {path.threshold}", **base
    )
    yield Record("last_over_max_r_squared", 1 - path.last_layer_drop, **base)
