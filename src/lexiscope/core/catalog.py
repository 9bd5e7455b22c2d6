"""The catalog: what datasets, tasks, subjects and studies there are, found by file name without importing them.

Nothing is registered by hand. A new file (or folder) in ``datasets/``, ``tasks/``, ``subjects/`` or ``studies/`` is in
the catalog; names that start with an underscore are not.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import pkgutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from lexiscope.core.errors import SpecError
from lexiscope.core.subject import Subject, SubjectSpec

if TYPE_CHECKING:
    # datasets and tasks bring pyarrow, which listing names does not need
    from lexiscope.core.dataset import Dataset, DatasetCard
    from lexiscope.core.screen import Screen
    from lexiscope.core.task import Task

Kind = Literal["datasets", "tasks", "subjects", "studies"]
KINDS: tuple[Kind, ...] = ("datasets", "tasks", "subjects", "studies")


def names(kind: Kind) -> tuple[str, ...]:
    """Return the names in one room of the catalog, sorted, without importing anything in it."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules([str(_room(kind))]) if info.name[0] != "_"))


def summary(kind: Kind, name: str) -> str:
    """Return the first sentence of a file's docstring, read as text."""
    source = _source(kind, name)
    doc = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return doc.split("\n\n")[0].replace("\n", " ").strip()


def module(kind: Kind, name: str) -> object:
    """Import the file of that name and return it.

    Errors: :class:`SpecError` with the nearest known name.
    """
    known = names(kind)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
        raise SpecError(f"there is no {name!r} among the {kind}", hint=f"{hint} (lexiscope list {kind})")
    return importlib.import_module(f"lexiscope.{kind}.{name}")


def card(name: str) -> DatasetCard:
    """Return the card of a dataset; options behind its name are not looked at."""
    return cast("DatasetCard", getattr(module("datasets", name.partition("?")[0]), "CARD"))  # noqa: B009


def dataset(name: str) -> Dataset:
    """Load a dataset: items, recorded answers, checksums.

    Options follow a question mark, as in the spec of a subject: ``am2ico?language=zh``. A dataset's ``OPTIONS`` are
    those that it has.
    Errors: :class:`SpecError` for an option that it does not have; those of the dataset's ``load``.
    """
    plain, _, query = name.partition("?")
    known = dataset_options(plain)
    options = [part.partition("=") for part in query.split("&") if part]
    wrong = [key for key, _, value in options if key not in known or not value]
    if wrong:
        hint = f"write {plain}?{known[0]}=…" if known else "write its name alone"
        raise SpecError(f"{plain} has no option {wrong[0]!r} with a value", hint=hint)
    load = cast("Callable[..., Dataset]", getattr(module("datasets", plain), "load"))  # noqa: B009
    return load(**{key: value for key, _, value in options})


def dataset_options(name: str) -> tuple[str, ...]:
    """Return the options that a dataset can be loaded with, such as ``language``."""
    return cast(tuple[str, ...], getattr(module("datasets", name), "OPTIONS", ()))


def task(name: str) -> Task:
    """Return a task."""
    return cast("Task", getattr(module("tasks", name), "TASK"))  # noqa: B009


def screen(name: str) -> Screen:
    """Return what people see of a task.

    Errors: :class:`SpecError` for a task that people are not asked.
    """
    found = getattr(module("tasks", name), "SCREEN", None)
    if found is None:
        raise SpecError(f"the task {name!r} has no screen: people cannot be asked it")
    return cast("Screen", found)


def subject(spec: SubjectSpec | str) -> Subject:
    """Make the subject that a spec names. Weights are read when it is first asked, not here."""
    parsed = SubjectSpec.parse(spec) if isinstance(spec, str) else spec
    load = cast(Callable[[SubjectSpec], Subject], getattr(module("subjects", parsed.kind), "load"))  # noqa: B009
    return load(parsed)


def subject_capabilities(kind: str) -> tuple[str, ...]:
    """Return the capabilities that a kind of subject declares (its file's ``CAPABILITIES``)."""
    return cast(tuple[str, ...], getattr(module("subjects", kind), "CAPABILITIES"))  # noqa: B009


def subject_tasks(kind: str) -> tuple[str, ...]:
    """Return the tasks that a kind of subject answers at all: its file's ``TASKS``, else all.

    A single subject may answer fewer: a classifier the task of its training, a baseline those of its rule.
    """
    return cast(tuple[str, ...], getattr(module("subjects", kind), "TASKS", names("tasks")))


def pairings() -> tuple[tuple[str, str, str], ...]:
    """Return every (task, kind of subject, capability by which it answers) for which some subject of the kind answers.

    A test offers each kind an item of each task: the pairings of this list answer, all others are refused.
    """
    found = []
    for task_name in names("tasks"):
        asked = task(task_name)
        for kind in names("subjects"):
            able = subject_capabilities(kind) if task_name in subject_tasks(kind) else ()
            if asked.asks is None and getattr(module("subjects", kind), "CONVERSES", False):
                # what judges in conversation cannot judge what is not asked in words
                able = tuple(capability for capability in able if capability != "Judges")
            fits = [capability for capability, _ in asked.answers if capability in able]
            found += [(task_name, kind, fits[0])] if fits else []
    return tuple(found)


def _room(kind: Kind) -> Path:
    spec = find_spec(f"lexiscope.{kind}")
    if spec is None or not spec.submodule_search_locations:
        raise SpecError(f"there is no room {kind!r} in the catalog")
    return Path(spec.submodule_search_locations[0])


def _source(kind: Kind, name: str) -> Path:
    if name not in names(kind):
        module(kind, name)
    room = _room(kind)
    return room / name / "__init__.py" if (room / name).is_dir() else room / f"{name}.py"
