"""Shares of error categories and agreement of coders. All codes are made up."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.agreement.choices import Kappa
from lexiscope.analysis.choices.gap_codes import category_shares, coder_agreement
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Undefined

CATEGORIES = ("correct", "same_field", "unrelated")
LETTERS = {"c": "correct", "f": "same_field", "u": "unrelated", "-": None}
MEASURE = "category(coder=c1,method=greedy,max_tokens=10)"


def completions(letters: str, *, per_item: int = 1) -> ResponseTable:
    rows = [
        Response("m", "causal_lm", f"i{k // per_item}", "gap_filling", MEASURE, option=LETTERS[letter], repeat=k)
        for k, letter in enumerate(letters)
    ]
    return ResponseTable.from_rows(rows)


def codes(**coders: str) -> ResponseTable:
    rows = [
        Response(who, "participant", f"a{k}", "gap_filling", "category", option=LETTERS[letter])
        for who, letters in coders.items()
        for k, letter in enumerate(letters)
    ]
    return ResponseTable.from_rows(rows)


def test_shares_add_up() -> None:
    """Figure 3: every coded answer has one category; those without a code are counted beside."""
    found = category_shares(completions("ccfu-fff"), MEASURE, CATEGORIES, subject="m", resamples=200)
    assert [(each.category, each.n) for each in found.shares] == [("correct", 2), ("same_field", 4), ("unrelated", 1)]
    assert [each.share.value for each in found.shares] == [2 / 7, 4 / 7, 1 / 7]
    assert (found.n, found.n_uncoded) == (7, 1)


def test_answers_to_one_item_are_one_cluster() -> None:
    """Ten answers to an item are not ten observations: without clusters items are resampled."""
    tens = category_shares(completions("c" * 20 + "u" * 20, per_item=10), MEASURE, CATEGORIES, subject="m")
    assert tens.shares[0].share.n_clusters == 4
    one = {f"i{k}": f"s{k // 2}" for k in range(4)}
    with_sentences = category_shares(
        completions("c" * 20 + "u" * 20, per_item=10), MEASURE, CATEGORIES, subject="m", clusters=one
    )
    assert with_sentences.shares[0].share.n_clusters == 2


def test_two_coders() -> None:
    """Percent agreement, kappa and the table of both, rows the first coder's; of each category its own agreement."""
    found = coder_agreement(codes(ana="ccffu-", eva="cfffuu"), "ana", "eva", CATEGORIES, resamples=200)
    assert (found.percent.value, found.percent.n, found.n_missing) == (4 / 5, 5, 1)
    assert found.table.tolist() == [[1, 1, 0], [0, 2, 0], [0, 0, 1]]
    # one answer of the two that either called correct; two of three; one of one
    assert found.by_category == (1 / 2, 2 / 3, 1.0)
    expected = (2 * 1 + 2 * 3 + 1 * 1) / 25
    assert isinstance(found.kappa, Kappa)
    assert found.kappa.value == pytest.approx((4 / 5 - expected) / (1 - expected))


def test_a_category_that_nobody_used() -> None:
    """Its agreement is missing, not 0; where both always gave one category kappa has no value."""
    found = coder_agreement(codes(ana="cccc", eva="cccc"), "ana", "eva", CATEGORIES, resamples=100)
    assert found.by_category == (1.0, None, None)
    assert isinstance(found.kappa, Undefined)
    assert np.array_equal(found.table, np.diag([4, 0, 0]))


def test_what_is_refused() -> None:
    """Unknown coders, categories and clusters; an answer coded twice; no answer in common."""
    with pytest.raises(InputError, match="E504"):
        coder_agreement(codes(ana="cc"), "ana", "eva", CATEGORIES)
    with pytest.raises(InputError, match="'unrelated' is no category"):
        coder_agreement(codes(ana="cu", eva="cc"), "ana", "eva", CATEGORIES[:2])
    twice = ResponseTable.concat([codes(ana="cc"), codes(ana="c", eva="cc")])
    with pytest.raises(InputError, match="E502"):
        coder_agreement(twice, "ana", "eva", CATEGORIES)
    with pytest.raises(StatisticError, match="in common"):
        coder_agreement(codes(ana="c-", eva="-c"), "ana", "eva", CATEGORIES)
    with pytest.raises(StatisticError, match="no answer"):
        category_shares(completions("--"), MEASURE, CATEGORIES, subject="m")
    with pytest.raises(InputError, match="E504"):
        category_shares(completions("cc"), MEASURE, CATEGORIES, subject="n")
    with pytest.raises(InputError, match="E506"):
        category_shares(completions("cc"), MEASURE, CATEGORIES, subject="m", clusters={})


def test_shares_are_results_in_percent() -> None:
    """2 and 5 of 7: percent of the coded answers, whose they are, an interval."""
    found = category_shares(completions("ccfffff"), MEASURE, CATEGORIES, subject="m", resamples=50).results()
    assert [each.name for each in found[:2]] == ["gap_category(category=correct)", "gap_category(category=same_field)"]
    assert [each.value for each in found] == [pytest.approx(100 * n / 7) for n in (2, 5, 0)]
    assert (found[0].subject, found[0].n, found[0].interval.is_defined) == ("m", 7, True)
