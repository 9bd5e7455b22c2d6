"""Records and statistic names: JSON, parsing back, and comparison with printed numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.result import (
    COMPARED,
    Record,
    Status,
    comparison_status,
    find_record,
    from_json,
    statistic_name,
    to_json,
)
from lexiscope.core.study import PublishedValue


def test_records_survive_json() -> None:
    """Records → JSON → records is exact; numpy numbers become plain ones; a missing value needs a reason."""
    records = (Record("spearman", np.float64(0.5), subject="m", layer=3, n=10, published=0.5, status="reproduced"),)
    assert from_json(to_json(records)) == records
    assert json.loads(to_json(records))[0]["layer"] == 3
    with pytest.raises(InputError, match="the reason"):
        Record("spearman", None)
    assert Record("spearman", float("nan"), note="constant").value is None


def test_statistic_names_parse_back() -> None:
    """A printed name shows its parameters and parses back to them; nonsense is refused."""
    assert statistic_name("aic", model="logistic") == "aic(model=logistic)"
    for bad in ("", "a b", "x(=1)", "x(level)"):
        with pytest.raises(SpecError):
            Record(bad, 1.0)


@pytest.mark.parametrize(
    ("value", "printed", "status"),
    [
        (39.5885, "39.59", "reproduced"),
        (0.7306, ".77", "not reproduced"),
        (0.99754, ".997", "within rounding"),
        (6, "6", "reproduced"),
    ],
)
def test_printed_numbers_are_compared_digit_for_digit(value: float, printed: str, status: str) -> None:
    """A value reproduces a printed one when it rounds to it."""
    assert comparison_status(value, printed) == status
    assert PublishedValue("x", printed, "§1").status_of(value) == status


@pytest.mark.parametrize("status", COMPARED)
@pytest.mark.parametrize(("value", "published"), [(0.5, None), (None, 0.5), (0.5, float("nan"))])
def test_a_status_of_comparison_needs_both_numbers(
    status: Status, value: float | None, published: float | None
) -> None:
    """No record of any study says *reproduced*, or that a number differs, without a printed number and one of ours."""
    with pytest.raises(InputError, match="outcome of a comparison"):
        Record("r", value, published=published, status=status, note="none")
    line = json.dumps([{"statistic": "r", "value": value, "status": status, "note": "none"}])
    with pytest.raises(InputError, match=f"the status '{status}' without"):
        from_json(line)


def test_the_last_printed_digit_decides_at_every_size() -> None:
    """A half of the last digit rounds to it and one digit off is within rounding, for 3.1e-10 as for 12,700,000."""
    found = [
        comparison_status(value, text)
        for value, text in ((3.15e-10, "3.1e-10"), (3.2e-10, "3.1e-10"), (3.3e-10, "3.1e-10"))
    ]
    assert found == ["reproduced", "within rounding", "not reproduced"]
    assert comparison_status(0.1 + 0.2 + 0.05, "0.3") == "reproduced"
    assert comparison_status(12_700_000.5, "12700000") == "reproduced"
    assert comparison_status(0.0, "0.00") == comparison_status(1e-9, "0.000") == "reproduced"


def test_find_wants_exactly_one() -> None:
    """Looking up a record that is absent or ambiguous is an error."""
    records = [Record("r", 1.0, layer=1), Record("r", 2.0, layer=2)]
    assert find_record(records, "r", layer=2).value == 2.0
    for where in ({}, {"layer": 9}):
        with pytest.raises(InputError):
            find_record(records, "r", **where)
