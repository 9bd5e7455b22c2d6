"""WiC, MCL-WiC, XL-WiC and AM²iCo as published: counts, spans in two scripts, splits, labels, and broken files."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import DataError, InputError, SpanError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets import am2ico, mcl_wic, wic, xl_wic
from lexiscope.items.arrange.views import other_spans, shown_forms, without_target


def per_split(dataset: Dataset) -> Counter[tuple[object, str | None]]:
    return Counter((item.conditions["split"], item.gold) for item in dataset.items)


def found(dataset: Dataset, item_id: str) -> Item:
    return next(item for item in dataset.items if item.item_id == item_id)


@pytest.mark.published
@pytest.mark.parametrize(("dataset", "expected"), [("wic", 76), ("mcl_wic", 552), ("wic_tsv", 128)])
def test_targets_that_stay_visible_in_context(published: Path, dataset: str, expected: int) -> None:
    """As many items as the card says have the target's wordform once more in a text, whole and in any case."""
    loaded = catalog.dataset(dataset)

    def again(usage: Usage) -> bool:
        form = rf"(?<!\w){re.escape(usage.target)}(?!\w)"
        return re.search(form, without_target(usage).text, re.IGNORECASE) is not None

    assert sum(any(map(again, item.usages)) for item in loaded.items) == expected
    told = [each for each in loaded.card.remarks if "stays visible" in each]
    assert [re.findall(r"\d+", each) for each in told] == [[str(expected)]]


# -- WiC ------------------------------------------------------------------------------------------------------


