"""``lexiscope bias``: what part of the input solves a pair file of the user's own? An audit, on one screen."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import progress_bar, remark, remark_threads, say
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.result import Record, read_records
from lexiscope.core.run import read_json
from lexiscope.core.study import StudySettings
from lexiscope.report.document import Report
from lexiscope.report.part import pick
from lexiscope.report.stored import load

STUDY, PEOPLE = "context_bias", "people"
WIDTH = 100
"""No line of the summary is longer than this."""

_FIXED = "not measured here: "
_VIEWS = (
    ("full", "the whole input"),
    ("context", "the context alone"),
    ("word", "the word alone"),
    ("label", "nothing"),
)


@click.command(cls=Verb)
@click.argument("items", metavar="PAIRS.csv")
@click.option(
    "--encoder", "encoders", multiple=True, metavar="NAME", help="What is trained or probed.  [default: minilm]"
)
@click.option("--budget", default="", metavar="TIME", help="What all trainings may take, as 5m; without: no training.")
@click.option(
    "--protocol",
    type=click.Choice(("auto", "zero_shot", "reduced", "full")),
    default="auto",
    show_default=True,
    help="How much is trained; auto: nothing, or what fits into the budget.",
)
@click.option("--people", multiple=True, metavar="FILE", help="People's answers to the same items. May be repeated.")
@click.option(
    "--language", default="und", show_default=True, metavar="TAG", help="Where the file has no column for it."
)
@click.option(
    "--bootstrap", "n_bootstrap", type=click.IntRange(min=1), default=2000, show_default=True, help="Resamples."
)
@click.option("--seed", type=click.IntRange(min=0), default=20250429, show_default=True, help="Splits and resampling.")
@options.threads
@click.option("--device", default="cpu", show_default=True, help="Where models run: cpu, cuda, mps.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="RUN", help="The run folder.")
@options.quiet
def bias(*, items: str, out: Path, quiet: bool, **given: Any) -> None:
    """Say what part of the input solves your pairs: an audit of a dataset.

    PAIRS.csv has two sentences with a target each (or one, with a definition), the right answer (gold: t or f) and, if
    you have splits, a column split (train, dev, test); without it the file is divided by word. The file is checked
    first. The same command on the same folder goes on with a broken run.
    """
    existing_file(items)
    for path in given["people"]:
        existing_file(path)
    settings = StudySettings(STUDY, items=items, **given)
    study: Any = catalog.module("studies", STUDY)
    remark_threads(settings.threads, quiet=quiet)
    with progress_bar(STUDY, quiet=quiet) as progress:
        summary = study.run(settings, out, progress=progress, command=shlex.join(["lexiscope", *sys.argv[1:]]))
    for line in summary_lines(read_records(out / "results.json"), load(out), read_json(out / "run.json")["plans"]):
        say(line)
    for text in summary.remarks:
        remark(text, quiet=quiet)
    say(f"report: {summary.report}")


def summary_lines(records: Sequence[Record], report: Report, plans: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the screen: the items, then for every model how it learnt, scores, biases, the verdict."""
    sizes = {r.condition: r.value for r in records if r.statistic == "n_items"}
    dataset = next(r.dataset for r in records if r.statistic == "n_items")
    words = next(r.value for r in records if r.statistic == "n_words")
    counted = ", ".join(f"{value:,.0f} {split}" for split, value in sizes.items())
    yield f"{dataset}: {sum(v or 0 for v in sizes.values()):,.0f} items ({counted}); {words:,.0f} words are tested"
    yield from _folded(" ".join(_paragraphs(report, "sets")))
    for number, plan in enumerate(plans, start=1):
        own = [record for record in records if record.subject == plan["model"]]
        yield ""
        yield from _folded(f"{plan['model']}. {plan['plan']}")
        yield from _scores(own)
        yield ""
        yield from _folded(" ".join(_paragraphs(report, f"verdict_{number}")[:-1]))
    people = [record for record in records if record.subject == PEOPLE]
    if people:
        yield ""
        yield "people, whose answers were given"
        yield from _scores(people)
    yield ""


def _scores(own: Sequence[Record]) -> Iterator[str]:
    for view, what in _VIEWS:
        score = pick(own, "accuracy", view=view)
        if score is not None:
            yield f"  {view.upper():<8} {what:<20} {_shown(score, 100, 1):>7} % right {_ends(score, 100, 1)}".rstrip()
    for name in ("context", "word"):
        found = pick(own, f"{name}_bias(metric=accuracy)")
        if found is not None and found.value is None:
            yield from _folded(f"  {name + ' bias':<29} undefined: {found.note}")
        elif found is not None:
            yield f"  {name + ' bias':<29} {_shown(found, 1, 2):>7}         {_ends(found, 1, 2)}".rstrip()
    gap = pick(own, "minimum_gap(metric=accuracy)")
    if gap is not None and gap.value is not None:
        yield f"  {'minimum gap':<29} {_shown(gap, 100, 1):>7} points  {_ends(gap, 100, 1)}".rstrip()


def _shown(record: Record, factor: float, digits: int) -> str:
    return f"{factor * (record.value or 0):.{digits}f}"


def _ends(record: Record, factor: float, digits: int) -> str:
    if record.low is None or record.high is None:
        # of a score that was not measured, in one word, how it came to be
        fixed = record.note.removeprefix(_FIXED).partition(":")[0] if record.note.startswith(_FIXED) else ""
        return f"({fixed})" if fixed else ""
    return f"[{factor * record.low:.{digits}f}, {factor * record.high:.{digits}f}]"


def _paragraphs(report: Report, section_id: str) -> list[str]:
    """The paragraphs of a section; of a verdict the last one only says how to read it."""
    for top in report.sections:
        for section in top.walk():
            if section.id == section_id:
                return [text for text in section.paragraphs if isinstance(text, str)]
    return []


def _folded(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False)
