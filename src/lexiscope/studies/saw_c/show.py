"""Tables of the study: what is shown of the records, under the paper's table numbers where it has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.expected_layer import OUTSIDE
from lexiscope.analysis.mixed_reduction import Reduction
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import pick, shown
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import BOUNDED, INTEGER, P_VALUE, Cell, Column, Format, Missing, Table
from lexiscope.studies.saw_c.names import NO_BOUNDARY
from lexiscope.studies.saw_c.plans import Tested

TWO = Format("number", 2)
THREE = Format("number", 3)
COMPUTED = Format("number", 3)
_EXPECTED = "mean layer, weighted by what each layer adds to the layers before it; losses count as negative"


def count_table(name: str, number: str, title: str, rows: Sequence[tuple[str, Record]]) -> Table:
    """Return a table of single numbers."""
    columns = (Column("Quantity"), Column("Value", Format("number", 2), align="right"))
    return Table(name, number, title, columns, tuple((label, _counted(record)) for label, record in rows))


def _counted(record: Record) -> Cell:
    """A whole number without decimals, any other with two."""
    if record.value is None:
        return Missing(record.note)
    return f"{record.value:,.0f}" if record.value == int(record.value) else record.value


def registry_table(facts: Sequence[SubjectFacts]) -> Table:
    """Return Table 2: the subjects."""
    columns = (
        Column("Subject"),
        Column("Model"),
        Column("Family"),
        Column("Languages"),
        Column("Layers", INTEGER),
        Column("Parameters", INTEGER),
        Column("Tokenizer"),
        Column("Objective"),
        Column("Training text"),
        Column("Revision"),
    )
    rows = [
        (
            fact.title or fact.subject_id,
            fact.subject_id,
            fact.family,
            "multilingual" if fact.multilingual else ", ".join(fact.languages),
            fact.n_layers,
            fact.n_parameters,
            fact.tokenizer,
            fact.objective,
            fact.corpus,
            fact.revision[:12],
        )
        for fact in facts
    ]
    return drop_empty(Table("table_2_subjects", "2", "The model subjects", columns, tuple(rows)))


def tokenisation_table(records: Sequence[Record], facts: Sequence[SubjectFacts]) -> Table:
    """Return Table 3: token differences within a pair and tokens per target."""
    titles = {fact.subject_id: fact.title or fact.subject_id for fact in facts}
    columns = (
        Column("Subject"),
        Column("View"),
        Column("Difference, mean", THREE, note="tokens by which the two sentences of a pair differ"),
        Column("Mode", INTEGER),
        Column("Max", INTEGER),
        Column("Target tokens", THREE, note="mean over distinct words"),
        Column("… over pairs", THREE),
    )
    statistics = [statistic_name("token_difference", summary=s) for s in ("mean", "mode", "max")]
    statistics += [statistic_name("target_tokens", mean_over=over) for over in ("words", "pairs")]
    # the final stop is one token in both sentences: where the views agree, they are one row
    rows: dict[tuple[Cell, ...], list[str]] = {}
    for subject, view in dict.fromkeys((record.subject, record.view) for record in records):
        numbers = (shown(pick(records, s, subject=subject, view=view)) for s in statistics)
        rows.setdefault((titles.get(subject, subject), *numbers), []).append(view)
    cells = tuple((row[0], ", ".join(views), *row[1:]) for row, views in rows.items())
    return Table("table_3_tokens", "3", "How the subjects' tokenizers cut the stimuli", columns, cells)


def boundary_table(records: Sequence[Record], titles: Mapping[str, str], view: str) -> Table:
    """Return where each subject separates the senses best, and its Expected Layer by AIC."""
    columns = (
        Column("Subject"),
        Column("Lowest AIC", TWO, note="logistic regression of same sense on distance, over layers"),
        Column("at layer", INTEGER),
        Column("AIC, intercept only", TWO),
        Column("Expected layer (AIC)", TWO, note=_EXPECTED),
    )
    names = ("min_aic_over_layers", "aic(model=intercept_only)", "expected_layer(score=aic,deltas=signed)")
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for subject, label in titles.items():
        lowest, baseline, expected = (pick(records, name, subject=subject, view=view) for name in names)
        rows.append((label, shown(lowest), lowest.layer if lowest else None, shown(baseline), shown(expected)))
        notes += [f"{label}: {lowest.note}"] if lowest and lowest.note else []
        notes += [f"{label}, expected layer: {expected.note}"] if expected and OUTSIDE in expected.note else []
    title = f"Sense boundary by layer, view {view}"
    return Table(f"boundary_{_slug(view)}", "", title, columns, tuple(rows), tuple(notes))


def relatedness_table(records: Sequence[Record], titles: Mapping[str, str], view: str) -> Table:
    """Return where each subject fits people best, how well, and how much is lost at its last layer."""
    columns = (
        Column("Subject"),
        Column("Highest R²", BOUNDED, note="of the regression of norms on distance, over layers"),
        Column("at layer", INTEGER),
        Column("Lowest ρ", BOUNDED, note="most negative over layers"),
        Column("at layer", INTEGER),
        Column("Expected layer (R²)", TWO),
        Column("Last-layer drop", BOUNDED, note="share of the highest R² that is lost at the last layer"),
    )
    names = ("max_r_squared_over_layers", "min_spearman_over_layers")
    rows: list[tuple[Cell, ...]] = []
    for subject, label in titles.items():
        r_squared, rho = (pick(records, name, subject=subject, view=view) for name in names)
        expected = pick(records, "expected_layer(score=r_squared,deltas=signed)", subject=subject, view=view)
        drop = pick(records, "last_layer_drop", subject=subject, view=view)
        best = (shown(r_squared), r_squared.layer if r_squared else None, shown(rho), rho.layer if rho else None)
        rows.append((label, *best, shown(expected), shown(drop)))
    notes = ("Intervals resample words; they do not allow for the choice of the best layer.",)
    return Table(f"relatedness_{_slug(view)}", "", f"Relatedness by layer, view {view}", columns, tuple(rows), notes)


_SIZE_LABELS = {
    "slope(of=log10_parameters,outcome=max_r_squared)": "Gain in R² per tenfold parameters",
    "standard_error(of=log10_parameters)": "… its standard error",
    "slope(of=multilingual,outcome=max_r_squared)": "Multilingual against monolingual",
    "r_squared(of=scaling)": "R² of this regression",
    "pearson(of=log10_parameters)": "r of highest R² with log10 parameters",
}


def size_table(records: Sequence[Record], condition: str) -> Table:
    """Return the regression of fit on size."""
    columns = (Column("Term"), Column("Value", Format("number", 4)), Column("p", P_VALUE), Column("n", INTEGER))
    wanted = [r for r in records if r.statistic in _SIZE_LABELS]
    rows = [(_SIZE_LABELS[r.statistic], shown(r), r.p, r.n) for r in wanted]
    view = records[0].view if records else ""
    title = f"Highest R² of each subject against its size, view {view}" + (f", {condition}" if condition else "")
    name = f"size_{_slug(view)}" + (f"_{_slug(condition)}" if condition else "")
    return Table(name, "", title, columns, tuple(rows))


def stop_table(records: Sequence[Record]) -> Table:
    """Return what a final stop changes in the fit, by subject and by family."""
    columns = (Column("Subject or family"), Column("Highest R², with − without", Format("number", 3)), Column("Remark"))
    rows = [(r.subject or r.condition.replace("=", " "), shown(r), r.note or f"mean of {r.n}") for r in records]
    return Table("final_stop", "", "What a final stop changes", columns, tuple(rows))


def _slug(view: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in view)


def explained_table(records: Sequence[Record], titles: Mapping[str, str]) -> Table:
    """Return R² of sense, distance and both, for every subject and layer."""
    names = [("sense", "r_squared(of=sense)"), ("distance", "r_squared(of=distance)")]
    names += [("both", "r_squared(of=sense+distance)"), ("sense only", "unique_r_squared(of=sense)")]
    names += [("distance only", "unique_r_squared(of=distance)"), ("shared", "shared_r_squared(of=sense+distance)")]
    columns = (Column("Subject"), Column("Layer", INTEGER), *(Column(label, BOUNDED) for label, _ in names))
    keys = list(dict.fromkeys((r.subject, r.layer) for r in records if r.statistic == names[0][1]))
    rows = [
        (titles[subject], layer, *(shown(pick(records, s, subject=subject, layer=layer)) for _, s in names))
        for subject, layer in keys
    ]
    notes = ("Unadjusted R² of linear regressions of the norms; intervals resample words.",)
    return Table(
        "explained_variance", "", "Variance of the norms that sense and distance explain", columns, tuple(rows), notes
    )


def residual_table(records: Sequence[Record], titles: Mapping[str, str]) -> Table:
    """Return the mean residuals by sense, for every subject."""
    columns = (
        Column("Subject"),
        Column("Regression"),
        Column("Layer", INTEGER),
        Column("Same sense", TWO),
        Column("Different sense", TWO),
    )
    found = [r for r in records if r.statistic.startswith("mean_residual")]
    keys = list(dict.fromkeys((r.subject, r.statistic, r.layer) for r in found))
    rows = []
    for subject, statistic, layer in keys:
        model = statistic.partition("model=")[2].rstrip(")").replace("~", " ~ ").replace("*", " × ")
        cells = [
            shown(pick(found, statistic, subject=subject, layer=layer, condition=f"same_sense={same}"))
            for same in (True, False)
        ]
        rows.append((titles[subject], model, layer, *cells))
    notes = ("Positive: people see more relatedness than the distance predicts. Intervals resample words.",)
    return Table("residuals_by_sense", "", "Mean residuals by sense", columns, tuple(rows), notes)


def test_table(tested: Sequence[Tested], name: str) -> Table:
    """Return the likelihood-ratio tests, each with its random-effects formula."""
    columns = (
        Column("Test"),
        Column("χ²", TWO),
        Column("df", INTEGER),
        Column("p", P_VALUE),
        Column("Random effects, in both models"),
        Column("log L full", TWO),
        Column("log L reduced", TWO),
        Column("Remarks"),
    )
    rows: list[tuple[Cell, ...]] = []
    for entry in tested:
        label, out = entry.test.name.replace("_", " "), entry.outcome
        if out is None:
            rows.append((label, Missing(entry.reason), *(None,) * 5, entry.reason))
            continue
        likelihoods = (out.full.log_likelihood, out.reduced.log_likelihood)
        rows.append((label, out.chi2, out.df, out.p, out.random_effects, *likelihoods, "; ".join(out.remarks)))
    places = [f"{entry.test.name.replace('_', ' ')}: {entry.test.place}" for entry in tested if entry.test.place]
    said = (f"Places: {'; '.join(places)}.",) if places else ()
    notes = ("Maximum likelihood; predictors raw. A χ² holds for its random effects only.", *said)
    title = "Likelihood-ratio tests of the mixed models"
    return drop_empty(Table(f"mixed_model_tests_{name}", "", title, columns, tuple(rows), notes))


def reduction_table(logs: Sequence[tuple[str, Reduction]]) -> Table:
    """Return every step from the maximal model to the one that is kept, with the reason for it."""
    columns = (
        Column("Test"),
        Column("Step", INTEGER),
        Column("Random effects"),
        Column("Removed"),
        Column("Reason"),
        Column("log L", THREE),
        Column("Parameters", INTEGER),
        Column("Converged"),
        Column("Singular"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, log in ((name.replace("_", " "), log) for name, log in logs):
        for number, step in enumerate(log.steps, start=1):
            how = ("yes" if step.converged else "no", "yes" if step.singular else "no")
            fitted = (step.log_likelihood, step.n_parameters, *how)
            rows.append((name, number, step.random_effects, step.removed, step.reason, *fitted))
    notes = (logs[0][1].rule,) if logs else ()
    return Table("reduction", "", "From the maximal model to the one that is kept", columns, tuple(rows), notes)


def variance_table(tested: Sequence[Tested], name: str) -> Table:
    """Return fixed effects and variance components of the full models."""
    columns = (
        Column("Test"),
        Column("Part"),
        Column("Term"),
        Column("Estimate", THREE),
        Column("SE or SD", THREE),
        Column("df or r"),
    )
    rows: list[tuple[Cell, ...]] = []
    shown_already: set[str] = set()
    for entry in tested:
        if entry.outcome is None or entry.outcome.full.formula in shown_already:
            continue
        fit, label = entry.outcome.full, entry.test.name.replace("_", " ")
        shown_already.add(fit.formula)
        for effect in fit.fixed:
            df = f"df = {effect.df:.2f}" if effect.df is not None else effect.df_reason
            rows.append((label, "fixed", effect.name, effect.estimate, effect.se, df))
        for part in fit.variances:
            r = ", ".join(f"r = {value:.3f} with {term}".replace("-", "−") for term, value in part.correlations)
            rows.append((label, f"by {part.group}", part.term, part.variance, part.sd, r))
        rows.append((label, "residual", "", fit.residual_variance, fit.residual_variance**0.5, ""))
    notes = ("Fixed effects: estimate and standard error. Random effects: variance and standard deviation.",)
    return Table(f"mixed_model_estimates_{name}", "", "Estimates of the full mixed models", columns, tuple(rows), notes)


def overview_table(records: Sequence[Record], view: str) -> Table:
    """Return the shortest account of a run: every subject's best layer and fit, and the human ceiling by name."""
    columns = (
        Column("Subject"),
        Column("Best layer", INTEGER, note="highest R² of the regression of norms on distance"),
        Column("R²", BOUNDED),
        Column("ρ", BOUNDED, note="most negative over layers"),
        Column("Sense boundary", INTEGER, note="layer of lowest AIC, if below that of a model without distance"),
    )
    rows: list[tuple[Cell, ...]] = []
    # items without senses give no AIC, items without ratings no R²: either is enough for a row
    either = ("min_aic_over_layers", "max_r_squared_over_layers")
    for subject in dict.fromkeys(r.subject for r in records if r.statistic in either and r.view == view):
        where = {"subject": subject, "view": view}
        found = [pick(records, f"{name}_over_layers", **where) for name in ("max_r_squared", "min_spearman", "min_aic")]
        r_squared, rho, aic = found
        fit = (r_squared.layer if r_squared else None, shown(r_squared), shown(rho, interval=False))
        boundary = Missing(aic.note) if aic and NO_BOUNDARY in aic.note else aic.layer if aic else None
        rows.append((subject, *fit, boundary))
    agreement = pick(records, "leave_one_out_agreement(method=spearman,summary=mean)")
    people = ("people (leave-one-out)", None, None, shown(agreement, interval=False), None) if agreement else None
    return Table("overview", "", "People and models", columns, tuple(rows) + ((people,) if people else ()))
