"""``lexiscope report``: one page of one run, or of several compared; and its exhibits as files."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.output import say
from lexiscope.cli.verb import Verb
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.sealed import RUN
from lexiscope.report.marks.canvas import JOURNAL_WIDTHS
from lexiscope.report.page.html import write_report
from lexiscope.report.page.journal import FILE_KINDS, FileKind, write_exhibits
from lexiscope.report.page.runs import holds_responses_only
from lexiscope.report.page.stored import SECTIONS
from lexiscope.studies.kit.comparison import comparison_report


@click.command(cls=Verb)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@options.path("--out", metavar="FILE", about="The page, report.html.", required=True)
@options.path("--exhibits", metavar="FOLDER", about="Also write figures, tables and APA sentences into this folder.")
@click.option(
    "--width",
    "widths",
    type=click.IntRange(40, 300),
    multiple=True,
    default=JOURNAL_WIDTHS,
    metavar="MM",
    help="Width of the figures of --exhibits in millimetres. May be repeated. Default: 85, 120 and 180.",
)
@click.option(
    "--format",
    "kinds",
    type=click.Choice(FILE_KINDS),
    multiple=True,
    default=FILE_KINDS,
    help="File format of the figures of --exhibits. May be repeated. Default: all.",
)
def report(
    *, runs: tuple[Path, ...], out: Path, exhibits: Path | None, widths: tuple[int, ...], kinds: tuple[FileKind, ...]
) -> None:
    """Write one report of one or more runs.

    The page is one file that opens without a network. Several runs are compared: models and people on one axis, a
    table that can be sorted, differences on the same draws, sets of ranks. A run of collect, which holds answers
    but no analysis, counts and means are shown. Every file of a run is checked before it is read; nothing is written
    to the run folders. --exhibits writes each figure of the Results page as PDF, PNG and SVG, each table as CSV, LaTeX
    and Word, and the sentences of the answers in APA style.
    """
    for run in runs:
        _check_run(run)
    made = comparison_report(runs, page=out)
    if exhibits is not None and made.results is None:
        raise InputError("this report has no Results page, so it has no exhibits", hint="leave out --exhibits")
    say(f"Saved {write_report(made, out)}")
    if exhibits is not None and made.results is not None:
        files = write_exhibits(made.results, exhibits, widths=widths, kinds=kinds)
        say(f"Saved {len(files)} files in {exhibits}")


def _check_run(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError("there is no such run folder", code="E001", place=Place(str(folder)))
    if not (folder / SECTIONS).is_file() and not holds_responses_only(folder):
        hint = "name the folder that was given to --out"
        raise InputError("this is not the folder of a run", code="E009", place=Place(str(folder)), hint=hint)
    if not (folder / RUN).is_file():
        what, why = "this run is not finished, or has lost its record", f"there is no {RUN}"
        raise RunError(what, place=Place(str(folder)), why=why, hint="give the command again that made this folder")
