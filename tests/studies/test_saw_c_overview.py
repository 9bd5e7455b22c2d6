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
    assert (row[0], row[1], row[-1]) == ("encoder:minilm", 5, None)


def test_a_subject_without_ratings_has_a_row() -> None:
    """Items that nobody rated: the boundary alone."""
    (row,) = _overview(Record("min_aic_over_layers", 700.0, subject="encoder:minilm", layer=6, view="full")).rows
    assert (row[0], row[1], row[-1]) == ("encoder:minilm", None, 6)


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


def test_ranks_and_the_lowest_rho_say_that_their_layer_was_chosen() -> None:
    """The ranks of two subjects name their layer; ρ stands beside the one that allows for the choice."""
    records = []
    for place, (subject, rho, left) in enumerate((("a", -0.6, -0.5), ("b", -0.4, -0.3)), start=1):
        where = {"subject": subject, "view": "full"}
        records += [
            Record("max_r_squared_over_layers", rho**2, layer=5, **where),
            Record("min_spearman_over_layers", rho, layer=5, **where),
            Record("spearman(of=distance,with=norms,layer=chosen)", left, **where),
            Record("rank(of=spearman,among=subjects)", float(place), low=1.0, high=2.0, unit="rank", **where),
        ]
    people = Record("leave_one_out_agreement(method=spearman,summary=mean)", 0.73)
    table = _overview(*records, people)
    names = [column.header for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    assert [(row["ρ"], row["ρ, choice allowed for"]) for row in rows[:2]] == [(-0.6, -0.5), (-0.4, -0.3)]
    assert [row["Rank"] for row in rows] == ["1–2", "1–2", None]
    assert {name for name, cell in rows[2].items() if cell is not None} == {"Subject", "ρ"}
    assert "layer of lowest ρ, chosen on the same items" in table.columns[names.index("Rank")].note
