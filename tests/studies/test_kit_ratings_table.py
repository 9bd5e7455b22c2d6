"""Which column of a table of ratings is what, by names, layout and program; what is unclear is refused or shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.studies.kit.ratings_file import RatingsFile, read_ratings

PLATFORMS = Path(__file__).parents[1] / "data" / "platforms"
# what A, B and C answered in the file of each program (see its README)
ANSWERS = [[4, 2, 5, 1], [4, 1, 5, 2], [5, 2, 4, np.nan]]


def _read(folder: Path, text: str, scale: Scale | None = None, **options: object) -> RatingsFile:
    path = folder / "r.csv"
    path.write_text(text, "utf-8")
    return read_ratings(path, options=ReadingOptions(**options), scale=scale)  # type: ignore[arg-type]


def _matrix(read: RatingsFile) -> np.ndarray:
    """Raters × items in the order in which they occur, NaN without a rating."""
    raters, items = list(dict.fromkeys(read.raters)), list(dict.fromkeys(read.items))
    matrix = np.full((len(raters), len(items)), np.nan)
    for rater, item, value in zip(read.raters, read.items, read.values, strict=True):
        matrix[raters.index(rater), items.index(item)] = value
    return matrix


@pytest.mark.parametrize(
    ("name", "program", "raters", "conditions"),
    [
        ("qualtrics.csv", "Qualtrics", "ABC", []),
        ("qualtrics.tsv", "Qualtrics", "ABC", []),
        ("gorilla.csv", "Gorilla", ("7000001", "7000002", "7000003"), ["condition"]),
        ("gorilla_questionnaire.csv", "Gorilla", ("7000001", "7000002", "7000003"), []),
        ("jspsych.json", "jsPsych", "ABC", ["condition"]),
        ("jspsych.csv", "jsPsych", "ABC", []),
        (
            "pcibex_results.csv",
            "PCIbex",
            ("1893492000 aaaaaaaa", "1893492100 bbbbbbbb", "1893492200 cccccccc"),
            ["condition"],
        ),
        ("potato.jsonl", "Potato", "ABC", []),
        ("potato.csv", "Potato", "ABC", []),
        ("potato.tsv", "Potato", "ABC", []),
        ("label_studio.json", "Label Studio", "123", ["condition"]),
        ("label_studio_min.json", "Label Studio", "123", ["condition"]),
        ("label_studio.csv", "Label Studio", "123", ["condition"]),
        ("label_studio.tsv", "Label Studio", "123", ["condition"]),
    ],
)
def test_the_answers_in_the_export_of_each_program(
    name: str, program: str, raters: tuple[str, ...], conditions: list[str]
) -> None:
    """The export of each program is read as it is: who answered what, and none of its own columns is a condition."""
    read = read_ratings(PLATFORMS / name)
    assert read.understood.program == program
    assert list(dict.fromkeys(read.raters)) == list(raters)
    # jsPsych numbers the buttons from 0, and says so
    zero = program == "jsPsych"
    np.testing.assert_array_equal(_matrix(read), np.array(ANSWERS) - zero)
    assert any("from 0" in note for note in read.remarks) == zero
    assert list(read.conditions) == conditions


def test_what_an_export_holds_besides_answers_is_said() -> None:
    """Previews and skipped annotations are excluded, unfinished respondents included, consent is no item."""
    notes = " ".join(read_ratings(PLATFORMS / "qualtrics.csv").understood.notes)
    assert "Excluded: 1 preview" in notes
    assert "1 respondent who did not finish. To exclude them: --where Finished=1" in notes
    assert "all answers are the same: Q1" in notes
    finished = read_ratings(PLATFORMS / "qualtrics.csv", options=ReadingOptions(where=("Finished=1",)))
    assert set(finished.raters) == {"A", "B"}
    assert "1 skipped annotation" in " ".join(read_ratings(PLATFORMS / "label_studio.json").understood.notes)


def test_questions_of_qualtrics_on_several_scales_are_refused(tmp_path: Path) -> None:
    """Two matrices with different scales: which holds the ratings is not known, and named columns decide."""
    header = [*(f"Q2_{n}" for n in (1, 2)), *(f"Q3_{n}" for n in (1, 2))]
    lines = ["ResponseId", *header], ["Response ID", *("text" for _ in header)]
    ids = [f'"{{""ImportId"":""{name}""}}"' for name in ("_recordId", "QID2_1", "QID2_2", "QID3_1", "QID3_2")]
    rows = ["R_1,1,5,7,2", "R_2,2,4,6,1", "R_3,1,3,7,3"]
    path = tmp_path / "q.csv"
    path.write_text("\n".join([*map(",".join, lines), ",".join(ids), *rows]) + "\n", "utf-8")
    with pytest.raises(InputError, match=r"E006\] Several questions .*Q2_1 … Q2_2 \(1 to 5\); Q3_1 … Q3_2 \(1 to 7\)"):
        read_ratings(path)
    read = read_ratings(path, options=ReadingOptions(columns=("item_columns=Q3_*",)))
    assert _matrix(read).tolist() == [[7, 2], [6, 1], [7, 3]]


@pytest.mark.parametrize(
    "header",
    [
        "Participante,Ítem,Valoración",
        "Versuchsperson,Reiz,Bewertung",
        "Sujet,Phrase_id,Réponse",
        "Avaliador,Estímulo,Pontuação (1-5)",
        "Valutatore,Stimolo,Giudizio",
        "PARTICIPANT ID,Item-ID,Score",
    ],
)
def test_names_of_columns_in_six_languages(header: str, tmp_path: Path) -> None:
    """Usual names of rater, item and rating are known in six languages, whatever their case, accents and brackets."""
    item = ["item=Phrase_id"] if "Phrase" in header else []
    read = _read(tmp_path, f"{header}\na,i,4\nb,i,2\n", columns=tuple(item))
    assert (read.raters, read.items, read.values.tolist()) == (("a", "b"), ("i", "i"), [4, 2])


def test_columns_of_raters_are_told_from_other_numbers(tmp_path: Path) -> None:
    """Raters named by people's names share a scale; a column far off it is none of them, and is named."""
    read = _read(tmp_path, "item,Ana,Eva,Leo,length\ni,1,2,5,44\nj,2,1,4,61\nk,3,3,3,80\n")
    assert set(read.raters) == {"Ana", "Eva", "Leo"}
    assert "Columns of other numbers, not taken as raters: length." in read.remarks
    # a rater who uses a part of the scale only is a rater
    read = _read(tmp_path, "item,Ana,Eva,Leo\ni,3,2,5\nj,3,1,4\nk,2,5,5\n")
    assert _matrix(read).tolist() == [[3, 3, 2], [2, 1, 5], [5, 4, 5]]


