"""``lexiscope build minimal-pairs``: from a corpus and a lexicon to candidates, a collection and suites."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from lexiscope.build.minimal_pairs.build_folder import COLLECTION, ITEMS, LINES, PairBuildSettings, make_build
from lexiscope.build.minimal_pairs.candidates import CandidateSet
from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, quoted, remark, say
from lexiscope.cli.verb import Verb
from lexiscope.tasks.minimal_pair import NAME as MINIMAL_PAIR


@click.command("minimal-pairs", cls=Verb)
@options.of_settings(PairBuildSettings)
@options.path("--out", metavar="FOLDER", about="Output folder.", required=True)
@options.as_json
@options.quiet
def minimal_pairs(*, out: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Make synonym pairs: candidates, an automatic choice, suites.

    The corpus must be tagged with the senses of a lexicon. A word is used if it has one synonym in its sense and
    another in a different sense; the most frequent synonym and distractor are selected. candidates.csv, contexts.csv
    and filters.csv list the words found, proposals.csv the proposals for curators. The suites are collection.csv,
    items.csv (for lexiscope collect --task minimal_pair) and lines/. run.json records the settings.
    """
    settings = options.make_settings(PairBuildSettings, given)
    told, command = partial(remark, quiet=quiet), shlex.join(["lexiscope", *sys.argv[1:]])
    # with --json, stdout has nothing but the JSON
    show = (lambda result: None) if as_json else partial(_print_candidates, quiet=quiet)
    counts = make_build(out, settings, command=command, show=show, say=told)
    if as_json:
        print_json({"out": str(out), "finished_before": counts is None, "counts": dict(counts or {})})
        return
    if counts is None:
        say(f"{out} is already complete.")
        return
    say(", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items()))
    say(f"Saved {out / COLLECTION}, {out / ITEMS}" + (f", {out / LINES}" if "lines" in counts else ""))
    told(f"next: lexiscope collect --items {quoted(out / ITEMS)} --task {MINIMAL_PAIR} --subject …")
    if not settings.collection:
        told(f"or look at each first: lexiscope build curate {out} --curator NAME")


def _print_candidates(result: CandidateSet, *, quiet: bool) -> None:
    if not quiet:
        rows = [(step.stage, step.name, step.n_in, step.n_in - step.n_out, step.n_out) for step in result.counts]
        numbers = ("in", "fell", "out")
        print_table(("of", "filter", *numbers), rows, title="Candidates by filter", right=numbers)
    say(f"{result.n_contexts} contexts of {len(result.candidates)} senses of {result.n_words} words are candidates")
