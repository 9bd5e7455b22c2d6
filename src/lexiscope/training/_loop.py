"""The loop of a training: steps, a measurement on dev after every epoch, an early stop, a checkpoint to go on from.

It is our own rather than the Trainer of transformers for the reasons of :mod:`lexiscope.training._lora_loop`: a
checkpoint is one file that appears whole or not at all, and a training that goes on ends with the same bits. Batches
are made of readings of similar length, so that hardly any padding is read (benchmarks/training.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.errors import SubjectError
from lexiscope.subjects._reader import Reader
from lexiscope.training._checkpoint import read_state, write_state
from lexiscope.training._lora_loop import Progress, seed_of
from lexiscope.training.settings import TrainingSettings

_STATE = ("exp_avg", "exp_avg_sq", "step")
_GROUPED = 50
_NO_DECAY = ("bias", "norm")


@dataclass(frozen=True, slots=True)
class Epoch:
    """What an epoch came to: the mean ``training_loss`` of its steps and the figure on ``dev``, higher = better."""

    epoch: int
    training_loss: float
    dev: float


@dataclass(slots=True)
class Course:
    """Where a training stands: ``step`` steps of ``epoch`` (from 1) are done; ``best_epoch`` 0 = none yet."""

    epoch: int = 1
    step: int = 0
    loss: float = 0.0
    best_epoch: int = 0
    stopped: str = ""
    history: list[Epoch] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is learnt: the ``lengths`` of what is read, the loss of a batch of their numbers, the figure on dev.

    ``loss`` gives ``None`` where a batch teaches nothing. ``cut``: the items of train and dev that have a reading which
    was too long and was cut.
    """

    lengths: Sequence[int]
    loss: Callable[[Sequence[int]], Any]
    measure: Callable[[], float]
    cut: Mapping[str, int] = field(default_factory=dict)


def length_batches(lengths: Sequence[int], size: int, rng: np.random.Generator) -> list[list[int]]:
    """Return batches of similar lengths in random order, each number once.

    The numbers are shuffled, cut into stretches of 50 batches, sorted by length within a stretch, and cut into batches,
    which are shuffled: chance decides what stands together, and little is padded.

    >>> [sorted(each) for each in length_batches([3, 90, 4, 91], 2, np.random.default_rng(0))]
    [[1, 3], [0, 2]]
    """
    order = rng.permutation(len(lengths))
    sizes = np.asarray(lengths)
    batches: list[list[int]] = []
    for start in range(0, len(order), size * _GROUPED):
        stretch = order[start : start + size * _GROUPED]
        stretch = stretch[np.argsort(sizes[stretch], kind="stable")]
        batches += [stretch[place : place + size].tolist() for place in range(0, len(stretch), size)]
    return [batches[number] for number in rng.permutation(len(batches))]


