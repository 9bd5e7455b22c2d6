"""Tables and records of people: agreement of raters, ceilings by name, norms of all items, accuracy by view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.analysis.agreement.alpha import LEVELS
from lexiscope.analysis.agreement.ceilings import counted_in
from lexiscope.analysis.agreement.choices import CoderAgreement
from lexiscope.analysis.agreement.raters import RaterAgreement
from lexiscope.analysis.agreement.summary import VarianceComponents
from lexiscope.analysis.bias.people_by_view import AnnotatorInView, PeopleInView
from lexiscope.analysis.bias.view_scores import FixedScore
from lexiscope.analysis.norms.norms import Norms
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.item import Item
from lexiscope.core.result import Record, Result, Undefined, parse_statistic, statistic_name
from lexiscope.core.study import PublishedValue
from lexiscope.report.figures import apa
from lexiscope.report.part import record_cell, with_interval
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of, rows_of
from lexiscope.report.tables import (
    INTEGER,
    P_VALUE,
    Cell,
    Column,
    Format,
    Head,
    Missing,
    Table,
    columns,
    drop_empty,
    p_equation,
    table_of,
)  # fmt: skip

_CORRELATION = Format("number", 3, leading_zero=False)
_TWO, _THREE = Format("number", 2), Format("number", 3)
_DEFINITIONS = {
    "leave_one_out": "leave-one-out: the norm without the rater",
    "included": "included: the rater's own rating stays in the norm",
}


def printed_participants(printed: Iterable[PublishedValue]) -> Table:
    """Return what a paper reports of its participants and no published file holds."""
    rows = tuple(
        (value.condition.replace("=", ": ") or value.statistic, value.printed)
        for value in printed
        if not value.reproducible
    )
    note = "Nothing of this is in the published files, which have no row per participant: it cannot be recomputed."
    heads = (Column("Quantity"), Column("Printed", align="right"))
    return Table("participants_printed", "", "The participants, as the paper reports them", heads, rows, (note,))


def countries_table(records: Sequence[Record], name: str, *, least: int) -> Table:
    """Return the correlations of the norms of each two countries (*name*), with at least *least* participants each."""
    shown = (Col("r of the norms", name, _THREE, show="estimate"), Col("Pairs", name, show="n"))
    rows = rows_of(records, "condition", statistic=name)
    notes = (f"Countries with at least {least} participants; 95 % interval, words resampled.",)
    title = "Agreement between countries"
    return pivot("countries", title, records, shown, rows, labels=("Countries",), notes=notes)


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


def alphas_table(results: Iterable[Record | Result], ratings: Mapping[str, Ratings]) -> Table:
    """Return Krippendorff's alpha at each level, and the mean SD of an item's ratings, for each part of the items.

    *ratings* are those of each part, which is the condition of its results.
    """
    cols = (
        *(Col(f"α, {level}", f"krippendorff_alpha(level={level})", _CORRELATION) for level in LEVELS),
        Col("Mean SD", "mean_sd(ddof=1)", _TWO, note="Of the ratings of a sample, n − 1."),
    )
    rows = [PivotRow((part, own.n_items, len(own)), {"condition": part}) for part, own in ratings.items()]
    note = (
        "Krippendorff's α; 95 % interval, setups resampled. It needs no rater ids. The ratio level takes 1 to 5 as "
        "counts from a true zero, which a rating scale does not have."
    )
    labels = columns("Samples of", ("Samples", INTEGER), ("Ratings", INTEGER))
    return pivot("agreement", "Agreement of people", results, cols, rows, labels=labels, notes=(note,))


def rater_groups_table(results: Iterable[Record | Result]) -> Table:
    """Return how items were shared out (:func:`lexiscope.analysis.agreement.ceilings.rater_groups`)."""
    heads = ("Groups", "Samples of a group, fewest", "usual", "most", "Ratings of a sample, fewest", "most ")
    listed = records_of(results)
    cols = [Col(head, record.statistic, INTEGER, "value") for head, record in zip(heads, listed, strict=True)]
    title = "How the samples were shared out among raters"
    return pivot("rater_groups", title, listed, cols, [PivotRow(("Raters",))], labels=("",))


def comments_table(results: Iterable[Record | Result]) -> Table:
    """Return how many ratings have a comment, for each condition: ``n_comments`` (n: ratings) and ``comment_share``."""
    cols = (
        Col("Comments", "n_comments", INTEGER, "value"),
        Col("Ratings", "n_comments", INTEGER, "n"),
        Col("Ratings with a comment, %", "comment_share", Format("number", 1), "value"),
    )
    listed = records_of(results)
    rows = rows_of(listed, "condition")
    return pivot("comments", "Comments of raters", listed, cols, rows, labels=("Stories",))


def counts_table(
    results: Iterable[Record | Result], *, name: str = "sense_count_rho", unknown: int, text: str
) -> Table:
    """Return how the tag counts of senses go with their ratings, those of WordNet and those of SemCor's text.

    *results* are those of :func:`lexiscope.analysis.norms.norms.correlations_with_counts` under *name*, with the source
    ``semcor``; *unknown* samples have no known sense, *text* says what the counts of the text are.
    """
    mean, sd = f"{name}(with=mean)", f"{name}(with=sd)"
    mean_text, sd_text = f"{name}(with=mean,counts=semcor)", f"{name}(with=sd,counts=semcor)"
    note = (
        "Spearman's ρ of WordNet's tag count of the sense under the word's lemma (0 where it was never tagged) with "
        "people's mean rating; 95 % interval, words resampled; p as if samples were independent. "
        f"{unknown} samples whose definition is not a gloss under the word have no count and are excluded. {text}"
    )
    cols = (
        *(Col("ρ with the mean", mean, _CORRELATION), Col("p", mean, P_VALUE, "p")),
        *(Col("ρ with the SD", sd, _CORRELATION), Col("p, SD", sd, P_VALUE, "p")),
        *(Col("ρ with the mean, counts in the text", mean_text, _CORRELATION), Col("p, text", mean_text, P_VALUE, "p")),
        *(Col("ρ with the SD, text", sd_text, _CORRELATION), Col("p, SD, text", sd_text, P_VALUE, "p")),
        Col("Samples", mean, show="n"),
    )
    listed, title = records_of(results), "Are frequent senses more plausible?"
    rows = rows_of(listed, "condition")
    return pivot("sense_frequency", title, listed, cols, rows, labels=("Samples of",), notes=(note,))


def _ceiling_name(ceiling: Record) -> str:
    """The words of a statistic's name with its variant or metric, so that no two ceilings share a label."""
    name, given = parse_statistic(ceiling.statistic)
    variant = (given.get("variant") or given.get("metric", "")).replace("leave_one_out", "leave-one-out")
    return name.replace("_", " ") + (f" ({variant.replace('_', ' ')})" if variant else "")


