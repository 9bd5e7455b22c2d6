"""What a schema finds wrong in a YAML file, with its place: unknown name, missing name, wrong type or value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from lexiscope.core.errors import InputError
from lexiscope.resources.tables.yaml_source import Key, YamlSource


def fault_error(
    source: YamlSource, fault: ErrorDetails, model: type[BaseModel], comments: Mapping[str, str]
) -> InputError:
    """Return the error for one fault that the schema *model* found: E611 (unknown name), E612 (value), E613 (missing).

    *comments* says what a setting means, by its dotted name (``scale.low``).
    """
    # a union adds a step that is not in the file; the nearest place above is the right one
    keys: tuple[Key, ...] = tuple(fault["loc"])
    if fault["type"] == "extra_forbidden":
        names = fields_at(model, keys[:-1])
        near = difflib.get_close_matches(str(keys[-1]), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the names are: {', '.join(names)}"
        return InputError(f"unknown name {keys[-1]!r}", code="E611", place=source.place(keys, of_key=True), hint=hint)
    if fault["type"] == "missing":
        place = source.place(keys[:-1], of_key=True) if len(keys) > 1 else source.place()
        return InputError(
            f"{keys[-1]!r} is missing", code="E613", place=place, hint=comments.get(dotted_name(keys), "")
        )
    where = ".".join(str(key) for key in keys)
    hint = _how_to_mend(keys, fault, comments)
    return InputError(f"{where}: {_what_is_wrong(fault)}", code="E612", place=source.place(keys), hint=hint)


def dotted_name(keys: Iterable[Key]) -> str:
    """Return the name of a setting without the numbers of list entries.

    >>> dotted_name(("qualification", 0, "accept", 1))
    'qualification.accept'
    """
    return ".".join(key for key in keys if isinstance(key, str))


def fields_at(model: type[BaseModel], keys: Iterable[Key]) -> list[str]:
    """Return the names that a schema knows under some keys."""
    for key in keys:
        if isinstance(key, str) and key in model.model_fields:
            inner = inner_model(model.model_fields[key].annotation)
            model = inner if inner is not None else model
    return list(model.model_fields)


def inner_model(annotation: object) -> type[BaseModel] | None:
    """Return the schema inside a type: of a section, or of the entries of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := inner_model(part)) is not None), None)


def _what_is_wrong(fault: ErrorDetails) -> str:
    message = fault["msg"].replace("Input should be", "must be").replace("List should have", "needs")
    message = message.replace("Tuple should have", "needs").replace("String should have", "needs")
    message = message.replace("a valid integer", "a whole number").replace("a valid string", "a text")
    message = message.replace("a valid list", "a list").replace("a valid tuple", "a list")
    message = message.replace("a valid dictionary", "lines of the form 'name: value'")
    message = re.sub(
        r"a valid dictionary or instance of \w+|lines of the form 'name: value' or instance of \w+",
        "lines of the form 'name: value'",
        message,
    )
    return f"{message}, not {fault['input']!r}"


def _how_to_mend(keys: tuple[Key, ...], fault: ErrorDetails, comments: Mapping[str, str]) -> str:
    if fault["type"] == "literal_error":
        known = re.findall(r"'([^']+)'", str(fault.get("ctx", {}).get("expected", "")))
        near = difflib.get_close_matches(str(fault["input"]), known, n=1)
        return f"did you mean {near[0]!r}?" if near else ""
    if fault["type"] == "string_type" and isinstance(fault["input"], int | float | bool):
        return "put it in quotation marks"
    if fault["type"] in ("list_type", "tuple_type") and isinstance(fault["input"], str):
        return f"write [{fault['input']}]"
    return comments.get(dotted_name(keys), comments.get(str(keys[0]), ""))
