"""One training as a folder: its claim, its course, its weights, its record; the same call continues it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Required, TypedDict

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place, RunError, require
from lexiscope.core.item import Item
from lexiscope.core.run import (
    atomic_folder,
    folder_lock,
    manifest,
    read_json,
    sha256_of,
    versions,
    write_atomically,
    write_json,
)
from lexiscope.core.sealed import write_machine
from lexiscope.subjects._vector_store import digest
from lexiscope.subjects.local._adapter import CLAIM, RECORD
from lexiscope.subjects.local._model_folder import TOKENIZER_FILES
from lexiscope.subjects.trained._encoder import LoadedClassifier, Shape
from lexiscope.subjects.trained._trained_folder import ENCODER, HEAD, SEAL, VECTORS, seal_of
from lexiscope.training._base import Base, check_claim, deciding_versions, isolated_torch
from lexiscope.training._checkpoint import FOLDER
from lexiscope.training._labelled_items import Epoch, Objective, Rows, rows_of, train_reader
from lexiscope.training._steps import Progress, TrainingOutcome, TrainingPlace, seed_of
from lexiscope.training.settings import TrainingSettings

Build = Callable[[LoadedClassifier], Objective]
"""Makes what is learnt, for one loaded encoder."""
Finish = Callable[[LoadedClassifier, Path], Sequence[str]]
"""Writes what else belongs to the folder; returns the names of its files."""


class TrainingOptions(TypedDict, total=False):
    """How a training is run; the same for everything that is learnt.

    ``view``: what the model is shown; ``out``: the folder of the training; ``settings``: the published ones where there
    are none; ``seed``: 0 where there is none; ``command``: what the user typed, for the record; ``progress`` is called
    after every step.
    """

    view: Required[str]
    out: Required[Path]
    settings: TrainingSettings | None
    seed: int
    command: Sequence[str]
    progress: Progress | None


ACCURACY, MINUS_SQUARED_ERROR = "accuracy", "minus_mean_squared_error"


@dataclass(frozen=True, slots=True)
class Job:
    """The plan of a training. ``more`` are the further entries of its record: answers, their shares, the search space.

    Errors: :class:`InputError` for a classifier that is to learn nothing.
    """

    kind: str
    method: str
    view: str
    task: str
    question: str
    train: Rows
    dev: Rows
    settings: TrainingSettings
    seed: int
    monitor: str = ACCURACY
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind == "classifier" and not self.settings.epochs:
            what = "a classifier cannot answer before it has learnt"
            raise InputError(what, hint="give at least 1 epoch, or fit a probe")

    def claim(self, base: Base | None) -> dict[str, Any]:
        """Return everything that decides the result but the versions of the libraries."""
        return {
            "method": self.method,
            "view": self.view,
            "task": self.task,
            "question": self.question,
            "items": {"train": self.train.record(), "dev": self.dev.record()},
            "settings": self.settings.deciding_values(),
            "seed": self.seed,
            **({"encoder": base.record()} if base else {}),
            **self.more,
        }


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A finished training: its folder, the subject that it is, and its result on dev.

    ``dev_accuracy`` is the figure named by ``monitor``: ``accuracy`` (of retrieval: at rank 1, among the entries that
    dev is searched among), or ``minus_mean_squared_error`` where numbers are learnt. ``pruned``: its weights were
    deleted, it is a figure in a table. ``cut``: the items of train and dev of which something was cut, because it was
    longer than what is read.
    """

    folder: Path
    spec: str
    method: str
    view: str
    seed: int
    learning_rate: float
    dev_accuracy: float
    monitor: str
    best_epoch: int
    history: tuple[Epoch, ...]
    stopped: str
    n_train: int
    n_dev: int
    pruned: bool
    cut: Mapping[str, int] = field(default_factory=dict)


def training_parts(
    train: Sequence[Item], dev: Sequence[Item], how: TrainingOptions
) -> tuple[TrainingSettings, tuple[Rows, Rows]]:
    """Return the settings of a training, and its two parts as the view shows them.

    Errors: those of :func:`~lexiscope.training._labelled_items.rows_of`.
    """
    asked, view = how.get("settings") or TrainingSettings(), how["view"]
    given = (train, "train", asked.max_rows), (dev, "dev", asked.max_dev_rows)
    learnt, chosen = (rows_of(items, part, view, at_most=at_most) for items, part, at_most in given)
    return asked, (learnt, chosen)


