"""Columns in memory: one form for each, which holds any text, and every operation does what a list of rows would do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.columnar import memory
from lexiscope.core.errors import InputError
from lexiscope.core.response import COLUMNS, Response, ResponseTable

NAMES = st.sampled_from(["", "a", "b", "ä", "z", "Z", "日本", "a b"])
START = datetime(2024, 1, 1, tzinfo=UTC)
ROWS = st.lists(
    st.builds(
        Response,
        subject_id=NAMES,
        subject_kind=st.just("chat"),
        item_id=NAMES,
        task=st.just("t"),
        measure=st.sampled_from(["m", "n"]),
        value=st.none() | st.sampled_from([0.0, 1.5, -2.0, float("inf")]),
        option=st.none() | NAMES,
        layer=st.none() | st.integers(0, 3),
        answered_at=st.none() | st.integers(0, 2).map(lambda days: START + timedelta(days=days)),
        raw=st.none() | NAMES,
    ),
    max_size=12,
)
KEYS = ("subject_id", "item_id", "measure", "value", "option", "layer", "answered_at", "raw")


def _key(row: Response, name: str) -> tuple[bool, object]:
    """What Python sorts by: missing values last, texts by their code points."""
    value = getattr(row, name)
    return value is None, 0 if value is None else value


@settings(max_examples=120, deadline=None)
@given(ROWS, ROWS, st.data())
def test_every_operation_does_what_a_list_does(rows: list[Response], more: list[Response], data: st.DataObject) -> None:
    """Choosing, ordering, joining and looking at columns, compared with plain Python on the same rows."""
    table, both = ResponseTable.from_rows(rows), rows + more
    joined = ResponseTable.concat([table, ResponseTable.from_rows(more)])
    assert list(joined.rows()) == both
    assert joined == ResponseTable.from_rows(both)
    assert (joined == table) == (not more)
    names = data.draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    ordered = sorted(both, key=lambda row: [_key(row, name) for name in names])
    assert list(joined.sorted_by(*names).rows()) == ordered
    name = names[0]
    cells = [getattr(row, name) for row in both]
    wanted = data.draw(st.lists(st.sampled_from([*cells, None]), max_size=3))
    assert list(joined.where(**{name: wanted}).rows()) == [row for row in both if getattr(row, name) in wanted]
    chosen = data.draw(st.lists(st.integers(0, len(both) - 1), max_size=5)) if both else []
    assert list(joined.take(np.array(chosen, dtype=int)).rows()) == [both[number] for number in chosen]
    mask = np.array([number % 2 == 0 for number in range(len(both))], dtype=bool)
    assert list(joined.filter(mask).rows()) == both[::2]
    assert list(joined.unique(name)) == list(dict.fromkeys(cells))
    codes, categories = joined.codes(name)
    known = list(dict.fromkeys(cell for cell in cells if cell is not None))
    assert (list(categories), codes.tolist()) == (known, [-1 if c is None else known.index(c) for c in cells])
    if name not in ("value", "layer", "answered_at"):
        assert joined.column(name).tolist() == cells
    assert joined.by_item("option") == {row.item_id: row.option for row in both}
    renamed = joined.with_column("view", [row.item_id for row in both])
    assert renamed.column("view").tolist() == joined.column("item_id").tolist()


def test_no_type_of_a_column_ends_at_two_gibibytes() -> None:
    """Offsets of texts have 64 bits and codes 32, whatever a table is made from; a row costs 4 bytes a name."""
    text = {name for name in COLUMNS if pa.types.is_string(memory.SCHEMA.field(name).type)}
    assert text == memory.NAMES | {memory.TEXT}
    cells = {name: ["a", "b"] for name in text}
    for columns in (cells, {name: pa.array(cell) for name, cell in cells.items()}, dict.fromkeys(text, "a")):
        made = ResponseTable.from_columns({**columns, "value": [1.0, 2.0]})
        for table in (made, made.take(np.array([1, 0])), made.where(task="a"), ResponseTable.concat([made, made])):
            types = {name: table.arrow.schema.field(name).type for name in text}
            assert types.pop(memory.TEXT) == pa.large_string()
            assert set(types.values()) == {pa.dictionary(pa.int32(), pa.large_string())}


def test_a_column_without_a_value_costs_nothing() -> None:
    """A million rows without times, layers and replies have no bytes for them, also where rows were chosen."""
    n = 1_000_000
    ids = {"subject_id": "s", "subject_kind": "encoder", "item_id": "i", "task": "t", "measure": "m"}
    table = ResponseTable.from_columns({**ids, "value": np.ones(n), "option": [None] * n, "layer": np.full(n, np.nan)})
    assert [name for name in COLUMNS if table.arrow.column(name).nbytes] == [*ids, "value"]
    # five codes of 4 bytes, a value of 8, five dictionaries of one text
    assert table.arrow.nbytes < n * (5 * 4 + 8) + 1_000
    half = table.with_column("layer", np.where(np.arange(n) < n // 2, 3.0, np.nan))
    assert half.where(layer=None).arrow.column("layer").nbytes == 0
    assert np.isnan(half.where(layer=None).column("layer")).all()


def test_a_few_rows_of_many_names_do_not_carry_all_of_them() -> None:
    """What is done with 3 rows of a million ids does not depend on the million."""
    n = 1_000_000
    ids = pa.array(np.arange(n)).cast(pa.string())
    table = ResponseTable.from_columns(
        {"subject_id": "s", "subject_kind": "encoder", "item_id": ids, "task": "t", "measure": "m", "value": np.ones(n)}
    )
    assert table.codes("item_id")[0].tolist() == list(range(n))
    for few in (table.take(np.array([5, 7, 5])), table.where(item_id=("5", "7", "999999"))):
        assert len(few.arrow.column("item_id").chunk(0).dictionary) <= len(few) + memory.SLACK
    assert table.take(np.array([5, 7, 5])).codes("item_id")[1] == ("5", "7")
    assert len(ResponseTable.concat([table.take(np.array([k])) for k in range(50)]).unique("item_id")) == 50


def test_a_dictionary_from_elsewhere_may_be_odd() -> None:
    """Texts that come twice in a dictionary, missing ones in it, other types of codes, and several dictionaries."""
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), pa.array(["x", "x", None]))
    other = pa.array(["y", "x", "y"], pa.large_string()).dictionary_encode()
    several = pa.chunked_array([pa.array(["b", "a"]).dictionary_encode(), pa.array(["a", "c"]).dictionary_encode()])
    columns = {"subject_id": "s", "subject_kind": "k", "item_id": other, "task": "t", "measure": "m", "option": twice}
    table = ResponseTable.from_columns(columns)
    assert table.column("option").tolist() == ["x", "x", None]
    assert table.unique("option") == ("x", None)
    assert len(table.where(option="x")) == 2
    assert table.column("item_id").tolist() == ["y", "x", "y"]
    table = ResponseTable.from_columns(columns | {"item_id": several, "option": None})
    assert table.codes("item_id")[0].tolist() == [0, 1, 1, 2]


def test_a_table_of_arrow_is_taken_in() -> None:
    """A table with plain types, in any order and without the columns of later versions; a missing id is refused."""
    plain = pa.table(
        {
            field.name: pa.array(["1"] * 2, pa.string()).cast(field.type)
            if not pa.types.is_timestamp(field.type)
            else pa.nulls(2, field.type)
            for field in reversed(list(memory.SCHEMA))
            if field.name != "scale"
        }
    )
    table = ResponseTable(plain)
    assert table.arrow.column_names == list(COLUMNS)
    assert table.unique("scale") == (None,)
    assert table == ResponseTable(table.arrow)
    with pytest.raises(InputError, match="2 responses are without 'task'"):
        ResponseTable(plain.set_column(plain.schema.get_field_index("task"), "task", pa.nulls(2, pa.string())))


def test_an_empty_table_is_whole() -> None:
    """Every operation of a table without rows gives one without rows."""
    table = ResponseTable.empty()
    for same in (
        table.where(subject_id="x", layer=None, value=(1.0, None)),
        table.take(np.array([], dtype=int)),
        table.filter(np.array([], dtype=bool)),
        table.sorted_by("subject_id", "value"),
        table.answered(),
        table.unanswered(),
        table.with_column("option", "x"),
        ResponseTable.concat([table, table]),
        ResponseTable.from_rows([]),
    ):
        assert (len(same), same) == (0, table)
    assert all(len(table.column(name)) == 0 and table.unique(name) == () for name in COLUMNS)
    assert len(table.group_means("subject_id")) == 0
