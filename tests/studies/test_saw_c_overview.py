"""The table that a study ends with on the terminal."""

from __future__ import annotations

from lexiscope.core.result import Record
from lexiscope.report.tables import Table
from lexiscope.studies.saw_c import overview
from lexiscope.studies.saw_c.settings import SawCSettings


def _overview(*records: Record) -> Table:
    return overview(records, SawCSettings(views=("full",)))


def test_a_subject_without_a_sense_boundary_has_a_row() -> None:
    """Items of one's own need no senses: the model stands beside people with its fit, and a dash for the boundary."""
    fit = Record("max_r_squared_over_layers", 0.17, subject="encoder:minilm", layer=5, view="full")
    (row,) = _overview(fit).rows
    assert (row[0], row[1], row[5]) == ("encoder:minilm", 5, None)


def test_a_subject_without_ratings_has_a_row() -> None:
    """Items that nobody rated: the boundary alone."""
    (row,) = _overview(Record("min_aic_over_layers", 700.0, subject="encoder:minilm", layer=6, view="full")).rows
    assert (row[0], row[1], row[5]) == ("encoder:minilm", None, 6)


def test_another_view_is_left_out() -> None:
    """The table holds the main view only."""
    other = Record("max_r_squared_over_layers", 0.17, subject="encoder:minilm", layer=5, view="full+final_stop")
    assert _overview(other).rows == ()


def test_the_best_layer_stands_beside_what_is_left_when_its_choice_is_allowed_for() -> None:
    """The highest R² is chosen on the same items; the next column is the one of words that had no part in it."""
    where = {"subject": "encoder:minilm", "view": "full"}
    highest = Record("max_r_squared_over_layers", 0.17, layer=5, **where)
    table = _overview(highest, Record("r_squared(layer=chosen)", 0.12, low=0.05, high=0.2, **where))
    assert [column.header for column in table.columns][2:4] == ["R²", "R², choice allowed for"]
    assert table.rows[0][3].value == 0.12
