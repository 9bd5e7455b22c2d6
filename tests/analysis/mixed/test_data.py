"""Columns of a mixed model are checked and coded before anything is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.mixed.data import prepare
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.core.errors import InputError, LexiscopeError, StatisticError

Columns = dict[str, Any]


def columns() -> Columns:
    """Twelve trials: three words, each with two pairs of each sense, rated once."""
    return {
        "rating": np.array([1, 2, 5, 4, 2, 1, 4, 4, 1, 3, 5, 5]),
        "sense": np.array(["Same", "Different"] * 6),
        "distance": np.linspace(0.0, 1.1, 12),
        "word": np.repeat(["banco", "cola", "rama"], 4),
        "list": np.tile([1, 2, 10, 11], 3),
    }


def prepared(formula: str, data: Columns, **references: str) -> Any:
    return prepare(read_formula(formula), data, references=references)


def test_text_is_coded_with_the_first_level_as_zero() -> None:
    """'Different' comes before 'Same', so it is 0; the coding is kept for the report."""
    data = prepared("rating ~ sense + (1 | word)", columns())
    assert data.columns["sense"].tolist() == [1.0, 0.0] * 6
    assert str(data.codings[0]) == "sense: 0 = Different, 1 = Same"


def test_a_reference_level_can_be_named() -> None:
    """The level that is named as reference becomes 0."""
    data = prepared("rating ~ sense + (1 | word)", columns(), sense="Same")
    assert data.columns["sense"].tolist() == [0.0, 1.0] * 6


def test_grouping_numbers_are_labels() -> None:
    """List 10 is a label, not ten times list 1; levels are counted."""
    data = prepared("rating ~ distance + (1 | list) + (1 | word)", columns())
    assert data.groups["list"].levels.tolist() == ["1", "10", "11", "2"]
    assert data.levels == (("list", 4), ("word", 3))


@pytest.mark.parametrize("labels", [np.tile([1, 2, 10, 11], 3), np.tile(["1", "2", "10", "11"], 3)])
def test_a_level_of_two_columns_is_their_combination(labels: Any) -> None:
    """``word:list`` has the pairs that occur, whatever type the labels have; a colon in a label makes no pair."""
    twice = {name: np.tile(column, 2) for name, column in (columns() | {"list": labels}).items()}
    grouping = prepared("rating ~ distance + (1 | word:list) + (1 | list)", twice).groups
    index = grouping["word:list"].index
    assert grouping["word:list"].levels[index][:4].tolist() == ["banco:1", "banco:2", "banco:10", "banco:11"]
    assert grouping["list"].levels[grouping["list"].index].tolist() == twice["list"].astype(str).tolist()
    awkward = columns() | {"word": np.repeat(["a:b", "a"], 6), "list": np.tile(["c", "b:c", "d"], 4)}
    assert len(prepared("rating ~ distance + (1 | word:list)", awkward).groups["word:list"].levels) == 6


def test_few_levels_are_remarked() -> None:
    """A grouping factor with fewer than five levels is fitted, with a remark."""
    assert prepared("rating ~ distance + (1 | word)", columns()).remarks == (
        "word has only 3 levels: its variance is poorly known",
    )


def broken(**changes: Any) -> Columns:
    return {**columns(), **changes}


GAPS = np.r_[np.nan, np.linspace(0, 1, 9), np.nan, 1.0]
ONE_PER_WORD = np.repeat(["Same", "Different"], [4, 8])


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({k: v for k, v in columns().items() if k != "sense"}, InputError, ["'sense'", "distance, list"]),
        (broken(distance=GAPS), InputError, ["'distance'", "2 missing", "12 rows", "rows 1, 11"]),
        (broken(sense=np.array(["Same", ""] * 6)), InputError, ["'sense'", "6 missing"]),
        (broken(sense=np.array(["Same", None] * 6, dtype=object)), InputError, ["'sense'", "6 missing"]),
        (broken(rating=np.arange(11)), InputError, ["rating 11", "sense 12"]),
        (broken(rating=np.array(["1", "2"] * 6)), InputError, ["'rating'", "text"]),
        (broken(rating=np.ones((12, 1))), InputError, ["'rating'", "2 dimensions"]),
        (broken(distance=np.full(12, 0.5)), StatisticError, ["'distance'", "constant", "12 rows"]),
        (broken(rating=np.full(12, 3.5)), StatisticError, ["'rating'", "constant", "all 12 rows are 3.5"]),
        (broken(sense=np.full(12, "Same")), StatisticError, ["'sense'", "constant"]),
        (broken(word=np.full(12, "banco")), StatisticError, ["'word'", "one level", "12 rows"]),
        (broken(word=np.arange(12)), StatisticError, ["'word'", "12 levels", "12 rows"]),
        (broken(sense=ONE_PER_WORD), StatisticError, ["'sense'", "every one of the 3 levels", "'word'"]),
    ],
)  # fmt: skip
def test_unusable_columns_are_refused_by_name(data: Columns, error: type[LexiscopeError], words: list[str]) -> None:
    """An unusable column is refused before fitting; the message names the column and counts the rows."""
    with pytest.raises(error) as caught:
        prepared("rating ~ sense + distance + (1 + sense | word)", data)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_word_with_one_pair_is_remarked() -> None:
    """A level with one value of a predictor says nothing about its slope: fitted, counted in a remark."""
    sense = np.array(["Same"] * 4 + ["Same", "Different"] * 4)
    remarks = prepared("rating ~ sense + (1 + sense | word)", broken(sense=sense)).remarks
    assert remarks[0] == "1 of 3 levels of word have one value of sense: no slope of theirs"


def test_unused_columns_may_be_anything() -> None:
    """Only the columns of the formula are looked at."""
    data = broken(note=np.array([None] * 12, dtype=object))
    assert "note" not in prepared("rating ~ distance + (1 | word)", data).columns


def test_an_unknown_reference_level_is_refused() -> None:
    """A reference level that does not occur would silently change the coding."""
    with pytest.raises(InputError, match="not a level of 'sense'"):
        prepared("rating ~ sense + (1 | word)", columns(), sense="Other")


def test_an_uncorrelated_slope_of_a_wide_factor_is_refused() -> None:
    """lme4 keeps correlations among a factor's levels under '||', so its meaning is not settled."""
    data = broken(cue=np.tile(["adjective", "noun", "verb"], 4))
    with pytest.raises(InputError, match="more than two levels: cue"):
        prepared("rating ~ cue + (1 + cue || word)", data)
