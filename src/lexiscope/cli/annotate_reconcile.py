"""``lexiscope annotate reconcile``: the platform's list of submissions against what is stored."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.annotation.export.pay import pay_top_ups
from lexiscope.annotation.reconciliation import (
    LEFT_THERE,
    OurRecord,
    Submission,
    leavers,
    read_submissions,
    reconcile,
    write_differences,
)
from lexiscope.annotation.reconciliation_rules import Difference
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import Payment
from lexiscope.annotation.study_file.launched import read_study, snapshot
from lexiscope.annotation.study_file.wording import counted
from lexiscope.cli.annotate_change import ACTOR, writing
from lexiscope.cli.output import print_table, say
from lexiscope.cli.verb import Verb, existing_file


@click.command("reconcile", cls=Verb)
@click.argument("study", type=click.Path(path_type=Path))
@click.argument("platform", metavar="PLATFORM.csv", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the differences as CSV too.")
@click.option(
    "--apply", "apply_list", is_flag=True, help="Mark who returned or timed out there as such; their places are free."
)
@click.option("--postgres", metavar="URL", help="The study is stored in this PostgreSQL database.")
def reconcile_list(study: Path, platform: Path, *, out: Path | None, apply_list: bool, postgres: str | None) -> None:
    """Compare the platform's list with what is stored; apply it.

    Every difference is printed with what to do, and who is owed a top-up of their pay. --apply first marks who left on
    the platform and is under way here; nobody who has finished is changed. While the server runs, apply it in the
    dashboard. The file has ids of the platform: keep it private.
    """
    submissions = read_submissions(existing_file(platform))
    found = read_study(study)
    frozen = found.freeze()
    codes = frozen.record.codes
    if apply_list:
        with writing(study, postgres) as store:
            _apply(store, submissions)
            differences = reconcile(submissions, _ours(store), codes=codes)
            owed = _owed(store, found.definition.payment)
    else:
        with snapshot(frozen, found.folder, url=postgres) as store:
            differences = reconcile(submissions, _ours(store), codes=codes)
            owed = _owed(store, found.definition.payment)
    _show(differences, len(submissions))
    if owed:
        print_table(("participant", "owed", "minutes"), owed, title="Earned less than the least hourly pay")
    if out is not None:
        write_differences(differences, out)
        say(f"written: {out}")


def _apply(store: Store, submissions: tuple[Submission, ...]) -> None:
    ours = _ours(store)
    left = leavers(submissions, ours)
    marked = store.mark_away(left, reason=LEFT_THERE, actor=ACTOR)
    rows = [
        (one.platform_id, one.participant_id, str(marked[one.participant_id]), str(left[one.participant_id]))
        for one in ours
        if one.participant_id in marked
    ]
    if rows:
        print_table(("participant", "random id", "was", "is"), rows)
    say(f"marked: {len(rows)}" + ("; their places are free" if rows else ""))


def _show(differences: tuple[Difference, ...], n_submissions: int) -> None:
    rows = [(one.platform_id, one.kind, one.there, one.here, one.to_do) for one in differences]
    if rows:
        print_table(("participant", "difference", "platform", "here", "what to do"), rows)
    say(f"{counted(n_submissions, 'submission')}, {counted(len(rows), 'difference')}")


def _owed(store: Store, payment: Payment) -> list[tuple[str, str, float]]:
    """Who is owed a top-up of their pay, by the platform's id: only here is it beside what is owed."""
    ids = {one.participant_id: one.platform_id for one in _ours(store)}
    due = pay_top_ups(store.people(), amount=payment.amount, hourly_least=payment.hourly_least)
    return [(ids[one.participant_id], f"{one.owed:.2f}", one.minutes) for one in due if one.participant_id in ids]


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
