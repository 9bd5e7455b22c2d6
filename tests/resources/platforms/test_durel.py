"""DURel and WUG folders: usages and judgments as items with one row for each rater, errors with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.platforms.durel import read_uses, word_folders
from lexiscope.resources.platforms.opened import open_file

USES = (
    "lemma\tpos\tdate\tgrouping\tidentifier\tdescription\tcontext\tindexes_target_token\tindexes_target_sentence\n"
    'bank\tnn\t1850\t1\tu1\t \t"Sit on the bank," she said.\t12:16\t0:28\n'
    "bank\tnn\t1990\t2\tu2\t \tThe bank was closed. We left.\t4:8\t0:20\n"
    "bank\tnn\t1991\t2\tu3\t \tA steep bank\t8:12\t0:12\n"
)
JUDGMENTS = (
    "identifier1\tidentifier2\tannotator\tjudgment\tcomment\tlemma\n"
    'u1\tu2\tann1\t1.0\ta "word\tbank\n'
    "u2\tu1\tann2\t2\t \tbank\n"
    "u1\tu3\tann1\t0.0\t \tbank\n"
    "u1\tu3\tann2\t4\t \tbank\n"
)


def written(folder: Path, uses: str = USES, judgments: str = JUDGMENTS) -> Path:
    """Write the two files into a folder and return the path of the judgments."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "uses.csv").write_text(uses, encoding="utf-8")
    (folder / "judgments.csv").write_text(judgments, encoding="utf-8")
    return folder / "judgments.csv"


def test_a_judgment_has_the_texts_of_its_usages(tmp_path: Path) -> None:
    """Quotation marks are letters, targets are offsets, and two orders of a pair are one item in its first order."""
    opened = open_file(written(tmp_path))
    table = opened.table
    assert opened.program == "DURel"
    assert list(table["item_id"]) == ["u1::u2", "u1::u2", "u1::u3", "u1::u3"]
    assert set(table["sentence_1"]) == {'"Sit on the bank," she said.'}
    assert list(table["sentence_2"])[:2] == ["The bank was closed. We left."] * 2
    for side in (1, 2):
        cells = zip(table[f"sentence_{side}"], table[f"start_{side}"], table[f"end_{side}"], strict=True)
        assert {text[int(start) : int(end)] for text, start, end in cells} == {"bank"}
    assert list(table["annotator"]) == ["ann1", "ann2", "ann1", "ann2"]
    assert list(table["grouping_1"]) == ["1"] * 4


def test_cannot_decide_is_no_rating(tmp_path: Path) -> None:
    """A judgment of 0 or a hyphen is an empty rating, and the note counts them."""
    opened = open_file(written(tmp_path, judgments=JUDGMENTS.replace("4\t", "-\t")))
    assert list(opened.table["judgment"]) == ["1", "2", "", ""]
    assert "Without a rating: 2 judgments of 0 (cannot decide)." in opened.notes


def test_usages_without_a_judgment_are_counted(tmp_path: Path) -> None:
    """Items are the judged pairs: the note counts the usages of which no pair was judged."""
    only_one = "".join(JUDGMENTS.splitlines(keepends=True)[:2])
    assert "Without a judgment: 1 of 3 usages in uses.csv" in open_file(written(tmp_path, judgments=only_one)).notes[-1]
    assert not any("Without a judgment" in note for note in open_file(written(tmp_path)).notes)


def test_the_place_of_a_cell_is_that_of_the_file(tmp_path: Path) -> None:
    """A cell knows its line and column in judgments.csv, also behind a quotation mark."""
    place = open_file(written(tmp_path)).table.place(0, "judgment")
    assert (Path(place.path or "").name, place.line, place.column) == ("judgments.csv", 2, len("u1\tu2\tann1\t") + 1)


@pytest.mark.parametrize(
    ("uses", "judgments", "file", "line", "code", "what"),
    [
        (USES, JUDGMENTS.replace("u2\tann1", "u9\tann1"), "judgments.csv", 2, "E210", "no usage 'u9'"),
        (USES, JUDGMENTS.replace("4\t", "5\t"), "judgments.csv", 5, "E301", "'5' is not on the scale 1 to 4"),
        (USES.replace("8:12", "8:99"), JUDGMENTS, "uses.csv", 4, "E103", "8:99 is not in the context"),
        (USES.replace("8:12", "8"), JUDGMENTS, "uses.csv", 4, "E103", "'8' is not one span"),
        (USES.replace("\tu3\t", "\tu2\t"), JUDGMENTS, "uses.csv", 4, "E211", "two usages have the identifier 'u2'"),
        (USES.replace("identifier", "name"), JUDGMENTS, "uses.csv", 1, "E006", "no column 'identifier'"),
        (USES, JUDGMENTS.replace("\tann2\t2", "\t2"), "judgments.csv", 3, "", "this row has 5 cells, the header has 6"),
    ],
)
def test_an_error_names_file_and_line(
    tmp_path: Path, uses: str, judgments: str, file: str, line: int, code: str, what: str
) -> None:
    """Whatever is wrong, the error is at the line of the file where it is wrong."""
    with pytest.raises(InputError, match=what) as caught:
        open_file(written(tmp_path, uses, judgments))
    place = caught.value.place
    assert place is not None
    assert (Path(place.path or "").name, place.line, caught.value.code or "") == (file, line, code)


def test_without_usages_there_are_no_items(tmp_path: Path) -> None:
    """Judgments alone name their missing file."""
    written(tmp_path)
    (tmp_path / "uses.csv").unlink()
    with pytest.raises(InputError, match=r"there is no uses\.csv next to judgments\.csv"):
        open_file(tmp_path / "judgments.csv")


def test_words_have_folders_of_their_own(tmp_path: Path) -> None:
    """A folder of one word, of words, or of words in ``data``, as WUGs are published."""
    written(tmp_path / "wug" / "data" / "bank")
    written(tmp_path / "wug" / "data" / "arm")
    assert [path.name for path in word_folders(tmp_path / "wug")] == ["arm", "bank"]
    assert [path.name for path in word_folders(tmp_path / "wug" / "data")] == ["arm", "bank"]
    assert word_folders(tmp_path / "wug" / "data" / "arm") == (tmp_path / "wug" / "data" / "arm",)
    assert word_folders(tmp_path) == ()
    assert read_uses(tmp_path / "wug" / "data" / "arm" / "uses.csv")["u1"].grouping == "1"
