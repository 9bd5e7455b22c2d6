"""What a command tells while it runs: ``--verbose`` shows more on stderr, ``--log FILE`` keeps everything.

A command without either shows warnings, such as a request that is tried again. This file is loaded when a command runs,
not for its help.
"""

from __future__ import annotations

import logging
import os
import platform
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from lexiscope import __version__

LOG = logging.getLogger("lexiscope")
"""The parent of every logger of the package."""
_PASSWORD = re.compile(r"(://[^:/@\s]*):[^@/\s]+@")


@contextmanager
def log_command(command: Sequence[str], *, verbose: bool, file: Path | None) -> Iterator[None]:
    """Show what the package logs on stderr, and append it to *file*, until the block ends.

    *command* is what the user typed; a password in an address is not kept. The file gets a line for each message, with
    the time in UTC, and the traceback of an error that ends the command.
    Errors: :class:`OSError` for a file that cannot be written.
    """
    begun, before = time.monotonic(), LOG.level
    with ExitStack() as held:
        if file is not None:
            kept = logging.FileHandler(file, mode="a", encoding="utf-8")
            held.callback(kept.close)
            form = logging.Formatter("%(asctime)sZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")
            form.converter = time.gmtime
            kept.setFormatter(form)
            _add(held, kept, logging.DEBUG)
        shown = logging.StreamHandler(sys.stderr)
        shown.setFormatter(logging.Formatter("%(message)s"))
        _add(held, shown, logging.INFO if verbose else logging.WARNING)
        held.callback(LOG.setLevel, before)
        LOG.setLevel(logging.DEBUG if file is not None else logging.INFO if verbose else logging.WARNING)
        LOG.info("%s", without_passwords(shlex.join(["lexiscope", *command])))
        if LOG.isEnabledFor(logging.INFO):
            # asking for the platform starts a process: a tenth of the time that a list takes
            machine = f"Python {platform.python_version()}, {platform.platform()}"
            LOG.info(
                "Lexiscope %s, %s; CPU threads: %s", __version__, machine, os.environ.get("OMP_NUM_THREADS", "not set")
            )
        status = 1
        try:
            yield
            status = 0
        except click.exceptions.Exit as end:
            status = end.exit_code
            raise
        except BaseException as error:
            status = error.exit_code if isinstance(error, click.ClickException) else status
            LOG.debug("ended by %s", type(error).__name__, exc_info=True)
            raise
        finally:
            LOG.info("Exit status %d after %.1f s", status, time.monotonic() - begun)


def _add(held: ExitStack, handler: logging.Handler, level: int) -> None:
    handler.setLevel(level)
    LOG.addHandler(handler)
    held.callback(LOG.removeHandler, handler)


def without_passwords(text: str) -> str:
    """Return a text whose addresses have no passwords.

    >>> without_passwords("serve s.yaml --postgres postgresql://words:secret@localhost/words")
    'serve s.yaml --postgres postgresql://words:***@localhost/words'
    """
    return _PASSWORD.sub(r"\1:***@", text)
