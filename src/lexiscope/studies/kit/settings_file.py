"""A study as one human-readable YAML file: every setting of that study, nothing else.

Reading names the line of a mistake and the nearest known name; writing includes every default with its meaning.
Names, types, defaults and meanings are those of the study's class of settings (:mod:`lexiscope.core.settings`).
Settings → YAML → settings is exact. Paths in a study file are taken from the folder in which the command is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from lexiscope.core import catalog
from lexiscope.core.code_file import existing_file
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.run import write_atomically
from lexiscope.core.settings import Setting, SettingError, Settings, settings_from, settings_of, unknown_setting
from lexiscope.core.spec import plain_name
from lexiscope.resources.tables.yaml_source import YamlSource, fault_error, read_yaml, yaml_value

_KEY = "study"


def schema(kind: type[Settings]) -> type[BaseModel]:
    """Return the schema of a study's file: the fields and defaults of its settings, as YAML writes them.

    Several values are a list, several pairs are lines ``first: second``; a number is finite.
    """
    config = ConfigDict(extra="forbid", strict=True, frozen=True)
    given: dict[str, Any] = {setting.name: _field(setting) for setting in settings_of(kind)}
    given[_KEY] = (str, Field(min_length=1))
    return create_model("StudyFile", __config__=config, **given)


def _field(setting: Setting) -> tuple[Any, Any]:
    least = setting.option.least
    parts = [_schema_type(part, least) for part in setting.parts]
    default = as_yaml(setting, setting.default)
    if setting.many:
        return GenericAlias(dict if len(parts) > 1 else list, tuple(parts)), default
    if len(parts) > 1:
        size = len(parts)
        entry = parts[0]
        for part in (part for part, kind in zip(parts, setting.parts, strict=True) if kind is not setting.parts[0]):
            entry = entry | part
        return GenericAlias(list, (entry,)), Field(default=default, min_length=size, max_length=size)
    return (parts[0] | None if setting.optional else parts[0]), default


def _schema_type(kind: Any, least: float | None) -> Any:
    if kind is float:
        return Annotated[float, Field(allow_inf_nan=False, ge=least)]
    return Annotated[int, Field(ge=least)] if kind is int else kind


def as_yaml(setting: Setting, value: Any) -> Any:
    """Return a setting's value as a study file holds it: pairs as a mapping, other tuples as lists."""
    if setting.many and len(setting.parts) > 1:
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def meanings(kind: type[Settings]) -> dict[str, str]:
    """Return the comment above each setting in a written file."""
    return {setting.name: setting.option.about for setting in settings_of(kind)}


def read_study_file(path: Path | str) -> Settings:
    """Read the settings of a study from a YAML file.

    Errors: :class:`InputError` with file, line, column, the line and a caret: E60x (not plain YAML), E611 (unknown
    name), E612 (wrong type or value), E613 (missing name), E614 (a study, dataset, subject or rule that
    does not exist).
    """
    return parse_settings(read_yaml(path))


def settings_of_run(name: str, given: Mapping[str, object]) -> Settings:
    """Return the settings of a study by its name, its path or the path of its YAML file, with the values *given*.

    A value that names the same thing in another way (items, a dataset, several datasets) takes the file's place.
    Errors: :class:`InputError` for a file that is not there, for a setting that the study does not have, and for values
    that it does not take.
    """
    settings = read_study_file(existing_file(name)) if is_study_file(name) else catalog.settings(name)(study=name)
    known = {setting.name: setting for setting in settings_of(type(settings))}
    values = {key: getattr(settings, key) for key in known} | dict(given)
    for setting in known.values():
        replaced_by = [key for key in given if key in known and setting.name in known[key].option.instead_of]
        replaced_by += [key for key in setting.option.instead_of if key in given]
        if replaced_by and setting.name not in given:
            values[setting.name] = setting.default
        elif setting.option.file:
            value = given.get(setting.name, ())
            paths = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
            for path in filter(None, paths):
                existing_file(str(path))
    return settings_from(type(settings), values)


def is_study_file(name: str) -> bool:
    """Whether a name is that of a study's YAML file.

    >>> is_study_file("mine.yaml"), is_study_file("mine.py"), is_study_file("saw_c")
    (True, False, False)
    """
    return Path(name).suffix in (".yaml", ".yml")


def study_yaml(settings: Settings) -> str:
    """Return a study file with every setting, default or not, under a comment.

    >>> settings = study_yaml(Settings(study="my_study", seed=7)).split("\\n\\n")
    >>> print(next(text for text in settings if "seed: 7" in text))
    # seed of every resampling and of every random start
    seed: 7
    """
    parts = [
        "# A study for Lexiscope: lexiscope study THIS_FILE --out RUN\n# Paths start at the folder it is run in.\n"
    ]
    for setting in settings_of(type(settings)):
        value = yaml_value(as_yaml(setting, getattr(settings, setting.name)))
        parts.append(f"# {setting.option.about}\n{setting.name}:{value}\n")
    return "\n".join(parts)


def write_study_file(settings: Settings, path: Path | str) -> None:
    """Write a study file; a file that exists already is not touched.

    Errors: :class:`InputError` E615 where it exists.
    """
    if Path(path).exists():
        raise InputError(f"{path} exists already", code="E615", hint="name a new file")
    write_atomically(Path(path), study_yaml(settings))


def parse_settings(source: YamlSource) -> Settings:
    """Return the settings of a study from parsed YAML. Errors: those of :func:`read_study_file`."""
    kind = _settings_class(source)
    settings = settings_of(kind)
    known = [setting.name for setting in settings]
    for name in source.content:
        if name not in known:
            error = unknown_setting(kind, name, known)
            raise InputError(error.what, code="E611", place=source.place((name,), of_key=True), hint=error.hint)
    given = _validate(source, kind, source.content)
    for setting in settings:
        _check_names(source, setting, given[setting.name])
    try:
        values = {name: list(value.items()) if isinstance(value, dict) else value for name, value in given.items()}
        return settings_from(kind, values)
    except InputError as error:
        keys = (error.setting,) if isinstance(error, SettingError) else ()
        place = source.place(keys, of_key=True)
        raise InputError(error.what, code="E612", place=place, why=error.why, hint=error.hint) from error


def _settings_class(source: YamlSource) -> type[Settings]:
    """The settings of the study that a file names."""
    name = _validate(source, Settings, {key: source.content[key] for key in (_KEY,) if key in source.content})[_KEY]
    assert isinstance(name, str)
    try:
        return catalog.settings(name)
    except SpecError as error:
        raise InputError(error.what, code="E614", place=source.place((_KEY,)), hint=error.hint) from error


def _validate(source: YamlSource, kind: type[Settings], content: Mapping[str, object]) -> dict[str, object]:
    model = schema(kind)
    try:
        return model.model_validate(content).model_dump()
    except ValidationError as error:
        raise fault_error(source, error.errors()[0], model, meanings(kind)) from error


def _check_names(source: YamlSource, setting: Setting, value: Any) -> None:
    """Check subjects, rules and datasets here, where their place in the file is known."""
    for number, entry in enumerate(value) if setting.many else ((None, value),):
        try:
            if setting.option.names and entry and not catalog.has(setting.option.names, entry):
                # options follow a question mark: am2ico?language=zh
                catalog.module(setting.option.names, plain_name(entry))
            if entry:
                setting.option.read(entry)
        except InputError as error:
            path = (setting.name,) if number is None else (setting.name, entry if isinstance(value, dict) else number)
            place = source.place(path, of_key=isinstance(value, dict))
            raise InputError(error.what, code="E614", place=place, hint=error.hint) from error
