"""Mixed models of SAW-C and RAW-C against values frozen from R 4.2.2 with lme4 1.1-31 (and lmerTest 3.1-3 for df).

Models that are no test of multi-modality are fitted from one or two starts, to keep the suite fast.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from lexiscope.analysis.mixed.fit import MixedFit
from lexiscope.analysis.mixed.models import LikelihoodRatio, compare, fit

pytestmark = pytest.mark.published

# SAW-C §3.5 and §4.5
NORMS = "(1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 | Word)"
MAXIMAL = "(1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 + Same_sense | Word)"
DISTANCE = "(1 + Same_sense + Distance | Participant) + (1 | List) + (1 | Word)"
EVERYTHING = " + ".join(f"(1 + Same_sense + Distance | {group})" for group in ("Participant", "List", "Word"))
INTERCEPTS = "(1 | Participant) + (1 | List) + (1 | Word)"
# RAW-C's script; `same * ambiguity_type` is its full model
RAWC = "(1 + same + ambiguity_type | subject) + (1 + same | word)"
BOTH = "distance_bert + distance_elmo + Class"

Fits = Callable[..., MixedFit]

SAWC_MODELS = [
    (f"Response ~ Same_sense + {NORMS}", -17089.285617, 10),
    (f"Response ~ 1 + {NORMS}", -17109.079886, 9),
    (f"Response ~ Same_sense + {MAXIMAL}", -16709.206611, 12),
    (f"Response ~ 1 + {MAXIMAL}", -16730.950644, 11),
    (f"Response ~ Same_sense + Distance + {DISTANCE}", -16856.932436, 12),
    (f"Response ~ Distance + {DISTANCE}", -17019.538909, 11),
    (f"Response ~ Same_sense + {DISTANCE}", -16975.298953, 11),
    (f"Response ~ Same_sense + Distance + {EVERYTHING}", -16400.741683, 22),
    (f"Response ~ Same_sense + {INTERCEPTS}", -17177.993672, 6),
    (f"Response ~ 1 + {INTERCEPTS}", -20017.074619, 5),
]


@pytest.fixture(scope="session")
def sawc_fit(sawc_trials: dict[str, Any]) -> Fits:
    @cache
    def once(formula: str, starts: int = 1, satterthwaite: bool = False, reml: bool = False) -> MixedFit:
        return fit(formula, sawc_trials, starts=starts, satterthwaite=satterthwaite, reml=reml)

    return once


@pytest.fixture(scope="session")
def rawc_fit(rawc_trials: dict[str, Any]) -> Fits:
    @cache
    def once(predictors: str, random: str = RAWC, starts: int = 1) -> MixedFit:
        return fit(f"relatedness ~ {predictors} + {random}", rawc_trials, starts=starts, satterthwaite=False)

    return once


@pytest.mark.parametrize(("formula", "log_likelihood", "n_parameters"), SAWC_MODELS)
def test_sawc_log_likelihoods(sawc_fit: Fits, formula: str, log_likelihood: float, n_parameters: int) -> None:
    """Every model of SAW-C reaches lme4's optimum within 1e-3, with as many parameters."""
    fitted = sawc_fit(formula)
    assert fitted.log_likelihood == pytest.approx(log_likelihood, abs=1e-3)
    assert (fitted.n_parameters, fitted.n_observations) == (n_parameters, 10639)
    assert fitted.aic == pytest.approx(2 * n_parameters - 2 * log_likelihood, abs=2e-3)
    assert fitted.converged


def test_sawc_reml(sawc_fit: Fits) -> None:
    """The REML fit of §3.5: lme4 gives -17092.291210, estimate 2.24728 (SE .10385, df 8.74)."""
    fitted = sawc_fit(f"Response ~ Same_sense + {NORMS}", satterthwaite=True, reml=True)
    sense = fitted.effect("Same_sense")
    assert fitted.log_likelihood == pytest.approx(-17092.291210, abs=1e-3)
    assert (sense.estimate, sense.se) == (pytest.approx(2.24728, rel=1e-4), pytest.approx(0.10385, rel=1e-3))
    assert sense.df == pytest.approx(8.74, rel=5e-3)


