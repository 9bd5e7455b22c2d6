"""``lexiscope choices guesses``: guessed words put back in their sentences, doubtful forms decided by a person."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.choices_by_view import known_items
from lexiscope.cli.output import remark, say
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.items.choice_sets.inflection import EnglishForms
from lexiscope.items.sheets.guessed_word import (
    GuessedSlots,
    guessed_items,
    guesses_of,
    propose_forms,
    read_guess_sheet,
    write_guess_sheet,
)
from lexiscope.items.tables.tabular import write_items
from lexiscope.resources.lexicons import wordnet


@click.command(cls=Verb)
@click.argument("items", metavar="ITEMS")
@click.argument("answers", metavar="ANSWERS.csv")
@click.option("--decided", metavar="SHEET.csv", help="The sheet, filled in: write the items with the guesses.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="FILE.csv", help="The sheet, or the items."
)
@options.quiet
def guesses(items: str, answers: str, *, decided: str | None, out: Path, quiet: bool) -> None:
    """Put guessed words back: a sheet to decide on, then the items.

    ANSWERS.csv is what `lexiscope choices views --out` wrote. First a sheet is written with the form that each guess
    takes in each sentence; where there is a doubt, somebody writes ok or the right form under form, and x or no under
    fits. With --decided the items are written, for `lexiscope collect --task same_sense --view guessed_word`.
    """
    known = known_items(items)
    table = ResponseTable.read_csv(existing_file(answers))
    if holds_simulated(table, place=Place(answers)):
        remark(TOLD_SIMULATED, quiet=quiet)
    made = guesses_of(table)
    if not made:
        raise InputError("nobody guessed a word in these answers", code="E504", hint="read a sheet of the view context")
    found = propose_forms(known, made, EnglishForms.of(wordnet.load()))
    if decided is None:
        _write_sheet(out, found, quiet=quiet)
        return
    with_guess = guessed_items(known, found.slots, read_guess_sheet(existing_file(decided), found.slots))
    write_items(with_guess, out)
    say(f"written: {out} ({len(with_guess)} items with a guess)")


def _write_sheet(out: Path, found: GuessedSlots, *, quiet: bool) -> None:
    doubts = sum(bool(slot.doubt) for slot in found.slots)
    write_guess_sheet(out, found.slots)
    say(f"written: {out} ({len(found.slots)} places for guesses, {doubts} to decide)")
    if found.same:
        say(f"{len(found.same)} guesses are the hidden word itself: no place")
    remark(f"next: fill it in, then --decided {out} --out guessed.csv", quiet=quiet)