def test_whole_numbers_and_others_in_columns_are_not_mixed_up(tmp_path: Path) -> None:
    """A frequency on the range of the ratings might be a rater: refused, and the pattern decides."""
    text = "item,Ana,Eva,Leo,logfreq\ni,1,2,5,2.31\nj,2,1,4,4.07\n"
    with pytest.raises(InputError, match=r"E006\] Whole numbers in Ana, Eva, Leo, numbers with decimals in logfreq"):
        _read(tmp_path, text)
    read = _read(tmp_path, text, columns=("rater_columns=Ana", "rater_columns=Eva", "rater_columns=Leo"))
    assert list(read.conditions) == ["logfreq"]
    assert set(read.raters) == {"Ana", "Eva", "Leo"}


def test_several_series_of_columns_are_refused(tmp_path: Path) -> None:
    """Two series of columns (answers and times) are not told apart by their numbers: the user names one."""
    text = "item,x1,x2,y1,y2\ni,1,2,3,4\nj,2,3,4,5\n"
    with pytest.raises(InputError, match=r"Several series .*x1 … x2; y1 … y2"):
        _read(tmp_path, text)
    assert _matrix(_read(tmp_path, text, columns=("rater_columns=y*",))).tolist() == [[3, 4], [4, 5]]


def test_conditions_are_columns_with_few_values_for_each_item(tmp_path: Path) -> None:
    """Few levels, and numbers, are conditions; ids, texts, counters, times and values of a rating are none."""
    rows = ["rater,item,rating,sense,frequency,sentence_1,row,rt_ms,comment,version"]
    for number in range(6):
        for rater in "ab":
            sense, text = ("same", "different")[number % 2], f"sentence {number}"
            rows.append(
                f"{rater},i{number},{1 + number % 5},{sense},{number * 1.5},{text},{number + 1},{number},,{sense}"
            )
    read = _read(tmp_path, "\n".join(rows) + "\n")
    assert list(read.conditions) == ["sense", "frequency"]
    assert read.conditions["frequency"]["i3"] == 4.5
    assert {"sentence_1", "row", "rt_ms", "comment"} <= set(read.understood.unused)


