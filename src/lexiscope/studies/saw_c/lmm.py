"""The crossed mixed models: likelihood-ratio tests with their random-effects formula, estimates, variances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lexiscope.analysis.mixed import compare, fit
from lexiscope.analysis.mixed_fit import MixedFit
from lexiscope.analysis.mixed_reduction import Reduction, reduce
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import Part
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.plans import Plan, Test, Tested
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.show import reduction_table, test_table, variance_table
from lexiscope.studies.saw_c.trials import DIFFERENT, trial_table

REFERENCES = {"Same_sense": DIFFERENT}


def chosen_tests(plan: Plan, settings: SawCSettings) -> tuple[Test, ...]:
    """Return the tests that the settings ask for: none, the paper's, or also those with maximal random effects."""
    if settings.mixed_models == "none":
        return ()
    return plan.tests + (plan.maximal if settings.mixed_models == "maximal" else ())


class Fitter:
    """Fits the models of several tests on the same trials, each distinct model once."""

    def __init__(self, material: Material, settings: SawCSettings) -> None:
        self._material, self._settings = material, settings
        self._fits: dict[tuple[object, ...], MixedFit] = {}

    def run(self, test: Test) -> Tested:
        """Return the outcome of one test, or why there is none."""
        if not test.possible(self._material):
            needed = ", ".join(subject for _, subject, _ in test.distances)
            return Tested(test, None, f"it needs the distances of {needed}, not all of which are in this run")
        try:
            return Tested(test, compare(self._fit(test, test.full), self._fit(test, test.reduced)))
        except (StatisticError, InputError) as error:
            return Tested(test, None, error.what)

    def _fit(self, test: Test, formula: str) -> MixedFit:
        is_full = formula == test.full
        # one formula may be the full model of one test and the reduced of another: they are not fitted alike
        key = (formula, test.distances, is_full)
        if key not in self._fits:
            columns = {column: (subject, layer) for column, subject, layer in test.distances}
            # dropping a fixed effect makes the reduced model multi-modal; a full model has no effect to absorb
            starts = min(2, self._settings.starts) if is_full else self._settings.starts
            self._fits[key] = fit(
                formula,
                trial_table(self._material, columns),
                starts=starts,
                seed=self._settings.seed,
                references=REFERENCES,
                satterthwaite=is_full,
            )
        return self._fits[key]


def run_tests(material: Material, tests: Sequence[Test], settings: SawCSettings) -> tuple[Tested, ...]:
    """Run likelihood-ratio tests on the trials, each model from several starts. *Source: SAW-C §3.5, §4.5.*"""
    if material.ratings is None:
        return ()
    fitter = Fitter(material, settings)
    return tuple(fitter.run(test) for test in tests)


def reductions(material: Material, plan: Plan, settings: SawCSettings) -> Part:
    """Start from each maximal model and reduce it by rule until it converges, every step logged. *Source: S20.*"""
    starting = [test for test in chosen_tests(plan, settings) if test.is_maximal and test.possible(material)]
    # two tests may drop different effects from one model: its reduction is one
    distinct = {test.full: test for test in reversed(starting)}
    if material.ratings is None or not distinct:
        return Part()
    logs = [(test.name, _reduced(material, test, settings)) for test in reversed(distinct.values())]
    records = [
        Record(
            statistic_name("reduction_steps", test=name, criterion=log.criterion),
            float(len(log.steps)),
            dataset=material.name,
            note=f"{'reached' if log.satisfied else 'never reached'}; ends at {log.fit.random_effects}",
        )
        for name, log in logs
    ]
    return Part(tuple(records), (reduction_table(logs),))


def _reduced(material: Material, test: Test, settings: SawCSettings) -> Reduction:
    columns = {column: (subject, layer) for column, subject, layer in test.distances}
    data = trial_table(material, columns)
    return reduce(test.full, data, starts=2, seed=settings.seed, references=REFERENCES)


def test_part(material: Material, tested: Sequence[Tested], name: str) -> Part:
    """Return the records, tables and remarks of some tests; *name* goes into the tables' names."""
    records = tuple(record for entry in tested for record in _records(material, entry))
    tables = (test_table(tested, name), variance_table(tested, name)) if tested else ()
    return Part(records, tables, remarks=tuple(_remarks(tested)))


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
    for label, fitted in (("full", outcome.full), ("reduced", outcome.reduced)):
        yield from _fit_records(test, label, fitted, base)


def _fit_records(test: Test, label: str, fitted: MixedFit, base: Mapping[str, Any]) -> Iterator[Record]:
    common: dict[str, Any] = {"layer": test.focus_layer, "n": fitted.n_observations, **base}
    starts = f"{fitted.starts_at_best} of {len(fitted.optima)} starts reached it"
    note = "; ".join([fitted.formula, starts, *fitted.remarks])
    model = {"test": test.name, "model": label}
    yield Record(statistic_name("log_likelihood", **model), fitted.log_likelihood, unit="nats", note=note, **common)
    yield Record(statistic_name("aic", **model), fitted.aic, **common)
    for effect in fitted.fixed:
        term = _plain(effect.name)
        note = effect.df_reason if effect.df is None else f"t = {effect.t:.3f}, df = {effect.df:.2f}"
        yield Record(
            statistic_name("fixed_effect", term=term, **model), effect.estimate, p=effect.p, note=note, **common
        )
        yield Record(statistic_name("standard_error", term=term, **model), effect.se, **common)
    for component in fitted.variances:
        name = statistic_name("variance", group=component.group, term=_plain(component.term), **model)
        correlations = ", ".join(f"r with {term} = {r:.3f}" for term, r in component.correlations)
        yield Record(name, component.variance, note=correlations, **common)
    yield Record(statistic_name("variance", group="Residual", **model), fitted.residual_variance, **common)


def _plain(term: str) -> str:
    """Make an effect's name fit for a statistic's name, which has no commas, equals signs or brackets."""
    return term.replace("(Intercept)", "Intercept").translate(str.maketrans("=,()", ":;[]"))


def _remarks(tested: Sequence[Tested]) -> Iterator[str]:
    for entry in tested:
        if entry.outcome is None:
            yield f"{entry.test.name}: {entry.reason}"
        else:
            yield from (f"{entry.test.name}: {remark}" for remark in entry.outcome.remarks)
