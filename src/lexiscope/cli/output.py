"""What a terminal shows: results on stdout, progress and remarks on stderr, tables that fit 80 columns."""

from __future__ import annotations

import json
import logging
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from lexiscope.core.result import Estimate, Interval, Undefined, read_records

LOG = logging.getLogger(__name__)
WIDTH = 80
Report = Callable[[str, int, int], None]
Side = Literal["left", "right"]


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> None:
    """Print a table on stdout; columns in *right* are aligned to the right, those in *whole* are never folded.

    All other long texts are folded, none is cut.
    """
    table = Table(title=title or None, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    table.pad_edge, table.show_edge, table.collapse_padding = False, False, True
    for name in columns:
        side: Side = "right" if name in right else "left"
        table.add_column(name, justify=side, overflow="fold", no_wrap=name in whole)
    for row in rows:
        table.add_row(*[Text(cell(value)) for value in row])
    # a pipe and a wide terminal get the same 80 columns; a narrow terminal gets what it has
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH
    Console(file=sys.stdout, width=width, soft_wrap=False, highlight=False).print(table)


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


def print_results(run: Path) -> None:
    """Print the records of a run's ``results.json`` as JSON."""
    print_json([record.content() for record in read_records(run / "results.json")])


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


def kappa_text(kappa: Estimate | Undefined) -> str:
    """Return a kappa with its interval, or why there is none."""
    if isinstance(kappa, Undefined):
        return kappa.reason
    bounds = f" [{kappa.interval.low:.2f}, {kappa.interval.high:.2f}]" if kappa.interval.is_defined else ""
    return f"{kappa.value:.2f}{bounds}"
