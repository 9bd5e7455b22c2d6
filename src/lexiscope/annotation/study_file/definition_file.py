"""A study definition as one readable YAML file: every default spelled out under its meaning, mistakes shown in place.

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
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import write_atomically
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.resources.tables.yaml_faults import inner_model, refusal
from lexiscope.resources.tables.yaml_source import Key, YamlSource, parse_yaml, read_yaml
from lexiscope.resources.tables.yaml_writing import yaml_value

_HEAD = """\
# A study with people, for Lexiscope. Check it: lexiscope annotate check THIS_FILE
# Nothing is hidden: every setting stands here with its meaning.
"""


@dataclass(frozen=True, slots=True)
class DefinitionFile:
    """A definition with the places of its settings in the file."""

    definition: StudyDefinition
    source: YamlSource

    def place(self, keys: tuple[Key, ...]) -> Place:
        """Return where a setting stands."""
        return self.source.place(keys)


def read_definition(path: Path | str) -> DefinitionFile:
    """Read a study definition from a YAML file.

    Errors: :class:`InputError` with file, line, column, the line and a caret: E60x (not plain YAML), E611 (unknown
    name), E612 (wrong type or value), E613 (missing name), E614 (a task, dataset, rule or part of an item that does
    not exist).
    """
    return _read(read_yaml(path))


def parse_definition(text: str, *, path: str = "study.yaml") -> DefinitionFile:
    """Read a study definition from the text of a YAML file (errors as in :func:`read_definition`)."""
    return _read(parse_yaml(text, path=path))


def definition_yaml(definition: StudyDefinition) -> str:
    """Return the file of a definition, every setting spelled out under a comment.

    >>> study = StudyDefinition(name="s", task="relatedness", language="en")
    >>> print("\\n".join(definition_yaml(study).split("\\n\\n")[17].splitlines()[:3]))
    # how long a place is kept
    lease:
      # minutes without a saved answer after which a place is given to somebody else
    """
    values = definition.model_dump(mode="json")
    parts = [f"# {_meaning(StudyDefinition, name)}\n{name}:{_written(name, value)}\n" for name, value in values.items()]
    return "\n".join([_HEAD, *parts])


def write_definition(definition: StudyDefinition, path: Path | str) -> None:
    """Write a definition; a file that exists already is not touched.

    Errors: :class:`InputError` E615 where it exists.
    """
    if Path(path).exists():
        raise InputError(f"{path} exists already", code="E615", hint="name a new file")
    write_atomically(Path(path), definition_yaml(definition))


def comments() -> dict[str, str]:
    """Return what every setting means, by its dotted name."""
    return _comments(StudyDefinition, "")


def _comments(model: type[BaseModel], prefix: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, field in model.model_fields.items():
        found[prefix + name] = field.description or ""
        inner = inner_model(field.annotation)
        found |= _comments(inner, f"{prefix}{name}.") if inner is not None else {}
    return found


def _meaning(model: type[BaseModel], name: str) -> str:
    return model.model_fields[name].description or ""


def _written(name: str, value: Any) -> str:
    inner = inner_model(StudyDefinition.model_fields[name].annotation)
    if inner is None or isinstance(value, list):
        return yaml_value(value)
    lines = [f"\n  # {_meaning(inner, key)}\n  {key}:{yaml_value(entry, indent=2)}" for key, entry in value.items()]
    return "".join(lines)


def _read(source: YamlSource) -> DefinitionFile:
    try:
        definition = StudyDefinition.model_validate(source.content)
    except ValidationError as error:
        raise refusal(source, error.errors()[0], StudyDefinition, comments()) from error
    _check_names(source, definition)
    _check_scale(source, definition)
    return DefinitionFile(definition, source)


def _check_names(source: YamlSource, definition: StudyDefinition) -> None:
    rooms: tuple[tuple[catalog.Kind, str, str], ...] = (
        ("tasks", "task", definition.task),
        ("datasets", "dataset", definition.dataset),
    )
    for room, key, name in rooms:
        if name and name not in catalog.names(room):
            known = catalog.names(room)
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
            raise InputError(
                f"there is no {name!r} among the {room}", code="E614", place=source.place((key,)), hint=hint
            )
    for number, rule in enumerate(definition.exclusions):
        _placed(source, ("exclusions", number), parse_rule, rule)
    for part in definition.columns:
        _placed(source, ("columns", part), ColumnMap.from_mapping, {part: definition.columns[part]}, of_key=True)


def _check_scale(source: YamlSource, definition: StudyDefinition) -> None:
    scale = _placed(source, ("scale", "low"), lambda section: section.scale(), definition.scale, code="E612")
    for number, anchor in enumerate(definition.scale.anchors):
        keys = ("scale", "anchors", number, "point")
        _placed(source, keys, lambda point: scale.check(point), anchor.point, code="E612")
    _placed(source, ("catch", "answer"), lambda point: scale.check(point), definition.catch.answer, code="E612")
    if definition.items and definition.dataset:
        hint = "keep one of them"
        raise InputError("items and dataset are both given", code="E612", place=source.place(("dataset",)), hint=hint)


def _placed(
    source: YamlSource, keys: tuple[Key, ...], read: Any, value: object, *, code: str = "E614", of_key: bool = False
) -> Any:
    """Read a value with a function of another file, and give its error the place in this file."""
    try:
        return read(value)
    except InputError as error:
        place = source.place(keys, of_key=of_key)
        raise InputError(error.what, code=code, place=place, why=error.why, hint=error.hint) from error
