"""Layer by layer: where distances separate senses (SAW-C §4.2, A.2), how well they predict relatedness (§4.3, §4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lexiscope.analysis.condition_layers import distance_by_condition
from lexiscope.analysis.expected_layer import (
    OUTSIDE,
    CumulativeScores,
    Variant,
    cumulative_aic,
    cumulative_r_squared,
    expected_layer,
)
from lexiscope.analysis.layer_intervals import expected_layer_r_squared_interval, last_layer_drop_interval
from lexiscope.analysis.layers import RHO, R, aic_by_layer, r_by_layer, r_squared_by_layer, rho_by_layer
from lexiscope.analysis.trajectory import trajectory
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import (
    NO_INTERVAL,
    Curve,
    Estimate,
    Interval,
    Record,
    Result,
    Undefined,
    parse_statistic,
    statistic_name,
)
from lexiscope.report.curves import LayerMeans, Trajectory
from lexiscope.report.figure_layers import distance_by_layer, trajectories
from lexiscope.report.figure_panels import aic_panels, peak_panels
from lexiscope.report.figure_people import Place, agreement_histogram, norms_by_distance
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import pick
from lexiscope.report.pivot import Col, Row, pivot, records_of
from lexiscope.report.presenting import trajectory_of
from lexiscope.report.tables import Format, Table
from lexiscope.studies.saw_c.data import BETO, DIFFERENT, SAME, Distances, SawCData
from lexiscope.studies.saw_c.people import agreement, places

TWO = Format("number", 2)
ORDER = (SAME, DIFFERENT)
WORDS_95 = "95 % CI, words resampled"
FOCUS: Mapping[str, tuple[str, int | None]] = {"saw_c": (BETO, 12), "raw_c": ("bert", None)}
"""The subject that the paper of a dataset looks at most closely, and its layer (none: the one that fits best)."""
NO_BOUNDARY = "no layer separates the senses"
"""How the note of a lowest AIC begins that is not below the AIC of the intercept alone."""
SEPARATED = "the senses are separated without error"
"""How the reason begins for a lowest AIC that is undefined because a layer separates the senses perfectly."""
OF_NORMS = {"r_squared": r_squared_by_layer, R: r_by_layer, RHO: rho_by_layer}
VARIANTS: tuple[Variant, ...] = ("signed", "clipped", "from_intercept")
LOWEST_AIC, BEST_R2, BEST_RHO = "min_aic_over_layers", "max_r_squared_over_layers", "min_spearman_over_layers"
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

    def at(self, statistic: str, layer: int) -> Estimate | Undefined:
        """Return a statistic at one layer, with the subject and the view that it is of."""
        found = self.curves[statistic].estimate(layer)
        if isinstance(found, Estimate) and not found.interval.is_defined:
            # the note says already why the interval has no ends
            found = replace(found, interval=NO_INTERVAL)
        return found.about(layer=None if self.distances.layers is None else layer)


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
    if run.rated.any():
        for name, by_layer in OF_NORMS.items():
            makers[name] = partial(run.resampled, by_layer, *run.on_norms(distances), layers=layers)
    about = {"subject": distances.subject, "view": distances.view}
    made = {name: run.attempt(name, make, **about) for name, make in makers.items()}
    curves = {name: run.about(curve, **about) for name, curve in made.items() if isinstance(curve, Curve)}
    return LayerFit(distances, curves, tuple(one for one in made.values() if isinstance(one, Undefined)))


# -- the numbers of one subject -------------------------------------------------------------------------------------


def _by_layer(run: SawCData, fit: LayerFit, best: Mapping[str, str], expected: Sequence[Result]) -> list[Result]:
    """The numbers of curves at every layer and at their best layer, then *expected*, then what is undefined.

    *best* names the curves and says which end of each is best, if any.
    """
    found = [
        *_curve_results(run, fit, best),
        *(one for one in expected if not isinstance(one, Undefined)),
        *(one for one in fit.undefined if one.name in best),
        *(one for one in expected if isinstance(one, Undefined)),
    ]
    n = len(run.items) if "aic" in best else int(run.rated.sum())
    where = {"subject": fit.subject, "view": fit.distances.view}
    return [run.about(replace(one, n=n) if isinstance(one, Undefined) else one, **where) for one in found]


def _curve_results(run: SawCData, fit: LayerFit, best: Mapping[str, str]) -> Iterator[Result]:
    curves = [fit.curves[name] for name in best if name in fit.curves]
    for curve in curves:
        yield from (fit.at(curve.statistic, point.layer) for point in curve.values)
        if curve.baseline is not None:
            yield Estimate(statistic_name(curve.statistic, model="intercept_only"), curve.baseline, n=curve.n)
    for curve in curves:
        if best[curve.statistic] and curve.best is not None:
            plain = parse_statistic(curve.statistic)[0]
            yield from _best_results(run, fit, curve, f"{best[curve.statistic]}_{plain}_over_layers")


def _best_results(run: SawCData, fit: LayerFit, curve: Curve, name: str) -> Iterator[Result]:
    """The best value and its layer, with what to know about them."""
    by, layer = statistic_name("best_layer", by=parse_statistic(curve.statistic)[0]), curve.best_value().layer
    separated = ", ".join(map(str, separated_layers(curve)))
    if separated:
        # another layer's AIC must not pass for the lowest
        why = f"{SEPARATED} at layer {separated}: no finite AIC"
        yield from (Undefined(one, why, curve.n) for one in (name, by))
        return
    caution = _caution_of_aic(run, fit, curve) if curve.statistic == "aic" else _wrong_direction(fit, layer)
    found, note = fit.at(curve.statistic, layer), "; ".join(filter(None, (curve.best_value().remark, caution)))
    if isinstance(found, Estimate):
        yield replace(found, name=name, note=note)
    if fit.distances.layers is not None:
        tied = f"tied with layers {curve.tied}" if len(curve.tied) > 1 else ""
        note = "; ".join(filter(None, (tied, note)))
        yield Estimate(by, float(layer), n=curve.n, unit="layer", note=note)


def separated_layers(curve: Curve) -> tuple[int, ...]:
    """Return the layers whose distances separate the senses without error: their AIC is not finite."""
    return tuple(point.layer for point in curve.values if point.value is None and "separate" in point.remark)


def _caution_of_aic(run: SawCData, fit: LayerFit, curve: Curve) -> str:
    """Whether even the lowest AIC separates nothing, or pairs with the same sense are farther apart there."""
    lowest, base = curve.best_value(), curve.baseline
    if base is not None and lowest.value is not None and lowest.value >= base:
        return f"{NO_BOUNDARY}: no AIC is below that of a model without distance ({base:.2f})"
    values, same = fit.distances.at(lowest.layer), np.asarray(run.same, dtype=bool)
    near, far = float(values[same].mean()), float(values[~same].mean())
    if near <= far:
        return ""
    means = f"mean distance {near:.3f} against {far:.3f}"
    return f"the wrong direction: pairs with the same sense are farther apart ({means})"


def _wrong_direction(fit: LayerFit, layer: int) -> str:
    r = fit.curves[R].at(layer).value if R in fit.curves else None
    if r is None or r <= 0:
        return ""
    return f"the wrong direction: pairs that are further apart are rated as more related (r = {r:.3f})"


def _expected_layers(
    run: SawCData,
    fit: LayerFit,
    score: str,
    cumulate: Callable[[], CumulativeScores],
    resample: Callable[[], Interval] | None = None,
) -> list[Result]:
    """The Expected Layer under each treatment of losses; the published one with an interval. *Source: SAW-C A.2.*"""
    name = partial(statistic_name, "expected_layer", score=score)

    def cumulative() -> CumulativeScores:
        if not fit.distances.is_whole:
            raise StatisticError(f"an expected layer needs all layers from 0 on, not {fit.distances.layers}")
        return cumulate()

    def layer(scores: CumulativeScores, variant: Variant) -> Estimate:
        found = expected_layer(scores, variant=variant)
        interval = run.attempt(found.name, resample) if resample and variant == "signed" else NO_INTERVAL
        ends = NO_INTERVAL if isinstance(interval, Undefined) else interval
        return Estimate(found.name, found.value, ends, scores.n, unit="layers", note="; ".join(found.remarks))

    if fit.distances.layers is None:
        return []
    scores = run.attempt(name(), cumulative)
    if isinstance(scores, Undefined):
        return [scores]
    return [run.attempt(name(deltas=variant), partial(layer, scores, variant)) for variant in VARIANTS]


# -- the sense boundary ---------------------------------------------------------------------------------------------


def boundary(run: SawCData) -> object:
    """Show at which layer distances separate the same sense from different senses. *Source: SAW-C §4.2, A.2.*"""
    results: list[Result] = []
    for fit in run.once(fits):
        cumulate = partial(cumulative_aic, fit.distances.matrix, run.senses == SAME)
        results += _by_layer(run, fit, {"aic": "min"}, _expected_layers(run, fit, "aic", cumulate))
    records, main = records_of(results), run.once(main_fits)
    tables = [boundary_table(records, run.titles, view) for view in run.views]
    return records, tables, _distance_figure(run, main), _aic_figure(main, records)


def boundary_table(records: Sequence[Record], titles: Mapping[str, str], view: str) -> Table:
    """Return where each subject separates the senses best, and its Expected Layer by AIC."""
    weighted = "mean layer, weighted by what each layer adds to the layers before it; losses count as negative"
    columns = (
        Col("Lowest AIC", LOWEST_AIC, TWO, note="logistic regression of same sense on distance, over layers"),
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
    title = f"Sense boundary by layer, view {view}"
    return pivot(f"boundary_{slug(view)}", title, records, columns, rows_of_subjects(titles, view=view), notes=notes)


def rows_of_subjects(titles: Mapping[str, str], **where: object) -> list[Row]:
    """Return a row of a table for each subject."""
    return [Row((title,), {"subject": subject, **where}) for subject, title in titles.items()]


def slug(text: str) -> str:
    """Return a text as part of a file's name."""
    return "".join(letter if letter.isalnum() else "_" for letter in text)


