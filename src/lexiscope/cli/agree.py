"""``lexiscope agree``: agreement and ceilings of any long table of ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from lexiscope.analysis.agreement.retest import retest
from lexiscope.analysis.agreement.summary import AgreeSummary, summarise, summarise_choices
from lexiscope.analysis.ratings import PEOPLE, Ratings
from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, remark, say, say_folded
from lexiscope.cli.verb import Verb
from lexiscope.core.result import Record, parse_statistic, simulated_records, to_json
from lexiscope.core.run import csv_lines, write_atomically
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED, SIMULATED_PARTICIPANTS
from lexiscope.report.answers.sentences import words_of
from lexiscope.studies.kit.ratings_file import RatingColumns, RatingsFile, read_ratings

SHOWN_RATERS = 10
SPREAD = ",over_raters="


@click.command(cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@options.of_settings(RatingColumns)
@options.of_settings(ReadingOptions)
@options.scale("Ends of the scale: 1 5.")
@options.of_arguments(read_ratings, "measure", "view")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="NAME",
    help="In a response table, also count subjects of this kind (chat, causal_lm) as raters. May be repeated.",
)
@options.of_arguments(summarise, "resamples", "seed")
@options.path("--out", metavar="FOLDER", about="Write results.json and raters.csv here.")
@options.as_json
@options.quiet
def agree(
    *,
    file: Path,
    scale: Scale | None,
    measure: str,
    view: str,
    kinds: tuple[str, ...],
    resamples: int,
    seed: int,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Compute rater agreement and human ceilings from a ratings file.

    FILE is a table of ratings in any layout: one row per rating, one column per rater, or an export of Qualtrics,
    Gorilla, jsPsych, PCIbex, Potato or Label Studio; CSV in any encoding and separator, JSON, or a response table (CSV,
    Parquet). In an export of a collected study, that is ratings.csv or choices.csv. In a response table, the raters
    are its participants; --kind adds models. lexiscope analyse writes a report of the same file.

    Two variants of leave-one-out agreement are printed: one compares a rater with the mean of the others; the other
    leaves the rater's own rating in the mean, which makes agreement look higher. Choices between options have percent
    agreement, Fleiss' kappa, nominal alpha and, for two raters, Cohen's kappa.
    """
    columns = options.make_settings(RatingColumns, given)
    reading = options.make_settings(ReadingOptions, given)
    read = read_ratings(
        file, columns, options=reading, scale=scale, measure=measure, view=view, kinds=(*PEOPLE, *kinds)
    )
    summary = _summarise_file(read, resamples, seed)
    if read.simulated:
        summary = replace(summary, records=simulated_records(summary.records), people=SIMULATED_PARTICIPANTS)
    for text in read.remarks:
        remark(text, quiet=quiet)
    if out is not None:
        write_summary(summary, out)
    if as_json:
        print_json(_json_content(read, summary))
    else:
        _print_summary(summary)
    if out is not None:
        remark(f"Saved {out / 'results.json'}, {out / 'raters.csv'}", quiet=quiet)


def _summarise_file(read: RatingsFile, resamples: int, seed: int) -> AgreeSummary:
    raters, items, values = read.in_order()
    ratings = Ratings.from_arrays(raters, items, values, repeats=read.repeats)
    missing = Counter(rater for rater, value in zip(read.raters, read.values.tolist(), strict=True) if value != value)
    if read.options:
        return summarise_choices(ratings, missing=missing, resamples=resamples, seed=seed, path=read.path)
    return summarise(
        ratings,
        groups=read.groups,
        rater_groups=read.rater_groups,
        missing=missing,
        repeated=retest(raters, items, values) if read.repeat is not None else None,
        resamples=resamples,
        seed=seed,
        path=read.path,
    )


