"""How ``lexiscope study`` runs: the settings of a name or a file and of the command line, then the study itself."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.cli.main import pin_threads
from lexiscope.cli.output import progress_bar, remark, say, say_plain_table
from lexiscope.cli.results.costs import print_costs
from lexiscope.cli.results.shown import print_results
from lexiscope.collect.costs import CollectionCost
from lexiscope.core import catalog
from lexiscope.core.settings import Settings
from lexiscope.core.showing import counted
from lexiscope.report.page.study_folder import Summary
from lexiscope.report.tables import to_text
from lexiscope.studies.kit.settings_file import settings_of_run, write_study_file

LOG = logging.getLogger(__name__)
Run = Callable[..., Summary]
Costs = Callable[[Settings, Path], tuple[list[CollectionCost], str]]


def run_study(
    name: str,
    given: Mapping[str, Any],
    *,
    out: Path | None,
    quiet: bool,
    write_yaml: Path | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> None:
    """Run a study, write its settings to a file, or show what it would cost; print its overview, or JSON."""
    chosen = {key: value for key, value in given.items() if value is not None and value != ()}
    settings = settings_of_run(name, chosen)
    if write_yaml is not None:
        write_study_file(settings, write_yaml)
        say(f"Saved {write_yaml}")
        return
    if out is None:
        raise click.UsageError("name the run folder: --out RUN")
    if os.environ.get("OMP_NUM_THREADS") != str(settings.threads):
        # a study file asks for another number than the command line: models, loaded later, still take it up
        pin_threads(("--threads", str(settings.threads)))
        LOG.info("CPU threads: %d", settings.threads)
    if dry_run:
        costs, uncounted = cast(Costs, getattr(catalog.study(settings.study), "costs"))(settings, out)  # noqa: B009
        print_costs(costs, as_json=as_json)
        if uncounted:
            remark(f"Not counted: what follows when there are answers ({uncounted}).", quiet=quiet)
        return
    summary = run_and_show(settings, out, label=settings.study, as_json=as_json, quiet=quiet)
    if not as_json:
        say(f"{counted(summary.n_records, 'number')} in {out / 'results.json'}; the report: {summary.report}")


def run_and_show(
    settings: Settings, out: Path, *, label: str, as_json: bool, quiet: bool, shown: Collection[str] = ()
) -> Summary:
    """Run the study of the settings, with its progress under a *label*; print its overview and remarks, or JSON.

    Remarks that the screen has already *shown* are not repeated.
    """
    run = cast(Run, getattr(catalog.study(settings.study), "run"))  # noqa: B009
    with progress_bar(label, quiet=quiet) as progress:
        summary = run(settings, out, progress=progress, command=shlex.join(["lexiscope", *sys.argv[1:]]))
    if summary.overview.rows and not as_json:
        say_plain_table(to_text(summary.overview))
    for text in summary.remarks:
        if text not in shown:
            remark(text, quiet=quiet)
    if as_json:
        print_results(out)
    return summary
