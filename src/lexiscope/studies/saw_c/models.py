"""The models: what they are, tokens, size and depth (SAW-C §5.2, §5.3, Table 3), subjects that rate (A.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from lexiscope.analysis.choices.tokenisation import tokenisation_of_answers
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.layers.intervals import highest_differences, size_contrasts
from lexiscope.analysis.layers.layer_fits import LayerFit, curves_of_families, regress_on_size
from lexiscope.analysis.layers.trajectory import family_by_depth_ratio, family_by_ntile
from lexiscope.analysis.norms.decomposition import residuals_by_condition
from lexiscope.analysis.norms.predictions import RHO, Predictor, predictor
from lexiscope.analysis.regression import LOG_PARAMETERS, ols
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.result import Record, Result, Undefined, statistic_name
from lexiscope.datasets.raw_c.models import recited_table
from lexiscope.items.read.importer import check_ratings
from lexiscope.report.figures import Heading
from lexiscope.report.part import Remark, record_cell
from lexiscope.report.parts.layer_parts import differences_table, size_contrasts_tables, size_table
from lexiscope.report.parts.predictor_tables import rating_residuals_table, ratings_table
from lexiscope.report.pivot import quantities, records_of
from lexiscope.report.plots.distributions import Residuals, residual_ridge
from lexiscope.report.plots.layers import families_by_depth
from lexiscope.report.plots.size import Sized, SizeRegression, statistic_by_size
from lexiscope.report.presenting import file_name
from lexiscope.report.sections import subject_counts, subjects_table, tokens_table
from lexiscope.report.tables import INTEGER, Column, Table
from lexiscope.studies.kit.run import Floats
from lexiscope.studies.kit.study import read_texts
from lexiscope.studies.saw_c.data import ASKED, DIFFERENT, NOT_IN_PAPER, SAME, Flags, SawCData
from lexiscope.studies.saw_c.layers import ORDER, fits
from lexiscope.studies.saw_c.people import THREE, rater_agreements, raters_below
from lexiscope.tasks.relatedness import SCALE

TEXTS = read_texts(Path(__file__).with_name("texts.md"))
"""The prose of the report."""

# -- what they are --------------------------------------------------------------------------------------------------


def subjects(run: SawCData) -> object:
    """Show what is known of the subjects, and how their tokenizers cut the stimuli. *Source: SAW-C Tables 2 and 3.*"""
    known = tuple({distances.subject: distances.facts for distances in run.distances}.values())
    name, number = run.numbered("table", "subjects", "2")
    table = subjects_table(known, name=name, number=number, title="The model subjects", without=())
    unasked = [Remark(f"{subject} was not asked: {why}.") for subject, why in run.unasked.items()]
    if not known:
        return unasked, _tokens(run)
    if run.name == "saw_c" and not run.own:
        table = replace(table, notes=(*table.notes, *TEXTS["table 2"]))
    return unasked, table, _numbers_of_models(run, known), _tokens(run)


def _numbers_of_models(run: SawCData, known: Sequence[SubjectFacts]) -> object:
    """Layers and parameters of each subject, and how many models of the paper there are of each kind."""
    numbers = [
        run.number(name, value, subject=facts.subject_id)
        for facts in known
        for name, value in (("n_layers", facts.n_layers), ("n_parameters", facts.n_parameters))
        if value is not None
    ]
    rows = run.labelled(subject_counts(facts for facts in known if NOT_IN_PAPER not in facts.source))
    return numbers, *rows.values(), quantities("models", "The models of the paper, by kind", rows)


def _tokens(run: SawCData) -> object:
    """How much the sentences of a pair differ in length, and how each subject cuts the targets."""
    reports = tokenisation_of_answers(run.responses, list(run.words), list(run.words.values()))
    results = [
        run.about(result, subject=subject, view=view)
        for (subject, view), counts in reports.items()
        for result in counts
    ]
    titles = {distances.subject: distances.title for distances in run.distances}
    name, number = run.numbered("table", "tokens", "3")
    return (results, tokens_table(reports, titles, name=name, number=number)) if results else ()


# -- size and depth -------------------------------------------------------------------------------------------------


def size_and_depth(run: SawCData) -> object:
    """Show whether larger models fit people better, how families move through their layers, what a final stop changes.

    Recorded models outside the paper do not enter; with live subjects the regression is also run with them.
    *Source: SAW-C §5.2, §5.3.*
    """
    parts: list[object] = []
    for view in run.views:
        of_view = (fit for fit in run.once(fits) if fit.distances.view == view)
        chosen = [fit for fit in of_view if NOT_IN_PAPER not in fit.facts.source]
        recorded = [fit for fit in chosen if fit.subject not in run.live]
        parts += [_size_regression(run, recorded, view, "")] if recorded else []
        if len(recorded) < len(chosen):
            parts.append(_size_regression(run, chosen, view, "live subjects included"))
        parts.append(_families(run, chosen, view))
        if view == run.views[0]:
            parts.append(_size_contrasts(run, recorded or chosen, view))
    return parts, _final_stop(run)


def _size_regression(run: SawCData, chosen: Sequence[LayerFit], view: str, condition: str) -> object:
    """The highest R² of each subject regressed on its size, with its figure; where that is undefined, the reason."""
    defined = [fit for fit in chosen if fit.highest is not None]
    sized = [fit for fit in defined if fit.facts.n_parameters]
    name = statistic_name("slope", of=LOG_PARAMETERS, outcome="max_r_squared")
    report = run.attempt(name, partial(regress_on_size, sized))
    file = "_".join(map(file_name, filter(None, ("size", view, condition))))
    words = ", ".join(filter(None, (f"view {view}", condition)))
    line, table, remarks = None, None, list[Remark]()
    if isinstance(report, Undefined):
        records = [run.number(name, None, note=f"undefined: {report.reason}", view=view, condition=condition)]
        remarks.append(Remark(f"The regression of fit on size is undefined: {report.reason}."))
    else:
        records = records_of(run.about_all(report[1], view=view, condition=condition))
        line = SizeRegression.of(report[0])
        table = size_table(records, file, f"Highest R² of each subject against its size, {words}")
    if unknown := ", ".join(fit.subject for fit in defined if fit not in sized):
        remarks.append(Remark(f"Not in the regression of fit on size, number of parameters unknown: {unknown}."))
    points = [Sized.of(fit.facts, fit.curves["r_squared"], multilingual=bool(fit.facts.multilingual)) for fit in sized]
    ceilings = {
        f"people, mean ρ squared ({raters.variant.replace('_', '-')})": raters.mean**2
        for raters in run.once(rater_agreements)
        if raters.mean >= 0  # the square of disagreement is no ceiling
    }
    heading = Heading(*run.numbered("figure", file, "6", "10"), f"Highest R² by number of parameters, {words}")
    figure = statistic_by_size(points, heading, fit=line, ceilings=ceilings) if points else None
    return records, table, figure, remarks


def _size_contrasts(run: SawCData, chosen: Sequence[LayerFit], view: str) -> object:
    """Test size among models that were trained alike, and multilingual models against far smaller monolingual ones."""
    sized = [fit for fit in chosen if fit.highest is not None and fit.facts.n_parameters]
    facts, matrices = [fit.facts for fit in sized], [fit.distances.matrix[run.has_norm] for fit in sized]
    contrasts = run.resample(size_contrasts, facts, matrices, run.norm[run.has_norm])
    records = records_of(run.about_all(contrasts, view=view))
    return records, size_contrasts_tables(records)


def _families(run: SawCData, chosen: Sequence[LayerFit], view: str) -> object:
    """Family means by layer depth ratio, and in the paper's bins (ntile within each model)."""
    curves, families = curves_of_families({fit.subject: (fit, fit.facts.family) for fit in chosen})
    if not curves:
        return ()
    depth, ntile = family_by_depth_ratio(curves, families), family_by_ntile(curves, families)
    title, deciles = "R² over depth by family", "Decile of layers within each model, as in SAW-C"
    by_depth, by_ntile = (f"families_by_{kind}_{file_name(view)}" for kind in ("depth", "ntile"))
    ratio = Heading(*run.numbered("figure", by_depth, "8a", "11"), f"{title}: layer depth ratio")
    bins = Heading(*run.numbered("figure", by_ntile, "8b"), f"{title}: d{deciles[1:]}")
    return (
        records_of(r.about(dataset=run.name, view=view) for family in (*depth, *ntile) for r in family.results()),
        families_by_depth(depth, ratio, statistic="R²"),
        families_by_depth(ntile, bins, statistic="R²", horizontal=deciles),
    )