def train_folder(
    job: Job,
    base: Base,
    shape: Shape,
    build: Build,
    how: TrainingOptions,
    *,
    finish: Finish | None = None,
    store: Path | None = None,
) -> TrainedModel:
    """Train a model on a job and write it to a folder that a subject loads.

    The same call on the same folder does nothing if the training is finished and continues it if it was interrupted; on
    one thread of a CPU the resulting files are identical. *store*, if nothing is learnt: a folder for files that are
    the same in every view.
    Errors: :class:`RunError` for a folder of another training, or a damaged checkpoint; :class:`SubjectError` for a
    model that cannot be read; :class:`MissingExtraError`; those of *build*.
    """
    begun = time.monotonic()
    settings, out = job.settings, how["out"]
    claim = job.claim(base)
    with isolated_torch(settings.device, settings.threads), folder_lock(out):
        check_claim(out, claim, _FOREIGN)
        if not (out / RECORD).is_file():
            reader = LoadedClassifier(base.folder, shape, device=settings.device, start=seed_of(job.seed))
            lessons = build(reader)
            write_json(out / CLAIM, claim)
            where: TrainingPlace = {"seed": job.seed, "folder": out, "versions": deciding_versions()}
            course = train_reader(reader, lessons, settings, **(where | {"progress": how.get("progress")}))

            def write(folder: Path) -> list[str]:
                return [*_write_weights(folder, reader, base), *(finish(reader, folder) if finish else ())]

            # what decides the files of a training that learns nothing
            common = {name: value for name, value in claim.items() if name not in ("view", "items", "seed")}
            content = [common, deciding_versions()]
            files = put_shared(store, content, out, write) if store else manifest(out, write(out))
            more = {"shape": asdict(shape), "command": list(how.get("command", ())), "cut": dict(lessons.cut)}
            _write_record(out, job, claim, course, files, more)
            write_machine(out, time.monotonic() - begun)
        # with what a killed process may have begun to write there
        shutil.rmtree(out / FOLDER, ignore_errors=True)
    return read_training(out)


def write_untrained(
    job: Job, base: Base | None, *, out: Path, figure: Callable[[], tuple[float, Mapping[str, Any]]]
) -> TrainedModel:
    """Write the folder of a job that needs no steps: *figure* gives its figure on dev and what it found (``cut``
    of it as in :class:`TrainedModel`).

    Errors: :class:`RunError` for a folder of another training; those of *figure*.
    """
    begun, claim = time.monotonic(), job.claim(base)
    with folder_lock(out):
        check_claim(out, claim, _FOREIGN)
        if not (out / RECORD).is_file():
            write_json(out / CLAIM, claim)
            dev, findings = figure()
            course = TrainingOutcome(history=[Epoch(0, 0.0, dev)], stopped="no training was needed")
            decided = {name: value for name, value in findings.items() if name != "cut"}
            _write_record(out, job, claim | decided, course, {}, {"cut": findings.get("cut", {})})
            write_machine(out, time.monotonic() - begun)
    return read_training(out)


_FOREIGN = (RECORD, "config.json", "model.safetensors", HEAD, ENCODER)


def read_training(folder: Path) -> TrainedModel:
    """Return a finished training. Errors: :class:`RunError` where its record cannot be read."""
    about = read_json(folder / RECORD)
    training = about["training"]
    return TrainedModel(
        folder=folder,
        spec=f"{about['kind']}:{folder}",
        method=training["method"],
        view=training["view"],
        seed=training["seed"],
        learning_rate=training["settings"]["learning_rate"],
        dev_accuracy=about["dev"],
        monitor=about["monitor"],
        best_epoch=about["best_epoch"],
        history=tuple(Epoch(**epoch) for epoch in about["history"]),
        stopped=about["stopped"],
        n_train=training["items"]["train"]["n"],
        n_dev=training["items"]["dev"]["n"],
        pruned=bool(about.get("pruned")),
        cut=dict(sorted(about.get("cut", {}).items(), reverse=True)),
    )


def delete_weights(folder: Path) -> None:
    """Delete the weights of a finished training and keep its record, which says so."""
    with folder_lock(folder):
        write_json(folder / RECORD, read_json(folder / RECORD) | {"pruned": True})
        shutil.rmtree(folder / ENCODER, ignore_errors=True)
        for name in (HEAD, VECTORS):
            (folder / name).unlink(missing_ok=True)


