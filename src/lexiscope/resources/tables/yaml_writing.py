"""Plain data as unambiguous YAML: what is written reads back letter for letter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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
        return _block(value, indent + 2)
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


def _block(text: str, indent: int) -> str:
    sign = " |" if text.endswith("\n") else " |-"
    return sign + "".join(f"\n{' ' * indent}{line}" if line else "\n" for line in text.removesuffix("\n").split("\n"))


def _escape_sign(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if sign == "\n":
        return "\\n"
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
