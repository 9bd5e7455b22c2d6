"""Families of tests: Holm and Benjamini-Hochberg against independent definitions; which record is in which family."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.families import TestFamily, adjust, adjusted_family, benjamini_hochberg, holm, with_families
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, from_json, to_json
from lexiscope.report.page.html import records_csv


def _by_closure(p: list[float]) -> list[float]:
    """Adjusted p by closed testing with Bonferroni tests: the largest p of any intersection with the hypothesis."""
    every = range(len(p))
    sets = [chosen for size in range(1, len(p) + 1) for chosen in combinations(every, size)]
    return [max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in every]


@pytest.mark.parametrize("seed", range(6))
def test_holm_is_the_closure_of_bonferroni(seed: int) -> None:
    """Holm's adjusted p are those of closed testing, computed from every intersection; ties and p = 1 included."""
    p = (np.random.default_rng(seed).integers(0, 21, size=7) / 20).tolist()
    assert holm(p) == pytest.approx(_by_closure(p), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_benjamini_hochberg_is_that_of_scipy(seed: int) -> None:
    """The adjusted p are those of ``scipy.stats.false_discovery_control``."""
    p = np.random.default_rng(seed).uniform(size=40) ** 3
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p, method="bh"), abs=1e-12)


def test_the_worked_example_of_benjamini_and_hochberg() -> None:
    """Benjamini & Hochberg 1995, §4: of 15 p values, Bonferroni and Holm reject 3 at .05, theirs 4."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
    p += [0.7590, 1.0]
    assert int((holm(p) <= 0.05).sum()) == 3
    assert int((benjamini_hochberg(p) <= 0.05).sum()) == 4


def test_what_cannot_be_adjusted() -> None:
    """A number that is no p, and an unknown method, are refused; no test at all is an empty family."""
    for wrong in ([0.1, -0.1], [1.5], [float("nan")]):
        with pytest.raises(StatisticError, match="is not a p value"):
            holm(wrong)
    with pytest.raises(StatisticError, match="valid names: holm, benjamini_hochberg"):
        adjust([0.1], "sidak")  # type: ignore[arg-type]
    assert adjust([]).tolist() == []


CONTRASTS = TestFamily("contrasts", ("paired_t",), repeats=("paired_t_p",))


def test_a_family_counts_a_repeated_p_once() -> None:
    """Three tests, each printed as t (with its p) and as p: a family of 3, and the repeats have the same adjusted p."""
    records = []
    for condition, t, p in (("a", 2.5, 0.01), ("b", 1.0, 0.3), ("c", 2.2, 0.03)):
        records += [Record("paired_t", t, p=p, condition=condition), Record("paired_t_p", p, condition=condition)]
    found, families = with_families(records, [CONTRASTS])
    assert [r.p_adjusted for r in found] == pytest.approx([0.03, 0.03, 0.3, 0.3, 0.06, 0.06])
    assert {r.family for r in found} == {"contrasts(method=holm,tests=3)"}
    assert [(r.value, r.p) for r in found] == [(r.value, r.p) for r in records]
    assert [tests.n for tests in families] == [3]
    with pytest.raises(StatisticError, match="which no test of the family contrasts has"):
        with_families([*records, Record("paired_t_p", 0.5)], [CONTRASTS])


def test_tests_without_a_declared_family_are_one_by_statistic() -> None:
    """Tests of one statistic form a family without being declared; a test that is alone has none."""
    records = [Record("chi2(test=a,df=1)", 4.0, p=0.04), Record("chi2(test=b,df=1)", 9.0, p=0.002)]
    records += [Record("paired_t", 2.0, p=0.04), Record("mean", 1.0), Record("mcnemar_p", None, note="undefined")]
    found, _ = with_families(records)
    assert [r.family for r in found] == ["chi2(method=holm,tests=2)"] * 2 + [""] * 3
    assert with_families(found)[0] == found


def test_planned_tests_are_a_family_of_their_own() -> None:
    """What was planned is not adjusted for what was explored later: two planned tests and two others, two families."""
    records = [Record("chi2(df=1)", 5.0, p=0.02, condition=c) for c in ("planned a", "planned b", "other c", "other d")]
    found, _ = with_families(records, planned=lambda record: record.condition.startswith("planned"))
    assert [r.family.partition("(")[0] for r in found] == ["chi2_planned", "chi2_planned", "chi2", "chi2"]
    assert [r.p_adjusted for r in found] == [0.04] * 4


def test_a_model_that_several_comparisons_share_is_tested_once() -> None:
    """Its coefficient is printed for each comparison: .01 (twice) and .02 are two tests, not three."""
    name = "fixed_effect(test={},model=full,term=x)"
    shared = [Record(name.format(test), 1.5, p=0.01) for test in ("a", "b")]
    other = Record(name.format("c"), 1.2, p=0.02)
    family = TestFamily("coefficients", ("fixed_effect",), once=("test",))
    found, _ = with_families([*shared, other], [family])
    assert [record.family for record in found] == ["coefficients(method=holm,tests=2)"] * 3
    assert [record.p_adjusted for record in found] == [0.02, 0.02, 0.02]
    assert with_families([*shared, other], [replace(family, once=())])[0][0].p_adjusted == 0.03


def test_files_hold_families_only_where_there_are_some() -> None:
    """A record without a family is written as before; one with a family is read back with it, and is in the CSV."""
    plain = Record("t", 2.0, p=0.04)
    assert "family" not in to_json([plain])
    assert "p_adjusted" not in records_csv((plain,)).splitlines()[0]
    adjusted = Record("t", 2.0, p=0.04, p_adjusted=0.08, family="t(method=holm,tests=2)")
    assert from_json(to_json([adjusted])) == (adjusted,)
    assert records_csv((plain, adjusted)).splitlines()[0].endswith("p_adjusted,family")


def test_a_family_says_its_method_and_size() -> None:
    """The printed name has both; the head of a column, too."""
    tests = adjusted_family("layers", [0.01, 0.2], "benjamini_hochberg")
    assert tests.label == "layers(method=benjamini_hochberg,tests=2)"
    assert tests.header() == "p, Benjamini–Hochberg, 2 tests"
