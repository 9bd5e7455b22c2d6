"""Predictions, conditional means and the summary of a fit, against lme4 and closed forms.

The frozen values are from R 4.2.2 with lme4 1.1-31 (``predict``, ``ranef``, ``summary``) and lmerTest 3.1-3, optimiser
``bobyqa`` with ``rhoend`` of 1e-9, on the trials of :func:`trials`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.mixed.data import prepare
from lexiscope.analysis.mixed.design import fixed_columns
from lexiscope.analysis.mixed.fit import MixedFit
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.analysis.mixed.models import fit
from lexiscope.core.errors import InputError, StatisticError

FORMULA = "y ~ x * cue + (1 + x | person) + (1 | word)"
NEW = {
    "x": np.array([-1, 0.5, 2]),
    "cue": np.array(["noun", "verb", "adjective"]),
    "person": np.array([0, 3, 19]),
    "word": np.array([0, 5, 11]),
}


@cache
def trials() -> dict[str, Any]:
    """About 216 of 20 people × 12 words, a slope that varies over people, and a cue of three kinds."""
    random = np.random.default_rng(11)
    person, word = (grid.ravel() for grid in np.meshgrid(np.arange(20), np.arange(12), indexing="ij"))
    kept = random.random(240) < 0.9
    person, word = person[kept], word[kept]
    n = person.size
    x, cue = random.normal(size=n), np.array(["adjective", "noun", "verb"])[random.integers(0, 3, n)]
    y = 2 + 0.6 * x + 0.5 * (cue == "noun") + random.normal(0, 0.7, 20)[person]
    y += random.normal(0, 0.4, 20)[person] * x + random.normal(0, 0.5, 12)[word] + random.normal(0, 0.8, n)
    return {"y": y, "x": x, "cue": cue, "person": person, "word": word}


@cache
def fitted(*, reml: bool = False) -> MixedFit:
    return fit(FORMULA, trials(), reml=reml)


def test_the_fit_is_that_of_lme4_and_lmertest() -> None:
    """Log-likelihoods (ML, REML), coefficients, SEs and Satterthwaite's df, of an interaction with three levels."""
    ml, reml = fitted(), fitted(reml=True)
    assert ml.log_likelihood == pytest.approx(-321.3426258, abs=1e-6)
    assert reml.log_likelihood == pytest.approx(-326.9653768, abs=1e-6)
    assert (ml.aic, ml.bic) == (pytest.approx(664.6852516), pytest.approx(702.1147028))
    names = ["(Intercept)", "x", "cue[noun]", "cue[verb]", "x:cue[noun]", "x:cue[verb]"]
    assert [effect.name for effect in ml.fixed] == names
    estimates = [2.0360748181, 0.4449821926, 0.4305023353, 0.1386829847, 0.0587298399, 0.1809309454]
    errors = [0.2333694032, 0.1433920292, 0.1568432238, 0.1524652421, 0.1654782629, 0.1572694500]
    assert [effect.estimate for effect in ml.fixed] == pytest.approx(estimates, rel=1e-5)
    assert [effect.se for effect in ml.fixed] == pytest.approx(errors, rel=1e-5)
    df = {False: [33.18579513, 30.60648483, 185.27708217, 194.70254711, 196.12202544, 192.52481619]}
    df[True] = [31.64612873, 28.71524880, 181.14154006, 190.06023932, 191.34204812, 188.00920562]
    for which, found in ((False, ml), (True, reml)):
        assert [effect.df for effect in found.fixed] == pytest.approx(df[which], rel=1e-3)


def test_conditional_means_are_those_of_lme4() -> None:
    """``ranef``: the first people and words."""
    people, words = fitted().random_effects_by_level("person"), fitted().random_effects_by_level("word")
    assert [*people["0"].values()] == pytest.approx([-0.0744375542, -0.006450651063], abs=1e-5)
    assert [*people["1"].values()] == pytest.approx([-0.1169792317, 0.273654006000], abs=1e-5)
    assert words["1"]["(Intercept)"] == pytest.approx(-0.9762786438, abs=1e-5)
    with pytest.raises(StatisticError, match="the model has person, word"):
        fitted().random_effects_by_level("list")


def test_new_rows_are_predicted_as_by_lme4() -> None:
    """``predict`` with the random effects of the rows' levels, and without (``re.form = NA``)."""
    assert fitted().predict(NEW) == pytest.approx([2.075923259, 2.017625247, 3.088646856], abs=1e-5)
    assert fitted().predict(NEW, random=False) == pytest.approx([1.962865121, 2.487714372, 2.926039203], abs=1e-5)


