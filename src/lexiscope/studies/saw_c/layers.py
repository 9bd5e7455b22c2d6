"""Layer by layer: where distances separate senses (SAW-C §4.2, A.2), how well they predict relatedness (§4.3, §4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lexiscope.analysis.layers.expected_layer import OUTSIDE, expected_layers
from lexiscope.analysis.layers.layers import (
    RHO,
    R,
    aic_by_layer,
    best_results,
    r_by_layer,
    r_squared_by_layer,
    results_by_layer,
    rho_by_layer,
)
from lexiscope.analysis.layers.trajectory import distance_by_condition, last_layer_drop
from lexiscope.core.result import Curve, Estimate, Record, Result, Undefined, parse_statistic, statistic_name
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import value_of
from lexiscope.report.pivot import Col, pivot, rank_columns, records_of, rows_of_subjects
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.distributions import agreement_histogram, norms_by_distance
from lexiscope.report.plots.layers import aic_panels, distance_by_layer, peak_panels, trajectories
from lexiscope.report.presenting import file_name, trajectory_of
from lexiscope.report.tables import Format, Table
from lexiscope.studies.kit.run import Floats
from lexiscope.studies.saw_c.data import BETO, DIFFERENT, SAME, Distances, SawCData
from lexiscope.studies.saw_c.people import rater_agreements, raters_below

TWO = Format("number", 2)
ORDER = (SAME, DIFFERENT)
WORDS_95 = "95 % CI, words resampled"
FOCUS: Mapping[str, tuple[str, int | None]] = {"saw_c": (BETO, 12), "raw_c": ("bert", None)}
"""The subject that the paper of a dataset looks at most closely, and its layer (none: the one that fits best)."""
OF_NORMS = {"r_squared": r_squared_by_layer, R: r_by_layer, RHO: rho_by_layer}
CHOSEN_R2, CHOSEN_RHO = (
    statistic_name(plain, **parameters, layer="chosen")
    for plain, parameters in map(parse_statistic, ("r_squared", RHO))
)
"""R² and ρ at the best layer, allowing for its having been chosen on the same items."""
LOWEST_AIC, BEST_R2, BEST_RHO = "min_aic_over_layers", "max_r_squared_over_layers", "min_spearman_over_layers"
ALLOWING = "the layer chosen on the words drawn, the value of the words left out"
BY_RHO = "by −ρ at the layer of lowest ρ, chosen on the same items, the same layer in every resample"
AIC_CHOICE = (
    "No AIC allows for the choice of its layer. Where the items have norms, an R² in the table of relatedness by layer "
    "allows for that of its own layer."
)
RANK = statistic_name("rank", of="spearman", among="subjects")
EXPECTED_AIC, EXPECTED_R2 = (f"expected_layer(score={score},deltas=signed)" for score in ("aic", "r_squared"))


@dataclass(frozen=True, slots=True, eq=False)
class LayerFit:
    """The curves over layers of one subject in one view, by statistic; the reasons for those that are undefined."""

    distances: Distances
    curves: Mapping[str, Curve]
    undefined: tuple[Undefined, ...]

    @property
    def subject(self) -> str:
        """The subject's id."""
        return self.distances.subject

    @property
    def best(self) -> int | None:
        """The layer at which the subject fits people best (highest R²), ``None`` without layers."""
        curve = self.curves.get("r_squared")
        return None if curve is None or self.distances.layers is None else curve.best

    @property
    def highest(self) -> float | None:
        """The highest R²."""
        curve = self.curves.get("r_squared")
        return None if curve is None or curve.best is None else curve.best_value().value

    def results(self, *names: str, best: Sequence[str], then: Sequence[Estimate | Undefined]) -> list[Result]:
        """Return the statistics at every layer, those of *best* at their best layer, *then*, and what is undefined."""
        curves = [self.curves[name] for name in names if name in self.curves]
        results = [result for curve in curves for result in results_by_layer(curve)]
        results += [result for curve in curves if curve.statistic in best for result in best_results(curve)]
        if self.distances.layers is None:
            # the only column of a subject without layers has no number
            results = [result.about(layer=None) for result in results if not result.name.startswith("best_layer")]
        known = [result for result in then if isinstance(result, Estimate)]
        reasons = [result for result in then if isinstance(result, Undefined)]
        where = {"subject": self.subject, "view": self.distances.view}
        undefined = [result for result in self.undefined if result.name in names]
        return [result.about(**where) for result in (*results, *known, *undefined, *reasons)]


