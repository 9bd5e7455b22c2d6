"""A set that is fit for a bias audit, and a user's own pair file on the way there: each fault with its code and row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.check.bias_fitness import bias_fitness
from lexiscope.items.read.importer import Imported, import_items
from lexiscope.items.tables.columns import ColumnMap

HEADER = "text_1,start_1,end_1,text_2,start_2,end_2,gold,split"
WORDS = ("bank", "bark", "crane")


def row(word: str, gold: str, split: str) -> str:
    """A pair of texts of our own with the target at 4."""
    end = 4 + len(word)
    return f"The {word} is old in {split},4,{end},One {word} is {gold or 'hidden'},4,{end},{gold},{split}"


WHOLE = [row(word, gold, split) for split in ("train", "dev", "test") for word in WORDS for gold in "TF"]


def read(folder: Path, rows: list[str], header: str = HEADER, *, task: str = "same_sense") -> Imported:
    path = folder / "my_pairs.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return import_items(path, dataset="my_pairs", task=task)


def codes(found: Imported, *, needs: tuple[str, ...] = ("train", "dev", "test")) -> list[tuple[str, int | None]]:
    findings = bias_fitness(found.items, needs=needs, path="my_pairs.csv", lines=found.lines).findings
    return [(finding.code, finding.line) for finding in findings]


def test_a_pair_file_is_read(tmp_path: Path) -> None:
    """Texts, spans, gold and split by their names: gold is t or f, the spans are those of the file, and it is fit."""
    found = read(tmp_path, WHOLE)
    first = found.items[0]
    assert (first.gold, first.conditions) == ("t", {"split": "train"})
    assert [usage.target for usage in first.usages] == ["bank", "bank"]
    fitness = bias_fitness(found.items, lines=found.lines)
    assert fitness.errors == ()
    fitness.require()
    assert [(each.split, each.n, each.classes, each.n_hidden) for each in fitness.splits] == [
        (split, 6, (("f", 3), ("t", 3)), 0) for split in ("train", "dev", "test")
    ]


@pytest.mark.parametrize(("same", "different"), [("1", "0"), ("true", "False"), ("same", "different"), ("t", "f")])
def test_gold_in_other_words(tmp_path: Path, same: str, different: str) -> None:
    """T and F, 1 and 0, true and false, same and different say the same; the splits have usual names too."""
    rows = [line.replace(",T,", f",{same},").replace(",F,", f",{different},") for line in WHOLE]
    rows = [line.replace(",dev", ",Validation").replace(",train", ",training") for line in rows]
    found = read(tmp_path, rows)
    assert [item.gold for item in found.items] == ["t", "f"] * 9
    assert bias_fitness(found.items).errors == ()


def test_a_mark_same_sense_is_the_gold_of_this_task_alone(tmp_path: Path) -> None:
    """Without a column gold, same_sense gives the gold answers of the task same_sense, and of no other."""
    rows = [line.rsplit(",", 2)[0] + ",true,train" for line in WHOLE[:2]]
    header = HEADER.replace("gold", "same_sense")
    assert [item.gold for item in read(tmp_path, rows, header).items] == ["t", "t"]
    assert [item.gold for item in read(tmp_path, rows, header, task="relatedness").items] == [None, None]


def test_gold_of_another_task_is_text(tmp_path: Path) -> None:
    """Where the answer is no truth value it stays as it is written."""
    found = read(tmp_path, ["A bank,bank,river_bank"], "text,target,gold", task="entity_link")
    assert found.items[0].gold == "river_bank"
    assert "gold" not in found.items[0].conditions


@pytest.mark.parametrize(
    ("line", "header", "code", "column"),
    [
        # the span covers one space; it is empty; one end is missing; it is beyond the text; gold is no truth value
        ("The bank,3,4,A bank,2,6,T,train", HEADER, "E104", 4),
        ("The bank,4,4,A bank,2,6,T,train", HEADER, "E103", 1),
        ("The bank,4,,A bank,2,6,T,train", HEADER, "E106", 12),
        ("The bank,4,99,A bank,2,6,T,train", HEADER, "E103", 1),
        ("The bank,4,8,A bank,2,6,maybe,train", HEADER, "E303", 25),
        # neither span nor target
        ("The bank,,,A bank,2,6,T,train", HEADER, "E105", None),
        # a target of white space, and one that stands there twice
        ("The bank, ,A bank,bank,T,train", "text_1,target_1,text_2,target_2,gold,split", "E105", None),
        ("The bank bank,bank,A bank,bank,T,train", "text_1,target_1,text_2,target_2,gold,split", "E102", 10),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, line: str, header: str, code: str, column: int | None) -> None:
    """A span that is missing, empty, white space or beyond the text, and a label that is none: code, line, column."""
    good = ["The bank,4,8,A bank,2,6,F,train"] if header == HEADER else ["The bank,bank,A bank,bank,F,train"]
    with pytest.raises(InputError) as caught:
        read(tmp_path, [*good, line], header)
    place = caught.value.place
    assert place is not None
    assert (caught.value.code, place.line, place.column) == (code, 3, column)
    assert caught.value.hint


def test_no_column_says_which_word(tmp_path: Path) -> None:
    """A file without spans and targets is refused as a whole."""
    with pytest.raises(InputError, match=r"my_pairs\.csv:1.*E006.*no column names the target word"):
        read(tmp_path, ["A bank,The bank,T,train"], "text_1,text_2,gold,split")


def test_a_question_that_contradicts_itself(tmp_path: Path) -> None:
    """The same pair with another label, or in another split, is named with both lines."""
    with pytest.raises(InputError, match=r"my_pairs\.csv:3:\d+.*E214.*gold answer is f here and t in line 2"):
        read(tmp_path, [WHOLE[0], WHOLE[0].replace(",T,", ",F,")])
    with pytest.raises(InputError, match=r"my_pairs\.csv:3:\d+.*E215.*split 'dev' here and in another in line 2"):
        read(tmp_path, [WHOLE[0], WHOLE[0].removesuffix("train") + "dev"])
    assert len(read(tmp_path, [WHOLE[0], WHOLE[0]]).items) == 1


def test_faults_of_a_set(tmp_path: Path) -> None:
    """One class, hidden labels, a missing split, an item in no split: each has its code and the line of its row."""
    one_class = [line for line in WHOLE if not (line.endswith("dev") and ",F," in line)]
    assert codes(read(tmp_path, one_class)) == [("E483", 8)]
    hidden = [line.replace(",T,", ",,").replace(",F,", ",,") if line.endswith("test") else line for line in WHOLE]
    assert codes(read(tmp_path, hidden)) == [("E484", 14)]
    assert codes(read(tmp_path, hidden), needs=("train", "dev")) == []
    assert codes(read(tmp_path, WHOLE[:6])) == [("E482", None), ("E482", None)]
    assert codes(read(tmp_path, [*WHOLE[:-1], WHOLE[-1].removesuffix("test")])) == [("E481", 19)]
    assert codes(read(tmp_path, [*WHOLE, row("bow", "T", "final")])) == [("E481", 20)]
    without = [line.rsplit(",", 1)[0] for line in WHOLE]
    assert codes(read(tmp_path, without, HEADER.removesuffix(",split"))) == [
        ("E481", 2),
        *[("E482", None)] * 3,
    ]


def test_partly_hidden_labels_are_a_fault(tmp_path: Path) -> None:
    """A training row without a label is named; the labels that are there are counted."""
    found = read(tmp_path, [WHOLE[0], WHOLE[1].replace(",F,", ",NA,"), *WHOLE[2:]])
    assert codes(found) == [("E484", 3)]
    assert bias_fitness(found.items).splits[0].n_hidden == 1


def test_require_says_the_first_and_counts_the_others(tmp_path: Path) -> None:
    """The error has code, file and line, and says how many faults more there are."""
    found = read(tmp_path, [line for line in WHOLE if ",T," in line])
    with pytest.raises(InputError) as caught:
        bias_fitness(found.items, path="my_pairs.csv", lines=found.lines).require()
    assert "my_pairs.csv:2, item 'bank-" in str(caught.value)
    assert "[E483] all 3 labels of train are t, from this item on" in str(caught.value)
    assert "2 more faults of this set" in str(caught.value)


def test_the_same_question_in_two_splits_is_a_warning() -> None:
    """Usages in any order make the same question; a definition tells two of them apart; an audit is still possible."""
    pair = (Usage("A bank", 2, 6), Usage("The bank", 4, 8))
    items = [
        Item(f"{split}{gold}{n}", "d", usages, gold=gold, conditions={"split": split, "definition": f"{split}{n}"})
        for split in ("train", "dev", "test")
        for gold in "tf"
        for n, usages in enumerate([pair, pair[::-1]])
    ]
    assert bias_fitness(items).findings == ()
    alike = [replace(item, conditions={"split": item.conditions["split"]}) for item in items]
    found = bias_fitness(alike)
    assert [(finding.code, finding.item_id) for finding in found.findings] == [("W486", "devt0"), ("W486", "testt0")]
    assert found.errors == ()


@given(st.lists(st.tuples(st.sampled_from(["train", "dev", "test"]), st.sampled_from(["t", "f", None])), max_size=20))
def test_fit_means_two_classes_and_no_hidden_label(rows: list[tuple[str, str | None]]) -> None:
    """A set is fit exactly where each split has both classes and every label is known."""
    items = [
        Item(f"i{n}", "d", (Usage(f"bank {n}", 0, 4),), gold=gold, conditions={"split": split})
        for n, (split, gold) in enumerate(rows)
    ]
    expected = all({gold for name, gold in rows if name == split} == {"t", "f"} for split in ("train", "dev", "test"))
    assert (bias_fitness(items).errors == ()) == expected


def test_a_label_of_another_kind() -> None:
    """A gold answer that is neither t nor f is named."""
    items = [
        Item(f"{split}{gold}", "d", (Usage(f"bank {split}", 0, 4),), gold=gold, conditions={"split": split})
        for split in ("train", "dev", "test")
        for gold in ("t", "f", "bank%1")
    ]
    assert {(finding.code, finding.item_id) for finding in bias_fitness(items).errors} == {
        ("E485", f"{split}bank%1") for split in ("train", "dev", "test")
    }


def test_other_names_of_columns(tmp_path: Path) -> None:
    """A column map names what is not called so."""
    path = tmp_path / "p.csv"
    path.write_text("text_1,text_2,word,label,fold\nA bank,The bank,bank,1,valid\n", encoding="utf-8")
    columns = ColumnMap(gold="label", split="fold")
    (item,) = import_items(path, columns, dataset="p", task="same_sense").items
    assert (item.gold, item.conditions) == ("t", {"split": "dev"})


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("wic", set()),
        ("mcl_wic", set()),
        ("am2ico", set()),
        ("am2ico?language=zh", {"E482"}),
        ("wic_tsv", {"E484"}),
        ("xl_wic", {"E482"}),
    ],
)
def test_published_sets(published: Path, name: str, codes: set[str]) -> None:
    """WiC, MCL-WiC and AM2iCo are fit; WiC-TSV hides the labels of test; of Chinese and XL-WiC training is missing."""
    assert {finding.code for finding in bias_fitness(catalog.dataset(name).items).errors} == codes
    if name == "wic_tsv":
        assert bias_fitness(catalog.dataset(name).items, needs=("train", "dev")).errors == ()


def test_a_file_that_is_not_divided_has_no_split_to_name() -> None:
    """Looked at as a whole, it has labels, not labels of train; nothing asks for a split."""
    usage = Usage("a bank", 2, 6)
    items = [Item(f"i{n}", "d", (usage, usage), gold="t") for n in range(3)]
    (finding,) = bias_fitness(items, needs=()).findings
    assert (finding.code, finding.message) == ("E483", "all 3 labels are t, from this item on")
    assert bias_fitness([replace(items[0], gold="f"), *items[1:]], needs=()).findings == ()
