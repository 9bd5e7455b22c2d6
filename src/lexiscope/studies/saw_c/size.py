"""Do larger models fit people better, how do families move through their layers, how is the target cut into tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lexiscope.analysis.layer_intervals import highest_difference_interval
from lexiscope.analysis.scaling import LOG_PARAMETERS, MULTILINGUAL, ScalingReport, scaling
from lexiscope.analysis.tokenisation import tokenisation
from lexiscope.analysis.trajectory import FamilyCurve, family_by_depth_ratio, family_by_ntile
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import Part, resampling, with_interval
from lexiscope.studies.saw_c.curves import SubjectCurves
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.show import registry_table, stop_table, tokenisation_table


def in_paper(facts: SubjectFacts) -> bool:
    """Say whether a model counts among the paper's twelve: its registry entry has no remark to the contrary."""
    return "not in the paper" not in facts.source


# -- scaling ------------------------------------------------------------------------------------------------------


def scaling_report(
    curves: Sequence[SubjectCurves], ceilings: dict[str, float]
) -> tuple[ScalingReport | None, tuple[SubjectCurves, ...], str]:
    """Regress the highest R² of each subject on its size; returns the reason where it is undefined. *Source: §5.2.*"""
    usable = tuple(c for c in curves if _has_best(c) and _size(c))
    best = [_best(c) for c in usable]
    # a subject of which nobody said whether it is multilingual counts as monolingual
    flags = [float(bool(c.distances.facts.multilingual)) for c in usable]
    try:
        report = scaling(best, [_size(c) for c in usable], flags if len(set(flags)) > 1 else None, ceilings=ceilings)
    except StatisticError as error:
        return None, usable, error.what
    return report, usable, ""


def _size(curves: SubjectCurves) -> int:
    return curves.distances.facts.n_parameters or 0


def _has_best(curves: SubjectCurves) -> bool:
    return curves.r_squared is not None and curves.r_squared.best is not None


def without_size(curves: Sequence[SubjectCurves]) -> tuple[str, ...]:
    """Name the subjects that have a fit but cannot enter the regression on size: nobody said how large they are."""
    return tuple(c.subject for c in curves if _has_best(c) and not _size(c))


def _best(curves: SubjectCurves) -> float:
    assert curves.r_squared is not None
    value = curves.r_squared.best_value().value
    assert value is not None
    return value


def scaling_records(
    material: Material, view: str, report: ScalingReport | None, reason: str, condition: str
) -> Iterator[Record]:
    """Yield the numbers of the scaling regression."""
    base: dict[str, Any] = {"dataset": material.name, "view": view, "condition": condition}
    name = statistic_name("slope", of=LOG_PARAMETERS, outcome="max_r_squared")
    if report is None:
        yield Record(name, None, note=reason, **base)
        return
    note = "R² per tenfold number of parameters"
    slope = Record(name, report.slope, n=report.n_subjects, p=report.slope_p, note=note, **base)
    yield with_interval(slope, report.slope_interval)
    yield Record(statistic_name("standard_error", of=LOG_PARAMETERS), report.slope_standard_error, **base)
    yield Record(statistic_name("p", of=LOG_PARAMETERS), report.slope_p, **base)
    if any(c.name == MULTILINGUAL for c in report.fit.coefficients):
        row = report.fit.coefficient(MULTILINGUAL)
        yield Record(statistic_name("slope", of=MULTILINGUAL, outcome="max_r_squared"), row.estimate, p=row.p, **base)
    yield Record(statistic_name("r_squared", of="scaling"), report.fit.r_squared, n=report.n_subjects, **base)
    yield Record(statistic_name("pearson", of=LOG_PARAMETERS), report.r_log_parameters, n=report.n_subjects, **base)


# -- families -----------------------------------------------------------------------------------------------------


def family_curves(curves: Sequence[SubjectCurves]) -> tuple[tuple[FamilyCurve, ...], tuple[FamilyCurve, ...]]:
    """Return the family means by layer depth ratio, and in the paper's bins (ntile within each model)."""
    known = [c for c in curves if _has_best(c) and c.distances.facts.family and _is_whole(c)]
    usable = {c.subject: _r_squared(c) for c in known}
    families = {c.subject: c.distances.facts.family for c in curves if c.subject in usable}
    if not usable:
        return (), ()
    return family_by_depth_ratio(usable, families), family_by_ntile(usable, families)


def _is_whole(curves: SubjectCurves) -> bool:
    """Whether all layers from 0 on are there, so that a column's number is its depth."""
    return curves.distances.n_layers > 1 and curves.distances.layers == tuple(range(curves.distances.n_layers))


