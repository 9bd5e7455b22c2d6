"""``lexiscope annotate draft`` and ``pool``: what a language model drafts for a person to review, and the homonyms.

Nothing that a model drafts goes on by itself: the tables that are written here wait for a person's verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from lexiscope.annotation.study_file.launched import read_study, snapshot
from lexiscope.annotation.writing.drafts import Draft, accepted_texts, draft_table, drafted, read_drafts
from lexiscope.annotation.writing.stage_files import item_file
from lexiscope.annotation.writing.staging import stage_of
from lexiscope.build.stories.drafting import DraftRequest
from lexiscope.build.stories.homonym_pool import homonym_pool, with_examples
from lexiscope.cli.output import print_table, progress_bar, say, say_folded
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.run import write_atomically
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.pun_senses import read_pun_senses
from lexiscope.tasks.ambiguous_sentence import example_request

_SUBJECT = click.option("--subject", metavar="SPEC", help="Who drafts: chat:MODEL@URL, causal_lm:FOLDER …")
_DRAFTS = click.option(
    "--drafts", type=click.Path(path_type=Path), multiple=True, metavar="FILE", help="Drafts that were reviewed."
)


@click.command("draft", cls=Verb)
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--what", type=click.Choice(("clean", "precontext")), required=True, help="What is to be drafted.")
@_SUBJECT
@_DRAFTS
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.csv", help="The table to write.")
@click.option("--postgres", metavar="URL", help="The study is stored in this PostgreSQL database.")
def draft(
    study: Path, *, what: str, subject: str | None, drafts: tuple[Path, ...], out: Path, postgres: str | None
) -> None:
    """Let a language model draft texts for a person to review.

    It cleans accepted texts, or writes precontexts. STUDY asks for ambiguous sentences or story endings. Every draft
    is checked: a cleaned sentence keeps its word, a precontext has three sentences without it. Fill in the verdict
    (accepted, rejected), mend the column text where it is needed, and give the table to `lexiscope annotate stage
    --drafts`. Precontexts are written for sentences as the reviewed drafts of --drafts leave them.
    """
    found = read_study(study)
    frozen = found.freeze()
    with snapshot(frozen, found.folder, url=postgres) as store:
        made = stage_of(frozen, store)
    made = made.with_drafts([one for path in drafts for one in read_drafts(existing_file(path))], frozen.screen.faults)
    _draft(made.cleaning_requests() if what == "clean" else made.precontext_requests(), subject, out)


@click.command("pool", cls=Verb)
@click.argument("gold", type=click.Path(path_type=Path))
@click.option("--texts", type=click.Path(path_type=Path), metavar="FILE.xml", help="The texts of the puns.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.csv", help="The pool to write.")
@_SUBJECT
@click.option(
    "--examples", type=click.Path(path_type=Path), metavar="FILE.csv", help="Where --subject's examples are written."
)
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
    items = with_examples(made.items, _examples(drafts))
    lacking = [item for item in items if not all(item.condition(f"example_{which}") for which in ("1", "2"))]
    _write(out, item_file(items))
    say(f"{len(items)} items, {len(lacking)} of them with a meaning that lacks an example")
    if examples is not None:
        _draft(_missing_examples(lacking), subject, examples)


def _examples(paths: Sequence[Path]) -> dict[tuple[str, str], str]:
    """The accepted examples by item and meaning."""
    reviewed = [one for path in paths for one in read_drafts(existing_file(path))]
    return {
        (draft_id.rpartition("#")[0], which): text
        for which in ("1", "2")
        for draft_id, text in accepted_texts(reviewed, f"example_{which}").items()
    }


def _missing_examples(items: Sequence[Item]) -> tuple[DraftRequest, ...]:
    return tuple(
        example_request(item, which) for item in items for which in ("1", "2") if not item.condition(f"example_{which}")
    )


def _draft(requests: Sequence[DraftRequest], subject: str | None, out: Path) -> None:
    if subject is None:
        raise click.UsageError("name who drafts: --subject SPEC")
    if out.exists():
        hint = "name another file: verdicts that were written into this one would be lost"
        raise InputError("there is a file of this name", code="E615", place=Place(str(out)), hint=hint)
    work = out.with_suffix(".replies")
    with progress_bar("drafts") as bar:
        moved = None if bar is None else partial(bar, "drafts")
        found = drafted(requests, catalog.subject(subject), work=work, progress=moved)
    write_atomically(out, draft_table(found))
    say(f"written: {out}: {len(found)} drafts by {subject}, {_faulty(found)} with a fault")
    say_folded("next: read each draft beside the text that it is for, and fill in its verdict: accepted or rejected")


def _faulty(drafts: Sequence[Draft]) -> int:
    return sum(bool(one.faults) for one in drafts)


def _write(path: Path, text: str) -> None:
    if path.exists() and path.read_bytes() != text.encode("utf-8"):
        raise InputError("there is another file of this name", code="E615", place=Place(str(path)), hint="move it away")
    write_atomically(path, text)
    say(f"written: {path}")
