"""``lexiscope annotate draft``, ``pool`` and ``stage``: texts of participants and models become the next study.

No draft of a model is used without review: a person writes a verdict into the tables that are written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from lexiscope.annotation.study_file.study_folder import open_snapshot, read_study
from lexiscope.annotation.writing.drafts import (
    accepted_draft_texts,
    draft_table,
    draft_texts,
    provenance_table,
    read_drafts,
)
from lexiscope.annotation.writing.stages import item_file, read_precontexts
from lexiscope.annotation.writing.staging import Stage, stage_of
from lexiscope.build.stories.homonym_pool import homonym_pool, with_examples
from lexiscope.build.stories.stories import DraftRequest
from lexiscope.cli import options
from lexiscope.cli.annotate import POSTGRES, STUDY
from lexiscope.cli.output import print_table, progress_bar, remark, say, say_folded
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.collect import with_run_options
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import write_atomically
from lexiscope.core.showing import counted
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.pun_senses import read_pun_senses
from lexiscope.tasks.ambiguous_sentence import example_request

_SUBJECT = click.option("--subject", metavar="SPEC", help="Model that drafts: chat:MODEL@URL, causal_lm:FOLDER …")
_DRAFTS = options.path("--drafts", metavar="FILE", about="Reviewed drafts.", multiple=True)


@click.command("draft", cls=Verb)
@STUDY
@click.option(
    "--what",
    type=click.Choice(("clean", "precontext")),
    required=True,
    help="Texts to draft: cleaned texts, or precontexts.",
)
@_SUBJECT
@_DRAFTS
@click.option(
    "--wording",
    type=click.Choice(("own", "published")),
    default="own",
    show_default=True,
    help="Prompt: that of Lexiscope, or that of the paper.",
)
@options.path("--out", metavar="FILE.csv", about="The table to write.", required=True)
@options.device
@POSTGRES
def draft(
    study: Path,
    *,
    what: str,
    subject: str | None,
    drafts: tuple[Path, ...],
    wording: str,
    out: Path,
    device: str,
    postgres: str | None,
) -> None:
    """Draft texts with a language model, for review.

    The model cleans accepted texts, or writes precontexts. STUDY asks for ambiguous sentences or story endings. Every
    draft is checked: a cleaned sentence keeps its word, a precontext has three sentences without the word. Write
    accepted or rejected into the column verdict, correct the column text if needed, and pass the table to `lexiscope
    annotate stage --drafts`. Precontexts are written for the sentences in the reviewed drafts of --drafts.
    """
    on_disk = read_study(study)
    frozen = on_disk.freeze()
    with open_snapshot(frozen, on_disk.folder, url=postgres) as store:
        made = stage_of(frozen, store)
    made = made.with_drafts(
        [reviewed for path in drafts for reviewed in read_drafts(existing_file(path))], frozen.screen.faults
    )
    make = made.cleaning_requests if what == "clean" else made.precontext_requests
    _write_drafts(make(published=wording == "published"), subject, out, device)


@click.command("pool", cls=Verb)
@click.argument("gold", type=click.Path(path_type=Path))
@options.path("--texts", metavar="FILE.xml", about="The texts of the puns.")
@options.path("--out", metavar="FILE.csv", about="The pool to write.", required=True)
@_SUBJECT
@options.path("--examples", metavar="FILE.csv", about="File for the drafted examples of --subject.")
@_DRAFTS
@options.device
def pool(
    gold: Path,
    *,
    texts: Path | None,
    out: Path,
    subject: str | None,
    examples: Path | None,
    drafts: tuple[Path, ...],
    device: str,
) -> None:
    """Make a pool of homonyms with two meanings each, from puns.

    GOLD is the gold file of subtask 3 (homographic puns) of SemEval-2017 task 7; definitions and examples come from
    WordNet. The table shows how many words each filter removes. For meanings without an example, --subject and
    --examples draft one; pass the reviewed drafts with --drafts.
    """
    if (subject is None) != (examples is None):
        raise click.UsageError("Drafted examples need both --subject and --examples.")
    puns = read_pun_senses(existing_file(gold), existing_file(texts) if texts is not None else None)
    made = homonym_pool(puns, wordnet.load())
    print_table(["filter", "in", "out"], [[step.rule, str(step.before), str(step.after)] for step in made.steps])
    items = with_examples(made.items, _accepted_examples(drafts))
    incomplete = [item for item in items if not all(item.condition(f"example_{which}") for which in ("1", "2"))]
    _write_new(out, item_file(items))
    say(f"{counted(len(items), 'item')}; without an example of both meanings: {len(incomplete)}")
    if examples is not None:
        missing = (
            (item, which) for item in incomplete for which in ("1", "2") if not item.condition(f"example_{which}")
        )
        _write_drafts([example_request(item, which) for item, which in missing], subject, examples, device)


def _accepted_examples(paths: Sequence[Path]) -> dict[tuple[str, str], str]:
    """The accepted examples by item and meaning."""
    reviewed = [draft for path in paths for draft in read_drafts(existing_file(path))]
    return {
        (draft_id.rpartition("#")[0], which): text
        for which in ("1", "2")
        for draft_id, text in accepted_draft_texts(reviewed, f"example_{which}").items()
    }


def _write_drafts(requests: Sequence[DraftRequest], subject: str | None, out: Path, device: str) -> None:
    if subject is None:
        raise click.UsageError("Name the model that drafts: --subject SPEC.")
    if out.exists():
        hint = "Name another file: verdicts in this one would be lost."
        raise InputError("This file already exists.", code="E615", place=Place(str(out)), hint=hint)
    work = out.with_suffix(".replies")
    with progress_bar("drafts") as bar:
        moved = None if bar is None else partial(bar, "drafts")
        drafts = draft_texts(
            requests, catalog.subject(with_run_options(subject, device=device)), work=work, progress=moved
        )
    write_atomically(out, draft_table(drafts))
    n_faulty = sum(bool(draft.faults) for draft in drafts)
    say(f"Saved {out} ({counted(len(drafts), 'draft')} by {subject}; with faults: {n_faulty})")
    say_folded("Next: compare each draft with its text. In the column verdict, write accepted or rejected.")


# -- stage: accepted texts as items of the next study ----------------------------------------------------------------


@click.command("stage", cls=Verb)
@STUDY
@options.path("--out", metavar="FOLDER", about="The folder to write.", required=True)
@options.path(
    "--precontexts", metavar="FILE", about="The filled-in table of sentences: write the items of the endings study."
)
@options.path(
    "--drafts",
    metavar="FILE",
    about="Reviewed drafts of a language model: cleaned texts, precontexts. May be repeated.",
    multiple=True,
)
@click.option("--leave-out-incomplete", is_flag=True, help="Omit setups without a precontext or an ending.")
@POSTGRES
def stage(
    study: Path,
    *,
    out: Path,
    precontexts: Path | None,
    drafts: tuple[Path, ...],
    leave_out_incomplete: bool,
    postgres: str | None,
) -> None:
    """Write the accepted texts as items of the next study.

    STUDY asks for ambiguous sentences or story endings; review its texts in the dashboard first. The server may be
    running. FOLDER gets the table of all texts, and the items of the accepted ones. Drafts are used if their verdict is
    accepted and their guard still holds; provenance.csv lists the texts that a language model drafted. Existing files
    with other content are not replaced.
    """
    on_disk = read_study(study)
    frozen = on_disk.freeze()
    with open_snapshot(frozen, on_disk.folder, url=postgres) as store:
        made = stage_of(frozen, store)
    reviewed = [draft for path in drafts for draft in read_drafts(existing_file(path))]
    made = made.with_drafts(reviewed, frozen.screen.faults)
    _print_counts(made)
    if reviewed:
        _write_new(out / "provenance.csv", provenance_table(reviewed))
    if made.of_sentences:
        written = accepted_draft_texts(reviewed, "precontext")
        written |= read_precontexts(existing_file(precontexts)) if precontexts is not None else {}
        _stage_sentences(made, study, out, written, leave_out=leave_out_incomplete, postgres=postgres)
        return
    if precontexts is not None:
        raise InputError("This study asks for endings, which have no precontexts.", hint="Remove --precontexts.")
    _write_new(out / made.writing.file, made.table())
    _write_items(made, out, item_file(made.rating_items(leave_out_incomplete=leave_out_incomplete)))


def _stage_sentences(
    made: Stage, study: Path, out: Path, written: Mapping[str, str], *, leave_out: bool, postgres: str | None
) -> None:
    table = out / made.writing.file
    if written:
        made_of = {setup.setup_id for setup in made.setups()}
        unused = [name for name in written if name not in made_of]
        if unused:
            remark(f"Unused precontexts (their sentences are not accepted): {', '.join(unused)}")
        _write_items(made, out, item_file(made.ending_items(written, leave_out_incomplete=leave_out)))
        return
    _write_new(table, made.table())
    again = f"lexiscope annotate stage {study} --precontexts {table} --out {out}"
    say_folded(
        f"Next: in the column precontext of {table}, write three sentences for each accepted sentence. Then run:"
    )
    say(again + (f" --postgres {postgres}" if postgres else ""))


def _print_counts(made: Stage) -> None:
    counts = made.counts()
    say(f"Accepted: {counts.accepted}, rejected: {counts.rejected}, not reviewed: {counts.unreviewed}")
    if made.of_sentences:
        say(f"Setups: {counts.setups}")
        return
    incomplete = f" (incomplete: {counts.incomplete})" if counts.incomplete else ""
    say(f"Setups: {counts.setups}{incomplete}, stories: {counts.stories}, samples: {counts.samples}")


def _write_items(made: Stage, out: Path, text: str) -> None:
    task = made.writing.next_task
    file = out / f"{task}_items.csv"
    _write_new(file, text)
    say(f"Next: lexiscope annotate init --task {task} --items {file} --name {task} --out {task}.yaml")


def _write_new(path: Path, text: str) -> None:
    """Write a new file. Files that were filled in by hand are never replaced.

    Errors: :class:`InputError` E615 if the file exists with other content.
    """
    if path.exists() and path.read_bytes() != text.encode("utf-8"):
        hint = "Name another folder, or move the file: entries that were made by hand would be lost."
        raise InputError("This file already exists with other content.", code="E615", place=Place(str(path)), hint=hint)
    write_atomically(path, text)
    say(f"Saved {path}")
