"""Long tables are kept by columns: their rows, files and codebook are those of a table that is kept by rows."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pytest

from lexiscope.annotation.export.package import codebook, codebook_rows
from lexiscope.items.sheets import form, long_rows
from lexiscope.items.sheets.form import Sheet, SheetColumn, marked_simulated, sheet_of
from lexiscope.items.sheets.long_rows import ColumnRows, TableRows, distinct, mapped, whole, whole_texts, with_replaced
from lexiscope.items.tables.neutral import Cell

COLUMNS = (
    SheetColumn("id", "the row", "id"),
    SheetColumn("answer", "what was answered", "text", answer=True),
    SheetColumn("rating", "a rating", "number"),
    SheetColumn("n", "a count", "integer"),
    SheetColumn("kind", "a mixture", "category"),
    SheetColumn("ok", "true or not", "truth"),
    SheetColumn("empty", "nothing", "text"),
)


def cells_by_chance(n: int) -> list[dict[str, Cell]]:
    """Rows with every type of cell, missing ones, formulas, line ends, values that are equal and differ in type."""
    generator = np.random.default_rng(5)
    texts = ["=1+1", "-2", "a,b", 'say "x"', "line\nend", "", "\u2028", "Ж 🙂", None]
    mixed: list[Cell] = [1, 1.0, True, "1", None, 0.0, -0.0, 2**70, float("nan")]
    numbers: list[Cell] = [1.5, 2.0, -0.0, 0.0, None, float("nan"), 1e300, 1e-9]
    rows: list[dict[str, Cell]] = []
    for number in range(n):
        pick = generator.integers(0, 1 << 30, 5).tolist()
        row: dict[str, Cell] = {"id": f"r{number}", "answer": texts[pick[0] % len(texts)]}
        row |= {"rating": numbers[pick[1] % len(numbers)], "n": None if pick[2] % 7 == 0 else pick[2] % 5}
        row |= {"kind": mixed[pick[3] % len(mixed)], "ok": [True, False, None][pick[4] % 3]}
        rows.append(row)
    return rows


def finite(rows: list[dict[str, Cell]]) -> list[dict[str, Cell]]:
    """Rows without NaN: JSON has none."""
    return [row for row in rows if all(cell == cell for cell in row.values())]


def kept_both_ways(monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Cell]], together: int) -> tuple[Sheet, Sheet]:
    """The same table kept by rows, and by columns in blocks of *together*."""
    plain = sheet_of("t.csv", "one row", COLUMNS, rows)
    with monkeypatch.context() as patch:
        patch.setattr(form, "TOGETHER", together)
        stored = sheet_of("t.csv", "one row", COLUMNS, iter(rows))
    assert isinstance(stored.rows, ColumnRows)
    assert not isinstance(plain.rows, ColumnRows)
    return plain, stored


@pytest.mark.parametrize("together", [1, 7, 100, 200])
def test_files_and_codebook_are_the_same_either_way(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    """Whatever the size of a block, and with the mark of a rehearsal too."""
    plain, stored = kept_both_ways(monkeypatch, cells_by_chance(200), together)
    for one, other in ((plain, stored), (marked_simulated(plain), marked_simulated(stored))):
        assert one.csv() == other.csv()
        assert codebook(codebook_rows(one)).csv() == codebook(codebook_rows(other)).csv()
    plain, stored = kept_both_ways(monkeypatch, finite(cells_by_chance(400))[:200], together)
    assert b"".join(plain.jsonl_blocks()) == b"".join(stored.jsonl_blocks())
    assert len(list(stored.csv_blocks())) == 1 + -(-200 // together)


def test_rows_come_back_with_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 is not 1.0 and not True; a number of seventy bits stays whole."""
    plain, stored = kept_both_ways(monkeypatch, cells_by_chance(60), 9)
    assert list(map(repr, plain.rows)) == list(map(repr, stored.rows))
    assert [repr(stored.rows[at]) for at in (0, 8, 9, 59, -1)] == [repr(plain.rows[at]) for at in (0, 8, 9, 59, -1)]
    assert repr(list(stored.rows[7:11])) == repr(list(plain.rows[7:11]))
    assert len(stored.rows) == 60
    with pytest.raises(IndexError):
        stored.rows[60]