def test_the_fitted_rows_are_predicted_as_fitted() -> None:
    """Predictions of the fitted rows are the fitted values; without random effects they are Xβ."""
    found = fitted()
    assert found.predict() == pytest.approx(found.fitted, abs=1e-9)
    assert found.predict(trials()) == pytest.approx(found.fitted, abs=1e-9)
    plain = found.predict(random=False)
    assert plain == pytest.approx(found.predict({name: trials()[name] for name in ("x", "cue")}, random=False))
    assert not np.allclose(plain, found.fitted)


def test_a_level_that_was_not_fitted_is_refused_or_zero() -> None:
    """A new person has no random effect: refused by row, or with ``new_levels`` predicted as a mean person."""
    new = NEW | {"person": np.array([0, 99, 19])}
    with pytest.raises(InputError, match="row 2 has a level of 'person'"):
        fitted().predict(new)
    predicted = fitted().predict(new, new_levels=True)
    word = fitted().random_effects_by_level("word")["5"]["(Intercept)"]
    assert predicted[1] == pytest.approx(fitted().predict(NEW, random=False)[1] + word)
    assert predicted[[0, 2]] == pytest.approx(fitted().predict(NEW)[[0, 2]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cue": np.array(["noun", "verb", "adverb"])}, "'adverb' is not a level of 'cue'"),
        ({"x": np.array([1.0, np.nan, 2.0])}, "1 missing values"),
        ({"x": np.array(["a", "b", "c"])}, "predictor column 'x' holds text"),
        ({"x": np.array([1.0])}, "differ in length"),
    ],
)
def test_new_rows_are_checked(change: dict[str, Any], words: str) -> None:
    """What has no coefficient or no value is refused with the column's name."""
    with pytest.raises(InputError, match=words):
        fitted().predict(NEW | change)


def test_a_balanced_design_shrinks_by_its_closed_form() -> None:
    """One-way: the conditional mean of a level is its mean's distance times n σ_b² / (n σ_b² + σ²)."""
    y = np.random.default_rng(2).normal(size=(8, 5)) + np.arange(8)[:, None]
    found = fit("y ~ 1 + (1 | g)", {"y": y.ravel(), "g": np.repeat(np.arange(8), 5)}, reml=True)
    between = found.component("g", "(Intercept)").variance
    share = 5 * between / (5 * between + found.residual_variance)
    modes = [level["(Intercept)"] for level in found.random_effects_by_level("g").values()]
    assert modes == pytest.approx(share * (y.mean(axis=1) - y.mean()), abs=1e-6)
    assert found.predict({"g": np.array([3])}) == pytest.approx([y.mean() + modes[3]])


def test_the_summary_has_what_lme4_prints() -> None:
    """The sections of lme4's summary, its numbers, the starts and the coding, as one text."""
    text = fitted().summary()
    lines = text.splitlines()
    assert lines[0].startswith("Linear mixed model fit by maximum likelihood; t-tests with Satterthwaite's")
    assert lines[1:3] == [f"Formula: {fitted().formula}", "Coding of cue: 0 = adjective, 1 = noun, 2 = verb"]
    assert "664.7  702.1  -321.3426      642.7       211" in lines
    assert "-2.3867  -0.6211  -0.0521  0.6154  2.6118" in text
    random = [line.split() for line in lines[lines.index("Random effects:") + 1 :][:5]]
    assert random[1][:4] == ["person", "(Intercept)", "0.43598", "0.66028"]
    assert random[2] == ["x", "0.23529", "0.48507", "0.05"]
    assert random[4][0] == "Residual"
    assert f"Number of obs: {len(trials()['y'])}, groups: person, 20; word, 12" in lines
    assert lines[lines.index("Fixed effects:") + 7].split() == [
        "x:cue[verb]",
        "0.18093",
        "0.15727",
        "192.52",
        "1.150",
        "0.251",
    ]
    assert [line for line in lines if line.startswith("cue[noun]")][1].split()[1:3] == ["-0.305", "0.003"]
    assert f"Starts: {fitted().starts_in_words}" in lines
    assert "Converged: yes; singular: no" in lines
    assert text == fitted().summary()
    assert "fit by REML" in fitted(reml=True).summary()


def test_a_summary_says_what_is_wrong() -> None:
    """A singular fit without degrees of freedom: dashes in their columns, and the remark."""
    data = {"y": np.tile([0.0, 1.0, 2.0, 4.0], 6), "g": np.repeat(np.arange(6), 4)}
    text = fit("y ~ 1 + (1 | g)", data, satterthwaite=False).summary()
    assert "singular: yes" in text
    assert "Remark: singular: a variance is zero" in text
    assert "Satterthwaite" not in text


