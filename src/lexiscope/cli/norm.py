"""``lexiscope norm``: norms from people and models together, of a dataset or of a file with ratings."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_results, progress_bar, remark, say, say_plain_table
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.report.page.study_folder import Summary
from lexiscope.report.tables import to_text
from lexiscope.studies.norm.settings import NormSettings

STUDY = "norm"


@click.command(cls=Verb)
@click.argument("source", metavar="DATASET|FILE", type=options.CatalogName("datasets"))
@options.of_settings(
    NormSettings,
    "subjects",
    "models",
    "by",
    "items",
    "columns",
    "where",
    "scale",
    "language",
    "task",
    "epsilon",
    "sizes",
    "draws",
    "items_next",
    "waves",
    "half_width",
    "n_bootstrap",
    "seed",
    "device",
    "threads",
    "title",
)
@options.path("--out", metavar="RUN", about="Run folder; without it NAME_norm next to where you are.")
@options.as_json
@options.quiet
def norm(*, source: str, out: Path | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Combine ratings of people and models: what a model is worth, valid estimates, items to ask next.

    DATASET is one of `lexiscope list datasets`; its recorded models that rate are compared with its people. FILE has
    items with ratings, or ratings with --items; some items may be without ratings, or all. --subject adds models that
    answer now.

    The report has the number of people whose mean is as close as a model (number needed to beat), the alternative
    annotator test, means and contrasts that are valid for any model (prediction-powered inference), norms of single
    items, and an allocation of items to people, as files for lexiscope annotate, with a stopping rule.
    """
    settings = options.make_settings(NormSettings, {**given, **_given_source(source)})
    run_folder = out or Path(f"{Path(source).stem}_norm")
    study = cast(Any, catalog.study(STUDY))
    command = shlex.join(["lexiscope", *sys.argv[1:]])
    with progress_bar("norm", quiet=quiet) as progress:
        summary = cast(
            Summary, study.run(replace(settings, study=STUDY), run_folder, progress=progress, command=command)
        )
    if summary.overview.rows and not as_json:
        say_plain_table(to_text(summary.overview))
    for text in summary.remarks:
        remark(text, quiet=quiet)
    if as_json:
        print_results(run_folder)
        return
    say(f"Report: {summary.report}")


def _given_source(source: str) -> dict[str, str]:
    """Whether a name is a dataset of the catalog, or a file with ratings or items."""
    if catalog.has("datasets", source):
        return {"dataset": source}
    existing_file(source)
    return {"file": source}
