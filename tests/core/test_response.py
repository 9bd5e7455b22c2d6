"""The response table: what goes in comes out, whatever it holds and however it is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError, RunError
from lexiscope.core.response import COLUMNS, Response, ResponseTable
from lexiscope.core.simulated import SIMULATED_ID

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
# A table marks such an id as simulated: tests/annotation/rehearsal/test_simulated_stay_marked.py holds that rule.
SUBJECT_ID = TEXT.filter(lambda text: not text.startswith(SIMULATED_ID))
MAYBE_TEXT = st.none() | TEXT
ROWS = st.builds(
    Response,
    subject_id=SUBJECT_ID,
    subject_kind=TEXT,
    item_id=TEXT,
    task=TEXT,
    measure=TEXT,
    value=st.none() | st.floats(allow_nan=False),
    option=MAYBE_TEXT,
    layer=st.none() | st.integers(0, 2**31 - 1),
    view=MAYBE_TEXT,
    list_id=MAYBE_TEXT,
    position=st.none() | st.integers(0, 10_000),
    repeat=st.none() | st.integers(0, 10),
    rt_ms=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    answered_at=st.none()
    | st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)),
    raw=MAYBE_TEXT,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, max_size=6))
def test_round_trip_is_exact(tmp_path_factory: pytest.TempPathFactory, rows: list[Response]) -> None:
    """Rows → table → Parquet and CSV → table → rows keeps every value, empty text apart from missing text."""
    folder = tmp_path_factory.mktemp("table")
    table = ResponseTable.from_rows(rows)
    table.write_parquet(folder / "t.parquet")
    table.write_csv(folder / "t.csv")
    assert ResponseTable.read_parquet(folder / "t.parquet") == table
    assert ResponseTable.read_csv(folder / "t.csv") == table
    assert list(table.rows()) == rows


def test_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    """Two tables with the same rows, built in different ways, are stored byte for byte alike."""
    base = {
        "subject_kind": "participant",
        "task": "t",
        "measure": "rating",
        "item_id": ["a", "b"],
        "value": [1.0, None],
    }
    first = ResponseTable.from_columns({**base, "subject_id": "p"})
    second = ResponseTable.concat([first.take(np.array([0])), first.take(np.array([1]))])
    first.write_parquet(tmp_path / "1")
    second.write_parquet(tmp_path / "2")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def _table(n: int) -> ResponseTable:
    return ResponseTable.from_columns(
        {
            "subject_id": np.array([f"p{i % 7}" for i in range(n)], dtype=object),
            "subject_kind": "participant",
            "item_id": np.array([f"i{i % 11}" for i in range(n)], dtype=object),
            "task": "relatedness",
            "measure": "rating",
            "value": np.where(np.arange(n) % 5 == 0, np.nan, np.arange(n) % 5),
            "layer": np.where(np.arange(n) % 2 == 0, np.nan, 3.0),
        }
    )


def test_a_folder_may_have_a_colon_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a relative path looks like an address to Arrow."""
    monkeypatch.chdir(tmp_path)
    (folder := Path("chat:model")).mkdir()
    table = ResponseTable.from_rows([Response("m", "encoder", "i", "t", "rating", 1.0)])
    table.write_parquet(folder / "responses.parquet")
    assert ResponseTable.read_parquet(folder / "responses.parquet") == table


def test_missing_values_stay_rows() -> None:
    """An unreadable answer is a row with a missing value, not a row that is gone."""
    table = _table(10)
    assert len(table) == 10
    assert np.isnan(table.column("value")).sum() == 2
    assert len(table.where(value=None)) == 2


def test_where_filters_by_value_by_set_and_by_missing() -> None:
    """``where`` keeps the rows that equal a value, one of several values, or missing."""
    table = _table(70)
    assert set(table.where(subject_id=("p1", "p2")).unique("subject_id")) == {"p1", "p2"}
    assert len(table.where(layer=3)) == len(table.where(layer=None)) == 35


_NOT_WHOLE = [1.5, "3", True, np.True_, 2**40, np.float32(1.5), Decimal("1.5"), float("inf")]


@pytest.mark.parametrize("name", ["layer", "position", "repeat"])
@pytest.mark.parametrize("cell", _NOT_WHOLE, ids=repr)
def test_a_column_of_whole_numbers_takes_no_other_cell(name: str, cell: object, tmp_path: Path) -> None:
    """Not as a number of the table, nor of its rows, nor as what is searched in a table or in a file."""
    columns = {"subject_id": "s", "subject_kind": "k", "item_id": ["a", "b"], "task": "t", "measure": "m"}
    said = f"the response column '{name}' needs whole numbers"
    for cells in (cell, [cell, 2], [None, cell], np.array([cell, None], dtype=object)):
        with pytest.raises(InputError, match=said):
            ResponseTable.from_columns({**columns, name: cells})
    row = Response("s", "k", "i", "t", "m")
    with pytest.raises(InputError, match=said):
        ResponseTable.from_rows([replace(row, **{name: cell})])
    table = ResponseTable.from_columns({**columns, name: [0, 1]})
    table.write_parquet(tmp_path / "answers.parquet")
    for rows in (table, ResponseTable.scan(tmp_path / "answers.parquet")):
        for wanted in (cell, [cell], (1, cell), {cell}):
            with pytest.raises(InputError, match=said):
                rows.where(**{name: wanted})


