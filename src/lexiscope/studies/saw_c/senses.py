"""Sense and distance: mixed models of single ratings, and what each explains of the norms (SAW-C §3.5, §4.5, §5.4).

Formulas are in the notation of lme4, with the column names of the exported trial table. The random-effects part
of a test is always printed next to its χ² (SAW-C's χ² for sense is 325.21 or 37.07, depending on the slopes kept).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from lexiscope.analysis.layers.layer_fits import Distances
from lexiscope.analysis.mixed.models import LikelihoodRatio, NestedModels, likelihood_ratios, reduce
from lexiscope.analysis.mixed.ordinal import ordinal_likelihood_ratios
from lexiscope.analysis.mixed.r_script import ModelPair, distinct_columns
from lexiscope.analysis.norms.decomposition import (
    crossed,
    explained_variance,
    pooled_residuals,
    residuals_by_condition,
    variance_decomposition,
)
from lexiscope.core.response import holds_simulated
from lexiscope.core.result import Estimate, Result, Undefined, statistic_name
from lexiscope.report.figures import Heading
from lexiscope.report.page.exports import export_r
from lexiscope.report.part import Remark
from lexiscope.report.parts.layer_parts import explained_table, residuals_table
from lexiscope.report.parts.mixed_tables import (
    estimates_table,
    held_out_part,
    ordinal_part,
    ratio_tests_table,
    reduction_table,
)
from lexiscope.report.pivot import numbers_table, records_of
from lexiscope.report.plots.distributions import Residuals, residual_ridge
from lexiscope.report.presenting import file_name
from lexiscope.studies.saw_c.data import BETO, DIFFERENT, HELD_OUT, SAME, SawCData
from lexiscope.studies.saw_c.layers import ORDER, focus_of, held_out, main_fits

REFERENCES = {"Same_sense": DIFFERENT}
Distance = tuple[str, str, int | None]
"""A column of distances: its name, the subject, the layer."""


@dataclass(frozen=True, slots=True)
class Test:
    """A likelihood-ratio test of two models of the ratings; *place* is where a paper reports it.

    ``distances`` are the columns of distances that the formulas name.
    """

    name: str
    full: str
    reduced: str
    place: str
    question: str
    distances: tuple[Distance, ...] = ()

    @property
    def where(self) -> dict[str, str | int | None]:
        """Subject and layer of its records; none if it has no distances, or those of several."""
        _, subject, layer = self.distances[0] if len(self.distances) == 1 else ("", "", None)
        return {"subject": subject, "layer": None if layer == HELD_OUT else layer}

    @property
    def columns(self) -> dict[str, tuple[str, int | None]]:
        """Subject and layer of each column of distances."""
        return {name: (subject, layer) for name, subject, layer in self.distances}


def sense_test(name: str, random: str, place: str) -> Test:
    """Return the test of the sense boundary in people's ratings."""
    return Test(name, f"Response ~ Same_sense + {random}", f"Response ~ 1 + {random}", place, "Q1")


def distance_tests(subject: str, layer: int | None, random: str, place: str, *, suffix: str = "") -> tuple[Test, Test]:
    """Return the tests of sense beyond distance and of distance beyond sense, for one subject at one layer.

    At the layer ``HELD_OUT`` the distance of each item is that of the layer that was chosen on other words.
    """
    column = "Distance_held_out" if layer == HELD_OUT else "Distance"
    random = random.replace("Distance", column)
    full, columns = f"Response ~ Same_sense + {column} + {random}", ((column, subject, layer),)
    return (
        Test(f"sense_beyond_distance{suffix}", full, f"Response ~ {column} + {random}", place, "Q4", columns),
        Test(f"distance_beyond_sense{suffix}", full, f"Response ~ Same_sense + {random}", place, "Q4", columns),
    )


def _raw_c_test(name: str, full: str, reduced: str) -> Test:
    random = "(1 + Same_sense + ambiguity_type | Participant) + (1 + Same_sense | Word)"
    columns = tuple((f"Distance_{name}", name, None) for name in ("bert", "elmo") if f"Distance_{name}" in full)
    place = "RAW-C, authors' script"
    return Test(name, f"Response ~ {full} + {random}", f"Response ~ {reduced} + {random}", place, "Q4", columns)


