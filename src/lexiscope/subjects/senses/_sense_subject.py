"""Sense vectors as a subject: what the vectors themselves answer, for any choice of senses and any storage."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, Place, SubjectError
from lexiscope.core.subject import Floats, Progress, copy_with_seed
from lexiscope.core.usage import Usage
from lexiscope.resources.corpora.running_text import number_of, numbers_in
from lexiscope.resources.vectors.sense_vectors import SenseVectors, read_sense_vectors, read_settings
from lexiscope.senses.induced_senses import InducedSenses, senses_of_folder

SENSE_TASKS = catalog.TasksThat(capability="ChoosesSense")
"""It has vectors of words: a question about a whole text (plausibility) is none for it."""
USAGE_CLUSTERS = "usage_clusters"
"""The variant of senses that were made of an encoder's vectors of usages."""


class SenseSubject(ABC):
    """Vectors with several senses for a word, of which the words around a target choose one.

    *name* says which they are, *called* is the subject's id where it is not its kind and that. ``window`` is the most
    known words on each side that choose.
    """

    kind = ""

    def __init__(self, name: str, *, called: str = "") -> None:
        self.name, self.called = name, called
        # its senses do not depend on it; a task draws with it what they cannot decide
        self.seed = 0

    @property
    @abstractmethod
    def window(self) -> int:
        """The most words on each side that choose the sense."""

    @property
    @abstractmethod
    def induced(self) -> InducedSenses:
        """Its senses, row after row, with their neighbours. Errors: those of damaged files."""

    @abstractmethod
    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        """Return the probability of each sense of each usage; 0 for a sense that the word has not.

        *Shape: (usages, K)*, K the most senses of a word.
        Errors: :class:`InputError` E712 for a target out of the vocabulary; those of :attr:`induced`.
        """

    def with_seed(self, seed: int) -> Self:
        """Return the same vectors in a run with this seed; themselves where they have that seed."""
        return copy_with_seed(self, seed)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are asked about words."""
        return SENSE_TASKS()

    @property
    def subject_id(self) -> str:
        """Its spec, or what it is called."""
        return self.called or f"{self.kind}:{self.name}"

    @property
    def layers(self) -> tuple[int, ...]:
        """One layer: static vectors, of which the context chooses one."""
        return (0,)

    def knows(self, usage: Usage) -> bool:
        """Return whether the target of a usage is in the vocabulary."""
        return number_of(usage.target, self.induced.index) >= 0

    def sense_count(self, usage: Usage) -> int:
        """Return the number of senses of the target, however improbable; 0 where it is not in the vocabulary."""
        return len(self._rows(self._number(usage))) if self.knows(usage) else 0

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        """Return the vector of the most probable sense of each usage, the first of equals.

        *Shape: (usages, 1, width)*. Looking up is so fast that nothing is kept in *work*.
        Errors: those of :meth:`sense_distribution`.
        """
        chosen = self.sense_distribution(usages).argmax(axis=1)
        rows = [self._compared(self._number(usage))[k] for usage, k in zip(usages, chosen, strict=True)]
        if progress is not None:
            progress(len(usages), len(usages))
        return np.array(rows, np.float32).reshape(len(rows), 1, self.induced.matrix.shape[1])

    def senses_of(self, usages: Sequence[Usage]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the vectors of all senses of each target, independent of its context, and which of them are there.

        *Shape: (usages, K, width)* and *(usages, K)*, K the most senses of a word; a target out of the vocabulary has
        none, and zeros. Errors: those of :attr:`induced`.
        """
        vectors = np.zeros((len(usages), self.induced.most, self.induced.matrix.shape[1]), np.float32)
        there = np.zeros(vectors.shape[:2], np.bool_)
        for row, usage in enumerate(usages):
            if self.knows(usage):
                number = self._number(usage)
                vectors[row], there[row, self.induced.numbers[self._rows(number)]] = self._compared(number), True
        return vectors, there

    def tokens(self, text: str) -> list[tuple[int, int, int]]:
        """Return the words of a text: number in the vocabulary, −1 for a word out of it, and half-open offsets."""
        return numbers_in(text, self.induced.index)

    def context(self, usage: Usage) -> NDArray[np.int64]:
        """Return the numbers of the known words in the window of a usage, left to right: they choose its sense."""
        known = [token for token in self.tokens(usage.text) if token[0] >= 0]
        left = [number for number, _, end in known if end <= usage.start]
        right = [number for number, start, _ in known if start >= usage.end]
        return np.array([*left[max(0, len(left) - self.window) :], *right[: self.window]], np.int64)

    def _rows(self, number: int) -> range:
        """Return the senses of a word, as row numbers of :attr:`induced`."""
        return range(int(self.induced.starts[number]), int(self.induced.starts[number + 1]))

    def _compared(self, number: int) -> Floats:
        """Return the vectors of a word that are compared with those of others. *Shape: (K, width)*."""
        vectors = np.zeros((self.induced.most, self.induced.matrix.shape[1]), np.float32)
        vectors[self.induced.numbers[self._rows(number)]] = self.induced.vectors(self._rows(number))
        return vectors

    def _number(self, usage: Usage) -> int:
        number = number_of(usage.target, self.induced.index)
        if number < 0:
            what = f"{usage.target!r} is not among the {len(self.induced.words):,} words of these vectors"
            place = Place(text=usage.text, column=usage.start + 1, width=usage.end - usage.start)
            hint = "leave usages out for which knows() is false, and say how many"
            raise InputError(what, code="E712", place=place, hint=hint)
        return number


