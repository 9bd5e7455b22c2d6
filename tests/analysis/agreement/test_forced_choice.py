"""Forced choice of people: accuracy, agreement, marks. All answers are made up; those of the study are not released."""

from __future__ import annotations

import math

import pytest

from lexiscope.analysis.agreement.forced_choice import forced_choice, kappa_from_margins
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined

SIDES = {f"i{k}": ("good", "bad") if k % 2 else ("bad", "good") for k in range(8)}
RIGHT = dict.fromkeys(SIDES, "good")


def table(marks: dict[str, str] | None = None, **answers: str) -> ResponseTable:
    """One letter per item: g right, b wrong, - nothing; marks: x weird."""
    words = {"g": "good", "b": "bad", "-": None}
    rows = [
        Response(who, "participant", f"i{k}", "substitution", "choice", option=words[letter])
        for who, letters in answers.items()
        for k, letter in enumerate(letters)
    ]
    rows += [
        Response(who, "participant", f"i{k}", "substitution", "flag_weird", value=float(letter == "x"))
        for who, letters in (marks or {}).items()
        for k, letter in enumerate(letters)
    ]
    return ResponseTable.from_rows(rows)


def test_accuracy_over_answered_and_over_all() -> None:
    """An empty answer is left out of the one and wrong in the other; both stand side by side."""
    (ana,), _ = forced_choice(table(ana="gggb-g--"), right=RIGHT, sides=SIDES, resamples=200)
    assert not isinstance(ana.over_answered, Undefined)
    assert (ana.over_answered.value, ana.over_answered.n) == (4 / 5, 5)
    assert (ana.over_all.value, ana.over_all.n, ana.n_unanswered) == (4 / 8, 8, 3)
    assert ana.over_all.chance == 0.5


def test_items_that_somebody_never_saw_are_unanswered() -> None:
    """The items that were asked are those of the key: a row that is missing is an answer that was not given."""
    (ana,), _ = forced_choice(table(ana="ggg"), right=RIGHT, sides=SIDES, resamples=0)
    assert (ana.n_unanswered, ana.over_all.value) == (5, 3 / 8)


def test_two_people() -> None:
    """Percent agreement and kappa on the items that both answered, on right and wrong and on the side.

    Both answered 7: right/wrong is g g b b / g b g b / ..., the counts stand in the table of the comment.
    """
    _, (pair,) = forced_choice(table(ana="ggggbb-g", eva="gggbgbgg"), right=RIGHT, sides=SIDES, resamples=200)
    for agreement in (pair.on_right, pair.on_side):
        assert not isinstance(agreement.same, Undefined)
        assert (agreement.n, agreement.same.value) == (7, 5 / 7)
    # both right 4, only ana 1, only eva 1, neither 1: expected (5·5 + 2·2) / 49
    expected = (5 * 5 + 2 * 2) / 49
    assert isinstance(pair.on_right.kappa, Estimate)
    assert pair.on_right.kappa.value == pytest.approx((5 / 7 - expected) / (1 - expected))
    # sides of ana: B A B A A B - A, of eva: B A B B B B - A (good stands second in even items)
    ana, eva = "BABAABA", "BABBBBA"
    shares = [(side.count("A") / 7) for side in (ana, eva)]
    by_side = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    assert isinstance(pair.on_side.kappa, Estimate)
    assert pair.on_side.kappa.value == pytest.approx((5 / 7 - by_side) / (1 - by_side))


def test_kappa_is_undefined_where_both_are_always_right() -> None:
    """Two people without a mistake agree on everything: kappa on right and wrong has no value, on the side it has."""
    _, (pair,) = forced_choice(table(ana="gggggggg", eva="gggggggg"), right=RIGHT, sides=SIDES, resamples=100)
    assert isinstance(pair.on_right.kappa, Undefined)
    assert isinstance(pair.on_side.kappa, Estimate)
    assert pair.on_side.kappa.value == 1


def test_weird_items() -> None:
    """Table 3: the rate of each person, how many both marked, and their share of all that were marked."""
    marks = {"ana": "xxx-----", "eva": "--xx----"}
    choosers, (pair,) = forced_choice(
        table(marks, ana="gggggggg", eva="gggggggb"), right=RIGHT, sides=SIDES, resamples=0
    )
    assert [(who.n_weird, who.over_all.n) for who in choosers] == [(3, 8), (2, 8)]
    assert (pair.weird_shared, pair.weird_either) == (1, 4)
    _, (none,) = forced_choice(table(ana="gg", eva="gb"), right=RIGHT, sides=SIDES, resamples=0)
    assert none.weird_either == 0


def test_three_people_are_three_pairs() -> None:
    """Every two people are compared."""
    _, pairs = forced_choice(table(a="ggggbbgg", b="gbgbgbgb", c="bbbbgggg"), right=RIGHT, sides=SIDES, resamples=0)
    assert [(pair.on_right.first, pair.on_right.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_what_is_refused() -> None:
    """No choices, two choices of one item, foreign items and options, no item in common, an item without a cluster."""
    twice = ResponseTable.concat([table(a="g"), table(a="b")])
    foreign = ResponseTable.from_rows([Response("a", "participant", "i0", "substitution", "choice", option="else")])
    for given, named in (
        (table({"a": "x"}), "E504"),
        (twice, "E502"),
        (foreign, "'else'"),
        (table(a="gggggggggg"), "none of the items"),
    ):
        with pytest.raises(InputError, match=named):
            forced_choice(given, right=RIGHT, sides=SIDES)
    with pytest.raises(StatisticError, match="no item in common"):
        forced_choice(table(a="gg------", b="--gg----"), right=RIGHT, sides=SIDES, resamples=0)
    with pytest.raises(InputError, match="E506"):
        forced_choice(table(a="gg"), right=RIGHT, sides=SIDES, clusters={})


def test_the_published_margins_give_no_kappa_of_46() -> None:
    """Spec §5: 88.2 and 89.5 percent right, 155 of 186 equal: kappa .16 on right/wrong, about .67 on the side."""
    assert round(kappa_from_margins(155 / 186, 164 / 186, 179 / 200), 2) == 0.16
    assert round(kappa_from_margins(155 / 186, 0.5, 0.5), 2) == 0.67
    # the printed .46 would need an agreement of
    expected = 164 / 186 * 179 / 200 + (1 - 164 / 186) * (1 - 179 / 200)
    assert round(0.46 * (1 - expected) + expected, 2) == 0.89
    # the whole sheet has 52 items that one of them marked, 7 that both did
    assert round(7 / (31 + 28 - 7), 2) == 0.13


def test_margins_that_are_none() -> None:
    """Shares outside 0 to 1, and margins under which no disagreement could happen."""
    with pytest.raises(StatisticError, match="between 0 and 1"):
        kappa_from_margins(83.3, 0.88, 0.9)
    with pytest.raises(StatisticError, match="undefined"):
        kappa_from_margins(1.0, 1.0, 1.0)
    assert math.isclose(kappa_from_margins(1.0, 0.5, 0.5), 1.0)
