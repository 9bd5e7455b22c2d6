"""The models: what they are, tokens, size and depth (SAW-C §5.2, §5.3, Table 3), subjects that rate (A.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from lexiscope.analysis.choices.tokenisation import tokenisation_of_answers
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.layers.intervals import highest_combinations, highest_difference
from lexiscope.analysis.layers.trajectory import family_by_depth_ratio, family_by_ntile
from lexiscope.analysis.norms.decomposition import residuals_by_condition
from lexiscope.analysis.norms.predictions import RHO, Predictor, predictor
from lexiscope.analysis.regression import LOG_PARAMETERS, ols, scaling
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.result import Estimate, Record, Result, Undefined, statistic_name
from lexiscope.datasets.raw_c.models import RECITED_FILE
from lexiscope.items.read.importer import check_ratings
from lexiscope.report.figures import Figure, Heading, apa
from lexiscope.report.part import Remark, find_record, record_cell
from lexiscope.report.pivot import Col, pivot, quantities, rank_columns, records_of, rows_of_subjects
from lexiscope.report.plots.distributions import Residuals, residual_ridge
from lexiscope.report.plots.layers import families_by_depth
from lexiscope.report.plots.size import Sized, SizeRegression, statistic_by_size
from lexiscope.report.presenting import file_name
from lexiscope.report.sections import subjects_table, tokens_table
from lexiscope.report.tables import INTEGER, P_VALUE, TEXT, Cell, Column, Format, Missing, Table
from lexiscope.resources.fetch import locate_optional
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.studies.kit.run import Floats
from lexiscope.studies.kit.study import read_texts
from lexiscope.studies.saw_c.data import ASKED, DIFFERENT, NOT_IN_PAPER, SAME, Flags, SawCData
from lexiscope.studies.saw_c.layers import ORDER, RANK, LayerFit, fits
from lexiscope.studies.saw_c.people import THREE, rater_agreements, raters_below
from lexiscope.tasks.relatedness import SCALE

_BETWEEN = "r_squared_difference(of=max_over_layers,between={})"
_WITHIN = statistic_name("slope_within_family", of=LOG_PARAMETERS, outcome="max_r_squared")
_FAR_SMALLER = 3
TEXTS = read_texts(Path(__file__).with_name("texts.md"))
"""The prose of the report."""

# -- what they are --------------------------------------------------------------------------------------------------


def subjects(run: SawCData) -> object:
    """Show what is known of the subjects, and how their tokenizers cut the stimuli. *Source: SAW-C Tables 2 and 3.*"""
    facts = {distances.subject: replace(distances.facts, subject_id=distances.subject) for distances in run.distances}
    known = tuple(facts.values())
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
    paper = [facts for facts in known if NOT_IN_PAPER not in facts.source]
    flags = [f"multilingual={bool(facts.multilingual)}" for facts in paper]
    families = [f"family={facts.family}" for facts in paper]
    both = [f"{family} {flag}" for family, flag in zip(families, flags, strict=True)]
    counts = Counter([*flags, *families, *both, *(f"layers={facts.n_layers}" for facts in paper)])
    rows = {
        condition.replace("=", ": "): run.number("n_models", count, condition=condition)
        for condition, count in sorted(counts.items())
    }
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
        chosen = [fit for fit in of_view if NOT_IN_PAPER not in fit.distances.facts.source]
        recorded = [fit for fit in chosen if fit.subject not in run.live]
        parts += [_size_regression(run, recorded, view, "")] if recorded else []
        if len(recorded) < len(chosen):
            parts.append(_size_regression(run, chosen, view, "live subjects included"))
        parts.append(_families(run, chosen, view))
        if view == run.views[0]:
            parts.append(_size_contrasts(run, recorded or chosen, view))
    return parts, _final_stop(run)


def _size_regression(run: SawCData, chosen: Sequence[LayerFit], view: str, condition: str) -> object:
    """The highest R² of each subject regressed on its size; where that is undefined, the reason."""
    defined = [fit for fit in chosen if fit.highest is not None]
    sized = [fit for fit in defined if fit.distances.facts.n_parameters]
    # a subject of which it is not known whether it is multilingual counts as monolingual
    flags = [bool(fit.distances.facts.multilingual) for fit in sized]
    sizes = [fit.distances.facts.n_parameters or 0 for fit in sized]
    highest = [fit.highest or 0.0 for fit in sized]
    several = flags if len(set(flags)) > 1 else None
    name = statistic_name("slope", of=LOG_PARAMETERS, outcome="max_r_squared")
    about = partial(run.about, view=view, condition=condition)
    report = run.attempt(name, partial(scaling, highest, sizes, several))
    line = None if isinstance(report, Undefined) else SizeRegression.of(report[0])
    figure = _size_figure(run, sized, line, view, condition)
    remarks: list[Remark] = []
    if isinstance(report, Undefined):
        records = [run.number(name, None, note=f"undefined: {report.reason}", view=view, condition=condition)]
        remarks.append(Remark(f"The regression of fit on size is undefined: {report.reason}."))
    else:
        records = records_of(about(result) for result in report[1])
    unknown = ", ".join(fit.subject for fit in defined if fit not in sized)
    if unknown:
        remarks.append(Remark(f"Not in the regression of fit on size, number of parameters unknown: {unknown}."))
    table = None if isinstance(report, Undefined) else _size_table(records, view, condition)
    return records, table, figure, remarks


def _size_table(records: Sequence[Record], view: str, condition: str) -> Table:
    labels = {
        "slope(of=log10_parameters,outcome=max_r_squared)": "Gain in R² per tenfold parameters",
        "standard_error(of=log10_parameters)": "… its standard error",
        "slope(of=multilingual,outcome=max_r_squared)": "Multilingual against monolingual",
        "r_squared(of=scaling)": "R² of this regression",
        "pearson(of=log10_parameters,with=max_r_squared)": "r of highest R² with log10 parameters",
    }
    columns = (Column("Term"), Column("Value", Format("number", 4)), Column("p", P_VALUE), Column("n", INTEGER))
    rows = tuple((labels[r.statistic], record_cell(r), r.p, r.n) for r in records if r.statistic in labels)
    title = ", ".join(filter(None, (f"Highest R² of each subject against its size, view {view}", condition)))
    notes = ("The layer of each highest R² is chosen on the same items; the figure has the R² that allows for it.",)
    return Table("_".join(map(file_name, filter(None, ("size", view, condition)))), "", title, columns, rows, notes)


def _size_contrasts(run: SawCData, chosen: Sequence[LayerFit], view: str) -> object:
    """Test size among models that were trained alike, and multilingual models against far smaller monolingual ones.

    Models are trained alike if family, training text, tokenizer and objective are the same. *Source: SAW-C §5.2.*
    """
    with_size = (fit for fit in chosen if fit.highest is not None and fit.distances.facts.n_parameters)
    sized = sorted(with_size, key=lambda fit: fit.distances.facts.n_parameters or 0)
    sizes = np.array([fit.distances.facts.n_parameters or 0 for fit in sized], dtype=float)
    series: dict[tuple[str, ...], list[int]] = {}
    for place, fit in enumerate(sized):
        facts = fit.distances.facts
        if facts.corpus:
            series.setdefault((facts.family, facts.corpus, facts.tokenizer, facts.objective), []).append(place)
    names: list[dict[str, str]] = []
    weights: list[tuple[str, Floats]] = []

    def add(name: str, of: Mapping[int, float], **about: str) -> None:
        names.append(about)
        weights.append((name, np.array([of.get(place, 0.0) for place in range(len(sized))])))

    for (family, *_), alike in series.items():
        for small, large in pairwise(alike):
            if sizes[large] > sizes[small]:
                subject = f"{sized[large].subject} − {sized[small].subject}"
                add(_BETWEEN.format("sizes"), {large: 1.0, small: -1.0}, subject=subject, condition=f"family={family}")
        for places, said in ((alike, ""), (alike[1:], ", without the smallest")):
            if len(set(sizes[places])) >= 3:
                centred = np.log10(sizes[places]) - np.log10(sizes[places]).mean()
                slope = dict(zip(places, (centred / (centred @ centred)).tolist(), strict=True))
                add(_WITHIN, slope, condition=f"family={family}{said}")
    against = _BETWEEN.format("multilingual")
    for place, fit in enumerate(sized):
        others = [k for k, other in enumerate(sized) if not other.distances.facts.multilingual]
        smaller = [k for k in others if sizes[k] * _FAR_SMALLER <= sizes[place]]
        if not fit.distances.facts.multilingual or not smaller:
            continue
        for other in smaller:
            add(against, {place: 1.0, other: -1.0}, subject=f"{fit.subject} − {sized[other].subject}")
        if len(smaller) > 1:
            mean = {place: 1.0} | dict.fromkeys(smaller, -1.0 / len(smaller))
            add(against, mean, subject=f"{fit.subject} − mean of {len(smaller)} smaller")
    if not weights:
        return ()
    matrices = [fit.distances.matrix[run.has_norm] for fit in sized]
    estimates = run.resample(highest_combinations, matrices, run.norm[run.has_norm], weights)
    records = records_of(run.about(e, view=view, **about) for e, about in zip(estimates, names, strict=True))
    return (
        records,
        _contrast_table(
            [record for record in records if record.statistic != against],
            "size_within_family",
            "Size among models that were trained alike",
            "Trained alike: family, training text, tokenizer and objective are the same.",
        ),
        _contrast_table(
            [record for record in records if record.statistic == against],
            "multilingual_and_smaller",
            "Multilingual models against smaller monolingual ones",
            f"Smaller: at most 1/{_FAR_SMALLER} of the parameters.",
        ),
    )


def _contrast_table(records: Sequence[Record], name: str, title: str, note: str) -> Table | None:
    columns = (Column("Models"), Column("Number"), Column("Highest R²", THREE), Column("p", P_VALUE))
    rows = tuple(
        (
            record.subject or record.condition.replace("=", " "),
            "gain per tenfold parameters" if record.statistic == _WITHIN else "first − second",
            record_cell(record),
            record.p,
        )
        for record in records
    )
    resampled = "Words are resampled, and the best layer is found anew in each resample; the models are those at hand."
    return Table(name, "", title, columns, rows, (note, resampled)) if rows else None


def _size_figure(
    run: SawCData,
    sized: Sequence[LayerFit],
    line: SizeRegression | None,
    view: str,
    condition: str,
) -> Figure | None:
    """The highest R² of each subject against its size, with the regression line and the human ceilings."""
    if not sized:
        return None
    points = [
        Sized.of(fit.distances.facts, fit.curves["r_squared"], multilingual=bool(fit.distances.facts.multilingual))
        for fit in sized
    ]
    ceilings = {
        f"people, mean ρ squared ({raters.variant.replace('_', '-')})": raters.mean**2
        for raters in run.once(rater_agreements)
        if raters.mean >= 0  # the square of disagreement is no ceiling
    }
    name = "_".join(map(file_name, filter(None, ("size", view, condition))))
    words = ", ".join(filter(None, (f"Highest R² by number of parameters, view {view}", condition)))
    return statistic_by_size(
        points, Heading(*run.numbered("figure", name, "6", "10"), words), fit=line, ceilings=ceilings
    )


def _families(run: SawCData, chosen: Sequence[LayerFit], view: str) -> object:
    """Family means by layer depth ratio, and in the paper's bins (ntile within each model)."""
    # an undefined R² at a constant layer explains nothing: it enters the mean as 0, as in the paper
    curves = {
        fit.subject: np.nan_to_num(fit.curves["r_squared"].array(), nan=0.0)
        for fit in chosen
        if fit.highest is not None and fit.distances.facts.family
        if fit.distances.matrix.shape[1] > 1 and fit.distances.is_whole
    }
    if not curves:
        return ()
    families = {fit.subject: fit.distances.facts.family for fit in chosen if fit.subject in curves}
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
    results: list[Estimate] = []
    families: dict[str, list[float]] = {}
    for subject, fit in with_stop.items():
        if subject not in without:
            continue
        matrices = [fits_of_view[subject].distances.matrix[run.has_norm] for fits_of_view in (with_stop, without)]
        difference = run.resample(highest_difference, *matrices, run.norm[run.has_norm], between="final_stop")
        results.append(run.about(difference, subject=subject))
        families.setdefault(fit.distances.facts.family, []).append(difference.value)
    results += [
        run.about(Estimate(results[0].name, float(np.mean(values)), n=len(values)), condition=f"family={family}")
        for family, values in families.items()
    ]
    if not results:
        return ()
    records = records_of(results)
    columns = (Column("Subject or family"), Column("Highest R², with − without", THREE), Column("Remark"))
    rows = tuple(
        (r.subject or r.condition.replace("=", " "), record_cell(r), r.note or f"mean of {r.n}") for r in records
    )
    notes = (
        "Intervals resample words; the best layer of each view is found anew in each resample; not adjusted for "
        "being many.",
    )
    return records, Table("final_stop", "", "What a final stop changes", columns, rows, notes)


