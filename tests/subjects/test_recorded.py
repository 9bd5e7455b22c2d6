"""Recorded answers: only what is asked, as it was recorded, and a row for what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.catalog import subject as make
from lexiscope.core.errors import RunError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.subject import capabilities
from lexiscope.core.usage import Usage

USAGE = Usage("A bank lends money", 2, 6)
ITEMS = [Item(name, "test", (USAGE, USAGE)) for name in ("a", "b", "c")]
ROWS = [
    Response("p1", "participant", "b", "relatedness", "rating", 4.0, rt_ms=812.5, raw="4"),
    Response("p2", "participant", "b", "relatedness", "rating", None, raw="don't know"),
    Response("p1", "participant", "a", "relatedness", "rating", 2.0),
    Response("p1", "participant", "a", "same_sense", "choice", 1.0),
    Response("p1", "participant", "z", "relatedness", "rating", 5.0),
]


@pytest.fixture(params=["csv", "parquet"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"answers.{request.param}"
    table = ResponseTable.from_rows(ROWS)
    table.write_csv(path) if request.param == "csv" else table.write_parquet(path)
    return path


def test_only_the_asked_rows_are_given(file: Path) -> None:
    """Rows of other items and other tasks stay out; the rows given are those recorded, readable or not."""
    subject = make(f"recorded:{file}")
    assert capabilities(subject) == ("Judges",)
    assert list(subject.judge(ITEMS[:2], "relatedness").rows()) == [ROWS[0], ROWS[1], ROWS[2]]


def test_an_item_without_answer_has_a_row_without_value(file: Path) -> None:
    """Nobody answered item c: one row under the subject's own id, value missing."""
    table = make(f"recorded:{file}").judge(ITEMS, "relatedness")
    silent = [row for row in table.rows() if row.item_id == "c"]
    assert silent == [Response(f"recorded:{file}", "recorded", "c", "relatedness", "rating", None)]


def test_another_content_is_another_revision(file: Path) -> None:
    """The revision is the file's checksum, so that a changed file is never taken for the old one."""
    before = make(f"recorded:{file}").facts.revision
    table = ResponseTable.from_rows(ROWS[:-1])
    table.write_csv(file) if file.suffix == ".csv" else table.write_parquet(file)
    assert make(f"recorded:{file}").facts.revision != before


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    """Neither file nor dataset, and a file that is no response table: named."""
    with pytest.raises(SpecError, match="no file"):
        make(f"recorded:{tmp_path / 'none.csv'}")
    with pytest.raises(SpecError, match=r"neither a file \(\.csv, \.parquet, .*nor a dataset"):
        make("recorded:no_such_dataset")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 not really")
    with pytest.raises(RunError, match=r"broken.parquet"):
        make(f"recorded:{broken}").judge(ITEMS, "relatedness")


@pytest.mark.published
def test_a_dataset_answers_with_its_people_and_models(published: Path) -> None:
    """recorded:saw_c gives the 10,639 trials of 131 participants for its 812 items."""
    subject = make("recorded:saw_c")
    table = subject.judge(subject._dataset.items, "relatedness").where(subject_kind="participant", measure="rating")  # type: ignore[attr-defined]
    assert (len(table), len(table.unique("subject_id")), len(table.unique("item_id"))) == (10_639, 131, 812)
