"""What ``lexiscope choices`` and ``lexiscope gaps`` share: a collection by name or file, sheets given as NAME=FILE."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

import click

from lexiscope.analysis.agreement.choices import Kappa
from lexiscope.cli.verb import existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.core.result import Interval, Undefined
from lexiscope.items.choice_sets.collection_file import read_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem


def open_collection(name: str) -> tuple[SynonymItem, ...]:
    """Return the items of a collection: a file, or a dataset that holds one (``synonymy``, ``mini_synonymy``).

    Errors: those of :func:`~lexiscope.items.choice_sets.collection_file.read_collection`; :class:`SpecError` for a
    dataset without a collection.
    """
    if Path(name).suffix or Path(name).name != name:
        return read_collection(existing_file(name))
    found = getattr(catalog.module("datasets", name), "collection", None)
    if found is None:
        raise SpecError(f"{name!r} holds no collection of synonym pairs", hint="name a file, or: synonymy")
    return cast(Callable[[], tuple[SynonymItem, ...]], found)()


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


def percent(value: float) -> str:
    """Return a share as people read it.

    >>> percent(0.8817)
    '88.2 %'
    """
    return f"{100 * value:.1f} %"


def with_interval(value: float, interval: Interval) -> str:
    """Return a share with its interval; without bounds the share alone."""
    bounds = f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]" if interval.is_defined else ""
    return percent(value) + bounds


def kappa_text(found: Kappa | Undefined) -> str:
    """Return a kappa with its interval, or why there is none."""
    if isinstance(found, Undefined):
        return found.reason
    bounds = f" [{found.interval.low:.2f}, {found.interval.high:.2f}]" if found.interval.is_defined else ""
    return f"{found.value:.2f}{bounds}"
