"""``lexiscope annotate stage``: what people wrote in one study, as the next study's items."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from lexiscope.annotation.study_file.launched import read_study, snapshot
from lexiscope.annotation.writing.drafts import accepted_texts, provenance_table, read_drafts
from lexiscope.annotation.writing.stage_files import item_file, read_precontexts
from lexiscope.annotation.writing.staging import Stage, stage_of
from lexiscope.cli.output import remark, say, say_folded
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import write_atomically


@click.command("stage", cls=Verb)
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="The folder to write.")
@click.option(
    "--precontexts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The filled-in table of sentences: write the items of the endings study.",
)
@click.option(
    "--drafts",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Reviewed drafts of a language model: cleaned texts, precontexts. May be repeated.",
)
@click.option("--leave-out-incomplete", is_flag=True, help="Setups that lack a precontext or an ending make no items.")
@click.option("--postgres", metavar="URL", help="The study is stored in this PostgreSQL database.")
def stage(
    study: Path,
    *,
    out: Path,
    precontexts: Path | None,
    drafts: tuple[Path, ...],
    leave_out_incomplete: bool,
    postgres: str | None,
) -> None:
    """Write what people wrote as the next study's items.

    STUDY asks for ambiguous sentences or story endings; its texts are reviewed in the dashboard. Whether or not its
    server runs, the table of all texts is written, and the items that the accepted ones make. Drafts go on where their
    verdict says accepted and their guard still holds; provenance.csv then says which texts a language model drafted. A
    file that is there with other content stays, and is an error.
    """
    found = read_study(study)
    frozen = found.freeze()
    with snapshot(frozen, found.folder, url=postgres) as store:
        made = stage_of(frozen, store)
    reviewed = [draft for path in drafts for draft in read_drafts(existing_file(path))]
    made = made.with_drafts(reviewed, frozen.screen.faults)
    _say_counts(made)
    if reviewed:
        _write(out / "provenance.csv", provenance_table(reviewed))
    if made.of_sentences:
        written = accepted_texts(reviewed, "precontext")
        written |= read_precontexts(existing_file(precontexts)) if precontexts is not None else {}
        _from_sentences(made, study, out, written, leave_out=leave_out_incomplete, postgres=postgres)
        return
    if precontexts is not None:
        raise InputError("precontexts are of sentences, and this study asks for endings", hint="leave them out")
    _write(out / made.writing.file, made.table())
    _write_items(made, out, item_file(made.rating_items(leave_out_incomplete=leave_out_incomplete)))


def _from_sentences(
    made: Stage, study: Path, out: Path, written: Mapping[str, str], *, leave_out: bool, postgres: str | None
) -> None:
    table = out / made.writing.file
    if written:
        made_of = {one.setup_id for one in made.setups()}
        unused = [name for name in written if name not in made_of]
        if unused:
            remark(f"precontexts of sentences that are not accepted, not used: {', '.join(unused)}")
        _write_items(made, out, item_file(made.ending_items(written, leave_out_incomplete=leave_out)))
        return
    _write(table, made.table())
    again = f"lexiscope annotate stage {study} --precontexts {table} --out {out}"
    say_folded(f"next: write three sentences before each accepted one, into the column precontext of {table}; then:")
    say(again + (f" --postgres {postgres}" if postgres else ""))


def _say_counts(made: Stage) -> None:
    counts = made.counts()
    say(f"accepted: {counts.accepted}, rejected: {counts.rejected}, not reviewed: {counts.unreviewed}")
    if made.of_sentences:
        say(f"setups: {counts.setups}")
        return
    lack = f", without both endings: {counts.incomplete}" if counts.incomplete else ""
    say(f"setups: {counts.setups}{lack}; stories: {counts.stories}, samples: {counts.samples}")


def _write_items(made: Stage, out: Path, text: str) -> None:
    task = made.writing.next_task
    file = out / f"{task}_items.csv"
    _write(file, text)
    say(f"next: lexiscope annotate init --task {task} --items {file} --name {task} --out {task}.yaml")


def _write(path: Path, text: str) -> None:
    """Write a file that is not there. What was filled in by hand is never written over.

    Errors: :class:`InputError` E615 where another one is there.
    """
    if path.exists() and path.read_bytes() != text.encode("utf-8"):
        hint = "name another folder, or move the file away: what was written into it by hand would be lost"
        raise InputError("there is another file of this name", code="E615", place=Place(str(path)), hint=hint)
    write_atomically(path, text)
    say(f"written: {path}")
