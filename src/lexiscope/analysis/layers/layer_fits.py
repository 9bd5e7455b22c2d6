"""A subject's cosine distances, layer by layer, and how they fit senses and norms: AIC, R², r and ρ over its layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import BoolArray, Bootstrap, FloatArray, groups_of
from lexiscope.analysis.layers.intervals import CHOSEN_R_SQUARED
from lexiscope.analysis.layers.layers import (
    RHO,
    R,
    aic_by_layer,
    best_results,
    held_out_predictor,
    r_by_layer,
    r_squared_by_layer,
    results_by_layer,
    rho_by_layer,
    values_by_layer,
)
from lexiscope.analysis.layers.trajectory import drop_from_peak
from lexiscope.analysis.norms.decomposition import crossed
from lexiscope.analysis.regression import LOG_PARAMETERS, MULTILINGUAL, OlsFit, ols, scaling
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Curve, Estimate, Undefined, statistic_name

_OF_NORMS = {"r_squared": r_squared_by_layer, R: r_by_layer, RHO: rho_by_layer}


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """The cosine distances of one subject in one view, and what is known of the subject.

    *Shape:* ``matrix`` (items, layers); ``layers`` their numbers, or ``None`` for a subject that was released without
    layers. *Higher means:* less related.
    """

    subject: str
    view: str
    layers: tuple[int, ...] | None
    matrix: FloatArray
    facts: SubjectFacts

    @property
    def title(self) -> str:
        """The name of the subject as tables and figures print it."""
        return self.facts.title or self.subject

    @property
    def is_whole(self) -> bool:
        """Whether all layers from 0 on are there, so that a column's number is its depth."""
        return self.layers == tuple(range(self.matrix.shape[1]))

    def at(self, layer: int | None) -> FloatArray:
        """Return the distances at one layer (``None``: the only one that there is). *Shape:* (items,)."""
        column = -1 if layer is None or self.layers is None else self.layers.index(layer)
        return np.asarray(self.matrix[:, column])


def distances_of(
    responses: ResponseColumns, item_ids: Sequence[str], views: Sequence[str], facts: Mapping[str, SubjectFacts]
) -> tuple[Distances, ...]:
    """Return the distances of every subject among *responses*, in the order of *views*; *facts* are by subject.

    *Shape:* each matrix (items, layers), in the order of *item_ids*.
    Errors: :class:`InputError` for a subject that did not answer every item at every layer.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> about = ("m", "encoder", "i", "t", "cosine_distance")
    >>> rows = [Response(*about, value, view="full", layer=k) for k, value in enumerate((0.0, 0.4))]
    >>> (distances,) = distances_of(ResponseTable.from_rows(rows), ["i"], ["full"], {})
    >>> distances.layers, distances.at(1).tolist(), distances.is_whole
    ((0, 1), [0.4], True)
    """
    table = responses.where(measure="cosine_distance")
    by_subject = []
    for view in views:
        answers = table.where(view=view)
        for subject in answers.unique("subject_id"):
            layers, matrix = values_by_layer(answers.where(subject_id=subject), item_ids)
            about = replace(facts.get(subject, SubjectFacts(subject)), subject_id=subject)
            by_subject.append(Distances(subject, view, layers or None, matrix, about))
    return tuple(by_subject)


def held_out_distances(
    every: Sequence[Distances], norms: FloatArray, rated: BoolArray, view: str, *, groups: ArrayLike | None, seed: int
) -> dict[str, tuple[FloatArray, str]]:
    """Return each rated item's distance at the layer chosen on other words, and which layers these are, by subject.

    Subjects with several layers in the *view* are included, if without each fold a layer has an R².

    *Shape:* norms, rated and each returned column (items,), NaN for items that are not *rated*; groups (rated items,).
    *Unit:* standard deviations of the distances at the chosen layer.

    >>> matrix = np.column_stack([np.zeros(9), np.arange(9.0)])
    >>> distances = Distances("m", "full", (0, 1), matrix, SubjectFacts("m"))
    >>> rated = np.arange(9) < 8
    >>> columns = held_out_distances([distances], np.arange(9.0) % 4, rated, "full", groups=list("aaaabbbb"), seed=0)
    >>> columns["m"][0].round(2)[[0, 7, 8]].tolist(), columns["m"][1]
    ([-4.92, 4.92, nan], 'chosen in the folds: layer 1 in 2 of 2')
    """
    columns: dict[str, tuple[FloatArray, str]] = {}
    for distances in every:
        if distances.view != view or len(distances.layers or ()) < 2:
            continue
        of_items = np.full(len(norms), np.nan)
        try:
            of_items[rated], note = held_out_predictor(
                norms[rated], distances.matrix[rated], layers=distances.layers, groups=groups, seed=seed
            )
        except StatisticError:
            continue
        columns[distances.subject] = of_items, note
    return columns


