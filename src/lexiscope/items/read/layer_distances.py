"""Distances of encoders by layer as their publishers release them: one row per pair and layer, with counts of tokens.

The files of SAW-C and of RAW-C differ in the columns that repeat the pair, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.resources.tables.delimited import DelimitedTable, Integers, read_csv, write_rows

_ANSWER_COLUMNS = ("Distance", "Layer", "S1_ntokens", "S2_ntokens", "token_diffs", "n_params")
_SLACK = 1e-6
"""The largest difference from 1 that rounding may give the cosine of two equal vectors."""


@dataclass(frozen=True, slots=True)
class ReleasedDistances:
    """How the distances of one dataset in one view are released.

    ``cells`` are the columns before the distance, item by item; the first two are the sentences, which together are
    the key of a pair. ``counted`` says of which sentence each of the two columns of token counts is the count.
    """

    items: Sequence[Item]
    view: str
    cells: Mapping[str, Sequence[str]]
    task: str
    counted: tuple[int, int] = (1, 2)

    def read(self, path: Path, facts: SubjectFacts) -> ResponseTable:
        """Read one model's distances, and its token counts once per pair.

        *Unit:* cosine distance (1 - cosine); tokens of a sentence, special tokens included. *Higher means:* less
        related. Errors: :class:`InputError` with file and line: an unknown pair, a cell that contradicts its pair, a
        distance that is no finite number from 0 to 2, a layer of a pair that is missing or comes twice, a model of
        another size.
        """
        names, n_items = list(self.cells), len(self.items)
        table = read_csv(path, (*names, *_ANSWER_COLUMNS))
        keys = zip(*(self.cells[name] for name in names[:2]), strict=True)
        rows = table.join(names[:2], {key: row for row, key in enumerate(keys)})
        layers, distances = table.integers("Layer"), table.floats("Distance")
        for row in np.flatnonzero((distances < -_SLACK) | (distances > 2 + _SLACK)):
            table.refuse(int(row), "Distance", "a cosine distance from 0 to 2 is needed here")
        for name in names[2:]:
            table.expect(name, [self.cells[name][row] for row in rows.tolist()])
        table.expect("n_params", [str(facts.n_parameters)] * len(table))
        differences = np.abs(table.integers("S1_ntokens") - table.integers("S2_ntokens"))
        table.expect("token_diffs", [str(n) for n in differences.tolist()])
        n_layers = (facts.n_layers or 0) + 1
        for row in np.flatnonzero((layers < 0) | (layers >= n_layers)):
            table.refuse(int(row), "Layer", f"a layer from 0 to {n_layers - 1} is needed here")
        table.distinct(*names[:2], "Layer")
        # known pairs, known layers, none twice: the number of rows says whether one is missing
        table.expect_length(n_layers * n_items, f"{n_layers} layers x {n_items} pairs")
        ids = [item.item_id for item in self.items]
        columns = {"item_id": [ids[row] for row in rows.tolist()], "value": distances, "layer": layers}
        answers = encoder_columns(facts.subject_id, self.task, self.view, "cosine_distance") | columns
        counts = [_constant_counts(table, rows, f"S{n}_ntokens", n_items) for n in sorted(set(self.counted))]
        return ResponseTable.concat(
            [
                ResponseTable.from_columns(answers),
                *token_count_tables(self.items, facts.subject_id, self.task, self.view, counts),
            ]
        )

    def written(self, responses: ResponseTable, facts: SubjectFacts) -> bytes:
        """Return one model's distances as the file that they were read from, in the order of the responses."""
        answers = responses.where(subject_id=facts.subject_id, view=self.view)
        distances = answers.where(measure="cosine_distance")
        counts = [answers.where(measure=f"n_tokens_{n}").by_item() for n in self.counted]
        cells = dict(zip((item.item_id for item in self.items), zip(*self.cells.values(), strict=True), strict=True))
        columns = (distances.column(name).tolist() for name in ("item_id", "value", "layer"))
        rows = []
        for item_id, value, layer in zip(*columns, strict=True):
            first, second = (int(count[item_id]) for count in counts)
            numbers = (int(layer), first, second, abs(first - second), facts.n_parameters)
            rows.append([*cells[item_id], repr(value), *map(str, numbers)])
        return write_rows((*self.cells, *_ANSWER_COLUMNS), rows)


def encoder_columns(subject: str, task: str, view: str, measure: str) -> dict[str, Any]:
    """Return the columns that all answers of an encoder in one view have in common, for a table of responses."""
    return {
        "subject_id": subject, "subject_kind": "encoder", "task": task, "measure": measure, "view": view
    }  # fmt: skip


def token_count_tables(
    items: Sequence[Item], subject: str, task: str, view: str, counts: Sequence[Integers]
) -> list[ResponseTable]:
    """Return how many tokens an encoder makes of the first sentence of each pair, and of the second if it is given."""
    ids = [item.item_id for item in items]
    return [
        ResponseTable.from_columns(
            encoder_columns(subject, task, view, f"n_tokens_{n}") | {"item_id": ids, "value": column.astype(float)}
        )
        for n, column in enumerate(counts, start=1)
    ]


def _constant_counts(table: DelimitedTable, rows: Integers, name: str, n_items: int) -> Integers:
    counts, by_item = table.integers(name), np.full(n_items, -1, dtype=np.int64)
    # backwards, so that the first layer of a pair is what later ones are compared with
    by_item[rows[::-1]] = counts[::-1]
    for row in np.flatnonzero(by_item[rows] != counts):
        table.refuse(int(row), name, "the same number of tokens at every layer is needed here")
    return by_item
