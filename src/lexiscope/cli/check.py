"""``lexiscope check``: check an item file before data collection."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import remark, say
from lexiscope.cli.verb import Verb
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.core.spec import plain_name
from lexiscope.items.check.item_file import check_file
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.items.tables.findings import CheckReport
from lexiscope.items.tables.understood import reading_remark

# columns of pages on which words or groups of words are chosen, in a table that Lexiscope wrote
_SENSES = {"condition.intruder_id", "condition.group_1"}
_NO_PAIRS = (
    "this is a test of senses: pages of one word or sentence differ in their options, so they are not\n"
    "checked as repetitions (E209) or pairs (W2..); check a study of them: lexiscope annotate check STUDY.yaml"
)


@click.command(cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@options.of_settings(ReadingOptions, "columns", "where", "encoding", "separator", "decimal", "missing")
@options.scale("Lowest and highest rating: 1 5.")
@options.of_arguments(check_file, "min_ratings", "language", "task")
@click.option("--at-most", type=click.IntRange(min=1), default=20, show_default=True, help="Errors shown per code.")
@click.option("--strict", is_flag=True, help="Warnings, too, make the exit status 1.")
@options.as_json
@click.pass_context
def check(
    ctx: click.Context,
    /,
    *,
    file: Path,
    scale: Scale | None,
    min_ratings: int,
    language: str,
    task: str,
    at_most: int,
    strict: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Check an item file for errors and warnings.

    FILE may be in any encoding, with any separator; a column per rater is found by its name or named with
    --map rater_columns=p*. Every finding has a stable code (E: error, W: warning), its place, and what to do; a warning
    that occurs repeatedly is printed once, with its number and its first places. The exit status is 0 without errors,
    1 with errors (with --strict: or warnings).
    """
    reading = options.make_settings(ReadingOptions, given)
    _check_is_file(file)
    report = check_file(file, scale=scale, min_ratings=min_ratings, options=reading, language=language, task=task)
    if as_json:
        sys.stdout.write(report.json())
    else:
        _print_report(report, at_most)
    ctx.exit(1 if strict and report.warnings else report.exit_status)


def read_map(pairs: tuple[str, ...]) -> ColumnMap:
    """Read ``part=column`` arguments.

    Errors: :class:`click.BadParameter` for an argument without ``=``; an unknown part is an :class:`InputError`.
    """
    mapping = {}
    for pair in pairs:
        part, sign, column = pair.partition("=")
        if not sign or not part or not column:
            raise click.BadParameter(f"{pair!r} is not of the form part=column", param_hint="--map")
        mapping[part] = column
    return ColumnMap.from_mapping(mapping)


def _check_is_file(file: Path) -> None:
    """Name the command that checks a dataset, if the name of one was given and there is no such file."""
    name = plain_name(str(file))
    if catalog.has("datasets", name) and (not file.exists() or file.suffix == ".py"):
        hint = f"its files are checked with: lexiscope data check {name}; "
        hint += "all datasets: lexiscope list datasets"
        raise InputError("this is the name of a dataset, not a file", code="E001", place=Place(str(file)), hint=hint)


def _print_report(report: CheckReport, at_most: int) -> None:
    say(report.text(at_most=at_most))
    if report.simulated:
        remark(TOLD_SIMULATED)
    if report.task:
        remark(f"checked as items of {report.task}; if they are others: --task NAME (lexiscope list tasks)")
    if report.columns:
        remark("columns: " + ", ".join(f"{part} = {column}" for part, column in report.columns))
    if report.unused:
        remark("Unused columns: " + ", ".join(report.unused))
    for text in reading_remark(report.opened):
        remark(text)
    if _SENSES.intersection(report.unused):
        remark(_NO_PAIRS)
