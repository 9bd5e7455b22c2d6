"""RAW-C's own questions: ratings by sense and ambiguity type, senses from ratings, what other norms add to distance.

They are asked of items with the condition ``ambiguity_type``; some also have dominance and sensorimotor distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.norms.decomposition import residuals_by_condition, variance_decomposition
from lexiscope.analysis.norms.norms import condition_means
from lexiscope.analysis.regression import INTERCEPT, logistic
from lexiscope.core.result import Estimate, Record, Result, Undefined, statistic_name
from lexiscope.report.part import record_cell
from lexiscope.report.pivot import Col, pivot, records_of, rows_of_subjects
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Format, Table
from lexiscope.studies.kit.run import Floats
from lexiscope.studies.saw_c.data import Flags, SawCData
from lexiscope.studies.saw_c.layers import TWO, main_fits
from lexiscope.studies.saw_c.people import THREE

FACTOR = "ambiguity_type"
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
    rows = tuple(
        (
            record.condition.replace("=", ": "),
            "SD" if "sd" in record.statistic else "mean",
            record_cell(record),
            record.n,
        )
        for record in records
    )
    heads = (Column("Condition"), Column("Statistic"), Column("Rating", TWO), Column("Ratings", INTEGER))
    table = Table("ratings_by_type", "", "Ratings by sense and ambiguity type", heads, rows, ("Over trials.",))
    return records, table, _sense_from_norms(run)


def _sense_from_norms(run: SawCData) -> object:
    same, norm = np.asarray(run.same)[run.has_norm], run.norm[run.has_norm]
    name = statistic_name("coefficient", term="norm", model=_GLM)
    fit = run.attempt(name, partial(logistic, same, norm[:, None], ["norm"]))
    if isinstance(fit, Undefined):
        return fit
    note = "log odds of the same sense per point of the scale; pairs count as independent"
    results: list[Result] = [Estimate(statistic_name("aic", model=_GLM), fit.aic, n=fit.n)]
    for row in fit.coefficients:
        term = row.name.strip("()") if row.name == INTERCEPT else row.name
        results.append(
            Estimate(statistic_name("coefficient", term=term, model=_GLM), row.estimate, n=fit.n, p=row.p, note=note)
        )
        results.append(Estimate(statistic_name("standard_error", term=term, model=_GLM), row.standard_error))
    records = records_of(map(run.about, results))
    columns = (Column("Number"), Column("Value", THREE), Column("p", P_VALUE), Column("n", INTEGER))
    rows = tuple((record.statistic, record_cell(record), record.p, record.n) for record in records)
    return records, Table("sense_from_norms", "", "Same sense predicted from the norms", columns, rows, (note,))


def beyond_distance(run: SawCData) -> object:
    """Show each encoder's residuals by sense and ambiguity type, and what other norms explain beyond its distances.

    Sensorimotor distance (of people's norms of the two contexts) is added to sense and distance, over all pairs;
    dominance asymmetry (how far from balanced people find the two senses, in either direction) to distance, over pairs
    of different senses. *Source: Trott & Bergen (2022).*
    """
    cells = _cells(run)
    if cells is None:
        return ()
    results: list[Result] = []
    for fit in run.once(main_fits):
        where = {"subject": fit.subject, "layer": fit.best, "view": fit.distances.view}
        column, labels = fit.distances.at(fit.best), np.array(cells)[run.has_norm].tolist()
        resample = partial(run.resample, residuals_by_condition, run.norm[run.has_norm], column[run.has_norm])
        report = run.attempt("mean_residual", partial(resample, ["distance"], labels, model="norm~distance"))
        results += (
            [run.about(report, **where)]
            if isinstance(report, Undefined)
            else run.about_all((residual.about(unit="rating") for residual in report[1]), **where)
        )
        for name, values, rows in _other_norms(run):
            known = np.column_stack([np.asarray(run.same, dtype=float), column])[rows]
            several = len(np.unique(known[:, 0])) > 1
            names = ("sense+distance" if several else "distance", name)
            first = known if several else known[:, 1]
            decompose = partial(
                run.resample, variance_decomposition, run.norm[rows], first, values[rows], rows=rows, names=names
            )
            parts = run.attempt(statistic_name("unique_r_squared", of=name), decompose, **where)
            explained = (parts,) if isinstance(parts, Undefined) else parts
            results += [run.about(part, condition=f"beside={name}", **where) for part in explained]
    for name, values, rows in _other_norms(run):
        rho = statistic_name("spearman", of=name, **{"with": "norms"})
        result = run.attempt(rho, partial(run.resample, spearman, values[rows], run.norm[rows], rows=rows))
        results.append(run.about(result if isinstance(result, Undefined) else result.about(name=rho)))
    records = records_of(results)
    return records, _type_table(run, records), _other_table(run, records)


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


def _type_table(run: SawCData, records: Sequence[Record]) -> Table:
    own = [record for record in records if record.statistic == "mean_residual(model=norm~distance)"]
    conditions = dict.fromkeys(record.condition for record in own)
    columns = [
        Col(condition.replace(f" {FACTOR}=", ", ").replace("same_sense=", "same: "), own[0].statistic, TWO,
            where={"condition": condition})
        for condition in conditions
    ]  # fmt: skip
    notes = (
        "Norm ~ distance at the layer of highest R², chosen on the same items. Positive: people see more relatedness. "
        "Intervals resample words.",
    )
    title = "Mean residuals by sense and ambiguity type"
    return pivot("residuals_by_type", title, records, columns, rows_of_subjects(run.titles), notes=notes)


def _other_table(run: SawCData, records: Sequence[Record]) -> Table | None:
    blocks = {_SENSORIMOTOR: "sense+distance", _DOMINANCE: "distance"}
    known = [name for name in blocks if any(record.condition == f"beside={name}" for record in records)]
    columns = [
        Col(label, f"{kind}(of={of})", Format("number", 3), where={"condition": f"beside={name}"})
        for name in known
        for label, kind, of in (
            (f"R² of {blocks[name].replace('+', ' and ')}", "r_squared", blocks[name]),
            (f"… added by {name.replace('_', ' ')}", "unique_r_squared", name),
        )
    ]
    notes = ("Sensorimotor distance: all pairs. Dominance asymmetry: pairs of different senses. Words are resampled.",)
    title = "What sensorimotor distance and dominance add to distance"
    return pivot("other_norms", title, records, columns, rows_of_subjects(run.titles), notes=notes) if known else None
