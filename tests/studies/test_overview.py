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
    assert (row[0], row[1], row[4]) == ("encoder:minilm", 5, None)


def test_a_subject_without_ratings_has_a_row() -> None:
    """Items that nobody rated: the boundary alone."""
    (row,) = _overview(Record("min_aic_over_layers", 700.0, subject="encoder:minilm", layer=6, view="full")).rows
    assert (row[0], row[1], row[4]) == ("encoder:minilm", None, 6)


def test_another_view_is_left_out() -> None:
    """The table holds the main view only."""
    other = Record("max_r_squared_over_layers", 0.17, subject="encoder:minilm", layer=5, view="full+final_stop")
    assert _overview(other).rows == ()
