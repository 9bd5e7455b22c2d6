"""The demo's second part: does the model agree with people, beside how well people agree with each other?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexiscope.analysis.agreement.ceilings import Ceiling, leave_one_out_rho, mean_squared_rho, squared_mean_rho
from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.layers.layers import r_squared_by_layer, rho_by_layer, values_by_layer
from lexiscope.analysis.ratings import Ratings
from lexiscope.cli.demo_part import RESAMPLES, Part, between, bounds, in_cell, short
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Curve, CurvePoint, Record
from lexiscope.report.document import Section
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.plots.layers import trajectories
from lexiscope.report.presenting import trajectory_of
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, Column, Missing, Table


def against_people(
    items: Sequence[Item], answers: ResponseTable, people: ResponseTable, *, title: str, seed: int = 0
) -> Part:
    """Correlate the model's distances with people's mean ratings, layer by layer, beside the ceilings by name.

    *answers* hold the cosine distances of one subject in one view, *people* the trials of the participants. Intervals
    over items resample words, those over raters resample raters.
    Errors: :class:`StatisticError` where the ratings do not vary.
    """
    subject, view = str(answers.column("subject_id")[0]), str(answers.column("view")[0])
    ratings = Ratings.from_table(people)
    mean_of = dict(zip(ratings.item_ids, ratings.means().tolist(), strict=True))
    rated = [item for item in items if np.isfinite(mean_of.get(item.item_id, np.nan))]
    layers, distance = values_by_layer(answers.where(measure="cosine_distance"), [item.item_id for item in rated])
    norms = [mean_of[item.item_id] for item in rated]
    words = [item.word for item in rated]
    rho = rho_by_layer(distance, norms, layers=layers, groups=words, resamples=RESAMPLES, seed=seed)
    fit = r_squared_by_layer(distance, norms, layers=layers, groups=words, resamples=RESAMPLES, seed=seed)
    ceilings = _ceilings(ratings, seed)
    said = _words(subject, rho, fit, ceilings, len(rated))
    where = {"dataset": items[0].dataset, "analysis": "exploratory"}
    records = [*_layer_records(rho, where, subject, view), *_layer_records(fit, where, subject, view)]
    records += [_ceiling_record(ceiling, where) for ceiling in ceilings]
    table = _table(f"{subject} and people, {title}", rho, fit, ceilings)
    section = Section("people", "Does the model agree with people?", said, (table,), (_figure(subject, fit),))
    return Part(section, tuple(records), said)


def _ceilings(ratings: Ratings, seed: int) -> tuple[Ceiling, ...]:
    agreement = leave_one_out(ratings, resamples=RESAMPLES, seed=seed)
    squares = mean_squared_rho(agreement, resamples=RESAMPLES, seed=seed)
    return leave_one_out_rho(agreement), squared_mean_rho(agreement), squares


def _words(subject: str, rho: Curve, fit: Curve, ceilings: Sequence[Ceiling], n: int) -> tuple[str, ...]:
    best, explained, person = rho.best_value(), fit.best_value(), ceilings[0]
    return (
        f"{subject} at its best layer, {best.layer}: rho {short(best.value)}{between(best.interval)} with people's "
        f"mean ratings; R² {short(explained.value)}{between(explained.interval)} at layer {explained.layer} "
        f"({n} pairs, {rho.n_groups} words). The layer is chosen on the same pairs.",
        f"One person against the others: rho {short(person.value)}{between(person.interval)} "
        f"(leave-one-out, {person.n} people).",
    )


def _table(title: str, rho: Curve, fit: Curve, ceilings: Sequence[Ceiling]) -> Table:
    rows: list[tuple[Cell, ...]] = [(a.layer, _cell(a), _cell(b)) for a, b in zip(rho.values, fit.values, strict=True)]
    columns = (
        Column("Layer", INTEGER),
        Column("rho [95 % CI]", BOUNDED, "right"),
        Column("R² [95 % CI]", BOUNDED, "right"),
    )
    notes = ["rho is negative: a larger distance goes with less relatedness."]
    notes += [f"{c.name}: {short(c.value)}{between(c.interval)}, n = {c.n} {c.unit}." for c in ceilings]
    return Table("ratings_by_layer", "2", title, columns, tuple(rows), tuple(notes))


def _cell(entry: CurvePoint) -> Cell:
    return Missing(entry.remark) if entry.value is None else in_cell(entry.value, entry.interval)


def _figure(subject: str, fit: Curve) -> Figure:
    heading = Heading("r_squared_by_layer", "2", "Share of the variance of people's mean ratings, by layer.")
    curve = trajectory_of(fit.about(subject=subject))
    return trajectories([curve], heading, statistic="R²", interval="95 % CI, words resampled")


def _layer_records(curve: Curve, where: dict[str, Any], subject: str, view: str) -> list[Record]:
    records = []
    for entry in curve.values:
        low, high = bounds(entry.interval)
        records.append(
            Record(
                curve.statistic,
                entry.value,
                subject=subject,
                layer=entry.layer,
                view=view,
                low=low,
                high=high,
                interval="" if entry.interval is None else entry.interval.method,
                n=curve.n,
                status="undefined" if entry.value is None else "",
                note=entry.remark,
                **where,
            )
        )
    return records


def _ceiling_record(ceiling: Ceiling, where: dict[str, Any]) -> Record:
    low, high = bounds(ceiling.interval)
    method = ceiling.interval.method
    return Record(
        ceiling.name,
        ceiling.value,
        subject="people",
        low=low,
        high=high,
        interval=method,
        n=ceiling.n,
        condition=ceiling.unit,
        note=ceiling.definition,
        **where,
    )
