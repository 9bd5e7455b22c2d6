"""``lexiscope collect``: ask subjects about items and keep every answer."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from lexiscope.build.gap_filling.gaps import is_written
from lexiscope.cli import options
from lexiscope.cli.check import read_map
from lexiscope.cli.output import print_json, print_table, progress_bar, quoted, remark, say, say_folded, say_plain_table
from lexiscope.cli.results.costs import print_cost_tables, print_costs, print_total_cost
from lexiscope.cli.verb import Verb
from lexiscope.collect import collect_run, count_replies, in_wordings, kept_besides, with_run_options
from lexiscope.collect.costs import collection_costs, limit_remarks, total_cost
from lexiscope.collect.remote import working_copy
from lexiscope.collect.sweep import (
    PlannedRun,
    Sweep,
    read_sweep,
    run_sweep,
    sweep_costs,
    sweep_limit_remarks,
    sweep_plan,
)
from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import folder_of, is_address, read_json
from lexiscope.core.scale import Scale
from lexiscope.core.sealed import WORK
from lexiscope.core.showing import counted
from lexiscope.core.simulated import COLLECTED, PARTICIPANT, SIMULATED, SIMULATED_PARTICIPANTS
from lexiscope.core.task import Task
from lexiscope.items.read.item_source import load_items, task_of_items
from lexiscope.items.tables.understood import reading_remark
from lexiscope.report.parts.wording_tables import wordings_part
from lexiscope.report.tables import to_text
from lexiscope.studies.kit.answers import ComparableAnswers
from lexiscope.studies.kit.languages import language_remarks
from lexiscope.tasks import DEFAULT


@click.command(cls=Verb)
@click.option(
    "--items",
    metavar="DATASET|FILE",
    type=options.CatalogName("datasets"),
    help="A dataset of the catalog, or a file of items.",
)
@options.column_map
@options.of_arguments(load_items, "language")
@options.scale("For a file: lowest and highest rating of its people, as 1 100. Models are asked on it.")
@click.option(
    "--task",
    type=options.CatalogName("tasks"),
    help=f"The question that is asked. Default: that of the dataset, or {DEFAULT} for a file.",
)
@options.subjects
@click.option(
    "--wording",
    "wordings",
    multiple=True,
    metavar="NAME|FILE",
    help="Ask each chat model, and each model that scores texts, in this wording (its name, or a file of words).",
)
@click.option(
    "--labelled",
    default="",
    metavar="DATASET|FILE",
    help="Usages whose senses are known: encoders answer with the sense of the nearest one, too.",
)
@options.views
@options.path("--sweep", metavar="FILE.yaml", about="Datasets, subjects, views and seeds to combine, in a file.")
@click.option(
    "--out",
    metavar="RUN|ADDRESS",
    help="The run folder, or an address (s3://bucket/run).",
    required=True,
    shell_complete=lambda ctx, param, incomplete: [CompletionItem(incomplete, type="file")],
)
@options.of_arguments(collect_run, "seed")
@click.option("--dry-run", is_flag=True, help="Send and write nothing: show requests, tokens, price and device hours.")
@options.device
@options.threads
@options.engine
@options.as_json
@options.quiet
@click.pass_context
def collect(
    ctx: click.Context,
    *,
    items: str | None,
    pairs: tuple[str, ...],
    language: str,
    scale: Scale | None,
    task: str | None,
    subjects: tuple[str, ...],
    wordings: tuple[str, ...],
    labelled: str,
    views: tuple[str, ...],
    sweep: Path | None,
    out: str,
    seed: int,
    dry_run: bool,
    device: str,
    threads: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Ask subjects about items and keep every answer.

    The run folder holds the answers (responses.parquet) and how they were produced (run.json). The same command on the
    same folder does nothing if the run is finished and continues it if it was interrupted. --sweep asks many
    subjects about many datasets: each dataset with each seed has a folder in RUN. For an ADDRESS, the run is computed
    in a working copy on this machine, and its finished files are sent.
    """
    if sweep is not None:
        for option in ctx.command.params:
            name = option.name or ""
            if name in _OF_ONE_RUN and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                what = f"{option.opts[0]} and --sweep cannot be combined"
                raise click.UsageError(f"{what}: the file names items, subjects, views and seeds", ctx=ctx)
        _collect_sweep(
            read_sweep(sweep, with_options=partial(with_run_options, device=device)),
            out=out,
            dry_run=dry_run,
            threads=threads,
            as_json=as_json,
            quiet=quiet,
        )
        return
    if items is None:
        raise click.UsageError("name the items: --items mini_relatedness (or a file of combinations: --sweep)")
    if not subjects:
        raise click.UsageError("name at least one subject: --subject encoder:minilm")
    task = task_of_items(items, task)
    subjects = in_wordings(subjects, wordings, catalog.task(task))
    source = load_items(items, read_map(pairs), task=task, language=language, scale=scale)
    for text in reading_remark(source.imported.opened if source.imported is not None else None):
        remark(text, quiet=quiet)
    known = load_items(labelled, read_map(pairs), task=task, language=language) if labelled else None
    asked = catalog.task(task) if known is None else task_with_labelled(task, known.items, source.items)
    answering = [catalog.subject(with_run_options(spec, device=device)) for spec in subjects]
    if dry_run:
        costs = collection_costs(source.items, answering, asked, views or ("full",), seed=seed, out=folder_of(out))
        print_costs(costs, as_json=as_json)
        for text in limit_remarks(answering, costs, folder_of(out) / WORK):
            remark(text, quiet=quiet)
        return
    for text in language_remarks(answering, source.items):
        remark(text, quiet=quiet)
    with working_copy(out) as copy, progress_bar(task, quiet=quiet) as report:
        table = collect_run(
            source.items,
            answering,
            asked,
            out=copy.folder,
            views=views or ("full",),
            seed=seed,
            command=["lexiscope", *sys.argv[1:]],
            settings={
                "items": items,
                "language": language,
                "columns": list(pairs),
                "scale": None if scale is None else str(scale),
                "threads": threads,
                **({"labelled": labelled} if labelled else {}),
            },
            checksums={**source.checksums, **(known.checksums if known is not None else {})},
            progress=report,
            finished=copy.send_parts,
        )
    rows = answer_rows(table)
    if as_json:
        print_json(rows)
        return
    print_answers(rows, read_json(copy.folder / "run.json")["subjects"])
    if wordings:
        answers = ResponseTable.concat([source.responses, table])
        print_wordings(ComparableAnswers(answers, source.items), seed=seed)
    say(f"Saved {copy.folder / 'responses.parquet'} ({len(table)} rows)")
    remark_kept(copy.folder, quiet=quiet)
    _say_sent(out)
    remark(f"next: lexiscope report {quoted(copy.folder)} --out report.html", quiet=quiet)


