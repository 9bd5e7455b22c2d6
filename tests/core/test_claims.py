"""Claims of a paper: how rules are read, and what the numbers of a run say to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.claims import Claim, check_claims, parse_rule
from lexiscope.core.errors import InputError
from lexiscope.core.result import AtMost, Record
from lexiscope.report.page.comparison import claims_table
from lexiscope.studies.kit.study import read_claims

HEADER = "dataset,claim,place,question,rule,unavailable\n"


def judged(rule: str, *records: Record) -> tuple[str, str]:
    """Outcome and numbers of one claim about the dataset ``d``."""
    (checked,) = check_claims([Claim("It is so.", "§1", "Q1", ("d",), parse_rule(rule))], records)
    return checked.outcome, checked.evidence


def number(value: float | None, statistic: str = "r", **more: object) -> Record:
    return Record(statistic, value, **({"dataset": "d"} | more))  # type: ignore[arg-type]


# -- reading --------------------------------------------------------------------------------------------------------


def test_a_rule_names_statistics_with_their_parameters_and_what_they_are_of() -> None:
    """Parameters may hold signs and brackets; values with spaces or commas are quoted; numbers may begin with a dot."""
    rule = (
        "mean of icc(of=alpha(level=interval),ratings=5)[subject=bert-*,layer!=12] < .5 and "
        "fit(model=norm~distance*layer)[condition='test, same=True'] > -1 with p < .05 and p of b[view=full+stop] > 0.1"
    )
    first, second, third = parse_rule(rule)
    assert (first.left.of, first.left.statistic) == ("mean", "icc(of=alpha(level=interval),ratings=5)")
    assert [(each.field, each.pattern, each.equal) for each in first.left.filters] == [
        ("subject", "bert-*", True),
        ("layer", "12", False),
    ]
    assert (first.sign, first.right.number) == ("<", 0.5)
    assert parse_rule(" and ".join(map(str, parse_rule(rule)))) == parse_rule(rule), "a rule prints as it is read"
    assert (second.left.statistic, second.right.number, second.level) == ("fit(model=norm~distance*layer)", -1.0, 0.05)
    assert (second.left.filters[0].pattern, third.left.of, third.left.filters[0].pattern) == (
        "test, same=True",
        "p",
        "full+stop",
    )


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("r", "expected < or > after r, at the end"),
        ("r = 3", "expected < or > after r, before '= 3'"),
        ("r >", "expected a number or a statistic, at the end"),
        ("r > 1 s", "expected `and`, or the end of the rule, before 's'"),
        ("r > 1 and", "expected a number or a statistic, at the end"),
        ("1 < 2", "it compares two numbers"),
        ("r[word=x] > 1", "expected a field (dataset, subject, layer, view, condition), before 'word=x"),
        ("r[layer] > 1", "expected = or != after layer"),
        ("r[layer=] > 1", "expected a value, in single quotes"),
        ("r[layer=1 > 1", "expected a comma or ] after a filter"),
        ("r(a=1 > 1", "a bracket is not closed"),
        ("r(a) > 1", "is not the name of a statistic"),
        ("__import__('os').system('x') > 1", "is not the name of a statistic"),
        ("p of r > s", "its level on the right"),
        ("r > p of s", "its level on the right"),
        ("mean of 3 > r", "`mean of` is followed by a number"),
        ("p of r < .05 with p < .05", "`with p` needs a result on the left"),
        ("for most", "expected a number or a statistic, at the end"),
        ("r > 1 for most", "expected `and`, or the end of the rule, before 'for most'"),
    ],
)
def test_a_rule_that_does_not_parse_names_its_line_and_what_is_allowed(rule: str, what: str, tmp_path: Path) -> None:
    """The error names file, line, where in the rule reading stopped, and what a rule is; nothing is evaluated."""
    path = tmp_path / "claims.csv"
    path.write_text(HEADER + f'd,It is so.,§1,Q1,"{rule}",\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_claims(path, dataset="d")
    text = str(caught.value)
    assert f"{path}:2: this is not a rule: " in text
    assert what in text
    assert "a rule is TERM < TERM or TERM > TERM" in text


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("d,,§1,Q1,r > 1,", "its claim"),
        ("d,It is so.,,Q1,r > 1,", "its place"),
        ("d,It is so.,§1,,r > 1,", "its question"),
        ("d,It is so.,§1,Q1,,", "either a rule, or the reason"),
        ("d,It is so.,§1,Q1,r > 1,never released", "either a rule, or the reason"),
        ("d,It is so.,§1,Q1", "the header names 6"),
    ],
)
def test_a_faulty_claim_names_its_line(row: str, what: str, tmp_path: Path) -> None:
    """A claim has a text, a place, a question, and either a rule or the reason why it cannot have one."""
    path = tmp_path / "claims.csv"
    path.write_text(f"{HEADER}{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"claims\.csv:2(?s:.)*{what}"):
        read_claims(path, dataset="d")


def test_claims_are_listed_by_dataset(tmp_path: Path) -> None:
    """An empty dataset is the study's own; a claim about two datasets is listed under both, as the same claim."""
    path = tmp_path / "claims.csv"
    path.write_text(f"{HEADER},A.,§1,Q1,r > 1,\nx y,B.,§2,Q2,,never released\n", encoding="utf-8")
    claims = read_claims(path, dataset="own")
    assert {name: [claim.text for claim in own] for name, own in claims.items()} == {
        "own": ["A."],
        "x": ["B."],
        "y": ["B."],
    }
    assert claims["x"] == claims["y"]


