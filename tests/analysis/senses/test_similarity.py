"""Similarities beside ratings: how many pairs a correlation rests on, and what it resamples."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.senses.similarity import similarity_correlation, similarity_results
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.report.pivot import records_of


def test_a_correlation_says_how_many_pairs_it_rests_on() -> None:
    """rho is over covered pairs only; n, the interval and the name of the similarity are in the result."""
    x = np.array([0.2, np.nan, 0.4, 0.3, 0.9, 0.8])
    y = np.array([1.0, 9.0, 2.0, 3.0, 5.0, 4.0])
    found = similarity_correlation(x, y, measure="avg_sim_c", resamples=200, seed=3)
    # ranks 1 3 2 5 4 and 1 2 3 5 4: two differences of 1
    assert found.value == pytest.approx(100 * (1 - 6 * 2 / (5 * 24)))
    assert found.n == 5
    assert found.interval.low <= found.value <= found.interval.high
    assert found.name == "spearman_x100(similarity=avg_sim_c)"
    assert found == similarity_correlation(x, y, measure="avg_sim_c", resamples=200, seed=3)


@pytest.mark.parametrize("groups", [None, ["a", "b", "a", "c", "b", "c"]])
def test_the_interval_resamples_pairs_or_groups(groups: list[str] | None) -> None:
    """Groups change the interval, not the value."""
    x, y = [0.1, 0.2, 0.3, 0.5, 0.4, 0.6], [1.0, 2.0, 4.0, 3.0, 5.0, 6.0]
    found = similarity_correlation(x, y, measure="max_sim", groups=groups, resamples=50)
    # ranks 1 2 3 5 4 6 and 1 2 4 3 5 6: squared differences 1 + 4 + 1
    assert found.value == pytest.approx(100 * (1 - 6 * 6 / (6 * 35)))


def test_uncovered_pairs_count_where_they_are_given_a_similarity() -> None:
    """With uncovered=0 the pair that has no similarity is in the ranks, and in n."""
    found = similarity_correlation([0.1, np.nan, 0.4, 0.3], [1, 2, 4, 3], measure="max_sim", uncovered=0, resamples=20)
    # ranks 2 1 4 3 and 1 2 4 3: two differences of 1
    assert found.value == pytest.approx(100 * (1 - 6 * 2 / (4 * 15)))
    assert found.n == 4


def test_too_few_pairs_are_refused() -> None:
    """Two covered pairs have no correlation."""
    with pytest.raises(StatisticError, match="only 2 values"):
        similarity_correlation([0.1, 0.2, np.nan], [1, 2, 3], measure="max_sim")


def test_every_subject_has_coverage_and_two_correlations_a_measure() -> None:
    """Of four pairs one is not covered: over three, and over four with 0; a constant similarity is undefined, with why.

    One word alone cannot be resampled: there is no interval.
    """
    ids, means = ["i", "j", "k", "l"], [1.0, 2.0, 4.0, 3.0]
    values = {"a": [0.1, None, 0.4, 0.3], "b": [0.5, 0.5, 0.5, 0.5]}
    rows = [
        Response(who, "gasi", item_id, "relatedness", "max_sim", value)
        for who, own in values.items()
        for item_id, value in zip(ids, own, strict=True)
    ]
    asked = {"subjects": ["a", "b"], "measures": ["max_sim"], "resamples": 20}
    pairs = list(zip(ids, means, strict=True))
    found = records_of(similarity_results(ResponseTable.from_rows(rows), pairs, words=["x", "x", "y", "z"], **asked))
    assert [(one.subject, one.statistic, one.n) for one in found] == [
        ("a", "coverage", 4),
        ("a", "spearman_x100(similarity=max_sim)", 3),
        ("a", "spearman_x100(similarity=max_sim,uncovered=0)", 4),
        ("b", "coverage", 4),
        ("b", "spearman_x100(similarity=max_sim)", None),
        ("b", "spearman_x100(similarity=max_sim,uncovered=0)", None),
    ]
    assert [one.value for one in found[:3]] == [75.0, pytest.approx(100), pytest.approx(100 * (1 - 6 * 2 / (4 * 15)))]
    assert "of 20 resamples" in found[1].note
    assert found[4].note.startswith("undefined: ")
    alone = records_of(similarity_results(ResponseTable.from_rows(rows), pairs, words=["x"] * 4, **asked))
    assert alone[1].value == pytest.approx(100)
    assert alone[1].note == "no interval: no resamples were asked for"
