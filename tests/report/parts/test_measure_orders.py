"""Two kinds of measures of the same subjects: the table of the comparisons, and the line that sums them up."""

from __future__ import annotations

from lexiscope.analysis.senses.disagreeing_orders import compare_every
from lexiscope.core.result import Record
from lexiscope.report.parts.sense_parts import orders_sentence, orders_table


def records(*found: float, margin: float) -> list[Record]:
    """Two statistics of two subjects, with intervals."""
    named = zip(("s", "s", "t", "t"), ("a", "b", "a", "b"), found, strict=True)
    return [Record(name, value, who, low=value - margin, high=value + margin) for name, who, value in named]


def told(*found: float, margin: float = 3) -> str:
    compared = compare_every(records(*found, margin=margin), {"Rho": "s"}, {"Found": "t"})
    return orders_sentence(compared, first="a rho", second="the reading", who="vectors")


def test_the_table_names_the_best_and_the_pairs_in_another_order() -> None:
    """Short names of subjects; a pair is clear where no interval overlaps."""
    compared = compare_every(records(60, 50, 40, 80, margin=3), {"Rho": "s"}, {"Found": "t"})
    table = orders_table(compared, {"a": "A", "b": "B"}, first="Similarity")
    assert table.rows == (("Rho", "Found", "A", "B", "no", "1 of 1", "A / B"),)
    assert [column.header for column in table.columns][2:4] == ["Best by similarity", "Best by the other"]
    near = compare_every(records(60, 50, 40, 80, margin=6), {"Rho": "s"}, {"Found": "t"})
    assert orders_table(near, {}, first="Similarity").rows[0][-1] == "none"


def test_one_line_says_whether_the_best_are_the_same() -> None:
    """Other best subjects with the measures that say so; the same ones; nothing if nothing is compared."""
    assert told(60, 50, 40, 80) == (
        "In 1 of 1 comparisons the two have other best vectors (Rho and found); in 1 a pair stands clearly in another "
        "order"
    )
    assert told(60, 50, 80, 40) == "All 1 comparisons of a rho with the reading have the same best vectors"
    assert orders_sentence({}, first="a", second="b", who="c") == ""
