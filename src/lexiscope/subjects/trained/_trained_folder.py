"""The folder of a trained model: what was trained, how and on which view, with its weights sealed by checksums.

``run.json`` is written last: a folder without it is not finished. ``training.json`` is the plan of the training;
``encoder/`` is a model folder like any other, ``head.safetensors`` the layer on top of it. A probe has no weights; a
bi-encoder has its search space in the folder too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.core.item import Item
from lexiscope.core.run import sha256_of
from lexiscope.items.arrange.views import CONTEXT, CONTEXT_SPAN, GUESSED_WORD, MASK
from lexiscope.subjects.local._adapter import CLAIM, RECORD
from lexiscope.subjects.local._model_check import check_model_place, file_error, read_object
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.trained._encoder import LoadedClassifier, Shape
from lexiscope.subjects.trained._wording import Wording

ENCODER, HEAD = "encoder", "head.safetensors"
SEAL = "seal"
ENTRIES, VECTORS = "entries.jsonl", "vectors.npy"


@dataclass(frozen=True)
class TrainedFolder:
    """A folder that a training wrote. *kind* is the kind of subject that it must hold."""

    path: Path
    kind: str

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record of the training.

        Errors: :class:`SubjectError` where there is none, it is not finished, of another kind, or was changed.
        """
        check_model_place(self.path)
        hint = f"name a folder that `lexiscope train {self.kind}` wrote"
        if not (self.path / RECORD).is_file():
            begun = (self.path / CLAIM).is_file()
            what = "this training is not finished" if begun else f"this folder holds no trained {self.kind}"
            again = "run the same training again: it continues where it was interrupted"
            raise SubjectError(what, place=Place(str(self.path)), hint=again if begun else hint)
        record = read_object(self.path / RECORD)
        if record.get("kind") != self.kind:
            what = f"this folder holds a {record.get('kind')!r}, not a {self.kind!r}"
            raise SubjectError(what, place=Place(str(self.path)), hint=hint)
        if not all(isinstance(record.get(name), dict) for name in ("training", "files")):
            raise file_error(
                self.path / RECORD, "the record of this training is damaged", "it has no training or no files"
            )
        if self._is_changed(record):
            what = "the record of this training is not as the training wrote it"
            why = "what it says of the view, the items or the settings may not be what was learnt"
            again = "put the file back as it was, or train it again, in another folder"
            raise SubjectError(what, place=Place(str(self.path / RECORD)), why=why, hint=again)
        return record

    def _is_changed(self, record: dict[str, Any]) -> bool:
        if SEAL in record:
            return bool(record[SEAL] != seal_of(record))
        # records of earlier versions have no seal
        training = record["training"]
        return any(training.get(name) != value for name, value in read_object(self.path / CLAIM).items())

    def check(self) -> None:
        """Check that the files of the training are there and as they were written; large ones are hashed once.

        Errors: :class:`SubjectError` naming the file that is missing or damaged.
        """
        _ = self._files_checked

    @cached_property
    def _files_checked(self) -> bool:
        if self.record.get("pruned"):
            what = "the weights of this training were deleted: another one of its grid was better on dev"
            raise SubjectError(what, place=Place(str(self.path)), hint="name the folder that the selection chose")
        for name, expected in self.record["files"].items():
            path = self.path / name
            actual = sha256_of(path) if path.is_file() else "nothing"
            if actual != expected:
                why = f"it hashes to {actual[:16]}, written was {expected[:16]}"
                what = "this file of a trained model is missing or damaged"
                raise SubjectError(what, place=Place(str(path)), why=why, hint="train it again, in another folder")
        return True

    @property
    def revision(self) -> str:
        """One sha256 over what was trained and the checksums of its files."""
        lines = json.dumps([self.record["training"], self.record["files"]], sort_keys=True)
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def view(self) -> str:
        """The view on which it was trained."""
        return self._training_text("view")

    @property
    def method(self) -> str:
        """How it was trained: ``pair``, ``gloss``, ``verification``, ``threshold``, ``label``, ``bi_encoder``."""
        return self._training_text("method")

    @property
    def task(self) -> str:
        """The task whose items it answers."""
        return self._training_text("task")

    def _training_text(self, name: str) -> str:
        if not isinstance(self.record["training"].get(name), str):
            raise file_error(
                self.path / RECORD, "the record of this training is damaged", f"it does not say the {name}"
            )
        return str(self.record["training"][name])

    def check_view(self, view: str) -> None:
        """Refuse a view on which it was not trained; the guessed word goes to a model of the view ``full``.

        Errors: :class:`SubjectError`.
        """
        if view == self.view or (view == GUESSED_WORD and self.view == "full"):
            return
        raise SubjectError(
            f"this model was trained on the view {self.view!r} and is asked in the view {view!r}",
            place=Place(str(self.path)),
            why="its answers would measure how it copes with an unfamiliar input, not what that input tells",
            hint=f"ask it with --view {self.view}, or train another one on {view!r}",
        )

    def check_shown(self, items: Sequence[Item]) -> None:
        """Refuse items of the view ``label`` where the model was trained on contexts: both hide the target.

        A text of one word has no context, and looks the same in both views: one such item among others is answered.
        Errors: :class:`SubjectError`.
        """
        bare = all(usage.text == MASK for item in items for usage in item.usages)
        if self.view in (CONTEXT, CONTEXT_SPAN) and items and bare:
            what = (
                f"the items are not shown in the view {self.view!r}, on which the model was trained: nothing is shown"
            )
            raise SubjectError(what, place=Place(item_id=items[0].item_id), hint=f"ask it with --view {self.view}")

    def check_task(self, task: str) -> None:
        """Refuse another task.

        Errors: :class:`SubjectError`.
        """
        if task != self.task:
            what = f"this model was trained to answer {self.task!r} and is asked {task!r}"
            raise SubjectError(what, place=Place(str(self.path)), hint=f"ask it --task {self.task}")

    def facts(self, subject_id: str) -> SubjectFacts:
        """What is known of it; the objective says method and view."""
        training = self.record["training"]
        base = training.get("encoder", {})
        if not isinstance(base, dict):
            why = f"its encoder is a {type(base).__name__}"
            raise file_error(self.path / RECORD, "the record of this training is damaged", why)
        folder = self.path / ENCODER
        model = ModelFolder(folder) if (folder / "config.json").is_file() else None
        return SubjectFacts(
            subject_id=subject_id,
            title=f"{self.method} on {self.view} ({base.get('name', 'no encoder')})",
            kind=self.kind,
            objective=f"{self.method}, trained on the view {self.view}",
            n_layers=model.n_layers if model else None,
            width=model.width if model else None,
            n_parameters=model.n_parameters() if model else 0,
            revision=self.revision,
            source=str(self.path),
        )

    def reader(self, *, device: str) -> LoadedClassifier:
        """Load the encoder and the layer on top of it.

        Errors: those of :meth:`check`; :class:`SubjectError` where the weights do not fit.
        """
        self.check()
        try:
            shape = Shape(**self.record["shape"])
        except (KeyError, TypeError) as error:
            raise file_error(
                self.path / RECORD, "the record of this training is damaged", f"its shape: {error}"
            ) from error
        reader = LoadedClassifier(ModelFolder(self.path / ENCODER), shape, device=device)
        if reader.head is not None:
            try:
                reader.head.load_state_dict(read_tensors(self.path / HEAD))
            except RuntimeError as error:
                what = "these weights do not fit the record of the training"
                raise file_error(self.path / HEAD, what, str(error)) from error
        return reader


