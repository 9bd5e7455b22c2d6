"""Tables of people and of subjects that predict ratings: labels, single items, replies that could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from lexiscope.analysis.agreement.raters import RaterAgreement
from lexiscope.analysis.norms.example_rows import RatedExample
from lexiscope.analysis.norms.label_distribution import SCALE, LabelShares
from lexiscope.analysis.norms.predictions import RHO, Predictor
from lexiscope.analysis.norms.within_sd import UNREAD_WRONG, WHOLE, accuracy_name
from lexiscope.core.result import Record, Result, statistic_name
from lexiscope.report.figures import Figure, Heading, apa
from lexiscope.report.part import find_record, value_of
from lexiscope.report.pivot import Col, PivotRow, pivot, rank_columns, records_of, rows_of, rows_of_subjects
from lexiscope.report.plots.accuracy import Dot, accuracy_dots, stacked_shares
from lexiscope.report.plots.style import short_names
from lexiscope.report.tables import INTEGER, TEXT, Cell, Column, Format, Head, Missing, Table, columns, table_of

LabelTables = Mapping[str, Mapping[str, LabelShares]]
"""The label shares of each subject, by part: ``all`` items, then each condition."""


def examples_table(
    name: str,
    title: str,
    rows: Sequence[RatedExample],
    texts: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    *,
    subjects: Sequence[str] = (),
    number: str = "",
) -> Table:
    """Return items as the rows of a table: *texts* of each, by its id, headed by *labels*, ratings, answers.

    People's mean and their single ratings follow; then the answers of *subjects*: one outside the standard deviation of
    the ratings (at least 1) is marked ×.

    >>> from lexiscope.analysis.norms.example_rows import SubjectAnswer
    >>> row = RatedExample("i", 2.0, 1.0, (1.0, 3.0), (SubjectAnswer("m", 5.0, within_sd=False),))
    >>> examples_table("t", "One item", [row], {"i": ["It shuts."]}, ["Sentence"], subjects=["m"]).rows
    (('It shuts.', 2.0, '1\xa03', '5 ×'),)
    """
    heads = [*map(Column, labels), Column("People, mean", Format("number", 2)), Column("Ratings")]
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        answers = [
            "not read" if answer.predicted is None else f"{answer.predicted:.3g}{'' if answer.within_sd else ' ×'}"
            for answer in row.answers
        ]
        ratings = "\u00a0".join(f"{value:g}" for value in row.ratings)
        cells.append((*texts[row.item_id], row.mean, ratings, *answers))
    return Table(name, number, title, (*heads, *map(Column, subjects)), tuple(cells))


def replies_table(predictors: Sequence[Predictor]) -> Table:
    """Return how many answers each subject was asked for, how many could not be read, and what these were.

    >>> replies_table([Predictor("m", "m", {"i": 4.0}, "integer", 2, {"not_a_number": 1}, 2)]).rows
    (('m', 2, 2, 1, 50.0, 'not a number 1'),)
    """
    cells: Mapping[Head, Callable[[Predictor], Cell]] = {
        "Subject": lambda predictor: predictor.title,
        Column("Asked", INTEGER, note="Questions, repetitions included."): lambda predictor: predictor.n_asked,
        ("Repetitions", INTEGER): lambda predictor: predictor.repeats,
        ("Not read", INTEGER): lambda predictor: predictor.n_unreadable,
        ("Not read, %", Format("number", 1)): lambda predictor: 100 * predictor.n_unreadable / predictor.n_asked,
        "What they were": lambda predictor: predictor.unread_in_words,
    }
    note = "A reply that could not be read has no value and is not imputed; repetitions are averaged over those read."
    return table_of("replies", "Replies, and those that could not be read", predictors, cells, notes=(note,))


_RAW = accuracy_name("raw")
_SINGLE_RHO = "single_rater_rho(over=ratings)"
_RANK = statistic_name("rank", of="spearman", among="subjects")
_OTHERS = Missing("Whole predictions.")
_EXPECTED = "expected_accuracy_within_sd(sd=sample,edge=strict,guesses=uniform)"
_NEARNESS = statistic_name("spearman", of="nearness", **{"with": "norms"})
_ONE, _THREE = Format("number", 1), Format("number", 3, leading_zero=False)


def scores_table(
    results: Sequence[Record | Result],
    predictors: Sequence[Predictor],
    *,
    name: str = "scores",
    number: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """Return how close predictions are to mean ratings: correlation and accuracy within SD, with how many were read.

    *results* are those of :func:`lexiscope.analysis.norms.within_sd.scores` and of the *predictors* themselves, and of
    baselines that are asked nothing (guessing, one label for all).
    """
    read = {predictor.subject: predictor.read_of_asked for predictor in predictors}
    listed = records_of(results)
    heads = (
        Col("ρ with the mean", RHO, _THREE, absent=Missing("An expectation has no correlation.")),
        *rank_columns(listed, _RANK, "by ρ, on the samples that all subjects predicted"),
        Col("Accuracy, whole predictions", (WHOLE[0], _EXPECTED), _THREE, absent=Missing("Not whole.")),
        Col("Accuracy, rounded", WHOLE[1], _THREE, absent=_OTHERS,
            note="Predictions that were not whole, rounded, halves up."),
        Col("Accuracy, as given", _RAW, _THREE, absent=_OTHERS,
            note="The same predictions, not rounded; not comparable with whole ones."),
        Col("Accuracy, unread as wrong", UNREAD_WRONG, _THREE, absent=Missing("One prediction for every sample."),
            note="Whole or rounded; samples without a readable reply are wrong."),
        Col("Read / asked", (*WHOLE, _EXPECTED), TEXT,
            cell=lambda record: read.get(record.subject, f"{record.n} / {record.n}"),
            note="Samples with a readable reply, of those asked: ρ and accuracy are over the former."),
        Col("Replies not read", "n_unreadable", INTEGER, "value", absent=0),
    )  # fmt: skip
    scored = [record for record in listed if not record.statistic.startswith("n_")]
    rows = rows_of(scored, "subject", names={predictor.subject: predictor.title for predictor in predictors})
    return pivot(name, "Predictions and people's mean ratings", listed, heads, rows, number=number, notes=notes)


def ratings_table(
    name: str,
    results: Iterable[Record | Result],
    predictors: Mapping[str, Predictor],
    agreements: Sequence[RaterAgreement],
    terms: Mapping[str, str],
) -> Table:
    """Return subjects that rate: correlation with people, rank, place among raters, regression, what was read.

    *predictors* are by subject, *agreements* those of single people with the norms: each has a separate column. *terms*
    are the coefficients of a regression of the norms, by the word for each: ``coefficient(term=rating,…)``.
    """
    records = records_of(results)
    words = {"leave_one_out": "true leave-one-out", "included": "own rating included"}
    below = "Share of single people whose ρ with the norms is below the subject's; 95 % interval (Wilson)."
    none = Missing("No sense of the pairs is known, or no regression could be fitted.")

    def with_error(term: Record) -> Cell:
        error = find_record(records, term.statistic.replace("coefficient", "standard_error"), subject=term.subject)
        if term.value is None or error is None:
            return none
        return f"{term.value:.2f} ({error.value:.2f})".replace("-", "−")

    columns = [Col("ρ with the norms", RHO, note="95 % interval, words resampled.")]
    columns += rank_columns(records, _RANK, "by ρ, on the pairs that all of them rated")
    for raters in agreements:
        place = statistic_name("raters_below_model", among=raters.variant, method=raters.method)
        columns.append(Col(f"Raters below, {words[raters.variant]}", place, note=below))
    least = f"Ordinary least squares of the norms on {' and '.join(terms)}."
    read = "Pairs with a readable rating, of those asked: all numbers are over the former."
    columns += [
        *(
            Col(f"b of {word} (SE)", term, TEXT, note="" if place else least, cell=with_error, absent=none)
            for place, (word, term) in enumerate(terms.items())
        ),
        Col("Read / asked", "n_items_read", TEXT, note=read,
            cell=lambda record: predictors[record.subject].read_of_asked),
        Col("Replies not read", "n_unreadable", TEXT,
            cell=lambda record: predictors[record.subject].unread_in_words or "0"),
    ]  # fmt: skip
    notes = [
        f"Single people, {words[raters.variant]}: mean ρ with the norms {apa(raters.mean)}." for raters in agreements
    ]
    title = "Ratings of subjects compared with people's norms"
    titles = {subject: predictor.title for subject, predictor in predictors.items()}
    return pivot(name, title, records, columns, rows_of_subjects(titles), notes=notes)


def rating_residuals_table(
    results: Iterable[Record | Result], predictors: Mapping[str, Predictor], conditions: Mapping[str, str]
) -> Table | None:
    """Return the mean residuals of the norms beyond subjects' ratings, in each of *conditions* (by their heading)."""
    records, name = records_of(results), "mean_residual(model=norm~rating)"
    columns = [
        Col(label, name, Format("number", 2), where={"condition": condition}) for label, condition in conditions.items()
    ]
    known = {record.subject for record in records if record.statistic == name and record.value is not None}
    rows = rows_of_subjects({subject: of.title for subject, of in predictors.items() if subject in known})
    note = "Observed − fitted norm of the regression on the subject's rating; 95 % interval, words resampled."
    title = "What people see beyond a subject's ratings"
    return pivot("rating_residuals", title, records, columns, rows, notes=(note,)) if rows else None


