"""Text and JSON from outside (a model's reply, another program's file): any bytes are kept, none ends in a traceback.

Files hold UTF-8, which has no lone surrogates (``\\ud800`` in JSON). A text with such is kept in letters: each of them
becomes a backslash, ``u`` and four hexadecimal digits, and backslashes before what read so already are doubled.
:func:`original_text` gives the text back exactly. A text without lone surrogates is kept as it is, NUL and controls
too; which replies are kept in letters, their kind says (``garbled``, ``fault``: :mod:`lexiscope.core.reply`).
Bytes that are no UTF-8 become lone surrogates first (``surrogateescape``), so that they can be restored as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

DEEPEST = 100
"""Brackets within brackets in JSON from outside; deeper is an error. Texts of endpoints and models have about ten."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPABLE = re.compile(r"\\*[" + "\ud800-\udfff" + r"]|\\+(?=u[dD][89a-fA-F][0-9a-fA-F]{2})")
_ESCAPED = re.compile(r"(\\+)u([dD][89a-fA-F][0-9a-fA-F]{2})")


def is_text(text: str) -> bool:
    """Whether a text is Unicode that can be written as UTF-8: it has no lone surrogate."""
    return _SURROGATE.search(text) is None


def storable_text(text: str) -> str:
    r"""Return a text with its lone surrogates written in letters; a text without any as it is.

    >>> print(storable_text("4" + chr(0xD800)), storable_text("a \\ b"))
    4\ud800 a \ b
    """
    if is_text(text):
        return text
    return _ESCAPABLE.sub(_escape, text)


def original_text(stored: str) -> str:
    """Return the text, with lone surrogates, that :func:`storable_text` was given.

    >>> original_text(storable_text("4" + chr(0xD800))) == "4" + chr(0xD800)
    True
    """
    return _ESCAPED.sub(_unescape, stored)


def text_of(content: bytes) -> str:
    """Return bytes as text; what is not UTF-8 becomes lone surrogates, one for each byte."""
    return content.decode("utf-8", "surrogateescape")


def json_text(text: str) -> str:
    """Return JSON that was written with its own letters as text that UTF-8 can hold: JSON's own escapes do it."""
    return text if is_text(text) else _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def parse_json(content: bytes | str, **hooks: Any) -> Any:
    """Parse JSON from outside; *hooks* are those of :func:`json.loads`.

    Errors: :class:`ValueError` for what is not JSON, and for brackets within brackets beyond :data:`DEEPEST`.
    """
    # errors import this module for texts: only what reads JSON loads its reader
    import json

    try:
        value = json.loads(content, **hooks)
    except RecursionError:
        raise _too_deep() from None
    letters = content if isinstance(content, str) else content.decode("latin-1")
    if letters.count("[") + letters.count("{") > DEEPEST:
        _check_depth(value)
    return value


def refuse_constant(text: str) -> float:
    """Raise :class:`ValueError`: NaN and Infinity are not JSON (a ``parse_constant`` for :func:`parse_json`)."""
    raise ValueError(f"{text} is not a number")


def _escape(match: re.Match[str]) -> str:
    slashes, last = match.group(), match.group()[-1]
    if last == "\\":
        return slashes * 2
    return "\\" * (2 * (len(slashes) - 1) + 1) + f"u{ord(last):04x}"


def _unescape(match: re.Match[str]) -> str:
    slashes, digits = match.group(1), match.group(2)
    half = "\\" * (len(slashes) // 2)
    return half + (chr(int(digits, 16)) if len(slashes) % 2 else f"u{digits}")


def _check_depth(value: Any) -> None:
    level = _containers([value])
    for _ in range(DEEPEST):
        inner = (container.values() if isinstance(container, dict) else container for container in level)
        level = _containers(value for values in inner for value in values)
    if level:
        raise _too_deep()


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]


def _too_deep() -> ValueError:
    return ValueError(f"it nests brackets deeper than {DEEPEST} levels")
