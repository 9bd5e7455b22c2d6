"""Each rule judges one table by itself, and says what it does in a sentence that holds its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.exclusion import (
    AttentionCheck,
    FailedCatch,
    FailedQualification,
    LowAgreement,
    SelfReport,
    ThresholdRule,
    TooSlow,
)
from lexiscope.core.response import ResponseTable


def table_of(measure: str, answers: dict[tuple[str, str], float]) -> ResponseTable:
    """Answers by (subject, item), all of one measure."""
    return ResponseTable.from_columns(
        {
            "subject_id": [subject for subject, _ in answers],
            "item_id": [item for _, item in answers],
            "value": list(answers.values()),
            "subject_kind": "participant",
            "task": "relatedness",
            "measure": measure,
        }
    )


@pytest.mark.parametrize(
    ("rule", "parts"),
    [
        (FailedCatch(("c1", "c2"), 5, tolerance=1, allowed=1), ["more than 1", "c1, c2", "5 ± 1", "rating"]),
        (TooSlow(sd=2.5), ["2.5 standard deviations above the mean", "completion_time", "not excluded by an earlier"]),
        (LowAgreement(0.2, method="spearman"), ["squared Spearman", "below 0.2", "or if r is not positive"]),
        (SelfReport("native_speaker", 0), ["native_speaker was 0"]),
        (AttentionCheck(allowed=2), ["more than 2 attention checks"]),
        (FailedQualification(0.75), ["qualification test", "below 0.75"]),
        (ThresholdRule("rating", "below", 200, summary="median", column="rt_ms"), ["median of rt_ms", "is below 200"]),
    ],
)
def test_the_sentence_holds_every_number(rule, parts: list[str]) -> None:  # type: ignore[no-untyped-def]
    """A pre-registration quotes the sentence: it names the bound, the measure and the allowance."""
    for part in parts:
        assert part in rule.describe()


def test_too_slow_is_strictly_more_than_the_bound() -> None:
    """Times 0 … 0, 11: with n = 12 the last lies (n − 1) / sqrt(n) = 3.175 SD above the mean, whatever its size."""
    times = {(f"p{n:02}", "session"): 0.0 for n in range(11)} | {("p11", "session"): 11.0}
    table, subjects = table_of("completion_time", times), [subject for subject, _ in times]
    assert (12 - 1) / np.sqrt(12) == pytest.approx(3.175, abs=1e-3)
    assert TooSlow(sd=3.17).judge(table, subjects).caught == {"p11"}
    assert TooSlow(sd=3.18).judge(table, subjects).caught == frozenset()


def test_low_agreement_is_leave_one_out() -> None:
    """With one's own rating in the mean, noise among few raters would pass r² >= .1; leave-one-out catches it."""
    generator = np.random.default_rng(1)
    answers = {(f"p{n}", f"i{i:02}"): float(generator.integers(1, 6)) for n in range(4) for i in range(80)}
    judged = LowAgreement().judge(table_of("rating", answers), ["p0", "p1", "p2", "p3"])
    assert judged.caught == {"p0", "p1", "p2", "p3"}
    # own rating is one of four terms of the mean: r² is about 1/4
    matrix = np.array(list(answers.values())).reshape(4, 80)
    assert all(np.corrcoef(row, matrix.mean(axis=0))[0, 1] ** 2 > 0.1 for row in matrix)


def test_those_who_were_not_asked_are_unknown_not_innocent() -> None:
    """Each rule lists the participants without an answer, with the reason."""
    one = {("p1", "c1"): 5.0}
    subjects = ["p1", "p2"]
    assert FailedCatch(("c1",), 5).judge(table_of("rating", one), subjects).unknown == {"p2": "saw no catch item"}
    assert AttentionCheck(5).judge(table_of("attention_check", one), subjects).unknown == {
        "p2": "had no attention check"
    }
    assert SelfReport("age", 3).judge(table_of("age", one), subjects).unknown == {"p2": "did not answer age"}
    assert FailedQualification(1).judge(table_of("qualification", one), subjects).unknown == {
        "p2": "has 0 values of value"
    }
    spread = ThresholdRule("rating", "below", 0.1, summary="sd").judge(table_of("rating", one), subjects)
    assert spread.unknown == {"p1": "has 1 values of value", "p2": "has 0 values of value"}
    assert spread.caught == frozenset()
