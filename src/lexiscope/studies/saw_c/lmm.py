"""The crossed mixed models: likelihood-ratio tests with their random-effects formula, estimates, variances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexiscope.analysis.mixed import LikelihoodRatio, likelihood_ratio
from lexiscope.analysis.mixed_fit import MixedFit
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.study import StudySettings
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.part import Part
from lexiscope.studies.saw_c.plans import Plan, Test
from lexiscope.studies.saw_c.show import test_table, variance_table
from lexiscope.studies.saw_c.trials import DIFFERENT, Column, trial_table

REFERENCES = {"Same_sense": DIFFERENT}


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """A test of the plan with its outcome, or why there is none."""

    test: Test
    outcome: LikelihoodRatio | None
    reason: str = ""


def chosen_tests(plan: Plan, settings: StudySettings) -> tuple[Test, ...]:
    """Return the tests that the settings ask for: none, the paper's, or also those with maximal random effects."""
    if settings.mixed_models == "none":
        return ()
    return plan.tests + (plan.maximal if settings.mixed_models == "maximal" else ())


def run_tests(material: Material, tests: Sequence[Test], settings: StudySettings) -> tuple[Tested, ...]:
    """Run likelihood-ratio tests on the trials, each from several starts. *Source: SAW-C §3.5, §4.5.*"""
    if material.ratings is None:
        return ()
    tested = []
    for test in tests:
        if test.possible(material):
            tested.append(_run(test, trial_table(material, _distances(test)), settings))
        else:
            needed = ", ".join(subject for _, subject, _ in test.distances)
            tested.append(Tested(test, None, f"it needs the distances of {needed}, not all of which are in this run"))
    return tuple(tested)


def test_part(material: Material, tested: Sequence[Tested], name: str) -> Part:
    """Return the records, tables and remarks of some tests; *name* goes into the tables' names."""
    records = tuple(record for entry in tested for record in _records(material, entry))
    tables = (test_table(tested, name), variance_table(tested, name)) if tested else ()
    return Part(records, tables, remarks=tuple(_remarks(tested)))


def _distances(test: Test) -> Mapping[str, tuple[str, int | None]]:
    return {column: (subject, layer) for column, subject, layer in test.distances}


def _run(test: Test, data: Mapping[str, Column], settings: StudySettings) -> Tested:
    try:
        outcome = likelihood_ratio(
            test.full, test.reduced, data, starts=settings.starts, seed=settings.seed, references=REFERENCES
        )
    except StatisticError as error:
        return Tested(test, None, error.what)
    return Tested(test, outcome)


def _records(material: Material, tested: Tested) -> Iterator[Record]:
    test, outcome = tested.test, tested.outcome
    base: dict[str, Any] = {"dataset": material.name, "subject": test.focus_subject, "question": test.question}
    name = statistic_name("chi2", test=test.name, df=1)
    if outcome is None:
        yield Record(name, None, note=tested.reason, **base)
        return
    n = outcome.full.n_observations
    note = "; ".join([f"random effects: {outcome.random_effects}", *outcome.remarks])
    name = statistic_name("chi2", test=test.name, df=outcome.df)
    yield Record(name, outcome.chi2, layer=test.focus_layer, n=n, p=outcome.p, note=note, **base)
    for label, fit in (("full", outcome.full), ("reduced", outcome.reduced)):
        yield from _fit_records(test, label, fit, base)


def _fit_records(test: Test, label: str, fit: MixedFit, base: Mapping[str, Any]) -> Iterator[Record]:
    common: dict[str, Any] = {"layer": test.focus_layer, "n": fit.n_observations, **base}
    note = "; ".join([fit.formula, *fit.remarks])
    model = {"test": test.name, "model": label}
    yield Record(statistic_name("log_likelihood", **model), fit.log_likelihood, unit="nats", note=note, **common)
    yield Record(statistic_name("aic", **model), fit.aic, **common)
    for effect in fit.fixed:
        term = _plain(effect.name)
        note = effect.df_reason if effect.df is None else f"t = {effect.t:.3f}, df = {effect.df:.2f}"
        yield Record(
            statistic_name("fixed_effect", term=term, **model), effect.estimate, p=effect.p, note=note, **common
        )
        yield Record(statistic_name("standard_error", term=term, **model), effect.se, **common)
    for component in fit.variances:
        name = statistic_name("variance", group=component.group, term=_plain(component.term), **model)
        correlations = ", ".join(f"r with {term} = {r:.3f}" for term, r in component.correlations)
        yield Record(name, component.variance, note=correlations, **common)
    yield Record(statistic_name("variance", group="Residual", **model), fit.residual_variance, **common)


def _plain(term: str) -> str:
    """Make an effect's name fit for a statistic's name, which has no commas, equals signs or brackets."""
    return term.replace("(Intercept)", "Intercept").translate(str.maketrans("=,()", ":;[]"))


def _remarks(tested: Sequence[Tested]) -> Iterator[str]:
    for entry in tested:
        if entry.outcome is None:
            yield f"{entry.test.name}: {entry.reason}"
        else:
            yield from (f"{entry.test.name}: {remark}" for remark in entry.outcome.remarks)
