"""Trained classifiers: a folder that ``lexiscope train classifier`` wrote, as a subject that answers items.

``classifier:FOLDER`` compares two usages, chooses among glosses, verifies a definition, or is a baseline that saw the
labels alone: the folder says which, and on which view it was trained. It answers in that view only (a model of ``full``
also where a guessed word was put back). ``?device=cuda&threads=2`` change its speed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.errors import SpecError, require
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scoring import Doubles
from lexiscope.core.subject import SubjectSpec
from lexiscope.items.answers.sense_options import glosses_of
from lexiscope.subjects._options import Device, read_options, split_name
from lexiscope.subjects.local._loading import torch_threads
from lexiscope.subjects.trained._probe import Cosines, Probe, best_option
from lexiscope.subjects.trained._trained_folder import TrainedSubject

CAPABILITIES = ("Judges",)
TASKS = catalog.TasksThat(learnt=("pair", "verification", "gloss"))
"""The tasks that one can be trained for; each folder answers that of its training."""
CHOICE, PROBABILITY, DISTANCE, RATING = "choice", "probability", "cosine_distance", "rating"
RUN_OPTIONS = ("device",)
"""The options that a run may fill in: they change the speed alone."""


@dataclass(frozen=True, slots=True)
class TrainedOptions:
    """How a trained folder is run: none of it changes its answers.

    ``threads``: of torch, 0 = as the process has it. ``store``: a folder in
    which a probe keeps the vectors of its encoder.
    """

    device: Device = "cpu"
    threads: int = 0
    store: Path | None = None


def load(spec: SubjectSpec) -> Classifier:
    """Make the classifier of a folder. Its weights are read when it is first asked.

    Errors: :class:`SpecError` for an unknown option.
    """
    name, options = trained_options(spec)
    return Classifier(name, options)


def trained_options(spec: SubjectSpec) -> tuple[str, TrainedOptions]:
    """Return the folder and the options of a spec.

    Errors: :class:`SpecError` for an unknown option or value.
    """
    name, revision, given = split_name(spec.name)
    if revision:
        hint = f"write {spec.kind}:FOLDER, or {spec.kind}:FOLDER?device=cuda&threads=2"
        raise SpecError(f"{spec.name!r} names no trained folder", hint=hint)
    return name, read_options(TrainedOptions, given, of=f"a {spec.kind}")


class Classifier(TrainedSubject):
    """A trained classifier. *name* is its folder."""

    kind = "classifier"

    def __init__(self, name: str, options: TrainedOptions | None = None) -> None:
        self.options = options or TrainedOptions()
        super().__init__(name, device=self.options.device)

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return a row ``choice`` and a row ``probability`` (of the choice) per item; a number is a row ``rating``.

        A number beyond the scale of its item is the end of the scale, with what the model said in ``raw``. A probe has
        a row ``cosine_distance`` in the place of a probability. *items* are as the view of the training shows them.
        Among candidates that the model cannot distinguish, the choice is by a hash of item and candidate, never by
        their order, which is that of frequency.
        Errors: :class:`SubjectError` for another task, a damaged folder, or an item shown in another view;
        :class:`InputError` for an item of another shape.
        """
        self.folder.check_task(task)
        self.folder.check_shown(items)
        ids = [item.item_id for item in items]
        if self.folder.record["training"].get("head") == "number":
            numbers = self._numbers(items)
            values = _limit_to_scale(numbers, items, task)
            raw = [None if value == n else f"{n:.12g}" for value, n in zip(values, numbers, strict=True)]
            return self._table(ids, task, RATING, value=values, raw=raw)
        choices, figures = self._choose_options(items)
        second = DISTANCE if self.folder.method == "threshold" else PROBABILITY
        rows = [
            self._table(ids, task, CHOICE, option=choices),
            self._table(ids, task, second, option=choices, value=figures),
        ]
        return ResponseTable.concat(rows)

    def n_cut(self, items: Sequence[Item]) -> int:
        """Return of how many items something is cut, because it is longer than what this model reads.

        Errors: those of :meth:`judge`.
        """
        method = self.folder.method
        if method == "label":
            return 0
        if method == "threshold":
            return self._probe.cosines.n_cut(items, self._probe.question)
        if method == "gloss":
            return self._reader.n_cut(self._wording.senses(item) for item in items)
        make = self._wording.pair if method == "pair" else self._wording.verification
        return self._reader.n_cut([make(item)] for item in items)

    def _table(self, ids: Sequence[str], task: str, measure: str, **columns: object) -> ResponseTable:
        who = {"subject_id": self.subject_id, "subject_kind": self.kind}
        return ResponseTable.from_columns({**who, "item_id": list(ids), "task": task, "measure": measure, **columns})

    # -- how --------------------------------------------------------------------------------------------------

    def _choose_options(self, items: Sequence[Item]) -> tuple[list[str], list[float]]:
        method = self.folder.method
        if method == "label":
            return self._by_label(items)
        if method == "threshold":
            return self._probe.choices(items)
        if method == "gloss":
            return self._by_gloss(items)
        answers = [str(answer) for answer in self.folder.record["training"]["answers"]]
        make: Callable[[Item], Any] = self._wording.pair if method == "pair" else self._wording.verification
        probabilities = softmax(self._predict([make(item) for item in items]))
        best = probabilities.argmax(axis=1)
        return [answers[number] for number in best], probabilities[np.arange(len(items)), best].tolist()

    def _by_gloss(self, items: Sequence[Item]) -> tuple[list[str], list[float]]:
        readings = [self._wording.senses(item) for item in items]
        yes = softmax(self._predict([reading for per_item in readings for reading in per_item]))[:, 1]
        ends = np.cumsum([len(per_item) for per_item in readings])
        parts = zip(items, np.split(yes, ends[:-1]), strict=True)
        best = [best_option(item.item_id, tuple(glosses_of(item)), part) for item, part in parts]
        return [option for option, _ in best], [score for _, score in best]

    def _by_label(self, items: Sequence[Item]) -> tuple[list[str], list[float]]:
        if self.folder.record["training"]["question"] == "senses":
            # equal scores: a model that sees no candidate cannot tell them apart
            options = [(item.item_id, tuple(glosses_of(item))) for item in items]
            drawn = [best_option(name, senses, np.full(len(senses), 1 / len(senses))) for name, senses in options]
            return [option for option, _ in drawn], [share for _, share in drawn]
        shares = self.folder.record["training"]["shares"]
        answer = min(shares, key=lambda label: (-shares[label], label))
        return [answer] * len(items), [float(shares[answer])] * len(items)

    def _numbers(self, items: Sequence[Item]) -> list[float]:
        training = self.folder.record["training"]
        if self.folder.method == "label":
            return [float(training["mean"])] * len(items)
        outputs = self._predict([self._wording.pair(item) for item in items])[:, 0]
        return [float(value) * training["sd"] + training["mean"] for value in outputs]

    def _predict(self, readings: Sequence[Any]) -> Doubles:
        with torch_threads(require("torch", "models"), self.options.threads or None):
            return self._reader.predict(readings)

    @cached_property
    def _probe(self) -> Probe:
        self.folder.check()
        training, run = self.folder.record["training"], self.options
        cosines = Cosines.of(training, device=run.device, threads=run.threads, store=run.store)
        return Probe(cosines, training["question"], int(training["layer"]), float(training["threshold"]))


def _limit_to_scale(numbers: Sequence[float], items: Sequence[Item], task: str) -> list[float]:
    """Return numbers as ratings: a linear layer can go beyond the ends of a scale, a rating cannot."""
    scales = [catalog.task(task).scale_of(item) for item in items]
    return [
        number if scale is None else min(max(number, scale.low), scale.high)
        for number, scale in zip(numbers, scales, strict=True)
    ]


def softmax(outputs: Doubles) -> Doubles:
    """Return probabilities of rows of numbers.

    >>> softmax(np.array([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """
    shifted = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
