"""A table of ratings in any layout, read without a silent guess: every doubt is an error that names the option."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.ratings import PEOPLE, Repeats, check_one_scale
from lexiscope.core.code_file import existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable, has_columns, holds_simulated
from lexiscope.core.scale import Scale
from lexiscope.core.settings import Option, ReadingOptions
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.items.arrange.view_names import GUESSED_WORD, VIEW_NAMES
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.items.tables.understood import TakenField, Understanding, sizes_of
from lexiscope.resources.platforms.opened import OpenedFile, open_file
from lexiscope.resources.tables.parquet import cells_of_parquet, is_parquet
from lexiscope.studies.kit.ratings_table import LONG, ratings_of_table, value_remarks
from lexiscope.studies.kit.ratings_table import RatingColumns as RatingColumns
from lexiscope.studies.kit.ratings_table import RatingsFile as RatingsFile
from lexiscope.studies.kit.repeated_ratings import (
    HINT,
    first_repeat,
    repeat_numbers,
    repeats_remark,
    stated_order,
    which_count,
)

_MEASURES = ("rating", "choice")
COMPLETE = (
    "this looks like the complete table of a collected study, with catch trials and excluded people among its answers; "
    "its export has ratings.csv or choices.csv, which leave them out"
)
"""Topic of the messages about such a table."""


_WHICH_MEASURE = f"the measure to read from a response table with several: {' or '.join(_MEASURES)}"
_WHICH_VIEW = f"the view to read from a response table with several: {', '.join((*VIEW_NAMES, GUESSED_WORD))}"


def read_ratings(
    path: Path | str,
    columns: RatingColumns | None = None,
    *,
    options: ReadingOptions | None = None,
    scale: Scale | None = None,
    measure: Annotated[str, Option(_WHICH_MEASURE, metavar="NAME")] = "",
    view: Annotated[str, Option(_WHICH_VIEW, metavar="NAME")] = "",
    kinds: Sequence[str] = PEOPLE,
) -> RatingsFile:
    """Read a table of ratings: text in any encoding and separator, JSON, a response table, a program's export.

    *columns* are those that a command has options for, *options* the other options about the file. A response table may
    hold options that people chose instead of ratings; ``measure`` and ``view`` select its answers if it holds several;
    ``kinds`` names each ``subject_kind`` in it that counts as a rater.

    Errors: :class:`InputError` with the codes of the check: E001 to E008 (the file, its columns), E105 (no rater or
    item), E301 (off the scale), E302 (not a number), E304 (decimal sign), E305 (a number that may mean no answer); also
    E502 (rated twice), E507 (one item or rater in two groups), E508 (ratings of people and of simulated participants).
    """
    path, options = existing_file(path), options or ReadingOptions()
    table = _response_table(path, options)
    if table is not None:
        if columns not in (None, RatingColumns()) or options.columns:
            hint = "remove --rater, --item, --value and --map"
            raise InputError("the columns of a response table are fixed", code="E006", hint=hint)
        return _from_responses(
            str(path), table, scale, measure=measure, view=view, kinds=kinds, repeats=options.repeats
        )
    if tuple(kinds) != PEOPLE:
        hint = "remove --kind: every row is read"
        raise InputError("--kind needs a response table", code="E006", place=Place(str(path)), hint=hint)
    if measure or view:
        hint = "remove --measure and --view, or select rows: --where COLUMN=VALUE"
        raise InputError("--measure and --view need a response table", code="E006", place=Place(str(path)), hint=hint)
    return ratings_of_table(open_file(path, options), columns, options, scale)


def responses_in(path: Path | str, options: ReadingOptions | None = None) -> ResponseTable | None:
    """Return a table of responses (CSV or Parquet) as it is; ``None`` for a file of another kind."""
    return _response_table(existing_file(path), options or ReadingOptions())


def has_texts(opened: OpenedFile, columns: ColumnMap | None = None, *, word_alone: bool = False) -> bool:
    """Whether a file has a column of texts, by its names; *word_alone*: a word is a text, too."""
    known = (columns or ColumnMap()).with_usual_columns(opened.header)
    return (known.with_word_alone() if word_alone else known).sentence_1 is not None


def _response_table(path: Path, options: ReadingOptions) -> ResponseTable | None:
    """A response table as Lexiscope writes it; another program may have saved it again, with another separator."""
    if is_parquet(path):
        if not has_columns(cells_of_parquet(path).header):
            return None
        return ResponseTable.read_parquet(path)
    with path.open("rb") as stream:
        first = stream.readline(1 << 12).decode("utf-8-sig", "replace")
    if not has_columns([name.strip().strip('"') for name in first.split(",")]) or options.where:
        return None
    return ResponseTable.read_csv(path)


# -- response tables ------------------------------------------------------------------------------------------------


def _from_responses(
    path: str,
    table: ResponseTable,
    scale: Scale | None,
    *,
    measure: str,
    view: str,
    kinds: Sequence[str],
    repeats: str,
) -> RatingsFile:
    """The raters' ratings or choices in a response table; a group is not among its columns."""
    people, remarks = _chosen_answers(path, table, measure, view, kinds)
    check_one_scale(people)
    raters, items = list(people.column("subject_id")), list(people.column("item_id"))
    options = tuple(sorted({option for option in people.column("option") if option is not None}))
    if options:
        code: dict[str | None, float] = {option: float(place) for place, option in enumerate(options)}
        values = np.array([code.get(option, float("nan")) for option in people.column("option")])
    else:
        values = people.column("value").astype(np.float64)
    for item, value in zip(items, values.tolist(), strict=True) if scale is not None and not options else ():
        if scale is not None and value == value:
            scale.check(value, place=Place(path, item_id=item))
    if options and scale is not None:
        raise InputError("options have no scale", code="E006", place=Place(path), hint="leave --scale out")
    given = ~np.isnan(values)
    if not given.any():
        hint = "collect ratings first"
        raise InputError("The file has no ratings.", code="E002", place=Place(path), hint=hint)
    repeat, how, repeated = _repeats_of(path, people, raters, items, values, repeats, choices=bool(options))
    remarks += repeated
    remarks += [f"options: {', '.join(options)}"] if options else []
    remarks += value_remarks(values, scale, options=options)
    n_missing = int(np.sum(~given))
    ends = f"{values[given].min():g} to {values[given].max():g} (lowest and highest rating)"
    about = Understanding(
        path,
        layout=f"{LONG} (a table of responses)",
        program="Lexiscope",
        taken=(
            TakenField("Rater", ("subject_id",), tuple(raters[:2])),
            TakenField("Item", ("item_id",), tuple(items[:2])),
        ),
        missing=(("", n_missing),) if n_missing else (),
        scale=f"options: {', '.join(options)}" if options else str(scale) if scale else ends,
        sizes=sizes_of(int(given.sum()), len(set(items)), len(set(raters)), choices=bool(options)),
    )
    lists = {
        str(item): str(name) for item, name in zip(items, people.column("list_id"), strict=True) if name is not None
    }
    return RatingsFile(
        path, tuple(raters), tuple(items), values, remarks=tuple(remarks), options=options,
        simulated=holds_simulated(people), lists=lists, understood=about, repeat=repeat, repeats=how,
    )  # fmt: skip