@pytest.mark.parametrize(
    ("fixed", "names"),
    [
        ("x:cue", ["(Intercept)", "x:cue[adjective]", "x:cue[noun]", "x:cue[verb]"]),
        ("0 + cue", ["cue[adjective]", "cue[noun]", "cue[verb]"]),
        ("0 + x + cue", ["x", "cue[adjective]", "cue[noun]", "cue[verb]"]),
        ("x + x:cue", ["(Intercept)", "x", "x:cue[noun]", "x:cue[verb]"]),
        ("0 + cue + kind", ["cue[adjective]", "cue[noun]", "cue[verb]", "kind[q]", "kind[r]"]),
        ("cue * kind", ["(Intercept)", "cue[noun]", "cue[verb]", "kind[q]", "kind[r]",
                        "cue[noun]:kind[q]", "cue[verb]:kind[q]", "cue[noun]:kind[r]", "cue[verb]:kind[r]"]),
    ],
)  # fmt: skip
def test_factors_are_coded_as_in_r(fixed: str, names: list[str]) -> None:
    """The columns of R's ``model.matrix`` in its order: contrasts where the margin is in the model, else all levels."""
    formula = read_formula(f"y ~ {fixed} + (1 | person)")
    data = trials() | {"kind": np.resize(["p", "q", "r"], len(trials()["y"]))}
    prepared = prepare(formula, data)
    found, columns = fixed_columns(formula, prepared.columns, prepared)
    assert list(found) == names
    number = names.index("cue[noun]") if "cue[noun]" in names else names.index("x:cue[noun]")
    expected = (data["cue"] == "noun") * (data["x"] if names[number] == "x:cue[noun]" else 1.0)
    assert columns[:, number] == pytest.approx(expected)


def test_a_predictor_close_to_another_has_the_same_test() -> None:
    """x and x + 1e-6 z span what x and z span: the likelihood and the df and t of the second are the same."""
    data = trials() | {"z": np.random.default_rng(5).normal(size=len(trials()["y"]))}
    data["near"] = data["x"] + 1e-6 * data["z"]
    ours, theirs = (fit(f"y ~ x + {name} + (1 | person) + (1 | word)", data) for name in ("z", "near"))
    assert theirs.log_likelihood == pytest.approx(ours.log_likelihood, abs=1e-6)
    assert theirs.effect("near").t == pytest.approx(ours.effect("z").t, rel=1e-4)
    assert theirs.effect("near").df == pytest.approx(ours.effect("z").df, rel=1e-4)


# NIST StRD, analysis of variance: SiRstv (measured) and SmLs01 (constructed: 9 treatments of 21 values)
SIRSTV = [
    [196.3052, 196.1240, 196.1890, 196.2569, 196.3403],
    [196.3042, 196.3825, 196.1669, 196.3257, 196.0422],
    [196.1303, 196.2005, 196.2889, 196.0343, 196.1811],
    [196.2795, 196.1748, 196.1494, 196.1485, 195.9885],
    [196.2119, 196.1051, 196.1850, 196.0052, 196.2090],
]
MEANS = [1.4, 1.3, 1.5, 1.3, 1.5, 1.3, 1.5, 1.3, 1.5]
SMLS01 = [[mean, *[mean - 0.1, mean + 0.1] * 10] for mean in MEANS]


@pytest.mark.parametrize(
    ("values", "between", "within"),
    [
        pytest.param(np.array(SIRSTV), 1.27865654000000e-02, 1.08318280000000e-02, id="SiRstv"),
        pytest.param(np.array(SMLS01), 2.10000000000000e-01, 1.00000000000000e-02, id="SmLs01"),
        pytest.param(np.array(SMLS01) + 1e6, 2.10000000000000e-01, 1.00000000000000e-02, id="SmLs04"),
    ],
)
def test_one_way_random_effects_of_nist(values: Any, between: float, within: float) -> None:
    """Balanced one-way REML: the residual variance is NIST's mean square within, that of levels (MSB - MSW) / n."""
    levels, n = values.shape
    data = {"y": values.ravel(), "g": np.repeat(np.arange(levels), n)}
    found = fit("y ~ 1 + (1 | g)", data, reml=True)
    assert found.residual_variance == pytest.approx(within, rel=1e-5)
    assert found.component("g", "(Intercept)").variance == pytest.approx((between - within) / n, rel=1e-4)
    mean = found.effect("(Intercept)")
    assert mean.se == pytest.approx((between / values.size) ** 0.5, rel=1e-5)
    assert mean.df == pytest.approx(levels - 1, rel=1e-3)