class Loop:
    """One training under way: a reader that learns, its optimizer, and where it stands."""

    def __init__(
        self,
        reader: Reader,
        lessons: Lessons,
        settings: TrainingSettings,
        *,
        seed: int,
        folder: Path,
        versions: dict[str, str],
    ) -> None:
        self.reader, self.lessons, self.settings, self.seed = reader, lessons, settings, seed
        self.folder, self.versions = folder, versions
        self.parameters = {name: each.requires_grad_(True) for name, each in reader.parameters().items()}
        self.course, self.best = Course(), reader.weights()
        self.optimizer = optimizer_of(reader.torch, self.parameters, settings)
        self._resume()

    @property
    def steps(self) -> int:
        """The steps of an epoch; the last batch of a stretch may be smaller."""
        whole, rest = divmod(len(self.lessons.lengths), self.settings.batch * _GROUPED)
        return whole * _GROUPED + math.ceil(rest / self.settings.batch)

    def run(self, progress: Progress | None = None) -> Course:
        """Train to the end from where it stands, then leave the best epoch's weights in the reader.

        Errors: :class:`SubjectError` where the loss is not finite.
        """
        if not self.settings.epochs and not self.course.history:
            self.course.history.append(Epoch(0, 0.0, self.lessons.measure()))
            self.course.stopped = "nothing was to be learnt"
        while not self.course.stopped:
            self._epoch(progress)
        self.reader.load(self.best)
        for parameter in self.parameters.values():
            parameter.requires_grad_(False)
        self.reader.model.eval()
        return self.course

    def _epoch(self, progress: Progress | None) -> None:
        course, settings = self.course, self.settings
        rng = np.random.default_rng([self.seed, course.epoch])
        batches = length_batches(self.lessons.lengths, settings.batch, rng)
        while course.step < len(batches):
            self.step(batches[course.step])
            course.step += 1
            if course.step % settings.checkpoint_steps == 0 and course.step < len(batches):
                self._keep()
            if progress is not None:
                progress(f"epoch {course.epoch}", course.step, len(batches))
        self._end_epoch(len(batches))
        if not course.stopped:
            self._keep()

    def step(self, batch: Sequence[int]) -> None:
        """Learn from one batch. Errors: :class:`SubjectError` where the loss is not finite."""
        torch, course = self.reader.torch, self.course
        # dropout is drawn with a seed of the step's own: the state of the generator is a part of the place
        torch.manual_seed(seed_of(self.seed, course.epoch, course.step))
        self.reader.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.lessons.loss(batch)
        if loss is None:
            return
        loss.backward()
        course.loss += float(loss.detach())
        if not math.isfinite(course.loss):
            what = f"the loss is not finite in step {course.step + 1} of epoch {course.epoch}"
            raise SubjectError(what, hint="use a smaller learning rate")
        if self.settings.max_gradient_norm:
            torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.settings.max_gradient_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        self.optimizer.step()

    def _rate(self) -> float:
        """Return the learning rate of the step under way: it rises over the warm-up, then falls to 0 where linear."""
        asked, total = self.settings, self.settings.epochs * self.steps
        done = (self.course.epoch - 1) * self.steps + self.course.step
        warm = asked.warmup * total
        if done < warm:
            return asked.learning_rate * (done + 1) / (warm + 1)
        left = (total - done) / max(1.0, total - warm) if asked.schedule == "linear" else 1.0
        return asked.learning_rate * left

    def _end_epoch(self, steps: int) -> None:
        course, settings = self.course, self.settings
        now = Epoch(course.epoch, course.loss / steps, self.lessons.measure())
        course.history.append(now)
        if not course.best_epoch or now.dev > course.history[course.best_epoch - 1].dev:
            course.best_epoch, self.best = course.epoch, self.reader.weights()
        if course.epoch - course.best_epoch >= settings.patience:
            course.stopped = f"no better on dev for {settings.patience} epochs"
        elif course.epoch == settings.epochs:
            course.stopped = f"{settings.epochs} epochs are done"
        course.epoch, course.step, course.loss = course.epoch + 1, 0, 0.0

    # -- the checkpoint ---------------------------------------------------------------------------------------

    def _keep(self) -> None:
        tensors = {f"weights.{name}": each for name, each in self.reader.weights().items()}
        tensors |= {f"best.{name}": each for name, each in self.best.items()}
        for name, parameter in self.parameters.items():
            state = self.optimizer.state.get(parameter, {})
            tensors |= {f"{part}.{name}": state[part].detach().cpu().clone() for part in _STATE if part in state}
        write_state(self.folder, asdict(self.course), tensors, self.versions)

    def _resume(self) -> None:
        kept = read_state(self.folder, self.versions)
        if kept is None:
            return
        course, tensors = kept
        self.course = Course(**course | {"history": [Epoch(**each) for each in course["history"]]})
        self.reader.load({name: tensors[f"weights.{name}"] for name in self.parameters})
        self.best = {name: tensors[f"best.{name}"] for name in self.parameters}
        names = {id(parameter): name for name, parameter in self.parameters.items()}
        groups = self.optimizer.state_dict()["param_groups"]
        listed = [names[id(each)] for group in self.optimizer.param_groups for each in group["params"]]
        state: dict[int, Any] = {
            number: {part: tensors[f"{part}.{name}"] for part in _STATE if f"{part}.{name}" in tensors}
            for number, name in enumerate(listed)
            if f"step.{name}" in tensors
        }
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})


def optimizer_of(torch: Any, parameters: dict[str, Any], settings: TrainingSettings) -> Any:
    """Return AdamW over parameters; biases and the weights of norms do not decay."""
    plain = [each for name, each in parameters.items() if any(part in name.lower() for part in _NO_DECAY)]
    known = {id(each) for each in plain}
    others = [each for each in parameters.values() if id(each) not in known]
    groups = [{"params": others, "weight_decay": settings.weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=settings.learning_rate, fused=True)
