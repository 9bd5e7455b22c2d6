"""Run commands of the command line; print how each ended, as JSON.

Standard input: a JSON object ``{"commands": [[word, ...], ...], "seconds": limit of each}``. ``["*", "--help"]`` stands
for the help of every verb. Helps run in this process; each other command runs in a child of it, which is ended at the
limit: a command that is still at work then has shown no traceback.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from typing import Any

import click

from lexiscope.cli.main import cli


def helps(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[list[str]]:
    yield [*path, "--help"]
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                found = command.get_command(click.Context(command), name)
                if isinstance(found, click.Group):
                    yield from helps(found, (*path, name))
                    continue
            yield [*path, name, "--help"]


def ended(words: list[str]) -> dict[str, Any]:
    """Run one command; ``fault`` is the traceback of an error that the command line did not put into words."""
    told, shown, fault, code = io.StringIO(), io.StringIO(), "", 0
    try:
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(shown):
            cli.main(words, prog_name="lexiscope")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException:  # noqa: BLE001 - any error that is not put into words is what is looked for
        fault = traceback.format_exc()
    fault = fault or (told.getvalue() if "Traceback (most recent call last)" in told.getvalue() else "")
    return {"words": words, "code": code, "stderr": told.getvalue(), "stdout": shown.getvalue(), "fault": fault}


def ended_in_a_child(words: list[str], seconds: int) -> dict[str, Any]:
    """Run one command in a child process of its own; ``code`` is ``None`` where it was ended at the limit."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as told:
        child = os.fork()
        if child == 0:
            # no handler: the signal ends the child wherever it is
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)
            json.dump(ended(words), told)
            told.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == 0:
            told.seek(0)
            return dict(json.load(told))
    fault = "" if status == -signal.SIGALRM else f"the process ended with status {status}"
    return {"words": words, "code": None, "stderr": "", "stdout": "", "fault": fault}


def main() -> None:
    asked = json.load(sys.stdin)
    ends = []
    for each in asked["commands"]:
        if each == ["*", "--help"]:
            ends += [ended(words) for words in helps(cli)]
        else:
            ends.append(ended_in_a_child(each, asked["seconds"]))
    json.dump(ends, sys.stdout)


if __name__ == "__main__":
    main()
