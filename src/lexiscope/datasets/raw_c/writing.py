"""Writing RAW-C back as its publisher's files."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.dataset import Dataset
from lexiscope.core.run import write_atomically
from lexiscope.datasets.raw_c.card import DOMINANCE, EXTRACT, NORMS, STIMULI, TRIALS
from lexiscope.datasets.raw_c.cells import (
    DOMINANCE_COLUMNS,
    EXTRACT_COLUMNS,
    MODELS,
    NORM_COLUMNS,
    STIMULUS_COLUMNS,
    TRIAL_COLUMNS,
    item_cells,
    norm_cells,
    stimulus_cells,
)
from lexiscope.resources.tables.delimited import write_rows


def export(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Write the published files below *folder*, in the layout of a data folder, and return their paths.

    All files equal the published ones byte for byte, except ``raw-c_with_dominance.csv``: there the numbers that
    repeat ``raw-c.csv`` are written as that file has them, where the publisher's have rounding noise (at most 1e-15).
    """
    norms = _norm_rows(dataset)
    numbered = [cells | {"Unnamed: 0": str(row)} for row, cells in enumerate(norms)]
    contents = {
        TRIALS.path: _trials(dataset),
        NORMS.path: write_rows(NORM_COLUMNS, [[cells[name] for name in NORM_COLUMNS] for cells in norms]),
        DOMINANCE.path: write_rows(DOMINANCE_COLUMNS, [[c[name] for name in DOMINANCE_COLUMNS] for c in numbered]),
        STIMULI.path: _stimuli(dataset),
        EXTRACT.path: write_rows(EXTRACT_COLUMNS, [[cells[name] for name in EXTRACT_COLUMNS] for cells in norms]),
    }
    for path, content in contents.items():
        write_atomically(folder / path, content)
    return tuple(folder / path for path in contents)


def _trials(dataset: Dataset) -> bytes:
    trials = dataset.responses.where(measure="rating")
    cells = {item.item_id: item_cells(item) for item in dataset.items}
    columns = (trials.column(name).tolist() for name in ("item_id", "subject_id", "value", "raw"))
    rows = []
    for item_id, person, rating, order in zip(*columns, strict=True):
        answer = {"subject": person, "responses": f'{{"Q0":{rating:g}}}', "relatedness": f"{rating:g}"}
        row = cells[item_id] | answer | {"version_with_order": order}
        rows.append([row[name] for name in TRIAL_COLUMNS])
    return write_rows(TRIAL_COLUMNS, rows)


def _norm_rows(dataset: Dataset) -> list[dict[str, str]]:
    trials = dataset.responses.where(measure="rating")
    ratings: dict[str, list[float]] = {}
    for item_id, rating in zip(trials.column("item_id").tolist(), trials.column("value").tolist(), strict=True):
        ratings.setdefault(item_id, []).append(rating)
    distances = _distances(dataset)
    return [item_cells(i) | norm_cells(ratings[i.item_id]) | distances[i.item_id] for i in dataset.items]


def _distances(dataset: Dataset) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {item.item_id: {} for item in dataset.items}
    for name in MODELS:
        table = dataset.responses.where(subject_id=name, measure="cosine_distance")
        for item_id, value in zip(table.column("item_id").tolist(), table.column("value").tolist(), strict=True):
            found[item_id][f"distance_{name}"] = repr(value)
    return found


def _stimuli(dataset: Dataset) -> bytes:
    distances = _distances(dataset)
    rows = {int(i.conditions["stimulus"]): stimulus_cells(i) | distances[i.item_id] for i in dataset.items}
    # a row that was set aside keeps its line, one after its number because of the header
    rows |= {row.line - 1: dict(row.cells) for row in dataset.set_aside}
    ordered = [[cells[name] for name in STIMULUS_COLUMNS] for _, cells in sorted(rows.items())]
    # the published file ends without a line end
    return write_rows(STIMULUS_COLUMNS, ordered, newline="\r\n").removesuffix(b"\r\n")
