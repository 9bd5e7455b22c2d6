"""The trial table: one row per rating, with the columns that the mixed models and the exported R script name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.studies.saw_c.material import Material

Column = np.ndarray[Any, Any]

SAME, DIFFERENT = "Same Sense", "Different Sense"


def trial_table(material: Material, distances: Mapping[str, tuple[str, int | None]]) -> dict[str, Column]:
    """Return the columns of all ratings.

    ``Response``, ``Participant``, ``Item``, ``Word``, ``Same_sense`` (text, Different Sense is the reference), ``List``
    where the items have lists, every text condition of the items under its own name, and one column of distances per
    entry of *distances* (column name → subject id and layer).
    """
    ratings = material.require_ratings()
    rows = {item.item_id: row for row, item in enumerate(material.items)}
    item_row = np.array([rows[item_id] for item_id in ratings.item_ids])[ratings.item]
    columns: dict[str, Column] = {
        "Response": ratings.value,
        "Participant": np.array(ratings.rater_ids, dtype=object)[ratings.rater],
        "Item": np.array(ratings.item_ids, dtype=object)[ratings.item],
        "Word": np.array(material.words, dtype=object)[item_row],
    }
    for name, values in _item_columns(material).items():
        columns[name] = values[item_row]
    for name, (subject, layer) in distances.items():
        columns[name] = distance_of(material, subject, layer)[item_row]
    return columns


def distance_of(material: Material, subject: str, layer: int | None) -> Column:
    """Return one subject's distances at one layer in the main view, in the order of the items."""
    for distances in material.distances:
        if distances.subject == subject:
            return distances.column_of(layer)
    raise InputError(f"{subject} has no distances in this study")


def _item_columns(material: Material) -> dict[str, Column]:
    items = material.items
    columns: dict[str, Column] = {}
    if material.same is not None:
        columns["Same_sense"] = np.where(material.same, SAME, DIFFERENT).astype(object)
    if all(item.list_id is not None for item in items):
        columns["List"] = np.array([item.list_id for item in items], dtype=object)
    for name in _text_conditions(items):
        columns[name] = np.array([item.conditions[name] for item in items], dtype=object)
    return columns


def _text_conditions(items: Sequence[Item]) -> list[str]:
    first = items[0].conditions
    return [
        name
        for name, value in first.items()
        if isinstance(value, str) and all(isinstance(item.conditions.get(name), str) for item in items)
    ]
