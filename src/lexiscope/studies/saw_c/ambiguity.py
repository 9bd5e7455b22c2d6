"""RAW-C's own questions: ratings by sense and ambiguity type, senses from ratings, what other norms add to distance.

They are asked of items with the condition ``ambiguity_type``; some also have dominance and sensorimotor distance.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.norms.decomposition import RESIDUAL, residuals_by_condition, variance_decomposition
from lexiscope.analysis.norms.norms import condition_means
from lexiscope.analysis.regression import logistic
from lexiscope.core.result import Result, Undefined, statistic_name
from lexiscope.report.parts.layer_parts import added_table, residuals_by_condition_table
from lexiscope.report.parts.people_tables import condition_means_table
from lexiscope.report.pivot import numbers_table, records_of
from lexiscope.report.tables import Format
from lexiscope.studies.kit.run import Floats
from lexiscope.studies.saw_c.data import Flags, SawCData
from lexiscope.studies.saw_c.layers import held_out, main_fits

FACTOR = "ambiguity_type"
TWO = Format("number", 2)
_GLM = "same_sense~norm"
_SENSORIMOTOR, _DOMINANCE = "sensorimotor_distance", "dominance_asymmetry"


def _cells(run: SawCData) -> list[str] | None:
    """The sense relation and the ambiguity type of each pair; ``None`` if either is not known of all pairs."""
    types = [item.conditions.get(FACTOR) for item in run.items]
    if run.same is None or None in types:
        return None
    return [f"{same} {FACTOR}={kind}" for same, kind in zip(run.conditions.tolist(), types, strict=True)]


def ratings_by_type(run: SawCData) -> object:
    """Describe ratings by sense and ambiguity type (2 × 2), and predict the sense relation from the norms.

    The latter is the logistic regression of same sense on the norm. *Source: RAW-C §4 and its authors' script.*
    """
    cells = _cells(run)
    if cells is None:
        return ()
    means = condition_means(run.people, dict(zip(run.words, cells, strict=True)))
    records = records_of(run.about(mean, unit="rating") for mean in means)
    table = condition_means_table("ratings_by_type", "Ratings by sense and ambiguity type", records)
    return records, table, _sense_from_norms(run)


def _sense_from_norms(run: SawCData) -> object:
    same, norm = np.asarray(run.same)[run.has_norm], run.norm[run.has_norm]
    fit = run.attempt(f"coefficient(term=norm,model={_GLM})", partial(logistic, same, norm[:, None], ["norm"]))
    if isinstance(fit, Undefined):
        return fit
    note = "log odds of the same sense per point of the scale; pairs count as independent"
    records = records_of(run.about_all(fit.results(_GLM, note=note)))
    return records, numbers_table(
        "sense_from_norms", "Same sense predicted from the norms", records, label="Number", notes=(note,)
    )


def beyond_distance(run: SawCData) -> object:
    """Show each encoder's residuals by sense and ambiguity type, and what other norms explain beyond its distances.

    Sensorimotor distance (of people's norms of the two contexts) is added to sense and distance, over all pairs;
    dominance asymmetry (how unbalanced people find the two senses, in either direction) to distance, over pairs
    of different senses. *Source: Trott & Bergen (2022).*
    """
    cells = _cells(run)
    if cells is None:
        return ()
    results: list[Result] = []
    for fit in run.once(main_fits):
        where = {"subject": fit.subject, "layer": fit.best, "view": fit.distances.view}
        column, labels = fit.distances.at(fit.best), np.array(cells)[run.has_norm].tolist()
        rated = run.norm[run.has_norm], column[run.has_norm]
        at_best = partial(run.resample, residuals_by_condition, *rated, ["distance"], labels)
        report = run.attempt(RESIDUAL, partial(at_best, model="norm~distance"))
        residuals = (report,) if isinstance(report, Undefined) else report[1]
        results += run.about_all(residuals, unit="rating", **where)
        results += held_out(run, fit, labels)
        for name, values, rows in _other_norms(run):
            known = np.column_stack([np.asarray(run.same, dtype=float), column])[rows]
            several = len(np.unique(known[:, 0])) > 1
            names = ("sense+distance" if several else "distance", name)
            first = known if several else known[:, 1]
            decompose = partial(
                run.resample, variance_decomposition, run.norm[rows], first, values[rows], rows=rows, names=names
            )
            unique = statistic_name("unique_r_squared", of=name)
            results += run.attempt_all(unique, decompose, condition=f"beside={name}", **where)  # words: ok, a condition
    for name, values, rows in _other_norms(run):
        rho = statistic_name("spearman", of=name, **{"with": "norms"})
        correlate = partial(run.resample, spearman, values[rows], run.norm[rows], rows=rows)
        results += run.attempt_all(rho, correlate, name=rho)
    records = records_of(results)
    notes = ("Sensorimotor distance: all pairs. Dominance asymmetry: pairs of different senses. Words are resampled.",)
    return (
        records,
        residuals_by_condition_table(
            "residuals_by_type", "Mean residuals by sense and ambiguity type", records, run.titles
        ),
        added_table(
            "other_norms",
            "What sensorimotor distance and dominance add to distance",
            records,
            run.titles,
            {_SENSORIMOTOR: "sense+distance", _DOMINANCE: "distance"},
            notes=notes,
        ),
    )


def _other_norms(run: SawCData) -> list[tuple[str, Floats, Flags]]:
    """Sensorimotor distance and dominance asymmetry of the items that have them: name, values, rows."""
    named = {_SENSORIMOTOR: "sensorimotor_distance", _DOMINANCE: "dominance_sentence2"}
    norms = []
    for name, condition in named.items():
        given = [item.conditions.get(condition) for item in run.items]
        values = np.abs([float(value) if isinstance(value, float) else np.nan for value in given])
        rows: Flags = run.has_norm & ~np.isnan(values)
        if rows.any():
            norms.append((name, values, rows))
    return norms
