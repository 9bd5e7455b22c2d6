"""Which column of a file means what."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.settings import ReadingOptions
from lexiscope.items.tables.columns import ColumnMap, Indices, missing_columns
from lexiscope.items.tables.item_rows import item_columns
from lexiscope.resources.platforms.opened import open_file


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


@pytest.mark.parametrize(
    ("values", "part"),
    [(("same", "different"), "same_sense"), (("river", "money"), None), (("1", "2"), None), (("same", "same"), None)],
)
def test_one_sense_of_two_sentences_is_that_of_the_pair(
    tmp_path: Path, values: tuple[str, str], part: str | None
) -> None:
    """Same or different is the condition of a pair; other values are a condition of their own, never a first sense."""
    head = "word,sentence_1,sentence_2,sense\n"
    rows = [f"bank,The bank {number}.,A bank {number}.,{value}" for number, value in enumerate(values)]
    (tmp_path / "pairs.csv").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    _, known = item_columns(open_file(tmp_path / "pairs.csv", ReadingOptions()), ReadingOptions())
    assert {name: part for part, name in known.items()}.get("sense") == part
    _, named = item_columns(
        open_file(tmp_path / "pairs.csv", ReadingOptions()), ReadingOptions(columns=("sense_1=sense",))
    )
    assert named.sense_1 == "sense"


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
