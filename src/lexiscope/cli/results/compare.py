"""``lexiscope compare``: the difference of a statistic between two subjects, layers, views or conditions."""

from __future__ import annotations

from typing import get_args

import click

from lexiscope.analysis.agreement.summary import summarise
from lexiscope.analysis.comparison import STATISTICS
from lexiscope.cli import options
from lexiscope.cli.output import print_json, say_folded
from lexiscope.cli.verb import Verb
from lexiscope.studies.kit.answers import Test
from lexiscope.studies.kit.front import compare as compare_sides


@click.command(cls=Verb)
@click.argument("run")
@click.argument("first")
@click.argument("second")
@click.option(
    "--statistic",
    type=click.Choice(STATISTICS),
    default="spearman",
    show_default=True,
    help="Compare this statistic: a correlation with people's means, right decisions, the mean, people's agreement.",
)
@click.option(
    "--test",
    type=click.Choice(get_args(Test)),
    default="bootstrap",
    show_default=True,
    help="Add a second test of a mean or an accuracy: sign flips (same items or words) or a permutation.",
)
@options.of_arguments(summarise, "resamples", "seed")
@options.as_json
def compare(
    *, run: str, first: str, second: str, statistic: str, test: Test, resamples: int, seed: int, as_json: bool
) -> None:
    """Compare two subjects, layers, views or conditions on the same draws.

    RUN is the folder of a finished study, a dataset, or a file of ratings or responses. FIRST and SECOND are each
    SUBJECT, SUBJECT@LAYER, or people. Add view=… and conditions of the items, in quotes: "minilm@7 view=word",
    "people same_sense=True". The command prints the difference (FIRST minus SECOND), its interval and p. Both sides
    have the same resamples of words (of sentences if the items name theirs).
    """
    contrast = compare_sides(first, second, statistic, of=run, test=test, resamples=resamples, seed=seed)
    if as_json:
        print_json([record.content() for record in contrast.records()])
        return
    say_folded(contrast.sentence())
    if contrast.note:
        say_folded(f"({contrast.note})")
