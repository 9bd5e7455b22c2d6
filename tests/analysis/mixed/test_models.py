"""Mixed models on small data: planted effects, lme4's own data sets, invariances, refusals."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.mixed import models as mixed
from lexiscope.analysis.mixed.fit import MixedFit
from lexiscope.analysis.mixed.models import (
    LikelihoodRatio,
    NestedModels,
    compare,
    fit,
    likelihood_ratio,
    likelihood_ratios,
)
from lexiscope.core.errors import InputError, LexiscopeError, StatisticError
from lexiscope.core.result import Undefined

Columns = dict[str, Any]


def planted(
    *, beta: float = 0.45, sense: float = 1.12, slope_sd: float = 0.3, participants: int = 24, seed: int = 1
) -> Columns:
    """Ratings of 16 words: y = 1 + beta rating + sense same + a participant's and a word's part."""
    random = np.random.default_rng(seed)
    person, word = (grid.ravel() for grid in np.meshgrid(np.arange(participants), np.arange(32), indexing="ij"))
    same, rating = word % 2, random.uniform(1, 5, 32)[word]
    y = 1.0 + beta * rating + sense * same + random.normal(0, 0.5, participants)[person]
    y += random.normal(0, slope_sd, participants)[person] * same + random.normal(0, 0.4, 16)[word // 2]
    return {
        "y": y + random.normal(0, 0.6, y.size),
        "rating": rating,
        "same": np.where(same == 1, "Same Sense", "Different Sense"),
        "Participant": person,
        "Word": word // 2,
    }


SIMPLE = "y ~ rating + same + (1 | Participant) + (1 | Word)"


def test_planted_ratings_are_recovered() -> None:
    """A chat model's ratings with β = .45 beside sense with 1.12 (SAW-C A.4.2's figures): both within two SE."""
    fitted = fit(SIMPLE, planted(slope_sd=0.0))
    rating, sense = fitted.effect("rating"), fitted.effect("same")
    assert abs(rating.estimate - 0.45) < 2 * rating.se
    assert abs(sense.estimate - 1.12) < 2 * sense.se
    assert rating.p is not None
    assert rating.p < 1e-10


def test_residuals_by_sense_can_be_computed() -> None:
    """Without sense in the model, its residuals are positive for Same Sense and negative for Different Sense."""
    data = planted()
    residuals = fit("y ~ rating + (1 | Participant) + (1 | Word)", data, starts=1).residuals
    same = data["same"] == "Same Sense"
    assert residuals[same].mean() > 0.3 > -0.3 > residuals[~same].mean()


def dataset(name: str, **columns: Any) -> Columns:
    """One of lme4's data sets, as the fitting library carries them."""
    datasets = pytest.importorskip("mixedlm.datasets")
    frame = getattr(datasets, f"load_{name}")()
    return {column: frame[column].to_numpy() for column in frame.columns} | columns


def grouse() -> Columns:
    data = dataset("grouseticks")
    return data | {"HEIGHT": data["HEIGHT"] / 100}


def cattle() -> Columns:
    data = dataset("cbpp")
    return data | {"proportion": data["incidence"] / data["size"]}


