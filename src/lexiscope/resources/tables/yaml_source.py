"""YAML with the line of every value, faults against a schema with their place, and unambiguous writing.

Only plain data are read: anchors, aliases and tags are rejected before anything is built from the text, which rules
out alias bombs and Python objects.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.parser import Parser

from lexiscope.core.errors import InputError, Place

MAX_BYTES = 1_000_000
MAX_DEPTH = 10

Key = str | int


@dataclass(frozen=True, slots=True)
class YamlSource:
    """A YAML file's content with its places.

    ``content`` holds dicts, lists, text, numbers, booleans and ``None``.
    """

    path: str
    text: str
    content: dict[str, Any]
    root: Node

    def place(self, keys: Sequence[Key] = (), *, of_key: bool = False) -> Place:
        """Return where the value under *keys* is (or its key); the nearest place above where it is not given."""
        node = self.root
        for key in keys:
            step = _step(node, key)
            if step is None:
                break
            node = step[0] if of_key and key == keys[-1] else step[1]
        return _place(self.path, self.text, node)


def read_yaml(path: Path | str) -> YamlSource:
    """Read a YAML file that holds one mapping.

    Errors: :class:`InputError` E601 (not UTF-8), E602 (too large), and those of :func:`parse_yaml`.
    """
    data = Path(path).read_bytes()
    if len(data) > MAX_BYTES:
        raise InputError(f"{len(data)} bytes are too many for such a file", code="E602", place=Place(str(path)))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"byte {data[error.start]:#04x} is not UTF-8",
            code="E601",
            place=Place(str(path), line, column),
            hint="save the file as UTF-8",
        ) from error
    return parse_yaml(text, path=str(path))


def parse_yaml(text: str, *, path: str = "study.yaml") -> YamlSource:
    """Read the text of a YAML file that holds one mapping.

    Errors: :class:`InputError` E603 (not YAML), E604 (anchor, alias or tag), E605 (too deep), E606 (not one mapping),
    E607 (the same key twice).
    """
    try:
        loader = YAML(typ="safe", pure=True)
        loader.Parser = partial(_PlainParser, text, path)
        root = loader.compose(text)
    except MarkedYAMLError as error:
        raise _not_yaml(error, text, path) from error
    except YAMLError as error:
        raise InputError("this is not YAML", code="E603", place=Place(path), why=str(error)) from error
    if not isinstance(root, MappingNode):
        raise InputError("the file holds lines of the form 'name: value'", code="E606", place=Place(path, 1))
    _refuse_repeated_keys(root, text, path)
    return YamlSource(path, text, YAML(typ="safe", pure=True).load(text), root)


class _PlainParser(Parser):
    """Refuses what is more than data as soon as it is met."""

    def __init__(self, text: str, path: str, loader: Any) -> None:
        super().__init__(loader)
        self._text, self._path, self._depth = text, path, 0

    def get_event(self) -> Any:
        """Return the next event. Errors: :class:`InputError` E601, E604, E605."""
        event = super().get_event()
        self._depth += isinstance(event, CollectionStartEvent)
        self._depth -= isinstance(event, CollectionEndEvent)
        if self._depth > MAX_DEPTH:
            raise InputError(f"nested deeper than {MAX_DEPTH} levels", code="E605", place=self._place(event))
        if any("\ud800" <= sign <= "\udfff" for sign in getattr(event, "value", "")):
            raise InputError(
                "half of a surrogate pair is not a letter",
                code="E601",
                place=self._place(event),
                hint="write the letter",
            )
        if isinstance(event, NodeEvent) and (event.anchor is not None or getattr(event, "tag", None) is not None):
            raise InputError(
                "anchors (&), aliases (*) and tags (!) have no place in this file",
                code="E604",
                place=self._place(event),
                hint="write the value out; quote a text that begins with one of these signs",
            )
        return event

    def _place(self, event: Any) -> Place:
        return _place(self._path, self._text, event)


def _refuse_repeated_keys(node: Node, text: str, path: str) -> None:
    if isinstance(node, SequenceNode):
        for child in node.value:
            _refuse_repeated_keys(child, text, path)
    if not isinstance(node, MappingNode):
        return
    seen: dict[str, int] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode) or key.tag != "tag:yaml.org,2002:str":
            raise InputError("a name must be a text", code="E606", place=_place(path, text, key), hint="quote it")
        if key.value in seen:
            raise InputError(
                f"{key.value!r} is given twice, first in line {seen[key.value]}",
                code="E607",
                place=_place(path, text, key),
                hint="keep one of them",
            )
        seen[key.value] = key.start_mark.line + 1
        _refuse_repeated_keys(value, text, path)


def _not_yaml(error: MarkedYAMLError, text: str, path: str) -> InputError:
    mark = error.problem_mark or error.context_mark
    line = min(mark.line, max(0, len(text.splitlines()) - 1)) if mark else 0
    column = mark.column + 1 if mark and mark.line == line else None
    place = Place(path, line + 1, column, text=_line(text, line))
    return InputError(
        f"this is not YAML: {error.problem or 'the text breaks off'}",
        code="E603",
        place=place,
        why=error.context or "",
        hint="check indentation, colons, brackets and quotation marks",
    )


def _step(node: Node, key: Key) -> tuple[Node, Node] | None:
    """The key's node and the value's node one level down."""
    if isinstance(node, SequenceNode) and isinstance(key, int) and 0 <= key < len(node.value):
        return node.value[key], node.value[key]
    if isinstance(node, MappingNode):
        return next(((name, value) for name, value in node.value if name.value == key), None)
    return None


def _place(path: str, text: str, marked: Any) -> Place:
    start, end = marked.start_mark, marked.end_mark
    width = end.column - start.column if end.line == start.line else 1
    return Place(path, start.line + 1, start.column + 1, text=_line(text, start.line), width=max(1, width))


def _line(text: str, index: int) -> str:
    lines = text.split("\n")
    return lines[index].rstrip("\r") if index < len(lines) else ""


# -- yaml faults ----------------------------------------------------------------------------------------------------
# What a schema finds wrong in a YAML file, with its place: unknown name, missing name, wrong type or value.


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


# -- plain data as unambiguous YAML: what is written reads back letter for letter -----------------------------------


_PLAIN = re.compile(r"[A-Za-z][\w./]*([+:-][\w./]+)*", re.ASCII)
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def yaml_value(value: Any, *, indent: int = 0) -> str:
    """Return the YAML of a value behind its name and colon: block lists and mappings, one entry a line.

    *indent* is the distance of the name from the margin. A text of several lines is a block of lines where it can be.

    >>> print("scale:" + yaml_value({"low": 1, "anchors": [{"point": 1, "text": "no"}]}))
    scale:
      low: 1
      anchors:
        - point: 1
          text: "no"
    """
    if isinstance(value, str) and _fits_block(value):
        sign = " |" if value.endswith("\n") else " |-"
        return sign + "".join(
            f"\n{' ' * (indent + 2)}{line}" if line else "\n" for line in value.removesuffix("\n").split("\n")
        )
    if value is None or isinstance(value, str | int | float):
        return f" {yaml_scalar(value)}"
    if not value:
        return " {}" if isinstance(value, Mapping) else " []"
    margin = " " * (indent + 2)
    if isinstance(value, Mapping):
        return "".join(f"\n{margin}{line}" for line in _lines(value, indent + 2))
    return "".join(f"\n{margin}- {_entry(entry, indent + 2)}" for entry in value)


def yaml_scalar(value: str | float | None) -> str:
    """Return a number, a plain word, or a text in double quotation marks in which nothing is left to interpretation.

    >>> yaml_scalar("saw_c"), yaml_scalar("no"), yaml_scalar(True), yaml_scalar(1.5)
    ('saw_c', '"no"', 'true', '1.5')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return "null" if value is None else repr(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return '"' + "".join(_escape_sign(sign) for sign in value) + '"'


def _lines(mapping: Mapping[str, Any], indent: int) -> list[str]:
    return [f"{yaml_scalar(key)}:{yaml_value(entry, indent=indent)}" for key, entry in mapping.items()]


def _entry(entry: Any, indent: int) -> str:
    if isinstance(entry, Mapping) and entry:
        return ("\n" + " " * (indent + 2)).join(_lines(entry, indent + 2))
    if isinstance(entry, list | tuple) and entry:
        return "[" + ", ".join(yaml_scalar(value) for value in entry) + "]"
    return yaml_value(entry, indent=indent).lstrip(" ") if not isinstance(entry, str) else yaml_scalar(entry)


def _fits_block(text: str) -> bool:
    # what a block cannot give back exactly (tabs, outer blanks, odd line ends, a lone blank line) is quoted instead
    lines = text.removesuffix("\n").split("\n")
    return (
        "\n" in text.removesuffix("\n")
        and bool(lines[-1])
        and all(line.isprintable() and line == line.strip() for line in lines)
        and bool(lines[0])
    )


def _escape_sign(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if sign == "\n":
        return "\\n"
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
