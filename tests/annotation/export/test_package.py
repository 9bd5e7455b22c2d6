"""The export of a study: whole or not at all, the same bytes every time, no platform id, every column described."""

from __future__ import annotations

import csv
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from lexiscope.annotation.export.package import MANIFEST, write_export
from lexiscope.annotation.export.pasted_ids import REMOVED
from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.store.export import LONG_SCHEMA
from lexiscope.annotation.study_file.definition import Codes, DesignSection, Payment, StudyDefinition
from lexiscope.annotation.study_file.definition_file import read_definition
from lexiscope.core import run
from lexiscope.core.errors import RunError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.studies.kit.ratings_file import read_ratings

from .made_export import Answered, collected, pair, rated
from .psych_ds_rules import check_psych_ds

PLANTED = ("5f0c9a27d4e1b80012ab34cd", "PLATFORM-0007-ñ")
RULES = ("failed_catch(items=catch,expected=5)", "too_slow(sd=3)")


def study(**changes: object) -> StudyDefinition:
    """A relatedness study of two lists."""
    given = {
        "name": "made_up",
        "task": "relatedness",
        "language": "en",
        "design": DesignSection(lists=2),
        "exclusions": RULES,
    }
    return StudyDefinition(**{**given, **changes})  # type: ignore[arg-type]


def pairs(n: int = 8) -> list[Item]:
    """Pairs of four words, half of them of the same sense."""
    return [pair(f"i{k}", f"word{k % 4}", same_sense=k % 2 == 0, cue="=cue") for k in range(n)]


def talkative(number: int, item: Item, position: int) -> Answered:
    """Ratings by rule; some write comments, one of them with the ids of the platform in it."""
    said = rated(number, item, position)
    comments = {1: "=1+1", 2: f"my id is {PLANTED[0].upper()}, thanks", 3: f"{PLANTED[1]} \u2028 done"}
    return replace(said, comment=comments.get(number) if position == 0 else None)


def made(**changes: object) -> StudyData:
    """Five people on each of two lists; the ninth fails the catch trial."""

    def answers(number: int, item: Item, position: int) -> Answered:
        return Answered(value=1.0) if number == 9 and item.gold else talkative(number, item, position)

    return collected(study(**changes), pairs(), per_list=5, answers=answers, platform_ids=frozenset(PLANTED))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its path."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, strict=True))


def test_no_platform_id_is_in_any_byte(tmp_path: Path) -> None:
    """X19: ids that participants pasted into comments occur 0 times in the folder, whatever their capitals."""
    write_export(made(), tmp_path / "e")
    found = contents(tmp_path / "e")
    for name, content in found.items():
        assert all(each.casefold().encode() not in content.lower() for each in PLANTED), name
    table = parquet.read_table(tmp_path / "e" / "judgments.parquet")
    assert all(each.casefold() not in str(table.to_pylist()).casefold() for each in PLANTED)
    assert REMOVED in found["judgments.csv"].decode()


