"""Batteries: what a profile asks, as a YAML file of lines with a version.

A line is a task asked about some items of a dataset in one view, with a statistic, a named ceiling, the fewest items
that give a number, and the family that it belongs to. ``mini`` and ``core-2026.1`` are in the package
(``batteries/``); a file of the user's own has the same form. What a battery asks is fixed by its sha256, which every
profile prints.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError, nearest_name
from lexiscope.core.spec import plain_name
from lexiscope.items.arrange.view_names import VIEW_NAMES
from lexiscope.resources.tables.yaml_source import Key, YamlSource, fault_error, parse_yaml, read_yaml

Family = Literal["relatedness", "same_sense", "plausibility", "synonymy", "structure"]
FAMILIES: Mapping[Family, str] = {
    "relatedness": "Relatedness",
    "same_sense": "Same sense",
    "plausibility": "Plausibility and disagreement",
    "synonymy": "Synonymy and production",
    "structure": "Structure of senses",
}
"""The five families with their titles, in the order of the page."""

Statistic = Literal["spearman", "spread", "accuracy", "auc"]
"""``spearman``: correlation with people's means; ``spread``: with the standard deviations of people's ratings;
``accuracy``: share of correct answers; ``auc``: area under the ROC curve of answers by degree."""
Raters = Literal["persons", "columns"]
"""``persons``: each rater is one person; ``columns``: which ratings are of one person is not published."""

FOLDER = Path(__file__).parent / "batteries"
DEFAULT = "mini"
OF_PEOPLE: tuple[Statistic, ...] = ("spearman", "spread")
"""The statistics that compare answers with people's ratings."""
_COMMENTS = {
    "battery": "the name of the battery",
    "version": "the version of the battery, in quotation marks",
    "lines.line": "a short name of the line, which no other line has",
    "lines.title": "the name of the line for readers",
    "lines.family": f"one of {', '.join(FAMILIES)}",
    "lines.asks": "what is asked, in a few words",
    "lines.task": "a task: lexiscope list tasks",
    "lines.data": "a dataset: lexiscope list datasets",
    "lines.statistic": f"one of {', '.join(get_args(Statistic))}",
    "lines.ceiling": "attainable, mean_of_people, one_person, all_right, or a published figure: {value, name, source}",
}


class PrintedFigure(BaseModel):
    """A figure that a paper prints, of which no rows are published: its value, what it is, and where it is printed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float
    name: str = Field(min_length=1)
    source: str = Field(min_length=1)


class BatteryLine(BaseModel):
    """One line of a battery.

    ``where`` chooses items by their conditions; ``right`` names the condition, and its value, that makes *yes*
    the correct answer of items without one. ``figures`` are printed figures that are shown and are not a
    ceiling. ``wordings`` are further wordings of the task, asked of models that score texts; they are variants, never
    the declared answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    line: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str = Field(min_length=1)
    family: Family
    asks: str = Field(min_length=1)
    task: str
    data: str
    where: dict[str, str | bool | int | float] = {}
    view: str = "full"
    statistic: Statistic
    right: dict[str, str | bool | int | float] = {}
    ceiling: Literal["attainable", "mean_of_people", "one_person", "all_right"] | PrintedFigure
    raters: Raters = "persons"
    least: int = Field(default=30, ge=3)
    figures: tuple[PrintedFigure, ...] = ()
    wordings: tuple[str, ...] = ()
    remark: str = ""

    @property
    def has_people(self) -> bool:
        """Whether the answers are compared with people's ratings."""
        return self.statistic in OF_PEOPLE


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    battery: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    version: str = Field(min_length=1)
    title: str = Field(min_length=1)
    lines: tuple[BatteryLine, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Battery:
    """A battery: its name, version, title, lines, and the sha256 of its file."""

    name: str
    version: str
    title: str
    lines: tuple[BatteryLine, ...]
    sha256: str

    def families(self) -> Iterator[tuple[Family, tuple[BatteryLine, ...]]]:
        """Yield every family with its lines, also one without any, in the order of the page."""
        for family in FAMILIES:
            yield family, tuple(line for line in self.lines if line.family == family)

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}, sha256 {self.sha256[:12]}"


