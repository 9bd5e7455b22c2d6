"""``lexiscope senses distinct``: keep the senses that people distinguish, and report the gain."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from lexiscope.analysis.senses.told_apart import SenseJudgments, ToldApart, told_apart
from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, remark, say
from lexiscope.cli.senses.subject import read_subject
from lexiscope.cli.verb import Verb, check_new, existing_file
from lexiscope.core.errors import CapabilityError, InputError, Place
from lexiscope.core.response import holds_simulated
from lexiscope.items.read.item_source import load_items
from lexiscope.report.parts.sense_test_parts import (
    SenseTest,
    items_by_id,
    options_of,
    read_answers,
    sense_tests,
    simulated_notice,
)
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.tasks.sense_choice import NAME as SELECTION
from lexiscope.training.gasi.train import write_senses


@click.command("distinct", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@click.argument("answers", nargs=-1, type=click.Path(path_type=Path), metavar="ANSWERS...", required=True)
@options.path(
    "--items", "item_files", metavar="FILE", about="The items: items.csv of `selection`. May be repeated.",
    required=True, multiple=True,
)  # fmt: skip
@options.path("--out", metavar="FOLDER", about="The vectors without the other senses.", required=True)
@options.of_arguments(told_apart, "least", "fewest", "splits", "resamples", "seed")
@options.as_json
@options.quiet
def distinct(
    subject: str,
    answers: tuple[Path, ...],
    *,
    item_files: tuple[Path, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    **how: Any,
) -> None:
    """Keep the senses that people distinguish, and report the gain on other people and pages.

    SUBJECT is gasi:FOLDER, ANSWERS are people's choices of sense selection (choices.csv of an export). Senses that
    people confuse become one. The gain is measured on people and pages that did not choose the senses. The folder OUT
    has the vectors with the senses that are kept; `lexiscope train gasi --senses-of OUT` learns them again, and new
    pages for other people are made of it as of any other.
    """
    check_new(out)
    asked = read_subject(subject)
    if not isinstance(asked, Gasi):
        what = f"{subject} was not trained by lexiscope, so its senses cannot be dropped"
        raise CapabilityError(what, hint="write gasi:FOLDER")
    items = items_by_id(
        [(str(path), load_items(str(existing_file(path).absolute()), task=SELECTION).items) for path in item_files]
    )
    read = read_answers([str(existing_file(path)) for path in answers], items)
    tests = [test for test in sense_tests(read) if test.task == SELECTION]
    if len(tests) != 1:
        what = f"the answers are to pages of {len(tests)} models, one is needed"
        raise InputError(
            what, place=Place(str(item_files[0])), hint="give the items of one `lexiscope senses selection`"
        )
    revisions = {str(item.conditions.get("revision", "")) for item in tests[0].items} - {""}
    if revisions and revisions != {asked.facts.revision}:
        what = "these pages were made of other vectors"
        raise InputError(what, place=Place(str(item_files[0])), hint="name the folder that the pages were made of")
    told = told_apart(_judgments(tests[0]), **how)
    vectors = asked.vectors
    mask = np.array(vectors.mask)
    for pair in told.joined:
        if pair.word in vectors.index and pair.dropped.isdigit():
            mask[vectors.index[pair.word], int(pair.dropped) - 1] = False
    dropped = ("files", "shape", "n_senses", "versions", "kind", "command")
    kept = {name: value for name, value in asked.about.items() if name not in dropped}
    people = {"least": how["least"], "fewest": how["fewest"], "from": asked.about["files"]}
    people["by"] = "simulated" if holds_simulated(read.responses) else "people"
    record = {**kept, "told_apart": people, "command": ["lexiscope", *sys.argv[1:]]}
    write_senses(out, replace(vectors, mask=mask), record)
    _print(told, as_json=as_json)
    for text in simulated_notice(read.responses):
        remark(text, quiet=quiet)
    if not as_json:
        say(f"{int(vectors.mask.sum())} senses, {int(mask.sum())} are left")
        say(f"Saved {out}")


def _judgments(test: SenseTest) -> SenseJudgments:
    """The judgments of a test, one per row; those without a choice are excluded."""
    ratings, names = test.choices
    pages = [ratings.item_ids[code] for code in ratings.item.tolist()]
    sizes = {item.item_id: len(options_of(item)) for item in test.items}
    return SenseJudgments(
        np.array([test.words[page] for page in pages]),
        np.array(pages),
        np.array([ratings.rater_ids[code] for code in ratings.rater.tolist()]),
        np.array([test.right[page] for page in pages]),
        np.array([names[int(value)] for value in ratings.value]),
        np.array([sizes[page] for page in pages], np.int64),
    )


def _print(told: ToldApart, *, as_json: bool) -> None:
    if as_json:
        print_json([record.content() for result in told.results() for record in result.records()])
        return
    rows = [(pair.word, pair.dropped, pair.kept, f"{pair.share:.2f}", pair.n) for pair in told.joined]
    print_table(("word", "dropped", "became", "distinguished", "judgments"), rows, right=("distinguished", "judgments"))
    say("judgments with the model's sense, less those of blind choices, of other people on other pages:")
    for name, result in (("all senses", told.before), ("those kept", told.after), ("difference", told.difference)):
        interval = result.interval
        bounds = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval.is_defined else ""
        say(f"{name}: {result.value:.3f}{bounds}")