# -- subjects that rate ---------------------------------------------------------------------------------------------

_MODEL = "norm~rating+same_sense"
_RATING, _SENSE = (statistic_name("coefficient", term=term, model=_MODEL) for term in ("rating", "same_sense"))


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
        given = (ratings.predictions.get(item.item_id) for item in run.items)
        value = values[subject, None] = np.array([np.nan if rating is None else rating for rating in given])
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
    return records, _ratings_table(run, rated, records), _residuals_table(rated, records), figure, said


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
    norm, value, conditions = run.norm[both], rating[both], run.conditions[both].tolist()
    rho = run.attempt(RHO, partial(run.resample, spearman, value, norm, rows=both))
    if isinstance(rho, Undefined):
        return [replace(rho, n=int(both.sum()))], None
    results: list[Result] = [replace(rho, name=RHO), *raters_below(run, rho.value, "ρ")]
    if run.same is None or len(set(conditions)) < 2:
        return results, None
    predictors = np.column_stack([value, run.same[both].astype(float)])
    fit = run.attempt(_RATING, partial(ols, norm, predictors, ["rating", "same_sense"]))
    results += [fit] if isinstance(fit, Undefined) else fit.results(_MODEL)
    resample = partial(
        run.resample, residuals_by_condition, norm, value, ["rating"], conditions, rows=both, model="norm~rating"
    )
    report = run.attempt("mean_residual(model=norm~rating)", resample)
    if isinstance(report, Undefined):
        return [*results, report], None
    regression, residuals = report
    return [*results, *(residual.about(unit="rating") for residual in residuals)], regression.residuals


