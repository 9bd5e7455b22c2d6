"""Which files are people's answers to tests of senses, and which are refused: nobody is counted who was not asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from lexiscope.cli.main import cli
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.tables.tabular import write_items
from lexiscope.report.parts.sense_test_parts import (
    SenseTestAnswers,
    accuracy_part,
    items_by_id,
    read_answers,
    read_answers_and_items,
    sense_tests,
)
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.settings import SenseInductionSettings

WORDS = ("bank", "bolt", "palm", "seal")


def pages(name: str = "m", revision: str = "") -> list[Item]:
    """A page of three words for each word, of the senses of one model."""
    named = {"model": name} | ({"revision": revision} if revision else {})
    return [
        Item(f"{name}/{word}/1/1", "d", (Usage(word, 0, len(word)),), (f"{word}a", f"{word}b", f"{word}x"), f"{word}x",
             conditions={**named, "word": word, "sense": "1", "intruder_id": 1})
        for word in WORDS
    ]  # fmt: skip


def votes(items: Sequence[Item], of: str = "aeo") -> list[Response]:
    """Everybody finds every intruder."""
    return [Response(who, "participant", item.item_id, "word_intrusion", "choice", option=item.gold)
            for item in items for who in of]  # fmt: skip


def written(folder: Path, rows: Sequence[Response]) -> str:
    path = folder / "answers.csv"
    ResponseTable.from_rows(rows).write_csv(path)
    return str(path)


def judgments(items: Sequence[Item], rows: Sequence[Response]) -> SenseTestAnswers:
    return SenseTestAnswers(ResponseTable.from_rows(rows), {item.item_id: item for item in items})


def test_two_items_of_one_id_are_refused(tmp_path: Path) -> None:
    """Two folders of one name give the same ids: an answer must not be scored by the other model's intruder. A file
    that is given twice is one file."""
    items = pages()
    others = [replace(item, gold=item.options[0]) for item in items]
    write_items(items, tmp_path / "a.csv")
    write_items(others, tmp_path / "b.csv")
    answers = written(tmp_path, votes(items))
    a, b = str(tmp_path / "a.csv"), str(tmp_path / "b.csv")
    assert len(read_answers_and_items([a, a, answers]).items) == len(WORDS)
    with pytest.raises(InputError, match="another item with this id") as caught:
        read_answers_and_items([a, b, answers])
    assert caught.value.code == "E471"


def test_vectors_of_one_name_and_two_states_stand_apart() -> None:
    """Items of one name and two revisions are tests of two models: no table pools them."""
    items = [*pages(revision="0" * 40)[:2], *pages(revision="f" * 40)[2:]]
    tests = sense_tests(judgments(items, votes(items)))
    assert [(test.model, sorted(test.answers.unique("item_id"))) for test in tests] == [
        ("m (00000000)", ["m/bank/1/1", "m/bolt/1/1"]),
        ("m (ffffffff)", ["m/palm/1/1", "m/seal/1/1"]),
    ]


def test_a_model_is_nobody(tmp_path: Path) -> None:
    """A model's row among people's would be a vote of the majority: the file is refused, and --models named."""
    rows = votes(pages())
    model = replace(rows[0], subject_id="chat:x", subject_kind="chat")
    with pytest.raises(InputError, match="which no person gave"):
        read_answers([written(tmp_path, [*rows, model])], items_by_id([("a", pages())]))


def test_the_complete_table_of_an_export_is_refused(tmp_path: Path) -> None:
    """responses.csv has the answers of excluded people too, unmarked: choices.csv is asked for."""
    rows = [*votes(pages()), Response("a", "participant", "study", "word_intrusion", "completion_time", 9.0)]
    with pytest.raises(InputError, match="complete table of an export"):
        read_answers([written(tmp_path, rows)], items_by_id([("a", pages())]))


def test_an_answer_that_is_not_on_the_page_is_refused(tmp_path: Path) -> None:
    """Another spelling of the intruder would be a wrong answer in silence."""
    first, *others = votes(pages())
    with pytest.raises(InputError, match="'Bankx' is not one of its options: banka, bankb, bankx") as caught:
        read_answers([written(tmp_path, [replace(first, option="Bankx"), *others])], items_by_id([("a", pages())]))
    assert caught.value.place is not None
    assert caught.value.place.item_id == "m/bank/1/1"


def test_tables_say_how_much_was_answered() -> None:
    """Unequal numbers of judgments, pages without a majority or an answer, missing choices: below the table."""
    items = pages()
    rows = votes(items[:2])
    ana, eva, leo = votes(items[2:3])
    rows += [replace(ana, option="palma"), replace(eva, option="palmb"), replace(leo, option=None)]
    part = accuracy_part(sense_tests(judgments(items, rows), resamples=20), {})
    assert not part.omissions
    (table,) = part.tables
    assert (
        "m: 8 judgments of 3 people on 3 pages, 2 to 3 each; pages without a majority: 1; "
        "pages without an answer: 1; judgments without a choice: 1."
    ) in table.notes


def test_an_intruder_in_its_column_is_one(tmp_path: Path) -> None:
    """Items of one's own name the intruder in a column, and the words in another; one without it is refused."""
    lines = [f"{word},{word}a|{word}b|{word}x,1,{{}}" for word in WORDS]
    for name, intruder in (("own.csv", "{0}x"), ("none.csv", "")):
        rows = [f"{word}1,{line.format(intruder.format(word))}" for word, line in zip(WORDS, lines, strict=True)]
        (tmp_path / name).write_text("\n".join(["item_id,word,options,sense,intruder", *rows]) + "\n")
    answers = [Response(who, "participant", f"{word}1", "word_intrusion", "choice", option=f"{word}x")
               for word in WORDS for who in "aeo"]  # fmt: skip
    call = ["senses", "people", written(tmp_path, answers), "--resamples", "20", "--json"]
    done = CliRunner().invoke(cli, [*call, "--items", str(tmp_path / "own.csv"), "--out", str(tmp_path / "r")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)[0]["value"] == 100
    refused = CliRunner().invoke(cli, [*call, "--items", str(tmp_path / "none.csv"), "--out", str(tmp_path / "q")])
    assert refused.exit_code == 1
    assert "does not say which word is its intruder" in refused.stderr


def test_simulated_people_are_called_so_in_the_study() -> None:
    """A rehearsal's answers in a report: the table says that nobody gave them."""
    rows = [replace(row, subject_kind="simulated") for row in votes(pages())]
    settings = SenseInductionSettings(n_bootstrap=20)
    simulated, real = (SenseData(settings, people=judgments(pages(), each)) for each in (rows, votes(pages())))
    part = accuracy_part(simulated.tests, {})
    assert "simulated participants" in part.tables[0].notes[0]
    assert "simulated" not in " ".join(accuracy_part(real.tests, {}).tables[0].notes)