def _distance_figure(run: SawCData, main: Sequence[LayerFit]) -> Figure | None:
    """Mean distance by layer and sense, one panel per subject."""
    everything = np.full(len(run.items), True)
    means = [
        LayerMeans(
            fit.distances.title,
            entry.condition,
            np.array(fit.distances.layers),
            entry.mean,
            np.array([interval.low for interval in entry.intervals]),
            np.array([interval.high for interval in entry.intervals]),
            entry.n,
        )
        for fit in main
        if fit.distances.layers
        for entry in run.resampled(distance_by_condition, fit.distances.matrix, run.senses.tolist(), rows=everything)
    ]
    heading = Heading("figure_3_distance_by_layer", "3", "Cosine distance by layer and sense", "Mean over usage pairs.")
    return distance_by_layer(means, heading, interval=WORDS_95, order=ORDER) if means else None


def _drawn(main: Sequence[LayerFit], statistic: str) -> dict[str, Trajectory]:
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
    curves = {fit.subject: fit.curves["aic"] for fit in main if "aic" in fit.curves}
    paths = []
    for subject, path in _drawn(main, "aic").items():
        found = pick(records, EXPECTED_AIC, subject=subject, view=main[0].distances.view)
        expected, base = found.value if found else None, curves[subject].baseline
        separated = separated_layers(curves[subject])
        paths.append(replace(path, expected_layer=expected, baseline=base, separated=separated))
    heading = Heading("figure_11_aic_panels", "11", "AIC of the sense boundary by layer")
    return aic_panels(paths, heading) if paths else None


