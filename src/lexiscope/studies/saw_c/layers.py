"""Layer by layer: where distances separate senses (SAW-C §4.2, A.2), how well they predict relatedness (§4.3, §4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lexiscope.analysis.layers.expected_layer import expected_layers
from lexiscope.analysis.layers.intervals import best_contrasts, layer_contrasts
from lexiscope.analysis.layers.layer_fits import LayerFit, fit_layers
from lexiscope.analysis.layers.layers import HELD_OUT_RESIDUAL, RHO, R, held_out_residuals
from lexiscope.analysis.layers.trajectory import distance_by_condition, last_layer_drop
from lexiscope.core.result import Estimate, Record, Result, Undefined
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import value_of
from lexiscope.report.parts import layer_parts as parts
from lexiscope.report.pivot import records_of
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.distributions import agreement_histogram, norms_by_distance
from lexiscope.report.plots.layers import aic_panels, distance_by_layer, peak_panels, trajectories
from lexiscope.studies.saw_c.data import BETO, DIFFERENT, NOT_IN_PAPER, SAME, SawCData
from lexiscope.studies.saw_c.people import rater_agreements, raters_below

ORDER = (SAME, DIFFERENT)
WORDS_95 = "95 % CI, words resampled"
FOCUS: Mapping[str, tuple[str, int | None]] = {"saw_c": (BETO, 12), "raw_c": ("bert", None)}
"""The subject that the paper of a dataset looks at most closely, and its layer (none: the one that fits best)."""


def fits(run: SawCData) -> tuple[LayerFit, ...]:
    """Return the curves of every subject in every view. *Source: SAW-C §4.2, §4.3.*"""
    every = np.full(len(run.items), True)
    return tuple(run.hold_out(fit_layers, distances, run.same, run.norm, rows=every) for distances in run.distances)


def main_fits(run: SawCData) -> tuple[LayerFit, ...]:
    """Return the curves in the main view."""
    return tuple(fit for fit in run.once(fits) if fit.distances.view == run.settings.views[0])


def held_out(run: SawCData, fit: LayerFit, conditions: Sequence[str]) -> list[Result]:
    """Return the residuals of rated items by condition, of the layer chosen on other words; none without layers."""
    if len(fit.distances.layers or ()) < 2:
        return []
    where, (distances, norms) = {"subject": fit.subject, "view": fit.distances.view}, run.on_norms(fit.distances)
    other = partial(run.hold_out, held_out_residuals, norms, distances, conditions, layers=fit.distances.layers)
    return run.attempt_all(HELD_OUT_RESIDUAL, other, unit="rating", **where)


# -- the sense boundary ---------------------------------------------------------------------------------------------


def boundary(run: SawCData) -> object:
    """Show at which layer distances separate the same sense from different senses. *Source: SAW-C §4.2, A.2.*"""
    results: list[Result] = []
    for fit in run.once(fits):
        matrix, layers = fit.distances.matrix, fit.distances.layers
        expected = expected_layers(matrix, run.senses == SAME, "aic", layers=layers) if layers else ()
        results += fit.results("aic", best=("aic",), then=expected)
    records, main = records_of(map(run.about, results)), run.once(main_fits)
    tables = [parts.boundary_table(records, run.titles, view) for view in run.views]
    return records, tables, _distance_figure(run, main), _aic_figure(main, records)


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


def _aic_figure(main: Sequence[LayerFit], records: Sequence[Record]) -> Figure | None:
    """AIC by layer, one panel per subject, with the best layer and the Expected Layer."""
    paths = [
        replace(
            path, expected_layer=value_of(records, parts.EXPECTED_AIC, subject=subject, view=main[0].distances.view)
        )
        for subject, path in parts.drawn_curves(main, "aic").items()
    ]
    heading = Heading("aic_panels", "", "AIC of the sense boundary by layer", parts.AIC_CHOICE)
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
        shown = [fit for fit in run.once(fits) if fit.distances.view == view and RHO in fit.curves]
        nearness = {
            (fit.subject, lowest if fit.distances.layers else None): -fit.distances.at(lowest)
            for fit in shown
            if (lowest := fit.curves[RHO].best) is not None
        }
        results += run.ranks(among=nearness, view=view)
    main = run.once(main_fits)
    layers = [(fit, layer_of(run, fit)) for fit in main if RHO in fit.curves]
    # distance falls where relatedness rises: a positive ρ is disagreement, not agreement
    near = {fit.subject: -rho for fit, layer in layers if (rho := fit.value_at(RHO, layer)) is not None}
    allowing: dict[str, float] = {}
    for fit, layer in layers:
        if fit.subject in near:
            about: dict[str, Any] = {"subject": fit.subject, "view": fit.distances.view}
            n_layers = 0 if (fit.subject, layer) == focus_of(run) else len(fit.distances.layers or ())
            results += raters_below(run, near[fit.subject], "−ρ", layer=layer, chosen_from=n_layers, **about)
            if isinstance(chosen := fit.curves[RHO].chosen, Estimate):
                allowing[fit.subject] = -chosen.value
                results += raters_below(run, -chosen.value, "−ρ", chosen=True, **about)
    records = records_of(results)
    compared = [(fit, layer) for fit, layer in layers if fit.subject in near]
    focus = [pair for pair in compared if pair[0].subject == focus_of(run)[0]] or compared[:1]
    values = {"": near, ", choice of the layer allowed for": allowing}
    places = {
        f"{fit.distances.title}{note}": of[fit.subject]
        for fit, _ in focus
        for note, of in values.items()
        if fit.subject in of
    }
    contrasts = _contrasts(run, main) if run.has_norm.sum() >= 3 else []
    return (
        records,
        [parts.relatedness_table(records, run.titles, view) for view in run.views],
        contrasts,
        parts.fit_contrasts_tables(contrasts, run.settings.views[0]),
        agreement_figures(run, places),
        [_scatter(run, fit, layer) for fit, layer in focus],
        _trajectory_figures(run, main),
    )


def _contrasts(run: SawCData, main: Sequence[LayerFit]) -> list[Record]:
    """The best subject less each other one, and the paper's layer of its subject less each other, as R².

    Of the models of the paper, if there are any: what it claims is about these.
    """
    fitted = [fit for fit in main if fit.highest is not None]
    recorded = [fit for fit in fitted if fit.subject not in run.live and NOT_IN_PAPER not in fit.facts.source]
    chosen, norm, view = recorded or fitted, run.norm[run.has_norm], run.settings.views[0]
    matrices = {fit.subject: fit.distances.matrix[run.has_norm] for fit in chosen}
    results = (
        [run.about(result, view=view) for result in run.resample(best_contrasts, matrices, norm)] if chosen else []
    )
    subject, layer = focus_of(run)
    for fit in chosen:
        if fit.subject == subject and layer is not None and fit.distances.layers:
            of_layers = run.resample(layer_contrasts, matrices[subject], norm, layer, layers=fit.distances.layers)
            results += [run.about(result, subject=subject, view=view) for result in of_layers]
    return records_of(results)


def layer_of(run: SawCData, fit: LayerFit) -> int | None:
    """Return the layer at which a subject is compared with people: that of the paper, or the one that fits best."""
    subject, layer = focus_of(run)
    return layer if fit.subject == subject and layer is not None else fit.best


def focus_of(run: SawCData) -> tuple[str, int | None]:
    """Return the subject and the layer that the paper looks at; none on the user's own items, with any name."""
    return ("", None) if run.own else FOCUS.get(run.name, ("", None))


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
    return norms_by_distance(
        run.norm[run.has_norm],
        fit.distances.at(layer)[run.has_norm],
        run.senses[run.has_norm],
        Heading("norms_by_distance", "", f"Norms against distances: {fit.distances.title}"),
        subject=fit.distances.title,
        layer="" if layer is None else f"layer {layer}",
        r=fit.value_at(R, layer) or float("nan"),
        rho=fit.value_at(RHO, layer) or float("nan"),
        order=ORDER,
    )


def _trajectory_figures(run: SawCData, main: Sequence[LayerFit]) -> tuple[Figure, ...]:
    """R² by layer: all subjects together, and one panel per subject with peak and last-layer drop."""
    paths = list(parts.drawn_curves(main, "r_squared").values())
    if not paths:
        return ()
    seven = Heading(*run.numbered("figure", "trajectories", "7"), "R² by layer")
    nine = Heading(*run.numbered("figure", "trajectory_panels", "9"), "R² by layer, one panel per subject")
    return trajectories(paths, seven, statistic="R²"), peak_panels(paths, nine, interval=WORDS_95)
