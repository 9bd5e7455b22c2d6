"""What subjects decided in a design: accuracies by denominator and frequency, comparisons, P(B | A) of two tests."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from lexiscope.analysis.accuracy import accuracy, share_interval
from lexiscope.analysis.bootstrap import GroupLabels
from lexiscope.analysis.choices.choice_sets import one_by_one
from lexiscope.analysis.choices.design import Cell, ChoiceDesign, cell_of
from lexiscope.analysis.choices.design_answers import (
    SubjectAnswers,
    above_baseline,
    accuracies,
    accuracies_by_frequency,
    accuracy_results,
    best_expressions,
    consistency_results,
    consistency_table,
    contrast_results,
    delta_results,
    disagreeing_tests,
    group_answers,
    group_results,
    one_by_one_results,
    pooled,
    subject_answers,
    token_delta_results,
    token_effects,
    turned_round,
)
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined
from lexiscope.datasets import mini_synonymy

CONTROLLED, RANDOM = (Cell("substitution", "", condition) for condition in ("controlled", "random"))


ITEMS = [item for item in mini_synonymy.load().items if cell_of(item) in (CONTROLLED, RANDOM)]


DESIGN = ChoiceDesign(ITEMS, resamples=0)


def answers(
    subject: str, right: Collection[int], cells: Collection[Cell] = (CONTROLLED,), measure: str = "score"
) -> SubjectAnswers:
    """Answers that are right in the items of these numbers, by one point."""
    rows = [
        Response(subject, "lm", item.item_id, "minimal_pair", measure, value, option)
        for item in ITEMS
        if cell_of(item) in cells
        for number in range(len(item.options))
        for option in ("correct" if number == 0 else f"incorrect_{number}",)
        for value in (float((number == 0) == (item.conditions["item"] in right)),)
    ]
    return subject_answers(DESIGN, ResponseTable.from_rows(rows), subject=subject)


def test_groups_of_items_are_compared() -> None:
    """Right in 3 of 4 verbs and 1 of 2 nouns; against one word at a time, the mean share of the others that lose.

    Welch's t of (1, 1, 1, 0) and (1, 0) by hand: .25 / √(.25 / 4 + .5 / 2), df = (5/16)² / ((1/16)²/3 + (1/4)²/1).
    """
    random = [item for item in ITEMS if cell_of(item) == RANDOM][:6]
    parts = dict(zip((item.item_id for item in random), ("verb",) * 4 + ("noun",) * 2, strict=True))
    items = [replace(item, conditions={**item.conditions, "part_of_speech": parts[item.item_id]}) for item in random]
    # of the ten other words so many have a lower score than the right one
    below = dict(zip(parts, (10, 10, 10, 4, 10, 5), strict=True))
    rows = [
        Response("m", "lm", item_id, "minimal_pair", "score", float(value), option)
        for item_id, n in below.items()
        for option, value in [("correct", 0.0), *((f"incorrect_{k}", -1.0 if k <= n else 1.0) for k in range(1, 11))]
    ]
    table, design = ResponseTable.from_rows(rows), ChoiceDesign(items, resamples=100)
    assert design.values_of("part_of_speech") == ("verb", "noun")
    whole = subject_answers(design, table, subject="m")
    groups = [
        group_answers(design.where("part_of_speech", part), part, table, whole)
        for part in design.values_of("part_of_speech")
    ]
    results = {
        (result.name, result.condition): result
        for result in group_results(groups, [RANDOM])
        if isinstance(result, Estimate)
    }
    cell = "substitution/random"
    values = {
        "accuracy_by_group(of=accuracy,group=verb,per=option)": 75,
        "accuracy_by_group(of=accuracy,group=noun,per=option)": 50,
        "accuracy_by_group(of=pairwise_accuracy,group=verb,per=option)": 85,
        "accuracy_by_group(of=pairwise_accuracy,group=noun,per=option)": 75,
        "group_difference(of=accuracy,first=verb,second=noun,per=option)": 25,
        "group_difference(of=pairwise_accuracy,first=verb,second=noun,per=option)": 10,
    }
    assert {name: round(result.value, 9) for (name, _), result in results.items()} == values
    moved = results["group_difference(of=accuracy,first=verb,second=noun,per=option)", cell]
    assert isinstance(moved, Estimate)
    t, df = 0.25 / math.sqrt(1 / 16 + 1 / 4), (5 / 16) ** 2 / ((1 / 16) ** 2 / 3 + (1 / 4) ** 2)
    assert moved.p == pytest.approx(2 * scipy.stats.t.sf(t, df))
    assert moved.interval.low < 25 < moved.interval.high
    assert moved.n_groups == len({item.conditions["sentence"] for item in items})


def test_tokens_against_random_words_one_by_one() -> None:
    """Of an item's ten words three have two tokens less, three as many, four three tokens more than the right one.

    In four items the right word wins against the first n words: 3, 6, 8 and 10; by hand 12 of 12 with more tokens, 9
    of 12 with as many, 6 of 16 with fewer.
    """
    items = [item for item in ITEMS if cell_of(item) == RANDOM][:4]
    below = dict(zip((item.item_id for item in items), (3, 6, 8, 10), strict=True))
    rows = []
    for item_id, n in below.items():
        scores = [("correct", 0.0, 4)]
        for k, length in enumerate((2, 2, 2, 4, 4, 4, 7, 7, 7, 7), start=1):
            scores.append((f"incorrect_{k}", -1.0 if k <= n else 1.0, length))
        for option, value, tokens in scores:
            rows += [
                Response("m", "lm", item_id, "minimal_pair", measure, float(number), option)
                for measure, number in (("score", value), ("n_tokens", tokens))
            ]
    table, design = ResponseTable.from_rows(rows), ChoiceDesign(items, resamples=200)
    options = one_by_one(table, subject="m", measure="score")
    asked = subject_answers(design, table, subject="m")
    results = {result.name: result for result in token_delta_results(design, asked, options, [RANDOM])}
    shares = {
        delta: result.value
        for delta in (-2, 0, 2)
        if isinstance(result := results[f"pairwise_accuracy(delta={delta},per=option)"], Estimate)
    }
    assert shares == pytest.approx({2: 100, 0: 75, -2: 37.5})
    assert isinstance(results["pairwise_accuracy(delta=1,per=option)"], Undefined)
    effect = results["pairwise_token_effect(per=option)"]
    assert isinstance(effect, Estimate)
    assert (effect.value, effect.n, effect.unit) == (62.5, 28, "points")
    assert effect.interval.low <= 62.5 <= effect.interval.high
    assert effect.p is not None


def test_the_kind_of_a_subject_and_the_names_of_its_statistics() -> None:
    """Outcomes are recorded, per token as published; counts are a baseline; a score is no log-probability."""
    rows = [Response("r", "lm", item.item_id, "minimal_pair", "correct", 1.0) for item in ITEMS]
    recorded = subject_answers(DESIGN, ResponseTable.from_rows(rows), subject="r", title="R")
    assert (recorded.kind, recorded.title, recorded.statistic()) == ("recorded", "R", "percent_right(per=token)")
    base, live = answers("baseline:frequency", {1}), answers("m", {1})
    assert (base.kind, live.kind) == ("baseline", "live")
    assert live.statistic("chance", of="percent_right") == "chance(of=percent_right,per=option)"
    assert live.in_cells([RANDOM, CONTROLLED]) == (CONTROLLED,)


def test_accuracies_say_whose_and_where() -> None:
    """10 of 40 right in one cell; every result names subject and cell."""
    found = answers("m", set(range(1, 11)))
    results = accuracy_results(found, accuracies(DESIGN, found))
    assert (results[0].name, results[0].value, results[0].n) == ("percent_right(per=option)", 25.0, 40)
    assert {(each.subject, each.condition) for each in results} == {("m", "substitution/controlled")}


def test_contrasts_within_a_subject_and_between_two() -> None:
    """20 right against 10 of them: 25 points; a cell without decisions gives nothing."""
    one, other = answers("a", set(range(1, 21)), (CONTROLLED, RANDOM)), answers("b", set(range(1, 11)))
    between = contrast_results(DESIGN, (one, CONTROLLED), (other, CONTROLLED))
    assert (between[0].subject, between[0].condition) == ("a vs b", "substitution/controlled")
    assert isinstance(between[0], Estimate)
    assert between[0].value == 25.0
    within = contrast_results(DESIGN, (one, CONTROLLED), (one, RANDOM))
    assert (within[0].subject, within[0].condition) == ("a", "substitution/controlled vs substitution/random")
    assert contrast_results(DESIGN, (one, RANDOM), (other, RANDOM)) == []


def test_above_a_baseline() -> None:
    """30 right against 20 of them: 25 points in the cell that both answered, with McNemar's exact p of 10 to 0."""
    base = answers("baseline:frequency", set(range(1, 21)))
    difference, exact = above_baseline(DESIGN, answers("m", set(range(1, 31)), (CONTROLLED, RANDOM)), base)
    assert isinstance(difference, Estimate)
    assert isinstance(exact, Estimate)
    assert (difference.name, difference.value, exact.name) == ("above_baseline", 25.0, "above_baseline_exact_p")
    assert exact.value == difference.p == pytest.approx(2 / 2**10)