def _repeats_of(
    path: str,
    people: ResponseTable,
    raters: Sequence[str],
    items: Sequence[str],
    values: NDArray[np.float64],
    named: str,
    *,
    choices: bool,
) -> tuple[NDArray[np.int64] | None, Repeats, tuple[str, ...]]:
    """The numbers of repeated ratings, which of them count, and the remark on them, as in a plain table."""
    again = first_repeat(raters, items, values)
    if again is None:
        return None, "error", ()
    numbers = people.column("repeat")
    stated = () if np.isnan(numbers).any() else numbers.tolist()
    how = which_count(named, meant=stated_order(raters, items, stated) is not None)
    if how != "error" and not choices:
        return repeat_numbers(raters, items, stated), how, (repeats_remark(raters, items, values, how),)
    row, before = again
    what = f"Two ratings by rater {raters[row]} for this item (first: line {before + 2})."
    place = Place(path, row + 2, item_id=items[row])
    raise InputError(what, code="E502", place=place, hint="Delete one." if choices else f"{HINT}.")


def _chosen_answers(
    path: str, table: ResponseTable, measure: str, view: str, kinds: Sequence[str]
) -> tuple[ResponseTable, list[str]]:
    """Return the answers of one measure, one view and one task, and the remarks on the table.

    If no measure is named, it is ``rating`` or ``choice``, whichever the table has, or its only measure.
    """
    people = table.where(subject_kind=tuple(kinds))
    simulated = holds_simulated(people, place=Place(path))
    there = list(people.unique("measure"))
    usual = [name for name in _MEASURES if name in there] or there
    if not there or (measure and measure not in there):
        what = f"the response table holds no {measure or 'rating'} by a participant"
        others = ", ".join(table.unique("subject_kind"))
        hint = f"it has the measures: {', '.join(there)}" if there else f"to count others as raters: --kind ({others})"
        raise InputError(what, code="E002", place=Place(path), hint=hint)
    if not measure and len(usual) > 1:
        what, hint = f"the table has several measures: {', '.join(usual)}", "name one: --measure NAME"
        raise InputError(what, code="E006", place=Place(path), hint=hint)
    remarks = [COMPLETE] if "completion_time" in there else []
    remarks += [TOLD_SIMULATED] if simulated else []
    people = people.where(measure=measure or usual[0])
    views = [name or "full" for name in people.unique("view")]
    if view:
        people = people.where(view=(view, None) if view == "full" else view)
    elif len(set(views)) > 1:
        # the same item seen in part and in full is not the same question: raters of two views do not disagree
        what, hint = f"the answers were given in several views: {', '.join(views)}", "name one: --view NAME"
        raise InputError(what, code="E006", place=Place(path), hint=hint)
    if not len(people):
        hint = f"views: {', '.join(views)}"
        raise InputError(f"no answer was given in the view {view!r}", code="E002", place=Place(path), hint=hint)
    if len(people.unique("task")) > 1:
        tasks = ", ".join(people.unique("task"))
        raise InputError(f"the ratings belong to several tasks: {tasks}", code="E006", place=Place(path))
    return people, remarks
