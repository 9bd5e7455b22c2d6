"""Multi-sense vectors of other programs, as a subject that chooses the sense whose vector is nearest to the context.

``sense_embedding:FORMAT:FILE`` or ``sense_embedding:FORMAT:FILE,FILE`` names a format and its files
(:mod:`lexiscope.resources.vectors.multi_sense`), for instance ``sense_embedding:muse:vectors.txt,index.tsv``.
The context is the mean vector of the known words around the target; ``?window=5`` is how many words on each side there
are at most. The sense with the highest cosine gets probability 1, the first of equals
(:func:`~lexiscope.senses.similarity.nearest_sense`); without a known word around it, or if no sense has a direction,
each sense has its prior, or all are equally probable. With these probabilities AvgSimC is MaxSimC. Texts are cut as for
``gasi``; a word is looked up as it is written in the text, then in lower case, then as the tokeniser writes it (a
number: ``<num>``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.run import sha256_of
from lexiscope.core.subject import Floats, Progress, SubjectSpec, copy_with_seed
from lexiscope.core.usage import Usage
from lexiscope.resources.corpora.running_text import number_of, numbers_in
from lexiscope.resources.vectors.multi_sense import FORMATS, MultiSense, read_multi_sense
from lexiscope.resources.vectors.sense_vectors import window_means
from lexiscope.senses.induced_senses import InducedSenses, senses_of_import
from lexiscope.senses.similarity import nearest_sense
from lexiscope.subjects._options import split_name
from lexiscope.subjects.senses._sense_folder import SENSE_TASKS

CAPABILITIES = ("Embeds", "ChoosesSense")
TASKS = SENSE_TASKS
_WINDOW = 5
# windows that are compared with the senses of a word at once
_BLOCK = 2048


def load(spec: SubjectSpec) -> SenseEmbedding:
    """Make the subject of some files. They are read when it is first asked.

    Errors: :class:`SpecError` for an unknown format or option, or a window that is no number from 1 on.
    """
    name, revision, given = split_name(spec.name)
    form, colon, files = name.partition(":")
    window = given.pop("window", str(_WINDOW))
    if revision or given or not colon or not files or form not in FORMATS or not window.isdigit() or int(window) < 1:
        hint = f"write sense_embedding:FORMAT:FILE,FILE?window=5 with one of the formats {', '.join(FORMATS)}"
        raise SpecError(f"{spec.name!r} names no multi-sense vectors", hint=hint)
    return SenseEmbedding(form, files, window=int(window), name=spec.name)


def files_of(spec: SubjectSpec) -> tuple[Path, ...]:
    """Return the files that a spec names."""
    names = split_name(spec.name)[0].partition(":")[2]
    return tuple(Path(name).expanduser() for name in names.split(","))


class SenseEmbedding:
    """Sense vectors read from the files of a format. *files* are their paths, with commas between."""

    kind = "sense_embedding"

    def __init__(self, form: str, files: str, *, window: int = _WINDOW, name: str = "") -> None:
        self.form, self.window = form, window
        self.paths = tuple(Path(path).expanduser() for path in files.split(","))
        self.name = name or f"{form}:{files}?window={window}"
        # its senses do not depend on it; a task draws with it what they cannot decide
        self.seed = 0

    def with_seed(self, seed: int) -> SenseEmbedding:
        """Return the same vectors in a run with this seed; themselves where they have that seed."""
        return copy_with_seed(self, seed)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are asked about words."""
        return TASKS()

    @property
    def subject_id(self) -> str:
        """Its spec."""
        return f"{self.kind}:{self.name}"

    @cached_property
    def vectors(self) -> MultiSense:
        """The vectors. Errors: :class:`InputError` E720 for a damaged file; :class:`SpecError` for too few or many."""
        return read_multi_sense(self.form, *self.paths)

    @cached_property
    def induced(self) -> InducedSenses:
        """Its senses, row after row, with their neighbours. Errors: those of :attr:`vectors`."""
        return senses_of_import(self.vectors)

    @property
    def settings(self) -> dict[str, object]:
        """The format, the window, and what the files hash to, for the run record."""
        return {"format": self.form, "window": self.window, "files": dict(self.checksums)}

    @cached_property
    def checksums(self) -> tuple[tuple[str, str], ...]:
        """The sha256 of each file."""
        return tuple((str(path), sha256_of(path)) for path in self.paths)

    @property
    def facts(self) -> SubjectFacts:
        """What the files say. Errors: those of :attr:`vectors`."""
        vectors = self.vectors
        return SubjectFacts(
            subject_id=self.subject_id,
            title=f"{self.form}, {len(vectors.senses):,} senses of {len(vectors.words):,} words",
            kind=self.kind,
            n_layers=0,
            width=vectors.senses.shape[1],
            n_parameters=vectors.senses.size,
            revision=hashlib.sha256("".join(checksum for _, checksum in self.checksums).encode()).hexdigest(),
            source=str(self.paths[0]),
        )

    # -- what it is asked -------------------------------------------------------------------------------------

    def knows(self, usage: Usage) -> bool:
        """Say whether the target of a usage is in the vocabulary."""
        return self._word(usage.target) is not None

    def sense_count(self, usage: Usage) -> int:
        """Return the number of senses of the target; 0 where it is not in the vocabulary."""
        return len(self.vectors.senses[self.vectors.rows(self._word(usage.target) or "")])

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        """Return the probability of each sense: 1 for the one that is nearest to the context.

        *Shape: (usages, K)*, K the most senses that a word of these vectors has; 0 for a sense that the word has not.
        Errors: :class:`InputError` E712 for a target out of the vocabulary; those of :attr:`vectors`.
        """
        distributions = np.zeros((len(usages), int(self.vectors.n_senses.max())), np.float32)
        for number, usage in enumerate(usages):
            rows = self._rows(usage)
            shares = self._shares(rows, self.vectors.context_means([self.context(usage)]).astype(np.float64))
            distributions[number, : rows.stop - rows.start] = shares[0]
        return distributions

    def senses_of(self, usages: Sequence[Usage]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the vectors of all senses of each target, independent of its context, and which of them are there.

        *Shape: (usages, K, width)* and *(usages, K)*, K the most senses that a word of these vectors has; a target out
        of the vocabulary has none, and zeros. Errors: those of :attr:`vectors`.
        """
        words = [self._word(usage.target) or "" for usage in usages]
        vectors, there = self.vectors.pad_senses(words)
        short = int(self.vectors.n_senses.max()) - vectors.shape[1]
        padding = ((0, 0), (0, max(0, short)))
        return np.pad(vectors, (*padding, (0, 0))), np.pad(there, padding)

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
        rows = [self.vectors.senses[self._rows(usage)][k] for usage, k in zip(usages, chosen, strict=True)]
        if progress is not None:
            progress(len(usages), len(usages))
        return np.array(rows, np.float32).reshape(len(rows), 1, self.vectors.senses.shape[1])

    def context(self, usage: Usage) -> tuple[str, ...]:
        """Return the known words in the window of a usage, left to right: they choose its sense."""
        known = [token for token in self.tokens(usage.text) if token[0] >= 0]
        left = [self.vectors.words[number] for number, _, end in known if end <= usage.start]
        right = [self.vectors.words[number] for number, start, _ in known if start >= usage.end]
        return (*left[-self.window :], *right[: self.window])

    def tokens(self, text: str) -> list[tuple[int, int, int]]:
        """Return the words of a text: number in the vocabulary, −1 for a word out of it, and half-open offsets."""
        return numbers_in(text, self.vectors.index)

    def distributions(self, word: int, windows: Sequence[Sequence[int]]) -> Floats:
        """Return :meth:`sense_distribution` of one word for many windows of known words' numbers, fast.

        *Shape: (windows, K)*.
        """
        rows = slice(int(self.vectors.starts[word]), int(self.vectors.starts[word + 1]))
        distributions = np.zeros((len(windows), int(self.vectors.n_senses.max())), np.float32)
        distributions[:, : rows.stop - rows.start] = self._shares(
            rows, window_means(self.vectors.context_vectors, windows)
        )
        return distributions

    def _shares(self, rows: slice, means: NDArray[np.float64]) -> Floats:
        selectors = self.vectors.selectors[rows]
        equal = np.full(len(selectors), 1 / len(selectors), np.float32)
        priors = equal if self.vectors.priors is None else self.vectors.priors[rows]
        # a selector without direction is near to nothing
        directed = selectors.any(axis=1)
        indices = []
        for start in range(0, max(1, len(means)), _BLOCK):
            part = means[start : start + _BLOCK]
            every = np.broadcast_to(selectors, (len(part), *selectors.shape))
            indices.append(nearest_sense(every, part, mask=np.broadcast_to(directed, every.shape[:2])))
        nearest = np.concatenate(indices)[:, None]
        return np.where(nearest >= 0, nearest == np.arange(len(selectors)), priors).astype(np.float32)

    def _word(self, form: str) -> str | None:
        number = number_of(form, self.vectors.index)
        return None if number < 0 else self.vectors.words[number]

    def _rows(self, usage: Usage) -> slice:
        word = self._word(usage.target)
        if word is None:
            what = f"{usage.target!r} is not among the {len(self.vectors.words):,} words of these vectors"
            place = Place(text=usage.text, column=usage.start + 1, width=usage.end - usage.start)
            raise InputError(
                what, code="E712", place=place, hint="leave usages out for which knows() is false, and say how many"
            )
        return self.vectors.rows(word)