_SENSE_35 = "(1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 | Word)"
_MAXIMAL_35 = "(1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 + Same_sense | Word)"
_BOTH_45 = "(1 + Same_sense + Distance | Participant) + (1 | List) + (1 | Word)"
_MAXIMAL_45 = " + ".join(f"(1 + Same_sense + Distance | {group})" for group in ("Participant", "List", "Word"))
_RAW_BOTH = "Distance_bert + Distance_elmo + class"
_RAW_CROSSED = "Same_sense * ambiguity_type"
TESTS = {
    "saw_c": (
        sense_test("sense", _SENSE_35, "SAW-C §3.5"),
        # the paper reduced this model because it did not converge; here it does, without any message: always shown
        sense_test("sense_maximal", _MAXIMAL_35, "SAW-C §3.5, maximal random effects"),
        *distance_tests(BETO, 12, _BOTH_45, "SAW-C §4.5"),
    ),
    "raw_c": (
        sense_test(
            "sense", "(1 + Same_sense | Participant) + (1 + Same_sense | Word)", "the form of SAW-C §3.5, without lists"
        ),
        _raw_c_test("same", f"{_RAW_BOTH} + Same_sense", _RAW_BOTH),
        _raw_c_test("type_interaction", f"{_RAW_BOTH} + {_RAW_CROSSED}", f"{_RAW_BOTH} + Same_sense + ambiguity_type"),
        _raw_c_test("distance_bert", f"{_RAW_BOTH} + {_RAW_CROSSED}", f"Distance_elmo + class + {_RAW_CROSSED}"),
        _raw_c_test("distance_elmo", f"{_RAW_BOTH} + {_RAW_CROSSED}", f"Distance_bert + class + {_RAW_CROSSED}"),
    ),
}
MAXIMAL = {"saw_c": distance_tests(BETO, 12, _MAXIMAL_45, "SAW-C §4.5, maximal random effects", suffix="_maximal")}


def with_held_out(
    subject: str, layer: int | None, *given: str, held_out: Collection[str], suffix: str = ""
) -> tuple[Test, ...]:
    """Return :func:`distance_tests` at the best layer, and for subjects in *held_out* those at :data:`HELD_OUT` too."""
    others = distance_tests(subject, HELD_OUT, *given, suffix=f"{suffix}_held_out") if subject in held_out else ()
    return (*distance_tests(subject, layer, *given, suffix=suffix), *others)


def chosen_tests(run: SawCData) -> tuple[Test, ...]:
    """Return the tests that the settings ask for: those of the dataset's paper, or SAW-C's with the groups there are.

    ``maximal`` adds those with maximal random effects, ``every`` those of every subject at its best layer.
    """
    kind, lists = run.settings.mixed_models, all(item.list_id is not None for item in run.items)
    # a file of the user's own may be called saw_c.csv
    known = None if run.own else TESTS.get(run.name)
    if kind == "none" or (known is None and run.same is None):
        return ()
    best = {fit.subject: fit.best for fit in run.once(main_fits)}
    at_best = partial(with_held_out, held_out=run.held_out_distances)
    groups = (" + (1 + Same_sense | List)", " + (1 | List)") if lists else ("", "")
    random = f"(1 + Same_sense + Distance | Participant){groups[1]} + (1 | Word)"
    focus, tests = focus_of(run), known or ()
    if known is None:
        tests = (sense_test("sense", f"(1 + Same_sense | Participant){groups[0]} + (1 | Word)", ""),)
        for focus in list(best.items())[:1]:
            tests += at_best(*focus, random, "")
    if kind == "maximal" and not run.own:
        tests += MAXIMAL.get(run.name, ())
    place = "as SAW-C §4.5" if known else ""
    others = [pair for pair in best.items() if kind == "every" and pair != focus]
    return tests + tuple(
        test for pair in others for test in at_best(*pair, random, place, suffix=f"_{file_name(pair[0])}")
    )


def possible_tests(run: SawCData) -> dict[Test, NestedModels]:
    """Return the chosen tests whose distances are in the run, each with its models and its table of ratings."""
    known = {distances.subject for distances in run.distances}
    tests = chosen_tests(run) if run.has("ratings") else ()
    possible = [test for test in tests if {subject for _, subject, _ in test.distances} <= known]
    # tests with the same distances share a table, and the models that are in several of them
    trials = {test.distances: run.trials(test.columns) for test in possible}
    return {test: NestedModels(test.full, test.reduced, trials[test.distances]) for test in possible}


def outcomes_of_tests(run: SawCData) -> dict[Test, LikelihoodRatio | Undefined]:
    """Return the outcome of each test, or why it has none. *Source: SAW-C §3.5, §4.5.*"""
    starts, seed = run.settings.starts, run.settings.seed
    outcomes = likelihood_ratios(run.once(possible_tests), starts=starts, seed=seed, references=REFERENCES)
    reason = "it needs the distances of {}, not all of which are in this run"
    return {
        test: outcomes.get(test) or Undefined("chi2", reason.format(", ".join(name for _, name, _ in test.distances)))
        for test in (chosen_tests(run) if run.has("ratings") else ())
    }