def _write_record(
    out: Path,
    job: Job,
    claim: Mapping[str, Any],
    course: TrainingOutcome,
    files: Mapping[str, str],
    more: Mapping[str, Any],
) -> None:
    best = max(course.best_epoch, 1)
    record = {
        "kind": job.kind,
        "training": dict(claim),
        "monitor": job.monitor,
        "dev": course.history[best - 1].dev,
        "history": [asdict(epoch) for epoch in course.history],
        "best_epoch": course.best_epoch,
        "stopped": course.stopped,
        "files": dict(files),
        "versions": versions() | deciding_versions(),
        **more,
    }
    # through JSON: what is sealed is what will be read
    record = json.loads(json.dumps(record))
    write_json(out / RECORD, record | {SEAL: seal_of(record)})


def _write_weights(out: Path, reader: LoadedClassifier, base: Base) -> list[str]:
    """Write the encoder as a model folder, with the base's own tokenizer, and the layer on top; return the names."""
    safetensors = require("safetensors.torch", "models")
    folder = out / ENCODER
    state = {name: weight.detach().cpu().clone() for name, weight in sorted(reader.model.state_dict().items())}
    write_atomically(folder / "model.safetensors", safetensors.save(state, metadata={"format": "pt"}))
    config = read_json(base.folder.path / "config.json")
    # the weights were learnt in single precision, also if the base was kept in another
    single = {name: "float32" for name in ("dtype", "torch_dtype") if name in config}
    write_atomically(folder / "config.json", json.dumps(config | single, indent=2, sort_keys=True) + "\n")
    names = [f"{ENCODER}/model.safetensors", f"{ENCODER}/config.json"]
    for name in TOKENIZER_FILES:
        if (base.folder.path / name).is_file():
            write_atomically(folder / name, (base.folder.path / name).read_bytes())
            names.append(f"{ENCODER}/{name}")
    if reader.head is not None:
        layer = {name: weight.detach().cpu().clone() for name, weight in reader.head.state_dict().items()}
        write_atomically(out / HEAD, safetensors.save(layer, metadata={"format": "pt"}))
        names.append(HEAD)
    return names


# -- files that several trainings have in common --------------------------------------------------------------------
# Files that several trainings have in common: written once to a store, then given to the folder of each.
#
# An encoder that learns nothing is the same in every view, and so are the vectors of its entries. They lie in a folder
# of the store that is named by a hash of all that decides them, and gets this name when it is whole. Every training is
# given second names (hard links) of the same files, or copies where the file system has no such names: its own folder
# needs no other folder, and the store may be deleted.


_CHECKSUMS = "checksums.json"


def put_shared(store: Path, content: object, out: Path, write: Callable[[Path], Sequence[str]]) -> dict[str, str]:
    """Put the files that *write* makes in a folder into *out*, and return their sha256 by name.

    *content* is all that decides their bytes (a JSON value): those that an equal one has left in *store* are taken.
    Errors: :class:`RunError` naming files of the store that are missing or damaged, or cannot be written.
    """
    kept = store / digest(content)[:40]
    if kept.is_dir():
        _check_shared(kept)
    else:
        # another process may be faster: its files serve as well
        with atomic_folder(kept, keep_earlier=True) as begun:
            write_json(begun / _CHECKSUMS, manifest(begun, write(begun)))
    files = read_json(kept / _CHECKSUMS)
    for name in files:
        _link_or_copy(kept / name, out / name)
    return files


def _check_shared(kept: Path) -> None:
    paths = {kept / name: expected for name, expected in read_json(kept / _CHECKSUMS).items()}
    wrong = [path.name for path, expected in paths.items() if not path.is_file() or sha256_of(path) != expected]
    if wrong:
        why = f"not as it was written: {', '.join(wrong)}"
        hint = "delete this folder and run the same command again: it will be written again"
        raise RunError("these files of an untrained encoder are damaged", place=Place(str(kept)), why=why, hint=hint)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.hardlink_to(source)
    except OSError:
        write_atomically(target, source.read_bytes())


def task_learnt_by(method: str) -> str:
    """Return the first task whose answers a method learns: the tasks say it."""
    return catalog.tasks_where(lambda task: task.learnt == method)[0]
