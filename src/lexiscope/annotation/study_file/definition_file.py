"""Read and write a study definition as a YAML file: every default with its description, mistakes shown in place.

Definition → YAML → definition is exact. Paths in the file start at the folder in which the command is run.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from lexiscope.analysis.exclusion import parse_rule
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.launch_screen import Problem
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.resources.tables.yaml_source import (
    Key,
    YamlSource,
    fault_error,
    inner_model,
    parse_yaml,
    read_yaml,
    yaml_value,
)

_HEAD = """\
# A data collection for Lexiscope. Check this file: lexiscope annotate check THIS_FILE
# It has every setting. The comment above a setting says what it does.
"""


@dataclass(frozen=True, slots=True)
class DefinitionFile:
    """A definition with the places of its settings in the file."""

    definition: StudyDefinition
    source: YamlSource

    def place(self, keys: tuple[Key, ...]) -> Place:
        """Return the place of a setting in the file."""
        return self.source.place(keys)

    def error(self, problem: Problem) -> InputError:
        """Return a problem as the error at its place in the file."""
        return InputError(problem.what, code=problem.code, place=self.place(problem.keys), hint=problem.hint)


def read_definition(path: Path | str) -> DefinitionFile:
    """Read a study definition from a YAML file.

    Errors: :class:`InputError` with file, line, column, the line and a caret: E60x (not plain YAML), E611 (unknown
    name), E612 (wrong type or value), E613 (missing name), E614 (a task, dataset, rule or part of an item that does
    not exist).
    """
    return _checked_file(read_yaml(path))


def parse_definition(text: str, *, path: str = "study.yaml") -> DefinitionFile:
    """Read a study definition from the text of a YAML file (errors as in :func:`read_definition`)."""
    return _checked_file(parse_yaml(text, path=path))


def definition_yaml(definition: StudyDefinition) -> str:
    """Return the file of a definition: every setting with its value, under a comment that describes it.

    >>> study = StudyDefinition(name="s", task="relatedness", language="en")
    >>> print("\\n".join(definition_yaml(study).split("\\n\\n")[18].splitlines()[:3]))
    # how long a place is reserved
    lease:
      # minutes without a saved answer after which another participant gets the place
    """
    values = definition.model_dump(mode="json")
    fields = StudyDefinition.model_fields
    parts = [f"# {fields[name].description}\n{name}:{_value_yaml(name, value)}\n" for name, value in values.items()]
    return "\n".join([_HEAD, *parts])


def setting_descriptions() -> dict[str, str]:
    """Return the description of every setting, by its dotted name."""
    return _descriptions(StudyDefinition, "")


def _descriptions(model: type[BaseModel], prefix: str) -> dict[str, str]:
    descriptions: dict[str, str] = {}
    for name, field in model.model_fields.items():
        descriptions[prefix + name] = field.description or ""
        inner = inner_model(field.annotation)
        descriptions |= _descriptions(inner, f"{prefix}{name}.") if inner is not None else {}
    return descriptions


def _value_yaml(name: str, value: Any) -> str:
    inner = inner_model(StudyDefinition.model_fields[name].annotation)
    if inner is None or isinstance(value, list):
        return yaml_value(value)
    lines = [
        f"\n  # {inner.model_fields[key].description}\n  {key}:{yaml_value(entry, indent=2)}"
        for key, entry in value.items()
    ]
    return "".join(lines)


def _checked_file(source: YamlSource) -> DefinitionFile:
    try:
        definition = StudyDefinition.model_validate(source.content)
    except ValidationError as error:
        raise fault_error(source, error.errors()[0], StudyDefinition, setting_descriptions()) from error
    _check_names(source, definition)
    _check_scale(source, definition)
    return DefinitionFile(definition, source)


def _check_names(source: YamlSource, definition: StudyDefinition) -> None:
    kinds: tuple[tuple[catalog.Kind, str, str], ...] = (
        ("tasks", "task", definition.task),
        ("datasets", "dataset", definition.dataset),
    )
    for kind, key, name in kinds:
        if name and not catalog.has(kind, name):
            known = catalog.names(kind)
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Valid names: {', '.join(known)}."
            raise InputError(f"Unknown {key} {name!r}.", code="E614", place=source.place((key,)), hint=hint)
    for number, rule in enumerate(definition.exclusions):
        _parse_at(source, ("exclusions", number), parse_rule, rule)
    for part in definition.columns:
        _parse_at(source, ("columns", part), ColumnMap.from_mapping, {part: definition.columns[part]}, of_key=True)


def _check_scale(source: YamlSource, definition: StudyDefinition) -> None:
    scale = _parse_at(source, ("scale", "low"), lambda section: section.scale(), definition.scale, code="E612")
    for number, anchor in enumerate(definition.scale.anchors):
        keys = ("scale", "anchors", number, "point")
        _parse_at(source, keys, lambda point: scale.check(point), anchor.point, code="E612")
    _parse_at(source, ("catch", "answer"), lambda point: scale.check(point), definition.catch.answer, code="E612")
    if definition.items and definition.dataset:
        hint = "Delete one of them."
        raise InputError("Both items and dataset are set.", code="E612", place=source.place(("dataset",)), hint=hint)


def _parse_at(
    source: YamlSource, keys: tuple[Key, ...], parse: Any, value: object, *, code: str = "E614", of_key: bool = False
) -> Any:
    """Parse a value with a function that does not know the file, and give its error the place in the file."""
    try:
        return parse(value)
    except InputError as error:
        place = source.place(keys, of_key=of_key)
        raise InputError(error.what, code=code, place=place, why=error.why, hint=error.hint) from error
