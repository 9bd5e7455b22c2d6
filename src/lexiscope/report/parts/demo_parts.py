"""The two parts of the demo: does the model keep senses apart, and does it agree with people?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.analysis.agreement.ceilings import Ceiling, leave_one_out_rho, mean_squared_rho, squared_mean_rho
from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.layers.by_condition import ConditionLayers, distance_by_condition
from lexiscope.analysis.layers.layers import r_squared_by_layer, rho_by_layer, values_by_layer
from lexiscope.analysis.layers.separation import sense_separation
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.item import SAME_SENSE, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Curve, CurvePoint, Estimate, Interval, Record
from lexiscope.report.document import Section
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.layers import distance_by_layer, trajectories
from lexiscope.report.presenting import trajectory_of
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, Column, Format, Missing, Table
from lexiscope.report.tables import IntervalCell as Range

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class DemoPart:
    """One part of the demo: its section of the report, its records, and what to say about it in a line or two."""

    section: Section
    records: tuple[Record, ...]
    words: tuple[str, ...]

    @property
    def table(self) -> Table:
        """The part's table."""
        return self.section.tables[0]


def in_cell(value: float, interval: Interval | None) -> Range | float:
    """Return a value with its interval as one cell of a table; the value alone where there is no interval."""
    if interval is None or not interval.is_defined:
        return value
    return Range(interval.low, interval.high, value)