# Frozen from R 4.2.2, lme4 1.1-31, REML = FALSE: log-likelihood, estimates, SEs, variances of random effects, residual
LME4 = [
    (
        "sleepstudy",
        "Reaction ~ Days + (Days | Subject)",
        -875.969672,
        [251.4051, 10.467286],
        [6.6321227, 1.5022302],
        [565.477, 32.6818, 654.94571],
    ),
    (
        "sleepstudy",
        "Reaction ~ Days + (Days || Subject)",
        -876.001628,
        [251.4051, 10.467286],
        [6.7077375, 1.5193054],
        [584.266, 33.6326, 653.11542],
    ),
    (
        "sleepstudy",
        "Reaction ~ Days + (1 | Subject)",
        -897.039322,
        [251.4051, 10.467286],
        [9.5061852, 0.80173542],
        [1296.87, 954.52783],
    ),
    ("dyestuff", "Yield ~ 1 + (1 | Batch)", -163.663530, [1527.5], [17.694554], [1388.33, 2451.25]),
    ("dyestuff2", "Yield ~ 1 + (1 | Batch)", -81.436518, [5.6656], [0.66698574], [0.0, 13.346099]),
    (
        "penicillin",
        "diameter ~ 1 + (1 | plate) + (1 | sample)",
        -166.094174,
        [22.972222],
        [0.74459627],
        [0.714993, 3.13519, 0.30242536],
    ),
    (
        "pastes",
        "strength ~ 1 + (1 | sample) + (1 | batch)",
        -123.997233,
        [60.053333],
        [0.64213589],
        [8.43362, 1.19918, 0.67800212],
    ),
    (
        "cake",
        "angle ~ temp + recipe + (1 | recipe:replicate)",
        -848.078876,
        [1.515873, 0.15803175, -1.4777778, -1.5222222],
        [3.6451051, 0.016179699, 2.3729663, 2.3729663],
        [38.7964, 20.615385],
    ),
    (
        "cbpp",
        "proportion ~ period + (1 | herd)",
        39.018326,
        [0.21979476, -0.14573835, -0.13042021, -0.17853921],
        [0.031126208, 0.044701591, 0.044701591, 0.04558593],
        [6.48821e-05, 0.01446773],
    ),
    (
        "grouseticks",
        "TICKS ~ HEIGHT + YEAR + (1 | BROOD) + (1 | LOCATION)",
        -1378.000457,
        [52.537371, -10.220826, 4.6765668, -4.0639406],
        [14.06987, 2.987081, 2.1527697, 2.161197],
        [64.66, 22.0488, 28.022362],
    ),
]


@pytest.mark.parametrize(("name", "formula", "log_likelihood", "estimates", "errors", "variances"), LME4)
def test_lme4_data_sets(
    name: str,
    formula: str,
    log_likelihood: float,
    estimates: list[float],
    errors: list[float],
    variances: list[float],
) -> None:
    """lme4's data: log-likelihood within 1e-3, estimates 1e-4 and SEs 1e-3 relative, singular where lme4 says."""
    data = {"grouseticks": grouse, "cbpp": cattle}.get(name, lambda: dataset(name))()
    fitted = fit(formula, data, starts=2)
    found = [component.variance for component in fitted.variances] + [fitted.residual_variance]
    assert fitted.log_likelihood == pytest.approx(log_likelihood, abs=1e-3)
    assert [effect.estimate for effect in fitted.fixed] == pytest.approx(estimates, rel=1e-4)
    assert [effect.se for effect in fitted.fixed] == pytest.approx(errors, rel=1e-3)
    assert found == pytest.approx(variances, rel=5e-3, abs=1e-6)
    assert (fitted.converged, fitted.singular) == (True, name == "dyestuff2")


def test_a_nested_grouping_factor_is_two_factors() -> None:
    """(1 | batch/cask) is (1 | batch) + (1 | batch:cask): the same fit as with the samples' own column."""
    nested = fit("strength ~ 1 + (1 | batch/cask)", dataset("pastes"), starts=1)
    assert nested.log_likelihood == pytest.approx(-123.997233, abs=1e-3)
    assert dict(nested.levels) == {"batch": 10, "batch:cask": 30}


def test_levels_of_a_wide_factor_are_named() -> None:
    """The effects of a text predictor with three levels carry the level, not a number."""
    fitted = fit("angle ~ recipe + (1 | replicate)", dataset("cake"), starts=1, references={"recipe": "B"})
    assert [effect.name for effect in fitted.fixed] == ["(Intercept)", "recipe[A]", "recipe[C]"]


def test_singularity_is_a_remark() -> None:
    """A variance of zero is reported, and the fit is given."""
    fitted = fit("Yield ~ 1 + (1 | Batch)", dataset("dyestuff2"))
    assert "singular: a variance is zero or a correlation is plus or minus one" in fitted.remarks