# -- checking -------------------------------------------------------------------------------------------------------


def test_a_number_is_compared_with_a_fixed_one_by_its_interval() -> None:
    """The interval has to leave out the fixed number: on the right side it holds, on the wrong side it is reversed."""
    high, low, around = ({"low": a, "high": b} for a, b in ((0.1, 0.5), (-0.5, -0.1), (-0.1, 0.5)))
    assert judged("r > 0", number(0.3, **high)) == ("holds", "0.3 [0.1, 0.5] > 0")
    assert judged("0 < r", number(0.3, **high)) == ("holds", "0 < 0.3 [0.1, 0.5]")
    assert judged("r > 0", number(-0.3, **low)) == ("reversed", "−0.3 [−0.5, −0.1] < 0")
    assert judged("r > 0", number(0.3, **around)) == ("not shown", "0.3 [−0.1, 0.5] > 0")
    assert judged("r > 0", number(0.3)) == ("holds", "0.3 > 0")
    assert judged("r > 0", number(0.0)) == ("not shown", "0 = 0")


def test_two_results_differ_where_the_interval_of_their_difference_excludes_0() -> None:
    """Of a and b that is a − b ± the root of the squared distances to the ends that lie between them (Zou & Donner)."""
    rule, other = "r[subject=a] > r[subject=b]", "r[subject=a] < r[subject=b]"
    first, second = number(0.5, subject="a", low=0.43, high=0.9), number(0.4, subject="b", low=0.1, high=0.47)
    # √(.07² + .07²) = .099 < .1, although the intervals overlap; √(.07² + .08²) = .106
    assert judged(rule, first, second) == ("holds", "0.5 [0.43, 0.9] > 0.4 [0.1, 0.47]")
    assert judged(other, first, second)[0] == "reversed"
    for wider in ((replace(first, low=0.42), second), (first, replace(second, high=0.48))):
        assert judged(rule, *wider)[0] == judged(other, *wider)[0] == "not shown"
    # without an interval a number counts as exact
    bare = [replace(record, low=None, high=None) for record in (first, second)]
    assert judged(rule, *bare) == ("holds", "0.5 > 0.4")
    assert judged(rule, bare[0], replace(second, high=0.49))[0] == "holds"
    assert judged(rule, bare[0], replace(second, high=0.51))[0] == "not shown"


def test_an_interval_without_bounds_shows_nothing() -> None:
    """A set of ratios without bounds may hold any number; intervals that were not asked for are only missing."""
    open_ended = replace(number(3.0), note="no bounded interval: values below −1.00 or above 2.00 agree with the data")
    assert judged("r > 1", open_ended)[0] == "not shown"
    assert judged("r > 1", replace(open_ended, note="no interval: no resamples were asked for"))[0] == "holds"


def test_the_same_pattern_on_both_sides_is_the_same_value() -> None:
    """Each subject is compared with itself; two patterns compare all that fit the one with all that fit the other."""
    records = [number(v, subject=s) for s, v in (("m1", 1.0), ("m2", 2.0), ("p1", 3.0), ("p2", 4.0))]
    assert judged("r[subject=m*] < r[subject=p*]", *records)[1].startswith("4 of 4 comparisons")
    assert judged("r[subject=m*] < r[subject=m*]", *records)[0] == "not shown"


