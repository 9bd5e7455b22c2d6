"""Likelihood-ratio tests in one line: what they rest on, and how many more there are."""

from __future__ import annotations

from lexiscope.core.result import Record
from lexiscope.report.parts.mixed_tables import ratio_tests_in_words


def test_several_tests_have_their_names_and_the_rest_is_counted() -> None:
    """Tests of two models have no subject, so each has its name; an undefined one is no result; no p is 0."""
    effects = "random effects: (1 | Word); a remark"
    records = [
        Record("chi2(test=same,df=1)", 2000.0, p=0.0, note=effects),
        Record("chi2(test=type_interaction,df=2)", 8.0, p=0.018, note="no remark"),
        Record("chi2(test=gone,df=1)", None, note="undefined: no distances"),
        Record("log_likelihood(test=same,model=full)", -12.0),
        Record("chi2(test=distance,df=1)", 3.25, subject="m", layer=6, p=0.071),
    ]
    first = "same: χ²(1) = 2000.00, p < 1e-300 (random effects: (1 | Word)); type interaction: χ²(2) = 8.00, p = 0.018"
    assert ratio_tests_in_words(records) == f"{first}; distance (m, layer 6): χ²(1) = 3.25, p = 0.071"
    assert ratio_tests_in_words(records, most=2) == f"{first}; and 1 more"
    assert ratio_tests_in_words([]) == ""


def test_random_effects_of_all_tests_are_said_once() -> None:
    """Two tests on the same random effects name them at the end."""
    records = [
        Record(f"chi2(test={name},df=1)", 9.0, p=0.0027, note="random effects: (1 | Word)") for name in ("a", "b")
    ]
    line = "a: χ²(1) = 9.00, p = 0.0027; b: χ²(1) = 9.00, p = 0.0027 (all with random effects: (1 | Word))"
    assert ratio_tests_in_words(records) == line