def sawc_test(sawc_fit: Fits, full: str, reduced: str, random: str, starts: int = 1) -> LikelihoodRatio:
    return compare(sawc_fit(f"Response ~ {full} + {random}"), sawc_fit(f"Response ~ {reduced} + {random}", starts))


def test_sawc_norms_of_sense(sawc_fit: Fits) -> None:
    """§3.5: χ²(1) = 39.59 (39.5885, p = 3.135e-10); the reduced model has one optimum from five starts."""
    test = sawc_test(sawc_fit, "Same_sense", "1", NORMS, starts=5)
    assert (test.chi2, test.df) == (pytest.approx(39.5885, abs=1e-3), 1)
    assert test.p == pytest.approx(3.135e-10, rel=1e-3)
    assert test.random_effects == NORMS
    assert str(test) == f"χ²(1) = 39.589, p = {test.p:.4g}; random effects: {NORMS}"
    assert (test.reduced.starts_at_best, len(test.reduced.optima), test.remarks) == (5, 5, ())


def test_sawc_fixed_effects_of_the_norms(sawc_fit: Fits) -> None:
    """§3.5: intercept 2.11454 (.08477, df 29.45), sense 2.24722 (.09836, df 9.68)."""
    fitted = sawc_fit(f"Response ~ Same_sense + {NORMS}", satterthwaite=True)
    intercept, sense = fitted.fixed
    assert (intercept.name, sense.name) == ("(Intercept)", "Same_sense")
    assert (intercept.estimate, sense.estimate) == (pytest.approx(2.11454, rel=1e-4), pytest.approx(2.24722, rel=1e-4))
    assert (intercept.se, sense.se) == (pytest.approx(0.08477, rel=1e-3), pytest.approx(0.09836, rel=1e-3))
    assert (intercept.df, sense.df) == (pytest.approx(29.45, rel=2e-3), pytest.approx(9.68, abs=5e-3))
    assert sense.p == pytest.approx(9.65e-10, rel=2e-2)
    assert str(fitted.codings[0]) == "Same_sense: 0 = Different Sense, 1 = Same Sense"


def test_sawc_variance_components_of_the_norms(sawc_fit: Fits) -> None:
    """§3.5: the variances, correlations and level counts of lme4."""
    fitted = sawc_fit(f"Response ~ Same_sense + {NORMS}")
    found = [(c.group, c.term, round(c.variance, 4)) for c in fitted.variances]
    assert found == [
        ("Participant", "(Intercept)", 0.1324),
        ("Participant", "Same_sense", 0.1306),
        ("List", "(Intercept)", 0.0279),
        ("List", "Same_sense", 0.0799),
        ("Word", "(Intercept)", 0.3204),
    ]
    assert fitted.component("Participant", "Same_sense").correlations == (
        ("(Intercept)", pytest.approx(-0.588, abs=1e-3)),
    )
    assert fitted.component("List", "Same_sense").correlations == (("(Intercept)", pytest.approx(-0.546, abs=1e-3)),)
    assert fitted.residual_variance == pytest.approx(1.35993, rel=1e-4)
    assert fitted.levels == (("Participant", 131), ("List", 10), ("Word", 102))


def test_the_slope_absorbs_a_dropped_effect(sawc_fit: Fits) -> None:
    """§3.5 without the effect: the List slope variance inflates from .08 to 5.14, with a correlation of -.984."""
    slope = sawc_fit(f"Response ~ 1 + {NORMS}", starts=5).component("List", "Same_sense")
    assert slope.variance == pytest.approx(5.14, abs=5e-3)
    assert slope.correlations[0][1] == pytest.approx(-0.984, abs=1e-3)


def test_sawc_maximal_model_of_the_norms(sawc_fit: Fits) -> None:
    """With the by-word slope χ²(1) = 43.488, and the model converges without a remark."""
    test = sawc_test(sawc_fit, "Same_sense", "1", MAXIMAL)
    assert test.chi2 == pytest.approx(43.488, abs=1e-3)
    assert (test.full.converged, test.full.singular, test.full.remarks) == (True, False, ())


