"""Shares of error categories and agreement of coders. All codes are made up."""

from __future__ import annotations

import pytest

from lexiscope.analysis.choices.gap_answers import category_shares, coder_agreement
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined

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
    """Figure 3: every coded answer has one category; those without a code do not count."""
    found = category_shares(completions("ccfu-fff"), MEASURE, CATEGORIES, subject="m", resamples=200)
    assert [share.value for share in found] == [pytest.approx(100 * n / 7) for n in (2, 4, 1)]
    assert {share.n for share in found} == {7}


def test_answers_to_one_item_are_one_cluster() -> None:
    """Ten answers to an item are not ten observations: without clusters items are resampled."""
    tens = category_shares(completions("c" * 20 + "u" * 20, per_item=10), MEASURE, CATEGORIES, subject="m")
    assert tens[0].n_groups == 4
    one = {f"i{k}": f"s{k // 2}" for k in range(4)}
    with_sentences = category_shares(
        completions("c" * 20 + "u" * 20, per_item=10), MEASURE, CATEGORIES, subject="m", clusters=one
    )
    assert with_sentences[0].n_groups == 2


def test_two_coders() -> None:
    """Percent agreement and kappa of the five answers that both coded; the sixth was coded by one of them."""
    same, kappa = coder_agreement(codes(ana="ccffu-", eva="cfffuu"), "ana", "eva", CATEGORIES, resamples=200)
    assert (same.value, same.n) == (4 / 5, 5)
    expected = (2 * 1 + 2 * 3 + 1 * 1) / 25
    assert isinstance(kappa, Estimate)
    assert kappa.value == pytest.approx((4 / 5 - expected) / (1 - expected))


def test_a_category_that_nobody_used() -> None:
    """Where both always gave one category kappa has no value."""
    same, kappa = coder_agreement(codes(ana="cccc", eva="cccc"), "ana", "eva", CATEGORIES, resamples=100)
    assert same.value == 1.0
    assert isinstance(kappa, Undefined)


def test_what_is_refused() -> None:
    """Unknown coders, categories and clusters; an answer coded twice; no answer in common."""
    with pytest.raises(InputError, match="E504"):
        coder_agreement(codes(ana="cc"), "ana", "eva", CATEGORIES)
    with pytest.raises(InputError, match="'unrelated' is not a category"):
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
    found = category_shares(completions("ccfffff"), MEASURE, CATEGORIES, subject="m", resamples=50)
    assert [each.name for each in found[:2]] == ["gap_category(category=correct)", "gap_category(category=same_field)"]
    assert [each.value for each in found] == [pytest.approx(100 * n / 7) for n in (2, 5, 0)]
    assert (found[0].subject, found[0].n, found[0].interval.is_defined) == ("m", 7, True)
