"""What distance explains and what it leaves over: R² of sense and distance, residuals by sense (SAW-C §4.5, §5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lexiscope.analysis.decomposition import (
    ResidualReport,
    pooled_residuals,
    residuals_by_condition,
    variance_decomposition,
)
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Record, statistic_name
from lexiscope.report.figure_density import Residuals, residual_ridge
from lexiscope.report.figures import Heading
from lexiscope.report.part import Part, from_estimate, joined, resampling
from lexiscope.studies.saw_c.curves import SubjectCurves
from lexiscope.studies.saw_c.material import Distances, Material
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.show import explained_table, residual_table
from lexiscope.studies.saw_c.trials import DIFFERENT, SAME

ORDER = (SAME, DIFFERENT)


def explained(material: Material, curves: tuple[SubjectCurves, ...], settings: SawCSettings) -> Part:
    """Decompose the variance of the norms and describe the residuals, for every subject."""
    if material.same is None or material.rated.sum() < 4:
        return Part()
    parts = [_of_subject(material, entry, settings) for entry in curves]
    records = joined(parts).records
    titles = {entry.subject: entry.distances.facts.title or entry.subject for entry in curves}
    tables = (explained_table(records, titles), residual_table(records, titles)) if records else ()
    ridges = [ridge for entry in curves if (ridge := _ridge(material, entry.distances, settings)) is not None]
    heading = Heading(
        "figure_5_residuals_by_sense",
        "5",
        "What people see beyond distance: residuals by sense",
        "Residuals of the regression of mean relatedness on distance × layer, all layers pooled (layer 0 included); "
        "for subjects without layers, of the regression on distance.",
    )
    figures = (residual_ridge(ridges, heading, order=ORDER),) if ridges else ()
    return Part(records, tables, figures, remarks=joined(parts).remarks)


def best_layer(curves: SubjectCurves) -> int | None:
    """Return the layer at which a subject fits people best (highest R²), ``None`` without layers."""
    if curves.distances.layers is None or curves.r_squared is None:
        return None
    return curves.r_squared.best


def _of_subject(material: Material, curves: SubjectCurves, settings: SawCSettings) -> Part:
    distances = curves.distances
    layers = {best_layer(curves), distances.last_layer} if distances.layers is not None else {None}
    records: list[Record] = []
    remarks: list[str] = []
    for layer in sorted(layers, key=lambda value: -1 if value is None else value):
        try:
            records += _decomposed(material, distances, layer, settings)
        except StatisticError as error:
            remarks.append(f"{distances.subject}, layer {layer}: {error.what}")
    try:
        records += _pooled(material, distances, settings)
    except StatisticError as error:
        remarks.append(f"{distances.subject}, all layers: {error.what}")
    return Part(tuple(records), remarks=tuple(remarks))


def _decomposed(
    material: Material, distances: Distances, layer: int | None, settings: SawCSettings
) -> Iterator[Record]:
    assert material.same is not None
    rated = material.rated
    column = distances.column_of(layer)[rated]
    boot = resampling(material.rated_words, settings)
    parts = variance_decomposition(material.norm[rated], material.same[rated].astype(float), column, **boot)
    base = Record("r_squared", 0.0, distances.subject, material.name, layer, view=distances.view)
    for estimate in (parts.first, parts.second, parts.both, parts.unique_first, parts.unique_second, parts.shared):
        yield _renamed(estimate, base)
    report = residuals_by_condition(material.norm[rated], column, ["distance"], conditions(material), **boot)
    yield from _residual_records(report, base, "norm~distance")


def _pooled(material: Material, distances: Distances, settings: SawCSettings) -> Iterator[Record]:
    if distances.layers is None:
        return
    rated = material.rated
    report = pooled_residuals(
        material.norm[rated],
        distances.matrix[rated],
        conditions(material),
        layers=distances.layers,
        **resampling(material.rated_words, settings),
    )
    base = Record("r_squared", 0.0, distances.subject, material.name, view=distances.view)
    yield from _residual_records(report, base, "norm~distance*layer")


def _renamed(estimate: Estimate, base: Record) -> Record:
    return from_estimate(estimate, replace(base, statistic=estimate.name))


def _residual_records(report: ResidualReport, base: Record, model: str) -> Iterator[Record]:
    for entry in report.conditions:
        named = replace(
            base,
            statistic=statistic_name("mean_residual", model=model),
            condition=f"same_sense={entry.condition == SAME}",
            unit="rating",
        )
        yield from_estimate(entry.mean, named)


def conditions(material: Material) -> list[str]:
    """Return the sense condition of each rated item, as text."""
    assert material.same is not None
    return [SAME if same else DIFFERENT for same in material.same[material.rated].tolist()]


def _ridge(material: Material, distances: Distances, settings: SawCSettings) -> Residuals | None:
    norm, labels = material.norm[material.rated], conditions(material)
    matrix, title = distances.matrix[material.rated], distances.facts.title or distances.subject
    try:
        if distances.layers is None:
            report = residuals_by_condition(norm, matrix[:, -1], ["distance"], labels, resamples=0)
            return Residuals(title, report.fit.residuals, np.array(labels))
        report = pooled_residuals(norm, matrix, labels, layers=distances.layers, resamples=0)
    except StatisticError:
        # the reason stands in the remarks of the same subject's records
        return None
    return Residuals(title, report.fit.residuals, np.repeat(np.array(labels), matrix.shape[1]))
