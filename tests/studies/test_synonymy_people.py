"""People in the synonymy study: forced choices and written synonyms, with models on the same items."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.studies.synonymy import overview, study
from lexiscope.studies.synonymy.settings import SynonymySettings

COLLECTION = """\
target,synonym,distractor,sentence,sentence_id
bill,invoice,beak,The plumber sent a bill for the pipes.,s1
bank,shore,lender,They sat on the bank and fished.,s2
bolt,lock,flash,She slid the bolt of the stable.,s3
bark,rind,woof,He carved a heart into the bark.,s4
"""
RIGHT = ("invoice", "shore", "lock", "rind")
CHOICES = {"simulated-a": "invoice shore lock rind", "simulated-b": "invoice shore flash woof"}
"""Two simulated people: one has four of four right, the other two; they agree on two of four."""
WORDS = {"simulated-a": ("invoice", "the shore", "key", "skin"), "simulated-b": ("Invoice", "coast", "lock", "dog")}
"""Gaps: two of four right, and two of four."""
MODEL = (True, False, True, True)
"""Whether the model chooses the right word."""


def ids(kind: str) -> list[str]:
    """The ids of the pages, or of the gaps, of the collection."""
    end = {"page": "people", "gap": "gap_filling/is_a_synonym_of", "set": "substitution/controlled"}[kind]
    return [f"own/{number}/{end}" for number in range(1, 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the user: the collection, choices, written words, and recorded decisions of a model."""
    place = tmp_path_factory.mktemp("people")
    (place / "own.csv").write_text(COLLECTION, encoding="utf-8")
    rows = [
        Response(who, "simulated", item, "substitution", "choice", option=word, view="full")
        for who, words in CHOICES.items()
        for item, word in zip(ids("page"), words.split(), strict=True)
    ]
    ResponseTable.from_rows(rows).write_csv(place / "choices.csv")
    lines = [
        f"{who},{item},{word}" for who, words in WORDS.items() for item, word in zip(ids("gap"), words, strict=True)
    ]
    (place / "words.csv").write_text("\n".join(["participant,item_id,answer", *lines]) + "\n", encoding="utf-8")
    recorded = [
        Response("toy", "recorded", item, "minimal_pair", "correct", float(right), view="full")
        for item, right in zip(ids("set"), MODEL, strict=True)
    ]
    ResponseTable.from_rows(recorded).write_csv(place / "toy.csv")
    return place


@pytest.fixture(scope="module")
def records(folder: Path) -> tuple[Record, ...]:
    """The records of the study on these files."""
    settings = SynonymySettings(
        items=str(folder / "own.csv"),
        subjects=(f"recorded:{folder / 'toy.csv'}",),
        people=(str(folder / "choices.csv"), str(folder / "words.csv")),
        n_bootstrap=200,
    )
    study.run(settings, folder / "run")
    return read_records(folder / "run" / "results.json")


def test_people_have_their_accuracy_and_their_agreement(records: tuple[Record, ...]) -> None:
    """6 of 8 choices are right; 2 of 4 items have a majority that is right; 2 of 4 pairs of answers are the same."""
    shares = {"people_right(of=answers)": 75.0, "people_right(of=items)": 50.0, "people_same": 50.0}
    for name, value in shares.items():
        record = find_record(records, name, subject="people", condition="substitution")
        assert record.value == pytest.approx(value)
        assert record.people == "simulated"


def test_a_model_is_set_beside_them(records: tuple[Record, ...]) -> None:
    """The model is right on 6 of 8 answers' items: as often as people; it gave the answer of 4 + 2 of 8."""
    about = {
        "subject": next(record.subject for record in records if "toy" in record.subject),
        "condition": "substitution",
    }
    assert find_record(records, "right_on_same", **about).value == pytest.approx(75.0)
    above = find_record(records, "above_people", **about)
    assert above.value == pytest.approx(0.0)
    assert above.p is not None
    assert find_record(records, "same_as_people", **about).value == pytest.approx(50.0)


def test_written_synonyms_are_right_if_they_are_the_curated_one(folder: Path, records: tuple[Record, ...]) -> None:
    """*invoice*, *the shore*, *Invoice* and *lock*: 4 of 8; the answers are in the table of responses as written."""
    record = find_record(records, "people_right(of=answers)", subject="people", condition="gap_filling")
    assert record.value == pytest.approx(50.0)
    table = ResponseTable.read_parquet(folder / "run" / "responses.parquet").where(task="gap_filling")
    assert {*WORDS["simulated-b"]} <= {*table.column("raw").tolist()}
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "models on the same items" in page


def test_people_have_a_column_in_what_is_printed_at_the_end(records: tuple[Record, ...]) -> None:
    """Each question that people were asked has a row: people, and the model on the items that they answered."""
    table = overview(records, SynonymySettings())
    heads = [column.header for column in table.columns]
    rows = {str(row[0]): dict(zip(heads, row, strict=True)) for row in table.rows}
    chosen, written = rows["forced choice, people's items"], rows["gap filling, people's items"]
    assert (chosen["people"], written["people"]) == (pytest.approx(75.0), pytest.approx(50.0))
    assert chosen[heads[1]] == pytest.approx(75.0)
    assert (written[heads[1]], rows["substitution: controlled"]["people"]) == (None, None)
    without = tuple(record for record in records if record.condition not in ("substitution", "gap_filling"))
    assert [len(row) for row in overview(without, SynonymySettings()).rows] == [len(heads) - 1] * (len(rows) - 2)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("simulated-a,own/9/people,invoice", "an item that these items do not have"),
        ("simulated-a,own/1/people,bill", "was not offered"),
        ("simulated-a,own/1/people,invoice\nsimulated-a,own/1/people,beak", "answered this item twice"),
    ],
)
def test_an_answer_that_cannot_be_one_is_an_error(folder: Path, tmp_path: Path, line: str, said: str) -> None:
    """An item of another study, a word that the page does not have, a person with two answers: nothing is computed."""
    file = tmp_path / "answers.csv"
    file.write_text(f"participant,item_id,answer\n{line}\n", encoding="utf-8")
    settings = SynonymySettings(items=str(folder / "own.csv"), people=(str(file),), n_bootstrap=0)
    with pytest.raises(InputError, match=said):
        study.run(settings, tmp_path / "run")
