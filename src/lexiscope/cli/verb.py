"""How a verb fails: an error that the user can mend becomes its text on stderr; anything else keeps its traceback."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import click

from lexiscope.core.code_file import existing_file as existing_file
from lexiscope.core.code_file import line_in_file
from lexiscope.core.errors import InputError, LexiscopeError, Place

INTERRUPTED = "interrupted: what was finished is kept; the same command again continues it"
_LESS = "end other programs, or ask for less: see the options of the command"

Verbs = TypeVar("Verbs", bound=Callable[..., Any])


def as_json(function: Verbs) -> Verbs:
    """Add ``--json``: the same content for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(function)


class Failure(click.ClickException):
    """A text on stderr and exit status 1, without a prefix: errors of Lexiscope name their place themselves."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the text on stderr."""
        click.echo(self.message, file=file or sys.stderr)


def _file_failure(error: OSError) -> Failure:
    """Return the failure of a file that the user gave. Errors: the error itself, a fault of ours, if it names none."""
    if not isinstance(error.filename, str | bytes | os.PathLike):
        raise error
    return Failure(f"{os.fsdecode(error.filename)}: {error.strerror}")


class Interrupted(Failure):
    """The user stopped the command."""

    exit_code = 130


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep the value of an option that every verb has; its function does not get it."""
    ctx.meta[f"{__name__}.{param.name}"] = value


EVERY_VERB = (
    click.Option(
        ["-v", "--verbose"], is_flag=True, expose_value=False, callback=_keep, help="Show more about the progress."
    ),
    click.Option(
        ["--log"],
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        expose_value=False,
        callback=_keep,
        help="Append all messages to a file.",
    ),
)
"""The options that every verb has."""


class Verb(click.Command):
    """A command whose errors are texts: exit status 1 for what the user can mend, 130 for an interruption."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the verb, those of every verb, and ``--help``."""
        *own, asks_help = super().get_params(ctx)
        return [*own, *EVERY_VERB, asks_help]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, and tell what it does as ``--verbose`` and ``--log`` ask."""
        asked = {param.name: ctx.meta.get(f"{__name__}.{param.name}") for param in EVERY_VERB}
        # logging takes time to load, which help does not need
        log_command = importlib.import_module("lexiscope.cli.log").log_command
        try:
            with cast(
                AbstractContextManager[None], log_command(sys.argv[1:], verbose=asked["verbose"], file=asked["log"])
            ):
                return self._run(ctx)
        except OSError as error:
            # the file of --log
            raise _file_failure(error) from error

    def _run(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LexiscopeError as error:
            raise Failure(str(error)) from error
        except OSError as error:
            raise _file_failure(error) from error
        except MemoryError as error:
            why = f"\n  why: {error}" if str(error) else ""
            raise Failure(f"the memory of this machine is not enough{why}\n  what to do: {_LESS}") from error
        except KeyboardInterrupt as error:
            raise Interrupted(INTERRUPTED) from error
        except Exception as error:
            # a fault in the user's own file is reported with its line; a fault of ours keeps its traceback
            place = line_in_file(error)
            if place is None or isinstance(error, click.ClickException):
                raise
            said = f": {error}" if str(error) else ""
            raise Failure(
                str(InputError(f"{type(error).__name__}{said}", place=place, hint="correct the file"))
            ) from error


def check_output(out: Path, *read: Path) -> None:
    """Check that a file to be written is not a folder, not one of the files *read*, and not in one of those folders.

    Errors: :class:`InputError` E001: what is read would be lost.
    """
    place = Place(str(out))
    if out.is_dir():
        raise InputError("this is a folder, not a file", code="E001", place=place, hint="name a file in it")
    for source in read:
        if out.resolve().is_relative_to(source.resolve()):
            what = "the command reads this file" if out.resolve() == source.resolve() else f"this file lies in {source}"
            why = "" if out.resolve() == source.resolve() else "the command reads that folder"
            raise InputError(what, code="E001", place=place, why=why, hint="name another file for the result")


def check_new(out: Path) -> None:
    """Check that a folder is not there yet. Errors: :class:`InputError` E615."""
    if out.exists():
        raise InputError(f"{out} exists already", code="E615", place=Place(str(out)), hint="name a new folder")
