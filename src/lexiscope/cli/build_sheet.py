"""``lexiscope build sheet`` and ``read-sheet``: curation with a spreadsheet."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.build.minimal_pairs.curation import REASONS, VERDICTS
from lexiscope.build.minimal_pairs.curation_bench import now
from lexiscope.build.minimal_pairs.curation_sheet import read_curation_sheet, take_in, write_curation_sheet
from lexiscope.build.minimal_pairs.decision_log import DecisionLog
from lexiscope.cli.build_decisions import PAIR, build_language, disputed, proposals_of
from lexiscope.cli.output import remark, say
from lexiscope.cli.verb import Verb, existing_file


@click.command("sheet", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--curator", required=True, metavar="NAME", help="Who decides: a code, in small letters.")
@PAIR
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.csv", help="The sheet.")
def sheet(folder: Path, *, curator: str, settle: tuple[str, str] | None, out: Path) -> None:
    """Write a sheet in which a curator decides with a spreadsheet.

    A row is a proposal; what the curator decided before stands in it. The columns verdict, reason, note, context,
    synonym and distractor are filled in or changed; read-sheet takes them in.
    """
    proposals = proposals_of(folder)
    before = DecisionLog(folder, curator).latest(proposals)
    only = disputed(folder, settle) if settle is not None else None
    shown = [one for one in proposals if only is None or one.proposal_id in only]
    write_curation_sheet(out, shown, before, language=build_language(folder))
    say(f"written: {out} ({len(shown)} proposals, {sum(one.proposal_id in before for one in shown)} decided)")
    remark(f"verdict: {' or '.join(VERDICTS)}; reason of a rejection: {', '.join(REASONS)} (other needs a note)")
    remark(f"next: lexiscope build read-sheet {folder} {out} --curator {curator}")


@click.command("read-sheet", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option("--curator", required=True, metavar="NAME", help="Who decided: the name that the sheet was written for.")
def read_sheet(folder: Path, file: Path, *, curator: str) -> None:
    """Take in the decisions of a sheet that came back.

    Nothing is taken in where a row is wrong; a row that says what was decided before changes nothing. Decisions that
    the sheet changes stay on record; the latest counts.
    """
    proposals = proposals_of(folder)
    log = DecisionLog(folder, curator)
    decisions = read_curation_sheet(existing_file(file), proposals, curator=curator, at=now())
    n_new = take_in(log, decisions, proposals)
    say(f"{len(decisions)} decisions in the sheet, {n_new} of them new; written: {log.path}")
    say(f"{curator} has decided {len(log.latest(proposals))} of {len(proposals)} proposals")