def scores_figure(results: Sequence[Record | Result], titles: Mapping[str, str], heading: Heading) -> Figure | None:
    """Return the accuracies within SD as dots, with what guessing is expected to reach; ``None`` where there are none.

    *titles* are what subjects are called.
    """
    records = records_of(results)
    chance = 100 * (value_of(records, _EXPECTED) or 0.0)
    dots = [
        Dot.of(record, "Accuracy\nwithin SD", titles.get(record.subject, record.subject), times=100, chance=chance)
        for record in records
        if record.value is not None and record.statistic in WHOLE
    ]
    return accuracy_dots(dots, heading, unit="Samples within SD, %") if dots else None


def accuracy_definitions_table(results: Sequence[Record | Result], subject: str, *, note: str) -> Table:
    """Return the accuracy of a baseline that gives one label, under other definitions of accuracy within SD.

    *results* are those of :func:`lexiscope.analysis.norms.within_sd.constant_scores`, *subject* is the baseline, *note*
    says which label it gives. The definition decides, so it is part of every name.
    """
    names = {
        accuracy_name(): "sample SD, strict (the shared task's)",
        accuracy_name(edge="inclusive"): "sample SD, the edge counts",
        accuracy_name(spread="population"): "population SD, strict",
    }
    rows = [PivotRow((text,), {"statistic": name, "subject": subject}) for name, text in names.items()]
    title = "What the definition of accuracy within SD decides"
    columns = (Col("Accuracy of the majority label", "{statistic}", _THREE),)
    return pivot("accuracy_definitions", title, results, columns, rows, labels=("Definition",), notes=(note,))