def condition_means_table(name: str, title: str, results: Iterable[Record | Result]) -> Table:
    """Return mean and SD over ratings in each condition (:func:`lexiscope.analysis.norms.norms.condition_means`).

    >>> condition_means_table("t", "Ratings", [Record("condition_sd(over=trials)", 0.5, condition="a=1", n=3)]).rows
    (('a: 1', 'SD', 0.5, 3),)
    """
    cells: Mapping[Head, Callable[[Record], Cell]] = {
        "Condition": lambda record: record.condition.replace("=", ": "),
        "Statistic": lambda record: "SD" if "sd" in record.statistic else "mean",
        ("Rating", _TWO): record_cell,
        ("Ratings", INTEGER): lambda record: record.n,
    }
    return table_of(name, title, records_of(results), cells, notes=("Over trials.",))


def single_raters_table(results: Iterable[Record | Result]) -> Table:
    """Return how well one rater predicts the others (:func:`lexiscope.analysis.agreement.ceilings.single_rater`).

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
        f"F({df[0]}, {df[1]}) = {components.f:.2f}, {p_equation(components.p)}. "
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


# -- what people did in each view, as records: measured numbers, and assumed ones that say so -----------------------


PEOPLE = "people"
"""The subject of a score of several people."""
_NOT_COUNTED = "nothing was counted"


def people_records(
    views: Sequence[PeopleInView], assumed: Mapping[str, FixedScore] | None = None, *, dataset: str = ""
) -> tuple[Record, ...]:
    """Return every number of people as a record; what is *assumed* says so in ``source``, for no view that was asked.

    *Unit:* share for accuracy and agreement, items for counts.
    """
    records: list[Record] = []
    for people in views:
        empty = Record("accuracy", None, dataset=dataset, view=people.view, note=_NOT_COUNTED)
        for annotator in people.annotators:
            records.extend(_annotator_records(annotator, empty))
        for pair in people.shared:
            records.extend(_pair_records(pair, empty))
    asked = {people.view for people in views}
    for view, score in (assumed or {}).items():
        if view not in asked:
            records.append(
                Record("accuracy", score.value, PEOPLE, dataset, view=view, source="assumed", note=score.why)
            )
    return tuple(records)


def agreement_of_people(
    views: Sequence[PeopleInView], dataset: str, *, name: str = "agreement", number: str = ""
) -> tuple[tuple[Record, ...], Table]:
    """Return the records and the table of what each two people agree on in each view, and of all pairs (Table 10).

    The agreement of all pairs is the share of equal answers among all of theirs, that of ``people``.
    """
    same = statistic_name("percent_agreement", over="items")
    records = tuple(record for record in people_records(views, dataset=dataset) if record.statistic == same)
    for view in views:
        own = [record for record in records if record.view == view.view and record.value is not None]
        n = sum(record.n or 0 for record in own)
        if n:
            equal = sum((record.value or 0) * (record.n or 0) for record in own)
            note = f"all {len(own)} pairs of people" if len(own) > 1 else ""
            overall = Record(same, equal / n, PEOPLE, dataset, view=view.view, n=n, note=note)
            alone = wilson_interval(round(equal), n) if len(own) == 1 else None
            records = (*records, with_interval(overall, alone))
    columns = (Col("Items of both", same, show="n"), Col("Same answer, %", same, Format("number", 1), times=100))
    rows = rows_of(records, "view", "subject", names={view.view: view.view.upper() for view in views})
    title = f"Agreement of people: {dataset}"
    return records, pivot(name, title, records, columns, rows, labels=("View", "People"), number=number)


def _annotator_records(annotator: AnnotatorInView, empty: Record) -> Iterator[Record]:
    own, accuracy = replace(empty, subject=annotator.participant), annotator.accuracy
    if isinstance(accuracy, Undefined):
        yield replace(own, n=accuracy.n, note=accuracy.reason)
    else:
        yield with_interval(replace(own, value=accuracy.value, n=accuracy.n, note=""), accuracy.clustered)
    yield replace(own, statistic="undecided", value=annotator.n_undecided, unit="items", note="")
    yield replace(own, statistic="unanswered", value=annotator.n_unanswered, unit="items", note="")


def _pair_records(pair: CoderAgreement, empty: Record) -> Iterator[Record]:
    both, kappa = replace(empty, subject=f"{pair.first} and {pair.second}", n=pair.n), pair.kappa
    same = replace(both, statistic=statistic_name("percent_agreement", over="items"), note="no item in common")
    if not isinstance(pair.same, Undefined):
        same = with_interval(replace(same, value=pair.same.value, note=""), pair.same.wilson)
    yield same
    if isinstance(kappa, Undefined):
        yield replace(both, statistic=kappa.name, note=kappa.reason)
    else:
        yield with_interval(replace(both, statistic=kappa.name, value=kappa.value, note=""), kappa.interval)
