"""Tables of people: the agreement of raters, ceilings by name, and the norms of all items with their sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

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
from lexiscope.report.tables import INTEGER, Cell, Format, Head, Missing, Table, columns, drop_empty, table_of

_CORRELATION = Format("number", 3, leading_zero=False)
_TWO, _THREE = Format("number", 2), Format("number", 3)
_DEFINITIONS = {
    "leave_one_out": "leave-one-out: the norm without the rater",
    "included": "included: the rater's own rating stays in the norm",
}


def agreement_table(agreements: Sequence[RaterAgreement]) -> Table:
    """Return the agreement of single raters with the norms, a row for each definition."""
    heads = columns(
        "Definition",
        *((label, _CORRELATION) for label in ("Mean", "Median", "SD", "Lowest", "Highest")),
        *(("Raters", INTEGER), ("Undefined", INTEGER)),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_DEFINITIONS[own.variant], *(result.value for result in own.results()), own.n_raters, len(own.undefined))
        for own in agreements
    )
    method = " and ".join(dict.fromkeys(own.method.capitalize() for own in agreements)) or "Spearman"
    notes = (f"{method} correlation of each rater with the norms of the items that the rater rated.",)
    return Table("agreement", "", "Agreement of single raters with the norms", heads, rows, notes)


def ceilings_table(ceilings: Iterable[Record | Result]) -> Table:
    """Return human ceilings, each under its name and definition (its note), and over how many of what it is."""
    cells: Mapping[Head, Callable[[Record], Cell]] = {
        "Ceiling": _ceiling_name,
        "Items of": lambda record: record.condition,
        "Definition": lambda record: record.note,
        ("Value", _CORRELATION): record_cell,
        "Over": lambda record: f"{record.n or 0:,} {counted_in(record.statistic)}",
    }
    notes = ("Each ceiling is another quantity; they are never compared with one another in one column of results.",)
    return drop_empty(table_of("ceilings", "Human ceilings by name", records_of(ceilings), cells, notes=notes))


def _ceiling_name(ceiling: Record) -> str:
    """The words of a statistic's name with its variant or metric, so that no two ceilings share a label."""
    name, given = parse_statistic(ceiling.statistic)
    variant = (given.get("variant") or given.get("metric", "")).replace("leave_one_out", "leave-one-out")
    return name.replace("_", " ") + (f" ({variant.replace('_', ' ')})" if variant else "")


def single_raters_table(results: Iterable[Record | Result]) -> Table:
    """Return how well one rater predicts the others (:func:`lexiscope.analysis.agreement.group_raters.single_rater`).

    A row for each condition.
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
    return pivot("single_raters", title, listed, cols, rows_of(listed, "condition"), labels=("Samples of",))


def variance_table(components: VarianceComponents, results: Iterable[Record | Result], n_ratings: int) -> Table:
    """Return where ratings differ: the variance of items, raters and the rest, with the test of raters in the note.

    *results* are those of *components*; *n_ratings* is the number of ratings whose mean's reliability is given.
    """
    df = components.df
    note = (
        f"Two-way within groups of raters, pooled over {components.n_groups} groups. Do raters differ in leniency? "
        f"F({df[0]}, {df[1]}) = {components.f:.2f}, p = {components.p:.2g}. "
        f"ICC(2,1) {apa(components.icc_single, 3)}, ICC(2,{n_ratings}) {apa(components.icc_mean(n_ratings), 3)}."
    )
    cols = (Col("Variance", "variance(of={source})", _CORRELATION),)
    rows = [PivotRow((source,), of={"source": source}) for source in ("sample", "rater", "residual")]
    return pivot("variance", "Where ratings differ", results, cols, rows, labels=("Source",), notes=(note,))


def norms_table(items: Sequence[Item], norms: Norms) -> Table:
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
    heads = columns(
        *("Item", "Word", "Sentence 1", "Sentence 2"),
        *(("Mean", _THREE), ("SD", _THREE), ("Median", Format("number", 1)), ("n", INTEGER)),
    )
    return Table("norms", "", "Norms of all items", heads, tuple(rows))
