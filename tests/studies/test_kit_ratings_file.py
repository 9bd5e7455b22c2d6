"""Any table of ratings is read without guessing; what is wrong is named with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.studies.kit.ratings_file import RatingColumns, RatingsFile, read_ratings

SPELLINGS = Path(__file__).parents[1] / "data" / "ratings"

GOOD = "Participant,Tag,Response\np1,i1,4\np1,i2,\np2,i1,5\np2,i2,1.5\n"


def _file(tmp_path: Path, content: str | bytes, name: str = "r.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace("\n", "\r\n"),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\n\n"),
        GOOD.replace("p1,i2,\n", "p1,i2,NaN\n"),
        GOOD.replace("p1,i2,\n", '"p1"," i2 ",n/a\n'),
    ],
)
def test_the_same_table_in_many_dresses(content: str | bytes, tmp_path: Path) -> None:
    """Delimiter, line ends, byte-order mark, blank lines, quotes and signs for missing change nothing."""
    read = read_ratings(_file(tmp_path, content))
    assert read.raters == ("p1", "p1", "p2", "p2")
    assert read.items == ("i1", "i2", "i1", "i2")
    np.testing.assert_array_equal(read.values, [4, np.nan, 5, 1.5])
    assert read.remarks[0].startswith("Columns: rater = Participant, item = Tag, rating = Response.")
    assert "1 missing rating was excluded." in read.remarks


def _numbers(read: RatingsFile) -> dict[tuple[str, str], float]:
    rows = zip(read.raters, read.items, read.values.tolist(), strict=True)
    return {(rater, item): value for rater, item, value in rows if value == value}


@pytest.mark.parametrize("name", sorted(path.name for path in SPELLINGS.iterdir() if path.suffix != ".md"))
def test_one_table_in_seventeen_spellings_is_one_table(name: str) -> None:
    """Encoding, separator, decimal sign, language, layout, form and program change no number, word or condition."""
    plain, read = read_ratings(SPELLINGS / "long.csv"), read_ratings(SPELLINGS / name)
    # the file itself, by hand: José's ratings of i1 and i6, and the one that is missing
    numbers = _numbers(plain)
    assert (numbers["José", "i1"], numbers["José", "i6"], len(numbers)) == (4.5, 2.5, 4 * 6 - 1)
    assert ("Anaïs", "i5") in numbers
    assert ("Zoë", "i5") not in numbers
    assert _numbers(read) == numbers
    assert read.words in (None, plain.words)
    assert list(read.conditions.values()) in ([], list(plain.conditions.values()))
    assert (read.words is None) == (name in ("wide_items.csv", "own_export.csv"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"r\.csv: \[E002\] the file is empty"),
        ("\n\n", r"r\.csv: \[E002\] the file is empty"),
        ("rater,item,value\n", r"r\.csv: \[E002\] the file has a header but no row"),
        ("rater,item,value\na,i,\n", r"r\.csv: \[E002\] The file has no ratings\.(.|\n)*Check --value COLUMN"),
        (
            "who,item,value\na,i,1\n",
            r"r\.csv:1: \[E006\] Cannot find the column for rater\.(.|\n)*--rater COLUMN(.|\n)*'who'",
        ),
        (
            "quién,cosa,nota\na,i,1\n",
            r"Cannot find the columns for rater and item\.(.|\n)*--rater COLUMN --item COLUMN\. Columns",
        ),
        ("rater,subject,item,value\na,b,i,1\n", r"\[E006\] More than one column may hold the rater: rater, subject"),
        ("rater,item,item,value\na,i,i,1\n", r"\[E006\] More than one column may hold the item"),
        (
            "rater;item;value\na;i;4,5\nb;i;4.5\n",
            r"r\.csv:1: \[E304\] some numbers have a decimal comma \(4,5\), others",
        ),
        ("rater;item;value\na;i;1,500\nb;i;2\n", r"\[E304\] 1,500 may be 1\.500 or 1500(.|\n)*--decimal comma"),
        (
            "rater,item,value\na,i,1\na,j,four\n",
            r"r\.csv:3:5: \[E302\] Cannot read 'four' as a number\.\n    a,j,four\n {8}\^{4}\n",
        ),
        ("rater,item,value\na,i,1\nb,i,inf\n", r"\[E302\] Cannot read 'inf'"),
        ("rater,item,value\na,i,1\nb,i,1_0\n", r"\[E302\] Cannot read '1_0'"),
        ("rater,item,value\na,i,1\n,j,2\n", r"r\.csv:3:1: \[E105\] Empty rater or item\."),
        ("rater,item,value\na,i,1\na,j\n", r"r\.csv:3: \[E004\] the row has 2 fields, the header names 3"),
        (
            'rater,item,value\na,"i,1\nb,i,2\n',
            r"r\.csv:2: \[E005\] the row cannot be read: a quoted field is never closed",
        ),
        (
            "rater,item,value\na,i,1\nb,i,2\na,i,3\n",
            r"r\.csv:4:5, item 'i': \[E502\] Two ratings by rater a for this item \(first: line 2\)",
        ),
        ("rater,item,value,version\na,i,1,x\nb,i,2,y\n", r"\[E006\] Within one item these columns .* version"),
        ("rater,item,value\n\u0439\u0446\u0443,i,1\n".encode("cp1251"), r"r\.csv:2:1: \[E003\](.|\n)*--encoding"),
        (b"PK\x03\x04rest", r"\[E003\] this is a spreadsheet"),
        ("rater,item,value\na,\0,1\n", r"r\.csv:2: \[E003\] a NUL character"),
    ],
)
def test_a_fault_is_an_error_with_its_place(content: str | bytes, message: str, tmp_path: Path) -> None:
    """Nothing is guessed: each fault has a code, its line where it has one, and what to do (options of the command)."""
    with pytest.raises(InputError, match=message):
        read_ratings(_file(tmp_path, content), RatingColumns())


def test_off_the_scale_is_an_error_where_the_scale_is_given(tmp_path: Path) -> None:
    """A rating off the scale, or between its steps, is refused with its line."""
    path = _file(tmp_path, "rater,item,value\na,i,5\nb,i,6\n")
    assert read_ratings(path).values.tolist() == [5, 6]
    with pytest.raises(InputError, match=r"r\.csv:3:5: \[E301\] 6 is not on the scale 1 to 5"):
        read_ratings(path, scale=Scale(1, 5))
    with pytest.raises(InputError, match="E301"):
        read_ratings(_file(tmp_path, "rater,item,value\na,i,2.5\n"), scale=Scale(1, 5))


def test_several_columns_identify_an_item_together(tmp_path: Path) -> None:
    """Two --item columns make the item; without the second one the ratings would be mixed up."""
    path = _file(tmp_path, "rater,word,version,value\na,w,1,1\na,w,2,5\nb,w,1,2\n")
    assert read_ratings(path, RatingColumns(item=("word", "version"))).items == ("w | 1", "w | 2", "w | 1")
    with pytest.raises(InputError, match="E502"):
        read_ratings(path, RatingColumns(item=("word",)))


def test_groups_belong_to_items_and_to_raters(tmp_path: Path) -> None:
    """--group and --rater-group map names to groups; one that stands in two groups is an error."""
    path = _file(tmp_path, "rater,item,value,lemma,country\na,i,1,x,mx\nb,i,2,x,cl\nb,j,2,y,cl\n")
    read = read_ratings(path, RatingColumns(group="lemma", rater_group="country"))
    assert (read.groups, read.rater_groups) == ({"i": "x", "j": "y"}, {"a": "mx", "b": "cl"})
    with pytest.raises(InputError, match=r"r\.csv:3:9: \[E507\] 'i' is in two groups: 'mx' and 'cl'"):
        read_ratings(path, RatingColumns(group="country"))


def test_a_response_table_is_read_as_csv_and_parquet(tmp_path: Path) -> None:
    """The ratings of participants are read from a response table, other measures and subjects are left out."""
    rows = [
        Response(f"p{r}", "participant", f"i{i}", "relatedness", "rating", float(r + i)) for r in (1, 2) for i in (1, 2)
    ]
    rows += [Response("m", "model", "i1", "relatedness", "cosine_distance", 0.3, layer=1)]
    table = ResponseTable.from_rows(rows)
    table.write_csv(tmp_path / "r.csv")
    table.write_parquet(tmp_path / "r.parquet")
    for name in ("r.csv", "r.parquet"):
        read = read_ratings(tmp_path / name, scale=Scale(1, 5))
        assert read.raters == ("p1", "p1", "p2", "p2")
        assert read.values.tolist() == [2, 3, 3, 4]
    with pytest.raises(InputError, match="columns of a response table are fixed"):
        read_ratings(tmp_path / "r.csv", RatingColumns(rater="subject_id"))


def test_repeated_ratings_in_a_response_table_are_refused(tmp_path: Path) -> None:
    """A participant who rated an item twice is an error in a response table, too."""
    rows = [Response("p", "participant", "i", "relatedness", "rating", value) for value in (1.0, 2.0)]
    ResponseTable.from_rows(rows).write_csv(tmp_path / "r.csv")
    with pytest.raises(InputError, match="E502"):
        read_ratings(tmp_path / "r.csv")


def test_parquet_is_known_by_its_bytes_and_another_table_is_named(tmp_path: Path) -> None:
    """A response table is read under any name; of another table the error names the missing column and the way out."""
    columns = {"subject_kind": "participant", "task": "relatedness", "measure": "rating"}
    rows = {"subject_id": ["a", "a", "b", "b"], "item_id": ["i", "j"] * 2, "value": [1.0, 2.0, 2.0, 3.0]}
    ResponseTable.from_columns(columns | rows).write_parquet(tmp_path / "answers.PARQUET")
    assert read_ratings(tmp_path / "answers.PARQUET").raters == ("a", "a", "b", "b")
    pa_parquet.write_table(pa.table({"participant": ["a"], "rating": [1.0]}), tmp_path / "mine.parquet")
    with pytest.raises(InputError, match="Cannot find the column for item"):
        read_ratings(tmp_path / "mine.parquet")
    pa_parquet.write_table(
        pa.table({"participant": ["a", "b"], "item": ["i"] * 2, "rating": [1.0, 2.5]}), tmp_path / "mine.parquet"
    )
    assert read_ratings(tmp_path / "mine.parquet").values.tolist() == [1, 2.5]


def test_what_the_user_says_decides(tmp_path: Path) -> None:
    """--map, --missing, --decimal, --separator, --encoding and --where decide what the file alone leaves open."""
    text = "wer;satz;urteil;phase\nñ;s1;1,500;test\nb;s1;9;test\nb;s2;2;practice\n"
    options = ReadingOptions(
        columns=("rater=wer", "item=satz", "rating=urteil"),
        where=("phase=test",),
        encoding="cp1252",
        separator="semicolon",
        decimal="comma",
        missing=("9",),
    )
    read = read_ratings(_file(tmp_path, text.encode("cp1252")), options=options)
    assert (read.raters, read.items) == (("ñ", "b"), ("s1", "s1"))
    np.testing.assert_array_equal(read.values, [1.5, np.nan])