class TrainedSubject:
    """What every subject of a trained folder says of itself. *name* is the folder; *device* changes its speed alone."""

    kind = ""

    def __init__(self, name: str, *, device: str) -> None:
        self.name, self.device = name, device
        self.folder = TrainedFolder(Path(name).expanduser(), self.kind)

    @property
    def subject_id(self) -> str:
        """Its spec, without options: none changes its answers."""
        return f"{self.kind}:{self.name}"

    @property
    def facts(self) -> SubjectFacts:
        """What the record of its training says. Errors: :class:`SubjectError` where the folder holds none."""
        return self.folder.facts(self.subject_id)

    @property
    def settings(self) -> dict[str, Any]:
        """How it was trained and how it is run, for the run record."""
        training = self.folder.record["training"]
        return {"view": self.folder.view, "method": self.folder.method, "training": training, "device": self.device}

    @property
    def tasks(self) -> tuple[str, ...]:
        """The task that it was trained for. Errors: :class:`SubjectError` where the folder holds no training."""
        return (self.folder.task,)

    def check_view(self, view: str) -> None:
        """Refuse a view on which it was not trained. Errors: :class:`SubjectError`."""
        self.folder.check_view(view)

    @cached_property
    def _reader(self) -> LoadedClassifier:
        return self.folder.reader(device=self.device)

    @cached_property
    def _wording(self) -> Wording:
        return Wording(self.folder.view, self._reader.mask)


def seal_of(record: Mapping[str, Any]) -> str:
    """Return one sha256 over a record but for its seal, and for the note that its weights were deleted."""
    kept = {name: value for name, value in record.items() if name not in (SEAL, "pruned")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def read_tensors(path: Path) -> dict[str, Any]:
    """Read a safetensors file. Errors: :class:`SubjectError` where it is damaged."""
    safetensors = require("safetensors", "models")
    try:
        with safetensors.safe_open(str(path), framework="pt") as stream:
            return {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118 (it is no dictionary)
    except (OSError, safetensors.SafetensorError) as error:
        raise SubjectError("this file of weights cannot be read", place=Place(str(path)), why=str(error)) from error