def _ratings_table(run: SawCData, rated: Mapping[str, Predictor], records: Sequence[Record]) -> Table:
    words = {"leave_one_out": "true leave-one-out", "included": "own rating included"}
    below = "Share of single people whose ρ with the norms is below the subject's; 95 % interval (Wilson)."
    none = Missing("No sense of the pairs is known, or no regression could be fitted.")

    def with_error(term: Record) -> Cell:
        error = find_record(records, term.statistic.replace("coefficient", "standard_error"), subject=term.subject)
        if term.value is None or error is None:
            return none
        return f"{term.value:.2f} ({error.value:.2f})".replace("-", "−")

    columns = [Col("ρ with the norms", RHO, note="95 % interval, words resampled.")]
    columns += rank_columns(records, RANK, "by ρ, on the pairs that all of them rated")
    for raters in run.once(rater_agreements):
        name = statistic_name("raters_below_model", among=raters.variant, method=raters.method)
        columns.append(Col(f"Raters below, {words[raters.variant]}", name, note=below))
    least = "Ordinary least squares of the norms on rating and same sense."
    read = "Pairs with a readable rating, of those asked: all numbers are over the former."
    columns += [
        Col("b of rating (SE)", _RATING, TEXT, note=least, cell=with_error, absent=none),
        Col("b of same sense (SE)", _SENSE, TEXT, cell=with_error, absent=none),
        Col("Read / asked", "n_items_read", TEXT, note=read, cell=lambda record: rated[record.subject].read_of_asked),
        Col("Replies not read", "n_unreadable", TEXT, cell=lambda record: rated[record.subject].unread_in_words or "0"),
    ]
    notes = [
        f"Single people, {words[raters.variant]}: mean ρ with the norms {apa(raters.mean)}."
        for raters in run.once(rater_agreements)
    ]
    title = "Ratings of subjects compared with people's norms"
    titles = {subject: ratings.title for subject, ratings in rated.items()}
    return pivot(
        run.numbered("figure", "ratings", "12")[0], title, records, columns, rows_of_subjects(titles), notes=notes
    )


