"""Items as a table: what is written is read back exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets.mini_relatedness import load
from lexiscope.items.tables.tabular import is_item_table, read_items, write_items

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
OPTIONAL = st.none() | TEXT | st.sampled_from(["", "\\", "\\x", "null", "NaN", "1", '"a"', "true"])
CONDITION = st.booleans() | st.integers() | st.floats(allow_nan=False) | OPTIONAL.filter(lambda x: x is not None)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    before, target, after = draw(TEXT), draw(TEXT.filter(lambda t: t and t == t.strip())), draw(TEXT)
    return Usage(
        before + target + after,
        len(before),
        len(before) + len(target),
        lemma=draw(OPTIONAL),
        pos=draw(OPTIONAL),
        language=draw(TEXT),
        sense=draw(OPTIONAL),
    )


@st.composite
def items(draw: st.DrawFn) -> Item:
    return Item(
        draw(TEXT.filter(lambda t: t and t == t.strip())),
        draw(TEXT),
        tuple(draw(st.lists(usages(), max_size=2))),
        options=tuple(draw(st.lists(TEXT, max_size=2))),
        gold=draw(OPTIONAL),
        list_id=draw(OPTIONAL),
        conditions=draw(st.dictionaries(TEXT.filter(lambda t: t == t.strip()), CONDITION, max_size=3)),
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(items(), max_size=3))
def test_every_field_of_every_item_comes_back(tmp_path: Path, listed: list[Item]) -> None:
    """Any texts, missing values, truth values and numbers survive the round trip, with their types."""
    write_items(listed, tmp_path / "items.csv")
    found = read_items(tmp_path / "items.csv")
    assert list(found) == listed
    types = [{name: type(value) for name, value in item.conditions.items()} for item in listed]
    assert [{name: type(value) for name, value in item.conditions.items()} for item in found] == types


def test_the_mini_items_come_back(tmp_path: Path) -> None:
    """A whole dataset survives, and writing it again gives the same bytes."""
    write_items(load().items, tmp_path / "a.csv")
    found = read_items(tmp_path / "a.csv")
    assert found == load().items
    write_items(found, tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_foreign_table_is_refused(tmp_path: Path) -> None:
    """A table that is not one of items is named as such, and a broken item by its line."""
    path = tmp_path / "t.csv"
    path.write_text("sentence,target\nA bank,bank\n")
    with pytest.raises(InputError, match="E006"):
        read_items(path)
    write_items([Item("i1", "d", (Usage("A bank", 2, 6),))], path)
    path.write_text(path.read_text().replace(",2,6,", ",2,60,"))
    with pytest.raises(InputError, match=r"t\.csv:2, item 'i1'.*E405"):
        read_items(path)


def test_a_table_of_items_is_told_from_others(tmp_path: Path) -> None:
    """By its first columns; a user's table, a folder and a file that is not there are none."""
    path = tmp_path / "t.csv"
    write_items([Item("i1", "d", (Usage("A bank", 2, 6),))], path)
    assert is_item_table(path)
    path.write_text("item_id,sentence,target\n1,A bank,bank\n")
    assert not is_item_table(path)
    path.write_bytes(b"\xff\xfe")
    assert not any(map(is_item_table, (path, tmp_path, tmp_path / "absent.csv")))
