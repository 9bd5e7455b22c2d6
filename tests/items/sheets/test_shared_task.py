"""Submissions: written as the organisers want them, and every fault of a file named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.items.sheets.shared_task import check_submission, read_submission, write_submission


def faults_of(path: Path, text: str, n_samples: int = 2) -> list[str]:
    path.write_text(text, encoding="utf-8")
    return [str(fault) for fault in check_submission(path, n_samples)]


def test_a_submission_is_one_object_a_line(tmp_path: Path) -> None:
    """The id is the row as text; a whole number is written as one, another as it is."""
    write_submission(tmp_path / "s.jsonl", [4.0, 3.5, 1])
    lines = (tmp_path / "s.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines == [
        '{"id": "0", "prediction": 4}',
        '{"id": "1", "prediction": 3.5}',
        '{"id": "2", "prediction": 1}',
    ]
    read = read_submission(tmp_path / "s.jsonl", 3)
    assert (read.predictions, read.n_non_integer) == ((4.0, 3.5, 1.0), 1)


@given(values=st.lists(st.one_of(st.integers(1, 5), st.floats(1, 5)), min_size=1, max_size=40))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    """Every number on the scale comes back as it was, without a fault."""
    path = tmp_path_factory.mktemp("s") / "s.jsonl"
    write_submission(path, values)
    assert check_submission(path, len(values)) == ()
    assert list(read_submission(path, len(values)).predictions) == [float(value) for value in values]


@pytest.mark.parametrize(
    ("predictions", "said"),
    [
        ([3.0, None], "1 of 2 rows have no prediction: 1"),
        ([3.0, float("nan")], "1 of 2 rows have no prediction: 1"),
        ([None] * 7, "7 of 7 rows have no prediction: 0, 1, 2, 3, 4 …"),
        ([], "0 of 0 rows"),
        ([0.9, 5.1, 3], "2 predictions are not from 1 to 5: rows 0, 1"),
    ],
)
def test_nothing_is_filled_in(tmp_path: Path, predictions: list[float | None], said: str) -> None:
    """A row without a prediction, or with one off the scale, makes no file at all."""
    with pytest.raises(InputError, match=said):
        write_submission(tmp_path / "s.jsonl", predictions)
    assert list(tmp_path.iterdir()) == []


GOOD = '{"id": "0", "prediction": 4}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD, ["1 of 2 ids have no prediction: 1"]),
        (GOOD + "\n", ["line 2: this line is empty", "1 of 2 ids have no prediction: 1"]),
        (GOOD + '{"id": "1", "prediction": "3"}', ["line 2: the prediction must be a number without quotation marks"]),
        (GOOD + '{"id": "1", "prediction": true}', ["line 2: the prediction must be a number"]),
        (GOOD + '{"id": "1", "prediction": null}', ["line 2: the prediction must be a number"]),
        (GOOD + '{"id": "1", "prediction": 0.9}', ["line 2: the prediction must be from 1 to 5; there is 0.9"]),
        (GOOD + '{"id": "1", "prediction": 5.9}', ["line 2: the prediction must be from 1 to 5"]),
        (GOOD + '{"id": "1", "prediction": 1e999}', ["line 2: the prediction must be from 1 to 5; there is inf"]),
        (GOOD + '{"id": "1", "prediction": NaN}', ["line 2: this line is not JSON: NaN", "1 of 2"]),
        (GOOD + '{"id": 1, "prediction": 3}', ["line 2: the id must be the text of a row", "1 of 2"]),
        (GOOD + '{"id": "2", "prediction": 3}', ['line 2: the id must be the text of a row from "0" to "1"', "1 of 2"]),
        (GOOD + '{"id": "01", "prediction": 3}', ["line 2: the id must be the text of a row", "1 of 2"]),
        (GOOD + '{"id": "²", "prediction": 3}', ["line 2: the id must be the text of a row", "1 of 2"]),
        (GOOD + GOOD, ["line 2: the id '0' comes twice", "1 of 2"]),
        (GOOD + '{"id": "1"}', ['line 2: this line needs an object with "id" and "prediction"', "1 of 2"]),
        (GOOD + "[1, 3]", ["line 2: this line needs an object", "1 of 2"]),
        (GOOD + '{"id": "1", "prediction": 3', ["line 2: this line is not JSON", "1 of 2"]),
        (
            GOOD + '{"id": "1", "prediction": 3, "prediction": 4}',
            ["line 2: this line is not JSON: it has a name", "1 of 2"],
        ),
        ("", ["2 of 2 ids have no prediction: 0, 1"]),
    ],
)
def test_every_fault_is_named(tmp_path: Path, text: str, said: list[str]) -> None:
    """All faults in the order of their lines; what lacks stands at the end; reading stops at the first."""
    found = faults_of(tmp_path / "s.jsonl", text)
    assert len(found) == len(said)
    assert all(fault.startswith(part) for fault, part in zip(found, said, strict=True))
    with pytest.raises(InputError, match=r"s\.jsonl"):
        read_submission(tmp_path / "s.jsonl", 2)


def test_what_is_no_fault(tmp_path: Path) -> None:
    """Lines in any order, further names, CRLF line ends, and no line end after the last line."""
    text = '{"id": "1", "prediction": 2.5, "reason": "?"}\r\n{"id": "0", "prediction": 4}'
    assert faults_of(tmp_path / "s.jsonl", text) == []
    assert read_submission(tmp_path / "s.jsonl", 2).predictions == (4.0, 2.5)


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are one fault of the whole file."""
    (tmp_path / "s.jsonl").write_bytes(json.dumps({"id": "0", "prediction": 3}).encode("utf-16"))
    assert [str(f).split(":")[0] for f in check_submission(tmp_path / "s.jsonl", 1)] == ["this file is not UTF-8"]


def test_the_number_of_faults_is_said(tmp_path: Path) -> None:
    """Reading names the first fault and how many there are."""
    (tmp_path / "s.jsonl").write_text("x\ny\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"s\.jsonl:1: this line is not JSON.*\(3 faults in all\)"):
        read_submission(tmp_path / "s.jsonl", 1)
