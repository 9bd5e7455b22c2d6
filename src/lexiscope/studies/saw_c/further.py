"""Further datasets: RAW-C's own questions, and two languages in one model.

RAW-C: ratings by sense and ambiguity type, senses from ratings, what other norms add to distance. These questions are
asked of items with the condition ``ambiguity_type``; some also have dominance and sensorimotor distance.

Two languages: is the sense boundary, the profile over layers, the effect of size the same in both? A run with
``--beside DATASET`` has a second dataset of this task in another language. Its first dataset is the reference: each
term of language says how the second differs from it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.layers.layer_fits import LayerFit, curves_of_families, regress_fits
from lexiscope.analysis.layers.trajectory import family_by_depth_ratio
from lexiscope.analysis.mixed.joint import JointModel, RatedSet, joint_model, results_once
from lexiscope.analysis.mixed.models import LikelihoodRatio
from lexiscope.analysis.mixed.r_script import distinct_columns
from lexiscope.analysis.norms.decomposition import RESIDUAL, residuals_by_condition, variance_decomposition
from lexiscope.analysis.norms.norms import condition_means
from lexiscope.analysis.regression import LOG_PARAMETERS, MULTILINGUAL, logistic
from lexiscope.core.response import holds_simulated
from lexiscope.core.result import Result, Undefined, statistic_name
from lexiscope.report.figures import Heading
from lexiscope.report.page.exports import export_r
from lexiscope.report.part import Part, Remark
from lexiscope.report.parts.layer_parts import added_table, residuals_by_condition_table
from lexiscope.report.parts.mixed_tables import coefficients_table, estimates_table, ordinal_part, ratio_tests_table
from lexiscope.report.parts.people_tables import condition_means_table
from lexiscope.report.pivot import numbers_table, records_of
from lexiscope.report.plots.layers import families_by_depth
from lexiscope.report.presenting import file_name
from lexiscope.report.tables import Format
from lexiscope.studies.kit.run import Floats
from lexiscope.studies.saw_c.data import DIFFERENT, NOT_IN_PAPER, Flags, SawCData
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


_RANDOM = "(1 + Same_sense + Distance | Participant) + (1 + Same_sense | Word)"
_EFFECTS = {"sense": "Same_sense", "distance": "Distance"}
TESTS = {f"{name}_by_language": f"effect of {name}" for name in _EFFECTS}
LANGUAGE_TESTS = tuple(f"chi2(test={name})" for name in TESTS)
_WITH_LANGUAGE = ("language", *(f"{term}:language" for term in (LOG_PARAMETERS, MULTILINGUAL, "BERT", "RoBERTa")))
LANGUAGE_TERMS = tuple(f"coefficient(term={term})" for term in _WITH_LANGUAGE)
"""The coefficients that compare the languages."""


def joint_ratings(run: SawCData) -> object:
    """Test on the single ratings of both languages whether sense, and distance, go with ratings alike.

    Ratings count from the lowest point of their scale; both scales must have as many points. The distances of an
    encoder are those of its layer that fits best in each language, in standard deviations of their language: of
    every encoder that answered in both languages, and of the best encoder of each. Participants and words are random,
    nested in their language.
    """
    other = run.beside
    if other is None:
        return ()
    if not _has_trials(run, other):
        return Remark("No mixed model of both languages: it needs single ratings and senses in both, and --mixed.")
    results: list[Result] = []
    ordinal: list[Part] = []
    outcomes: dict[str, LikelihoodRatio | Undefined] = {}
    seed, starts = run.settings.seed, run.settings.starts
    for title, model in run.once(joint_models).items():
        where = {"dataset": f"{run.name}+{other.name}", "subject": title}
        tests = model.tests(starts=starts, seed=seed)
        results += [result.about(**where) for result in results_once(tests)]
        outcomes |= {f"{name}: {title}": outcome for name, outcome in tests.items()}
        ordered = {
            (name, link): outcome
            for link in run.settings.ordinal
            for name, outcome in model.ordinal_tests(link, starts=min(2, starts), seed=seed).items()
        }
        about = {name: where for name, _ in ordered}
        ordinal += [ordinal_part(f"languages_{file_name(title)}", ordered, about)] if ordered else []
    models = {label: outcome.full for label, outcome in outcomes.items() if isinstance(outcome, LikelihoodRatio)}
    said = (
        f"One model of the ratings in {run.card.title} and {other.card.title}: ratings count from the lowest point of "
        f"their scale, distances are in standard deviations of their language. The reference is {run.card.language}."
    )
    tables = ratio_tests_table("tests_of_languages", outcomes), estimates_table("estimates_of_languages", models)
    return (said, results, *tables, *ordinal) if outcomes else ()


def _has_trials(run: SawCData, other: SawCData) -> bool:
    known = all(part.has("ratings") and part.has("senses") for part in (run, other))
    return known and run.settings.mixed_models != "none"


def joint_models(run: SawCData) -> dict[str, JointModel]:
    """Return the model of the ratings in both languages by the name of its encoder, or of its two encoders."""
    other = run.beside
    if other is None or not _has_trials(run, other):
        return {}
    return {title: languages_model(run, other, *fits) for title, *fits in _encoders_of_both(run, other)}


def write_r_script(run: SawCData, folder: Path) -> tuple[str, ...]:
    """Write the models of both languages as a separate R script: their ratings are those of two datasets."""
    models = run.once(joint_models)
    named = [
        (replace(pair, name=f"{pair.name}_{file_name(title)}"), {"Distance": title})
        for title, model in models.items()
        for pair in model.pairs(run.settings.ordinal)
    ]
    if not named:
        return ()
    pairs, columns = distinct_columns(named)
    first = next(iter(models.values()))
    trials = {**first.data, **{name: models[title].data["Distance"] for name, title in columns.items()}}
    return export_r(
        folder,
        pairs,
        trials,
        references=first.references,
        simulated=any(holds_simulated(part.responses) for part in (run, run.beside) if part is not None),
        names=("languages.R", "trials_of_languages.csv"),
    )


def _encoders_of_both(run: SawCData, other: SawCData) -> list[tuple[str, LayerFit, LayerFit]]:
    """The encoders of both languages by their name, then the best encoder of each language."""
    here, there = ([fit for fit in part.once(main_fits) if fit.highest is not None] for part in (run, other))
    pairs = [(fit.subject, fit, again) for fit in here for again in there if again.subject == fit.subject]
    if here and there:
        first, second = (max(fits, key=lambda fit: fit.highest or 0.0) for fits in (here, there))
        if first.subject != second.subject:
            pairs.append((f"{first.subject} and {second.subject}", first, second))
    return pairs


def languages_model(run: SawCData, other: SawCData, *fits: LayerFit) -> JointModel:
    """Return the joint model of the ratings in both languages, with the distances of one encoder in each."""
    sets = {
        part.card.language: RatedSet(
            part.trials({"Distance": (fit.subject, fit.best)}),
            0.0 if part.card.scale is None else part.card.scale.low,
            {"Distance": part.distance_of(fit.subject, fit.best)},
        )
        for part, fit in zip((run, other), fits, strict=True)
    }
    return joint_model(sets, _EFFECTS, _RANDOM, factor="Language", references={"Same_sense": DIFFERENT})


def joint_layers_and_size(run: SawCData) -> object:
    """Regress encoders' highest R² on size, and the shape of their curves on family, each crossed with language."""
    other = run.beside
    if other is None:
        return ()
    chosen = [
        (fit, part)
        for part in (run, other)
        for fit in part.once(main_fits)
        if fit.highest is not None and fit.distances.is_whole and NOT_IN_PAPER not in fit.facts.source
    ]
    results = regress_fits([fit for fit, _ in chosen], [part is other for _, part in chosen])
    records = records_of(result.about(dataset=f"{run.name}+{other.name}") for result in results)
    notes = (
        f"language: {other.card.language} against {run.card.language}. Families are compared with the first by name.",
        "Ordinary least squares over encoders, which count as independent.",
    )
    table = coefficients_table(
        "encoders_of_languages", "Size, layers and language", records, label="Regression and term", notes=notes
    )
    languages = {
        f"{fit.subject}, {part.card.language}": (fit, fit.facts.family and f"{fit.facts.family}, {part.card.language}")
        for fit, part in chosen
    }
    profiles = family_by_depth_ratio(*curves_of_families(languages))
    heading = Heading("families_of_languages", "", "R² over depth by family and language")
    return records, table, families_by_depth(profiles, heading, statistic="R²") if profiles else None
