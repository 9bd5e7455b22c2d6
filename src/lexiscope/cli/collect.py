"""``lexiscope collect``: ask subjects about items and keep every answer."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import numpy as np

from lexiscope.analysis.replies import count_replies
from lexiscope.build.gap_filling.gaps import is_written
from lexiscope.cli import options
from lexiscope.cli.check import read_map
from lexiscope.cli.collect_preview import preview_rows
from lexiscope.cli.collect_summary import print_answers
from lexiscope.cli.output import print_json, progress_bar, remark, remark_threads, say
from lexiscope.cli.verb import Verb
from lexiscope.collect import collect_run
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import read_json
from lexiscope.core.scale import Scale
from lexiscope.core.simulated import COLLECTED, PARTICIPANT, SIMULATED, SIMULATED_PARTICIPANTS
from lexiscope.items.read.item_source import load_items, task_of_items


@click.command(cls=Verb)
@click.option("--items", required=True, metavar="DATASET|FILE", help="A dataset of the catalog, or a file of items.")
@click.option("--map", "pairs", multiple=True, metavar="PART=COLUMN", help="For a file: sentence_1=Frase, as in check.")
@click.option("--language", default="", help="Only items in this language; for a file: its language.")
@click.option(
    "--scale",
    nargs=2,
    type=float,
    callback=options.read_scale,
    metavar="LOW HIGH",
    help="For a file: lowest and highest rating of its people, as 1 100. Models are asked on it.",
)
@click.option("--task", help="The question that is asked. Default: that of the dataset; of a file: relatedness.")
@options.subjects
@options.views
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="RUN", help="The run folder.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the run.")
@click.option("--dry-run", is_flag=True, help="Send nothing: show the first request and what all would cost.")
@options.threads
@options.as_json
@options.quiet
def collect(
    *,
    items: str,
    pairs: tuple[str, ...],
    language: str,
    scale: Scale | None,
    task: str | None,
    subjects: tuple[str, ...],
    views: tuple[str, ...],
    out: Path,
    seed: int,
    dry_run: bool,
    threads: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Ask subjects about items and keep every answer.

    The run folder holds the answers (responses.parquet) and how they came about (run.json). The same command on the
    same folder does nothing when the run is finished and continues it when it was broken off.
    """
    if not subjects:
        raise click.UsageError("name at least one subject: --subject encoder:minilm")
    task = task_of_items(items, task)
    source = load_items(items, read_map(pairs), task=task, language=language, scale=scale)
    if dry_run:
        print_json(preview_rows(source.items, subjects, task, views or ("full",), seed=seed, out=out))
        return
    remark_threads(threads, quiet=quiet)
    with progress_bar(task, quiet=quiet) as report:
        table = collect_run(
            source.items,
            subjects,
            task,
            out=out,
            views=views or ("full",),
            seed=seed,
            command=["lexiscope", *sys.argv[1:]],
            settings={
                "items": items,
                "language": language,
                "columns": list(pairs),
                "scale": None if scale is None else str(scale),
                "threads": threads,
            },
            checksums=source.checksums,
            progress=report,
        )
    rows = answer_rows(table)
    if as_json:
        print_json(rows)
        return
    print_answers(rows, read_json(out / "run.json")["subjects"])
    say(f"written: {out / 'responses.parquet'} ({len(table)} rows)")
    remark(f"next: lexiscope report {out} --out report.html", quiet=quiet)


def answer_rows(table: ResponseTable) -> list[dict[str, object]]:
    """Return one row per subject (people together), view and measure: items, layers, and answers without a value.

    ``replies`` is what the replies of a chat model came to, unreadable ones by their kind.
    """
    replies = {(each.subject_id, each.view): str(each) for each in count_replies(table)}
    parts: list[tuple[str, ResponseTable]] = []
    for kind, name in ((PARTICIPANT, "people"), (SIMULATED, SIMULATED_PARTICIPANTS)):
        people = table.where(subject_kind=kind)
        parts += [(f"{name} ({len(people.unique('subject_id'))})", people)] if len(people) else []
    others = table.filter(~np.isin(table.column("subject_kind"), COLLECTED))
    parts += [(subject, others.where(subject_id=subject)) for subject in others.unique("subject_id")]
    return [
        _answer_row(name, view, measure, of_subject.where(view=view, measure=measure))
        | {"replies": replies.get((name, view), "")}
        for name, of_subject in parts
        for view in of_subject.unique("view")
        for measure in of_subject.where(view=view).unique("measure")
    ]


def _answer_row(name: str, view: str | None, measure: str, part: ResponseTable) -> dict[str, object]:
    layers = [layer for layer in part.unique("layer") if layer is not None]
    return {
        "subject": name,
        "view": view or "",
        "measure": measure,
        "items": len(part.unique("item_id")),
        "layers": f"{min(layers)}–{max(layers)}" if layers else "",
        "unanswered": len(part.unanswered(written=is_written(measure))),
    }
