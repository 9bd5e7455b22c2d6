"""The loop: steps of an effective batch, a validation after every epoch, an early stop, a checkpoint to go on from.

The loop is our own rather than the Trainer of transformers: a checkpoint here is one file that appears whole or not at
all, a training that goes on ends with the same bits, and the loss is averaged over the numbers of an effective batch
whatever the size of the batches that are read at once. It needs a hundred lines.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.errors import SubjectError
from lexiscope.core.scoring import Doubles
from lexiscope.training._lora_checkpoint import Course, EpochResult, read_checkpoint, write_checkpoint
from lexiscope.training._lora_model import Learner
from lexiscope.training.lora_examples import Example

Validate = Callable[[Doubles], tuple[float | None, float]]
"""Takes the log-probabilities of the validation's numbers, gives Spearman's rho and the accuracy within SD."""
Progress = Callable[[str, int, int], None]
"""Called with the epoch under way, the steps done in it and their number."""

_STATE = ("exp_avg", "exp_avg_sq", "step")


@dataclass(frozen=True, slots=True)
class Lessons:
    """What is learnt from and what it is measured on."""

    training: tuple[Example, ...]
    validation: tuple[Example, ...]
    validate: Validate


def seed_of(*parts: int) -> int:
    """Return one seed made of several numbers: 48 bits of a hash of them.

    >>> seed_of(0, 1) == seed_of(0, 1), seed_of(0, 1) == seed_of(1, 0)
    (True, False)
    """
    return int.from_bytes(hashlib.sha256(",".join(map(str, parts)).encode()).digest()[:6])


class Training:
    """One training under way: a learner, its optimizer, and where it stands."""

    def __init__(
        self, learner: Learner, lessons: Lessons, *, seed: int, folder: Path, versions: dict[str, str]
    ) -> None:
        self.learner, self.lessons, self.seed, self.folder = learner, lessons, seed, folder
        self.versions, self.settings = versions, learner.settings
        self.course, self.best = Course(), learner.weights()
        self.optimizer = learner.torch.optim.AdamW(
            list(learner.parameters.values()),
            lr=self.settings.learning_rate,
            weight_decay=self.settings.weight_decay,
        )
        self._resume()

    @property
    def steps(self) -> int:
        """The steps of an epoch; the last one may have fewer examples."""
        return math.ceil(len(self.lessons.training) / self.settings.effective_batch)

    def run(self, progress: Progress | None = None) -> Course:
        """Train to the end from where it stands, then leave the best epoch's weights in the learner.

        Errors: :class:`SubjectError` where the loss is not finite.
        """
        while not self.course.stopped:
            self._epoch(progress)
        self.learner.load(self.best)
        return self.course

    def _epoch(self, progress: Progress | None) -> None:
        course = self.course
        order = np.random.default_rng([self.seed, course.epoch]).permutation(len(self.lessons.training))
        while course.step < self.steps:
            begin = course.step * self.settings.effective_batch
            self._step([self.lessons.training[place] for place in order[begin : begin + self.settings.effective_batch]])
            course.step += 1
            if course.step % self.settings.checkpoint_steps == 0 and course.step < self.steps:
                self._keep()
            if progress is not None:
                progress(f"epoch {course.epoch}", course.step, self.steps)
        self._end_epoch()
        self._keep()

    def _step(self, examples: Sequence[Example]) -> None:
        """Learn from one effective batch, read in parts; the loss is the mean over all its number tokens."""
        torch, course, size = self.learner.torch, self.course, self.settings.batch
        # dropout is drawn with a seed of the step's own: the state of the generator is a part of the place
        torch.manual_seed(seed_of(self.seed, course.epoch, course.step))
        self.learner.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        total = sum(len(example.answers[example.target]) for example in examples)
        for begin in range(0, len(examples), size):
            loss, tokens = self.learner.loss(examples[begin : begin + size])
            (loss / total).backward()
            course.loss, course.tokens = course.loss + float(loss.detach()), course.tokens + tokens
        if not math.isfinite(course.loss):
            what = f"the loss is not finite in step {course.step + 1} of epoch {course.epoch}"
            raise SubjectError(what, hint="use dtype=fp32 or a smaller learning rate")
        if self.settings.max_gradient_norm:
            torch.nn.utils.clip_grad_norm_(list(self.learner.parameters.values()), self.settings.max_gradient_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        self.optimizer.step()

    def _rate(self) -> float:
        done = (self.course.epoch - 1) * self.steps + self.course.step
        left = 1 - done / (self.settings.epochs * self.steps) if self.settings.schedule == "linear" else 1.0
        return self.settings.learning_rate * left

    # -- the end of an epoch ----------------------------------------------------------------------------------

    def _end_epoch(self) -> None:
        course = self.course
        course.history.append(self._measured())
        if self._better():
            course.best_epoch, self.best = course.epoch, self.learner.weights()
        if course.epoch - course.best_epoch >= self.settings.patience:
            course.stopped = f"no better {self.settings.monitor} for {self.settings.patience} epochs"
        elif course.epoch == self.settings.epochs:
            course.stopped = f"{self.settings.epochs} epochs are done"
        course.epoch, course.step, course.loss, course.tokens = course.epoch + 1, 0, 0.0, 0

    def _measured(self) -> EpochResult:
        course, examples = self.course, self.lessons.validation
        scores = self.learner.log_probabilities(examples)
        targets = [example.target for example in examples]
        tokens = sum(len(example.answers[example.target]) for example in examples)
        rho, accuracy = self.lessons.validate(scores)
        loss = -float(scores[np.arange(len(examples)), targets].sum()) / tokens
        return EpochResult(course.epoch, course.loss / course.tokens, loss, rho, accuracy)

    def _better(self) -> bool:
        """Say whether the last epoch is better than the best before it; an undefined figure is never better."""
        now = _figure(self.course.history[-1], self.settings.monitor)
        if not self.course.best_epoch:
            return True
        return now > _figure(self.course.history[self.course.best_epoch - 1], self.settings.monitor)

    # -- the checkpoint ---------------------------------------------------------------------------------------

    def _keep(self) -> None:
        tensors = {f"weights.{name}": each for name, each in self.learner.weights().items()}
        tensors |= {f"best.{name}": each for name, each in self.best.items()}
        for name, parameter in self.learner.parameters.items():
            state = self.optimizer.state.get(parameter, {})
            tensors |= {f"{part}.{name}": state[part].detach().cpu().clone() for part in _STATE if part in state}
        write_checkpoint(self.folder, self.course, tensors, self.versions)

    def _resume(self) -> None:
        kept = read_checkpoint(self.folder, self.versions)
        if kept is None:
            return
        self.course, tensors = kept
        names = self.learner.parameters
        self.learner.load({name: tensors[f"weights.{name}"] for name in names})
        self.best = {name: tensors[f"best.{name}"] for name in names}
        state: dict[int, Any] = {
            number: {part: tensors[f"{part}.{name}"] for part in _STATE if f"{part}.{name}" in tensors}
            for number, name in enumerate(names)
        }
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})


def _figure(result: EpochResult, monitor: str) -> float:
    """Return the figure that decides, turned so that higher is better."""
    if monitor == "loss":
        return -result.validation_loss
    found = result.spearman if monitor == "spearman" else result.accuracy_within_sd
    return -math.inf if found is None else found