def test_an_item_in_several_conditions_is_several_items(tmp_path: Path) -> None:
    """In a Latin square the item's id and the condition together are what was rated."""
    text = "rater,item,condition,rating\na,1,x,1\na,2,y,2\nb,1,y,3\nb,2,x,4\n"
    read = _read(tmp_path, text)
    assert set(read.items) == {"1 | x", "1 | y", "2 | x", "2 | y"}
    assert any("together are what was rated" in note for note in read.remarks)


def test_a_number_far_from_all_others_is_named(tmp_path: Path) -> None:
    """55 among ratings of 1 to 5 is a warning with its line, refused with the scale; 99 must be said to be either."""
    rows = "".join(f"r{rater},i{item},{1 + (rater + item) % 5}\n" for rater in range(4) for item in range(5))
    text = "rater,item,rating\n" + rows
    far = text + "r9,i1,55\n"
    read = _read(tmp_path, far)
    (warning,) = read.understood.warnings
    assert warning == (
        f"W304 Rating far from all others: 55 (line {1 + 4 * 5 + 1}); all others are between 1 and 5. "
        "Correct it, or add --scale LOW HIGH."
    )
    assert warning in read.remarks
    with pytest.raises(InputError, match=r"r\.csv:22:7: \[E301\] 55 is not on the scale 1 to 5"):
        _read(tmp_path, far, Scale(1, 5))
    with pytest.raises(InputError, match=r"r\.csv:22:7: \[E305\] 99 occurs 1 time as a rating") as caught:
        _read(tmp_path, text + "r9,i1,99\n")
    assert "--missing 99" in caught.value.hint
    assert "--scale 1 99" in caught.value.hint
    assert np.isnan(_read(tmp_path, text + "r9,i1,99\n", missing=("99",)).values[-1])
    assert _read(tmp_path, text + "r9,i1,99\n", Scale(1, 99)).values[-1] == 99
    assert not _read(tmp_path, text + "r9,i1,6\n").understood.warnings


def test_points_with_words_and_choices(tmp_path: Path) -> None:
    """Points of a scale with their words are numbers; a few words without numbers are choices."""
    read = _read(tmp_path, "rater,item,rating\na,i,1 = unrelated\nb,i,5 = same\n")
    assert (read.values.tolist(), read.options) == ([1, 5], ())
    read = _read(tmp_path, "rater,item,answer\na,i,yes\nb,i,no\nc,i,-\n")
    assert read.options == ("no", "yes")
    np.testing.assert_array_equal(read.values, [1, 0, np.nan])


def test_empty_rows_and_catch_trials_are_left_out_and_counted(tmp_path: Path) -> None:
    """Rows of separators alone and catch trials are no ratings; both are said."""
    text = "rater,item,rating,catch\na,i,1,false\n,,,\na,j,2,true\nb,i,3,false\n"
    read = _read(tmp_path, text)
    assert read.items == ("i", "i")
    assert any("1 row without any text" in note for note in read.remarks)
    assert any("catch" in note for note in read.remarks)
