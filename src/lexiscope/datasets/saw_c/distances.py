"""Reading what the encoders answered: distances by layer, and how many tokens they made of each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.datasets.saw_c.cells import LEADING_SPACE, MODEL_COLUMNS, TOKEN_COLUMNS
from lexiscope.datasets.saw_c.models import WITH_STOP, WITHOUT_STOP
from lexiscope.datasets.saw_c.people import pair_index
from lexiscope.resources.tables.delimited import DelimitedTable, Integers, read_csv

_SLACK = 1e-6


def read_distances(path: Path, items: Sequence[Item], *, facts: SubjectFacts, view: str) -> ResponseTable:
    """Read one model's released distances, and its token counts once per pair (of first sentences in view ``full``).

    *Unit:* cosine distance (1 - cosine); tokens of a sentence, special tokens included. *Higher means:* less related.
    Errors: :class:`InputError` with file and line: an unknown pair, a cell that contradicts its pair, a distance that
    is no finite number from 0 to 2, a layer of a pair that is missing or stands twice, a model of another size.
    """
    table = read_csv(path, MODEL_COLUMNS)
    rows = table.join(["Sentence_1", "Sentence_2"], pair_index(items, "." if view == WITH_STOP else ""))
    layers, distances = table.integers("Layer"), table.floats("Distance")
    for row in np.flatnonzero((distances < -_SLACK) | (distances > 2 + _SLACK)):
        table.refuse(int(row), "Distance", "a cosine distance from 0 to 2 is needed here")
    _check_cells(table, rows, items, facts)
    _check_grid(table, layers, facts, len(items))
    ids = [item.item_id for item in items]
    columns = {"item_id": [ids[n] for n in rows.tolist()], "value": distances, "layer": layers}
    answers = ResponseTable.from_columns(_model(facts.subject_id, view, "cosine_distance") | columns)
    # the published files without final stop repeat the count of the first sentence for the second: not a count of it
    counted = (1, 2) if view == WITH_STOP else (1,)
    counts = [_constant_counts(table, rows, f"S{n}_ntokens", len(items)) for n in counted]
    return ResponseTable.concat([answers, *_counts(items, facts.subject_id, view, counts)])


def read_tokens(path: Path, items: Sequence[Item], models: Sequence[str]) -> ResponseTable:
    """Read the token counts without final stop, and the tokens of each target alone (view ``word``).

    The file has no key: within each model its rows stand in the order of the pairs, and every word is checked.
    Errors: :class:`InputError` with file and line where the words do not follow that order.
    """
    table = read_csv(path, TOKEN_COLUMNS)
    _check_token_rows(table, items)
    counts = [table.integers(f"Num_tokens_s{n}") for n in (1, 2)]
    targets = [_number_of_tokens(table, row) for row in range(len(table))]
    found = []
    for start in range(0, len(table), len(items)):
        name, part = table["Model"][start], slice(start, start + len(items))
        if name in models:
            found += _counts(items, name, WITHOUT_STOP, [column[part] for column in counts])
            columns = {"item_id": [i.item_id for i in items], "value": np.array(targets[part], float)}
            columns["raw"] = list(table["Target_tokens"][part])
            found.append(ResponseTable.from_columns(_model(name, "word", "target_tokens") | columns))
    return ResponseTable.concat(found)


def _model(name: str, view: str, measure: str) -> dict[str, Any]:
    return {"subject_id": name, "subject_kind": "encoder", "task": "relatedness", "measure": measure, "view": view}


def _counts(items: Sequence[Item], name: str, view: str, counts: Sequence[Integers]) -> list[ResponseTable]:
    ids = [item.item_id for item in items]
    return [
        ResponseTable.from_columns(
            _model(name, view, f"n_tokens_{n}") | {"item_id": ids, "value": column.astype(float)}
        )
        for n, column in enumerate(counts, start=1)
    ]


def _check_cells(table: DelimitedTable, rows: Integers, items: Sequence[Item], facts: SubjectFacts) -> None:
    words, senses = [item.word for item in items], [str(item.conditions["same_sense"]) for item in items]
    table.expect("Word", [words[n] for n in rows.tolist()])
    table.expect("Same_sense", [senses[n] for n in rows.tolist()])
    table.expect("n_params", [str(facts.n_parameters)] * len(table))
    differences = np.abs(table.integers("S1_ntokens") - table.integers("S2_ntokens"))
    table.expect("token_diffs", [str(n) for n in differences.tolist()])


def _check_grid(table: DelimitedTable, layers: Integers, facts: SubjectFacts, n_items: int) -> None:
    n_layers = (facts.n_layers or 0) + 1
    for row in np.flatnonzero((layers < 0) | (layers >= n_layers)):
        table.refuse(int(row), "Layer", f"a layer from 0 to {n_layers - 1} is needed here")
    table.distinct("Sentence_1", "Sentence_2", "Layer")
    # known pairs, known layers, none twice: the number of rows says whether one is missing
    table.expect_length(n_layers * n_items, f"{n_layers} layers x {n_items} pairs")


def _constant_counts(table: DelimitedTable, rows: Integers, name: str, n_items: int) -> Integers:
    counts, found = table.integers(name), np.full(n_items, -1, dtype=np.int64)
    # backwards, so that the first layer of a pair is what later ones are compared with
    found[rows[::-1]] = counts[::-1]
    for row in np.flatnonzero(found[rows] != counts):
        table.refuse(int(row), name, "the same number of tokens at every layer is needed here")
    return found


def _check_token_rows(table: DelimitedTable, items: Sequence[Item]) -> None:
    models = list(dict.fromkeys(table["Model"]))
    table.expect_length(len(models) * len(items), f"{len(models)} models x {len(items)} pairs")
    table.expect("Model", [name for name in models for _ in items])
    spaces = {name: " " if name in LEADING_SPACE else "" for name in models}
    table.expect("Word", [spaces[name] + item.word for name in models for item in items])


def _number_of_tokens(table: DelimitedTable, row: int) -> int:
    cell = table["Target_tokens"][row]
    numbers = cell[1:-1].split(", ")
    if cell[:1] + cell[-1:] != "[]" or not all(number.isdecimal() for number in numbers):
        table.refuse(row, "Target_tokens", "a list of token numbers in square brackets is needed here")
    return len(numbers)