def _residuals_table(rated: Mapping[str, Predictor], records: Sequence[Record]) -> Table | None:
    name, two = "mean_residual(model=norm~rating)", Format("number", 2)
    columns = [Col(label, name, two, where={"condition": f"same_sense={label == SAME}"}) for label in (SAME, DIFFERENT)]
    known = {record.subject for record in records if record.statistic == name and record.value is not None}
    rows = rows_of_subjects({subject: ratings.title for subject, ratings in rated.items() if subject in known})
    note = "Observed − fitted norm of the regression on the subject's rating; 95 % interval, words resampled."
    title = "What people see beyond a subject's ratings"
    return pivot("rating_residuals", title, records, columns, rows, notes=(note,)) if rows else None


def recited_norms(run: SawCData) -> object:
    """Show how closely GPT-4 recites published norms, and how closely it rates the same words.

    Its publisher's test of contamination is about the Glasgow norms (arousal of words), not about RAW-C: the model was
    asked to continue rows of the published file. *Source: Trott (2024).*
    """
    located = None if run.own or "gpt-4" not in run.raters else locate_optional(RECITED_FILE, dataset="raw_c")
    if located is None or run.name != "raw_c":
        return ()
    table = read_csv(located.path)
    published, exact = table.floats("Arousal.M"), np.round(table.floats("num_response"), 2)
    n_exact = int(np.sum(exact == np.round(published, 2)))
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