def thinking_table(results: Sequence[Record | Result], titles: Mapping[str, str], conditions: Sequence[str]) -> Table:
    """Return how many tokens subjects, called by their *titles*, thought before they answered.

    *results* are those of :func:`lexiscope.analysis.norms.predictions.summaries_of_measure`; the first of the
    *conditions* is that of all items.
    """
    mean, everything = "thinking_tokens(summary=mean)", {"condition": conditions[0]}
    columns = [
        *(Col(f"Mean, {condition}", mean, _ONE, where={"condition": condition}) for condition in conditions),
        Col("Most", "thinking_tokens(summary=max)", INTEGER, "value", where=everything),
        Col("Replies", mean, show="n", where=everything),
    ]
    note = "Tokens before the answer, as the endpoint counts them; they are not part of the answer. 95 %, over words."
    title, rows = "What models thought before they answered", rows_of(results, "subject", names=titles)
    return pivot("thinking", title, results, columns, rows, labels=("Subject",), notes=(note,))


def nearness_table(results: Sequence[Record | Result], *, items: str) -> Table:
    """Return how nearness goes with people's means, of each subject, each layer; *items* are those of the results.

    *results* are those of :func:`lexiscope.analysis.norms.predictions.nearness_by_layer`.
    """
    notes = (
        "Nearness: minus the cosine distance of the mean vectors of the story and of the meaning's text. Samples of: "
        f"{items}. 95 % interval, over words.",
        "No question is asked and no rating given: there is no accuracy within SD. To name the best layer is to choose "
        "it on the samples that are judged.",
    )
    columns, title = (Col("ρ of nearness with the mean", _NEARNESS, _THREE),), "Nearness of story and meaning, by layer"
    labels, rows = ("Subject", Column("Layer", INTEGER, note="0: embeddings.")), rows_of(results, "subject", "layer")
    return pivot("nearness_by_layer", title, results, columns, rows, labels=labels, notes=notes)


