"""``lexiscope senses intrusion`` and ``selection``: tests of induced senses, for people and models, as item files."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from lexiscope.build.minimal_pairs.word_counts import read_frequencies
from lexiscope.build.sense_tests.intrusion import (
    IntrusionRules,
    build_intrusion,
    ranks_of_intruders,
    share_most_frequent,
)
from lexiscope.build.sense_tests.polysemous_nouns import NounSource
from lexiscope.build.sense_tests.selection_of_senses import SelectionRules, build_selection
from lexiscope.cli import options
from lexiscope.cli.output import print_table, quoted, remark, say
from lexiscope.cli.senses.subject import SenseSubject, read_subject
from lexiscope.cli.verb import Verb, check_new
from lexiscope.collect import collect_run
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.run import manifest, sha256_of, versions
from lexiscope.core.sealed import write_sealed
from lexiscope.items.tables.findings import ExcludedEntry, write_excluded
from lexiscope.items.tables.tabular import write_items
from lexiscope.senses.near_words import word_counts_of
from lexiscope.subjects.senses.sense_embedding import SenseEmbedding
from lexiscope.tasks.sense_choice import NAME as SELECTION
from lexiscope.tasks.word_intrusion import NAME as INTRUSION

_source = options.combine(
    options.of_settings(NounSource),
    click.option(
        "--name", default="", metavar="NAME", help="Name of the vectors in ids. Default: that of their folder."
    ),
    options.of_arguments(build_selection, "seed"),
    options.path("--out", metavar="FOLDER", about="A new folder.", required=True),
    options.quiet,
)
"""What both tests share: where nouns come from, what is written, and the seed."""


@click.command("intrusion", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@options.of_settings(IntrusionRules)
@options.path("--frequencies", metavar="FILE", about="Columns word and count.")
@options.of_settings(SelectionRules, "n_nouns")
@_source
def intrusion(subject: str, *, out: Path, frequencies: Path | None, quiet: bool, **given: Any) -> None:
    """Make word-intrusion items: nine neighbours of a sense, and one word from another sense of the same word.

    SUBJECT is gasi:FOLDER or sense_embedding:FORMAT:FILES. Without --words, the words are the most polysemous nouns of
    the lexicon with enough sentences in the corpus, as in the test of selection. FOLDER gets items.csv, for
    `lexiscope collect` and `lexiscope annotate`; left_out.csv, with reasons; model/, what the vectors themselves
    answer; test.json, how it was made.
    """
    check_new(out)
    asked, rules = read_subject(subject), options.make_settings(IntrusionRules, given)
    source = options.make_settings(NounSource, given)
    words, checksums = source.read_word_list()
    if source.words is None:
        nouns = source.nouns()
        n_nouns = options.make_settings(SelectionRules, {"n_nouns": given["n_nouns"]}).n_nouns
        words, checksums = tuple(noun.word for noun in nouns.nouns[:n_nouns]), nouns.checksums
    if frequencies is None:
        known = word_counts_of(asked.induced)
    else:
        listed = read_frequencies(frequencies)
        known = {word: listed[word.casefold()] for word in asked.induced.words if word.casefold() in listed}
    name = given["name"] or _name_of(asked)
    built = build_intrusion(
        asked.induced,
        words,
        dataset=f"intrusion_{name}",
        seed=given["seed"],
        rules=rules,
        frequencies=known,
        model=name,
        revision=asked.facts.revision,
        language=source.language,
    )
    if frequencies is not None:
        checksums = {**checksums, frequencies.name: sha256_of(frequencies)}
    made = BuiltTest(INTRUSION, built.items, built.excluded, asdict(rules), checksums)
    write_test(out, made, asked, seed=given["seed"])
    senses = {(item.condition("word"), item.condition("sense")) for item in built.items}
    say(f"{len(built.items)} items for {len(senses)} senses of {len({word for word, _ in senses})} words")
    say(f"the most frequent word of a page is its intruder in {share_most_frequent(built.items, known):.1%} of them")
    median, most = ranks_of_intruders(built.items)
    say(f"an intruder's rank among the neighbours of the sense it comes from: median {median:g}, at most {most}")
    _print_left_out(out, made, quiet=quiet)


@click.command("selection", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@options.of_settings(SelectionRules)
@_source
def selection(subject: str, *, out: Path, quiet: bool, **given: Any) -> None:
    """Make sense-selection items: a sentence, and a group of neighbours for each sense of its marked noun.

    SUBJECT is gasi:FOLDER or sense_embedding:FORMAT:FILES. The nouns are the most polysemous ones of the lexicon with
    enough sentences in the corpus. A noun with fewer senses than groups is filled up with dummies, which are marked.
    FOLDER gets items.csv, for `lexiscope collect` and `lexiscope annotate`, with the vectors' own choice and
    probabilities; model/, the same as answers; left_out.csv, with reasons; test.json, how it was made.
    """
    check_new(out)
    asked, rules = read_subject(subject), options.make_settings(SelectionRules, given)
    source = options.make_settings(NounSource, given).nouns()
    name = given["name"] or _name_of(asked)
    built = build_selection(
        asked.induced,
        source.nouns,
        asked.sense_distribution,
        dataset=f"selection_{name}",
        seed=given["seed"],
        rules=rules,
        model=name,
        revision=asked.facts.revision,
    )
    left_out = (*source.absent, *built.excluded)
    made = BuiltTest(SELECTION, built.items, left_out, asdict(rules), source.checksums, source.licence)
    write_test(out, made, asked, seed=given["seed"])
    words = {str(item.condition("word")) for item in built.items}
    filled = {
        str(item.condition("word")) for item in built.items if any(n.startswith("dummy_") for n in item.conditions)
    }
    say(f"{len(built.items)} items for {len(words)} nouns, {len(filled)} of them filled up with dummies")
    _print_left_out(out, made, quiet=quiet)


def _name_of(asked: SenseSubject) -> str:
    return asked.form if isinstance(asked, SenseEmbedding) else asked.folder.name


def _print_left_out(out: Path, made: BuiltTest, *, quiet: bool) -> None:
    if made.left_out:
        counted = Counter((left.why, "senses" if left.sense else "words") for left in made.left_out)
        rows = [(n, what, why) for (why, what), n in counted.most_common()]
        print_table(("excluded", "", "why"), rows, right=("excluded",))
    if made.licence:
        say(f"licence of the sentences: {made.licence}")
    say(f"Saved {out}")
    remark(f"next: lexiscope annotate init --task {made.task} --items {quoted(out / 'items.csv')} …", quiet=quiet)


# -- the folder that a test is written to ---------------------------------------------------------------------------
# The folder that a test of induced senses is written to: items, what was left out, the vectors' own answers.


ITEMS, LEFT_OUT, MODEL, TEST = "items.csv", "left_out.csv", "model", "test.json"


@dataclass(frozen=True, slots=True)
class BuiltTest:
    """A test: its task, items, exclusions, the rules, the files it was made of, and the sentences' licence."""

    task: str
    items: tuple[Item, ...]
    left_out: Sequence[ExcludedEntry]
    rules: Mapping[str, Any]
    checksums: Mapping[str, str]
    licence: str = ""


