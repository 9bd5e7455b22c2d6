"""``lexiscope annotate pause|resume|close|invite|forget|purge|password|backup|restore|reconcile``: change a study.

One process writes to a SQLite study. While its server runs, these verbs are refused (backup excepted, which reads) and
name the page of the dashboard that does the same; a PostgreSQL study can be changed at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from lexiscope.annotation.export.pay import pay_top_ups
from lexiscope.annotation.reconciliation import (
    LEFT_THERE,
    OurRecord,
    PlatformDifference,
    PlatformSubmission,
    leavers,
    read_submissions,
    reconcile,
    write_differences,
)
from lexiscope.annotation.store.backup import BACKUPS, copy_key, restore
from lexiscope.annotation.store.overview import issued_codes
from lexiscope.annotation.store.record import Status
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import Payment
from lexiscope.annotation.study_file.study_folder import check_launched, open_snapshot, read_study
from lexiscope.annotation.web.admin.accounts import make_setup_link
from lexiscope.annotation.web.serving import Serving
from lexiscope.cli import options
from lexiscope.cli.annotate import POSTGRES, STUDY
from lexiscope.cli.output import print_table, say
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.showing import counted

ACTOR = "command line"
_URL = click.option("--public-url", default="http://127.0.0.1:8000", show_default=True, help="Where the server stands.")


@click.command("pause", cls=Verb)
@STUDY
@POSTGRES
def pause(study: Path, *, postgres: str | None) -> None:
    """Take in nobody new for a while.

    Who has begun goes on. While the server runs, use the dashboard.
    """
    _set_status(study, postgres, "paused")


@click.command("resume", cls=Verb)
@STUDY
@POSTGRES
def resume(study: Path, *, postgres: str | None) -> None:
    """Take people in again.

    While the server runs, use the dashboard.
    """
    _set_status(study, postgres, "running")


@click.command("close", cls=Verb)
@STUDY
@POSTGRES
def close(study: Path, *, postgres: str | None) -> None:
    """End the study: nobody new is taken in.

    The time after which platform ids are deleted begins. While the server runs, use the dashboard.
    """
    _set_status(study, postgres, "closed")


@click.command("invite", cls=Verb)
@STUDY
@click.option("--n", required=True, type=click.IntRange(1, 10_000), help="How many links.")
@_URL
@POSTGRES
def invite(study: Path, *, n: int, public_url: str, postgres: str | None) -> None:
    """Make links for participants of a lab.

    Each link is one person's and is printed once; only its hash is stored. While the server runs, use the dashboard.
    """
    address = Serving(public_url=public_url).settings().public_url.rstrip("/")
    with open_for_change(study, postgres) as store:
        tokens = store.make_tokens(n, actor=ACTOR)
    for token in tokens:
        say(f"{address}/t/{token}")


@click.command("forget", cls=Verb)
@STUDY
@click.argument("participant")
@click.option("--platform-id", is_flag=True, help="PARTICIPANT is the platform's id, not the random one.")
@POSTGRES
def forget(study: Path, participant: str, *, platform_id: bool, postgres: str | None) -> None:
    """Remove what identifies a participant.

    The answers stay under the random id, without the identity, in the database and in its backups. While the server
    runs, use the dashboard.
    """
    with open_for_change(study, postgres) as store:
        who = store.find(participant) if platform_id else participant
        if who is None:
            raise InputError("nobody came with this platform id")
        done = store.forget(who, actor=ACTOR)
    say(f"forgotten: {done.participant_id}; answers removed: {done.answers_removed}")
    for name in done.still_in:
        say(f"the id still stands in {name}: the participant wrote it into an answer")


@click.command("purge", cls=Verb)
@STUDY
@POSTGRES
def purge(study: Path, *, postgres: str | None) -> None:
    """Delete the platform ids of a closed study if their day has come.

    The day is that of the study file, retention.platform_ids_days after closing; a running server deletes them itself.
    """
    with open_for_change(study, postgres) as store:
        due, done = store.due_purge(), store.purge_identities()
    if due is None:
        say("nothing is due: the study is not closed, or names no number of days")
    elif due > datetime.now(UTC):
        say(f"nothing is due before {due:%Y-%m-%d %H:%M} UTC")
    else:
        say(f"platform ids and tokens deleted: {done.removed}")
    for name in done.still_in:
        say(f"an id still stands in {name}: a participant wrote it into an answer")


@click.command("password", cls=Verb)
@STUDY
@_URL
@POSTGRES
def password(study: Path, *, public_url: str, postgres: str | None) -> None:
    """Make a link with which a researcher sets a password.

    It serves once, within 24 hours; an earlier link is void. While the server runs, use the dashboard.
    """
    settings = Serving(public_url=public_url).settings()
    with open_for_change(study, postgres) as store:
        say(make_setup_link(store, settings))


@click.command("backup", cls=Verb)
@STUDY
@options.path("--out", metavar="FILE", about="The copy; else a new one in backups/.")
def backup(study: Path, *, out: Path | None) -> None:
    """Copy the database, whether or not the server runs.

    A copy needs the study's secret.key: without --out the key is laid beside it.
    """
    on_disk = read_study(study)
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S_%f}.sqlite"
    with open_snapshot(on_disk.freeze(), on_disk.folder) as store:
        copy = store.backup(out or on_disk.folder / BACKUPS / name)
    if out is None:
        copy_key(on_disk.folder)
    say(f"written: {copy}")


@click.command("restore", cls=Verb)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("copy", type=click.Path(path_type=Path))
@click.option("--key", type=click.Path(path_type=Path), help="The study's secret.key, where the folder has none.")
def restore_backup(folder: Path, copy: Path, *, key: Path | None) -> None:
    """Restore a study's database from a backup.

    A database that is empty, damaged or not the study's latest is kept under another name. A sound one stays as it is:
    move it away first.
    """
    done = restore(copy, folder, key=key)
    say(f"Restored {done.database}")
    if done.former is not None:
        say(f"Kept the former database as {done.former}. It holds platform IDs: delete it when you no longer need it.")


def _set_status(study: Path, postgres: str | None, to: Status) -> None:
    with open_for_change(study, postgres) as store:
        store.set_status(to, actor=ACTOR)
    say(f"the study is {to}")


@contextmanager
def open_for_change(path: Path, postgres: str | None) -> Iterator[Store]:
    """Open a study's store for a change, by the study's file or folder.

    Errors: :class:`RunError` where its server runs; :class:`InputError` E001 where it was never launched.
    """
    on_disk = read_study(path)
    frozen = on_disk.freeze()
    check_launched(on_disk.folder, url=postgres)
    try:
        opened = Store.open(on_disk.folder, frozen.record, url=postgres, has_place=frozen.has_place)
    except RunError as error:
        if error.what != "this study is open in another process":
            raise
        hint = "do it in the dashboard, or end the server first"
        what = "the study's server runs, and one process writes to a study"
        raise RunError(what, place=error.place, hint=hint) from error
    with opened as store:
        yield store


# -- reconcile: the platform's list of submissions against what is stored -------------------------------------------


@click.command("reconcile", cls=Verb)
@STUDY
@click.argument("platform", metavar="PLATFORM.csv", type=click.Path(path_type=Path))
@options.path("--out", metavar="FILE", about="Write the differences as CSV too.")
@click.option(
    "--apply", "apply_list", is_flag=True, help="Mark who returned or timed out there as such; their places are free."
)
@POSTGRES
def reconcile_list(study: Path, platform: Path, *, out: Path | None, apply_list: bool, postgres: str | None) -> None:
    """Compare the platform's list with what is stored; apply it.

    Every difference is printed with what to do, and who is owed a top-up of their pay. --apply first marks who left on
    the platform and is under way here; nobody who has finished is changed. While the server runs, apply it in the
    dashboard. The file has ids of the platform: keep it private.
    """
    submissions = read_submissions(existing_file(platform))
    on_disk = read_study(study)
    frozen = on_disk.freeze()
    codes = frozen.record.codes
    if apply_list:
        with open_for_change(study, postgres) as store:
            _mark_leavers(store, submissions)
            differences = reconcile(submissions, _our_records(store), codes=codes)
            owed = _top_ups(store, on_disk.definition.payment)
    else:
        with open_snapshot(frozen, on_disk.folder, url=postgres) as store:
            differences = reconcile(submissions, _our_records(store), codes=codes)
            owed = _top_ups(store, on_disk.definition.payment)
    _print_differences(differences, len(submissions))
    if owed:
        print_table(("participant", "owed", "minutes"), owed, title="Earned less than the least hourly pay")
    if out is not None:
        write_differences(differences, out)
        say(f"written: {out}")


def _mark_leavers(store: Store, submissions: tuple[PlatformSubmission, ...]) -> None:
    ours = _our_records(store)
    left = leavers(submissions, ours)
    marked = store.mark_away(left, reason=LEFT_THERE, actor=ACTOR)
    ids = [(record.platform_id, record.participant_id) for record in ours if record.participant_id in marked]
    rows = [(platform_id, who, str(marked[who]), str(left[who])) for platform_id, who in ids]
    if rows:
        print_table(("participant", "random id", "was", "is"), rows)
    say(f"marked: {len(rows)}" + ("; their places are free" if rows else ""))


def _print_differences(differences: tuple[PlatformDifference, ...], n_submissions: int) -> None:
    rows = [(row.platform_id, row.kind, row.there, row.here, row.to_do) for row in differences]
    if rows:
        print_table(("participant", "difference", "platform", "here", "what to do"), rows)
    say(f"{counted(n_submissions, 'submission')}, {counted(len(rows), 'difference')}")


def _top_ups(store: Store, payment: Payment) -> list[tuple[str, str, float]]:
    """Return what participants are owed, by the platform's id: no other output shows both."""
    ids = {record.participant_id: record.platform_id for record in _our_records(store)}
    due = pay_top_ups(store.people(), amount=payment.amount, hourly_least=payment.hourly_least)
    return [(ids[pay.participant_id], f"{pay.owed:.2f}", pay.minutes) for pay in due if pay.participant_id in ids]


def _our_records(store: Store) -> list[OurRecord]:
    codes = store.read(issued_codes)
    people = {person.participant_id: person for person in store.people()}
    records = []
    for platform_id in sorted(store.platform_ids()):
        who = store.find(platform_id)
        if who is not None:
            person = people[who]
            records.append(OurRecord(platform_id, who, str(person.state), codes.get(who, {})))
    return records
