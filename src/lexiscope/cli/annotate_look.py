"""``lexiscope annotate status|export|verify|reconcile``: look at a study, whether or not its server runs.

A running SQLite study has one writer, its server. These verbs read a copy that is made in a moment and thrown away.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lexiscope.annotation.launched import StudyOnDisk, read_study, snapshot
from lexiscope.annotation.output.package import write_export
from lexiscope.annotation.progress import StudyProgress, everything_collected, progress_of
from lexiscope.annotation.reconciliation import OurRecord, read_submissions, reconcile, write_differences
from lexiscope.annotation.store.store import Store
from lexiscope.cli.options import as_json as json_option
from lexiscope.cli.output import print_json, print_table, say, say_folded
from lexiscope.cli.verb import Verb, existing_file

_STUDY = click.argument("study", type=click.Path(path_type=Path))
_POSTGRES = click.option("--postgres", metavar="URL", help="The study is stored in this PostgreSQL database.")


@click.command("status", cls=Verb)
@_STUDY
@_POSTGRES
@json_option
def status(study: Path, *, postgres: str | None, as_json: bool) -> None:
    """Say how far a study is, whether or not its server runs.

    STUDY is the study's file, or the folder in which it runs.
    """
    found = read_study(study)
    frozen = found.freeze()
    with snapshot(frozen, found.folder, url=postgres) as store:
        now = progress_of(frozen, store)
    if as_json:
        print_json(now.as_json())
        return
    _show(found, now)


@click.command("export", cls=Verb)
@_STUDY
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="The folder to write.")
@_POSTGRES
def export(study: Path, *, out: Path, postgres: str | None) -> None:
    """Write the tables of a study, whether or not its server runs.

    Random ids stand for participants; ids of the recruiting platform are in none of the files.
    """
    found = read_study(study)
    frozen = found.freeze()
    with snapshot(frozen, found.folder, url=postgres) as store:
        made = write_export(everything_collected(frozen, store), out)
    say(f"written: {out} ({len(made.files)} files)")
    say(f"judgments: {made.n_judgments}; participants: {made.n_participants}, valid: {made.n_valid}")


@click.command("verify", cls=Verb)
@_STUDY
@_POSTGRES
@click.pass_context
def verify(ctx: click.Context, /, study: Path, *, postgres: str | None) -> None:
    """Check a study's database: file, audit log, seals, rules.

    The exit status is 0 where all is well, else 1.
    """
    found = read_study(study)
    with snapshot(found.freeze(), found.folder, url=postgres) as store:
        check = store.verify()
    for problem in check.problems:
        say(problem)
    well = "all is well" if not check.problems else f"{len(check.problems)} problems"
    say(f"{well}: {check.answers} answers, {check.audit_entries} entries in the audit log")
    ctx.exit(1 if check.problems else 0)


@click.command("reconcile", cls=Verb)
@_STUDY
@click.argument("platform", metavar="PLATFORM.csv", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the differences as CSV too.")
@_POSTGRES
def reconcile_list(study: Path, platform: Path, *, out: Path | None, postgres: str | None) -> None:
    """Compare the platform's list of submissions with what is stored.

    Every difference is printed with what to do. The file has ids of the platform: keep it private.
    """
    found = read_study(study)
    submissions = read_submissions(existing_file(platform))
    frozen = found.freeze()
    with snapshot(frozen, found.folder, url=postgres) as store:
        differences = reconcile(submissions, _ours(store), codes=frozen.record.codes)
    rows = [(one.platform_id, one.kind, one.there, one.here, one.to_do) for one in differences]
    if rows:
        print_table(("participant", "difference", "platform", "here", "what to do"), rows)
    say(f"{len(submissions)} submissions, {len(rows)} differences")
    if out is not None:
        write_differences(differences, out)
        say(f"written: {out}")


def _ours(store: Store) -> list[OurRecord]:
    codes = store.codes()
    people = {one.participant_id: one for one in store.people()}
    found = []
    for platform_id in sorted(store.platform_ids()):
        who = store.find(platform_id)
        if who is not None:
            one = people[who]
            found.append(OurRecord(platform_id, who, str(one.state), one.n_answered, codes.get(who, {})))
    return found


def _show(study: StudyOnDisk, now: StudyProgress) -> None:
    say(f"{study.definition.name}: {now.status}, {'complete' if now.complete else 'not complete'}")
    columns = ("list", "places", "valid", "active", "excluded", "free")
    rows: list[tuple[Any, ...]] = [
        (one.list_id, one.places, one.valid, one.active, one.excluded, one.free) for one in now.lists
    ]
    print_table(columns, rows, right=columns[1:])
    say(", ".join(f"{state}: {n}" for state, n in now.states.items()) or "nobody has come yet")
    pay, coverage = now.pay, now.coverage
    if coverage is not None:
        say(f"valid answers to an item: {coverage.n_min} to {coverage.n_max}, mean {coverage.n_mean:.2f}")
    if pay.median_minutes is not None and pay.hourly is not None:
        say(f"median time {pay.median_minutes:.1f} min, {pay.hourly:.2f} {pay.currency} an hour, paid {pay.total:.2f}")
    for one in now.suggestions:
        say_folded(f"list {one.list_id}: ask for {one.ask} more")
    for rule, why in now.waiting:
        say_folded(f"not judged yet: {rule} ({why})")
