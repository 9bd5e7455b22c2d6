"""``lexiscope annotate draft``, ``pool`` and ``stage``: what people and language models wrote becomes the next study.

No draft of a model is used as it is: the tables that are written here await a person's verdict.
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
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import write_atomically
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.pun_senses import read_pun_senses
from lexiscope.tasks.ambiguous_sentence import example_request

_SUBJECT = click.option("--subject", metavar="SPEC", help="Who drafts: chat:MODEL@URL, causal_lm:FOLDER …")
_DRAFTS = options.path("--drafts", metavar="FILE", about="Drafts that were reviewed.", multiple=True)


@click.command("draft", cls=Verb)
@STUDY
@click.option("--what", type=click.Choice(("clean", "precontext")), required=True, help="What is to be drafted.")
@_SUBJECT
@_DRAFTS
@click.option(
    "--wording",
    type=click.Choice(("own", "published")),
    default="own",
    show_default=True,
    help="The prompt: Lexiscope's own, or that of the task's paper.",
)
@options.path("--out", metavar="FILE.csv", about="The table to write.", required=True)
@POSTGRES
def draft(
    study: Path,
    *,
    what: str,
    subject: str | None,
    drafts: tuple[Path, ...],
    wording: str,
    out: Path,
    postgres: str | None,
) -> None:
    """Let a language model draft texts for a person to review.

    It cleans accepted texts, or writes precontexts. STUDY asks for ambiguous sentences or story endings. Every draft
    is checked: a cleaned sentence keeps its word, a precontext has three sentences without it. Fill in the verdict
    (accepted, rejected), mend the column text where it is needed, and give the table to `lexiscope annotate stage
    --drafts`. Precontexts are written for sentences as the reviewed drafts of --drafts leave them.
    """
    on_disk = read_study(study)
    frozen = on_disk.freeze()
    with open_snapshot(frozen, on_disk.folder, url=postgres) as store:
        made = stage_of(frozen, store)
    made = made.with_drafts(
        [reviewed for path in drafts for reviewed in read_drafts(existing_file(path))], frozen.screen.faults
    )
    make = made.cleaning_requests if what == "clean" else made.precontext_requests
    _write_drafts(make(published=wording == "published"), subject, out)


@click.command("pool", cls=Verb)
@click.argument("gold", type=click.Path(path_type=Path))
@options.path("--texts", metavar="FILE.xml", about="The texts of the puns.")
@options.path("--out", metavar="FILE.csv", about="The pool to write.", required=True)
@_SUBJECT
@options.path("--examples", metavar="FILE.csv", about="Where --subject's examples are written.")
@_DRAFTS
def pool(
    gold: Path, *, texts: Path | None, out: Path, subject: str | None, examples: Path | None, drafts: tuple[Path, ...]
) -> None:
    """Make a pool of homonyms with two meanings each, of puns.

    GOLD is the gold file of subtask 3 (homographic puns) of SemEval-2017 task 7; definitions and examples come from
    WordNet. What every filter drops is counted. A meaning without an example gets one drafted with --subject and
    --examples; reviewed, they come back with --drafts.
    """
    if (subject is None) != (examples is None):
        raise click.UsageError("examples are drafted by --subject and written to --examples: give both")
    puns = read_pun_senses(existing_file(gold), existing_file(texts) if texts is not None else None)
    made = homonym_pool(puns, wordnet.load())
    print_table(["filter", "in", "out"], [[step.rule, str(step.before), str(step.after)] for step in made.steps])
    items = with_examples(made.items, _accepted_examples(drafts))
    lacking = [item for item in items if not all(item.condition(f"example_{which}") for which in ("1", "2"))]
    _write_new(out, item_file(items))
    say(f"{len(items)} items, {len(lacking)} of them with a meaning that lacks an example")
    if examples is not None:
        missing = ((item, which) for item in lacking for which in ("1", "2") if not item.condition(f"example_{which}"))
        _write_drafts([example_request(item, which) for item, which in missing], subject, examples)


def _accepted_examples(paths: Sequence[Path]) -> dict[tuple[str, str], str]:
    """The accepted examples by item and meaning."""
    reviewed = [draft for path in paths for draft in read_drafts(existing_file(path))]
    return {
        (draft_id.rpartition("#")[0], which): text
        for which in ("1", "2")
        for draft_id, text in accepted_draft_texts(reviewed, f"example_{which}").items()
    }


def _write_drafts(requests: Sequence[DraftRequest], subject: str | None, out: Path) -> None:
    if subject is None:
        raise click.UsageError("name who drafts: --subject SPEC")
    if out.exists():
        hint = "name another file: verdicts that were written into this one would be lost"
        raise InputError("there is a file of this name", code="E615", place=Place(str(out)), hint=hint)
    work = out.with_suffix(".replies")
    with progress_bar("drafts") as bar:
        moved = None if bar is None else partial(bar, "drafts")
        drafts = draft_texts(requests, catalog.subject(subject), work=work, progress=moved)
    write_atomically(out, draft_table(drafts))
    n_faulty = sum(bool(draft.faults) for draft in drafts)
    say(f"written: {out}: {len(drafts)} drafts by {subject}, {n_faulty} with a fault")
    say_folded("next: read each draft beside the text that it is for, and fill in its verdict: accepted or rejected")


# -- stage: what people wrote, as the next study's items ------------------------------------------------------------


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
@click.option("--leave-out-incomplete", is_flag=True, help="Setups that lack a precontext or an ending make no items.")
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
    """Write what people wrote as the next study's items.

    STUDY asks for ambiguous sentences or story endings; its texts are reviewed in the dashboard. Whether or not its
    server runs, the table of all texts is written, and the items that the accepted ones make. Drafts go on where their
    verdict says accepted and their guard still holds; provenance.csv then says which texts a language model drafted. A
    file that is there with other content stays, and is an error.
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
        raise InputError("precontexts are of sentences, and this study asks for endings", hint="leave them out")
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
            remark(f"precontexts of sentences that are not accepted, not used: {', '.join(unused)}")
        _write_items(made, out, item_file(made.ending_items(written, leave_out_incomplete=leave_out)))
        return
    _write_new(table, made.table())
    again = f"lexiscope annotate stage {study} --precontexts {table} --out {out}"
    say_folded(f"next: write three sentences before each accepted one, into the column precontext of {table}; then:")
    say(again + (f" --postgres {postgres}" if postgres else ""))


def _print_counts(made: Stage) -> None:
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
    _write_new(file, text)
    say(f"next: lexiscope annotate init --task {task} --items {file} --name {task} --out {task}.yaml")


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there. What was filled in by hand is never written over.

    Errors: :class:`InputError` E615 where another one is there.
    """
    if path.exists() and path.read_bytes() != text.encode("utf-8"):
        hint = "name another place, or move the file away: what was written into it by hand would be lost"
        raise InputError("there is another file of this name", code="E615", place=Place(str(path)), hint=hint)
    write_atomically(path, text)
    say(f"written: {path}")
