"""``lexiscope annotate serve|preview|sign|pause|resume|close|invite|forget|purge|password|backup|restore|reconcile``.

Run a study: its pages, for participants or as a preview, and the commands that change it. One process writes to a
SQLite study. While its server runs, commands that change it stop with an error that names the dashboard (except backup,
which only reads); a PostgreSQL study can be changed at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from lexiscope.annotation.export.pay import pay_top_ups
from lexiscope.annotation.reconciliation import (
    LEFT_THERE,
    OurRecord,
    PlatformSubmission,
    leavers,
    read_submissions,
    reconcile,
    write_differences,
)
from lexiscope.annotation.store.backup import BACKUPS, accept_restored, copy_key, restore
from lexiscope.annotation.store.overview import first_answer_at, issued_codes, plan_signature
from lexiscope.annotation.store.record import Status
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import Payment
from lexiscope.annotation.study_file.launch import launch_problems, question_texts
from lexiscope.annotation.study_file.study_folder import (
    StudyOnDisk,
    check_launched,
    copy_inputs,
    open_snapshot,
    read_study,
)
from lexiscope.annotation.web.admin.accounts import make_setup_link
from lexiscope.annotation.web.preview import serve_preview, write_preview
from lexiscope.annotation.web.serving import Serving, StudyLinks, serve
from lexiscope.cli import options
from lexiscope.cli.annotate import POSTGRES, STUDY
from lexiscope.cli.output import print_json, print_table, remark, say, say_folded
from lexiscope.cli.verb import Failure, Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.showing import counted

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("serve", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--folder", type=_FOLDER, help="Folder for the answers; default: the name of the study file without its ending."
)
@options.of_settings(Serving)
@click.option("--new", is_flag=True, help="Restart without the answers of a lost or damaged database.")
def serve_study(file: Path, *, folder: Path | None, new: bool, **given: Any) -> None:
    """Run a study: pages for participants and researchers.

    The study must pass `annotate check`. Ctrl-C stops the server; the same command continues the study. If the database
    of a launched study is missing or damaged, restore a backup, or restart with --new.
    """
    serving = options.make_settings(Serving, given)
    serving.check()
    study = read_study(file, folder)
    check_ready(study)
    if study.definition.planned.questions:
        remark(
            "Planned questions are confirmatory only with a plan that is signed before the first answer: "
            "lexiscope annotate sign"
        )
    if serving.unsafe_fast:
        remark(
            "Warning: with --unsafe-fast, a power cut can lose answers that participants saw as saved. Remove the "
            "option for a real study."
        )
    serve(study, serving, say=lambda links: _say_links(study, serving, links), new=new)
    say("Server stopped. All answers are saved.")


@click.command("preview", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; default: any free port.")
@click.option("--out", type=_FOLDER, help="Write the pages as files into this folder instead.")
def preview(file: Path, *, port: int, out: Path | None) -> None:
    """Show every page of a study without storing anything.

    Missing texts are marked.
    """
    study = read_study(file)
    if out is None:
        serve_preview(study, port=port, say=lambda url: say(f"Preview of all pages: {url}   (Ctrl-C stops it)"))
        return
    written = write_preview(study, out)
    say(f"Saved {out} ({counted(len(written), 'page')}). Open {written[0]}")


def check_ready(study: StudyOnDisk) -> None:
    """Check that a study is ready to launch. Errors: :class:`Failure` with every problem."""
    problems = launch_problems(study.definition, study.items)
    if problems:
        listed = [str(study.file.error(problem)) for problem in problems]
        listed.append(f"Not ready: {counted(len(problems), 'error')} to fix.")
        raise Failure("\n".join(listed))


def _say_links(study: StudyOnDisk, serving: Serving, links: StudyLinks) -> None:
    say(f"Study:        {study.definition.name}, stored in {'PostgreSQL' if serving.postgres else study.folder}")
    if links.set_aside is not None:
        remark(f"Warning: this study starts again without earlier answers. What is left of it is in {links.set_aside}.")
        remark("That folder holds platform IDs: delete it when you no longer need it.")
    if links.participants:
        say(f"Participants: {links.participants}")
    else:
        say_folded(f"Participants: one link each, made with lexiscope annotate invite {study.folder} --n 20")
    say(f"Researcher:   {links.researcher}")
    if links.set_up:
        say(f"First set a password (this link works once, within 24 hours): {links.set_up}")
    say("Ctrl-C stops the server.")


ACTOR = "command line"
_URL = click.option("--public-url", default="http://127.0.0.1:8000", show_default=True, help="Address of the server.")


@click.command("sign", cls=Verb)
@STUDY
@click.option("--by", required=True, metavar="NAME", help="Your name, which the report shows.")
@POSTGRES
def sign(study: Path, *, by: str, postgres: str | None) -> None:
    """Sign the plan of a study before the first answer.

    The definition is fixed from now on, with its items. `study` on the export marks the questions under
    planned.questions as confirmatory, and lists deviations. A plan that is signed after the first answer makes nothing
    confirmatory. Sign before you serve, or end the server first.
    """
    on_disk = read_study(study)
    planned = on_disk.definition.planned
    if not planned.questions:
        hint = "Set planned.study and planned.questions; lexiscope annotate template --study NAME lists them."
        raise InputError(
            "The study has no planned question.", code="E627", place=on_disk.file.place(("planned",)), hint=hint
        )
    check_ready(on_disk)
    texts = question_texts(planned.study)
    named = {name: texts[name] for name in planned.questions}
    with open_for_change(study, postgres, launch=True) as store:
        store.sign(by, {"study": getattr(catalog.study(planned.study), "name", planned.study), "questions": named})
        signature, first = store.read(plan_signature), store.read(first_answer_at)
    assert signature is not None
    say(f"Signed by {signature.by} on {signature.at}. SHA-256 of the definition: {signature.sha256}")
    if first:
        remark(f"Warning: the first answer was stored on {first}. This plan makes no question confirmatory.")
    else:
        say(f"Confirmatory: {', '.join(named)} of the study {planned.study}. Next: lexiscope annotate serve {study}")


@click.command("pause", cls=Verb)
@STUDY
@POSTGRES
def pause(study: Path, *, postgres: str | None) -> None:
    """Stop accepting new participants for a while.

    Participants who have started can finish. While the server runs, use the dashboard.
    """
    _set_status(study, postgres, "paused")


@click.command("resume", cls=Verb)
@STUDY
@POSTGRES
def resume(study: Path, *, postgres: str | None) -> None:
    """Accept new participants again.

    While the server runs, use the dashboard.
    """
    _set_status(study, postgres, "running")


@click.command("close", cls=Verb)
@STUDY
@POSTGRES
def close(study: Path, *, postgres: str | None) -> None:
    """Close the study to new participants.

    The time until platform IDs are deleted begins. While the server runs, use the dashboard.
    """
    _set_status(study, postgres, "closed")


@click.command("invite", cls=Verb)
@STUDY
@click.option("--n", required=True, type=click.IntRange(1, 10_000), help="Number of links.")
@_URL
@POSTGRES
def invite(study: Path, *, n: int, public_url: str, postgres: str | None) -> None:
    """Make links for participants of a lab.

    Each link is for one person and is printed once; only its hash is stored. While the server runs, use the dashboard.
    """
    address = Serving(public_url=public_url).settings().public_url.rstrip("/")
    with open_for_change(study, postgres) as store:
        tokens = store.make_tokens(n, actor=ACTOR)
    for token in tokens:
        say(f"{address}/t/{token}")


@click.command("forget", cls=Verb)
@STUDY
@click.argument("participant")
@click.option("--platform-id", is_flag=True, help="PARTICIPANT is the platform ID, not the random ID.")
@POSTGRES
def forget(study: Path, participant: str, *, platform_id: bool, postgres: str | None) -> None:
    """Delete the identity of a participant.

    The answers stay under the random ID, in the database and in its backups. While the server runs, use the dashboard.
    """
    with open_for_change(study, postgres) as store:
        who = store.find(participant) if platform_id else participant
        if who is None:
            raise InputError("No participant has this platform ID.")
        done = store.forget(who, actor=ACTOR)
    say(f"Deleted the identity of {done.participant_id}. Answers deleted: {done.answers_removed}.")
    for name in done.still_in:
        say(f"{name} still contains the ID, typed by the participant. Delete it by hand.")


@click.command("purge", cls=Verb)
@STUDY
@POSTGRES
def purge(study: Path, *, postgres: str | None) -> None:
    """Delete the platform IDs of a closed study when they are due.

    They are due retention.platform_ids_days after closing. A running server deletes them automatically.
    """
    with open_for_change(study, postgres) as store:
        due, done = store.due_purge(), store.purge_identities()
    if due is None:
        say("No platform IDs to delete: the study is not closed, or retention.platform_ids_days is 0.")
    elif due > datetime.now(UTC):
        say(f"No platform IDs to delete before {due:%Y-%m-%d %H:%M} UTC.")
    else:
        say(f"Deleted platform IDs and tokens: {done.removed}.")
    for name in done.still_in:
        say(f"{name} still contains an ID, typed by a participant. Delete it by hand.")


@click.command("password", cls=Verb)
@STUDY
@_URL
@POSTGRES
def password(study: Path, *, public_url: str, postgres: str | None) -> None:
    """Make a link with which a researcher sets a password.

    The link works once, within 24 hours, and replaces an earlier link. While the server runs, use the dashboard.
    """
    settings = Serving(public_url=public_url).settings()
    with open_for_change(study, postgres) as store:
        say(make_setup_link(store, settings))


@click.command("backup", cls=Verb)
@STUDY
@options.path("--out", metavar="FILE", about="Output file; default: a new file in backups/.")
def backup(study: Path, *, out: Path | None) -> None:
    """Copy the database of a study.

    The server may be running. A copy needs the study's secret.key; without --out, the key is copied to the same folder.
    """
    on_disk = read_study(study)
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S_%f}.sqlite"
    with open_snapshot(on_disk.freeze(), on_disk.folder) as store:
        copy = store.backup(out or on_disk.folder / BACKUPS / name)
    if out is None:
        copy_key(on_disk.folder)
    say(f"Saved {copy}")


@click.command("restore", cls=Verb)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("copy", type=click.Path(path_type=Path), required=False)
@click.option("--key", type=click.Path(path_type=Path), help="The study's secret.key, if the folder has none.")
@click.option("--postgres", metavar="URL", help="PostgreSQL database that you restored from a dump: accept its state.")
def restore_backup(folder: Path, copy: Path | None, *, key: Path | None, postgres: str | None) -> None:
    """Restore a study's database from a backup.

    A database that is empty, damaged or not the latest is kept under another name. An intact database is not replaced:
    move it away first. With --postgres there is no backup to name: a database that was restored from its dump is
    checked, and accepted as the latest state of the study.
    """
    if (copy is None) == (postgres is None):
        raise click.UsageError("name a backup, or the restored PostgreSQL database: --postgres URL")
    if postgres is not None:
        check = accept_restored(postgres, folder, key=key)
        say(f"Accepted the database with {counted(check.answers, 'response')}; later ones are lost.")
        return
    assert copy is not None
    done = restore(copy, folder, key=key)
    say(f"Restored {done.database}")
    if done.former is not None:
        say(f"Kept the former database as {done.former}. It holds platform IDs: delete it when you no longer need it.")


def _set_status(study: Path, postgres: str | None, to: Status) -> None:
    with open_for_change(study, postgres) as store:
        store.set_status(to, actor=ACTOR)
    say(_STATUS[to])


_STATUS = {
    "running": "The study is running and accepts new participants.",
    "paused": "The study is paused and accepts no new participants.",
    "closed": "The study is closed and accepts no new participants.",
}


@contextmanager
def open_for_change(path: Path, postgres: str | None, *, launch: bool = False) -> Iterator[Store]:
    """Open a study's store for a change, by the study's file or folder; *launch*: a new study is launched.

    Errors: :class:`RunError` if its server runs; :class:`InputError` E001 if it was never launched.
    """
    on_disk = read_study(path)
    frozen = on_disk.freeze()
    if not launch:
        check_launched(on_disk.folder, url=postgres)
    try:
        opened = Store.open(on_disk.folder, frozen.record, url=postgres, has_place=frozen.has_place)
    except RunError as error:
        if error.what != "this study is open in another process":
            raise
        hint = "Use the dashboard, or stop the server first."
        what = "The server of the study is running; only one process can write to a study."
        raise RunError(what, place=error.place, hint=hint) from error
    with opened as store:
        if launch:
            copy_inputs(on_disk)
        yield store


# -- reconcile: the platform's list of submissions compared with the study -------------------------------------------


@click.command("reconcile", cls=Verb)
@STUDY
@click.argument("platform", metavar="PLATFORM.csv", type=click.Path(path_type=Path))
@options.path("--out", metavar="FILE", about="Write the differences as CSV.")
@click.option(
    "--apply",
    "apply_list",
    is_flag=True,
    help="Mark participants as returned or timed out, as on the platform; this frees their places.",
)
@POSTGRES
@options.as_json
def reconcile_list(
    study: Path, platform: Path, *, out: Path | None, apply_list: bool, postgres: str | None, as_json: bool
) -> None:
    """Compare the platform's list with the study; apply it.

    Every difference is printed with what to do, followed by underpaid participants. --apply first marks active
    participants who left on the platform; finished participants are not changed. While the server runs, apply the list
    in the dashboard. The output file has platform IDs: keep it private.
    """
    submissions = read_submissions(existing_file(platform))
    on_disk = read_study(study)
    frozen = on_disk.freeze()
    codes = frozen.record.codes
    marked: list[tuple[str, str, str, str]] = []
    if apply_list:
        with open_for_change(study, postgres) as store:
            marked = _mark_leavers(store, submissions)
            differences = reconcile(submissions, _our_records(store), codes=codes)
            owed = _top_ups(store, on_disk.definition.payment)
    else:
        with open_snapshot(frozen, on_disk.folder, url=postgres) as store:
            differences = reconcile(submissions, _our_records(store), codes=codes)
            owed = _top_ups(store, on_disk.definition.payment)
    if out is not None:
        write_differences(differences, out)
    if as_json:
        print_json(
            {
                "submissions": len(submissions),
                "marked": [
                    dict(zip(("participant", "random_id", "before", "now"), row, strict=True)) for row in marked
                ],
                "differences": [asdict(difference) for difference in differences],
                "underpaid": [
                    {"participant": who, "owed": float(due), "minutes": minutes} for who, due, minutes in owed
                ],
            }
        )
        return
    if apply_list:
        if marked:
            print_table(("participant", "random ID", "before", "now"), marked)
        say(f"Marked {counted(len(marked), 'participant')}." + (" Their places are free." if marked else ""))
    rows = [(row.platform_id, row.kind, row.there, row.here, row.to_do) for row in differences]
    if rows:
        print_table(("participant", "difference", "platform", "here", "what to do"), rows)
    say(f"{counted(len(submissions), 'submission')}, {counted(len(rows), 'difference')}")
    if owed:
        print_table(("participant", "owed", "minutes"), owed, title="Underpaid participants")
    if out is not None:
        say(f"Saved {out}")


def _mark_leavers(store: Store, submissions: tuple[PlatformSubmission, ...]) -> list[tuple[str, str, str, str]]:
    """Mark active participants who left on the platform; return platform ID, random ID, state before and now."""
    ours = _our_records(store)
    left = leavers(submissions, ours)
    marked = store.mark_away(left, reason=LEFT_THERE, actor=ACTOR)
    ids = [(record.platform_id, record.participant_id) for record in ours if record.participant_id in marked]
    return [(platform_id, who, str(marked[who]), str(left[who])) for platform_id, who in ids]


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
