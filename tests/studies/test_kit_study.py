"""What a paper prints, and the prose of a report, read from the files of a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.study import PublishedValue
from lexiscope.studies.kit.study import printed_values, read_texts

PRINTED = "dataset,place,statistic,subject,layer,condition,printed,remark,unavailable\n"


def test_a_printed_number_is_read_as_text_with_its_reason(tmp_path: Path) -> None:
    """The text keeps its decimals; a reason why no data exist makes it not reproducible; no dataset is the study's."""
    path = tmp_path / "printed.csv"
    rows = ",Table 1,r,m,12,c,0.50,why,\nother,Table 3,k,,,,.46,,never released\n,Table 2,s,,,,7,,\n"
    path.write_text(PRINTED + rows, encoding="utf-8")
    found = printed_values(path, dataset="d")
    assert {name: [value.place for value in values] for name, values in found.items()} == {
        "d": ["Table 1", "Table 2"],
        "other": ["Table 3"],
    }
    assert found["d"][0] == PublishedValue("r", "0.50", "Table 1", "m", "d", 12, "c", "why")
    second = found["other"][0]
    assert (second.printed, second.layer, second.remark, second.reproducible) == (".46", None, "never released", False)
    path.write_text(PRINTED.replace("printed", "view,printed") + ",Table 5,gap,m,,,word,.075,,\n", encoding="utf-8")
    (of_view,) = printed_values(path, dataset="d")["d"]
    assert of_view == PublishedValue("gap", ".075", "Table 5", "m", "d", view="word")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("place,printed\n", "columns"),
        (PRINTED + ",T,r,,,,about 5,,\n", "about 5"),
        (PRINTED + ",,r,,,,5,,\n", "its place"),
        (PRINTED + ",T,r,,last,,5,,\n", "'last' is not the number of a layer"),
        (PRINTED + ",T,r(a=1,b=2),,,,5,,\n", "the header names 9"),
        (PRINTED + ",T,r,,,,5,\n", "the header names 9"),
    ],
)
def test_a_faulty_table_of_printed_numbers_names_its_line(tmp_path: Path, text: str, words: str) -> None:
    """A row without a place, with a number that does not parse, or with other cells, is refused with file and line."""
    path = tmp_path / "printed.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"printed\.csv:[12](?s:.)*{words}"):
        printed_values(path, dataset="d")


def test_the_prose_of_a_study_is_read_by_heading(tmp_path: Path) -> None:
    """Each heading has its paragraphs; a line break within a paragraph is a space, an empty line separates two."""
    path = tmp_path / "texts.md"
    path.write_text(
        "# methods\n\nOne line\nand another.\n\nSecond, 95\u00a0%.\n\n# no people\n\nNone.\n", encoding="utf-8"
    )
    assert read_texts(path) == {
        "methods": ("One line and another.", "Second, 95\u00a0%."),
        "no people": ("None.",),
    }
