"""What a training is: its base model, everything that decides its result, the versions of the libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from lexiscope.core.errors import Place, RunError, SubjectError, require
from lexiscope.core.run import read_json, versions
from lexiscope.subjects._options import split_name
from lexiscope.subjects.local._adapter import CLAIM, AdaptedFolder, locate_model
from lexiscope.subjects.local._loading import torch_threads
from lexiscope.subjects.local._model_folder import EMBEDDED, TOKENIZER_FILES, ModelFolder

_FILES = ("*.safetensors", "*.index.json", "config.json", "generation_config.json", *TOKENIZER_FILES)
# libraries whose versions decide the bits of a training
_DECIDING = ("accelerate", "lexiscope", "numpy", "peft", "tokenizers", "torch", "transformers")


@dataclass(frozen=True, slots=True)
class Base:
    """The model that is tuned: its folder, and how it is named where the result is read."""

    folder: ModelFolder
    name: str
    revision: str
    sha256: str

    def record(self) -> dict[str, str]:
        """Return what a record says of it."""
        return {"name": self.name, "revision": self.revision, "sha256": self.sha256}


def base_of(model: str) -> Base:
    """Return the model that a name means: ``minilm``, a folder, or ``HUB_ID#REVISION``.

    Errors: :class:`SubjectError` where it cannot be loaded, has options, or is an adapter; :class:`MissingExtraError`.
    """
    name, revision, options = split_name(model)
    if options:
        raise SubjectError(f"the model to be tuned has no options, not {options}", hint="use the options of the verb")
    folder = locate_model(name, revision, allow=_FILES)
    if isinstance(folder, AdaptedFolder):
        raise SubjectError("this is an adapter already: name its base model", place=Place(str(folder.adapter)))
    folder.check()
    local = name not in EMBEDDED and Path(name).expanduser().is_dir()
    return Base(folder, str(Path(name).expanduser().resolve()) if local else name, revision, folder.revision())


def check_claim(out: Path, claim: Mapping[str, Any], foreign: Sequence[str]) -> None:
    """Check that a folder is new or belongs to this training; *foreign* are files that only another thing would leave.

    Errors: :class:`RunError` saying what differs.
    """
    path, hint = out / CLAIM, "name another folder, or delete this one"
    if not path.is_file():
        others = [name for name in foreign if (out / name).exists()]
        if others:
            what = f"this folder holds {', '.join(others)} of something else"
            raise RunError(what, place=Place(str(out)), hint=hint)
        return
    before = read_json(path)
    # the same model at another place is the same model
    differing = [name for name in claim if _without_location(before.get(name)) != _without_location(claim[name])]
    if differing:
        why = "; ".join(part for name in differing for part in _changes(name, before.get(name), claim[name]))
        raise RunError("this folder belongs to another training", place=Place(str(path)), why=why, hint=hint)


def _without_location(value: Any) -> Any:
    return value.get("sha256") if isinstance(value, dict) and "sha256" in value else value


def _changes(name: str, before: Any, now: Any) -> Iterator[str]:
    """Return the parts of a value that differ: of nested settings, only those that differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            if before.get(key) != now.get(key):
                yield from _changes(f"{name}.{key}", before.get(key), now.get(key))
    else:
        yield f"{name} was {before} and is now {now}"


def deciding_versions() -> dict[str, str]:
    """Return the versions of the libraries that decide the bits of a training; one that is not installed is not named.

    Accelerate makes the steps of a training and nothing else: what is not trained does not need it.
    """
    known = versions()
    with suppress(metadata.PackageNotFoundError):
        known |= {"accelerate": metadata.version("accelerate")}
    return {name: known[name] for name in _DECIDING if name in known}


@contextmanager
def isolated_torch(device: str, threads: int) -> Iterator[Any]:
    """Give torch with this number of threads, and leave its random numbers and its threads as they were."""
    torch = require("torch", "train")
    devices = [torch.cuda.current_device()] if device == "cuda" else []
    with torch.random.fork_rng(devices=devices), torch_threads(torch, threads):
        yield torch