# -- relatedness ----------------------------------------------------------------------------------------------------


def relatedness(run: SawCData) -> object:
    """Show how well distances predict the norms at each layer, and where models are among raters.

    *Source: SAW-C §4.3, §4.4.*
    """
    results: list[Result] = []
    for fit in run.once(fits):
        rated, expected = run.on_norms(fit.distances), list[Result]()
        if run.rated.sum() >= 3:
            resample = partial(run.resampled, expected_layer_r_squared_interval, *rated)
            expected = _expected_layers(run, fit, "r_squared", partial(cumulative_r_squared, *rated), resample)
        best = {"r_squared": "max", R: "", RHO: "min"}
        results += _by_layer(run, fit, best, [*expected, *_drop(run, fit)])
    main = run.once(main_fits)
    layers = [(fit, layer_of(run, fit)) for fit in main if RHO in fit.curves]
    # distance falls where relatedness rises: a positive ρ is disagreement, not agreement
    near = {fit.subject: -rho for fit, layer in layers if (rho := _rho(fit, layer)) is not None}
    for fit, layer in layers:
        if fit.subject in near:
            results += places(run, near[fit.subject], "−ρ", subject=fit.subject, layer=layer)
    records = records_of(results)
    found = [(fit, layer) for fit, layer in layers if fit.subject in near]
    focus = [one for one in found if one[0].subject == focus_of(run)[0]] or found[:1]
    return (
        records,
        [relatedness_table(records, run.titles, view) for view in run.views],
        _agreement_figures(run, [Place(fit.distances.title, near[fit.subject]) for fit, _ in focus]),
        [_scatter(run, fit, layer) for fit, layer in focus],
        _trajectory_figures(main),
    )


