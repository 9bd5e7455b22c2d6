"""The demo's first part: does the model keep senses apart, on items that nobody has rated?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexiscope.analysis.layers.by_condition import ConditionLayers, distance_by_condition
from lexiscope.analysis.layers.layers import values_by_layer
from lexiscope.analysis.layers.separation import sense_separation
from lexiscope.cli.demo_part import RESAMPLES, Part, between, bounds, in_cell, short
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record
from lexiscope.report.document import Section
from lexiscope.report.figures import Heading
from lexiscope.report.plots.curves import LayerMeans
from lexiscope.report.plots.layers import distance_by_layer
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, Column, Format, Table

SAME, DIFFERENT = "same sense", "different senses"
_DISTANCE = Format("number", 3)


def without_ratings(items: Sequence[Item], answers: ResponseTable, *, seed: int = 0) -> Part:
    """Compare the mean distance of same-sense and different-sense pairs, layer by layer.

    *answers* hold the cosine distances of one subject in one view. Intervals resample words.
    Errors: :class:`StatisticError` where all pairs are of one kind.
    """
    subject, view = str(answers.column("subject_id")[0]), str(answers.column("view")[0])
    layers, distance = values_by_layer(answers.where(measure="cosine_distance"), [item.item_id for item in items])
    same = np.array([bool(item.condition("same_sense")) for item in items])
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
    records = tuple(_records(items[0].dataset, subject, view, layers, means, found))
    table = _table(subject, layers, means, found)
    heading = Heading("distance_by_layer", "1", "Cosine distance of pairs by layer and sense relation.")
    curves = [LayerMeans.of(subject, layers, entry) for entry in means]
    figure = distance_by_layer(curves, heading, order=(SAME, DIFFERENT))
    return Part(Section("senses", "Does the model keep senses apart?", text, (table,), (figure,)), records, said)


def _table(subject: str, layers: Sequence[int], means: Sequence[ConditionLayers], found: Sequence[Estimate]) -> Table:
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


def _records(
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