def test_sawc_distance(sawc_fit: Fits) -> None:
    """§4.5: dropping sense gives χ²(1) = 325.2129, dropping distance 236.7330."""
    full = "Same_sense + Distance"
    assert sawc_test(sawc_fit, full, "Distance", DISTANCE).chi2 == pytest.approx(325.2129, abs=1e-3)
    assert sawc_test(sawc_fit, full, "Same_sense", DISTANCE).chi2 == pytest.approx(236.7330, abs=1e-3)


def test_sawc_fixed_effects_of_distance(sawc_fit: Fits) -> None:
    """§4.5: 2.97822 (.09141), sense 1.83720 (.04972), distance -6.88799 (.33244); df 72.07, 147.36, 918.9."""
    fitted = sawc_fit(f"Response ~ Same_sense + Distance + {DISTANCE}", satterthwaite=True)
    assert [e.estimate for e in fitted.fixed] == pytest.approx([2.97822, 1.83720, -6.88799], rel=1e-4)
    assert [e.se for e in fitted.fixed] == pytest.approx([0.09141, 0.04972, 0.33244], rel=1e-3)
    assert [e.df for e in fitted.fixed] == pytest.approx([72.07, 147.36, 918.9], rel=2e-3)
    participant = [c.variance for c in fitted.variances if c.group == "Participant"]
    assert participant == pytest.approx([0.24425, 0.19728, 1.3654], rel=1e-3)
    assert fitted.component("Participant", "Distance").correlations == (
        ("(Intercept)", pytest.approx(-0.834, abs=1e-3)),
        ("Same_sense", pytest.approx(0.010, abs=1e-3)),
    )


def test_intercepts_alone_make_chi2_enormous(sawc_fit: Fits) -> None:
    """§3.5 with intercepts only: χ²(1) = 2 (20017.074619 - 17177.993672) = 5678.16, and p is below any float."""
    test = sawc_test(sawc_fit, "Same_sense", "1", INTERCEPTS)
    assert test.chi2 == pytest.approx(2 * (20017.074619 - 17177.993672), abs=1e-3)
    assert "p < 1e-300" in str(test)


def test_residuals_add_up(sawc_fit: Fits, sawc_trials: dict[str, Any]) -> None:
    """Fitted values and residuals sum to the responses, row by row."""
    fitted = sawc_fit(f"Response ~ Same_sense + {NORMS}")
    assert fitted.fitted + fitted.residuals == pytest.approx(sawc_trials["Response"])


def test_rawc_null_model_has_two_optima(rawc_fit: Fits) -> None:
    """RAW-C's null model has optima at -12257.6364 and -12269.6701; five starts find both and the better is kept.

    The authors' optimiser stops at the second without a message, so χ²(1) of *same* is 183.05, not 207.11.
    """
    null = rawc_fit(BOTH, starts=5)
    assert null.log_likelihood == pytest.approx(-12257.6364, abs=1e-3)
    assert min(null.optima) == pytest.approx(-12269.6701, abs=1e-3)
    test = compare(rawc_fit(f"{BOTH} + same"), null)
    assert test.chi2 == pytest.approx(183.05, abs=5e-3)
    assert any("reduced model: several optima: 3 of 5" in remark for remark in test.remarks)


@pytest.mark.parametrize(
    ("reduced", "chi2"),
    [
        (f"{BOTH} + same + ambiguity_type", 25.453),
        ("distance_elmo + Class + same * ambiguity_type", 36.192),
        ("distance_bert + Class + same * ambiguity_type", 16.924),
    ],
)
def test_rawc_effects(rawc_fit: Fits, reduced: str, chi2: float) -> None:
    """RAW-C's type interaction, BERT and ELMo, each dropped from the full model."""
    test = compare(rawc_fit(f"{BOTH} + same * ambiguity_type"), rawc_fit(reduced))
    assert (test.chi2, test.df) == (pytest.approx(chi2, abs=1e-3), 1)


def test_rawc_in_the_form_of_sawc(rawc_fit: Fits) -> None:
    """RAW-C with slopes of *same* by subject and by word, no other predictor: χ²(1) = 190.726."""
    random = "(1 + same | subject) + (1 + same | word)"
    test = compare(rawc_fit("same", random), rawc_fit("1", random))
    assert test.chi2 == pytest.approx(190.726, abs=1e-3)