@dataclass(frozen=True, slots=True, eq=False)
class LayerFit:
    """The curves over layers of one subject in one view, by statistic; the reasons for those that are undefined."""

    distances: Distances
    curves: Mapping[str, Curve]
    undefined: tuple[Undefined, ...] = ()

    @property
    def subject(self) -> str:
        """The subject's id."""
        return self.distances.subject

    @property
    def facts(self) -> SubjectFacts:
        """What is known of the subject."""
        return self.distances.facts

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

    @property
    def allowing(self) -> float | None:
        """The highest R², the choice of its layer allowed for; that of a subject with one layer was not chosen.

        ``None`` where it is undefined.
        """
        if self.highest is None or len(self.distances.layers or ()) < 2:
            return self.highest
        chosen = self.curves["r_squared"].chosen
        return chosen.value if isinstance(chosen, Estimate) else None

    @property
    def r_squared(self) -> FloatArray:
        """R² over layers; a layer of constant distances explains nothing: it counts as 0. *Shape:* (layers,)."""
        return np.nan_to_num(self.curves["r_squared"].array(), nan=0.0)

    def value_at(self, statistic: str, layer: int | None) -> float | None:
        """Return a statistic at one layer (``None``: the last, or the only one); ``None`` where it is undefined."""
        curve = self.curves[statistic]
        return (curve.values[-1] if layer is None else curve.at(layer)).value

    def results(
        self, *names: str, best: Sequence[str], then: Sequence[Estimate | Undefined] = ()
    ) -> list[Estimate | Undefined]:
        """Return the statistics at every layer, those of *best* at their best layer, *then*, and what is undefined."""
        curves = [self.curves[name] for name in names if name in self.curves]
        results = [result for curve in curves for result in results_by_layer(curve)]
        results += [result for curve in curves if curve.statistic in best for result in best_results(curve)]
        if self.distances.layers is None:
            # the only column of a subject without layers has no number
            results = [result.about(layer=None) for result in results if not result.name.startswith("best_layer")]
        results += [result for result in then if isinstance(result, Estimate)]
        results += [result for result in self.undefined if result.name in names]
        results += [result for result in then if isinstance(result, Undefined)]
        return [result.about(subject=self.subject, view=self.distances.view) for result in results]


