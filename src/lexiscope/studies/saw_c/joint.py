"""Several subjects' distances in one regression, with a second factor of the items (RAW-C: ambiguity type)."""

from __future__ import annotations

import numpy as np

from lexiscope.analysis.decomposition import explained_variance, residuals_by_condition
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import Part, from_estimate, resampling, shown
from lexiscope.report.tables import INTEGER, Column, Format, Table
from lexiscope.studies.saw_c.material import Floats, Material
from lexiscope.studies.saw_c.plans import Joint
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.trials import distance_of


def joint_part(material: Material, joint: Joint | None, settings: SawCSettings) -> Part:
    """Explain the norms by several distances, by sense crossed with a factor, and by all of it. *Source: RAW-C §5.*"""
    known = {distances.subject for distances in material.distances}
    if joint is None or material.same is None or not set(joint.subjects) <= known or not material.rated.any():
        return Part()
    rated, boot = material.rated, resampling(material.rated_words, settings)
    distances = np.column_stack([distance_of(material, subject, None)[rated] for subject in joint.subjects])
    levels = [str(item.conditions[joint.factor]) for item, kept in zip(material.items, rated, strict=True) if kept]
    same = material.same[rated].astype(float)
    crossed = _crossed(same, levels)
    names = "+".join(joint.subjects)
    models = {names: distances, f"sense*{joint.factor}": crossed}
    models[f"sense*{joint.factor}+{names}"] = np.column_stack([crossed, distances])
    records = [
        from_estimate(estimate, Record(statistic_name("r_squared", of=name), 0.0, dataset=material.name))
        for name, estimate in explained_variance(material.norm[rated], models, **boot).items()
    ]
    labels = [f"same_sense={bool(s)} {joint.factor}={level}" for s, level in zip(same, levels, strict=True)]
    report = residuals_by_condition(material.norm[rated], distances, list(joint.subjects), labels, **boot)
    name = statistic_name("mean_residual", model=f"norm~{names}")
    for entry in report.conditions:
        base = Record(name, 0.0, dataset=material.name, condition=entry.condition, unit="rating")
        records.append(from_estimate(entry.mean, base))
    return Part(tuple(records), (_table(records),))


def _crossed(same: Floats, levels: list[str]) -> Floats:
    """Sense, the factor's levels against the first by code point, and their products."""
    others = sorted(set(levels))[1:]
    columns = [same]
    for level in others:
        flag = np.array([float(value == level) for value in levels])
        columns += [flag, flag * same]
    return np.column_stack(columns)


def _table(records: list[Record]) -> Table:
    columns = (Column("Statistic"), Column("Condition"), Column("Value", Format("number", 3)), Column("n", INTEGER))
    rows = [(r.statistic, r.condition.replace("=", ": "), shown(r), r.n) for r in records]
    notes = ("Intervals resample words.",)
    return Table(
        "joint_regressions", "", "Several distances in one regression of the norms", columns, tuple(rows), notes
    )
