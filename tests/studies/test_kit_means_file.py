"""Tables with a mean rating of each item and columns of models: what is read, what is an error, what norm answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.studies.kit.data import own_dataset
from lexiscope.studies.kit.rated_file import RECORDED, read_rated_file
from lexiscope.studies.norm import NormSettings
from lexiscope.studies.norm.data import load_run

PAIRS = "word1,word2,POS,similarity,gpt\nold,new,A,1.5,1\nwise,clever,A,9.2,9\nwalk,run,V,5.1,\nwalk,trail,V,4.8,4\n"
COLUMNS = ("norm=similarity", "model=gpt")


def written(folder: Path, text: str = PAIRS) -> Path:
    path = folder / "means.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_means_and_models_are_rows_of_their_own(tmp_path: Path) -> None:
    """A pair of words is an item; its mean is a norm, a model's rating a rating; a missing one has no value."""
    rated = read_rated_file(written(tmp_path), options=ReadingOptions(columns=COLUMNS))
    assert [item.item_id for item in rated.data.items] == ["old | new", "wise | clever", "walk | run", "walk | trail"]
    assert [item.conditions["POS"] for item in rated.data.items] == ["A", "A", "V", "V"]
    rows = [(row.subject_id, row.subject_kind, row.measure, row.value) for row in rated.data.responses.rows()]
    assert rows[:4] == [("norm", "norm", "norm", value) for value in (1.5, 9.2, 5.1, 4.8)]
    assert rows[4:] == [("gpt", RECORDED, "rating", value) for value in (1, 9, None, 4)]
    assert rated.understood.sizes == "4 mean ratings of 4 items"


def test_a_usual_name_needs_no_option(tmp_path: Path) -> None:
    """A column ``mean`` is read, unless there is a rater; words group the items where they are named."""
    path = written(tmp_path, "item,lemma,mean\ni,bank,1\nj,bank,2\nk,seal,3\n")
    rated = read_rated_file(path, options=ReadingOptions(columns=("word=lemma",)))
    assert [item.word for item in rated.data.items] == ["bank", "bank", "seal"]


@pytest.mark.parametrize(("repeats", "norm", "gpt"), [("mean", 3.0, 8.0), ("first", 1.5, 8.0), ("last", 4.5, 8.0)])
def test_an_item_with_two_rows_counts_as_the_user_says(tmp_path: Path, repeats: str, norm: float, gpt: float) -> None:
    """A missing value is no answer; a column that differs between the rows is not of the item; a remark says so."""
    text = "item,mean,gpt4,group\na,1.5,,x\nb,2,7,x\na,4.5,8,y\n"
    options = ReadingOptions(columns=("model=gpt4",), repeats=repeats)
    rated = read_rated_file(written(tmp_path, text), options=options)
    values = {(row.item_id, row.measure): row.value for row in rated.data.responses.rows()}
    assert values == {("a", "norm"): norm, ("b", "norm"): 2.0, ("a", "rating"): gpt, ("b", "rating"): 7.0}
    assert [item.conditions for item in rated.data.items] == [{}, {}]
    (remark,) = (text for text in rated.data.card.remarks if "earlier row" in text)
    assert remark.startswith("1 row repeats the item of an earlier row. The ")
    assert repeats in remark
    named = replace(options, columns=("model=gpt4", "condition=group"))
    with pytest.raises(InputError, match=r"means\.csv:4:.*E502\] Two values of a condition for one item"):
        read_rated_file(written(tmp_path, text), options=named)


@pytest.mark.parametrize(
    ("text", "columns", "what"),
    [
        (PAIRS, ("norm=mean",), r"E006\] The column 'mean' is not in the file"),
        (PAIRS, ("norm=similarity", "model=gpt4"), r"E006\] The column 'gpt4' is not in the file"),
        (PAIRS, ("norm=similarity", "item=POS"), r"means\.csv:3:.*E502\] Two rows for the item 'A' \(first: line 2\)"),
        (PAIRS.replace("9.2", "high"), COLUMNS, r"means\.csv:3:15: \[E302\] Cannot read 'high' as a number"),
        (PAIRS.replace("clever", ""), COLUMNS, r"means\.csv:3:.*E105\] Empty item"),
        (PAIRS.replace("word1", "a").replace("word2", "b"), COLUMNS, r"E006\] Cannot find the columns for item"),
        (PAIRS, (), r"(?s)E006\] Cannot find the columns for rater.*mean rating of each item: --map norm=COLUMN"),
    ],
)
def test_a_doubt_is_an_error_with_its_place(tmp_path: Path, text: str, columns: tuple[str, ...], what: str) -> None:
    """No column, item or number is guessed."""
    with pytest.raises(InputError, match=what):
        read_rated_file(written(tmp_path, text), options=ReadingOptions(columns=columns))


def test_ratings_are_on_the_scale(tmp_path: Path) -> None:
    """A mean or a model's rating beyond the scale is an error; one between its points is none."""
    read_rated_file(written(tmp_path), options=ReadingOptions(columns=COLUMNS), scale=Scale(0, 10))
    with pytest.raises(InputError, match=r"E301\] 9\.2 is not between 0 and 7"):
        read_rated_file(written(tmp_path), options=ReadingOptions(columns=COLUMNS), scale=Scale(0, 7))


def test_a_model_stands_beside_raters_too(tmp_path: Path) -> None:
    """In a table of ratings, and in one of sentences with ratings, the column repeats the model's rating of an item."""
    options = ReadingOptions(columns=("model=gpt",))
    bare = written(tmp_path, "rater,item,value,gpt\na,i,1,2\nb,i,2,2\na,j,4,5\n")
    models = read_rated_file(bare, options=options).data.responses.where(subject_kind=RECORDED)
    assert [(row.item_id, row.value) for row in models.rows()] == [("i", 2), ("j", 5)]
    with pytest.raises(InputError, match="The ratings of the model gpt vary within an item"):
        read_rated_file(written(tmp_path, "rater,item,value,gpt\na,i,1,2\nb,i,2,3\n"), options=options)
    head = "item_id,sentence_1,target,rater,rating,gpt\n"
    rows = "".join(f"i,The bank closed.,bank,{who},{value},2.5\n" for who, value in (("a", 1), ("b", 4)))
    data = own_dataset(written(tmp_path, head + rows), task="relatedness", any_scale=True, options=options)
    assert [row.value for row in data.responses.where(subject_kind=RECORDED).rows()] == [2.5]
    assert "gpt" not in data.items[0].conditions


def test_norm_says_what_means_cannot_answer(tmp_path: Path) -> None:
    """Correlation and differences need means; the parts that need single raters are named in a remark."""
    draw = np.random.default_rng(3)
    norms = draw.uniform(1, 7, 40).round(2)
    rows = "".join(f"w{n},{value},{round(value)}\n" for n, value in enumerate(norms.tolist()))
    path = written(tmp_path, "word,mean,gpt\n" + rows)
    run = load_run(NormSettings(file=str(path), columns=("model=gpt",)), tmp_path / "run")
    assert (run.has("norms"), run.has("ratings"), list(run.rating)) == (True, False, ["gpt"])
    assert any("mean ratings only" in remark for remark in run.main_remarks())


def test_norm_without_a_model_names_the_column(tmp_path: Path) -> None:
    """Items without texts cannot be shown to a model: the error names what can be done."""
    with pytest.raises(InputError, match=r"(?s)no model has rated.*--map model=COLUMN.*items need texts"):
        load_run(NormSettings(file=str(written(tmp_path)), columns=COLUMNS[:1]), tmp_path / "run")