def fit_layers(
    distances: Distances,
    same_sense: BoolArray | None,
    norms: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> LayerFit:
    """Return the curves of one subject: AIC of the sense boundary; R², r and ρ with people's norms.

    *same_sense* is ``None`` where the senses are not known; *norms* are not-a-number for an item without one. *groups*
    (words) are resampled and held out whole. AIC, R² and ρ of several layers also say what allows for the choice of
    the best of them.

    *Shape:* same_sense, norms and groups (items,). *Source:* SAW-C §4.2, §4.3.

    >>> matrix = np.array([[0.1, 0.4], [0.2, 0.3], [0.5, 0.2], [0.3, 0.1]])
    >>> distances = Distances("m", "full", (0, 1), matrix, SubjectFacts("m"))
    >>> fit = fit_layers(distances, None, [1, 3, 2, 4], resamples=0)
    >>> fit.best, round(fit.highest, 12), list(fit.curves)  # r = -4 / 5 at layer 1
    (1, 0.64, ['r_squared', 'pearson(of=distance,with=norms)', 'spearman(of=distance,with=norms)'])
    """
    norm, layers = np.asarray(norms, dtype=np.float64), distances.layers
    rated, several = ~np.isnan(norm), len(layers or ()) > 1
    how: dict[str, Any] = {"layers": layers, "level": level, "seed": seed}
    makers: dict[str, Callable[[], Curve]] = {}
    if same_sense is not None:
        makers["aic"] = partial(
            aic_by_layer, distances.matrix, same_sense, choice=several, groups=groups, resamples=resamples, **how
        )
    labels = groups_of(groups, rated)
    # items of one group alone cannot be resampled: the curve is there, without intervals
    resampled = {"resamples": resamples} if labels is None else Bootstrap(labels, resamples, seed).options
    for name, by_layer in _OF_NORMS.items() if rated.any() else ():
        # nobody looks for the best r: that of the best layer is R² or ρ
        choice = name != R and several
        makers[name] = partial(by_layer, distances.matrix[rated], norm[rated], choice=choice, **{**how, **resampled})
    about = {"subject": distances.subject, "view": distances.view}
    curves: dict[str, Curve] = {}
    undefined = []
    for name, make in makers.items():
        try:
            curves[name] = make().about(**about)
        except StatisticError as error:
            n = len(norm) if name == "aic" else int(rated.sum())
            undefined.append(Undefined(name, error.what, n).about(**about))
    return LayerFit(distances, curves, tuple(undefined))


def curves_of_families(
    fits: Mapping[str, tuple[LayerFit, str]],
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Return R² over the layers and the family of each fit, by its name, as means of families take them.

    *fits* come with their families. Those without a family, without a highest R², or without all layers from 0 on (two
    at least) are excluded (:func:`~lexiscope.analysis.layers.trajectory.family_by_depth_ratio`).
    """
    usable = {
        name: (fit, family)
        for name, (fit, family) in fits.items()
        if family and fit.highest is not None and fit.distances.is_whole and fit.distances.matrix.shape[1] > 1
    }
    curves = {name: fit.r_squared for name, (fit, _) in usable.items()}
    return curves, {name: family for name, (_, family) in usable.items()}


# -- the highest R² and size -------------------------------------------------------------------------------------------


def regress_on_size(fits: Sequence[LayerFit]) -> tuple[OlsFit, tuple[Estimate, ...]]:
    """Regress the highest R² of each fit on log10 of its parameters and, where some differ, on whether multilingual.

    The numbers are those of :func:`~lexiscope.analysis.regression.scaling`. The same slopes of the R² that allows for
    the choice of the layer come last, where every fit has one; they have no p, for the hypothesis is tested once. A
    subject of which it is not known whether it is multilingual counts as monolingual.

    *Source:* SAW-C §5.2, A.3.1. Errors: those of scaling.
    """
    flags = [bool(fit.facts.multilingual) for fit in fits]
    sizes, many = [fit.facts.n_parameters or 0 for fit in fits], flags if len(set(flags)) > 1 else None
    naive, results = scaling([fit.highest or 0.0 for fit in fits], sizes, many)
    allowing = [fit.allowing for fit in fits]
    if None in allowing:
        return naive, results
    _, others = scaling([value or 0.0 for value in allowing], sizes, many, outcome=CHOSEN_R_SQUARED)
    return naive, (*results, *(replace(slope, p=None) for slope in others if CHOSEN_R_SQUARED in slope.name))


# -- encoders of two sets (two languages) in one regression ---------------------------------------------------------


def regress_fits(
    fits: Sequence[LayerFit], second: Sequence[bool], *, factor: str = "language"
) -> tuple[Estimate | Undefined, ...]:
    """Regress encoders' highest R² on size, and the shape of their curves on family, each crossed with a factor.

    *second* says which fits are those of the factor's second level (another language); the terms of *factor* say how
    it differs from the first. Size is log10 of the parameters with the flag of multilingual encoders, of the encoders
    whose size is known. The shape of a curve has two numbers: what is left of the highest R² at the last layer, and the
    depth ratio of the best layer; families are compared with the first by name. Encoders count as independent, which
    those of one family are not. The regression of the R² that allows for the choice of the layer has the same terms,
    without p.

    *Shape:* fits and second (encoders,), each with all layers from 0 on and a highest R². *Source:* SAW-C §5.2, §5.3,
    A.3. A regression that cannot be fitted is undefined, with the reason.
    """
    flags = np.asarray(second, dtype=np.float64)
    sized = np.array([bool(fit.facts.n_parameters) for fit in fits], dtype=bool)
    logs = np.log10([fit.facts.n_parameters or 1 for fit in fits])
    many = np.array([float(bool(fit.facts.multilingual)) for fit in fits])
    terms = np.column_stack([logs, many, flags, logs * flags, many * flags])
    names = [LOG_PARAMETERS, MULTILINGUAL, factor, f"{LOG_PARAMETERS}:{factor}", f"{MULTILINGUAL}:{factor}"]
    model = f"~[{LOG_PARAMETERS}+{MULTILINGUAL}]*{factor}"
    highest = np.array([fit.highest for fit in fits], dtype=np.float64)
    allowing = np.array([fit.allowing for fit in fits], dtype=np.float64)
    results = [*_regression(f"max_r_squared{model}", highest[sized], terms[sized], names)]
    again = _regression(f"{CHOSEN_R_SQUARED}{model}", allowing[sized], terms[sized], names)
    results += [replace(result, p=None) if isinstance(result, Estimate) else result for result in again]
    named = np.array([bool(fit.facts.family) for fit in fits], dtype=bool)
    families = [fit.facts.family for fit in fits if fit.facts.family]
    of_families = crossed(flags[named], families)
    names = [factor, *(name for family in sorted(set(families))[1:] for name in (family, f"{family}:{factor}"))]
    shapes = {
        "last_over_max_r_squared": [1 - drop_from_peak(fit.r_squared)[0] for fit in fits],
        "best_depth_ratio": [fit.curves["r_squared"].best_value().depth_ratio for fit in fits],
    }
    for outcome, values in shapes.items():
        results += _regression(f"{outcome}~family*{factor}", np.array(values)[named], of_families, names)
    return tuple(results)


def _regression(
    model: str, outcome: FloatArray, terms: FloatArray, names: Sequence[str]
) -> tuple[Estimate | Undefined, ...]:
    try:
        return ols(outcome, terms, names).results(model)
    except StatisticError as error:
        return (Undefined(statistic_name("coefficient", model=model), error.what, len(outcome)),)
