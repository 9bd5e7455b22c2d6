"""``lexiscope report``: one page of one run, or of several side by side."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.output import say
from lexiscope.cli.verb import Verb
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.sealed import RUN
from lexiscope.report.page.html import write_report
from lexiscope.report.page.runs import holds_responses_only, report_of_runs
from lexiscope.report.page.stored import SECTIONS


@click.command(cls=Verb)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@options.path("--out", metavar="FILE", about="The page, report.html.", required=True)
def report(*, runs: tuple[Path, ...], out: Path) -> None:
    """Write one report of one or more runs.

    The page is one file that opens without a network. Several runs stand side by side, statistic by statistic. Of a
    run of collect, which holds answers but no analysis, counts and means are shown. Every file of a run is checked
    before it is read; nothing is written to the run folders.
    """
    for run in runs:
        _check_run(run)
    path = write_report(report_of_runs(runs), out)
    say(f"written: {path}")


def _check_run(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError("there is no such run folder", code="E001", place=Place(str(folder)))
    if not (folder / SECTIONS).is_file() and not holds_responses_only(folder):
        hint = "name the folder that was given to --out"
        raise InputError("this is not the folder of a run", code="E009", place=Place(str(folder)), hint=hint)
    if not (folder / RUN).is_file():
        what, why = "this run is not finished, or has lost its record", f"there is no {RUN}"
        raise RunError(what, place=Place(str(folder)), why=why, hint="give the command again that made this folder")
