"""Tables of people: the agreement of raters, ceilings by name, and the norms of all items with their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lexiscope.analysis.agreement import RaterAgreement
from lexiscope.analysis.ceilings import counted_in
from lexiscope.analysis.norms import Norms
from lexiscope.core.item import Item
from lexiscope.core.result import Record, Result, parse_statistic
from lexiscope.report.part import shown
from lexiscope.report.pivot import records_of
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Missing, Table, columns

_CORRELATION = Format("number", 3, leading_zero=False)
_THREE = Format("number", 3)
_DEFINITIONS = {
    "leave_one_out": "leave-one-out: the norm without the rater",
    "included": "included: the rater's own rating stays in the norm",
}


def agreement_table(agreements: Sequence[RaterAgreement], *, name: str = "agreement") -> Table:
    """Return the agreement of single raters with the norms, a row for each definition."""
    columns = (
        Column("Definition"),
        *(Column(label, _CORRELATION) for label in ("Mean", "Median", "SD", "Lowest", "Highest")),
        Column("Raters", INTEGER),
        Column("Undefined", INTEGER),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_DEFINITIONS[one.variant], *(result.value for result in one.results()), one.n_raters, len(one.undefined))
        for one in agreements
    )
    method = " and ".join(dict.fromkeys(one.method.capitalize() for one in agreements)) or "Spearman"
    notes = (f"{method} correlation of each rater with the norms of the items that the rater rated.",)
    return Table(name, "", "Agreement of single raters with the norms", columns, rows, notes)


def ceilings_table(ceilings: Iterable[Record | Result], *, name: str = "ceilings", number: str = "") -> Table:
    """Return human ceilings, each under its name and definition (its note), and over how many of what it is."""
    heads = ("Ceiling", "Items of", "Definition", Column("Value", _CORRELATION), "Over")
    rows = tuple(
        (_named(one.statistic), one.condition, one.note, shown(one), f"{one.n or 0:,} {counted_in(one.statistic)}")
        for one in records_of(ceilings)
    )
    notes = ("Each ceiling is another quantity; they are never compared with one another in one column of results.",)
    return drop_empty(Table(name, number, "Human ceilings by name", columns(*heads), rows, notes))


def _named(statistic: str) -> str:
    """The words of a statistic's name with its variant or metric, so that no two ceilings share a label."""
    name, given = parse_statistic(statistic)
    variant = (given.get("variant") or given.get("metric", "")).replace("leave_one_out", "leave-one-out")
    return name.replace("_", " ") + (f" ({variant.replace('_', ' ')})" if variant else "")


def norms_table(items: Sequence[Item], norms: Norms, *, name: str = "norms") -> Table:
    """Return the norms of all items, with their first two texts; an item without a rating says so."""
    none = Missing("no rating")
    place = {item_id: row for row, item_id in enumerate(norms.item_ids)}
    rows: list[tuple[Cell, ...]] = []
    for item in items:
        texts = ([usage.text for usage in item.usages] + ["", ""])[:2]
        numbers: tuple[Cell, ...] = (none, none, none, 0)
        if item.item_id in place:
            row = place[item.item_id]
            sd = float(norms.sd[row])
            cell: Cell = Missing("one rating has no SD") if np.isnan(sd) else sd
            numbers = (float(norms.mean[row]), cell, float(norms.median[row]), int(norms.n[row]))
        rows.append((item.item_id, item.word, *texts, *numbers))
    columns = (
        *map(Column, ("Item", "Word", "Sentence 1", "Sentence 2")),
        Column("Mean", _THREE),
        Column("SD", _THREE),
        Column("Median", Format("number", 1)),
        Column("n", INTEGER),
    )
    return Table(name, "", "Norms of all items", columns, tuple(rows))
