"""A run of any rated items: the file or dataset that it reads, the conditions of the items, the live subjects asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.norms.norms import norms
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import InputError
from lexiscope.core.item import Condition
from lexiscope.core.prompt import Converses
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Record
from lexiscope.core.scale import Scale
from lexiscope.core.settings import RatedFileSettings
from lexiscope.core.simulated import COLLECTED
from lexiscope.core.subject import Subject
from lexiscope.items.tables.understood import Understanding
from lexiscope.report.page.simulated import marked_table
from lexiscope.report.page.stored import write_table
from lexiscope.report.part import distinct_titles
from lexiscope.report.parts.people_tables import norms_table
from lexiscope.studies.kit.data import askable
from lexiscope.studies.kit.languages import language_remarks
from lexiscope.studies.kit.rated_file import WORD, RatedFile, read_rated_file
from lexiscope.studies.kit.run import Run

F = TypeVar("F", bound=RatedFileSettings)
_FEWEST_OF_LEVEL = 2
_MOST_LEVELS = 12


@dataclass(frozen=True, eq=False)
class ConditionedRun(Run[F]):
    """A run of rated items whose conditions are found in the data; ``titles`` are those of the live subjects, by id."""

    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> Mapping[str, str]:
        """What subjects are called in the report: by their own titles, or by their ids."""
        known = {facts.subject_id: facts.short_title for facts in self.data.subjects if facts.title}
        known |= self.titles
        return {**super().names, **dict(zip(known, distinct_titles([*known.values()], [*known]), strict=True))}

    @property
    def own(self) -> bool:
        """Whether the items are the user's own: no paper prints a number of them."""
        return bool(self.settings.file)

    @cached_property
    def conditions(self) -> dict[str, tuple[Condition, ...]]:
        """The conditions of the items with their levels, the value of each item for a number.

        A condition is there for all items, and has two levels or more: at most twelve with two items each, or numbers.
        """
        shared = set.intersection(*(set(item.conditions) for item in self.items)) if self.items else set()
        names = [name for name in self.items[0].conditions if name in shared and name not in (WORD, "catch", "split")]
        values = {name: tuple(item.conditions[name] for item in self.items) for name in names}
        return {name: own for name, own in values.items() if _is_condition(own)}

    def is_number(self, condition: str) -> bool:
        """Return whether a condition is a number (a frequency), not a factor with levels."""
        values = self.conditions[condition]
        return len(set(values)) > 2 and all(_number(value) is not None for value in values)

    def numbers(self, condition: str) -> NDArray[np.float64]:
        """Return the value of each item in a condition that is a number. *Shape:* (items,)."""
        return np.array([_number(value) for value in self.conditions[condition]], dtype=np.float64)

    @property
    def factors(self) -> list[str]:
        """The conditions with levels."""
        return [name for name in self.conditions if not self.is_number(name)]

    def levels(self, condition: str) -> list[Condition]:
        """Return the levels of a factor, in sorted order."""
        return sorted(set(self.conditions[condition]), key=str)


def _is_condition(values: tuple[Condition, ...]) -> bool:
    distinct = set(values)
    if len(distinct) < 2 or "" in distinct:
        return False
    if len(distinct) > 2 and all(_number(value) is not None for value in distinct):
        return True
    return len(distinct) <= _MOST_LEVELS and len(distinct) * _FEWEST_OF_LEVEL <= len(values)


def _number(value: Condition) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


# -- where they come from -------------------------------------------------------------------------------------------


def read_rated(settings: RatedFileSettings) -> RatedFile:
    """Return the dataset of a run, or what its file holds. Errors: those of the reader."""
    if not settings.file:
        data = catalog.dataset(settings.dataset)
        return RatedFile(data, Understanding(data.card.name))
    return read_rated_file(
        settings.file,
        items=settings.items,
        task=settings.task,
        language=settings.language,
        scale=None if settings.scale is None else Scale.between(*settings.scale),
        options=settings,
    )


def _check_scale(data: Dataset, task: str) -> None:
    """Refuse to ask a model on the scale of the task, where people's ratings show that they had another one."""
    asked = catalog.task(task).scale
    values = data.responses.where(measure=("rating", "norm"), subject_kind=(*COLLECTED, "norm")).column("value")
    known = values.astype(float)[~np.isnan(values.astype(float))]
    if asked is None or data.items[0].scale is not None or not len(known):
        return
    if not asked.low <= known.min() <= known.max() <= asked.high:
        what = (
            f"Ratings range from {known.min():g} to {known.max():g}; {task} asks from {asked.low:g} to {asked.high:g}."
        )
        hint = "Name the scale that people had, so that models are asked on it: --scale LOW HIGH"
        raise InputError(what, code="E301", hint=hint)


@dataclass(frozen=True, slots=True)
class AskedSubjects:
    """The answers of the live subjects of a run, their titles, why others were not asked, remarks on languages; and
    the subjects themselves.
    """

    answers: ResponseTable
    unasked: Mapping[str, str]
    remarks: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    subjects: tuple[Subject, ...] = ()


def ask_subjects(
    settings: RatedFileSettings, data: Dataset, folder: Path, progress: CollectProgress | None = None
) -> AskedSubjects:
    """Let the live subjects of a run answer its items (kept below *folder*).

    Errors: :class:`InputError` for ratings without texts, and for models that are asked on another scale than people.
    """
    if not settings.subjects:
        return AskedSubjects(ResponseTable.empty(), {})
    if not all(item.usages for item in data.items):
        hint = "add the items with their sentences: --items FILE"
        raise InputError("These ratings come without texts: models cannot be asked.", hint=hint)
    # a published dataset has its own question, which people answered
    task = settings.task if settings.file else data.card.task
    live, unasked = askable(live_subjects(settings.subjects, settings, task), data.items, task)
    if any(isinstance(subject, Converses) for subject in live):
        _check_scale(data, task)
    place, seed = folder / "collected", settings.seed
    answers = collect(data.items, live, task, out=place, seed=seed, progress=progress)
    titles = {subject.subject_id: subject.facts.short_title for subject in live if subject.facts.title}
    remarks = tuple(language_remarks(live, data.items))
    return AskedSubjects(answers, unasked, remarks, titles, tuple(live))


# -- a table of its own ---------------------------------------------------------------------------------------------


def write_norms(run: Run[Any], folder: Path, _records: Sequence[Record]) -> Sequence[str]:
    """Write the mean rating of each item to ``tables/norms.csv``; nothing without ratings. Returns the files."""
    if not run.has("ratings"):
        return ()
    table = norms_table(run.items, norms(run.people))
    return write_table(marked_table(table) if holds_simulated(run.responses) else table, folder / "tables")