def test_the_same_bytes_in_every_time_zone_and_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S22: three time zones and a repetition give one set of bytes."""
    found = []
    for zone in ("UTC", "Asia/Kolkata", "America/St_Johns"):
        monkeypatch.setitem(os.environ, "TZ", zone)
        time.tzset()
        write_export(made(), tmp_path / "same")
        found.append(contents(tmp_path / "same"))
    monkeypatch.undo()
    time.tzset()
    assert found[0] == found[1] == found[2]
    # nothing but the export stays behind where it was written three times
    assert [path.name for path in tmp_path.iterdir()] == ["same"]


def test_judgments_have_the_columns_of_the_specification_and_lose_nothing(tmp_path: Path) -> None:
    """Collection §7: the columns in their order; JSON lines and Parquet give every text as it was written."""
    source = made()
    write_export(source, tmp_path / "e")
    rows = rows_of(tmp_path / "e" / "judgments.csv")
    assert list(rows[0]) == LONG_SCHEMA.names
    lines = (tmp_path / "e" / "judgments.jsonl").read_text(encoding="utf-8").splitlines()
    exact = [json.loads(line) for line in lines]
    assert exact == list(source.rows) == parquet.read_table(tmp_path / "e" / "judgments.parquet").to_pylist()
    # 2 lists x 5 people x (4 pairs + 1 catch trial)
    assert len(rows) == len(exact) == 2 * 5 * 5
    assert {row["comment"] for row in rows} == {"", "'=1+1", f"my id is {REMOVED}, thanks", f"{REMOVED} \u2028 done"}
    assert "=1+1" in {row["comment"] for row in exact}
    assert {row["cue"] for row in rows_of(tmp_path / "e" / "items.csv")} == {"", "'=cue"}


def test_the_responses_are_the_table_that_the_statistics_read(tmp_path: Path) -> None:
    """``lexiscope agree`` reads the responses as Parquet and as CSV, and both are the same ratings."""
    source = made()
    write_export(source, tmp_path / "e")
    assert ResponseTable.read_parquet(tmp_path / "e" / "responses.parquet").where(measure="rating") == (
        source.responses.where(measure="rating")
    )
    read = [read_ratings(tmp_path / "e" / f"responses.{kind}") for kind in ("parquet", "csv")]
    assert read[0].raters == read[1].raters
    assert read[0].values.tolist() == read[1].values.tolist()
    assert len(read[0].values) == 2 * 5 * 5


def test_the_table_for_agree_has_valid_people_and_real_items_only(tmp_path: Path) -> None:
    """Of 2 lists x 5 people x (4 pairs + 1 catch trial), ``ratings`` lack catch trials and the excluded one."""
    source = made()
    write_export(source, tmp_path / "e")
    for kind in ("csv", "parquet"):
        read = read_ratings(tmp_path / "e" / f"ratings.{kind}")
        assert len(read.values) == (2 * 5 - 1) * 4
        assert set(read.items) == {item.item_id for item in source.design.items}
        assert set(read.raters) == source.participant_counts.valid
        assert f"p{9:032x}" not in read.raters
    said = (tmp_path / "e" / "README.md").read_text(encoding="utf-8")
    assert "`lexiscope agree ratings.csv`" in said


def test_exclusions_are_counted_rule_by_rule(tmp_path: Path) -> None:
    """The planted violator leaves by its rule; the judgments say so; everybody else counts."""
    write_export(made(), tmp_path / "e")
    rules = rows_of(tmp_path / "e" / "exclusions.csv")
    assert [(row["before"], row["removed"], row["after"]) for row in rules] == [("10", "1", "9"), ("9", "0", "9")]
    (gone,) = rows_of(tmp_path / "e" / "excluded_participants.csv")
    assert gone["participant_id"] == f"p{9:032x}"
    assert gone["reason"].startswith("failed_catch(")
    judged = rows_of(tmp_path / "e" / "judgments.csv")
    assert {row["participant_id"] for row in judged if row["excluded"] == "True"} == {gone["participant_id"]}
    people = rows_of(tmp_path / "e" / "participants.csv")
    assert sum(row["valid"] == "True" for row in people) == 9


def test_pay_is_for_the_session_and_names_who_is_owed(tmp_path: Path) -> None:
    """A14: ten people at 3.00 for 4 minutes of reading and 12 to 16 of trials, 12 an hour promised; pseudonyms only."""
    write_export(made(payment=Payment(amount=3, currency="GBP", hourly_least=12)), tmp_path / "e")
    people = {row["participant_id"]: row for row in rows_of(tmp_path / "e" / "participants.csv")}
    pay = rows_of(tmp_path / "e" / "pay.csv")
    assert {row["participant_id"] for row in pay} == set(people)
    for row in pay:
        number = int(row["participant_id"][1:], 16)
        minutes = 4 + 12 + number % 5
        assert (float(row["session_minutes"]), float(people[row["participant_id"]]["minutes"])) == (
            minutes,
            minutes - 4,
        )
        # 16 minutes at 12 an hour are 3.20, every further one 0.20
        assert float(row["owed"]) == pytest.approx(12 * minutes / 60 - 3)
        assert float(row["hourly"]) == pytest.approx(3 * 60 / minutes, abs=1e-4)
    assert [row["owed"] for row in pay[:2]] == ["1", "1"]
    assert {row["currency"] for row in pay} == {"GBP"}


def test_every_column_is_in_the_codebook(tmp_path: Path) -> None:
    """Every column of every CSV file has a row with its meaning; the JSON says the same."""
    write_export(made(), tmp_path / "e")
    book = rows_of(tmp_path / "e" / "codebook.csv")
    described = [(row["file"], row["column"]) for row in book]
    there = []
    for path in sorted((tmp_path / "e").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            there += [(path.name, name) for name in next(csv.reader(stream))]
    assert sorted(described) == sorted(there)
    assert all(row["meaning"] and row["type"] for row in book)
    by_column = {(row["file"], row["column"]): row for row in book}
    assert by_column["judgments.csv", "kind"]["levels"] == "catch | item"
    assert by_column["item_statistics.csv", "mean"]["low"] == "1"
    assert by_column["judgments.csv", "rt_ms"]["unit"] == "ms"
    exact = json.loads((tmp_path / "e" / "codebook.json").read_text(encoding="utf-8"))
    assert [(row["file"], row["column"]) for row in exact] == described


def test_the_psych_ds_folder_is_valid(tmp_path: Path) -> None:
    """The data file is named study-…_data.csv, every column is a described variable; a fault is found."""
    write_export(made(), tmp_path / "e")
    folder = tmp_path / "e" / "psych_ds"
    assert check_psych_ds(folder) == ()
    assert [path.name for path in (folder / "data").iterdir()] == ["study-madeup_data.csv"]
    description = json.loads((folder / "dataset_description.json").read_text(encoding="utf-8"))
    assert (description["@type"], description["alternateName"]) == ("Dataset", "made_up")
    (folder / "data" / "study-madeup_data.csv").rename(folder / "data" / "data.csv")
    del description["variableMeasured"][0]
    (folder / "dataset_description.json").write_text(json.dumps(description), encoding="utf-8")
    assert [problem.partition(":")[0] for problem in check_psych_ds(folder)] == [
        "data.csv is not named keyword-value_data.csv",
        "data.csv",
    ]


def test_a_failed_export_leaves_the_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half-written exports: 0. A failure at any file leaves what was there, and nothing beside it."""
    write_export(made(), tmp_path / "e")
    before = contents(tmp_path / "e")
    written = list(before)
    original = run._neighbour
    for failing in range(0, len(written) - 3, 9):
        calls = iter(range(1000))

        def fail(path: Path, calls=calls, failing=failing):  # type: ignore[no-untyped-def]
            if next(calls) == failing:
                raise OSError(28, "No space left on device")
            return original(path)

        monkeypatch.setattr(run, "_neighbour", fail)
        with pytest.raises(RunError, match="cannot be written"):
            write_export(made(name="changed"), tmp_path / "e")
        monkeypatch.undo()
        assert contents(tmp_path / "e") == before
        assert [path.name for path in tmp_path.iterdir()] == ["e"]


