"""The reduction of random effects follows its stated rule, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.mixed import models as mixed_reduction
from lexiscope.analysis.mixed import optimum as mixed_optimum
from lexiscope.analysis.mixed.models import RULE, reduce
from lexiscope.core.errors import InputError


def trials(*, word_slope: float, word_sd: float = 0.7, seed: int = 4) -> dict[str, Any]:
    """Ratings with a real slope of sense by participant and a planted one by word (0: none)."""
    random = np.random.default_rng(seed)
    person, word, same = (grid.ravel() for grid in np.meshgrid(range(30), range(12), (0.0, 1.0), indexing="ij"))
    y = 2 + 2 * same + random.normal(0, 0.6, 30)[person] + random.normal(0, 0.8, 30)[person] * same
    # centred draws: the words' slopes and intercepts have no spread of their own beyond what is planted
    y += word_sd * np.linspace(-1, 1, 12)[word] + word_slope * np.resize([-1.0, 1.0], 12)[word] * same
    noise = random.normal(0, 1.0, (30, 12, 2))
    noise -= noise.mean(axis=0)  # no word differs from another by chance
    return {"y": y + noise.ravel(), "same": same, "person": person, "word": word}


MAXIMAL = "y ~ same + (1 + same | person) + (1 + same | word)"


def test_a_planted_zero_variance_slope_leaves_by_the_protocol() -> None:
    """No variance of sense by word: correlations go first, then exactly that slope, and then the criterion holds."""
    reduction = reduce(MAXIMAL, trials(word_slope=0.0), criterion="converged_and_not_singular")
    assert [(step.random_effects, step.removed, step.reason) for step in reduction.steps] == [
        ("(1 + same | person) + (1 + same | word)", "", "the maximal model"),
        (
            "(1 + same || person) + (1 + same || word)",
            "all correlations between random effects",
            "the previous model is singular",
        ),
        ("(1 + same || person) + (1 | word)", "the slope of same by word", "the previous model is singular"),
    ]
    assert [step.singular for step in reduction.steps] == [True, True, False]
    assert [step.n_parameters for step in reduction.steps] == [9, 7, 6]
    assert reduction.satisfied
    assert reduction.fit.random_effects == reduction.steps[-1].random_effects
    assert reduction.fit.effect("same").df is not None


def test_a_model_that_meets_the_criterion_is_kept() -> None:
    """The maximal model converges, so nothing is removed; singularity alone is no reason under 'converged'."""
    reduction = reduce(MAXIMAL, trials(word_slope=0.0))
    assert (len(reduction.steps), reduction.satisfied) == (1, True)
    (steps,) = reduction.results("sense")
    assert (steps.name, steps.value) == ("reduction_steps(test=sense,criterion=converged)", 1)
    assert steps.note == f"reached; ends at {reduction.fit.random_effects}"
    assert reduction.fit.singular
    assert reduction.rule == RULE


def test_a_well_supported_structure_is_kept_under_both_criteria() -> None:
    """Slopes that vary stay."""
    reduction = reduce(MAXIMAL, trials(word_slope=0.6), criterion="converged_and_not_singular")
    assert reduction.fit.random_effects == "(1 + same | person) + (1 + same | word)"


def test_units_do_not_change_the_path() -> None:
    """A predictor measured in other units is removed at the same step."""
    data = trials(word_slope=0.0)
    data["distance"] = np.tile(np.random.default_rng(2).uniform(0, 1, 24), 30)
    maximal = "y ~ same + distance + (1 + same + distance || person) + (1 | word)"
    paths = []
    for unit in (1, 100):
        scaled = data | {"distance": data["distance"] * unit}
        steps = reduce(maximal, scaled, criterion="converged_and_not_singular").steps
        paths.append([step.removed for step in steps])
    assert paths[0] == paths[1]


def test_grouping_factors_go_last_and_one_stays() -> None:
    """A word variance of zero: its slope and then its intercept leave, the participants' intercept never does."""
    data = trials(word_slope=0.0, word_sd=0.0)
    removed = [step.removed for step in reduce(MAXIMAL, data, criterion="converged_and_not_singular").steps]
    assert removed == [
        "",
        "all correlations between random effects",
        "the slope of same by word",
        "the slope of same by person",
        "the grouping factor word",
    ]


def test_a_reduction_that_fails_says_so() -> None:
    """One grouping factor without variance: the smallest model is given, and it does not satisfy the criterion."""
    data = trials(word_slope=0.0, word_sd=0.0)
    reduction = reduce("y ~ same + (1 + same | word)", data, criterion="converged_and_not_singular")
    assert (reduction.satisfied, reduction.fit.random_effects) == (False, "(1 | word)")


def test_a_model_that_does_not_converge_is_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without convergence of the maximal model the correlations leave, and the reason is logged."""

    def maximise(formula: Any, *arguments: Any, **options: Any) -> Any:
        found = mixed_optimum.maximise(formula, *arguments, **options)
        return replace(found, converged=not any(part.has_correlations for part in formula.random))

    monkeypatch.setattr(mixed_reduction, "maximise", maximise)
    first, second = reduce(MAXIMAL, trials(word_slope=0.6)).steps
    assert (first.converged, second.converged) == (False, True)
    assert second.reason == "the previous model did not converge"
    assert second.removed == "all correlations between random effects"


def test_an_unknown_criterion_is_refused() -> None:
    """A misspelt criterion would otherwise keep every model."""
    with pytest.raises(InputError, match="unknown criterion"):
        reduce(MAXIMAL, trials(word_slope=0.0), criterion="not_singular")  # type: ignore[arg-type]
