"""Distances between the vectors of usages, at every layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Floats, Subject

MEASURE_DISTANCE = "cosine_distance"
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Rows = np.ndarray[Any, np.dtype[np.int64]]


def distance_table(
    subject: Subject, task: str, view: str, items: Sequence[Item], layers: Sequence[int], distances: Doubles
) -> ResponseTable:
    """Return cosine distances as rows, in the order of the items, then of the layers. *Shape:* (items, layers)."""
    return ResponseTable.from_columns(
        {
            "subject_id": subject.subject_id,
            "subject_kind": subject.kind,
            "task": task,
            "view": view,
            "item_id": np.repeat(np.array([item.item_id for item in items], dtype=object), len(layers)),
            "measure": MEASURE_DISTANCE,
            "value": distances.ravel(),
            "layer": np.tile(np.asarray(layers), len(items)),
        }
    )


def cosine_distances(vectors: Floats, left: Rows, right: Rows) -> Doubles:
    """Return 1 − cosine between pairs of rows, at every layer.

    It is computed in double precision as half the squared distance between the vectors scaled to length 1, which
    equals 1 − cosine, is exactly 0 for equal vectors and never below 0.

    *Shape:* vectors (usages, layers, width), left and right (pairs,) → (pairs, layers). *Unit:* 0 to 2.
    *Higher means:* less related. *Source:* SAW-C §4.2.

    Right angle, then the opposite direction:

    >>> vectors = np.array([[[1.0, 0.0]], [[0.0, 2.0]], [[-3.0, 0.0]]], dtype=np.float32)
    >>> cosine_distances(vectors, np.array([0, 0]), np.array([1, 2])).ravel().tolist()
    [1.0, 2.0]
    """
    distances = np.empty((len(left), vectors.shape[1]))
    # layer by layer: the copies in double precision stay small compared with the vectors
    for layer in range(vectors.shape[1]):
        rows = vectors[:, layer].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        difference = rows[left] - rows[right]
        distances[:, layer] = 0.5 * np.einsum("ij,ij->i", difference, difference)
    return distances