class SenseFolder(SenseSubject):
    """Sense vectors of a folder, *name*."""

    learnt_by = ""

    def __init__(self, name: str, *, called: str = "") -> None:
        super().__init__(name, called=called)
        self.folder = Path(name).expanduser()

    @cached_property
    def about(self) -> dict[str, Any]:
        """The record of its training.

        Errors: :class:`SubjectError` E711 where the folder holds none, or one of another kind of subject.
        """
        about = read_settings(self.folder)
        kind = USAGE_CLUSTERS if about.get("settings", {}).get("variant") == USAGE_CLUSTERS else "gasi"
        if kind != self.kind:
            hint = f"write {kind}:{self.name}"
            raise SubjectError("senses of another kind", code="E711", place=Place(str(self.folder)), hint=hint)
        return about

    @cached_property
    def vectors(self) -> SenseVectors:
        """The vectors, mapped from disk. Errors: :class:`SubjectError` E711 for a damaged file."""
        return read_sense_vectors(self.folder)

    @cached_property
    def induced(self) -> InducedSenses:
        """Its senses, row after row, with their neighbours. Errors: those of :attr:`vectors`."""
        return senses_of_folder(self.vectors)

    @property
    def facts(self) -> SubjectFacts:
        """What the record of its training says. Errors: :class:`SubjectError` E711 where the folder holds none."""
        shape = self.about["shape"]
        if len(shape) != 3:
            what = f"this record is of vectors of the shape {shape}, not of words, senses and numbers"
            raise SubjectError(what, code="E711", place=Place(str(self.folder)))
        n_words, n_senses, width = shape
        variant = self.about.get("settings", {}).get("variant", "sense vectors")
        revision = hashlib.sha256(json.dumps(self.about["files"], sort_keys=True).encode()).hexdigest()
        return SubjectFacts(
            subject_id=self.subject_id,
            title=f"{variant}, {self.about['n_senses']:,} senses of {n_words:,} words",
            kind=self.kind,
            objective=f"{variant}, {self.learnt_by}",
            n_layers=0,
            width=width,
            n_parameters=(n_senses + 1) * n_words * width,
            revision=revision,
            source=str(self.folder),
        )
