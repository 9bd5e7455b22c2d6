"""A LoRA adapter on its base model: the two folders as one, and the adapter's weights put into the loaded base.

An adapter folder holds ``adapter_config.json`` and ``adapter_model.safetensors``. One that ``lexiscope train lora``
wrote also says, in ``run.json``, which base it was trained on and the hash of that base; another base is an error.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.core.run import sha256_of
from lexiscope.subjects.local._model_check import file_error, first_line, read_header, read_object
from lexiscope.subjects.local._model_folder import ModelFolder, locate_folder

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
CLAIM = "training.json"
RECORD = "run.json"

# the other ways to begin an adapter change the base's own weights
_PLAIN_STARTS = (True, False, "gaussian", None)


@dataclass(frozen=True, slots=True)
class AdaptedFolder(ModelFolder):
    """A base model's folder with an adapter on it; ``path`` is the base.

    ``adapter``: the adapter's folder. ``base_revision``: what the base hashes to. ``known_base``: that hash was
    compared with the one of the training.
    """

    adapter: Path
    base_revision: str
    known_base: bool

    def check(self) -> None:
        """Check the base as any model, and that the adapter's weights are whole.

        Errors: :class:`SubjectError` naming what is missing or damaged.
        """
        ModelFolder.check(self)
        header = read_header(self.adapter / WEIGHTS)
        rank = read_object(self.adapter / CONFIG).get("r")
        if not isinstance(rank, int) or not any(rank in tensor["shape"] for tensor in header.values()):
            why = f"its rank r is {str(rank)[:80]}, which no weight has"
            raise file_error(self.adapter / CONFIG, "this configuration is of another adapter", why)

    def n_parameters(self, *, head: bool = False) -> int:
        """Count the parameters of the base and of the adapter."""
        added: int = sum(math.prod(tensor["shape"]) for tensor in read_header(self.adapter / WEIGHTS).values())
        return ModelFolder.n_parameters(self, head=head) + added

    def revision(self, *, memory: Path | None = None) -> str:
        """Return one sha256 over the base's revision and the adapter's files; *memory* is not needed."""
        parts = [self.base_revision, *(sha256_of(self.adapter / name) for name in (CONFIG, WEIGHTS))]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def locate_model(name: str, revision: str, *, allow: tuple[str, ...], base: str = "") -> ModelFolder:
    """Return the folder of a model, or of an adapter with its base; *base* says where the base lies now.

    Errors: those of :func:`locate`; :class:`SubjectError` for a training that is not finished, an adapter whose bytes
    are not those of the training, a base that is not the one of the training, and a base for a model that is not an
    adapter.
    """
    folder = locate_folder(name, revision, allow=(*allow, CONFIG, WEIGHTS, RECORD, CLAIM))
    path = folder.path
    if (path / CLAIM).is_file() and not (path / RECORD).is_file():
        hint = "run the command that began it again: it continues from its last checkpoint"
        raise SubjectError("the training in this folder is not finished", place=Place(str(path)), hint=hint)
    if not (path / CONFIG).is_file():
        if base:
            raise SubjectError("only an adapter has a base", place=Place(str(path)), why=f"there is no {CONFIG}")
        return folder
    if (path / "config.json").is_file():
        what = "this folder holds both a model and an adapter"
        raise SubjectError(what, place=Place(str(path)), hint="keep them in two folders")
    return _adapted_folder(path, base, allow)


def _adapted_folder(path: Path, base: str, allow: tuple[str, ...]) -> AdaptedFolder:
    config = read_object(path / CONFIG)
    _check_kind(config, path)
    record = read_object(path / RECORD) if (path / RECORD).is_file() else {}
    _check_bytes(record, path)
    base_of_record = record.get("base")
    trained = base_of_record if isinstance(base_of_record, dict) else {}
    named = trained.get("name") or config.get("base_model_name_or_path") or ""
    if not isinstance(named, str):
        raise file_error(path / CONFIG, "this adapter does not name its base model", f"it says {str(named)[:80]}")
    revision = "" if base else str(trained.get("revision") or config.get("revision") or "")
    if not (base or named):
        hint = "say where it lies: ?base=FOLDER"
        raise SubjectError("this adapter does not name its base model", place=Place(str(path)), hint=hint)
    folder = _base_folder(base or named, revision, allow, path)
    actual = folder.revision()
    expected = trained.get("sha256")
    if expected and actual != expected:
        raise SubjectError(
            f"this adapter was trained on another base than {base or named!r}",
            place=Place(str(path)),
            why=f"the base hashes to {actual}, that of the training to {expected}",
            hint="name the folder of the base that it was trained on: ?base=FOLDER",
        )
    return AdaptedFolder(folder.path, path, actual, bool(expected))


def _base_folder(name: str, revision: str, allow: tuple[str, ...], adapter: Path) -> ModelFolder:
    folder = Path(name).expanduser()
    if folder.is_absolute() and not folder.is_dir():
        what = f"the base model of this adapter is no longer at {name!r}"
        raise SubjectError(what, place=Place(str(adapter)), hint="say where it lies now: ?base=FOLDER")
    model = locate_folder(name, revision, allow=allow)
    if (model.path / CONFIG).is_file():
        raise SubjectError("the base of an adapter is a whole model, not an adapter", place=Place(str(model.path)))
    return model


def _check_kind(config: dict[str, Any], path: Path) -> None:
    kind, start = config.get("peft_type"), config.get("init_lora_weights")
    if kind != "LORA" or not isinstance(start, str | bool | None) or start not in _PLAIN_STARTS:
        what = f"only plain LoRA adapters can be read, not {kind} begun with {start!r}"
        raise SubjectError(what, place=Place(str(path / CONFIG)))
    if not (path / WEIGHTS).is_file():
        raise SubjectError(f"this adapter has no weights: {WEIGHTS} is missing", place=Place(str(path)))


def _check_bytes(record: dict[str, Any], path: Path) -> None:
    files = record.get("files") or {}
    if not isinstance(files, dict):
        raise file_error(path / RECORD, "the record of this training is damaged", "its files are not an object")
    for name, expected in files.items():
        if name in (CONFIG, WEIGHTS) and sha256_of(path / name) != expected:
            raise SubjectError(
                "this file of a trained adapter is not as it was written",
                place=Place(str(path / name)),
                hint="train it again, or copy the folder again",
            )


def add_adapter(model: Any, folder: AdaptedFolder) -> Any:
    """Put an adapter into a loaded base model, ready for reading; the adapter is not merged into the base's weights.

    Unmerged, the model computes what it computed in training, bit for bit.
    Errors: :class:`SubjectError` where the adapter does not fit the model; :class:`MissingExtraError`.
    """
    peft = require("peft", "train")
    safetensors = require("safetensors.torch", "models")
    try:
        config = peft.PeftConfig.from_pretrained(str(folder.adapter))
        config.inference_mode = True
        wrapped = peft.get_peft_model(model, config)
        state = safetensors.load_file(str(folder.adapter / WEIGHTS))
        expected = set(peft.get_peft_model_state_dict(wrapped))
        if set(state) != expected:
            differing = sorted(set(state) ^ expected)
            raise _fit_error(folder, f"absent or unknown: {', '.join(differing[:5])}")
        peft.set_peft_model_state_dict(wrapped, state)
    except (SubjectError, MemoryError):
        raise
    except Exception as error:
        raise _fit_error(folder, first_line(error)) from error
    return wrapped.get_base_model().eval().requires_grad_(False)


def _fit_error(folder: AdaptedFolder, why: str) -> SubjectError:
    return SubjectError("the adapter does not fit its base model", place=Place(str(folder.adapter)), why=why)
