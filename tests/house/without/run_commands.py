"""Run commands of the command line one after another in this process; print how each ended, as JSON.

Standard input: a JSON object ``{"commands": [[word, ...], ...], "seconds": limit of each}``. ``["*", "--help"]`` stands
for the help of every verb. A command that reaches its limit is interrupted as Ctrl-C would, and is the last: what it
left half imported is none of the next command's business.
"""

from __future__ import annotations

import contextlib
import io
import json
import signal
import sys
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


def ended(words: list[str], seconds: int) -> dict[str, Any]:
    """Run one command; ``fault`` is the traceback of an error that the command line did not put into words."""
    told, shown, fault, code = io.StringIO(), io.StringIO(), "", 0

    def stop(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(shown):
            cli.main(words, prog_name="lexiscope")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException:  # noqa: BLE001 - any error that is not put into words is what is looked for
        fault = traceback.format_exc()
    finally:
        signal.alarm(0)
    fault = fault or (told.getvalue() if "Traceback (most recent call last)" in told.getvalue() else "")
    return {"words": words, "code": code, "stderr": told.getvalue(), "stdout": shown.getvalue(), "fault": fault}


def main() -> None:
    asked = json.load(sys.stdin)
    commands = [
        words for each in asked["commands"] for words in (helps(cli) if each == ["*", "--help"] else iter([each]))
    ]
    ends = []
    for words in commands:
        ends.append(ended(words, asked["seconds"]))
        if ends[-1]["code"] == 130:
            break
    json.dump(ends, sys.stdout)


if __name__ == "__main__":
    main()
