"""Mixed models as tables: likelihood-ratio tests, estimates of their models, how random effects were reduced."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lexiscope.analysis.mixed.fit import MixedFit
from lexiscope.analysis.mixed.models import LikelihoodRatio, Reduction
from lexiscope.analysis.mixed.ordinal import OrdinalFit, OrdinalRatio
from lexiscope.core.result import Record, Result, Undefined, statistic_name
from lexiscope.report.part import Part, Remark, part_of, record_cell
from lexiscope.report.pivot import records_of
from lexiscope.report.tables import (
    INTEGER,
    P_VALUE,
    Cell,
    Format,
    Head,
    Missing,
    Table,
    columns,
    drop_empty,
    table_of,
)

_TWO = Format("number", 2)
_THREE = Format("number", 3)


def ratio_tests_table(
    name: str, tests: Mapping[str, LikelihoodRatio | Undefined], *, notes: Sequence[str] = ()
) -> Table:
    """Return likelihood-ratio tests by their name, each with the random effects on which its χ² depends."""
    heads = columns(
        *("Test", ("χ²", _TWO), ("df", INTEGER), ("p", P_VALUE), "Random effects, in both models"),
        *(("log L full", _TWO), ("log L reduced", _TWO), "Remarks"),
    )
    rows: list[tuple[Cell, ...]] = []
    for label, test in tests.items():
        if isinstance(test, Undefined):
            rows.append((_words(label), Missing(test.reason), *(None,) * 5, test.reason))
            continue
        likelihoods = (test.full.log_likelihood, test.reduced.log_likelihood)
        rows.append(
            (_words(label), test.chi2, test.df, test.p, test.random_effects, *likelihoods, "; ".join(test.remarks))
        )
    every = ("Maximum likelihood; predictors raw. A χ² holds for its random effects only.", *notes)
    return drop_empty(Table(name, "", "Likelihood-ratio tests of the mixed models", heads, tuple(rows), every))


def held_out_part(
    name: str,
    tests: Mapping[str, LikelihoodRatio | Undefined],
    about: Mapping[str, Mapping[str, Any]],
    chosen: Mapping[str, str],
) -> Part:
    """Return the χ² of tests whose layer was chosen on other words than those it is tested on, and their table.

    *about* are the fields of the records of each test, *chosen* says which layers were chosen for it. The table is
    ``mixed_model_tests_held_out_NAME``; without tests there is none.
    """
    results: list[Result] = []
    for test, outcome in tests.items():
        if isinstance(outcome, Undefined):
            number: Result = replace(outcome, name=statistic_name("chi2_held_out", test=test))
        else:
            chi2 = outcome.results(test)[0]
            of_test = statistic_name("chi2_held_out", test=test, df=outcome.df)
            number = replace(chi2, name=of_test, note=f"{chosen[test]}; {chi2.note}")
        results.append(number.about(**about[test]))
    note = "The distance of each item is that of the layer of the highest R² of other words, standardised by these."
    table = ratio_tests_table(f"mixed_model_tests_held_out_{name}", tests, notes=[note])
    return part_of(results, table if tests else None)


def estimates_table(name: str, fits: Mapping[str, MixedFit]) -> Table:
    """Return fixed effects and variance components of the full models of tests, each model once."""
    heads = columns("Test", "Part", "Term", ("Estimate", _THREE), ("SE or SD", _THREE), "df or r")
    first = {fit.formula: label for label, fit in reversed(list(fits.items()))}
    rows: list[tuple[Cell, ...]] = []
    for label, fit in fits.items():
        if first[fit.formula] != label:
            continue
        for effect in fit.fixed:
            df = f"df = {effect.df:.2f}" if effect.df is not None else effect.df_reason
            rows.append((_words(label), "fixed", effect.name, effect.estimate, effect.se, df))
        for part in fit.variances:
            r = ", ".join(f"r = {value:.3f} with {term}".replace("-", "−") for term, value in part.correlations)
            rows.append((_words(label), f"by {part.group}", part.term, part.variance, part.sd, r))
        rows.append((_words(label), "residual", "", fit.residual_variance, fit.residual_variance**0.5, ""))
    notes = ("Fixed effects: estimate and standard error. Random effects: variance and standard deviation.",)
    return Table(name, "", "Estimates of the full mixed models", heads, tuple(rows), notes)


def ordinal_tests_table(name: str, tests: Mapping[str, OrdinalRatio | Undefined]) -> Table:
    """Return likelihood-ratio tests of ordinal models by their name; they belong next to those of the linear models."""
    heads = columns(
        *("Test", "Link", ("χ²", _TWO), ("df", INTEGER), ("p", P_VALUE), "Random effects, in both models"),
        *(("log L full", _TWO), ("log L reduced", _TWO), "Remarks"),
    )
    rows: list[tuple[Cell, ...]] = []
    for label, test in tests.items():
        if isinstance(test, Undefined):
            rows.append((_words(label), None, Missing(test.reason), *(None,) * 5, test.reason))
            continue
        likelihoods = (test.full.log_likelihood, test.reduced.log_likelihood)
        numbers = (test.full.link, test.chi2, test.df, test.p, test.random_effects, *likelihoods)
        rows.append((_words(label), *numbers, "; ".join(test.remarks)))
    notes = (
        "Cumulative link mixed models: ratings as ordered categories. Laplace's approximation of the likelihood; "
        "its values cannot be compared with those of linear models.",
    )
    return drop_empty(Table(name, "", "Likelihood-ratio tests of the ordinal models", heads, tuple(rows), notes))


def ordinal_estimates_table(name: str, fits: Mapping[str, OrdinalFit]) -> Table:
    """Return thresholds and fixed effects with intervals, and standard deviations, of the full ordinal models."""
    heads = columns(
        *("Test", "Link", "Part", "Term", ("Estimate or SD", _THREE), ("SE", _THREE)),
        *(("from", _THREE), ("to", _THREE), "r"),
    )
    rows: list[tuple[Cell, ...]] = []
    seen: set[tuple[str, str]] = set()
    for label, fit in fits.items():
        if (fit.formula, fit.link) in seen:
            continue
        seen.add((fit.formula, fit.link))
        for part, terms in (("threshold", fit.thresholds), ("fixed", fit.fixed)):
            for term in terms:
                ends = term.interval()
                rows.append((_words(label), fit.link, part, term.name, term.estimate, term.se, ends.low, ends.high, ""))
        for component in fit.variances:
            r = ", ".join(f"r = {value:.3f} with {term}".replace("-", "−") for term, value in component.correlations)
            rows.append(
                (_words(label), fit.link, f"by {component.group}", component.term, component.sd, *(None,) * 3, r)
            )
    notes = (
        "Latent scale of the link; positive effects raise ratings. 95 % intervals of Wald. For random effects the "
        "standard deviation.",
    )
    return Table(name, "", "Estimates of the full ordinal models", heads, tuple(rows), notes)


def ordinal_part(
    name: str,
    tests: Mapping[tuple[str, str], OrdinalRatio | Undefined],
    about: Mapping[str, Mapping[str, Any]],
    *,
    severity: Collection[str] = (),
    raters: str = "Participant",
) -> Part:
    """Return the numbers, tables and remarks of ordinal tests by name and link.

    *about* are the fields of the records of each test (``dataset``, ``subject``). Of the tests in *severity* that could
    be fitted the severity of every one of the *raters* is added. Tables are ``ordinal_tests_NAME``,
    ``ordinal_estimates_NAME`` and ``severity_NAME``; without tests there are none.
    """
    several = len({link for _, link in tests}) > 1
    labels = {key: f"{key[0]}_{key[1]}" if several else key[0] for key in tests}
    results: list[Result] = []
    remarks: list[Remark] = []
    for (test, _), outcome in tests.items():
        numbers = (outcome,) if isinstance(outcome, Undefined) else outcome.results(test)
        results += [number.about(**about[test]) for number in numbers]
        reasons = (outcome.reason,) if isinstance(outcome, Undefined) else outcome.remarks
        remarks += [Remark(f"{test}, ordinal: {reason}") for reason in reasons]
        if not isinstance(outcome, Undefined) and test in severity:
            dataset = about[test].get("dataset", "")
            results += [s.about(dataset=dataset) for s in outcome.full.severities(raters, ordinal_test=test)]
    fits = {labels[key]: outcome.full for key, outcome in tests.items() if isinstance(outcome, OrdinalRatio)}
    severe = {labels[key]: fits[labels[key]] for key in tests if key[0] in severity and labels[key] in fits}
    named = {labels[key]: outcome for key, outcome in tests.items()}
    return part_of(
        results,
        ordinal_tests_table(f"ordinal_tests_{name}", named) if named else None,
        ordinal_estimates_table(f"ordinal_estimates_{name}", fits) if fits else None,
        severity_table(f"severity_{name}", severe, raters) if severe else None,
        remarks,
    )


def severity_table(name: str, fits: Mapping[str, OrdinalFit], group: str, *, most: int = 5) -> Table:
    """Return the most lenient and the most severe raters of each ordinal model; the records hold every rater."""
    heads = columns("Test", "Link", "Rater", ("Severity", _THREE), ("SE", _THREE))
    rows: list[tuple[Cell, ...]] = []
    raters = 0
    for label, fit in fits.items():
        ordered = sorted(fit.modes[group].severity(), key=lambda rater: rater[1])
        raters = len(ordered)
        shown = ordered if raters <= 2 * most else [*ordered[:most], *ordered[-most:]]
        rows += [(_words(label), fit.link, rater, value, se) for rater, value, se in shown]
    notes = (
        "Severity: minus the rater's effect at the mean of the predictors, given the ratings (conditional mode). "
        f"Higher: rates the same items lower. Of {raters} raters, the lowest and the highest {most} are shown.",
    )
    return Table(name, "", "Severity of raters", heads, tuple(rows), notes)


def reduction_table(name: str, reductions: Mapping[str, Reduction]) -> Table:
    """Return every step from maximal random effects to those that are kept, with its reason, by the tests' names."""
    heads = columns(
        *("Test", ("Step", INTEGER), "Random effects", "Removed", "Reason"),
        *(("log L", _THREE), ("Parameters", INTEGER), "Converged", "Singular"),
    )
    rows: list[tuple[Cell, ...]] = []
    for label, reduction in reductions.items():
        for number, step in enumerate(reduction.steps, start=1):
            how = ("yes" if step.converged else "no", "yes" if step.singular else "no")
            fitted = (step.log_likelihood, step.n_parameters, *how)
            rows.append((_words(label), number, step.random_effects, step.removed, step.reason, *fitted))
    notes = tuple(dict.fromkeys(reduction.rule for reduction in reductions.values()))
    return Table(name, "", "From the maximal model to the one that is kept", heads, tuple(rows), notes)