def _final_stop(run: SawCData) -> object:
    """How much a final stop changes the fit, by subject and by family (SAW-C fn 9, fn 11)."""
    with_stop, without = (
        {fit.subject: fit for fit in run.once(fits) if fit.distances.view == view and fit.highest is not None}
        for view in ("full+final_stop", "full")
    )
    both = [subject for subject in with_stop if subject in without]
    matrices = [
        {subject: fits_of_view[subject].distances.matrix[run.has_norm] for subject in both}
        for fits_of_view in (with_stop, without)
    ]
    families = {subject: with_stop[subject].facts.family for subject in both}
    if not both:
        return ()
    differences = run.resample(highest_differences, *matrices, families, run.norm[run.has_norm], between="final_stop")
    records = records_of(run.about_all(differences))
    title, head = "What a final stop changes", "Highest R², with − without"
    return records, differences_table("final_stop", title, head, records)


# -- subjects that rate ---------------------------------------------------------------------------------------------


_MODEL = "norm~rating+same_sense"
_TERMS = {word: f"coefficient(term={word.replace(' ', '_')},model={_MODEL})" for word in ("rating", "same sense")}


def compare_ratings(run: SawCData) -> object:
    """Compare the ratings of every model that rates with people's norms and with single people.

    The paper gave a chat model the participants' instructions: rank correlation, regression of the norms on rating and
    sense, residuals by sense. The regression here is ordinary least squares on the norms; a reply that could not be
    read is excluded, counted, and never imputed. *Source: SAW-C A.4, Figure 12.*
    """
    if not run.raters:
        return ()
    rated = {subject: _predictor_of(run, subject) for subject in run.raters}
    records: list[Record] = []
    ridges: list[Residuals] = []
    values: dict[tuple[str, int | None], Floats] = {}
    for subject, ratings in rated.items():
        value = values[subject, None] = ratings.column(list(run.words))
        results, residuals = _rating_results(run, value)
        records += records_of(r.about(dataset=run.name, subject=subject) for r in (*ratings.results(), *results))
        if residuals is not None:
            ridges.append(Residuals(ratings.title, residuals, run.senses[run.has_norm & ~np.isnan(value)]))
    records += records_of(run.ranks(among=values))
    heading = Heading(
        *run.numbered("figure", "rating_residuals", "12"),
        "What people see beyond a subject's ratings: residuals by sense",
        "Residuals of the regression of the norms on the subject's ratings.",
    )
    said = (
        "Subjects that rate were asked what people were asked, in the participants' language where the prompt has it. "
        "Their ratings are compared with the norms; single people have separate columns, each against the others."
    )
    figure = residual_ridge(ridges, heading, order=ORDER) if ridges else None
    name, agreements = run.numbered("figure", "ratings", "12")[0], run.once(rater_agreements)
    return (
        records,
        ratings_table(name, records, rated, agreements, _TERMS),
        rating_residuals_table(records, rated, {SAME: "same_sense=True", DIFFERENT: "same_sense=False"}),
        figure,
        said,
    )


