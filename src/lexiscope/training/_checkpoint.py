"""The state of a training in one file that appears whole or not at all: weights, optimizer, place, history.

Tensors are kept as safetensors, never as a pickle; everything else stands as JSON in the header of that file, so that
weights and place can never belong to different moments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexiscope.core.errors import Place, RunError, require
from lexiscope.core.run import write_atomically

FILE = "state.safetensors"
FOLDER = "checkpoint"


def write_state(folder: Path, course: Mapping[str, Any], tensors: dict[str, Any], versions: dict[str, str]) -> None:
    """Keep the state of a training.

    Errors: :class:`RunError` where it cannot be written; the state that was kept before stays.
    """
    safetensors = require("safetensors.torch", "models")
    about = {"course": json.dumps(dict(course)), "versions": json.dumps(versions, sort_keys=True)}
    content = safetensors.save({name: each.contiguous() for name, each in tensors.items()}, metadata=about)
    write_atomically(folder / FOLDER / FILE, content)


def read_state(folder: Path, versions: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the course and the tensors that were kept, or ``None`` where there are none.

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
    return course, tensors
