"""``lexiscope choices``: choices on a spreadsheet, between two substitutes or by view, written and read back."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.analysis.agreement.forced_choice import ForcedChoice, forced_choice
from lexiscope.cli import options
from lexiscope.cli.choices_by_view import draw, known_items, views
from lexiscope.cli.output import print_table, remark, say
from lexiscope.cli.sheet_arguments import kappa_text, open_collection, percent, read_named, with_interval
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Undefined
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.items.choice_sets.inflection import EnglishForms
from lexiscope.items.choice_sets.surface import MODES, Mode
from lexiscope.items.sheets.choice_sheet import read_choice_sheet, write_choice_sheet
from lexiscope.items.sheets.guessed_word import (
    GuessedSlots,
    guessed_items,
    guesses_of,
    propose_forms,
    read_guess_sheet,
    write_guess_sheet,
)
from lexiscope.items.sheets.human_sheet import SHEET_SEED, human_sheet
from lexiscope.items.tables.tabular import write_items
from lexiscope.resources.lexicons import wordnet

# -- lexiscope choices guesses --------------------------------------------------------------------------------------
# ``lexiscope choices guesses``: guessed words put back in their sentences, doubtful forms decided by a person.


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


# ---------------------------------------------------------------------------------------------------------------------


_MODE = "clean"
_mode = click.option(
    "--mode", type=click.Choice(MODES), default=_MODE, show_default=True, help="How texts are written."
)
_seed = click.option(
    "--seed", type=click.IntRange(min=0), default=SHEET_SEED, show_default=True, help="Draws which candidate is A."
)


@click.group()
def choices() -> None:
    """Ask people to choose on a spreadsheet: substitutes, items by view."""


choices.add_command(draw)
choices.add_command(views)
choices.add_command(guesses)


@choices.command(cls=Verb)
@click.argument("collection", metavar="COLLECTION")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.csv", help="The sheet.")
@_mode
@_seed
@options.quiet
def write(collection: str, *, out: Path, mode: Mode, seed: int, quiet: bool) -> None:
    """Write the sheet.

    COLLECTION is a file of synonym pairs, or a dataset: synonymy. People write A or B under answer and x under weird;
    the key is not in the sheet.
    """
    items = human_sheet(open_collection(collection), seed=seed, mode=mode)
    write_choice_sheet(out, items)
    say(f"written: {out} ({len(items)} items)")
    how = (f" --mode {mode}" if mode != _MODE else "") + (f" --seed {seed}" if seed != SHEET_SEED else "")
    remark(f"next: lexiscope choices read {collection} NAME={out}{how} --out answers.csv", quiet=quiet)


@choices.command(cls=Verb)
@click.argument("collection", metavar="COLLECTION")
@click.argument("sheets", nargs=-1, required=True, metavar="NAME=FILE.csv...")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.csv", help="Write the answers here.")
@_mode
@_seed
def read(collection: str, *, sheets: tuple[str, ...], out: Path | None, mode: Mode, seed: int) -> None:
    """Read answered sheets: accuracy, agreement, weird items.

    COLLECTION, --mode and --seed are those with which the sheet was written. NAME is a code for the person. Nothing is
    written where a row of any sheet is wrong.
    """
    pairs = open_collection(collection)
    items = human_sheet(pairs, seed=seed, mode=mode)
    answered = [read_choice_sheet(path, items, participant=name) for name, path in read_named(sheets).items()]
    table = ResponseTable.concat(answered)
    found = forced_choice(
        table,
        right={item.item_id: item.gold or "" for item in items},
        sides={item.item_id: item.options for item in items},
        clusters={item.item_id: str(item.condition("sentence")) for item in items},
    )
    _print(found)
    if out is not None:
        table.write_csv(out)
        say(f"written: {out} ({len(table)} rows)")


def _print(found: ForcedChoice) -> None:
    rows = []
    for who in found.choosers:
        over = who.over_answered
        answered = (
            over.reason if isinstance(over, Undefined) else f"{with_interval(over.value, over.clustered)} of {over.n}"
        )
        everything = f"{percent(who.over_all.value)} of {who.over_all.n}"
        rows.append((who.participant, answered, everything, f"{who.n_weird} ({percent(who.weird_share)})"))
    print_table(("person", "right of answered", "right of all", "weird"), rows)
    for pair in found.pairs:
        say(f"\n{pair.first} and {pair.second}, {pair.n} items that both answered")
        say(f"  same choice: {with_interval(pair.percent, pair.interval)}")
        say(f"  Cohen's kappa on right and wrong: {kappa_text(pair.kappa_right)}")
        say(f"  Cohen's kappa on the side chosen: {kappa_text(pair.kappa_side)}")
        overlap = "" if pair.weird_overlap is None else f" ({percent(pair.weird_overlap)})"
        say(f"  weird: {pair.weird_shared} marked by both of {pair.weird_either} marked by either{overlap}")