@pytest.mark.published
def test_wic_counts(published: Path) -> None:
    """5,428, 638 and 1,400 pairs, half of each with the same meaning; 2,794 nouns in train (resources.md §1)."""
    dataset = wic.load()
    halves = {(split, gold): number // 2 for split, number in wic.COUNTS.items() for gold in ("t", "f")}
    assert per_split(dataset) == halves
    train = [item for item in dataset.items if item.conditions["split"] == "train"]
    assert Counter(item.conditions["pos"] for item in train) == {"NOUN": 2_794, "VERB": 2_634}
    assert len({item.word for item in train}) == 1_265


@pytest.mark.published
def test_wic_contexts_in_two_splits(published: Path) -> None:
    """As many pairs as the card says have a context with its target in train too; none stands there as a whole."""
    by_split: dict[str, list[Item]] = {}
    for item in wic.load().items:
        by_split.setdefault(str(item.conditions["split"]), []).append(item)
    known = {usage.key for item in by_split["train"] for usage in item.usages}
    pairs = {frozenset(usage.key for usage in item.usages) for item in by_split["train"]}
    for split, shared in (("dev", 98), ("test", 222)):
        assert sum(any(usage.key in known for usage in item.usages) for item in by_split[split]) == shared
        assert not any(frozenset(usage.key for usage in item.usages) in pairs for item in by_split[split])
        assert any(f"{shared} {split} pairs" in remark for remark in wic.CARD.remarks)


@pytest.mark.published
def test_wic_no_break_spaces_separate_nothing(published: Path) -> None:
    """Rows 340 and 5,111 of train hold U+00A0 behind a target; it stays in the text, and the targets are found."""
    dataset = wic.load()
    with_nbsp = [item for item in dataset.items if any("\u00a0" in usage.text for usage in item.usages)]
    assert [item.item_id for item in with_nbsp] == ["wic/train/00340", "wic/train/05111"]
    assert [usage.target for item in with_nbsp for usage in item.usages] == ["lie", "lies", "sentence", "sentence"]


def _write_wic(folder: Path, rows: list[str], labels: str) -> tuple[Path, Path]:
    data, gold = folder / "dev.data.txt", folder / "dev.gold.txt"
    data.write_text("\n".join(rows), encoding="utf-8")
    gold.write_text("\n".join(labels), encoding="utf-8")
    return data, gold


ROW = "bank\tN\t1-3\tThe banks are wet .\tShe sat at banks , too ."


def test_a_wic_row(tmp_path: Path) -> None:
    """Positions count tokens from 0; the surface form stands in the span, the word is the lemma."""
    (item,) = wic.read_split(*_write_wic(tmp_path, [ROW], "F"), split="dev")
    assert (item.item_id, item.dataset, item.gold) == ("wic/dev/00001", "wic", "f")
    assert [(usage.start, usage.end, usage.target, usage.lemma) for usage in item.usages] == [
        (4, 9, "banks", "bank"),
        (11, 16, "banks", "bank"),
    ]
    assert item.conditions == {"split": "dev", "pos": "NOUN"}


@pytest.mark.parametrize(
    ("row", "label", "message"),
    [
        (ROW.replace("\tN\t", "\tX\t"), "F", r"dev\.data\.txt:2:6: N or V and two positions i-j are needed"),
        (ROW.replace("1-3", "1"), "F", r"dev\.data\.txt:2:6: N or V and two positions"),
        (ROW.replace("1-3", "1-9"), "F", r"dev\.data\.txt:2:8: context 2 has 7 tokens and none at 9"),
        (ROW.replace("1-3", "0-3"), "F", r"dev\.data\.txt:2:12: \[E101\].*'The': its letters match no known form of"),
        (ROW.replace("\tShe", " She"), "F", r"dev\.data\.txt:2: this line has 4 cells, not 5"),
        (ROW, "X", r"dev\.gold\.txt:2:1: one of T, F is needed here; there is 'X'"),
        (ROW, "", r"dev\.gold\.txt:2: this file has 1 lines, .*dev\.data\.txt has 2"),
    ],
)
def test_broken_wic_rows(tmp_path: Path, row: str, label: str, message: str) -> None:
    """Each fault is named with file, line and column, and what to do."""
    with pytest.raises(InputError, match=message) as caught:
        wic.read_split(*_write_wic(tmp_path, [ROW, row], f"T{label}"), split="dev")
    assert caught.value.hint


@pytest.mark.published
def test_shifted_spans_are_found(published: Path, tmp_path: Path) -> None:
    """A file whose positions are off by one cannot be read, in any split: the first wrong row is named."""
    for split in ("train", "dev", "test"):
        source = published / "wic" / "WiC_dataset" / split
        rows = [line.split("\t") for line in (source / f"{split}.data.txt").read_text("utf-8").splitlines()]
        for row in rows:
            row[2] = "-".join(str(int(part) - 1 if int(part) else 1) for part in row[2].split("-"))
        shifted = tmp_path / f"{split}.data.txt"
        shifted.write_text("\n".join("\t".join(row) for row in rows), encoding="utf-8")
        with pytest.raises(InputError, match=rf"{split}\.data\.txt:[12]:"):
            wic.read_split(shifted, source / f"{split}.gold.txt", split=split)


# -- MCL-WiC --------------------------------------------------------------------------------------------------


@pytest.mark.published
def test_mcl_wic_counts(published: Path) -> None:
    """8,000, 1,000 and 1,000 pairs, half of each with the same meaning; each (lemma, pos) of train in two rows."""
    dataset = mcl_wic.load()
    assert per_split(dataset) == {
        (split, gold): number // 2 for split, number in mcl_wic.COUNTS.items() for gold in "tf"
    }
    train = [item for item in dataset.items if item.conditions["split"] == "train"]
    assert set(Counter((item.word, item.conditions["pos"]) for item in train).values()) == {2}
    parts = {"NOUN": 4_124, "VERB": 2_270, "ADJ": 1_430, "ADV": 176}
    assert Counter(item.conditions["pos"] for item in train) == parts


PAIR: dict[str, Any] = {
    "id": "dev.en-en.0",
    "lemma": "bank",
    "pos": "NOUN",
    "sentence1": "The banks are wet.",
    "sentence2": "A bank lends.",
    "start1": "4",
    "end1": "9",
    "start2": 2,
    "end2": "6",
}


def test_mcl_wic_labels_join_by_id() -> None:
    """Offsets may be text or numbers; labels belong to ids, whatever their order."""
    other = {**PAIR, "id": "dev.en-en.1"}
    gold = [{"id": "dev.en-en.1", "tag": "F"}, {"id": "dev.en-en.0", "tag": "T"}]
    items = mcl_wic.read_split([PAIR, other], gold, split="dev", path="dev.data")
    assert [(item.item_id, item.gold) for item in items] == [("mcl_wic/dev/00001", "t"), ("mcl_wic/dev/00002", "f")]
    assert items[0].conditions == {"split": "dev", "pos": "NOUN", "source_id": "dev.en-en.0"}


@pytest.mark.parametrize(
    ("pair", "gold", "message"),
    [
        ({"end1": "8"}, [{"id": "dev.en-en.0", "tag": "T"}], r"item 'dev\.en-en\.0': \[E101\].*inside a word"),
        ({"end1": "4:9"}, [{"id": "dev.en-en.0", "tag": "T"}], "start1 and end1 are whole numbers"),
        ({"lemma": " "}, [{"id": "dev.en-en.0", "tag": "T"}], "the pair has no 'lemma'"),
        ({}, [], "the pair has no label"),
        ({}, [{"id": "dev.en-en.0", "tag": "T"}, {"id": "x", "tag": "F"}], "item 'x': a label without a pair"),
        ({}, [{"id": "dev.en-en.0", "tag": "1"}], r"a tag is not T or F \('1'\)"),
        ({}, {"id": "dev.en-en.0"}, "not a JSON list of objects"),
    ],
)
def test_broken_mcl_wic_pairs(pair: dict[str, Any], gold: Any, message: str) -> None:
    """Each fault names the file and the id of the pair."""
    with pytest.raises(InputError, match=message) as caught:
        mcl_wic.read_split([{**PAIR, **pair}], gold, split="dev", path="dev.data")
    assert "dev.data" in str(caught.value)


@pytest.mark.published
def test_a_broken_archive(published: Path, tmp_path: Path) -> None:
    """An archive that was changed is refused by its checksum."""
    for file in mcl_wic.CARD.files:
        (tmp_path / file.path).parent.mkdir(exist_ok=True)
        shutil.copy(published / file.path, tmp_path / file.path)
    broken = tmp_path / mcl_wic.CARD.files[1].path
    broken.chmod(0o644)
    broken.write_bytes(broken.read_bytes()[:-1])
    with pytest.raises(DataError, match="not the published file"):
        mcl_wic.load(tmp_path)


# -- XL-WiC ---------------------------------------------------------------------------------------------------


@pytest.mark.published
@pytest.mark.parametrize("language", sorted(xl_wic.SAMPLES))
def test_xl_wic_samples(published: Path, language: str) -> None:
    """Every language's sample is read as dev; rows whose span is not on their word are kept apart with a reason."""
    dataset = catalog.dataset(f"xl_wic?language={language}")
    sample = xl_wic.SAMPLES[language]
    assert len(dataset.items) + len(dataset.set_aside) == sample.rows
    assert {item.conditions["split"] for item in dataset.items} == {"dev"}
    assert {usage.language for item in dataset.items for usage in item.usages} == {language}
    assert dataset.card.first_item == dataset.items[0].item_id
    assert dataset.card.count("set_aside") == len(dataset.set_aside)
    assert all(row.reason and row.line for row in dataset.set_aside)


@pytest.mark.published
def test_xl_wic_german_sample(published: Path) -> None:
    """1,107 pairs of the German sample have the same meaning, 1,111 not; no row is set aside."""
    dataset = xl_wic.load()
    assert per_split(dataset) == {("dev", "t"): 1_107, ("dev", "f"): 1_111}
    assert not dataset.set_aside


@pytest.mark.published
@pytest.mark.parametrize(("language", "forms", "masked"), [("de", 131, 134), ("fr", 276, 281), ("zh", 50, 50)])
def test_xl_wic_targets_that_show_again(published: Path, language: str, forms: int, masked: int) -> None:
    """Items that show the target outside its span: by the forms of both texts (German 5.9 %), and as it is masked.

    *Source of forms:* counted from the raw files without Lexiscope: whole words in any case (in Chinese any place).
    What is masked also has the lemma (German 6.0 %).
    """
    items = catalog.dataset(f"xl_wic?language={language}").items

    def again(item: Item, wanted: Collection[str]) -> bool:
        return any(other_spans(usage, wanted) for usage in item.usages)

    assert sum(again(item, {usage.target.casefold() for usage in item.usages}) for item in items) == forms
    assert sum(again(item, shown_forms(item.usages)) for item in items) == masked


VALID = "Bank\tN\t4\t8\t6\t12\tDie Bank ist aus Holz.\tBeide Banken haben geschlossen.\t0"
TEST = VALID.rsplit("\t", 1)[0]


def _package(folder: Path, **files: str) -> Path:
    at = folder / "xlwic" / "xlwic_wikt" / "french_fr"
    at.mkdir(parents=True)
    for name, text in files.items():
        (at / f"fr_{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_the_published_package_is_read(tmp_path: Path) -> None:
    """Train, valid and test with its labels in a second file, by the names of the package."""
    folder = _package(tmp_path, train=VALID, valid=f"{VALID}\n{VALID}", test_data=f"{TEST}\n{TEST}", test_gold="1\n0\n")
    dataset = xl_wic.load(folder, language="fr")
    assert [(item.item_id, item.gold) for item in dataset.items] == [
        ("xl_wic/fr/train/00001", "f"),
        ("xl_wic/fr/dev/00001", "f"),
        ("xl_wic/fr/dev/00002", "f"),
        ("xl_wic/fr/test/00001", "t"),
        ("xl_wic/fr/test/00002", "f"),
    ]
    assert [usage.target for usage in dataset.items[0].usages] == ["Bank", "Banken"]


def test_hidden_labels_are_missing_gold(tmp_path: Path) -> None:
    """Without the file of labels the test items have no gold; they are not guessed."""
    dataset = xl_wic.load(_package(tmp_path, valid=VALID, test_data=TEST), language="fr")
    assert [(item.conditions["split"], item.gold) for item in dataset.items] == [("dev", "f"), ("test", None)]


def test_a_span_off_its_word_is_set_aside(tmp_path: Path) -> None:
    """The row is no item; its line, its cells and the reason are kept."""
    off = VALID.replace("\t4\t8\t", "\t0\t3\t")
    dataset = xl_wic.load(_package(tmp_path, valid=f"{VALID}\n{off}"), language="fr")
    (row,) = dataset.set_aside
    assert (row.line, dict(row.cells)["word"]) == (2, "Bank")
    assert "'Die': its letters match no known form of 'Bank'" in row.reason
    assert len(dataset.items) == 1


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"valid": VALID.replace("\t4\t", "\tx\t")}, r"fr_valid\.txt:1:8: a whole number is needed"),
        ({"valid": VALID[:-1] + "T"}, r"fr_valid\.txt:1:\d+: one of 1, 0 is needed here; there is 'T'"),
        ({"valid": TEST}, r"fr_valid\.txt:1: this line has 8 cells, not 9"),
        ({"valid": VALID, "test_data": TEST, "test_gold": "1\n0\n"}, r"fr_test_gold\.txt:2: this file has 2 lines"),
    ],
)
def test_broken_xl_wic_files(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """Each fault is named with file, line and column."""
    with pytest.raises(InputError, match=message):
        xl_wic.load(_package(tmp_path, **files), language="fr")


def test_neither_package_nor_sample(tmp_path: Path) -> None:
    """Where there is nothing, the error says what is looked for and how to get the package and the sample."""
    with pytest.raises(DataError, match=r"de_valid_sample\.txt is not here(.|\n)*xlwic_datasets\.zip(.|\n)*xl-lexeme"):
        xl_wic.load(tmp_path)


def test_a_german_package_has_its_rows(tmp_path: Path) -> None:
    """A German file of the package that is cut off is refused: 8,888 rows of validation were published."""
    at = tmp_path / "xlwic" / "xlwic_wikt" / "german_de"
    at.mkdir(parents=True)
    (at / "de_valid.txt").write_text(VALID, encoding="utf-8")
    with pytest.raises(InputError, match="has 8,888 rows in dev; this file holds 1"):
        xl_wic.load(tmp_path)


# -- AM²iCo ---------------------------------------------------------------------------------------------------


@pytest.mark.published
@pytest.mark.parametrize("language", sorted(am2ico.COUNTS))
def test_am2ico_languages(published: Path, language: str) -> None:
    """Each language has its counts, half of each split with the same meaning, its own language first, then English."""
    dataset = catalog.dataset(f"am2ico?language={language}")
    counts = dict(zip(("train", "dev", "test"), am2ico.COUNTS[language], strict=True))
    assert per_split(dataset) == {(split, gold): n // 2 for split, n in counts.items() if n for gold in "tf"}
    assert {tuple(usage.language for usage in item.usages) for item in dataset.items} == {(language, "en")}
    assert not [usage for item in dataset.items for usage in item.usages if "word>" in usage.text]
    assert dataset.card.language == f"{language}, en"


@pytest.mark.published
def test_am2ico_spans_in_another_script(published: Path) -> None:
    """A Chinese target and its English one are what the tags enclosed, in characters."""
    dataset = am2ico.load(language="zh")
    lines = (published / "am2ico/data/zh/dev.tsv").read_text(encoding="utf-8").split("\n")[1:-1]
    for item, line in zip(dataset.items, lines, strict=False):
        for usage, context in zip(item.usages, line.split("\t"), strict=False):
            assert f"{usage.text[: usage.start]}<word>{usage.target}</word>{usage.text[usage.end :]}" == context


@pytest.mark.published
def test_am2ico_is_not_read_as_csv(published: Path) -> None:
    """The Turkish training set has 3,904 rows; a CSV reader merges ten of them at quotation marks."""
    rows = am2ico.read_split(published / "am2ico/data/tr/train.tsv", language="tr", split="train")
    assert len(rows) == 3_904


TAGGED = "Iso <word>pankki</word> .\tA big <word>bank</word> .\tT"


def _write_am2ico(folder: Path, *rows: str, header: str = "context1\tcontext2\tlabel") -> Path:
    path = folder / "dev.tsv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_an_am2ico_row(tmp_path: Path) -> None:
    """The tags are taken away; what stood between them is the target; there is no lemma."""
    (item,) = am2ico.read_split(_write_am2ico(tmp_path, TAGGED), language="fi", split="dev")
    assert [(usage.text, usage.target, usage.lemma) for usage in item.usages] == [
        ("Iso pankki .", "pankki", None),
        ("A big bank .", "bank", None),
    ]
    assert (item.item_id, item.gold, item.word) == ("am2ico/fi/dev/00001", "t", "pankki")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (TAGGED.replace("</word> .\tA", " .\tA"), r"dev\.tsv:3:1: the target must be once between <word>"),
        (TAGGED.replace(" bank", " bank").replace("big", "<word>big</word>"), r"dev\.tsv:3:27: the target must be"),
        (TAGGED.replace("<word>bank</word>", "<word> </word>"), r"dev\.tsv:3:39: \[E104\]"),
        (TAGGED.replace("<word>bank</word>", "<word></word>"), r"dev\.tsv:3:39: \[E103\]"),
        (TAGGED.replace("<word>bank</word>", "<word>ban</word>k"), r"dev\.tsv:3:39: \[E101\].*inside a word"),
        (TAGGED[:-1] + "1", r"dev\.tsv:3:\d+: one of T, F is needed here; there is '1'"),
        (TAGGED.replace("\tA", " A"), r"dev\.tsv:3: this line has 2 cells, not 3"),
    ],
)
def test_broken_am2ico_rows(tmp_path: Path, row: str, message: str) -> None:
    """Each fault is named with file, line and column."""
    with pytest.raises(InputError, match=message):
        am2ico.read_split(_write_am2ico(tmp_path, TAGGED, row), language="fi", split="dev")