def _r_squared(curves: SubjectCurves) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    assert curves.r_squared is not None
    # an undefined R² at a constant layer explains nothing: it enters the mean as 0, as in the paper
    return np.nan_to_num(curves.r_squared.array(), nan=0.0)


def family_records(material: Material, view: str, families: Sequence[FamilyCurve]) -> Iterator[Record]:
    """Yield the points of the family curves."""
    for family in families:
        for position, value, count in zip(family.positions, family.values, family.counts, strict=True):
            who = ", ".join(family.subjects)
            yield Record(
                family.name,
                float(value) if count else None,
                dataset=material.name,
                view=view,
                condition=f"family={family.family} position={position:.2g}",
                n=int(count),
                note=who if count else f"no layer of {who} falls here",
            )


# -- with and without the final stop ------------------------------------------------------------------------------


def stop_part(material: Material, curves: Sequence[SubjectCurves], settings: SawCSettings) -> Part:
    """Say how much a final stop changes the fit, by subject and by family (SAW-C fn 9, fn 11)."""
    with_stop, without = (
        {c.subject: c for c in curves if c.distances.view == view and _has_best(c)}
        for view in ("full+final_stop", "full")
    )
    both = [subject for subject in with_stop if subject in without]
    if not both:
        return Part()
    records = [_stop_record(material, with_stop[subject], without[subject], settings) for subject in both]
    families: dict[str, list[float]] = {}
    for subject, record in zip(both, records, strict=True):
        families.setdefault(with_stop[subject].distances.facts.family, []).append(record.value or 0.0)
    name = statistic_name("difference", of="max_r_squared", between="final_stop")
    for family, values in families.items():
        mean = float(np.mean(values))
        records.append(Record(name, mean, dataset=material.name, condition=f"family={family}", n=len(values)))
    return Part(tuple(records), (stop_table(records),))


def _stop_record(
    material: Material, with_stop: SubjectCurves, without: SubjectCurves, settings: SawCSettings
) -> Record:
    first, second = _best(with_stop), _best(without)
    one, other = (curves.distances.matrix[material.rated] for curves in (with_stop, without))
    boot = resampling(material.rated_words, settings)
    interval = highest_difference_interval(one, other, material.norm[material.rated], **boot)
    name = statistic_name("difference", of="max_r_squared", between="final_stop")
    note = f"{first:.4f} with, {second:.4f} without"
    record = Record(name, first - second, with_stop.subject, material.name, n=int(material.rated.sum()), note=note)
    return with_interval(record, interval)


# -- tokens and registry ------------------------------------------------------------------------------------------


def tokens(material: Material, facts: Sequence[SubjectFacts]) -> Part:
    """Report how each subject cuts the targets and how much the sentences of a pair differ in length. *Table 3.*"""
    records: list[Record] = []
    for subject in material.responses.where(measure="n_tokens_1").unique("subject_id"):
        for view in material.responses.where(measure="n_tokens_1", subject_id=subject).unique("view"):
            records += _token_records(material, subject, str(view))
    tables = (tokenisation_table(records, facts),) if records else ()
    return Part(tuple(records), tables)


def _token_records(material: Material, subject: str, view: str) -> list[Record]:
    first, second, target = (_counts(material, subject, view, m) for m in ("n_tokens_1", "n_tokens_2", "target_tokens"))
    if first is None or second is None or target is None:
        return []
    report = tokenisation(first, second, target, material.words)
    values = {
        statistic_name("token_difference", summary="mean"): report.difference_mean,
        statistic_name("token_difference", summary="mode"): report.difference_mode,
        statistic_name("token_difference", summary="max"): report.difference_max,
        statistic_name("target_tokens", mean_over="words"): report.target_tokens_over_words,
        statistic_name("target_tokens", mean_over="pairs"): report.target_tokens_over_pairs,
    }
    note = "; ".join(report.remarks)
    return [
        Record(name, float(value), subject, material.name, view=view, unit="tokens", n=report.n_pairs, note=note)
        for name, value in values.items()
    ]


def _counts(material: Material, subject: str, view: str, measure: str) -> list[float] | None:
    wanted: dict[str, Any] = {"subject_id": subject, "measure": measure}
    table = material.responses.where(**wanted, view=view)
    # the tokens of the target do not depend on the view: one published column serves both
    table = table if len(table) or measure != "target_tokens" else material.responses.where(**wanted)
    values = dict(zip(table.column("item_id").tolist(), table.column("value").tolist(), strict=True))
    if any(item.item_id not in values for item in material.items):
        return None
    return [values[item.item_id] for item in material.items]


def registry(facts: Sequence[SubjectFacts]) -> Part:
    """Show what is known of the subjects. *Table 2.*"""
    return Part(tables=(registry_table(facts),)) if facts else Part()
