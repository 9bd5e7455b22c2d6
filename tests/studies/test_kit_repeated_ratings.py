"""Repeated ratings of one item by one rater: numbered, counted as stated, kept in the table, an error if not meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.analysis.norms.norms import mean_ratings
from lexiscope.analysis.ratings import Ratings, Repeats
from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.settings import ReadingOptions
from lexiscope.studies.any_ratings.data import load_run
from lexiscope.studies.any_ratings.ratings import repeated_ratings
from lexiscope.studies.any_ratings.settings import AnyRatingsSettings
from lexiscope.studies.kit.data import own_dataset
from lexiscope.studies.kit.rated_file import read_rated_file
from lexiscope.studies.kit.ratings_file import read_ratings
from lexiscope.studies.kit.repeated_ratings import REPEATED, counted_ratings

TWICE = "rater,item,value\na,i,1\nb,i,2\na,i,4\n"
NUMBERED = "rater,item,value,repeat\na,i,4,2\nb,i,2,1\na,i,1,1\n"
ITEMS = "item_id,sentence_1,sentence_2,target,rater,rating{more}\n"
ROW = "{item},The bank closed.,A steep bank,bank,{rater},{rating}{more}\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "r.csv"
    path.write_text(text, encoding="utf-8")
    return path


def items_with_ratings(folder: Path, *ratings: tuple[str, int, str]) -> Path:
    more = any(repeat for *_, repeat in ratings)
    rows = (ROW.format(item="i", rater=who, rating=value, more=f",{n}" if more else "") for who, value, n in ratings)
    return written(folder, ITEMS.format(more=",repeat" if more else "") + "".join(rows))


@pytest.mark.parametrize(("how", "mean"), [("mean", (2.5 + 2) / 2), ("first", (1 + 2) / 2), ("last", (4 + 2) / 2)])
@pytest.mark.parametrize("text", [TWICE, NUMBERED])
def test_the_option_states_which_rating_counts(tmp_path: Path, text: str, how: Repeats, mean: float) -> None:
    """The norm has the mean, the first or the last rating of a rater, in the order of a column repeat; none is lost."""
    options = ReadingOptions(repeats=how)
    read = read_ratings(written(tmp_path, text), options=options)
    raters, items, values = read.in_order()
    assert Ratings.from_arrays(raters, items, values, repeats=read.repeats).means().tolist() == [mean]
    table = read_rated_file(written(tmp_path, text), options=options).data.responses
    assert mean_ratings(table, ["i"]).tolist() == [mean]
    kept = table.where(measure=("rating", REPEATED), subject_id="a")
    assert sorted(zip(kept.column("repeat").tolist(), kept.column("value").tolist(), strict=True)) == [(0, 1), (1, 4)]
    assert f"1 rating repeats an earlier rating of the same item by the same rater. The {how}" in " ".join(read.remarks)


def test_a_column_repeat_says_that_repeats_are_meant(tmp_path: Path) -> None:
    """The mean counts then; without the column and the option, the error names both."""
    assert read_ratings(written(tmp_path, NUMBERED)).repeats == "mean"
    with pytest.raises(InputError, match=r"(?s)r\.csv:4:5.*E502.*column repeat.*--repeats mean\|first\|last"):
        read_ratings(written(tmp_path, TWICE))
    unclear = "rater,item,value,repeat\na,i,1,1\na,i,4,1\n"
    with pytest.raises(InputError, match="E502"):
        read_ratings(written(tmp_path, unclear))


def test_an_item_file_with_ratings_keeps_the_same_rule(tmp_path: Path) -> None:
    """A repeated rating behind its sentences is an error, too, unless the file or the user says that it is meant."""
    path = items_with_ratings(tmp_path, ("a", 1, ""), ("b", 2, ""), ("a", 4, ""))
    with pytest.raises(InputError, match=r"item 'i'.*E502.*Two ratings by rater a"):
        own_dataset(path, task="relatedness", any_scale=True)
    last = own_dataset(path, task="relatedness", any_scale=True, options=ReadingOptions(repeats="last"))
    assert mean_ratings(last.responses, ["i"]).tolist() == [(4 + 2) / 2]
    assert any("The last of a rater's ratings" in remark for remark in last.card.remarks)
    numbered = items_with_ratings(tmp_path, ("a", 4, "2"), ("b", 2, "1"), ("a", 1, "1"))
    data = own_dataset(numbered, task="relatedness", any_scale=True)
    assert data.responses.column("repeat").tolist() == [1, 0, 0]
    assert mean_ratings(data.responses, ["i"]).tolist() == [(2.5 + 2) / 2]


def test_a_response_table_numbers_its_repeats(tmp_path: Path) -> None:
    """Rows of which ``repeat`` differs are two times of asking."""
    rows = [Response("p", "participant", "i", "t", "rating", value, repeat=n) for n, value in enumerate((1.0, 4.0))]
    path = tmp_path / "r.parquet"
    ResponseTable.from_rows(rows).write_parquet(path)
    assert (read_ratings(path).repeats, read_ratings(path, options=ReadingOptions(repeats="first")).repeats) == (
        "mean",
        "first",
    )


def test_choices_have_no_mean(tmp_path: Path) -> None:
    """A second choice is an error with any option."""
    with pytest.raises(InputError, match="E502"):
        read_ratings(
            written(tmp_path, "rater,item,value\na,i,yes\na,i,no\nb,i,no\n"), options=ReadingOptions(repeats="mean")
        )


def test_ratings_that_do_not_count_are_no_ratings() -> None:
    """They have a measure of their own; models are left as they are, and a table without repeats is not changed."""
    rows = [Response("p", "participant", "i", "t", "rating", value, repeat=n) for n, value in enumerate((1.0, 4.0))]
    rows += [Response("m", "chat", "i", "t", "rating", value, repeat=n) for n, value in enumerate((2.0, 3.0))]
    table = counted_ratings(ResponseTable.from_rows(rows), "first")
    assert table.column("measure").tolist() == ["rating", REPEATED, "rating", "rating"]
    assert counted_ratings(table, "first").column("measure").tolist() == table.column("measure").tolist()


def test_an_analysis_sees_both_ratings_of_a_pair(tmp_path: Path) -> None:
    """Whichever counts, raters are compared with themselves in the order of rating."""
    for how in ("mean", "first", "last"):
        run = load_run(AnyRatingsSettings(file=str(written(tmp_path, NUMBERED)), repeats=how), tmp_path / "run")
        pairs = repeated_ratings(run)
        assert pairs is not None
        assert (pairs.earlier.tolist(), pairs.later.tolist(), pairs.raters) == ([1], [4], ("a",))


def test_comments_do_not_hide_the_numbers_of_ratings() -> None:
    """A comment has the number of its rating; the first rating is still the one that the file numbers first."""
    rows = [
        Response("a", "participant", "i", "relatedness", measure, value, repeat=repeat, raw=raw)
        for repeat, value, raw in ((1, 5.0, "later"), (0, 2.0, "earlier"))
        for measure, value, raw in (("rating", value, None), ("comment", None, raw))
    ]
    counted = counted_ratings(ResponseTable.from_rows(rows), "first")
    assert counted.where(measure="rating").column("value").tolist() == [2.0]
    assert counted.where(measure=REPEATED).column("value").tolist() == [5.0]
    assert counted.where(measure="comment").column("raw").tolist() == ["later", "earlier"]