def test_a_folder_with_something_else_is_not_touched(tmp_path: Path) -> None:
    """An export replaces exports only."""
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(RunError, match="not an export"):
        write_export(made(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_definition_is_there_without_its_codes(tmp_path: Path) -> None:
    """The export says how the study was run: its definition reads back equal; a README names the files."""
    source = made(codes=Codes(completion="C0DE77"))
    done = write_export(source, tmp_path / "e")
    assert all(b"C0DE77" not in content for content in contents(tmp_path / "e").values())
    read = read_definition(tmp_path / "e" / "study.yaml").definition
    assert read == source.definition.model_copy(update={"codes": Codes()})
    said = (tmp_path / "e" / "README.md").read_text(encoding="utf-8")
    unnamed = [name for name in done.files if name.endswith((".csv", ".R")) and f"`{Path(name).name}`" not in said]
    assert unnamed == ["psych_ds/data/study-madeup_data.csv"]


def test_an_export_before_anybody_came(tmp_path: Path) -> None:
    """A study without any answer exports too: headers, counts of zero, pending rules with their reason."""
    empty = collected(study(), pairs(), per_list=0)
    done = write_export(empty, tmp_path / "e")
    assert (done.n_participants, done.n_valid, done.n_judgments) == (0, 0, 0)
    assert rows_of(tmp_path / "e" / "judgments.csv") == []
    assert [row["not_judged"] for row in rows_of(tmp_path / "e" / "exclusions.csv")] == [
        "No included participant has finished yet."
    ] * 2
    assert (tmp_path / "e" / MANIFEST).is_file()
