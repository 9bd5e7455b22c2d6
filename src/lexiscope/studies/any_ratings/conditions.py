"""What the conditions of the items do to the ratings: means, differences, mixed models with their tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.mixed.r_script import ModelPair
from lexiscope.analysis.mixed.tested import MixedTest, OrdinalTest
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.item import Condition
from lexiscope.core.response import holds_simulated
from lexiscope.core.result import Contrast, Estimate, Record, Result, Undefined, statistic_name
from lexiscope.core.showing import counted
from lexiscope.report.page.exports import export_r
from lexiscope.report.part import Remark
from lexiscope.studies.any_ratings.data import RatedRun
from lexiscope.studies.kit.answers import PEOPLE

_MOST_CELLS = 12
_FEWEST_ITEMS = 2
_MOST_RATINGS = 200_000


def conditions(run: RatedRun) -> object:
    """Compare the levels of each condition, and test each in a mixed model of single ratings."""
    results: list[object] = []
    for name in run.conditions:
        results += _with_norms(run, name) if run.is_number(name) else _by_level(run, name)
    for name, others, label in _tested(run):
        if not others:
            results += _tests(run, name, others, label)
    return results


def together(run: RatedRun) -> object:
    """Cross each two conditions, and test each condition in one model with all others."""
    results: list[object] = []
    for first, second in combinations(run.factors, 2):
        results += _cells(run, first, second)
    given_others = [test for test in _tested(run) if test[1]]
    if not given_others:
        return results or Remark("There is one condition: there are no combinations.")
    for test in given_others:
        results += _tests(run, *test)
    return results


def write_r_script(run: RatedRun, folder: Path, _records: Sequence[Record]) -> tuple[str, ...]:
    """Write the tests of conditions and the ratings for R: linear models, and the ordinal ones that are asked for."""
    settings = run.settings
    if "r_script" not in settings.outputs or not run.has("ratings"):
        return ()
    if len(run.people) > _MOST_RATINGS:
        return ()
    pairs: list[ModelPair] = []
    for name, others, label in _tested(run):
        pairs.append(ModelPair(label, *_formulas(run, name, others, slopes=True)))
        if settings.ordinal:
            ordinal = _formulas(run, name, others, slopes=False)
            pairs.append(ModelPair(f"{label} (ordinal)", *ordinal, links=settings.ordinal))
    return export_r(folder, pairs, run.rating_columns(), simulated=holds_simulated(run.responses))


def _tested(run: RatedRun) -> list[tuple[str, tuple[str, ...], str]]:
    """The conditions that can be tested, each alone and given all others, with the name of the test."""
    tested = [name for name in run.conditions if _varies(run, name)]
    tests: list[tuple[str, tuple[str, ...], str]] = [(name, (), name) for name in tested]
    for name in tested:
        others = tuple(other for other in tested if other != name)
        if others:
            tests.append((name, others, f"{name} given {', '.join(others)}"))
    return tests


def _by_level(run: RatedRun, name: str) -> list[Result]:
    """The mean rating at each level, and of two levels their difference."""
    means: list[Result] = []
    for level in run.levels(name):
        part = run.where(**{name: level})
        if part.has("norms") and np.isfinite(part.norm).any():
            means += part.means(of=PEOPLE)
    levels = run.levels(name)
    if len(levels) == 2:
        means.append(_difference(run, name, levels))
    return means


def _difference(run: RatedRun, name: str, levels: Sequence[Condition]) -> Contrast | Undefined:
    sides = [{"subject": PEOPLE, name: level} for level in levels]
    try:
        contrast = run.compare(sides[0], sides[1], "mean")
    except (StatisticError, InputError) as error:
        return run.about(Undefined("mean_difference", error.what), condition=name)
    # the test is that of the mixed model: a second p for the same question would say less
    return contrast.about(p=None, unit="points", higher=f"{name}={levels[0]} is rated higher than {name}={levels[1]}")


def _with_norms(run: RatedRun, name: str) -> list[Result]:
    """The correlation of a number with the mean ratings of the items."""
    values, norm = run.numbers(name), run.norm
    known = ~np.isnan(norm)
    boot = run.bootstrap
    printed = statistic_name("spearman", of=run.column(name), **{"with": "norms"})

    def make() -> tuple[Estimate]:
        groups = boot.groups if boot.resamples else None
        result = spearman(values[known], norm[known], groups=groups, resamples=boot.resamples, seed=boot.seed)
        return (result.about(name=printed, unit="correlation", higher=f"items with a higher {name} are rated higher"),)

    return run.attempt_all(printed, make)


def _cells(run: RatedRun, first: str, second: str) -> list[object]:
    """The mean rating in each combination of two conditions that has items."""
    levels = [(a, b) for a in run.levels(first) for b in run.levels(second)]
    if len(levels) > _MOST_CELLS:
        return [Remark(f"{first} and {second} have {len(levels)} combinations: their means are not listed.")]
    means: list[object] = []
    few: list[str] = []
    for level, other in levels:
        try:
            part = run.where(**{first: level, second: other})
        except InputError:
            continue
        if np.isfinite(part.norm).sum() < _FEWEST_ITEMS:
            few.append(part.label)
            continue
        means += part.means(of=PEOPLE)
    if few:
        means.append(
            Remark(f"No mean for {counted(len(few), 'combination')} with fewer than {_FEWEST_ITEMS} items: {few[0]}.")
        )
    return means


# -- mixed models ---------------------------------------------------------------------------------------------------


def _varies(run: RatedRun, name: str) -> bool:
    """Whether a condition can be tested: rated items at two levels or more."""
    if not run.has("ratings"):
        return False
    rated = set(run.people.item_ids)
    values = {value for item, value in zip(run.items, run.conditions[name], strict=True) if item.item_id in rated}
    return len(values) > 1


def _tests(run: RatedRun, name: str, others: Sequence[str], label: str) -> Iterator[object]:
    """The likelihood-ratio test of a condition, given others, in a linear mixed model and in ordinal ones."""
    if len(run.people) > _MOST_RATINGS:
        text = f"{label}: no mixed model, because there are more than {_MOST_RATINGS:,} ratings."
        yield Remark(f"{text} The differences of means and their intervals hold.")
        return
    full, without = _formulas(run, name, others, slopes=True)
    yield from _attempt(run, "chi2", partial(run.mixed, full, without, name=label, starts=run.settings.starts))
    for link in run.settings.ordinal:
        # raters differ in severity; slopes of each rater in an ordinal model take minutes
        full, without = _formulas(run, name, others, slopes=False)
        yield from _attempt(
            run, "ordinal_chi2", partial(run.ordinal, full, without, link=link, name=f"{label} (ordinal, {link})")
        )


def _attempt(run: RatedRun, statistic: str, make: partial[MixedTest] | partial[OrdinalTest]) -> Iterator[object]:
    try:
        fit = make()
        # a condition has one test, that of the models with and without it; its terms have intervals
        terms = tuple(term.about(p=None, condition=_said(run, term.condition)) for term in fit.terms)
        yield replace(fit, terms=terms)
    except (StatisticError, InputError) as error:
        yield run.about(Undefined(statistic, error.what), condition=str(make.keywords["name"]))


def _said(run: RatedRun, term: str) -> str:
    """The term of a model in the names of the file: the level of a coefficient, and the level it is compared with.

    For a number it is per unit; other terms (the intercept, thresholds) keep their names.
    """
    for name in run.conditions:
        column = run.column(name)
        if run.is_number(name) and term == column:
            return f"{name}, per unit"
        levels = [] if run.is_number(name) else list(map(str, run.levels(name)))
        terms = {column: levels[1]} if len(levels) == 2 else {f"{column}[{level}]": level for level in levels[1:]}
        if term in terms:
            return f"{name}={terms[term]} − {name}={levels[0]}"
    return term


def _formulas(run: RatedRun, name: str, others: Sequence[str], *, slopes: bool) -> tuple[str, str]:
    """The formulas of the models with and without a condition; both have the same random effects.

    Raters have a slope of the condition where it is a number or has two levels and varies within raters.
    """
    column, more = run.column(name), [run.column(other) for other in others]
    simple = run.is_number(name) or len(run.levels(name)) == 2
    by_rater = (
        f"(1 + {column} | participant)" if slopes and simple and _within_raters(run, name) else "(1 | participant)"
    )
    words = {item.word for item in run.items}
    random = " + ".join([by_rater, "(1 | item)", *(["(1 | word)"] if 1 < len(words) < len(run.items) else [])])
    rest = " + ".join(more) or "1"
    return f"rating ~ {' + '.join([column, *more])} + {random}", f"rating ~ {rest} + {random}"


def _within_raters(run: RatedRun, name: str) -> bool:
    """Whether at least half of the raters rated items of several levels."""
    codes = {level: code for code, level in enumerate(dict.fromkeys(run.conditions[name]))}
    of_item = np.array([codes[value] for value in run.conditions[name]])[run.item_rows]
    pairs = np.unique(np.column_stack([run.people.rater, of_item]), axis=0)[:, 0]
    _, n_levels = np.unique(pairs, return_counts=True)
    return bool(np.mean(n_levels > 1) >= 0.5)
