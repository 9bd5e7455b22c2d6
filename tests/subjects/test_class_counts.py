"""The class seen most often with a word."""

from __future__ import annotations

from lexiscope.subjects.baseline import ClassCounts

SEEN = [("bank", "b2"), ("bank", "b1"), ("bank", "b2"), ("bank", "b1"), ("bat", "t1")]


def test_ties_go_to_the_first() -> None:
    """The first of the classes that are asked about wins a tie; without them the one that was seen first."""
    counts = ClassCounts(SEEN)
    assert counts.most_frequent("bank", among=("b2", "b1")) == "b2"
    assert counts.most_frequent("bank", among=("b1", "b2")) == "b1"
    assert (counts.most_frequent("bank"), ClassCounts(reversed(SEEN)).most_frequent("bank")) == ("b2", "b1")


def test_what_was_never_seen_has_no_answer() -> None:
    """Neither an unknown word nor a class that was never seen with the word is an answer."""
    counts = ClassCounts(SEEN)
    assert counts.most_frequent("bow") is None
    assert counts.most_frequent("bat", among=("t2", "t3")) is None
