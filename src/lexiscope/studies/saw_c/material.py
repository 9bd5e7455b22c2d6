"""What the study works on: items, ratings and norms of people, and one matrix of distances per subject and view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.analysis.exclusion import ExclusionResult
from lexiscope.analysis.norms import Norms, norms
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.simulated import PARTICIPANT, SIMULATED

Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

MEASURE = "cosine_distance"


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """The cosine distances of one subject in one view.

    *Shape:* ``matrix`` (items, layers), in the order of the material's items; ``layers`` their numbers, or ``None``
    for a subject that was released without layers. *Higher means:* less related.
    """

    subject: str
    view: str
    layers: tuple[int, ...] | None
    matrix: Floats
    facts: SubjectFacts

    @property
    def n_layers(self) -> int:
        """How many columns there are."""
        return int(self.matrix.shape[1])

    def column_of(self, layer: int | None) -> Floats:
        """Return the distances at one layer (``None`` for the only one there is)."""
        if layer is None or self.layers is None:
            return np.asarray(self.matrix[:, -1])
        return np.asarray(self.matrix[:, self.layers.index(layer)])

    @property
    def last_layer(self) -> int | None:
        """The number of the last layer, ``None`` without layers."""
        return None if self.layers is None else self.layers[-1]


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Everything that the analyses see.

    ``rated`` says which items have a norm; ``norm`` is their mean rating (NaN elsewhere). ``same`` is missing where the
    items carry no sense. ``live`` are the
    subjects that answered in this run, ``live_facts`` what is known of them. Arrays are in the order of ``items``.
    """

    name: str
    card: DatasetCard | None
    items: tuple[Item, ...]
    responses: ResponseTable
    ratings: Ratings | None
    norms: Norms | None
    norm: Floats
    rated: Flags
    same: Flags | None
    words: tuple[str, ...]
    distances: tuple[Distances, ...]
    exclusion: ExclusionResult | None
    checksums: tuple[tuple[str, str], ...]
    live: frozenset[str] = frozenset()
    live_facts: tuple[SubjectFacts, ...] = ()

    @property
    def views(self) -> tuple[str, ...]:
        """The views that there are distances in, the main one first."""
        return tuple(dict.fromkeys(distances.view for distances in self.distances))

    @property
    def rated_words(self) -> tuple[str, ...]:
        """The words of the items that have a norm."""
        return tuple(word for word, rated in zip(self.words, self.rated.tolist(), strict=True) if rated)

    def of_view(self, view: str) -> tuple[Distances, ...]:
        """Return the subjects' distances in one view."""
        return tuple(distances for distances in self.distances if distances.view == view)

    def require_ratings(self) -> Ratings:
        """Return the ratings of people.

        Errors: :class:`InputError` where there are none.
        """
        if self.ratings is None:
            raise InputError(f"{self.name} has no human ratings", hint="add ratings, or drop the analyses of people")
        return self.ratings


def material(
    name: str,
    items: Sequence[Item],
    responses: ResponseTable,
    facts: Mapping[str, SubjectFacts],
    *,
    views: Sequence[str],
    card: DatasetCard | None = None,
    exclusion: ExclusionResult | None = None,
    checksums: tuple[tuple[str, str], ...] = (),
    live: frozenset[str] = frozenset(),
) -> Material:
    """Arrange items and responses for the analyses; every subject must have answered every item at every layer."""
    kind = SIMULATED if holds_simulated(responses) else PARTICIPANT
    human = responses.where(subject_kind=kind, measure="rating")
    ratings = Ratings.from_table(human) if len(human) else None
    found = norms(ratings) if ratings is not None and ratings.n_items else None
    norm = _aligned(items, found) if found is not None else _given_norms(items, responses)
    return Material(
        name=name,
        card=card,
        items=tuple(items),
        responses=responses,
        ratings=ratings,
        norms=found,
        norm=norm,
        rated=~np.isnan(norm),
        same=_same_sense(items),
        words=tuple(item.word for item in items),
        distances=_all_distances(items, responses, facts, views),
        exclusion=exclusion,
        checksums=checksums,
        live=live,
        live_facts=tuple(facts[subject] for subject in sorted(live) if subject in facts),
    )


def _given_norms(items: Sequence[Item], responses: ResponseTable) -> Floats:
    """Norms that came as means, without the single ratings behind them."""
    table = responses.where(measure="norm")
    given = dict(zip(table.column("item_id").tolist(), table.column("value").tolist(), strict=True))
    return np.array([given.get(item.item_id, np.nan) for item in items])


def _aligned(items: Sequence[Item], found: Norms) -> Floats:
    means = dict(zip(found.item_ids, found.mean.tolist(), strict=True))
    return np.array([means.get(item.item_id, np.nan) for item in items])


def _same_sense(items: Sequence[Item]) -> Flags | None:
    if not all("same_sense" in item.conditions for item in items):
        return None
    return np.array([bool(item.conditions["same_sense"]) for item in items])


def _all_distances(
    items: Sequence[Item], responses: ResponseTable, facts: Mapping[str, SubjectFacts], views: Sequence[str]
) -> tuple[Distances, ...]:
    table = responses.where(measure=MEASURE, view=tuple(views))
    rows = {item.item_id: row for row, item in enumerate(items)}
    found = []
    for view in views:
        seen = table.where(view=view)
        for subject in seen.unique("subject_id"):
            known = facts.get(subject, SubjectFacts(subject))
            found.append(_distances(subject, view, seen.where(subject_id=subject), rows, known))
    return tuple(found)


def _distances(
    subject: str, view: str, table: ResponseTable, rows: Mapping[str, int], facts: SubjectFacts
) -> Distances:
    codes, item_ids = table.codes("item_id")
    unknown = [item_id for item_id in item_ids if item_id not in rows]
    if unknown:
        raise InputError(f"{subject} answered items that are not in the study", why=f"{unknown[:3]} …")
    row = np.array([rows[item_id] for item_id in item_ids])[codes]
    layer = table.column("layer")
    layers = None if np.isnan(layer).all() else np.unique(layer[~np.isnan(layer)]).astype(int)
    column = np.zeros(len(row), dtype=int) if layers is None else np.searchsorted(layers, layer)
    matrix = np.full((len(rows), 1 if layers is None else len(layers)), np.nan)
    matrix[row, column] = table.column("value")
    _check_complete(subject, view, matrix, list(rows))
    return Distances(subject, view, None if layers is None else tuple(layers.tolist()), matrix, facts)


def _check_complete(subject: str, view: str, matrix: Floats, item_ids: Sequence[str]) -> None:
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        raise InputError(
            f"{subject} has no distance for {len(missing)} of {matrix.size} items and layers in the view {view!r}",
            why=f"the first is item {item_ids[int(missing[0][0])]!r}",
            hint="finish the collection of this subject, or leave the subject out",
        )