def remark_kept(folder: Path, *, quiet: bool) -> None:
    """Name the answers of a folder that its run leaves out; they are read again when they are asked for."""
    kept = kept_besides(folder)
    if kept:
        said = "also keeps answers that are not part of this run"
        remark(f"{folder} {said} ({'; '.join(kept)}). To use them, ask for them, too.", quiet=quiet)


def _say_sent(out: str) -> None:
    if is_address(out):
        say(f"Sent {out}")


_OF_ONE_RUN = ("items", "pairs", "language", "scale", "task", "subjects", "wordings", "labelled", "views", "seed")


def _collect_sweep(sweep: Sweep, *, out: str, dry_run: bool, threads: int, as_json: bool, quiet: bool) -> None:
    if dry_run:
        print_sweep_costs(sweep, out=folder_of(out), as_json=as_json, quiet=quiet)
        return
    rows: list[dict[str, object]] = []

    def show(run: PlannedRun, table: ResponseTable) -> None:
        answers = answer_rows(table)
        remark_kept(copy.folder / run.folder, quiet=quiet)
        rows.extend({"folder": run.folder, **row} for row in answers)
        if not as_json:
            say(_run_title(run))
            print_answers(answers, read_json(copy.folder / run.folder / "run.json")["subjects"])

    for run in sweep.runs:
        opened = run.source.imported.opened if run.source.imported is not None else None
        answering = [catalog.subject(spec) for spec in run.subjects]
        for text in (*reading_remark(opened), *language_remarks(answering, run.source.items)):
            remark(text, quiet=quiet)
    with working_copy(out) as copy, progress_bar("sweep", quiet=quiet) as report:
        run_sweep(
            sweep,
            out=copy.folder,
            command=["lexiscope", *sys.argv[1:]],
            settings={"threads": threads},
            progress=report,
            finished=show,
            part_finished=copy.send_parts,
        )
    if as_json:
        print_json(rows)
        return
    say(f"Saved {copy.folder} ({counted(len(sweep.runs), 'run folder')})")
    _say_sent(out)
    remark(f"next: lexiscope report {quoted(copy.folder)} --out report.html", quiet=quiet)


