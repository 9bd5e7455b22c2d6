"""``lexiscope annotate status|export|verify``: read a study; its server may be running.

A running SQLite study has one writer, its server. These commands read a temporary copy.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.monitor import ItemCoverage, StudyProgress, progress_of
from lexiscope.annotation.store.files import recovery_hint
from lexiscope.annotation.study_file.study_folder import StudyOnDisk, open_large_snapshot, open_snapshot, read_study
from lexiscope.annotation.web.admin.summary import read_collected_for_export
from lexiscope.cli import options
from lexiscope.cli.annotate import POSTGRES, STUDY
from lexiscope.cli.output import print_json, print_table, remark, say, say_folded
from lexiscope.cli.verb import Verb
from lexiscope.core.columnar.lean import save_memory
from lexiscope.core.showing import counted
from lexiscope.core.simulated import SIMULATED_PARTICIPANTS, TOLD_SIMULATED

_SHOWN = 5
"""How many items or participants a line of the status names; --json and the export have all."""


@click.command("status", cls=Verb)
@STUDY
@POSTGRES
@options.as_json
def status(study: Path, *, postgres: str | None, as_json: bool) -> None:
    """Show the progress of a study.

    STUDY is the study file, or the folder in which the study runs. The server may be running.
    """
    on_disk = read_study(study)
    frozen = on_disk.freeze()
    with open_snapshot(frozen, on_disk.folder, url=postgres) as store:
        now = progress_of(frozen, store)
        due = store.due_purge() if store.platform_ids() else None
    if as_json:
        print_json(asdict(now) | {"platform_ids_due": due.isoformat() if due is not None else None})
        return
    _print_status(on_disk, now)
    if due is not None and due <= datetime.now(UTC):
        say_folded(f"Platform IDs should have been deleted on {due:%Y-%m-%d}. Run lexiscope annotate purge {study}.")


@click.command("export", cls=Verb)
@STUDY
@options.path("--out", metavar="FOLDER", about="Output folder.", required=True)
@POSTGRES
def export(study: Path, *, out: Path, postgres: str | None) -> None:
    """Write the tables of a study.

    The server may be running. Participants have random IDs; no file has IDs of the recruiting platform.
    """
    save_memory()
    on_disk = read_study(study)
    frozen = on_disk.freeze()
    with open_large_snapshot(frozen, on_disk.folder, url=postgres) as (store, confirm):
        if store.check_is_due:
            remark("This study is large. A million judgments take about a minute.")
        made = write_export(read_collected_for_export(frozen, store), out, confirm=confirm)
    say(f"Saved {out} ({counted(len(made.files), 'file')})")
    if made.simulated:
        say_folded(f"{SIMULATED_PARTICIPANTS}: {TOLD_SIMULATED}")
    say(f"Responses: {made.n_judgments}; participants: {made.n_participants}, valid: {made.n_valid}")


@click.command("verify", cls=Verb)
@STUDY
@POSTGRES
@options.as_json
@click.pass_context
def verify(ctx: click.Context, /, study: Path, *, postgres: str | None, as_json: bool) -> None:
    """Check a study's database: file, audit log, seals, rules.

    The exit status is 1 if there is a problem.
    """
    on_disk = read_study(study)
    with open_snapshot(on_disk.freeze(), on_disk.folder, url=postgres, checked=False) as store:
        check = store.verify()
    if as_json:
        print_json({"answers": check.answers, "audit_entries": check.audit_entries, "problems": list(check.problems)})
        ctx.exit(1 if check.problems else 0)
    for problem in check.problems:
        say(problem)
    problems = counted(len(check.problems), "problem") if check.problems else "no problems"
    entries = counted(check.audit_entries, "entry", "entries")
    say(f"Checked {counted(check.answers, 'answer')} and {entries} of the audit log: {problems}.")
    if check.problems and postgres is None:
        say(f"what to do: {recovery_hint(on_disk.folder)}")
    ctx.exit(1 if check.problems else 0)


def _print_status(study: StudyOnDisk, now: StudyProgress) -> None:
    say(f"{study.definition.name}: {now.status}, {'complete' if now.complete else 'not complete'}")
    if now.simulated:
        say_folded(f"{SIMULATED_PARTICIPANTS}: {TOLD_SIMULATED}")
    columns: tuple[str, ...] = ("list", "view", "places", "valid", "active", "excluded", "free")
    rows: list[tuple[Any, ...]] = [
        (row.list_id, now.views[row.list_id], row.places, row.valid, row.active, row.excluded, row.free)
        for row in now.lists
    ]
    if len(set(now.views.values())) == 1:
        columns, rows = ("list", *columns[2:]), [(row[0], *row[2:]) for row in rows]
    print_table(columns, rows, right=columns[1:])
    lists = counted(len(now.lists), "list")
    say(f"Valid participants: {now.valid} of {now.wanted} ({lists} × {now.wanted // max(1, len(now.lists))})")
    say(f"Active: {now.at_it}. Dropped out: {now.left}.")
    states = ", ".join(f"{state.replace('_', ' ')} {n}" for state, n in now.states.items())
    say(f"All participants: {states}" if states else "No participants yet.")
    for view, coverage in now.coverage.items():
        say_folded(_coverage_text(coverage, f" in the view {view}" if len(now.coverage) > 1 else ""))
    _print_pay(now)
    for suggestion in now.suggestions:
        more = counted(suggestion.ask, "more participant")
        say_folded(f"List {suggestion.list_id}: recruit {more}.")
    for rule, why in now.waiting:
        say_folded(f"Rule pending: {rule}. {why}")


def _coverage_text(coverage: ItemCoverage, where: str) -> str:
    """Describe the answers to the items in one view: how many, and which items have too few."""
    text = f"Valid answers per item{where}: {coverage.n_min} to {coverage.n_max}, mean {coverage.n_mean:.2f}"
    if not coverage.short:
        return f"{text}; all items have the {coverage.minimum} needed."
    few = sorted(coverage.short, key=lambda item: item.n)[:_SHOWN]
    named = ", ".join(f"{item.item_id}: {item.n}" for item in few)
    more = f" and {len(coverage.short) - len(few)} more" if len(coverage.short) > len(few) else ""
    return f"{text}; {counted(len(coverage.short), 'item')} below the {coverage.minimum} needed ({named}{more})."


def _print_pay(now: StudyProgress) -> None:
    pay = now.pay
    if pay.median_minutes is not None and pay.hourly is not None:
        hourly = f"{pay.hourly:.2f} {pay.currency} per hour"
        say(f"Median session time: {pay.median_minutes:.1f} min ({hourly}); paid in total: {pay.total:.2f}")
    if pay.median_trial_minutes is not None:
        say(f"Median time on trials: {pay.median_trial_minutes:.1f} min")
    if now.owed:
        total = sum(participant.owed for participant in now.owed)
        say_folded(
            f"Underpaid participants: {len(now.owed)}; owed in total: {total:.2f} {pay.currency} (see pay.csv of the "
            "export; reconcile lists the platform IDs)"
        )
        for participant in now.owed[:_SHOWN]:
            earned = f"{participant.minutes:.1f} min, {participant.hourly:.2f} {pay.currency} per hour"
            say(f"  {participant.participant_id}: {earned}, owed {participant.owed:.2f}")