def tests_of(run: SawCData, question: str) -> object:
    """Return what the tests of one question found: numbers, tables, remarks."""
    every = {test: outcome for test, outcome in run.once(outcomes_of_tests).items() if test.question == question}
    held_out = {test: every[test] for test in every if HELD_OUT in [layer for _, _, layer in test.distances]}
    own = {test: every[test] for test in every if test not in held_out}
    if not own:
        return ()
    results: list[Result] = []
    for test, outcome in own.items():
        if isinstance(outcome, Undefined):
            name = statistic_name("chi2", test=test.name, df=1)
            results.append(run.about(replace(outcome, name=name), **test.where))
            continue
        # the paper prints a bound of p: a number of its own, to be compared
        p = Estimate(statistic_name("p", test=test.name), outcome.p)
        results += run.about_all((*outcome.results(test.name), p), **test.where)
    named = {test.name: outcome for test, outcome in own.items()}
    fits = {name: outcome.full for name, outcome in named.items() if isinstance(outcome, LikelihoodRatio)}
    places = [f"{test.name.replace('_', ' ')}: {test.place}" for test in own if test.place]
    notes = [f"Places: {'; '.join(places)}."] if places else []
    distances = sorted({distance for test in own for distance in test.distances}, key=str)
    if distances:
        shown = [
            f"{name.replace('_', ' ')}: {run.names.get(subject, subject)}"
            + (f", layer {layer}" if layer is not None else "")
            for name, subject, layer in distances
        ]
        notes.append(f"{'; '.join(shown)}.")
    offered = () if run.own else MAXIMAL.get(run.name, ())
    offer = (
        "With every slope that the design allows, χ² is another: --mixed maximal runs those tests (several minutes)."
    )
    return (
        results,
        ratio_tests_table(f"mixed_model_tests_{question.lower()}", named, notes=notes),
        estimates_table(f"mixed_model_estimates_{question.lower()}", fits),
        [offer for test in offered[:1] if test.question == question and test not in own],
        [
            Remark(f"{name}: {reason}")
            for name, outcome in named.items()
            for reason in ((outcome.reason,) if isinstance(outcome, Undefined) else outcome.remarks)
        ],
        _held_out_tests(run, held_out, question),
        _ordinal_tests(run, list(own), question),
    )


def _held_out_tests(run: SawCData, own: Mapping[Test, LikelihoodRatio | Undefined], question: str) -> object:
    """The tests at a layer that was chosen on other words: a family next to the naive ones."""
    about = {test.name: {"dataset": run.name, **test.where} for test in own}
    chosen = {test.name: run.held_out_distances[subject][1] for test in own for _, subject, _ in test.distances}
    return held_out_part(question.lower(), {test.name: own[test] for test in own}, about, chosen)


def _ordinal_tests(run: SawCData, own: Sequence[Test], question: str) -> object:
    """The same tests with ordinal models: thresholds, effects, severity. Linear models stay what they are."""
    if not run.settings.ordinal:
        offer = (
            "Ratings are ordered categories. The same tests with cumulative link models, with thresholds and the "
            "severity of raters: --ordinal logit (several seconds for each test)."
        )
        return [offer] if question == "Q1" else ()
    models = {test.name: pair for test, pair in run.once(possible_tests).items() if test in own}
    starts, seed = min(2, run.settings.starts), run.settings.seed
    tests = ordinal_likelihood_ratios(models, run.settings.ordinal, starts=starts, seed=seed, references=REFERENCES)
    about = {test.name: {"dataset": run.name, **test.where} for test in own}
    severity = [test.name for test in own if not test.distances]
    return ordinal_part(question.lower(), tests, about, severity=severity)


def reductions(run: SawCData) -> object:
    """Start from each maximal model and reduce it by rule until it converges. *Source: SAW-C §3.5.*"""
    starting = [(test, pair) for test, pair in run.once(possible_tests).items() if test.name.endswith("_maximal")]
    # two tests may drop different effects from one model: its reduction is one
    distinct = {test.full: (test.name, pair) for test, pair in reversed(starting)}
    logs = {
        name: reduce(pair.full, pair.data, starts=2, seed=run.settings.seed, references=REFERENCES)
        for name, pair in reversed(distinct.values())
    }
    results = [run.about(result) for name, log in logs.items() for result in log.results(name)]
    return (results, reduction_table("reduction", logs)) if logs else ()


def write_r_script(run: SawCData, folder: Path) -> tuple[str, ...]:
    """Write the tests as an R script, with one table of trials for all of them."""
    pairs, columns = distinct_columns(
        [
            (ModelPair(test.name, test.full, test.reduced, links=run.settings.ordinal), test.columns)
            for test in run.once(possible_tests)
        ]
    )
    simulated = holds_simulated(run.responses)
    return export_r(folder, pairs, run.trials(columns), references=REFERENCES, simulated=simulated) if pairs else ()


