"""Induced senses: a folder that `lexiscope train gasi` wrote, as a subject that chooses a sense for a usage.

``gasi:FOLDER`` reads the words around the target, at most as many on each side as the training's window, without those
that it does not know, as in training. The target is where its span says; other occurrences of it are context. Texts are
cut by the ``own`` tokeniser (:mod:`lexiscope.resources.corpora.running_text`), even if the corpus was cut otherwise:
one that was tokenised already should be cut at the same places. A word is looked up as it is written, then in lower
case, then as the tokeniser writes it. The target's own form is looked up, its lemma is not tried. A target out of the
vocabulary, or of several words, is an error; :meth:`Gasi.knows` tells beforehand. Beside no known word all senses of a
word are equally probable.

``gasi:FOLDER?window=50`` reads up to so many words on each side, 1000 at most, instead of the training's.
``gasi:FOLDER?vectors=sum`` adds the word's context vector to each of its sense vectors where vectors are compared
(similarities, distances); the choice of a sense and neighbours stay as they are. Both change the figures of similarity:
see design/0042. With ``&`` between them both are given.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, Place, SpecError, SubjectError
from lexiscope.core.subject import Floats, Progress, SubjectSpec, copy_with_seed
from lexiscope.core.usage import Usage
from lexiscope.resources.corpora.running_text import number_of, numbers_in
from lexiscope.resources.vectors.sense_vectors import (
    SETTINGS,
    SenseVectors,
    read_sense_vectors,
    read_settings,
    sense_probabilities,
    window_probabilities,
)
from lexiscope.senses.induced_senses import InducedSenses, senses_of_folder
from lexiscope.subjects._options import read_options, split_name

CAPABILITIES = ("Embeds", "ChoosesSense")
TASKS = partial(catalog.tasks_where, lambda task: task.asks_of("ChoosesSense"))
"""It has vectors of words: a question about a whole text (plausibility) is none for it."""
_WINDOW, _WIDEST = 5, 1000


@dataclass(frozen=True, slots=True)
class GasiOptions:
    """How a training is asked: words on each side that choose the sense (0: as trained), and what is compared.

    Errors: :class:`SpecError` for a window above 1000.
    """

    window: int = 0
    vectors: Literal["senses", "sum"] = "senses"

    def __post_init__(self) -> None:
        if self.window > _WIDEST:
            raise SpecError(f"a window of {self.window:,} words is too wide", hint=f"use {_WIDEST:,} at most")

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not those of the training."""
        plain = GasiOptions()
        return {name: value for name, value in asdict(self).items() if value != getattr(plain, name)}


def load(spec: SubjectSpec) -> Gasi:
    """Make the subject of a folder. Its vectors are mapped when it is first asked.

    Errors: :class:`SpecError` for a revision, an unknown option, or a value that it does not take.
    """
    name, revision, given = split_name(spec.name)
    if revision:
        raise SpecError(f"{spec.name!r} names no folder of sense vectors", hint="write gasi:FOLDER?window=50")
    options = read_options(GasiOptions, given, of="a training of senses")
    return Gasi(name, called=f"gasi:{spec.name}" if given else "", options=options)


def files_of(spec: SubjectSpec) -> tuple[Path, ...]:
    """Return the files that say which vectors a spec names: the records of the trainings."""
    names = (split_name(SubjectSpec.parse(training).name)[0] for training in trainings_in(spec))
    return tuple(Path(name).expanduser() / SETTINGS for name in names)


def trainings_in(spec: SubjectSpec) -> tuple[str, ...]:
    """Return the specs of the trainings in a folder of trained folders, in the order of their names.

    A spec of a training is itself, as is that of a folder without any. Options are those of each.
    """
    name = split_name(spec.name)[0]
    folder, options = Path(name).expanduser(), spec.name.removeprefix(name)
    inside = sorted(path.parent for path in folder.glob(f"*/{SETTINGS}"))
    several = bool(inside) and not (folder / SETTINGS).is_file()
    return tuple(f"gasi:{path}{options}" for path in inside) if several else (f"gasi:{spec.name}",)


