"""Mixed models as tables: likelihood-ratio tests, estimates of their models, how random effects were reduced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.mixed.fit import MixedFit
from lexiscope.analysis.mixed.models import LikelihoodRatio
from lexiscope.analysis.mixed.reduction import Reduction
from lexiscope.core.result import Record, Undefined, parse_statistic
from lexiscope.report.figures import first_names
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
