"""How ``lexiscope study`` runs: the settings of a name or a file and of the command line, then the study itself."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.cli.main import pin_threads
from lexiscope.cli.output import progress_bar, remark, remark_threads, say, say_plain_table
from lexiscope.cli.study_file import read_study_file, write_study_file
from lexiscope.cli.verb import existing_file
from lexiscope.core import catalog
from lexiscope.core.settings import Settings, settings_of
from lexiscope.report.study_run import Summary
from lexiscope.report.tables import to_text

Run = Callable[..., Summary]


def run_study(name: str, given: Mapping[str, Any], *, out: Path | None, write_yaml: Path | None, quiet: bool) -> None:
    """Run a study, or write its settings to a file, and say what it came to."""
    settings = chosen_settings(name, given)
    if write_yaml is not None:
        write_study_file(settings, write_yaml)
        say(f"written: {write_yaml}")
        return
    if out is None:
        raise click.UsageError("name the run folder: --out RUN")
    run = _runner(settings.study)
    if os.environ.get("OMP_NUM_THREADS") != str(settings.threads):
        # a study file asks for another number than the command line: models, loaded later, still take it up
        pin_threads(("--threads", str(settings.threads)))
    remark_threads(settings.threads, quiet=quiet)
    with progress_bar(settings.study, quiet=quiet) as progress:
        summary = run(settings, out, progress=progress, command=shlex.join(["lexiscope", *sys.argv[1:]]))
    if summary.overview.rows:
        say_plain_table(to_text(summary.overview))
    for text in summary.remarks:
        remark(text, quiet=quiet)
    say(f"{summary.n_records} numbers in {out / 'results.json'}; the report: {summary.report}")


def chosen_settings(name: str, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a study by name or file, with the options that were given on the command line.

    An option that names the same thing in another way (items, a dataset, several datasets) takes the file's place.
    Errors: :class:`InputError` for a file that is not there, and for values that the study does not take.
    """
    if Path(name).suffix in (".yaml", ".yml"):
        settings = read_study_file(existing_file(name))
    else:
        settings = catalog.settings(name)(study=name)
    chosen = {key: value for key, value in given.items() if value is not None and value != ()}
    known = {setting.name: setting for setting in settings_of(type(settings))}
    for setting in known.values():
        replaced_by = [one for one in chosen if setting.name in known[one].option.instead_of]
        replaced_by += [one for one in setting.option.instead_of if one in chosen]
        if replaced_by and setting.name not in chosen:
            chosen[setting.name] = setting.default
        elif setting.option.file:
            for path in _paths(chosen.get(setting.name, ())):
                existing_file(path)
    return replace(settings, **chosen)


def _paths(value: str | tuple[str, ...]) -> Iterator[str]:
    yield from (value,) if isinstance(value, str) and value else value


def _runner(name: str) -> Run:
    return cast(Run, getattr(catalog.study(name), "run"))  # noqa: B009
