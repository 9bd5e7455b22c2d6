"""The importer: any table becomes items and ratings, or a clear error at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.scale import Scale
from lexiscope.items.read.importer import import_items
from lexiscope.items.tables.columns import ColumnMap

DATA = Path(__file__).parents[2] / "data"


def write(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "items.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_long_ratings() -> None:
    """A row per rating gives each item once and each rating as a row; no answer is a row without value."""
    found = import_items(DATA / "ratings_long.csv", dataset="mine", scale=Scale(1, 5), language="en")
    assert [item.item_id for item in found.items] == ["i1", "i2"]
    assert found.items[0].usages[0].target == "mint"
    assert found.items[0].usages[0].language == "en"
    assert found.responses.column("item_id").tolist() == ["i1", "i1", "i1", "i2", "i2"]
    assert found.responses.column("subject_id").tolist() == ["p1", "p2", "p3", "p1", "p2"]
    assert [None if v != v else v for v in found.responses.column("value").tolist()] == [1, 2, None, 5, 4]
    assert set(found.responses.column("measure")) == {"rating"}


def test_columns_that_describe_ratings_do_not_describe_items() -> None:
    """A column that changes between the rows of one item is named and left out of its conditions."""
    found = import_items(DATA / "ratings_long.csv", dataset="mine")
    assert found.row_columns == ("age",)
    assert "age" not in found.items[0].conditions


def test_the_lists_of_an_export_are_no_condition(tmp_path: Path) -> None:
    """Which lists have an item belongs to the design of the collection; a table with a column lists keeps it."""
    for name, header, cells, expected in (
        (
            "export.csv",
            "item_id,kind,lists,options,sentence_1,sentence_2,word,condition_kind",
            "a,item,3,[]",
            {"kind": "x", "options": "[]"},
        ),
        ("own.csv", "item_id,lists,sentence_1,sentence_2,word,group", "a,3", {"lists": "3", "group": "x"}),
    ):
        (tmp_path / name).write_text(f"{header}\n{cells},The bat flew.,A bat broke.,bat,x\n", encoding="utf-8")
        (item,) = import_items(tmp_path / name, dataset="mine", language="en").items
        assert item.conditions == expected


def test_own_column_names_and_conditions(tmp_path: Path) -> None:
    """Columns are mapped by name; the columns that are not mapped become conditions, as text."""
    path = write(tmp_path, "Frase A,Frase B,Palabra,Sa,Sb,Zona\nVio la vela azul,Vio la vela mayor,vela,1,2,norte\n")
    names = ColumnMap(sentence_1="Frase A", sentence_2="Frase B", target="Palabra", sense_1="Sa", sense_2="Sb")
    (item,) = import_items(path, names, dataset="mine").items
    assert [usage.sense for usage in item.usages] == ["1", "2"]
    assert dict(item.conditions) == {"same_sense": False, "Zona": "norte"}


def test_a_condition_is_one_whatever_its_name(tmp_path: Path) -> None:
    """A column named as a condition is no sense id, though its name is a usual one; mapped by hand it is both."""
    path = write(tmp_path, b"sentence,target,sense\nThe bank shuts.,bank,where money is kept\n")
    plain, asked = (import_items(path, dataset="d", conditions=names).items[0] for names in ((), ("sense",)))
    assert (plain.usages[0].sense, dict(plain.conditions)) == ("where money is kept", {})
    assert (asked.usages[0].sense, dict(asked.conditions)) == (None, {"sense": "where money is kept"})
    both = import_items(path, ColumnMap(sense_1="sense"), dataset="d", conditions=("sense",)).items[0]
    assert both.usages[0].sense == both.condition("sense") == "where money is kept"


def test_ids_from_content_do_not_depend_on_the_order(tmp_path: Path) -> None:
    """Without an id column the id comes from the content: reordering the file changes no id."""
    rows = ["A red crane,A big crane,crane", "A red crane,A shy crane,crane"]
    ids = []
    for order in (rows, rows[::-1]):
        path = write(tmp_path, "\n".join(["sentence_1,sentence_2,target", *order]) + "\n")
        ids.append({item.usages[1].text: item.item_id for item in import_items(path, dataset="d").items})
    assert ids[0] == ids[1]
    assert len(set(ids[0].values())) == 2


def test_norms_and_rater_columns(tmp_path: Path) -> None:
    """A mean becomes a row of measure norm; columns per rater become one rating each."""
    path = write(tmp_path, "sentence_1,sentence_2,target,mean,ann,ben\nA red crane,A big crane,crane,2.5,2,3\n")
    found = import_items(path, ColumnMap(raters=("ann", "ben")), dataset="d", scale=Scale(1, 5))
    rows = [(r.subject_id, r.measure, r.value) for r in found.responses.rows()]
    assert rows == [("norm", "norm", 2.5), ("ann", "rating", 2.0), ("ben", "rating", 3.0)]


@pytest.mark.parametrize(
    ("content", "code", "line", "column"),
    [
        (b"", "E002", None, None),
        (b"sentence,target\n", "E002", None, None),
        (b"sentence,goal\nA,b\n", "E006", 1, None),
        ("sentence,target\nEl ba\xf1o,x\n".encode("latin-1"), "E003", 2, 6),
        (b"sentence,target\nA bank\n", "E004", 2, None),
        (b'sentence,target\n"A bank,bank\n', "E005", 2, None),
        (b"sentence,target\nA river,bank\n", "E101", 2, 1),
        (b'sentence,target\n"A\nbank, a bank",bank\n', "E102", 3, 9),
        (b"sentence,target,rater,rating\nA bank,bank,p1,9\n", "E301", 2, 16),
        (b"sentence,target,rater,rating\nA bank,bank,p1,inf\n", "E302", 2, 16),
        (b"sentence,target,rater,rating\nA bank,bank,,3\n", "E105", 2, 13),
        (b"item,sentence,target\n1,A bank,bank\n1,The bank,bank\n", "E211", 3, 1),
    ],
)
def test_bad_input_is_a_clear_error(
    tmp_path: Path, content: bytes, code: str, line: int | None, column: int | None
) -> None:
    """Each kind of bad input stops the import with its code, line and column."""
    with pytest.raises(InputError) as caught:
        import_items(write(tmp_path, content), dataset="d", scale=Scale(1, 5))
    place = caught.value.place
    assert place is not None
    assert (caught.value.code, place.line, place.column) == (code, line, column)
    assert "items.csv" in str(caught.value)


@pytest.mark.parametrize("sign", ["", "NA", "NaN", "n/a"])
def test_a_missing_rating_is_a_row_without_value(tmp_path: Path, sign: str) -> None:
    """A rating that is missing, by whatever sign, stays a row: without value, with its text kept."""
    rows = import_items(
        write(tmp_path, f"sentence,target,rater,rating\nA bank,bank,p1,{sign}\n"), dataset="d"
    ).responses
    assert [(r.measure, r.value, r.raw) for r in rows.rows()] == [("rating", None, sign)]


def test_set_aside_keeps_the_good_rows_and_names_the_bad(tmp_path: Path) -> None:
    """With bad_rows="set_aside" one row in a hundred is left out with its reason, and no other."""
    rows = [f"i{n},{'Nothing' if n % 100 == 3 else f'A crane number {n}'},crane" for n in range(1000)]
    path = write(tmp_path, "\n".join(["id,sentence,target", *rows]) + "\n")
    found = import_items(path, dataset="d", bad_rows="set_aside")
    assert (len(found.items), found.n_set_aside, found.n_rows) == (990, 10, 1000)
    assert [f.item_id for f in found.findings] == [f"i{n}" for n in range(3, 1000, 100)]


def test_a_wrong_span_is_not_replaced_by_a_search(tmp_path: Path) -> None:
    """Where a span is given it decides; a row with a wrong one is not saved by finding the target elsewhere."""
    path = write(tmp_path, "sentence,target,start,end\nA bank,bank,2,x\n")
    with pytest.raises(InputError, match="E106"):
        import_items(path, dataset="d")
    with pytest.raises(InputError, match="E002"):
        import_items(path, dataset="d", bad_rows="set_aside")


@pytest.mark.published
def test_saw_c_trials(published: Path) -> None:
    """The trial file gives 812 items of 102 words and 10,639 ratings (SAW-C §3.1, §3.3), same 241, different 571."""
    path = published / "sawc/sawc_relatedness_full_critical_data.csv"
    found = import_items(path, dataset="saw_c", scale=Scale(1, 5), language="es")
    assert (len(found.items), len({item.word for item in found.items})) == (812, 102)
    assert len(found.responses) == 10_639
    assert len(set(found.responses.column("subject_id"))) == 131
    assert sum(item.conditions["same_sense"] is True for item in found.items) == 241


HEAD = "word,precontext,sentence,ending\n"
STORY = HEAD + "bank,It rained.,They met at the bank.,{}\n" * 2


def test_rows_that_differ_in_what_is_shown_are_different_items(tmp_path: Path) -> None:
    """Two endings of one sentence are two items with ids of their own; two equal rows are one, which is said."""
    shown = ("precontext", "ending")
    two = import_items(write(tmp_path, STORY.format("It was wet.", "")), dataset="d", conditions=shown)
    assert [item.condition("ending") for item in two.items] == ["It was wet.", ""]
    assert len({item.item_id for item in two.items}) == 2
    assert two.row_summary == ""
    again = import_items(write(tmp_path, STORY.format("", "It was wet.")), dataset="d", conditions=shown)
    assert {item.item_id for item in again.items} == {item.item_id for item in two.items}, "order changes no id"
    one = import_items(write(tmp_path, STORY.format("", "")), dataset="d", conditions=shown)
    assert one.row_summary == "2 rows → 1 item"


def test_a_column_that_is_left_out_is_named(tmp_path: Path) -> None:
    """Rows that differ in another column are one item, and the column that is left out is named."""
    found = import_items(write(tmp_path, STORY.format("It was wet.", "")), dataset="d")
    assert found.row_summary == "2 rows → 1 item; columns that vary within an item: ending"


def test_columns_of_a_family_tell_items_apart(tmp_path: Path) -> None:
    """``group_*`` stands for every column that begins so."""
    path = write(tmp_path, "word,sentence,group_a\nbank,A bank.,x|y\nbank,A bank.,x|z\n")
    assert len(import_items(path, dataset="d", conditions=("group_*",)).items) == 2


def test_one_id_for_two_texts_is_refused(tmp_path: Path) -> None:
    """Rows of one id that show different texts are no item (E211)."""
    lines = STORY.format("It was wet.", "").splitlines()
    rows = ["item_id," + lines[0], *("s1," + line for line in lines[1:])]
    with pytest.raises(InputError) as caught:
        import_items(write(tmp_path, "\n".join(rows) + "\n"), dataset="d", conditions=("ending",))
    assert caught.value.code == "E211"


def test_a_word_alone(tmp_path: Path) -> None:
    """Where a task needs no sentence, the word is the usage; where it does, the missing column is refused (E006)."""
    path = write(tmp_path, "word,sense_1,sense_2\nbank,river side,money house\nbank,river side,row\n")
    found = import_items(path, dataset="d", conditions=("sense_1", "sense_2"), word_alone=True)
    assert [(item.usages[0].text, item.usages[0].target) for item in found.items] == [("bank", "bank")] * 2
    with pytest.raises(InputError, match="no column holds the sentence") as caught:
        import_items(path, dataset="d", conditions=("sense_1", "sense_2"))
    assert caught.value.code == "E006"
    with_sentences = write(tmp_path, "word,sentence\nbank,A bank.\n")
    assert import_items(with_sentences, dataset="d", word_alone=True).items[0].usages[0].text == "A bank."


@pytest.mark.parametrize(("label", "same"), [("t", True), ("F", False), ("true", True), ("different", False)])
def test_labels_of_same_sense(tmp_path: Path, label: str, same: bool) -> None:
    """The labels of WiC, t and f, mean what true and false mean."""
    path = write(tmp_path, f"word,sentence_1,sentence_2,same\nbank,A bank.,The bank.,{label}\n")
    assert import_items(path, dataset="d").items[0].condition("same_sense") is same
