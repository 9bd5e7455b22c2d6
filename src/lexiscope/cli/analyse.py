"""``lexiscope analyse``: any ratings file, understood, shown, and analysed in a report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import WIDTH, remark, say
from lexiscope.cli.study_run import run_and_show
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.items.tables.understood import Understanding
from lexiscope.studies.any_ratings.settings import AnyRatingsSettings
from lexiscope.studies.kit.rated_run import read_rated

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


STUDY = "any_ratings"


@click.command(cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@options.of_settings(
    AnyRatingsSettings,
    "subjects",
    "items",
    "columns",
    "where",
    "encoding",
    "separator",
    "decimal",
    "missing",
    "repeats",
    "scale",
    "language",
    "participants",
    "task",
    "ordinal",
    "n_bootstrap",
    "seed",
    "device",
    "threads",
    "title",
)
@options.path("--out", metavar="RUN", about="Run folder; without it NAME_analysis next to where you are.")
@click.option("--yes", is_flag=True, help="Do not ask whether the file was understood.")
@options.as_json
@options.quiet
def analyse(*, file: Path, out: Path | None, yes: bool, as_json: bool, quiet: bool, **given: Any) -> None:
    """Analyse any ratings file and write a report.

    FILE has ratings in any layout: one row per rating, one column per rater, one row per rater, or an export of
    Lexiscope, Qualtrics, Gorilla, jsPsych, PCIbex, Potato or Label Studio; CSV in any encoding and separator, JSON, or
    Parquet. What was understood of it is shown first. In a terminal the command asks whether that is right; --yes does
    not ask, --map names a column.

    The report has the agreement of the raters, human ceilings, the distribution of the ratings, the effect of each
    condition, and, with --subject, models compared with the raters. Models need sentences: in FILE, or in --items.
    """
    existing_file(file)
    settings = replace(options.make_settings(AnyRatingsSettings, {**given, "file": str(file)}), study=STUDY)
    rated = read_rated(settings)
    show_understanding(rated.understood, quiet=quiet)
    confirm_understanding(rated.understood, yes=yes)
    run_folder = out or Path(f"{file.stem}_analysis")
    understood = rated.understood
    summary = run_and_show(
        settings, run_folder, label="analysis", as_json=as_json, quiet=quiet,
        shown={understood.summary(), *understood.notes, *understood.warnings},
    )  # fmt: skip
    if not as_json:
        say(f"Report: {summary.report}")