def task_with_labelled(name: str, labelled: Sequence[Item], items: Sequence[Item]) -> Task:
    """Return a task with labelled items given, those of the words that are asked about.

    Errors: :class:`SpecError` for a task that uses none; those of the task.
    """
    task = catalog.task(name)
    if task.labelled is None:
        able = catalog.tasks_where(lambda other: other.labelled is not None)
        raise SpecError(f"the task {name!r} uses no labelled usages", hint=f"it is asked for {', '.join(able)}")
    words = {item.word.casefold() for item in items}
    return task.labelled([item for item in labelled if item.word.casefold() in words])


def answer_rows(table: ResponseTable) -> list[dict[str, object]]:
    """Return one row per subject (people together), view and measure: items, layers, and answers without a value.

    ``replies`` counts the replies of a chat model, unreadable ones by their kind.
    """
    replies = {
        key: ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
        for key, counts in count_replies(table).items()
    }
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


# -- what is printed when all have answered -------------------------------------------------------------------------
# What ``lexiscope collect`` prints: a small table per subject, the kinds of its replies, and their cost.


_COLUMNS = ("view", "measure", "items", "layers", "unanswered")


def print_answers(rows: Sequence[Mapping[str, object]], subjects: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows of every subject under its name: a spec may be longer than a column is wide.

    *subjects* are those of the record of the run; the cost of a paid subject is in its settings.
    """
    accounts = {about["facts"]["subject_id"]: about["settings"].get("account") for about in subjects}
    for name, own in groupby(rows, key=lambda row: str(row["subject"])):
        part = list(own)
        say(name)
        print_table(_COLUMNS, [[row[column] for column in _COLUMNS] for row in part], right=("items", "unanswered"))
        # the replies of a view belong to all its measures: once is enough
        for view, said in dict.fromkeys((row["view"], row["replies"]) for row in part if row["replies"]):
            say_folded(f"replies, {view}: {said}")
        if accounts.get(name):
            say_folded(account_line(accounts[name]))
        say()


def print_sweep_costs(sweep: Sweep, *, out: Path, as_json: bool, quiet: bool = False) -> None:
    """Print what a sweep would cost, run by run, and in total; as JSON ``costs``, the parts of its plan, and ``total``.

    Errors: those of :func:`~lexiscope.collect.sweep.sweep_costs`.
    """
    by_run = sweep_costs(sweep, out=out)
    costs = [cost for own in by_run for cost in own]
    total = total_cost(costs)
    for text in sweep_limit_remarks(sweep, by_run, out=out):
        remark(text, quiet=quiet)
    if as_json:
        plan = sweep_plan(sweep, out=out)
        print_json({"costs": [part | asdict(cost) for part, cost in zip(plan, costs, strict=True)], "total": total})
        return
    for run, own in zip(sweep.runs, by_run, strict=True):
        say(_run_title(run))
        print_cost_tables(own)
    print_total_cost(total)


def _run_title(run: PlannedRun) -> str:
    return f"{run.folder}: {run.data.items}, {run.task}, seed {run.seed}"


def print_wordings(answers: ComparableAnswers, *, seed: int = 0) -> None:
    """Print what the wordings of a prompt do: the statistic in each, its mean with intervals, paired differences."""
    worded, omissions = answers.over_wordings(seed=seed)
    for table in wordings_part(worded).tables:
        say_plain_table(to_text(table))
        say()
    for omission in omissions:
        say_folded(f"{omission.analysis}, {omission.subject}: {omission.reason}")


def account_line(account: Mapping[str, Any]) -> str:
    """Return one line on a chat model: replies, tokens, cost, and requests that may have been paid in addition.

    >>> account_line({"replies": 4, "possibly_paid": 1, "prompt_tokens": 400, "completion_tokens": 8})
    'paid: 4 replies, 400 + 8 tokens; possibly paid: 1 request that came to no reply'
    """
    paid = f"paid: {account['replies']} replies, {account['prompt_tokens']} + {account['completion_tokens']} tokens"
    cost, highest = account.get("cost"), account.get("highest_cost")
    paid += "" if cost is None else f", cost {cost:.6g}"
    lost = account.get("possibly_paid", 0)
    if not lost:
        return f"{paid}; no request was lost"
    said = f"{paid}; possibly paid: {lost} request{'s' if lost > 1 else ''} that came to no reply"
    return said + ("" if highest is None else f", with them at most about {highest:.6g}")
