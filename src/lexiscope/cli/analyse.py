"""``lexiscope analyse``: any ratings file, understood, shown, and analysed in a report."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_results, progress_bar, remark, say, say_plain_table
from lexiscope.cli.reading import confirm_understanding, show_understanding
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.scale import Scale
from lexiscope.report.page.study_folder import Summary
from lexiscope.report.tables import to_text
from lexiscope.studies.any_ratings.settings import AnyRatingsSettings
from lexiscope.studies.kit.rated_file import read_rated_file

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
    settings = options.make_settings(AnyRatingsSettings, {**given, "file": str(file)})
    scale = None if settings.scale is None else Scale.between(*settings.scale)
    rated = read_rated_file(
        file, items=settings.items, task=settings.task, language=settings.language, scale=scale, options=settings
    )
    show_understanding(rated.understood, quiet=quiet)
    confirm_understanding(rated.understood, yes=yes)
    run_folder = out or Path(f"{file.stem}_analysis")
    study = cast(Any, catalog.study(STUDY))
    command = shlex.join(["lexiscope", *sys.argv[1:]])
    with progress_bar("analysis", quiet=quiet) as progress:
        summary = cast(
            Summary, study.run(replace(settings, study=STUDY), run_folder, progress=progress, command=command)
        )
    if summary.overview.rows and not as_json:
        say_plain_table(to_text(summary.overview))
    understood = rated.understood
    shown = {understood.summary(), *understood.notes, *understood.warnings}
    for text in summary.remarks:
        if text not in shown:
            remark(text, quiet=quiet)
    if as_json:
        print_results(run_folder)
        return
    say(f"Report: {summary.report}")
