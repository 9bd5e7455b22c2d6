"""``lexiscope annotate comments``: what participants wrote with their answers, as a sheet to code, and coded sheets."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.analysis.bootstrap import GroupOf, group_resampling
from lexiscope.annotation.study_file.items import shown_columns
from lexiscope.cli import options
from lexiscope.cli.output import print_json, remark, say, say_folded
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.result import simulated_records
from lexiscope.core.showing import counted
from lexiscope.core.simulated import SIMULATED, SIMULATED_PARTICIPANTS, TOLD_SIMULATED, kind_of_person
from lexiscope.items.sheets.comment_sheet import answers_sheet, commented_answers
from lexiscope.report.parts.story_tables import coded_cases, tag_shares_table
from lexiscope.report.pivot import records_of, rows_of
from lexiscope.report.tables import to_text


@click.command("comments", cls=Verb)
@click.argument("export", type=click.Path(path_type=Path))
@click.option(
    "--coding",
    "codings",
    multiple=True,
    metavar="FILE",
    help="Sheet that a person coded, named after its coder. May be repeated.",
)
@options.path("--out", metavar="FILE", about="The sheet; with --coding, the codes as a table.")
@options.as_json
@options.quiet
def comments(*, export: Path, codings: tuple[str, ...], out: Path | None, as_json: bool, quiet: bool) -> None:
    """Make a sheet of participants' comments, or read coded sheets.

    EXPORT is a folder that `lexiscope annotate export` or `report` wrote. A row of the sheet is a comment with its item
    and answer, without the participant; coders put an x under each code that applies. With --coding: the share of each
    code by coder, and the agreement of every two coders.
    """
    existing_file(export / "judgments.csv")
    cases, n_others, task = commented_answers(export, lambda task: shown_columns(catalog.screen(task)))
    sheet = answers_sheet(task)
    if n_others:
        told = f"{counted(n_others, 'comment')} not used: of excluded participants, or on pages that are no item"
        remark(told, quiet=quiet)
    simulated = any(kind_of_person(case.comment.participant_id) == SIMULATED for case in cases)
    if simulated and not as_json:
        say_folded(f"{SIMULATED_PARTICIPANTS}: {TOLD_SIMULATED}")
    if not codings:
        if out is None:
            raise click.UsageError("Name the sheet with --out, or coded sheets with --coding.")
        sheet.write(out, cases)
        say(f"Saved {out} ({counted(len(cases), 'comment')})")
        say(f"Codes: {sheet.meanings}.")
        say(f"Next: lexiscope annotate comments {export} --coding CODER.csv")
        return
    parts = dict.fromkeys((case.case_id for case in cases), task)
    words = GroupOf({case.case_id: case.word for case in cases}, "words")
    about = {"where": "comments, ", "dataset": export.name}
    files = [str(existing_file(file)) for file in codings]
    coded = coded_cases(sheet, files, cases, parts, **about, **group_resampling(words, resamples=2000, seed=0))
    # all of them are of one task: its shares are those of all
    shares = [share for share in coded.shares if not share.subject]
    if out is not None:
        coded.tags.write_csv(out)
    if as_json:
        records = (*records_of(shares), *coded.agreement.records)
        print_json([record.content() for record in (simulated_records(records) if simulated else records)])
        return
    title, labels, of = "What comments are about", ("Coder",), sheet.measure
    rows = rows_of(shares, "condition")
    say(to_text(tag_shares_table("comment_codes", title, shares, rows, tuple(sheet.tags), of=of, labels=labels)))
    for table in coded.agreement.tables:
        say(to_text(table))
    if out is not None:
        say(f"Saved {out} ({len(coded.tags)} rows)")