class Gasi:
    """Sense vectors of a folder. *name* is the folder, *called* the subject's id where it is not ``gasi:`` and that."""

    kind = "gasi"

    def __init__(self, name: str, *, called: str = "", options: GasiOptions | None = None) -> None:
        self.name, self.called, self.options = name, called, options or GasiOptions()
        self.folder = Path(name).expanduser()
        # its senses do not depend on it; a task draws with it what they cannot decide
        self.seed = 0

    def with_seed(self, seed: int) -> Gasi:
        """Return the same vectors in a run with this seed; themselves where they have that seed."""
        return copy_with_seed(self, seed)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are asked about words."""
        return TASKS()

    @property
    def subject_id(self) -> str:
        """Its spec, or what it is called."""
        return self.called or f"{self.kind}:{self.name}"

    @cached_property
    def about(self) -> dict[str, Any]:
        """The record of its training. Errors: :class:`SubjectError` E711 where the folder holds none."""
        return read_settings(self.folder)

    @cached_property
    def vectors(self) -> SenseVectors:
        """The vectors, mapped from disk. Errors: :class:`SubjectError` E711 for a damaged file."""
        return read_sense_vectors(self.folder)

    @cached_property
    def induced(self) -> InducedSenses:
        """Its senses, row after row, with their neighbours. Errors: those of :attr:`vectors`."""
        return senses_of_folder(self.vectors)

    @property
    def window(self) -> int:
        """The most words on each side that choose the sense: as in training."""
        return self.options.window or int(self.about.get("settings", {}).get("window", _WINDOW))

    @property
    def settings(self) -> dict[str, Any]:
        """How it was trained and is asked, for the run record."""
        trained = {"training": self.about.get("settings", {}), "pruned": self.about.get("pruned")}
        return {**trained, **({"asked": self.options.given} if self.options.given else {})}

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise on c̄·s in its training, β π/√6; 0 without noise, or where none is known.

        *Source:* eq. 10 and 11.
        """
        settings = self.about.get("settings", {})
        scale = {"gasi": 1.0, "gasi_beta": float(settings.get("beta", 0.0))}.get(settings.get("variant", ""), 0.0)
        return scale * math.pi / math.sqrt(6)

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
            objective=f"{variant}, negative sampling",
            n_layers=0,
            width=width,
            n_parameters=(n_senses + 1) * n_words * width,
            revision=revision,
            source=str(self.folder),
        )

    # -- what it is asked -------------------------------------------------------------------------------------

    def knows(self, usage: Usage) -> bool:
        """Say whether the target of a usage is in the vocabulary."""
        return number_of(usage.target, self.vectors.index) >= 0

    def sense_count(self, usage: Usage) -> int:
        """Return the number of senses of the target, however improbable; 0 where it is not in the vocabulary."""
        return int(self.vectors.mask[self._number(usage)].sum()) if self.knows(usage) else 0

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        """Return the probability of each sense: softmax(c̄·s_k), 0 for a sense that the word has not.

        *Shape: (usages, K)*. *Source:* eq. 8, without noise.
        Errors: :class:`InputError` E712 for a target out of the vocabulary; :class:`SubjectError` E711.
        """
        rows = [sense_probabilities(self.vectors, self._number(usage), self.context(usage)) for usage in usages]
        return np.array(rows, np.float32).reshape(len(rows), self.vectors.mask.shape[1])

    def signals(self, usages: Sequence[Usage]) -> NDArray[np.float64]:
        """Return c̄·s_k of each usage and sense, before any softmax: NaN for a sense that the word has not.

        All of a usage are NaN without a known word around it. *Shape: (usages, K)*. *Source:* GASI §2.5, Figure 3.
        Errors: those of :meth:`sense_distribution`.
        """
        rows = np.full((len(usages), self.vectors.mask.shape[1]), np.nan)
        for row, usage in enumerate(usages):
            number, window = self._number(usage), self.context(usage)
            if len(window):
                mean = np.asarray(self.vectors.contexts[window], np.float64).mean(axis=0)
                signal = np.asarray(self.vectors.senses[number], np.float64) @ mean
                rows[row] = np.where(self.vectors.mask[number], signal, np.nan)
        return rows

    def senses_of(self, usages: Sequence[Usage]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the vectors of all senses of each target, independent of its context, and which of them are there.

        *Shape: (usages, K, width)* and *(usages, K)*; a target out of the vocabulary has none, and zeros.
        Errors: :class:`SubjectError` E711.
        """
        vectors = np.zeros((len(usages), *self.vectors.senses.shape[1:]), np.float32)
        there = np.zeros(vectors.shape[:2], np.bool_)
        for row, usage in enumerate(usages):
            if self.knows(usage):
                number = self._number(usage)
                vectors[row], there[row] = self._compared(number), self.vectors.mask[number]
        return vectors, there

    @property
    def layers(self) -> tuple[int, ...]:
        """One layer: static vectors, of which the context chooses one."""
        return (0,)

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        """Return the vector of the most probable sense of each usage, the first of equals.

        *Shape: (usages, 1, width)*. Looking up is so fast that nothing is kept in *work*.
        Errors: those of :meth:`sense_distribution`.
        """
        chosen = self.sense_distribution(usages).argmax(axis=1)
        rows = [self._compared(self._number(usage))[k] for usage, k in zip(usages, chosen, strict=True)]
        if progress is not None:
            progress(len(usages), len(usages))
        return np.array(rows, np.float32).reshape(len(rows), 1, self.vectors.senses.shape[-1])

    def context(self, usage: Usage) -> NDArray[np.int64]:
        """Return the numbers of the known words in the window of a usage, left to right: they choose its sense."""
        known = [token for token in self.tokens(usage.text) if token[0] >= 0]
        left = [number for number, _, end in known if end <= usage.start]
        right = [number for number, start, _ in known if start >= usage.end]
        return np.array([*left[-self.window :], *right[: self.window]], np.int64)

    def tokens(self, text: str) -> list[tuple[int, int, int]]:
        """Return the words of a text: number in the vocabulary, −1 for a word out of it, and half-open offsets."""
        return numbers_in(text, self.vectors.index)

    def distributions(self, word: int, windows: Sequence[Sequence[int]]) -> Floats:
        """Return :meth:`sense_distribution` of one word for many windows of known words' numbers, fast.

        *Shape: (windows, K)*.
        """
        return window_probabilities(self.vectors, word, windows)

    def _compared(self, number: int) -> Floats:
        """Return the vectors of a word that are compared with those of others. *Shape: (K, width)*."""
        own = self.vectors.senses[number]
        return own if self.options.vectors == "senses" else np.asarray(own + self.vectors.contexts[number], np.float32)

    def _number(self, usage: Usage) -> int:
        number = number_of(usage.target, self.vectors.index)
        if number >= 0:
            return number
        try:
            return self.vectors.number(usage.target)
        except InputError as error:
            place = Place(text=usage.text, column=usage.start + 1, width=usage.end - usage.start)
            hint = "leave usages out for which knows() is false, and say how many"
            raise InputError(error.what, code=error.code, place=place, hint=hint) from error