def test_accuracy_where_the_right_word_is_more_frequent() -> None:
    """Of items 1 to 20 the right word is more frequent: 10 of them are right; one item alone is no sample."""
    subject = answers("m", set(range(1, 11)))
    base = answers("baseline:frequency", set(range(1, 21)))
    more, less = accuracies_by_frequency(DESIGN, subject, base, [CONTROLLED])
    assert isinstance(more, Estimate)
    assert isinstance(less, Estimate)
    assert (more.name, more.value, more.n) == ("accuracy_by_frequency(counts=baseline,synonym=more_frequent)", 50.0, 20)
    assert (less.value, less.n) == (0.0, 20)
    alone = accuracies_by_frequency(DESIGN, subject, answers("baseline:frequency", {1}), [CONTROLLED])[0]
    assert isinstance(alone, Undefined)
    assert alone.n == 1


def test_tests_that_come_to_other_conclusions() -> None:
    """Two contrasts; in one of them t is below .05 and the exact test is not."""
    given = [
        Estimate(name, value, subject=subject, condition="c")
        for subject, t, exact in (("a", 0.04, 0.06), ("b", 0.01, 0.02))
        for name, value in (("paired_t_p", t), ("mcnemar_p", exact))
    ]
    assert disagreeing_tests(given) == (2, [("a", "c")])


