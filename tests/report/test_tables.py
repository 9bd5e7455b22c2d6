"""Tables: how numbers are printed, and that nothing is lost on the way to a file."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.result import AtMost
from lexiscope.report.tables import (
    BOUNDED,
    DASH,
    INTEGER,
    P_VALUE,
    Column,
    Format,
    IntervalCell,
    Missing,
    Table,
    format_number,
    layout,
    to_csv,
    to_text,
)


@pytest.mark.parametrize(
    ("value", "form", "printed"),
    [
        (0.357, BOUNDED, ".36"),
        (-0.597, BOUNDED, "−.60"),
        (1.0, BOUNDED, "1.00"),
        (-17089.2856, Format(digits=1), "−17,089.3".replace(",", "")),
        (10639, INTEGER, "10,639"),
        (0.0366, P_VALUE, ".037"),
        (3.1e-10, P_VALUE, "< .001"),
        (0.001, P_VALUE, ".001"),
        (AtMost(2 / 401), P_VALUE, "≤ .005"),
        (AtMost(0.0021), P_VALUE, "≤ .003"),
        (AtMost(0.0001), P_VALUE, "< .001"),
        (-0.0004, Format(digits=2), "0.00"),
    ],
)
def test_numbers_are_printed_as_their_format_says(value: float, form: Format, printed: str) -> None:
    """Fixed digits, a true minus sign, no leading zero where bounded, no negative zero, small p as a bound."""
    assert format_number(value, form) == printed


def test_layout_letters_each_note_once(table: Table) -> None:
    """Header notes and reasons for missing values get letters in order; equal notes share one."""
    twice = Table("t", "", "t", (Column("a"), Column("b")), ((Missing("why"), Missing("why")), (Missing("other"), 1)))
    assert layout(twice).lettered == (("a", "why"), ("b", "other"))
    assert [text for _, text in layout(table).lettered] == [
        "Layer of highest R².",
        "own rating included",
        "constant distances",
        "not defined",
    ]


def test_missing_values_are_dashes(table: Table) -> None:
    """No cell is ever printed as nan or None."""
    printed = [cell.text for row in layout(table).rows for cell in row]
    assert printed.count(DASH) == 3
    assert not {"nan", "None"} & set(printed)


def test_csv_keeps_full_precision(table: Table) -> None:
    """A column with intervals becomes three; missing cells are empty; numbers read back equal."""
    rows = list(csv.reader(io.StringIO(to_csv(table))))
    assert rows[0] == ["Model & co", "Layer", "R²", "R² low", "R² high", "Remark"]
    assert [float(part) for part in rows[1][2:5]] == [0.357, 0.3, 0.41]
    assert rows[2][2:] == ["-0.597", "", "", "not reproduced"]
    assert rows[3] == ["mBERT", "", "", "", "", "true"]


def test_plain_text_is_aligned(table: Table) -> None:
    """In a terminal, numbers end at one column and the notes stand below."""
    lines = to_text(table).splitlines()
    assert lines[0] == "Table 2. Agreement with people"
    assert "1,200  .36 [.30, .41]" in lines[4]
    ends = [lines[row].index(end) + len(end) for row, end in ((4, "1,200"), (5, "6"), (7, "2"))]
    assert len(set(ends)) == 1
    assert lines[-1] == "Bootstrap over words."


def test_rows_must_fit_the_columns() -> None:
    """A row with too few cells names itself."""
    with pytest.raises(InputError, match="row 2 of table 't' has 1 cells for 2 columns"):
        Table("t", "1", "t", (Column("a"), Column("b")), (("x", 1), ("y",)))


def test_odd_cells_and_names_are_refused() -> None:
    """A cell holds text, numbers, intervals or nothing; a name is a file name."""
    with pytest.raises(InputError, match="cannot hold list"):
        Table("t", "1", "t", (Column("a"),), (([1],),))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cannot name"):
        Table("../t", "1", "t", (Column("a"),), ())


def test_numpy_scalars_and_undefined_intervals_are_settled_on_the_way_in() -> None:
    """numpy numbers become plain ones; an interval without ends leaves its estimate, an undefined estimate nothing."""
    cells = (np.float64(0.5), IntervalCell(float("nan"), 1.0, 0.5), IntervalCell(0.0, 1.0, float("nan")))
    table = Table("t", "1", "t", tuple(Column(name) for name in "abc"), (cells,))
    assert table.rows == ((0.5, 0.5, Missing("not defined")),)
    assert type(table.rows[0][0]) is float