def _predictor_of(run: SawCData, subject: str) -> Predictor:
    """What a subject answered in the view that people saw, or in the first view if that one was not asked."""
    own = run.responses.where(subject_id=subject)
    views = own.where(measure="rating").unique("view")
    rows = own if len(views) < 2 else own.where(view=ASKED if ASKED in views else views[0])
    check_ratings(rows.where(measure="rating"), run.items[0].scale or SCALE)
    title = run.facts[subject].title if subject in run.facts else ""
    return replace(predictor(rows, subject, replies=MEASURE_REPLY), title=title or subject)


def _rating_results(run: SawCData, rating: Floats) -> tuple[list[Result], Floats | None]:
    """The results of one subject's ratings, and the residuals of the norms."""
    both: Flags = run.has_norm & ~np.isnan(rating)
    norm, value = run.norm[both], rating[both]
    rho = run.attempt(RHO, partial(run.resample, spearman, value, norm, rows=both))
    if isinstance(rho, Undefined):
        return [replace(rho, n=int(both.sum()))], None
    results: list[Result] = [replace(rho, name=RHO), *raters_below(run, rho.value, "ρ")]
    conditions = [] if run.same is None else run.conditions[both].tolist()
    if run.same is None or len(set(conditions)) < 2:
        return results, None
    predictors = np.column_stack([value, run.same[both].astype(float)])
    fit = run.attempt(_TERMS["rating"], partial(ols, norm, predictors, ["rating", "same_sense"]))
    results += [fit] if isinstance(fit, Undefined) else fit.results(_MODEL)
    resample = partial(
        run.resample, residuals_by_condition, norm, value, ["rating"], conditions, rows=both, model="norm~rating"
    )
    report = run.attempt("mean_residual(model=norm~rating)", resample)
    if isinstance(report, Undefined):
        return [*results, report], None
    regression, residuals = report
    return [*results, *(residual.about(unit="rating") for residual in residuals)], regression.residuals


def recited_norms(run: SawCData) -> object:
    """Show how closely GPT-4 recites published norms, and how closely it rates the same words.

    Its publisher's test of contamination is about the Glasgow norms (arousal of words), not about RAW-C: the model was
    asked to continue rows of the published file. *Source: Trott (2024).*
    """
    table = recited_table() if run.name == "raw_c" and not run.own and "gpt-4" in run.raters else None
    if table is None:
        return ()
    published, recited = (table.floats(name) for name in ("Arousal.M", "num_response"))
    n_exact = int(np.sum(np.round(recited, 2) == np.round(published, 2)))
    results: list[Result] = []
    for of, column in (("recited", "num_response"), ("rated", "Arousal")):
        name = statistic_name("spearman", of=of, **{"with": "glasgow_arousal"})
        rho = run.attempt(name, partial(spearman, table.floats(column), published, **run.resampling))
        note = f"{n_exact} of {len(table)} to two decimals as published" if of == "recited" else ""
        results.append(rho if isinstance(rho, Undefined) else rho.about(name=name, note=note))
    records = records_of(run.about(result, subject="gpt-4") for result in results)
    columns = (Column("GPT-4"), Column("ρ with the published norms", THREE), Column("Words", INTEGER), Column("Remark"))
    labels = ("recites the published number", "rates the word")
    rows = tuple((label, record_cell(r), r.n, r.note or None) for label, r in zip(labels, records, strict=True))
    notes = ("The test of its publisher, on the arousal of words (Glasgow norms): none was made with RAW-C.",)
    return records, Table("recited_norms", "", "Does GPT-4 know published norms by heart?", columns, rows, notes)
