"""What the study works on: sets of pairs, subjects with induced senses, their answers, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.dataset import DatasetCard
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.simulated import SIMULATED
from lexiscope.core.subject import ChoosesSense, Subject
from lexiscope.items.induced_senses import InducedSenses
from lexiscope.items.known_words import KnowsWords
from lexiscope.resources.sense_vectors import SenseVectors
from lexiscope.tasks.relatedness.by_sense import GivesSenses
from lexiscope.tasks.same_sense.by_sense import CountsSenses

Kind = Literal["similarity", "same_sense"]
MADE_UP = "made_up"
"""The value of the setting ``planted`` that asks for text made by rule, and the folder in which vectors of it lie."""


class HasSenses(Subject, ChoosesSense, KnowsWords, CountsSenses, GivesSenses, Protocol):
    """A subject with induced senses (``gasi``, ``sense_embedding``): what the study asks of it."""


@runtime_checkable
class ShowsSenses(Protocol):
    """A subject whose senses can be looked at, with their neighbours."""

    @property
    def induced(self) -> InducedSenses:
        """Its senses, row after row."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSet:
    """A set of pairs that every subject answers: rated for similarity, or with a right answer to *same sense?*

    ``ratings`` are people's means of the items, in their order (empty where there are none); ``in_context``: a pair is
    two usages in their contexts, not two words.
    """

    name: str
    title: str
    kind: Kind
    items: tuple[Item, ...]
    ratings: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    in_context: bool = True
    card: DatasetCard | None = None
    responses: ResponseTable = field(default_factory=ResponseTable.empty)
    checksums: tuple[tuple[str, str], ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether the ratings are those of simulated participants."""
        return holds_simulated(self.responses)

    @property
    def words(self) -> NDArray[np.str_]:
        """The word of each pair, of two words the first: what is resampled."""
        return np.array([item.word.casefold() for item in self.items], dtype=str)


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """Usages of pseudo-words whose senses are known, and the subjects that are asked for them.

    ``title`` says where they come from; ``by_rule``: text and vectors were made in this run. ``reference`` are vectors
    with one sense for a word, trained on the text before planting, which say what the senses look like.
    """

    title: str
    items: tuple[Item, ...]
    subjects: tuple[HasSenses, ...]
    by_rule: bool = False
    reference: SenseVectors | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An analysis that is not in the run, of which subject (empty: of all), and why."""

    analysis: str
    subject: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Everything that the analyses read. ``titles`` are short names of the subjects, by their ids."""

    sets: tuple[PairSet, ...]
    subjects: tuple[HasSenses, ...]
    titles: Mapping[str, str]
    responses: ResponseTable
    left_out: tuple[LeftOut, ...] = ()
    planted: Planted | None = None
    people: ResponseTable = field(default_factory=ResponseTable.empty)
    people_items: Mapping[str, Item] = field(default_factory=dict)

    @property
    def checksums(self) -> dict[str, str]:
        """The checksums of all files that were read, by name."""
        return {path: digest for each in self.sets for path, digest in each.checksums}

    @property
    def simulated(self) -> tuple[ResponseTable, ...]:
        """The answers of simulated participants: ratings of pairs, and answers to the tests of senses."""
        rated = [each.responses.where(subject_kind=SIMULATED) for each in self.sets if each.simulated]
        return (*rated, *((self.people,) if holds_simulated(self.people) else ()))

    @property
    def all_simulated(self) -> bool:
        """Whether nobody but simulated participants rated pairs or answered the tests."""
        real = [each for each in self.of_kind("similarity") if not each.simulated]
        return bool(self.simulated) and not real and (not len(self.people) or holds_simulated(self.people))

    def of_kind(self, kind: Kind) -> tuple[PairSet, ...]:
        """Return the sets of one kind, in order."""
        return tuple(each for each in self.sets if each.kind == kind)

    def title_of(self, subject_id: str) -> str:
        """Return the short name of a subject; its id where it has none."""
        return self.titles.get(subject_id, subject_id)
