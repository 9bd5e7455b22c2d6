"""What a terminal shows: results on stdout, progress and remarks on stderr, tables that fit 80 columns."""

from __future__ import annotations

import json
import logging
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest

import click

from lexiscope.core.errors import text_width

LOG = logging.getLogger(__name__)
WIDTH = 80
Report = Callable[[str, int, int], None]
_GAP = "  "


def quoted(word: object) -> str:
    """Return a word of a command as a shell takes it: the next command is copied from the screen.

    >>> quoted("my run"), quoted("my_run")
    ("'my run'", 'my_run')
    """
    return shlex.quote(str(word))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
    below: str = "",
) -> None:
    """Print a table on stdout; columns in *right* are aligned to the right, those in *whole* are never folded.

    All other long texts are folded, none is cut. The column *below* is printed below its row if the table is wider than
    the screen: a description in a narrow column is hard to read.
    """
    # written here: those of rich take longer to load than a list takes to print
    texts = [[cell(value) for value in row] for row in (columns, *rows)]
    widths = _widths(texts)
    # a pipe and a wide terminal get the same 80 columns; a narrow terminal gets what it has
    screen = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH
    room = screen - len(_GAP) * (len(columns) - 1)
    descriptions: list[str] = []
    if below in columns and sum(widths) > room:
        place = columns.index(below)
        descriptions = [row.pop(place) for row in texts]
        columns, widths = [name for name in columns if name != below], _widths(texts)
        room += len(_GAP)
    folding = [place for place, name in enumerate(columns) if name not in whole] or [*range(len(columns))]
    while sum(widths) > room and max(widths[place] for place in folding) > 1:
        widths[max(folding, key=widths.__getitem__)] -= 1
    lines = [title] if title else []
    for number, row in enumerate(texts):
        folded = [_folded(text, width) for text, width in zip(row, widths, strict=True)]
        if number == 0:
            # a short name of a column is next to the rule
            most = max(map(len, folded))
            folded = [[""] * (most - len(name)) + name for name in folded]
        for parts in zip_longest(*folded, fillvalue=""):
            spaces = [" " * (width - text_width(part)) for part, width in zip(parts, widths, strict=True)]
            cells = zip(columns, parts, spaces, strict=True)
            lines.append(_GAP.join(space + part if name in right else part + space for name, part, space in cells))
        if number == 0:
            lines.append("─" * (screen if descriptions else sum(widths) + len(_GAP) * (len(columns) - 1)))
        elif descriptions:
            lines += [_GAP + line for line in _folded(descriptions[number], screen - len(_GAP))]
    click.echo("\n".join(lines))


def _widths(texts: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(text_width(line) for text in column for line in text.split("\n")) for column in zip(*texts, strict=True)
    ]


def _folded(text: str, width: int) -> list[str]:
    """Return a text as lines of at most *width* places: cut between words, and a word that is longer within."""
    lines = []
    for line in text.split("\n"):
        lines.append("")
        for word in re.findall(r"\S+\s*|\s+", line):
            if lines[-1] and text_width(lines[-1] + word.rstrip()) > width:
                lines.append("")
            while text_width(word.rstrip()) > width:
                fits = next(n for n in range(len(word), 0, -1) if n == 1 or text_width(word[:n]) <= width)
                if fits == len(word):
                    break
                lines[-1:], word = [word[:fits], ""], word[fits:]
            lines[-1] += word
    return [line.rstrip() for line in lines]


def cell(value: object) -> str:
    """Return the text of a table cell: three decimals for a fraction, an empty cell for a missing value.

    >>> cell(0.73064), cell(None), cell(12), cell("a")
    ('0.731', '', '12', 'a')
    """
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def print_json(content: object) -> None:
    """Print JSON on stdout, in UTF-8 and with missing values as null."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))


def say(text: str = "") -> None:
    """Print a line of the result on stdout."""
    click.echo(text)


def say_folded(text: str) -> None:
    """Print running text on stdout, folded between words at 80 columns."""
    for line in text.splitlines():
        click.echo(textwrap.fill(line, WIDTH, break_on_hyphens=False) if line else "")


def say_plain_table(text: str) -> None:
    """Print a table that is plain text already; the notes below its last rule are folded, its rows are not."""
    lines = text.splitlines()
    last_rule = max((number for number, line in enumerate(lines) if line and set(line) == {"─"}), default=-1)
    say("\n".join(lines[: last_rule + 1]))
    say_folded("\n".join(lines[last_rule + 1 :]))


def remark(text: str, *, quiet: bool = False) -> None:
    """Print a remark on stderr, unless *quiet*."""
    if not quiet:
        click.echo(text, err=True)


@contextmanager
def progress_bar(label: str, *, quiet: bool = False) -> Iterator[Report | None]:
    """Give a function ``(part, done, total)`` that moves one bar per part on stderr.

    Without a terminal, it logs the beginning and the end of each part where the log takes them; else it is ``None``.
    """
    if quiet or not sys.stderr.isatty():
        yield _logged_progress(label) if LOG.isEnabledFor(logging.INFO) else None
        return
    # bars take as long to load as all other output together
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        known: dict[str, TaskID] = {}

        logged = _logged_progress(label)

        def report(part: str, done: int, total: int) -> None:
            if part not in known:
                known[part] = bars.add_task(f"{label}: {part}", total=total)
            bars.update(known[part], completed=done, total=total)
            logged(part, done, total)

        yield report


def _logged_progress(label: str) -> Report:
    begun = set[str]()

    def report(part: str, done: int, total: int) -> None:
        if part not in begun or done == total:
            begun.add(part)
            LOG.info("%s: %s: %d of %d", label, part, done, total)

    return report