def test_a_name_that_two_columns_have_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object of JSON has a name once: the later cell, at the place of the earlier one."""
    header = (SheetColumn("a", ""), SheetColumn("b", ""), SheetColumn("a", ""))
    rows = ((1, 2, 3), (4, 5, 6))
    plain, stored = Sheet("t", "", header, rows), Sheet("t", "", header, ColumnRows([list(zip(*rows, strict=True))]))
    lines = b"".join(stored.jsonl_blocks())
    assert lines == b"".join(plain.jsonl_blocks())
    assert [json.loads(line) for line in io.BytesIO(lines)] == [{"a": 3, "b": 2}, {"a": 6, "b": 5}]


def test_rows_of_a_table_are_chosen_and_ordered_as_dictionaries_are() -> None:
    """Choosing and a stable order over codes, beside the same with dictionaries."""
    generator = np.random.default_rng(2)
    rows = [
        {"who": f"p{generator.integers(30)}", "list": [None, "2", "10"][generator.integers(3)], "at": number % 11}
        for number in range(500)
    ]
    schema = pa.schema([("who", pa.string()), ("list", pa.string()), ("at", pa.int32())])
    parts = [pa.Table.from_pylist(rows[start : start + 90], schema) for start in range(0, 500, 90)]
    table = TableRows(pa.table({name: whole([part.column(name) for part in parts]) for name in schema.names}))
    assert list(table) == rows
    assert table.table().column_names == ["who", "list", "at"]
    chosen = table.where(who=("p1", "p2", "p7"), list=("10", "2"))
    kept = [row for row in rows if row["who"] in ("p1", "p2", "p7") and row["list"] in ("10", "2")]
    assert list(chosen) == kept
    assert 0 < len(chosen) == len(kept)
    ordered = chosen.ordered_by(list=lambda name: (len(name), name), at=int)
    assert list(ordered) == sorted(kept, key=lambda row: (len(str(row["list"])), row["list"], row["at"]))
    assert ordered[0] == next(iter(ordered))
    assert ordered[-2:] == list(ordered)[-2:]
    assert list(ordered.columns("at", "who")) == [(row["at"], row["who"]) for row in ordered]
    assert list(table.where(who=()).ordered_by(who=str)) == []


def test_a_function_of_cells_is_called_once_for_each_distinct_one() -> None:
    """A missing cell is a cell of its own."""
    column = pa.chunked_array([["a", "b", None], ["b", "a"]])
    calls: list[str | None] = []

    def change(cell: str | None) -> str | None:
        calls.append(cell)
        return "none" if cell is None else None if cell == "b" else cell.upper()

    made = mapped(column, change, pa.string())
    assert made.to_pylist() == ["A", None, "none", None, "A"]
    assert calls == ["a", "b", None]


@pytest.mark.parametrize("together", [2, 1000])
def test_a_column_whose_every_text_differs_is_written_block_by_block(
    monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    """Its lines are those of a column whose texts are made once for all blocks."""
    texts = ["a,b", None, 'say "x"', "=1", "plain", "", "plain", "line\nend"]
    table = pa.table({"text": pa.array(texts).dictionary_encode(), "n": pa.array(range(8))})
    for form_of in (lambda rows: rows.csv_blocks([True, False]), lambda rows: rows.jsonl_blocks(["text", "n"])):
        expected = b"".join(block.to_pybytes() for block in form_of(ColumnRows.of_table(table)))
        with monkeypatch.context() as patch:
            patch.setattr(long_rows, "TOGETHER", together)
            assert b"".join(block.to_pybytes() for block in form_of(ColumnRows.of_table(table))) == expected


def test_some_texts_of_a_column_are_replaced() -> None:
    """Missing cells stay; a text that becomes another one has its code, so that a dictionary has each text once."""
    column = pa.chunked_array(
        [pa.array(["x", None, "y"]).dictionary_encode(), pa.array(["z", "x"]).dictionary_encode()]
    )
    for texts, expected in (
        ({"x": "w"}, ["w", None, "y", "z", "w"]),
        ({"x": "z"}, ["z", None, "y", "z", "z"]),
        ({"x": "w", "y": "w"}, ["w", None, "w", "z", "w"]),
        ({"nowhere": "w"}, ["x", None, "y", "z", "x"]),
    ):
        found = with_replaced(column, texts)
        assert found.to_pylist() == expected
        assert sorted(found.dictionary.to_pylist()) == sorted({*expected} - {None})
    assert sorted(distinct(column)) == sorted(distinct(pa.chunked_array([column.cast(pa.string())]))) == ["x", "y", "z"]


def test_free_texts_are_joined_without_a_search_for_equal_ones() -> None:
    """Their cells, rows and lines are those of a column whose dictionary has each text once."""
    cells = [["a", None, "b"], [], [None], ["b", "c", "a"]]
    parts = [pa.chunked_array([pa.array(own, pa.string()).dictionary_encode()]) for own in cells]
    joined, once = whole_texts(parts), whole(parts)
    assert joined.to_pylist() == once.to_pylist() == [cell for own in cells for cell in own]
    assert len(joined.chunk(0).dictionary) == 5
    chosen = [TableRows(pa.table({"t": own})).where(t=("a", "b")) for own in (joined, once)]
    assert list(chosen[0]) == list(chosen[1]) == [{"t": "a"}, {"t": "b"}, {"t": "b"}, {"t": "a"}]
    lines = [
        b"".join(block.to_pybytes() for block in ColumnRows.of_table(pa.table([own], ["t"])).csv_blocks([True]))
        for own in (joined, once)
    ]
    assert lines[0] == lines[1]
    assert with_replaced(joined, {"b": "x"}).to_pylist() == with_replaced(once, {"b": "x"}).to_pylist()
