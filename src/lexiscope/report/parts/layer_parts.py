"""Encoders layer by layer, as tables, figures and sentences: sense boundary, relatedness, size, what is left over.

What is shown are the fits of encoders (:mod:`lexiscope.analysis.layers.layer_fits`), and the records of a run by the
names of their statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from lexiscope.analysis.layers.expected_layer import OUTSIDE
from lexiscope.analysis.layers.intervals import BETWEEN_LAYERS, BETWEEN_SUBJECTS
from lexiscope.analysis.layers.layer_fits import LayerFit
from lexiscope.analysis.layers.layers import HELD_OUT_RESIDUAL, NO_BOUNDARY, RHO
from lexiscope.analysis.layers.trajectory import DROP_AGAINST_OTHERS
from lexiscope.analysis.norms.decomposition import RESIDUAL
from lexiscope.core.result import Record, Result, parse_statistic, statistic_key, statistic_name
from lexiscope.report.part import find_record, record_cell
from lexiscope.report.pivot import Col, PivotRow, pivot, rank_columns, records_of, rows_of, rows_of_subjects
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.presenting import file_name, trajectory_of
from lexiscope.report.tables import INTEGER, P_VALUE, Cell, Column, Format, Head, Missing, Table, table_of

_TWO, _THREE, _FOUR = (Format("number", digits) for digits in (2, 3, 4))

LOWEST_AIC, BEST_R2, BEST_RHO = "min_aic_over_layers", "max_r_squared_over_layers", "min_spearman_over_layers"
CHOSEN_R2, CHOSEN_RHO = (
    statistic_name(plain, **parameters, layer="chosen")
    for plain, parameters in map(parse_statistic, ("r_squared", RHO))
)
"""R² and ρ at the best layer, allowing for its having been chosen on the same items."""
PLACES = tuple(
    statistic_name("raters_below_model", among=variant, method="spearman") for variant in ("leave_one_out", "included")
)
"""The place of a subject among single people, under both definitions of agreement."""
BELOW_CHOSEN = statistic_name("raters_below_model", among="leave_one_out", method="spearman", layer="chosen")
RANK = statistic_name("rank", of="spearman", among="subjects")
EXPECTED_AIC, EXPECTED_R2 = (f"expected_layer(score={score},deltas=signed)" for score in ("aic", "r_squared"))
ALLOWING = "the layer chosen on the words drawn, the value of the other words"
BY_RHO = "by −ρ at the layer of lowest ρ, chosen on the same items, the same layer in every resample"
HELD_OUT, SAVED = (statistic_name(name, held_out="words", layer="chosen") for name in ("deviance", "deviance_saved"))
"""The deviance of words held out, its layer chosen on the other words, and what it is below that without distance."""
AIC_CHOICE = (
    "The layer of the lowest AIC is chosen on the same items, which the AIC does not allow for. The deviance of words "
    "held out does: words are dealt into ten folds, the layer and the regression are those of the other nine. It is on "
    "the scale of an AIC; what it is below that of the intercept alone is what the chosen layer tells about new words."
)


# -- where senses are separated, and how closely distances follow the norms -----------------------------------------


def overview_table(results: Iterable[Record | Result], view: str) -> Table:
    """Return every subject's best layer and fit in one view, and people's agreement by name below them."""

    def boundary(record: Record) -> Cell:
        return Missing(record.note) if NO_BOUNDARY in record.note else record.layer

    records = records_of(results)
    columns = (
        Col("Best layer", BEST_R2, show="layer", note="highest R² of the regression of norms on distance", absent=None),
        Col("R²", BEST_R2, note="at that layer, chosen on the same items"),
        Col("R², choice allowed for", CHOSEN_R2, note=ALLOWING),
        Col("ρ", BEST_RHO, show="value", note="most negative over layers, chosen on the same items"),
        Col("ρ, choice allowed for", CHOSEN_RHO, show="value", note=ALLOWING),
        *rank_columns(records, RANK, BY_RHO, view=view),
        Col(
            "Sense boundary",
            LOWEST_AIC,
            INTEGER,
            note="layer of lowest AIC, chosen on the same items, if below that of a model without distance",
            cell=boundary,
            absent=None,
        ),
    )
    if any(record.statistic == SAVED for record in records):
        told = "below that of the intercept alone, on words held out; the layer chosen on the other words"
        columns += (Col("Deviance saved", SAVED, INTEGER, show="value", note=told),)
    # items without senses give no AIC, items without ratings no R²: either is enough for a row
    either = [r for r in records if r.statistic in (LOWEST_AIC, BEST_R2) and r.view == view]
    rows = [
        PivotRow((subject,), {"subject": subject, "view": view}) for subject in dict.fromkeys(r.subject for r in either)
    ]
    table = pivot("overview", "People and models", records, columns, rows)
    agreement = find_record(records, "leave_one_out_agreement(method=spearman,summary=mean)")
    if agreement is None:
        return table
    of_people = {"Subject": "people (leave-one-out)", "ρ": agreement.value}
    return replace(table, rows=(*table.rows, tuple(of_people.get(column.header) for column in table.columns)))


def boundary_table(results: Iterable[Record | Result], titles: Mapping[str, str], view: str) -> Table:
    """Return where each subject separates the senses best, and its Expected Layer by AIC. *titles* are by subject."""
    records = records_of(results)
    weighted = "mean layer, weighted by what each layer adds to the layers before it; losses count as negative"
    columns = (
        Col(
            "Lowest AIC",
            LOWEST_AIC,
            _TWO,
            note="logistic regression of same sense on distance, over layers; the layer is chosen on the same items, "
            "which the value does not allow for",
        ),
        Col("at layer", LOWEST_AIC, show="layer"),
        Col("AIC, intercept only", "aic(model=intercept_only)", _TWO),
        Col("Deviance held out", HELD_OUT, _TWO, note="for words held out, with the layer chosen on the other words"),
        Col("Saved by the layer", SAVED, _TWO, note="deviance of the intercept alone minus that; words resampled"),
        Col("Expected layer (AIC)", EXPECTED_AIC, _TWO, note=weighted),
    )
    notes = [
        f"{titles[record.subject]}{', expected layer' if record.statistic == EXPECTED_AIC else ''}: {record.note}"
        for record in records
        if record.view == view and record.subject in titles and record.note
        if record.statistic == LOWEST_AIC or (record.statistic == EXPECTED_AIC and OUTSIDE in record.note)
    ]
    if any(record.statistic == HELD_OUT and record.view == view for record in records):
        notes.insert(0, AIC_CHOICE)
    title = f"Sense boundary by layer, view {view}"
    return pivot(
        f"boundary_{file_name(view)}", title, records, columns, rows_of_subjects(titles, view=view), notes=notes
    )


def relatedness_table(results: Iterable[Record | Result], titles: Mapping[str, str], view: str) -> Table:
    """Return where each subject fits people best, how well, and how much is lost at its last layer."""
    records = records_of(results)
    columns = [
        Col("Highest R²", BEST_R2, note="of the regression of norms on distance, over layers"),
        Col("at layer", BEST_R2, show="layer"),
        Col("R², choice allowed for", CHOSEN_R2, note=ALLOWING),
        Col("Lowest ρ", BEST_RHO, note="most negative over layers"),
        Col("at layer", BEST_RHO, show="layer"),
        Col("ρ, choice allowed for", CHOSEN_RHO, note=ALLOWING),
        *rank_columns(records, RANK, BY_RHO, view=view),
        Col("Expected layer (R²)", EXPECTED_R2, _TWO),
        Col("Last-layer drop", "last_layer_drop", note="share of the highest R² that is lost at the last layer"),
        Col(
            "Against the others",
            DROP_AGAINST_OTHERS,
            note="the same of the best other layer; below 0: last is best",
        ),
    ]
    if any(record.statistic == PLACES[0] and record.view == view for record in records):
        below = "share of single people whose leave-one-out ρ is below −ρ of the subject"
        at = "at the layer of the highest R², chosen on the same items, or at the layer that the paper looks at"
        columns += [
            Col("Raters below", PLACES[0], note=f"{below}, {at}"),
            Col("Raters below, choice allowed for", BELOW_CHOSEN, note=f"{below}, {ALLOWING}"),
        ]
    notes = ("Intervals resample words; those of the highest R² and the lowest ρ do not allow for the layer's choice.",)
    title = f"Relatedness by layer, view {view}"
    return pivot(
        f"relatedness_{file_name(view)}", title, records, columns, rows_of_subjects(titles, view=view), notes=notes
    )


def drawn_curves(fits: Sequence[LayerFit], statistic: str) -> dict[str, DrawnCurve]:
    """Return one statistic over the layers of each subject that has layers, as figures draw it, by subject."""
    return {
        fit.subject: replace(trajectory_of(fit.curves[statistic]), subject=fit.distances.title, group=fit.facts.family)
        for fit in fits
        if statistic in fit.curves and fit.distances.matrix.shape[1] > 1
    }


# -- size -----------------------------------------------------------------------------------------------------------


CHOSEN_LAYER = "at_chosen_layer"
"""What the names of numbers have whose layers are chosen on other words."""
_SLOPE = statistic_name("slope", of="log10_parameters", outcome="max_r_squared")
_SCALING = {
    _SLOPE: "Gain in R² per tenfold parameters",
    "standard_error(of=log10_parameters)": "… its standard error",
    "slope(of=multilingual,outcome=max_r_squared)": "Multilingual against monolingual",
    "r_squared(of=scaling)": "R² of this regression",
    "pearson(of=log10_parameters,with=max_r_squared)": "r of highest R² with log10 parameters",
    "slope(of=log10_parameters,outcome=r_squared_at_chosen_layer)": "Layer chosen on other words: gain in R² per "
    "tenfold parameters",
    "slope(of=multilingual,outcome=r_squared_at_chosen_layer)": "… multilingual against monolingual",
    "pearson(of=log10_parameters,with=r_squared_at_chosen_layer)": "… r of R² with log10 parameters",
}


def size_table(results: Iterable[Record | Result], name: str, title: str) -> Table:
    """Return the regression of the highest R² on size (:func:`lexiscope.analysis.regression.scaling`), term by term."""
    return table_of(
        name,
        title,
        [record for record in records_of(results) if record.statistic in _SCALING],
        {
            "Term": lambda record: _SCALING[record.statistic],
            ("Value", _FOUR): record_cell,
            ("p", P_VALUE): lambda record: record.p,
            ("n", INTEGER): lambda record: record.n,
        },
        notes=(
            "The layer of each highest R² is chosen on the same items. The last rows are the same regression of the R² "
            "with the layer chosen on other words; it is not tested again.",
        ),
    )


def fit_contrasts_tables(results: Iterable[Record | Result], view: str) -> list[Table]:
    """Return the paired differences of R² between subjects and between layers of one subject, each if there are any."""
    cells: Mapping[Head, Callable[[Record], Cell]] = {
        "First − second": lambda record: record.condition or record.subject,
        ("R²", _THREE): record_cell,
        ("p", P_VALUE): lambda record: record.p,
    }
    records = records_of(results)
    allowing = _allowing(records)
    notes = {
        BETWEEN_SUBJECTS: "The best layer of each is found again in each resample. Which subject is the best was seen "
        "on the same items; the sets of ranks allow for that.",
        BETWEEN_LAYERS: "The first layer is the one that the paper named.",
    }
    tables = []
    for name, file, title in (
        (BETWEEN_SUBJECTS, "best_and_others", f"Highest R² of the best subject against the others, view {view}"),
        (BETWEEN_LAYERS, "layer_and_others", "R² of a layer against the others of its subject, {}"),
    ):
        own = [record for record in records if statistic_key(record.statistic) == statistic_key(name)]
        if own:
            note = ("Both sides have the same resamples of words.", notes[name])
            tables.append(table_of(file, title.format(own[0].subject), own, {**cells, **allowing(own)}, notes=note))
    return tables


def _allowing(records: Iterable[Record]) -> Callable[[Sequence[Record]], Mapping[Head, Callable[[Record], Cell]]]:
    """The column of the same number with each layer chosen on other words, for tables in which a row has one."""
    chosen = {(r.subject, r.condition, r.view): r for r in records if CHOSEN_LAYER in r.statistic}

    def column(rows: Sequence[Record]) -> Mapping[Head, Callable[[Record], Cell]]:
        if not any((row.subject, row.condition, row.view) in chosen for row in rows):
            return {}

        def cell(row: Record) -> Cell:
            own = chosen.get((row.subject, row.condition, row.view))
            return None if own is None else record_cell(own)

        return {Column("Layers chosen on other words", _THREE, note="Not tested a second time."): cell}

    return column


def size_contrasts_tables(results: Iterable[Record | Result]) -> list[Table]:
    """Return the contrasts of :func:`lexiscope.analysis.layers.intervals.size_contrasts` as tables, if there are any.

    One is on models that were trained alike, the other on multilingual models and smaller monolingual ones.
    """
    cells: Mapping[Head, Callable[[Record], Cell]] = {
        "Models": lambda record: record.subject or record.condition.replace("=", " "),
        "Number": lambda record: (
            "gain per tenfold parameters" if record.statistic.startswith("slope") else "first − second"
        ),
        ("Highest R²", _THREE): record_cell,
        ("p", P_VALUE): lambda record: record.p,
    }
    resampled = "Words are resampled, and the best layer is found again in each resample; the models are fixed."
    alike = "Trained alike: family, training text, tokenizer and objective are the same."
    several: dict[bool, list[Record]] = {False: [], True: []}
    records = records_of(results)
    allowing = _allowing(records)
    for record in records:
        if CHOSEN_LAYER not in record.statistic:
            several["multilingual" in record.statistic].append(record)
    tables = (
        ("size_within_family", "Size among models that were trained alike", several[False], alike),
        (
            "multilingual_and_smaller",
            "Multilingual models against smaller monolingual ones",
            several[True],
            "Smaller: at most 1/3 of the parameters.",
        ),
    )
    return [
        table_of(name, title, own, {**cells, **allowing(own)}, notes=(note, resampled))
        for name, title, own, note in tables
        if own
    ]


# -- what sense and distance explain, and what they leave over ------------------------------------------------------


def explained_table(results: Iterable[Record | Result], titles: Mapping[str, str]) -> Table:
    """Return the parts of variance that sense and distance explain, of each subject at each layer.

    *results* are those of :func:`lexiscope.analysis.norms.decomposition.variance_decomposition`.
    """
    columns = (
        Col("sense", "r_squared(of=sense)"),
        Col("distance", "r_squared(of=distance)"),
        Col("both", "r_squared(of=sense+distance)"),
        Col("sense only", "unique_r_squared(of=sense)"),
        Col("distance only", "unique_r_squared(of=distance)"),
        Col("shared", "shared_r_squared(of=sense+distance)"),
    )
    records = records_of(results)
    own = [record for record in records if record.statistic == "r_squared(of=sense)"]
    rows = rows_of(own, "subject", "layer", names=titles)
    labels = ("Subject", Column("Layer", INTEGER))
    title = "Variance of the norms that sense and distance explain"
    notes = (
        "Unadjusted R² of linear regressions of the norms; intervals resample words. A layer of the highest R² is "
        "chosen on the same items, so that what distance explains there is too high: the table of relatedness by layer "
        "has the R² that allows for the choice.",
    )
    return pivot("explained_variance", title, records, columns, rows, labels=labels, notes=notes)


def residuals_table(results: Iterable[Record | Result], titles: Mapping[str, str]) -> Table:
    """Return mean residuals by sense, of the regressions on the distances of one layer and on those of all layers."""
    models = {
        RESIDUAL: "norm ~ distance",
        HELD_OUT_RESIDUAL: "norm ~ distance, layer and regression of other words",
        "mean_residual(model=norm~distance*layer)": "norm ~ distance × layer",
    }
    columns = [
        Col(label, tuple(models), _TWO, where={"condition": f"same_sense={same}"})
        for label, same in (("Same sense", True), ("Different sense", False))
    ]
    records = records_of(results)
    own = [record for record in records if record.statistic in models]
    rows = rows_of(own, "subject", "statistic", "layer", names={**titles, **models})
    labels = ("Subject", "Regression", Column("Layer", INTEGER))
    notes = (
        "Positive: people see more relatedness than the distance predicts. Intervals resample words. The layer of the "
        "highest R² is chosen on the same items; in the rows of other words, words are dealt into ten folds, and the "
        "layer and the regression are those of the other nine.",
    )
    return pivot("residuals_by_sense", "Mean residuals by sense", records, columns, rows, labels=labels, notes=notes)


def residuals_by_condition_table(
    name: str, title: str, results: Iterable[Record | Result], titles: Mapping[str, str]
) -> Table:
    """Return mean residuals of each subject at its best layer, and with layer and regression of other words.

    A column for each condition: ``same_sense=True ambiguity_type=Homonymy`` is headed *same: True, Homonymy*.
    """
    layers = {RESIDUAL: "that of the highest R²", HELD_OUT_RESIDUAL: "of other words"}
    records = records_of(results)
    own = [record for record in records if record.statistic in layers]
    columns = [
        Col(_head_of(condition), tuple(layers), _TWO, where={"condition": condition})
        for condition in dict.fromkeys(record.condition for record in own if record.condition)
    ]
    notes = (
        "Norm ~ distance at the layer of highest R², chosen on the same items; of other words: words are dealt into "
        "ten folds, and the layer and the regression are those of the other nine. Positive: people see more "
        "relatedness. Intervals resample words.",
    )
    rows = rows_of(own, "subject", "statistic", names={**titles, **layers})
    return pivot(name, title, records, columns, rows, labels=("Subject", "Layer"), notes=notes)


def _head_of(condition: str) -> str:
    first, *others = condition.split(" ")
    return ", ".join((first.replace("same_sense=", "same: "), *(other.partition("=")[2] for other in others)))


def added_table(
    name: str,
    title: str,
    results: Iterable[Record | Result],
    titles: Mapping[str, str],
    added: Mapping[str, str],
    *,
    notes: Sequence[str] = (),
) -> Table | None:
    """Return what further predictors explain beyond others, of each subject; none without results.

    *added* are the predictors with what they are added to (``sense+distance``); the results of each, of
    :func:`~lexiscope.analysis.norms.decomposition.variance_decomposition`, have the condition ``beside=PREDICTOR``.
    """
    records = records_of(results)
    columns = [
        Col(label, f"{kind}(of={of})", _THREE, where={"condition": f"beside={predictor}"})  # words: ok, stored name
        for predictor, block in added.items()
        if any(record.condition == f"beside={predictor}" for record in records)  # words: ok, stored name
        for label, kind, of in (
            (f"R² of {block.replace('+', ' and ')}", "r_squared", block),
            (f"… added by {predictor.replace('_', ' ')}", "unique_r_squared", predictor),
        )
    ]
    return pivot(name, title, records, columns, rows_of_subjects(titles), notes=notes) if columns else None


def differences_table(name: str, title: str, head: str, results: Iterable[Record | Result]) -> Table:
    """Return differences of the highest R² between two views, by subject, and the means of families below them."""
    cells: Mapping[Head, Callable[[Record], Cell]] = {
        "Subject or family": lambda record: record.subject or record.condition.replace("=", " "),
        (head, _THREE): record_cell,
        "Remark": lambda record: record.note or f"mean of {record.n}",
    }
    notes = (
        "Intervals resample words; the best layer of each view is found again in each resample; not adjusted for "
        "being many.",
    )
    records = records_of(results)
    own = [record for record in records if CHOSEN_LAYER not in record.statistic]
    return table_of(name, title, own, {**cells, **_allowing(records)(own)}, notes=notes)