def write_test(out: Path, made: BuiltTest, asked: SenseSubject, *, seed: int) -> None:
    """Write the folder, all of it or nothing.

    Errors: :class:`InputError` where there is no item at all, before anything is written, with the first reason.
    """
    if not made.items:
        why = "; ".join(f"{left.word}: {left.why}" for left in made.left_out[:3]) or "no word was given"
        hint = "name other words, or wider rules: see the options"
        raise InputError("no item can be made of these words and vectors", why=why, hint=hint)
    with whole_folder(out) as folder:
        write_items(made.items, folder / ITEMS)
        write_excluded(folder / LEFT_OUT, made.left_out)
        command = ["lexiscope", *sys.argv[1:]]
        collect_run(made.items, [asked], made.task, out=folder / MODEL, seed=seed, command=command)
        record = {
            "command": command,
            "task": made.task,
            "subject": asked.subject_id,
            "revision": asked.facts.revision,
            "rules": dict(made.rules),
            "seed": seed,
            "n_items": len(made.items),
            "n_left_out": len(made.left_out),
            "data": dict(made.checksums),
            "licence": made.licence,
            "files": manifest(folder, [ITEMS, LEFT_OUT, f"{MODEL}/responses.parquet"]),
            "versions": versions(),
        }
        write_sealed(folder / TEST, record)


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Give a folder to write into; it becomes *out*, which must not be there, when the block ends, or goes if it fails.

    A full disk, or a command that is stopped, leaves no file that stops the same command later.
    """
    folder = out.with_name(f".{out.name}.part")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