def test_row_order_and_labels_do_not_matter() -> None:
    """Permuted rows and renamed levels give the same fit; residuals follow their rows."""
    data = planted()
    order = np.random.default_rng(5).permutation(data["y"].size)
    renamed = {name: column[order] for name, column in data.items()}
    renamed["Participant"] = np.array([f"p{(7 * value) % 24}" for value in renamed["Participant"]])
    ours, theirs = fit(SIMPLE, data), fit(SIMPLE, renamed)
    assert theirs.log_likelihood == pytest.approx(ours.log_likelihood, abs=1e-7)
    assert theirs.effect("same").se == pytest.approx(ours.effect("same").se, rel=1e-6)
    assert theirs.residuals == pytest.approx(ours.residuals[order], abs=1e-4)


def test_units_of_a_predictor_do_not_matter() -> None:
    """A predictor times ten has a tenth of the estimate and the same t and log-likelihood."""
    data = planted()
    ours, theirs = fit(SIMPLE, data), fit(SIMPLE, data | {"rating": data["rating"] * 10})
    assert theirs.log_likelihood == pytest.approx(ours.log_likelihood, abs=1e-6)
    assert theirs.effect("rating").estimate == pytest.approx(ours.effect("rating").estimate / 10, rel=1e-5)
    assert theirs.effect("rating").t == pytest.approx(ours.effect("rating").t, rel=1e-5)


def test_the_reference_level_turns_the_sign() -> None:
    """With the other level as reference the effect changes its sign and nothing else."""
    data = planted()
    ours, theirs = fit(SIMPLE, data), fit(SIMPLE, data, references={"same": "Same Sense"})
    assert theirs.effect("same").estimate == pytest.approx(-ours.effect("same").estimate, rel=1e-6)


def test_the_same_seed_gives_the_same_result() -> None:
    """Random starts come from the seed alone."""
    data = planted()
    assert fit(SIMPLE, data, seed=3) == fit(SIMPLE, data, seed=3)


def test_every_start_is_kept() -> None:
    """One log-likelihood per start, and the count of those at the best."""
    fitted = fit("y ~ rating + same + (1 + same | Participant) + (1 | Word)", planted(), starts=6, every_start=True)
    assert (len(fitted.optima), fitted.starts_at_best) == (6, 6)
    assert max(fitted.optima) == pytest.approx(fitted.log_likelihood, abs=1e-6)


def test_degrees_of_freedom_can_be_left_out() -> None:
    """Without degrees of freedom there is no p, and the reason is said."""
    effect = fit(SIMPLE, planted(), starts=1, satterthwaite=False).effect("same")
    assert (effect.df, effect.p, effect.df_reason) == (None, None, "not asked for")


def test_a_fit_is_frozen_and_answers_by_name() -> None:
    """Results do not change, and an unknown effect is an error that names the known ones."""
    fitted = fit(SIMPLE, planted(), starts=1)
    with pytest.raises(FrozenInstanceError):
        fitted.aic = 0.0  # type: ignore[misc]
    with pytest.raises(StatisticError, match="has \\(Intercept\\), rating, same"):
        fitted.effect("Same")
    with pytest.raises(StatisticError, match="no variance component"):
        fitted.component("Word", "same")


def test_a_likelihood_ratio_is_twice_the_difference() -> None:
    """χ² = 2 (log L_full - log L_reduced) on the difference in parameters, with the random effects beside it."""
    random = "(1 + same | Participant) + (1 | Word)"
    test = likelihood_ratio(f"y ~ rating + same + {random}", f"y ~ rating + {random}", planted())
    assert test.full.starts_in_words == "2 of 2 starts reached it, which ended the starts early"
    assert test.chi2 == 2 * (test.full.log_likelihood - test.reduced.log_likelihood)
    assert (test.df, test.random_effects, len(test.reduced.optima)) == (1, random, 5)
    assert str(test).endswith(f"random effects: {random}")


def test_a_test_of_random_effects_names_both_and_warns() -> None:
    """Two models that differ in random effects: both formulas are printed, and the boundary is remarked."""
    fixed = "y ~ rating + same"
    test = likelihood_ratio(
        f"{fixed} + (1 + same | Participant) + (1 | Word)", f"{fixed} + (1 | Participant) + (1 | Word)", planted()
    )
    assert test.df == 2
    assert " against (1 | Participant) + (1 | Word)" in test.random_effects
    assert any("boundary" in remark for remark in test.remarks)