def layer_of(run: SawCData, fit: LayerFit) -> int | None:
    """Return the layer at which a subject is compared with people: that of the paper, or the one that fits best."""
    subject, layer = focus_of(run)
    return layer if fit.subject == subject and layer is not None else fit.best


def focus_of(run: SawCData) -> tuple[str, int | None]:
    """Return the subject and the layer that the paper looks at; none on the user's own items, whatever their name."""
    return ("", None) if run.own else FOCUS.get(run.name, ("", None))


def _rho(fit: LayerFit, layer: int | None) -> float | None:
    curve = fit.curves[RHO]
    return (curve.values[-1] if layer is None else curve.at(layer)).value


def _drop(run: SawCData, fit: LayerFit) -> list[Result]:
    """What of the highest R² is lost at the last layer. *Source: SAW-C §5.3.*"""
    curve = fit.curves.get("r_squared")
    if curve is None or fit.distances.matrix.shape[1] < 2:
        return []
    # a layer without an R² (constant distances) explains nothing
    path = run.attempt("last_layer_drop", partial(trajectory, np.nan_to_num(curve.array(), nan=0.0)))
    if isinstance(path, Undefined):
        return [path]
    note = f"{path.shape} at a threshold of {path.threshold}"
    if curve.values[-1].value is None:
        note += f"; the last layer counts as 0: {curve.values[-1].remark}"
    resample = partial(run.resampled, last_layer_drop_interval, *run.on_norms(fit.distances))
    interval = run.attempt("last_layer_drop", resample)
    ends = NO_INTERVAL if isinstance(interval, Undefined) else interval
    return [
        Estimate("last_layer_drop", path.last_layer_drop, ends, curve.n, note=note),
        Estimate("last_over_max_r_squared", 1 - path.last_layer_drop, n=curve.n),
    ]


def relatedness_table(records: Sequence[Record], titles: Mapping[str, str], view: str) -> Table:
    """Return where each subject fits people best, how well, and how much is lost at its last layer."""
    columns = (
        Col("Highest R²", BEST_R2, note="of the regression of norms on distance, over layers"),
        Col("at layer", BEST_R2, show="layer"),
        Col("Lowest ρ", BEST_RHO, note="most negative over layers"),
        Col("at layer", BEST_RHO, show="layer"),
        Col("Expected layer (R²)", EXPECTED_R2, TWO),
        Col("Last-layer drop", "last_layer_drop", note="share of the highest R² that is lost at the last layer"),
    )
    notes = ("Intervals resample words; they do not allow for the choice of the best layer.",)
    title = f"Relatedness by layer, view {view}"
    return pivot(f"relatedness_{slug(view)}", title, records, columns, rows_of_subjects(titles, view=view), notes=notes)


def _agreement_figures(run: SawCData, focus: Sequence[Place]) -> Iterator[Figure]:
    """The agreement of single raters under each definition, with the subjects' places in it."""
    definitions = {
        "leave_one_out": ("figure_4_agreement", "4a", "true leave-one-out"),
        "included": ("figure_4b_agreement_included", "4b", "own rating included"),
    }
    for one in run.once(agreement):
        name, number, definition = definitions[one.variant]
        heading = Heading(name, number, f"Agreement of single raters ({definition})")
        yield agreement_histogram(one.values, focus, heading, definition=definition)


def _scatter(run: SawCData, fit: LayerFit, layer: int | None) -> Figure | None:
    """The norms against the distances of one subject at one layer."""
    if run.same is None or R not in fit.curves:
        return None
    r, rho = (fit.curves[name] for name in (R, RHO))
    at = r.values[-1].layer if layer is None else layer
    return norms_by_distance(
        run.norm[run.rated],
        fit.distances.at(layer)[run.rated],
        run.senses[run.rated],
        Heading("norms_by_distance", "", f"Norms against distances: {fit.distances.title}"),
        subject=fit.distances.title,
        layer="" if layer is None else f"layer {layer}",
        r=r.at(at).value or float("nan"),
        rho=rho.at(at).value or float("nan"),
        order=ORDER,
    )


def _trajectory_figures(main: Sequence[LayerFit]) -> tuple[Figure, ...]:
    """R² by layer: all subjects together, and one panel per subject with peak and last-layer drop."""
    paths = list(_drawn(main, "r_squared").values())
    if not paths:
        return ()
    seven = Heading("figure_7_trajectories", "7", "R² by layer")
    nine = Heading("figure_9_trajectory_panels", "9", "R² by layer, one panel per subject")
    return trajectories(paths, seven, statistic="R²"), peak_panels(paths, nine, interval=WORDS_95)