def test_consistency_of_two_cells() -> None:
    """20 right in one, the first 10 of them in the other: half of the right ones; a cell that lacks gives nothing."""
    rows, other = answers("m", set(range(1, 21))), answers("m", set(range(1, 11)))
    both = replace(rows, decided={"score": {**rows.outcomes, RANDOM: other.outcomes[CONTROLLED]}})
    design = ChoiceDesign(ITEMS, resamples=100)
    found = {each.name: each for each in consistency_results(design, both, CONTROLLED, RANDOM)}
    share = found["given(a=1,b=1)"]
    assert isinstance(share, Estimate)
    assert (share.value, share.condition) == (0.5, "substitution/controlled vs substitution/random")
    own = [label for label, right in zip(design.sentences, rows.outcomes[CONTROLLED].correct, strict=True) if right]
    expected, _ = share_interval([1] * 10 + [0] * 10, groups=GroupLabels(own, "sentences"))
    assert share.interval == expected
    assert "over=sentences" in share.interval.method
    assert consistency_results(design, rows, CONTROLLED, RANDOM) == []


def test_the_best_expression_of_a_relation() -> None:
    """Three quarters against a half: the first expression; equal ones are both named."""
    cells = [Cell("relation", expression, "controlled") for expression in ("means", "is")]
    most, half = (answers("m", set(range(1, n + 1))) for n in (30, 20))
    made = replace(most, decided={"score": {cells[0]: most.outcomes[CONTROLLED], cells[1]: half.outcomes[CONTROLLED]}})
    right = {cell: accuracy(made.outcomes[cell].correct, resamples=0) for cell in cells}
    [(compared, best)] = best_expressions(made, right, cells)
    assert compared == tuple(cells)
    assert (best.value, best.note, best.condition) == (75.0, "“means”", "relation/controlled")
    [(_, tied)] = best_expressions(made, dict.fromkeys(cells, right[cells[0]]), cells)
    assert tied.note == "“means” and “is”"


