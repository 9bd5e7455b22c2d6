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

from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import SpecError
from lexiscope.core.run import sha256_of
from lexiscope.core.subject import Floats, SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.resources.vectors.multi_sense import FORMATS, MultiSense, read_multi_sense
from lexiscope.resources.vectors.sense_vectors import window_means
from lexiscope.senses.induced_senses import InducedSenses, senses_of_import
from lexiscope.senses.similarity import nearest_sense
from lexiscope.subjects._options import split_name
from lexiscope.subjects.senses._sense_subject import SenseSubject

CAPABILITIES = ("Embeds", "ChoosesSense")
TASKS = catalog.TasksThat(capability="ChoosesSense")
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


class SenseEmbedding(SenseSubject):
    """Sense vectors read from the files of a format. *files* are their paths, with commas between."""

    kind = "sense_embedding"

    def __init__(self, form: str, files: str, *, window: int = _WINDOW, name: str = "") -> None:
        super().__init__(name or f"{form}:{files}?window={window}")
        self.form, self._window = form, window
        self.paths = tuple(Path(path).expanduser() for path in files.split(","))

    @property
    def window(self) -> int:
        """The most words on each side that choose the sense."""
        return self._window

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

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        """Return the probability of each sense: 1 for the one that is nearest to the context.

        *Shape: (usages, K)*, K the most senses that a word of these vectors has; 0 for a sense that the word has not.
        Errors: :class:`InputError` E712 for a target out of the vocabulary; those of :attr:`vectors`.
        """
        rows = [self.distributions(self._number(usage), [self.context(usage).tolist()])[0] for usage in usages]
        return np.array(rows, np.float32).reshape(len(rows), self.induced.most)

    def distributions(self, word: int, windows: Sequence[Sequence[int]]) -> Floats:
        """Return :meth:`sense_distribution` of one word for many windows of known words' numbers, fast.

        *Shape: (windows, K)*.
        """
        rows = self.vectors.rows(self.vectors.words[word])
        selectors, means = self.vectors.selectors[rows], window_means(self.vectors.context_vectors, windows)
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
        distributions = np.zeros((len(windows), self.induced.most), np.float32)
        distributions[:, : len(selectors)] = np.where(nearest >= 0, nearest == np.arange(len(selectors)), priors)
        return distributions
