"""Layer by layer, for every subject: sense boundary (AIC), relatedness (r, ρ, R²), Expected Layer, trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from lexiscope.analysis.expected_layer import (
    CumulativeScores,
    ExpectedLayer,
    cumulative_aic,
    cumulative_r_squared,
    expected_layer,
)
from lexiscope.analysis.layer_intervals import expected_layer_r_squared_interval, last_layer_drop_interval
from lexiscope.analysis.layers import aic_by_layer, r_by_layer, r_squared_by_layer, rho_by_layer
from lexiscope.analysis.trajectory import Trajectory, trajectory
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Curve, Interval, Record, statistic_name
from lexiscope.report.part import resampling, with_interval
from lexiscope.studies.saw_c.material import Distances, Material
from lexiscope.studies.saw_c.names import NO_BOUNDARY, SEPARATED
from lexiscope.studies.saw_c.settings import SawCSettings

VARIANTS = ("signed", "clipped", "from_intercept")
_BY_LAYER = {"r_squared": r_squared_by_layer, "pearson": r_by_layer, "spearman": rho_by_layer}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Undefined:
    """A statistic that these numbers do not allow, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class SubjectCurves:
    """All layer-wise statistics of one subject in one view; what is missing is listed in ``undefined``."""

    distances: Distances
    aic: Curve | None
    r_squared: Curve | None
    r: Curve | None
    rho: Curve | None
    trajectory: Trajectory | None
    expected: tuple[ExpectedLayer, ...]
    undefined: tuple[Undefined, ...]
    drop_interval: Interval | None = None
    expected_interval: Interval | None = None

    @property
    def subject(self) -> str:
        """The subject's id."""
        return self.distances.subject


def subject_curves(material: Material, distances: Distances, settings: SawCSettings) -> SubjectCurves:
    """Compute every layer-wise statistic of one subject. *Source: SAW-C §4.2, §4.3, §5.3, A.2.*"""
    undefined: list[Undefined] = []
    aic = _or_undefined("aic", lambda: _aic(material, distances), undefined)
    r_squared, r, rho = (
        _or_undefined(name, partial(_curve, name, material, distances, settings), undefined) for name in _BY_LAYER
    )
    expected = tuple(_expected(material, distances, undefined)) if distances.layers is not None else ()
    path = None
    if r_squared is not None and distances.n_layers > 1:
        # a layer without an R² (constant distances) explains nothing
        values = np.nan_to_num(r_squared.array(), nan=0.0)
        path = _or_undefined("last_layer_drop", lambda: trajectory(values), undefined)
    drop, layer = _intervals(material, distances, settings) if path is not None else (None, None)
    return SubjectCurves(distances, aic, r_squared, r, rho, path, expected, tuple(undefined), drop, layer)


def _intervals(
    material: Material, distances: Distances, settings: SawCSettings
) -> tuple[Interval | None, Interval | None]:
    """The intervals of the last-layer drop and of the Expected Layer by R²; none where only one word is rated."""
    rated, boot = material.rated, resampling(material.rated_words, settings)
    try:
        drop = last_layer_drop_interval(distances.matrix[rated], material.norm[rated], **boot)
        if distances.layers != tuple(range(distances.n_layers)):
            return drop, None
        return drop, expected_layer_r_squared_interval(distances.matrix[rated], material.norm[rated], **boot)
    except StatisticError:
        # one group of items: the same reason stands in the notes of every other interval of this subject
        return None, None


def _or_undefined(name: str, make: Callable[[], _T | None], undefined: list[Undefined]) -> _T | None:
    """Return a statistic, or ``None`` with its reason in *undefined*: one of them must not stop the study."""
    try:
        return make()
    except StatisticError as error:
        undefined.append(Undefined(name, error.what))
        return None


def _aic(material: Material, distances: Distances) -> Curve | None:
    return None if material.same is None else aic_by_layer(distances.matrix, material.same, layers=distances.layers)


