"""Tables of people: the agreement of raters, ceilings by name, and the norms of all items with their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lexiscope.analysis.agreement.ceilings import counted_in
from lexiscope.analysis.agreement.raters import RaterAgreement
from lexiscope.analysis.agreement.variance_components import VarianceComponents
from lexiscope.analysis.norms.norms import Norms
from lexiscope.core.item import Item
from lexiscope.core.result import Record, Result, parse_statistic
from lexiscope.report.figures import apa
from lexiscope.report.part import record_cell
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of, rows_of
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Missing, Table, columns, drop_empty

_CORRELATION = Format("number", 3, leading_zero=False)
_TWO, _THREE = Format("number", 2), Format("number", 3)
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
        (
            _named(one.statistic),
            one.condition,
            one.note,
            record_cell(one),
            f"{one.n or 0:,} {counted_in(one.statistic)}",
        )
        for one in records_of(ceilings)
    )
    notes = ("Each ceiling is another quantity; they are never compared with one another in one column of results.",)
    return drop_empty(Table(name, number, "Human ceilings by name", columns(*heads), rows, notes))


def _named(statistic: str) -> str:
    """The words of a statistic's name with its variant or metric, so that no two ceilings share a label."""
    name, given = parse_statistic(statistic)
    variant = (given.get("variant") or given.get("metric", "")).replace("leave_one_out", "leave-one-out")
    return name.replace("_", " ") + (f" ({variant.replace('_', ' ')})" if variant else "")


def single_raters_table(
    results: Iterable[Record | Result], *, name: str = "single_raters", label: str = "Samples of"
) -> Table:
    """Return how well one rater predicts the others (:class:`lexiscope.analysis.agreement.group_raters.SingleRater`).

    A row for each condition, headed by *label*.
    """
    rho, over_raters = "single_rater_rho(over=ratings)", "single_rater_rho(over=raters)"
    accuracy = "single_rater_accuracy_within_sd"
    cols = (
        Col("ρ, all ratings", rho, _CORRELATION),
        Col("ρ, mean over raters", over_raters, _CORRELATION, note="95 % interval, raters resampled."),
        Col("Accuracy within SD", accuracy, _CORRELATION, note="Of the others' ratings, n − 1."),
        Col("SD of ρ", "single_rater_rho_sd", _TWO),
        Col("Raters", over_raters, show="n"),
    )
    listed = records_of(results)
    title = "One rater against the others"
    return pivot(name, title, listed, cols, rows_of(listed, "condition"), labels=(label,))


def variance_table(
    found: VarianceComponents, results: Iterable[Record | Result], n_ratings: int, *, name: str = "variance"
) -> Table:
    """Return where ratings differ: the variance of items, raters and the rest, with the test of raters in the note.

    *results* are those of *found*; *n_ratings* is the number of ratings whose mean's reliability is given.
    """
    note = (
        f"Two-way within groups of raters, pooled over {found.n_groups} groups. Do raters differ in leniency? "
        f"F({found.df[0]}, {found.df[1]}) = {found.f:.2f}, p = {found.p:.2g}. ICC(2,1) {apa(found.icc_single, 3)}, "
        f"ICC(2,{n_ratings}) {apa(found.icc_mean(n_ratings), 3)}."
    )
    cols = (Col("Variance", "variance(of={source})", _CORRELATION),)
    rows = [PivotRow((source,), of={"source": source}) for source in ("sample", "rater", "residual")]
    return pivot(name, "Where ratings differ", results, cols, rows, labels=("Source",), notes=(note,))


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
