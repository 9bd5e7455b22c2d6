"""Accuracy of gap filling: single and any of ten, nested criteria, and the t that the study prints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lexiscope.analysis.choices.gap_answers import GapHits, every_gap_hits, gap_accuracy, gap_contrast, gap_hits
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable

MEASURE = "answer_found(answers=curated,match=words,forms=exact,multiword=accepted,method=sample,n=10)"


def table(values: list[list[float]], **more: object) -> ResponseTable:
    """One list of predictions per item: 1 right, 0 wrong, NaN missing."""
    flat = [value for item in values for value in item]
    ids = [f"i{k}" for k, item in enumerate(values) for _ in item]
    repeats = [k for item in values for k in range(len(item))]
    columns = {
        "subject_id": "m",
        "subject_kind": "causal_lm",
        "task": "gap_filling",
        "measure": MEASURE,
        "view": "full",
    }
    return ResponseTable.from_columns({**columns, "item_id": ids, "repeat": repeats, "value": flat, **more})


def hits(n: int, right: int, measure: str = MEASURE) -> GapHits:
    """The first *right* of *n* items are right, in one prediction."""
    flags = (np.arange(n) < right).astype(np.float64)
    return GapHits("m", measure, tuple(f"i{k}" for k in range(n)), flags, flags.astype(np.int64), 1, 0)


def test_any_prediction_suffices() -> None:
    """Y16: with ten predictions an item is right where any of them is; the mean over predictions stands beside."""
    found = gap_hits(table([[0] * 9 + [1], [0] * 10, [1] * 10, [1] + [0] * 9]), MEASURE, subject="m")
    assert found.hit.tolist() == [1, 0, 1, 1]
    assert (found.n_predictions, found.n_right.tolist()) == (10, [1, 0, 10, 1])
    result = gap_accuracy(found, resamples=200)
    assert result.value == 75
    assert result.note == f"{100 * (1 + 0 + 10 + 1) / 40:.1f} % of single predictions"


def test_a_missing_prediction_leaves_the_item_out_and_is_counted() -> None:
    """What was not given is neither right nor wrong."""
    found = gap_hits(table([[1, math.nan], [0, 0], [0, 1]]), MEASURE, subject="m")
    assert (found.item_ids, found.n_missing) == (("i1", "i2"), 1)
    with pytest.raises(StatisticError, match="no item"):
        gap_accuracy(gap_hits(table([[math.nan]]), MEASURE, subject="m"))


def test_tables_that_cannot_be_compared_are_refused() -> None:
    """Unequal numbers of predictions, the same prediction in two views, and another subject are named."""
    with pytest.raises(InputError, match="from 1 to 2 predictions"):
        gap_hits(table([[1, 0], [1]]), MEASURE, subject="m")
    twice = ResponseTable.concat([table([[1, 0]]), table([[1, 0]], view="word")])
    with pytest.raises(InputError, match="comes twice"):
        gap_hits(twice, MEASURE, subject="m")
    with pytest.raises(InputError, match="E504"):
        gap_hits(table([[1]]), MEASURE, subject="other")


@pytest.mark.parametrize("more", [1, 7, 15, 40])
def test_nested_criteria_have_the_t_of_the_closed_form(more: int) -> None:
    """Spec §5: with n more of 200 items right under the wider criterion, t = -sqrt(199 n / (200 - n))."""
    found = gap_contrast(hits(200, 30), hits(200, 30 + more), resamples=0)
    assert (found.only_first, found.only_second) == (0, more)
    assert found.t is not None
    assert found.t.statistic == pytest.approx(-math.sqrt(199 * more / (200 - more)), rel=1e-12)
    assert found.exact is not None
    assert found.exact.p == pytest.approx(2 * 0.5**more, rel=1e-9)


def test_the_printed_t_is_fifteen_items() -> None:
    """Spec §5: t = -4.02 (OLMo-7B, curated against synset) is 15 items; 14 and 16 print otherwise."""
    printed = {n: round(-math.sqrt(199 * n / (200 - n)), 2) for n in (14, 15, 16)}
    assert printed == {14: -3.87, 15: -4.02, 16: -4.16}
    found = gap_contrast(hits(200, 20), hits(200, 35), resamples=0)
    assert found.t is not None
    assert round(found.t.statistic, 2) == -4.02
    assert found.difference == pytest.approx(-0.075)


def test_intervals_resample_sentences() -> None:
    """Items of one sentence move together: with all copies in one cluster the interval is that of the clusters.

    But for the t quantile of 40 clusters in the place of the normal one: 2 % of the bounds.
    """
    one, three = hits(40, 20), hits(120, 0)
    flags = np.tile(one.hit, 3)
    copied = GapHits("m", MEASURE, three.item_ids, flags, flags.astype(np.int64), 1, 0)
    clusters = {f"i{k}": f"s{k % 40:02}" for k in range(120)}
    alone = gap_accuracy(one, clusters={f"i{k}": f"s{k:02}" for k in range(40)}).interval
    together = gap_accuracy(copied, clusters=clusters).interval
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high), rel=0.02)
    with pytest.raises(InputError, match="E506"):
        gap_accuracy(copied, clusters={})


def test_a_contrast_needs_the_same_items() -> None:
    """An item that is missing on one side is named, not dropped silently; the order of items does not matter."""
    with pytest.raises(InputError, match="1 in one of them only"):
        gap_contrast(hits(3, 1), hits(4, 1))
    first = hits(4, 2)
    turned = GapHits("m", MEASURE, first.item_ids[::-1], first.hit[::-1], first.n_right[::-1], 1, 0)
    assert gap_contrast(first, turned, resamples=0).both_right == 2


def test_hits_of_every_subject_and_measure() -> None:
    """Two subjects, one of them under two criteria: three sets of hits, each with its criterion and decoding."""
    rows = [
        table([[1.0], [0.0]], subject_id=subject, measure=f"answer_found(answers={answers},method=greedy,max_tokens=9)")
        for subject, answers in (("m", "curated"), ("m", "synset"), ("n", "curated"))
    ]
    found = every_gap_hits(ResponseTable.concat(rows))
    expected = [("m", "curated"), ("m", "synset"), ("n", "curated")]
    assert [(each.subject, each.criterion) for each in found] == expected
    assert {each.decoding for each in found} == {"greedy, 9 tokens"}