def coefficients_table(
    name: str,
    title: str,
    results: Iterable[Record | Result],
    *,
    label: str = "Term",
    notes: Sequence[str] = (),
) -> Table:
    """Return the coefficients of regressions, with standard error, p and n: of least squares and logistic ones.

    *results* are records ``coefficient(…)`` and ``standard_error(…)`` with the same parameters and subject, as
    :meth:`lexiscope.analysis.regression.OlsFit.results` has them.

    >>> from lexiscope.analysis.regression import ols
    >>> table = coefficients_table("t", "One slope", ols([0, 2, 3], [0, 1, 2], ["x"]).results("y~x"))
    >>> table.rows[0][0], round(table.rows[0][1].value, 12), round(table.rows[0][2], 4)  # √(1/12)
    ('term=x, model=y~x', 1.5, 0.2887)
    """
    records = records_of(results)
    errors = {(r.statistic, r.subject): r.value for r in records if r.statistic.startswith("standard_error(")}
    cells: Mapping[Head, Callable[[Record], Cell]] = {
        label: lambda r: r.statistic.removeprefix("coefficient(").removesuffix(")").replace(",", ", "),
        ("b", _THREE): record_cell,
        ("SE", _THREE): lambda r: errors.get((r.statistic.replace("coefficient", "standard_error"), r.subject)),
        ("p", P_VALUE): lambda r: r.p,
        ("n", INTEGER): lambda r: r.n,
    }
    coefficients = [record for record in records if record.statistic.startswith("coefficient(")]
    return table_of(name, title, coefficients, cells, notes=notes)


def _words(label: str) -> str:
    return label.replace("_", " ")
