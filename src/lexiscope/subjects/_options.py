"""What follows the kind in a subject's spec: ``NAME[#REVISION][?key=value&key=value]``, and options as typed fields."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from lexiscope.core.errors import SpecError
from lexiscope.core.spec import split_options

Device = Literal["cpu", "cuda", "mps"]
"""What a model in this process runs on."""

OptionsT = TypeVar("OptionsT")


def split_name(text: str) -> tuple[str, str, dict[str, str]]:
    """Split what follows the kind in a spec into name, revision and options.

    The path of an existing folder is taken whole.

    >>> split_name("org/model#v1.0?dtype=bf16&threads=2")
    ('org/model', 'v1.0', {'dtype': 'bf16', 'threads': '2'})

    Errors: those of :func:`~lexiscope.core.spec.split_options`.
    """
    if Path(text).expanduser().exists():
        return text, "", {}
    rest, options = split_options(text)
    name, _, revision = rest.partition("#")
    if not name:
        raise SpecError(f"{text!r} does not name a subject", hint="write NAME#REVISION?key=value&key=value")
    return name, revision, options


def read_options(
    kind: type[OptionsT], given: Mapping[str, str], *, of: str, known: tuple[str, ...] = (), **made: object
) -> OptionsT:
    """Read the options of a subject as the fields of a dataclass; *of* says whose they are, for errors.

    A field's type says which values it takes: texts (``Literal``), a whole number from 0 on (``int``), a number
    (``float``), yes or no (``bool``), a path (``Path``), any text. *made* are fields that are not options themselves;
    *known* are the options that they were made of.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Run:
    ...     device: Device = "cpu"
    ...     threads: int = 0
    >>> read_options(Run, {"threads": "2"}, of="a model")
    Run(device='cpu', threads=2)
    >>> read_options(Run, {"threads": "two"}, of="a model")
    Traceback (most recent call last):
        ...
    lexiscope.core.errors.SpecError: the option 'threads' of a model is a whole number, not 'two'

    Errors: :class:`SpecError` for an unknown option or value.
    """
    types = get_type_hints(kind)
    names = [*(name for name in types if name not in made), *known]
    unknown = [key for key in given if key not in names]
    if unknown:
        hint = f"use one of {', '.join(names)}" if names else "write the name alone"
        raise SpecError(f"{unknown[0]!r} is not an option of {of}", hint=hint)
    return kind(
        **made, **{key: _parse_value(key, text, types[key], of) for key, text in given.items() if key not in known}
    )


def _parse_value(key: str, text: str, wanted: Any, of: str) -> object:
    types = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    words = [word for form in types if get_origin(form) is Literal for word in get_args(form)]
    words += ["yes", "no"] if bool in types else []
    if text in words:
        return text == "yes" if bool in types else text
    if int in types and text.isdecimal():
        return int(text)
    # a budget of nan would never be spent
    if float in types and (number := _parse_float(text)) is not None and math.isfinite(number):
        return number
    if Path in types or str in types:
        return Path(text).expanduser() if Path in types else text
    forms = {int: "a whole number", float: "a number"}
    needed = [forms[form] for form in types if form in forms]
    needed += [f"one of {', '.join(words)}"] if words else []
    raise SpecError(f"the option {key!r} of {of} is {' or '.join(needed)}, not {text!r}")


def _parse_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
