"""The checkpoints of a training: folders that the Trainer writes, each marked when it is whole.

The Trainer writes a checkpoint file by file, in place. A process that is killed meanwhile leaves half a folder; so a
folder counts from the moment its mark appears, which is written last, in one step, with the checksums of the others.
What has no mark is deleted. Two checkpoints are kept: the newest, and the best one that its state names.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexiscope.core.errors import Place, RunError
from lexiscope.core.run import manifest, read_json, sha256_of, write_json

FOLDER, MARK = "checkpoint", "whole.json"

_PREFIX = "checkpoint-"
_HINT = f"delete the folder {FOLDER} and begin again"


def checkpoint_folder(folder: Path, step: int) -> Path:
    """Return where the Trainer keeps its state after a step."""
    return folder / f"{_PREFIX}{step}"


def mark_checkpoint(
    folder: Path, step: int, best: int | None, course: Mapping[str, Any], versions: Mapping[str, str]
) -> None:
    """Mark the checkpoint of a step as whole, then delete all others but the *best* one.

    Errors: :class:`RunError` where it cannot be written.
    """
    path = checkpoint_folder(folder, step)
    names = sorted(file.name for file in path.iterdir() if file.name != MARK)
    for name in names:
        # a mark must not reach the disk before what it vouches for
        with (path / name).open("rb") as stream:
            os.fsync(stream.fileno())
    about = {"best": best, "course": dict(course), "files": manifest(path, names), "versions": dict(versions)}
    write_json(path / MARK, about)
    for other in _steps(folder):
        if other not in (step, best):
            _delete(checkpoint_folder(folder, other))


def newest_checkpoint(folder: Path, versions: Mapping[str, str]) -> tuple[Path, dict[str, Any]] | None:
    """Return the folder of the newest whole checkpoint and the progress of the training.

    ``None`` if there is no whole one. Unfinished folders are deleted.

    Errors: :class:`RunError` for a damaged checkpoint (this one, or the best one that it names), and for one of other
    *versions* of the libraries: two halves made by two versions would be a result that cannot be repeated.
    """
    for step in _steps(folder):
        if not (checkpoint_folder(folder, step) / MARK).is_file():
            _delete(checkpoint_folder(folder, step))
    steps = _steps(folder)
    if not steps:
        return None
    path = checkpoint_folder(folder, steps[-1])
    about = _read_mark(path)
    if about["versions"] != versions:
        before = about["versions"]
        changed = [f"{name} was {before.get(name)}" for name in sorted(versions) if before.get(name) != versions[name]]
        hint = f"install those versions again, or {_HINT}"
        what = "this training was begun with other versions of its libraries"
        raise RunError(what, place=Place(str(path)), why="; ".join(changed), hint=hint)
    if about["best"] not in (None, steps[-1]):
        _read_mark(checkpoint_folder(folder, about["best"]))
    return path, about["course"]


def _read_mark(path: Path) -> dict[str, Any]:
    """Return the mark of a checkpoint whose files are as they were written."""
    try:
        about: dict[str, Any] = read_json(path / MARK)
        wrong = [name for name, expected in about["files"].items() if sha256_of(path / name) != expected]
    except (OSError, KeyError) as error:
        raise RunError("this checkpoint cannot be read", place=Place(str(path)), why=str(error), hint=_HINT) from error
    if wrong:
        why = f"not as it was written: {', '.join(wrong)}"
        raise RunError("this checkpoint cannot be read", place=Place(str(path)), why=why, hint=_HINT)
    return about


def _steps(folder: Path) -> list[int]:
    """Return the steps of which there are checkpoints, whole or not, in their order."""
    names = [path.name.removeprefix(_PREFIX) for path in folder.glob(f"{_PREFIX}*") if path.is_dir()]
    return sorted(int(name) for name in names if name.isdecimal())


def _delete(path: Path) -> None:
    # the mark first: a process that is killed here must leave nothing that looks whole
    (path / MARK).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)
