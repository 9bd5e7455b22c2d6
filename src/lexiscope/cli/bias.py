"""``lexiscope bias``: can a pair file of the user's own be solved from a part of its input? An audit, on one screen."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from lexiscope.analysis.bias.verdict import FEW_WORDS, FEWEST_WORDS
from lexiscope.cli import options
from lexiscope.cli.output import progress_bar, remark, say
from lexiscope.cli.results.shown import print_results
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.result import Record, read_records
from lexiscope.core.run import read_json
from lexiscope.core.simulated import SIMULATED, SIMULATED_PARTICIPANTS
from lexiscope.core.spec import plain_name
from lexiscope.items.arrange.splits import FOLDED
from lexiscope.report.document import Report
from lexiscope.report.page.stored import load
from lexiscope.report.part import find_record
from lexiscope.studies.context_bias.settings import ContextBiasSettings

STUDY, PEOPLE = "context_bias", "people"
WIDTH = 100
"""No line of the summary is longer than this."""

_FIXED = "not measured here: "
_MOST_WORDS = 4
_VIEWS = (
    ("full", "the whole input"),
    ("context", "the context alone"),
    ("context_span", "span hidden alone"),
    ("word", "the word alone"),
    ("label", "nothing"),
)


@click.command(cls=Verb)
@click.argument("items", metavar="PAIRS.csv")
@options.of_settings(
    ContextBiasSettings,
    "encoders",
    "budget",
    "protocol",
    "attribution",
    "rebalance",
    "people",
    "language",
    "columns",
    "where",
    "encoding",
    "separator",
    "seed",
    "threads",
    "device",
)
@click.option(
    "--bootstrap", "n_bootstrap", type=click.IntRange(min=1), default=2000, show_default=True, help="Resamples."
)
@options.path("--out", metavar="RUN", about="The run folder.", required=True)
@options.as_json
@options.quiet
def bias(*, items: str, out: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Test whether a dataset can be solved from the context or the word alone.

    PAIRS.csv has two sentences with a target each (or one, with a definition) and a label in the column gold or label:
    t or f, true or false, yes or no, 1 or 0, in any encoding and separator. With a column split (train, dev, test) its
    test items are tested; without it every item is tested once, in folds. Without --encoder, words and, if its packages
    are installed, minilm are tested; without --budget, a linear probe. In CONTEXT the target is hidden wherever the
    texts show it. The file is checked first. The same command on the same folder resumes an interrupted run.

    With --rebalance, the items that words and characters of the context or the word solve are removed, round by round,
    until neither is above LABEL in cross-validation. The effect is measured by learners that took no part in the choice
    of items, and compared with the random removal of as many items.
    """
    if not Path(items).exists() and catalog.has("datasets", plain_name(items)):
        hint = f"audit it with lexiscope study {STUDY} --dataset {items}"
        raise InputError(f"{items} is a published dataset; bias takes a file", hint=hint)
    existing_file(items)
    for path in given["people"]:
        existing_file(path)
    settings = options.make_settings(ContextBiasSettings, {**given, "items": items})
    study: Any = catalog.study(STUDY)
    with progress_bar(STUDY, quiet=quiet) as progress:
        summary = study.run(settings, out, progress=progress, command=shlex.join(["lexiscope", *sys.argv[1:]]))
    records = read_records(out / "results.json")
    for text in summary.remarks if as_json else ():
        remark(text, quiet=quiet)
    if as_json:
        print_results(out)
        return
    for line in summary_lines(records, load(out), read_json(out / "run.json")["plans"]):
        say(line)
    for text in summary.remarks:
        remark(text, quiet=quiet)
    say(f"report: {summary.report}")


