"""Which column of a file means what."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import InputError
from lexiscope.items.tables.columns import ColumnMap, Indices, missing_columns


def test_usual_names_are_recognised() -> None:
    """SAW-C's own column names need no map; case and underscores do not matter."""
    header = ["Word", "Sentence_1", "Sense_id_s1", "Sentence_2", "Sense_id_s2", "Same_sense", "List", "Participant"]
    found = dict(ColumnMap().with_usual_columns([*header, "Response"]).items())
    assert found == {
        "sentence_1": "Sentence_1",
        "sentence_2": "Sentence_2",
        "target": "Word",
        "word": "Word",
        "sense_1": "Sense_id_s1",
        "sense_2": "Sense_id_s2",
        "same_sense": "Same_sense",
        "list_id": "List",
        "rater": "Participant",
        "rating": "Response",
    }


def test_what_the_user_names_is_never_overridden() -> None:
    """A named column is taken for that part only, and guessing does not use it for another."""
    found = ColumnMap(sense_1="word", target="string").with_usual_columns(["word", "string", "sentence"])
    assert (found.sense_1, found.target, found.word) == ("word", "string", None)


def test_a_rating_without_rater_is_not_guessed() -> None:
    """A column called rating without a column of raters is not taken: it might be a mean."""
    assert ColumnMap().with_usual_columns(["sentence", "target", "rating"]).rating is None
    assert ColumnMap(rating="rating").with_usual_columns(["rating"]).rating == "rating"


def test_unknown_parts_and_missing_columns() -> None:
    """A part that items do not have is an error; columns that the header lacks are listed."""
    with pytest.raises(InputError, match="'meaning'"):
        ColumnMap.from_mapping({"meaning": "x"})
    columns = ColumnMap(sentence_1="A", target="B", raters=("r1", "r2"))
    assert missing_columns(columns, ["A", "r2"]) == ["B", "r1"]
    indices = Indices.of(columns, ["A", "r2"])
    assert (indices.get("sentence_1"), indices.get("target"), indices.raters) == (0, None, (("r2", 1),))