def _curve(name: str, material: Material, distances: Distances, settings: SawCSettings) -> Curve | None:
    rated = material.rated
    if not rated.any():
        return None
    return _BY_LAYER[name](
        distances.matrix[rated],
        material.norm[rated],
        layers=distances.layers,
        **resampling(material.rated_words, settings),
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
    if distances.layers != tuple(range(distances.n_layers)):
        raise StatisticError(f"an expected layer needs all layers from 0 on, not {distances.layers}")
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
    yield from _best_records(material, curves, base)
    for expected in curves.expected:
        # every subject in a curve answered the same items; AIC uses all of them, R² those with a norm
        curve = curves.aic if "score=aic" in expected.name else curves.r_squared
        n = None if curve is None else curve.n
        record = Record(expected.name, expected.value, unit="layers", n=n, note="; ".join(expected.remarks), **base)
        by_people = expected.name == statistic_name("expected_layer", score="r_squared", deltas="signed")
        yield with_interval(record, curves.expected_interval if by_people else None)
    for undefined in curves.undefined:
        yield Record(undefined.name, None, note=undefined.reason, **base)
    yield from _trajectory_records(curves, base)


def _layer_records(curve: Curve, curves: SubjectCurves, base: dict[str, Any]) -> Iterator[Record]:
    for value in curve.values:
        layer = None if curves.distances.layers is None else value.layer
        record = Record(curve.statistic, value.value, layer=layer, n=curve.n, note=value.remark, **base)
        # where an interval has no ends, the remark says so already
        yield with_interval(record, value.interval if value.interval and value.interval.is_defined else None)
    if curve.baseline is not None:
        yield Record(statistic_name(curve.statistic, model="intercept_only"), curve.baseline, n=curve.n, **base)


def _best_records(material: Material, curves: SubjectCurves, base: dict[str, Any]) -> Iterator[Record]:
    for curve, what in ((curves.aic, "min"), (curves.r_squared, "max"), (curves.rho, "min")):
        if curve is None or curve.best is None:
            continue
        name, by = (f"{what}_{curve.statistic}_over_layers", statistic_name("best_layer", by=curve.statistic))
        separated = _separated(curve)
        if separated:
            yield from (Record(undefined, None, note=separated, n=curve.n, **base) for undefined in (name, by))
            continue
        best, note = curve.best_value(), _caution(material, curve, curves)
        layer = None if curves.distances.layers is None else curve.best
        record = Record(name, best.value, layer=layer, n=curve.n, note=note, **base)
        yield with_interval(record, best.interval if best.interval and best.interval.is_defined else None)
        if curves.distances.layers is not None:
            tied = f"tied with layers {curve.tied}" if len(curve.tied) > 1 else ""
            note = "; ".join(filter(None, (tied, note)))
            yield Record(by, float(curve.best), unit="layer", n=curve.n, note=note, **base)


def _separated(curve: Curve) -> str:
    """Why no layer may be called the best: some separate the senses perfectly, which no finite AIC expresses."""
    layers = [str(layer) for layer in separated_layers(curve)]
    return f"{SEPARATED} at layer {', '.join(layers)}: no finite AIC" if layers else ""


def separated_layers(curve: Curve) -> tuple[int, ...]:
    """Return the layers whose distances separate the senses without error: their AIC is not finite."""
    return tuple(value.layer for value in curve.values if value.value is None and "separate" in value.remark)


def _caution(material: Material, curve: Curve, curves: SubjectCurves) -> str:
    """What to know about the best value: its remark, whether it is worth anything, and a wrong direction."""
    assert curve.best is not None
    note, r = curve.best_value().remark, None if curves.r is None else curves.r.at(curve.best).value
    if curve is curves.aic:
        return "; ".join(filter(None, (note, _no_boundary(curve), _reversed_senses(material, curve, curves.distances))))
    if r is None or r <= 0:
        return note
    wrong = f"the wrong direction: pairs that are further apart are rated as more related (r = {r:.3f})"
    return "; ".join(filter(None, (note, wrong)))


def _no_boundary(curve: Curve) -> str:
    """Say where even the best layer's AIC is not below that of the model without any distance."""
    lowest = curve.best_value().value
    if curve.baseline is None or lowest is None or lowest < curve.baseline:
        return ""
    return f"{NO_BOUNDARY}: no AIC is below that of a model without distance ({curve.baseline:.2f})"


def _reversed_senses(material: Material, curve: Curve, distances: Distances) -> str:
    """Say where pairs with the same sense are farther apart at the best layer: AIC does not know the direction."""
    if material.same is None or _no_boundary(curve):
        return ""
    column = [entry.layer for entry in curve.values].index(curve.best_value().layer)
    values, same = distances.matrix[:, column], np.asarray(material.same, dtype=bool)
    near, far = float(values[same].mean()), float(values[~same].mean())
    if near <= far:
        return ""
    means = f"mean distance {near:.3f} against {far:.3f}"
    return f"the wrong direction: pairs with the same sense are farther apart ({means})"


def _trajectory_records(curves: SubjectCurves, base: dict[str, Any]) -> Iterator[Record]:
    path, curve = curves.trajectory, curves.r_squared
    if path is None or curve is None:
        return
    note = f"{path.shape} at a threshold of {path.threshold}"
    if curve.values[-1].value is None:
        note += f"; the last layer counts as 0: {curve.values[-1].remark}"
    drop = Record("last_layer_drop", path.last_layer_drop, n=curve.n, note=note, **base)
    yield with_interval(drop, curves.drop_interval)
    yield Record("last_over_max_r_squared", 1 - path.last_layer_drop, n=curve.n, **base)