def write_summary(summary: AgreeSummary, folder: Path) -> None:
    """Write the records as ``results.json`` and the table of raters as ``raters.csv``, each whole or not at all."""
    rows = [row | ({KIND_COLUMN: SIMULATED} if summary.people else {}) for row in summary.raters]
    write_atomically(folder / "results.json", to_json(summary.records))
    write_atomically(folder / "raters.csv", csv_lines(list(rows[0]), (list(row.values()) for row in rows)))


def _json_content(read: RatingsFile, summary: AgreeSummary) -> dict[str, object]:
    return {
        "file": read.path,
        "remarks": list(read.remarks),
        **({"people": SIMULATED} if read.simulated else {}),
        "counts": dict(summary.counts),
        "records": [record.content() for record in summary.records],
        "raters": list(summary.raters),
    }


def _print_summary(summary: AgreeSummary) -> None:
    of = f"{summary.people}: " if summary.people else ""
    say_folded(of + ", ".join(f"{name}: {count}" for name, count in summary.counts))
    main = [record for record in summary.records if SPREAD not in record.statistic]
    print_table(
        ("statistic", "value [95 % interval]", "n"),
        [_statistic_row(record) for record in main],
        title=f"agreement of {summary.people}" if summary.people else "",
        whole=("statistic", "n"),
    )
    if resampled := _resampled(main):
        say_folded(f"Resampled: {resampled}.")
    for line in filter(None, (_spread_line(record, summary.records) for record in main)):
        say_folded(line)
    shown = summary.raters[:SHOWN_RATERS]
    more = len(summary.raters) - len(shown)
    raters = f"Raters ({summary.people})" if summary.people else "Raters"
    of_all = f" ({len(shown)} of {len(summary.raters)}; use --out for all)" if more else ""
    say(f"\n{raters}, lowest agreement first{of_all}")
    columns = [name for name in shown[0] if name != "n_missing"]
    numbers = [name for name in ("n", "mean", "sd") if name in columns]
    rows = [tuple(row[name] for name in columns) for row in shown]
    print_table([_HEADS.get(name, name) for name in columns], rows, right=numbers)


_NAME_WIDTH = 44
_HEADS = {"agreement": "same as others", "leave_one_out": "leave-one-out", "flag": "remark"}


def _resampled(records: Sequence[Record]) -> str:
    """What the intervals resample; what most of them do comes last, and does not name them."""
    named: dict[str, dict[str, None]] = {}
    for record in records:
        units = parse_statistic(record.interval or "none")[1].get("resampled")
        if units and record.low is not None:
            named.setdefault(units.replace("_", " "), {})[words_of(parse_statistic(record.statistic)[0])] = None
    *others, rest = sorted(named, key=lambda units: len(named[units])) or [""]
    parts = [f"{units} in {' and '.join(named[units])}" for units in others]
    return "; ".join([*parts, f"{rest} in all others" if parts else rest])


def _statistic_row(record: Record) -> tuple[str, str, str]:
    """A record as a row, its name as readers know it, in lines; what has no value shows why in its place."""
    name = fill(words_of(record.statistic), _NAME_WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    name = name[:1].upper() + name[1:]
    value = f"undefined: {record.note}" if record.value is None else f"{record.value:.4f}"
    if record.low is not None and record.high is not None:
        value += f" [{record.low:.3f}, {record.high:.3f}]"
    # what n counts may be specified (groups of raters; items, A–B): the name has room for it
    counted, _, more = record.condition.replace(" of ", ", ", 1).partition(", ")
    name += f"\n  {more}" if more else ""
    return name, value, "" if record.n is None else f"{record.n} {counted}"


def _spread_line(record: Record, records: Sequence[Record]) -> str:
    """One line on how a statistic varies over raters, from the records that say so."""
    start = record.statistic.rstrip(")") + SPREAD
    values = {r.statistic[len(start) : -1]: r.value for r in records if r.statistic.startswith(start)}
    over = ", ".join(f"{name} {value:.4f}" for name, value in values.items() if value is not None)
    return f"Over raters, {words_of(record.statistic)}: {over}" if over else ""