def test_a_relation_and_the_same_turned_round() -> None:
    """30 right one way and 20 of them the other: 30 of 40 decided alike; a cell without the other way is left out."""
    cell, turned = CONTROLLED, replace(CONTROLLED, suite="substitution_turned")
    forth, back = answers("m", set(range(1, 31))), answers("m", set(range(1, 21)))
    made = replace(forth, decided={"score": {cell: forth.outcomes[cell], turned: back.outcomes[cell]}})
    [(found, both)] = turned_round(made, "_turned")
    assert (found, both.n_alike) == (cell, 30)
    assert turned_round(forth, "_turned") == []


def test_accuracy_by_token_delta_allows_for_shared_sentences() -> None:
    """Two cells: decisions on one sentence vary together, in both cells; without resamples there is no interval."""
    plain = answers("m", set(range(1, 21)))
    recorded = replace(plain, kind="recorded", decided={"score": {CONTROLLED: plain.outcomes[CONTROLLED]}})
    twice = replace(recorded, decided={"score": {**recorded.outcomes, RANDOM: recorded.outcomes[CONTROLLED]}})
    released = [float(number % 2) for number in range(len(DESIGN.numbers))]
    once, both = (
        {level.delta: level for _, level in delta_results(design, given, [CONTROLLED, RANDOM], released)[1]}
        for design, given in ((ChoiceDesign(ITEMS), recorded), (ChoiceDesign(ITEMS), twice))
    )
    assert (both[0].n, both[0].accuracy) == (2 * once[0].n, once[0].accuracy)
    narrow, wide = both[0].interval, once[0].interval
    assert narrow.high - narrow.low >= wide.high - wide.low, "the same decisions again narrow no interval"
    assert "over=sentences" in narrow.method
    results, _ = delta_results(DESIGN, twice, [CONTROLLED, RANDOM], released)
    [zero] = [result for result in results if result.name == "accuracy_by_delta(delta=0)"]
    assert isinstance(zero, Estimate)
    assert zero.interval.note == "no interval: no resamples were asked for"


def test_decisions_with_their_token_deltas() -> None:
    """Right where the word has more tokens: the decisions follow; without counts there is no effect."""
    plain = answers("m", set(range(1, 21)))
    ids = plain.outcomes[CONTROLLED].item_ids
    counted = replace(plain, deltas={item_id: 1.0 if row < 20 else -1.0 for row, item_id in enumerate(ids)})
    right, deltas = pooled(counted, [CONTROLLED, RANDOM])
    assert (right.tolist(), deltas.tolist()) == ([1.0] * 20 + [0.0] * 20, [1.0] * 20 + [-1.0] * 20)
    [(_, cell, effect)] = token_effects([counted], [CONTROLLED])
    assert (cell, effect.accuracy_more, effect.accuracy_fewer, effect.follows) == (CONTROLLED, 1.0, 0.0, True)
    assert token_effects([plain], [CONTROLLED]) == []
    assert np.isnan(pooled(plain, [CONTROLLED])[1]).all()
    assert not pooled(plain, [RANDOM])[0].size


