"""The state of a training in one file that appears whole or not at all: weights, optimizer, place, history.

Tensors are kept as safetensors, never as a pickle; everything else stands as JSON in the header of that file, so that
weights and place can never belong to different moments.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lexiscope.core.errors import Place, RunError, require
from lexiscope.core.run import write_atomically

FILE = "state.safetensors"
FOLDER = "checkpoint"


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
    """Keep the state of a training.

    Errors: :class:`RunError` where it cannot be written; the state that was kept before stays.
    """
    safetensors = require("safetensors.torch", "models")
    about = {"course": json.dumps(asdict(course)), "versions": json.dumps(versions, sort_keys=True)}
    content = safetensors.save({name: each.contiguous() for name, each in tensors.items()}, metadata=about)
    write_atomically(folder / FOLDER / FILE, content)


def read_checkpoint(folder: Path, versions: dict[str, str]) -> tuple[Course, dict[str, Any]] | None:
    """Return the state that was kept, or ``None`` where there is none.

    Errors: :class:`RunError` for a damaged file, and for one of other *versions* of the libraries: two halves made by
    two versions would be a result that nobody can repeat.
    """
    path = folder / FOLDER / FILE
    if not path.is_file():
        return None
    safetensors = require("safetensors", "models")
    try:
        with safetensors.safe_open(str(path), framework="pt") as stream:
            about = stream.metadata()
            tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118 (it is no dictionary)
        course, before = json.loads(about["course"]), json.loads(about["versions"])
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        hint = f"delete the folder {FOLDER} and begin again"
        raise RunError("this checkpoint cannot be read", place=Place(str(path)), why=str(error), hint=hint) from error
    if before != versions:
        changed = [f"{name} was {before.get(name)}" for name in sorted(versions) if before.get(name) != versions[name]]
        hint = f"install those versions again, or delete the folder {FOLDER} and begin again"
        what = "this training was begun with other versions of its libraries"
        raise RunError(what, place=Place(str(path)), why="; ".join(changed), hint=hint)
    history = [EpochResult(**each) for each in course.pop("history")]
    return Course(history=history, **course), tensors
