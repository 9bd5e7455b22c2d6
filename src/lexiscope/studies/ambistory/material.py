"""What the study works on: samples with their ratings, and the predictions of every subject for those it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from lexiscope.analysis.predictions import Form, rounded
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.story_effects import StoryPlace, story_places
from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable

Kind = Literal["live", "baseline"]
SPLITS = ("train", "dev", "test")
ALL = "all"


@dataclass(frozen=True, eq=False)
class Predictor:
    """What one subject predicts. ``predictions``: item id → rating, ``None`` where no reply could be read.

    ``form`` is ``integer`` where all are whole numbers. ``n_asked`` counts questions, repetitions included, ``kinds``
    what became of those that have no value (refusal, prose …), ``repeats`` how often each question was asked; the
    prediction is then the mean of the readable answers.
    """

    subject: str
    title: str
    kind: Kind
    predictions: Mapping[str, float | None]
    form: Form
    n_asked: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    repeats: int = 1

    @property
    def n_unreadable(self) -> int:
        """How many questions have no value."""
        return sum(self.kinds.values())

    @property
    def n_items(self) -> int:
        """How many samples it was asked about."""
        return len(self.predictions)

    @property
    def n_read(self) -> int:
        """How many of them have a prediction: at least one readable answer."""
        return sum(value is not None for value in self.predictions.values())

    @property
    def read_of_asked(self) -> str:
        """Both numbers, as tables print them."""
        return f"{self.n_read} / {self.n_items}"

    @cached_property
    def whole(self) -> dict[str, float | None]:
        """The predictions as whole numbers of the scale, halves up; those that are whole stay as they are."""
        if self.form == "integer":
            return dict(self.predictions)
        return {item: None if value is None else float(rounded([value])[0]) for item, value in self.predictions.items()}


@dataclass(frozen=True, eq=False)
class Material:
    """Everything that the analyses see. ``people`` are all ratings (``None`` where nobody rated); ``asked`` the ids of
    the items that live subjects were asked, those of ``split``; ``groups`` the group of each rater.
    """

    name: str
    card: DatasetCard
    items: tuple[Item, ...]
    responses: ResponseTable
    people: Ratings | None
    split: str
    asked: tuple[str, ...]
    predictors: tuple[Predictor, ...] = ()
    facts: Mapping[str, SubjectFacts] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    checksums: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """The items by their ids."""
        return {item.item_id: item for item in self.items}

    @cached_property
    def words(self) -> dict[str, str]:
        """The word form of each item: what intervals of models resample."""
        return {item.item_id: item.word for item in self.items}

    @cached_property
    def setups(self) -> dict[str, str]:
        """The setup of each item: what intervals of agreement resample."""
        return {item.item_id: str(item.condition("setup")) for item in self.items}

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Whether each item's story is open or ended."""
        return {item.item_id: str(item.condition("story_kind")) for item in self.items}

    @cached_property
    def places(self) -> dict[str, StoryPlace]:
        """The place of each item in its setup."""
        return story_places({item.item_id: item.conditions for item in self.items})

    def splits(self) -> tuple[str, ...]:
        """The splits that the items come from, in the usual order; none where they have no split."""
        found = {str(item.conditions.get("split", "")) for item in self.items}
        return tuple(split for split in SPLITS if split in found)

    def ids(self, where: Callable[[Item], bool] | None = None) -> tuple[str, ...]:
        """The ids of the items that a condition holds for, in their order."""
        return tuple(item.item_id for item in self.items if where is None or where(item))

    def in_split(self, split: str) -> tuple[str, ...]:
        """The ids of the items of a split; ``all`` means every item, and so does any split where there are none."""
        if split == ALL or not self.splits():
            return self.ids()
        return self.ids(lambda item: str(item.conditions.get("split", "")) == split)

    def rated(self, items: Sequence[str]) -> Ratings | None:
        """Return the ratings of some items; ``None`` where they have none."""
        return None if self.people is None else subset(self.people, items)

    @cached_property
    def judged(self) -> Ratings | None:
        """The ratings of the items that live subjects were asked."""
        return self.rated(self.asked)


def subset(ratings: Ratings, items: Sequence[str]) -> Ratings | None:
    """Return the ratings of some items alone: no other item, and no rater without a rating, is in it."""
    known = {item: code for code, item in enumerate(ratings.item_ids)}
    wanted = np.zeros(ratings.n_items, dtype=bool)
    wanted[[known[item] for item in items if item in known]] = True
    keep = wanted[ratings.item]
    if not keep.any():
        return None
    raters = [ratings.rater_ids[code] for code in ratings.rater[keep].tolist()]
    return Ratings.from_arrays(
        raters, [ratings.item_ids[code] for code in ratings.item[keep].tolist()], ratings.value[keep]
    )