def test_counts_and_shares_of_the_papers_table_15() -> None:
    """Counts 16, 14, 49, 121: the shares are 16/30, 14/30, 49/170, 121/170 (the paper prints .57/.43 for the first)."""
    first = [0] * 30 + [1] * 170
    second = [0] * 16 + [1] * 14 + [0] * 49 + [1] * 121
    results = consistency_table(first, second)
    assert [count.value for count in results[::2]] == [16, 14, 49, 121]
    assert [round(share.value, 2) for share in results[1::2]] == [0.53, 0.47, 0.29, 0.71]
    assert [(count.n, share.n) for count, share in zip(results[::2], results[1::2], strict=True)] == [
        *((200, 30), (200, 30)),
        *((200, 170), (200, 170)),
    ]


def test_rows_add_up_to_one_and_an_empty_row_has_no_share() -> None:
    """Nothing is known of B given a wrong A where A was never wrong."""
    *_, wrong, _, right = consistency_table([1, 1, 1], [1, 0, 1])
    undefined = consistency_table([1, 1, 1], [1, 0, 1])[1:4:2]
    assert [share.reason for share in undefined] == ["no item has this outcome in the first test"] * 2
    assert wrong.value + right.value == pytest.approx(1.0)
    assert right.value == pytest.approx(2 / 3)


@pytest.mark.parametrize(("first", "second"), [([1], [1, 0]), ([], []), ([2], [1])])
def test_what_cannot_be_crossed_is_refused(first: list[int], second: list[int]) -> None:
    """Unequal columns, nothing, or values that are no decisions."""
    with pytest.raises(StatisticError):
        consistency_table(first, second)


def test_one_other_word_at_a_time() -> None:
    """Item i beats i mod 11 of ten random words (scores 1 to 10), 2 tokens against 1 to 10; its wrong word if even.

    Against all of them it is right only where i mod 11 is 10; a tie (i mod 11 is 7, raised to 8) is lost.
    """
    rows = []
    for item in ITEMS:
        number = int(item.condition("item"))
        right = 8.0 if number % 11 == 7 else number % 11 + 0.5
        values = [right, *range(1, 11)] if cell_of(item) == RANDOM else [1.0, number % 2 + 0.5]
        for place, value in enumerate(values):
            option = f"incorrect_{place}" if place else "correct"
            rows.append(Response("m", "lm", item.item_id, "minimal_pair", "score", float(value), option))
            rows.append(Response("m", "lm", item.item_id, "minimal_pair", "n_tokens", float(place or 2), option))
    table, design = ResponseTable.from_rows(rows), ChoiceDesign(ITEMS, resamples=50)
    given = subject_answers(design, table, subject="m")
    options = one_by_one(table, subject="m", measure="score")
    found = {
        (result.name.replace(",per=option", "").replace("(per=option)", ""), result.condition): result
        for result in one_by_one_results(design, given, options, (CONTROLLED, RANDOM))
    }
    beaten = [number % 11 for number in design.numbers]
    expected = {
        ("pairwise_accuracy", CONTROLLED.name): 50.0,
        ("pairwise_accuracy", RANDOM.name): 10 * np.mean(beaten),
        # one of ten words has 1 token, one has 2, eight have more
        ("pairwise_accuracy(tokens=more)", RANDOM.name): 100 * np.mean([n >= 1 for n in beaten]),
        ("pairwise_accuracy(tokens=same)", RANDOM.name): 100 * np.mean([n >= 2 for n in beaten]),
        ("pairwise_accuracy(tokens=fewer)", RANDOM.name): 100 / 8 * np.mean([max(n - 2, 0) for n in beaten]),
        ("pairwise_accuracy_difference", f"{CONTROLLED.name} vs {RANDOM.name}"): 50 - 10 * np.mean(beaten),
    }
    estimates = {key: result for key, result in found.items() if isinstance(result, Estimate)}
    assert {key: result.value for key, result in estimates.items()} == pytest.approx(expected)
    assert given.outcomes[RANDOM].correct.tolist() == [n == 10 for n in beaten]
    assert estimates["pairwise_accuracy", RANDOM.name].records()[0].low < 10 * np.mean(beaten)
