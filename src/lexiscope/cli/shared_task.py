"""``lexiscope shared-task``: submissions to the shared task on AmbiStory, from a file of samples to the score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import click

from lexiscope.analysis.norms.predictions import OfficialScore, official_score, predictions_of, rounded
from lexiscope.build.stories.stories import TASK
from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, quoted, remark, say
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Undefined
from lexiscope.core.run import write_atomically
from lexiscope.core.sealed import RESPONSES
from lexiscope.core.simulated import SIMULATED, SIMULATED_PARTICIPANTS
from lexiscope.datasets import ambistory
from lexiscope.items.sheets.shared_task import check_submission, read_submission, write_submission
from lexiscope.items.tables.tabular import write_items

Rounding = Literal["no", "half_up", "half_even"]


_which = options.combine(
    options.of_arguments(ambistory.split_samples, "split"),
    options.path(
        "--samples",
        metavar="FILE.json",
        about="A file in the publisher's form, instead of a split; it may be redacted.",
    ),
)
"""Which rows are meant."""


@click.group("shared-task")
def shared_task() -> None:
    """Submissions to the shared task on AmbiStory: write, check, score."""


@shared_task.command("items", cls=Verb)
@click.argument("samples", type=click.Path(path_type=Path), metavar="FILE.json")
@options.path("--out", metavar="FILE.csv", about="The items.", required=True)
@options.quiet
def make_items(samples: Path, *, out: Path, quiet: bool) -> None:
    """Write the items of a file of samples, redacted or not.

    FILE.json is in the publisher's form. The items carry no ratings; their order and ids are never shown to a subject.
    """
    path = existing_file(samples)
    items = ambistory.setup_items("test", ambistory.read_samples(path), str(path))
    write_items(items, out)
    say(f"Saved {out} ({len(items)} items)")
    remark(f"next: lexiscope collect --items {quoted(out)} --task {TASK} --subject SPEC --out RUN", quiet=quiet)


@shared_task.command(cls=Verb)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--subject", required=True, metavar="ID", help="ID of the subject whose ratings are submitted.")
@options.path("--out", metavar="FILE.jsonl", about="The submission.", required=True)
@_which
@click.option(
    "--rounding",
    type=click.Choice(("no", "half_up", "half_even")),
    default="no",
    show_default=True,
    help="Round to whole numbers from 1 to 5, and how halves are rounded.",
)
@options.quiet
def write(
    run: Path, *, subject: str, out: Path, split: str, samples: Path | None, rounding: Rounding, quiet: bool
) -> None:
    """Write a submission from a run.

    RUN is the folder of a collected run. Every row needs a readable rating: none is filled in.
    """
    ratings = predictions_of(ResponseTable.read_parquet(existing_file(run / RESPONSES)), subject)
    rows = [ratings.get(ambistory.item_id(sample)) for sample in _read_samples(split, samples)]
    if rounding != "no":
        rows = [None if value is None else float(rounded([value], rule=rounding)[0]) for value in rows]
    write_submission(out, rows)
    say(f"Saved {out} ({len(rows)} predictions)")
    remark(f"next: lexiscope shared-task check {quoted(out)}", quiet=quiet)


@shared_task.command(cls=Verb)
@click.argument("submission", type=click.Path(path_type=Path), metavar="FILE.jsonl")
@_which
@options.as_json
@click.pass_context
def check(ctx: click.Context, /, submission: Path, *, split: str, samples: Path | None, as_json: bool) -> None:
    """Check the form of a submission.

    Every fault is listed with its line. The exit status is 1 if there are faults. The official check is less strict: it
    cuts 5.9 to 5 and accepts an ID that appears twice.
    """
    n_samples = len(_read_samples(split, samples))
    faults = check_submission(existing_file(submission), n_samples)
    if as_json:
        between = None if faults else read_submission(submission, n_samples).n_non_integer
        print_json({"n": n_samples, "faults": [str(fault) for fault in faults], "n_non_integer": between})
        ctx.exit(1 if faults else 0)
    for fault in faults:
        say(f"{submission}: {fault}")
    if faults:
        say(f"{len(faults)} faults")
        ctx.exit(1)
    between = read_submission(submission, n_samples).n_non_integer
    more = f", {between} of them not whole numbers" if between else ""
    say(f"{submission}: a submission of {n_samples} predictions{more}")


@shared_task.command(cls=Verb)
@click.argument("submission", type=click.Path(path_type=Path), metavar="FILE.jsonl")
@_which
@options.path("--out", metavar="FILE.json", about="Write the two numbers here.")
@options.as_json
def score(submission: Path, *, split: str, samples: Path | None, out: Path | None, as_json: bool) -> None:
    """Score a submission as the organisers do.

    Accuracy within SD is strict, with the sample SD and a threshold of at least 1. A constant prediction has no
    Spearman correlation: n/a, and null in JSON.
    """
    published = _read_samples(split, samples)
    if any(sample.choices is None for sample in published):
        raise InputError("these samples are redacted: they have no ratings", hint="check works on them")
    values = read_submission(existing_file(submission), len(published)).predictions
    result = official_score(values, [sample.choices or () for sample in published])
    simulated = any(sample.simulated for sample in published)
    mark = {"people": SIMULATED} if simulated else {}
    if out is not None:
        write_atomically(out, json.dumps(result.as_json() | mark, allow_nan=False) + "\n")
    if as_json:
        print_json(result.as_json() | {"n": result.n, "n_non_integer": result.n_non_integer} | mark)
    else:
        _print_score(result, simulated=simulated)


def _read_samples(split: str, samples: Path | None) -> tuple[ambistory.StorySample, ...]:
    return ambistory.split_samples(split) if samples is None else ambistory.read_samples(existing_file(samples))


def _print_score(result: OfficialScore, *, simulated: bool) -> None:
    rho = result.spearman
    rows = [
        ("accuracy within SD", f"{result.accuracy:.4f}", f"{result.n_correct} of {result.n}"),
        ("Spearman", "n/a", rho.reason) if isinstance(rho, Undefined) else ("Spearman", f"{rho:.4f}", ""),
    ]
    title = f"scored against ratings of {SIMULATED_PARTICIPANTS}" if simulated else ""
    print_table(("score", "value", ""), rows, title=title, right=("value",))
    if result.n_non_integer:
        say(f"{result.n_non_integer} predictions are not whole numbers, which score three to five points higher")
