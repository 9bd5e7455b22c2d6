"""``lexiscope choices``: choices on a spreadsheet, between two substitutes or by view, written and read back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from lexiscope.analysis.agreement.forced_choice import Chooser, PairOfChoosers, forced_choice
from lexiscope.analysis.bias.people_by_view import PeopleInView, assumed_scores, people_by_view
from lexiscope.analysis.bias.view_scores import FixedScore
from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, quoted, remark, say
from lexiscope.cli.results.shown import kappa_text, percent, with_interval
from lexiscope.cli.verb import Verb, check_new, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Undefined, simulated_records
from lexiscope.core.simulated import SIMULATED_PARTICIPANTS, TOLD_SIMULATED
from lexiscope.items.arrange.lists import OverlappingLists, overlapping_lists
from lexiscope.items.choice_sets.collection_file import open_collection
from lexiscope.items.choice_sets.inflection import EnglishForms
from lexiscope.items.choice_sets.surface import Mode
from lexiscope.items.read.item_source import load_items
from lexiscope.items.sheets.choice_sheet import (
    SHEET_MODE,
    SHEET_SEED,
    human_sheet,
    read_choice_sheet,
    write_choice_sheet,
)
from lexiscope.items.sheets.given_answer import MEASURE_CHOICE, MEASURE_PAGE, read_view_judgments, with_page_ids
from lexiscope.items.sheets.guessed_word import (
    GuessedSlots,
    guessed_items,
    guesses_of,
    propose_forms,
    read_guess_sheet,
    write_guess_sheet,
)
from lexiscope.items.sheets.view_sheet import REVEAL, SHEET_VIEWS, read_view_sheet, refuse_two_views, write_view_sheet
from lexiscope.items.tables.tabular import read_items, write_items
from lexiscope.report.parts.people_tables import people_records
from lexiscope.resources.corpora.entity_list import EntityList
from lexiscope.resources.lexicons import wordnet
from lexiscope.tasks import BY_VIEW
from lexiscope.tasks.substitution import NAME as SUBSTITUTION


@click.group()
def choices() -> None:
    """Collect choices from participants with spreadsheets."""


# -- draw and views: items asked by view, two people with an overlap for each view ----------------------------------

ITEMS = "items.csv"
"""The file of the items that were drawn, next to their sheets; a study in the app reads it too."""


@choices.command(cls=Verb)
@click.argument("items", metavar="ITEMS")
@options.path("--out", metavar="FOLDER", about="A new folder.", required=True)
@click.option("--task", default=BY_VIEW, show_default=True, help="What a file of items asks.")
@click.option("--language", default="", metavar="TAG", help="Only items in this language.")
@options.of_arguments(overlapping_lists, "split")
@click.option(
    "--view", "chosen", multiple=True, type=click.Choice(SHEET_VIEWS), help="Views (default: all that apply)."
)
@options.of_arguments(overlapping_lists, "annotators", "per_annotator", "shared", "seed")
@options.quiet
def draw(
    items: str,
    *,
    out: Path,
    task: str,
    language: str,
    chosen: tuple[str, ...],
    quiet: bool,
    **how: Any,
) -> None:
    """Draw items and write a sheet for each person of each view.

    ITEMS is a dataset or a file of items. Every view gets the same items and needs separate people; the sheet
    reveal follows context, for the same people. FOLDER/items.csv holds the items, for the app and to read the sheets.
    """
    drawn = overlapping_lists(load_items(items, task=task, language=language).items, **how)
    check_new(out)
    written = _write_sheets(out, drawn, chosen or _views_that_tell(drawn.items))
    sizes = f"{len(drawn.items)} distinct items, {len(drawn.shared)} of them in every list"
    say(f"Saved {out} ({sizes}; {len(written)} sheets: {', '.join(written)})")
    remark(
        f"next: lexiscope choices views {quoted(out)} NAME={quoted(out / written[0])} --out answers.csv", quiet=quiet
    )


@choices.command(cls=Verb)
@click.argument("items", metavar="ITEMS")
@click.argument("answered", nargs=-1, required=True, metavar="NAME=FILE.csv...")
@options.path("--out", metavar="FILE.csv", about="Write the answers here.")
@click.option("--entities", metavar="FILE.tsv", help="For pages: the list in which people looked them up.")
@options.as_json
def views(items: str, *, answered: tuple[str, ...], entities: str | None, out: Path | None, as_json: bool) -> None:
    """Read what people answered by view: accuracy, agreement on shared items, who could not decide.

    ITEMS is the folder that was drawn, or the items of a study in the app. NAME is a code for the person, who may have
    two sheets: context, and reveal. FILE.csv without a name is wic_judgments.csv of an export (verification_, link_).
    Nothing is written if a row of any sheet is wrong. Scores of views without answers are assumed, and marked.
    """
    known = known_items(items)
    table = _read_answers(known, answered, entities)
    simulated = holds_simulated(table, place=Place(", ".join(answered)))
    gold = {item.item_id: item.gold for item in known if item.gold is not None}
    task = str(table.unique("task")[0])
    measure = catalog.screen(task).measure
    by_view = people_by_view(table, right=gold, words={item.item_id: item.word for item in known}, measure=measure)
    asked = {people.view for people in by_view}
    scores = assumed_scores(known, task=catalog.task(task))
    assumed = {view: score for view, score in scores.items() if view not in asked}
    if as_json:
        records = people_records(by_view, assumed, dataset=known[0].dataset)
        print_json([record.content() for record in (simulated_records(records) if simulated else records)])
    else:
        _print_views(by_view, assumed, simulated=simulated)
    if out is not None:
        table.write_csv(out)
        remark(f"Saved {out} ({len(table)} rows)")


def known_items(name: str) -> tuple[Item, ...]:
    """Return the items of a folder that :func:`draw` wrote, of a file, or of a dataset.

    Errors: those of :func:`~lexiscope.items.read.item_source.load_items`; :class:`InputError` for a folder without
    items.
    """
    folder = Path(name)
    return read_items(existing_file(folder / ITEMS)) if folder.is_dir() else load_items(name, task=BY_VIEW).items


def _views_that_tell(items: Sequence[Item]) -> tuple[str, ...]:
    """All views that tell something: of two equal words alone all say the same, and for a page no word is guessed."""
    pairs = all(len(item.usages) > 1 for item in items)
    left_out = {"word"} if pairs and all(item.has_one_word for item in items) else set()
    guessed = pairs or all("definition" in item.conditions for item in items)
    return tuple(view for view in SHEET_VIEWS if view not in left_out and (guessed or view != REVEAL))


def _write_sheets(folder: Path, drawn: OverlappingLists, chosen: Sequence[str]) -> list[str]:
    written = []
    for view in chosen:
        for number, members in enumerate(drawn.lists, start=1):
            write_view_sheet(folder / f"{view}_{number}.csv", members, view=view, list_id=str(number))
            written.append(f"{view}_{number}.csv")
    # last: without it no sheet is read
    write_items(drawn.items, folder / ITEMS)
    return written


def _read_answers(items: Sequence[Item], answered: Sequence[str], entities: str | None) -> ResponseTable:
    tables = []
    for value in answered:
        if "=" in value:
            name, path = options.read_name(value)
            tables.append(read_view_sheet(path, OverlappingLists.of(items), participant=name))
        else:
            tables.append(read_view_judgments(existing_file(value)))
    refuse_two_views(tables)
    table = ResponseTable.concat(tables)
    pages = len(table.where(measure=MEASURE_PAGE))
    if pages and entities is None:
        raise click.UsageError("answers that are pages need the list in which people looked them up: --entities")
    if not pages and not len(table.where(measure=MEASURE_CHOICE)):
        hint = "a sheet reveal comes with the sheet context of the same person"
        raise InputError("there is no answer among these", code="E504", hint=hint)
    return with_page_ids(table, EntityList.read(existing_file(entities))) if entities is not None else table


def _print_views(by_view: Sequence[PeopleInView], assumed: dict[str, FixedScore], *, simulated: bool) -> None:
    rows: list[tuple[str, ...]] = []
    for people in by_view:
        for person in people.annotators:
            score = person.accuracy
            right = score.reason if isinstance(score, Undefined) else with_interval(score.value, score.clustered)
            rows.append((people.view, person.participant, right, str(person.n_undecided), str(person.n_unanswered)))
    rows += [(view, "no person", f"{100 * score.value:.1f} % ({score.why})", "", "") for view, score in assumed.items()]
    title = f"{SIMULATED_PARTICIPANTS}: {TOLD_SIMULATED}" if simulated else ""
    print_table(("view", "person", "right", "undecided", "unanswered"), rows, title=title)
    for people in by_view:
        for pair in people.shared:
            if not isinstance(pair.same, Undefined):
                same = with_interval(pair.same.value, pair.same.wilson)
                say(f"\n{people.view}: {pair.first} and {pair.second}, {pair.n} items that both answered")
                say(f"  same answer: {same}\n  Cohen's kappa: {kappa_text(pair.kappa)}")


# -- lexiscope choices guesses --------------------------------------------------------------------------------------


@choices.command(cls=Verb)
@click.argument("items", metavar="ITEMS")
@click.argument("answers", metavar="ANSWERS.csv")
@click.option("--decided", metavar="SHEET.csv", help="The sheet, filled in: write the items with the guesses.")
@options.path("--out", metavar="FILE.csv", about="The sheet, or the items.", required=True)
@options.quiet
def guesses(items: str, answers: str, *, decided: str | None, out: Path, quiet: bool) -> None:
    """Put guessed words back: a sheet to decide on, then the items.

    ANSWERS.csv is what `lexiscope choices views --out` wrote. First, a sheet is written with the form of each guess in
    each sentence; in each doubtful row, a person writes ok or the correct form under form, and x or no under fits. With
    --decided the items are written, for `lexiscope collect --task same_sense --view guessed_word`.
    """
    known = known_items(items)
    table = ResponseTable.read_csv(existing_file(answers))
    if holds_simulated(table, place=Place(answers)):
        remark(TOLD_SIMULATED, quiet=quiet)
    made = guesses_of(table)
    if not made:
        raise InputError("these answers have no guessed word", code="E504", hint="read a sheet of the view context")
    proposed = propose_forms(known, made, EnglishForms.of(wordnet.load()))
    if decided is None:
        _write_sheet(out, proposed, quiet=quiet)
        return
    with_guess = guessed_items(known, proposed.slots, read_guess_sheet(existing_file(decided), proposed.slots))
    write_items(with_guess, out)
    say(f"Saved {out} ({len(with_guess)} items with a guess)")


def _write_sheet(out: Path, proposed: GuessedSlots, *, quiet: bool) -> None:
    doubts = sum(bool(slot.doubt) for slot in proposed.slots)
    write_guess_sheet(out, proposed.slots)
    say(f"Saved {out} ({len(proposed.slots)} places for guesses, {doubts} to decide)")
    if proposed.same:
        say(f"{len(proposed.same)} guesses are the hidden word itself: no place")
    remark(f"next: fill it in, then --decided {out} --out guessed.csv", quiet=quiet)


@choices.command(cls=Verb)
@click.argument("collection", metavar="COLLECTION")
@options.path("--out", metavar="FILE.csv", about="The sheet.", required=True)
@options.of_arguments(human_sheet, "mode", "seed")
@options.quiet
def write(collection: str, *, out: Path, mode: Mode, seed: int, quiet: bool) -> None:
    """Write the sheet.

    COLLECTION is a file of synonym pairs, or a dataset: synonymy. People write A or B under answer and x under weird;
    the key is not in the sheet.
    """
    items = human_sheet(open_collection(collection), seed=seed, mode=mode)
    write_choice_sheet(out, items)
    say(f"Saved {out} ({len(items)} items)")
    how = (f" --mode {mode}" if mode != SHEET_MODE else "") + (f" --seed {seed}" if seed != SHEET_SEED else "")
    remark(f"next: lexiscope choices read {quoted(collection)} NAME={quoted(out)}{how} --out answers.csv", quiet=quiet)


@choices.command(cls=Verb)
@click.argument("collection", metavar="COLLECTION")
@click.argument("sheets", nargs=-1, required=True, metavar="NAME=FILE.csv...")
@options.path("--out", metavar="FILE.csv", about="Write the answers here.")
@options.of_arguments(human_sheet, "mode", "seed")
def read(collection: str, *, sheets: tuple[str, ...], out: Path | None, mode: Mode, seed: int) -> None:
    """Read answered sheets: accuracy, agreement, weird items.

    COLLECTION, --mode and --seed are those with which the sheet was written. NAME is a code for the person. Nothing is
    written where a row of any sheet is wrong.
    """
    pairs = open_collection(collection)
    items = human_sheet(pairs, seed=seed, mode=mode)
    given = options.read_named(sheets).items()
    answered = [read_choice_sheet(path, items, participant=name, task=SUBSTITUTION) for name, path in given]
    table = ResponseTable.concat(answered)
    choosers, agreements = forced_choice(
        table,
        right={item.item_id: item.gold or "" for item in items},
        sides={item.item_id: item.options for item in items},
        clusters=GroupOf({item.item_id: str(item.condition("sentence")) for item in items}, "sentences"),
    )
    _print_choices(choosers, agreements)
    if out is not None:
        table.write_csv(out)
        say(f"Saved {out} ({len(table)} rows)")


def _print_choices(choosers: Sequence[Chooser], pairs: Sequence[PairOfChoosers]) -> None:
    rows = []
    for who in choosers:
        over = who.over_answered
        answered = (
            over.reason if isinstance(over, Undefined) else f"{with_interval(over.value, over.clustered)} of {over.n}"
        )
        everything = f"{percent(who.over_all.value)} of {who.over_all.n}"
        rows.append((who.participant, answered, everything, f"{who.n_weird} ({percent(who.n_weird / who.over_all.n)})"))
    print_table(("person", "right of answered", "right of all", "weird"), rows)
    for pair in pairs:
        on_right, same = pair.on_right, pair.on_right.same
        say(f"\n{on_right.first} and {on_right.second}, {on_right.n} items that both answered")
        if not isinstance(same, Undefined):
            say(f"  same choice: {with_interval(same.value, same.wilson)}")
        say(f"  Cohen's kappa on right and wrong: {kappa_text(on_right.kappa)}")
        say(f"  Cohen's kappa on the side chosen: {kappa_text(pair.on_side.kappa)}")
        overlap = f" ({percent(pair.weird_shared / pair.weird_either)})" if pair.weird_either else ""
        say(f"  weird: {pair.weird_shared} marked by both of {pair.weird_either} marked by either{overlap}")
