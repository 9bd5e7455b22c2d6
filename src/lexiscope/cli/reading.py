"""What was understood of a file, on one screen, and the question whether it is right."""

from __future__ import annotations

import sys

import click

from lexiscope.cli.output import WIDTH, remark, say
from lexiscope.core.errors import InputError, Place
from lexiscope.items.tables.understood import Understanding

_HEAD = 16


def show_understanding(understood: Understanding, *, quiet: bool = False) -> None:
    """Print what was understood of a file on stderr: a line for each thing, long ones folded."""
    for head, text in understood.rows():
        lines = click.wrap_text(text, WIDTH - _HEAD, preserve_paragraphs=False).splitlines()
        remark(f"{head[:1].upper()}{head[1:]}".ljust(_HEAD) + f"\n{' ' * _HEAD}".join(lines), quiet=quiet)
    for text in (*understood.notes, *(f"Warning: {warning}" for warning in understood.warnings)):
        remark(text, quiet=quiet)


def confirm_understanding(understood: Understanding, *, yes: bool) -> None:
    """Ask whether a file was understood, if a terminal is attached and *yes* was not given.

    Errors: :class:`InputError` if the user says no.
    """
    if yes or not is_terminal():
        return
    if not click.confirm("Is this right?", default=True, err=True):
        hint = "Name the columns: --map FIELD=COLUMN, or how the file is written: --encoding, --separator, --decimal, "
        hint += "--missing. lexiscope analyse --help lists all options."
        raise InputError("Stopped: the file was not understood.", place=Place(understood.path), hint=hint)
    say()


def is_terminal() -> bool:
    """Whether a question can be answered."""
    return sys.stdin.isatty() and sys.stderr.isatty()
