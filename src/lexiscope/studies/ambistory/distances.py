"""A baseline that reads no question: how near the meaning's text lies to the story's, at every layer of an encoder."""

from __future__ import annotations

from lexiscope.analysis.predictions import rho_with_means
from lexiscope.core.result import Record
from lexiscope.report.part import Part, shown
from lexiscope.report.tables import INTEGER, Column, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.ambistory.data import AmbistoryData
from lexiscope.studies.ambistory.models import few
from lexiscope.studies.ambistory.numbers import THREE, estimated

MEASURE = "cosine_distance"
NEARNESS = "nearness_spearman"


def distances(run: AmbistoryData) -> Part:
    """Return how every encoder's nearness of story and meaning goes with people's mean ratings, layer by layer."""
    answered = run.responses.where(measure=MEASURE)
    ratings = run.judged
    if not len(answered) or ratings is None:
        return Part()
    args = few(run, ratings)
    known = set(ratings.item_ids)
    records: list[Record] = []
    for subject in map(str, answered.unique("subject_id")):
        own = answered.where(subject_id=subject)
        for layer in sorted({int(each) for each in own.column("layer").tolist()}):
            rows = own.where(layer=layer)
            pairs = zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True)
            near = {str(item): -float(value) for item, value in pairs if item in known}
            about = {"subject": subject, "condition": run.split, "layer": layer}
            records.append(estimated(run, NEARNESS, rho_with_means(near, ratings, **args), **about))
    return Part(tuple(records), (_table(run, records),))


def _table(run: AmbistoryData, records: list[Record]) -> Table:
    columns = (
        Column("Subject"),
        Column("Layer", INTEGER, note="0: embeddings."),
        Column("ρ of nearness with the mean", THREE),
    )
    rows: list[tuple[TableCell, ...]] = [(each.subject, each.layer, shown(each)) for each in records]
    notes = (
        f"Nearness: minus the cosine distance of the mean vectors of the story and of the meaning's text. Samples of: "
        f"{run.split}. 95 % interval, words resampled.",
        "No question is asked and no rating given: there is no accuracy within SD. To name the best layer is to choose "
        "it on the samples that are judged.",
    )
    return Table("nearness_by_layer", "", "Nearness of story and meaning, by layer", columns, tuple(rows), notes)