def fits(run: SawCData) -> tuple[LayerFit, ...]:
    """Return the curves of every subject in every view. *Source: SAW-C §4.2, §4.3.*"""
    return tuple(_fit(run, distances) for distances in run.distances)


def main_fits(run: SawCData) -> tuple[LayerFit, ...]:
    """Return the curves in the main view."""
    return tuple(fit for fit in run.once(fits) if fit.distances.view == run.settings.views[0])


def _fit(run: SawCData, distances: Distances) -> LayerFit:
    matrix, layers = distances.matrix, distances.layers
    makers = {}
    if run.same is not None:
        makers["aic"] = partial(aic_by_layer, matrix, run.same, layers=layers)
    if run.has_norm.any():
        for name, by_layer in OF_NORMS.items():
            # no table looks for the best r: that of the best layer is R² or ρ
            chosen = name != R and len(layers or ()) > 1
            makers[name] = partial(run.resample, by_layer, *run.on_norms(distances), layers=layers, choice=chosen)
    about = {"subject": distances.subject, "view": distances.view}
    results = {name: run.attempt(name, make, **about) for name, make in makers.items()}
    curves = {name: run.about(curve, **about) for name, curve in results.items() if isinstance(curve, Curve)}
    undefined = [
        replace(result, n=len(run.items) if name == "aic" else int(run.has_norm.sum()))
        for name, result in results.items()
        if isinstance(result, Undefined)
    ]
    return LayerFit(distances, curves, tuple(undefined))


# -- the sense boundary ---------------------------------------------------------------------------------------------


def boundary(run: SawCData) -> object:
    """Show at which layer distances separate the same sense from different senses. *Source: SAW-C §4.2, A.2.*"""
    results: list[Result] = []
    for fit in run.once(fits):
        matrix, layers = fit.distances.matrix, fit.distances.layers
        expected = expected_layers(matrix, run.senses == SAME, "aic", layers=layers) if layers else ()
        results += fit.results("aic", best=("aic",), then=expected)
    records, main = records_of(map(run.about, results)), run.once(main_fits)
    tables = [boundary_table(records, run.titles, view) for view in run.views]
    return records, tables, _distance_figure(run, main), _aic_figure(main, records)


def boundary_table(records: Sequence[Record], titles: Mapping[str, str], view: str) -> Table:
    """Return where each subject separates the senses best, and its Expected Layer by AIC."""
    weighted = "mean layer, weighted by what each layer adds to the layers before it; losses count as negative"
    columns = (
        Col(
            "Lowest AIC",
            LOWEST_AIC,
            TWO,
            note="logistic regression of same sense on distance, over layers; the layer is chosen on the same items, "
            "which the value does not allow for",
        ),
        Col("at layer", LOWEST_AIC, show="layer"),
        Col("AIC, intercept only", "aic(model=intercept_only)", TWO),
        Col("Expected layer (AIC)", EXPECTED_AIC, TWO, note=weighted),
    )
    notes = [
        f"{titles[record.subject]}{', expected layer' if record.statistic == EXPECTED_AIC else ''}: {record.note}"
        for record in records
        if record.view == view and record.subject in titles and record.note
        if record.statistic == LOWEST_AIC or (record.statistic == EXPECTED_AIC and OUTSIDE in record.note)
    ]
    if any(record.statistic == "best_layer(by=aic)" and record.view == view for record in records):
        notes.insert(0, AIC_CHOICE)
    title = f"Sense boundary by layer, view {view}"
    return pivot(
        f"boundary_{file_name(view)}", title, records, columns, rows_of_subjects(titles, view=view), notes=notes
    )


