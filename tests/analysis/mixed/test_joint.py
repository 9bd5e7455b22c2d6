"""One model of two rated sets: columns, coefficients as in statsmodels, the ordinal form and the R script."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.miscmodels.ordinal_model import OrderedModel

from lexiscope.analysis.mixed.joint import JointModel, RatedSet, joint_model, results_once
from lexiscope.analysis.mixed.models import LikelihoodRatio
from lexiscope.analysis.mixed.ordinal import OrdinalRatio
from lexiscope.analysis.mixed.r_script import r_script
from lexiscope.core.errors import InputError
from lexiscope.core.result import Undefined

WORDS, PER_WORD = 24, 12


def _set(seed: int, slope: float, lowest: float, *, word_sd: float) -> RatedSet:
    """Ratings from *lowest* in five steps that rise with x by *slope*, words of one label in both sets."""
    rng = np.random.default_rng(seed)
    word = np.repeat(np.arange(WORDS), PER_WORD)
    x = rng.normal(3.0, 2.0, len(word))
    latent = slope * (x - 3.0) / 2.0 + word_sd * rng.normal(size=WORDS)[word] + rng.normal(size=len(word))
    columns = {"Response": lowest + np.clip(np.round(latent + 2), 0, 4), "x": x, "Word": word}
    return RatedSet(columns, lowest, {"x": x})


def _model(word_sd: float) -> JointModel:
    sets = {"es": _set(2, 0.4, 1.0, word_sd=word_sd), "en": _set(102, 0.9, 0.0, word_sd=word_sd)}
    return joint_model(sets, {"slope": "x"}, "(1 | Word)", factor="Language", nested=("Word",))


@pytest.fixture(scope="module")
def model() -> JointModel:
    return _model(0.6)


@pytest.fixture(scope="module")
def test_of_slope(model: JointModel) -> LikelihoodRatio:
    outcome = model.tests(starts=2)["slope_by_language"]
    assert isinstance(outcome, LikelihoodRatio)
    return outcome


def test_the_coefficients_are_those_of_statsmodels(model: JointModel, test_of_slope: LikelihoodRatio) -> None:
    """Fixed effects and log-likelihoods of both models, fitted by statsmodels with words nested in their language."""
    rows = pd.DataFrame({name: np.asarray(column) for name, column in model.data.items()})
    rows["english"] = (rows["Language"] == "en").astype(float)
    assert rows["Word"].nunique() == 2 * WORDS
    full, reduced = (smf.mixedlm(f"Response ~ x {sign} english", rows, groups="Word").fit(reml=False) for sign in "*+")
    ours = {effect.name: (effect.estimate, effect.se) for effect in test_of_slope.full.fixed}
    for term, name in {"x": "x", "Language": "english", "x:Language": "x:english"}.items():
        assert ours[term] == pytest.approx((full.params[name], full.bse[name]), rel=2e-3), term
    assert test_of_slope.full.log_likelihood == pytest.approx(full.llf, abs=1e-4)
    assert test_of_slope.chi2 == pytest.approx(2 * (full.llf - reduced.llf), abs=1e-3)


def test_a_full_model_is_reported_once(test_of_slope: LikelihoodRatio) -> None:
    """Two tests of one full model: its coefficients come with the first, of the second there is χ² alone."""
    results = results_once({"a": test_of_slope, "b": test_of_slope, "c": Undefined("chi2", "no slope")})
    assert [result.name for result in results if result.name.startswith("chi2")] == [
        "chi2(test=a,df=1)", "chi2(test=b,df=1)", "chi2(test=c,df=1)",
    ]  # fmt: skip
    assert not [result for result in results if "test=b" in result.name and not result.name.startswith("chi2")]


def test_the_ordinal_form_without_word_effects_is_the_ordered_model_of_statsmodels() -> None:
    """Where words do not differ, their variance is 0 and the model is proportional odds: coefficients and χ²."""
    model = _model(0.0)
    outcome = model.ordinal_tests("logit")["slope_by_language"]
    assert isinstance(outcome, OrdinalRatio)
    assert outcome.full.component("Word", "(Intercept)").variance == pytest.approx(0.0, abs=1e-4)
    x, english = np.asarray(model.data["x"], dtype=float), (np.asarray(model.data["Language"]) == "en").astype(float)
    terms = pd.DataFrame({"x": x, "english": english, "both": x * english})
    response = np.asarray(model.data["Response"], dtype=int)
    full, reduced = (
        OrderedModel(response, terms[names], distr="logit").fit(method="bfgs", disp=False)
        for names in (["x", "english", "both"], ["x", "english"])
    )
    for term, name in {"x": "x", "Language": "english", "x:Language": "both"}.items():
        assert outcome.full.effect(term).estimate == pytest.approx(full.params[name], abs=2e-3), term
    assert outcome.chi2 == pytest.approx(2 * (full.llf - reduced.llf), abs=2e-3)


def test_the_r_script_refits_the_joint_model(model: JointModel) -> None:
    """lme4's formulas are those of the model, and clmm's with the link that is asked for."""
    script = r_script(model.pairs(("logit",)), model.data, references=model.references)
    assert "x + Language + x:Language + (1 | Word)" in script
    assert "1 + x + Language + (1 | Word)" in script
    assert "clmm" in script


def test_one_set_is_refused_and_a_missing_column_named() -> None:
    """There is nothing to compare in one set; a set without a column of the model says which."""
    own = _set(1, 0.4, 1.0, word_sd=0.0)
    with pytest.raises(InputError, match="two sets"):
        joint_model({"es": own}, {"slope": "x"}, "(1 | Word)", factor="Language", nested=("Word",))
    with pytest.raises(InputError, match="ratings of es have no column 'y'"):
        joint_model({"es": own, "en": own}, {"slope": "y"}, "(1 | Word)", factor="Language", nested=("Word",))
