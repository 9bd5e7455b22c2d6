"""The errors of the package: what happened, where, why, and what to do.

Every error of the package is a :class:`LexiscopeError`. Its text has up to four parts, in this order:
``place: [code] what``, the offending line with a caret, ``why``, and ``what to do``.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Self, TypeVar

from lexiscope.core.foreign import storable_text

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the user's input something is wrong: file, 1-based line and column, item id, and the line's text."""

    path: str | None = None
    line: int | None = None
    column: int | None = None
    item_id: str | None = None
    text: str | None = None
    width: int = 1

    def __str__(self) -> str:
        numbers = [str(n) for n in (self.line, self.column if self.line is not None else None) if n is not None]
        place = ":".join([part for part in [self.path] if part] + numbers)
        item = f"item {self.item_id!r}" if self.item_id is not None else ""
        return ", ".join(part for part in (place, item) if part)

    def caret(self) -> str:
        """Return the offending line with a caret under the column, or an empty string where no text is known."""
        if self.text is None:
            return ""
        if self.column is None:
            return f"    {_ends_of(self.text)}"
        text, column = _part_around(self.text, self.column)
        return f"    {text}\n    {caret_line(text, column, min(self.width, max(1, len(text) - column + 1)))}"


_LONGEST = 300
"""An error shows a quoted text of at most this number of characters whole, and the two ends of a longer text."""
_SHOWN_END = 60
_MORE = f"{{{_LONGEST + 1},}}"
_QUOTED = re.compile(rf"""(?<!\w)(?:'(?:[^'\\\n]|\\.){_MORE}'|"(?:[^"\\\n]|\\.){_MORE}")(?!\w)""")


def _ends_of(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    left_out = len(text) - _LONGEST
    return f"{text[: _LONGEST - _SHOWN_END]} … ({left_out} more characters) … {text[-_SHOWN_END:]}"


def _part_around(text: str, column: int) -> tuple[str, int]:
    """Return the part of a line around a column, and the column in it; a line that is not long is shown whole."""
    if len(text) <= _LONGEST:
        return text, column
    first = min(max(0, column - 1 - _LONGEST // 2), len(text) - _LONGEST)
    part = text[first : first + _LONGEST] + ("…" if first + _LONGEST < len(text) else "")
    return ("…" + part, column - first + 1) if first else (part, column)


def _with_short_quotes(message: str) -> str:
    """Return a message in which no quoted id, cell or text is longer than a screen.

    >>> len(_with_short_quotes(f"there is no item {'x' * 100_000!r}"))
    348
    """
    return _QUOTED.sub(lambda match: match[0][0] + _ends_of(match[0][1:-1]) + match[0][0], message)


def caret_line(text: str, column: int, width: int = 1) -> str:
    """Return the line of carets to print under *width* characters of *text* from *column* (from 1) on.

    Combining marks take no room and wide East Asian characters two places; a tab stays a tab.

    >>> caret_line("\u94f6\u884c bank", 4, 4)
    '     ^^^^'
    """
    before = "".join("\t" if char == "\t" else " " * text_width(char) for char in text[: column - 1])
    under = text_width(text[column - 1 : column - 1 + width])
    return before + "^" * max(1, under)


def text_width(text: str) -> int:
    """Return how many places of a terminal a text takes.

    >>> text_width("bank"), text_width("\u94f6\u884c"), text_width("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    shown = (char for char in text if unicodedata.category(char) not in ("Mn", "Me", "Cf"))
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in shown)


class LexiscopeError(Exception):
    """Base of all errors that a user can meet.

    >>> print(LexiscopeError("the span does not match", code="E101", place=Place("items.csv", 3), hint="mend it"))
    items.csv:3: [E101] the span does not match
      what to do: mend it
    """

    def __init__(
        self, what: str, *, code: str | None = None, place: Place | None = None, why: str = "", hint: str = ""
    ) -> None:
        self.what, self.code, self.place, self.why, self.hint = what, code, place, why, hint
        super().__init__(self._text())

    @property
    def sentences(self) -> str:
        """What happened and what to do, as sentences: the reason that a report gives for an omission.

        >>> LexiscopeError("wic is not here", hint="get it with lexiscope data get wic").sentences
        'wic is not here. Get it with lexiscope data get wic.'
        """
        parts = (self.what, self.hint[:1].upper() + self.hint[1:])
        return _with_short_quotes(" ".join(f"{part.rstrip('.')}." for part in parts if part))

    def located(self, place: Place | None, hint: str = "") -> Self:
        """Return the same error with a place and a hint, each unless it has its own.

        >>> print(LexiscopeError("too few raters").located(Place("mine.py", 12), "ask more people"))
        mine.py:12: too few raters
          what to do: ask more people
        """
        return type(self)(self.what, code=self.code, place=self.place or place, why=self.why, hint=self.hint or hint)

    def _text(self) -> str:
        where = f"{self.place}: " if self.place is not None and str(self.place) else ""
        lines = [f"{where}{f'[{self.code}] ' if self.code else ''}{self.what}"]
        lines += [self.place.caret()] if self.place is not None and self.place.caret() else []
        lines += [f"  why: {self.why}"] if self.why else []
        lines += [f"  what to do: {self.hint}"] if self.hint else []
        # a message may quote what a server or a file said; a terminal takes no lone surrogates
        return storable_text(_with_short_quotes("\n".join(lines)))


class InputError(LexiscopeError):
    """The user's file, table or argument breaks a rule."""


class SpanError(InputError):
    """A target is not where its span says, or cannot be located without one."""


class SpecError(InputError):
    """A name (subject spec, dataset, task, study, statistic) does not parse or is not in the catalog."""


class DataError(LexiscopeError):
    """A dataset is not available: not found, wrong checksum, or to be obtained by hand."""


class CapabilityError(LexiscopeError):
    """A subject cannot answer the question that it is asked."""


class MissingExtraError(LexiscopeError):
    """An optional dependency is not installed. The text is one line, with the command that installs it."""


class SubjectError(LexiscopeError):
    """A subject was asked but its answer is unusable (NaN, a target lost to truncation, no overlap of tokens)."""


class RunError(LexiscopeError):
    """A run folder is damaged, locked, or belongs to another question."""


class StatisticError(LexiscopeError):
    """A statistic is undefined on these numbers (constant input, too few values, one rater)."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional third-party module, or say which extra installs it.

    Errors: :class:`MissingExtraError` with the install line.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        package = module.split(".")[0]
        raise MissingExtraError(f"The package {package} is missing. Run pip install 'lexiscope[{extra}]'.") from error


def results_and_errors(
    makers: Mapping[K, Callable[[], V]], *kinds: type[LexiscopeError]
) -> tuple[dict[K, V], dict[K, LexiscopeError]]:
    """Return the results of several functions by name, and the errors of those that failed: one failure stops no other.

    Errors: those of no kind of *kinds*.

    >>> def missing():
    ...     raise DataError("it is not here")
    >>> made, failed = results_and_errors({"a": lambda: 1, "b": missing}, DataError)
    >>> made, failed["b"].what
    ({'a': 1}, 'it is not here')
    """
    made: dict[K, V] = {}
    failed: dict[K, LexiscopeError] = {}
    for name, make in makers.items():
        try:
            made[name] = make()
        except kinds as error:
            failed[name] = error
    return made, failed


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like a given one; empty if none is like it.

    >>> nearest_name("saw", ["saw_c", "synonymy"]), nearest_name("xyz", ["saw_c"])
    ('saw_c', '')
    """
    # only an error needs it: the help of a command does not wait for it
    import difflib

    return next(iter(difflib.get_close_matches(name, list(known), n=1)), "")
