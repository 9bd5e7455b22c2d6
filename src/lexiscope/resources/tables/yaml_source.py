"""YAML read for its content and for where everything is in it, so that an error can point at a line.

Only plain data are read: anchors, aliases and tags are refused before anything is built from the text, which rules
out alias bombs and Python objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

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
        raise InputError(f"{len(data)} bytes are too many for a study file", code="E602", place=Place(str(path)))
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
        _refuse_more_than_data(text, path)
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise _not_yaml(error, text, path) from error
    except YAMLError as error:
        raise InputError("this is not YAML", code="E603", place=Place(path), why=str(error)) from error
    if not isinstance(root, MappingNode):
        raise InputError("a study file holds lines of the form 'name: value'", code="E606", place=Place(path, 1))
    _refuse_repeated_keys(root, text, path)
    return YamlSource(path, text, YAML(typ="safe", pure=True).load(text), root)


def _refuse_more_than_data(text: str, path: str) -> None:
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        place = _place(path, text, event)
        if depth > MAX_DEPTH:
            raise InputError(f"nested deeper than {MAX_DEPTH} levels", code="E605", place=place)
        if any("\ud800" <= sign <= "\udfff" for sign in getattr(event, "value", "")):
            raise InputError("half of a surrogate pair is no letter", code="E601", place=place, hint="write the letter")
        if isinstance(event, NodeEvent) and (event.anchor is not None or getattr(event, "tag", None) is not None):
            raise InputError(
                "anchors (&), aliases (*) and tags (!) have no place in a study file",
                code="E604",
                place=place,
                hint="write the value out; quote a text that begins with one of these signs",
            )


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