def bounds(interval: Interval | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval for a record; nothing where it has none."""
    return (interval.low, interval.high) if interval is not None and interval.is_defined else (None, None)


def short(value: float | None) -> str:
    """Return a bounded number as the report prints it.

    >>> short(-0.6116), short(0.7306), short(None)
    ('−.61', '.73', 'undefined')
    """
    if value is None:
        return "undefined"
    return f"{value:.2f}".replace("-", "−").replace("0.", ".", 1)


def between(interval: Interval | None) -> str:
    """Return an interval in brackets, or nothing where it has no ends."""
    low, high = bounds(interval)
    return "" if low is None or high is None else f" [{short(low)}, {short(high)}]"


# -- pairs that nobody has rated: does the model keep senses apart? ---

SAME, DIFFERENT = "same sense", "different senses"
_DISTANCE = Format("number", 3)


def without_ratings(items: Sequence[Item], answers: ResponseTable, *, seed: int = 0) -> DemoPart:
    """Compare the mean distance of same-sense and different-sense pairs, layer by layer.

    *answers* hold the cosine distances of one subject in one view. Intervals resample words.
    Errors: :class:`StatisticError` where all pairs are of one kind.
    """
    subject, view = str(answers.column("subject_id")[0]), str(answers.column("view")[0])
    layers, distance = values_by_layer(answers.where(measure="cosine_distance"), [item.item_id for item in items])
    same = np.array([bool(item.condition(SAME_SENSE)) for item in items])
    words = [item.word for item in items]
    kinds = np.where(same, SAME, DIFFERENT).tolist()
    means = distance_by_condition(distance, kinds, groups=words, resamples=RESAMPLES, seed=seed)
    means = tuple(sorted(means, key=lambda found: found.condition != SAME))
    found = [sense_separation(column, same, groups=words, resamples=RESAMPLES, seed=seed) for column in distance.T]
    best = int(np.argmax([estimate.value for estimate in found]))
    said = (
        f"{subject} keeps the senses apart best at layer {layers[best]}: a pair of different senses lies further apart "
        f"than a pair of the same sense in {short(found[best].value)}{between(found[best].interval)} of the "
        f"comparisons (chance .50; {len(items)} pairs, {len(set(words))} nouns).",
    )
    text = (
        f"The model read {len(items)} pairs of sentences that share an ambiguous noun; one word of the sentence "
        "decides which sense is meant. Nobody has rated these pairs. The best layer is chosen on these pairs, so its "
        "value is somewhat too good.",
        *said,
    )
    records = tuple(_separation_records(items[0].dataset, subject, view, layers, means, found))
    table = _separation_table(subject, layers, means, found)
    heading = Heading("distance_by_layer", "1", "Cosine distance of pairs by layer and sense relation.")
    curves = [DrawnCurve.of_condition(subject, layers, entry) for entry in means]
    figure = distance_by_layer(curves, heading, order=(SAME, DIFFERENT))
    return DemoPart(Section("senses", "Does the model keep senses apart?", text, (table,), (figure,)), records, said)


def _separation_table(
    subject: str, layers: Sequence[int], means: Sequence[ConditionLayers], found: Sequence[Estimate]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for column, layer in enumerate(layers):
        middle = [float(entry.mean[column]) for entry in means]
        rows.append((layer, *middle, in_cell(found[column].value, found[column].interval)))
    columns = (
        Column("Layer", INTEGER),
        *(Column(entry.condition.capitalize(), _DISTANCE) for entry in means),
        Column("Separation [95 % CI]", BOUNDED, "right"),
    )
    pairs = " and ".join(f"{entry.n} pairs of {entry.condition}" for entry in means)
    notes = (
        f"Mean cosine distance of {pairs}.",
        "Separation: how often different senses lie further apart (chance .50).",
    )
    return Table("senses_by_layer", "1", f"Distance by sense relation, {subject}", columns, tuple(rows), notes)


def _separation_records(
    dataset: str,
    subject: str,
    view: str,
    layers: Sequence[int],
    means: Sequence[ConditionLayers],
    found: Sequence[Estimate],
) -> list[Record]:
    records = []
    for column, layer in enumerate(layers):
        where = {"subject": subject, "dataset": dataset, "layer": layer, "view": view, "analysis": "exploratory"}
        low, high = bounds(found[column].interval)
        method = found[column].interval.method
        value = found[column].value
        records.append(
            Record(found[column].name, value, low=low, high=high, interval=method, n=found[column].n, **where)  # type: ignore[arg-type]
        )
        for entry in means:
            low, high = bounds(entry.intervals[column])
            records.append(
                Record(
                    "mean_cosine_distance",
                    float(entry.mean[column]),
                    low=low,
                    high=high,
                    interval=entry.intervals[column].method,
                    n=entry.n,
                    condition=entry.condition,
                    **where,  # type: ignore[arg-type]
                )
            )
    return records


# -- rated pairs: does the model agree with people? ---


def against_people(
    items: Sequence[Item], answers: ResponseTable, people: ResponseTable, *, title: str, seed: int = 0
) -> DemoPart:
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
    said = _agreement_words(subject, rho, fit, ceilings, len(rated))
    where = {"dataset": items[0].dataset, "analysis": "exploratory"}
    records = [*_curve_records(rho, where, subject, view), *_curve_records(fit, where, subject, view)]
    records += [_ceiling_record(ceiling, where) for ceiling in ceilings]
    table = _agreement_table(f"{subject} and people, {title}", rho, fit, ceilings)
    section = Section("people", "Does the model agree with people?", said, (table,), (_variance_figure(subject, fit),))
    return DemoPart(section, tuple(records), said)


def _ceilings(ratings: Ratings, seed: int) -> tuple[Ceiling, ...]:
    agreement = leave_one_out(ratings, resamples=RESAMPLES, seed=seed)
    squares = mean_squared_rho(agreement, resamples=RESAMPLES, seed=seed)
    return leave_one_out_rho(agreement), squared_mean_rho(agreement), squares


def _agreement_words(subject: str, rho: Curve, fit: Curve, ceilings: Sequence[Ceiling], n: int) -> tuple[str, ...]:
    best, explained, person = rho.best_value(), fit.best_value(), ceilings[0]
    return (
        f"{subject} at its best layer, {best.layer}: rho {short(best.value)}{between(best.interval)} with people's "
        f"mean ratings; R² {short(explained.value)}{between(explained.interval)} at layer {explained.layer} "
        f"({n} pairs, {rho.n_groups} words). The layer is chosen on the same pairs.",
        f"One person against the others: rho {short(person.value)}{between(person.interval)} "
        f"(leave-one-out, {person.n} people).",
    )


def _agreement_table(title: str, rho: Curve, fit: Curve, ceilings: Sequence[Ceiling]) -> Table:
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


def _variance_figure(subject: str, fit: Curve) -> Figure:
    heading = Heading("r_squared_by_layer", "2", "Share of the variance of people's mean ratings, by layer.")
    curve = trajectory_of(fit.about(subject=subject))
    return trajectories([curve], heading, statistic="R²", interval="95 % CI, words resampled")


def _curve_records(curve: Curve, where: dict[str, Any], subject: str, view: str) -> list[Record]:
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