# -- what sense and distance explain --------------------------------------------------------------------------------


def explain_norms(run: SawCData) -> object:
    """Decompose the variance of the norms, and describe what each subject's distances leave over.

    *Source: SAW-C §4.5, §5.4.*
    """
    if run.has_norm.sum() < 4:
        return ()
    norm, senses, conditions = (every[run.has_norm] for every in (run.norm, run.senses, run.conditions))
    results: list[Result] = []
    remarks: list[Remark] = []
    ridges: list[Residuals] = []
    for fit in run.once(main_fits):
        distances, matrix = fit.distances, fit.distances.matrix[run.has_norm]
        where = {"subject": distances.subject, "view": distances.view}
        for layer in dict.fromkeys((fit.best, distances.layers[-1])) if distances.layers else (None,):
            results_at_layer = run.attempt("r_squared", partial(_results_at_layer, run, distances, layer))
            if isinstance(results_at_layer, Undefined):
                remarks.append(Remark(f"{distances.subject}, layer {layer}: {results_at_layer.reason}"))
            else:
                results += results_at_layer
        results += held_out(run, fit, conditions.tolist())
        over_all = partial(run.resample, pooled_residuals, norm, matrix, conditions.tolist(), layers=distances.layers)
        alone = partial(
            residuals_by_condition, norm, matrix[:, -1], ["distance"], conditions.tolist(),
            model="norm~distance", resamples=0,
        )  # fmt: skip
        report = run.attempt("mean_residual", over_all if distances.layers else alone)
        if isinstance(report, Undefined):
            remarks += [Remark(f"{distances.subject}, all layers: {report.reason}")] if distances.layers else []
            continue
        regression, residuals = report
        results += run.about_all(residuals if distances.layers else (), unit="rating", **where)
        ridges.append(Residuals(distances.title, regression.residuals, np.repeat(senses, matrix.shape[1])))
    records = records_of(results)
    tables = (explained_table(records, run.titles), residuals_table(records, run.titles)) if records else ()
    heading = Heading(
        *run.numbered("figure", "residuals_by_sense", "5"),
        "What people see beyond distance: residuals by sense",
        "Residuals of the regression of mean relatedness on distance × layer, all layers pooled (layer 0 included); "
        "for subjects without layers, of the regression on distance.",
    )
    return records, tables, residual_ridge(ridges, heading, order=ORDER) if ridges else None, remarks


def _results_at_layer(run: SawCData, distances: Distances, layer: int | None) -> list[Result]:
    """What sense, distance and both explain with the distances of one layer, and the residuals by sense."""
    kept = run.has_norm
    norm, conditions, column = run.norm[kept], run.conditions[kept].tolist(), distances.at(layer)[kept]
    same = np.asarray(run.same, dtype=float)[kept]
    parts = run.resample(variance_decomposition, norm, same, column)
    _, means = run.resample(residuals_by_condition, norm, column, ["distance"], conditions, model="norm~distance")
    residuals = [mean.about(unit="rating") for mean in means]
    where = {"dataset": run.name, "subject": distances.subject, "view": distances.view}
    return [result.about(layer=layer, **where) for result in (*parts, *residuals)]


def joint_regressions(run: SawCData) -> object:
    """Explain the norms by the distances of both models of RAW-C, by sense crossed with ambiguity type, and by all.

    *Source: RAW-C §5.*
    """
    subjects, factor = ("bert", "elmo"), "ambiguity_type"
    known = {distances.subject for distances in run.distances}
    if run.own or run.name != "raw_c" or not known.issuperset(subjects):
        return ()
    names, norm, same = "+".join(subjects), run.norm[run.has_norm], run.senses[run.has_norm] == SAME
    distances = np.column_stack([run.distance_of(subject, None)[run.has_norm] for subject in subjects])
    levels = np.array([str(item.conditions[factor]) for item in run.items])[run.has_norm]
    both = crossed(same, levels.tolist())
    models = {names: distances, f"sense*{factor}": both}
    models[f"sense*{factor}+{names}"] = np.column_stack([both, distances])
    labels = [f"same_sense={is_same} {factor}={level}" for is_same, level in zip(same, levels, strict=True)]
    _, means = run.resample(residuals_by_condition, norm, distances, list(subjects), labels, model=f"norm~{names}")
    residuals = [mean.about(unit="rating") for mean in means]
    explained_by = run.resample(explained_variance, norm, models).values()
    records = records_of(result.about(dataset=run.name) for result in (*explained_by, *residuals))
    title = "Several distances in one regression of the norms"
    return records, numbers_table("joint_regressions", title, records, notes=("Intervals resample words.",))