def battery_names() -> tuple[str, ...]:
    """Return the names of the package's own batteries.

    >>> battery_names()
    ('core-2026.1', 'mini')
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load_battery(name: Path | str = DEFAULT) -> Battery:
    """Return a battery by its name, or read one from a YAML file.

    Errors: :class:`InputError` with file, line and column for what is not a battery: E611 for an unknown name, E612
    for a value, E613 for what is missing, E614 for a task or dataset that does not exist, those of
    :func:`~lexiscope.resources.tables.yaml_source.read_yaml`; :class:`SpecError` for neither a name nor a file.

    >>> battery = load_battery("mini")
    >>> battery.name, [family for family, lines in battery.families() if lines][:2]
    ('mini', ['relatedness', 'same_sense'])
    """
    text = str(name)
    path = FOLDER / f"{text}.yaml" if text in battery_names() else Path(text).expanduser()
    if not path.is_file():
        near = nearest_name(text, battery_names())
        hint = f"did you mean {near!r}?" if near else f"name one of {', '.join(battery_names())}, or a YAML file"
        raise SpecError(f"there is no battery {text!r}", hint=hint)
    return _battery_of(read_yaml(path), hashlib.sha256(path.read_bytes()).hexdigest())


def parse_battery(text: str, *, path: str = "a battery") -> Battery:
    """Read the text of a battery. Errors: those of :func:`load_battery`."""
    return _battery_of(parse_yaml(text, path=path), hashlib.sha256(text.encode("utf-8")).hexdigest())


def _battery_of(source: YamlSource, sha256: str) -> Battery:
    try:
        read = _File.model_validate(source.content)
    except ValidationError as error:
        raise fault_error(source, error.errors()[0], _File, _COMMENTS) from error
    seen: dict[str, int] = {}
    for number, line in enumerate(read.lines):
        if line.line in seen:
            what = f"two lines are called {line.line!r}, the first is line {seen[line.line] + 1} of the battery"
            raise _fault(source, number, "line", what, "give each line a unique name")
        seen[line.line] = number
        _check_line(source, number, line)
    return Battery(read.battery, read.version, read.title, read.lines, sha256)


def _check_line(source: YamlSource, number: int, line: BatteryLine) -> None:
    """Check what the schema cannot know: the catalog, and what goes with what."""
    places: tuple[tuple[str, catalog.Kind], ...] = (("task", "tasks"), ("data", "datasets"))
    for key, kind in places:
        try:
            catalog.module(kind, plain_name(getattr(line, key)))
        except SpecError as error:
            raise _fault(source, number, key, error.what, error.hint, "E614") from error
    task = catalog.task(line.task)
    if line.view not in VIEW_NAMES:
        raise _fault(source, number, "view", f"there is no view {line.view!r}", f"use one of {', '.join(VIEW_NAMES)}")
    if isinstance(line.ceiling, str) and (line.ceiling == "all_right") == line.has_people:
        what = f"the ceiling {line.ceiling!r} is not a ceiling of the statistic {line.statistic!r}"
        kinds = "attainable, mean_of_people or one_person" if line.has_people else "all_right or a published figure"
        raise _fault(source, number, "ceiling", what, f"use {kinds}")
    if line.statistic == "spread" and line.ceiling != "attainable":
        what = "people's spread has one ceiling"
        raise _fault(source, number, "ceiling", what, "use attainable")
    if line.has_people and task.scale is None:
        raise _fault(source, number, "statistic", f"the task {line.task!r} has no ratings", "use accuracy or auc")
    if line.right and len(line.right) != 1:
        raise _fault(
            source, number, "right", "the correct answer is one condition and its value", "write {name: value}"
        )
    unknown = [wording for wording in line.wordings if wording not in task.wordings]
    if unknown:
        hint = f"its wordings: {', '.join(task.wordings)}" if task.wordings else "leave wordings out"
        raise _fault(source, number, "wordings", f"the task {line.task!r} has no wording {unknown[0]!r}", hint)


def _fault(source: YamlSource, number: int, key: str, what: str, hint: str, code: str = "E612") -> InputError:
    keys: Sequence[Key] = ("lines", number, key)
    return InputError(what, code=code, place=source.place(keys), hint=hint)
