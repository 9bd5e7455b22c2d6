"""``lexiscope choices``: choices on a spreadsheet, between two substitutes or by view, written and read back."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.analysis.agreement.forced_choice import ForcedChoice, forced_choice
from lexiscope.cli import options
from lexiscope.cli.choices_by_view import draw, views
from lexiscope.cli.choices_guesses import guesses
from lexiscope.cli.output import print_table, remark, say
from lexiscope.cli.sheet_arguments import kappa_text, open_collection, percent, read_named, with_interval
from lexiscope.cli.verb import Verb
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Undefined
from lexiscope.items.choice_sets.surface import MODES, Mode
from lexiscope.items.sheets.choice_sheet import read_choice_sheet, write_choice_sheet
from lexiscope.items.sheets.human_sheet import SHEET_SEED, human_sheet

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