def test_a_test_that_is_not_significant_shows_nothing() -> None:
    """A p value above its level takes from a direction what it shows; it never reverses a claim."""
    assert judged("p of r < .05", number(2.0, p=0.01)) == ("holds", "p = .010 < .05")
    assert judged("p of r < .05", number(2.0, p=0.2)) == ("not shown", "p = .200 > .05")
    assert judged("r > 0 with p < .05", number(2.0, p=0.01)) == ("holds", "2 > 0 (p = .010)")
    assert judged("r > 0 with p < .05", number(2.0, p=0.2)) == ("not shown", "2 > 0 (p = .200)")
    # the paper's claim is about the p of one test; that of its family stands next to it
    among = replace(number(2.0, p=0.03), p_adjusted=0.12, family="size(method=holm,tests=4)")
    assert judged("p of r < .05", among) == ("holds", "p = .030 < .05, adjusted by Holm over 4 tests p = .120")
    assert judged("r > 0 with p < .05", among) == ("holds", "2 > 0 (p = .030, adjusted by Holm over 4 tests p = .120)")
    assert judged("r > 0 with p < .05", number(-2.0, p=0.01)) == ("reversed", "−2 < 0 (p = .010)")
    # a p is printed as everywhere: never as 0 or 1
    assert judged("p of r < .05", number(2.0, p=1e-10))[1] == "p < .001"
    assert judged("p of r > .05", number(2.0, p=1.0))[1] == "p > .999"
    assert judged("r > 0 and p of r < .05", number(2.0, p=0.2))[0] == "not shown"
    assert judged("r > 0 and p of r < .05", number(-2.0, p=0.2))[0] == "not shown"
    assert judged("r > 0 and p of r < .05", number(-2.0, p=0.01))[0] == "reversed", "a test has no direction"
    pair = (number(2.0, subject="a", p=0.01), number(2.0, subject="b", p=0.2))
    assert judged("r[subject=*] > 0 and p of r[subject=*] < .05", *pair)[0] == "holds in part"
    # "no significant difference" is contradicted by a significant one
    assert judged("p of r > .05", number(2.0, p=0.01))[0] == "reversed"
    # some tests keep their p value as a number of its own
    for name in ("t_p(delta=1)", "rank_sum(of=sd,value=p)", "p(of=slope)"):
        assert judged(f"p of {name} < .05", number(0.01, name))[0] == "holds"
    assert judged("p of r < .05", number(2.0)) == ("cannot be tested", "r has no p value")
    assert judged("r > 0 with p < .05", number(2.0)) == ("cannot be tested", "r has no p value")


def test_a_claim_decided_by_one_p_says_what_its_family_decides() -> None:
    """The paper's p of .03 is .12 among four tests: it holds by p, not after Holm; p of a record of its own as well."""

    def status(rule: str, *records: Record) -> str:
        (checked,) = check_claims([Claim("It is so.", "§1", "Q1", ("d",), parse_rule(rule))], records)
        (row,) = claims_table([checked]).rows
        assert checked.status in row
        return checked.status

    four = {"p_adjusted": 0.12, "family": "size(method=holm,tests=4)"}
    among = number(2.0, p=0.03, **four)
    assert status("p of r < .05", among) == "holds (p), not after Holm over 4 tests"
    assert status("r > 0 with p < .05", among) == "holds (p), not after Holm over 4 tests"
    assert status("p of t_p < .05", number(0.03, "t_p", **four)) == "holds (p), not after Holm over 4 tests"
    # "no difference" is contradicted by one p, not by the p of its family
    assert status("p of r > .05", among) == "reversed (p), holds after Holm over 4 tests"
    sure = number(3.0, subject="b", p=0.001, p_adjusted=0.004, family=four["family"])
    both = status("p of r[subject=*] < .05", replace(among, subject="a"), sure)
    assert both == "holds (p), holds in part after Holm over 4 tests"
    # where both decide alike, or there is no family, the outcome stands alone
    assert status("p of r < .05", replace(sure, subject="")) == "holds"
    assert status("r > 1", among) == "holds"
    assert status("p of r < .05", number(2.0, p=0.03)) == "holds"
    # a p at the floor of its draws is one here, too
    floor = number(2.0, p=AtMost(0.01))
    assert judged("r > 0 with p < .05", floor)[1] == "2 > 0 (p ≤ .010)"


def test_a_claim_about_most_models_needs_more_than_half() -> None:
    """More than half of the comparisons decide: half is not most, whether they hold or are reversed."""
    values = {"a": 1.0, "b": 2.0, "c": -1.0, "d": -2.0}

    def outcome(names: str, rule: str = "for most r[subject=*] > 0", **more: object) -> str:
        return judged(rule, *(number(values[name], subject=name, **more) for name in names))[0]

    assert [outcome(names) for names in ("ab", "abc", "abcd", "acd", "cd", "a", "c")] == [
        "holds",
        "holds",
        "not shown",
        "reversed",
        "reversed",
        "holds",
        "reversed",
    ]
    assert outcome("abc", "r[subject=*] > 0") == "holds in part", "without `for most` it is claimed of each"
    assert outcome("abc", "for most r[subject=*] > 0 and r[subject=a] > 3") == "not shown"
    # what an interval leaves open counts for neither side
    assert outcome("abc", low=-9.0, high=9.0) == "not shown"
    rule = "for most r[subject=*] > 0"
    assert str(parse_rule(rule)[0]) == rule
    found = judged(rule, *(number(values[name], subject=name) for name in "abc"))[1]
    assert found == "2 of 3 comparisons; reversed for c (−1 < 0)"


