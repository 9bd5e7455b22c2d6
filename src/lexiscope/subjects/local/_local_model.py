"""What every model that runs here says of itself: its folder, what its bytes hash to, its facts."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.spec import with_options
from lexiscope.core.subject import WorkShare
from lexiscope.subjects.local._loading import may_run_own_code
from lexiscope.subjects.local._model_folder import TOKENIZER_FILES, ModelFolder, locate_folder

_LOADED = ("forward", "_forward", "_route_check")
_Model = TypeVar("_Model", bound="LocalModel")


class RunOptions(Protocol):
    """The options that every model that runs here has."""

    @property
    def trust_remote_code(self) -> str:
        """The revision of the model whose own Python code may be run; empty = none."""


class LocalModel:
    """A model in a folder or of the hub; *revision* is a branch, tag or commit of the hub."""

    kind = ""
    objective = ""
    further_files: tuple[str, ...] = ()
    """The files that only some kinds of model need, asked of a hub."""
    share = WorkShare()
    """Which batches of a request are computed first, if several workers answer it."""

    def __init__(self, name: str, revision: str, options: RunOptions) -> None:
        self.name, self.hub_revision = name, revision
        self._trusted_revision = options.trust_remote_code

    @cached_property
    def folder(self) -> ModelFolder:
        """The model's folder, checked.

        Errors: :class:`SubjectError` naming what is missing; :class:`MissingExtraError`.
        """
        code = ("*.py",) if self._trusted_revision else ()
        files = ("*.safetensors", "*.index.json", "config.json", *TOKENIZER_FILES, *self.further_files, *code)
        folder = self._locate(files)
        folder.check()
        return folder

    def _locate(self, files: tuple[str, ...]) -> ModelFolder:
        return locate_folder(self.name, self.hub_revision, allow=files)

    @cached_property
    def revision(self) -> str:
        """One sha256 over configuration, weights, tokenizer and code."""
        return self.folder.revision()

    @property
    def subject_id(self) -> str:
        """Its spec, with the options that change its numbers and without those that only change its speed."""
        revision = f"#{self.hub_revision}" if self.hub_revision else ""
        return with_options(f"{self.kind}:{self.name}{revision}", self._spec_options())

    def _spec_options(self) -> dict[str, str]:
        raise NotImplementedError

    @property
    def facts(self) -> SubjectFacts:
        """What its files say of it; parameters are counted in the headers of the weights."""
        return SubjectFacts(
            subject_id=self.subject_id,
            title=Path(self.name).name,
            kind=self.kind,
            architecture=self.folder.architecture,
            objective=self.objective,
            n_layers=self.folder.n_layers,
            width=self.folder.width,
            n_parameters=self.folder.n_parameters(head=self.objective == "next token"),
            revision=self.revision,
            source=self.name,
            languages=self.folder.languages,
        )

    @cached_property
    def _runs_own_code(self) -> bool:
        named = self._trusted_revision
        revision = self.revision if named else ""
        return may_run_own_code(self.folder, named, hub_revision=self.hub_revision, revision=revision)


def unloaded_copy(model: _Model, share: WorkShare) -> _Model:
    """Return the same model for a worker with this share, without what was loaded: it is sent to another process."""
    same = copy(model)
    same.share = share
    for name in _LOADED:
        same.__dict__.pop(name, None)
    return same