def labels_table(
    name: str,
    title: str,
    tables: LabelTables,
    titles: Mapping[str, str],
    *,
    conditions: str,
    number: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """Return how often each subject gave each point of the scale, on all items and in each condition. *Unit:* percent.

    *titles* are what subjects are called, *conditions* is the heading of
    the conditions.

    >>> from lexiscope.analysis.norms.label_distribution import label_table
    >>> parts = label_table({"i": 1.0, "j": None}, {"i": "open", "j": "open"}, points=(1, 2), resamples=0)
    >>> labels_table("t", "Labels", {"m": parts}, {"m": "A model"}, conditions="Stories").rows[0]
    ('A model', 'all', 100.0, 0.0, '1 / 2')
    """
    points = next(iter(tables.values()))["all"].points if tables else ()
    heads = columns(
        *("Who", conditions),
        *((f"{point:g}, %", Format("number", 1)) for point in points),
        Column("Read / asked", note="Samples with a label, of those asked: the shares are of the former."),
    )
    rows: list[tuple[Cell, ...]] = []
    for subject, parts in tables.items():
        for condition, shares in parts.items():
            read = f"{shares.n} / {shares.n + shares.n_missing}"
            rows.append((titles[subject], condition, *(100 * share for share in shares.shares), read))
    return Table(name, number, title, heads, tuple(rows), tuple(notes))


def label_differences_table(results: Sequence[Record | Result], titles: Mapping[str, str]) -> Table:
    """Return how much more often each label is given to ended stories than to open ones. *Unit:* percentage points.

    *results* are those of :func:`lexiscope.analysis.norms.label_distribution.label_differences`, *titles* what subjects
    are called.
    """
    name, listed = "label_share_difference(of=ended_minus_open,point={})", records_of(results)
    cols = [Col(f"{point:g}", name.format(f"{point:g}"), _ONE) for point in SCALE]
    note = "Percentage points; above 0: more often for ended stories. 95 % interval, over words."
    title, rows = "Labels of ended stories minus those of open ones", rows_of(listed, "subject", names=titles)
    return pivot("labels_ended_minus_open", title, listed, cols, rows, labels=("Who",), notes=(note,))


def rating_shares_table(results: Sequence[Record | Result], shares: LabelShares) -> Table:
    """Return how often people gave each point (:func:`lexiscope.analysis.norms.label_distribution.rating_shares`)."""
    cols = (Col("%", "rating_share(point={point})", _ONE, note="95 %, over words."),)
    counts = zip(shares.points, shares.counts, strict=True)
    rows = [PivotRow((f"{point:g}", count), of={"point": f"{point:g}"}) for point, count in counts]
    labels = ("Rating", Column("Ratings", INTEGER))
    return pivot("rating_distribution", "All ratings", results, cols, rows, labels=labels)


def predictors_overview(records: Sequence[Record]) -> Table:
    """Return correlation and accuracy of every subject, compared with one person's: the table for one screen.

    *records* are those of a run: the scores of subjects, and those of single raters in the same condition.
    """
    scored = [record for record in records if record.statistic in (RHO, *WHOLE) and record.status != "not reproducible"]
    where = scored[0].condition if scored else ""
    asked = {record.subject: record.value for record in records if record.statistic == "n_items_asked"}
    cols = (
        Col("ρ", (RHO, _SINGLE_RHO), _THREE, "value", absent=None),
        Col("Accuracy within SD", (*WHOLE, "single_rater_accuracy_within_sd"), _THREE, "value", absent=None),
        Col("unread as wrong", UNREAD_WRONG, _THREE, "value", absent=None),
        Col("read / asked", "n_items_read", cell=lambda r: f"{r.value:.0f} / {asked[r.subject]:.0f}", absent=""),
    )
    subjects = tuple(dict.fromkeys(record.subject for record in scored))
    named = zip(short_names(subjects, 40), subjects, strict=True)
    rows = [PivotRow((name,), {"subject": subject, "condition": where}) for name, subject in named]
    if value_of(records, _SINGLE_RHO, condition=where) is not None:
        rows.insert(0, PivotRow(("one person against the others",), {"subject": "", "condition": where}))
    title = f"Predictions and people's ratings, samples of: {where}; ρ and accuracy over readable replies"
    return pivot("overview", title, records, cols, rows)


def labels_figure(heading: Heading, tables: LabelTables, titles: Mapping[str, str]) -> Figure:
    """Return the labels of each subject on all items as bars that add up to 100 %."""
    points = [f"{point:g}" for point in next(iter(tables.values()))["all"].points]
    bars = [
        (titles[subject], point, 100 * share)
        for subject, parts in tables.items()
        for point, share in zip(points, parts["all"].shares, strict=True)
    ]
    return stacked_shares(bars, heading, order=points, unit="Labels, %")
