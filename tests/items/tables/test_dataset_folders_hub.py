"""A folder for the Hugging Face Hub: card, Parquet, one row for each rater; read back, and loaded by ``datasets``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard, SetAside
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage
from lexiscope.items.tables import dataset_folders
from lexiscope.items.tables.dataset_folders import config_files, is_hub_folder, read_hub_folder, write_hub_folder
from lexiscope.resources.tables.yaml_source import parse_yaml

CARD = DatasetCard(
    "made", "Made: norms", "relatedness", "en", "CC BY 4.0", "Made, 2026.", "made up", "1", "obtain", "Two pairs.",
    scale=Scale(1, 5),
)  # fmt: skip


def made(*, split: bool = False) -> Dataset:
    """Two pairs, two raters and one model; a condition with the name of a column, and one that only one item has."""
    usages = [Usage(text, text.index("bank"), text.index("bank") + 4, lemma="bank", language="en", sense="s")
              for text in ("The bank closed.", "On the bank", 'A "bank"\nholds')]  # fmt: skip
    conditions = [{"same_sense": True, "rater": "x", "length": 3}, {"same_sense": False, "share": 0.5, "rater": "y"}]
    if split:
        conditions = [{**own, "split": name} for own, name in zip(conditions, ("train", "test"), strict=True)]
    items = tuple(
        Item(f"i{n}", "made", (usages[0], usages[n + 1]), conditions=own, options=("a", "b"), gold="a", list_id="L")
        for n, own in enumerate(conditions)
    )
    rows = [Response(f"p{n % 2}", "participant", f"i{n // 2}", "relatedness", "rating", float(1 + n)) for n in range(4)]
    rows.append(Response("encoder:m", "encoder", "i0", "relatedness", "cosine_distance", 0.25, layer=3))
    aside = (SetAside("uses.csv", 4, "no judgment has this usage", (("identifier", "bank-3"), ("lemma", "bank"))),)
    return Dataset(CARD, items, ResponseTable.from_rows(rows), set_aside=aside)


def test_the_round_trip_is_equal(tmp_path: Path) -> None:
    """Items with every field and condition, all responses, and rows that are no items come back as they were."""
    data = made()
    files = write_hub_folder(data, tmp_path / "hub")
    assert [str(file.relative_to(tmp_path / "hub")) for file in files] == [
        "README.md",
        *(f"{name}/train-00000-of-00001.parquet" for name in ("items", "ratings", "responses", "set_aside")),
    ]
    assert is_hub_folder(tmp_path / "hub")
    assert read_hub_folder(tmp_path / "hub") == (data.items, data.responses, data.set_aside)


def test_ratings_have_a_row_for_each_rater(tmp_path: Path) -> None:
    """Each row of a participant has the texts and conditions of its item; models are in ``responses`` only."""
    write_hub_folder(made(), tmp_path / "hub")
    rows = parquet.read_table(tmp_path / "hub" / "ratings" / "train-00000-of-00001.parquet").to_pylist()
    assert [(row["rater"], row["item_id"], row["rating"]) for row in rows] == [
        ("p0", "i0", 1.0), ("p1", "i0", 2.0), ("p0", "i1", 3.0), ("p1", "i1", 4.0),
    ]  # fmt: skip
    assert {row["sentence_2"][row["start_2"] : row["end_2"]] for row in rows} == {"bank"}
    assert [row["same_sense"] for row in rows] == [True, True, False, False]
    assert [row["condition_rater"] for row in rows] == ["x", "x", "y", "y"]


def test_the_card_has_what_the_hub_shows(tmp_path: Path) -> None:
    """Licence and size by the Hub's names, language, configurations with their files, features and counts."""
    write_hub_folder(made(split=True), tmp_path / "hub")
    text = (tmp_path / "hub" / "README.md").read_text(encoding="utf-8")
    front = parse_yaml(text.split("---\n")[1]).content
    assert (front["pretty_name"], front["license"], front["language"]) == ("Made: norms", "cc-by-4.0", ["en"])
    assert front["size_categories"] == ["n<1K"]
    assert [(config["config_name"], config.get("default")) for config in front["configs"]] == [
        ("ratings", True), ("items", None), ("responses", None), ("set_aside", None),
    ]  # fmt: skip
    assert front["configs"][0]["data_files"] == [
        {"split": "train", "path": "ratings/train-*.parquet"},
        {"split": "test", "path": "ratings/test-*.parquet"},
    ]
    ratings = front["dataset_info"][0]
    assert {"name": "rating", "dtype": "float64"} in ratings["features"]
    assert {"name": "same_sense", "dtype": "bool"} in ratings["features"]
    assert [(split["name"], split["num_examples"]) for split in ratings["splits"]] == [("train", 2), ("test", 2)]
    other = replace(made(), card=replace(CARD, licence="on request"))
    write_hub_folder(other, tmp_path / "other")
    text = (tmp_path / "other" / "README.md").read_text(encoding="utf-8")
    front = parse_yaml(text.split("---\n")[1]).content
    assert (front["license"], front["license_name"]) == ("other", "on request")


def test_large_tables_have_several_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No shard has more rows than the limit, and the shards together are the table."""
    monkeypatch.setattr(dataset_folders, "ROWS_OF_SHARD", 2)
    data = made()
    write_hub_folder(data, tmp_path / "hub")
    names = [file.name for file in config_files(tmp_path / "hub")["responses"]]
    assert names == [f"train-{n:05d}-of-00003.parquet" for n in range(3)]
    assert read_hub_folder(tmp_path / "hub") == (data.items, data.responses, data.set_aside)


def test_a_folder_of_another_layout_names_its_files(tmp_path: Path) -> None:
    """A folder that Lexiscope did not write has tables to analyse; without a card's list, all are one configuration."""
    write_hub_folder(made(), tmp_path / "hub")
    (tmp_path / "hub" / "README.md").write_text("# Norms\n", encoding="utf-8")
    assert set(config_files(tmp_path / "hub")) == {"default"}
    with pytest.raises(InputError, match="no items that Lexiscope wrote") as caught:
        read_hub_folder(tmp_path / "hub")
    assert "ratings/train-00000-of-00001.parquet" in caught.value.hint or "items/" in caught.value.hint
    (tmp_path / "hub" / "README.md").write_text(
        "---\nconfigs:\n  - config_name: a\n    data_files: a/*.parquet\n---\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="the configuration 'a' has no files"):
        config_files(tmp_path / "hub")


def test_the_library_of_the_hub_loads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``datasets.load_dataset(FOLDER, CONFIGURATION)`` gives each configuration, split and type that the card names."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    # a folder of the tests has this name too
    datasets = pytest.importorskip("datasets")
    if not hasattr(datasets, "load_dataset"):
        pytest.skip("the library datasets is not installed")
    data = catalog.dataset("mini_relatedness")
    write_hub_folder(made(split=True), tmp_path / "hub")
    write_hub_folder(data, tmp_path / "mini")
    given = {"cache_dir": str(tmp_path / "cache")}
    ratings = datasets.load_dataset(str(tmp_path / "hub"), **given)
    assert {name: part.num_rows for name, part in ratings.items()} == {"train": 2, "test": 2}
    assert ratings["test"][0]["rating"] == 3.0
    assert str(ratings["train"].features["start_1"].dtype) == "int64"
    responses = datasets.load_dataset(str(tmp_path / "hub"), "responses", **given)
    assert sum(part.num_rows for part in responses.values()) == 5
    items = datasets.load_dataset(str(tmp_path / "mini"), "items", split="train", **given)
    assert items["item_id"][:] == [item.item_id for item in data.items]