def test_am2ico_needs_its_header(tmp_path: Path) -> None:
    """A file without the header is another file."""
    with pytest.raises(InputError, match=r"dev\.tsv:1: the header must be context1, context2, label"):
        am2ico.read_split(_write_am2ico(tmp_path, header=TAGGED), language="fi", split="dev")


@pytest.mark.published
def test_a_training_set_that_we_never_saw_is_read(published: Path, tmp_path: Path) -> None:
    """The Chinese training set is read where it is put, whatever its number of rows."""
    at = tmp_path / "am2ico" / "data" / "zh"
    shutil.copytree(published / "am2ico" / "data" / "zh", at, copy_function=shutil.copyfile)
    at.chmod(0o755)
    (at / "train.tsv").write_bytes(_write_am2ico(tmp_path, TAGGED, TAGGED).read_bytes())
    dataset = am2ico.load(tmp_path, language="zh")
    assert Counter(item.conditions["split"] for item in dataset.items) == {"train": 2, "dev": 500, "test": 1_000}


# -- options --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["am2ico", "xl_wic", "wic_tsv"])
def test_an_unknown_language_is_refused(name: str) -> None:
    """The languages that there are stand in the message."""
    with pytest.raises(SpecError, match=rf"{name} has no language 'xx'(.|\n)*de"):
        catalog.dataset(f"{name}?language=xx")


def test_cut_words_are_span_errors(tmp_path: Path) -> None:
    """A span that cuts a word is a SpanError, which other readers may set aside."""
    with pytest.raises(SpanError):
        am2ico.read_split(
            _write_am2ico(tmp_path, TAGGED.replace("<word>bank", "b<word>ank")), language="fi", split="dev"
        )
