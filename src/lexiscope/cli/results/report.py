"""``lexiscope report``: one page of one run, or of several compared; and its exhibits as files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import remark, say
from lexiscope.cli.verb import Verb
from lexiscope.collect.sweep import swept_folders
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.run import missing_place, read_json
from lexiscope.core.sealed import RESPONSES, RUN
from lexiscope.items.read.item_source import task_of_items
from lexiscope.report.marks.canvas import JOURNAL_WIDTHS
from lexiscope.report.page.exports import FILE_KINDS, FileKind, write_exhibits
from lexiscope.report.page.html import write_report
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
    table that can be sorted, differences on the same draws, sets of ranks. The folder of a sweep means all its
    runs. For a run of collect, which holds answers but no analysis, counts and means are shown, and the command that
    compares its models with people is printed. Every file of a run is checked before it is read; nothing is written
    to the run folders. --exhibits writes each figure of the Results page as PDF, PNG and SVG, each table as CSV, LaTeX
    and Word, and the sentences of the answers in APA style.
    """
    folders = [folder for run in runs for folder in swept_folders(run) or [run]]
    for folder in folders:
        _check_run(folder)
    made = comparison_report(folders, page=out)
    if exhibits is not None and made.results is None:
        raise InputError("this report has no Results page, so it has no exhibits", hint="leave out --exhibits")
    say(f"Saved {write_report(made, out)}")
    if exhibits is not None and made.results is not None:
        files = write_exhibits(made.results, exhibits, widths=widths, kinds=kinds)
        say(f"Saved {len(files)} files in {exhibits}")
    for line in _next_commands([folder for folder in folders if holds_responses_only(folder)]):
        remark(line)


def _check_run(folder: Path) -> None:
    if not folder.is_dir():
        raise missing_place(folder, "there is no such run folder")
    if not (folder / SECTIONS).is_file() and not holds_responses_only(folder):
        hint = "name the folder that was given to --out"
        raise InputError("this is not the folder of a run", code="E009", place=Place(str(folder)), hint=hint)
    if not (folder / RUN).is_file():
        what, why = "this run is not finished, or has lost its record", f"there is no {RUN}"
        raise RunError(what, place=Place(str(folder)), why=why, hint="give the command again that made this folder")


def _next_commands(folders: Sequence[Path]) -> list[str]:
    """The command that compares the models of each collection with the people of its items.

    None for a dataset that was asked another question than the one that its people answered.
    """
    records = [(folder, read_json(folder / RUN)) for folder in folders]
    lines = [shlex.join(_analysis(folder, record)) for folder, record in records if _asks_as_people(record)]
    return ["next, to compare models with people (if the items have ratings):", *lines] if lines else []


def _asks_as_people(record: Mapping[str, Any]) -> bool:
    items = str(record.get("settings", {}).get("items", ""))
    return bool(items) and (not catalog.has("datasets", items) or task_of_items(items, None) == record["task"])


def _analysis(folder: Path, record: Mapping[str, Any]) -> list[str]:
    asked = record["settings"]
    items = str(asked["items"])
    words = ["lexiscope", "study", "any_ratings", "--dataset" if catalog.has("datasets", items) else "--file", items]
    words += ["--task", str(record["task"])]
    words += [word for column in asked.get("columns") or () for word in ("--map", str(column))]
    if asked.get("scale"):
        low, _, high, *_ = str(asked["scale"]).replace(",", "").split()
        words += ["--scale", low, high]
    words += ["--language", str(asked["language"])] if asked.get("language") else []
    words += ["--subject", f"recorded:{folder / RESPONSES}"]
    return [*words, "--out", f"{folder}_analysed"]
