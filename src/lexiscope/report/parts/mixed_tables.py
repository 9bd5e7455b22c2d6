"""Mixed models as tables: likelihood-ratio tests, estimates of their models, how random effects were reduced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.mixed.fit import MixedFit
from lexiscope.analysis.mixed.models import LikelihoodRatio, Reduction
from lexiscope.analysis.mixed.ordinal import OrdinalFit, OrdinalRatio
from lexiscope.core.result import Record, Undefined, parse_statistic
from lexiscope.report.figures import first_names
from lexiscope.report.presenting import adjusted_in_words
from lexiscope.report.tables import INTEGER, P_VALUE, Cell, Format, Missing, Table, columns, drop_empty

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


def ratio_tests_in_words(records: Sequence[Record], *, most: int = 4) -> str:
    """Return the likelihood-ratio tests among records in one line: χ², p, the random effects that they rest on.

    Of several tests each has its name; after *most* of them the others are counted.

    >>> ratio_tests_in_words([Record("chi2(test=sense,df=1)", 39.5885, p=3.1e-10, note="random effects: (1 | Word)")])
    'χ²(1) = 39.59, p = 3.1e-10 (random effects: (1 | Word))'
    """
    tests = [(record, parse_statistic(record.statistic)) for record in records if record.value is not None]
    known = [(record, given) for record, (name, given) in tests if name == "chi2" and "test" in given]
    several = len(known) > 1
    effects = [record.note.partition(";")[0] for record, _ in known]
    # what all of them rest on is said once
    shared = effects[0] if several and len(set(effects)) == 1 else ""
    texts = [
        _ratio_test_text(record, given, "" if shared else effect, named=several)
        for (record, given), effect in zip(known, effects, strict=True)
    ]
    end = f" (all with {shared})" if shared.startswith("random") else ""
    return first_names(texts, most=most) + end


def _ratio_test_text(record: Record, given: Mapping[str, str], effects: str, *, named: bool) -> str:
    # the tail of χ² is below the smallest number beyond about 1480
    p = f"p = {record.p:.2g}" if record.p else "p < 1e-300"
    p = ", ".join(filter(None, (p, adjusted_in_words(record.p_adjusted, record.family))))
    random = f" ({effects})" if effects.startswith("random") else ""
    layer = "" if record.layer is None else f", layer {record.layer}"
    subject = f" ({record.subject}{layer})" if record.subject else ""
    lead = f"{_words(given['test'])}{subject}: " if named or subject else ""
    return f"{lead}χ²({given['df']}) = {record.value:.2f}, {p}{random}"


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


def _words(label: str) -> str:
    return label.replace("_", " ")
