"""Trained bi-encoders: a folder that ``lexiscope train bi_encoder`` wrote, as a subject that retrieves.

``bi_encoder:FOLDER`` reads a sentence with the target between ``[`` and ``]`` and ranks the entries of the search space
that it was trained with: synsets or pages. It answers in the view of its training only (a model of ``full`` also where
a guessed word was put back). ``?device=cuda&threads=2`` change its speed alone; ``?ranks=10`` gives more ranks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.errors import Place, SpecError, SubjectError, require
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import SubjectSpec
from lexiscope.items.answers.search_space import Entry, SearchSpace, retrieval_rows
from lexiscope.resources.vectors.nearest import nearest
from lexiscope.subjects._options import Device, read_options, split_name
from lexiscope.subjects.local._loading import torch_threads
from lexiscope.subjects.trained._trained_folder import ENTRIES, VECTORS, TrainedSubject

CAPABILITIES = ("Judges",)
TASKS = catalog.TasksThat(learnt=("bi_encoder",))
"""The tasks that one can be trained for; each folder answers that of its training."""
RUN_OPTIONS = ("device",)
"""The options that a run may fill in: they change the speed alone."""


@dataclass(frozen=True, slots=True)
class _RetrievalOptions:
    """How a trained folder is run, and how many entries it gives."""

    device: Device = "cpu"
    threads: int = 0
    ranks: int = 1


def load(spec: SubjectSpec) -> BiEncoder:
    """Make the bi-encoder of a folder. Its weights are read when it is first asked.

    Errors: :class:`SpecError` for an unknown option.
    """
    name, revision, given = split_name(spec.name)
    options = read_options(_RetrievalOptions, given, of="a bi_encoder")
    if revision or not options.ranks:
        hint = "write bi_encoder:FOLDER, or bi_encoder:FOLDER?ranks=10"
        raise SpecError(f"{spec.name!r} names no trained folder", hint=hint)
    return BiEncoder(name, device=options.device, threads=options.threads, ranks=options.ranks)


class BiEncoder(TrainedSubject):
    """A trained bi-encoder with its search space. *name* is its folder; *ranks* how many entries it gives."""

    kind = "bi_encoder"

    def __init__(self, name: str, *, device: str = "cpu", threads: int = 0, ranks: int = 1) -> None:
        super().__init__(name, device=device)
        self.threads, self.ranks = threads, ranks

    @property
    def settings(self) -> dict[str, Any]:
        """How it was trained and how it is run, for the run record."""
        return super().settings | {"ranks": self.ranks}

    @cached_property
    def space(self) -> SearchSpace:
        """The search space. Errors: :class:`SubjectError` for a damaged folder."""
        self.folder.check()
        lines = (self.folder.path / ENTRIES).read_text(encoding="utf-8").splitlines()
        name = str(self.folder.record["training"]["space"]["name"])
        return SearchSpace(name, tuple(Entry(*json.loads(line)) for line in lines))

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return a row ``retrieved`` per item: the option is the id of the nearest entry, the value its cosine.

        Further *ranks* are rows ``retrieved_next``, in their order. *items* are as the view of the training shows them.
        Errors: :class:`SubjectError` for another task, a damaged folder, or an item shown in another view;
        :class:`InputError` for an item that has not one usage.
        """
        self.folder.check_task(task)
        self.folder.check_shown(items)
        readings = [self._wording.query(item) for item in items]
        with torch_threads(require("torch", "models"), self.threads or None):
            queries = self._reader.predict(readings)
        neighbours = nearest(queries, self._vectors, self.ranks)
        return retrieval_rows(
            items, self.space, neighbours, subject_id=self.subject_id, subject_kind=self.kind, task=task
        )

    def n_cut(self, items: Sequence[Item]) -> int:
        """Return how many items are longer than what this model reads, and are cut. Errors: those of :meth:`judge`."""
        return self._reader.n_cut([self._wording.query(item)] for item in items)

    @cached_property
    def _vectors(self) -> Any:
        self.folder.check()
        vectors = np.load(self.folder.path / VECTORS, mmap_mode="r", allow_pickle=False)
        if len(vectors) != len(self.space):
            what = f"{len(vectors)} vectors for {len(self.space)} entries of the search space"
            raise SubjectError(what, place=Place(str(self.folder.path)), hint="train it again, in another folder")
        return vectors