def summary_lines(records: Sequence[Record], report: Report, plans: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the screen: too few words, the items, then each model: its verdict, scores and biases."""
    sizes = {r.condition: r.value or 0 for r in records if r.statistic == "n_items"}
    dataset = next(r.dataset for r in records if r.statistic == "n_items")
    words = next(r.value for r in records if r.statistic == "n_words")
    if words is not None and words < FEWEST_WORDS:
        told = f"Too few words for a verdict: {words:,.0f}. Use at least {FEWEST_WORDS}, better {FEW_WORDS} or more."
        yield from (*_fold(told), "")
    counted = ", ".join(f"{value:,.0f} {split}" for split, value in sizes.items() if split != FOLDED)
    counts = f" ({counted})" if counted else ""
    yield f"{dataset}: {sum(sizes.values()):,.0f} items{counts}; {words:,.0f} words are tested"
    left = [text for text in _paragraphs(report, "models") if text.startswith("Not run:")]
    yield from _fold(" ".join((*_paragraphs(report, "sets"), *left)))
    for number, plan in enumerate(plans, start=1):
        own = [record for record in records if record.subject == plan["model"]]
        yield ""
        paragraphs = _paragraphs(report, f"verdict_{number}")
        yield from _fold(paragraphs[0])
        yield ""
        yield from _fold(f"{plan['model']}. {plan['plan']}")
        yield from _score_lines(own)
        yield from _carrying_words(own)
        yield ""
        yield from _fold(" ".join(paragraphs[1:-1]))
    people = [record for record in records if record.subject == PEOPLE]
    if people:
        yield ""
        who = SIMULATED_PARTICIPANTS if any(record.people == SIMULATED for record in people) else "people"
        yield f"{who}, whose answers were given"
        yield from _score_lines(people)
    if any(record.statistic == "n_removed" for record in records):
        yield ""
        for text in _paragraphs(report, "rebalancing"):
            yield from _fold(text)
    yield ""


def _score_lines(own: Sequence[Record]) -> Iterator[str]:
    for view, what in _VIEWS:
        score = find_record(own, "accuracy", view=view)
        if score is not None:
            named, shown = view.upper().replace("_", " "), _value_text(score, 100, 1)
            yield f"  {named:<12} {what:<17} {shown:>7} % correct {_interval_text(score, 100, 1)}".rstrip()
    for name in ("context", "word"):
        bias_record = find_record(own, f"{name}_bias(metric=accuracy)")
        if bias_record is not None and bias_record.value is None:
            yield from _fold(f"  {name + ' bias':<30} undefined: {bias_record.note}")
        elif bias_record is not None:
            value, interval = _value_text(bias_record, 1, 2), _interval_text(bias_record, 1, 2)
            yield f"  {name + ' bias':<30} {value:>7}           {interval}".rstrip()
    gap = find_record(own, "minimum_gap(metric=accuracy)")
    if gap is not None and gap.value is not None:
        yield f"  {'minimum gap':<30} {_value_text(gap, 100, 1):>7} points    {_interval_text(gap, 100, 1)}".rstrip()


def _carrying_words(own: Sequence[Record]) -> Iterator[str]:
    """The words without which a model loses most, by view, with the intervals of their mean loss."""
    for view, what in _VIEWS:
        losses = [r for r in own if r.statistic.startswith("word_attribution") and r.view == view]
        words = [f"{r.condition} {_value_text(r, 1, 2)} {_interval_text(r, 1, 2)}" for r in losses[:_MOST_WORDS]]
        if words:
            unit = "log odds" if "unit=log_odds" in losses[0].statistic else "correct answers"
            yield from _fold(f"  Words that carry {what} ({unit} lost): {', '.join(words)}")


def _value_text(record: Record, factor: float, digits: int) -> str:
    return f"{factor * (record.value or 0):.{digits}f}"


def _interval_text(record: Record, factor: float, digits: int) -> str:
    if record.low is None or record.high is None:
        # one word for where a score that was not measured comes from
        fixed = record.note.removeprefix(_FIXED).partition(":")[0] if record.note.startswith(_FIXED) else ""
        return f"({fixed})" if fixed else ""
    return f"[{factor * record.low:.{digits}f}, {factor * record.high:.{digits}f}]"


def _paragraphs(report: Report, section_id: str) -> list[str]:
    """Return the paragraphs of a section; the last one of a verdict only says how to read it."""
    for top in report.sections:
        for section in top.walk():
            if section.id == section_id:
                return [text for text in section.paragraphs if isinstance(text, str)]
    return []


def _fold(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False)