def test_whole_numbers_of_any_type_are_found() -> None:
    """Numbers of a column are floating point to its user: 3.0 is layer 3; missing ones are as before."""
    cells = [3.0, np.int64(2), None, float("nan"), np.float32(1), Decimal(0)]
    columns = {"subject_id": "s", "subject_kind": "k", "item_id": list("abcdef"), "task": "t", "measure": "m"}
    table = ResponseTable.from_columns({**columns, "layer": cells})
    np.testing.assert_array_equal(table.column("layer"), [3, 2, np.nan, np.nan, 1, 0])
    for wanted in (3, 3.0, np.float64(3), np.int8(3), Decimal(3)):
        assert table.where(layer=wanted).unique("item_id") == ("a",)
    assert table.where(layer=(None, 2.0)).unique("item_id") == ("b", "c", "d")


@pytest.mark.parametrize("condition", [{"subject_id": 3}, {"value": "a"}, {"value": True}, {"answered_at": "now"}])
def test_what_a_column_cannot_hold_is_not_searched(condition: dict[str, object]) -> None:
    """The error names the column and what it holds."""
    with pytest.raises(InputError, match=f"the response column '{next(iter(condition))}' needs"):
        _table(3).where(**condition)


def test_codes_are_in_order_of_first_appearance() -> None:
    """Codes number the categories as they first appear; missing is -1."""
    codes, categories = _table(9).codes("item_id")
    assert categories[:3] == ("i0", "i1", "i2")
    assert codes[:3].tolist() == [0, 1, 2]
    missing, none = _table(3).codes("option")
    assert missing.tolist() == [-1, -1, -1]
    assert none == ()


def test_a_million_rows_need_no_python_loop(tmp_path: Path) -> None:
    """A million rows are built, filtered and stored column by column."""
    n = 1_000_000
    ids = np.array(["p1", "p2"], dtype=object)[np.arange(n) % 2]
    table = ResponseTable.from_columns(
        {
            "subject_id": ids,
            "subject_kind": "x",
            "item_id": ids,
            "task": "t",
            "measure": "m",
            "value": np.arange(n, dtype=float),
        }
    )
    assert table.where(subject_id="p2").column("value").sum() == float(sum(range(1, n, 2)))
    table.write_parquet(tmp_path / "big.parquet")
    assert len(ResponseTable.read_parquet(tmp_path / "big.parquet")) == n


def test_a_row_needs_its_five_names() -> None:
    """Subject, its kind, item, task and measure are never missing."""
    with pytest.raises(InputError, match="item_id"):
        ResponseTable.from_rows([Response("p", "participant", None, "t", "m")])  # type: ignore[arg-type]


def test_unknown_columns_are_refused() -> None:
    """There is no catch-all column."""
    with pytest.raises(InputError, match="mood"):
        ResponseTable.from_columns({"subject_id": ["p"], "mood": ["good"]})
    with pytest.raises(InputError, match="mood"):
        _table(3).column("mood")


def test_columns_need_one_length() -> None:
    """Columns of different lengths are refused."""
    with pytest.raises(InputError, match="common length"):
        ResponseTable.from_columns({"subject_id": ["p"], "item_id": ["a", "b"]})


@pytest.mark.parametrize("cut", [0, 4, 100])
def test_a_damaged_file_is_named(tmp_path: Path, cut: int) -> None:
    """A truncated Parquet file is an error that names the file."""
    path = tmp_path / "responses.parquet"
    _table(50).write_parquet(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(RunError, match=r"responses\.parquet"):
        ResponseTable.read_parquet(path)


def test_a_csv_that_is_no_response_table_is_refused(tmp_path: Path) -> None:
    """A CSV without the columns of a response table is refused, with the columns named."""
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="subject_id"):
        ResponseTable.read_csv(tmp_path / "x.csv")


def test_columns_are_those_of_the_design() -> None:
    """The waist has exactly the columns of DESIGN §1, and the scale of a rating (design/0029)."""
    design = "subject_id subject_kind item_id task measure value option layer view list_id position repeat"
    assert list(COLUMNS) == f"{design} rt_ms answered_at raw scale".split()


def test_a_long_text_is_read_back_from_csv(tmp_path: Path) -> None:
    """A reply of 3 MiB is longer than the block of 1 MiB in which Arrow reads a file."""
    row = Response("m", "chat", "a", "relatedness", "rating", raw='x, "y"\n' * (3 * 2**20 // 8))
    table = ResponseTable.from_rows([row, Response("m", "chat", "b", "relatedness", "rating", 3.0)])
    table.write_csv(tmp_path / "answers.csv")
    assert ResponseTable.read_csv(tmp_path / "answers.csv") == table


def test_a_column_by_item_holds_the_last_row() -> None:
    """A changed mind is a later row: it is the one that counts."""
    given = (("i", 1.0), ("j", 2.0), ("i", 3.0))
    rows = [Response("p", "participant", item_id, "t", "rating", value) for item_id, value in given]
    assert ResponseTable.from_rows(rows).by_item() == {"i": 3.0, "j": 2.0}