def test_a_claim_about_each_model_names_those_for_which_it_is_not_so() -> None:
    """``*`` on both sides is the same model; a claim that is so for some of several holds in part."""
    records = [
        number(v, subject=s, layer=n)
        for s, *pair in (("a", 1, 2), ("b", 1, 3), ("c", 2, 1))
        for n, v in zip((1, 2), pair, strict=True)
    ]
    rule = "r[subject=*,layer=1] < r[subject=*,layer=2]"
    assert judged(rule, *records[:4]) == ("holds", "2 of 2 comparisons, the closest 1 < 2")
    assert judged(rule, *records) == ("holds in part", "2 of 3 comparisons; reversed for c (2 > 1)")
    assert judged(rule, *records[4:]) == ("reversed", "2 > 1")
    assert (
        judged(
            "r[subject=*,layer=1] > 1.5",
            *(number(v, subject=s, layer=1, low=v - 1, high=v + 1) for v, s in ((1, "a"), (0, "b"))),
        )[0]
        == "not shown"
    )
    clear = (number(2.0, subject="a", low=1, high=3), number(0.5, subject="b", low=-1, high=2))
    assert judged("r[subject=*] > 0", *clear) == (
        "holds in part",
        "1 of 2 comparisons; not shown for b (0.5 [−1, 2] > 0)",
    )
    assert judged("r[subject=c,layer=1] > r[subject!=c,layer=1]", *records) == (
        "holds",
        "2 of 2 comparisons, the closest 2 > 1",
    )
    assert judged("mean of r[subject=*,layer=2] > mean of r[subject=*,layer=1]", *records)[1] == "2 > 1.33"
    assert judged("mean of r[subject=*,layer=2] > r[subject=b,layer=1]", *records)[1] == "2 > 1"


def test_what_cannot_be_tested_says_why() -> None:
    """No record, a record without a value, several records where one is meant, simulated people, no data at all."""
    assert judged("r > s", number(1.0)) == ("cannot be tested", "this run has no s")
    assert judged("r > 0", number(None, note="undefined: constant")) == ("cannot be tested", "undefined: constant")
    both = (number(1.0, layer=1, view="full"), number(2.0, layer=2, view="full"))
    assert judged("r > 0", *both) == ("cannot be tested", "r is several numbers, which differ in layer")
    assert judged("r > 0", number(1.0, people="simulated")) == (
        "cannot be tested",
        "the judgments of this run are those of simulated participants",
    )
    assert judged("r > 0", Record("r", 1.0, dataset="another")) == ("cannot be tested", "this run has no r")
    (never,) = check_claims([Claim("It is so.", "§1", "Q1", ("d",), unavailable="never released")], [number(1.0)])
    assert (never.outcome, never.evidence) == ("cannot be tested", "never released")
    one_side = (number(1.0, subject="a", layer=1), number(1.0, subject="b", layer=2))
    assert judged("r[subject=*,layer=1] > r[subject=*,layer=2]", *one_side) == (
        "cannot be tested",
        "no subject has both r[subject=*,layer=1] and r[subject=*,layer=2]",
    )


def test_records_without_a_value_do_not_hide_those_that_have_one() -> None:
    """Of several records, those without a value are left out: a printed number without data is no evidence."""
    records = (number(1.0, subject="a"), number(None, subject="b", note="never released"))
    assert judged("r[subject=*] > 0", *records) == ("holds", "1 > 0")
    undefined = number(None, subject="c", note="undefined: constant")
    assert judged("r[subject=*] > 0", *records, undefined) == ("holds", "1 > 0; undefined for c")


values = st.floats(-9, 9).map(lambda value: round(value, 2))


@given(st.lists(st.tuples(values, st.floats(0, 3)), min_size=1, max_size=5), values, st.booleans())
def test_the_opposite_claim_is_reversed_where_the_claim_holds(
    found: list[tuple[float, float]], fixed: float, interval: bool
) -> None:
    """Turning < into > turns holds into reversed and back, with intervals and without, for one model and for each."""
    records = [
        number(value, subject=str(n), **({"low": value - half, "high": value + half} if interval else {}))
        for n, (value, half) in enumerate(found)
    ]
    for left, right in (("r[subject=*]", str(fixed)), ("r[subject=*]", "r[subject=0]")):
        above, _ = judged(f"{left} > {right}", *records)
        below, _ = judged(f"{left} < {right}", *records)
        assert (above == "holds") == (below == "reversed")
        assert (above == "reversed") == (below == "holds")
