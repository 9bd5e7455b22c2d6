"""``lexiscope norm``: norms from people and models together, of a dataset or of a file with ratings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import say
from lexiscope.cli.study_run import run_and_show
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.studies.norm.settings import NormSettings

STUDY = "norm"


@click.command(cls=Verb)
@click.argument("source", metavar="DATASET|FILE", type=options.CatalogName("datasets"))
@options.of_settings(
    NormSettings,
    "subjects",
    "models",
    "by",
    "target",
    "items",
    "columns",
    "where",
    "repeats",
    "scale",
    "language",
    "task",
    "epsilon",
    "contamination",
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

    The report has the number of people whose mean agrees with other people as well as a model does (number needed to
    beat), the alternative annotator test, means and contrasts that are valid for any model (prediction-powered
    inference), norms of single items, and an allocation of items to people, as files for lexiscope annotate, with a
    stopping rule.
    """
    settings = options.make_settings(NormSettings, {**given, **_given_source(source)})
    run_folder = out or Path(f"{Path(source).stem}_norm")
    summary = run_and_show(replace(settings, study=STUDY), run_folder, label="norm", as_json=as_json, quiet=quiet)
    if not as_json:
        say(f"Report: {summary.report}")


def _given_source(source: str) -> dict[str, str]:
    """Whether a name is a dataset of the catalog, or a file with ratings or items."""
    if catalog.has("datasets", source):
        return {"dataset": source}
    # a word without a folder or an ending is a misspelt name rather than a file
    if Path(source).name == source and not Path(source).suffix and not Path(source).exists():
        raise catalog.unknown_name("datasets", source)
    existing_file(source)
    return {"file": source}