def _distance_figure(run: SawCData, main: Sequence[LayerFit]) -> Figure | None:
    """Mean distance by layer and sense, one panel per subject."""
    everything = np.full(len(run.items), True)
    means = [
        DrawnCurve.of_condition(fit.distances.title, fit.distances.layers, entry)
        for fit in main
        if fit.distances.layers
        for entry in run.resample(distance_by_condition, fit.distances.matrix, run.senses.tolist(), rows=everything)
    ]
    heading = Heading(
        *run.numbered("figure", "distance_by_layer", "3"),
        "Cosine distance by layer and sense",
        "Mean over usage pairs.",
    )
    return distance_by_layer(means, heading, interval=WORDS_95, order=ORDER) if means else None


def _drawn_curves(main: Sequence[LayerFit], statistic: str) -> dict[str, DrawnCurve]:
    """One statistic over the layers of each subject that has layers."""
    return {
        fit.subject: replace(
            trajectory_of(fit.curves[statistic]), subject=fit.distances.title, group=fit.distances.facts.family
        )
        for fit in main
        if statistic in fit.curves and fit.distances.matrix.shape[1] > 1
    }


def _aic_figure(main: Sequence[LayerFit], records: Sequence[Record]) -> Figure | None:
    """AIC by layer, one panel per subject, with the best layer and the Expected Layer."""
    paths = [
        replace(path, expected_layer=value_of(records, EXPECTED_AIC, subject=subject, view=main[0].distances.view))
        for subject, path in _drawn_curves(main, "aic").items()
    ]
    heading = Heading("aic_panels", "", "AIC of the sense boundary by layer", AIC_CHOICE)
    return aic_panels(paths, heading) if paths else None


# -- relatedness ----------------------------------------------------------------------------------------------------


def relatedness(run: SawCData) -> object:
    """Show how well distances predict the norms at each layer, and where models are among raters.

    *Source: SAW-C §4.3, §4.4.*
    """
    results: list[Result] = []
    for fit in run.once(fits):
        then: list[Estimate | Undefined] = []
        if numbers := fit.distances.layers:
            rated = run.on_norms(fit.distances)
            if run.has_norm.sum() >= 3:
                then += run.resample(expected_layers, *rated, "r_squared", layers=numbers)
            if "r_squared" in fit.curves and len(numbers) > 1:
                then += run.resample(last_layer_drop, fit.curves["r_squared"], *rated)
        results += map(run.about, fit.results("r_squared", R, RHO, best=("r_squared", RHO), then=then))
    for view in run.views:
        results += run.ranks(among=_nearness(run.once(fits), view), view=view)
    main = run.once(main_fits)
    layers = [(fit, layer_of(run, fit)) for fit in main if RHO in fit.curves]
    # distance falls where relatedness rises: a positive ρ is disagreement, not agreement
    near = {fit.subject: -rho for fit, layer in layers if (rho := _rho_at(fit, layer)) is not None}
    for fit, layer in layers:
        if fit.subject in near:
            results += raters_below(run, near[fit.subject], "−ρ", subject=fit.subject, layer=layer)
    records = records_of(results)
    compared = [(fit, layer) for fit, layer in layers if fit.subject in near]
    focus = [pair for pair in compared if pair[0].subject == focus_of(run)[0]] or compared[:1]
    return (
        records,
        [relatedness_table(records, run.titles, view) for view in run.views],
        agreement_figures(run, {fit.distances.title: near[fit.subject] for fit, _ in focus}),
        [_scatter(run, fit, layer) for fit, layer in focus],
        _trajectory_figures(run, main),
    )


def _nearness(of: Sequence[LayerFit], view: str) -> dict[tuple[str, int | None], Floats]:
    """Return the nearness of every subject of a view at its layer of lowest ρ: distance turned round."""
    shown = [(fit, fit.curves[RHO].best) for fit in of if fit.distances.view == view and RHO in fit.curves]
    layers = [(fit, None if fit.distances.layers is None else best) for fit, best in shown if best is not None]
    return {(fit.subject, layer): -fit.distances.at(layer) for fit, layer in layers}