def test_few_starts_of_the_reduced_model_are_remarked() -> None:
    """A reduced model that was started once may be at the wrong optimum: the test says so."""
    test = likelihood_ratio(SIMPLE, SIMPLE.replace("rating + ", ""), planted(), starts=1)
    assert any("started once; at least 5" in remark for remark in test.remarks)


@pytest.mark.parametrize(
    ("full", "reduced", "reml", "words"),
    [
        (SIMPLE, "y ~ other + (1 | Participant) + (1 | Word)", False, "not nested"),
        (SIMPLE, SIMPLE, False, "not nested"),
        (SIMPLE.replace("rating + ", ""), SIMPLE, False, "not nested"),
        (SIMPLE, SIMPLE.replace("rating + ", ""), True, "REML"),
    ],
)
def test_models_that_cannot_be_compared_are_refused(full: str, reduced: str, reml: bool, words: str) -> None:
    """Models must be nested; REML fits with different fixed effects have no likelihood ratio."""
    with pytest.raises(StatisticError, match=words):
        likelihood_ratio(full, reduced, planted(), reml=reml)


def pair() -> LikelihoodRatio:
    return likelihood_ratio(SIMPLE, SIMPLE.replace("rating + ", ""), planted(participants=6), starts=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"n_observations": 7}, "192 and 7 rows"), ({"reml": True}, "REML"), ({"log_likelihood": 0.0}, "fits worse")],
)
def test_fits_of_different_data_are_refused(change: dict[str, Any], words: str) -> None:
    """Different rows, REML against ML, and a full model below its reduced one are errors, not numbers."""
    test = pair()
    with pytest.raises(StatisticError, match=words):
        compare(test.full, replace(test.reduced, **change))


def test_one_model_in_two_spellings_is_refused() -> None:
    """(1 + same || g) and (1 | g) + (0 + same | g) are one model: there is nothing to test."""
    data = planted()
    fixed = "y ~ rating + same + (1 | Word)"
    with pytest.raises(StatisticError, match="written differently"):
        likelihood_ratio(
            f"{fixed} + (1 + same || Participant)", f"{fixed} + (1 | Participant) + (0 + same | Participant)", data
        )


@pytest.mark.parametrize(
    ("formula", "changes", "error", "words"),
    [
        ("y ~ rating + twice + (1 | Word)", {}, StatisticError, "rank 2"),
        ("y ~ rating + absent + (1 | Word)", {}, InputError, "'absent'"),
        (SIMPLE, {"starts": 0}, InputError, "0 starts"),
    ],
)
def test_models_that_cannot_be_fitted_are_refused(
    formula: str, changes: dict[str, Any], error: type[LexiscopeError], words: str
) -> None:
    """Dependent predictors, unknown columns and no start at all are refused before fitting."""
    data = planted()
    with pytest.raises(error, match=words):
        fit(formula, data | {"twice": 2 * data["rating"]}, **changes)


def test_several_tests_fit_a_shared_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tests of one full model: three fits; each outcome is that of its own test; what fails has its reason."""
    data, reduced = planted(), {"sense": "y ~ rating", "rating": "y ~ same"}
    random = "(1 | Participant) + (1 | Word)"
    models = {name: NestedModels(SIMPLE, f"{formula} + {random}", data) for name, formula in reduced.items()}
    models["broken"] = NestedModels(SIMPLE, f"y ~ nothing + {random}", data)
    made: list[str] = []

    def counted(formula: str, *given: Any, **options: Any) -> MixedFit:
        made.append(formula)
        return fit(formula, *given, **options)

    monkeypatch.setattr(mixed, "fit", counted)
    found = likelihood_ratios(models, starts=1, seed=3)
    assert made == [SIMPLE, *(models[name].reduced for name in models)]
    sense, broken = found["sense"], found["broken"]
    assert isinstance(sense, LikelihoodRatio)
    alone = likelihood_ratio(SIMPLE, models["sense"].reduced, data, starts=1, seed=3)
    assert sense.chi2 == pytest.approx(alone.chi2, rel=1e-6)
    assert isinstance(broken, Undefined)
    assert "nothing" in broken.reason
