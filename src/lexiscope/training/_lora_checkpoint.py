"""The state of a LoRA training: where it stands, what its epochs came to, its tensors."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lexiscope.training._checkpoint import read_state, write_state


@dataclass(frozen=True, slots=True)
class EpochResult:
    """What an epoch came to.

    ``training_loss``: the mean over the number tokens seen in it, dropout on; ``validation_loss``: after it, dropout
    off (*unit:* nats). ``spearman`` with the mean ratings, ``None`` where every prediction was the same;
    ``accuracy_within_sd``: the share of predictions within the SD (at least 1) of the mean.
    """

    epoch: int
    training_loss: float
    validation_loss: float
    spearman: float | None
    accuracy_within_sd: float


@dataclass(slots=True)
class Course:
    """Where a training stands: ``step`` steps of ``epoch`` (from 1) are done; ``best_epoch`` 0 = none yet.

    ``loss`` and ``tokens`` add up over the epoch under way. ``stopped`` says why it ended.
    """

    epoch: int = 1
    step: int = 0
    loss: float = 0.0
    tokens: int = 0
    best_epoch: int = 0
    stopped: str = ""
    history: list[EpochResult] = field(default_factory=list)


def write_checkpoint(folder: Path, course: Course, tensors: dict[str, Any], versions: dict[str, str]) -> None:
    """Keep the state of a training. Errors: those of :func:`~lexiscope.training._checkpoint.write_state`."""
    write_state(folder, asdict(course), tensors, versions)


def read_checkpoint(folder: Path, versions: dict[str, str]) -> tuple[Course, dict[str, Any]] | None:
    """Return the state that was kept, or ``None``.

    Errors: those of :func:`~lexiscope.training._checkpoint.read_state`.
    """
    found = read_state(folder, versions)
    if found is None:
        return None
    course, tensors = found
    history = [EpochResult(**each) for each in course.pop("history")]
    return Course(**course, history=history), tensors