def layer_of(run: SawCData, fit: LayerFit) -> int | None:
    """Return the layer at which a subject is compared with people: that of the paper, or the one that fits best."""
    subject, layer = focus_of(run)
    return layer if fit.subject == subject and layer is not None else fit.best


def focus_of(run: SawCData) -> tuple[str, int | None]:
    """Return the subject and the layer that the paper looks at; none on the user's own items, whatever their name."""
    return ("", None) if run.own else FOCUS.get(run.name, ("", None))


def _rho_at(fit: LayerFit, layer: int | None) -> float | None:
    curve = fit.curves[RHO]
    return (curve.values[-1] if layer is None else curve.at(layer)).value


def relatedness_table(records: Sequence[Record], titles: Mapping[str, str], view: str) -> Table:
    """Return where each subject fits people best, how well, and how much is lost at its last layer."""
    columns = [
        Col("Highest R²", BEST_R2, note="of the regression of norms on distance, over layers"),
        Col("at layer", BEST_R2, show="layer"),
        Col("R², choice allowed for", CHOSEN_R2, note=ALLOWING),
        Col("Lowest ρ", BEST_RHO, note="most negative over layers"),
        Col("at layer", BEST_RHO, show="layer"),
        Col("ρ, choice allowed for", CHOSEN_RHO, note=ALLOWING),
        *rank_columns(records, RANK, BY_RHO, view=view),
        Col("Expected layer (R²)", EXPECTED_R2, TWO),
        Col("Last-layer drop", "last_layer_drop", note="share of the highest R² that is lost at the last layer"),
    ]
    notes = ("Intervals resample words; those of the highest R² and the lowest ρ do not allow for the layer's choice.",)
    title = f"Relatedness by layer, view {view}"
    return pivot(
        f"relatedness_{file_name(view)}", title, records, columns, rows_of_subjects(titles, view=view), notes=notes
    )


def agreement_figures(run: SawCData, focus: Mapping[str, float]) -> Iterator[Figure]:
    """The agreement of single raters under each definition, with the subjects' places in it."""
    definitions = {
        "leave_one_out": ("agreement", "4a", "true leave-one-out"),
        "included": ("agreement_included", "4b", "own rating included"),
    }
    for raters in run.once(rater_agreements):
        name, number, definition = definitions[raters.variant]
        heading = Heading(*run.numbered("figure", name, number), f"Agreement of single raters ({definition})")
        yield agreement_histogram(raters.values, focus, heading, definition=definition)


def _scatter(run: SawCData, fit: LayerFit, layer: int | None) -> Figure | None:
    """The norms against the distances of one subject at one layer."""
    if run.same is None or R not in fit.curves:
        return None
    r, rho = (fit.curves[name] for name in (R, RHO))
    at = r.values[-1].layer if layer is None else layer
    return norms_by_distance(
        run.norm[run.has_norm],
        fit.distances.at(layer)[run.has_norm],
        run.senses[run.has_norm],
        Heading("norms_by_distance", "", f"Norms against distances: {fit.distances.title}"),
        subject=fit.distances.title,
        layer="" if layer is None else f"layer {layer}",
        r=r.at(at).value or float("nan"),
        rho=rho.at(at).value or float("nan"),
        order=ORDER,
    )


def _trajectory_figures(run: SawCData, main: Sequence[LayerFit]) -> tuple[Figure, ...]:
    """R² by layer: all subjects together, and one panel per subject with peak and last-layer drop."""
    paths = list(_drawn_curves(main, "r_squared").values())
    if not paths:
        return ()
    seven = Heading(*run.numbered("figure", "trajectories", "7"), "R² by layer")
    nine = Heading(*run.numbered("figure", "trajectory_panels", "9"), "R² by layer, one panel per subject")
    return trajectories(paths, seven, statistic="R²"), peak_panels(paths, nine, interval=WORDS_95)
