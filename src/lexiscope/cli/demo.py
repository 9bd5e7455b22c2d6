"""``lexiscope demo``: a first result in a minute, with the embedded model and the embedded items."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.output import Report as Progress
from lexiscope.cli.output import progress_bar, remark, say, say_folded, say_plain_table
from lexiscope.cli.verb import Verb
from lexiscope.collect import collect_run, with_run_options
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import LexiscopeError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import to_json
from lexiscope.core.run import versions, write_atomically
from lexiscope.core.sealed import run_names, seal_run
from lexiscope.report.document import Report
from lexiscope.report.page.every_result import with_every_result
from lexiscope.report.page.html import write_report
from lexiscope.report.page.stored import store
from lexiscope.report.parts.demo_parts import DemoPart, agreement_part, demo_page, separation_part
from lexiscope.report.tables import to_text
from lexiscope.resources import fetch

SUBJECT = "encoder:minilm"
VIEW = "full+final_stop"
MINI, RATED = "mini_relatedness", "raw_c"
SEED = 20250429
FIRST_FILE_SECONDS, ALL_FILES_SECONDS = 3.0, 30.0
"""How long the demo waits for RAW-C: for its first file (without a network, this is all), and for the others."""


@click.command(cls=Verb)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("lexiscope-demo"),
    show_default=True,
    metavar="RUN",
    help="The run folder.",
)
@click.option("--offline", is_flag=True, help="Do not download RAW-C.")
@options.device
@options.threads
@options.quiet
def demo(*, out: Path, offline: bool, device: str, threads: int, quiet: bool) -> None:
    """Run a short example with the built-in model and items.

    A small English encoder reads pairs of sentences that share an ambiguous noun. On the dataset RAW-C it is also
    compared with the ratings of 77 people. If RAW-C is not installed and LEXISCOPE_DATA is not set, the demo downloads
    it from its publisher (0.2 MB). Without a network it continues with the embedded items.
    """
    mini = catalog.dataset(MINI)
    # the model's own language
    english = tuple(item for item in mini.items if item.usages[0].language == "en")
    data = [replace(mini, items=english)]
    why = "" if has_rated_data() else "--offline" if offline else _get_rated_data(quiet=quiet)
    if why:
        again = "Run lexiscope data get raw_c."
        remark(f"RAW-C is not installed ({why}): the model is not compared with people. {again}", quiet=quiet)
    else:
        data.append(catalog.dataset(RATED))
    with progress_bar(SUBJECT, quiet=quiet) as progress:
        answers = [_collect_answers(dataset, out, device, progress) for dataset in data]
    name = catalog.subject(SUBJECT).facts.short_title
    parts = [separation_part(data[0].items, answers[0], name=name, seed=SEED)]
    if len(data) > 1:
        people = data[1].responses.where(subject_kind="participant")
        parts.append(
            agreement_part(
                data[1].items, answers[1], people, name=name, title=data[1].card.title.partition(":")[0], seed=SEED
            )
        )
    page = write_run(out, data, answers, parts, name, threads)
    say_folded(
        f"A built-in English encoder, {name} ({SUBJECT}), reads {len(english)} pairs of sentences that share an "
        "ambiguous noun: is the noun farther apart if its sense differs?\n"
    )
    say()
    for part in parts:
        say_plain_table(to_text(part.table))
        say_folded("\n" + "\n".join(part.words) + "\n")
        say()
    say(f"Report: {page}")


def has_rated_data() -> bool:
    """Return whether all required files of RAW-C are on this machine; a wrong file is an error later on."""
    return all(state.status != "missing" or state.file.optional for state in fetch.file_states(catalog.card(RATED)))


def _get_rated_data(*, quiet: bool) -> str:
    """Download RAW-C; return why it is not here, or an empty text."""
    if fetch.VARIABLE in os.environ:
        return f"not in the folder of {fetch.VARIABLE}"
    card = catalog.card(RATED)
    remark(f"Downloading RAW-C from {card.source}. Licence: {card.licence}.", quiet=quiet)
    return download_in_time(card)


def download_in_time(
    card: fetch.Card, *, first: float = FIRST_FILE_SECONDS, everything: float = ALL_FILES_SECONDS
) -> str:
    """Download a dataset if its publisher answers in time; return why it is not here, or an empty text.

    *first* is the number of seconds for the first file, *everything* that for all others. Nothing is raised.
    """
    problems: list[str] = []
    first_here, finished = threading.Event(), threading.Event()

    def download() -> None:
        try:
            fetch.get(card, progress=lambda done, total: first_here.set(), tries=1, timeout=first)
        except (LexiscopeError, OSError) as error:
            # what requests tells after the colon has addresses of objects
            why = error.why if isinstance(error, LexiscopeError) and error.why else str(error)
            problems.append(why.partition(":")[0])
        finished.set()
        first_here.set()

    # the look-up of a host's name knows no timeout: a thread of its own may be left behind, it writes only whole files
    threading.Thread(target=download, daemon=True).start()
    if not first_here.wait(first) or not finished.wait(everything):
        return f"no answer within {first:g} seconds" if not first_here.is_set() else "the network is too slow"
    return problems[0] if problems else ""


def write_run(
    out: Path,
    data: Sequence[Dataset],
    answers: Sequence[ResponseTable],
    parts: Sequence[DemoPart],
    name: str,
    threads: int,
) -> Path:
    """Write the run folder, ``run.json`` last, and return the path of the page; *name* is what the model is called."""
    records = tuple(record for part in parts for record in part.records)
    ResponseTable.concat(list(answers)).write_parquet(out / "responses.parquet")
    write_atomically(out / "results.json", to_json(records))
    run = {
        "command": ["lexiscope", "demo"],
        "settings": {"subject": SUBJECT, "task": data[0].card.task, "view": VIEW, "threads": threads},
        "seed": SEED,
        "data": {name: sha for dataset in data for name, sha in dataset.checksums},
        "versions": versions(),
    }
    report = Report(
        title="Lexiscope: a first result",
        subtitle=f"{name} on {' and '.join(dataset.card.title for dataset in data)}",
        sections=tuple(part.section for part in parts),
        run=run,
        records=records,
        citations=tuple(dataset.card.citation for dataset in data),
        results=demo_page(parts, {SUBJECT: name}),
    )
    report = with_every_result(report)
    names = store(report, out)
    page = write_report(report, out / "report.html")
    seal_run(out, run, ["responses.parquet", "results.json", *names, page.name, *run_names(out)])
    return page


def _collect_answers(dataset: Dataset, out: Path, device: str, progress: Progress | None) -> ResponseTable:
    return collect_run(
        dataset.items,
        [with_run_options(SUBJECT, device=device)],
        dataset.card.task,
        out=out / dataset.card.name,
        views=(VIEW,),
        command=["lexiscope", *sys.argv[1:]],
        checksums=dict(dataset.checksums),
        progress=progress,
    )
