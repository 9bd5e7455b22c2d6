"""Options that several verbs share: they have the same name, the same default and the same help everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.given_file import existing_file
from lexiscope.core.scale import Scale
from lexiscope.core.spec import SubjectSpec
from lexiscope.items.arrange.view_names import GUESSED_WORD, VIEW_NAMES

Function = TypeVar("Function", bound=Callable[..., Any])


def read_specs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Check the form of subject specs before any work starts; return them as they print."""
    try:
        return tuple(str(SubjectSpec.parse(value)) for value in values)
    except SpecError as error:
        raise click.BadParameter(f"{error.what}; {error.hint}", ctx=ctx, param=param) from error


def read_scale(ctx: click.Context, param: click.Parameter, ends: tuple[float, float] | None) -> Scale | None:
    """Make a scale of its two ends: steps of 1 between whole numbers at most 20 apart, else continuous."""
    if ends is None:
        return None
    try:
        return Scale.between(*ends)
    except InputError as error:
        raise click.BadParameter(error.what, ctx=ctx, param=param) from error


def quiet(function: Function) -> Function:
    """Add ``--quiet``: results only, neither progress nor remarks."""
    return click.option("-q", "--quiet", is_flag=True, help="Print results only: no progress, no remarks.")(function)


def as_json(function: Function) -> Function:
    """Add ``--json``: the same content for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(function)


def threads(function: Function) -> Function:
    """Add ``--threads``; :func:`lexiscope.cli.main.pin_threads` has applied it before the verb was loaded."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Threads of the numerical libraries (OMP, MKL, torch).",
    )(function)


def subjects(function: Function) -> Function:
    """Add ``--subject``, which may be given several times."""
    return click.option(
        "--subject",
        "subjects",
        callback=read_specs,
        multiple=True,
        metavar="SPEC",
        help="Who answers, as kind:name, for instance encoder:minilm. May be repeated.",
    )(function)


def views(function: Function) -> Function:
    """Add ``--view``, which may be given several times."""
    return click.option(
        "--view",
        "views",
        multiple=True,
        type=click.Choice((*VIEW_NAMES, GUESSED_WORD)),
        help="What of the input a subject sees. May be repeated.",
    )(function)


def read_named(values: Iterable[str]) -> dict[str, Path]:
    """Read ``NAME=FILE`` arguments, in their order.

    Errors: :class:`click.BadParameter` for an argument of another form, or a name that comes twice.
    """
    named: dict[str, Path] = {}
    for name, file in map(read_name, values):
        if name in named:
            raise click.BadParameter(f"{name!r} comes twice")
        named[name] = file
    return named


def read_name(value: str) -> tuple[str, Path]:
    """Read one ``NAME=FILE`` argument.

    Errors: :class:`click.BadParameter` for an argument of another form.
    """
    name, sign, file = value.partition("=")
    if not sign or not name or not file:
        raise click.BadParameter(f"{value!r} is not of the form NAME=FILE")
    return name, existing_file(file)
